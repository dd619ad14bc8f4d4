/* Supernodes, cut where the vertices eliminated last begin. */
#include "linalg/supernodes.h"

void pl_supernodes_free(pl_context *ctx, pl_supernodes *l)
{
    void *arrays[] = {l->first, l->begin, l->row, l->at, l->stride};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *l = (pl_supernodes){0};
}

/* Columns [from, to) that are none of the last ones, counted up to the first that is. */
static int before_last(const int *perm, const bool *is_last, int from, int to)
{
    int columns = 0;
    while (from + columns < to && !is_last[perm[from + columns]])
        columns++;
    return columns;
}

pl_status pl_supernodes_create(pl_context *ctx, int n, int count, const int *super, const int *pi,
                               const int *px, const int *s, const int *perm, const bool *is_last,
                               pl_supernodes *out)
{
    pl_status status = PL_OK;
    pl_supernodes *l = out;
    int most = 2 * count, rows = 0;
    *l = (pl_supernodes){.n = n, .order = perm};
    PL_NEW(ctx, l->first, most + 1, done);
    PL_NEW(ctx, l->begin, most + 1, done);
    PL_NEW(ctx, l->at, most, done);
    PL_NEW(ctx, l->stride, most, done);
    PL_NEW(ctx, l->row, 2 * pi[count], done);
    for (int k = 0; k < count; k++) {
        int height = pi[k + 1] - pi[k], columns = super[k + 1] - super[k];
        int cut = before_last(perm, is_last, super[k], super[k + 1]);
        for (int skipped = 0; skipped < columns; skipped = skipped < cut ? cut : columns) {
            l->first[l->count] = super[k] + skipped;
            l->begin[l->count] = rows;
            l->at[l->count] = px[k] + skipped * (height + 1);
            l->stride[l->count++] = height;
            for (int i = skipped; i < height; i++)
                l->row[rows++] = s[pi[k] + i];
        }
    }
    l->first[l->count] = n;
    l->begin[l->count] = rows;
done:
    if (status != PL_OK)
        pl_supernodes_free(ctx, l);
    return status;
}
