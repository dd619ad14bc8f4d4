/*
 * Rigid obstacles as signed distances. A query at x gives the distance phi (> 0 outside), the unit
 * normal n = grad phi and the curvature kappa = grad n = hess phi, all in world coordinates.
 */
#ifndef PL_COLLIDER_H
#define PL_COLLIDER_H

#include "contact/ridge.h"

typedef struct pl_surface_point {
    double distance;     /* phi(x), m */
    double normal[3];    /* n, unit */
    double curvature[9]; /* kappa, symmetric, kappa n = 0, 1/m */
    bool round;          /* on a round surface (pl_collider_round) */
} pl_surface_point;

typedef struct pl_collider pl_collider;

/* Checks the definition (shape, size, friction, pose, surface) and copies it; names the bad field. */
pl_status pl_collider_create(pl_context *ctx, const pl_collider_def *def, pl_collider **out);
void pl_collider_destroy(pl_context *ctx, pl_collider *collider);
/* The shape and size it was made with. */
pl_shape pl_collider_shape(const pl_collider *collider, double size[3]);
/* The surface of a mesh collider, its own; NULL for other shapes. */
const pl_mesh *pl_collider_surface(const pl_collider *collider);

/* Where it sticks out. */
const pl_ridges *pl_collider_ridges(const pl_collider *collider);

/* Distance, normal and curvature at x for a collider at `pose` (position, unit quaternion). Off the
 * surface's creases the three are exact derivatives of each other, inside as well as outside. */
void pl_collider_query(const pl_collider *collider, const double pose[7], const double x[3],
                       pl_surface_point *out);

/* The same of the round surface alone that some shapes have, where a query near x was `round`: a
 * sphere, the side of a cylinder, of any length, a capsule. Twice differentiable but where a capsule's
 * side ends, and once there. */
void pl_collider_round(const pl_collider *collider, const double pose[7], const double x[3],
                       pl_surface_point *out);

/* False only if the distance at x is certainly above `margin`: a cheap test before a query. */
bool pl_collider_near(const pl_collider *collider, const double pose[7], const double x[3],
                      double margin);

#endif
