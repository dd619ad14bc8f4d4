/*
 * Block columns from left to right: one is factored, then every other follows its exchanges of rows,
 * and those on its right are reduced by it, each by one thread.
 */
#include "linalg/lu.h"

#include <cblas.h>
#include <lapacke.h>

typedef struct panel {
    int size;           /* of the matrix */
    int first, columns; /* the block column just factored */
    float *a;
    const int *pivot;
} panel;

/* Rows exchanged in columns [begin, end) as in the panel; those on its right: U12 = L11^-1 A12, A22 -=
 * L21 U12. */
static void follow(const panel *p, int begin, int end)
{
    size_t n = (size_t)p->size, first = (size_t)p->first;
    int columns = end - begin, below = p->size - p->first - p->columns;
    float *top = p->a + (size_t)begin * n;
    LAPACKE_slaswp_work(LAPACK_COL_MAJOR, columns, top, p->size, p->first + 1, p->first + p->columns,
                        p->pivot, 1);
    if (begin < p->first)
        return;
    const float *l = p->a + first * n + first;
    cblas_strsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, p->columns, columns, 1,
                l, p->size, top + first, p->size);
    if (below > 0)
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, below, columns, p->columns, -1,
                    l + p->columns, p->size, top + first, p->size, 1, top + first + (size_t)p->columns,
                    p->size);
}

bool pl_lu_factor(const pl_context *ctx, int size, float *a, int *pivot)
{
    int block = ctx->limits.block_lu, blocks = (size + block - 1) / block;
    for (int b = 0; b < blocks; b++) {
        panel p = {size, b * block, pl_smaller(block, size - b * block), a, pivot};
        float *diagonal = a + (size_t)p.first * ((size_t)size + 1);
        if (LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, size - p.first, p.columns, diagonal, size,
                                pivot + p.first) != 0)
            return false;
        for (int k = p.first; k < p.first + p.columns; k++)
            pivot[k] += p.first;
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(dynamic, 1) if (size > ctx->limits.thread_lu)
        for (int k = 0; k < blocks; k++)
            if (k != b)
                follow(&p, k * block, pl_smaller(size, (k + 1) * block));
    }
    return true;
}
