/* Rollouts: the forward pass with its tape, and what can be asked of it afterwards. */
#include "sim/rollout.h"

#include "rows/rows.h"
#include "sim/checkpoint.h"

pl_rollout_def pl_rollout_def_default(void)
{
    return (pl_rollout_def){.steps = 100, .tape = true};
}

static size_t entry_bytes(const pl_sim *sim, const pl_tape_entry *e)
{
    return sizeof *e + sizeof(double) * (e->a ? 9 : 3) * (size_t)sim->scene->vertex_count +
           sizeof *e->contacts * (size_t)e->contact_count +
           sizeof *e->brushes * (size_t)e->brush_count +
           sizeof *e->meetings * (size_t)e->meeting_count +
           sizeof *e->live * (size_t)pl_rows_count(sim->scene);
}

static void free_entry(pl_context *ctx, pl_tape_entry *e)
{
    pl_free(ctx, e->q);
    pl_free(ctx, e->v);
    pl_free(ctx, e->a);
    pl_free(ctx, e->contacts);
    pl_free(ctx, e->brushes);
    pl_free(ctx, e->meetings);
    pl_free(ctx, e->live);
}

/* *out = a copy of x [size], NULL if there is no x */
static pl_status keep(pl_context *ctx, size_t size, const double *x, double **out)
{
    *out = x ? pl_alloc(ctx, size, sizeof *x) : NULL;
    if (*out)
        memcpy(*out, x, sizeof *x * size);
    return *out || !x ? PL_OK : PL_ERROR_MEMORY;
}

void pl_tape_drop(const pl_sim *sim, pl_tape *tape, int count)
{
    for (int k = 0; k < count; k++) {
        tape->bytes -= entry_bytes(sim, &tape->entries[k]);
        free_entry(sim->ctx, &tape->entries[k]);
    }
    tape->count -= count;
    if (count > 0)
        memmove(tape->entries, tape->entries + count, sizeof *tape->entries * (size_t)tape->count);
}

static pl_status record(void *user, const pl_sim *sim, const pl_substep *sub, const pl_state *state)
{
    pl_tape *tape = user;
    pl_context *ctx = sim->ctx;
    pl_status status = PL_OK;
    const pl_contact_set *set = &sim->solver.space.set;
    int m = set->touching;
    size_t n3 = 3 * (size_t)sim->scene->vertex_count;
    pl_tape_entry e = {.step = sub->step,
                       .from = sub->from,
                       .to = sub->to,
                       .length = sub->length,
                       .h = sub->h,
                       .scheme = sub->scheme,
                       .contact_count = m,
                       .brush_count = set->brushing - set->single,
                       .meeting_count = m - set->brushing};
    PL_CHECK(
        pl_grow(ctx, (void **)&tape->entries, &tape->capacity, tape->count + 1, sizeof *tape->entries),
        done);
    PL_CHECK(keep(ctx, n3, state->q, &e.q), done);
    PL_CHECK(keep(ctx, n3, state->a ? state->v : NULL, &e.v), done);
    PL_CHECK(keep(ctx, n3, state->a, &e.a), done);
    PL_CHECK(keep(ctx, (size_t)state->live_count, state->live, &e.live), done);
    PL_NEW(ctx, e.contacts, m, done);
    PL_NEW(ctx, e.brushes, e.brush_count, done);
    PL_NEW(ctx, e.meetings, e.meeting_count, done);
    for (int c = 0; c < m; c++) {
        const pl_contact_point *p = &set->points[c];
        e.contacts[c] = (pl_tape_contact){.vertex = p->vertex, .collider = p->collider};
        memcpy(e.contacts[c].lambda, p->lambda, sizeof p->lambda);
        if (c >= set->brushing)
            e.meetings[c - set->brushing] = p->meeting;
        else if (c >= set->single)
            e.brushes[c - set->single] = p->brush;
    }
    tape->bytes += entry_bytes(sim, &e);
    tape->entries[tape->count++] = e;
    e = (pl_tape_entry){0};
done:
    free_entry(ctx, &e);
    return status;
}

/* Where the brushes and the meetings of an entry begin among its contacts. */
static int first_brush(const pl_tape_entry *e)
{
    return e->contact_count - e->meeting_count - e->brush_count;
}

static int first_meeting(const pl_tape_entry *e)
{
    return e->contact_count - e->meeting_count;
}

