/*
 * A simulation's workspace, and the problem of one implicit step.
 *
 *     r(q, lambda) = (M + hC)(q - q_bar) - h M v_bar - h^2 f + h^2 grad Psi(q) + h^2 k (q - target)
 *                    - h^2 H^T lambda = 0
 *     law(H q, lambda) = 0
 *
 * M lumped mass, C mass-proportional damping, k = 1/compliance of the pins; all diagonal.
 */
#ifndef PL_SIM_H
#define PL_SIM_H

#include "contact/contact.h"
#include "contact/delassus.h"
#include "contact/solve.h"
#include "elastic/elastic.h"
#include "linalg/anderson.h"
#include "linalg/krylov.h"
#include "linalg/chol_plans.h"
#include "sim/forecast.h"
#include "sim/scene.h"

/* What drives a step, resolved: every array is filled. */
typedef struct pl_drive {
    double *of[PL_CHANNEL_COUNT]; /* [rows, width] of inputs */
} pl_drive;

/* One implicit step of length h from (q0, v0); a time step is one of these, or several when split. */
typedef struct pl_substep {
    int step;        /* the time step it is part of, from 0; messages count from 1 */
    double from, to; /* which part, as fractions of it */
    double h;
    const double *q0, *v0;    /* [n, 3] */
    const pl_drive *drive;    /* at the end of the substep */
    const double *pose_start; /* [collider_count, 7] */
} pl_substep;

/* Which matrix stands for the tangent in the forward solve. */
typedef enum pl_factor_kind { PL_FACTOR_NONE, PL_FACTOR_TANGENT, PL_FACTOR_CONSTANT } pl_factor_kind;

/* What the parts of an iteration cost relative to each other, s. */
typedef struct pl_costs {
    double factor, solve, stress, assembly, product;
} pl_costs;

struct pl_sim {
    pl_context *ctx;
    pl_scene *scene;
    int n;
    pl_elements *elements; /* what `elastic` is made over */

    pl_values *values; /* the parameters in use, and what follows from them: */
    pl_elastic *elastic;
    double *mass;          /* [n] kg */
    double *damping;       /* [n] C, kg/s */
    double *pin_stiffness; /* [n] sum of 1/compliance, N/m */
    double margin;         /* contact margin, m */

    /* The matrix in use. */
    pl_solver solver;         /* never AUTO */
    double *diagonal;         /* [n] M + hC + h^2 k */
    double *tangent;          /* [nnz, 9] */
    double *constant;         /* [nnz] A */
    pl_chol_plans *plans;     /* of factors of both */
    pl_chol *tangent_factor;  /* of 3x3 blocks */
    pl_chol *constant_factor; /* of scalars, three columns a solve */
    pl_factor_kind factor;
    bool factor_clamped; /* the tangent was indefinite */
    double factor_h;     /* time step the factor was made for */
    pl_costs costs;      /* with the factor in use */
    double lag;          /* what it gets wrong of corrections, the present E being another */
    double digits;       /* that an iteration of GMRES brought when it was new (0 = not known), */
    double wear;         /* and the cost of iterations since, beyond what a new one takes */

    /* Contacts of the current substep. */
    pl_collider **shapes; /* [collider_count] */
    pl_contact_set contacts;
    pl_delassus delassus;
    pl_contact_solver contact_solver;
    int law_capacity;
    pl_law *laws;                 /* [m] */
    double *lambda, *free_motion; /* [3 m] */
    double *origin;               /* [3 m] the forces that free_motion was found with */
    double *wanted;               /* [3 m] the contacts' part of a move, in their frames */
    double *delta;                /* [3 m] at the converged position, before that was rounded */

    /* Scratch, [n, 3] each unless said. */
    double *external, *gradient, *residual, *guess, *iterate, *move, *trial, *trial_move, *combined;
    pl_anderson anderson;
    pl_krylov krylov;
    int coupled_capacity;
    double *coupled;      /* right-hand side and solution of Newton's step with contacts */
    double *spring;       /* [n, 3] sum of target/compliance */
    int *vertex_work;     /* [2 n] */
    double *element_work; /* [element_count] */
    pl_drive drive, substep_drive;
    double *pose_start;     /* [collider_count, 7] */
    pl_forecast forecast;   /* what the next substep's guess knows of the last ones */
    double guess_imbalance; /* how far from balance the last guess was, */
    bool foretold;          /* and whether it was a forecast */
    double first_rate;      /* of convergence after the last one's first correction; 0 = not known */
    pl_state *backup;       /* the state before the step */
    pl_step_info info;
    double stage_start;
};

/* Goes by these parameters from now on: what is derived from them is made anew if they are others. */
void pl_sim_use(pl_sim *sim, pl_values *values);
/* Drops what is kept from step to step, so that results depend on the state alone. */
void pl_sim_forget(pl_sim *sim);

