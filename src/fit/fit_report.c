/* report.html of a fit: the motions of the initial guess, the answer (with its contact forces) and the
 * truth, what was observed, and the curves. */
#include "fit/fit.h"

#include "io/report_text.h"

#include <stdio.h>

enum { FRAMES = 121 };

/* The motion at x. */
static pl_status add_motion(pl_fit *fit, pl_report *report, const double *x, const char *name,
                            double opacity, bool forces)
{
    pl_report_trajectory style = pl_report_trajectory_default();
    style.name = name;
    style.opacity = opacity;
    style.forces = forces;
    PL_TRY(pl_evaluation_run(fit->evaluation, x));
    return pl_report_add_rollout(report, fit->task->scene, fit->evaluation->rollout, &style);
}

/* Obstacles along their tables, or along the inputs that the last motion had. */
static pl_status add_colliders(const pl_task *task, pl_report *report)
{
    pl_status status = PL_OK;
    const pl_scene *scene = task->scene;
    size_t steps = (size_t)task->steps, colliders = (size_t)scene->collider_count;
    double *time = NULL, *pose = NULL;
    PL_NEW(task->ctx, time, steps, done);
    PL_NEW(task->ctx, pose, 7 * steps, done);
    for (size_t i = 0; i < steps; i++)
        time[i] = (double)(i + 1) * scene->params.values->def.time_step;
    for (size_t c = 0; c < colliders; c++) {
        pl_collider_def def;
        PL_CHECK(pl_scene_collider(scene, (int)c, &def), done);
        const double *moved = task->input[PL_COLLIDER_POSE];
        for (size_t i = 0; moved && i < steps; i++)
            memcpy(pose + 7 * i, moved + 7 * (i * colliders + c), 7 * sizeof *pose);
        if (moved)
            def.table = (pl_table){task->steps, time, pose};
        PL_CHECK(pl_report_add_collider(report, &def), done);
    }
done:
    pl_free(task->ctx, time);
    pl_free(task->ctx, pose);
    return status;
}

/* What a term was given, and where the rollout kept has it. */
static pl_status add_observed(pl_fit *fit, pl_report *report, const pl_loss_term *term)
{
    static const char *const kinds[] = {"positions",      "velocities",  "markers",
                                        "centre of mass", "point cloud", "shape"};
    const pl_task *task = fit->task;
    pl_evaluation *e = fit->evaluation;
    pl_status status = PL_OK;
    double *model = NULL, *times = NULL;
    char name[128];
    PL_NEW(fit->ctx, model, 3 * (size_t)pl_term_rows(term), done);
    PL_NEW(fit->ctx, times, term->step_count, done);
    for (int i = 0; i < term->step_count; i++) {
        times[i] = term->steps[i] * task->scene->params.values->def.time_step;
        PL_CHECK(pl_rollout_state(e->rollout, term->steps[i], e->q, e->v), done);
        PL_CHECK(pl_term_points_at(task, term, term->steps[i], e->q, e->v, model), done);
    }
    bool named = term->body >= 0 && task->scene->body_count > 1;
    snprintf(name, sizeof name, "%s%s%s", kinds[term->kind], named ? " of " : "",
             named ? task->scene->bodies[term->body].name : "");
    const pl_report_points points = {.name = name,
                                     .frame_count = term->step_count,
                                     .times = times,
                                     .first = term->first,
                                     .point = term->target,
                                     .model = model};
    status = pl_report_add_points(report, &points);
done:
    pl_free(fit->ctx, model);
    pl_free(fit->ctx, times);
    return status;
}

/* Observed places; those of all vertices that were simulated are the target's motion. */
static pl_status add_observations(pl_fit *fit, pl_report *report)
{
    for (int k = 0; k < fit->task->term_count; k++) {
        const pl_loss_term *term = &fit->task->terms[k];
        bool motion = term->kind == PL_TERM_POSITIONS && term->source == PL_TARGET_SIMULATED;
        if (term->kind != PL_TERM_VELOCITIES && !motion)
            PL_TRY(add_observed(fit, report, term));
    }
    return PL_OK;
}

static pl_status add_motions(pl_fit *fit, pl_report *report)
{
    pl_status status = PL_OK;
    const double *fitted = pl_optimizer_x(fit->optimizer, fit->optimizer->state);
    double *truth = NULL;
    bool known = true;
    for (int k = 0; k < fit->task->unknown_count; k++)
        known = known && isfinite(fit->task->unknowns[k].truth);
    PL_CHECK(add_motion(fit, report, fitted, "fitted", 1, true), done);
    PL_CHECK(add_observations(fit, report), done);
    PL_CHECK(add_colliders(fit->task, report), done);
    if (!fit->task->settled)
        PL_CHECK(add_motion(fit, report, fit->task->initial, "initial guess", 0.35, false), done);
    if (known) {
        PL_NEW(fit->ctx, truth, fit->task->n, done);
        pl_task_true_x(fit->task, truth);
        PL_CHECK(add_motion(fit, report, truth, "target", 0.35, false), done);
    }
done:
    pl_free(fit->ctx, truth);
    return status;
}

