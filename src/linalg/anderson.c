/* Anderson acceleration by normal equations, at most PL_ANDERSON_DEPTH of them. */
#include "linalg/anderson.h"

#include <cblas.h>
#include <lapacke.h>

pl_status pl_anderson_create(pl_context *ctx, int size, pl_anderson *a)
{
    pl_status status = PL_OK;
    *a = (pl_anderson){.size = size};
    PL_NEW(ctx, a->last_x, size, done);
    PL_NEW(ctx, a->last_m, size, done);
    PL_NEW(ctx, a->dx, PL_ANDERSON_DEPTH * size, done);
    PL_NEW(ctx, a->dm, PL_ANDERSON_DEPTH * size, done);
done:
    return status;
}

void pl_anderson_free(pl_context *ctx, pl_anderson *a)
{
    pl_free(ctx, a->last_x);
    pl_free(ctx, a->last_m);
    pl_free(ctx, a->dx);
    pl_free(ctx, a->dm);
    *a = (pl_anderson){0};
}

void pl_anderson_reset(pl_anderson *a)
{
    a->count = a->next = 0;
    a->has_last = false;
}

static void remember(pl_anderson *a, const double *x, const double *m)
{
    size_t n = (size_t)a->size;
    if (a->has_last) {
        double *dx = a->dx + (size_t)a->next * n, *dm = a->dm + (size_t)a->next * n;
        for (size_t i = 0; i < n; i++) {
            dx[i] = x[i] - a->last_x[i];
            dm[i] = m[i] - a->last_m[i];
        }
        a->next = (a->next + 1) % PL_ANDERSON_DEPTH;
        a->count = a->count < PL_ANDERSON_DEPTH ? a->count + 1 : a->count;
    }
    memcpy(a->last_x, x, sizeof(double) * n);
    memcpy(a->last_m, m, sizeof(double) * n);
    a->has_last = true;
}

bool pl_anderson_step(pl_anderson *a, const double *x, const double *m, double *step)
{
    size_t n = (size_t)a->size;
    double gram[PL_ANDERSON_DEPTH * PL_ANDERSON_DEPTH], gamma[PL_ANDERSON_DEPTH], largest = 0;
    remember(a, x, m);
    memcpy(step, m, sizeof(double) * n);
    int k = a->count;
    for (int i = 0; i < k; i++) {
        const double *di = a->dm + (size_t)i * n;
        for (int j = 0; j <= i; j++)
            gram[i * k + j] = gram[j * k + i] = cblas_ddot(a->size, di, 1, a->dm + (size_t)j * n, 1);
        gamma[i] = cblas_ddot(a->size, di, 1, m, 1);
        largest = fmax(largest, gram[i * k + i]);
    }
    /* A little regularisation: old differences are much longer than new ones and nearly dependent. */
    for (int i = 0; i < k; i++)
        gram[i * k + i] += 1e-14 * largest;
    if (k == 0 || LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', k, 1, gram, k, gamma, k) != 0)
        return false;
    for (int i = 0; i < k; i++) {
        cblas_daxpy(a->size, -gamma[i], a->dx + (size_t)i * n, 1, step, 1);
        cblas_daxpy(a->size, -gamma[i], a->dm + (size_t)i * n, 1, step, 1);
    }
    return true;
}
