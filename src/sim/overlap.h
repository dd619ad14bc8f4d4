/*
 * What a start must not have: something inside something else, or nearer than it is kept apart. Each
 * such place tells how deep it is and which way out a body has as a whole.
 *
 *     vertices in obstacles, obstacles in bodies between their vertices, edges in obstacles between
 *     theirs; vertices in other bodies, edges through other bodies or the body's own, and what is too
 *     close
 */
#ifndef PL_SIM_OVERLAP_H
#define PL_SIM_OVERLAP_H

#include "sim/model.h"

/* In the order in which they are told. */
typedef enum pl_overlap_kind {
    PL_OVERLAP_VERTEX,   /* of a body, in a collider */
    PL_OVERLAP_COLLIDER, /* in a body, or through it */
    PL_OVERLAP_EDGE,     /* of a body, in a collider */
    PL_OVERLAP_INSIDE,   /* a vertex of a body, in another */
    PL_OVERLAP_THROUGH,  /* an edge of a body, through another or itself */
    PL_OVERLAP_CLOSE,    /* a vertex of a body, to another or to its own parts */
    PL_OVERLAP_COUNT
} pl_overlap_kind;

typedef struct pl_overlap {
    pl_overlap_kind kind;
    int body;      /* which moves along `out` by `depth`, or the other against it, */
    int other;     /* a body, maybe the same; -1: */
    int collider;  /* this */
    int vertex[2]; /* of the body, in the scene; the second of edges alone */
    double depth;  /* m */
    double out[3]; /* unit */
    double apart;  /* m, what is kept between surfaces that are too close */
} pl_overlap;

typedef pl_status (*pl_overlap_fn)(void *user, const pl_overlap *overlap);

typedef struct pl_overlap_search {
    const pl_model *m;
    double *pose;    /* [collider_count, 7] where colliders are at the start */
    double harmless; /* m: out of obstacles the first step pushes that at 1 mm/s */
    bool *touches;   /* [bodies, bodies] symmetric, and */
    bool *obstructs; /* [bodies, collider_count] which pairs are looked at */
    pl_meet_search meet;
    pl_overlap_fn visit;
    void *user;
} pl_overlap_search;

/* Of all pairs. */
pl_status pl_overlap_search_create(const pl_model *m, pl_overlap_search *out);
void pl_overlap_search_free(pl_overlap_search *s);
/* Looks at all pairs that may touch from now on; at this one alone, of two bodies, or of a body and,
 * where other is -1, a collider. */
void pl_overlap_search_all(pl_overlap_search *s);
void pl_overlap_search_pair(pl_overlap_search *s, int body, int other, int collider);
/* Their overlaps with bodies where the scene's q0 has them, one kind after the other; visit may fail.
 */
pl_status pl_overlaps_look(pl_overlap_search *s, pl_overlap_fn visit, void *user);
/* All overlaps of the scene's start. */
pl_status pl_overlaps_find(const pl_model *m, pl_overlap_fn visit, void *user);
/* Fails with the message of one, the deepest of `count`; `trouble` is what was tried in vain, or NULL.
 */
pl_status pl_overlap_tell(const pl_model *m, const pl_overlap *o, int count, const char *trouble);

/* Those with colliders. */
pl_status pl_overlaps_with_colliders(const pl_overlap_search *s);
/* Those between bodies. */
pl_status pl_overlaps_between_bodies(pl_overlap_search *s);

#endif