static pl_status add_goals(pl_report *report, const pl_fit_result *r)
{
    for (int i = 0; i < r->goal_count; i++) {
        char label[32] = "Goal", value[32], note[64];
        if (r->goal_count > 1)
            snprintf(label, sizeof label, "Goal %d", i + 1);
        snprintf(value, sizeof value, "%.3g mm", 1e3 * r->goals[i].rms);
        snprintf(note, sizeof note, "rms left, %.3g mm at most", 1e3 * r->goals[i].largest);
        PL_TRY(pl_report_add_fact(report, label, value, note));
    }
    return PL_OK;
}

/* Of all windows and starts. */
static int iterations_of(const pl_fit_result *r)
{
    int sum = 0;
    for (int k = 0; k < r->start_count; k++)
        sum += r->starts[k].iterations;
    return r->start_count > 1 ? sum : r->iterations;
}

static pl_status add_fit(pl_fit *fit, pl_report *report, const pl_fit_result *r)
{
    static const char *const methods[] = {"gradient descent", "Adam", "L-BFGS-B",
                                          "Levenberg-Marquardt"};
    static const char *const stages[] = {"simulation", "gradients", "other"};
    const double seconds[] = {r->forward_seconds, r->backward_seconds,
                              fmax(0, r->seconds - r->forward_seconds - r->backward_seconds)};
    char steps[32], vertices[32], step[32], rollouts[32], sweeps[32], evaluations[32], tape[32];
    char refused[32], residual[64];
    snprintf(steps, sizeof steps, "%d", r->steps);
    snprintf(vertices, sizeof vertices, "%d", fit->task->scene->vertex_count);
    snprintf(step, sizeof step, "%g s", fit->task->scene->params.values->def.time_step);
    snprintf(rollouts, sizeof rollouts, "%d", r->rollouts);
    snprintf(sweeps, sizeof sweeps, "%d", r->sweeps);
    snprintf(evaluations, sizeof evaluations, "%d", r->evaluations);
    snprintf(refused, sizeof refused, "%d", r->refused);
    snprintf(residual, sizeof residual,
             fit->task->noise > 0 ? "%.3g m rms (noise %.3g m)" : "%.3g m rms", r->residual,
             fit->task->noise);
    snprintf(tape, sizeof tape, "%.1f MB", (double)r->tape_bytes / 1e6);
    const char *const settings[] = {
        "method", methods[fit->task->optimizer.method], "time step", step, "steps", steps, "vertices",
        vertices};
    const char *const statistics[] = {"stopped because",
                                      pl_stop_text(r->stop),
                                      "residual",
                                      residual,
                                      "evaluations",
                                      evaluations,
                                      "of them failed",
                                      refused,
                                      "simulations",
                                      rollouts,
                                      "sweeps",
                                      sweeps,
                                      "tape",
                                      tape};
    bool checked = fit->task->check.step > 0, sure = isfinite(r->standard_error[0]);
    const pl_report_fit f = {.parameter_count = pl_signals_are_all(fit->task) ? 0 : r->parameter_count,
                             .names = r->names,
                             .units = r->units,
                             .iteration_count = r->row_count,
                             .made = iterations_of(r),
                             .loss = r->loss,
                             .values = r->values,
                             .gradient = r->gradient,
                             .difference_gradient = checked ? r->difference : NULL,
                             .truth = r->truth,
                             .standard_error = sure ? r->standard_error : NULL,
                             .correlation = sure ? r->correlation : NULL,
                             .seconds = r->seconds,
                             .failure = r->identified ? NULL : r->verdict,
                             .success = fit->task->control ? r->verdict : NULL,
                             .stage_count = 3,
                             .stages = stages,
                             .stage_seconds = seconds,
                             .setting_count = 4,
                             .settings = settings,
                             .statistic_count = 7,
                             .statistics = statistics};
    return pl_report_add_fit(report, &f);
}

/* ------------------------------------------------------------------------------- starts */

enum { TOLD = 3, COLUMNS = 4 + 2 * TOLD, DRAWN = 20 };

