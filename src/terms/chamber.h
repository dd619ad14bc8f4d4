/* A chamber of a scene: what adding one leaves to its term. */
#ifndef PL_CHAMBER_H
#define PL_CHAMBER_H

#include "sim/scene.h"

typedef struct pl_chamber {
    int body, count;
    int *local;    /* [count, 3] vertices of the body, */
    int *triangle; /* and of the scene: counter-clockwise seen from outside the cavity */
    pl_curve pressure;
    /* With gas: */
    bool gas;
    double ambient; /* Pa, outside */
    double rest;    /* m^3, V0 */
    int wall;       /* vertices of its triangles, */
    int *vertex;    /* [wall] which, of the scene, */
    int *corner;    /* [count, 3] and the triangles' corners among them */
} pl_chamber;

/* What a chamber's gas does at a volume. */
typedef struct pl_gas {
    double energy;    /* J */
    double pressure;  /* Pa above that outside, */
    double by_volume; /* and its derivatives, Pa/m^3 */
    double by_input;
} pl_gas;

/* At the volume, m^3, with the input `pressure`, Pa. */
pl_gas pl_gas_at(const pl_chamber *chamber, double volume, double input);

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
