/* The built-in bodies as tables: what each is made of and which of its pieces have names. */
#ifndef PL_SHAPE_FIGURE_H
#define PL_SHAPE_FIGURE_H

#include <pliant/shape.h>

#include "shape/part.h"

typedef enum pl_figure_kind {
    PL_FIGURE_SOLID,     /* parts, mirrored in y = 0, cut flat at z = 0 */
    PL_FIGURE_SLAB,      /* the parts' section with z = 0, mirrored, from z = 0 to info.upper */
    PL_FIGURE_SHEET,     /* the parts' section with z = 0 as cloth, mirrored in y = 0 */
    PL_FIGURE_BOX,       /* info.lower to info.upper as a grid of centred cubes */
    PL_FIGURE_RECTANGLE, /* cloth from info.lower to info.upper in the plane z = 0 */
} pl_figure_kind;

/* A named set: vertices, or elements by their centroids, within `slack` cells of the part. When there
 * is none, the nearest one. Not mirrored. */
typedef struct pl_figure_group {
    const char *name;
    bool vertices; /* else elements */
    pl_part region;
    double slack;
} pl_figure_group;

typedef struct pl_figure {
    pl_shape_info info;
    pl_figure_kind kind;
    int part_count, group_count;
    const pl_part *parts; /* with y >= 0; evaluated at (x, |y|, z) */
    const pl_figure_group *groups;
} pl_figure;

extern const pl_figure pl_figure_armadillo, pl_figure_bunny, pl_figure_cow, pl_figure_tux,
    pl_figure_duck, pl_figure_gingerbread, pl_figure_gingerbread_cloth, pl_figure_seal, pl_figure_trunk,
    pl_figure_cube, pl_figure_bar, pl_figure_sphere, pl_figure_curtain, pl_figure_towel;

/* Shorthand for the tables. */
#define PL_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
/* The region between two corners. */
#define PL_BETWEEN(x0, y0, z0, x1, y1, z1)                                                             \
    {                                                                                                  \
        PL_BLOCK, {0.5 * ((x0) + (x1)), 0.5 * ((y0) + (y1)), 0.5 * ((z0) + (z1))},                     \
            {0.5 * ((x1) - (x0)), 0.5 * ((y1) - (y0)), 0.5 * ((z1) - (z0))}, {0}, 0                    \
    }
#define PL_GROUND PL_BETWEEN(-9, -9, -1e-9, 9, 9, 1e-9) /* what stands on z = 0 */

/* Structured figures of about `wanted` vertices: a box of centred cubes (dihedral angles 45 to 90
 * degrees for cubes), a rectangle of squares with alternating diagonals. `cell` becomes the mean side.
 */
pl_status pl_box_build(pl_context *ctx, const pl_shape_info *info, int wanted, double *cell,
                       pl_mesh **out);
pl_status pl_rectangle_build(pl_context *ctx, const pl_shape_info *info, int wanted, double *cell,
                             pl_mesh **out);

/* The section of a solid with the plane z = 0 as cloth, on a lattice of equilateral triangles. */
pl_status pl_sheet_build(pl_context *ctx, const pl_part *parts, int part_count,
                         const pl_shape_info *info, double cell, pl_mesh **out);

#endif
