/* A task's loss and gradient at many of its starting points, each an environment of a batch. */
#include "batch/batch.h"
#include "fit/task.h"

#include <pthread.h>
#include <stdio.h>

typedef struct evaluation {
    pl_task *task;
    const pl_task_points *points;
    pl_batch *batch;
    pl_batch_run_def run;
    double *x;                       /* [count, n] */
    double *input[PL_CHANNEL_COUNT]; /* [count, steps, rows, width] of those that unknowns change */
    pl_gradient *gradient;           /* [count, ...] */
    pl_adjoint_info *infos;          /* [count] */
    pthread_mutex_t lock;            /* of the task's context, while the loss is told */
    pl_status failed;                /* of the loss itself */
    char message[PL_MESSAGE_SIZE];
} evaluation;

int pl_task_value_count(const pl_task *task)
{
    return task->n;
}

static pl_status check(const pl_task *task, const pl_task_points *p)
{
    if (p->first < 0 || p->count < 1)
        return pl_fail(task->ctx, PL_ERROR_ARGUMENT, "environments %d to %d: there are none", p->first,
                       p->first + p->count - 1);
    if (task->window.steps > 0)
        return pl_fail(task->ctx, PL_ERROR_ARGUMENT,
                       "%s: a task with receding windows has no loss of its own", task->path);
    for (int i = 0; p->first + p->count > 1 && i < task->n; i++)
        if (!isfinite(task->lower[i]) || !isfinite(task->upper[i])) {
            char name[96];
            pl_task_value_name(task, i, sizeof name, name);
            return pl_fail(task->ctx, PL_ERROR_ARGUMENT,
                           "%s: unknown \"%s\": expected \"lower\" and \"upper\", between which "
                           "environments are drawn",
                           task->path, name);
        }
    return PL_OK;
}

static size_t input_size(const pl_task *task, int channel)
{
    return pl_channel_size(task->scene, (pl_channel)channel, task->steps) *
           (size_t)pl_channel_get((pl_channel)channel)->width;
}

/* Point k into its environment. */
static pl_status place(evaluation *v, int k)
{
    pl_task *task = v->task;
    pl_environment *env = &v->batch->environments[k];
    double *x = v->x + (size_t)k * (size_t)task->n;
    pl_task_start_x(task, v->points->first + k, x);
    PL_TRY(pl_task_apply(task, x, env->state));
    memcpy(v->points->values + (size_t)k * (size_t)task->n, task->p, sizeof(double) * (size_t)task->n);
    pl_values_release(task->ctx, env->params->values);
    env->params->values = pl_values_hold(task->scene->params.values);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (v->input[c])
            memcpy(v->input[c] + (size_t)k * input_size(task, c), task->input[c],
                   sizeof(double) * input_size(task, c));
    return PL_OK;
}

static bool going_on(void *user, int environment, int step, const pl_state *state,
                     const pl_step_info *info)
{
    (void)environment, (void)step, (void)state, (void)info;
    const pl_task_points *p = ((evaluation *)user)->points;
    return !p->keep_going || p->keep_going(p->user);
}

static bool add_loss(void *user, int environment, int step, const double *q, const double *v,
                     double *value, double *dq, double *dv)
{
    evaluation *of = user;
    const pl_task *task = of->task;
    if (step == 0 || !pl_task_needs_step(task, step))
        return true;
    pthread_mutex_lock(&of->lock);
    pl_status status = pl_task_loss_at(task, step, q, v, value, dq, dv);
    if (status != PL_OK && of->failed == PL_OK) {
        of->failed = status;
        snprintf(of->message, sizeof of->message, "environment %d: %s", of->points->first + environment,
                 pl_context_error(task->ctx));
    }
    pthread_mutex_unlock(&of->lock);
    return status == PL_OK;
}

