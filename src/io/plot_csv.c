/* Histories as comma-separated values. */
#include "io/plot.h"

#include "core/whole.h"

void pl_csv_name(pl_text *t, const char *name)
{
    if (!strpbrk(name, ",\"\r\n")) {
        pl_text_add(t, name);
        return;
    }
    pl_text_add(t, "\"");
    for (const char *c = name; *c; c++)
        pl_text_bytes(t, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    pl_text_add(t, "\"");
}

pl_status pl_csv_write(pl_context *ctx, const char *path, int column_count, const char *const *names,
                       int row_count, const double *const *columns)
{
    if (column_count < 1 || row_count < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: %d columns and %d rows", path, column_count,
                       row_count);
    pl_text t = {.ctx = ctx};
    for (int c = 0; c < column_count; c++) {
        pl_text_add(&t, c ? "," : "");
        pl_csv_name(&t, names[c]);
    }
    pl_text_add(&t, "\n");
    for (int r = 0; r < row_count; r++) {
        for (int c = 0; c < column_count; c++) {
            double value = columns[c][r];
            pl_text_add(&t, c ? "," : "");
            pl_text_number(&t, value, 17, isnan(value) ? "" : value > 0 ? "inf" : "-inf");
        }
        pl_text_add(&t, "\n");
    }
    pl_status status = t.status;
    if (status == PL_OK)
        status = pl_write_whole(ctx, path, t.data, (size_t)t.length);
    pl_text_free(&t);
    return status;
}
