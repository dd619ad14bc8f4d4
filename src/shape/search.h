/* Finding the cell that gives a wanted number of vertices. */
#ifndef PL_SHAPE_SEARCH_H
#define PL_SHAPE_SEARCH_H

#include "core/core.h"

/* Makes a mesh at this cell; *lost is the share of the volume that fell off in fragments. PL_ERROR_MESH
 * means that nothing was left: try a smaller one. */
typedef pl_status (*pl_build_fn)(void *user, double cell, pl_mesh **out, double *lost);

/* The best mesh of those tried, starting from `cell`: its vertex count nearest to `wanted`, and among
 * those within 9 % preferably one that lost nothing. Stops early within 4 %. `cell` becomes the one
 * used. */
pl_status pl_search_cell(pl_context *ctx, pl_build_fn build, void *user, int wanted, double *cell,
                         pl_mesh **out);

#endif
