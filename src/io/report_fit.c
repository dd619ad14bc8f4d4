/*
 * The report of a fit: headline, curves of loss, parameters and gradients, tables.
 *
 * Errors shown: of a parameter |x - x*| / |x*|, of a gradient's entry |g - g_fd| / |g_fd|.
 */
#include "io/report.h"

#include <stdio.h>

enum { DRAWN = 12, TABLED = 200, CORRELATED = 24, COLUMNS = 7 };

typedef char cell[PL_NUMBER_SIZE];

static double value_of(const pl_report_fit *f, int iteration, int parameter)
{
    return f->values[(size_t)iteration * (size_t)f->parameter_count + (size_t)parameter];
}

static double result_of(const pl_report_fit *f, int parameter)
{
    return value_of(f, f->iteration_count - 1, parameter);
}

static const char *unit_of(const pl_report_fit *f, int parameter)
{
    return f->units && f->units[parameter] ? f->units[parameter] : "";
}

/* |x - x*| / |x*|, NaN where the truth is unknown; the difference itself where the truth is zero. */
static double error_of(const pl_report_fit *f, int parameter)
{
    if (!f->truth)
        return NAN;
    double truth = f->truth[parameter];
    return fabs(result_of(f, parameter) - truth) / (truth != 0 ? fabs(truth) : 1);
}

static int drawn(const pl_report_fit *f)
{
    return f->parameter_count < DRAWN ? f->parameter_count : DRAWN;
}

/* ------------------------------------------------------------------------------- headline */

static void add_duration(pl_text *t, double seconds)
{
    cell number;
    bool minutes = seconds >= 120;
    pl_text_add(t, pl_report_number(number, minutes ? seconds / 60 : seconds, 3));
    pl_text_add(t, minutes ? " min" : " s");
}

/* "Identified a, b and c": all of them when few, else their number. */
static void add_subject(pl_text *t, const pl_report_fit *f)
{
    if (f->failure || f->success) {
        pl_text_add(t, f->failure ? f->failure : f->success);
        return;
    }
    pl_text_add(t, "Identified ");
    if (f->parameter_count > 4) {
        pl_text_format(t, "%d parameters", f->parameter_count);
        return;
    }
    for (int i = 0; i < f->parameter_count; i++) {
        pl_text_add(t, i == 0 ? "" : i + 1 == f->parameter_count ? " and " : ", ");
        pl_text_add(t, f->names[i]);
    }
}

static int made_of(const pl_report_fit *f)
{
    return f->made > 0 ? f->made : f->iteration_count - 1;
}

static pl_status add_headline(pl_report *report, const pl_report_fit *f)
{
    pl_text t = {.ctx = report->ctx};
    cell number;
    add_subject(&t, f);
    double worst = -1;
    for (int i = 0; i < f->parameter_count; i++)
        worst = error_of(f, i) > worst ? error_of(f, i) : worst;
    double first = f->loss[0], last = f->loss[f->iteration_count - 1];
    if (f->failure && !f->success) {
        pl_text_add(&t, ". The loss went from ");
        pl_text_add(&t, pl_report_number(number, first, 3));
        pl_text_add(&t, " to ");
        pl_text_add(&t, pl_report_number(number, last, 3));
    } else if (worst >= 0 && !f->success) {
        pl_text_add(&t, " to within ");
        pl_text_add(&t, pl_report_number(number, 100 * worst, 2));
        pl_text_add(&t, " % of the true value");
        pl_text_add(&t, f->parameter_count > 1 ? "s" : "");
    } else if (last > 0 && last < first && !f->success) {
        pl_text_add(&t, ", reducing the loss ");
        pl_text_add(&t, pl_report_number(number, first / last, 2));
        pl_text_add(&t, "-fold");
    }
    int made = made_of(f);
    if (made > 0)
        pl_text_format(&t, ", in %d iteration%s", made, made == 1 ? "" : "s");
    if (f->seconds > 0) {
        pl_text_add(&t, made > 0 ? " and " : ", in ");
        add_duration(&t, f->seconds);
    }
    pl_text_add(&t, ".");
    pl_status status = t.status;
    if (status == PL_OK)
        status = pl_report_set_headline(report, t.data);
    pl_text_free(&t);
    return status;
}

