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

#include "linalg/sparse.h"
#include "linalg/triangular.h"

/* A 3x3 block of A and its place in a front. */
typedef struct pl_front_entry {
    int block;     /* of the pattern, */
    int vertex[2]; /* between these */
    int at;        /* of its first value in the supernode's columns */
} pl_front_entry;

typedef struct pl_multifrontal {
    pl_context *ctx;
    const pl_pattern *pattern;
    pl_front_entry *entry;
    int *entry_from; /* [count + 1] a supernode's first */
    int *child_from; /* [count + 1] into child: a supernode's children in ascending order */
    int *child;
    int *position; /* of the vertices below each supernode (pl_triangular.triple): row in the parent, */
    int *run_end;  /* and the first vertex after it that does not follow it there */
    size_t *rest_from; /* [count] where F22 is in rest: what parts leave to the top comes first, then
                        * room for each thread, with which the top begins anew */
    size_t left, room; /* values of the first, and of each of the others */
    float *rest;
    float *schur; /* F11 of the last supernode, column-major, the lower triangle; NULL if not kept */
} pl_multifrontal;

/* For an analysed factor and its division into parts; both must live as long. `keep_schur`: the last
 * supernode's F11, what the others leave of s A s there, is kept. */
pl_status pl_multifrontal_create(pl_context *ctx, const pl_pattern *pattern, const pl_supernodes *l,
                                 const pl_triangular *t, bool keep_schur, pl_multifrontal *out);
void pl_multifrontal_free(pl_multifrontal *m);

/* Factors blocks [nnz, 9] and stores L in t; false when a pivot is not positive: A is not positive
 * definite, or too nearly so for single precision. */
bool pl_multifrontal_factor(pl_multifrontal *m, const pl_supernodes *l, pl_triangular *t,
                            const double *blocks);

#endif
