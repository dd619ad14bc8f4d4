/* Sections of a report and what stands in them: plots, tables, bars, matrices. */
#include "io/report.h"
#include "io/plot.h"

static void open_section(pl_report *report, const char *title, const char *note)
{
    pl_text *t = &report->sections;
    if (report->section_open)
        pl_text_add(t, "]},\n");
    pl_text_add(t, "{\"title\":");
    pl_text_json(t, title);
    pl_text_add(t, ",\"note\":");
    pl_text_json(t, note);
    pl_text_add(t, ",\"items\":[");
}

pl_status pl_report_add_section(pl_report *report, const char *title, const char *note)
{
    int length = report->sections.length;
    open_section(report, title, note);
    PL_TRY(pl_report_end(&report->sections, length));
    report->section_open = report->section_empty = true;
    return PL_OK;
}

static void begin_item(pl_report *report, const char *kind, const char *title)
{
    pl_text *t = &report->sections;
    if (!report->section_open)
        open_section(report, NULL, NULL);
    else if (!report->section_empty)
        pl_text_add(t, ",\n");
    pl_text_format(t, "{\"kind\":\"%s\",\"title\":", kind);
    pl_text_json(t, title);
}

static pl_status end_item(pl_report *report, int length)
{
    pl_text_add(&report->sections, "}");
    PL_TRY(pl_report_end(&report->sections, length));
    report->section_open = true;
    report->section_empty = false;
    return PL_OK;
}

static void add_names(pl_text *t, const char *key, int count, const char *const *names)
{
    pl_text_format(t, ",\"%s\":[", key);
    for (int i = 0; i < count; i++) {
        pl_text_add(t, i ? "," : "");
        pl_text_json(t, names[i] ? names[i] : "");
    }
    pl_text_add(t, "]");
}

static void add_line(pl_text *t, const pl_plot_line *line, const char *colour)
{
    pl_text_add(t, "{\"name\":");
    pl_text_json(t, line->name);
    pl_text_add(t, ",\"colour\":");
    pl_text_json(t, colour);
    pl_text_format(t, ",\"dashed\":%s,\"markers\":%s,\"level\":%s", line->dashed ? "true" : "false",
                   line->markers ? "true" : "false", line->level ? "true" : "false");
    size_t count = line->level ? 1 : (size_t)line->count;
    if (line->x && !line->level) {
        pl_text_add(t, ",\"x\":");
        pl_text_json_numbers(t, line->x, count, 9);
    }
    if (line->error && !line->level) {
        pl_text_add(t, ",\"error\":");
        pl_text_json_numbers(t, line->error, count, 6);
    }
    pl_text_add(t, ",\"y\":");
    pl_text_json_numbers(t, line->y, count, 9);
    pl_text_add(t, "}");
}

pl_status pl_report_add_plot(pl_report *report, const pl_plot *plot)
{
    PL_TRY(pl_plot_check(report->ctx, plot));
    pl_text *t = &report->sections;
    int length = t->length;
    begin_item(report, "plot", plot->title);
    pl_text_add(t, ",\"xLabel\":");
    pl_text_json(t, plot->x_label);
    pl_text_add(t, ",\"yLabel\":");
    pl_text_json(t, plot->y_label);
    pl_text_format(t, ",\"logX\":%s,\"logY\":%s,\"lines\":[", plot->log_x ? "true" : "false",
                   plot->log_y ? "true" : "false");
    for (int i = 0; i < plot->line_count; i++) {
        pl_text_add(t, i ? ",\n" : "");
        add_line(t, &plot->lines[i], pl_plot_colour(plot, i));
    }
    pl_text_add(t, "]");
    return end_item(report, length);
}

pl_status pl_report_add_table(pl_report *report, const char *title, int column_count,
                              const char *const *columns, int row_count, const char *const *cells)
{
    if (column_count < 1 || row_count < 0)
        return pl_fail(report->ctx, PL_ERROR_ARGUMENT, "report table: %d columns and %d rows",
                       column_count, row_count);
    pl_text *t = &report->sections;
    int length = t->length;
    begin_item(report, "table", title);
    add_names(t, "columns", column_count, columns);
    pl_text_add(t, ",\"rows\":[");
    for (int r = 0; r < row_count; r++) {
        pl_text_add(t, r ? ",\n[" : "[");
        for (int c = 0; c < column_count; c++) {
            const char *cell = cells[(size_t)r * (size_t)column_count + (size_t)c];
            pl_text_add(t, c ? "," : "");
            pl_text_json(t, cell ? cell : "");
        }
        pl_text_add(t, "]");
    }
    pl_text_add(t, "]");
    return end_item(report, length);
}

pl_status pl_report_add_bars(pl_report *report, const char *title, const char *unit, int count,
                             const char *const *names, const double *values)
{
    if (count < 1)
        return pl_fail(report->ctx, PL_ERROR_ARGUMENT, "report bars: %d values, expected >= 1", count);
    pl_text *t = &report->sections;
    int length = t->length;
    begin_item(report, "bars", title);
    pl_text_add(t, ",\"unit\":");
    pl_text_json(t, unit);
    add_names(t, "names", count, names);
    pl_text_add(t, ",\"values\":");
    pl_text_json_numbers(t, values, (size_t)count, 9);
    return end_item(report, length);
}

pl_status pl_report_add_matrix(pl_report *report, const char *title, int count,
                               const char *const *names, const double *values)
{
    if (count < 1)
        return pl_fail(report->ctx, PL_ERROR_ARGUMENT, "report matrix: size %d, expected >= 1", count);
    pl_text *t = &report->sections;
    int length = t->length;
    begin_item(report, "matrix", title);
    add_names(t, "names", count, names);
    pl_text_add(t, ",\"values\":");
    pl_text_json_numbers(t, values, (size_t)count * (size_t)count, 6);
    return end_item(report, length);
}
