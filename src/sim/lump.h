/*
 * Which vertices the elements' masses go to: an element's own in equal parts, or all of its body
 * (`lumped_equally`). Linear, and its transpose.
 */
#ifndef PL_LUMP_H
#define PL_LUMP_H

#include "sim/scene.h"

/* vertex [n] = what each gets of the elements' amounts, [element_count]. */
void pl_lump(const pl_scene *scene, const double *element, double *vertex);
/* element [element_count] = the mean of `vertex` [n] over those it gives to. */
void pl_lump_mean(const pl_scene *scene, const double *vertex, double *element);

#endif
