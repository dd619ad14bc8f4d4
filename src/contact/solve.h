/*
 * The contact law of all contacts at once in contact space:
 *
 *     law(delta_c, lambda_c) = 0 for every contact,   delta = b + W change,   lambda = origin + change
 *
 * by Newton's method on the Fischer-Burmeister form with the Jacobian S = D_lambda + D_delta W, and
 * continuation in eps when that fails. The unknown is the change: W times the rounding of lambda is
 * more than a gap of eps^2/lambda_n has to spare. Near the answer b and change are small, and so is
 * what rounding leaves. Systems of few contacts are solved by a dense LU; of many by GMRES, as well as
 * the Newton step deserves, with a nearly exact inverse of an earlier S (schur.h). Both are then in
 * single precision: they change how fast Newton's method converges, never what it converges to.
 */
#ifndef PL_CONTACT_SOLVE_H
#define PL_CONTACT_SOLVE_H

#include "contact/firm.h"
#include "contact/schur.h"
#include "linalg/krylov.h"

/* From here on a step of GMRES with an old LU is cheaper than a new LU. */
#define PL_MANY_CONTACTS 48

typedef struct pl_contact_solver {
    int capacity;     /* contacts there is room for */
    double *jacobian; /* [3 m, 3 m] LU of S, column-major for LAPACK */
    int *pivot;       /* [3 m] of the last LU */
    pl_schur schur;   /* with many contacts: of this S, or an earlier one */
    int excess;       /* iterations spent with it since beyond what a new one takes */
    pl_firm firm;     /* with many contacts that stick: of this W */
    int edition;      /* of that W */
    double regret;    /* operations of LUs with it that its inverse would have saved */
    pl_krylov krylov;
    float *vector, *image;                     /* [3 m] operands in single precision */
    double *change, *moved, *delta, *step;     /* [3 m] moved = W change */
    double *trial, *trial_moved, *trial_delta; /* [3 m] */
    double *step_moved;                        /* [3 m] W step, with many contacts */
    pl_law_linear *linear, *trial_linear;      /* [m] */
    int solved;                                /* contacts of the solution found last; 0 = none */
    double *last_delta, *last_lambda;          /* [3 m] that solution, at which `linear` was taken */
    pl_law *soft;                              /* [m] laws of a continuation stage */
    double *reached;                           /* [3 m] where the last stage ended */
} pl_contact_solver;

void pl_contact_solver_free(pl_context *ctx, pl_contact_solver *s);
/* Drops the LU kept from earlier solves. */
void pl_contact_solver_forget(pl_contact_solver *s);

typedef struct pl_contact_solution {
    bool converged;
    int iterations;
    bool sharp;      /* gaps and normal forces to 5e-9, what rounding may have spoilt included */
    double residual; /* largest law residual, m */
    int worst;       /* its contact */
} pl_contact_solution;

/* S = D_lambda + D_delta W for a row-major W, itself column-major for LAPACK: [3 m, 3 m]. */
void pl_contact_schur(pl_context *ctx, int m, const pl_law_linear *linear, const double *w,
                      double *schur);

typedef struct pl_contact_problem {
    int count;            /* m contacts */
    const pl_law *laws;   /* [m] */
    const double *w;      /* [3 m, 3 m] symmetric, row-major */
    const float *single;  /* the same rounded; needed from PL_MANY_CONTACTS on, NULL below */
    const double *b;      /* [3 m] delta at lambda = origin, m */
    const double *origin; /* [3 m] N, near the answer */
    int edition;          /* another one whenever w is; 0 if w is not known to last */
} pl_contact_problem;

/* lambda [3 m] is the guess and the answer. Residuals below `goal` (m) will do; 0 asks for as much as
 * rounding allows. The converged delta is left in s->delta, lambda - origin before lambda was
 * rounded in s->change, and W times that in s->moved. PL_OK also when not converged: look at *out. */
pl_status pl_contact_solve(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *problem,
                           double goal, double *lambda, pl_contact_solution *out);

/* The law at the solution found last (s->linear), and the LU of S there; false when S is singular.
 * Valid until the next pl_contact_solve. */
bool pl_contact_linearize(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *problem,
                          const double *lambda);
/* x [3 m] <- S^-1 x */
void pl_contact_back_substitute(pl_contact_solver *s, int m, double *x);

#endif
