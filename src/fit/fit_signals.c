/* Inputs that a fit has found over time: gathered, and as signals.csv, a picture and a section of the
 * report. */
#include "fit/fit.h"

#include "core/vec.h"

#include <stdio.h>

enum { DRAWN = 16, LABEL = 40 };

/* Whether an unknown is an input over time that one number tells. */
static bool is_signal(const pl_unknown *u)
{
    bool over_time = u->spread == PL_SPREAD_STEP || u->spread == PL_SPREAD_SIGNAL;
    return over_time && u->of.column == 0;
}

bool pl_signals_are_all(const pl_task *task)
{
    for (int k = 0; k < task->unknown_count; k++)
        if (task->unknowns[k].spread != PL_SPREAD_STEP)
            return false;
    return task->control;
}

/* Of inputs of one number their value, of vectors how much of its direction the unknown has added. */
static double value_at(const pl_task *task, const pl_unknown *u, int step)
{
    pl_span span = pl_channel_span(task->scene, u->of.channel, u->owner);
    size_t width = (size_t)pl_channel_get(u->of.channel)->width;
    size_t row = pl_channel_size(task->scene, u->of.channel, step) + (size_t)span.first;
    const double *now = task->input[u->of.channel] + row * width;
    double added[3];
    if (u->of.width == 1)
        return *now;
    pl_sub3(now, task->base[u->of.channel] + row * width, added);
    return pl_dot3(added, u->direction) / pl_dot3(u->direction, u->direction);
}

pl_status pl_signals_gather(const pl_task *task, pl_signals *out)
{
    pl_status status = PL_OK;
    int count = 0;
    *out = (pl_signals){.steps = task->steps};
    for (int k = 0; k < task->unknown_count; k++)
        count += is_signal(&task->unknowns[k]);
    PL_NEW(task->ctx, out->names, count, done);
    PL_NEW(task->ctx, out->values, (size_t)count * (size_t)task->steps, done);
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        if (!is_signal(u))
            continue;
        for (int step = 0; step < task->steps; step++)
            out->values[(size_t)out->count * (size_t)task->steps + (size_t)step] =
                value_at(task, u, step);
        out->names[out->count++] = u->name;
    }
done:
    return status;
}

void pl_signals_free(pl_context *ctx, pl_signals *signals)
{
    pl_free(ctx, signals->names);
    pl_free(ctx, signals->values);
}

/* ------------------------------------------------------------------------------- output */

/* At the end of every step, s: [steps]. */
static pl_status make_times(const pl_task *task, double **out)
{
    pl_status status = PL_OK;
    PL_NEW(task->ctx, *out, task->steps, done);
    for (int i = 0; i < task->steps; i++)
        (*out)[i] = (i + 1) * task->scene->params.values->def.time_step;
done:
    return status;
}

/* The one that all signals have, or ""; forces have one of their own each. */
static const char *common_unit(const pl_task *task)
{
    const char *unit = NULL;
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        const char *own = pl_channel_get(u->of.channel)->unit;
        if (is_signal(u) && (u->of.channel == PL_FORCE || (unit && strcmp(own, unit) != 0)))
            return "";
        unit = is_signal(u) ? own : unit;
    }
    return unit ? unit : "";
}

/* lines [DRAWN], label [LABEL] */
static pl_plot draw(const pl_task *task, const pl_fit_result *r, const double *times,
                    pl_plot_line *lines, char *label)
{
    pl_plot plot = pl_plot_default();
    const char *unit = common_unit(task);
    snprintf(label, LABEL, "input%s%s", *unit ? ", " : "", unit);
    plot.x_label = "time, s";
    plot.y_label = label;
    plot.lines = lines;
    plot.line_count = r->signal_count < DRAWN ? r->signal_count : DRAWN;
    for (int k = 0; k < plot.line_count; k++)
        lines[k] = (pl_plot_line){.name = r->signal_names[k],
                                  .count = r->steps,
                                  .x = times,
                                  .y = r->signals + (size_t)k * (size_t)r->steps};
    return plot;
}

pl_status pl_signals_write(pl_fit *fit, const pl_fit_result *r)
{
    pl_status status = PL_OK;
    size_t count = (size_t)r->signal_count + 1;
    const char **names = NULL;
    const double **columns = NULL;
    double *times = NULL;
    char path[4096], label[LABEL];
    pl_plot_line lines[DRAWN];
    if (r->signal_count == 0)
        return PL_OK;
    PL_CHECK(make_times(fit->task, &times), done);
    PL_NEW(fit->ctx, names, count, done);
    PL_NEW(fit->ctx, columns, count, done);
    names[0] = "time";
    columns[0] = times;
    for (size_t k = 1; k < count; k++) {
        names[k] = r->signal_names[k - 1];
        columns[k] = r->signals + (k - 1) * (size_t)r->steps;
    }
    PL_CHECK(pl_fit_path(fit, "signals.csv", path, sizeof path), done);
    PL_CHECK(pl_csv_write(fit->ctx, path, (int)count, names, r->steps, columns), done);
    if (fit->def.report) {
        pl_plot plot = draw(fit->task, r, times, lines, label);
        plot.title = fit->task->name;
        PL_CHECK(pl_fit_path(fit, "signals.svg", path, sizeof path), done);
        PL_CHECK(pl_plot_write(fit->ctx, &plot, path), done);
    }
done:
    pl_free(fit->ctx, times);
    pl_free(fit->ctx, names);
    pl_free(fit->ctx, columns);
    return status;
}

pl_status pl_signals_report(pl_fit *fit, pl_report *report, const pl_fit_result *r)
{
    pl_status status = PL_OK;
    double *times = NULL;
    pl_plot_line lines[DRAWN];
    char note[96] = "", label[LABEL];
    if (r->signal_count == 0)
        return PL_OK;
    if (r->signal_count > DRAWN)
        snprintf(note, sizeof note, "The first %d of %d; signals.csv has all.", DRAWN, r->signal_count);
    PL_CHECK(make_times(fit->task, &times), done);
    pl_plot plot = draw(fit->task, r, times, lines, label);
    PL_CHECK(pl_report_add_section(report, "Signals", *note ? note : NULL), done);
    status = pl_report_add_plot(report, &plot);
done:
    pl_free(fit->ctx, times);
    return status;
}
