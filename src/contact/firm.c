/* The contact system through W^-1, the few contacts that are not firm by an LU. */
#include "contact/firm.h"

#include "core/vec.h"
#include "linalg/lu.h"

#include <cblas.h>
#include <lapacke.h>

#define FIRM       1e-2 /* the largest D_lambda of a firm contact, over its diagonal of W */
#define MOST_LOOSE 0.4  /* of all contacts: from here on the other way (schur.h) is as cheap */

static int most_loose(int m)
{
    return (int)(MOST_LOOSE * m);
}

void pl_firm_free(pl_context *ctx, pl_firm *f)
{
    void *arrays[] = {f->loose, f->direct, f->lu, f->pivot, f->motion, f->rhs, f->force};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *f = (pl_firm){0};
}

pl_status pl_firm_reserve(pl_context *ctx, pl_firm *f, int m)
{
    pl_status status = PL_OK;
    size_t room = (size_t)m, most = (size_t)most_loose(m) + 1;
    if (m <= f->capacity)
        return PL_OK;
    pl_firm_free(ctx, f);
    PL_NEW(ctx, f->loose, room, fail);
    PL_NEW(ctx, f->direct, 9 * room, fail);
    PL_NEW(ctx, f->lu, 9 * most * most, fail);
    PL_NEW(ctx, f->pivot, 3 * most, fail);
    PL_NEW(ctx, f->motion, 3 * room, fail);
    PL_NEW(ctx, f->rhs, 3 * most, fail);
    PL_NEW(ctx, f->force, 3 * room, fail);
    f->capacity = m;
    return PL_OK;
fail:
    pl_firm_free(ctx, f);
    return status;
}

static bool is_firm(const double *rho, const pl_law_linear *linear, int c)
{
    double sum = 0;
    for (int k = 0; k < 9; k++)
        sum += linear[c].d_lambda[k] * linear[c].d_lambda[k];
    return sqrt(sum) <= FIRM * rho[c];
}

bool pl_firm_suits(int m, const double *rho, const pl_law_linear *linear)
{
    int loose = 0;
    for (int c = 0; c < m; c++)
        loose += !is_firm(rho, linear, c);
    return loose <= most_loose(m);
}

/* The equations of the loose contact at place a. */
static void fill_rows(pl_firm *f, const float *p, const pl_law_linear *linear, int a)
{
    size_t n = 3 * (size_t)f->count, size = 3 * (size_t)f->loose_count;
    int c = f->loose[a];
    const float *dl = f->direct + 9 * (size_t)c, *own = p + 3 * (size_t)c * n;
    for (int r = 0; r < 3; r++) {
        float *out = f->lu + (3 * (size_t)a + (size_t)r) * size;
        for (int b = 0; b < f->loose_count; b++)
            for (size_t k = 0, j = 3 * (size_t)f->loose[b]; k < 3; k++, j++)
                out[3 * (size_t)b + k] =
                    dl[3 * r] * own[j] + dl[3 * r + 1] * own[n + j] + dl[3 * r + 2] * own[2 * n + j];
        for (int k = 0; k < 3; k++)
            out[3 * a + k] += (float)linear[c].d_delta[3 * r + k];
    }
}

bool pl_firm_factor(pl_context *ctx, pl_firm *f, int m, const double *rho, const float *p,
                    const pl_law_linear *linear)
{
    int firm = m;
    f->count = m;
    f->loose_count = 0;
    for (int c = 0; c < m; c++) {
        bool moves = is_firm(rho, linear, c);
        double inverse[9];
        f->loose[moves ? --firm : f->loose_count++] = c;
        pl_inverse3(linear[c].d_delta, inverse);
        for (int k = 0; k < 9; k++)
            f->direct[9 * (size_t)c + (size_t)k] = (float)(moves ? inverse[k] : linear[c].d_lambda[k]);
    }
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (f->loose_count > 64)
    for (int a = 0; a < f->loose_count; a++)
        fill_rows(f, p, linear, a);
    return f->loose_count == 0 || pl_lu_factor(ctx, 3 * f->loose_count, f->lu, f->pivot);
}

