/*
 * Where a collider sticks out: points and segments that edges and faces of bodies touch between their
 * vertices. Either round, the middle of a ball or the axis of a rod with a radius, or sharp, with none.
 *
 *     sphere      its middle
 *     capsule     its axis, and the ends of that
 *     box         its edges and corners
 *     cylinder    its axis, and the rims as polygons in them, 0.2 % of the radius too small
 *     mesh        edges and corners that bend outwards by more than two degrees
 *
 * All in the collider's own frame. A half-space has none.
 *
 * Where a collider is round, or bends little by little, vertices that are close enough tell it all: an
 * edge of length L between two of them sinks in by L^2 / 8 radius. `blunt` is that radius, of a mesh
 * the one that its triangles go around.
 */
#ifndef PL_CONTACT_RIDGE_H
#define PL_CONTACT_RIDGE_H

#include "contact/boxes.h"
#include "contact/collider_mesh.h"

typedef struct pl_ridge {
    int ends;         /* 1: a point, 2: a segment */
    double radius;    /* m, 0: sharp, and then */
    double out[3];    /* out of the collider, unit, */
    int first, sides; /* and directions along its surface away from the ridge, unit */
    double blunt;     /* m, 0: bends all at once */
} pl_ridge;

typedef struct pl_ridges {
    int count, capacity;
    pl_ridge *ridge; /* [count] */
    int x_capacity;
    double *x; /* [count, 2, 3] its ends, m; of a point twice the same */
    int side_count, side_capacity;
    double *side;   /* [side_count, 3] */
    double largest; /* radius, m, */
    double least;   /* and the least that any is blunt */
    pl_boxes tree;  /* around them all, without their radii */
} pl_ridges;

/* Of a shape; of one that is a mesh, of that. */
pl_status pl_ridges_create(pl_context *ctx, pl_shape shape, const double size[3],
                           const pl_collider_mesh *mesh, pl_ridges *out);
void pl_ridges_free(pl_context *ctx, pl_ridges *ridges);

#endif
