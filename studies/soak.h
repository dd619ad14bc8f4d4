/* Random scenes, and what an onlooker who knows only Newton's laws says of their steps. */
#ifndef PL_SOAK_H
#define PL_SOAK_H

#include "study.h"

enum { SOAK_KINDS = 11, SOAK_STEPS = 20, SOAK_BODIES = 2 };
extern const char *const soak_kinds[SOAK_KINDS];

typedef struct soak_scene {
    int kind, steps; /* at most SOAK_STEPS */
    int bodies;
    double density[SOAK_BODIES], thickness[SOAK_BODIES]; /* the onlooker weighs them himself */
    char *text;                                          /* the scene file, freed with free() */
    size_t length;
} soak_scene;

/* Scene `index` of a seed: the same whatever came before. */
soak_scene soak_make(unsigned seed, int index, const char *solver);

/* Masses of the vertices, [n]; of solids a quarter of each tet, of cloth a third of each triangle. */
pl_status soak_weigh(const pl_scene *scene, const soak_scene *s, double *mass);

/* The vertices [first, last) of a body. */
typedef struct soak_body {
    int first, last;
} soak_body;

/*
 * How far a step without splits is from balance of a body as a whole, m: by how much what is missing
 * would move it. Forces are gravity and those of contacts, all others being between parts of the body:
 *
 *     sum m (v1 - v0) = h sum f        sum q1 x m (v1 - v0) = h sum q1 x f
 *
 * and with BDF2, after a step as long, (3 v1 - 4 v0 + v-1) / 2 for v1 - v0.
 */
double soak_imbalance(const pl_state *before, const pl_state *after, const double *mass, soak_body body,
                      const double gravity[3], double h);

/* How many vertices of bodies' surfaces are inside another body: in more of its tets than are turned
 * inside out there, which cover a place that is outside once more each. */
pl_status soak_inside(pl_context *ctx, const pl_scene *scene, const pl_state *state, int *count);

#endif
