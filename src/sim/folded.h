/*
 * Contact by springs in the factor (fold.h), for contacts of single vertices with obstacles, one each:
 * no matrix between contacts is made, whatever their number.
 *
 * A contact's unknown is z = delta - rho lambda. The law tells delta(z) and lambda(z), both positive
 * and on the law to the last digit (pl_law_meet), so that Newton's method on
 *
 *     E m - h^2 H^T lambda(z) = -r,        gap(q + m) = delta(z)
 *
 * meets no boundary. With c = gap - delta(z) and K = -d lambda/d delta along the law
 *
 *     (E + h^2 H^T K H) dm = -r' - h^2 H^T K c
 *     h^2 dlambda = H (r' + E dm),    dz = H dm + c - rho dlambda
 *
 * where K is no more than STIFFEST/rho: what is stiffer moves as little. The force is what balance asks
 * for, not -K (H dm + c), which has no digits left.
 */
#ifndef PL_FOLDED_H
#define PL_FOLDED_H

#include "sim/newton.h"

/* Whether the present contacts are to be solved for in this way. */
bool pl_folded_suits(const pl_solver *solver);
/* Whether the factor in use has their springs, or nearly so. */
pl_status pl_folded_fits(pl_newton *s, bool *fits);
/* Springs of the next factor as the law has them at the iterate; none if it does not suit. */
pl_status pl_folded_springs(pl_newton *s);
/* Laws of the present contacts, for the factor in use. */
pl_status pl_folded_prepare(pl_newton *s);
/* The factor's frames turned to theirs. */
void pl_folded_turn(pl_solver *solver);
/* The move at q and the contacts' forces, for the residual there; law residuals below `goal` (m) will
 * do, 0 = all digits. */
pl_status pl_folded_move(pl_newton *s, const double *q, double goal, double *move,
                         pl_contact_solution *out);
/* As pl_coupled_newton. */
pl_status pl_folded_newton(pl_solver *s, const pl_substep *sub, const double *q, const double *move,
                           bool secant, double accuracy, int limit, double *step, pl_truncated *out);

#endif
