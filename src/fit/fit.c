/*
 * Running a fit: iterations, continuation in the contact's eps, checkpoints, gradient checks, the
 * result.
 *
 * Continuation: stage s of S has eps^2 = start (own / start)^(s / S), stage S the scene's own. A larger
 * eps lets contacts act from afar, so that a force too weak to lift a body already shows in the loss.
 */
#include "fit/fit.h"

#include <stdio.h>

pl_fit_def pl_fit_def_default(void)
{
    return (pl_fit_def){.report = true, .uncertainty = true};
}

/* ------------------------------------------------------------------------------- what is shown */

/* Names of single entries: "mu", or "force[3]" of an unknown with one value for each step. */
static void name_entries(pl_fit *fit)
{
    const pl_task *task = fit->task;
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        for (int i = 0; i < u->count && u->first + i < fit->shown; i++) {
            int at = u->first + i;
            if (u->spread == PL_SPREAD_ONE)
                snprintf(fit->labels[at], sizeof fit->labels[at], "%s", u->name);
            else
                snprintf(fit->labels[at], sizeof fit->labels[at], "%s[%d]", u->name, i);
            fit->names[at] = fit->labels[at];
            fit->units[at] = *u->of.unit ? u->of.unit : NULL;
            fit->truth[at] = u->truth;
        }
    }
}

static double *row_at(const pl_fit *fit, int row)
{
    return fit->rows + (size_t)row * (size_t)fit->width;
}

/* Physical values of the state's x, [shown]. */
static void shown_values(const pl_fit *fit, double *out)
{
    const double *x = pl_optimizer_x(fit->optimizer, fit->optimizer->state);
    const pl_unknown *u = fit->task->unknowns;
    for (int i = 0; i < fit->shown; i++) {
        while (i >= u->first + u->count)
            u++;
        out[i] = pl_clip(pl_map_to_p(u, x[i]), u->lower, u->upper);
    }
}

static void report_progress(const pl_fit *fit)
{
    const double *row = row_at(fit, fit->row_count - 1), *head = fit->optimizer->state;
    const pl_fit_progress progress = {.iteration = (int)head[PL_HEAD_ITERATION],
                                      .iterations = fit->task->optimizer.iterations,
                                      .evaluations = (int)head[PL_HEAD_EVALUATIONS],
                                      .loss = row[PL_ROW_LOSS],
                                      .contact_epsilon2 = row[PL_ROW_EPSILON2],
                                      .parameter_count = fit->shown,
                                      .names = fit->names,
                                      .values = row + PL_ROW_HEAD};
    if (fit->def.progress)
        fit->def.progress(fit->def.user, &progress);
}

/* ------------------------------------------------------------------------------- iterations */

/* Finite differences at x, [shown]. */
static pl_status difference_row(pl_fit *fit, const double *x, double *out)
{
    pl_task *task = fit->task;
    pl_status status = PL_OK;
    double *both = NULL;
    PL_NEW(fit->ctx, both, 2 * (size_t)task->n, done);
    PL_CHECK(pl_evaluation_difference(fit->evaluation, x, task->check.step, both, both + task->n),
             done);
    memcpy(out, both, (size_t)fit->shown * sizeof *out);
done:
    pl_free(fit->ctx, both);
    return pl_point_refused(status) ? PL_OK : status; /* there is none to compare with here */
}

/* Adds the optimiser's state to the history. */
static pl_status record(pl_fit *fit)
{
    int iteration = (int)fit->optimizer->state[PL_HEAD_ITERATION], p = fit->shown;
    const double *gradient = pl_optimizer_gradient(fit->optimizer, fit->optimizer->state);
    PL_TRY(pl_grow(fit->ctx, (void **)&fit->rows, &fit->row_capacity, (fit->row_count + 1) * fit->width,
                   sizeof(double)));
    double *row = row_at(fit, fit->row_count);
    row[PL_ROW_LOSS] = fit->optimizer->state[PL_HEAD_LOSS];
    row[PL_ROW_EPSILON2] = fit->task->scene->params.values->def.contact_epsilon2;
    shown_values(fit, row + PL_ROW_HEAD);
    memcpy(row + PL_ROW_HEAD + p, gradient, (size_t)p * sizeof *row);
    for (int i = 0; i < p; i++)
        row[PL_ROW_HEAD + 2 * p + i] = NAN;
    const pl_gradient_check *check = &fit->task->check;
    if (check->step > 0 && check->every > 0 && iteration % check->every == 0)
        PL_TRY(difference_row(fit, pl_optimizer_x(fit->optimizer, fit->optimizer->state),
                              row + PL_ROW_HEAD + 2 * p));
    fit->row_count++;
    return PL_OK;
}

static pl_status save_and_tell(pl_fit *fit)
{
    if (fit->def.directory)
        PL_TRY(pl_checkpoint_save(fit));
    report_progress(fit);
    return PL_OK;
}

static int stage_count(const pl_fit *fit)
{
    return fit->task->continuation.start > 0 ? fit->task->continuation.stages : 0;
}

