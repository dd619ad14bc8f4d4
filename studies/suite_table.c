#include "suite_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void suite_table_put(suite_table *t, const char *name, const char *format, double value)
{
    char *cell = t->cells[t->rows][t->columns];
    t->names[t->columns++] = name;
    if (isfinite(value))
        snprintf(cell, TABLE_CELL, format, value);
    else
        snprintf(cell, TABLE_CELL, "-");
}

void suite_table_put_text(suite_table *t, const char *name, const char *text)
{
    snprintf(t->cells[t->rows][t->columns], TABLE_CELL, "%s", text);
    t->names[t->columns++] = name;
}

static void write_markdown(FILE *out, const suite_table *t)
{
    fprintf(out, "## %s\n\n|", t->title);
    for (int c = 0; c < t->columns; c++)
        fprintf(out, " %s |", t->names[c]);
    fputs("\n|", out);
    for (int c = 0; c < t->columns; c++)
        fputs(c == 0 ? "---|" : "---:|", out);
    for (int r = 0; r < t->rows; r++) {
        fputs("\n|", out);
        for (int c = 0; c < t->columns; c++)
            fprintf(out, " %s |", t->cells[r][c]);
    }
    fputs("\n\n", out);
}

/* Cells hold no quotes; those with a comma are quoted. */
static void write_csv(FILE *out, const suite_table *t)
{
    for (int r = -1; r < t->rows; r++) {
        for (int c = 0; c < t->columns; c++) {
            const char *cell = r < 0 ? t->names[c] : t->cells[r][c],
                       *quote = strchr(cell, ',') ? "\"" : "";
            fprintf(out, "%s%s%s%s", c ? "," : "", quote, cell, quote);
        }
        fputc('\n', out);
    }
}

static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("_%&#", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* As wide as the page; needs graphicx. */
static void write_latex(FILE *out, const suite_table *t)
{
    fputs("\\begin{table*}\n\\caption{", out);
    write_escaped(out, t->title);
    fputs("}\n\\resizebox{\\textwidth}{!}{%\n\\begin{tabular}{l", out);
    for (int c = 1; c < t->columns; c++)
        fputc('r', out);
    fputs("}\n\\hline\n", out);
    for (int r = -1; r < t->rows; r++) {
        for (int c = 0; c < t->columns; c++) {
            fputs(c ? " & " : "", out);
            write_escaped(out, r < 0 ? t->names[c] : t->cells[r][c]);
        }
        fputs(r < 0 ? " \\\\\n\\hline\n" : " \\\\\n", out);
    }
    fputs("\\hline\n\\end{tabular}}\n\\end{table*}\n\n", out);
}

bool suite_table_write(const char *path, int count, const suite_table *const *tables)
{
    char temporary[4096];
    const char *dot = strrchr(path, '.');
    if (snprintf(temporary, sizeof temporary, "%s.new", path) >= (int)sizeof temporary)
        return false;
    FILE *out = fopen(temporary, "w");
    if (!out)
        return false;
    for (int i = 0; i < count; i++) {
        if (dot && strcmp(dot, ".csv") == 0)
            write_csv(out, tables[i]);
        else if (dot && strcmp(dot, ".tex") == 0)
            write_latex(out, tables[i]);
        else
            write_markdown(out, tables[i]);
    }
    bool good = !ferror(out);
    good = fclose(out) == 0 && good;
    if (good && rename(temporary, path) == 0)
        return true;
    unlink(temporary);
    return false;
}
