/*
 * Integrators as data. A substep ends where
 *
 *     (M + hC)(q - p) - h M w - h^2 F(q) - h^2 H^T lambda = 0,     v = (q - p)/h
 *     p = sum_j c_j q_j + h b_j v_j,   w = sum_j c_j v_j + h b_j a_j     over the last states, newest
 * first
 *
 * with a = (v - w)/h - M^-1 H^T lambda of contacts, and of cables that can go slack: the acceleration
 * by all other forces at a state, which is kept where b_j ask for it. A step, or a part of one that was
 * split, is one row of these numbers or several that follow each other. Step, adjoint and tangent sweep
 * read the same rows.
 *
 *     Euler     h = H,   c = (1)
 *     BDF2      h = 2/3 H,   c = (4/3, -1/3)
 *     TR-BDF2   to g = 2 - sqrt 2 of H by h = (1 - 1/sqrt 2) H, c = (1), b = (1), the trapezoidal rule;
 *               then to its end by the same h, c = (1), b = (d, d), d = (sqrt 2 - 1)/2: BDF2 between
 * the three states, the impulse of the first part's contacts left out where it extrapolates
 *
 * Where a motion begins there is no state before it, nor an acceleration. BDF2 leaves that step to
 * Euler, as it does substeps after one of another length. TR-BDF2 goes the first eighth of the step by
 * Euler.
 */
#ifndef PL_INTEGRATOR_H
#define PL_INTEGRATOR_H

#include "core/core.h"

#define PL_LOOK_BACK 2

typedef struct pl_scheme {
    int states;   /* that it looks back at */
    double end;   /* where it ends, as a fraction of the part of the step */
    double theta; /* h as a fraction of that part's length */
    double share; /* of lambda that is the mean force of a contact in the substep */
    double c[PL_LOOK_BACK], b[PL_LOOK_BACK];
} pl_scheme;

/* What an integrator keeps from one state to the next, and how many substeps it makes of a step. */
typedef struct pl_integrator_info {
    int states;         /* that it looks back at */
    bool accelerations; /* that it needs */
    int substeps;
} pl_integrator_info;

const pl_integrator_info *pl_integrator_get(pl_integrator integrator);
/* The rows of a part of length H, the last one with end = 1, after a substep of length `before`, 0 =
 * none. */
const pl_scheme *pl_schemes_for(pl_integrator integrator, double length, double before);
/* Those within a motion. */
const pl_scheme *pl_schemes_get(pl_integrator integrator);

/* out [count] = sum_j c_j x_j + h b_j dx_j; dx may be NULL where b = 0 */
void pl_scheme_combine(const pl_scheme *s, double h, int count, const double *const *x,
                       const double *const *dx, double *out);
/* Whether p and w are other than the last state. */
static inline bool pl_scheme_combines(const pl_scheme *s)
{
    return s->states > 1 || s->b[0] != 0;
}

#endif
