/*
 * Everything a rollout depends on as flat lists of numbers, for the gradient check: what they are, how
 * large a change of each is natural, how to move them along a direction.
 */
#ifndef PL_ADJOINT_CHECK_H
#define PL_ADJOINT_CHECK_H

#include <pliant/check.h>

#include "sim/rollout.h"

/* A rollout that is run again and again: its start, what drives it, resolved for every step, and
 * parameters of its own. */
typedef struct pl_trial {
    pl_sim *sim;
    int steps;
    const pl_state *start;
    pl_state *state;                 /* the copy that a rollout runs on */
    double *input[PL_CHANNEL_COUNT]; /* [steps, rows, width] */
    pl_params *params;
} pl_trial;

/* One kind of parameter of a trial. */
typedef struct pl_knob {
    pl_channel channel;
    int count;
    double *base;   /* [count] as they are; of poses the increments, all 0 */
    double *weight; /* [count] natural size of a change; 0 = not to be moved */
    double *poses;  /* [steps, rows, 7] as they are, of poses alone */
} pl_knob;

pl_status pl_trial_create(pl_sim *sim, const pl_state *start, const pl_inputs *inputs, int steps,
                          pl_trial *out);
void pl_trial_free(pl_trial *t);
/* Runs it from the start; *rollout is the caller's. */
pl_status pl_trial_run(pl_trial *t, bool tape, pl_progress_fn progress, void *user,
                       pl_rollout **rollout);

pl_status pl_knob_create(const pl_trial *t, pl_channel channel, pl_knob *out);
void pl_knob_free(pl_context *ctx, pl_knob *k);
/* The range of its i-th number. */
void pl_knob_range(const pl_trial *t, const pl_knob *k, int i, double *lower, double *upper);
/* Moves the trial (its start, inputs or parameters) to base + e direction [count]; e = 0
 * puts it back as it was. */
pl_status pl_knob_turn(pl_trial *t, const pl_knob *k, const double *direction, double e);

#endif
