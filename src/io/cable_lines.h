/* The cables of a scene as lines: where their points are, and the tension in each segment. */
#ifndef PL_CABLE_LINES_H
#define PL_CABLE_LINES_H

#include "core/core.h"

/* Points and segments of all cables; those of a cable follow each other, as the cables do. */
void pl_cable_lines_count(const pl_scene *scene, int *points, int *segments);
/* At positions q [n, 3] and tensions `live` (pl_state.live): points [points, 3] m, and by segment the
 * tension, N, and the index of the cable. */
void pl_cable_lines_at(const pl_scene *scene, const double *q, const double *live, double *points,
                       double *tension, double *cable);

#endif
