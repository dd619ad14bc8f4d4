/*
 * Preconditioners of the linearised step (adjoint/linear.h): the same system with another matrix E^ in
 * place of E, solved exactly through contact space (Woodbury, lagged factor), or its block diagonal.
 */
#ifndef PL_PRECONDITION_H
#define PL_PRECONDITION_H

#include "adjoint/linear.h"

/* The exact tangent into sim->tangent and, as the kind wants, a factor, W and the LU of S. */
pl_status pl_precondition_setup(pl_linear *l);
/* A fresh factor at the present solution. */
pl_status pl_precondition_refresh(pl_linear *l);
/* The LU of S in double precision, for this substep. */
pl_status pl_precondition_widen(pl_linear *l);
/* Iterations that cost as much as a new factor. */
double pl_precondition_price(const pl_linear *l);
/* The nearest motion and w (adjoint: the motion) that meet row x of contact c, and the force f that w
 * is. */
void pl_precondition_meet(const pl_linear *l, int c, const double *x, double *w, double *motion,
                          double *f);
/* y = P^-1 x for a pl_linear `user`. */
pl_status pl_precondition_apply(void *user, const double *x, double *y);

#endif
