/* A time step: one implicit step, or several shorter ones when that does not converge. */
#include "sim/sim.h"

#include "core/vec.h"
#include "rows/rows.h"
#include "terms/mean_volume.h"
#include "terms/term.h"
#include "terms/yeoh.h"

#include <stdio.h>

typedef struct step {
    pl_sim *sim;
    pl_state *state;
    pl_substep_fn record;
    void *user;
} step;

/* The acceleration by all forces but those that may come all at once; where no state keeps it, NULL. */
static const double *without_contacts(pl_sim *sim, const pl_state *state, const double *acceleration)
{
    pl_contact_set *set = &sim->solver.space.set;
    double *out = sim->solver.guess;
    if (!state->a)
        return NULL;
    memset(out, 0, sizeof(double) * 3 * (size_t)sim->solver.n);
    for (int c = 0; c < set->count; c++)
        if (pl_rows_sudden(&set->points[c]))
            pl_contact_scatter(set, c, -1, set->points[c].lambda, out);
    for (int i = 0; i < 3 * sim->solver.n; i++)
        out[i] = acceleration[i] + out[i] / sim->matter.mass[i / 3];
    return out;
}

/* The converged substep becomes the state. */
static pl_status accept(step *s, const pl_substep *sub, double fraction)
{
    pl_sim *sim = s->sim;
    pl_state *state = s->state;
    int m = sim->solver.space.set.touching;
    PL_TRY(pl_grow(sim->ctx, (void **)&state->contacts, &state->contact_capacity, m,
                   sizeof *state->contacts));
    for (int i = 0; i < 3 * sim->solver.n; i++)
        sim->solver.trial[i] = sim->solver.iterate[i] - state->q[i];
    pl_rows_place(sub, sim->solver.iterate, &sim->solver.space.set);
    for (int c = 0; c < m; c++)
        state->contacts[c] =
            pl_contact_tell(&sim->solver.space.set, c, sim->solver.trial, sub->scheme->share);
    state->contact_count = m;
    memcpy(state->live, sim->solver.live, sizeof(double) * (size_t)state->live_count);
#pragma omp parallel for num_threads(sim->ctx->threads)                                                \
    schedule(static) if (sim->solver.n > sim->ctx->limits.thread_vertices)
    for (int i = 0; i < 3 * sim->solver.n; i++) {
        double v = (sim->solver.iterate[i] - sub->p[i]) / sub->h;
        sim->solver.trial[i] = (v - sub->w[i]) / sub->h;
        sim->solver.trial_move[i] = v;
    }
    pl_state_push(state, sim->solver.iterate, sim->solver.trial_move,
                  without_contacts(sim, state, sim->solver.trial), sub->length);
    pl_forecast_add(sim->ctx, &sim->solver.memory.forecast, sim->matter.mass, sim->solver.trial);
    pl_state_set_inputs(sim->scene, state, sub->drive->of);
    state->time = sim->backup->time + fraction * sim->matter.values->def.time_step;
    return s->record ? s->record(s->user, sim, sub, state) : PL_OK;
}

/* How well the contact law holds, at the position before it is rounded; the worst of all substeps. */
static void measure_contacts(pl_sim *sim)
{
    pl_step_info *info = &sim->solver.meter.info;
    info->contacts = sim->solver.space.set.touching;
    for (int c = 0; c < sim->solver.space.set.touching; c++) {
        pl_law_error e = pl_law_check(&sim->solver.space.laws[c], sim->solver.space.delta + 3 * c,
                                      sim->solver.space.lambda + 3 * c);
        info->complementarity = fmax(info->complementarity, e.complementarity);
        info->cone_violation = fmax(info->cone_violation, e.cone);
    }
}

/* Says where: the element that would invert, or the vertex and what it touches. */
static void describe(const pl_sim *sim, const pl_substep_result *result, size_t size, char *text)
{
    const pl_scene *scene = sim->scene;
    if (result->element >= 0) {
        const pl_body *body = pl_scene_body_with(scene, result->element);
        snprintf(text, size, "element %d of body \"%s\"", result->element - body->element_offset,
                 body->name);
        return;
    }
    const pl_body *body = &scene->bodies[scene->body_of[result->vertex]];
    int length = snprintf(text, size, "vertex %d of body \"%s\"", result->vertex - body->vertex_offset,
                          body->name);
    for (int c = 0; c < sim->solver.space.set.brushing && length < (int)size; c++)
        if (sim->solver.space.set.points[c].vertex == result->vertex)
            length += snprintf(text + length, size - (size_t)length, ", at collider \"%s\"",
                               scene->colliders[sim->solver.space.set.points[c].collider].name);
}