/* The scene's contacts as soft as the stage has them; what was simulated before no longer counts. */
static pl_status enter_stage(pl_fit *fit, int stage)
{
    pl_task *task = fit->task;
    double start = task->continuation.start, own = task->contact_epsilon2;
    int stages = stage_count(fit);
    fit->stage = stage;
    pl_evaluation_forget(fit->evaluation);
    return pl_task_set_epsilon2(task, stage < stages ? start * pow(own / start, (double)stage / stages)
                                                     : own);
}

static bool stage_over(const pl_fit *fit)
{
    const double *head = fit->optimizer->state;
    return head[PL_HEAD_STOP] != PL_STOP_NONE ||
           (fit->stage < stage_count(fit) &&
            (int)head[PL_HEAD_ITERATION] - fit->stage_start >= fit->task->continuation.iterations);
}

static pl_status iterate(pl_fit *fit)
{
    double *head = fit->optimizer->state;
    for (;;) {
        while (!stage_over(fit)) {
            PL_TRY(pl_optimizer_step(fit->optimizer));
            PL_TRY(record(fit));
            PL_TRY(save_and_tell(fit));
        }
        if (fit->stage >= stage_count(fit) || head[PL_HEAD_STOP] == PL_STOP_ITERATIONS)
            return PL_OK;
        PL_TRY(enter_stage(fit, fit->stage + 1));
        fit->stage_start = (int)head[PL_HEAD_ITERATION];
        PL_TRY(pl_optimizer_start(fit->optimizer));
        if (fit->def.directory)
            PL_TRY(pl_checkpoint_save(fit));
    }
}

/* ------------------------------------------------------------------------------- checking afterwards
 */

/* Differences of a row, with the contacts as soft as they were then. */
static pl_status check_row(pl_fit *fit, int index)
{
    double *row = row_at(fit, index), x[PL_SHOWN_MAX];
    const pl_unknown *u = fit->task->unknowns;
    if (fit->task->scene->params.values->def.contact_epsilon2 != row[PL_ROW_EPSILON2]) {
        PL_TRY(pl_task_set_epsilon2(fit->task, row[PL_ROW_EPSILON2]));
        pl_evaluation_forget(fit->evaluation);
    }
    for (int i = 0; i < fit->task->n; i++) {
        while (i >= u->first + u->count)
            u++;
        x[i] = pl_map_to_x(u, row[PL_ROW_HEAD + i]);
    }
    return difference_row(fit, x, row + PL_ROW_HEAD + 2 * fit->shown);
}

/* Finite differences for a few rows of each stage, evenly chosen. Needs every entry of x in the rows.
 */
static pl_status check_stages(pl_fit *fit)
{
    int per_stage = fit->task->check.per_stage, ends[4];
    if (fit->task->check.step <= 0 || per_stage == 0 || fit->task->n > PL_SHOWN_MAX)
        return PL_OK;
    pl_stage_ends(fit->row_count, fit->rows + PL_ROW_LOSS, fit->width, ends);
    for (int s = 0; s < 3; s++) {
        int size = ends[s + 1] - ends[s], count = size < per_stage ? size : per_stage;
        for (int k = 0; k < count; k++) {
            int index = ends[s] + (count > 1 ? k * (size - 1) / (count - 1) : 0);
            PL_TRY(check_row(fit, index));
        }
    }
    PL_TRY(enter_stage(fit, fit->stage));
    return PL_OK;
}

/* ------------------------------------------------------------------------------- the result */

typedef struct full_result {
    pl_fit_result result; /* first: freed through it */
    const char *names[PL_SHOWN_MAX], *units[PL_SHOWN_MAX];
    char labels[PL_SHOWN_MAX][96];
    double truth[PL_SHOWN_MAX];
    pl_verdict verdict;
    pl_fit_reason reasons[PL_REASONS_MAX];
    double *numbers; /* what the arrays point into */
} full_result;

/* Standard errors and correlations, and whether anything was identified at all. */
static pl_status judge(pl_fit *fit, double *error, double *correlation, pl_verdict *verdict)
{
    pl_status status = PL_OK;
    const pl_task *task = fit->task;
    const double *x = pl_optimizer_x(fit->optimizer, fit->optimizer->state);
    bool with_jacobian = fit->def.uncertainty && task->n <= PL_SHOWN_MAX;
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
    for (size_t k = 0; k < (size_t)fit->row_count; k++) {
        const double *row = row_at(fit, (int)k);
        loss[k] = row[PL_ROW_LOSS];
        epsilon2[k] = row[PL_ROW_EPSILON2];
        memcpy(values + k * p, row + PL_ROW_HEAD, bytes);
        memcpy(gradient + k * p, row + PL_ROW_HEAD + p, bytes);
        memcpy(difference + k * p, row + PL_ROW_HEAD + 2 * p, bytes);
    }
}

