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
#define PL_FORCE_STRIDE   12 /* [4, 3] */
#define PL_TANGENT_STRIDE 90 /* [10, 3, 3]: pairs (0,0) (0,1) .. (0,3) (1,1) .. (3,3); cloth has 6 */

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
    double *tangent; /* [slots, 10, 9] N/m */
} pl_element_job;

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
} pl_backend;

#define PL_BACKEND_MAX 4

/* The tables that this processor runs, best first; returns how many. */
int pl_backend_list(const pl_backend *out[PL_BACKEND_MAX]);

#endif
