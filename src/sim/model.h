/*
 * What never changes while a scene is simulated: its elements, the pattern of their tangent and of the
 * terms', and the analyses of that pattern. One for all sims of a scene: made with the first, gone with
 * the last.
 */
#ifndef PL_SIM_MODEL_H
#define PL_SIM_MODEL_H

#include "contact/meet.h"
#include "elastic/elements.h"
#include "linalg/chol.h"
#include "linalg/chol_plans.h"
#include "sim/scene.h"

struct pl_model {
    int users;
    pl_scene *scene;
    pl_elements *elements;
    const pl_pattern *pattern; /* the elements' */
    pl_chol_plans *plans;
    pl_surface *surface; /* where bodies can meet; NULL if they do not */
    double *offset;      /* [body_count] */
};

/* The scene's, with one user more; it is the caller's to drop. */
pl_status pl_model_take(pl_scene *scene, pl_model **out);
/* Where bodies touch each other: that none starts inside another, or too close to it. */
pl_status pl_model_check_start(const pl_model *model);
void pl_model_drop(pl_model *model); /* NULL is fine */

#endif
