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

/* The channels of a list such as "young,friction"; 0 when a name is unknown. NULL = all. */
pl_channels cli_gradient_kinds(const char *list);

/* Before all their names, for a help or a message, and behind. */
typedef struct cli_kinds {
    char text[1024];
} cli_kinds;
cli_kinds cli_name_kinds(const char *before, const char *behind);
#define CLI_BAD_KINDS "--wrt: expected a list of %s; got '%s'"

#endif
