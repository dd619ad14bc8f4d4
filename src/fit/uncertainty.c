/* What the data say at a solution, and the uncertainty of its values from the Gauss-Newton matrix
 * there: see fit.h. */
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

/* Standard deviation of each residual when coordinates have `noise`; 0 for regularisers. [m] */
static void residual_noise(const pl_task *task, double noise, double *out)
{
    memset(out, 0, (size_t)task->residual_count * sizeof *out);
    for (int k = 0; k < task->term_count; k++) {
        const pl_loss_term *term = &task->terms[k];
        for (int i = 0; i < pl_term_residuals(term); i++)
            out[term->first_residual + i] = noise * pl_term_scale(term);
    }
}

/* s^2 of what the fit leaves, and no less than what the simulation itself leaves open. */
static double residual_variance(const pl_task *task, const double *r, double *scratch)
{
    size_t m = (size_t)task->residual_count, n = (size_t)task->n;
    double left = 0, floor = 0;
    residual_noise(task, task->scene->params.values->def.tolerance, scratch);
    for (size_t k = 0; k < m; k++) {
        left += r[k] * r[k];
        floor += scratch[k] * scratch[k];
    }
    return m > n ? fmax(left / (double)(m - n), floor / (double)m) : NAN;
}

/* Fills in what follows from the residuals and their Jacobian [n, m]. */
static pl_status linearise(const pl_task *task, const double *jacobian, pl_evidence *out)
{
    pl_context *ctx = task->ctx;
    pl_status status = PL_OK;
    int n = task->n;
    size_t m = (size_t)task->residual_count, square = (size_t)n * (size_t)n;
    double *noise = NULL, *a = NULL;
    PL_NEW(ctx, out->normal, square, done);
    PL_NEW(ctx, out->pull, n, done);
    PL_NEW(ctx, out->covariance, square, done);
    PL_NEW(ctx, noise, m, done);
    PL_NEW(ctx, a, 3 * square + (size_t)n, done);
    double *middle = a + square, *scratch = middle + square;
    normal_matrix(n, m, jacobian, NULL, out->normal);
    for (int i = 0; i < n; i++)
        out->pull[i] = pl_dot((int)m, jacobian + (size_t)i * m, out->residual);
    memcpy(a, out->normal, square * sizeof *a);
    out->linearised = true;
    out->singular = !invert(n, a, scratch + square);
    if (out->singular)
        goto done;
    if (task->noise > 0) {
        residual_noise(task, task->noise, noise);
        normal_matrix(n, m, jacobian, noise, middle);
        sandwich(n, a, middle, out->covariance, scratch);
    } else {
        double variance = residual_variance(task, out->residual, noise);
        for (size_t i = 0; i < square; i++)
            out->covariance[i] = a[i] * variance;
    }
done:
    pl_free(ctx, noise);
    pl_free(ctx, a);
    return status;
}

pl_status pl_evidence_gather(pl_evaluation *e, const double *x, bool with_jacobian, pl_evidence *out)
{
    const pl_task *task = e->task;
    pl_status status = PL_OK;
    size_t m = (size_t)task->residual_count;
    double *jacobian = NULL;
    *out = (pl_evidence){0};
    PL_NEW(task->ctx, out->residual, m, done);
    if (with_jacobian) {
        PL_NEW(task->ctx, jacobian, (size_t)task->n * m, done);
        status = pl_evaluation_residual(e, x, out->residual, jacobian);
        out->refused = pl_point_refused(status);
    }
    if (!with_jacobian || out->refused)
        status = pl_evaluation_residual(e, x, out->residual, NULL);
    else if (status == PL_OK)
        status = linearise(task, jacobian, out);
done:
    pl_free(task->ctx, jacobian);
    return status;
}

void pl_evidence_free(pl_context *ctx, pl_evidence *evidence)
{
    pl_free(ctx, evidence->residual);
    pl_free(ctx, evidence->normal);
    pl_free(ctx, evidence->pull);
    pl_free(ctx, evidence->covariance);
}

void pl_uncertainty(const pl_task *task, const double *x, const pl_evidence *evidence,
                    double *standard_error, double *correlation)
{
    int n = task->n < PL_SHOWN_MAX ? task->n : PL_SHOWN_MAX;
    const double *covariance = evidence->covariance;
    bool known = evidence->linearised && !evidence->singular;
    for (int k = 0; known && k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        for (int i = u->first; i < u->first + u->count; i++)
            standard_error[i] = fabs(pl_map_slope(u, x[i])) * sqrt(covariance[i * n + i]);
    }
    for (int i = 0; !known && i < n; i++)
        standard_error[i] = NAN;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double both = known ? sqrt(covariance[i * n + i] * covariance[j * n + j]) : NAN;
            correlation[i * n + j] = i == j && known ? 1
                                     : both > 0      ? covariance[i * n + j] / both
                                                     : NAN;
        }
}