/* ---- state.c */
/* Where inputs [PL_CHANNEL_COUNT] leave what moves. */
void pl_state_set_inputs(const pl_scene *scene, pl_state *state, double *const *input);
size_t pl_state_bytes(const pl_scene *scene, int contacts);

/* ---- drive.c: from tables and inputs to forces */
pl_status pl_drive_create(const pl_scene *scene, pl_drive *drive);
void pl_drive_free(pl_context *ctx, pl_drive *drive);
/* Targets of every pinned vertex at `time`, [pin_vertex_count, 3]. */
void pl_pin_targets(const pl_scene *scene, double time, double *target);
/* The scene's own drive at `time`, overridden by inputs (may be NULL); refuses what is not finite. */
pl_status pl_drive_resolve(const pl_scene *scene, double time, const pl_inputs *inputs,
                           pl_drive *drive);
/* What moves (pins, poses) a fraction s of the way from `start` [PL_CHANNEL_COUNT] to `end`; the rest
 * as at the end. */
void pl_drive_between(const pl_scene *scene, double *const *start, const pl_drive *end, double s,
                      pl_drive *out);
/* Positions linearly; quaternions the same way on the nearer branch, normalised. */
void pl_pose_between(const double from[7], const double to[7], double s, double out[7]);
/* What one vertex feels of a force's value: N per unit of it. */
double pl_force_share(const pl_force *force, const double *mass, int vertex);
/* f [n, 3]: gravity, forces, wind at (q0, v0). */
void pl_drive_external(const pl_scene *scene, const double *gravity, const double *mass,
                       const pl_drive *drive, const double *q0, const double *v0, double *f);

/* ---- matrix.c: the matrix that stands for the tangent */
/* sim->diagonal = M + hC + h^2 k */
void pl_matrix_diagonal(pl_sim *sim, double h);
/* Drops the factor and what belongs to it. */
void pl_matrix_forget(pl_sim *sim);
/* Makes the factor for time step h at q; clamps the tangent when it is not positive definite. */
pl_status pl_matrix_refresh(pl_sim *sim, pl_factor_kind kind, double h, const double *q);
/* x = E^-1 b, to single precision: for corrections */
pl_status pl_matrix_correct(pl_sim *sim, const double *b, double *x);
/* x = E^-1 b */
pl_status pl_matrix_solve(pl_sim *sim, const double *b, double *x);
/* The same in two parts (pl_chol_begin, pl_chol_end), the vertices that touch being the focus. */
void pl_matrix_focus(pl_sim *sim);
pl_status pl_matrix_begin(pl_sim *sim, const double *b, double *x);
pl_status pl_matrix_end(pl_sim *sim, const double *change, const double *known, double *x);
pl_chol *pl_matrix_factor(const pl_sim *sim);

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

/* For the residual at q in sim->residual and a factor of a tangent; `size` is that of the step by the
 * factor alone (m, largest vertex). Overwrites sim->guess and sim->tangent. */
pl_status pl_truncated_newton(pl_sim *sim, double h, const double *q, double size, int limit,
                              double *step, pl_truncated *out);

/* ---- coupled.c: the same with contacts */
/* For the residual and the stress at q in sim->residual and sim->gradient, the factor's move there and
 * the contact forces and law that were found with it, to `accuracy` of the right-hand side. `secant`: E
 * over the move, for one that is about right; or at q. Found, the step's forces are left in
 * sim->lambda. Overwrites sim->guess, sim->wanted, and sim->trial and sim->trial_move or sim->tangent.
 */
pl_status pl_coupled_newton(pl_sim *sim, const double *q, const double *move, bool secant,
                            double accuracy, int limit, double *step, pl_truncated *out);

/* ---- newton.c: one substep */
typedef struct pl_substep_result {
    bool converged;
    const char *reason; /* when not converged */
    int vertex;         /* whose move is largest, or at the contact whose law is not solved */
    int element;        /* that would invert, or -1 */
} pl_substep_result;

/* Solves for q (left in sim->iterate) and the contacts' forces (left in sim->contacts). */
pl_status pl_substep_solve(pl_sim *sim, const pl_substep *sub, const pl_state *warm,
                           pl_substep_result *out);

/* Adds the time since the last call to a stage of sim->info. */
void pl_stage(pl_sim *sim, int stage);

/* The factor is made anew at every multiple of this many steps whatever happened, so that a rollout
 * resumed there repeats the original bit for bit. */
#define PL_FORGET_EVERY 64

/* What a substep of this scene can touch. */
pl_obstacles pl_substep_obstacles(const pl_sim *sim, const pl_substep *sub);

/* Called after each converged substep, for the tape. */
typedef pl_status (*pl_substep_fn)(void *user, const pl_sim *sim, const pl_substep *sub);
pl_status pl_step_recorded(pl_sim *sim, pl_values *values, pl_state *state, const pl_inputs *inputs,
                           pl_step_info *info, pl_substep_fn record, void *user);

#endif
