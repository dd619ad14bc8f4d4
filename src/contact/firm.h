/*
 * An approximate inverse of S = D_lambda + D_delta W for many contacts most of which stick, in single
 * precision.
 *
 * A firm contact moves as its law tells it to, whatever its force: D_lambda is next to nothing there.
 * With P = W^-1 and the motion z = W x as the unknown, S x = g falls apart into
 *
 *     D_delta z = g                                          of each firm contact by itself,
 *     (D_delta + D_lambda P_ll) z_l = g_l - D_lambda P_lf z_f   of the others, which are loose,
 *     x = P z.
 *
 * transposed, S^T x = g: (D_delta^T + P_ll D_lambda^T) x_l = (P g)_l, and D_delta^T x = P (g -
 * D_lambda^T x_l) of each firm contact.
 *
 * P stays while contacts do (delassus.h), so that from step to step only an LU of the loose ones is
 * made anew: of a block of 650 contacts come to rest some 20 to 150.
 */
#ifndef PL_FIRM_H
#define PL_FIRM_H

#include "contact/law.h"
#include "linalg/symmetric.h"

typedef struct pl_firm {
    int capacity;       /* contacts there is room for */
    int count;          /* of the S in use: contacts */
    int loose_count;    /* and how many are loose */
    int *loose;         /* [m] contacts: the loose ones first, then the firm ones */
    float *direct;      /* [m, 9] D_delta^-1 of the firm contacts, D_lambda of the others */
    float *lu;          /* [3 loose, 3 loose] row-major; its LU is that of the transpose */
    int *pivot;         /* [3 loose] */
    float *motion;      /* [3 m] z, or g */
    float *rhs, *force; /* [3 loose], [3 m] */
} pl_firm;

pl_status pl_firm_reserve(pl_context *ctx, pl_firm *f, int m);
void pl_firm_free(pl_context *ctx, pl_firm *f);

/* Whether so many of the m contacts with these derivatives are firm that all this pays. rho [m]: of
 * each the mean of its diagonal of W; p: W^-1 [3 m, 3 m]. */
bool pl_firm_suits(int m, const double *rho, const pl_law_linear *linear);
/* For these derivatives; false when the loose part is singular. */
bool pl_firm_factor(pl_context *ctx, pl_firm *f, int m, const double *rho, const float *p,
                    const pl_law_linear *linear);
/* y = S^-1 x or S^-T x nearly, [3 m] each; may be the same array. `product` multiplies by p. */
void pl_firm_solve(pl_context *ctx, pl_firm *f, const float *p, pl_symmetric *product, bool transposed,
                   const double *x, double *y);

#endif
