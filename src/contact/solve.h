/*
 * The contact law of all contacts at once in contact space:
 *
 *     law(delta_c, lambda_c) = 0 for every contact,   delta = b + W change,   lambda = origin + change
 *
 * by Newton's method on the Fischer-Burmeister form with the Jacobian S = D_lambda + D_delta W, from
 * where the central path leads (central.h) when that fails. The unknown is the change: W times the
 * rounding of lambda is more than a gap of eps^2/lambda_n has to spare. Near the answer b and change
 * are small, and so is what rounding leaves. The systems are solved by system.h.
 */
#ifndef PL_CONTACT_SOLVE_H
#define PL_CONTACT_SOLVE_H

#include "contact/central.h"
#include "contact/system.h"

typedef struct pl_contact_solver {
    int capacity; /* contacts there is room for */
    pl_contact_system system;
    double *change, *moved, *delta, *step;     /* [3 m] moved = W change */
    double *trial, *trial_moved, *trial_delta; /* [3 m] */
    double *step_moved;                        /* [3 m] W step, with many contacts */
    double *reach;                             /* [3 m] what rows of W change add up to */
    double *springs;                           /* [m, 9] K, where contacts are springs */
    pl_law_linear *linear, *trial_linear;      /* [m] */
    int solved;                                /* contacts of the solution found last; 0 = none */
    double *last_delta, *last_lambda;          /* [3 m] that solution, at which `linear` was taken */
    pl_central central;
} pl_contact_solver;

void pl_contact_solver_free(pl_context *ctx, pl_contact_solver *s);
/* Room for the vectors of m contacts. */
pl_status pl_contact_solver_reserve(pl_context *ctx, pl_contact_solver *s, int m);
/* Drops the LU kept from earlier solves. */
void pl_contact_solver_forget(pl_contact_solver *s);

typedef struct pl_contact_solution {
    bool converged;
    int iterations;
    int central;     /* of them along the central path */
    bool sharp;      /* gaps and normal forces to 5e-9, what rounding may have spoilt included */
    double residual; /* largest law residual, m */
    int worst;       /* its contact */
} pl_contact_solution;

typedef struct pl_contact_problem {
    pl_coupling on;       /* m contacts */
    const double *b;      /* [3 m] delta at lambda = origin, m */
    const double *origin; /* [3 m] N, near the answer */
    double slack;         /* m: what of delta = b + W change is nothing to the balance of forces */
    bool impatient;       /* where Newton's method fails, that is that */
} pl_contact_problem;

/* lambda [3 m] is the guess and the answer. Residuals below `goal` (m) will do; 0 asks for as much as
 * rounding allows. The converged delta is left in s->delta, lambda - origin before lambda was
 * rounded in s->change, and W times that, but for the slack, in s->moved. PL_OK also when not
 * converged: look at *out. */
pl_status pl_contact_solve(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *problem,
                           double goal, double *lambda, pl_contact_solution *out);

/* The law at the solution found last (s->linear), with s->system ready to approximate S there; false
 * when S is singular. Valid until the next pl_contact_solve. */
bool pl_contact_linearize(pl_context *ctx, pl_contact_solver *s, const pl_coupling *on,
                          const double *lambda);

#endif
