/*
 * Parts of A^-1 from a factor as pl_triangular keeps it, in single precision, as that is.
 */
#ifndef PL_INVERSE_H
#define PL_INVERSE_H

#include "linalg/triangular.h"

/* Scratch, made when it is first needed. */
typedef struct pl_inverse {
    float *columns;  /* [n, WIDTH] columns being solved for, in the factor's order, */
    float *rows;     /* [tallest, WIDTH] and those of one supernode */
    int *number;     /* [n] a column's number among the unknowns eliminated last, or -1, */
    int *given;      /* [size] and where the caller has it */
    float *dense;    /* [size, size] A^-1 between them */
    float *gathered; /* [size, size] a part of it */
} pl_inverse;

void pl_inverse_free(pl_context *ctx, pl_inverse *v);

/* out[3 i + r][3 j + c] = (A^-1) at (3 rows[i] + r, 3 cols[j] + c), row-major with ld columns, by
 * solves along the paths from these vertices to the root. Changes the focus. */
pl_status pl_inverse_block(pl_inverse *v, pl_triangular *t, const pl_supernodes *l, int row_count,
                           const int *rows, int col_count, const int *cols, float *out, int ld);

/* The same between the vertices eliminated last, from their supernodes alone: going down from the root,
 * with R the rows below a supernode 1, 2 all that come after it, X = L11^-1 and Y = L21 X,
 *
 *     G_21 = -G_2R Y,    G_11 = X^T X - Y^T G_R1.
 */
pl_status pl_inverse_last(pl_inverse *v, const pl_triangular *t, const pl_supernodes *l, int last_count,
                          const int *last, float *out, int ld);

#endif
