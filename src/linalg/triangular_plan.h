/*
 * How a supernodal factor is stored and who reads what of it in triangular solves (triangular.h): all
 * that follows from the factor's structure. Constant, so that any number of factors share it.
 *
 * - Parts: subtrees of the elimination tree that need nothing of each other, for different threads, and
 *   the top, everything else. They depend on the factor alone, so results do not on the threads.
 * - The layout of the panels (panel.h), in single and in half precision.
 * - Sealed subtrees: which ones, and the blocks of A between their insides and what is outside.
 */
#ifndef PL_TRIANGULAR_PLAN_H
#define PL_TRIANGULAR_PLAN_H

#include "linalg/panel.h"
#include "linalg/sparse.h"

typedef struct pl_part {
    int begin, end; /* supernodes [begin, end): with all their descendants, */
    double values;  /* of so many values */
} pl_part;

/* A 3x3 block of s A s between a vertex inside a sealed subtree and one outside. */
typedef struct pl_border {
    int inside, outside; /* their first columns, */
    int block;           /* and where A has it, in the row of the one inside */
} pl_border;

typedef struct pl_sealed {
    int begin, end;               /* supernodes */
    int border_begin, border_end; /* its blocks of A_21 */
} pl_sealed;

typedef struct pl_triangular_plan {
    const pl_supernodes *supernodes;
    const struct pl_backend *backend;
    size_t entries; /* values of the factor */
    int part_count;
    pl_part *parts;    /* [part_count] the largest first */
    bool *in_part;     /* [count] or in the top */
    int top_count;     /* columns of the top */
    int *top_of;       /* [n] a column's number among them, */
    int *top_column;   /* [top_count] and back */
    size_t *single_at; /* [count + 1] where each supernode's panel begins, */
    bool halves;       /* whether it is worth having in half precision too, */
    size_t *half_at;   /* [count + 1] where it then begins, */
    int *kept;         /* [count] and how many of its rows below it has */
    int sealed_count;
    pl_sealed *sealed;
    int *sealed_by; /* [count] or -1 */
    int border_count;
    pl_border *border;
    size_t tallest, widest; /* rows as stored, and columns, of any supernode, */
    size_t largest;         /* and values of the largest */
} pl_triangular_plan;

/* For an analysed factor, with this many values, of a matrix of this pattern. The supernodes must live
 * as long. */
pl_status pl_triangular_plan_create(pl_context *ctx, const pl_pattern *pattern, const pl_supernodes *l,
                                    size_t entries, pl_triangular_plan *out);
void pl_triangular_plan_free(pl_context *ctx, pl_triangular_plan *plan);

#endif
