/* Cloths that drape over a sphere, many at once: the scene of `bench batch` and `suite cloth_batch`. */
#ifndef PL_BENCH_DRAPE_H
#define PL_BENCH_DRAPE_H

#include <pliant/pliant.h>

enum { DRAPE_STEPS = 50 };

/*
 * A square of 1 m and 1 mm, 1000 kg/m^3, ARAP, bending 1e-4 N m, of cells x cells squares with both
 * diagonals (22: 1,013 vertices, 1,936 triangles), 5 mm above a frictionless sphere of radius 0.15 m;
 * time step 0.01 s.
 */
pl_status drape_scene(pl_context *ctx, int cells, pl_scene **out);

/* Young's modulus of environment e, Pa: spread evenly over the logarithms of 1e4 to 1e6. */
double drape_young(int e);

#endif
