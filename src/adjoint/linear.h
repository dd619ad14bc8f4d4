/*
 * One substep linearised at its solution. With psi = (z, w) and y = (dq, dlambda):
 *
 *     tangent   [ E          -h^2 H^T ] [dq     ]      adjoint   [ E      H^T Dd^T ] [z]   [g]
 *               [ Dd H        Dl      ] [dlambda]                [ -h^2 H   Dl^T   ] [w] = [0]
 *
 * E is the exact elastic tangent, Dd and Dl the law's derivatives (contact/law.h). K = Dl^-1 Dd reaches
 * 1e13 and is never formed. Solved in contact space with S = Dl + Dd W, W = h^2 H E^-1 H^T, when E is
 * factored, and by Krylov methods preconditioned that way otherwise.
 */
#ifndef PL_LINEAR_H
#define PL_LINEAR_H

#include "contact/solve.h"
#include "linalg/krylov.h"
#include "linalg/ledger.h"
#include "sim/rollout.h"

typedef struct pl_linear {
    pl_context *ctx;
    const pl_scene *scene;
    int n;
    pl_adjoint_def def;
    pl_on_device *device;    /* that the adjoint is solved on; NULL: here */
    pl_matrix *matrix;       /* E, and the factor that preconditions it; the sim's, for sweeps */
    pl_contact_set contacts; /* of the substep, with the tape's forces */
    pl_delassus delassus;
    pl_substep sub;  /* the substep, with q0, v0, drive, poses */
    const double *q; /* [n, 3] its solution */
    double *u;       /* [n, 3] q - q0 */

    int contact_capacity;
    pl_law_linear *laws;     /* [m] Dd, Dl */
    double *d_mu;            /* [m, 3] */
    double *rho;             /* [m] row scales of the contact block */
    pl_schur schur;          /* solves with S, */
    pl_firm firm;            /* or of many contacts that stick, */
    bool through_firm;       /* if used, */
    pl_symmetric *stiffness; /* and products with W^-1; */
    double *wide;            /* [3 m, 3 m] the LU of S in double precision, */
    int *wide_pivot;         /* [3 m] */
    int wide_capacity;       /* contacts */
    pl_condensed condensed;  /* or, where that pays, of the touched vertices' motion, */
    bool through_condensed;  /* then; */
    bool through_wide;       /* if either is used: where single precision has not digits enough */
    double *stiff;           /* [m, 9] K as springs have it (folded.h), */
    int spring_capacity;
    pl_spring *springs;       /* and those */
    bool unfolded;            /* springs were found not to do */
    double *motion;           /* [m, 3] of the contacts in a preconditioner's solve */
    double *diagonal_inverse; /* [n, 9] of the Jacobi preconditioner */
    double *reference;        /* [n, 3] where the factor was made: at rest, or another substep's end */
    double *turn;             /* [n, 9] rotations of the vertices' surroundings since, */
    bool turning;             /* if used */
    pl_contact_set turned;    /* the contacts, seen from where the factor was made */

    int touched_count; /* of the substep's own contacts, the first of */
    int ahead_count, ahead_capacity;
    int *ahead; /* [ahead_count] vertices that this substep and those soon to come touch, repeats
                 * included
                 */

    pl_krylov krylov;
    double *rhs, *solution; /* [3 n + 3 m] */
    double *lift;           /* [3 n + 3 m] the part of a tangent's solution that pins give */
    double *work;           /* [n, 3] */
    bool transposed;
    pl_ledger ledger; /* whether a new factor is worth it, in iterations; uses are substeps */
    int hold;         /* substeps for which factors are made anew without trying, */
    int last_hold;    /* and how many they were last time */
    int iterations, max_iterations, factorizations;
    double residual; /* largest so far, */
    double error;    /* and estimate of how far answers are off, of their size */
} pl_linear;

/* For substeps of the sim's model; pointers of l->sub that are the same for all of them are set. */
pl_status pl_linear_create(pl_sim *sim, const pl_adjoint_def *def, pl_linear *out);
void pl_linear_free(pl_linear *l);

/* Sets up l->sub's system at the end of the substep: tangent, contacts with their forces, law
 * derivatives. The pointers of l->sub must be set. */
pl_status pl_linear_setup(pl_linear *l, const pl_tape_entry *entry);

/* Solves for l->solution = (z, w) or (dq, dlambda) from l->rhs; PL_ERROR_CONVERGENCE when the true
 * residual stays above the tolerance. */
pl_status pl_linear_solve(pl_linear *l, bool transposed);

/* a = Dd^T w of contact c, in its frame. */
void pl_linear_pull(const pl_linear *l, int c, double a[3]);

#endif
