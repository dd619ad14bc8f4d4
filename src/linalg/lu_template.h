/*
 * The blocked LU of lu.c for one precision: REAL, the type PANEL, and NAME(x), CBLAS(x), LAPACK(x) that
 * put its letter before or into a name. Included once for each.
 */
typedef struct PANEL {
    int size;           /* of the matrix */
    int first, columns; /* the block column just factored */
    REAL *a;
    const int *pivot;
} PANEL;

/* Rows exchanged in columns [begin, end) as in the panel; those on its right: U12 = L11^-1 A12, A22 -=
 * L21 U12. */
static void NAME(follow)(const PANEL *p, int begin, int end)
{
    size_t n = (size_t)p->size, first = (size_t)p->first;
    int columns = end - begin, below = p->size - p->first - p->columns;
    REAL *top = p->a + (size_t)begin * n;
    LAPACK(laswp)
    (LAPACK_COL_MAJOR, columns, top, p->size, p->first + 1, p->first + p->columns, p->pivot, 1);
    if (begin < p->first)
        return;
    const REAL *l = p->a + first * n + first;
    CBLAS(trsm)
    (CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, p->columns, columns, 1, l, p->size,
     top + first, p->size);
    if (below > 0)
        CBLAS(gemm)
    (CblasColMajor, CblasNoTrans, CblasNoTrans, below, columns, p->columns, -1, l + p->columns, p->size,
     top + first, p->size, 1, top + first + (size_t)p->columns, p->size);
}

bool NAME(pl_lu_factor)(const pl_context *ctx, int size, REAL *a, int *pivot)
{
    int blocks = (size + BLOCK - 1) / BLOCK;
    for (int b = 0; b < blocks; b++) {
        PANEL p = {size, b * BLOCK, size - b * BLOCK < BLOCK ? size - b * BLOCK : BLOCK, a, pivot};
        REAL *diagonal = a + (size_t)p.first * ((size_t)size + 1);
        if (LAPACK(getrf)(LAPACK_COL_MAJOR, size - p.first, p.columns, diagonal, size,
                          pivot + p.first) != 0)
            return false;
        for (int k = p.first; k < p.first + p.columns; k++)
            pivot[k] += p.first;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1) if (size > WORTH_THREADS)
        for (int k = 0; k < blocks; k++)
            if (k != b)
                NAME(follow)(&p, k * BLOCK, size < (k + 1) * BLOCK ? size : (k + 1) * BLOCK);
    }
    return true;
}
