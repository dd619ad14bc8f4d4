/* Parts of the study of physics. */
#ifndef PL_STUDY_PHYSICS_H
#define PL_STUDY_PHYSICS_H

#include "study.h"

#include "bench/world.h"

/* Turek and Hron's beam with so many cells across, started; *tip is the vertex in the middle of its
 * end. */
pl_status physics_open_beam(study *s, bench_world *w, int cells, double young, double h,
                            pl_integrator integrator, int *tip);

/* A band pulled over half a turn of a cylinder: the tension ahead of it over that behind. */
pl_status physics_capstan(study *s, double mu, double h, double *ratio);

/* Error against time of the integrators. */
pl_status physics_cost(study *s);

#endif
