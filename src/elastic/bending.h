/*
 * Bending of cloth as a constant quadratic form, the plate's energy of curvature per area:
 *
 *     Psi_b = sum_T k_b(T) A_T / 2 |kappa_T|^2,      kappa_T = sum_k w_k x_k
 *
 * for triangles T with the curvature of bending_patch.c, (xx, yy, sqrt 2 xy) of three components each.
 * It is that of a plate with Poisson's ratio 0: bending one way does not bend it the other. Exactly
 * invariant under rotation. The rest shape is flat by assumption.
 *
 * An energy beside the elements': what is constant is part of pl_elements, the numbers of one worker of
 * pl_elastic. It says which pairs of vertices its tangent couples, finds its entries in the pattern
 * once that is there, and writes forces, each for a vertex, that are gathered with the elements'.
 */
#ifndef PL_BENDING_H
#define PL_BENDING_H

#include "elastic/elements.h"

/* What is constant: triangles that bend, and the vertices and weights of each one's curvature. */
typedef struct pl_bending {
    int count;
    int *element;        /* [count] */
    double *area;        /* [count] m^2 */
    int *begin;          /* [count + 1] of its vertices in the next two */
    int *vertex;         /* [force_count] */
    double (*weight)[3]; /* [force_count, 3] for kappa_xx, kappa_yy, sqrt 2 kappa_xy, 1/m^2; sum 0 */
    int force_count;     /* forces it writes; the i-th acts at vertex[i] */
    int *entry;          /* where each two vertices of a triangle are in the pattern, or -1 */
} pl_bending;

/* What follows from the parameters. */
typedef struct pl_bending_numbers {
    double *stiffness; /* [count] flexural rigidity times area, N m^3 */
    double *matrix;    /* [nnz] times I the tangent, N/m; NULL where nothing bends */
} pl_bending_numbers;

pl_status pl_bending_create(pl_context *ctx, int body_count, const pl_elastic_body *bodies,
                            pl_bending *out);
void pl_bending_free(pl_context *ctx, pl_bending *b);
/* The pairs of vertices that feel each other, [count, 2]; counts them if pairs is NULL. */
int pl_bending_pairs(const pl_bending *b, int *pairs);
/* Once the pattern is there. */
pl_status pl_bending_locate(pl_context *ctx, const pl_pattern *pattern, pl_bending *b);
/* Of an evaluation, ns on one core. */
double pl_bending_cost(const pl_bending *b);

pl_status pl_bending_numbers_create(pl_context *ctx, const pl_bending *b, const pl_pattern *pattern,
                                    pl_bending_numbers *out);
void pl_bending_numbers_free(pl_context *ctx, pl_bending_numbers *numbers);
/* From each element's flexural rigidity [element_count], N m. */
void pl_bending_set(const pl_bending *b, const pl_pattern *pattern, const double *rigidity,
                    pl_bending_numbers *numbers);

/* At q [n, 3], inside a parallel region, which must wait before it reads: energy [count] of each
 * triangle, J, and force [force_count, 3] = the gradient, N. */
void pl_bending_evaluate(const pl_bending *b, const pl_bending_numbers *numbers, const double *q,
                         double *energy, double *force);
/* energy [element_count] += each triangle's. */
void pl_bending_fields(const pl_bending *b, const pl_bending_numbers *numbers, const double *q,
                       double *energy);

/* drigidity [element_count] += scale * z . d(gradient)/d(rigidity) */
void pl_bending_param_vjp(const pl_bending *b, const double *q, const double *z, double scale,
                          double *drigidity);
/* force [force_count, 3] = d(gradient)/d(rigidity) . drigidity, or 0 if that is NULL; inside a parallel
 * region, which must wait before it reads. */
void pl_bending_param_jvp(const pl_bending *b, const double *q, const double *drigidity, double *force);

#endif
