/*
 * Inputs that a fit starts from, step by step: a CSV file with a column named as the unknown, in the
 * form of signals.csv, which a fit of fewer steps or with a simpler signal has left. Rows that are too
 * few are repeated from the first on.
 */
#include "fit/task.h"

#include <stdlib.h>

/* The column of that name in the first line; -1 = none. */
static int find_column(const char *text, const char *name)
{
    for (int column = 0;; column++) {
        size_t width = strcspn(text, ",\r\n");
        if (width == strlen(name) && strncmp(text, name, width) == 0)
            return column;
        if (text[width] != ',')
            return -1;
        text += width + 1;
    }
}

static const char *next_line(const char *text)
{
    text += strcspn(text, "\n");
    return *text ? text + 1 : text;
}

/* The number in a column of a line; false where there is none. */
static bool number_in(const char *line, int column, double *out)
{
    char *end;
    for (; column > 0; column--) {
        line += strcspn(line, ",\n");
        if (*line != ',')
            return false;
        line++;
    }
    if (strchr(",\r\n", *line)) /* also at the end */
        return false;
    *out = strtod(line, &end);
    return end > line && strchr(",\r\n", *end) && isfinite(*out);
}

/* The column's numbers, the caller's; *values is NULL after a failure. */
static pl_status read_column(pl_context *ctx, const char *path, const char *text, const char *name,
                             double **values, int *count)
{
    int column = find_column(text, name), capacity = 0, line_number = 2;
    *values = NULL;
    *count = 0;
    if (column < 0)
        return pl_fail(ctx, PL_ERROR_PARSE, "%s:1: no column is named \"%s\"", path, name);
    for (const char *line = next_line(text); *line; line = next_line(line), line_number++) {
        double value = 0;
        if (line[strspn(line, "\r")] == '\n')
            continue;
        pl_status status = pl_grow(ctx, (void **)values, &capacity, *count + 1, sizeof(double));
        if (status == PL_OK && !number_in(line, column, &value))
            status = pl_fail(ctx, PL_ERROR_PARSE, "%s:%d: expected a number in column %d, \"%s\"", path,
                             line_number, column + 1, name);
        if (status != PL_OK) {
            pl_free(ctx, *values);
            *values = NULL;
            return status;
        }
        (*values)[(*count)++] = value;
    }
    return *count > 0 ? PL_OK : pl_fail(ctx, PL_ERROR_PARSE, "%s: expected rows of numbers", path);
}

/* Inputs of one number are told as they are, vectors as what the unknown adds. */
static void start_from(pl_task *task, const pl_unknown *u, int count, const double *values)
{
    pl_span span = pl_channel_span(task->scene, u->of.channel, u->owner);
    for (int k = 0; k < u->count; k++) {
        size_t row = pl_channel_size(task->scene, u->of.channel, k) + (size_t)span.first;
        double own = u->of.width == 1 ? task->base[u->of.channel][row] : 0;
        double p = pl_clip(values[k % count] - own, u->lower, u->upper);
        int i = u->first + k;
        task->initial[i] = pl_clip(pl_map_to_x(u, p), task->lower[i], task->upper[i]);
    }
}

static pl_status read_text(pl_context *ctx, const char *path, char **out)
{
    size_t length;
    char *bytes = NULL;
    *out = NULL;
    PL_TRY(pl_read_text(ctx, path, &bytes, &length));
    if ((*out = pl_alloc(ctx, length + 1, 1)))
        memcpy(*out, bytes, length);
    pl_free(ctx, bytes);
    return *out ? PL_OK : PL_ERROR_MEMORY;
}

pl_status pl_task_read_starts(pl_task *task, const pl_document *document)
{
    const pl_place at = {NULL, "unknowns", 0};
    for (int k = 0; k < task->unknown_count; k++) {
        pl_unknown *u = &task->unknowns[k];
        char *path = NULL, *text = NULL;
        double *values = NULL;
        int count;
        if (!u->start)
            continue;
        pl_status status = (path = pl_document_resolve(document, u->start)) ? PL_OK : PL_ERROR_MEMORY;
        if (status == PL_OK)
            status = read_text(task->ctx, path, &text);
        if (status == PL_OK)
            status = read_column(task->ctx, path, text, u->name, &values, &count);
        if (status == PL_OK)
            start_from(task, u, count, values);
        pl_free(task->ctx, values);
        pl_free(task->ctx, text);
        pl_free(task->ctx, path);
        u->start = NULL; /* the document's */
        if (status != PL_OK)
            return pl_document_fail_within(document, &at, status);
    }
    return PL_OK;
}
