/* Sparsity patterns and block products. */
#include "linalg/sparse.h"

#include "backend/backend.h"

#include <stdlib.h>

/* Rows that one thread multiplies at a time. */
#define ROWS 64

static int compare_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Calls for every ordered pair (i, j) of one stencil, i != j. */
#define FOR_PAIRS(lists, list_count, i, j)                                                             \
    for (int l_ = 0; l_ < (list_count); l_++)                                                          \
        for (int s_ = 0; s_ < (lists)[l_].count; s_++)                                                 \
            for (int a_ = 0; a_ < (lists)[l_].width; a_++)                                             \
                for (int b_ = 0,                                                                       \
                         i = (lists)[l_].index[(size_t)s_ * (size_t)(lists)[l_].width + (size_t)a_],   \
                         j;                                                                            \
                     b_ < (lists)[l_].width; b_++)                                                     \
                    if (j = (lists)[l_].index[(size_t)s_ * (size_t)(lists)[l_].width + (size_t)b_],    \
                        i >= 0 && j >= 0 && a_ != b_)

pl_status pl_pattern_create(pl_context *ctx, int n, int list_count, const pl_stencils *lists,
                            pl_pattern *out)
{
    pl_status status = PL_OK;
    const pl_backend *backends[PL_BACKEND_MAX];
    pl_backend_list(backends);
    pl_pattern p = {.n = n, .backend = backends[0], .thread_blocks = ctx->limits.thread_blocks};
    int *count = NULL, *all = NULL;
    PL_NEW(ctx, count, n + 1, done);
    PL_NEW(ctx, p.row, n + 1, done);
    PL_NEW(ctx, p.diag, n, done);
    /* With repetitions first: one slot per ordered pair, plus the diagonal. */
    for (int i = 0; i < n; i++)
        count[i + 1] = 1;
    FOR_PAIRS (lists, list_count, i, j)
        count[i + 1]++;
    for (int i = 0; i < n; i++)
        count[i + 1] += count[i];
    PL_NEW(ctx, all, count[n], done);
    for (int i = 0; i < n; i++)
        all[count[i]++] = i;
    FOR_PAIRS (lists, list_count, i, j)
        all[count[i]++] = j;
    /* count[i] is now the end of row i. */
    for (int i = 0, begin = 0; i < n; i++) {
        int *row = all + begin, length = count[i] - begin, kept = 0;
        begin = count[i];
        qsort(row, (size_t)length, sizeof *row, compare_int);
        for (int k = 0; k < length; k++)
            if (k == 0 || row[k] != row[kept - 1])
                row[kept++] = row[k];
        p.row[i + 1] = p.row[i] + kept;
    }
    p.nnz = p.row[n];
    PL_NEW(ctx, p.col, p.nnz, done);
    for (int i = 0; i < n; i++) {
        const int *row = all + (i ? count[i - 1] : 0);
        for (int k = p.row[i]; k < p.row[i + 1]; k++) {
            p.col[k] = row[k - p.row[i]];
            if (p.col[k] == i)
                p.diag[i] = k;
        }
    }
    *out = p;
    p = (pl_pattern){0};
done:
    pl_free(ctx, count);
    pl_free(ctx, all);
    pl_pattern_free(ctx, &p);
    return status;
}

void pl_pattern_free(pl_context *ctx, pl_pattern *pattern)
{
    pl_free(ctx, pattern->row);
    pl_free(ctx, pattern->col);
    pl_free(ctx, pattern->diag);
    *pattern = (pl_pattern){0};
}

/* The root of a vertex's tree, paths halved on the way. */
static int root_of(int *parent, int i)
{
    for (; parent[i] != i; i = parent[i])
        parent[i] = parent[parent[i]];
    return i;
}

void pl_pattern_parts(const pl_pattern *p, int *part_of)
{
    for (int i = 0; i < p->n; i++)
        part_of[i] = i;
    for (int i = 0; i < p->n; i++)
        for (int k = p->row[i]; k < p->row[i + 1]; k++) {
            int a = root_of(part_of, i), b = root_of(part_of, p->col[k]);
            part_of[a > b ? a : b] = pl_smaller(a, b);
        }
    for (int i = 0; i < p->n; i++)
        part_of[i] = root_of(part_of, i);
}

int pl_pattern_find(const pl_pattern *p, int i, int j)
{
    int low = p->row[i], high = p->row[i + 1];
    while (low < high) {
        int middle = (low + high) / 2;
        if (p->col[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->row[i + 1] && p->col[low] == j ? low : -1;
}

void pl_bsr_multiply(int threads, const pl_pattern *p, const double *blocks, const double *x, double *y)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (p->nnz > p->thread_blocks)
    for (int first = 0; first < p->n; first += ROWS)
        p->backend->multiply(p, blocks, x, y, first, p->n - first < ROWS ? p->n : first + ROWS);
}
