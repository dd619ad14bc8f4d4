/* Where a substep begins: forces, contacts, and the forces they had. */
#include "sim/newton.h"

#include "core/vec.h"

/* Forces of the last step's contacts, as far as they are contacts again; whether they are the same. */
static bool warm_start(pl_contact_set *set, const pl_state *state)
{
    int k = 0, again = 0;
    for (int c = 0; c < set->count; c++) {
        pl_contact_point *p = &set->points[c];
        while (k < state->contact_count && (state->contacts[k].vertex < p->vertex[0] ||
                                            (state->contacts[k].vertex == p->vertex[0] &&
                                             state->contacts[k].collider < p->collider)))
            k++;
        if (k == state->contact_count || state->contacts[k].vertex != p->vertex[0] ||
            state->contacts[k].collider != p->collider)
            continue;
        pl_mat3_vec(p->frame, state->contacts[k].force_tangent, p->lambda);
        p->lambda[0] = state->contacts[k].force_normal;
        again++;
    }
    return again == set->count && again == state->contact_count;
}

pl_obstacles pl_substep_obstacles(const pl_sim *sim, const pl_substep *sub)
{
    return (pl_obstacles){
        .count = sim->scene->collider_count,
        .shapes = sim->shapes,
        .pose_start = sub->pose_start,
        .pose_end = sub->drive->of[PL_COLLIDER_POSE],
        .body_count = sim->scene->body_count,
        .friction = sim->values->of[PL_FRICTION],
        .body_of = sim->scene->body_of,
    };
}

pl_status pl_newton_begin(pl_newton *s, const pl_state *warm)
{
    pl_sim *sim = s->sim;
    const pl_substep *sub = s->sub;
    const pl_scene *scene = sim->scene;
    double h = sub->h;
    pl_drive_external(scene, sim->values->def.gravity, sim->mass, sub->drive, sub->q0, sub->v0,
                      sim->external);
    memset(sim->spring, 0, sizeof(double) * 3 * (size_t)sim->n);
    for (int p = 0; p < scene->pin_count; p++)
        for (int k = scene->pins[p].first; k < scene->pins[p].first + scene->pins[p].count; k++)
            pl_axpy3(1 / sim->values->of[PL_COMPLIANCE][p], sub->drive->of[PL_PIN_TARGET] + 3 * k,
                     sim->spring + 3 * (size_t)scene->pin_vertex[k]);
    for (int i = 0; i < 3 * sim->n; i++)
        sim->guess[i] = sub->q0[i] + h * sub->v0[i] + h * h * sim->external[i] / sim->mass[i / 3];
    pl_obstacles o = pl_substep_obstacles(sim, sub);
    PL_TRY(pl_contacts_detect(sim->ctx, &o, sim->n, sub->q0, sim->guess, sim->margin, &sim->contacts));
    if (warm_start(&sim->contacts, warm))
        pl_anderson_next(&sim->anderson);
    else
        pl_anderson_reset(&sim->anderson);
    pl_stage(sim, PL_STAGE_CONTACT);
    return pl_newton_guess(s);
}
