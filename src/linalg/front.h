/*
 * A dense front, [F11; F21] with the rest F22 below and to the right, factored by strips of rows:
 *
 *     L11 L11^T = F11,    L21 = F21 L11^-T,    F22 <- -L21 L21^T
 *
 * block of columns by block of columns, PL_STRIP wide, each divided by the inverse of its square on the
 * diagonal. L11^-1 and L21 end as solves read them (panel.h). What is computed how depends on the
 * front alone, so that results do not depend on the threads.
 */
#ifndef PL_FRONT_H
#define PL_FRONT_H

#include "linalg/panel.h"

typedef struct pl_front {
    const pl_backend *backend;
    pl_panel panel;
    int threads;
    float *room;  /* [pl_front_room] */
    float *rest;  /* [below, below] F22, column-major, the lower triangle; overrun by up to a strip */
    float *store; /* [pl_panel_values] L11^-1, L21 */
} pl_front;

/* Values that a front of this panel works in; what it is assembled from comes first, [height, columns]
 * column-major: F11 (the lower triangle) and F21. */
size_t pl_front_room(const pl_panel *panel);
/* Values that its rest takes. */
size_t pl_front_rest(const pl_panel *panel);

/* False when a pivot is not positive. */
bool pl_front_factor(const pl_front *f);

#endif
