/*
 * S x = g with S = D_lambda + D_delta W (system.h) by the motion y = h^2 C H^T x of the vertices that
 * are touched, C being E^-1 between them,
 *
 *     (C^-1 + h^2 H^T K H) y = h^2 H^T D_lambda^-1 g        K = D_lambda^-1 D_delta
 *     x = D_lambda^-1 (g - D_delta H y)
 *
 * and with the transpose of S
 *
 *     (C^-1 + h^2 H^T K H)^T y = h^2 H^T K^T g              x = D_lambda^-T (g - H y)
 *
 * Contacts that stiffen the same motion add up here, and those of large K are the ones whose gaps it
 * knows best. C^-1 has a block for each part of the scene, a body that nothing ties to others, and
 * contacts tie two of them: an LU by parts (linalg/block_lu.h). So this pays where contacts are more
 * than the vertices they touch, as where a cloth is crumpled, and where bodies are many, in a heap or
 * each by itself.
 */
#ifndef PL_CONDENSED_H
#define PL_CONDENSED_H

#include "contact/delassus.h"
#include "linalg/block_lu.h"

/* A vertex that is touched: where W has it. */
typedef struct pl_touched {
    int part, slot, group;
} pl_touched;

typedef struct pl_condensed {
    int capacity, contacts; /* vertices and contacts there is room for, */
    int count;              /* and vertices touched */
    int groups;             /* parts that are touched */
    unsigned version;       /* of the W it is for, */
    unsigned inverse;       /* and of the E^-1 that it is made of */
    bool pays;              /* an LU here costs less than one of S, and C has an inverse */
    pl_touched *touched;    /* [count] part by part, */
    pl_touched *before;     /* [before_count] and for the W before */
    int before_count;
    int *place; /* [slots] and where each slot is there, or -1 */
    int *first; /* [groups + 1] the first vertex of a group, */
    int *size;  /* [groups] and its unknowns */
    size_t stiffness_capacity;
    double *stiffness;     /* C^-1, [3 n, 3 n] column-major of a group of n vertices, one by one, */
    float *compliance;     /* and C */
    pl_block_lu lu;        /* of the sum, */
    bool made;             /* if it is there: */
    int built;             /* for so many contacts, */
    double h2;             /* a step of this length squared, */
    pl_law_linear *laws;   /* [contacts] these derivatives of their laws */
    pl_delassus_key *keys; /* [contacts] and rows, */
    int entry_capacity;
    pl_stencil_entry *entries;
    double *motion, *moved; /* [3 count] */
    double *pressed;        /* [contacts, 9] their D_lambda^-1 */
} pl_condensed;

void pl_condensed_free(pl_context *ctx, pl_condensed *s);
/* For this W; s->pays tells whether it is to be used. */
pl_status pl_condensed_prepare(pl_context *ctx, pl_condensed *s, const pl_delassus *d);
/* For the law's derivatives `linear` [m], which it keeps; false when a D_lambda or the sum is singular.
 */
bool pl_condensed_factor(const pl_context *ctx, pl_condensed *s, const pl_delassus *d,
                         const pl_law_linear *linear);
/* Whether there is an LU, of an earlier law, that is about as good: no row of a derivative is another
 * by more than a tenth of it, as of contacts at rest. */
bool pl_condensed_serves(const pl_condensed *s, const pl_law_linear *linear);
/* x = S^-1 g or S^-T g, [3 m] each; may be the same array. */
void pl_condensed_solve(pl_condensed *s, const pl_delassus *d, bool transposed, const double *g,
                        double *x);
/* Products with W and solves that cost as much as the factor does. */
double pl_condensed_price(const pl_condensed *s);
/* Whether det S < 0: det S = det D_lambda det(C C'), the first positive. */
bool pl_condensed_mirrors(const pl_condensed *s);
/* y += W x, [3 m] each. */
void pl_condensed_multiply(pl_condensed *s, const pl_delassus *d, const double *x, double *y);
/* y [3 m]: no less than what rows of W x add up to whatever the signs. */
void pl_condensed_reach(pl_condensed *s, const pl_delassus *d, const double *x, double *y);

#endif
