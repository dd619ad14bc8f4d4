/*
 * Krylov methods. They know an operator and a preconditioner, nothing else. Both stop on the recursive
 * residual and then recompute the true one, which is what they report and leave in basis[0], unless
 * they are told not to.
 */
#ifndef PL_KRYLOV_H
#define PL_KRYLOV_H

#include "core/core.h"

typedef struct pl_operator {
    pl_status (*apply)(void *user, const double *x, double *y); /* y = A x; x and y differ */
    void *user;
    /* The same with more digits, for what GMRES recomputes; NULL where `apply` has them all. */
    pl_status (*exactly)(void *user, const double *x, double *y);
    /* GMRES need not recompute the residual: the caller will see what the answer is good for. */
    bool trusted;
    /* Of a preconditioner: GMRES also ends once what this would make of the residual, judged by its
     * last answer, has no member larger than `near` among the first near_size; 0 = never. */
    double near;
    int near_size;
} pl_operator;

typedef struct pl_krylov {
    pl_context *ctx;
    int size, restart;                  /* room for this many unknowns and basis vectors */
    double *basis;                      /* [restart + 1, size] */
    double *tried;                      /* [restart, size] the same preconditioned */
    double *hessenberg;                 /* [restart + 1, restart], column-major */
    double *rotation;                   /* [restart, 2] */
    double *rhs;                        /* [restart + 1] */
    double *along;                      /* [restart] */
    double *work, *direction, *product; /* [size] */
    bool impatient; /* GMRES gives up as soon as its limit of iterations is seen to be too low */
} pl_krylov;

pl_status pl_krylov_reserve(pl_context *ctx, pl_krylov *k, int size, int restart);
void pl_krylov_free(pl_context *ctx, pl_krylov *k);

typedef struct pl_krylov_result {
    bool converged;
    bool indefinite; /* CG met negative curvature: its answer is not to be used */
    int iterations;
    double residual; /* |b - A x| / |b|, recomputed */
} pl_krylov_result;

/* A x = b from x = 0, right-preconditioned GMRES with restarts. precondition.apply NULL = none.
 * Preconditioned directions are kept (flexible GMRES): x is made of them, so that a preconditioner in
 * single precision, which is not quite linear, does not show in the residual. With a product that has
 * more digits it restarts from what that leaves over, so that the answer has them too; then an answer
 * twice as far off as the tolerance will do. If it iterates at all, the last product it makes is that
 * with its answer. */
pl_status pl_gmres(pl_krylov *k, int size, pl_operator a, pl_operator precondition, const double *b,
                   double *x, double tolerance, int max_iterations, pl_krylov_result *out);

/* The same for symmetric positive definite A and preconditioner. */
pl_status pl_cg(pl_krylov *k, int size, pl_operator a, pl_operator precondition, const double *b,
                double *x, double tolerance, int max_iterations, pl_krylov_result *out);

#endif
