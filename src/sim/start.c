/* Where a substep begins: forces, contacts, and the forces they had. */
#include "sim/newton.h"

#include "core/vec.h"
#include "rows/rows.h"

/* Forces of the last step's contacts, as far as they are contacts again; whether they are the same. */
static bool warm_start(pl_contact_set *set, const pl_state *state)
{
    int k = 0, again = 0;
    for (int c = 0; c < set->touching; c++) {
        pl_contact_point *p = &set->points[c];
        while (k < state->contact_count && (state->contacts[k].vertex[0] < p->vertex ||
                                            (state->contacts[k].vertex[0] == p->vertex &&
                                             state->contacts[k].collider < p->collider)))
            k++;
        if (k == state->contact_count || state->contacts[k].vertex[0] != p->vertex ||
            state->contacts[k].collider != p->collider)
            continue;
        pl_mat3_vec(p->frame, state->contacts[k].force_tangent, p->lambda);
        p->lambda[0] = state->contacts[k].force_normal;
        again++;
    }
    return again == set->touching && again == state->contact_count;
}

pl_obstacles pl_substep_obstacles(const pl_substep *sub, pl_collider *const *shapes)
{
    return (pl_obstacles){
        .count = sub->scene->collider_count,
        .shapes = shapes,
        .pose_start = sub->pose_start,
        .pose_end = sub->drive->of[PL_COLLIDER_POSE],
        .body_count = sub->scene->body_count,
        .friction = sub->matter->values->of[PL_FRICTION],
        .body_of = sub->scene->body_of,
    };
}

pl_status pl_newton_begin(pl_newton *s, const pl_state *warm)
{
    pl_solver *solver = s->solver;
    const pl_substep *sub = s->sub;
    double h = sub->h;
    pl_terms_force(sub, solver->external);
    for (int i = 0; i < 3 * solver->n; i++)
        solver->guess[i] =
            sub->p[i] + h * sub->w[i] + h * h * solver->external[i] / solver->matter->mass[i / 3];
    pl_obstacles o = pl_substep_obstacles(sub, solver->shapes);
    PL_TRY(pl_contacts_detect(solver->ctx, &o, solver->n, sub->q0, solver->guess,
                              solver->matter->margin, &solver->space.set));
    memcpy(solver->live, warm->live, sizeof(double) * (size_t)warm->live_count);
    PL_TRY(pl_rows_add(sub, &solver->space.set));
    if (warm_start(&solver->space.set, warm))
        pl_anderson_next(&solver->memory.anderson);
    else
        pl_anderson_reset(&solver->memory.anderson);
    pl_stage(&solver->meter, PL_STAGE_CONTACT);
    return pl_newton_guess(s);
}
