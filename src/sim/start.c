/* Where a substep begins: forces, contacts, and the forces they had. */
#include "sim/newton.h"

#include "core/vec.h"
#include "rows/rows.h"

/* Ascending as contacts are sorted: with colliders by vertex and collider, then edges and faces with
 * them, then between bodies. */
static int order(const pl_contact *then, const pl_contact_point *now)
{
    pl_rows_kind was = then->kind != PL_CONTACT_COLLIDER ? PL_ROWS_MEET
                       : then->ridge < 0                 ? PL_ROWS_TOUCH
                                                         : PL_ROWS_BRUSH;
    if (was != now->kind)
        return was < now->kind ? -1 : 1;
    if (was == PL_ROWS_TOUCH) {
        int by = (then->vertex[0] > now->vertex) - (then->vertex[0] < now->vertex);
        return by != 0 ? by : (then->collider > now->collider) - (then->collider < now->collider);
    }
    if (was == PL_ROWS_BRUSH) {
        pl_brush brush = pl_brush_like(then);
        return pl_brush_order(&brush, &now->brush);
    }
    pl_meeting met = {.kind = (pl_meeting_kind)(then->kind - PL_CONTACT_FACE)};
    memcpy(met.vertex, then->vertex, sizeof met.vertex);
    return pl_meeting_order(&met, &now->meeting);
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
        const pl_contact *was = &state->contacts[k];
        double sign = p->kind == PL_ROWS_BRUSH && p->weight[0] * was->weight[0] < 0 ? -1 : 1;
        pl_mat3_vec(p->frame, was->force_tangent, p->lambda);
        p->lambda[0] = was->force_normal;
        p->lambda[1] *= sign, p->lambda[2] *= sign;
        for (int i = 0; i < 3; i++)
            p->lambda[i] /= share;
        again++;
    }
    return again == set->touching && again == state->contact_count;
}

