/* A table of short texts, written as Markdown, CSV or LaTeX. */
#ifndef PL_SUITE_TABLE_H
#define PL_SUITE_TABLE_H

#include <stdbool.h>

enum { TABLE_COLUMNS = 32, TABLE_ROWS = 32, TABLE_CELL = 40 };

typedef struct suite_table {
    const char *title;
    int columns, rows;
    const char *names[TABLE_COLUMNS];
    char cells[TABLE_ROWS][TABLE_COLUMNS][TABLE_CELL];
} suite_table;

/* One more cell of the row under way; "-" for what is not finite. */
void suite_table_put(suite_table *t, const char *name, const char *format, double value);
void suite_table_put_text(suite_table *t, const char *name, const char *text);

/* Writes tables [count], one a CSV file, by the path's extension: .md, .csv or .tex. The file
 * appears whole or not at all; false with errno set when it cannot be written. */
bool suite_table_write(const char *path, int count, const suite_table *const *tables);

#endif
