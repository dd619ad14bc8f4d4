/* The LU of the contact system, weak rows eliminated first. */
#include "contact/schur.h"

#include "core/vec.h"
#include "linalg/lu.h"

#include <cblas.h>
#include <lapacke.h>

#define CHUNK 64 /* contacts */

void pl_schur_free(pl_context *ctx, pl_schur *s)
{
    void *arrays[] = {s->place, s->basis, s->lu, s->across, s->pivot, s->rhs, s->held};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *s = (pl_schur){0};
}

pl_status pl_schur_reserve(pl_context *ctx, pl_schur *s, int m)
{
    pl_status status = PL_OK;
    size_t room = (size_t)m;
    if (m <= s->capacity)
        return PL_OK;
    pl_schur_free(ctx, s);
    PL_NEW(ctx, s->place, 3 * room, fail);
    PL_NEW(ctx, s->basis, 9 * room, fail);
    PL_NEW(ctx, s->lu, 9 * room * room, fail);
    PL_NEW(ctx, s->across, 9 * room * room / 4 + 1, fail); /* the most that k (3 m - k) can be */
    PL_NEW(ctx, s->pivot, 3 * room, fail);
    PL_NEW(ctx, s->rhs, 3 * room, fail);
    PL_NEW(ctx, s->held, 3 * room, fail);
    s->capacity = m;
    return PL_OK;
fail:
    pl_schur_free(ctx, s);
    return status;
}

/* ---- Which rows are weak ---- */

/* The unit vector across a and b. */
static void unit_cross(const double a[3], const double b[3], double out[3])
{
    pl_cross3(a, b, out);
    double length = pl_norm3(out);
    for (int k = 0; k < 3; k++)
        out[k] /= length;
}

/* Any unit vector across a. */
static void across(const double a[3], double out[3])
{
    double axis[3] = {0};
    int least = fabs(a[0]) < fabs(a[1]) ? 0 : 1;
    least = fabs(a[2]) < fabs(a[least]) ? 2 : least;
    axis[least] = 1;
    unit_cross(a, axis, out);
}

static void identity(double t[9])
{
    memset(t, 0, 9 * sizeof *t);
    t[0] = t[4] = t[8] = 1;
}

/* Completes the weak rows of t to a basis by vectors across them. */
static void complete(const bool is_weak[3], double t[9])
{
    double *weak[3], *strong[3];
    int weak_count = 0, strong_count = 0;
    for (int r = 0; r < 3; r++) {
        if (is_weak[r])
            weak[weak_count++] = t + 3 * r;
        else
            strong[strong_count++] = t + 3 * r;
    }
    if (weak_count == 0) {
        identity(t);
    } else if (weak_count == 1) {
        across(weak[0], strong[0]);
        unit_cross(weak[0], strong[0], strong[1]);
    } else if (weak_count == 2) {
        unit_cross(weak[0], weak[1], strong[0]);
    }
}

/* X of contact c; the places of its weak rows are -1 for now, of the others 0. */
static void find_basis(pl_schur *s, int m, int c, const pl_law_linear *law, const float *w, double weak)
{
    size_t ld = 3 * (size_t)m;
    const float *own = w + 3 * (size_t)c * (ld + 1);
    double t[9], x[9], rho = (own[0] + own[ld + 1] + own[2 * ld + 2]) / 3;
    bool is_weak[3];
    for (int r = 0; r < 3; r++) {
        const double *dd = law->d_delta + 3 * r, *dl = law->d_lambda + 3 * r;
        is_weak[r] = pl_norm3(dd) * rho <= weak * pl_norm3(dl);
        for (size_t k = 0; k < 3; k++)
            t[3 * r + (int)k] = dl[k] + dd[0] * own[k] + dd[1] * own[ld + k] + dd[2] * own[2 * ld + k];
    }
    complete(is_weak, t);
    double det = pl_det3(t);
    if (!(fabs(det) > 0) || !isfinite(det)) { /* nothing to eliminate by: left to the LU */
        memset(is_weak, 0, sizeof is_weak);
        identity(t);
    }
    pl_inverse3(t, x);
    for (int r = 0; r < 3; r++)
        s->place[3 * c + r] = -is_weak[r];
    for (int k = 0; k < 9; k++)
        s->basis[9 * (size_t)c + (size_t)k] = (float)x[k];
}

/* ---- The strong rows ---- */