static pl_status make_result(pl_fit *fit, pl_fit_result **out)
{
    pl_status status = PL_OK;
    size_t p = (size_t)fit->shown, k = (size_t)fit->row_count;
    full_result *full = NULL;
    PL_NEW(fit->ctx, full, 1, done);
    PL_NEW(fit->ctx, full->numbers, 2 * k + 3 * k * p + p + p * p, done);
    double *loss = full->numbers, *epsilon2 = loss + k, *values = epsilon2 + k,
           *gradient = values + k * p;
    double *difference = gradient + k * p, *error = difference + k * p, *correlation = error + p;
    split_rows(fit, loss, epsilon2, values, gradient, difference);
    PL_CHECK(judge(fit, error, correlation, &full->verdict), done);
    memcpy(full->labels, fit->labels, sizeof full->labels);
    memcpy(full->units, fit->units, sizeof full->units);
    memcpy(full->truth, fit->truth, sizeof full->truth);
    for (size_t i = 0; i < p; i++)
        full->names[i] = full->labels[i];
    for (int i = 0; i < full->verdict.count; i++)
        full->reasons[i] = (pl_fit_reason){full->verdict.doubts[i], full->verdict.texts[i]};
    const double *head = fit->optimizer->state;
    const pl_evaluation_times *t = &fit->evaluation->times;
    full->result =
        (pl_fit_result){.identified = full->verdict.count == 0,
                        .verdict = full->verdict.sentence,
                        .reason_count = full->verdict.count,
                        .reasons = full->reasons,
                        .residual = full->verdict.residual,
                        .refused = (int)head[PL_HEAD_REFUSED],
                        .stop = (pl_stop)head[PL_HEAD_STOP],
                        .iterations = (int)head[PL_HEAD_ITERATION],
                        .evaluations = (int)head[PL_HEAD_EVALUATIONS],
                        .row_count = fit->row_count,
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
                        .tape_bytes = t->tape_bytes};
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
    pl_free(task->ctx, ((full_result *)result)->numbers);
    pl_free(task->ctx, result);
}

/* ------------------------------------------------------------------------------- running */

static pl_status begin(pl_fit *fit)
{
    if (fit->def.resume) {
        PL_TRY(pl_checkpoint_load(fit));
        PL_TRY(enter_stage(fit, fit->stage));
        report_progress(fit);
        return PL_OK;
    }
    PL_TRY(enter_stage(fit, 0));
    PL_TRY(pl_optimizer_start(fit->optimizer));
    PL_TRY(record(fit));
    return save_and_tell(fit);
}

static pl_status prepare(pl_fit *fit)
{
    pl_task *task = fit->task;
    const pl_problem problem = {.n = task->n,
                                .lower = task->lower,
                                .upper = task->upper,
                                .evaluate = pl_evaluation_loss,
                                .residual_count = task->residual_count,
                                .residual = pl_evaluation_residual};
    fit->shown = task->n < PL_SHOWN_MAX ? task->n : PL_SHOWN_MAX;
    fit->width = PL_ROW_HEAD + 3 * fit->shown;
    name_entries(fit);
    if (fit->def.resume && !fit->def.directory)
        return pl_fail(fit->ctx, PL_ERROR_ARGUMENT, "resume needs a directory");
    if (fit->def.directory)
        PL_TRY(pl_fit_open_directory(fit));
    PL_TRY(pl_task_complete(task, fit->def.keep_going, fit->def.user));
    fit->started = pl_milliseconds();
    PL_TRY(pl_evaluation_create(task, &fit->evaluation));
    fit->evaluation->keep_going = fit->def.keep_going;
    fit->evaluation->user = fit->def.user;
    PL_TRY(pl_optimizer_create(fit->ctx, &task->optimizer, &problem, task->initial, &fit->optimizer));
    fit->optimizer->problem.user = fit->evaluation;
    return PL_OK;
}

pl_status pl_task_fit(pl_task *task, const pl_fit_def *def, pl_fit_result **out)
{
    pl_fit fit = {.ctx = task->ctx, .task = task, .def = *def, .written = {.ctx = task->ctx}};
    pl_fit_result *result = NULL;
    pl_status status = PL_OK;
    *out = NULL;
    PL_CHECK(prepare(&fit), done);
    PL_CHECK(begin(&fit), done);
    PL_CHECK(iterate(&fit), done);
    PL_CHECK(check_stages(&fit), done);
    PL_CHECK(make_result(&fit, &result), done);
    if (def->directory)
        PL_CHECK(pl_fit_write(&fit, result), done);
    *out = result;
    result = NULL;
done:
    if (status == PL_OK)
        status = pl_task_set_epsilon2(task, task->contact_epsilon2);
    else
        pl_task_set_epsilon2(task, task->contact_epsilon2);
    pl_fit_result_free(task, result);
    pl_optimizer_destroy(fit.optimizer);
    pl_evaluation_destroy(fit.evaluation);
    pl_free(task->ctx, fit.rows);
    pl_text_free(&fit.written);
    return status;
}
