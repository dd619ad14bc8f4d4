/* What the files of this folder share: the elastic energy's data,
 * the constant part and the numbers of one worker. */
#ifndef PL_ELASTIC_INTERNAL_H
#define PL_ELASTIC_INTERNAL_H

#include "backend/backend.h"
#include "elastic/bending.h"
#include "elastic/elastic.h"

/* The elements of one body; they begin a new block. */
typedef struct pl_elastic_group {
    bool cloth;
    pl_material model;
    pl_reading reading;
    bool mean_volume; /* lambda is not the elements' */
    int element_offset, element_count;
    int block_offset, block_count;
} pl_elastic_group;

/* Consecutive blocks of one group, which one thread evaluates. Its elements' tangents are added up in
 * shares of its own: what a portion is depends on the mesh alone, so sums do not on the threads. */
typedef struct pl_elastic_portion {
    int group;
    int first, last; /* blocks */
    int share_begin, share_end;
} pl_elastic_portion;

struct pl_elements {
    pl_context *ctx;
    int vertex_count, element_count, slot_count;
    int group_count;
    pl_elastic_group *groups; /* [group_count] */
    pl_element_block *blocks; /* [slot_count / PL_LANES] */
    int *slot;                /* [element_count] */
    double *volume;           /* [element_count] m^3 */

    pl_bending bending;

    int portion_count;
    pl_elastic_portion *portions; /* [portion_count] */
    double stress_cost;           /* of all of it, ns on one core: energy and gradient, */
    double tangent_cost;          /* with the tangent, or derivatives by parameters */

    pl_pattern pattern;
    int share_count;             /* pairs of vertices, counted once for each portion that has them */
    pl_element_targets *targets; /* [slot_count / PL_LANES] offsets in pl_elastic.share */
    int *entry_begin;            /* [nnz + 1] into entry_from */
    int *entry_from;   /* offsets of an entry's shares, left of the diagonal its mirror image's */
    int *vertex_begin; /* [n + 1] into vertex_from */
    int *vertex_from;  /* offsets in pl_elastic.force that add up to a vertex's gradient */
};

struct pl_elastic {
    pl_context *ctx;
    const pl_elements *elements;
    const pl_backend *backend;

    double *young, *poisson;   /* [element_count] as set */
    pl_element_moduli *moduli; /* [slot_count / PL_LANES] */
    pl_bending_numbers bending;

    /* Written by the kernels. Bending comes after the slots in energy and force. */
    double *energy;  /* [slot_count + bending.count] */
    double *force;   /* [slot_count, 4, 3], then bending's [force_count, 3], then one unused */
    double *share;   /* [share_count, 9] tangents of a portion's elements, added up */
    double *scratch; /* [2, slot_count] parameter derivatives */
};

static inline double *pl_elastic_bending_force(const pl_elastic *el)
{
    return el->force + PL_FORCE_STRIDE * (size_t)el->elements->slot_count;
}

/* Threads for something of this cost. */
int pl_elastic_threads(const pl_elastic *el, double cost);
/* The job of evaluating a portion at q, with no outputs. */
pl_element_job pl_elastic_job(const pl_elastic *el, const pl_elastic_portion *portion, const double *q);
/* out [n, 3] = (or, with add, +=) scale * the sum of el->force over each vertex's elements
 * and bending; inside a parallel region. */
void pl_elastic_gather_force(const pl_elastic *el, bool add, double scale, double *out);

/* Blocks of a portion at most: its shares stay in the cache between additions. */
#define PL_PORTION 128
/* Matrix rows that one thread takes at a time. */
#define PL_ROWS 64

#endif
