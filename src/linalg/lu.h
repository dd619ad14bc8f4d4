/* Dense LU with row pivots in single precision on all threads. Results are the same bits for any number
 * of them. */
#ifndef PL_LU_H
#define PL_LU_H

#include "core/core.h"

/* a [size, size] column-major <- L and U as LAPACK's sgetrf leaves them, pivot [size] likewise (for
 * sgetrs); false when U is singular. */
bool pl_lu_factor(const pl_context *ctx, int size, float *a, int *pivot);

#endif
