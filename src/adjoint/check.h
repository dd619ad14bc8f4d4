/*
 * Everything a rollout depends on as flat lists of numbers, for the gradient check: what they are, how
 * large a change of each is natural, how to move them along a direction.
 */
#ifndef PL_ADJOINT_CHECK_H
#define PL_ADJOINT_CHECK_H

#include <pliant/check.h>

#include "sim/rollout.h"

/* A rollout that is run again and again: its start and what drives it, resolved for every step. */
typedef struct pl_trial {
    pl_sim *sim;
    int steps;
    const pl_state *start;
    pl_state *state; /* the copy that a rollout runs on */
    double *vertex_force, *force, *wind, *pin_target, *collider_pose; /* shapes of pl_rollout_inputs */
} pl_trial;

/* One kind of parameter of a trial. */
typedef struct pl_knob {
    unsigned kind; /* PL_GRAD_... */
    int count;
    double *base;   /* [count] as they are; of poses the increments, all 0 */
    double *weight; /* [count] natural size of a change; 0 = not to be moved */
    double lower, upper;
    double *poses; /* [steps, collider_count, 7] as they are, of PL_GRAD_COLLIDER_POSE alone */
} pl_knob;

pl_status pl_trial_create(pl_sim *sim, const pl_state *start, const pl_rollout_inputs *inputs,
                          int steps, pl_trial *out);
void pl_trial_free(pl_trial *t);
/* Runs it from the start; *rollout is the caller's. */
pl_status pl_trial_run(pl_trial *t, bool tape, pl_progress_fn progress, void *user,
                       pl_rollout **rollout);

/* The array of a gradient that belongs to a kind, and its length in this scene. */
double *pl_gradient_array(const pl_gradient *g, unsigned kind);
int pl_gradient_count(const pl_scene *scene, int steps, unsigned kind);

pl_status pl_knob_create(const pl_trial *t, unsigned kind, pl_knob *out);
void pl_knob_free(pl_context *ctx, pl_knob *k);
/* Moves the trial (its start, inputs, or the scene's parameters) to base + e direction [count]; e = 0
 * puts it back as it was. */
pl_status pl_knob_turn(pl_trial *t, const pl_knob *k, const double *direction, double e);

#endif
