/* The curvature of each cloth triangle as weights of the vertices around it. */
#ifndef PL_BENDING_PATCH_H
#define PL_BENDING_PATCH_H

#include "elastic/elements.h"

/* Vertices that a triangle's curvature can depend on: its own, one beyond each side, and two beyond
 * each of those. */
#define PL_PATCH 12

/* kappa = sum_k weight_k x_k of one triangle. */
typedef struct pl_bending_patch {
    int element;
    int count;                  /* of its vertices */
    int vertex[PL_PATCH];       /* [count] */
    double weight[PL_PATCH][3]; /* [count, 3] for kappa_xx, kappa_yy, sqrt 2 kappa_xy, 1/m^2; sum 0 */
    double area;                /* m^2 */
} pl_bending_patch;

/* The patches of the cloth bodies' triangles that bend. *out is the caller's. */
pl_status pl_bending_patches(pl_context *ctx, int body_count, const pl_elastic_body *bodies, int *count,
                             pl_bending_patch **out);

#endif
