/* The LU of the contact system, slipping contacts' tangential forces eliminated first. */
#include "contact/schur.h"

#include "linalg/lu.h"

#include <cblas.h>
#include <lapacke.h>

#define SLIPS                                                                                          \
    10.0 /* D_lambda over rho D_delta, from which on tangential equations count as those of slip */
#define CHUNK 64 /* contacts */

void pl_schur_free(pl_context *ctx, pl_schur *s)
{
    void *arrays[] = {s->first,  s->slip,  s->tangent, s->follow, s->lu,
                      s->across, s->pivot, s->rhs,     s->held};
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
    PL_NEW(ctx, s->first, room, fail);
    PL_NEW(ctx, s->slip, room, fail);
    PL_NEW(ctx, s->tangent, 4 * room, fail);
    PL_NEW(ctx, s->follow, 2 * room, fail);
    PL_NEW(ctx, s->lu, 9 * room * room, fail);
    PL_NEW(ctx, s->across, 9 * room * room / 4 + 1, fail); /* the most that (3 m - 2 k) 2 k can be */
    PL_NEW(ctx, s->pivot, 3 * room, fail);
    PL_NEW(ctx, s->rhs, 3 * room, fail);
    PL_NEW(ctx, s->held, 2 * room, fail);
    s->capacity = m;
    return PL_OK;
fail:
    pl_schur_free(ctx, s);
    return status;
}

static double tangential_norm(const double d[9])
{
    return sqrt(d[4] * d[4] + d[5] * d[5] + d[7] * d[7] + d[8] * d[8]);
}

/* Row r of contact a of D_delta W at the columns [begin, end). */
static void row_of(const pl_law_linear *at, const float *w, size_t ld, int a, int r, size_t begin,
                   size_t end, float *out)
{
    const double *d = at->d_delta + 3 * r;
    float d0 = (float)d[0], d1 = (float)d[1], d2 = (float)d[2];
    const float *w0 = w + 3 * (size_t)a * ld, *w1 = w0 + ld, *w2 = w1 + ld;
    for (size_t j = begin; j < end; j++)
        out[j - begin] = d0 * w0[j] + d1 * w1[j] + d2 * w2[j];
}

/* A contact's own block of S: D_delta W_cc + D_lambda. */
static void own_block(const pl_law_linear *at, const float *w, size_t ld, int c, float out[9])
{
    for (int r = 0; r < 3; r++) {
        row_of(at, w, ld, c, r, 3 * (size_t)c, 3 * (size_t)c + 3, out + 3 * r);
        for (int k = 0; k < 3; k++)
            out[3 * r + k] += (float)at->d_lambda[3 * r + k];
    }
}

/* Which contacts slip, and their tangential equations solved for the tangential force. */
static void eliminate(pl_schur *s, int m, const pl_law *laws, const pl_law_linear *linear,
                      const float *w)
{
    s->size = s->slips = 0;
    for (int c = 0; c < m; c++) {
        float own[9];
        own_block(&linear[c], w, 3 * (size_t)m, c, own);
        float det = own[4] * own[8] - own[5] * own[7];
        bool slips = tangential_norm(linear[c].d_lambda) >
                         SLIPS * laws[c].rho * tangential_norm(linear[c].d_delta) &&
                     det != 0;
        s->first[c] = s->size;
        s->slip[c] = slips ? s->slips : -1;
        s->size += slips ? 1 : 3;
        if (!slips)
            continue;
        float *t = s->tangent + 4 * (size_t)s->slips, *f = s->follow + 2 * (size_t)s->slips++;
        t[0] = own[8] / det, t[1] = -own[5] / det, t[2] = -own[7] / det, t[3] = own[4] / det;
        f[0] = t[0] * own[3] + t[1] * own[6];
        f[1] = t[2] * own[3] + t[3] * own[6];
    }
}

/* Row r of contact a, among the equations left, at the columns of contacts [begin, end). */
static void fill_row(pl_schur *s, int m, const pl_law_linear *at, const float *w, int a, int r,
                     int begin, int end)
{
    float x[3 * CHUNK];
    size_t row = (size_t)(s->first[a] + r);
    float *left = s->lu + row * (size_t)s->size, *across = s->across + row * 2 * (size_t)s->slips;
    row_of(at, w, 3 * (size_t)m, a, r, 3 * (size_t)begin, 3 * (size_t)end, x);
    for (int k = 0; begin <= a && a < end && k < 3; k++)
        x[3 * (a - begin) + k] += (float)at->d_lambda[3 * r + k];
    for (int b = begin; b < end; b++) {
        const float *at_b = x + 3 * (b - begin);
        int first = s->first[b], slip = s->slip[b];
        left[first] = at_b[0];
        if (slip < 0) {
            left[first + 1] = at_b[1], left[first + 2] = at_b[2];
            continue;
        }
        left[first] -= at_b[1] * s->follow[2 * slip] + at_b[2] * s->follow[2 * slip + 1];
        across[2 * slip] = at_b[1], across[2 * slip + 1] = at_b[2];
    }
}

/* The equations left of contact a. */
static void fill_rows(pl_schur *s, int m, const pl_law_linear *linear, const float *w, int a)
{
    for (int begin = 0; begin < m; begin += CHUNK)
        for (int r = 0; r < (s->slip[a] < 0 ? 3 : 1); r++)
            fill_row(s, m, &linear[a], w, a, r, begin, begin + CHUNK < m ? begin + CHUNK : m);
}

void pl_schur_factor(pl_context *ctx, pl_schur *s, int m, const pl_law *laws,
                     const pl_law_linear *linear, const float *w)
{
    eliminate(s, m, laws, linear, w);
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (m > 64)
    for (int a = 0; a < m; a++)
        fill_rows(s, m, linear, w, a);
    s->count = pl_lu_factor_single(ctx, s->size, s->lu, s->pivot) ? m : 0;
}

void pl_schur_solve(pl_schur *s, const double *x, double *y)
{
    for (int c = 0; c < s->count; c++) {
        int k = s->slip[c];
        for (int r = 0; r < (k < 0 ? 3 : 1); r++)
            s->rhs[s->first[c] + r] = (float)x[3 * c + r];
        if (k < 0)
            continue;
        const float *t = s->tangent + 4 * (size_t)k;
        float g1 = (float)x[3 * c + 1], g2 = (float)x[3 * c + 2];
        s->held[2 * k] = t[0] * g1 + t[1] * g2;
        s->held[2 * k + 1] = t[2] * g1 + t[3] * g2;
    }
    if (s->slips > 0)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, s->size, 2 * s->slips, -1, s->across, 2 * s->slips,
                    s->held, 1, 1, s->rhs, 1);
    LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, 'T', s->size, 1, s->lu, s->size, s->pivot, s->rhs, s->size);
    for (int c = 0; c < s->count; c++) {
        int k = s->slip[c];
        for (int r = 0; r < (k < 0 ? 3 : 1); r++)
            y[3 * c + r] = s->rhs[s->first[c] + r];
        for (int r = 0; k >= 0 && r < 2; r++)
            y[3 * c + 1 + r] = s->held[2 * k + r] - s->follow[2 * k + r] * s->rhs[s->first[c]];
    }
}

double pl_schur_patience(const pl_schur *s)
{
    /* 60 GFlop/s for the LU, 12 GB/s for W (and the LU) read by each iteration: measured on one core.
     */
    double n = 3.0 * s->count, a = s->size;
    double made = (2.0 / 3.0) * a * a * a / 60e9 + 4 * n * n / 4e9;
    return made / (4 * (n * n + a * a) / 12e9);
}
