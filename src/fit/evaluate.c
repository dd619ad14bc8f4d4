/*
 * One evaluation: x -> scene -> rollout -> loss, its gradient by one reverse sweep, its residuals'
 * Jacobian by a tangent sweep per unknown, and finite differences to check both.
 */
#include "fit/task.h"

#include <stdio.h>

pl_status pl_evaluation_create(pl_task *task, pl_evaluation **out)
{
    pl_status status = PL_OK;
    pl_context *ctx = task->ctx;
    size_t n = 3 * (size_t)task->scene->vertex_count;
    pl_evaluation *e = NULL;
    *out = NULL;
    PL_NEW(ctx, e, 1, done);
    e->task = task;
    PL_NEW(ctx, e->x, task->n, done);
    PL_NEW(ctx, e->q, n, done);
    PL_NEW(ctx, e->v, n, done);
    PL_CHECK(pl_gradient_create(task->scene, task->window.steps ? task->window.steps : task->steps,
                                task->wanted, &e->gradient),
             done);
    *out = e;
    e = NULL;
done:
    pl_evaluation_destroy(e);
    return status;
}

void pl_evaluation_forget(pl_evaluation *e)
{
    pl_rollout_destroy(e->rollout);
    pl_state_destroy(e->task->scene, e->state);
    e->rollout = NULL;
    e->state = NULL;
}

void pl_evaluation_rewind(pl_evaluation *e)
{
    pl_evaluation_forget(e);
    pl_state_destroy(e->task->scene, e->from);
    e->from = NULL;
}

void pl_evaluation_destroy(pl_evaluation *e)
{
    if (!e)
        return;
    pl_context *ctx = e->task->ctx;
    pl_evaluation_rewind(e);
    pl_sim_destroy(e->sim);
    pl_gradient_destroy(e->task->scene, e->gradient);
    pl_free(ctx, e->x);
    pl_free(ctx, e->q);
    pl_free(ctx, e->v);
    pl_free(ctx, e);
}

static bool going_on(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    (void)step, (void)state, (void)info;
    pl_evaluation *e = user;
    return !e->keep_going || e->keep_going(e->user);
}

/* A rollout of the task's inputs from its window's first step on. */
static pl_rollout_def rollout_def(pl_evaluation *e, int steps)
{
    const pl_task *task = e->task;
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = steps;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (task->input[c])
            def.inputs.of[c] =
                task->input[c] + pl_channel_size(task->scene, (pl_channel)c, task->first) *
                                     (size_t)pl_channel_get((pl_channel)c)->width;
    def.memory_budget = task->tape_bytes;
    def.progress = going_on;
    def.progress_user = e;
    return def;
}

static pl_status make_sim(pl_evaluation *e)
{
    pl_status status = e->sim ? PL_OK : pl_sim_create(e->task->scene, &e->sim);
    return status == PL_OK ? PL_OK : pl_fail_within(e->task->ctx, status, "%s", e->task->path);
}

pl_status pl_evaluation_advance(pl_evaluation *e, int steps)
{
    pl_rollout *rollout = NULL;
    pl_rollout_def def = rollout_def(e, steps);
    def.tape = false;
    pl_evaluation_forget(e);
    PL_TRY(make_sim(e));
    if (!e->from)
        PL_TRY(pl_state_create(e->task->scene, &e->from));
    pl_status status = pl_rollout_run(e->sim, e->from, &def, &rollout);
    pl_rollout_destroy(rollout);
    return status;
}

pl_status pl_evaluation_run(pl_evaluation *e, const double *x)
{
    pl_task *task = e->task;
    pl_status status = PL_OK;
    if (e->rollout && memcmp(e->x, x, (size_t)task->n * sizeof *x) == 0)
        return PL_OK;
    double start = pl_milliseconds();
    pl_evaluation_forget(e);
    PL_CHECK(pl_state_create(task->scene, &e->state), done);
    if (e->from)
        PL_CHECK(pl_state_copy(task->scene, e->from, e->state), done);
    PL_CHECK(pl_task_apply(task, x, e->state), done);
    PL_CHECK(make_sim(e), done);
    pl_rollout_def def = rollout_def(e, task->span);
    PL_CHECK(pl_rollout_run(e->sim, e->state, &def, &e->rollout), done);
    memcpy(e->x, x, (size_t)task->n * sizeof *x);
    e->times.rollouts++;
    e->times.forward += (pl_milliseconds() - start) / 1e3;
    if (pl_rollout_bytes(e->rollout) > e->times.tape_bytes)
        e->times.tape_bytes = pl_rollout_bytes(e->rollout);
done:
    if (status != PL_OK)
        pl_evaluation_forget(e);
    return status;
}

