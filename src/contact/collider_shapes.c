/* The closed-form shapes (shape_kernel.h), and their boxes. */
#include "contact/collider_shapes.h"

double pl_reciprocal(double length)
{
    return shape_reciprocal(length);
}

void pl_shape_query(pl_shape shape, const double size[3], const double x[3], pl_local_point *out)
{
    shape_query(shape, size, x, out);
}

void pl_shape_round(pl_shape shape, const double size[3], const double x[3], pl_local_point *out)
{
    shape_round(shape, size, x, out);
}

void pl_shape_bounds(pl_shape shape, const double size[3], double lower[3], double upper[3])
{
    double tall = shape == PL_CAPSULE ? size[0] + size[1] : size[1];
    double half[3] = {INFINITY, INFINITY, INFINITY};
    if (shape == PL_SPHERE)
        half[0] = half[1] = half[2] = size[0];
    else if (shape == PL_BOX)
        memcpy(half, size, sizeof half);
    else if (shape == PL_CYLINDER || shape == PL_CAPSULE)
        half[0] = half[1] = size[0], half[2] = tall;
    for (int i = 0; i < 3; i++)
        lower[i] = -half[i], upper[i] = half[i];
    if (shape == PL_HALF_SPACE)
        upper[2] = 0.0;
}
