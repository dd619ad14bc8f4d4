/*
 * Triangular solves with a supernodal Cholesky factor P s A s P^T = L L^T, in single or half precision:
 * corrections of an iteration may be 1e-6 or 1e-3 off, which changes how fast it converges, never what
 * it converges to. s scales each vertex such that A's diagonal is near 1, so that L has no unit and
 * fits the range of half precision; powers of two, so that it rounds nothing.
 *
 * They read the factor once each way and are bound by memory, hence four economies:
 * - half precision, where it is good enough (pl_chol_factor_rough finds out);
 * - a supernode [L11; L21] is kept as [L11^-1; L21 L11^-1], in the order in which the kernels read it
 * and without the zeros above the diagonal: one product each way instead of a triangular solve, which
 * is short and slow, and a product;
 * - parts: subtrees of the elimination tree that need nothing of each other are solved by different
 *   threads, and so are pieces of the large supernodes at the top. Which parts and pieces there are
 *   depends on the factor alone, so results do not on the threads;
 * - a focus: x at few vertices, wanted before the whole of x is, takes the supernodes on their paths to
 *   the root only, and so does what a change of the right-hand side there adds.
 */
#ifndef PL_TRIANGULAR_H
#define PL_TRIANGULAR_H

#include "linalg/sparse.h"
#include "linalg/supernodes.h"

/* One supernode: its diagonal block and the rows below. */
typedef struct pl_panel {
    int columns, below, height;
    int first;      /* column */
    const int *row; /* of the rows below */
} pl_panel;

typedef struct pl_part {
    int begin, end;   /* supernodes [begin, end): with all their descendants, */
    double values;    /* of so many values */
    double *outside;  /* [top_count] what the part subtracts from columns of the top */
    float *own, *all; /* of the supernode at work: its columns, its rows */
    float *sums;      /* [widest, 8] */
} pl_part;

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
    float *single;     /* each supernode as [L11^-1; L21 L11^-1] in strips (backend.h), */
    size_t *single_at; /* [count + 1] where it begins; */
    uint16_t *half; /* the same in half precision; NULL where that is not worth it or not to be had */
    bool halved;    /* solves read it */
    size_t largest; /* values of the largest supernode */
    float *panels;  /* [threads, 2, largest] one on its way there */
    float *pieces;  /* [PIECES, widest + 4, 1 + 8] a product with a large one, by pieces */
    size_t piece;   /* values of each */
} pl_triangular;

static inline int pl_smaller(int a, int b)
{
    return a < b ? a : b;
}

/* For an analysed factor with this many values. */
pl_status pl_triangular_create(pl_context *ctx, const pl_supernodes *l, size_t entries,
                               pl_triangular *out);
void pl_triangular_free(pl_triangular *t);

/* Takes s from the diagonal of blocks [nnz, 9], before they are factored. */
void pl_triangular_scale(pl_triangular *t, const pl_pattern *pattern, const double *blocks);

pl_panel pl_triangular_panel(const pl_supernodes *l, int k);
/* The supernode of the first row below, in the tree of elimination k's parent; -1 for a root. */
int pl_triangular_parent(const pl_triangular *t, const pl_supernodes *l, int k);
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
