/* A factor: by CHOLMOD in double precision, by fronts in single precision. */
#include "linalg/chol_plan.h"
#include "linalg/multifrontal.h"

#include <assert.h>
#include <math.h>
#include <omp.h>

#define PANEL        48 /* columns solved at once: wide enough for BLAS 3, small enough for the cache */
#define ROUGH_ENOUGH 1e-3 /* of a solve, relative: how far single precision may be off, */
#define HALF_ENOUGH  5e-2 /* and half precision */

struct pl_chol {
    pl_context *ctx;
    pl_chol_plan *plan;
    pl_triangular triangular;   /* of blocks of 3, in single precision: the factor, */
    pl_multifrontal multifront; /* how it is made, */
    pl_inverse inverse;         /* and its inverse */
    bool in_double;             /* CHOLMOD's factor is of the newest values too */
    bool half_serves;           /* the factor in half precision is good enough to correct by */
    double *work; /* [n, 3] of scalar entries, pl_chol_begin's answer; of others, a test's */
    cholmod_common common;
    double *lower;          /* the values of plan->lower, */
    cholmod_factor *factor; /* and their factor; NULL until it is first wanted */
    cholmod_dense *b, *x, *work_y,
        *work_e; /* one right-hand side: [n, 3] of scalar entries, or [3 n] */
    cholmod_dense *panel_b, *panel_x, *panel_y, *panel_e; /* PANEL columns of scalar entries at once */
};

static pl_status cholmod_failed(pl_chol *c, const char *what)
{
    return pl_cholmod_failed(c->ctx, &c->common, what);
}

pl_status pl_chol_create(pl_context *ctx, pl_chol_plan *plan, pl_chol **out)
{
    pl_status status = PL_OK;
    *out = NULL;
    pl_chol *c = pl_alloc(ctx, 1, sizeof *c);
    if (!c)
        return PL_ERROR_MEMORY;
    c->ctx = ctx;
    c->plan = pl_chol_plan_share(plan);
    pl_cholmod_start(&c->common);
    size_t n = (size_t)plan->pattern->n, columns = plan->block == 1 ? 3 : 1;
    c->b = cholmod_allocate_dense(3 * n / columns, columns, 3 * n / columns, CHOLMOD_REAL, &c->common);
    if (!c->b) {
        status = cholmod_failed(c, "allocation");
        goto done;
    }
    PL_NEW(ctx, c->work, 3 * n, done);
    if (plan->block == 3) {
        PL_CHECK(pl_triangular_create(ctx, &plan->triangular, &c->triangular), done);
        PL_CHECK(pl_multifrontal_create(ctx, &plan->multifrontal, &c->multifront), done);
    }
    *out = c;
    c = NULL;
done:
    pl_chol_destroy(c);
    return status;
}

void pl_chol_destroy(pl_chol *c)
{
    if (!c)
        return;
    cholmod_dense **dense[] = {&c->b,       &c->x,       &c->work_y,  &c->work_e,
                               &c->panel_b, &c->panel_x, &c->panel_y, &c->panel_e};
    for (size_t k = 0; k < sizeof dense / sizeof *dense; k++)
        cholmod_free_dense(dense[k], &c->common);
    cholmod_free_factor(&c->factor, &c->common);
    cholmod_finish(&c->common);
    pl_triangular_free(&c->triangular);
    pl_multifrontal_free(&c->multifront);
    pl_inverse_free(c->ctx, &c->inverse);
    pl_chol_plan_release(c->plan);
    pl_free(c->ctx, c->lower);
    pl_free(c->ctx, c->work);
    pl_free(c->ctx, c);
}

pl_chol_cost pl_chol_get_cost(const pl_chol *c)
{
    const pl_triangular *t = &c->triangular;
    int count = c->plan->supernodes.count;
    return (pl_chol_cost){
        .factor_flops = c->plan->factor_flops,
        .factor_entries = c->plan->factor_entries,
        .correct_bytes = c->plan->block == 1 ? 0
                         : t->halved         ? 2.0 * (double)t->plan->half_at[count]
                                             : 4.0 * (double)t->plan->single_at[count],
    };
}

static pl_status ensure_double(pl_chol *c)
{
    const pl_chol_plan *plan = c->plan;
    if (!c->lower && !(c->lower = pl_alloc(c->ctx, plan->lower->nzmax, sizeof *c->lower)))
        return PL_ERROR_MEMORY;
    if (!c->factor && !(c->factor = cholmod_copy_factor(plan->symbolic, &c->common)))
        return cholmod_failed(c, "copy");
    return PL_OK;
}

