/* What a fit leaves in its directory: history.csv, result.json, pictures. The report is fit_report.c.
 */
#include "fit/fit.h"

#include "core/whole.h"
#include "io/report_text.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------- history.csv */

static pl_status write_history(pl_fit *fit, const pl_fit_result *r)
{
    pl_context *ctx = fit->ctx;
    pl_status status = PL_OK;
    int p = r->parameter_count, k = r->row_count, count = 3 + 3 * p;
    char path[4096];
    const char **names = NULL;
    const double **columns = NULL;
    char(*labels)[128] = NULL;
    double *numbers = NULL;
    PL_NEW(ctx, names, count, done);
    PL_NEW(ctx, columns, count, done);
    PL_NEW(ctx, labels, count, done);
    PL_NEW(ctx, numbers, (size_t)count * (size_t)k, done);
    static const char *const head[] = {"iteration", "loss", "contact_epsilon2"};
    static const char *const suffix[] = {"", "_gradient", "_difference"};
    const double *const blocks[] = {r->values, r->gradient, r->difference};
    for (int c = 0; c < count; c++) {
        columns[c] = numbers + (size_t)c * (size_t)k;
        names[c] = c < 3 ? head[c] : labels[c];
        int block = (c - 3) / p, i = (c - 3) % p;
        if (c >= 3)
            snprintf(labels[c], sizeof labels[c], "%s%s", r->names[i], suffix[block]);
        for (int row = 0; row < k; row++)
            numbers[(size_t)c * (size_t)k + (size_t)row] = c == 0   ? row
                                                           : c == 1 ? r->loss[row]
                                                           : c == 2 ? r->epsilon2[row]
                                                                    : blocks[block][row * p + i];
    }
    PL_CHECK(pl_fit_path(fit, "history.csv", path, sizeof path), done);
    status = pl_csv_write(ctx, path, count, names, k, columns);
done:
    pl_free(ctx, names);
    pl_free(ctx, columns);
    pl_free(ctx, labels);
    pl_free(ctx, numbers);
    return status;
}

/* ------------------------------------------------------------------------------- result.json */

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *parameters_json(const pl_fit_result *r)
{
    json_t *list = json_array();
    int p = r->parameter_count;
    for (int i = 0; i < p; i++) {
        json_t *correlation = json_array();
        for (int j = 0; j < p; j++)
            json_array_append_new(correlation, number_or_null(r->correlation[i * p + j]));
        json_array_append_new(
            list,
            json_pack("{s:s, s:s?, s:o, s:o, s:o, s:o, s:o}", "name", r->names[i], "unit", r->units[i],
                      "initial", number_or_null(r->values[i]), "value",
                      number_or_null(r->values[(size_t)(r->row_count - 1) * (size_t)p + (size_t)i]),
                      "true", number_or_null(r->truth[i]), "standard_error",
                      number_or_null(r->standard_error[i]), "correlation", correlation));
    }
    return list;
}

static json_t *reasons_json(const pl_fit_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->reason_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "doubt", pl_doubt_name(r->reasons[i].doubt),
                                              "text", r->reasons[i].text));
    return list;
}

static json_t *numbers_json(int count, const double *values)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, number_or_null(values[i]));
    return list;
}

static json_t *starts_json(const pl_fit_result *r)
{
    json_t *list = json_array();
    for (int k = 0; k < r->start_count; k++) {
        const pl_fit_start *s = &r->starts[k];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:i, s:s, s:b}", "initial",
                                              numbers_json(r->parameter_count, s->initial), "values",
                                              numbers_json(r->parameter_count, s->values), "loss",
                                              number_or_null(s->loss), "iterations", s->iterations,
                                              "stop", pl_stop_text(s->stop), "refused", s->refused));
    }
    return list;
}

static json_t *goals_json(const pl_fit_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->goal_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:f}", "text", r->goals[i].text, "rms",
                                              r->goals[i].rms, "largest", r->goals[i].largest, "within",
                                              r->goals[i].within));
    return list;
}

