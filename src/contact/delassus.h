/*
 * W = h^2 H E^-1 H^T for the contacts of a step. Blocks of E^-1 between touched vertices are kept as
 * long as the factor of E is: sliding and resting contacts pay for their columns once.
 */
#ifndef PL_DELASSUS_H
#define PL_DELASSUS_H

#include "contact/contact.h"
#include "linalg/chol.h"

/* What W depends on of a contact. */
typedef struct pl_delassus_key {
    int count, vertex[PL_STENCIL];
    double beta[PL_STENCIL], frame[9];
} pl_delassus_key;

typedef struct pl_delassus {
    int vertex_count;
    int *slot_of; /* [n] the vertex's slot, or -1 */
    int slot_count, slot_capacity;
    int *vertex_of;  /* [slot_capacity] */
    double *inverse; /* [3 slot_capacity, 3 slot_capacity] E^-1 between the slots */
    int size_capacity;
    double *w;             /* [3 m, 3 m] */
    int built;             /* contacts of the present w (0 = none), */
    double built_h;        /* its time step */
    pl_delassus_key *keys; /* [built] and the rest it depends on */
    int edition;           /* how many there were: never 0 for a w that stands */
    float *single;         /* [3 m, 3 m] the same rounded */
} pl_delassus;

pl_status pl_delassus_create(pl_context *ctx, int vertex_count, pl_delassus *out);
void pl_delassus_free(pl_context *ctx, pl_delassus *d);
/* Forgets the inverse: the factor changed. */
void pl_delassus_reset(pl_delassus *d);
/* Fills d->w for this set, asking the factor for the columns it lacks. */
pl_status pl_delassus_build(pl_context *ctx, pl_delassus *d, pl_chol *chol, double h,
                            const pl_contact_set *set);

/* y += W x, [3 m] each. */
void pl_delassus_multiply(const pl_context *ctx, int m, const double *w, const double *x, double *y);
/* y = W x */
void pl_delassus_multiply_single(const pl_context *ctx, int m, const float *w, const float *x,
                                 float *y);

#endif
