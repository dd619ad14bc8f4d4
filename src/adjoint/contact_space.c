/* Contact space with weak rows eliminated. */
#include "adjoint/contact_space.h"

#include "contact/delassus.h"
#include "core/vec.h"
#include "linalg/lu.h"

#include <lapacke.h>

#define WEAK          1e-7 /* largest Dd rho / Dl of a row that keeps its own contact's block of W only */
#define WORTH_THREADS 450 /* rows of W: from here on threads pay for their start */

void pl_contact_space_free(pl_context *ctx, pl_contact_space *s)
{
    void *arrays[] = {s->place,   s->basis,  s->matrix, s->pivot,
                      s->reduced, s->vector, s->image,  s->narrow};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *s = (pl_contact_space){0};
}

static pl_status reserve(pl_context *ctx, pl_contact_space *s, int m)
{
    pl_status status = PL_OK;
    if (m <= s->capacity)
        return PL_OK;
    size_t wanted = (size_t)m + (size_t)m / 2 + 8;
    pl_contact_space_free(ctx, s);
    PL_NEW(ctx, s->place, 3 * wanted, fail);
    PL_NEW(ctx, s->basis, 9 * wanted, fail);
    PL_NEW(ctx, s->pivot, 3 * wanted, fail);
    PL_NEW(ctx, s->reduced, 3 * wanted, fail);
    PL_NEW(ctx, s->vector, 3 * wanted, fail);
    PL_NEW(ctx, s->image, 3 * wanted, fail);
    PL_NEW(ctx, s->narrow, 6 * wanted, fail);
    s->capacity = (int)wanted;
    return PL_OK;
fail:
    pl_contact_space_free(ctx, s);
    return status;
}

static pl_status reserve_matrix(pl_context *ctx, pl_contact_space *s)
{
    size_t need = (size_t)s->size * (size_t)s->size;
    if (need <= s->room)
        return PL_OK;
    pl_free(ctx, s->matrix);
    s->room = 0;
    s->matrix = pl_alloc(ctx, need + need / 2, sizeof *s->matrix);
    if (!s->matrix)
        return PL_ERROR_MEMORY;
    s->room = need + need / 2;
    return PL_OK;
}

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

/* Completes the weak rows of t to a basis by vectors across them. */
static void complete(const int place[3], double t[9])
{
    double *weak[3], *strong[3];
    int weak_count = 0, strong_count = 0;
    for (int r = 0; r < 3; r++) {
        if (place[r] < 0)
            weak[weak_count++] = t + 3 * r;
        else
            strong[strong_count++] = t + 3 * r;
    }
    if (weak_count == 0) {
        memset(t, 0, 9 * sizeof *t);
        t[0] = t[4] = t[8] = 1;
    } else if (weak_count == 1) {
        across(weak[0], strong[0]);
        unit_cross(weak[0], strong[0], strong[1]);
    } else if (weak_count == 2) {
        unit_cross(weak[0], weak[1], strong[0]);
    }
}

/* Which rows of contact c are strong, and its X. */
static void place_rows(pl_contact_space *s, int c, const pl_law_linear *law, double rho, const float *w)
{
    size_t size = 3 * (size_t)s->count;
    double t[9];
    for (int r = 0; r < 3; r++) {
        const double *dd = law->d_delta + 3 * r, *dl = law->d_lambda + 3 * r;
        s->place[3 * c + r] = pl_norm3(dd) * rho > WEAK * pl_norm3(dl) ? s->size++ : -1;
        memcpy(t + 3 * r, dl, 3 * sizeof *t);
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                t[3 * r + j] += dd[k] * w[(size_t)(3 * c + k) * size + (size_t)(3 * c + j)];
    }
    complete(s->place + 3 * c, t);
    pl_inverse3(t, s->basis + 9 * (size_t)c);
}

/* The rows of R of contact c. */
static void fill_rows(const pl_contact_space *s, int c, const pl_law_linear *law, const float *w)
{
    size_t size = 3 * (size_t)s->count;
    for (int r = 0; r < 3; r++) {
        int at = s->place[3 * c + r];
        if (at < 0)
            continue;
        float *out = s->matrix + (size_t)at * (size_t)s->size;
        const double *dd = law->d_delta + 3 * r;
        const float *w0 = w + 3 * (size_t)c * size;
        for (int d = 0; d < s->count; d++) {
            const int *place = s->place + 3 * d;
            const double *x = s->basis + 9 * (size_t)d;
            const float *block = w0 + 3 * (size_t)d;
            double row[3];
            if (place[0] < 0 && place[1] < 0 && place[2] < 0)
                continue;
            for (int k = 0; k < 3; k++)
                row[k] = dd[0] * block[k] + dd[1] * block[size + (size_t)k] +
                         dd[2] * block[2 * size + (size_t)k] + (d == c ? law->d_lambda[3 * r + k] : 0);
            for (int k = 0; k < 3; k++)
                if (place[k] >= 0)
                    out[place[k]] = (float)(row[0] * x[k] + row[1] * x[3 + k] + row[2] * x[6 + k]);
        }
    }
}

