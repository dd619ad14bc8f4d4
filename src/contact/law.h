/*
 * The smoothed Signorini-Coulomb law of one contact, in its frame (n, t1, t2).
 *
 *     (1)  delta_n lambda_n = eps^2                                 both positive
 *     (2)  x_hat s = eps^2,  x_hat = |delta_f| + delta_n/mu,  s = mu lambda_n - |lambda_f|
 *     (3)  lambda_f points against delta_f
 *
 * With mu = 0, (2) and (3) become lambda_f = 0. The forward solve finds roots of the Fischer-Burmeister
 * form; the derivative of the solution is taken from (1)-(3) themselves with the same eps.
 *
 * Something that gives has a compliance c: delta_n + c lambda_n for delta_n in (1). What holds both
 * ways has delta_n + c lambda_n = 0 instead of (1), and no friction.
 */
#ifndef PL_LAW_H
#define PL_LAW_H

#include "contact/law_kernel.h"
#include "core/core.h"

/* D_delta d(delta) + D_lambda d(lambda) = -residual, each 3x3 row-major in the contact's frame. Entries
 * of D_delta are of order 1, of D_lambda of order rho. */
typedef struct pl_law_linear {
    double residual[3]; /* m */
    double d_delta[9], d_lambda[9];
} pl_law_linear;

/* Fischer-Burmeister residual and derivative at any (delta, lambda), for Newton's method. */
void pl_law_newton(const pl_law *law, const double delta[3], const double lambda[3],
                   pl_law_linear *out);

/* The least motion and force, measured as a motion by rho, with D_delta motion + D_lambda force = r. */
void pl_law_least(const pl_law_linear *at, double rho, const double r[3], double motion[3],
                  double force[3]);

/* Where the law with tau for eps^2 has delta - rho lambda = u, with delta as in (1). It is told by u_n
 * and by a = |u_f| + delta_n/mu - rho mu lambda_n, which x_hat and s depend on, and bends where these
 * change by as much as `normal` and `friction`. */
typedef struct pl_law_bend {
    double normal, friction; /* m; infinite where nothing bends */
    double lean;             /* da/du_n at constant |u_f| */
} pl_law_bend;

void pl_law_at(const pl_law *law, double tau, const double u[3], double delta[3], double lambda[3],
               pl_law_bend *bend);
/* The law there linearised, as equations whose derivative by tau is -by_tau in the first, 0 in others:
 *
 *     delta_n lambda_n = tau,   mu lambda_n delta_f + x_hat lambda_f = 0
 */
void pl_law_along(const pl_law *law, const double delta[3], const double lambda[3], pl_law_linear *out,
                  double *by_tau);

/* How far a pair is from the law: complementarity = |delta_n lambda_n/eps^2 - 1|, and the same for (2);
 * cone = |lambda_f| - mu lambda_n in N. */
typedef struct pl_law_error {
    double complementarity, friction, cone;
} pl_law_error;

pl_law_error pl_law_check(const pl_law *law, const double delta[3], const double lambda[3]);

void pl_law_resolve(const pl_law *law, const double delta[3], const double lambda[3],
                    pl_law_point *out);

/* The pair that meets the law, one-way and without compliance, and has the same delta - rho lambda. */
void pl_law_meet(const pl_law *law, double delta[3], double lambda[3], pl_law_point *out);

/* The law linearised at a solved contact (residual = 0), for adjoint and tangent; d_mu [3] is the
 * derivative of its three equations with respect to mu. */
void pl_law_derivative(const pl_law *law, const pl_law_point *point, const double lambda[3],
                       pl_law_linear *out, double d_mu[3]);

#endif
