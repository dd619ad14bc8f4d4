/*
 * Solids as signed distances, and the lattice that samples them. A field is negative inside; only its
 * zero set and its signs are used, so it need not be an exact distance.
 */
#ifndef PL_SHAPE_FIELD_H
#define PL_SHAPE_FIELD_H

#include "core/core.h"

/* Must be callable from several threads at once. */
typedef double (*pl_field_fn)(const void *user, const double x[3]);

typedef struct pl_field {
    pl_field_fn distance; /* < 0 inside */
    const void *user;
    /* When the field is a true distance to where its sign changes, and the sign costs more than the
     * size: the size alone. Points that no surface can separate then share one sign. NULL = not so. */
    pl_field_fn magnitude;
    double tolerance;          /* of a vertex on the surface, in edges; 0 = 1e-6 */
    double lower[3], upper[3]; /* the solid lies within, m */
    double anchor[3];          /* a lattice point goes here */
    bool mirror;               /* distance(x, y, z) == distance(x, -y, z) to the last bit */
} pl_field;

/*
 * Tetrahedra filling the field on a body-centred cubic lattice of spacing `cell`: isosurface stuffing
 * (Labelle and Shewchuk 2007), dihedral angles within 10.7 and 164.8 degrees whatever the field. The
 * result may fall apart or touch itself where the field is thinner than a cell: see clean.h.
 */
pl_status pl_stuff(pl_context *ctx, const pl_field *field, double cell, pl_mesh **out);

#endif
