/*
 * A tree of boxes around items of a few vertices each, made once and fitted again as the vertices move.
 * A node of k items is followed by the tree of its first k/2, then by that of the others.
 */
#ifndef PL_CONTACT_BOXES_H
#define PL_CONTACT_BOXES_H

#include "core/core.h"

typedef struct pl_box {
    double lower[3], upper[3];
} pl_box;

typedef struct pl_boxes {
    int count, width;
    int *item;    /* [count] numbers of the items, in the order of the leaves */
    int *corner;  /* [count, width] and their vertices */
    pl_box *node; /* [2 count - 1] */
} pl_boxes;

/* Of items `numbers` [count] of corners [.., width] with vertices at x [n, 3]. */
pl_status pl_boxes_create(pl_context *ctx, int count, const int *numbers, int width, const int *corners,
                          const double *x, pl_boxes *out);
void pl_boxes_free(pl_context *ctx, pl_boxes *b);
/* Boxes around the paths from q0 to q [n, 3], `margin` wider. */
void pl_boxes_fit(pl_boxes *b, const double *q0, const double *q, double margin);

bool pl_box_meets(const pl_box *a, const pl_box *b);
/* Around the path of a few vertices. */
pl_box pl_box_around(int count, const int *vertices, const double *q0, const double *q, double margin);

/* Calls visit with every item whose box meets this one; an error from it ends that. */
typedef pl_status (*pl_boxes_visit)(void *user, int item);
pl_status pl_boxes_find(const pl_boxes *b, const pl_box *box, pl_boxes_visit visit, void *user);

#endif
