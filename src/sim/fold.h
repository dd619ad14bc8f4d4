/*
 * Contacts folded into the matrix in use: E + H^T K H, a spring of stiffness K at each vertex that
 * touches, with the vertex' frame turned so that the normal is an axis. Then single precision will do
 * for any K: what is stiff is one unknown's own, not a difference of three.
 *
 *     F (E + H^T K H) F^T = L L^T        F turns a vertex into its frame, or leaves it
 *
 * The frame may turn afterwards with the contact; E is then taken to turn with it.
 */
#ifndef PL_FOLD_H
#define PL_FOLD_H

#include "contact/contact.h"
#include "linalg/sparse.h"

typedef struct pl_spring {
    int vertex;
    double frame[9];     /* rows: the normal and two tangents */
    double stiffness[3]; /* along them, in the matrix' unit */
} pl_spring;

typedef struct pl_fold {
    int count; /* springs; 0 = none */
    int capacity;
    pl_spring *springs;
    int *place;      /* [n] which is a vertex', or -1 */
    double *tangent; /* [nnz, 9] F (E + H^T K H) F^T */
    double *work;    /* [n, 3] */
} pl_fold;

/* Whether contacts are to be springs. They can be if each is a vertex' with an obstacle, and its only
 * one. That needs a new factor whenever some begin or end. It pays where systems of contact space cost
 * about as much as a factor, of `factor` s, and do not last, because obstacles are curved. */
bool pl_fold_pays(const pl_context *ctx, const pl_contact_set *set, double factor);
/* K = -d lambda/d delta of a law linearised, in the contact's frame; a force of 1 N moves the vertex by
 * `rho` (m) against what else holds it, and K is no more than 1e4/rho: what is stiffer moves as little.
 */
void pl_fold_stiffness(const pl_law_linear *at, double rho, double k[9]);
/* (D_lambda + rho D_delta/1e4)^-1 in it. */
void pl_fold_compliance(const pl_law_linear *at, double rho, double inverse[9]);
/* The spring of a contact from the symmetric part of K, without what of it goes across. */
pl_spring pl_fold_spring(const pl_contact_point *p, double scale, const double k[9]);

void pl_fold_free(pl_context *ctx, pl_fold *f);
/* No springs. */
void pl_fold_clear(pl_fold *f);
/* Room for so many springs, of a matrix with this pattern; there are none afterwards. */
pl_status pl_fold_reserve(pl_context *ctx, pl_fold *f, const pl_pattern *pattern, int count);
/* One more spring, at a vertex that has none. */
void pl_fold_add(pl_fold *f, const pl_spring *spring);
/* f->tangent from E [nnz, 9]. */
void pl_fold_take(pl_fold *f, const pl_pattern *pattern, const double *tangent);
/* The vertex' frame turned by as little as makes this its normal, if it has one. */
void pl_fold_turn(pl_fold *f, int vertex, const double normal[3]);
/* x <- F x, or F^T x, [n, 3] */
void pl_fold_into(const pl_fold *f, double *x);
void pl_fold_back(const pl_fold *f, double *x);
/* y = E x, [n, 3] each, as it turned with the frames. */
void pl_fold_multiply(const pl_context *ctx, const pl_fold *f, const pl_pattern *pattern,
                      const double *x, double *y);

#endif