static pl_status write_result(pl_fit *fit, const pl_fit_result *r)
{
    char path[4096];
    PL_TRY(pl_fit_path(fit, "result.json", path, sizeof path));
    json_t *root = json_pack(
        "{s:s, s:b, s:s, s:o, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:i, s:f, s:f, "
        "s:f, s:i, s:i, s:I, s:o}",
        "task", fit->task->name, "identified", r->identified, "verdict", r->verdict, "reasons",
        reasons_json(r), "stop", pl_stop_text(r->stop), "iterations", r->iterations, "evaluations",
        r->evaluations, "refused", r->refused, "residual", number_or_null(r->residual), "noise",
        number_or_null(fit->task->noise), "initial_loss", number_or_null(r->loss[0]), "loss",
        number_or_null(r->loss[r->row_count - 1]), "parameters", parameters_json(r), "best", r->best,
        "starts", starts_json(r), "steps", r->steps, "seconds", r->seconds, "forward_seconds",
        r->forward_seconds, "backward_seconds", r->backward_seconds, "rollouts", r->rollouts, "sweeps",
        r->sweeps, "tape_bytes", (json_int_t)r->tape_bytes, "goals", goals_json(r));
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    pl_status status = PL_ERROR_MEMORY;
    if (text) {
        size_t length = strlen(text);
        text[length] = '\n'; /* a last line, in place of the end */
        status = pl_write_whole(fit->ctx, path, text, length + 1);
    } else {
        pl_fail(fit->ctx, PL_ERROR_MEMORY, "out of memory");
    }
    free(text);
    json_decref(root);
    return status;
}

/* ------------------------------------------------------------------------------- pictures */

static pl_status write_plot(pl_fit *fit, const pl_plot *plot, const char *file)
{
    char path[4096];
    PL_TRY(pl_fit_path(fit, file, path, sizeof path));
    return pl_plot_write(fit->ctx, plot, path);
}

static pl_status write_pictures(pl_fit *fit, const pl_fit_result *r)
{
    enum { DRAWN = 6 };
    pl_status status = PL_OK;
    int p = r->parameter_count < DRAWN ? r->parameter_count : DRAWN, k = r->row_count, count = 0;
    pl_plot_line loss = {.count = k, .y = r->loss}, lines[2 * DRAWN];
    pl_plot plot = pl_plot_default();
    double *values = NULL;
    plot.title = fit->task->name;
    plot.x_label = "iteration";
    plot.y_label = "loss";
    plot.log_y = true;
    plot.line_count = 1;
    plot.lines = &loss;
    PL_CHECK(write_plot(fit, &plot, "loss.svg"), done);
    if (pl_signals_are_all(fit->task))
        goto done;

    PL_NEW(fit->ctx, values, (size_t)p * (size_t)k, done);
    for (int i = 0; i < p; i++) {
        double *y = values + (size_t)i * (size_t)k;
        for (int row = 0; row < k; row++)
            y[row] = r->values[(size_t)row * (size_t)r->parameter_count + (size_t)i];
        lines[count++] = (pl_plot_line){.name = r->names[i], .count = k, .y = y};
        if (isfinite(r->truth[i]))
            lines[count++] =
                (pl_plot_line){.count = 1, .y = &r->truth[i], .level = true, .dashed = true};
    }
    plot.y_label = p == 1 && r->units[0] ? r->units[0] : "value";
    plot.log_y = fit->task->unknowns[0].map == PL_MAP_LOG;
    plot.line_count = count;
    plot.lines = lines;
    status = write_plot(fit, &plot, "parameters.svg");
done:
    pl_free(fit->ctx, values);
    return status;
}

pl_status pl_fit_write(pl_fit *fit, const pl_fit_result *result)
{
    PL_TRY(write_history(fit, result));
    PL_TRY(write_result(fit, result));
    PL_TRY(pl_signals_write(fit, result));
    if (!fit->def.report)
        return PL_OK;
    PL_TRY(write_pictures(fit, result));
    return pl_fit_report(fit, result);
}
