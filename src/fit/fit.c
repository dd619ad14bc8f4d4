/*
 * Running a fit: courses from its starting points, their iterations, continuation in the contact's eps,
 * checkpoints, gradient checks of the best.
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

void pl_task_value_name(const pl_task *task, int i, size_t size, char *name)
{
    static const char *const parts[] = {"offset", "amplitude", "frequency", "phase"};
    const pl_unknown *u = task->unknowns;
    while (i >= u->first + u->count)
        u++;
    if (u->spread == PL_SPREAD_ONE)
        snprintf(name, size, "%s", u->name);
    else if (u->signal == PL_SIGNAL_SINUSOID)
        snprintf(name, size, "%s %s", u->name, parts[i - u->first]);
    else
        snprintf(name, size, "%s[%d]", u->name, i - u->first);
}

static void name_entries(pl_fit *fit)
{
    const pl_task *task = fit->task;
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        for (int i = 0; i < u->count && u->first + i < fit->shown; i++) {
            int at = u->first + i;
            pl_task_value_name(task, at, sizeof fit->labels[at], fit->labels[at]);
            fit->names[at] = fit->labels[at];
            bool own = u->signal != PL_SIGNAL_SINUSOID || i < PL_SINUSOID_FREQUENCY;
            const char *unit = own ? u->of.unit : i == PL_SINUSOID_FREQUENCY ? "Hz" : "rad";
            fit->units[at] = *unit ? unit : NULL;
            fit->truth[at] = u->truth;
        }
    }
}

void pl_fit_shown_values(const pl_fit *fit, const double *x, double *out)
{
    const pl_unknown *u = fit->task->unknowns;
    for (int i = 0; i < fit->shown; i++) {
        while (i >= u->first + u->count)
            u++;
        out[i] = pl_task_value(fit->task, u, i, x[i]);
    }
}

static void report_progress(const pl_fit *fit)
{
    const double *row = pl_course_row(fit, fit->course, fit->course->row_count - 1),
                 *head = fit->optimizer->state;
    double best = INFINITY;
    for (int c = 0; c < fit->course_count; c++)
        best = fmin(best, pl_course_loss(fit, &fit->courses[c]));
    const pl_fit_progress progress = {.start = (int)(fit->course - fit->courses),
                                      .starts = fit->course_count,
                                      .window = fit->task->first / fit->task->window.advance,
                                      .windows = pl_task_window_count(fit->task),
                                      .best_loss = best,
                                      .iteration = (int)head[PL_HEAD_ITERATION],
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
    PL_TRY(pl_grow(fit->ctx, (void **)&fit->course->rows, &fit->course->row_capacity,
                   (fit->course->row_count + 1) * fit->width, sizeof(double)));
    double *row = pl_course_row(fit, fit->course, fit->course->row_count);
    row[PL_ROW_LOSS] = fit->optimizer->state[PL_HEAD_LOSS];
    row[PL_ROW_EPSILON2] = fit->task->scene->params.values->def.contact_epsilon2;
    pl_fit_shown_values(fit, pl_optimizer_x(fit->optimizer, fit->optimizer->state), row + PL_ROW_HEAD);
    memcpy(row + PL_ROW_HEAD + p, gradient, (size_t)p * sizeof *row);
    for (int i = 0; i < p; i++)
        row[PL_ROW_HEAD + 2 * p + i] = NAN;
    const pl_gradient_check *check = &fit->task->check;
    if (check->step > 0 && check->every > 0 && iteration % check->every == 0)
        PL_TRY(difference_row(fit, pl_optimizer_x(fit->optimizer, fit->optimizer->state),
                              row + PL_ROW_HEAD + 2 * p));
    fit->course->row_count++;
    return PL_OK;
}

/* Checkpoints of windows grow with what was found, while iterations stay short: they may take a tenth
 * of the time. */
static bool is_due(const pl_fit *fit)
{
    bool last = fit->optimizer->state[PL_HEAD_STOP] != PL_STOP_NONE && !pl_window_left(fit);
    return !fit->task->window.steps || last || pl_milliseconds() - fit->saved >= 10 * fit->saving;
}

/* Keeps the optimiser's state with its course, and both on the disk. */
static pl_status save(pl_fit *fit)
{
    const pl_optimizer *opt = fit->optimizer;
    memcpy(fit->course->state, opt->state, (size_t)opt->state_count * sizeof *opt->state);
    return fit->def.directory && is_due(fit) ? pl_checkpoint_save(fit) : PL_OK;
}

static pl_status save_and_tell(pl_fit *fit)
{
    PL_TRY(save(fit));
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
    fit->course->stage = stage;
    pl_evaluation_forget(fit->evaluation);
    return pl_task_set_epsilon2(task, stage < stages ? start * pow(own / start, (double)stage / stages)
                                                     : own);
}

static bool stage_over(const pl_fit *fit)
{
    const double *head = fit->optimizer->state;
    return head[PL_HEAD_STOP] != PL_STOP_NONE ||
           (fit->course->stage < stage_count(fit) &&
            (int)head[PL_HEAD_ITERATION] - fit->course->stage_start >=
                fit->task->continuation.iterations);
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
        bool last = fit->course->stage >= stage_count(fit);
        if (last && pl_window_left(fit)) {
            PL_TRY(pl_window_next(fit));
            PL_TRY(record(fit));
            PL_TRY(save_and_tell(fit));
            continue;
        }
        if (last || head[PL_HEAD_STOP] == PL_STOP_ITERATIONS)
            return PL_OK;
        PL_TRY(enter_stage(fit, fit->course->stage + 1));
        fit->course->stage_start = (int)head[PL_HEAD_ITERATION];
        PL_TRY(pl_optimizer_start(fit->optimizer));
        PL_TRY(save(fit));
    }
}

