/*
 * Anderson acceleration of a fixed-point iteration x <- x + m(x): from the last few iterates and moves
 * the combination whose move would be smallest,
 *
 *     gamma = argmin |m - dM gamma|,     step = m - (dX + dM) gamma
 *
 * with dX, dM the differences of successive iterates and moves.
 */
#ifndef PL_ANDERSON_H
#define PL_ANDERSON_H

#include "core/core.h"

#define PL_ANDERSON_DEPTH 5

typedef struct pl_anderson {
    int size, count, next; /* unknowns, differences kept, where the next one goes */
    bool has_last;
    double *last_x, *last_m; /* [size] */
    double *dx, *dm;         /* [PL_ANDERSON_DEPTH, size] */
} pl_anderson;

pl_status pl_anderson_create(pl_context *ctx, int size, pl_anderson *out);
void pl_anderson_free(pl_context *ctx, pl_anderson *a);
void pl_anderson_reset(pl_anderson *a);

/* Takes in the iterate x and its move m, both [size], and writes the step to make; false (and step = m)
 * while there is nothing to combine. */
bool pl_anderson_step(pl_anderson *a, const double *x, const double *m, double *step);

#endif
