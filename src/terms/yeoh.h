/* Stiffening of rubber: what of it pictures and energies take. */
#ifndef PL_YEOH_H
#define PL_YEOH_H

#include "sim/matter.h"

/* energies [m] J, unless NULL, += each element's; returns the sum. */
double pl_yeoh_energy(const pl_scene *scene, pl_matter *matter, const double *q, double *energies);
/* [m] a of the stress a F that it adds to each element's, Pa, in the matter's scratch; NULL = none. */
const double *pl_yeoh_stress(const pl_scene *scene, pl_matter *matter, const double *q);

#endif