/* How short the step was by then, and what may be to blame. */
static void excuse(const pl_substep *sub, int depth, size_t size, char *text)
{
    int length = 0;
    if (depth > 0)
        length = snprintf(text, size, ", with the time step cut to %.3g s", sub->length);
    pl_terms_doubt(sub, text + length, size - (size_t)length);
}

static pl_status no_convergence(const step *s, const pl_substep *sub, const pl_substep_result *result,
                                int depth)
{
    const pl_sim *sim = s->sim;
    char where[200], why[560] = "";
    describe(sim, result, sizeof where, where);
    excuse(sub, depth, sizeof why, why);
    return pl_fail(sim->ctx, PL_ERROR_CONVERGENCE,
                   "step %d: %s (%s; last Newton step %.3g m, %d contacts)%s", s->state->step + 1,
                   result->reason, where, sim->solver.meter.info.residual,
                   sim->solver.space.set.touching, why);
}

/* The message that there is, with the step it is about. */
static pl_status out_of_range(const step *s, const pl_substep *sub, int depth)
{
    char message[200], why[560] = "";
    snprintf(message, sizeof message, "%s", pl_context_error(s->sim->ctx));
    excuse(sub, depth, sizeof why, why);
    return pl_fail(s->sim->ctx, PL_ERROR_NUMERIC, "step %d: %s%s", s->state->step + 1, message, why);
}

/* sim->p, w from the states that the scheme looks back at. */
static void look_back(pl_sim *sim, const pl_state *state, const pl_scheme *scheme, double h)
{
    const double *q[] = {state->q, state->q_before}, *v[] = {state->v, state->v_before};
    const double *a[] = {state->a, state->a_before};
    if (!pl_scheme_combines(scheme))
        return;
    pl_scheme_combine(scheme, h, 3 * sim->solver.n, q, v, sim->p);
    pl_scheme_combine(scheme, h, 3 * sim->solver.n, v, a, sim->w);
}

/* By the scene's method; where the constant matrix does not get there, by the tangent. */
static pl_status solve(step *s, const pl_substep *sub, bool may_split, pl_substep_result *result,
                       bool *by_tangent)
{
    pl_sim *sim = s->sim;
    *by_tangent = false;
    if (sim->device)
        return pl_on_device_solve(sim->device, &sim->solver, sub, s->state, result);
    pl_status status = pl_substep_solve(&sim->solver, sub, may_split, s->state, result);
    bool failed = status == PL_ERROR_NUMERIC || (status == PL_OK && !result->converged);
    *by_tangent = failed && sim->matter.method == PL_SOLVER_CONSTANT;
    if (!*by_tangent)
        return status;
    pl_log(sim->ctx, PL_LOG_INFO,
           "step %d: the constant matrix does not converge, the tangent is tried", sub->step + 1);
    pl_sim_forget(sim);
    sim->matter.method = PL_SOLVER_LAGGED;
    status = pl_substep_solve(&sim->solver, sub, may_split, s->state, result);
    sim->matter.method = PL_SOLVER_CONSTANT;
    return status;
}

/* By one row of the integrator from `from` to `to` of the step, as fractions of it. */
static pl_status substep(step *s, const pl_scheme *scheme, double from, double to, double h, int depth,
                         bool *converged)
{
    pl_sim *sim = s->sim;
    const pl_scene *scene = sim->scene;
    pl_substep_result result;
    pl_drive_between(scene, sim->backup->input, &sim->drive, to, &sim->part);
    memcpy(sim->pose_start, s->state->input[PL_COLLIDER_POSE],
           sizeof(double) * 7 * (size_t)scene->collider_count);
    look_back(sim, s->state, scheme, h);
    bool combined = pl_scheme_combines(scheme);
    pl_substep sub = {
        .scene = scene,
        .pattern = sim->model->pattern,
        .surface = sim->model->surface,
        .offset = sim->model->offset,
        .matter = &sim->matter,
        .step = s->state->step,
        .from = from,
        .to = to,
        .scheme = scheme,
        .length = sim->matter.values->def.time_step * (to - from),
        .h = h,
        .q0 = s->state->q,
        .q1 = s->state->q_before,
        .v0 = s->state->v,
        .v1 = s->state->v_before,
        .p = combined ? sim->p : s->state->q,
        .w = combined ? sim->w : s->state->v,
        .drive = &sim->part,
        .shapes = sim->solver.shapes,
        .pose_start = sim->pose_start,
        .live = sim->solver.live,
    };
    bool may_split = depth < sim->matter.values->def.max_splits;
    bool by_tangent;
    pl_status status = solve(s, &sub, may_split, &result, &by_tangent);
    /* Where a matrix has no factor, that of a shorter step may have one. */
    if (status == PL_ERROR_NUMERIC && may_split)
        result = (pl_substep_result){.reason = "numbers out of range"};
    else if (status != PL_OK)
        return status == PL_ERROR_NUMERIC ? out_of_range(s, &sub, depth) : status;
    *converged = result.converged;
    if (result.converged) {
        measure_contacts(sim);
        PL_TRY(accept(s, &sub, to));
        if (by_tangent)
            pl_sim_forget(sim);
        return PL_OK;
    }
    if (!may_split)
        return no_convergence(s, &sub, &result, depth);
    sim->solver.meter.info.splits++;
    pl_log(sim->ctx, PL_LOG_INFO, "step %d: %s, last Newton step %.3g m: split from %.3g s",
           sub.step + 1, result.reason, sim->solver.meter.info.residual, sub.length);
    pl_sim_forget(sim);
    return PL_OK;
}

