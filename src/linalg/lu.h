/* Dense LU with row pivots, and inverses of triangles, in single precision on all threads. Results are
 * the same bits for any number of them. */
#ifndef PL_LU_H
#define PL_LU_H

#include "core/core.h"

/* a [size, size] column-major <- L and U as LAPACK's sgetrf leaves them, pivot [size] likewise (for
 * sgetrs); false when U is singular. */
bool pl_lu_factor(const pl_context *ctx, int size, float *a, int *pivot);

/* x [size, size] = L^-1 with zeros above the diagonal, both column-major, columns of l `stride` apart.
 */
void pl_lower_invert(int threads, int size, const float *l, int stride, float *x);

/* The lower triangle of g = X^T X, X [size, size] such an inverse; columns `stride` apart. */
void pl_lower_square(int threads, int size, const float *x, int x_stride, float *g, int g_stride);

#endif
