/* GMRES and CG. */
#include "linalg/krylov.h"

#include "linalg/blocks.h"

#include <cblas.h>

#define A_FEW 4 /* iterations that tell how it goes on */

pl_status pl_krylov_reserve(pl_context *ctx, pl_krylov *k, int size, int restart)
{
    pl_status status = PL_OK;
    if (size <= k->size && restart <= k->restart)
        return PL_OK;
    pl_krylov_free(ctx, k);
    size_t room = (size_t)size + (size_t)size / 4;
    PL_NEW(ctx, k->basis, (size_t)(restart + 1) * room, fail);
    PL_NEW(ctx, k->tried, (size_t)restart * room, fail);
    PL_NEW(ctx, k->hessenberg, (restart + 1) * restart, fail);
    PL_NEW(ctx, k->rotation, 2 * restart, fail);
    PL_NEW(ctx, k->rhs, restart + 1, fail);
    PL_NEW(ctx, k->along, restart, fail);
    PL_NEW(ctx, k->work, room, fail);
    PL_NEW(ctx, k->direction, room, fail);
    PL_NEW(ctx, k->product, room, fail);
    k->ctx = ctx;
    k->size = (int)room;
    k->restart = restart;
    return PL_OK;
fail:
    pl_krylov_free(ctx, k);
    return status;
}

void pl_krylov_free(pl_context *ctx, pl_krylov *k)
{
    void *arrays[] = {k->basis, k->tried, k->hessenberg, k->rotation, k->rhs,
                      k->along, k->work,  k->direction,  k->product};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pl_free(ctx, arrays[i]);
    *k = (pl_krylov){0};
}

static pl_status precondition(pl_operator p, int size, const double *x, double *y)
{
    if (p.apply)
        return p.apply(p.user, x, y);
    memcpy(y, x, sizeof(double) * (size_t)size);
    return PL_OK;
}

/* r = b - A x and its length. */
static pl_status true_residual(pl_operator a, int size, const double *b, const double *x, double *r,
                               double *norm)
{
    PL_TRY((a.exactly ? a.exactly : a.apply)(a.user, x, r));
    for (int i = 0; i < size; i++)
        r[i] = b[i] - r[i];
    *norm = cblas_dnrm2(size, r, 1);
    return PL_OK;
}

/* One Arnoldi step: the preconditioned direction j, the new basis vector j + 1 and column j of the
 * Hessenberg matrix; twice orthogonalised. */
static pl_status arnoldi(pl_krylov *k, int size, pl_operator a, pl_operator p, int j)
{
    size_t n = (size_t)size;
    double *next = k->basis + (size_t)(j + 1) * n, *tried = k->tried + (size_t)j * n;
    double *column = k->hessenberg + (size_t)j * (size_t)(k->restart + 1);
    PL_TRY(precondition(p, size, k->basis + (size_t)j * n, tried));
    PL_TRY(a.apply(a.user, tried, next));
    memset(column, 0, sizeof(double) * (size_t)(k->restart + 1));
    for (int pass = 0; pass < 2; pass++) {
        pl_dots(k->ctx, size, j + 1, k->basis, next, k->along);
        pl_subtract(k->ctx, size, j + 1, k->basis, k->along, next);
        for (int i = 0; i <= j; i++)
            column[i] += k->along[i];
    }
    pl_dots(k->ctx, size, 1, next, next, &column[j + 1]);
    column[j + 1] = sqrt(column[j + 1]);
    if (column[j + 1] > 0)
        cblas_dscal(size, 1 / column[j + 1], next, 1);
    return PL_OK;
}

/* Applies the earlier rotations to column j, then the one that clears its subdiagonal. */
static void rotate(pl_krylov *k, int j)
{
    double *column = k->hessenberg + (size_t)j * (size_t)(k->restart + 1);
    for (int i = 0; i < j; i++) {
        double c = k->rotation[2 * i], s = k->rotation[2 * i + 1], t = column[i];
        column[i] = c * t + s * column[i + 1];
        column[i + 1] = -s * t + c * column[i + 1];
    }
    double length = hypot(column[j], column[j + 1]);
    double c = length > 0 ? column[j] / length : 1, s = length > 0 ? column[j + 1] / length : 0;
    k->rotation[2 * j] = c;
    k->rotation[2 * j + 1] = s;
    column[j] = length;
    column[j + 1] = 0;
    k->rhs[j + 1] = -s * k->rhs[j];
    k->rhs[j] *= c;
}

