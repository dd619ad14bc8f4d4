/*
 * The hot kernels as one small table of functions, one table per instruction set. A backend on other
 * hardware would supply another table.
 *
 * Elements are stored PL_LANES at a time, value by value, so that a vector register holds one value of
 * several elements. A slot is a block's lane: slot = PL_LANES * block + lane. Vertices of an element
 * are ascending, so that block (k, l), k <= l, of an element's tangent always lies in the upper
 * triangle.
 */
#ifndef PL_BACKEND_H
#define PL_BACKEND_H

#include "core/core.h"
#include "linalg/sparse.h"

#define PL_LANES 8

/* Strides of what the kernels write for each slot. */
#define PL_FORCE_STRIDE 12 /* [4, 3] */
#define PL_TANGENT_STRIDE                                                                              \
    56 /* [6, 3, 3] and 2 unused: pairs (0,1) (0,2) (0,3) (1,2) (1,3) (2,3); cloth has                 \
          (0,1) (0,2) (1,2) */

typedef struct pl_element_block {
    int vertex[4][PL_LANES];      /* ascending in each lane; cloth has three */
    double gradient[9][PL_LANES]; /* Dm^-1 [3, 3], cloth [2, 2]: row k is the shape gradient of vertex
                                     k+1 */
    double volume[PL_LANES];      /* m^3; 0 in lanes that only fill up a body's last block */
    double mu[PL_LANES], lambda[PL_LANES]; /* Pa */
} pl_element_block;

/* Work on blocks [first, last) of one body. Outputs are indexed by slot; each may be NULL. */
typedef struct pl_element_job {
    const pl_element_block *blocks;
    int first, last;
    bool cloth;
    pl_model model;
    pl_reading reading;
    bool clamp;
    const double *q; /* [n, 3] */
    double *energy;  /* [slots] J */
    double *force;   /* [slots, 4, 3] gradient of the energy, N */
    double *tangent; /* [slots, PL_TANGENT_STRIDE] N/m */
} pl_element_job;

/* What adds element tangents up to blocks [nnz, 9] of a pattern. */
typedef struct pl_assembly {
    const pl_pattern *pattern;
    const int *mirror;      /* [nnz] entry (j, i) of entry (i, j) */
    const int *entry_begin; /* [nnz + 1] into entry_from; only entries right of the diagonal have any */
    const int *entry_from;  /* offsets in source that add up to an entry */
    const double *source;   /* [slots, PL_TANGENT_STRIDE] */
    const double *isotropic; /* [nnz] added to the three diagonals of each block */
    double scale;            /* of both */
    const double *diagonal;  /* [n] added to the diagonal, or NULL */
    double *out;             /* [nnz, 9] */
} pl_assembly;

typedef struct pl_backend {
    const char *name;
    int width; /* doubles in a register */
    /* Energy, gradient and tangent. Returns the first slot outside its material's domain, or -1. */
    int (*elements)(const pl_element_job *job);
    /* F and P [slots, 2, 9] into job->tangent (stride PL_TANGENT_STRIDE); cloth uses [3, 2] of each. */
    void (*stress)(const pl_element_job *job);
    /* out_mu, out_lambda [slots] = z . d(gradient)/d mu and d lambda of each element. */
    void (*parameters)(const pl_element_job *job, const double *z, double *out_mu, double *out_lambda);
    /* force = d(gradient)/d mu . dmu + d(gradient)/d lambda . dlambda, inputs [slots]. */
    void (*parameters_forward)(const pl_element_job *job, const double *dmu, const double *dlambda);
    /* Rows [first, last) of an assembly: the entries right of the diagonal and their mirror images;
     * then, when all rows have those, the diagonal, by which each row adds up to nothing but
     * `diagonal`. */
    void (*assemble_upper)(const pl_assembly *assembly, int first, int last);
    void (*assemble_diagonal)(const pl_assembly *assembly, int first, int last);
    /* Rows [first, last) of y = B x, blocks [nnz, 9], x and y [n, 3]. */
    void (*multiply)(const pl_pattern *pattern, const double *blocks, const double *x, double *y,
                     int first, int last);
} pl_backend;

#define PL_BACKEND_MAX 4

/* The tables that this processor runs, best first; returns how many. */
int pl_backend_list(const pl_backend *out[PL_BACKEND_MAX]);

#endif
