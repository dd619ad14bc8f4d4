/*
 * An approximate inverse of S = D_lambda + D_delta W for many contacts, in single precision.
 *
 * The tangential force of a slipping contact follows from its own normal force: its two equations
 * hardly depend on how the others move. They are eliminated contact by contact, with the contact's own
 * block of W alone, and what is left is an LU of one unknown for each slipping contact and three for
 * each other. A block of 650 contacts that slides costs an LU of 650 rows instead of 1950.
 */
#ifndef PL_SCHUR_H
#define PL_SCHUR_H

#include "contact/law.h"

typedef struct pl_schur {
    int capacity;      /* contacts there is room for */
    int count;         /* contacts of the S in use; 0 = none */
    int size, slips;   /* unknowns of the LU, slipping contacts */
    int *first;        /* [m] a contact's first unknown */
    int *slip;         /* [m] its number among the slipping ones, or -1 */
    float *tangent;    /* [slips, 2, 2] T^-1, T = the tangential block of D_lambda + D_delta W_cc */
    float *follow;     /* [slips, 2] T^-1 times the column of the normal force */
    float *lu;         /* [size, size] row-major; its LU is that of the transpose */
    float *across;     /* [size, 2 slips] row-major: equations left by tangential forces eliminated */
    int *pivot;        /* [size] */
    float *rhs, *held; /* [size], [2 slips] */
} pl_schur;

pl_status pl_schur_reserve(pl_context *ctx, pl_schur *s, int m);
void pl_schur_free(pl_context *ctx, pl_schur *s);

/* The law's derivatives `linear` [m] and W [3 m, 3 m], row-major. s->count is 0 afterwards when the LU
 * is singular. */
void pl_schur_factor(pl_context *ctx, pl_schur *s, int m, const pl_law *laws,
                     const pl_law_linear *linear, const float *w);
/* y = S^-1 x nearly, [3 m] each; may be the same array. */
void pl_schur_solve(pl_schur *s, const double *x, double *y);
/* Products with W and solves that cost as much as the factor in use did. */
double pl_schur_patience(const pl_schur *s);

#endif