/* Large pressures in kPa, MPa or GPa: changes *unit and returns its size in Pa, 1 for other units. */
static double prefixed(double value, const char **unit)
{
    static const char *const names[] = {"kPa", "MPa", "GPa"};
    double size = 1;
    for (int i = 0; i < 3 && strcmp(*unit, i ? names[i - 1] : "Pa") == 0; i++) {
        if (!(fabs(value) >= 1e3 * size))
            break;
        *unit = names[i];
        size *= 1e3;
    }
    return size;
}

static pl_status add_parameter_fact(pl_report *report, const pl_report_fit *f, int i)
{
    pl_text value = {.ctx = report->ctx}, note = {.ctx = report->ctx};
    cell number;
    double x = result_of(f, i);
    const char *unit = unit_of(f, i);
    double scale = prefixed(x, &unit);
    pl_text_add(&value, pl_report_number(number, x / scale, 5));
    pl_text_add(&value, *unit ? " " : "");
    pl_text_add(&value, unit);
    pl_text_add(&note, "");
    if (f->standard_error && isfinite(f->standard_error[i])) {
        pl_text_add(&note, "± ");
        pl_text_add(&note, pl_report_number(number, f->standard_error[i] / scale, 2));
    }
    if (isfinite(error_of(f, i))) {
        pl_text_add(&note, note.length ? ", " : "");
        pl_text_add(&note, pl_report_number(number, 100 * error_of(f, i), 2));
        pl_text_add(&note, f->truth[i] != 0 ? " % from true" : " from zero");
    }
    pl_status status = value.status != PL_OK ? value.status : note.status;
    if (status == PL_OK)
        status = pl_report_add_fact(report, f->names[i], value.data, note.data);
    pl_text_free(&value);
    pl_text_free(&note);
    return status;
}

static pl_status add_facts(pl_report *report, const pl_report_fit *f)
{
    for (int i = 0; i < f->parameter_count && i < 4; i++)
        PL_TRY(add_parameter_fact(report, f, i));
    cell last, first;
    char note[PL_NUMBER_SIZE + 16];
    snprintf(note, sizeof note, "from %s", pl_report_number(first, f->loss[0], 3));
    if (!f->success)
        PL_TRY(pl_report_add_fact(report, "Loss",
                                  pl_report_number(last, f->loss[f->iteration_count - 1], 3), note));
    if (!(f->seconds > 0))
        return PL_OK;
    pl_text duration = {.ctx = report->ctx};
    add_duration(&duration, f->seconds);
    cell each;
    int made = made_of(f);
    snprintf(note, sizeof note, "%s s an iteration",
             pl_report_number(each, f->seconds / (made > 0 ? made : 1), 3));
    pl_status status = duration.status;
    if (status == PL_OK)
        status = pl_report_add_fact(report, "Time", duration.data, note);
    pl_text_free(&duration);
    return status;
}

/* ------------------------------------------------------------------------------- tables */

static void fill_row(const pl_report_fit *f, int i, cell *text, const char **row)
{
    double result = result_of(f, i), spread = f->standard_error ? f->standard_error[i] : NAN;
    row[0] = f->names[i];
    row[1] = unit_of(f, i);
    row[2] = pl_report_number(text[0], value_of(f, 0, i), 5);
    row[3] = pl_report_number(text[1], result, 6);
    row[4] = pl_report_number(text[2], spread, 3);
    row[5] = pl_report_number(text[3], f->truth ? f->truth[i] : NAN, 6);
    row[6] = pl_report_number(text[4], 100 * error_of(f, i), 3);
}