/* Streams the lower triangle's values in the order in which plan->lower has them. */
static void fill_values(pl_chol *c, const double *values)
{
    const pl_pattern *p = c->plan->pattern;
    double *out = c->lower;
    int block = c->plan->block;
    const int *start = c->plan->lower->p;
#pragma omp parallel for num_threads(c->ctx->threads)                                                  \
    schedule(static) if (p->n > c->ctx->limits.thread_vertices)
    for (int j = 0; j < p->n; j++)
        for (int col = 0; col < block; col++) {
            int at = start[block * j + col];
            for (int k = p->diag[j]; k < p->row[j + 1]; k++)
                for (int row = k == p->diag[j] ? col : 0; row < block; row++)
                    out[at++] =
                        values[(size_t)(block * block) * (size_t)k + (size_t)(block * col + row)];
        }
}

pl_status pl_chol_factor(pl_chol *c, const double *values)
{
    c->in_double = false;
    PL_TRY(ensure_double(c));
    fill_values(c, values);
    cholmod_sparse matrix = *c->plan->lower;
    matrix.x = c->lower;
    matrix.xtype = CHOLMOD_REAL;
    /* CHOLMOD starts four threads for loops of some microseconds each: half the time of a factorisation
     * of 1,000 vertices went into waking them. */
    int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    int made = cholmod_factorize(&matrix, c->factor, &c->common);
    omp_set_max_active_levels(levels);
    if (!made)
        return cholmod_failed(c, "factorisation");
    if (c->common.status == CHOLMOD_NOT_POSDEF || c->factor->minor < c->factor->n)
        return pl_fail(c->ctx, PL_ERROR_NUMERIC, "the matrix is not positive definite (at vertex %d)",
                       (int)c->factor->minor / c->plan->block);
    c->in_double = true;
    c->half_serves = c->triangular.halved = false;
    if (c->plan->block != 3)
        return PL_OK;
    pl_triangular_take(&c->triangular, c->plan->pattern, values);
    pl_triangular_round(&c->triangular, c->factor->x);
    return PL_OK;
}

/* How far pl_chol_correct is off, relative: rounding errors of a factor show most in the
 * motion that A resists least, that of all vertices alike. */
static double error_of_solves(pl_chol *c, const double *values)
{
    int size = 3 * c->plan->pattern->n;
    double worst = 0, *x = c->b->x, *ax = c->work;
    for (int i = 0; i < size; i++)
        x[i] = 1;
    pl_bsr_multiply(c->ctx->threads, c->plan->pattern, values, x, ax);
    pl_triangular_solve(&c->triangular, ax, ax);
    for (int i = 0; i < size; i++)
        worst = fmax(worst, isfinite(ax[i]) ? fabs(ax[i] - 1) : INFINITY);
    return worst;
}

pl_rough pl_chol_factor_rough(pl_chol *c, const double *values)
{
    pl_triangular *t = &c->triangular;
    c->in_double = c->half_serves = t->halved = false;
    if (!pl_multifrontal_factor(&c->multifront, t, values))
        return PL_ROUGH_INDEFINITE;
    if (t->half) {
        t->halved = true;
        c->half_serves = t->halved = error_of_solves(c, values) <= HALF_ENOUGH;
    }
    if (c->half_serves || error_of_solves(c, values) <= ROUGH_ENOUGH)
        return PL_ROUGH_GOOD;
    return PL_ROUGH_POOR;
}

void pl_chol_use_half(pl_chol *c, bool use)
{
    c->triangular.halved = use && c->half_serves;
}

/* By CHOLMOD; its right-hand sides have columns of their own. */
pl_status pl_chol_solve(pl_chol *c, const double *b, double *x)
{
    int n = c->plan->pattern->n, across = c->plan->block == 1 ? n : 1,
        along = c->plan->block == 1 ? 1 : 3;
    double *in = c->b->x;
    assert(c->in_double);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            in[k * across + i * along] = b[3 * i + k];
    if (!cholmod_solve2(CHOLMOD_A, c->factor, c->b, NULL, &c->x, NULL, &c->work_y, &c->work_e,
                        &c->common))
        return cholmod_failed(c, "solve");
    const double *result = c->x->x;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            x[3 * i + k] = result[k * across + i * along];
    return PL_OK;
}

pl_status pl_chol_correct(pl_chol *c, const double *b, double *x)
{
    if (c->plan->block == 1)
        return pl_chol_solve(c, b, x);
    pl_triangular_solve(&c->triangular, b, x);
    return PL_OK;
}

void pl_chol_focus(pl_chol *c, int count, const int *vertices)
{
    if (c->plan->block == 3)
        pl_triangular_focus(&c->triangular, count, vertices);
}

