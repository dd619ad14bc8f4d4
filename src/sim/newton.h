/*
 * The state of one substep's iteration, and what its parts share: start.c finds the first iterate,
 * correction.c its correction, advance.c the next iterate, newton.c when to end.
 */
#ifndef PL_NEWTON_H
#define PL_NEWTON_H

#include "sim/solver.h"

typedef struct pl_newton {
    pl_solver *solver;
    const pl_substep *sub;
    const double *from;     /* [n, 3] the first iterate; NULL = where the motion so far leads */
    double potential;       /* whose gradient is F_el, J s^2, at the last evaluation */
    double energy;          /* the same at the iterate */
    double norm;            /* of solver->move, m: largest vertex */
    int worst;              /* its vertex */
    bool stale;             /* the factor was made at another iterate */
    bool renewed;           /* the last correction made it, where that is */
    bool prepared;          /* solver->lambda belongs to the present contacts */
    double rate, last_rate; /* of the last two steps, of the last one */
    bool fresh_step;        /* the last step was a new factor's first */
    double fresh_rate;      /* how much the first step of the newest factor shrank the correction */
    bool coupled;           /* the last step was Newton's own with contacts, */
    bool uncoupled;         /* and they do not work, or not well */
    double expected;        /* the correction after the step being attempted, m; 0 = not known */
    bool truncated;         /* steps are Newton's own: the lagged factor has become too slow */
    bool slow_cg;           /* finding the last of them took long */
    int uphill;             /* steps accepted although the correction grew */
    bool downhill;          /* the step being attempted is one down the potential, */
    bool by_earlier;        /* or one that earlier substeps' differences suggest: only if it fits */
    int inadmissible;       /* element with J <= 0 at the last evaluation, or -1 */
    int patience;           /* iterations of the law's central path that are left; then none is tried */
    bool law_failed;        /* the contact law was not solved at the last correction */
    int law_worst;          /* vertex of the contact that was furthest from it */
    bool law_rough;         /* it was solved only as well as needed on the way, */
    double law_residual;    /* to this, m */
    bool law_exact;         /* it is to be solved to rounding */
    bool law_sharp;         /* it was, with all digits of its gaps */
    int sharpened;          /* corrections made for those alone */
    int resolved;           /* times that pairs which would have passed became contacts */
    int rebalanced;         /* times that bodies as a whole were found out of balance at the end, */
    double imbalance;       /* and how far they were the last time, m */
} pl_newton;

/* ---- correction.c */
/* F_el at q into solver->residual, and the potential it is the gradient of; false when an element is
 * inadmissible there. */
bool pl_newton_evaluate(pl_newton *s, const double *q);
/* Laws and Delassus matrix for the present contacts and factor; the warm start from the contacts. */
pl_status pl_newton_prepare(pl_newton *s);
/* What couples the contacts, once that is done. */
pl_coupling pl_newton_coupling(pl_solver *solver);
/* move = E^-1(-r + h^2 H^T lambda) for the residual last evaluated (at q), lambda by the contact law;
 * *norm its largest vertex. */
pl_status pl_newton_correct(pl_newton *s, const double *q, double *move, double *norm);
/* The forces found so far, as the contacts' own: the next start. */
void pl_newton_keep_forces(pl_newton *s);

/* ---- balance.c */
/* How far bodies as a whole are from balance after the present move, m (the farthest vertex), and the
 * motion [n, 3] that would bring them there, against their masses alone or contacts as well. Overwrites
 * solver->trial and solver->trial_move. */
double pl_newton_imbalance(const pl_newton *s, bool by_contacts, double *motion);

/* ---- roots.c */
/* Whether the solution just found may be one of several; then where to look for another, [n, 3]. */
bool pl_roots_doubtful(pl_newton *s, int iterations, double *start);
/* The incremental potential at the solution just found, J s^2. */
double pl_roots_potential(const pl_newton *s);
/* Whether it is another than q [n, 3]. */
bool pl_roots_differ(const pl_newton *s, const double *q);

/* ---- newton.c */
#define PL_CG_CONSTANT 40 /* iterations that CG takes as a rule with the constant matrix's factor */

/* A fresh factor at the iterate and the correction it proposes. */
pl_status pl_newton_refresh(pl_newton *s);
/* Whether CG on the true tangent can take over from the lagged or constant factor alone. */
bool pl_newton_can_truncate(const pl_newton *s);

/* ---- advance.c */
/* From the iterate to a point whose own correction is smaller, or out->converged is false and *out says
 * why not; *theta is the ratio of the corrections. */
pl_status pl_newton_advance(pl_newton *s, pl_substep_result *out, double *theta);
/* Whether a new factor would have cost less than what the present one took longer. */
bool pl_newton_worn(const pl_solver *solver);

/* ---- guess.c */
/* solver->iterate from where the substep begins, evaluated; contact forces as balance there asks for
 * them, if it is foretold. */
pl_status pl_newton_guess(pl_newton *s);

/* ---- start.c */
/* Contacts between bodies for a motion to q [n, 3], after those with colliders. */
/* Vertices and pieces of surface that came close at the iterate without being expected to become
 * contacts too; *added counts them. */
pl_status pl_newton_meet_late(pl_newton *s, int *added);
/* The same of those that the search for meetings left. */
pl_status pl_newton_meet_found(pl_newton *s, int *added);
/* External forces, springs, contacts with the forces they had, and the first iterate. */
pl_status pl_newton_begin(pl_newton *s, const pl_state *warm);

/* Room for the laws of m contacts. */
pl_status pl_newton_reserve_contacts(pl_solver *solver, int m);

#endif