static pl_status add_parameters(pl_report *report, const pl_report_fit *f)
{
    static const char *const columns[COLUMNS] = {"Parameter",      "Unit", "Initial", "Found",
                                                 "Standard error", "True", "Error, %"};
    int rows = f->parameter_count < TABLED ? f->parameter_count : TABLED;
    pl_status status = PL_OK;
    cell *text = NULL;
    const char **cells = NULL;
    if (rows == 0)
        return PL_OK;
    PL_NEW(report->ctx, text, 5 * (size_t)rows, done);
    PL_NEW(report->ctx, cells, COLUMNS * (size_t)rows, done);
    for (int i = 0; i < rows; i++)
        fill_row(f, i, text + 5 * i, cells + COLUMNS * i);
    PL_CHECK(pl_report_add_section(report,
                                   f->success   ? "Parameters"
                                   : f->failure ? "Parameters, not identified"
                                                : "Identified parameters",
                                   NULL),
             done);
    PL_CHECK(pl_report_add_table(report, NULL, COLUMNS, columns, rows, cells), done);
    if (f->correlation && f->parameter_count > 1 && f->parameter_count <= CORRELATED)
        PL_CHECK(
            pl_report_add_matrix(report, "Correlation", f->parameter_count, f->names, f->correlation),
            done);
done:
    pl_free(report->ctx, text);
    pl_free(report->ctx, cells);
    return status;
}

static pl_status add_run(pl_report *report, const pl_report_fit *f)
{
    if (!f->stage_count && !f->setting_count && !f->statistic_count)
        return PL_OK;
    PL_TRY(pl_report_add_section(report, "Run", NULL));
    if (f->stage_count)
        PL_TRY(pl_report_add_bars(report, "Time per stage", "s", f->stage_count, f->stages,
                                  f->stage_seconds));
    if (f->setting_count)
        PL_TRY(pl_report_add_table(report, "Settings", 2, (const char *[]){"Setting", "Value"},
                                   f->setting_count, f->settings));
    if (f->statistic_count)
        PL_TRY(pl_report_add_table(report, "Solver statistics", 2,
                                   (const char *[]){"Quantity", "Value"}, f->statistic_count,
                                   f->statistics));
    return PL_OK;
}

/* ------------------------------------------------------------------------------- curves */

static void label_of(char *out, size_t size, const pl_report_fit *f, int i)
{
    const char *unit = unit_of(f, i);
    snprintf(out, size, "%s%s%s", f->names[i], *unit ? ", " : "", unit);
}

static void column_of(const pl_report_fit *f, const double *table, int parameter, double *out)
{
    for (int k = 0; k < f->iteration_count; k++)
        out[k] = table[(size_t)k * (size_t)f->parameter_count + (size_t)parameter];
}

static pl_status add_convergence(pl_report *report, const pl_report_fit *f, double *scratch)
{
    int k = f->iteration_count;
    char note[96] = "";
    if (f->parameter_count > DRAWN)
        snprintf(note, sizeof note, "The first %d of %d parameters are drawn.", DRAWN,
                 f->parameter_count);
    PL_TRY(pl_report_add_section(report, "Convergence", *note ? note : NULL));
    pl_plot plot = pl_plot_default();
    plot.title = "Loss";
    plot.x_label = "iteration";
    plot.log_y = true;
    pl_plot_line loss = {.name = "loss", .count = k, .y = f->loss, .markers = k <= 60};
    plot.lines = &loss;
    plot.line_count = 1;
    PL_TRY(pl_report_add_plot(report, &plot));
    plot.log_y = false;
    for (int i = 0; i < drawn(f); i++) {
        char title[256];
        label_of(title, sizeof title, f, i);
        column_of(f, f->values, i, scratch);
        pl_plot_line lines[2] = {{.name = "estimate", .count = k, .y = scratch, .markers = k <= 60},
                                 {.name = "true value",
                                  .count = 1,
                                  .y = f->truth ? &f->truth[i] : NULL,
                                  .level = true,
                                  .dashed = true,
                                  .colour = "#d55e00"}};
        plot.title = title;
        plot.lines = lines;
        plot.line_count = f->truth && isfinite(f->truth[i]) ? 2 : 1;
        PL_TRY(pl_report_add_plot(report, &plot));
    }
    return PL_OK;
}

