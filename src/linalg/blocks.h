/*
 * Sums over long vectors by blocks that threads share. Blocks are the same for any number of threads,
 * and so is every bit of the result.
 */
#ifndef PL_BLOCKS_H
#define PL_BLOCKS_H

#include "core/core.h"

/* out[i] = vectors_i . x for `count` vectors, [count, size]. */
void pl_dots(const pl_context *ctx, int size, int count, const double *vectors, const double *x,
             double *out);

/* x -= sum_i c_i vectors_i, [count, size]. */
void pl_subtract(const pl_context *ctx, int size, int count, const double *vectors, const double *c,
                 double *x);

#endif
