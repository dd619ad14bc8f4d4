/* Tables, aims and files of the studies. */
#include "core/core.h"
#include "cli/progress.h"
#include "study.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

study_table study_table_new(const char *name, const char *heads)
{
    study_table table = {.name = name, .columns = 1};
    for (const char *c = heads; *c; c++)
        table.columns += *c == '|';
    for (const char *at = heads; *at;) {
        int length = (int)strcspn(at, "|");
        study_cell(&table, "%.*s", length, at);
        at += length + (at[length] == '|');
    }
    return table;
}

void study_cell(study_table *table, const char *format, ...)
{
    int index = table->rows * table->columns + table->filled;
    if (index >= table->capacity * table->columns) {
        int capacity = 2 * table->capacity + 16;
        void *grown = realloc(table->cells, (size_t)capacity * (size_t)table->columns * STUDY_CELL);
        table->failed |= !grown;
        if (!grown)
            return;
        table->cells = grown;
        table->capacity = capacity;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(table->cells[index], STUDY_CELL, format, args);
    va_end(args);
    if (++table->filled == table->columns) {
        table->filled = 0;
        table->rows++;
    }
}

void study_table_free(study_table *table)
{
    free(table->cells);
    *table = (study_table){0};
}

/* Columns that a terminal shows: characters, not bytes. */
static int shown_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void study_table_print(const study_table *table, FILE *file, bool markdown)
{
    int width[STUDY_COLUMNS] = {0};
    for (int r = 0; r < table->rows; r++)
        for (int c = 0; c < table->columns; c++) {
            int length = shown_width(table->cells[r * table->columns + c]);
            width[c] = length > width[c] ? length : width[c];
        }
    for (int r = 0; r < table->rows; r++) {
        for (int c = 0; c < table->columns; c++) {
            const char *cell = table->cells[r * table->columns + c];
            int pad = width[c] - shown_width(cell);
            if (c == 0)
                fprintf(file, markdown ? "| %s%*s |" : "%s%*s", cell, pad, "");
            else
                fprintf(file, markdown ? " %*s%s |" : "  %*s%s", pad, "", cell);
        }
        fprintf(file, "\n");
        for (int c = 0; r == 0 && markdown && c < table->columns; c++)
            fprintf(file, c == 0 ? "|---|" : "---:|");
        fprintf(file, r == 0 && markdown ? "\n" : "");
    }
}

static void print_csv(const study_table *table, FILE *file)
{
    for (int r = 0; r < table->rows; r++)
        for (int c = 0; c < table->columns; c++) {
            const char *cell = table->cells[r * table->columns + c];
            fprintf(file, strchr(cell, ',') ? "\"%s\"" : "%s", cell);
            fputc(c + 1 < table->columns ? ',' : '\n', file);
        }
}

static pl_status write_file(const study *s, const study_table *table, const char *extension)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.%s", s->out, table->name, extension);
    FILE *file = fopen(path, "w");
    if (file && strcmp(extension, "csv") == 0)
        print_csv(table, file);
    else if (file)
        study_table_print(table, file, true);
    bool ok = file && !ferror(file);
    ok = file && fclose(file) == 0 && ok;
    if (ok)
        return PL_OK;
    return pl_fail(s->ctx, PL_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
}

pl_status study_table_write(study *s, const study_table *table)
{
    if (table->failed)
        return pl_fail(s->ctx, PL_ERROR_MEMORY, "%s: out of memory", table->name);
    if (!s->out)
        return PL_OK;
    pl_status status = write_file(s, table, "csv");
    return status == PL_OK ? write_file(s, table, "md") : status;
}

pl_status study_plot(study *s, const pl_plot *plot, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.svg", s->out ? s->out : "", name);
    return s->out ? pl_plot_write(s->ctx, plot, path) : PL_OK;
}

void study_aim(study *s, bool met, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s  ", met ? "met   " : "MISSED");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    s->aims++;
    s->missed += !met;
}

bool study_progress(study *s, int done, int total)
{
    double now = cli_seconds();
    if (done >= total) {
        cli_line_clear();
    } else if (now - s->shown > 0.1) {
        int left = done > 0 ? (int)((now - s->started) / done * (total - done) + 0.5) : 0;
        s->shown = now;
        cli_line_show("%s: %d of %d, %d:%02d left", s->name, done, total, left / 60, left % 60);
    }
    return !cli_interrupted();
}

pl_status study_stopped(const study *s)
{
    cli_line_clear();
    fprintf(stderr, "pliant: %s: interrupted\n", s->name);
    return PL_ERROR_INTERRUPTED;
}

bool study_mean_x(void *end, int step, const double *q, const double *v, double *value, double *dq,
                  double *dv)
{
    const study_end *loss = end;
    (void)v;
    (void)dv;
    for (int i = 0; step == loss->last && i < loss->n; i++) {
        *value += q[3 * i] / loss->n;
        dq[3 * i] += 1.0 / loss->n;
    }
    return true;
}
