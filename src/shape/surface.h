/* Triangle surfaces before they are meshed: readers of what pl_mesh_read does not take, and repair. */
#ifndef PL_SHAPE_SURFACE_H
#define PL_SHAPE_SURFACE_H

#include <pliant/shape.h>

#include "mesh/bvh.h"
#include "mesh/read.h"

/* Each fills `raw` from a file that is open in `scan`. */
pl_status pl_read_stl(pl_scan *scan, pl_raw *raw);
pl_status pl_read_ply(pl_scan *scan, pl_raw *raw);

/* A surface ready for a signed distance. */
typedef struct pl_repaired {
    int vertex_count, triangle_count;
    double *vertices; /* [vertex_count, 3] */
    int *triangles;   /* [triangle_count, 3] turned outward as far as can be told */
    int *shell;       /* [triangle_count] connected piece */
} pl_repaired;

/* Welds equal vertices, drops degenerate and repeated triangles, makes neighbours agree on their side,
 * and turns shells outward unless they are cavities of others. Says in `report` what it found and did.
 */
pl_status pl_repair(pl_context *ctx, const pl_mesh *surface, pl_repaired *out,
                    pl_surface_report *report);
void pl_repaired_free(pl_context *ctx, pl_repaired *surface);

#endif
