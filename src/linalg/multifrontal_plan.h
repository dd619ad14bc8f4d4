/*
 * The fronts of a multifrontal factorisation (multifrontal.h): where each finds its blocks of A and
 * what its children leave, and where it leaves its own rest. Constant, so that any number of factors
 * share it.
 */
#ifndef PL_MULTIFRONTAL_PLAN_H
#define PL_MULTIFRONTAL_PLAN_H

#include "linalg/front.h"
#include "linalg/triangular_plan.h"

/* A 3x3 block of A and its place in a front. */
typedef struct pl_front_entry {
    int block;     /* of the pattern, */
    int vertex[2]; /* between these */
    int at;        /* of its first value in the supernode's columns */
} pl_front_entry;

typedef struct pl_multifrontal_plan {
    const pl_pattern *pattern;
    const pl_triangular_plan *triangular;
    pl_front_entry *entry;
    int *entry_from; /* [count + 1] a supernode's first */
    int *child_from; /* [count + 1] into child: a supernode's children in ascending order */
    int *child;
    int *position; /* of the vertices below each supernode (pl_supernodes.triple): row in the parent, */
    int *run_end;  /* and the first vertex after it that does not follow it there */
    size_t *rest_from; /* [count] where F22 is in what fronts leave: first what parts leave to the top,
                        * then room for each thread, with which the top begins anew */
    size_t left, room, top_room; /* values of the first, of each of the others, and of the top's */
    size_t front;                /* values that any front works in */
    int schur_size;              /* columns of the last supernode if its F11 is kept, or 0 */
} pl_multifrontal_plan;

/* For an analysed factor and its division into parts, which must live as long as the pattern.
 * `keep_schur`: the last supernode's F11, what the others leave of s A s there, is kept. */
pl_status pl_multifrontal_plan_create(pl_context *ctx, const pl_pattern *pattern,
                                      const pl_triangular_plan *t, bool keep_schur,
                                      pl_multifrontal_plan *out);
void pl_multifrontal_plan_free(pl_context *ctx, pl_multifrontal_plan *plan);

#endif
