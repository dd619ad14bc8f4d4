/* Walking the tape: the state and drive around each substep. */
#include "adjoint/sweep.h"

#define AHEAD 8 /* substeps whose contacts a factor's order is made for */

pl_status pl_sweep_create(pl_rollout *rollout, const pl_adjoint_def *def, int direction, pl_sweep *s)
{
    pl_sim *sim = rollout->sim;
    pl_status status = PL_OK;
    *s = (pl_sweep){.rollout = rollout, .direction = direction};
    pl_sim_use(sim, rollout->values);
    PL_CHECK(pl_linear_create(sim, def, &s->linear), done);
    s->linear.device = direction < 0 ? sim->device : NULL;
    if (sim->device && direction > 0)
        pl_log(sim->ctx, PL_LOG_INFO,
               "tangent sweeps are computed here, as a whole, not on the device");
    PL_CHECK(pl_drive_create(sim->scene, &s->before), done);
    PL_CHECK(pl_drive_create(sim->scene, &s->after), done);
    PL_CHECK(pl_drive_create(sim->scene, &s->part), done);
    PL_NEW(sim->ctx, s->pose_start, 7 * sim->scene->collider_count, done);
    PL_NEW(sim->ctx, s->mass_work, 2 * sim->scene->vertex_count, done);
    double **vectors[] = {&s->v0, &s->v1, &s->p, &s->w, &s->dp, &s->dw, &s->z};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        PL_NEW(sim->ctx, *vectors[k], 3 * sim->scene->vertex_count, done);
done:
    if (status != PL_OK)
        pl_sweep_free(s);
    return status;
}

void pl_sweep_free(pl_sweep *s)
{
    pl_context *ctx = s->rollout->sim->ctx;
    pl_linear_free(&s->linear);
    pl_drive_free(ctx, &s->before);
    pl_drive_free(ctx, &s->after);
    pl_drive_free(ctx, &s->part);
    pl_free(ctx, s->pose_start);
    void *arrays[] = {s->mass_work, s->v0, s->v1, s->p, s->w, s->dp, s->dw, s->z};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
}

static pl_status note_touched(pl_linear *l, const pl_tape_entry *e)
{
    PL_TRY(pl_grow(l->ctx, (void **)&l->ahead, &l->ahead_capacity,
                   l->ahead_count + 4 * e->contact_count, sizeof *l->ahead));
    for (int c = 0; c < e->contact_count; c++) {
        const int *vertices;
        int count = pl_tape_vertices(e, c, &vertices);
        for (int k = 0; k < count; k++)
            l->ahead[l->ahead_count++] = vertices[k];
    }
    return PL_OK;
}

/* The vertices that this substep touches, and the next few, as far as the factor's life can reach. */
static pl_status look_ahead(pl_sweep *s, const pl_tape *tape, int k)
{
    pl_linear *l = &s->linear;
    int block = tape->entries[k].step / PL_FORGET_EVERY;
    l->ahead_count = 0;
    PL_TRY(note_touched(l, &tape->entries[k]));
    l->touched_count = l->ahead_count;
    for (int j = 1; j <= AHEAD; j++) {
        int at = k + s->direction * j;
        if (at < 0 || at >= tape->count || tape->entries[at].step / PL_FORGET_EVERY != block)
            break;
        PL_TRY(note_touched(l, &tape->entries[at]));
    }
    return PL_OK;
}

/* The states before the substep, and what its scheme makes of them. */
static void look_back(pl_sweep *s, const pl_tape *tape, int k, const pl_state *start)
{
    const pl_tape_entry *e = &tape->entries[k];
    pl_substep *sub = &s->linear.sub;
    double *v[PL_LOOK_BACK] = {s->v0, s->v1};
    const double *q[PL_LOOK_BACK] = {0}, *a[PL_LOOK_BACK];
    const double *const was[PL_LOOK_BACK] = {s->v0, s->v1};
    int size = 3 * start->vertex_count;
    for (int j = 0; j < e->scheme->states; j++) {
        q[j] = pl_tape_positions(tape, k - 1 - j, start);
        a[j] = pl_tape_accelerations(tape, k - 1 - j, start);
        pl_tape_velocities(tape, k - 1 - j, start, v[j]);
    }
    sub->scheme = e->scheme;
    sub->length = e->length;
    sub->h = e->h;
    sub->q0 = sub->p = q[0];
    sub->v0 = sub->w = s->v0;
    sub->q1 = q[1];
    sub->v1 = s->v1;
    s->a = e->a;
    if (!pl_scheme_combines(e->scheme))
        return;
    pl_scheme_combine(e->scheme, e->h, size, q, was, s->p);
    pl_scheme_combine(e->scheme, e->h, size, was, a, s->w);
    sub->p = s->p;
    sub->w = s->w;
}

pl_status pl_sweep_substep(pl_sweep *s, const pl_tape *tape, int k, const pl_state *start)
{
    pl_rollout *r = s->rollout;
    pl_sim *sim = r->sim;
    const pl_tape_entry *e = &tape->entries[k];
    s->step = e->step - r->checkpoints[0]->step;
    PL_TRY(pl_rollout_drive(r, s->step - 1, &s->before));
    PL_TRY(pl_rollout_drive(r, s->step, &s->after));
    pl_drive_between(sim->scene, s->before.of, &s->after, e->to, &s->part);
    pl_poses_between(sim->scene->collider_count, s->before.of[PL_COLLIDER_POSE],
                     s->after.of[PL_COLLIDER_POSE], e->from, s->pose_start);
    pl_substep *sub = &s->linear.sub;
    look_back(s, tape, k, start);
    sub->step = e->step;
    sub->from = e->from;
    sub->to = e->to;
    sub->drive = &s->part;
    sub->pose_start = s->pose_start;
    sub->live = e->live;
    PL_TRY(look_ahead(s, tape, k));
    return pl_linear_setup(&s->linear, e);
}
