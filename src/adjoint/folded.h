/*
 * The preconditioner with contacts folded into the factor (sim/fold.h), where each is a vertex' only
 * one. With b the contact rows, K at most as stiff as springs are and M = E + h^2 H^T K H without what
 * of K is not symmetric,
 *
 *     adjoint    M x = a - H^T K^T rho b,          Dl^T w = rho b + h^2 H x,        Dd^T w = H (a - E
 * x) tangent    M x = a + H^T Dl^-1 rho b,        Dl w = rho b/h^2 - Dd H x,       Dd w = Dd H (E x -
 * a)/h^2
 *
 * The last of these is balance, which tells the w of contacts that hold; the one before it tells the w
 * of others.
 */
#ifndef PL_ADJOINT_FOLDED_H
#define PL_ADJOINT_FOLDED_H

#include "adjoint/linear.h"

/* Whether the substep's contacts are to be springs. */
bool pl_linear_folds(const pl_linear *l);
/* Springs of the next factor, if so. */
pl_status pl_linear_fold(pl_linear *l);
/* y = P^-1 x */
pl_status pl_linear_apply_folded(pl_linear *l, const double *x, double *y);

#endif
