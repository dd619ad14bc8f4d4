/*
 * The supernodes of a factor that CHOLMOD analysed, each a block of columns with the same rows below,
 * and the tree of elimination that they form: CHOLMOD's own, but one that holds vertices eliminated
 * last and others too is cut between them. What concerns the last ones alone (contact) then leaves the
 * others alone. Unknowns come in threes, a vertex's.
 */
#ifndef PL_SUPERNODES_H
#define PL_SUPERNODES_H

#include "core/core.h"

typedef struct pl_supernodes {
    int n;            /* unknowns */
    int count;        /* supernodes, children before parents */
    int *first;       /* [count + 1] first column of each */
    int *begin;       /* [count + 1] where its rows start in `row` */
    int *row;         /* rows of each supernode, its own columns first */
    int *at;          /* [count] where its values start in CHOLMOD's factor, column-major, */
    int *stride;      /* [count] and how many there are from a column to the next */
    const int *order; /* [n] the unknown that is at each place; borrowed */
    int *place;       /* [n] and where an unknown is */
    int *super_of;    /* [n] the supernode of a column */
    int *parent;      /* [count] the supernode of the first row below; -1 for a root */
    int *triple;      /* first rows of the vertices below each supernode, */
    int *triple_from; /* [count + 1] where they begin */
} pl_supernodes;

/* As CHOLMOD lays a supernodal factor out: count, Super, pi, px, s and Perm. is_last [n] says of each
 * unknown whether it is one of the last ones. */
pl_status pl_supernodes_create(pl_context *ctx, int n, int count, const int *super, const int *pi,
                               const int *px, const int *s, const int *perm, const bool *is_last,
                               pl_supernodes *out);
void pl_supernodes_free(pl_context *ctx, pl_supernodes *l);

#endif