/* What is told of point k. */
static pl_status tell(evaluation *v, int k)
{
    const pl_task_points *p = v->points;
    pl_task *task = v->task;
    const char *message;
    size_t at = (size_t)k * (size_t)task->n;
    double *x = v->x + at, *out = p->gradient + at;
    p->status[k] = pl_batch_status(v->batch, k, &message);
    snprintf(p->message + (size_t)k * PL_POINT_MESSAGE, PL_POINT_MESSAGE, "%s", message);
    p->loss[k] = NAN;
    for (int i = 0; i < task->n; i++)
        out[i] = p->status[k] == PL_OK ? 0 : NAN;
    if (p->status[k] != PL_OK)
        return PL_OK;
    pl_gradient own = *v->gradient;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (own.of[c])
            own.of[c] += (size_t)k * pl_gradient_size(task->scene, (pl_channel)c, own.steps);
    PL_TRY(pl_task_apply(task, x, NULL));
    p->loss[k] = v->infos[k].loss + pl_task_input_loss(task, &own);
    pl_task_chain(task, x, &own, out);
    p->loss[k] += pl_task_regulariser(task, x, out);
    const pl_unknown *u = task->unknowns;
    for (int i = 0; i < task->n; i++) {
        while (i >= u->first + u->count)
            u++;
        out[i] /= pl_map_slope(u, x[i]);
    }
    return PL_OK;
}

static pl_status make(evaluation *v)
{
    pl_status status = PL_OK;
    pl_task *task = v->task;
    int count = v->points->count;
    pl_batch_def def = {.environments = count, .workers = v->points->workers};
    if ((status = pl_batch_create(task->scene, &def, &v->batch)) != PL_OK) {
        pl_fail_within(task->ctx, status, "%s", task->path);
        goto done;
    }
    PL_CHECK(pl_batch_gradient_create(v->batch, task->steps, task->wanted, &v->gradient), done);
    PL_NEW(task->ctx, v->x, (size_t)count * (size_t)task->n, done);
    PL_NEW(task->ctx, v->infos, count, done);
    v->run = pl_batch_run_def_default();
    v->run.steps = task->steps;
    v->run.memory_budget = task->tape_bytes * (size_t)pl_batch_workers(v->batch);
    v->run.progress = going_on;
    v->run.progress_user = v;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (task->input[c]) {
            PL_NEW(task->ctx, v->input[c], (size_t)count * input_size(task, c), done);
            v->run.inputs.of[c] = v->input[c];
        }
done:
    return status;
}

pl_status pl_task_evaluate(pl_task *task, const pl_task_points *points)
{
    pl_status status = PL_OK;
    evaluation v = {.task = task, .points = points};
    pl_adjoint_def adjoint = pl_adjoint_def_default();
    adjoint.tolerance = task->adjoint_tolerance;
    PL_TRY(check(task, points));
    PL_TRY(pl_task_complete(task, points->keep_going, points->user));
    pthread_mutex_init(&v.lock, NULL);
    PL_CHECK(make(&v), done);
    for (int k = 0; k < points->count; k++)
        PL_CHECK(place(&v, k), done);
    status = pl_batch_evaluate(v.batch, &v.run, &adjoint, add_loss, &v, v.gradient, v.infos);
    bool stopped = status == PL_ERROR_INTERRUPTED;
    if (v.failed != PL_OK) {
        status = pl_fail(task->ctx, v.failed, "%s", v.message);
        goto done;
    }
    for (int k = 0; k < points->count; k++)
        PL_CHECK(tell(&v, k), done);
    status = stopped ? pl_fail(task->ctx, PL_ERROR_INTERRUPTED, "stopped") : PL_OK;
done:
    pthread_mutex_destroy(&v.lock);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        pl_free(task->ctx, v.input[c]);
    pl_free(task->ctx, v.infos);
    pl_free(task->ctx, v.x);
    pl_gradient_destroy(task->scene, v.gradient);
    pl_batch_destroy(v.batch);
    return status;
}
