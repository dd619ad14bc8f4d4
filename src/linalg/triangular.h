/*
 * Triangular solves with a supernodal Cholesky factor P s A s P^T = L L^T, in single or half precision:
 * corrections of an iteration may be 1e-6 or 1e-3 off, which changes how fast it converges, never what
 * it converges to. s scales each vertex such that A's diagonal is near 1, so that L has no unit and
 * fits the range of half precision; powers of two, so that it rounds nothing.
 *
 * They read the factor once each way and are bound by memory, hence these economies:
 * - half precision, where it is good enough (pl_chol_factor_rough finds out);
 * - a supernode [L11; L21] is kept as [L11^-1; L21], in the order in which the kernels read it and
 *   without the zeros above the diagonal: products instead of triangular solves, which are short and
 *   slow;
 * - parts: subtrees of the elimination tree that need nothing of each other are solved by different
 *   threads, and so are pieces of the large supernodes at the top. Which parts and pieces there are
 *   depends on the factor alone, so results do not on the threads;
 * - sealed subtrees, in half precision: small enough for the cache, and without the rows of L outside
 *   of them, which are most of what they have. With 1 inside, 2 outside, A_21 the few values of A
 *   between them and B = (L_11 L_11^T)^-1, these rows are A_21 L_11^-T:
 *
 *       forward     y = L_11^-1 b_1,    b_2 <- b_2 - A_21 L_11^-T y,
 *       backward    x_1 = L_11^-T (y - L_11^-1 A_21^T x_2).
 *
 *   What is read from memory is read twice, the second time from the cache;
 * - a focus: x at few vertices, wanted before the whole of x is, takes the supernodes on their paths to
 *   the root only, and so does what a change of the right-hand side there adds. Subtrees that hold such
 *   vertices are not sealed to them.
 */
#ifndef PL_TRIANGULAR_H
#define PL_TRIANGULAR_H

#include "linalg/triangular_plan.h"

/* Of a part at work, and of the top. */
typedef struct pl_part_scratch {
    double *outside;  /* [top_count] what the part subtracts from columns of the top */
    float *own, *all; /* of the supernode at work: its columns, its rows */
    float *sums;      /* [widest, 8] */
} pl_part_scratch;

typedef struct pl_triangular {
    pl_context *ctx;
    const pl_triangular_plan *plan;
    float *scale;          /* [n / 3] s of each vertex */
    float *single;         /* the supernodes' panels, */
    pl_half *half;         /* in half precision; NULL where that is not worth it or not to be had, */
    bool halved;           /* and solves read it */
    float *border_value;   /* [borders, 9] s A s, the inside vertex' row first */
    bool *on_path;         /* [count] of the focus, */
    bool closed;           /* and no vertices but the focus on it; */
    bool *open;            /* [sealed_count] the focus is inside */
    double *x, *y;         /* [n] in the factor's order */
    double *storage;       /* of the parts' scratch, */
    pl_part_scratch *work; /* [part_count + 1] the last the top's */
    float *panels;         /* [threads, 2, largest] a supernode on its way into the factor */
    float *pieces;         /* [PL_PIECES, widest + 4, 1 + 8] a product with a large one, by pieces */
    size_t piece;          /* values of each */
} pl_triangular;

#define PL_PIECES 4 /* of a large supernode */

/* For factors of this plan, which must live as long. */
pl_status pl_triangular_create(pl_context *ctx, const pl_triangular_plan *plan, pl_triangular *out);
void pl_triangular_free(pl_triangular *t);

/* Takes s from the diagonal of blocks [nnz, 9], and A_21 of the sealed subtrees: before they are
 * factored. */
void pl_triangular_take(pl_triangular *t, const pl_pattern *pattern, const double *blocks);

int pl_triangular_threads(const pl_triangular *t);
/* [2, largest] of one of our threads. */
float *pl_triangular_scratch(const pl_triangular *t, int thread);
/* Takes supernode k in half precision, where that is kept, from its panel. */
void pl_triangular_halve(pl_triangular *t, int k, int threads);
/* Takes all of a factor of A in double precision. */
void pl_triangular_round(pl_triangular *t, const double *value);

/* x = A^-1 b in the original numbering, [n] each; may be the same array. */
void pl_triangular_solve(pl_triangular *t, const double *b, double *x);

/* The vertices (of three unknowns each) whose x is wanted early. */
void pl_triangular_focus(pl_triangular *t, int count, const int *vertices);
/* x = A^-1 b at the focus, elsewhere untouched. */
void pl_triangular_begin(pl_triangular *t, const double *b, double *x);
/* x = A^-1 (b + change) everywhere, for the b of the last begin and a change at the focus only. Where x
 * at the focus is `known` already (or NULL) and the focus alone is on its paths, those are not read. */
void pl_triangular_end(pl_triangular *t, const double *change, const double *known, double *x);

#endif
