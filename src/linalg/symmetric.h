/*
 * Dense symmetric matrices in single or half precision, for products: each reads the lower triangle
 * once, half or a quarter of the bytes of the matrix in single precision, and is as much faster, being
 * bound by memory. Half precision is good for three digits.
 *
 * Kept as r^-1 A r^-1 with a diagonal near 1, r powers of two, so that units do not matter.
 */
#ifndef PL_SYMMETRIC_H
#define PL_SYMMETRIC_H

#include "backend/backend.h"

#define PL_SYMMETRIC_PIECES 4

typedef struct pl_symmetric {
    const pl_backend *backend;
    bool half;
    int size, capacity;               /* rows */
    void *strips;                     /* as a panel's (backend.h), the diagonal halved */
    float *scale;                     /* [size] r */
    float *x, *y;                     /* [size] scaled, filled up to a strip */
    int cut[PL_SYMMETRIC_PIECES + 1]; /* rows of the pieces that threads share */
    float *across;                    /* [pieces, size + 3] what each piece adds as its transpose, */
    float *sums;                      /* [pieces, size + 3, 8] and scratch */
} pl_symmetric;

/* An empty one; in half precision where that is wanted and the processor has it. */
pl_symmetric pl_symmetric_create(bool half);
void pl_symmetric_free(pl_context *ctx, pl_symmetric *s);
/* Takes a [size, size], of which it reads the lower triangle; its diagonal is positive. */
pl_status pl_symmetric_store(pl_context *ctx, pl_symmetric *s, int size, const float *a);
/* y = A x, [size] each; the same for any number of threads. */
void pl_symmetric_multiply(const pl_context *ctx, pl_symmetric *s, const float *x, float *y);

#endif