pl_obstacles pl_substep_obstacles(const pl_substep *sub)
{
    return (pl_obstacles){
        .count = sub->scene->collider_count,
        .shapes = sub->shapes,
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

/* Vertices of contacts that have several, in solver->meets. */
static void mark_shared(pl_solver *solver)
{
    const pl_contact_set *set = &solver->space.set;
    memset(solver->meets, 0, sizeof *solver->meets * (size_t)solver->n);
    for (int c = set->single; c < set->touching; c++)
        for (int k = 0; k < set->points[c].count; k++)
            solver->meets[pl_contact_entries(set, c)[k].vertex] = true;
}

/* Edges and faces at ridges of colliders for motions to about q: those of `known` [count], sorted, with
 * their forces, and what is found. */
static pl_status brush(pl_newton *s, const double *q, int count, const pl_contact_point *known)
{
    pl_solver *solver = s->solver;
    pl_brush_search *search = &solver->brushes;
    pl_contact_set *set = &solver->space.set;
    pl_obstacles o = pl_substep_obstacles(s->sub);
    if (!search->surface)
        return PL_OK;
    PL_TRY(pl_brush_find(solver->ctx, search, &o, s->sub->q0, q, solver->matter->margin));
    for (int i = 0, k = 0; i < count || k < search->count;) {
        int by = i == count           ? 1
                 : k == search->count ? -1
                                      : pl_brush_order(&known[i].brush, &search->found[k]);
        PL_TRY(pl_brush_add(solver->ctx, &o, by <= 0 ? &known[i].brush : &search->found[k], s->sub->q0,
                            set));
        if (by <= 0)
            memcpy(set->points[set->count - 1].lambda, known[i].lambda, sizeof known->lambda);
        i += by <= 0;
        k += by >= 0;
    }
    return PL_OK;
}

/* The same of where bodies meet, as the search left it. */
static pl_status meet(pl_newton *s, int count, const pl_contact_point *known)
{
    pl_solver *solver = s->solver;
    const double *q0 = s->sub->q0;
    const pl_meet_search *search = &solver->search;
    pl_contact_set *set = &solver->space.set;
    pl_meet_rules rules = pl_substep_meet_rules(s->sub);
    for (int i = 0, k = 0; i < count || k < search->count;) {
        int by = i == count           ? 1
                 : k == search->count ? -1
                                      : pl_meeting_order(&known[i].meeting, &search->found[k]);
        PL_TRY(
            pl_meet_add(solver->ctx, &rules, by <= 0 ? &known[i].meeting : &search->found[k], q0, set));
        if (by <= 0)
            memcpy(set->points[set->count - 1].lambda, known[i].lambda, sizeof known->lambda);
        i += by <= 0;
        k += by >= 0;
    }
    return PL_OK;
}

/* The search, for motions to about q. */
static pl_status find_meetings(pl_newton *s, const double *q)
{
    pl_meet_rules rules = pl_substep_meet_rules(s->sub);
    if (!s->sub->surface)
        return PL_OK;
    return pl_meet_find(s->solver->ctx, &s->solver->search, &rules, s->sub->q0, q,
                        s->solver->matter->margin);
}

/* And edges that bear since they came too near (contact/passage.h): left out they would do so again,
 * and the law be solved twice. What bears has a force that weighs more than its gap, h^2 lambda/m >
 * delta. */
static pl_status find_bearing_edges(pl_newton *s, const pl_state *warm)
{
    pl_solver *solver = s->solver;
    const pl_matter *matter = solver->matter;
    pl_meet_rules rules = pl_substep_meet_rules(s->sub);
    double h2 = s->sub->h * s->sub->h, epsilon2 = matter->values->def.contact_epsilon2;
    for (int c = 0; c < warm->contact_count; c++) {
        const pl_contact *was = &warm->contacts[c];
        double push = h2 * was->force_normal / matter->mass[was->vertex[0]];
        if (was->kind != PL_CONTACT_EDGES || !(push * was->force_normal > epsilon2))
            continue;
        pl_meeting m = {.kind = PL_MEETING_EDGES, .edge = -1};
        memcpy(m.vertex, was->vertex, sizeof m.vertex);
        pl_meeting_place place = pl_meet_place(&rules, &m, s->sub->q0);
        place.reach = 0;
        if (pl_meeting_holds(s->sub->surface, &m, &place, s->sub->q0))
            PL_TRY(pl_meet_note(solver->ctx, &solver->search, &m));
    }
    pl_meet_sort(&solver->search);
    return PL_OK;
}

/* Contacts from `first` on that are no single vertices' into solver->known, with their forces. */
static pl_status keep_known(pl_newton *s, int first)
{
    pl_solver *solver = s->solver;
    const pl_contact_set *set = &solver->space.set;
    int count = set->touching - first;
    pl_newton_keep_forces(s);
    PL_TRY(pl_grow(solver->ctx, (void **)&solver->known, &solver->known_capacity, count,
                   sizeof *solver->known));
    if (count > 0)
        memcpy(solver->known, set->points + first, sizeof *solver->known * (size_t)count);
    return PL_OK;
}

pl_status pl_newton_meet_found(pl_newton *s, int *added)
{
    pl_contact_set *set = &s->solver->space.set;
    int meetings = set->touching - set->brushing, before = set->touching;
    PL_TRY(keep_known(s, set->brushing));
    pl_contact_set_cut(set, set->brushing);
    PL_TRY(meet(s, meetings, s->solver->known));
    *added = set->touching - before;
    return pl_rows_add(s->sub, set);
}

pl_status pl_newton_meet_late(pl_newton *s, int *added)
{
    pl_solver *solver = s->solver;
    const pl_substep *sub = s->sub;
    pl_contact_set *set = &solver->space.set;
    int brushes = set->brushing - set->single, meetings = set->touching - set->brushing,
        before = set->touching;
    double margin = solver->matter->margin;
    *added = 0;
    PL_TRY(keep_known(s, set->single));
    if (solver->scene->collider_count > 0) {
        pl_obstacles o = pl_substep_obstacles(sub);
        PL_TRY(
            pl_contacts_add(solver->ctx, &o, solver->n, sub->q0, solver->iterate, margin, set, added));
    }
    if (*added > 0 || sub->surface || solver->brushes.surface) {
        pl_contact_set_cut(set, set->single);
        PL_TRY(brush(s, solver->iterate, brushes, solver->known));
        PL_TRY(find_meetings(s, solver->iterate));
        PL_TRY(meet(s, meetings, solver->known + brushes));
        *added = set->touching - before;
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
    pl_obstacles o = pl_substep_obstacles(sub);
    PL_TRY(pl_contacts_detect(solver->ctx, &o, solver->n, sub->q0, solver->guess,
                              solver->matter->margin, &solver->space.set));
    for (int i = 0; i < 3 * solver->n; i++) /* stiff pins would have them all over the place */
        solver->trial[i] = sub->p[i] + h * sub->w[i];
    PL_TRY(brush(s, solver->trial, 0, NULL));
    PL_TRY(find_meetings(s, solver->guess));
    if (sub->surface)
        PL_TRY(find_bearing_edges(s, warm));
    PL_TRY(meet(s, 0, NULL));
    mark_shared(solver);
    memcpy(solver->live, warm->live, sizeof(double) * (size_t)warm->live_count);
    PL_TRY(pl_rows_add(sub, &solver->space.set));
    if (warm_start(&solver->space.set, warm, sub->scheme->share))
        pl_anderson_next(&solver->memory.anderson);
    else
        pl_anderson_reset(&solver->memory.anderson);
    pl_stage(&solver->meter, PL_STAGE_CONTACT);
    return pl_newton_guess(s);
}
