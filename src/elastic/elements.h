/*
 * What of the bodies' elastic energy does not change: element topology and rest shapes, bending
 * stencils, the pattern of the tangent and the maps by which it is put together. Nothing is written
 * after creation, so any number of pl_elastic, in any threads, may share one.
 */
#ifndef PL_ELEMENTS_H
#define PL_ELEMENTS_H

#include "core/core.h"
#include "linalg/sparse.h"

typedef struct pl_elastic_body {
    int vertex_offset; /* of its first vertex in arrays [n, 3] */
    int vertex_count;
    const double *rest; /* [vertex_count, 3] */
    bool cloth;
    int element_count;
    const int *elements; /* [element_count, 4 or 3], body-local vertices */
    pl_material model;
    pl_reading reading;
    double thickness; /* cloth */
    bool mean_volume; /* changes of volume are resisted elsewhere (terms/mean_volume.c) */
} pl_elastic_body;

typedef struct pl_elements pl_elements;

/* Elements are numbered body by body, in the order given. The pattern also has the pairs of the `extra`
 * stencils, for other energies; they find their entries with pl_pattern_find. Nothing given is kept.
 * The context must outlive the object. */
pl_status pl_elements_create(pl_context *ctx, int vertex_count, int body_count,
                             const pl_elastic_body *bodies, int extra_count, const pl_stencils *extra,
                             pl_elements **out);
void pl_elements_destroy(pl_elements *elements);

/* Where the tangent has entries: elements, bending and extra stencils. Owned by `elements`. */
const pl_pattern *pl_elements_pattern(const pl_elements *elements);

/* Rest volume of each element (area times thickness for cloth), m^3: [element_count]. */
const double *pl_elements_volume(const pl_elements *elements);

#endif
