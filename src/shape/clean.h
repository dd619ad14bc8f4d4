/* Makes a stuffed mesh a proper solid: manifold boundary, one piece per piece of the input. */
#ifndef PL_SHAPE_CLEAN_H
#define PL_SHAPE_CLEAN_H

#include "core/core.h"

/* Which piece of the input x lies nearest to, in [0, count). */
typedef struct pl_pieces {
    int count;
    int (*nearest)(const void *user, const double x[3]); /* not called when count is 1 */
    const void *user;
} pl_pieces;

typedef struct pl_clean_report {
    int components;        /* kept */
    int dropped;           /* components dropped: fragments of pieces already represented */
    double dropped_volume; /* m^3 in them */
    int pinched;           /* tetrahedra removed where the mesh touched itself in a vertex or an edge */
    double lost;           /* share of the volume before cleaning that is gone, by either */
} pl_clean_report;

/*
 * In place: removes tetrahedra until the boundary is a manifold, then keeps, largest first, each
 * face-connected component that is nearest to a piece of the input no larger component was near to,
 * then drops unreferenced vertices. Groups must not exist yet.
 */
pl_status pl_clean(pl_context *ctx, pl_mesh *mesh, const pl_pieces *pieces, pl_clean_report *report);

#endif