/* ------------------------------------------------------------------------------- gradient */

/* A callback's own failure, which the sweep can only tell as an interruption. */
typedef struct failure {
    pl_status status;
    char message[PL_MESSAGE_SIZE];
} failure;

static bool keep_failure(const pl_evaluation *e, failure *f, pl_status status)
{
    f->status = status;
    if (status != PL_OK)
        snprintf(f->message, sizeof f->message, "%s", pl_context_error(e->task->ctx));
    return status == PL_OK;
}

static pl_status or_failure(const pl_evaluation *e, const failure *f, pl_status status)
{
    return f->status == PL_OK ? status : pl_fail(e->task->ctx, f->status, "%s", f->message);
}

typedef struct loss_call {
    pl_evaluation *e;
    failure failure;
} loss_call;

static bool add_loss(void *user, int step, const double *q, const double *v, double *value, double *dq,
                     double *dv)
{
    loss_call *call = user;
    const pl_task *task = call->e->task;
    pl_status status = PL_OK;
    if (step > 0) /* the start has none: it is the end of the window before */
        status = pl_task_loss_at(task, task->first + step, q, v, value, dq, dv);
    return keep_failure(call->e, &call->failure, status) && going_on(call->e, step, NULL, NULL);
}

double pl_task_regulariser(const pl_task *task, const double *x, double *gradient)
{
    double sum = 0;
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        int last = u->first + u->count - 1;
        for (int i = u->first; i <= last; i++) {
            double d = x[i] - task->initial[i], step = i < last ? x[i + 1] - x[i] : 0;
            sum += u->prior * d * d + u->smooth * step * step;
            if (!gradient)
                continue;
            gradient[i] += 2 * u->prior * d - 2 * u->smooth * step;
            if (i < last)
                gradient[i + 1] += 2 * u->smooth * step;
        }
    }
    return sum;
}

/* The loss without its gradient, from the states the terms need. */
static pl_status loss_only(pl_evaluation *e, const double *x, double *loss)
{
    PL_TRY(pl_evaluation_run(e, x));
    *loss = pl_task_regulariser(e->task, x, NULL) + pl_task_input_loss(e->task, NULL);
    for (int step = 1, at = e->task->first + 1; step <= e->task->span; step++, at++) {
        if (!pl_task_needs_step(e->task, at))
            continue;
        PL_TRY(pl_rollout_state(e->rollout, step, e->q, e->v));
        PL_TRY(pl_task_loss_at(e->task, at, e->q, e->v, loss, NULL, NULL));
    }
    return PL_OK;
}

pl_status pl_evaluation_loss(void *user, const double *x, double *loss, double *gradient)
{
    pl_evaluation *e = user;
    loss_call call = {.e = e};
    pl_adjoint_def def = pl_adjoint_def_default();
    pl_adjoint_info info;
    PL_TRY(pl_evaluation_run(e, x));
    double start = pl_milliseconds();
    pl_gradient_clear(e->task->scene, e->gradient);
    def.tolerance = e->task->adjoint_tolerance;
    pl_status status = pl_rollout_backward(e->rollout, &def, add_loss, &call, e->gradient, &info);
    if (status != PL_OK)
        return or_failure(e, &call.failure, status);
    *loss = info.loss + pl_task_input_loss(e->task, e->gradient);
    memset(gradient, 0, (size_t)e->task->n * sizeof *gradient);
    pl_task_chain(e->task, x, e->gradient, gradient);
    *loss += pl_task_regulariser(e->task, x, gradient);
    e->times.sweeps++;
    e->times.backward += (pl_milliseconds() - start) / 1e3;
    return PL_OK;
}

/* ------------------------------------------------------------------------------- residuals */

typedef struct tangent_call {
    pl_evaluation *e;
    double *dr; /* [residual_count] */
    failure failure;
} tangent_call;

static bool write_along(void *user, int step, const double *q, const double *v, const double *dq,
                        const double *dv)
{
    tangent_call *call = user;
    const pl_task *task = call->e->task;
    pl_status status = PL_OK;
    if (step > 0)
        status = pl_task_residual_along(task, task->first + step, q, v, dq, dv, call->dr);
    return keep_failure(call->e, &call->failure, status) && going_on(call->e, step, NULL, NULL);
}

