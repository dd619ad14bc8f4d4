/*
 * The elastic energy of every body of a scene: Psi(q), its gradient, its tangent, and the derivatives
 * of the gradient with respect to material parameters.
 *
 *     F = U diag(sigma) V^T      P = U diag(tau(sigma)) V^T      grad Psi = sum_e V_e P_e G_e
 *
 * Elements (tets, cloth triangles) are kept in blocks of PL_LANES for the vector kernels; bending is a
 * constant quadratic form over the cloth's triangles and what lies around each.
 */
#ifndef PL_ELASTIC_H
#define PL_ELASTIC_H

#include "elastic/elements.h"

typedef struct pl_elastic pl_elastic;

/* Numbers and scratch of one worker; calls on one object are not concurrent. `elements` and the
 * context, whose threads evaluate, must outlive it. */
pl_status pl_elastic_create(pl_context *ctx, const pl_elements *elements, pl_elastic **out);
void pl_elastic_destroy(pl_elastic *el);

/* Values per element, [element_count] each. Call before the first evaluation and on any change. */
void pl_elastic_set_material(pl_elastic *el, const double *young, const double *poisson,
                             const double *bending);

/* The pattern of its elements. */
const pl_pattern *pl_elastic_pattern(const pl_elastic *el);

/* lambda of an element of a solid body, Pa; by, if not NULL, its derivatives by Young's modulus and
 * Poisson's ratio. */
double pl_elastic_bulk(const pl_elastic *el, int element, double by[2]);

/* The shape of an element: F = sum_a q_a g_a^T with g [4, 3] (of cloth [3, 3], each with 0 as the
 * third) and its vertices [4]. Returns how many there are. */
int pl_elastic_shape(const pl_elastic *el, int element, int vertex[4], double g[12]);

/* Evaluates with these kernels (backend/backend.h) instead of the processor's best: for tests and
 * benchmarks. */
struct pl_backend;
void pl_elastic_set_backend(pl_elastic *el, const struct pl_backend *backend);

typedef struct pl_elastic_result {
    double energy;    /* J; infinite when inadmissible */
    int inadmissible; /* first element (exact Neo-Hookean) with J <= 0, or -1: nothing else is
                         valid then */
} pl_elastic_result;

/*
 * Evaluates at q [n, 3]. gradient [n, 3] gets grad Psi (N), or NULL. tangent [nnz, 9]
 * (pl_elastic_pattern) gets scale * hess Psi, plus diagonal[i] on all three diagonals of block (i, i)
 * when diagonal [n] is not NULL; or NULL. With clamp, each element's tangent eigenvalues (W, a, b,
 * tau/sigma) are clamped at zero, so that the result is positive semi-definite before the diagonal is
 * added.
 */
pl_elastic_result pl_elastic_evaluate(pl_elastic *el, const double *q, bool clamp, double scale,
                                      const double *diagonal, double *gradient, double *tangent);

/* The constant matrix of the local-global method: out [nnz] = scale * (sum w V G^T G + bending), plus
 * diagonal [n] on the diagonal. w = 2 mu for projective bodies (and ARAP), 2 mu + lambda for exact
 * ones, which bounds their tangent at rest. */
void pl_elastic_constant(const pl_elastic *el, double scale, const double *diagonal, double *out);

/* Parameter derivatives at q of the gradient, against z [n, 3]:
 *   dyoung[e]   += scale * z . d(grad Psi)/dE_e     (likewise poisson, bending); each may be NULL. */
void pl_elastic_param_vjp(pl_elastic *el, const double *q, const double *z, double scale,
                          double *dyoung, double *dpoisson, double *dbending);
/* The same forwards: out [n, 3] += scale * sum_e d(grad Psi)/dE_e dyoung[e] + ...; inputs may be NULL.
 */
void pl_elastic_param_jvp(pl_elastic *el, const double *q, const double *dyoung, const double *dpoisson,
                          const double *dbending, double scale, double *out);

/* Fields for pictures, at an admissible q; each may be NULL. more [m], unless NULL: stress more F is
 * added to each element's P. energy [m] J (of cloth with its bending), cauchy [m, 9] Pa (of cloth: per
 * area that keeps its thickness), von_mises [m] Pa. */
void pl_elastic_fields(pl_elastic *el, const double *q, const double *more, double *energy,
                       double *cauchy, double *von_mises);

#endif
