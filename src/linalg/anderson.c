/* Anderson acceleration by normal equations, at most PL_ANDERSON_DEPTH of them. */
#include "linalg/anderson.h"

#include "linalg/blocks.h"

#include <lapacke.h>

#define REGULAR 1e-14 /* of the longest difference's square: old ones are nearly dependent */
#define NOISE   1e-3  /* of its own square: what another problem may change in a kept one */

pl_status pl_anderson_create(pl_context *ctx, int size, pl_anderson *a)
{
    pl_status status = PL_OK;
    *a = (pl_anderson){.ctx = ctx, .size = size};
    PL_NEW(ctx, a->last_x, size, done);
    PL_NEW(ctx, a->last_m, size, done);
    PL_NEW(ctx, a->sum, (PL_ANDERSON_KEPT + PL_ANDERSON_DEPTH) * size, done);
    PL_NEW(ctx, a->dm, (PL_ANDERSON_KEPT + PL_ANDERSON_DEPTH) * size, done);
done:
    return status;
}

void pl_anderson_free(pl_anderson *a)
{
    pl_free(a->ctx, a->last_x);
    pl_free(a->ctx, a->last_m);
    pl_free(a->ctx, a->sum);
    pl_free(a->ctx, a->dm);
    *a = (pl_anderson){0};
}

void pl_anderson_reset(pl_anderson *a)
{
    a->count = a->next = a->kept = a->oldest = 0;
    a->has_last = false;
}

/* The first difference takes the place of the oldest one that is kept. */
void pl_anderson_next(pl_anderson *a)
{
    size_t n = (size_t)a->size, to = (size_t)a->oldest * n, from = PL_ANDERSON_KEPT * n;
    if (a->count > 0) {
        memcpy(a->sum + to, a->sum + from, sizeof(double) * n);
        memcpy(a->dm + to, a->dm + from, sizeof(double) * n);
        a->kept = pl_smaller(a->kept + 1, PL_ANDERSON_KEPT);
        a->oldest = (a->oldest + 1) % PL_ANDERSON_KEPT;
    }
    a->count = a->next = 0;
    a->has_last = false;
}

void pl_anderson_remember(pl_anderson *a, const double *x, const double *m)
{
    size_t n = (size_t)a->size, at = (size_t)(PL_ANDERSON_KEPT + a->next) * n;
    double *sum = a->sum + at, *dm = a->dm + at;
    if (a->has_last) {
        for (size_t i = 0; i < n; i++) {
            dm[i] = m[i] - a->last_m[i];
            sum[i] = x[i] - a->last_x[i] + dm[i];
        }
        a->next = (a->next + 1) % PL_ANDERSON_DEPTH;
        a->count = pl_smaller(a->count + 1, PL_ANDERSON_DEPTH);
    }
    memcpy(a->last_x, x, sizeof(double) * n);
    memcpy(a->last_m, m, sizeof(double) * n);
    a->has_last = true;
}

/* This problem's differences, or as long as there are none those of earlier ones: how many, and where
 * they begin. */
static int differences(const pl_anderson *a, size_t *from)
{
    *from = a->count > 0 ? PL_ANDERSON_KEPT * (size_t)a->size : 0;
    return a->count > 0 ? a->count : a->kept;
}

/* The products of k differences dM with each other and with m. */
static void multiply(const pl_anderson *a, const double *dm, int k, const double *m, double *gram,
                     double *gamma)
{
    pl_dots(a->ctx, a->size, k, dm, m, gamma);
    for (int i = 0; i < k; i++) {
        double row[PL_ANDERSON_DEPTH];
        pl_dots(a->ctx, a->size, i + 1, dm, dm + (size_t)i * (size_t)a->size, row);
        for (int j = 0; j <= i; j++)
            gram[i * k + j] = gram[j * k + i] = row[j];
    }
}

bool pl_anderson_combine(const pl_anderson *a, const double *m, double *step)
{
    double gram[PL_ANDERSON_DEPTH * PL_ANDERSON_DEPTH], gamma[PL_ANDERSON_DEPTH], longest = 0;
    size_t from;
    int k = differences(a, &from);
    multiply(a, a->dm + from, k, m, gram, gamma);
    for (int i = 0; i < k; i++)
        longest = fmax(longest, gram[i * (k + 1)]);
    for (int i = 0; i < k; i++)
        gram[i * (k + 1)] += REGULAR * longest + (a->count > 0 ? 0 : NOISE * gram[i * (k + 1)]);
    if (k == 0 || LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', k, 1, gram, k, gamma, k) != 0) {
        memcpy(step, m, sizeof(double) * (size_t)a->size);
        return false;
    }
    memcpy(step, m, sizeof(double) * (size_t)a->size);
    pl_subtract(a->ctx, a->size, k, a->sum + from, gamma, step); /* m - (dX + dM) gamma */
    return true;
}
