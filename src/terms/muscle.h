/* A muscle of a scene: what adding one leaves to its term. */
#ifndef PL_MUSCLE_H
#define PL_MUSCLE_H

#include "sim/scene.h"

typedef struct pl_muscle {
    int body, count;
    int *element;      /* [count], of the body */
    double *direction; /* [count, 3] in the rest shape, as given */
    int *vertex;       /* [count, 4], of the scene */
    double *along;     /* [count, 4] c, 1/m: the fibre, of length 1 at rest, is sum_a c_a q_a */
    double *volume;    /* [count] at rest, m^3 */
    pl_muscle_law law;
    pl_curve activation;
} pl_muscle;

static inline pl_muscle *pl_muscle_get(const pl_scene *scene, int muscle)
{
    return (pl_muscle *)scene->parts[PL_OWNER_MUSCLE].items + muscle;
}

static inline int pl_muscle_count(const pl_scene *scene)
{
    return scene->parts[PL_OWNER_MUSCLE].count;
}

void pl_muscle_free(pl_context *ctx, pl_muscle *muscle);
/* Activations a law takes: lower <= a < upper. */
void pl_muscle_range(pl_muscle_law law, double *lower, double *upper);

#endif