/* Row r of contact a at the columns of contacts [begin, end). */
static void fill_row(pl_schur *s, int m, const pl_law_linear *law, const float *w, int a, int r,
                     int begin, int end)
{
    size_t ld = 3 * (size_t)m, row = (size_t)s->place[3 * a + r];
    const double *dd = law->d_delta + 3 * r;
    float x[3 * CHUNK], d0 = (float)dd[0], d1 = (float)dd[1], d2 = (float)dd[2];
    const float *w0 = w + 3 * (size_t)a * ld + 3 * (size_t)begin, *w1 = w0 + ld, *w2 = w1 + ld;
    float *left = s->lu + row * (size_t)s->size, *aside = s->across + row * (ld - (size_t)s->size);
    for (int j = 0; j < 3 * (end - begin); j++)
        x[j] = d0 * w0[j] + d1 * w1[j] + d2 * w2[j];
    for (int k = 0; begin <= a && a < end && k < 3; k++)
        x[3 * (a - begin) + k] += (float)law->d_lambda[3 * r + k];
    for (int b = begin; b < end; b++) {
        const float *at = x + 3 * (b - begin), *basis = s->basis + 9 * (size_t)b;
        const int *place = s->place + 3 * b;
        for (int k = 0; k < 3; k++) {
            float value = at[0] * basis[k] + at[1] * basis[3 + k] + at[2] * basis[6 + k];
            *(place[k] < 0 ? aside - 1 - place[k] : left + place[k]) = value;
        }
    }
}

void pl_schur_factor(pl_context *ctx, pl_schur *s, int m, const pl_law_linear *linear, const float *w,
                     double weak)
{
    int held = 0;
    s->size = 0;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (m > ctx->limits.thread_contacts)
    for (int c = 0; c < m; c++)
        find_basis(s, m, c, &linear[c], w, weak);
    for (int i = 0; i < 3 * m; i++)
        s->place[i] = s->place[i] < 0 ? -1 - held++ : s->size++;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (m > ctx->limits.thread_contacts)
    for (int a = 0; a < m; a++)
        for (int begin = 0; begin < m; begin += CHUNK)
            for (int r = 0; r < 3; r++)
                if (s->place[3 * a + r] >= 0)
                    fill_row(s, m, &linear[a], w, a, r, begin, begin + CHUNK < m ? begin + CHUNK : m);
    s->count = pl_lu_factor(ctx, s->size, s->lu, s->pivot) ? m : 0;
}

/* ---- Solves ---- */

static float *value_of(pl_schur *s, int row)
{
    int place = s->place[row];
    return place < 0 ? s->held - 1 - place : s->rhs + place;
}

static void solve_strong(pl_schur *s, bool transposed)
{
    if (s->size > 0)
        LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, transposed ? 'N' : 'T', s->size, 1, s->lu, s->size,
                            s->pivot, s->rhs, s->size);
}

static void solve_plain(pl_schur *s, const double *x, double *y)
{
    int weak = 3 * s->count - s->size;
    for (int i = 0; i < 3 * s->count; i++)
        *value_of(s, i) = (float)x[i];
    if (weak > 0 && s->size > 0)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, s->size, weak, -1, s->across, weak, s->held, 1, 1,
                    s->rhs, 1);
    solve_strong(s, false);
    for (int c = 0; c < s->count; c++) {
        const float *basis = s->basis + 9 * (size_t)c;
        float t[3] = {*value_of(s, 3 * c), *value_of(s, 3 * c + 1), *value_of(s, 3 * c + 2)};
        for (int k = 0; k < 3; k++)
            y[3 * c + k] = basis[3 * k] * t[0] + basis[3 * k + 1] * t[1] + basis[3 * k + 2] * t[2];
    }
}

static void solve_transposed(pl_schur *s, const double *x, double *y)
{
    int weak = 3 * s->count - s->size;
    for (int c = 0; c < s->count; c++) {
        const float *basis = s->basis + 9 * (size_t)c;
        float g[3] = {(float)x[3 * c], (float)x[3 * c + 1], (float)x[3 * c + 2]};
        for (int r = 0; r < 3; r++)
            *value_of(s, 3 * c + r) = basis[r] * g[0] + basis[3 + r] * g[1] + basis[6 + r] * g[2];
    }
    solve_strong(s, true);
    if (weak > 0 && s->size > 0)
        cblas_sgemv(CblasRowMajor, CblasTrans, s->size, weak, -1, s->across, weak, s->rhs, 1, 1,
                    s->held, 1);
    for (int i = 0; i < 3 * s->count; i++)
        y[i] = *value_of(s, i);
}

void pl_schur_solve(pl_schur *s, bool transposed, const double *x, double *y)
{
    if (transposed)
        solve_transposed(s, x, y);
    else
        solve_plain(s, x, y);
}

double pl_schur_price(const pl_schur *s)
{
    /* 60 GFlop/s for the LU, measured on one core; filling it is counted as W read at 3 GB/s. An
     * iteration reads W in half precision and the LU in single precision, at 15 GB/s. */
    double n = 3.0 * s->count, a = s->size;
    double made = (2.0 / 3.0) * a * a * a / 60e9 + 4 * n * n / 3e9;
    return made / ((n * n + 4 * a * n) / 15e9);
}