int pl_tape_vertices(const pl_tape_entry *e, int c, const int **vertices)
{
    if (c >= first_meeting(e)) {
        const pl_meeting *m = &e->meetings[c - first_meeting(e)];
        *vertices = m->vertex;
        return pl_meeting_count(m->kind);
    }
    if (c >= first_brush(e)) {
        const pl_brush *b = &e->brushes[c - first_brush(e)];
        *vertices = b->vertex;
        return pl_brush_count(b->kind);
    }
    *vertices = &e->contacts[c].vertex;
    return 1;
}

pl_status pl_tape_place(const pl_substep *sub, const pl_obstacles *obstacles,
                        const pl_tape_entry *entry, int c, pl_contact_set *set)
{
    pl_context *ctx = sub->scene->ctx;
    const pl_tape_contact *contact = &entry->contacts[c];
    if (c >= first_meeting(entry)) {
        pl_meet_rules rules = pl_substep_meet_rules(sub);
        PL_TRY(pl_meet_add(ctx, &rules, &entry->meetings[c - first_meeting(entry)], sub->q0, set));
    } else if (c >= first_brush(entry)) {
        PL_TRY(pl_brush_add(ctx, obstacles, &entry->brushes[c - first_brush(entry)], sub->q0, set));
    } else {
        pl_contact_point p;
        pl_contact_place(obstacles, contact->vertex, contact->collider,
                         sub->q0 + 3 * (size_t)contact->vertex, &p);
        PL_TRY(pl_contact_set_touch(ctx, set, &p));
    }
    memcpy(set->points[set->count - 1].lambda, contact->lambda, sizeof contact->lambda);
    return PL_OK;
}

const double *pl_tape_positions(const pl_tape *tape, int k, const pl_state *start)
{
    return k >= 0 ? tape->entries[k].q : k == -1 ? start->q : start->q_before;
}

void pl_tape_velocities(const pl_tape *tape, int k, const pl_state *start, double *v)
{
    int size = 3 * start->vertex_count;
    if (k < 0) {
        memcpy(v, k == -1 ? start->v : start->v_before, sizeof *v * (size_t)size);
        return;
    }
    const pl_tape_entry *e = &tape->entries[k];
    if (e->v) {
        memcpy(v, e->v, sizeof *v * (size_t)size);
        return;
    }
    const double *q[PL_LOOK_BACK];
    for (int j = 0; j < e->scheme->states; j++)
        q[j] = pl_tape_positions(tape, k - 1 - j, start);
    pl_scheme_combine(e->scheme, e->h, size, q, NULL, v);
    for (int i = 0; i < size; i++)
        v[i] = (e->q[i] - v[i]) / e->h;
}

const double *pl_tape_accelerations(const pl_tape *tape, int k, const pl_state *start)
{
    return k >= 0 ? tape->entries[k].a : k == -1 ? start->a : start->a_before;
}

pl_inputs pl_rollout_inputs_at(const pl_rollout *r, int step)
{
    pl_inputs out = {0};
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (r->def.inputs.of[c])
            out.of[c] = r->def.inputs.of[c] + pl_channel_size(r->sim->scene, (pl_channel)c, step) *
                                                  (size_t)pl_channel_get((pl_channel)c)->width;
    return out;
}

pl_status pl_rollout_advance(pl_rollout *r, pl_state *state, int to, pl_tape *tape)
{
    int first = r->checkpoints[0]->step;
    double began = pl_milliseconds();
    if (state->step == first)
        pl_sim_forget(r->sim);
    while (state->step < first + to) {
        pl_inputs inputs = pl_rollout_inputs_at(r, state->step - first);
        PL_TRY(pl_step_recorded(r->sim, r->values, state, &inputs, NULL, tape ? record : NULL, tape));
        r->recomputed++;
    }
    r->recomputing += pl_milliseconds() - began;
    return PL_OK;
}

static pl_status run(pl_rollout *r, pl_state *state)
{
    const pl_rollout_def *def = &r->def;
    pl_sim_forget(r->sim);
    for (int k = 0; k < r->steps; k++) {
        pl_step_info info;
        pl_inputs inputs = pl_rollout_inputs_at(r, k);
        PL_TRY(pl_checkpoint_pass(r, state, k));
        r->time[k] = state->time;
        PL_TRY(pl_step_recorded(r->sim, r->values, state, &inputs, &info, def->tape ? record : NULL,
                                &r->tape));
        if (def->progress && !def->progress(def->progress_user, k + 1, state, &info))
            return pl_fail(r->sim->ctx, PL_ERROR_INTERRUPTED, "stopped after step %d", k + 1);
    }
    r->time[r->steps] = state->time;
    pl_checkpoint_finish(r);
    return PL_OK;
}