/* |g - g_fd| / |g_fd| of every drawn parameter in one plot; scratch [drawn, k]. */
static pl_status add_gradient_errors(pl_report *report, const pl_report_fit *f, double *scratch)
{
    int k = f->iteration_count, p = f->parameter_count;
    pl_plot_line lines[DRAWN];
    for (int i = 0; i < drawn(f); i++) {
        double *error = scratch + (size_t)i * (size_t)k;
        for (int row = 0; row < k; row++) {
            size_t at = (size_t)row * (size_t)p + (size_t)i;
            double fd = f->difference_gradient[at];
            error[row] = fabs(f->gradient[at] - fd) / fabs(fd); /* NaN, a gap, where there is no fd */
        }
        lines[i] = (pl_plot_line){.name = f->names[i], .count = k, .y = error, .markers = k <= 60};
    }
    pl_plot plot = pl_plot_default();
    plot.title = "Relative error of the gradient";
    plot.x_label = "iteration";
    plot.log_y = true;
    plot.lines = lines;
    plot.line_count = drawn(f);
    return pl_report_add_plot(report, &plot);
}

static pl_status add_gradients(pl_report *report, const pl_report_fit *f, double *scratch)
{
    if (!f->gradient || f->parameter_count == 0)
        return PL_OK;
    int k = f->iteration_count;
    const char *note = f->difference_gradient ? "Analytical against finite differences." : NULL;
    PL_TRY(pl_report_add_section(report, "Gradients", note));
    if (f->difference_gradient)
        PL_TRY(add_gradient_errors(report, f, scratch));
    pl_plot plot = pl_plot_default();
    plot.x_label = "iteration";
    for (int i = 0; i < drawn(f); i++) {
        char title[256];
        snprintf(title, sizeof title, "∂ loss / ∂ %s", f->names[i]);
        column_of(f, f->gradient, i, scratch);
        pl_plot_line lines[2] = {{.name = "analytical", .count = k, .y = scratch},
                                 {.name = "finite differences",
                                  .count = k,
                                  .y = scratch + k,
                                  .dashed = true,
                                  .markers = true}};
        plot.line_count = 1;
        if (f->difference_gradient) {
            column_of(f, f->difference_gradient, i, scratch + k);
            plot.line_count = 2;
        }
        plot.title = title;
        plot.lines = lines;
        PL_TRY(pl_report_add_plot(report, &plot));
    }
    return PL_OK;
}

/* ------------------------------------------------------------------------------- all of it */

static void undo(pl_report *report, const pl_report *before)
{
    pl_text_cut(&report->facts, before->facts.length);
    pl_text_cut(&report->sections, before->sections.length);
    report->section_open = before->section_open;
    report->section_empty = before->section_empty;
    report->failed = before->failed;
    if (!before->headline) {
        pl_free(report->ctx, report->headline);
        report->headline = NULL;
    }
}

pl_status pl_report_add_fit(pl_report *report, const pl_report_fit *f)
{
    pl_context *ctx = report->ctx;
    if (f->parameter_count < !f->success || f->iteration_count < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "report fit: %d parameters and %d iterations, expected >= 1", f->parameter_count,
                       f->iteration_count);
    if (!f->names || !f->loss || !f->values)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report fit: names, loss or values is NULL");
    if ((f->stage_count && (!f->stages || !f->stage_seconds)) || (f->setting_count && !f->settings) ||
        (f->statistic_count && !f->statistics))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report fit: stages, settings or statistics is NULL");
    pl_status status = PL_OK;
    pl_report before = *report; /* to return to when something fails */
    double *scratch;
    PL_NEW(ctx, scratch, (size_t)(drawn(f) + 1) * (size_t)f->iteration_count, done);
    if (!before.headline) {
        report->failed = f->failure != NULL;
        PL_CHECK(add_headline(report, f), done);
        PL_CHECK(add_facts(report, f), done);
    }
    PL_CHECK(add_parameters(report, f), done);
    PL_CHECK(add_convergence(report, f, scratch), done);
    PL_CHECK(add_gradients(report, f, scratch), done);
    PL_CHECK(add_run(report, f), done);
done:
    pl_free(ctx, scratch);
    if (status != PL_OK)
        undo(report, &before);
    return status;
}
