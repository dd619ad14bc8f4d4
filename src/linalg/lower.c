/* Inverses and squares of triangles, by blocks of columns. */
#include "linalg/lower.h"

#include "core/core.h"

#include <cblas.h>

#define BLOCK 96  /* columns of an inverse, */
#define TILE  192 /* and of a product, that one thread makes at once */

/* A block of columns at a time: they begin where L has its diagonal. */
void pl_lower_invert(int threads, int size, const float *l, int stride, float *x)
{
    int blocks = (size + BLOCK - 1) / BLOCK;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int b = 0; b < blocks; b++) {
        int first = b * BLOCK, left = size - first, width = pl_smaller(BLOCK, left);
        float *columns = x + (size_t)first * (size_t)size, *corner = columns + first;
        memset(columns, 0, sizeof *x * (size_t)width * (size_t)size);
        for (int j = 0; j < width; j++)
            corner[(size_t)j * (size_t)(size + 1)] = 1;
        cblas_strsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, left, width, 1,
                    l + (size_t)first * (size_t)(stride + 1), stride, corner, size);
    }
}

void pl_lower_square(int threads, int size, const float *x, int x_stride, float *g, int g_stride)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int j = 0; j < size; j += TILE)
        for (int i = j; i < size; i += TILE)
            cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, pl_smaller(TILE, size - i),
                        pl_smaller(TILE, size - j), size - i, 1, x + (size_t)i * (size_t)(x_stride + 1),
                        x_stride, x + (size_t)j * (size_t)x_stride + (size_t)i, x_stride, 0,
                        g + (size_t)j * (size_t)g_stride + (size_t)i, g_stride);
}