/* ------------------------------------------------------------------------------- checking afterwards
 */

/* Differences of a row, with the contacts as soft as they were then. */
static pl_status check_row(pl_fit *fit, int index)
{
    double *row = pl_course_row(fit, fit->course, index), x[PL_SHOWN_MAX];
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
    pl_stage_ends(fit->course->row_count, fit->course->rows + PL_ROW_LOSS, fit->width, ends);
    for (int s = 0; s < 3; s++) {
        int size = ends[s + 1] - ends[s], count = size < per_stage ? size : per_stage;
        for (int k = 0; k < count; k++) {
            int index = ends[s] + (count > 1 ? k * (size - 1) / (count - 1) : 0);
            PL_TRY(check_row(fit, index));
        }
    }
    return enter_stage(fit, fit->course->stage);
}

/* ------------------------------------------------------------------------------- running */

/* The optimiser at the start of a course, or where it has been left. */
static pl_status enter_course(pl_fit *fit, pl_course *course)
{
    pl_status status = PL_OK;
    double *x = NULL;
    fit->course = course;
    PL_TRY(enter_stage(fit, course->stage));
    if (course->row_count > 0)
        return pl_optimizer_resume(fit->optimizer, fit->optimizer->state_count, course->state);
    PL_NEW(fit->ctx, x, fit->task->n, done);
    pl_task_start_x(fit->task, (int)(course - fit->courses), x);
    pl_optimizer_reset(fit->optimizer, x);
    PL_CHECK(pl_optimizer_start(fit->optimizer), done);
    PL_CHECK(record(fit), done);
    status = save_and_tell(fit);
done:
    pl_free(fit->ctx, x);
    return status;
}

/* Of several courses one may fail. */
static pl_status run_course(pl_fit *fit, pl_course *course)
{
    pl_status status = enter_course(fit, course);
    if (status == PL_OK)
        status = iterate(fit);
    if (fit->course_count == 1 || !pl_point_refused(status))
        return status;
    course->refused = true;
    return fit->def.directory ? pl_checkpoint_save(fit) : PL_OK;
}

/* The smallest loss; one with contacts softer than the scene's only when there is no other. */
static pl_status enter_best(pl_fit *fit)
{
    pl_course *best = NULL;
    for (int c = 0; c < fit->course_count; c++) {
        pl_course *course = &fit->courses[c];
        double loss = pl_course_loss(fit, course);
        bool finer = best && course->stage > best->stage, coarser = best && course->stage < best->stage;
        if (loss < INFINITY && !coarser && (!best || finer || loss < pl_course_loss(fit, best)))
            best = course;
    }
    if (!best)
        return pl_fail_within(fit->ctx, fit->optimizer->refusal,
                              "none of the %d starting points can be simulated", fit->course_count);
    return enter_course(fit, best);
}

static pl_status run_courses(pl_fit *fit)
{
    if (fit->def.resume) {
        PL_TRY(pl_checkpoint_load(fit));
        int last = fit->course_count - 1;
        while (last >= 0 && fit->courses[last].row_count == 0)
            last--;
        if (last >= 0) {
            PL_TRY(enter_course(fit, &fit->courses[last]));
            report_progress(fit);
        }
    }
    for (int c = 0; c < fit->course_count; c++)
        if (!fit->courses[c].refused)
            PL_TRY(run_course(fit, &fit->courses[c]));
    return enter_best(fit);
}

static pl_status make_courses(pl_fit *fit)
{
    pl_status status = PL_OK;
    PL_NEW(fit->ctx, fit->courses, fit->task->starts, done);
    for (; fit->course_count < fit->task->starts; fit->course_count++)
        PL_NEW(fit->ctx, fit->courses[fit->course_count].state, fit->optimizer->state_count, done);
    fit->course = fit->courses;
done:
    return status;
}

static void free_courses(pl_fit *fit)
{
    for (int c = 0; c < fit->course_count; c++) {
        pl_free(fit->ctx, fit->courses[c].state);
        pl_free(fit->ctx, fit->courses[c].rows);
    }
    pl_free(fit->ctx, fit->courses);
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
    pl_task_open_window(task, 0);
    fit->started = pl_milliseconds();
    PL_TRY(pl_evaluation_create(task, &fit->evaluation));
    fit->evaluation->keep_going = fit->def.keep_going;
    fit->evaluation->user = fit->def.user;
    PL_TRY(pl_optimizer_create(fit->ctx, &task->optimizer, &problem, task->initial, &fit->optimizer));
    fit->optimizer->problem.user = fit->evaluation;
    return make_courses(fit);
}

pl_status pl_task_fit(pl_task *task, const pl_fit_def *def, pl_fit_result **out)
{
    pl_fit fit = {.ctx = task->ctx, .task = task, .def = *def, .written = {.ctx = task->ctx}};
    pl_fit_result *result = NULL;
    pl_status status = PL_OK;
    *out = NULL;
    PL_CHECK(prepare(&fit), done);
    PL_CHECK(run_courses(&fit), done);
    PL_CHECK(check_stages(&fit), done);
    PL_CHECK(pl_window_settle(&fit), done);
    PL_CHECK(pl_fit_make_result(&fit, &result), done);
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
    free_courses(&fit);
    pl_text_free(&fit.written);
    return status;
}
