/* The pieces figures are made of: signed distances of a few primitives and their smooth union. */
#ifndef PL_SHAPE_PART_H
#define PL_SHAPE_PART_H

#include "core/core.h"

typedef enum pl_part_kind {
    PL_BALL,  /* ellipsoid: centre a, radii b, turned by turn[0] deg about y, then turn[1] about x */
    PL_LIMB,  /* round cone from a to b with radii turn[0] and turn[1], m */
    PL_BLOCK, /* box: centre a, half sides b */
} pl_part_kind;

typedef struct pl_part {
    pl_part_kind kind;
    double a[3], b[3];
    double turn[2];
    double blend; /* m over which it melts into the parts before it; negative: is carved out of them */
} pl_part;

/* Signed distance, exact near the surface of balls only to first order; negative inside. */
double pl_part_distance(const pl_part *part, const double x[3]);

/* Union of all parts in order, each with its blend. */
double pl_parts_distance(const pl_part *parts, int count, const double x[3]);

#endif
