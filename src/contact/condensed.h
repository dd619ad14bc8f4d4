/*
 * S x = g with S = D_lambda + D_delta W (system.h) where contacts are more than the vertices they
 * touch: by the motion y = h^2 C H^T x of those vertices, C being E^-1 between them,
 *
 *     (C^-1 + h^2 H^T K H) y = h^2 H^T D_lambda^-1 g        K = D_lambda^-1 D_delta
 *     x = D_lambda^-1 (g - D_delta H y)
 *
 * Contacts that stiffen the same motion add up here, and those of large K are the ones whose gaps it
 * knows best.
 */
#ifndef PL_CONDENSED_H
#define PL_CONDENSED_H

#include "contact/delassus.h"

typedef struct pl_condensed {
    int capacity, contacts; /* vertices and contacts there is room for, */
    int count;              /* and vertices touched */
    unsigned version;       /* of the W it is for */
    bool pays;              /* there are fewer vertices than contacts, and C has an inverse */
    int *slot;              /* [count] where W has them, */
    int *place;             /* [slots] and where each slot is in it, or -1 */
    double *stiffness;      /* [3 count, 3 count] C^-1, */
    double *matrix;         /* and the LU of the sum, column-major for LAPACK */
    int *pivot;             /* [3 count] */
    double *motion, *moved; /* [3 count] */
    double *inverse;        /* [contacts, 9] D_lambda^-1 */
} pl_condensed;

void pl_condensed_free(pl_context *ctx, pl_condensed *s);
/* For this W; s->pays tells whether it can be used. */
pl_status pl_condensed_prepare(pl_context *ctx, pl_condensed *s, const pl_delassus *d);
/* For the law's derivatives `linear` [m]; false when a D_lambda or the sum is singular. */
bool pl_condensed_factor(pl_condensed *s, const pl_delassus *d, const pl_law_linear *linear);
/* x = S^-1 g, [3 m] each. */
void pl_condensed_solve(pl_condensed *s, const pl_delassus *d, const pl_law_linear *linear,
                        const double *g, double *x);
/* y += W x, [3 m] each. */
void pl_condensed_multiply(pl_condensed *s, const pl_delassus *d, const double *x, double *y);

#endif
