/* A chamber of a scene: what adding one leaves to its term. */
#ifndef PL_CHAMBER_H
#define PL_CHAMBER_H

#include "sim/scene.h"

typedef struct pl_chamber {
    int body, count;
    int *local;    /* [count, 3] vertices of the body, */
    int *triangle; /* and of the scene: counter-clockwise seen from outside the cavity */
    pl_curve pressure;
} pl_chamber;

static inline pl_chamber *pl_chamber_get(const pl_scene *scene, int chamber)
{
    return (pl_chamber *)scene->parts[PL_OWNER_CHAMBER].items + chamber;
}

static inline int pl_chamber_count(const pl_scene *scene)
{
    return scene->parts[PL_OWNER_CHAMBER].count;
}

void pl_chamber_free(pl_context *ctx, pl_chamber *chamber);

#endif