pl_status pl_contact_space_factor(pl_context *ctx, pl_contact_space *s, int m,
                                  const pl_law_linear *laws, const double *rho, const float *w,
                                  bool *singular)
{
    PL_TRY(reserve(ctx, s, m));
    s->count = m;
    s->size = 0;
    for (int c = 0; c < m; c++)
        place_rows(s, c, &laws[c], rho[c], w);
    PL_TRY(reserve_matrix(ctx, s));
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (3 * m > WORTH_THREADS)
    for (int c = 0; c < m; c++)
        fill_rows(s, c, &laws[c], w);
    *singular = !pl_lu_factor_single(ctx, s->size, s->matrix, s->pivot);
    return PL_OK;
}

/* s->image = W s->vector, which only weak rows ask for. */
static void multiply(const pl_context *ctx, pl_contact_space *s, const float *w)
{
    if (s->size == 3 * s->count)
        return;
    float *from = s->narrow, *to = s->narrow + 3 * (size_t)s->count;
    for (int i = 0; i < 3 * s->count; i++)
        from[i] = (float)s->vector[i];
    pl_delassus_multiply_single(ctx, s->count, w, from, to);
    for (int i = 0; i < 3 * s->count; i++)
        s->image[i] = to[i];
}

static void solve_reduced(pl_contact_space *s, bool transposed)
{
    if (s->size > 0)
        LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, transposed ? 'N' : 'T', s->size, 1, s->matrix, s->size,
                            s->pivot, s->reduced, s->size);
}

/* out [3] += X times its row's value, for the weak rows of contact c or for the strong ones. */
static void add_weak(const pl_contact_space *s, int c, const double *g, double *out)
{
    for (int r = 0; r < 3; r++)
        for (int k = 0; s->place[3 * c + r] < 0 && k < 3; k++)
            out[k] += s->basis[9 * (size_t)c + (size_t)(3 * k + r)] * g[r];
}

static void add_strong(const pl_contact_space *s, int c, double *out)
{
    for (int r = 0; r < 3; r++)
        for (int k = 0; s->place[3 * c + r] >= 0 && k < 3; k++)
            out[k] += s->basis[9 * (size_t)c + (size_t)(3 * k + r)] * s->reduced[s->place[3 * c + r]];
}

static void solve_plain(pl_context *ctx, pl_contact_space *s, const pl_law_linear *laws, const float *w,
                        double *g)
{
    memset(s->vector, 0, sizeof(double) * 3 * (size_t)s->count);
    for (int c = 0; c < s->count; c++)
        add_weak(s, c, g + 3 * c, s->vector + 3 * c);
    multiply(ctx, s, w);
    for (int c = 0; c < s->count; c++)
        for (int r = 0; r < 3; r++) {
            int at = s->place[3 * c + r];
            if (at >= 0)
                s->reduced[at] =
                    (float)(g[3 * c + r] - pl_dot3(laws[c].d_lambda + 3 * r, s->vector + 3 * c) -
                            pl_dot3(laws[c].d_delta + 3 * r, s->image + 3 * c));
        }
    solve_reduced(s, false);
    for (int c = 0; c < s->count; c++) {
        memcpy(g + 3 * c, s->vector + 3 * c, 3 * sizeof *g);
        add_strong(s, c, g + 3 * c);
    }
}

static void solve_transposed(pl_context *ctx, pl_contact_space *s, const pl_law_linear *laws,
                             const float *w, double *g)
{
    for (int c = 0; c < s->count; c++) {
        double along[3];
        pl_mat3_tvec(s->basis + 9 * (size_t)c, g + 3 * c, along);
        for (int r = 0; r < 3; r++)
            if (s->place[3 * c + r] >= 0)
                s->reduced[s->place[3 * c + r]] = (float)along[r];
    }
    solve_reduced(s, true);
    memset(s->vector, 0, sizeof(double) * 3 * (size_t)s->count);
    for (int c = 0; c < s->count; c++)
        for (int r = 0; r < 3; r++) {
            int at = s->place[3 * c + r];
            if (at >= 0) {
                pl_axpy3(s->reduced[at], laws[c].d_delta + 3 * r, s->vector + 3 * c);
                pl_axpy3(-s->reduced[at], laws[c].d_lambda + 3 * r, g + 3 * c);
            }
        }
    multiply(ctx, s, w);
    for (int c = 0; c < s->count; c++) {
        double left[3], along[3];
        pl_sub3(g + 3 * c, s->image + 3 * c, left);
        pl_mat3_tvec(s->basis + 9 * (size_t)c, left, along);
        for (int r = 0; r < 3; r++) {
            int at = s->place[3 * c + r];
            g[3 * c + r] = at >= 0 ? s->reduced[at] : along[r];
        }
    }
}

void pl_contact_space_solve(pl_context *ctx, pl_contact_space *s, const pl_law_linear *laws,
                            const float *w, bool transposed, double *x)
{
    if (transposed)
        solve_transposed(ctx, s, laws, w, x);
    else
        solve_plain(ctx, s, laws, w, x);
}
