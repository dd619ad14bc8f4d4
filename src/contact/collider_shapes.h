/*
 * Signed distances in a collider's own frame. The curvature is kept by its two principal values, so
 * that turning it into the world costs two rotated vectors and leaves it exactly symmetric:
 *
 *     kappa = bend (I - n n^T - axis axis^T) + axis_bend axis axis^T
 */
#ifndef PL_COLLIDER_SHAPES_H
#define PL_COLLIDER_SHAPES_H

#include "contact/shape_kernel.h"
#include "core/core.h"

/* m: where larger obstacles end, doubles are further apart than what touches them can bear. */
#define PL_COLLIDER_LARGEST 1e9

/* 1/length, kept finite: the curvature of a distance is unbounded at creases and centres. */
double pl_reciprocal(double length);

/* The closed-form shapes (every pl_shape but PL_MESH); x and the answer in the shape's frame. */
void pl_shape_query(pl_shape shape, const double size[3], const double x[3], pl_local_point *out);

/* The distance to the round surface of a shape that has one, gone on with past where that ends: of a
 * sphere and a capsule all of it, of a cylinder its side. */
void pl_shape_round(pl_shape shape, const double size[3], const double x[3], pl_local_point *out);

/* The shape's bounding box in its frame; for the half-space infinite except for z <= 0. */
void pl_shape_bounds(pl_shape shape, const double size[3], double lower[3], double upper[3]);

#endif
