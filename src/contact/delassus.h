/*
 * W = h^2 H E^-1 H^T for the contacts of a step. Blocks of E^-1 between touched vertices are kept as
 * long as the factor of E is: sliding and resting contacts pay for their columns once.
 *
 * So is W^-1, once it is made: while the same vertices touch, only frames change, W -> Q W Q^T with a
 * rotation for each contact, and W^-1 likewise.
 *
 * E^-1 has the digits that the factor has, single precision, and so has W. It is made where it is asked
 * for; in double precision where contacts move exactly as it says, as a vertex in two of them has to
 * move alike in both.
 *
 * Vertices of different parts, bodies that nothing ties, do not move each other: blocks of E^-1 between
 * them are zero, and neither made nor read.
 */
#ifndef PL_DELASSUS_H
#define PL_DELASSUS_H

#include "contact/contact.h"
#include "linalg/chol.h"
#include "linalg/symmetric.h"

/* What W depends on of a block. */
typedef struct pl_delassus_key {
    int first, count; /* its entries */
    float turn[9];    /* Q: from the frame it had to the one it has */
} pl_delassus_key;

typedef enum pl_product {
    PL_PRODUCT_HALF, /* W, to three digits; to six where the processor has no half precision */
    PL_PRODUCT_SINGLE,
    PL_PRODUCT_STIFFNESS, /* W^-1 in single precision */
    PL_PRODUCTS,
} pl_product;

typedef struct pl_delassus {
    int vertex_count;
    const int *part_of; /* [n] the part that a vertex belongs to; NULL: all to one */
    int *slot_of;       /* [n] the vertex's slot, or -1 */
    int slot_count, slot_capacity;
    int *vertex_of;           /* [slot_capacity] */
    float *inverse;           /* [3 slot_capacity, 3 slot_capacity] E^-1 between the slots, */
    unsigned inverse_version; /* another for every factor, */
    double *rows;             /* [threads, 3, 3 slot_capacity] and a contact's rows of H E^-1 */
    double *held;             /* [3 slot_capacity] where pl_delassus_move left the slots */
    int size_capacity;
    double *w;             /* [3 m, 3 m] W in double precision, */
    bool wide;             /* if it is there */
    int built;             /* contacts of the present w (0 = none), */
    unsigned version;      /* another for every W, */
    const pl_chol *factor; /* its factor of E, */
    double built_h;        /* its time step */
    pl_delassus_key *keys; /* [built] and the rest it depends on */
    int entry_capacity;
    pl_stencil_entry *entries;
    int *touching;    /* [built] and their (first) vertices */
    bool apart;       /* each block is a contact of one vertex, no two of them of the same */
    float *single;    /* [3 m, 3 m] W in single precision, */
    bool made;        /* if it is there */
    double *rho;      /* [m] the mean of each contact's diagonal of W */
    float *stiffness; /* [3 m, 3 m] W^-1 in single precision, */
    bool stiff;       /* if it is there */
    float *lower;     /* [3 m, 3 m] scratch of making it */
    double regret;    /* operations that it would have saved while these vertices touch, */
    bool lasts;       /* as they may */
    pl_symmetric products[PL_PRODUCTS]; /* what is multiplied by, once asked for; */
    bool half_fails;                    /* W in half precision was found to be worth nothing */
} pl_delassus;

/* part_of [n] must outlive it. */
pl_status pl_delassus_create(pl_context *ctx, int vertex_count, const int *part_of, pl_delassus *out);
void pl_delassus_free(pl_context *ctx, pl_delassus *d);
/* Forgets the inverse: the factor changed. */
void pl_delassus_reset(pl_delassus *d);
/* For this set, asking the factor for the columns that E^-1 lacks; W is made by those who ask for it.
 */
pl_status pl_delassus_build(pl_context *ctx, pl_delassus *d, pl_chol *chol, double h,
                            const pl_contact_set *set);

/* W in single and in double precision. */
const float *pl_delassus_single(const pl_context *ctx, pl_delassus *d);
const double *pl_delassus_wide(const pl_context *ctx, pl_delassus *d);

/* For products with W or, if it is there, W^-1. */
pl_status pl_delassus_product(pl_context *ctx, pl_delassus *d, int m, pl_product of,
                              pl_symmetric **out);

/* Notes so many operations of an LU that W^-1 would have saved. */
void pl_delassus_regret(pl_delassus *d, double operations);
/* d->stiff afterwards: made now if the factor of E tells it, or if what it would have saved is what it
 * costs and W has an inverse, which it has not where a vertex touches two planes, or not for single
 * precision. */
bool pl_delassus_invert(pl_context *ctx, pl_delassus *d, int m);

/* Moves the vertices of the set in x [n, 3] as forces do whose push h^2 H^T f [n, 3] is: H x changes by
 * W f to the last digit. Contacts of single vertices alone, which may be wanted elsewhere by as little
 * as their law takes, go where H x = wanted [m, 3]. */
void pl_delassus_move(pl_delassus *d, const pl_contact_set *set, const double *wanted,
                      const double *push, double *x);
/* The same vertices again where that left them. */
void pl_delassus_hold(const pl_delassus *d, const pl_contact_set *set, const double *wanted, double *x);

/* The part of a slot's vertex. */
static inline int pl_delassus_part(const pl_delassus *d, int slot)
{
    return d->part_of ? d->part_of[d->vertex_of[slot]] : 0;
}
/* The next slots of this part in a row, from *last on: [*first, *last). False when there are none. */
bool pl_delassus_run(const pl_delassus *d, int part, int *first, int *last);

/* y += W x, [3 m] each. */
void pl_delassus_multiply(const pl_context *ctx, int m, const double *w, const double *x, double *y);

#endif
