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

#include "linalg/panel.h"
#include "linalg/sparse.h"

typedef struct pl_part {
    int begin, end;   /* supernodes [begin, end): with all their descendants, */
    double values;    /* of so many values */
    double *outside;  /* [top_count] what the part subtracts from columns of the top */
    float *own, *all; /* of the supernode at work: its columns, its rows */
    float *sums;      /* [widest, 8] */
} pl_part;

/* A 3x3 block of s A s between a vertex inside a sealed subtree and one outside. */
typedef struct pl_border {
    int inside, outside; /* their first columns, */
    int block;           /* and where A has it, in the row of the one inside */
} pl_border;

typedef struct pl_sealed {
    int begin, end;               /* supernodes */
    int border_begin, border_end; /* its blocks of A_21 */
    bool open;                    /* the focus is inside */
} pl_sealed;

typedef struct pl_triangular {
    pl_context *ctx;
    int n, count, part_count;
    pl_part *parts;  /* [part_count + 1], the last for the top: everything else */
    bool *in_part;   /* [count] */
    int *super_of;   /* [n] the supernode of a column */
    int *place;      /* [n] where an unknown is */
    float *scale;    /* [n / 3] s of each vertex */
    int top_count;   /* columns of the top */
    int *top_of;     /* [n] a column's number among them, */
    int *top_column; /* [top_count] and back */
    bool *on_path;   /* [count] of the focus, */
    bool closed;     /* and no vertices but the focus on it */
    double *x, *y;   /* [n] in the factor's order */
    double *storage; /* of the parts */
    size_t entries;
    const struct pl_backend *backend;
    int *triple;       /* first rows of the vertices below each supernode, */
    int *triple_from;  /* [count + 1] where they begin */
    float *single;     /* each supernode's panel, */
    size_t *single_at; /* [count + 1] where it begins; */
    pl_half *half;   /* the same in half precision; NULL where that is not worth it or not to be had, */
    size_t *half_at; /* [count + 1] */
    int *kept;       /* [count] with so many of its rows below; */
    bool halved;     /* solves read it */
    int sealed_count;
    pl_sealed *sealed;
    int *sealed_by; /* [count] or -1 */
    pl_border *border;
    float *border_value; /* [borders, 9] s A s, the inside vertex' row first */
    size_t largest;      /* values of the largest supernode */
    float *panels;       /* [threads, 2, largest] one on its way there */
    float *pieces;       /* [PL_PIECES, widest + 4, 1 + 8] a product with a large one, by pieces */
    size_t piece;        /* values of each */
} pl_triangular;

#define PL_PIECES 4 /* of a large supernode */

/* For an analysed factor, with this many values, of a matrix of this pattern. */
pl_status pl_triangular_create(pl_context *ctx, const pl_pattern *pattern, const pl_supernodes *l,
                               size_t entries, pl_triangular *out);
void pl_triangular_free(pl_triangular *t);

/* Takes s from the diagonal of blocks [nnz, 9], and A_21 of the sealed subtrees: before they are
 * factored. */
void pl_triangular_take(pl_triangular *t, const pl_pattern *pattern, const pl_supernodes *l,
                        const double *blocks);

/* The supernode of the first row below, in the tree of elimination k's parent; -1 for a root. */
int pl_triangular_parent(const pl_triangular *t, const pl_supernodes *l, int k);
int pl_triangular_threads(const pl_triangular *t);
/* [2, largest] of one of our threads. */
float *pl_triangular_scratch(const pl_triangular *t, int thread);
/* Takes supernode k, [L11; L21] column-major, from the first half of a scratch; uses the second. */
void pl_triangular_store(pl_triangular *t, const pl_supernodes *l, int k, int threads, float *scratch);
/* Takes all of a factor of A in double precision. */
void pl_triangular_round(pl_triangular *t, const pl_supernodes *l, const double *value);

/* x = A^-1 b in the original numbering, [n] each; may be the same array. */
void pl_triangular_solve(pl_triangular *t, const pl_supernodes *l, const double *b, double *x);

/* The vertices (of three unknowns each) whose x is wanted early. */
void pl_triangular_focus(pl_triangular *t, const pl_supernodes *l, int count, const int *vertices);
/* x = A^-1 b at the focus, elsewhere untouched. */
void pl_triangular_begin(pl_triangular *t, const pl_supernodes *l, const double *b, double *x);
/* x = A^-1 (b + change) everywhere, for the b of the last begin and a change at the focus only. Where x
 * at the focus is `known` already (or NULL) and the focus alone is on its paths, those are not read. */
void pl_triangular_end(pl_triangular *t, const pl_supernodes *l, const double *change,
                       const double *known, double *x);

#endif
