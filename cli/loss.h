/* Losses that the commands know by name, of the state at the end of a rollout. */
#ifndef PL_CLI_LOSS_H
#define PL_CLI_LOSS_H

#include <pliant/pliant.h>

typedef struct cli_loss {
    int kind;
    int last;            /* the step that counts */
    int vertex_count;    /* N */
    const double *start; /* [N, 3] positions the distance is measured from; borrowed */
} cli_loss;

/* "distance"  1/(2N) sum |x - start|^2
 * "x", "y", "z"  mean of that coordinate
 * "speed"     1/(2N) sum |v|^2, the kinetic energy per mass when vertices weigh the same
 * Returns false when there is no such loss. `state` is where the rollout starts. */
bool cli_loss_find(const char *name, int steps, const pl_state *state, cli_loss *out);
/* "distance, x, y, z or speed" */
const char *cli_loss_names(void);
/* A pl_loss_fn whose user is a cli_loss. Stops after Ctrl-C. */
bool cli_loss_term(void *user, int step, const double *q, const double *v, double *value, double *dq,
                   double *dv);

/* The PL_GRAD_ bits of a list such as "young,friction"; 0 when a name is unknown. NULL = all. */
unsigned cli_gradient_kinds(const char *list);
/* All of them, for a help; and what to say of a list with another. */
#define CLI_KINDS                                                                                      \
    "position, velocity, vertex_force, force, wind, pin_target,\n"                                     \
    "collider_pose, young, poisson, density, bending, damping, friction, compliance"
#define CLI_BAD_KINDS "--wrt: expected a list of " CLI_KINDS "; got '%s'"

#endif
