/*
 * Supernodal Cholesky P s A s P^T = L L^T (triangular.h) in single precision, multifrontal: each
 * supernode is a dense front
 *
 *     [F11    ]   assembled from A and from what its children leave,
 *     [F21 F22]   L11 L11^T = F11,  L21 = F21 L11^-T,  left for the parent: F22 - L21 L21^T.
 *
 * Twice as fast as double precision in itself, and threads share subtrees below and the blocks of the
 * large fronts at the top. Which block is computed how depends on the factor alone, so results do not
 * depend on the threads.
 */
#ifndef PL_MULTIFRONTAL_H
#define PL_MULTIFRONTAL_H

#include "linalg/multifrontal_plan.h"
#include "linalg/triangular.h"

typedef struct pl_multifrontal {
    pl_context *ctx;
    const pl_multifrontal_plan *plan;
    float *fronts; /* [threads, plan->front] where they are worked on */
    float *rest;   /* what they leave */
    float *schur;  /* F11 of the last supernode, column-major, the lower triangle; NULL if not kept */
} pl_multifrontal;

/* For factors of this plan, which must live as long. */
pl_status pl_multifrontal_create(pl_context *ctx, const pl_multifrontal_plan *plan,
                                 pl_multifrontal *out);
void pl_multifrontal_free(pl_multifrontal *m);

/* Factors blocks [nnz, 9] and stores L in t, of the same plan; false when a pivot is not positive: A is
 * not positive definite, or too nearly so for single precision. */
bool pl_multifrontal_factor(pl_multifrontal *m, pl_triangular *t, const double *blocks);

#endif
