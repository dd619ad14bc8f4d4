/* A closed triangle surface as a signed distance, in the surface's own frame. */
#ifndef PL_COLLIDER_MESH_H
#define PL_COLLIDER_MESH_H

#include "contact/collider_shapes.h"

typedef struct pl_collider_mesh pl_collider_mesh;

/* Copies the source's surface (its triangles, or the boundary of its tets) and checks that it encloses
 * a volume: every edge between two triangles that run along it in opposite directions, facing outwards.
 */
pl_status pl_collider_mesh_create(pl_context *ctx, const pl_mesh *source, pl_collider_mesh **out);
void pl_collider_mesh_destroy(pl_context *ctx, pl_collider_mesh *mesh); /* NULL is fine */

void pl_collider_mesh_query(const pl_collider_mesh *mesh, const double x[3], pl_local_point *out);
void pl_collider_mesh_bounds(const pl_collider_mesh *mesh, double lower[3], double upper[3]);
/* The copy: vertices and triangles, nothing else. */
const pl_mesh *pl_collider_mesh_surface(const pl_collider_mesh *mesh);
/* A triangle's unit normal [3], and the triangle beyond its edge from corner k to the next. */
const double *pl_collider_mesh_normal(const pl_collider_mesh *mesh, int triangle);
int pl_collider_mesh_across(const pl_collider_mesh *mesh, int triangle, int k);

#endif