static pl_status tangent_row(pl_evaluation *e, const double *x, int entry, double *dr)
{
    tangent_call call = {.e = e, .dr = dr};
    pl_adjoint_def def = pl_adjoint_def_default();
    def.tolerance = e->task->adjoint_tolerance;
    const pl_unknown *u = e->task->unknowns;
    while (entry >= u->first + u->count)
        u++;
    pl_gradient_clear(e->task->scene, e->gradient);
    pl_task_direction(e->task, entry, pl_map_slope(u, x[entry]), e->gradient);
    pl_status status = pl_rollout_tangent(e->rollout, &def, e->gradient, write_along, &call, NULL);
    pl_task_input_residual(e->task, e->gradient, dr);
    return or_failure(e, &call.failure, status);
}

pl_status pl_evaluation_residual(void *user, const double *x, double *r, double *jacobian)
{
    pl_evaluation *e = user;
    pl_task *task = e->task;
    size_t m = (size_t)task->residual_count;
    PL_TRY(pl_evaluation_run(e, x));
    memset(r, 0, m * sizeof *r);
    for (int step = 1, at = task->first + 1; step <= task->span; step++, at++) {
        if (!pl_task_needs_step(task, at))
            continue;
        PL_TRY(pl_rollout_state(e->rollout, step, e->q, e->v));
        PL_TRY(pl_task_residual_at(task, at, e->q, e->v, r));
    }
    if (jacobian) {
        double start = pl_milliseconds();
        memset(jacobian, 0, (size_t)task->n * m * sizeof *jacobian);
        for (int i = 0; i < task->n; i++)
            PL_TRY(tangent_row(e, x, i, jacobian + (size_t)i * m));
        e->times.sweeps += task->n;
        e->times.backward += (pl_milliseconds() - start) / 1e3;
    }
    pl_task_regularise(task, x, r, jacobian);
    pl_task_input_residual(task, NULL, r);
    return PL_OK;
}

/* ------------------------------------------------------------------------------- differences */

enum { LEVELS = 7 };
#define SHRINK 3.0
#define AGREED 1e-8

/*
 * Ridders' method for one entry: central differences at h, h/3, h/9, ... and Neville's extrapolation of
 * their even error series; the entry of the tableau that its neighbours agree with best is the answer.
 * The largest steps may straddle a contact that sticks on one side, the smallest drown in rounding; an
 * agreement to AGREED, far below what a check asks for, makes them unnecessary.
 */
static pl_status ridders(pl_evaluation *e, double *x, int i, double h, double *best, double *error)
{
    double tableau[LEVELS][LEVELS], centre = x[i];
    pl_status status = PL_OK;
    double room = fmin(centre - e->task->lower[i], e->task->upper[i] - centre);
    *best = NAN; /* at a bound there is no central difference */
    *error = INFINITY;
    h = fmin(h, room);
    for (int k = 0; h > 0 && k < LEVELS && !(*error <= AGREED * fabs(*best)); k++, h /= SHRINK) {
        double above, below, factor = SHRINK * SHRINK;
        x[i] = centre + h;
        PL_CHECK(loss_only(e, x, &above), done);
        x[i] = centre - h;
        PL_CHECK(loss_only(e, x, &below), done);
        tableau[k][0] = (above - below) / (2 * h);
        for (int j = 1; j <= k; j++, factor *= SHRINK * SHRINK) {
            tableau[k][j] = (factor * tableau[k][j - 1] - tableau[k - 1][j - 1]) / (factor - 1);
            double difference = fmax(fabs(tableau[k][j] - tableau[k][j - 1]),
                                     fabs(tableau[k][j] - tableau[k - 1][j - 1]));
            if (difference < *error) {
                *error = difference;
                *best = tableau[k][j];
            }
        }
    }
done:
    x[i] = centre;
    return status;
}

pl_status pl_evaluation_difference(pl_evaluation *e, const double *x, double step, double *gradient,
                                   double *error)
{
    pl_context *ctx = e->task->ctx;
    pl_status status = PL_OK;
    double *moved = NULL;
    PL_NEW(ctx, moved, e->task->n, done);
    memcpy(moved, x, (size_t)e->task->n * sizeof *moved);
    for (int i = 0; i < e->task->n; i++)
        PL_CHECK(ridders(e, moved, i, step, &gradient[i], &error[i]), done);
done:
    pl_free(ctx, moved);
    return status;
}
