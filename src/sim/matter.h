/*
 * What follows from the parameters of a scene: lumped masses M, mass-proportional damping C, the
 * elastic energy's moduli. One worker's, for one set of values at a time.
 */
#ifndef PL_MATTER_H
#define PL_MATTER_H

#include "elastic/elastic.h"
#include "sim/scene.h"

typedef struct pl_matter {
    const pl_scene *scene;
    pl_values *values; /* held */
    pl_elastic *elastic;
    double *mass;           /* [n] M, kg */
    double *damping;        /* [n] C, kg/s */
    bool viscous, stiffens; /* whether any element has viscosity, or stiffens (terms/yeoh.c) */
    double margin;          /* how close a vertex is a contact, m */
    pl_solver_kind method;  /* never AUTO */
    double *element;        /* [element_count] scratch */
} pl_matter;

pl_status pl_matter_create(const pl_scene *scene, const pl_elements *elements, pl_matter *out);
void pl_matter_free(pl_matter *m);
/* Goes by these values from now on; whether they are others than before. */
bool pl_matter_use(pl_matter *m, pl_values *values);

#endif