pl_status pl_chol_begin(pl_chol *c, const double *b, double *x)
{
    if (c->plan->block == 3) {
        pl_triangular_begin(&c->triangular, b, x);
        return PL_OK;
    }
    PL_TRY(pl_chol_solve(c, b, c->work));
    memcpy(x, c->work, sizeof(double) * 3 * (size_t)c->plan->pattern->n);
    return PL_OK;
}

pl_status pl_chol_end(pl_chol *c, const double *change, const double *known, double *x)
{
    if (c->plan->block == 3) {
        pl_triangular_end(&c->triangular, change, known, x);
        return PL_OK;
    }
    PL_TRY(pl_chol_solve(c, change, x));
    for (int i = 0; i < 3 * c->plan->pattern->n; i++)
        x[i] += c->work[i];
    return PL_OK;
}

/* Writes one solved column of A^-1, of vertex column j, as multiples of I. */
static void store_column(const double *column, int row_count, const int *rows, int j, float *out,
                         int ld)
{
    for (int i = 0; i < row_count; i++)
        for (int r = 0; r < 3; r++) {
            float *place = out + (size_t)(3 * i + r) * (size_t)ld + 3 * (size_t)j;
            place[0] = place[1] = place[2] = 0;
            place[r] = (float)column[rows[i]];
        }
}

static pl_status inverse_of_scalars(pl_chol *c, int row_count, const int *rows, int col_count,
                                    const int *cols, float *out, int ld)
{
    size_t n = (size_t)c->plan->pattern->n;
    if (!c->panel_b && !(c->panel_b = cholmod_zeros(n, PANEL, CHOLMOD_REAL, &c->common)))
        return cholmod_failed(c, "panel");
    double *in = c->panel_b->x;
    for (int first = 0; first < col_count; first += PANEL) {
        int width = col_count - first < PANEL ? col_count - first : PANEL;
        c->panel_b->ncol = (size_t)width;
        for (int k = 0; k < width; k++)
            in[n * (size_t)k + (size_t)cols[first + k]] = 1;
        int solved = cholmod_solve2(CHOLMOD_A, c->factor, c->panel_b, NULL, &c->panel_x, NULL,
                                    &c->panel_y, &c->panel_e, &c->common);
        for (int k = 0; k < width; k++)
            in[n * (size_t)k + (size_t)cols[first + k]] = 0;
        c->panel_b->ncol = PANEL;
        if (!solved)
            return cholmod_failed(c, "panel solve");
        for (int k = 0; k < width; k++)
            store_column((double *)c->panel_x->x + n * (size_t)k, row_count, rows, first + k, out, ld);
    }
    return PL_OK;
}

pl_status pl_chol_inverse_block(pl_chol *c, int row_count, const int *rows, int col_count,
                                const int *cols, float *out, int ld)
{
    if (c->plan->block == 1)
        return inverse_of_scalars(c, row_count, rows, col_count, cols, out, ld);
    return pl_inverse_block(&c->inverse, &c->triangular, row_count, rows, col_count, cols, out, ld);
}

const int *pl_chol_last(const pl_chol *c, int *count)
{
    *count = c->plan->last_count;
    return c->plan->last;
}

pl_status pl_chol_inverse_last(pl_chol *c, float *out, int ld)
{
    return pl_inverse_last(&c->inverse, &c->plan->inverse, &c->triangular, out, ld);
}

bool pl_chol_schur(const pl_chol *c, int count, const int *vertices, float *out, int ld)
{
    const float *schur = c->multifront.schur, *scale = c->triangular.scale;
    const int *place = c->plan->supernodes.place;
    int size = 3 * count, first = c->plan->supernodes.n - size;
    bool told = schur && !c->in_double && count == c->plan->last_count;
    for (int i = 0; told && i < count; i++)
        told = place[3 * vertices[i]] >= first && (i == 0 || vertices[i] > vertices[i - 1]);
    if (!told)
        return false;
#pragma omp parallel for num_threads(c->ctx->threads) schedule(static)
    for (int a = 0; a < size; a++) {
        int i = place[3 * vertices[a / 3] + a % 3] - first;
        for (int b = 0; b < size; b++) {
            int j = place[3 * vertices[b / 3] + b % 3] - first, low = pl_smaller(i, j);
            out[(size_t)a * (size_t)ld + (size_t)b] =
                schur[(size_t)low * (size_t)size + (size_t)(i + j - low)] /
                (scale[vertices[a / 3]] * scale[vertices[b / 3]]);
        }
    }
    return true;
}
