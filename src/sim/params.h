/*
 * Parameters as a value. A pl_params is a handle to values that several may share: sims and rollouts
 * hold the ones they go by, and a change copies what others hold. So values never change under their
 * holders, and two that are the same object are the same numbers.
 */
#ifndef PL_PARAMS_H
#define PL_PARAMS_H

#include "core/core.h"

#include <stdatomic.h>

/* All numbers of a scene. Constant while more than one holds them. */
typedef struct pl_values {
    atomic_int holders; /* workers of a batch hold and release them at the same time */
    pl_scene_def def;
    double *of[PL_CHANNEL_COUNT]; /* [rows, width] of parameters; NULL of other channels */
} pl_values;

struct pl_params {
    pl_scene *scene;
    pl_values *values;
};

pl_values *pl_values_hold(pl_values *values);
void pl_values_release(pl_context *ctx, pl_values *values); /* NULL is fine */

/* Empty values, for a scene that has no parts yet. */
pl_status pl_values_create(pl_context *ctx, const pl_scene_def *def, pl_values **out);
/* The handle's values, to be changed: a copy of its own if others hold them too. */
pl_status pl_params_edit(pl_params *params, pl_values **out);

/* Values of a parameter in their range, or an error naming it; count > 1 names the element too. */
pl_status pl_channel_check(pl_context *ctx, pl_channel channel, int count, const double *values);

#endif
