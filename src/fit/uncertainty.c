/* Uncertainty of identified values, from the Gauss-Newton matrix at the solution: see fit.h. */
#include "fit/fit.h"

#include <lapacke.h>

/* A = sum_i weight_i^2 J_i J_i^T over the residuals, [n, n]; weights NULL = 1. */
static void normal_matrix(int n, size_t m, const double *jacobian, const double *weights, double *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const double *u = jacobian + (size_t)i * m, *v = jacobian + (size_t)j * m;
            double sum = 0;
            for (size_t k = 0; k < m; k++)
                sum += weights ? weights[k] * weights[k] * u[k] * v[k] : u[k] * v[k];
            a[i * n + j] = a[j * n + i] = sum;
        }
}

/* Inverse of a symmetric positive definite matrix, scaled to unit diagonal first: units differ widely.
 */
static bool invert(int n, double *a, double *scale)
{
    for (int i = 0; i < n; i++) {
        if (!(a[i * n + i] > 0))
            return false;
        scale[i] = 1 / sqrt(a[i * n + i]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] *= scale[i] * scale[j];
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, a, n) != 0)
        return false;
    for (int i = 0; i < n; i++)
        if (a[i * n + i] < 1e-8) /* correlated to rounding: the data do not tell the values apart */
            return false;
    if (LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', n, a, n) != 0)
        return false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            a[i * n + j] = a[j * n + i] = a[i * n + j] * scale[i] * scale[j];
    return true;
}

/* out = a b a, all symmetric [n, n]; scratch [n, n] */
static void sandwich(int n, const double *a, const double *b, double *out, double *scratch)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            scratch[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                scratch[i * n + j] += a[i * n + k] * b[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                out[i * n + j] += scratch[i * n + k] * a[k * n + j];
        }
}

/* Standard deviation of each residual: noise times the row's scale, 0 for regularisers. */
static void residual_noise(const pl_task *task, double *out)
{
    memset(out, 0, (size_t)task->residual_count * sizeof *out);
    for (int k = 0; k < task->term_count; k++) {
        const pl_term *term = &task->terms[k];
        int rows = term->first[term->step_count], width = term->kind == PL_TERM_CLOUD ? 1 : 3;
        for (int i = 0; i < rows * width; i++)
            out[term->first_residual + i] = task->noise * sqrt(term->weight / rows);
    }
}

static void from_covariance(const pl_task *task, const double *x, const double *covariance,
                            double *error, double *correlation)
{
    int n = task->n;
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        for (int i = u->first; i < u->first + u->count; i++)
            error[i] = fabs(pl_map_slope(u, x[i])) * sqrt(covariance[i * n + i]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double both = sqrt(covariance[i * n + i] * covariance[j * n + j]);
            correlation[i * n + j] = i == j ? 1 : both > 0 ? covariance[i * n + j] / both : NAN;
        }
}

pl_status pl_uncertainty(pl_evaluation *e, const double *x, double *standard_error, double *correlation)
{
    pl_task *task = e->task;
    pl_context *ctx = task->ctx;
    pl_status status = PL_OK;
    int n = task->n;
    size_t m = (size_t)task->residual_count, square = (size_t)n * (size_t)n;
    double *r = NULL, *jacobian = NULL, *noise = NULL, *a = NULL, sum = 0;
    for (size_t i = 0; i < square; i++)
        correlation[i] = NAN;
    for (int i = 0; i < n; i++)
        standard_error[i] = NAN;
    PL_NEW(ctx, r, m, done);
    PL_NEW(ctx, noise, m, done);
    PL_NEW(ctx, jacobian, (size_t)n * m, done);
    PL_NEW(ctx, a, 4 * square + (size_t)n, done);
    PL_CHECK(pl_evaluation_residual(e, x, r, jacobian), done);
    double *covariance = a + square, *middle = covariance + square, *scratch = middle + square;
    normal_matrix(n, m, jacobian, NULL, a);
    if (!invert(n, a, scratch + square))
        goto done;
    if (task->noise > 0) {
        residual_noise(task, noise);
        normal_matrix(n, m, jacobian, noise, middle);
        sandwich(n, a, middle, covariance, scratch);
    } else {
        for (size_t k = 0; k < m; k++)
            sum += r[k] * r[k];
        for (size_t i = 0; i < square; i++)
            covariance[i] = m > (size_t)n ? a[i] * sum / (double)(m - (size_t)n) : NAN;
    }
    from_covariance(task, x, covariance, standard_error, correlation);
done:
    pl_free(ctx, r);
    pl_free(ctx, noise);
    pl_free(ctx, jacobian);
    pl_free(ctx, a);
    return status;
}
