/* Patches of tets whose volume is resisted as a whole: what of them is not the term's alone. */
#ifndef PL_MEAN_VOLUME_H
#define PL_MEAN_VOLUME_H

#include "mesh/patches.h"
#include "sim/matter.h"

/* The patches of a body whose mesh and elements are there, and their end. */
pl_status pl_mean_volume_create(pl_context *ctx, pl_body *body);
void pl_mean_volume_free(pl_context *ctx, pl_body *body);

/* energy [m] J and cauchy [m, 9] Pa, each unless NULL, += the patches' share; returns their energy. */
double pl_mean_volume_fields(const pl_scene *scene, pl_matter *matter, const double *q, double *energy,
                             double *cauchy);

#endif