static void multiply3(const float a[9], const float x[3], float y[3])
{
    for (int r = 0; r < 3; r++)
        y[r] = a[3 * r] * x[0] + a[3 * r + 1] * x[1] + a[3 * r + 2] * x[2];
}

static void multiply3_transposed(const float a[9], const float x[3], float y[3])
{
    for (int r = 0; r < 3; r++)
        y[r] = a[r] * x[0] + a[3 + r] * x[1] + a[6 + r] * x[2];
}

/* f->rhs <- T^-1 f->rhs or T^-T f->rhs, T = D_delta + D_lambda P_ll of the loose contacts. */
static void solve_loose(pl_firm *f, bool transposed)
{
    int size = 3 * f->loose_count;
    if (size > 0)
        LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, transposed ? 'N' : 'T', size, 1, f->lu, size, f->pivot,
                            f->rhs, size);
}

static void solve_plain(pl_context *ctx, pl_firm *f, const float *p, pl_symmetric *product,
                        const double *x, double *y)
{
    int n = 3 * f->count;
    memset(f->motion, 0, sizeof(float) * (size_t)n);
    for (int a = f->loose_count; a < f->count; a++) {
        int c = f->loose[a];
        float told[3] = {(float)x[3 * c], (float)x[3 * c + 1], (float)x[3 * c + 2]};
        multiply3(f->direct + 9 * (size_t)c, told, f->motion + 3 * c);
    }
    for (int a = 0; a < f->loose_count; a++) {
        int c = f->loose[a];
        float felt[3], *rhs = f->rhs + 3 * a;
        cblas_sgemv(CblasRowMajor, CblasNoTrans, 3, n, 1, p + 3 * (size_t)c * (size_t)n, n, f->motion,
                    1, 0, felt, 1);
        multiply3(f->direct + 9 * (size_t)c, felt, rhs);
        for (int k = 0; k < 3; k++)
            rhs[k] = (float)x[3 * c + k] - rhs[k];
    }
    solve_loose(f, false);
    for (int a = 0; a < f->loose_count; a++)
        memcpy(f->motion + 3 * f->loose[a], f->rhs + 3 * a, 3 * sizeof(float));
    pl_symmetric_multiply(ctx, product, f->motion, f->force);
    for (int i = 0; i < n; i++)
        y[i] = f->force[i];
}

static void solve_transposed(pl_context *ctx, pl_firm *f, const float *p, pl_symmetric *product,
                             const double *x, double *y)
{
    int n = 3 * f->count;
    for (int i = 0; i < n; i++)
        f->motion[i] = (float)x[i];
    pl_symmetric_multiply(ctx, product, f->motion, f->force);
    for (int a = 0; a < f->loose_count; a++)
        memcpy(f->rhs + 3 * a, f->force + 3 * f->loose[a], 3 * sizeof(float));
    solve_loose(f, true);
    for (int a = 0; a < f->loose_count; a++) {
        int c = f->loose[a];
        float taken[3];
        multiply3_transposed(f->direct + 9 * (size_t)c, f->rhs + 3 * a, taken);
        cblas_sgemv(CblasRowMajor, CblasTrans, 3, n, -1, p + 3 * (size_t)c * (size_t)n, n, taken, 1, 1,
                    f->force, 1);
    }
    for (int a = 0; a < f->count; a++) {
        int c = f->loose[a];
        float found[3];
        if (a < f->loose_count)
            memcpy(found, f->rhs + 3 * a, sizeof found);
        else
            multiply3_transposed(f->direct + 9 * (size_t)c, f->force + 3 * c, found);
        for (int k = 0; k < 3; k++)
            y[3 * c + k] = found[k];
    }
}

void pl_firm_solve(pl_context *ctx, pl_firm *f, const float *p, pl_symmetric *product, bool transposed,
                   const double *x, double *y)
{
    if (transposed)
        solve_transposed(ctx, f, p, product, x, y);
    else
        solve_plain(ctx, f, p, product, x, y);
}
