/*
 * Receding windows. With n steps in a window and m to advance: the inputs of steps k m + 1 ... k m + n
 * are found from the state after step k m, the first m of them are made, and the next window starts
 * from what was found for its steps; those that no window had yet start as the last of them. The last
 * window is the one that reaches the end.
 *
 * The task's inputs are the plan: a window writes its own steps and leaves those before it.
 */
#include "fit/fit.h"

bool pl_window_left(const pl_fit *fit)
{
    const pl_task *task = fit->task;
    return task->first + task->span < task->steps;
}

/* The values of a window's steps, `advance` later. */
static void shift(const pl_task *task, const double *x, double *out)
{
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        for (int i = 0; i < u->count; i++) {
            int from = i + task->window.advance;
            out[u->first + i] = x[u->first + (from < u->count ? from : u->count - 1)];
        }
    }
}

pl_status pl_window_next(pl_fit *fit)
{
    pl_task *task = fit->task;
    pl_optimizer *opt = fit->optimizer;
    double evaluations = opt->state[PL_HEAD_EVALUATIONS], refused = opt->state[PL_HEAD_REFUSED];
    const double *x = pl_optimizer_x(opt, opt->state);
    pl_status status = PL_OK;
    double *next = NULL;
    PL_NEW(fit->ctx, next, task->n, done);
    shift(task, x, next);
    PL_CHECK(pl_task_apply(task, x, NULL), done);
    PL_CHECK(pl_evaluation_advance(fit->evaluation, task->window.advance), done);
    pl_task_open_window(task, task->first + task->window.advance);
    pl_optimizer_reset(opt, next);
    opt->state[PL_HEAD_EVALUATIONS] = evaluations;
    opt->state[PL_HEAD_REFUSED] = refused;
    status = pl_optimizer_start(opt);
done:
    pl_free(fit->ctx, next);
    return status;
}

/* In the same strides as the first time, for the same bits. */
pl_status pl_window_restore(pl_fit *fit, int first)
{
    pl_task *task = fit->task;
    pl_evaluation_rewind(fit->evaluation);
    for (int at = 0; at < first; at += task->window.advance) {
        pl_task_open_window(task, at);
        PL_TRY(pl_evaluation_advance(fit->evaluation, task->window.advance));
    }
    pl_task_open_window(task, first);
    return PL_OK;
}

pl_status pl_window_settle(pl_fit *fit)
{
    pl_task *task = fit->task;
    if (!task->window.steps)
        return PL_OK;
    PL_TRY(pl_task_apply(task, pl_optimizer_x(fit->optimizer, fit->optimizer->state), NULL));
    pl_evaluation_rewind(fit->evaluation);
    task->first = 0;
    task->span = task->steps;
    task->settled = true;
    return PL_OK;
}
