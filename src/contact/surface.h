/*
 * The surface of all bodies of a scene, in vertices of the scene: of solids their boundary, of cloth
 * its triangles. Constant; what can meet, and how its pieces hang together.
 */
#ifndef PL_CONTACT_SURFACE_H
#define PL_CONTACT_SURFACE_H

#include "core/core.h"

/* Runs of a body in the lists below: first .. first + count. */
typedef struct pl_run {
    int first, count;
} pl_run;

typedef struct pl_surface_body {
    pl_run vertices, triangles, edges;
    bool sheet;
    double edge_length; /* mean, m, at rest */
} pl_surface_body;

typedef struct pl_surface {
    int vertex_count, triangle_count, edge_count, ring_count;
    int *vertex;         /* [vertex_count] */
    int *triangle;       /* [triangle_count, 3] */
    int *triangle_edge;  /* [triangle_count, 3] from each corner to the next */
    int *edge;           /* [edge_count, 2], the smaller vertex first */
    int *wing;           /* [edge_count, 2] vertices across from it, -1 where there is no triangle */
    double *convex;      /* [edge_count] at rest: 1 of a sheet and from ten degrees on, less by the
                          * square of the angle, 0 of what is flat or concave */
    int *ring_first;     /* [n + 1] neighbours along edges of each vertex of the scene: */
    int *ring;           /* [ring_count] */
    pl_surface_body *of; /* [body_count] */
} pl_surface;

/* One body as the surface sees it. */
typedef struct pl_surface_part {
    int vertex_offset;
    const double *rest; /* [vertices, 3] */
    bool sheet;
    int triangle_count;
    const int *triangles; /* [triangle_count, 3], of the body */
} pl_surface_part;

/* Of a sheet, or convex by ten degrees or more. */
static inline bool pl_surface_sharp(const pl_surface *s, int edge)
{
    return s->convex[edge] >= 1;
}

pl_status pl_surface_create(pl_context *ctx, int n, int part_count, const pl_surface_part *parts,
                            pl_surface **out);
void pl_surface_destroy(pl_context *ctx, pl_surface *surface); /* NULL is fine */

#endif