/* The part [from, to] of the step; where a row of the integrator does not converge, what is left is
 * halved. */
static pl_status advance(step *s, double from, double to, int depth)
{
    const pl_scene_def *def = &s->sim->matter.values->def;
    double length = def->time_step * (to - from), at = from;
    for (const pl_scheme *row = pl_schemes_for(def->integrator, length, s->state->before_length);
         at < to; row++) {
        double end = row->end == 1 ? to : from + row->end * (to - from);
        bool converged = false;
        PL_TRY(substep(s, row, at, end, row->theta * length, depth, &converged));
        if (!converged) {
            PL_TRY(advance(s, at, 0.5 * (at + to), depth + 1));
            return advance(s, 0.5 * (at + to), to, depth + 1);
        }
        at = end;
    }
    return PL_OK;
}

static void measure_state(pl_sim *sim, const pl_state *state)
{
    pl_step_info *info = &sim->solver.meter.info;
    const double *g = sim->matter.values->def.gravity;
    info->energy_kinetic = info->energy_gravity = 0;
    if (info->cone_violation == -INFINITY) /* no contacts */
        info->cone_violation = 0;
    info->penetration = 0;
    for (int i = 0; i < sim->solver.n; i++) {
        info->energy_kinetic += 0.5 * sim->matter.mass[i] * pl_dot3(state->v + 3 * i, state->v + 3 * i);
        info->energy_gravity -= sim->matter.mass[i] * pl_dot3(g, state->q + 3 * i);
    }
    for (int c = 0; c < state->contact_count; c++)
        info->penetration = fmax(info->penetration, -state->contacts[c].gap);
    info->energy_elastic += pl_mean_volume_fields(sim->scene, &sim->matter, state->q, NULL, NULL) +
                            pl_yeoh_energy(sim->scene, &sim->matter, state->q, NULL);
}

static pl_status check_finite(const pl_sim *sim, const pl_state *state)
{
    for (int i = 0; i < 3 * sim->solver.n; i++)
        if (!isfinite(state->q[i]) || !isfinite(state->v[i]))
            return pl_fail(sim->ctx, PL_ERROR_ARGUMENT, "state: vertex %d is not finite", i / 3);
    return PL_OK;
}

pl_status pl_step_recorded(pl_sim *sim, pl_values *values, pl_state *state, const pl_inputs *inputs,
                           pl_step_info *info, pl_substep_fn record, void *user)
{
    const pl_scene *scene = sim->scene;
    sim->solver.meter.info = (pl_step_info){.cone_violation = -INFINITY};
    sim->solver.meter.since = pl_milliseconds();
    PL_TRY(check_finite(sim, state));
    pl_sim_use(sim, values);
    PL_TRY(pl_state_make_room(scene, state, values->def.integrator));
    PL_TRY(pl_drive_resolve(scene, state->time + values->def.time_step, inputs, &sim->drive));
    if (state->step % PL_FORGET_EVERY == 0)
        pl_sim_forget(sim);
    PL_TRY(pl_state_copy(scene, state, sim->backup));
    step s = {.sim = sim, .state = state, .record = record, .user = user};
    pl_status status = advance(&s, 0, 1, 0);
    if (status != PL_OK) {
        pl_state_copy(scene, sim->backup, state);
        return status;
    }
    state->step++;
    measure_state(sim, state);
    pl_stage(&sim->solver.meter, PL_STAGE_OTHER);
    sim->solver.meter.info.converged = true;
    if (info)
        *info = sim->solver.meter.info;
    return PL_OK;
}

pl_status pl_step(pl_sim *sim, pl_state *state, const pl_inputs *inputs, pl_step_info *info)
{
    return pl_step_recorded(sim, sim->scene->params.values, state, inputs, info, NULL, NULL);
}
