/*
 * Shapes: tetrahedral bodies from any closed surface, and a cast of built-in bodies.
 *
 *     surface file -> pl_surface_read -> pl_tetrahedralize -> mesh
 *     name         -> pl_shape_build                       -> mesh
 *
 * Conventions are those of pliant.h.
 */
#ifndef PLIANT_SHAPE_H
#define PLIANT_SHAPE_H

#include <pliant/pliant.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------- built-in bodies */

typedef struct pl_shape_info {
    const char *name;
    const char *description;
    bool cloth;                /* triangles instead of tetrahedra */
    int vertices;              /* what pl_shape_build makes when asked for 0 */
    double lower[3], upper[3]; /* the body lies within, m */
} pl_shape_info;

/* Index from 0; NULL past the last. The strings live as long as the program. */
PL_API const pl_shape_info *pl_shape_list(int index);

/*
 * Builds a body with about `vertices` vertices (0 = its default; within 10 % when the body can have
 * such a count at all, see pl_shape_info). Solids stand on z = 0, face +x, and are mirror images of
 * themselves in y = 0 (left is y > 0); cloths lie in z = 0. Every dihedral angle lies within 8 and 166
 * degrees. The mesh carries the groups its description names; a group is never empty.
 */
PL_API pl_status pl_shape_build(pl_context *ctx, const char *name, int vertices, pl_mesh **out);

#ifdef __cplusplus
}
#endif
#endif
