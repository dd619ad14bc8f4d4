/* Supernodes, cut where the vertices eliminated last begin. */
#include "linalg/supernodes.h"

#include <assert.h>

void pl_supernodes_free(pl_context *ctx, pl_supernodes *l)
{
    void *arrays[] = {l->first, l->begin,    l->row,    l->at,     l->stride,
                      l->place, l->super_of, l->parent, l->triple, l->triple_from};
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

/* The columns' supernodes, and the supernodes' parents. */
static pl_status build_tree(pl_context *ctx, pl_supernodes *l)
{
    pl_status status = PL_OK;
    PL_NEW(ctx, l->place, l->n, done);
    PL_NEW(ctx, l->super_of, l->n, done);
    PL_NEW(ctx, l->parent, l->count, done);
    for (int j = 0; j < l->n; j++)
        l->place[l->order[j]] = j;
    for (int k = 0; k < l->count; k++)
        for (int j = l->first[k]; j < l->first[k + 1]; j++)
            l->super_of[j] = k;
    for (int k = 0; k < l->count; k++) {
        int below = l->begin[k] + l->first[k + 1] - l->first[k];
        l->parent[k] = below < l->begin[k + 1] ? l->super_of[l->row[below]] : -1;
    }
done:
    return status;
}

/* A vertex's three unknowns have the same neighbours, so they stay together, in their order. */
static pl_status list_triples(pl_context *ctx, pl_supernodes *l)
{
    pl_status status = PL_OK;
    int at = 0;
    PL_NEW(ctx, l->triple, l->begin[l->count] / 3, done);
    PL_NEW(ctx, l->triple_from, l->count + 1, done);
    for (int k = 0; k < l->count; k++) {
        for (int i = l->begin[k] + l->first[k + 1] - l->first[k]; i < l->begin[k + 1]; i += 3) {
            const int *row = l->row + i;
            assert(row[2] == row[0] + 2 && l->order[row[2]] == l->order[row[0]] + 2);
            l->triple[at++] = row[0];
        }
        l->triple_from[k + 1] = at;
    }
done:
    return status;
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
    PL_CHECK(build_tree(ctx, l), done);
    PL_CHECK(list_triples(ctx, l), done);
done:
    if (status != PL_OK)
        pl_supernodes_free(ctx, l);
    return status;
}
