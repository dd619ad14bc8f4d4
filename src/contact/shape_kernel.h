/*
 * Distance to a half-space, sphere, box, cylinder and capsule, with x in the shape's frame, for the
 * library and for the kernels of devices. Each is the distance to the nearest feature: face (flat),
 * edge or side (bent one way), corner or ball (bent both ways); inside, the nearest face. On creases,
 * axes and centres one of the valid normals is taken, always the same one.
 */
#ifndef PL_SHAPE_KERNEL_H
#define PL_SHAPE_KERNEL_H

#include "core/vec.h"

#include <pliant/pliant.h>

#include <float.h>

typedef struct pl_local_point {
    double distance;
    double normal[3]; /* unit */
    double axis[3];   /* unit and normal to n; zero where both values are `bend` */
    double bend;      /* principal curvature across the axis, 1/m */
    double axis_bend; /* along it, 1/m */
    bool round;       /* on a ball or side, whose distance goes on evenly around (pl_shape_round) */
} pl_local_point;

static inline void shape_clear(pl_local_point *out)
{
    out->distance = out->bend = out->axis_bend = 0.0;
    out->round = false;
    for (int i = 0; i < 3; i++)
        out->normal[i] = out->axis[i] = 0.0;
}

static inline double shape_reciprocal(double length)
{
    return 1.0 / (fabs(length) > DBL_MIN ? length : copysign(DBL_MIN, length));
}

/* |x|, and x/|x| in `unit`, of nothing the axis `fallback`; components as small as denormals keep their
 * direction. */
static inline double direction(const double x[3], int fallback, double unit[3])
{
    double big = fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2])));
    if (big == 0.0) {
        for (int i = 0; i < 3; i++)
            unit[i] = i == fallback ? 1.0 : 0.0;
        return 0.0;
    }
    double y[3] = {x[0] / big, x[1] / big, x[2] / big};
    double norm = pl_norm3(y);
    for (int i = 0; i < 3; i++)
        unit[i] = y[i] / norm;
    return big * norm;
}

/* Distance to a point is |x|, curvature (I - n n^T)/|x|; a ball's is less its radius. */
static inline void query_ball(double radius, const double x[3], pl_local_point *out)
{
    double r = direction(x, 2, out->normal);
    out->distance = r - radius;
    out->bend = out->axis_bend = shape_reciprocal(r);
    out->round = true;
}

/* The same about the z axis: x[2] plays no part, and the curvature along z is 0. */
static inline void query_side(double radius, const double x[3], pl_local_point *out)
{
    double radial[3] = {x[0], x[1], 0.0};
    double r = direction(radial, 0, out->normal);
    out->distance = r - radius;
    out->bend = shape_reciprocal(r);
    out->axis[2] = 1.0;
    out->round = true;
}

static inline void query_box(const double extent[3], const double x[3], pl_local_point *out)
{
    double over[3], inside = -HUGE_VAL; /* signed distance to the three pairs of faces */
    int above = 0, face = 0, level = 0; /* coordinates outside, nearest face, last coordinate inside */
    for (int i = 0; i < 3; i++) {
        over[i] = fabs(x[i]) - extent[i];
        if (over[i] > inside)
            inside = over[i], face = i;
        if (over[i] > 0.0)
            above++;
        else
            level = i;
    }
    if (above < 2) {
        out->distance = inside;
        out->normal[face] = copysign(1.0, x[face]);
        return;
    }
    double to[3]; /* from the nearest edge or corner */
    for (int i = 0; i < 3; i++)
        to[i] = over[i] > 0.0 ? copysign(over[i], x[i]) : 0.0;
    out->distance = direction(to, 2, out->normal);
    out->bend = out->axis_bend = shape_reciprocal(out->distance);
    if (above == 2) {
        out->axis[level] = 1.0;
        out->axis_bend = 0.0;
    }
}

static inline void query_cylinder(double radius, double half_height, const double x[3],
                                  pl_local_point *out)
{
    double radial[3] = {x[0], x[1], 0.0}, u[3], n[3];
    double rho = direction(radial, 0, u);
    double dr = rho - radius, dz = fabs(x[2]) - half_height;
    if (dr > 0.0 && dz > 0.0) {
        /* From the rim's nearest point: a circle, whose own bending is (n.u)/rho along the circle. */
        double to[3] = {dr, 0.0, copysign(dz, x[2])};
        out->distance = direction(to, 2, n);
        out->normal[0] = n[0] * u[0], out->normal[1] = n[0] * u[1], out->normal[2] = n[2];
        out->axis[0] = -u[1], out->axis[1] = u[0];
        out->bend = shape_reciprocal(out->distance);
        out->axis_bend = n[0] / rho;
    } else if (dr > dz) {
        query_side(radius, x, out);
    } else {
        out->distance = dz;
        out->normal[2] = copysign(1.0, x[2]);
    }
}

static inline void query_capsule(double radius, double half_height, const double x[3],
                                 pl_local_point *out)
{
    if (fabs(x[2]) <= half_height) {
        query_side(radius, x, out);
        return;
    }
    double to[3] = {x[0], x[1], x[2] - copysign(half_height, x[2])};
    query_ball(radius, to, out);
}

static inline void shape_query(pl_shape shape, const double size[3], const double x[3],
                               pl_local_point *out)
{
    shape_clear(out);
    switch (shape) {
    case PL_SPHERE:
        query_ball(size[0], x, out);
        break;
    case PL_BOX:
        query_box(size, x, out);
        break;
    case PL_CYLINDER:
        query_cylinder(size[0], size[1], x, out);
        break;
    case PL_CAPSULE:
        query_capsule(size[0], size[1], x, out);
        break;
    default: /* PL_HALF_SPACE */
        out->distance = x[2];
        out->normal[2] = 1.0;
        break;
    }
}

static inline void shape_round(pl_shape shape, const double size[3], const double x[3],
                               pl_local_point *out)
{
    if (shape != PL_CYLINDER) {
        shape_query(shape, size, x, out);
        return;
    }
    shape_clear(out);
    query_side(size[0], x, out);
}

#endif
