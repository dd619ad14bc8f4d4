/*
 * One worker's solver of substeps: vectors, the matrix in use, contact space, and what it remembers
 * from one substep to the next.
 */
#ifndef PL_SOLVER_H
#define PL_SOLVER_H

#include "contact/brush.h"
#include "contact/contact.h"
#include "contact/delassus.h"
#include "contact/meet.h"
#include "contact/solve.h"
#include "linalg/anderson.h"
#include "linalg/krylov.h"
#include "linalg/ledger.h"
#include "sim/forecast.h"
#include "sim/matrix.h"

/* The contacts of the current substep, m of them, and their law. */
typedef struct pl_contact_space {
    pl_contact_set set;
    pl_delassus delassus;
    pl_contact_solver solver;
    int capacity;
    pl_law *laws;                 /* [m] */
    double *lambda, *free_motion; /* [3 m] */
    double *origin;               /* [3 m] the forces that free_motion was found with */
    double *wanted;               /* [3 m] the contacts' part of a move, in their frames */
    double *delta;                /* [3 m] at the converged position, before that was rounded */
    int spring_capacity;
    pl_spring *springs; /* of the next factor (folded.h) */
    int touched_capacity;
    int *touched; /* vertices of the contacts, repeats included */
} pl_contact_space;

/* Everything remembered from substep to substep: without it the next one takes longer and ends at the
 * same place, to its tolerance. */
typedef struct pl_memory {
    pl_forecast forecast;   /* what the next guess knows of the last motions */
    pl_anderson anderson;   /* differences of corrections */
    double guess_imbalance; /* how far from balance the last guess was, */
    bool foretold;          /* and whether it was a forecast */
    double first_rate;      /* of convergence after the last one's first correction; 0 = not known */
    double lag;             /* what the factor gets wrong of corrections, the present E being another */
    pl_ledger ledger;       /* whether a new one is worth it, in costs of the matrix */
} pl_memory;

typedef struct pl_solver {
    pl_context *ctx;
    const pl_scene *scene;
    pl_matter *matter; /* the sim's */
    int n;
    pl_meter meter;
    pl_matrix matrix;
    pl_contact_space space;
    pl_memory memory;
    pl_krylov krylov;
    pl_collider **shapes;    /* [collider_count] */
    pl_meet_search search;   /* where bodies meet, */
    pl_brush_search brushes; /* and edges and faces colliders */
    bool *meets;             /* [n] vertices of contacts that have several */
    int known_capacity;
    pl_contact_point *known; /* contacts of several vertices while the set is made anew */
    double *live;            /* forces of the live rows (rows/rows.h), N */

    /* [n, 3] each; `gradient` is the elements' alone */
    double *external, *gradient, *residual, *guess, *iterate, *move, *trial, *trial_move, *combined,
        *root, *pulled;
    int coupled_capacity;
    double *coupled; /* right-hand side and solution of Newton's step with contacts */
} pl_solver;

pl_status pl_solver_create(const pl_model *model, pl_matter *matter, pl_solver *out);
void pl_solver_free(pl_solver *s);
/* Forgets everything, so that results depend on the state alone. */
void pl_solver_forget(pl_solver *s);
/* A new factor at q [n, 3], of the kind that the method asks for. */
pl_status pl_solver_refresh(pl_solver *s, const pl_substep *sub, const double *q);
/* The vertices of the present contacts into space.touched; their number. */
pl_status pl_solver_touched(pl_solver *s, int *count);

/* ---- newton.c: one substep */
typedef struct pl_substep_result {
    bool converged;
    const char *reason; /* when not converged */
    int vertex;         /* whose move is largest, or at the contact whose law is not solved */
    int element;        /* that would invert, or -1 */
} pl_substep_result;

/* Solves for q (left in s->iterate) and the contacts' forces (left in s->space.set); where it may be
 * split, with no more patience than that asks for. */
pl_status pl_substep_solve(pl_solver *s, const pl_substep *sub, bool may_split, const pl_state *warm,
                           pl_substep_result *out);

/* What a substep can touch. */
pl_obstacles pl_substep_obstacles(const pl_substep *sub);
/* And how bodies meet in it. */
pl_meet_rules pl_substep_meet_rules(const pl_substep *sub);

/* ---- truncated.c: Newton's own step */
typedef enum pl_truncated_kind {
    PL_TRUNCATED_NONE,     /* CG did not converge within the limit: time for a new factor */
    PL_TRUNCATED_NEWTON,   /* Newton's step */
    PL_TRUNCATED_DOWNHILL, /* a direction in which the potential curves down */
} pl_truncated_kind;

typedef struct pl_truncated {
    pl_truncated_kind kind;
    int iterations;  /* of CG or GMRES */
    double residual; /* that GMRES left, of the right-hand side */
} pl_truncated;

/* For the residual at q in s->residual and a factor of a tangent; `size` is that of the step by the
 * factor alone (m, largest vertex). Overwrites s->guess and the matrix' tangent. */
pl_status pl_truncated_newton(pl_solver *s, const pl_substep *sub, const double *q, double size,
                              int limit, double *step, pl_truncated *out);

/* ---- coupled.c: the same with contacts */
/* For the residual and the stress at q in s->residual and s->gradient, the factor's move there and the
 * contact forces and law that were found with it, to `accuracy` of the right-hand side. `secant`: E
 * over the move, for one that is about right; or at q. Found, the step's forces are left in
 * space.lambda. Overwrites guess, space.wanted, and trial and trial_move or the matrix' tangent. */
pl_status pl_coupled_newton(pl_solver *s, const pl_substep *sub, const double *q, const double *move,
                            bool secant, double accuracy, int limit, double *step, pl_truncated *out);

#endif
