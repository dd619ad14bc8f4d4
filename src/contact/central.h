/*
 * The contact law by its central path, for where Newton's method on the Fischer-Burmeister form fails:
 * where contacts are redundant (W singular), and where friction decides between many of them. The law
 * with a number tau instead of eps^2,
 *
 *     delta_n lambda_n = tau
 *     mu lambda_n delta_f + x_hat lambda_f = 0        x_hat = delta_n/mu + |delta_f|
 *
 * is easy where tau is large, and from there a curve of solutions leads down to eps^2. Coulomb's law
 * not being monotone, it may turn back on the way: tau has to grow again for a while, and whoever only
 * lets it fall is stuck. So it is followed by its length. Its points are told by u = delta - rho lambda
 * and sigma = sqrt(tau). Every u is a point of the law (pl_law_at), so that nothing has to be kept
 * positive; what is left is
 *
 *     delta(u, sigma) - b - W (lambda(u, sigma) - origin) = 0
 *
 * Which way along the curve leads to eps^2 tells the sign of det S: it changes where the curve turns
 * back.
 *
 * Any point can be its start: what the equation lacks there is made part of it, to vanish with tau.
 */
#ifndef PL_CENTRAL_H
#define PL_CENTRAL_H

#include "contact/system.h"

typedef struct pl_path {
    pl_context *ctx;
    pl_contact_system *system; /* its LU is overwritten */
    const pl_coupling *on;     /* m contacts */
    const double *b;           /* [3 m] delta at lambda = origin, m */
    const double *origin;      /* [3 m] N */
    pl_law_linear *linear;     /* [m] overwritten */
    int iterations;            /* LUs made so far */
} pl_path;

typedef struct pl_central {
    int capacity;
    double *u, *to;           /* [3 m] the point, and the one after it, m */
    double *delta, *lambda;   /* [3 m] of the law where it was last evaluated, m, N, */
    pl_law_bend *bend, *base; /* [m] and how it bends there; and at the point */
    double *off;              /* [3 m] what the equation lacks, m: */
    double *pull;             /* [3 m] beyond this times tau - eps^2, which lets it start at u = 0 */
    double *correction;       /* [3 m] Newton's, at constant sigma */
    double *along;            /* [3 m] du/dsigma */
    double *tangent;          /* [3 m] the direction of a step */
    double *rhs, *forces;     /* [3 m] */
} pl_central;

pl_status pl_central_reserve(pl_context *ctx, pl_central *c, int m);
void pl_central_free(pl_context *ctx, pl_central *c);

/* True when c->lambda [3 m] meets the law at eps^2 to some digits. Forces `guess` [3 m] N that are
 * about right, as those of an earlier correction of the step, make a shorter path. */
bool pl_central_solve(pl_path *path, pl_central *c, const double *guess);

#endif
