/* Where a substep begins: forces, contacts, and the forces they had. */
#include "sim/newton.h"

#include "core/vec.h"
#include "rows/rows.h"

/* Ascending as contacts are sorted: with colliders by vertex and collider, then between bodies. */
static int order(const pl_contact *then, const pl_contact_point *now)
{
    if (then->kind == PL_CONTACT_COLLIDER && !now->meets) {
        int by = (then->vertex[0] > now->vertex) - (then->vertex[0] < now->vertex);
        return by != 0 ? by : (then->collider > now->collider) - (then->collider < now->collider);
    }
    if (then->kind == PL_CONTACT_COLLIDER || !now->meets)
        return now->meets ? -1 : 1;
    pl_meeting was = {.kind = (pl_meeting_kind)(then->kind - PL_CONTACT_FACE)};
    memcpy(was.vertex, then->vertex, sizeof was.vertex);
    return pl_meeting_order(&was, &now->meeting);
}

/* Forces of the last step's contacts, as far as they are contacts again; whether they are the same. */
static bool warm_start(pl_contact_set *set, const pl_state *state, double share)
{
    int k = 0, again = 0;
    for (int c = 0; c < set->touching; c++) {
        pl_contact_point *p = &set->points[c];
        while (k < state->contact_count && order(&state->contacts[k], p) < 0)
            k++;
        if (k == state->contact_count || order(&state->contacts[k], p) != 0)
            continue;
        pl_mat3_vec(p->frame, state->contacts[k].force_tangent, p->lambda);
        p->lambda[0] = state->contacts[k].force_normal;
        for (int i = 0; i < 3; i++)
            p->lambda[i] /= share;
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

pl_meet_rules pl_substep_meet_rules(const pl_substep *sub)
{
    return (pl_meet_rules){
        .surface = sub->surface,
        .body_count = sub->scene->body_count,
        .body_of = sub->scene->body_of,
        .touches = sub->scene->touches,
        .offset = sub->offset,
        .friction = sub->matter->values->of[PL_BODY_FRICTION],
    };
}

pl_status pl_newton_meet(pl_newton *s, const double *q)
{
    pl_solver *solver = s->solver;
    const pl_substep *sub = s->sub;
    pl_meet_rules rules = pl_substep_meet_rules(sub);
    if (!sub->surface)
        return PL_OK;
    PL_TRY(pl_meet_find(solver->ctx, &solver->search, &rules, sub->q0, q, solver->matter->margin));
    for (int k = 0; k < solver->search.count; k++)
        PL_TRY(pl_meet_add(solver->ctx, &rules, &solver->search.found[k], sub->q0, &solver->space.set));
    memset(solver->meets, 0, sizeof *solver->meets * (size_t)solver->n);
    for (int k = 0; k < solver->search.count; k++)
        for (int i = 0; i < pl_meeting_count(solver->search.found[k].kind); i++)
            solver->meets[solver->search.found[k].vertex[i]] = true;
    return PL_OK;
}

/* Known contacts between bodies and those just found, both sorted, as one list. */
static pl_status merge(pl_solver *solver, const pl_meet_rules *rules, const double *q0, int known)
{
    const pl_meet_search *search = &solver->search;
    pl_contact_set *set = &solver->space.set;
    for (int i = 0, k = 0; i < known || k < search->count;) {
        int by = i == known           ? 1
                 : k == search->count ? -1
                                      : pl_meeting_order(&solver->known[i].meeting, &search->found[k]);
        PL_TRY(pl_meet_add(solver->ctx, rules, by <= 0 ? &solver->known[i].meeting : &search->found[k],
                           q0, set));
        if (by <= 0)
            memcpy(set->points[set->count - 1].lambda, solver->known[i].lambda,
                   sizeof solver->known->lambda);
        i += by <= 0;
        k += by >= 0;
    }
    return PL_OK;
}

pl_status pl_newton_meet_late(pl_newton *s, int *added)
{
    pl_solver *solver = s->solver;
    const pl_substep *sub = s->sub;
    pl_contact_set *set = &solver->space.set;
    int known = set->touching - set->single, before = set->touching;
    double margin = solver->matter->margin;
    *added = 0;
    pl_newton_keep_forces(s);
    PL_TRY(pl_grow(solver->ctx, (void **)&solver->known, &solver->known_capacity, known,
                   sizeof *solver->known));
    if (known > 0)
        memcpy(solver->known, set->points + set->single, sizeof *solver->known * (size_t)known);
    if (solver->scene->collider_count > 0) {
        pl_obstacles o = pl_substep_obstacles(sub, solver->shapes);
        PL_TRY(
            pl_contacts_add(solver->ctx, &o, solver->n, sub->q0, solver->iterate, margin, set, added));
    }
    if (sub->surface) {
        pl_meet_rules rules = pl_substep_meet_rules(sub);
        PL_TRY(pl_meet_find(solver->ctx, &solver->search, &rules, sub->q0, solver->iterate, margin));
        pl_contact_set_cut(set, set->single);
        PL_TRY(merge(solver, &rules, sub->q0, known));
        *added = set->touching - before;
        PL_TRY(pl_rows_add(sub, set));
    } else if (*added > 0) {
        PL_TRY(pl_rows_add(sub, set));
    }
    pl_stage(&solver->meter, PL_STAGE_CONTACT);
    return PL_OK;
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
    PL_TRY(pl_newton_meet(s, solver->guess));
    memcpy(solver->live, warm->live, sizeof(double) * (size_t)warm->live_count);
    PL_TRY(pl_rows_add(sub, &solver->space.set));
    if (warm_start(&solver->space.set, warm, sub->scheme->share))
        pl_anderson_next(&solver->memory.anderson);
    else
        pl_anderson_reset(&solver->memory.anderson);
    pl_stage(&solver->meter, PL_STAGE_CONTACT);
    return pl_newton_guess(s);
}
