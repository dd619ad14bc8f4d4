/* What the files of this folder share: the elastic energy's data. */
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

/* Energy stiffness/2 |sum_k weight_k x_k|^2 of an interior edge of cloth (bending.c). */
typedef struct pl_bending_edge {
    int vertex[4];       /* the edge's two ends, then the two corners across it */
    int element[2];      /* the triangles that share it */
    double weight[4];    /* sum 0 */
    double inverse_area; /* 1/(A_0 + A_1), 1/m^2 */
    double stiffness;    /* mean flexural rigidity times inverse_area, N/m */
    int entry[4][4];     /* where (vertex[k], vertex[l]) is in the pattern */
} pl_bending_edge;

struct pl_elastic {
    pl_context *ctx;
    const pl_backend *backend;
    int vertex_count, element_count, slot_count;
    int group_count;
    pl_elastic_group *groups; /* [group_count] */
    pl_element_block *blocks; /* [slot_count / PL_LANES] */
    int *slot;                /* [element_count] */
    double *volume;           /* [element_count] m^3 */
    double *young, *poisson;  /* [element_count] as set */

    int edge_count;
    pl_bending_edge *edges; /* [edge_count] */

    pl_pattern pattern;
    int *mirror;       /* [nnz] entry (j, i) of entry (i, j) */
    int *entry_begin;  /* [nnz + 1] into entry_from; only entries right of the diagonal have any */
    int *entry_from;   /* offsets in `tangent` that add up to an entry, in element order */
    int *vertex_begin; /* [n + 1] into vertex_from */
    int *vertex_from;  /* offsets in `force` that add up to a vertex's gradient */
    double *bending;   /* [nnz] the bending energy's constant matrix */

    /* Written by the kernels. Bending edges come after the slots in energy and force. */
    double *energy;  /* [slot_count + edge_count] */
    double *force;   /* [slot_count + edge_count, 4, 3] */
    double *tangent; /* [slot_count, PL_TANGENT_STRIDE] */
    double *scratch; /* [2, slot_count] parameter derivatives */
};

/* The interior edges of the cloth bodies. *out is the caller's. */
pl_status pl_bending_create(pl_context *ctx, int body_count, const pl_elastic_body *bodies, int *count,
                            pl_bending_edge **out);
/* Where the edges are in el->pattern; once it is there. */
void pl_bending_locate(pl_elastic *el);
/* Each edge's stiffness from its triangles' flexural rigidity [element_count], and the matrix. */
void pl_bending_set(pl_elastic *el, const double *rigidity);
/* One edge's gradient [4, 3] for a stiffness; returns its energy. */
double pl_bending_force(const pl_bending_edge *edge, double stiffness, const double *q, double *force);
/* d(grad)/d(stiffness) . z of one edge: (sum w_k x_k) . (sum w_k z_k) */
double pl_bending_product(const pl_bending_edge *edge, const double *x, const double *z);

/* The job of evaluating a group's blocks at q, all of them and no outputs. */
pl_element_job pl_elastic_job(const pl_elastic *el, const pl_elastic_group *group, const double *q);
/* out [n, 3] = (or, with add, +=) scale * the sum of el->force over each vertex's elements and edges;
 * inside a parallel region. */
void pl_elastic_gather_force(const pl_elastic *el, bool add, double scale, double *out);

/* Blocks that one thread takes at a time. */
#define PL_CHUNK 16
/* Bodies of fewer elements are evaluated by one thread: waking others would take longer. */
#define PL_SERIAL 2000
/* Matrix rows likewise. */
#define PL_ROWS 64

#endif
