/*
 * An approximate inverse of S = D_lambda + D_delta W for many contacts most of which stick, in single
 * precision.
 *
 * With P = W^-1 and the motion z = W x as the unknown, S x = g is
 *
 *     (D_delta + D_lambda P) z = g,    x = P z,
 *
 *     transposed, S^T x = g:   (D_delta + D_lambda P)^T x = P g,
 *
 * the same system with motions for forces (schur.h). Where D_lambda P << D_delta a contact moves as its
 * law tells it to, whatever the others do: the row is firm, all of them where it sticks and the normal
 * one where it slides. What is left is an LU of the loose rows.
 *
 * P stays while contacts do (delassus.h), so that from step to step only that LU is made anew: of a
 * block of 650 contacts come to rest some 20 to 90 rows, and 300 to 900 while it does so, when few of
 * the 1950 are weak.
 */
#ifndef PL_FIRM_H
#define PL_FIRM_H

#include "contact/schur.h"
#include "linalg/symmetric.h"

typedef struct pl_firm {
    int capacity;           /* contacts there is room for */
    pl_law_linear *swapped; /* [m] D_lambda for D_delta and the other way round */
    pl_schur moves;         /* D_delta + D_lambda P */
    float *motion, *force;  /* [3 m] z or g, and P times it */
    double *work;           /* [3 m] */
} pl_firm;

pl_status pl_firm_reserve(pl_context *ctx, pl_firm *f, int m);
void pl_firm_free(pl_context *ctx, pl_firm *f);

/* Whether the m contacts with these derivatives have so many firm rows that this LU is the smaller one.
 * rho [m]: of each the mean of its diagonal of W. `give` is to a firm row what `weak` is to a weak one:
 * how much it may hear of other contacts. */
bool pl_firm_suits(int m, const double *rho, const pl_law_linear *linear, double give, double weak);
/* For these derivatives and P [3 m, 3 m]; false when the LU is singular. */
bool pl_firm_factor(pl_context *ctx, pl_firm *f, int m, const float *p, const pl_law_linear *linear,
                    double give);
/* y = S^-1 x or S^-T x nearly, [3 m] each; may be the same array. `product` multiplies by P. If not
 * transposed f->motion is W y afterwards. */
void pl_firm_solve(pl_context *ctx, pl_firm *f, pl_symmetric *product, bool transposed, const double *x,
                   double *y);

#endif
