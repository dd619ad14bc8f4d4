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
    int *part_of; /* [n] vertices that nothing of the pattern ties are of different parts */
    pl_chol_plans *plans;
    pl_surface *skin;          /* of all bodies; NULL if neither bodies nor ridges can touch it */
    const pl_surface *surface; /* the same where bodies can meet; NULL if they do not */
    double *offset;            /* [body_count] */
};

/* The scene's, with one user more; it is the caller's to drop. */
pl_status pl_model_take(pl_scene *scene, pl_model **out);
/* All but their friction, which is a parameter. */
pl_meet_rules pl_model_meet_rules(const pl_model *model);
/* Offsets of bodies that touch themselves, for how near their own parts are at rest. */
pl_status pl_model_fit_offsets(pl_model *model);
/* That no body starts inside an obstacle or another body, through it or itself, or too close; each has
 * a message of its own (overlap.h). */
pl_status pl_model_check_start(const pl_model *model);
/* The same, and warnings of what else a start should not have; once a scene. */
pl_status pl_scene_check_start(const pl_model *model);
void pl_model_drop(pl_model *model); /* NULL is fine */

#endif