pl_status pl_rollout_run(pl_sim *sim, pl_state *state, const pl_rollout_def *def, pl_rollout **out)
{
    *out = NULL;
    if (def->params && def->params->scene != sim->scene)
        return pl_fail(sim->ctx, PL_ERROR_ARGUMENT, "params: made from another scene");
    pl_values *values = (def->params ? def->params : &sim->scene->params)->values;
    return pl_rollout_run_by(sim, values, state, def, out);
}

pl_status pl_rollout_run_by(pl_sim *sim, pl_values *values, pl_state *state, const pl_rollout_def *def,
                            pl_rollout **out)
{
    pl_context *ctx = sim->ctx;
    pl_status status = PL_OK;
    *out = NULL;
    if (def->steps < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "steps = %d: expected >= 1", def->steps);
    pl_rollout *r = pl_alloc(ctx, 1, sizeof *r);
    if (!r)
        return PL_ERROR_MEMORY;
    *r = (pl_rollout){.sim = sim, .def = *def, .steps = def->steps};
    r->def.params = NULL;
    r->values = pl_values_hold(values);
    if (!def->tape)
        r->def.memory_budget = 0;
    PL_NEW(ctx, r->checkpoints, def->steps / PL_FORGET_EVERY + 2, done);
    PL_NEW(ctx, r->time, def->steps + 1, done);
    PL_CHECK(run(r, state), done);
    *out = r;
    r = NULL;
done:
    pl_rollout_destroy(r);
    return status;
}

void pl_rollout_destroy(pl_rollout *r)
{
    if (!r)
        return;
    pl_context *ctx = r->sim->ctx;
    pl_checkpoint_free(r);
    pl_tape_drop(r->sim, &r->tape, r->tape.count);
    pl_free(ctx, r->tape.entries);
    pl_free(ctx, r->checkpoints);
    pl_free(ctx, r->time);
    pl_values_release(ctx, r->values);
    pl_free(ctx, r);
}

int pl_rollout_steps(const pl_rollout *r)
{
    return r->steps;
}

size_t pl_rollout_bytes(const pl_rollout *r)
{
    return r->bytes;
}

pl_status pl_rollout_need_tape(const pl_rollout *r)
{
    if (!r->def.tape)
        return pl_fail(r->sim->ctx, PL_ERROR_ARGUMENT, "the rollout was run without a tape");
    return PL_OK;
}

/* The last tape entry of a step, or the one before its first. */
static const pl_tape_entry *entry_of(const pl_tape *tape, int step)
{
    const pl_tape_entry *found = NULL;
    for (int k = 0; k < tape->count && tape->entries[k].step <= step; k++)
        found = &tape->entries[k];
    return found;
}

static pl_status check_step(const pl_rollout *r, int step)
{
    PL_TRY(pl_rollout_need_tape(r));
    if (step < 0 || step > r->steps)
        return pl_fail(r->sim->ctx, PL_ERROR_ARGUMENT, "step = %d: the rollout has steps 0 to %d", step,
                       r->steps);
    return PL_OK;
}

/* The state after `step` steps, run again from the last one kept before; the caller's. */
static pl_status rerun(pl_rollout *r, int step, pl_state **out)
{
    pl_status status = PL_OK;
    pl_state *state = NULL;
    int k = 0, origin = r->checkpoints[0]->step;
    while (k + 1 < r->checkpoint_count && r->checkpoints[k + 1]->step <= origin + step)
        k++;
    PL_CHECK(pl_state_create(r->sim->scene, &state), done);
    PL_CHECK(pl_state_copy(r->sim->scene, r->checkpoints[k], state), done);
    PL_CHECK(pl_rollout_advance(r, state, step, NULL), done);
    *out = state;
    state = NULL;
done:
    pl_state_destroy(r->sim->scene, state);
    return status;
}

/* The last entry of a whole tape's step >= 1, and the positions it began with. */
static const pl_tape_entry *last_substep(const pl_rollout *r, int step, const double **before)
{
    const pl_tape_entry *e = entry_of(&r->tape, r->checkpoints[0]->step + step - 1);
    *before = e > r->tape.entries ? e[-1].q : r->checkpoints[0]->q;
    return e;
}

