/* The built-in bodies as tables: what each is made of and which of its pieces have names. */
#ifndef PL_SHAPE_FIGURE_H
#define PL_SHAPE_FIGURE_H

#include <pliant/shape.h>

#include "shape/part.h"

typedef enum pl_figure_kind {
    PL_FIGURE_SOLID,     /* parts, mirrored in y = 0, cut flat at z = 0 */
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
#define PL_XYZ(x, y, z)                                                                                \
    {                                                                                                  \
        x, y, z                                                                                        \
    }
#define PL_EVERYWHERE 10.0 /* m, larger than any figure */

#endif
