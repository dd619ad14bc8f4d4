/*
 * Terms: what pushes and pulls at the vertices. Each is one file with its force, the derivatives of
 * that force, and one line in the table (terms.c). Scene, inputs and gradients reach it by its
 * channels.
 *
 * A term is a force that stays as it is during a substep (gravity, wind), or one that follows from an
 * energy E(q) of where the substep ends (pins), F = -dE/dq. Elastic elements are a term whose energy is
 * evaluated apart (elastic/elastic.h), by kernels; here they have only their parameters' derivatives.
 *
 * Derivatives of the forces F of a substep by what they depend on explicitly, against a vector z [n, 3]
 * (vjp, reverse sweeps) or along a direction (jvp, forward sweeps), q held fixed; `scale` is h^2.
 */
#ifndef PL_TERM_H
#define PL_TERM_H

#include "sim/substep.h"

/* A substep at its solution. */
typedef struct pl_slope {
    const pl_substep *at;
    const double *q, *u;            /* [n, 3] the solution, q - q0 */
    int row;                        /* the time step, from 0 in this rollout: the row of inputs */
    const pl_drive *before, *after; /* at the ends of the time step */
    double *p, *w;       /* [n, 3] derivatives by the substep's p and w, or a direction of them */
    double *q1, *v1;     /* [n, 3] the same of its q1 and v1 */
    const double *a, *z; /* [n, 3] the acceleration kept at the end, and M^-1/h^2 times the derivative
                            by it; NULL without */
    double *mass, *drag; /* [n] derivatives by each vertex's M and C, or along a direction of them; NULL
                            when nobody asks */
} pl_slope;

typedef struct pl_term {
    const char *name;
    /* of[channel] = the scene's own values of its inputs at a time, s. */
    void (*inputs)(const pl_scene *scene, double time, double *const *of);
    /* Narrows the range [lower, upper) of a row of one of its inputs. */
    void (*range)(const pl_scene *scene, pl_channel channel, int row, double *lower, double *upper);
    /* Says in text ("" before) why a substep may have no solution, if its parts give reason to. */
    void (*doubt)(const pl_substep *s, char *text, size_t size);
    /* Frees what its parts point to. */
    void (*release)(pl_scene *scene);
    /* Sets of vertices it couples, [count, width] with -1 for none; *index is the caller's. */
    pl_status (*stencils)(const pl_scene *scene, int *count, int *width, int **index);
    /* f [n, 3] += the force, N, of one that does not depend on q. */
    void (*force)(const pl_substep *s, double *f);
    /* out [n, 3] += scale dE/dq; returns E, J. */
    double (*energy)(const pl_substep *s, const double *q, double scale, double *out);
    /* blocks [nnz, 9] += scale d2E/dq2; with clamp a matrix like it without negative eigenvalues. */
    void (*tangent)(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks);
    /* y [n, 3] += scale d2E/dq2 x */
    void (*multiply)(const pl_substep *s, const double *q, const double *x, double scale, double *y);
    /* a [nnz] += scale times a constant matrix that bounds d2E/dq2 */
    void (*constant)(const pl_substep *s, double scale, double *a);
    /* g, dq0, dv0 += scale z . dF/d(them) */
    void (*vjp)(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0);
    /* rhs [n, 3] += scale dF along the direction d, dq0, dv0 */
    void (*jvp)(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs);
} pl_term;

#define PL_TERMS_MAX 32

/* ---- all terms of a scene */
void pl_terms_inputs(const pl_scene *scene, double time, double *const *of);
/* What a row of an input may be: lower <= value < upper. */
void pl_terms_range(const pl_scene *scene, pl_channel channel, int row, double *lower, double *upper);
/* text, of size bytes, = the terms' doubts, each a clause to go on with, or "". */
void pl_terms_doubt(const pl_substep *s, char *text, size_t size);
/* The smallest Young's modulus of a body, Pa: what stresses of actuators are to be compared with. */
double pl_least_young(const pl_substep *s, int body);
void pl_terms_release(pl_scene *scene);
/* Stencils of those that couple vertices, `out` and `lists` with room for PL_TERMS_MAX; lists[k] is
 * what out[k] points to, the caller's. */
pl_status pl_terms_stencils(const pl_scene *scene, int *count, pl_stencils *out, int **lists);
/* f [n, 3] = the forces that stay. */
void pl_terms_force(const pl_substep *s, double *f);
/* out += scale dE/dq of all energies but the elements'; returns their sum. */
double pl_terms_energy(const pl_substep *s, const double *q, double scale, double *out);
void pl_terms_multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y);
/* blocks [nnz, 9] = scale d2E/dq2 of everything, elements included, + diagonal [n]. */
pl_elastic_result pl_terms_tangent(const pl_substep *s, const double *q, bool clamp, double scale,
                                   const double *diagonal, double *blocks);
/* a [nnz] = scale times the constant matrix of everything + diagonal [n]. */
void pl_terms_constant(const pl_substep *s, double scale, const double *diagonal, double *a);
/* g, dq0, dv0 += -z . dr/d(them), inertia included; `work` [2, n]. */
void pl_terms_vjp(pl_slope *s, const double *z, double *work, pl_gradient *g, double *dq0, double *dv0);
/* rhs [n, 3] = -dr along the direction. */
void pl_terms_jvp(pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0, double *work,
                  double *rhs);

/* The row of a channel in the slope's step, of a gradient or direction. */
static inline double *pl_slope_row(const pl_slope *s, const pl_gradient *g, pl_channel channel, int row)
{
    size_t first = pl_channel_size(s->at->scene, channel, 1) * (size_t)s->row + (size_t)row;
    return g->of[channel] + first * (size_t)pl_channel_get(channel)->gradient_width;
}

/* Of an input that is linear between steps (PL_BLEND_LINEAR): adds a cotangent x [width] of the value
 * at the end of the substep to the rows it lies between; and the way back, the change of that value. */
void pl_slope_spread(const pl_slope *s, pl_gradient *g, pl_channel channel, int row, double scale,
                     const double *x);
void pl_slope_blend(const pl_slope *s, const pl_gradient *d, pl_channel channel, int row, double *out);

/* The same of a collider's pose a fraction of the way through the step; derivatives as those of
 * PL_COLLIDER_POSE. */
void pl_slope_spread_pose(const pl_slope *s, pl_gradient *g, int collider, double fraction,
                          const double d[6]);
void pl_slope_blend_pose(const pl_slope *s, const pl_gradient *d, int collider, double fraction,
                         double out[6]);

/* out [parts] = the curve of width 1 of every part of a kind at a time, s: parts are structs of `size`
 * bytes, a curve is `curve` bytes from their beginning. */
void pl_parts_at(const pl_scene *scene, pl_owner owner, size_t size, size_t curve, double time,
                 double *out);

/* blocks [nnz, 9] += a I at entry (i, j); the pattern has it. */
void pl_blocks_add(const pl_pattern *pattern, int i, int j, double a, double *blocks);

#endif
