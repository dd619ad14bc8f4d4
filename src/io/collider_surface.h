/* What an obstacle looks like: triangles in its own frame, outward. */
#ifndef PL_COLLIDER_SURFACE_H
#define PL_COLLIDER_SURFACE_H

#include "core/core.h"

typedef struct pl_triangles {
    int point_count, triangle_count;
    double *points; /* [point_count, 3] m */
    int *corners;   /* [triangle_count, 3] */
} pl_triangles;

/* Round shapes have PL_SURFACE_SEGMENTS corners around. A half-space is the square [-1, 1]^2 in z = 0,
 * for the caller to place and scale. */
enum { PL_SURFACE_SEGMENTS = 48 };
pl_status pl_collider_surface_make(pl_context *ctx, const pl_collider_def *def, pl_triangles *out);
void pl_triangles_free(pl_context *ctx, pl_triangles *triangles);

#endif
