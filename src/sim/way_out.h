/*
 * Ways out of one pair, two bodies or a body and a collider: how far the body goes along a direction,
 * against the other, until the pair no longer overlaps. Found by doubling and halving with the very
 * test that refuses starts, so what a way leads to is free.
 */
#ifndef PL_SIM_WAY_OUT_H
#define PL_SIM_WAY_OUT_H

#include "sim/overlap.h"

#define PL_WAY_ROOM 1e-6 /* m that are left in between */

enum { PL_WAY_COUNT = 12 };

/* What is known of a pair's overlaps. */
typedef struct pl_pair_overlap {
    int count;
    pl_overlap deepest; /* of the first kind there is; its `body` goes along its `out` */
    double mean[3];     /* of all ways out of that body, by their depths */
} pl_pair_overlap;

typedef struct pl_ways {
    double unit[PL_WAY_COUNT][3]; /* of the body; 0: none */
    double length[PL_WAY_COUNT];  /* m; 0: not known, longer than the shortest */
    bool barred[PL_WAY_COUNT];    /* leads into something else */
} pl_ways;

/* One more overlap of the pair, as the body sees it. */
void pl_pair_note(pl_pair_overlap *pair, int body, const pl_overlap *o);
/* What there is of a pair where the scene's q0 has it. */
pl_status pl_pair_look(pl_overlap_search *s, int body, int other, int collider, pl_pair_overlap *out);
/* Whether it overlaps there. */
pl_status pl_pair_overlaps(pl_overlap_search *s, int body, int other, int collider, bool *out);

/* The box around a body. */
void pl_body_box(const pl_scene *scene, int body, double lower[3], double upper[3]);
/* Shifts a body. */
void pl_body_shift(pl_scene *scene, int body, double by, const double along[3]);

/* Directions to try for a pair that overlaps. */
pl_ways pl_ways_of(const pl_overlap_search *s, const pl_pair_overlap *pair);
/* The shortest that is not barred, or -1. Of ways as long to a thousandth, the first: against gravity.
 */
pl_status pl_ways_shortest(pl_overlap_search *s, const pl_pair_overlap *pair, pl_ways *ways, int *out);

#endif
