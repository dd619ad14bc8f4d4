/*
 * The adjoint of a step on a device, at its solution q with forces lambda on their laws:
 *
 *     F (E + G^T) P^T z' + h^2 D z' = F g,      z = P^T z'      y = K^T h^2 H z
 *
 * (kernels/contact.h), with delta_n = eps^2/lambda_n: K is never formed where it is large. The true
 * residual is computed again at the end.
 */
#ifndef PL_DEVICE_LINEAR_H
#define PL_DEVICE_LINEAR_H

#include "device/newton.h"

typedef struct pl_device_adjoint {
    double h, epsilon2, tolerance;
    int max_iterations;
    const double *q, *q0, *g; /* [n, 3] */
    const double *shapes;     /* [colliders, PL_SHAPE_SIZE] */
    const double *pins;       /* [pins, PL_PIN_SIZE], in the scene's order */
    const int *active;        /* [n, colliders] 1: a contact, */
    const double *lambda;     /* [n, colliders, 3] and its force, in its frame, N */
    bool contacts;            /* whether there is any */
} pl_device_adjoint;

typedef struct pl_device_answer {
    bool converged;
    int iterations, factorizations;
    double residual; /* true, relative; */
    double error;    /* of the preconditioned system, relative */
} pl_device_answer;

/* z [n, 3] in the world, y [n, colliders, 3] in the contacts' frames. */
pl_status pl_device_solve_adjoint(pl_system *s, pl_device_memory *memory, const pl_device_adjoint *a,
                                  double *z, double *y, pl_device_answer *out);

#endif
