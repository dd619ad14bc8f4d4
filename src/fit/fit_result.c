/* The result of a fit: what its course found, judged, in arrays of its own. */
#include "fit/fit.h"

typedef struct full_result {
    pl_fit_result result; /* first: freed through it */
    const char *names[PL_SHOWN_MAX], *units[PL_SHOWN_MAX];
    char labels[PL_SHOWN_MAX][96];
    double truth[PL_SHOWN_MAX];
    pl_verdict verdict;
    pl_fit_reason reasons[PL_REASONS_MAX];
    pl_fit_start *starts;
    pl_signals signals;
    double *numbers, *start_numbers; /* what the arrays point into */
} full_result;

/* Standard errors and correlations, and whether anything was identified at all. */
static pl_status judge(pl_fit *fit, double *error, double *correlation, pl_verdict *verdict)
{
    pl_status status = PL_OK;
    const pl_task *task = fit->task;
    const double *x = pl_optimizer_x(fit->optimizer, fit->optimizer->state);
    bool with_jacobian = fit->def.uncertainty && task->n <= PL_SHOWN_MAX && !task->control;
    pl_evidence evidence;
    PL_CHECK(pl_evidence_gather(fit->evaluation, x, with_jacobian, &evidence), done);
    pl_uncertainty(task, x, &evidence, error, correlation);
    status = pl_verdict_reach(fit, &evidence, error, verdict);
done:
    pl_evidence_free(fit->ctx, &evidence);
    return status;
}

static void split_rows(const pl_fit *fit, double *loss, double *epsilon2, double *values,
                       double *gradient, double *difference)
{
    size_t p = (size_t)fit->shown, bytes = p * sizeof(double);
    for (size_t k = 0; k < (size_t)fit->course->row_count; k++) {
        const double *row = pl_course_row(fit, fit->course, (int)k);
        loss[k] = row[PL_ROW_LOSS];
        epsilon2[k] = row[PL_ROW_EPSILON2];
        memcpy(values + k * p, row + PL_ROW_HEAD, bytes);
        memcpy(gradient + k * p, row + PL_ROW_HEAD + p, bytes);
        memcpy(difference + k * p, row + PL_ROW_HEAD + 2 * p, bytes);
    }
}

static pl_status list_starts(const pl_fit *fit, full_result *full)
{
    pl_status status = PL_OK;
    size_t p = (size_t)fit->shown, count = (size_t)fit->course_count;
    double *x = NULL;
    PL_NEW(fit->ctx, x, fit->task->n, done);
    PL_NEW(fit->ctx, full->starts, count, done);
    PL_NEW(fit->ctx, full->start_numbers, 2 * p * count, done);
    for (size_t c = 0; c < count; c++) {
        const pl_course *course = &fit->courses[c];
        double *initial = full->start_numbers + 2 * p * c, *values = initial + p;
        bool begun = course->row_count > 0;
        const double *last = begun ? pl_course_row(fit, course, course->row_count - 1) : NULL;
        pl_task_start_x(fit->task, (int)c, x);
        pl_fit_shown_values(fit, x, initial);
        memcpy(values, begun ? last + PL_ROW_HEAD : initial, p * sizeof *values);
        full->starts[c] =
            (pl_fit_start){.initial = initial,
                           .values = values,
                           .loss = begun ? last[PL_ROW_LOSS] : NAN,
                           .iterations = begun ? (int)course->state[PL_HEAD_ITERATION] : 0,
                           .stop = begun ? (pl_stop)course->state[PL_HEAD_STOP] : PL_STOP_NONE,
                           .refused = course->refused};
        full->result.evaluations += begun ? (int)course->state[PL_HEAD_EVALUATIONS] : 0;
        full->result.refused += begun ? (int)course->state[PL_HEAD_REFUSED] : 1;
    }
done:
    pl_free(fit->ctx, x);
    return status;
}

pl_status pl_fit_make_result(pl_fit *fit, pl_fit_result **out)
{
    pl_status status = PL_OK;
    size_t p = (size_t)fit->shown, k = (size_t)fit->course->row_count;
    full_result *full = NULL;
    PL_NEW(fit->ctx, full, 1, done);
    PL_NEW(fit->ctx, full->numbers, 2 * k + 3 * k * p + p + p * p, done);
    double *loss = full->numbers, *epsilon2 = loss + k, *values = epsilon2 + k,
           *gradient = values + k * p;
    double *difference = gradient + k * p, *error = difference + k * p, *correlation = error + p;
    split_rows(fit, loss, epsilon2, values, gradient, difference);
    PL_CHECK(judge(fit, error, correlation, &full->verdict), done);
    PL_CHECK(pl_signals_gather(fit->task, &full->signals), done);
    memcpy(full->labels, fit->labels, sizeof full->labels);
    memcpy(full->units, fit->units, sizeof full->units);
    memcpy(full->truth, fit->truth, sizeof full->truth);
    for (size_t i = 0; i < p; i++)
        full->names[i] = full->labels[i];
    for (int i = 0; i < full->verdict.count; i++)
        full->reasons[i] = (pl_fit_reason){full->verdict.doubts[i], full->verdict.texts[i]};
    const double *head = fit->optimizer->state;
    int windows = pl_task_window_count(fit->task);
    const pl_evaluation_times *t = &fit->evaluation->times;
    full->result =
        (pl_fit_result){.identified = full->verdict.count == 0,
                        .verdict = full->verdict.sentence,
                        .reason_count = full->verdict.count,
                        .reasons = full->reasons,
                        .residual = full->verdict.residual,
                        .stop = (pl_stop)head[PL_HEAD_STOP],
                        .iterations = fit->course->row_count - windows,
                        .window_count = windows,
                        .start_count = fit->course_count,
                        .best = (int)(fit->course - fit->courses),
                        .row_count = fit->course->row_count,
                        .parameter_count = fit->shown,
                        .names = full->names,
                        .units = full->units,
                        .truth = full->truth,
                        .loss = loss,
                        .epsilon2 = epsilon2,
                        .values = values,
                        .gradient = gradient,
                        .difference = difference,
                        .standard_error = error,
                        .correlation = correlation,
                        .seconds = fit->seconds_before + (pl_milliseconds() - fit->started) / 1e3,
                        .forward_seconds = t->forward,
                        .backward_seconds = t->backward,
                        .rollouts = t->rollouts,
                        .sweeps = t->sweeps,
                        .steps = fit->task->steps,
                        .tape_bytes = t->tape_bytes,
                        .goal_count = full->verdict.goal_count,
                        .goals = full->verdict.goals,
                        .signal_count = full->signals.count,
                        .signal_names = full->signals.names,
                        .signals = full->signals.values};
    PL_CHECK(list_starts(fit, full), done);
    full->result.starts = full->starts;
    *out = &full->result;
    full = NULL;
done:
    if (full)
        pl_fit_result_free(fit->task, &full->result);
    return status;
}

void pl_fit_result_free(const pl_task *task, pl_fit_result *result)
{
    if (!result)
        return;
    full_result *full = (full_result *)result;
    pl_signals_free(task->ctx, &full->signals);
    pl_free(task->ctx, full->starts);
    pl_free(task->ctx, full->numbers);
    pl_free(task->ctx, full->start_numbers);
    pl_free(task->ctx, full);
}