pl_status pl_rollout_state(pl_rollout *r, int step, double *q, double *v)
{
    size_t bytes = sizeof(double) * 3 * (size_t)r->sim->scene->vertex_count;
    PL_TRY(check_step(r, step));
    if (!r->whole || step == 0) {
        pl_state *state;
        PL_TRY(rerun(r, step, &state));
        if (q)
            memcpy(q, state->q, bytes);
        if (v)
            memcpy(v, state->v, bytes);
        pl_state_destroy(r->sim->scene, state);
        return PL_OK;
    }
    const double *before;
    const pl_tape_entry *e = last_substep(r, step, &before);
    if (q)
        memcpy(q, e->q, bytes);
    if (v)
        pl_tape_velocities(&r->tape, (int)(e - r->tape.entries), r->checkpoints[0], v);
    return PL_OK;
}

pl_status pl_rollout_drive(const pl_rollout *r, int step, pl_drive *out)
{
    const pl_scene *scene = r->sim->scene;
    if (step < 0) {
        const pl_state *start = r->checkpoints[0];
        for (int c = 0; c < PL_CHANNEL_COUNT; c++)
            if (start->input[c])
                memcpy(out->of[c], start->input[c],
                       sizeof(double) * pl_channel_size(scene, (pl_channel)c, 1) *
                           (size_t)pl_channel_get((pl_channel)c)->width);
        return PL_OK;
    }
    pl_inputs inputs = pl_rollout_inputs_at(r, step);
    return pl_drive_resolve(scene, r->time[step] + r->values->def.time_step, &inputs, out);
}

/* Rows as the substep that was accepted has them; the tape has the forces. */
static pl_status contacts_of_tape(pl_rollout *r, int step, pl_contact *out)
{
    pl_sim *sim = r->sim;
    pl_status status = PL_OK;
    const double *before;
    const pl_tape_entry *e = last_substep(r, step, &before);
    pl_drive drive = {0}, ago = {0};
    pl_contact_set set = {0};
    double *u = NULL, *pose_start = NULL;
    PL_CHECK(pl_drive_create(sim->scene, &drive), done);
    PL_CHECK(pl_drive_create(sim->scene, &ago), done);
    PL_CHECK(pl_rollout_drive(r, step - 1, &drive), done);
    PL_CHECK(pl_rollout_drive(r, step - 2, &ago), done);
    PL_NEW(sim->ctx, u, 3 * sim->scene->vertex_count, done);
    PL_NEW(sim->ctx, pose_start, 7 * sim->scene->collider_count, done);
    pl_poses_between(sim->scene->collider_count, ago.of[PL_COLLIDER_POSE], drive.of[PL_COLLIDER_POSE],
                     e->from, pose_start);
    for (int i = 0; i < 3 * sim->scene->vertex_count; i++)
        u[i] = e->q[i] - before[i];
    pl_sim_use(sim, r->values);
    pl_substep sub = {.scene = sim->scene,
                      .surface = sim->model->surface,
                      .offset = sim->model->offset,
                      .matter = &sim->matter,
                      .shapes = sim->solver.shapes,
                      .q0 = before,
                      .drive = &drive,
                      .pose_start = pose_start};
    pl_obstacles obstacles = pl_substep_obstacles(&sub);
    for (int c = 0; c < e->contact_count; c++)
        PL_CHECK(pl_tape_place(&sub, &obstacles, e, c, &set), done);
    pl_rows_place(&sub, e->q, &set);
    for (int c = 0; c < e->contact_count; c++)
        out[c] = pl_contact_tell(&set, c, u, e->scheme->share);
done:
    pl_drive_free(sim->ctx, &drive);
    pl_drive_free(sim->ctx, &ago);
    pl_contact_set_free(sim->ctx, &set);
    pl_free(sim->ctx, pose_start);
    pl_free(sim->ctx, u);
    return status;
}

const double *pl_rollout_live(const pl_rollout *r, int step)
{
    const double *before;
    return step == 0 ? r->checkpoints[0]->live : last_substep(r, step, &before)->live;
}

pl_status pl_rollout_contacts(pl_rollout *r, int step, int *count, pl_contact **contacts)
{
    pl_status status = PL_OK;
    pl_context *ctx = r->sim->ctx;
    pl_state *state = NULL;
    pl_contact *found = NULL;
    const double *before;
    PL_TRY(check_step(r, step));
    if (!r->whole || step == 0)
        PL_CHECK(rerun(r, step, &state), done);
    int m = state ? state->contact_count : last_substep(r, step, &before)->contact_count;
    PL_NEW(ctx, found, m, done);
    if (!state)
        PL_CHECK(contacts_of_tape(r, step, found), done);
    else if (m > 0)
        memcpy(found, state->contacts, (size_t)m * sizeof *found);
    *count = m;
    *contacts = found;
    found = NULL;
done:
    pl_free(ctx, found);
    pl_state_destroy(r->sim->scene, state);
    return status;
}
