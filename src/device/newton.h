/*
 * A step of implicit Euler on a device: Newton's method on balance and contact laws together, on the
 * path of the laws (kernels/contact.h), each correction by GMRES with a factor that may be some
 * corrections old. The host reads one small struct a correction, as a rule.
 *
 *     (M + hC)(q - q0) - h M v0 - h^2 f + h^2 dPsi/dq - h^2 H^T lambda = 0,    law(delta, lambda) = 0
 */
#ifndef PL_DEVICE_NEWTON_H
#define PL_DEVICE_NEWTON_H

#include "device/system.h"

/* What is remembered from step to step: without it a step ends at the same place, to its tolerance. */
typedef struct pl_device_memory {
    bool factored; /* there is a factor, */
    double h;      /* of this time step; */
    int usual;     /* iterations of GMRES with it the last time */
} pl_device_memory;

typedef struct pl_device_problem {
    int step; /* for the log, counted from 1 */
    double h, epsilon2, margin, tolerance;
    int max_iterations;
    const double *q0, *v0, *external; /* [n, 3] */
    const double *shapes;             /* [colliders, PL_SHAPE_SIZE] */
    const double *pins;               /* [pins, PL_PIN_SIZE], in the scene's order */
    const double *force; /* [n, colliders, 3] what contacts began with, in the world, N; on the normal
                            first. 0 = none */
} pl_device_problem;

typedef struct pl_device_solution {
    bool converged;
    const char *reason; /* when not */
    int vertex, slot;   /* whose move is largest; of the first element that would invert, or -1 */
    int iterations, linear, factorizations;
    double move, energy; /* the last one, m; elastic, J */
} pl_device_solution;

/* Solves; the arrays PL_A_Q, PL_A_ACTIVE, PL_A_LAMBDA and PL_A_DELTA are then what it found. An error
 * is the device's; a step that does not converge is none. */
pl_status pl_device_newton(pl_system *s, pl_device_memory *memory, const pl_device_problem *p,
                           pl_device_solution *out);

#endif
