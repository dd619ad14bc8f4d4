/*
 * A Cholesky factor copied to single precision. Triangular solves read the whole factor once each way
 * and are bound by memory, so half the bytes are nearly half the time. For corrections only, where a
 * relative error of 1e-6 changes how fast an iteration converges, never what it converges to.
 */
#ifndef PL_SINGLE_H
#define PL_SINGLE_H

#include "core/core.h"

/* A supernodal factor as CHOLMOD lays it out, borrowed. */
typedef struct pl_supernodes {
    int n;               /* unknowns */
    int count;           /* supernodes */
    const int *first;    /* [count + 1] first column of each */
    const int *begin;    /* [count + 1] where its rows start in `row` */
    const int *at;       /* [count + 1] where its values start */
    const int *row;      /* rows of each supernode, its own columns first */
    const int *order;    /* [n] the unknown that is at each place */
    const double *value; /* column-major, as many rows as the supernode has */
} pl_supernodes;

typedef struct pl_single {
    size_t capacity;
    float *value;    /* the factor's values */
    float *x, *work; /* [n] */
} pl_single;

/* Takes over the values; allocates only when the factor is larger than any before. */
pl_status pl_single_copy(pl_context *ctx, pl_single *s, const pl_supernodes *l, size_t entries);
void pl_single_free(pl_context *ctx, pl_single *s);
/* x = (L L^T)^-1 b in the original numbering, [n] each; may be the same array. */
void pl_single_solve(pl_single *s, const pl_supernodes *l, const double *b, double *x);

#endif
