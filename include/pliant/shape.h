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
 * themselves in y = 0 (left is y > 0; below some 200 vertices limbs one cell thick may break that);
 * cloths lie in z = 0. Every dihedral angle lies within 8 and 166
 * degrees. The mesh carries the groups its description names; a group is never empty.
 */
PL_API pl_status pl_shape_build(pl_context *ctx, const char *name, int vertices, pl_mesh **out);

/* ------------------------------------------------------------------------------- surfaces */

/*
 * Reads a triangle surface by its extension: .obj, .stl (binary and text), .ply (binary and text), or
 * anything pl_mesh_read takes, of which the boundary counts. Polygons become fans of triangles. The
 * result is a mesh without tets, exactly as in the file: faults are left for pl_tetrahedralize to say.
 */
PL_API pl_status pl_surface_read(pl_context *ctx, const char *path, pl_mesh **out);

/* What is wrong with a surface, and what was done about it. All zero but the first group: clean. */
typedef struct pl_surface_report {
    int vertices, triangles; /* as given */
    int shells;              /* connected pieces after welding */
    int merged;              /* vertices welded onto others at the same place */
    int degenerate;          /* triangles without area, dropped */
    int duplicate;           /* triangles given twice, dropped */
    int turned;              /* triangles turned to agree with their neighbours */
    int inverted_shells;     /* pieces that were inside out as a whole, turned */
    int open_edges;          /* edges of one triangle: holes, closed by the winding number */
    int branching_edges;     /* edges of three or more triangles */
    int one_sided_edges;     /* edges whose triangles cannot agree (a Moebius band) */
    int crossing;            /* triangles that pass through others: the union is meshed */
    double volume;           /* m^3 within; NAN when open or crossing, where it has no plain meaning */
    double lower[3], upper[3]; /* bounding box, m */
} pl_surface_report;

/* ------------------------------------------------------------------------------- meshing */

typedef struct pl_tetrahedralize_def {
    double cell;  /* lattice spacing, m; 0 = from vertices */
    int vertices; /* wanted number, met within 10 %; 0 = from cell, or 2000 when that is 0 too */
} pl_tetrahedralize_def;

#define PL_WORST_COUNT 5

typedef struct pl_tetrahedralize_report {
    pl_surface_report surface;
    double cell; /* m, used */
    int vertices, tets, components;
    double volume;                      /* m^3 of the tets */
    double volume_error;                /* (volume - surface.volume) / surface.volume, or NAN */
    double min_dihedral, max_dihedral;  /* degrees */
    int worst[PL_WORST_COUNT];          /* tets with the most extreme angles, worst first; -1 = none */
    double worst_angle[PL_WORST_COUNT]; /* their most extreme dihedral angle, degrees */
    int dropped;                        /* fragments dropped: features thinner than a cell */
    double dropped_volume;              /* m^3 in them */
    double milliseconds;
} pl_tetrahedralize_report;

PL_API pl_tetrahedralize_def pl_tetrahedralize_def_default(void);

/*
 * Fills a closed surface (the triangles of `surface`, or the boundary of its tets) with tetrahedra by
 * isosurface stuffing on a signed distance: nearest triangle, sign from the generalised winding number.
 * Holes, crossings and flipped parts are survived and said, in the report and as warnings through the
 * log. Edges sharper than a cell are cut off; parts thinner than a cell may vanish, which the volume
 * error and `dropped` show. def NULL = the defaults; report may be NULL.
 */
PL_API pl_status pl_tetrahedralize(pl_context *ctx, const pl_mesh *surface,
                                   const pl_tetrahedralize_def *def, pl_mesh **out,
                                   pl_tetrahedralize_report *report);

/* ------------------------------------------------------------------------------- embedding */

/* Points carried by a solid: point i is the sum over k of weight[i, k] times vertex[i, k]. */
typedef struct pl_embedding {
    int count;
    int *vertex;    /* [count, 4] */
    double *weight; /* [count, 4], sum 1; negative where the point lies outside its tet */
} pl_embedding;

/* Ties points [count, 3] to the tets of a mesh: to the one that holds it, or the nearest. Linear
 * deformations carry over exactly. */
PL_API pl_status pl_embedding_create(pl_context *ctx, const pl_mesh *mesh, int count,
                                     const double *points, pl_embedding **out);
PL_API void pl_embedding_destroy(pl_context *ctx, pl_embedding *embedding); /* NULL is fine */
/* points [count, 3] from the solid's vertex positions q [n, 3]. */
PL_API void pl_embedding_apply(const pl_embedding *embedding, const double *q, double *points);

#ifdef __cplusplus
}
#endif
#endif
