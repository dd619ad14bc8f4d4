/*
 * What a reader collects from a file before it is a mesh: vertices, elements, named groups and which
 * element is in which. pl_raw_finish checks and repairs it the same way for every format.
 */
#ifndef PL_MESH_RAW_H
#define PL_MESH_RAW_H

#include "mesh/mesh.h"

typedef struct pl_raw_group {
    pl_group_kind kind;
    int64_t tag; /* the file's own number for it */
    char *name;
} pl_raw_group;

typedef struct pl_raw_label {
    int group; /* of pl_raw.groups */
    int index; /* of the vertex, tet or triangle */
} pl_raw_label;

typedef struct pl_raw {
    pl_context *ctx;
    const char *path;
    int vertex_count, vertex_capacity;
    double *vertices; /* [vertex_count, 3] */
    int tet_count, tet_capacity;
    int *tets; /* [tet_count, 4] */
    int triangle_count, triangle_capacity;
    int *triangles; /* [triangle_count, 3] */
    int group_count, group_capacity;
    pl_raw_group *groups;
    int label_count, label_capacity;
    pl_raw_label *labels;
    int skipped; /* points and lines that mean nothing to a mesh */
} pl_raw;

void pl_raw_free(pl_raw *raw);

pl_status pl_raw_add_vertex(pl_raw *raw, const double x[3]);
pl_status pl_raw_add_tet(pl_raw *raw, const int v[4]);
/* A polygon of n >= 3 vertices as a fan of triangles from its first. */
pl_status pl_raw_add_polygon(pl_raw *raw, int n, const int *v);
/* Names a group; a repeated (kind, name) joins the first of that name. */
pl_status pl_raw_add_group(pl_raw *raw, pl_group_kind kind, int64_t tag, const char *name,
                           size_t length);
/* Puts one vertex or element into the group of (kind, tag); without such a group does nothing. */
pl_status pl_raw_add_label(pl_raw *raw, pl_group_kind kind, int64_t tag, int index);

/*
 * The mesh. Fails with PL_ERROR_MESH on no, degenerate, duplicate or impossible elements, by index.
 * Repairs with a warning: inverted tets, wrongly turned triangles, vertices of no element.
 */
pl_status pl_raw_finish(pl_raw *raw, pl_mesh **out);

/* Turns the triangles of a solid outward where they lie on its boundary; *turned counts. */
pl_status pl_orient_boundary(pl_context *ctx, pl_mesh *mesh, int *turned, int *first);
/* Turns the triangles of a surface so that neighbours agree, by the fewest turns in each connected
 * piece, and all of them when the surface is closed and its volume negative. */
pl_status pl_orient_surface(pl_context *ctx, pl_mesh *mesh, int *turned, int *first);

#endif
