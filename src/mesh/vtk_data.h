/* What the two VTK formats share: numbers of a named type, and cells. */
#ifndef PL_MESH_VTK_DATA_H
#define PL_MESH_VTK_DATA_H

#include "mesh/raw.h"
#include "mesh/scan.h"

typedef struct pl_vtk_type {
    const char *xml, *legacy; /* its names, NULL where it has none */
    int size;
    bool real, is_signed;
} pl_vtk_type;

/* NULL when no type has that name. */
const pl_vtk_type *pl_vtk_find_type(pl_word name, bool xml);

/* `count` numbers of a type from bytes[count, size]. */
void pl_vtk_load_reals(const pl_vtk_type *type, const char *bytes, size_t count, bool big_endian,
                       double *values);
void pl_vtk_load_integers(const pl_vtk_type *type, const char *bytes, size_t count, bool big_endian,
                          int64_t *values);

/* Cells as a file has them: cell c has the points from end[c-1] to end[c]. */
typedef struct pl_vtk_cells {
    size_t mark; /* where in the file failures point */
    int count, point_count;
    int64_t *type;       /* [count]; NULL = polygons */
    int64_t *end;        /* [count] */
    int64_t *point;      /* [point_count] */
    int *tet_start;      /* [count + 1] or NULL: the tets of cell c are tet_start[c] up to the next's */
    int *triangle_start; /* [count + 1] or NULL */
} pl_vtk_cells;

void pl_vtk_cells_free(pl_context *ctx, pl_vtk_cells *cells);

/* Adds the cells to raw, whose vertices from first_vertex on are the points they number. */
pl_status pl_vtk_add_cells(pl_scan *scan, pl_raw *raw, const pl_vtk_cells *cells, int first_vertex);

#endif
