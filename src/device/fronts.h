/*
 * The fronts of a factor on a device (kernels/factor.h), from the supernodes of an analysed one: levels
 * of the tree from its leaves on, what each line of a front is assembled from, and who is read by whom
 * in a solve. Constant; arrays of ints for the device.
 */
#ifndef PL_FRONTS_H
#define PL_FRONTS_H

#include "linalg/sparse.h"
#include "linalg/supernodes.h"

typedef struct pl_fronts {
    int count, lines, level_count;
    int n;                   /* vertices */
    int *level_fronts;       /* [level_count + 1] the first of each level: fronts are in this order, */
    int *level_lines;        /* [level_count + 1] and so are their lines */
    int *level_most;         /* [level_count] columns of the widest front */
    int *front;              /* [count, PL_FRONT_SIZE] */
    int *line_front;         /* [lines] */
    int *line_place;         /* [lines] of its vertex in the order */
    int *entry_from, *entry; /* [lines + 1], [.., 2] block of the pattern, column */
    int *child_from, *child; /* [lines + 1], [.., 2] front, line below its columns */
    int *position;           /* [lines] of a line below columns: vertex' place in the parent's front */
    int *unknown_from;       /* [level_count + 1] */
    int *unknown;            /* [3 n] the unknowns of each level's fronts, by place, */
    int *unknown_front;      /* [3 n] and whose they are */
    int *above_from, *above; /* [n + 1], [.., 2] by place of a vertex: front, line below its columns */
    int *order;              /* [3 n] the unknown at each place */
    size_t values, rests;    /* floats of L, and of what fronts leave */
} pl_fronts;

pl_status pl_fronts_create(pl_context *ctx, const pl_pattern *pattern, const pl_supernodes *l,
                           pl_fronts *out);
void pl_fronts_free(pl_context *ctx, pl_fronts *f);

#endif
