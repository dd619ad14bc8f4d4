/* What the files of this folder share: the elastic energy's data,
 * the constant part and the numbers of one worker. */
#ifndef PL_ELASTIC_INTERNAL_H
#define PL_ELASTIC_INTERNAL_H

#include "backend/backend.h"
#include "elastic/elastic.h"

/* The elements of one body; they begin a new block. */
typedef struct pl_elastic_group {
    bool cloth;
    pl_model model;
    pl_reading reading;
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

/* Vertices that a triangle's curvature can depend on: its own, one beyond each side, and two beyond
 * each of those. */
#define PL_PATCH 12

/* A cloth triangle's bending energy, stiffness/2 |kappa|^2 with kappa = sum_k weight_k x_k
 * (bending_patch.c). */
typedef struct pl_bending_patch {
    int element;
    int count;                  /* of its vertices */
    int force_at;               /* where its [count, 3] begins in pl_elastic.force */
    int vertex[PL_PATCH];       /* [count] */
    double weight[PL_PATCH][3]; /* [count, 3] for kappa_xx, kappa_yy, sqrt 2 kappa_xy, 1/m^2; sum 0 */
    double area;                /* m^2 */
} pl_bending_patch;

struct pl_elements {
    pl_context *ctx;
    int vertex_count, element_count, slot_count;
    int group_count;
    pl_elastic_group *groups; /* [group_count] */
    pl_element_block *blocks; /* [slot_count / PL_LANES] */
    int *slot;                /* [element_count] */
    double *volume;           /* [element_count] m^3 */

    int patch_count;
    pl_bending_patch *patches; /* [patch_count] */
    int *patch_entry; /* where (vertex[k], vertex[l]) is in the pattern or -1, [count, count] of each */

    int portion_count;
    pl_elastic_portion *portions; /* [portion_count] */
    double stress_cost;           /* of all elements, ns on one core: energy and gradient, */
    double tangent_cost;          /* with the tangent, or derivatives by parameters */

    pl_pattern pattern;
    int share_count;             /* pairs of vertices, counted once for each portion that has them */
    pl_element_targets *targets; /* [slot_count / PL_LANES] offsets in pl_elastic.share */
    int *entry_begin;            /* [nnz + 1] into entry_from */
    int *entry_from;   /* offsets of an entry's shares, left of the diagonal its mirror image's */
    int force_count;   /* of pl_elastic.force */
    int *vertex_begin; /* [n + 1] into vertex_from */
    int *vertex_from;  /* offsets in pl_elastic.force that add up to a vertex's gradient */
};

struct pl_elastic {
    pl_context *ctx;
    const pl_elements *elements;
    const pl_backend *backend;

    double *young, *poisson;   /* [element_count] as set */
    pl_element_moduli *moduli; /* [slot_count / PL_LANES] */
    double *stiffness;         /* [patch_count] flexural rigidity times area, N m^3 */
    double *bending;           /* [nnz] the bending energy's constant matrix */

    /* Written by the kernels. Bending comes after the slots in energy and force. */
    double *energy;  /* [slot_count + patch_count] */
    double *force;   /* [slot_count, 4, 3], then each patch's [count, 3], then one unused */
    double *share;   /* [share_count, 9] tangents of a portion's elements, added up */
    double *scratch; /* [2, slot_count] parameter derivatives */
};

/* The patches of the cloth bodies' triangles that bend. *out is the caller's. */
pl_status pl_bending_create(pl_context *ctx, int body_count, const pl_elastic_body *bodies, int *count,
                            pl_bending_patch **out);
/* Where the patches are in the pattern, once it is there, and in pl_elastic.force. */
pl_status pl_bending_locate(pl_elements *elements);
/* Whether vertices k and l of a patch feel each other; not if their weights are orthogonal. */
bool pl_bending_couples(const pl_bending_patch *patch, int k, int l);
/* Each patch's stiffness from its triangle's flexural rigidity [element_count], and the matrix. */
void pl_bending_set(pl_elastic *el, const double *rigidity);
double pl_bending_energy(const pl_bending_patch *patch, double stiffness, const double *q);
/* One patch's gradient [count, 3] for a stiffness; returns its energy. */
double pl_bending_force(const pl_bending_patch *patch, double stiffness, const double *q,
                        double *force);
/* d(grad)/d(stiffness) . z of one patch: kappa(x) . kappa(z) */
double pl_bending_product(const pl_bending_patch *patch, const double *x, const double *z);

/* Threads for something of this cost. */
int pl_elastic_threads(const pl_elastic *el, double cost);
/* The job of evaluating a portion at q, with no outputs. */
pl_element_job pl_elastic_job(const pl_elastic *el, const pl_elastic_portion *portion, const double *q);
/* out [n, 3] = (or, with add, +=) scale * the sum of el->force over each vertex's elements and
 * patches; inside a parallel region. */
void pl_elastic_gather_force(const pl_elastic *el, bool add, double scale, double *out);

/* Blocks of a portion at most: its shares stay in the cache between additions. */
#define PL_PORTION 128
/* Evaluations that take less, ns on one core, are made by one thread: another needs 10,000 to wake up,
 * and once more wherever threads wait for each other. */
#define PL_WORTH_THREADS 150000.0
/* Matrix rows that one thread takes at a time. */
#define PL_ROWS 64

#endif
