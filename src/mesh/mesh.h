/* What the mesh files share: allocation of a mesh, grids of cells, geometry of one element. */
#ifndef PL_MESH_H
#define PL_MESH_H

#include "core/core.h"
#include "core/vec.h"

/* A mesh with zeroed arrays of these sizes and no groups. */
pl_status pl_mesh_new(pl_context *ctx, int vertex_count, int tet_count, int triangle_count,
                      pl_mesh **out);

/* Cells for a length, at least one: round(length / cell). Fails when either is not positive and
 * finite (`name` says which length), or when a mesh could not hold so many. */
pl_status pl_mesh_cells(pl_context *ctx, const char *name, double length, double cell, int *cells);

/* Of a mesh we make: more are a slip of the pen, and would take gigabytes to find that out. */
enum { PL_ELEMENTS_MAX = 10000000 };
/* Fails unless the counts, worked out in double, are of a mesh that may be made. */
pl_status pl_mesh_fits(pl_context *ctx, double vertex_count, double element_count);

/* Makes the volume of tet[4] positive by exchanging its last two vertices when it is not. */
void pl_tet_orient(const double *vertices, int tet[4]);

/* The face opposite each vertex, seen counter-clockwise from outside a tet of positive volume. */
extern const int pl_tet_faces[4][3];

/* (x1-x0)x(x2-x0).(x3-x0) = 6 V */
static inline double pl_tet_volume6(const double *vertices, const int tet[4])
{
    const double *x0 = vertices + 3 * (size_t)tet[0];
    double a[3], b[3], c[3], n[3];
    pl_sub3(vertices + 3 * (size_t)tet[1], x0, a);
    pl_sub3(vertices + 3 * (size_t)tet[2], x0, b);
    pl_sub3(vertices + 3 * (size_t)tet[3], x0, c);
    pl_cross3(a, b, n);
    return pl_dot3(n, c);
}

/* Puts into order[count] the rows of rows[count, width] in ascending lexicographic order; equal rows
 * keep their order. Entries are in [0, limit). */
pl_status pl_sort_rows(pl_context *ctx, int count, int width, const int *rows, int limit, int *order);

/* Ascending order of a few ints, in place. */
void pl_sort_few(int count, int *values);

/* piece [count] = the number, from 0 in the order of their first triangles, of the piece of the surface
 * that each of triangles [count, 3] is of: one that hangs together by edges. */
pl_status pl_surface_pieces(pl_context *ctx, int vertex_count, int count, const int *triangles,
                            int *piece_count, int *piece);
/* An error that names an edge unless the triangles are closed and all turned the same way. */
pl_status pl_surface_check_closed(pl_context *ctx, int vertex_count, int count, const int *triangles);

/* Whether every vertex of an element is in [0, vertex_count) and none comes twice. */
bool pl_element_valid(int width, const int *element, int vertex_count);

#endif