/* A row of the table: where the start lay, where it led, and how. */
static void tell_start(const pl_fit_result *r, int k, char (*text)[PL_NUMBER_SIZE], const char **row)
{
    const pl_fit_start *s = &r->starts[k];
    int told = r->parameter_count < TOLD ? r->parameter_count : TOLD, at = 0;
    snprintf(text[at++], PL_NUMBER_SIZE, "%d%s", k + 1, k == r->best ? " (best)" : "");
    for (int i = 0; i < told; i++) {
        pl_report_number(text[at++], s->initial[i], 5);
        pl_report_number(text[at++], s->values[i], 5);
    }
    pl_report_number(text[at++], s->loss, 4);
    snprintf(text[at++], PL_NUMBER_SIZE, "%d", s->iterations);
    snprintf(text[at++], PL_NUMBER_SIZE, "%s",
             s->refused ? "a simulation failed" : pl_stop_text(s->stop));
    for (int i = 0; i < at; i++)
        row[i] = text[i];
}

static pl_status add_start_table(pl_context *ctx, pl_report *report, const pl_fit_result *r)
{
    pl_status status = PL_OK;
    int told = r->parameter_count < TOLD ? r->parameter_count : TOLD, columns = 4 + 2 * told;
    size_t cell_count = (size_t)columns * (size_t)r->start_count;
    char(*text)[PL_NUMBER_SIZE] = NULL, labels[COLUMNS][128] = {"Start"};
    const char **cells = NULL, *names[COLUMNS];
    PL_NEW(ctx, text, cell_count, done);
    PL_NEW(ctx, cells, cell_count, done);
    for (int i = 0; i < told; i++) {
        snprintf(labels[1 + 2 * i], sizeof *labels, "%s from", r->names[i]);
        snprintf(labels[2 + 2 * i], sizeof *labels, "%s to", r->names[i]);
    }
    strcpy(labels[columns - 3], "Loss");
    strcpy(labels[columns - 2], "Iterations");
    strcpy(labels[columns - 1], "Ended because");
    for (int i = 0; i < columns; i++)
        names[i] = labels[i];
    for (int k = 0; k < r->start_count; k++)
        tell_start(r, k, text + k * columns, cells + k * columns);
    status = pl_report_add_table(report, NULL, columns, names, r->start_count, cells);
done:
    pl_free(ctx, text);
    pl_free(ctx, cells);
    return status;
}

static pl_status add_start_losses(pl_fit *fit, pl_report *report)
{
    pl_status status = PL_OK;
    pl_plot plot = pl_plot_default();
    pl_plot_line lines[DRAWN];
    char names[DRAWN][16];
    double *losses = NULL;
    size_t total = 0, used = 0;
    for (int c = 0; c < fit->course_count; c++)
        total += (size_t)fit->courses[c].row_count;
    PL_NEW(fit->ctx, losses, total, done);
    plot.title = "Loss";
    plot.x_label = "iteration";
    plot.log_y = true;
    plot.lines = lines;
    for (int c = 0; c < fit->course_count && plot.line_count < DRAWN; c++) {
        const pl_course *course = &fit->courses[c];
        for (int k = 0; k < course->row_count; k++)
            losses[used + (size_t)k] = pl_course_row(fit, course, k)[PL_ROW_LOSS];
        snprintf(names[plot.line_count], sizeof *names, "start %d", c + 1);
        if (course->row_count > 0)
            lines[plot.line_count] = (pl_plot_line){
                .name = names[plot.line_count], .count = course->row_count, .y = losses + used};
        plot.line_count += course->row_count > 0;
        used += (size_t)course->row_count;
    }
    status = pl_report_add_plot(report, &plot);
done:
    pl_free(fit->ctx, losses);
    return status;
}

static pl_status add_starts(pl_fit *fit, pl_report *report, const pl_fit_result *r)
{
    if (r->start_count < 2)
        return PL_OK;
    PL_TRY(pl_report_add_section(report, "Starts", "All else is of the best of them."));
    PL_TRY(add_start_table(fit->ctx, report, r));
    return add_start_losses(fit, report);
}

pl_status pl_fit_report(pl_fit *fit, const pl_fit_result *result)
{
    pl_status status = PL_OK;
    pl_report *report = NULL;
    pl_report_def def = pl_report_def_default();
    char path[4096];
    def.max_frames = FRAMES;
    if (fit->task->name[0])
        def.title = fit->task->name;
    PL_CHECK(pl_report_create(fit->ctx, &def, &report), done);
    PL_CHECK(add_motions(fit, report), done);
    PL_CHECK(add_goals(report, result), done);
    PL_CHECK(pl_signals_report(fit, report, result), done);
    PL_CHECK(add_fit(fit, report, result), done);
    PL_CHECK(add_starts(fit, report, result), done);
    PL_CHECK(pl_fit_path(fit, "report.html", path, sizeof path), done);
    status = pl_report_write(report, path);
done:
    pl_report_destroy(report);
    return status;
}
