/*
 * Anderson acceleration of a fixed-point iteration x <- x + m(x): from the last few iterates and moves
 * the combination whose move would be smallest,
 *
 *     gamma = argmin |m - dM gamma|,     step = m - (dX + dM) gamma
 *
 * with dX, dM the differences of successive iterates and moves. Where one problem after another is
 * solved and m changes little, the first difference of the last ones, which is the longest and so the
 * least noisy, tells the next one what its first move will lack.
 */
#ifndef PL_ANDERSON_H
#define PL_ANDERSON_H

#include "core/core.h"

#define PL_ANDERSON_DEPTH 5 /* differences of this problem, */
#define PL_ANDERSON_KEPT  2 /* and of earlier ones */

typedef struct pl_anderson {
    pl_context *ctx;
    int size;         /* unknowns */
    int count, next;  /* differences of this problem, where the next one goes */
    int kept, oldest; /* those of earlier ones, which of them is replaced next */
    bool has_last;
    double *last_x, *last_m; /* [size] */
    double *sum;             /* [KEPT + DEPTH, size] dX + dM, the kept ones first, */
    double *dm;              /* and dM */
} pl_anderson;

pl_status pl_anderson_create(pl_context *ctx, int size, pl_anderson *out);
void pl_anderson_free(pl_anderson *a);
/* Forgets everything. */
void pl_anderson_reset(pl_anderson *a);
/* Another problem, much like the last one. */
void pl_anderson_next(pl_anderson *a);

/* Takes in the iterate x and its move m, both [size]. */
void pl_anderson_remember(pl_anderson *a, const double *x, const double *m);
/* The step to make from the iterate taken in last, whose move was m; false (and step = m) while there
 * is nothing to combine. */
bool pl_anderson_combine(const pl_anderson *a, const double *m, double *step);

#endif
