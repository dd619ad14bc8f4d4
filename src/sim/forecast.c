/* Linear prediction of accelerations. */
#include "sim/forecast.h"

#include "linalg/blocks.h"

#include <lapacke.h>

#define LEAST 1e-14 /* of a term's square: what is independent of the others, or taken for rounding */

pl_status pl_forecast_create(pl_context *ctx, int n, pl_forecast *out)
{
    pl_status status = PL_OK;
    *out = (pl_forecast){.n = n};
    PL_NEW(ctx, out->past, 3 * (size_t)PL_FORECAST_KEPT * (size_t)n, done);
    PL_NEW(ctx, out->work, 3 * (size_t)n, done);
done:
    return status;
}

void pl_forecast_free(pl_context *ctx, pl_forecast *f)
{
    pl_free(ctx, f->past);
    pl_free(ctx, f->work);
    *f = (pl_forecast){0};
}

void pl_forecast_reset(pl_forecast *f)
{
    f->count = 0;
}

static int slot(const pl_forecast *f, int j)
{
    return (f->newest - j + PL_FORECAST_KEPT) % PL_FORECAST_KEPT;
}

const double *pl_forecast_past(const pl_forecast *f, int j)
{
    return f->past + 3 * (size_t)slot(f, j) * (size_t)f->n;
}

void pl_forecast_add(const pl_context *ctx, pl_forecast *f, const double *mass,
                     const double *acceleration)
{
    double dots[PL_FORECAST_KEPT];
    size_t size = 3 * (size_t)f->n;
    f->newest = (f->newest + 1) % PL_FORECAST_KEPT;
    f->count = pl_smaller(f->count + 1, PL_FORECAST_KEPT);
    double *newest = f->past + (size_t)f->newest * size;
    const double *before = pl_forecast_past(f, 1);
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static) if (f->n > ctx->limits.thread_vertices)
    for (size_t i = 0; i < size; i++) {
        newest[i] = acceleration[i];
        f->work[i] = mass[i / 3] * (2 * newest[i] - before[i]);
    }
    pl_dots(ctx, (int)size, PL_FORECAST_KEPT, f->past, f->work, dots);
    for (int i = PL_FORECAST_TERMS; i > 0; i--)
        memcpy(f->product[i] + 1, f->product[i - 1], sizeof(double) * PL_FORECAST_TERMS);
    for (int i = 0; i + 1 < f->count; i++)
        f->product[0][i] = f->product[i][0] = 2 * dots[slot(f, i)] - dots[slot(f, i + 1)];
}

int pl_forecast_fit(const pl_forecast *f, double c[PL_FORECAST_TERMS], double *left)
{
    int terms = f->count - 2;
    *left = 0;
    double normal[PL_FORECAST_TERMS * PL_FORECAST_TERMS], scale[PL_FORECAST_TERMS];
    for (int i = 0; i < terms; i++) {
        if (!(f->product[i + 1][i + 1] > 0))
            return 0;
        scale[i] = 1 / sqrt(f->product[i + 1][i + 1]);
        c[i] = scale[i] * f->product[0][i + 1];
    }
    for (int i = 0; i < terms; i++)
        for (int j = 0; j < terms; j++)
            normal[i * terms + j] = i == j ? 1 + LEAST : scale[i] * f->product[i + 1][j + 1] * scale[j];
    if (terms < 1 || LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', terms, 1, normal, terms, c, terms) != 0)
        return 0;
    *left = f->product[0][0];
    for (int i = 0; i < terms; i++) {
        c[i] *= scale[i];
        *left -= c[i] * f->product[0][i + 1];
    }
    return terms;
}
