/*
 * The least shifts x of bodies, as wholes, that leave them beyond planes:
 *
 *     min ½ Σ |xᵦ|²   over bodies that move,   with nₖ · (x_body − x_other) ≥ leastₖ for every plane k
 *
 * Its optimum is x = Σ forceₖ nₖ, against it for the other, with forces that are not negative: a plane
 * is shared half and half, unless one side does not move.
 */
#ifndef PL_SIM_SHIFTS_H
#define PL_SIM_SHIFTS_H

#include "core/core.h"

typedef struct pl_shift_plane {
    int body, other; /* other -1: */
    int collider;    /* this, which does not move */
    double normal[3];
    double least; /* m */
    double force; /* m, where the next solution begins */
    double blame; /* its part in that planes cannot all be met */
    bool at_odds; /* the caller's: that it had one */
} pl_shift_plane;

/* Shifts x [bodies, 3] that meet every plane to `within` m. *met is false where there are none; planes
 * then have blames y >= 0 that contradict: the sum of y n is next to nothing, of y least it is not. */
pl_status pl_shifts_find(pl_context *ctx, int bodies, const bool *moves, int count,
                         pl_shift_plane *planes, double within, double *x, bool *met);

#endif