/* Whether the j-th residual is so small beside the one that the last direction was made from. */
static bool is_near(const pl_krylov *k, pl_operator p, int size, int j)
{
    const double *last = k->tried + (size_t)(j - 1) * (size_t)size;
    return p.near > 0 && fabs(k->rhs[j] * last[cblas_idamax(p.near_size, last, 1)]) <= p.near;
}

/* Whether the limit will be too low, at the rate of the first j iterations. */
static bool hopeless(const pl_krylov *k, int j, double start, double goal, int limit)
{
    double got = log(start / fabs(k->rhs[j])), wanted = log(start / goal);
    return k->impatient && j >= A_FEW && got * limit < wanted * j;
}

/* x += tried y with y from the triangular system of the first `count` columns. */
static void gather(pl_krylov *k, int size, int count, double *x)
{
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, count, k->hessenberg,
                k->restart + 1, k->rhs, 1);
    cblas_dscal(count, -1, k->rhs, 1);
    pl_subtract(k->ctx, size, count, k->tried, k->rhs, x);
}

pl_status pl_gmres(pl_krylov *k, int size, pl_operator a, pl_operator p, const double *b, double *x,
                   double tolerance, int max_iterations, pl_krylov_result *out)
{
    *out = (pl_krylov_result){0};
    memset(x, 0, sizeof(double) * (size_t)size);
    double scale = cblas_dnrm2(size, b, 1), norm = scale, goal = tolerance * scale;
    double enough = a.exactly ? 2 * goal : goal;
    if (norm == 0) {
        out->converged = true;
        return PL_OK;
    }
    memcpy(k->basis, b, sizeof(double) * (size_t)size);
    while (out->iterations < max_iterations && norm > enough) {
        double before = norm;
        cblas_dscal(size, 1 / norm, k->basis, 1);
        memset(k->rhs, 0, sizeof(double) * (size_t)(k->restart + 1));
        k->rhs[0] = norm;
        int j = 0;
        bool near = false;
        while (j < k->restart && out->iterations < max_iterations && fabs(k->rhs[j]) > goal && !near) {
            PL_TRY(arnoldi(k, size, a, p, j));
            rotate(k, j++);
            out->iterations++;
            near = is_near(k, p, size, j);
            if (hopeless(k, j, norm, goal, max_iterations))
                max_iterations = out->iterations;
        }
        double told = fabs(k->rhs[j]);
        while (j > 0 && k->hessenberg[(size_t)(j - 1) * (size_t)(k->restart + 2)] == 0)
            told = INFINITY, j--; /* a singular direction adds nothing */
        gather(k, size, j, x);
        if (near && told < INFINITY)
            enough = fmax(enough, 2 * told);
        if (a.trusted && told <= enough) {
            norm = told;
            break;
        }
        PL_TRY(true_residual(a, size, b, x, k->basis, &norm));
        if (!(norm < 0.9 * before))
            break; /* rounding, or a singular system: no restart would help */
    }
    out->residual = norm / scale;
    out->converged = norm <= enough;
    return PL_OK;
}

pl_status pl_cg(pl_krylov *k, int size, pl_operator a, pl_operator p, const double *b, double *x,
                double tolerance, int max_iterations, pl_krylov_result *out)
{
    *out = (pl_krylov_result){0};
    double *r = k->basis, *z = k->work, *d = k->direction, *ad = k->product;
    double scale = cblas_dnrm2(size, b, 1), norm = scale;
    memset(x, 0, sizeof(double) * (size_t)size);
    memcpy(r, b, sizeof(double) * (size_t)size);
    memset(d, 0, sizeof(double) * (size_t)size);
    double rz = 1;
    while (norm > tolerance * scale && out->iterations < max_iterations) {
        PL_TRY(precondition(p, size, r, z));
        double next = cblas_ddot(size, r, 1, z, 1);
        cblas_dscal(size, out->iterations ? next / rz : 0, d, 1);
        cblas_daxpy(size, 1, z, 1, d, 1);
        rz = next;
        PL_TRY(a.apply(a.user, d, ad));
        double curvature = cblas_ddot(size, d, 1, ad, 1);
        out->iterations++;
        if (!(curvature > 0)) {
            out->indefinite = true;
            break;
        }
        cblas_daxpy(size, rz / curvature, d, 1, x, 1);
        cblas_daxpy(size, -rz / curvature, ad, 1, r, 1);
        norm = cblas_dnrm2(size, r, 1);
    }
    if (scale > 0) {
        PL_TRY(true_residual(a, size, b, x, r, &norm));
        out->residual = norm / scale;
    }
    out->converged =
        !out->indefinite && norm <= 2 * tolerance * scale; /* recursion drifts by rounding */
    return PL_OK;
}
