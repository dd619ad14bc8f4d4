/*
 * Parts of A^-1 from a factor as pl_triangular keeps it, in single precision, as that is.
 */
#ifndef PL_INVERSE_H
#define PL_INVERSE_H

#include "linalg/triangular.h"

/* Where the unknowns eliminated last are. Constant, so that any number of factors share it. */
typedef struct pl_inverse_plan {
    int last_count;
    const int *last; /* [last_count] the vertices, in the order given; borrowed */
    int size;        /* columns of the supernodes that begin with one of their unknowns. Where CHOLMOD
                        amalgamates, others can stand among these */
    int *number;     /* [n] a column's number among them, or -1, */
    int *given;      /* [size] and where the caller has it, or -1 */
} pl_inverse_plan;

pl_status pl_inverse_plan_create(pl_context *ctx, const pl_supernodes *l, int last_count,
                                 const int *last, pl_inverse_plan *out);
void pl_inverse_plan_free(pl_context *ctx, pl_inverse_plan *plan);

/* Scratch, made when it is first needed. */
typedef struct pl_inverse {
    float *columns;  /* [n, WIDTH] columns being solved for, in the factor's order, */
    float *rows;     /* [tallest, WIDTH] and those of one supernode */
    float *dense;    /* [size, size] A^-1 between the columns that the plan numbers */
    float *gathered; /* [size, size] a part of it */
} pl_inverse;

void pl_inverse_free(pl_context *ctx, pl_inverse *v);

/* out[3 i + r][3 j + c] = (A^-1) at (3 rows[i] + r, 3 cols[j] + c), row-major with ld columns, by
 * solves along the paths from these vertices to the root. Changes the focus. */
pl_status pl_inverse_block(pl_inverse *v, pl_triangular *t, int row_count, const int *rows,
                           int col_count, const int *cols, float *out, int ld);

/* The same between the vertices eliminated last, from their supernodes alone: going down from the root,
 * with R the rows below a supernode 1, 2 all that come after it, X = L11^-1 and Y = L21 X,
 *
 *     G_21 = -G_2R Y,    G_11 = X^T X - Y^T G_R1.
 */
pl_status pl_inverse_last(pl_inverse *v, const pl_inverse_plan *plan, const pl_triangular *t,
                          float *out, int ld);

#endif
