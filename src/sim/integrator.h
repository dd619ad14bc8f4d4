/*
 * Integrators as data. A substep of length H ends where
 *
 *     (M + hC)(q - p) - h M w - h^2 F(q) - h^2 H^T lambda = 0,     v = (q - p)/h
 *     h = theta H,   p = sum_j c_j q_j,   w = sum_j c_j v_j        over the last states, newest first
 *
 * Implicit Euler has theta = 1, c = (1); BDF2 theta = 2/3, c = (4/3, -1/3). Step, adjoint and tangent
 * sweep read the same row. One that looks back further than there are states, or at substeps of another
 * length (the first of a motion, or where a step is split), leaves that substep to the first row.
 */
#ifndef PL_INTEGRATOR_H
#define PL_INTEGRATOR_H

#include "core/core.h"

#define PL_LOOK_BACK 2

typedef struct pl_scheme {
    int states; /* that it looks back at */
    double theta;
    double c[PL_LOOK_BACK];
} pl_scheme;

const pl_scheme *pl_scheme_get(pl_integrator integrator);
/* The one for a substep of length H, with `before` the length of the one before it, 0 = none. */
const pl_scheme *pl_scheme_for(pl_integrator integrator, double length, double before);

/* out [count] = sum_j c_j x_j */
void pl_scheme_combine(const pl_scheme *s, int count, const double *const *x, double *out);

#endif
