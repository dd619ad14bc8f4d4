/* Unstructured grids for ParaView: VTK's XML format with appended raw binary data. */
#ifndef PL_VTU_H
#define PL_VTU_H

#include "core/core.h"

/* One named field; values [count, components], count = points or cells. */
typedef struct pl_vtu_field {
    const char *name;
    int components;
    const double *values;
} pl_vtu_field;

typedef struct pl_vtu {
    int point_count;
    const double *points; /* [point_count, 3] */
    int cell_count;
    const int *corners;         /* all cells' corners, one after the other */
    const int *ends;            /* [cell_count]: where each cell's corners end */
    const unsigned char *types; /* [cell_count]: 3 line, 5 triangle, 10 tetrahedron */
    int point_field_count, cell_field_count;
    const pl_vtu_field *point_fields, *cell_fields;
} pl_vtu;

/* Fails with PL_ERROR_FILE when the disk is full; the file may then be there in part. */
pl_status pl_vtu_write(pl_context *ctx, const char *path, const pl_vtu *vtu);

/* A collection over time: file_of(i) of `count` files. */
typedef struct pl_pvd_entry {
    double time;
    int step;
} pl_pvd_entry;

/* Writes path, naming "<folder>/<step, six digits>.vtu" for each entry. */
pl_status pl_pvd_write(pl_context *ctx, const char *path, const char *folder, int count,
                       const pl_pvd_entry *entries);

#endif
