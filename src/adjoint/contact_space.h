/*
 * The preconditioner's solves in contact space, S = Dl + Dd W (adjoint/linear.h) or its transpose, in
 * as few unknowns as the contacts need: three that stick, two that slide, one without friction, none
 * that is open.
 *
 * W <= h^2 H M^-1 H^T, so a row of the law with Dd rho << Dl hardly hears of other contacts: it is
 * weak, and keeps of W only its own contact's block. With L the weak rows of Dl_c + Dd_c W_cc of a
 * contact and X = [X_s X_w] = T^-1, T those rows completed to a basis,
 *
 *     lambda = X_w g_w + X_s t,     R t = g_s - (Dl + Dd W)_s X_w g_w,    R = (Dl + Dd W)_s X_s
 *     transposed:   R^T w_s = X_s^T g,     w_w = X_w^T (g - (Dl + Dd W)_s^T w_s)
 *
 * What is left out of weak rows is no more than single precision, in which all this is, leaves out
 * anyway. It need not be exact: the contact rows are met to the last digit afterwards (precondition.c).
 */
#ifndef PL_CONTACT_SPACE_H
#define PL_CONTACT_SPACE_H

#include "contact/law.h"

typedef struct pl_contact_space {
    int capacity;           /* contacts there is room for */
    int count;              /* m contacts, */
    int size;               /* rows that are strong */
    int *place;             /* [m, 3] a row's place among them, or -1 */
    double *basis;          /* [m, 9] X of each contact, a column for each row */
    size_t room;            /* entries there is room for in */
    float *matrix;          /* [size, size] LU of R, row-major (LAPACK sees R^T) */
    int *pivot;             /* [3 m] */
    float *reduced;         /* [3 m] */
    double *vector, *image; /* [3 m] */
    float *narrow;          /* [2, 3 m] the same for a product */
} pl_contact_space;

void pl_contact_space_free(pl_context *ctx, pl_contact_space *s);

/* For m contacts with these derivatives, rho [m] (m/N) of theirs and w [3 m, 3 m]. *singular when R is:
 * solves are then not to be asked for. */
pl_status pl_contact_space_factor(pl_context *ctx, pl_contact_space *s, int m,
                                  const pl_law_linear *laws, const double *rho, const float *w,
                                  bool *singular);

/* x [3 m] <- S^-1 x, or S^-T x, as nearly as said above; with what the factor was made of. */
void pl_contact_space_solve(pl_context *ctx, pl_contact_space *s, const pl_law_linear *laws,
                            const float *w, bool transposed, double *x);

#endif
