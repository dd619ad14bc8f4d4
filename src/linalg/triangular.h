/*
 * Triangular solves with a supernodal Cholesky factor P A P^T = L L^T.
 *
 * They read the factor once each way and are bound by memory, hence three economies:
 * - single precision: corrections of an iteration may be 1e-6 off, which changes how fast it converges,
 *   never what it converges to. Its values are in the order in which the kernels read them, without the
 *   zeros above the diagonal;
 * - parts: subtrees of the elimination tree that need nothing of each other are solved by different
 *   threads. Which parts there are depends on the factor alone, so results do not on the threads;
 * - a focus: x at few vertices, wanted before the whole of x is, takes the supernodes on their paths to
 *   the root only, and so does what a change of the right-hand side there adds. These are always in
 *   double precision.
 */
#ifndef PL_TRIANGULAR_H
#define PL_TRIANGULAR_H

#include "core/core.h"

/* A supernodal factor as CHOLMOD lays it out, borrowed. */
typedef struct pl_supernodes {
    int n;               /* unknowns */
    int count;           /* supernodes, children before parents */
    const int *first;    /* [count + 1] first column of each */
    const int *begin;    /* [count + 1] where its rows start in `row` */
    const int *at;       /* [count + 1] where its values start */
    const int *row;      /* rows of each supernode, its own columns first */
    const int *order;    /* [n] the unknown that is at each place */
    const double *value; /* column-major, as many rows as the supernode has */
} pl_supernodes;

typedef struct pl_part {
    int begin, end;   /* supernodes [begin, end): with all their descendants */
    double *outside;  /* [top_count] what the part subtracts from columns of the top */
    double *gathered; /* [height] of the tallest supernode: scratch in double precision, */
    float *own, *all; /* and in single: its columns, its rows */
    float *sums;      /* [widest, 8] */
} pl_part;

typedef struct pl_triangular {
    pl_context *ctx;
    int n, count, part_count;
    pl_part *parts;  /* [part_count + 1], the last for the top: everything else */
    bool *in_part;   /* [count] */
    int *super_of;   /* [n] the supernode of a column */
    int *place;      /* [n] where an unknown is */
    int top_count;   /* columns of the top */
    int *top_of;     /* [n] a column's number among them, */
    int *top_column; /* [top_count] and back */
    bool *on_path;   /* [count] of the focus */
    double *x, *y;   /* [n] in the factor's order */
    double *storage; /* of the parts */
    size_t entries;
    const struct pl_backend *backend;
    int *triple;       /* first rows of the vertices below each supernode, */
    int *triple_from;  /* [count + 1] where they begin */
    float *single;     /* each supernode as [L11^-1; L21 L11^-1] in strips (backend.h), */
    size_t *single_at; /* [count + 1] where it begins */
    size_t largest;    /* values of the largest supernode */
    float *rounding;   /* [ROUNDERS, largest] a supernode on its way there */
} pl_triangular;

/* For an analysed factor with this many values. */
pl_status pl_triangular_create(pl_context *ctx, const pl_supernodes *l, size_t entries,
                               pl_triangular *out);
void pl_triangular_free(pl_triangular *t);
/* Makes the single-precision form of a new factorisation's values. */
void pl_triangular_round(pl_triangular *t, const pl_supernodes *l);

/* x = A^-1 b in the original numbering, [n] each; may be the same array. `exact`: all in double. */
void pl_triangular_solve(pl_triangular *t, const pl_supernodes *l, bool exact, const double *b,
                         double *x);

/* The vertices (of three unknowns each) whose x is wanted early. */
void pl_triangular_focus(pl_triangular *t, const pl_supernodes *l, int count, const int *vertices);
/* x = A^-1 b at the focus, elsewhere untouched. */
void pl_triangular_begin(pl_triangular *t, const pl_supernodes *l, const double *b, double *x);
/* x = A^-1 (b + change) everywhere, for the b of the last begin and a change at the focus only. */
void pl_triangular_end(pl_triangular *t, const pl_supernodes *l, const double *change, double *x);

#endif
