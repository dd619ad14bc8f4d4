/*
 * An approximate inverse of S = D_lambda + D_delta W, or of its transpose, in as few unknowns as the
 * contacts need, in single precision.
 *
 * A row of the law with D_delta W << D_lambda hardly hears of other contacts: it is weak, and keeps of
 * W only its own contact's block. So are the tangential rows of a contact that slips fast, and all of
 * one that is open. With T of a contact the weak rows of D_lambda + D_delta W_cc, completed to a basis,
 * and X = T^-1 = [X_s X_w],
 *
 *     lambda = X_w g_w + X_s t,    R t = g_s - A g_w,    [R A] = (D_lambda + D_delta W)_s [X_s X_w],
 *
 *     transposed:   R^T w_s = X_s^T g,    w_w = X_w^T g - A^T w_s.
 *
 * What is left is an LU of the strong rows: 650 instead of 1950 for a block of 650 contacts that
 * slides.
 */
#ifndef PL_SCHUR_H
#define PL_SCHUR_H

#include "contact/law.h"

typedef struct pl_schur {
    int capacity;      /* contacts there is room for */
    int count;         /* contacts of the S in use; 0 = none */
    int size;          /* rows that are strong */
    int *place;        /* [m, 3] a row's place among them; of a weak one -1 - its place among those */
    float *basis;      /* [m, 9] X of each contact, a column for each row */
    float *lu;         /* [size, size] R, row-major; its LU is that of the transpose */
    float *across;     /* [size, 3 m - size] A, row-major */
    int *pivot;        /* [size] */
    float *rhs, *held; /* [size], [3 m - size] */
} pl_schur;

pl_status pl_schur_reserve(pl_context *ctx, pl_schur *s, int m);
void pl_schur_free(pl_context *ctx, pl_schur *s);

/* The law's derivatives `linear` [m] and W [3 m, 3 m], row-major. Rows with D_delta W_cc below `weak`
 * of D_lambda are weak. s->count is 0 afterwards when the LU is singular. */
void pl_schur_factor(pl_context *ctx, pl_schur *s, int m, const pl_law_linear *linear, const float *w,
                     double weak);
/* y = S^-1 x or S^-T x nearly, [3 m] each; may be the same array. */
void pl_schur_solve(pl_schur *s, bool transposed, const double *x, double *y);
/* Products with W and solves that cost as much as the factor in use did. */
double pl_schur_price(const pl_schur *s);

#endif
