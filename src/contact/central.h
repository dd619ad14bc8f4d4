/*
 * The contact law by its central path, for where Newton's method on the Fischer-Burmeister form fails:
 * where contacts are redundant (W singular), and where friction decides between many of them. The law
 * as bilinear equations,
 *
 *     delta_n lambda_n = tau
 *     mu lambda_n delta_f + x_hat lambda_f = 0        x_hat = delta_n/mu + |delta_f|
 *
 * is that of law.h for tau = eps^2 (x_hat s = eps^2 follows). An interior-point method goes down to it
 * from a large tau. delta is an unknown beside lambda: delta = b + W (lambda - origin) need only hold
 * in the end, so that both can stay within their cones all the way.
 */
#ifndef PL_CENTRAL_H
#define PL_CENTRAL_H

#include "contact/system.h"

typedef struct pl_central {
    int capacity;
    double *delta, *lambda;             /* [3 m] the point; delta with what gives (law.h), m, N */
    double *off;                        /* [3 m] delta - b - W (lambda - origin), m */
    double *ahead_delta, *ahead_lambda; /* [3 m] the step for tau = 0, */
    double *step_delta, *step_lambda;   /* [3 m] the one to take, */
    double *other_delta, *other_lambda; /* [3 m] and another to compare it with */
    double *trial_delta, *trial_lambda; /* [3 m] where it leads */
    double *rhs, *moved;                /* [3 m] */
} pl_central;

pl_status pl_central_reserve(pl_context *ctx, pl_central *c, int m);
void pl_central_free(pl_context *ctx, pl_central *c);

/* From b [3 m], delta at lambda = origin [3 m]; true when c->lambda meets the law to six digits or so.
 * Adds to *iterations. Overwrites linear [m] and the system's LU. */
bool pl_central_solve(pl_context *ctx, pl_central *c, pl_contact_system *system, const pl_coupling *on,
                      const double *b, const double *origin, pl_law_linear *linear, int *iterations);

#endif
