/*
 * Steps and their adjoints on a device (device/newton.h, device/linear.h): what a scene says in the
 * arrays that devices take, and back. What a device does not cover is refused as a whole, before
 * anything is computed: nothing is done half here and half there.
 *
 * On the device: stress, tangents, matrix, factor, GMRES, detection of contacts, their laws. On the
 * host: forces that do not depend on where a step ends, inputs, the check that nothing passed through
 * anything, and, in a sweep, what parameters get of the adjoint.
 */
#ifndef PL_ON_DEVICE_H
#define PL_ON_DEVICE_H

#include "device/linear.h"
#include "sim/solver.h"

typedef struct pl_on_device {
    pl_system *system;
    const pl_values *values;  /* that the system goes by */
    pl_device_memory forward; /* of steps, */
    pl_device_memory sweep;   /* and of sweeps: they share the factor's memory, so one forgets */
    bool sweeping;            /* whose the factor is */
    double *shapes;           /* [colliders, PL_SHAPE_SIZE] */
    double *pins;             /* [pins, PL_PIN_SIZE] */
    double *slots;            /* [2, n colliders, 3] */
    double *guess;            /* [n, 3] */
    int *active;              /* [n colliders] */
} pl_on_device;

/* For the scene's device; *out NULL where that is the host. Refuses what devices do not cover. */
pl_status pl_on_device_create(const pl_model *model, pl_on_device **out);
void pl_on_device_destroy(pl_context *ctx, pl_on_device *d); /* NULL is fine */
void pl_on_device_forget(pl_on_device *d);

/* As pl_substep_solve. */
pl_status pl_on_device_solve(pl_on_device *d, pl_solver *solver, const pl_substep *sub,
                             const pl_state *warm, pl_substep_result *out);
/* The adjoint system of a substep at q with these contacts, solved for g [n, 3]: z [n, 3], y [m, 3] in
 * the contacts' frames. */
pl_status pl_on_device_adjoint(pl_on_device *d, const pl_substep *sub, const pl_contact_set *set,
                               const double *q, const double *g, double epsilon2, double tolerance,
                               int max_iterations, double *z, double *y, pl_device_answer *out);

#endif
