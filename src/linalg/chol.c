/* CHOLMOD behind the pattern of a scene. */
#include "linalg/chol.h"

#include "linalg/inverse.h"
#include "linalg/multifrontal.h"

#include <assert.h>
#include <cholmod.h>
#include <math.h>
#include <omp.h>

#define PANEL        48 /* columns solved at once: wide enough for BLAS 3, small enough for the cache */
#define ROUGH_ENOUGH 1e-3 /* of a solve, relative: how far single precision may be off, */
#define HALF_ENOUGH  5e-2 /* and half precision */

struct pl_chol {
    pl_context *ctx;
    const pl_pattern *pattern;
    int block;
    int last_count;
    int *last;                  /* [last_count] vertices eliminated last */
    pl_supernodes supernodes;   /* of blocks of 3, */
    pl_triangular triangular;   /* of blocks of 3, in single precision: the factor, */
    pl_multifrontal multifront; /* how it is made, */
    pl_inverse inverse;         /* and its inverse */
    bool in_double;             /* CHOLMOD's factor is of the newest values too */
    bool half_serves;           /* the factor in half precision is good enough to correct by */
    double *work; /* [n, 3] of scalar entries, pl_chol_begin's answer; of others, a test's */
    cholmod_common common;
    cholmod_sparse *matrix; /* lower triangle, scalar CSC */
    cholmod_factor *factor;
    cholmod_dense *b, *x, *work_y,
        *work_e; /* one right-hand side: [n, 3] of scalar entries, or [3 n] */
    cholmod_dense *panel_b, *panel_x, *panel_y, *panel_e; /* PANEL columns of scalar entries at once */
};

static pl_status cholmod_failed(pl_chol *c, const char *what)
{
    if (c->common.status == CHOLMOD_OUT_OF_MEMORY)
        return pl_fail(c->ctx, PL_ERROR_MEMORY, "out of memory in a sparse factorisation (%s)", what);
    return pl_fail(c->ctx, PL_ERROR_NUMERIC, "sparse factorisation failed (%s, CHOLMOD status %d)",
                   what, c->common.status);
}

/* The lower triangle's structure, c->block rows and columns per vertex. */
static cholmod_sparse *lower_structure(pl_chol *c)
{
    const pl_pattern *p = c->pattern;
    int block = c->block;
    size_t entries = 0;
    for (int j = 0; j < p->n; j++)
        entries += (size_t)(p->row[j + 1] - p->diag[j]);
    size_t scalars = (entries - (size_t)p->n) * (size_t)(block * block) +
                     (size_t)p->n * (size_t)(block * (block + 1) / 2);
    size_t size = (size_t)p->n * (size_t)block;
    cholmod_sparse *m =
        cholmod_allocate_sparse(size, size, scalars, 1, 1, -1, CHOLMOD_REAL, &c->common);
    if (!m)
        return NULL;
    int *start = m->p, *index = m->i, at = 0;
    for (int j = 0; j < p->n; j++)
        for (int col = 0; col < block; col++) {
            start[block * j + col] = at;
            for (int k = p->diag[j]; k < p->row[j + 1]; k++)
                for (int row = k == p->diag[j] ? col : 0; row < block; row++)
                    index[at++] = block * p->col[k] + row;
        }
    start[block * p->n] = at;
    return m;
}

/* The graph of the vertices that c->last does not name, numbered in their order; kept[k] is the k-th.
 */
static cholmod_sparse *graph_without_last(pl_chol *c, int *kept, int *number)
{
    const pl_pattern *p = c->pattern;
    int count = 0, at = 0;
    memset(number, 0, sizeof(int) * (size_t)p->n);
    for (int k = 0; k < c->last_count; k++)
        number[c->last[k]] = -1;
    for (int v = 0; v < p->n; v++)
        if (number[v] == 0) {
            number[v] = count;
            kept[count++] = v;
        }
    cholmod_sparse *m = cholmod_allocate_sparse((size_t)count, (size_t)count, (size_t)p->nnz, 1, 1, -1,
                                                CHOLMOD_PATTERN, &c->common);
    if (!m)
        return NULL;
    int *start = m->p, *index = m->i;
    for (int j = 0; j < count; j++) {
        start[j] = at;
        for (int k = p->diag[kept[j]]; k < p->row[kept[j] + 1]; k++)
            if (number[p->col[k]] >= 0)
                index[at++] = number[p->col[k]];
    }
    start[count] = at;
    return m;
}

/* The order of elimination in order[n]: minimum degree or nested dissection, whichever fills less
 * (CHOLMOD by itself tries the second only for graphs larger than most scenes have, though bodies of
 * 10,000 vertices already take 2.3 times less work by it), then c->last. */
static pl_status order_vertices(pl_chol *c, int *order)
{
    int n = c->pattern->n, count = n - c->last_count;
    pl_status status = PL_OK;
    cholmod_factor *f = NULL;
    cholmod_sparse *graph = NULL;
    int *work = pl_alloc(c->ctx, 2 * (size_t)n, sizeof *work);
    if (!work)
        return PL_ERROR_MEMORY;
    if (count > 0) {
        graph = graph_without_last(c, work, work + n);
        c->common.nmethods = 2;
        c->common.method[0].ordering = CHOLMOD_AMD;
        c->common.method[1].ordering = CHOLMOD_METIS;
        f = graph ? cholmod_analyze(graph, &c->common) : NULL;
        if (!f) {
            status = cholmod_failed(c, "ordering");
            goto done;
        }
        for (int k = 0; k < count; k++)
            order[k] = work[((int *)f->Perm)[k]];
    }
    if (c->last_count > 0)
        memcpy(order + count, c->last, sizeof(int) * (size_t)c->last_count);
done:
    cholmod_free_factor(&f, &c->common);
    cholmod_free_sparse(&graph, &c->common);
    pl_free(c->ctx, work);
    return status;
}

/* The vertices' order, repeated for each of a vertex's unknowns, keeps blocks together. */
static pl_status analyse(pl_chol *c)
{
    int n = c->pattern->n, block = c->block;
    pl_status status = PL_OK;
    int *order = pl_alloc(c->ctx, (size_t)n * (size_t)(1 + block), sizeof *order), *scalar = order + n;
    if (!order)
        return PL_ERROR_MEMORY;
    PL_CHECK(order_vertices(c, order), done);
    for (int k = 0; k < block * n; k++)
        scalar[k] = block * order[k / block] + k % block;
    c->common.nmethods = 1;
    c->common.method[0].ordering = CHOLMOD_GIVEN;
    c->common.postorder = 1;
    c->factor = cholmod_analyze_p(c->matrix, scalar, NULL, 0, &c->common);
    if (!c->factor)
        status = cholmod_failed(c, "analysis");
done:
    pl_free(c->ctx, order);
    return status;
}

static pl_status find_supernodes(pl_chol *c)
{
    const cholmod_factor *f = c->factor;
    bool *is_last = pl_alloc(c->ctx, f->n, sizeof *is_last);
    if (!is_last)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < 3 * c->last_count; i++)
        is_last[3 * c->last[i / 3] + i % 3] = true;
    pl_status status = pl_supernodes_create(c->ctx, (int)f->n, (int)f->nsuper, f->super, f->pi, f->px,
                                            f->s, f->Perm, is_last, &c->supernodes);
    pl_free(c->ctx, is_last);
    return status;
}

static bool last_is_supernode(const pl_chol *c)
{
    const pl_supernodes *l = &c->supernodes;
    return c->last_count > 0 && l->n - l->first[l->count - 1] == 3 * c->last_count;
}

pl_status pl_chol_create(pl_context *ctx, const pl_pattern *pattern, int block, int last_count,
                         const int *last, pl_chol **out)
{
    pl_status status = PL_OK;
    *out = NULL;
    pl_chol *c = pl_alloc(ctx, 1, sizeof *c);
    if (!c)
        return PL_ERROR_MEMORY;
    c->ctx = ctx;
    c->pattern = pattern;
    c->block = block;
    cholmod_start(&c->common);
    c->common.print = 0;
    c->common.error_handler = NULL;
    c->common.supernodal = CHOLMOD_SUPERNODAL;
    size_t n = (size_t)pattern->n, columns = block == 1 ? 3 : 1;
    c->matrix = lower_structure(c);
    c->b = cholmod_allocate_dense(3 * n / columns, columns, 3 * n / columns, CHOLMOD_REAL, &c->common);
    if (!c->matrix || !c->b) {
        status = cholmod_failed(c, "allocation");
        goto done;
    }
    PL_NEW(ctx, c->work, 3 * n, done);
    PL_NEW(ctx, c->last, last_count, done);
    if (last_count > 0)
        memcpy(c->last, last, sizeof(int) * (size_t)last_count);
    c->last_count = last_count;
    PL_CHECK(analyse(c), done);
    if (block == 3) {
        PL_CHECK(find_supernodes(c), done);
        PL_CHECK(pl_triangular_create(ctx, pattern, &c->supernodes, c->factor->xsize, &c->triangular),
                 done);
        PL_CHECK(pl_multifrontal_create(ctx, pattern, &c->supernodes, &c->triangular,
                                        last_is_supernode(c), &c->multifront),
                 done);
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
    cholmod_free_sparse(&c->matrix, &c->common);
    cholmod_free_factor(&c->factor, &c->common);
    cholmod_finish(&c->common);
    pl_triangular_free(&c->triangular);
    pl_supernodes_free(c->ctx, &c->supernodes);
    pl_multifrontal_free(&c->multifront);
    pl_inverse_free(c->ctx, &c->inverse);
    pl_free(c->ctx, c->work);
    pl_free(c->ctx, c->last);
    pl_free(c->ctx, c);
}

pl_chol_cost pl_chol_get_cost(const pl_chol *c)
{
    const pl_triangular *t = &c->triangular;
    return (pl_chol_cost){
        .factor_flops = c->common.fl,
        .factor_entries = c->common.lnz,
        .correct_bytes = !t->single_at ? 0
                         : t->halved   ? 2.0 * (double)t->half_at[t->count]
                                       : 4.0 * (double)t->single_at[t->count],
    };
}

/* Streams the lower triangle's values in the order lower_structure laid them out. */
static void fill_values(pl_chol *c, const double *values)
{
    const pl_pattern *p = c->pattern;
    double *out = c->matrix->x;
    int block = c->block;
    const int *start = c->matrix->p;
#pragma omp parallel for num_threads(c->ctx->threads) schedule(static) if (p->n > 1000)
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
    fill_values(c, values);
    /* CHOLMOD starts four threads for loops of some microseconds each: half the time of a factorisation
     * of 1,000 vertices went into waking them. */
    int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    int made = cholmod_factorize(c->matrix, c->factor, &c->common);
    omp_set_max_active_levels(levels);
    if (!made)
        return cholmod_failed(c, "factorisation");
    if (c->common.status == CHOLMOD_NOT_POSDEF || c->factor->minor < c->factor->n)
        return pl_fail(c->ctx, PL_ERROR_NUMERIC, "the matrix is not positive definite (at vertex %d)",
                       (int)c->factor->minor / c->block);
    c->in_double = true;
    c->half_serves = c->triangular.halved = false;
    if (c->block != 3)
        return PL_OK;
    pl_triangular_take(&c->triangular, c->pattern, &c->supernodes, values);
    pl_triangular_round(&c->triangular, &c->supernodes, c->factor->x);
    return PL_OK;
}

/* How far pl_chol_correct is off, relative: rounding errors of a factor show most in the
 * motion that A resists least, that of all vertices alike. */
static double error_of_solves(pl_chol *c, const pl_supernodes *l, const double *values)
{
    int size = 3 * c->pattern->n;
    double worst = 0, *x = c->b->x, *ax = c->work;
    for (int i = 0; i < size; i++)
        x[i] = 1;
    pl_bsr_multiply(c->ctx->threads, c->pattern, values, x, ax);
    pl_triangular_solve(&c->triangular, l, ax, ax);
    for (int i = 0; i < size; i++)
        worst = fmax(worst, isfinite(ax[i]) ? fabs(ax[i] - 1) : INFINITY);
    return worst;
}

pl_rough pl_chol_factor_rough(pl_chol *c, const double *values)
{
    pl_triangular *t = &c->triangular;
    c->in_double = c->half_serves = t->halved = false;
    if (!pl_multifrontal_factor(&c->multifront, &c->supernodes, t, values))
        return PL_ROUGH_INDEFINITE;
    if (t->half) {
        t->halved = true;
        c->half_serves = t->halved = error_of_solves(c, &c->supernodes, values) <= HALF_ENOUGH;
    }
    if (c->half_serves || error_of_solves(c, &c->supernodes, values) <= ROUGH_ENOUGH)
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
    int n = c->pattern->n, across = c->block == 1 ? n : 1, along = c->block == 1 ? 1 : 3;
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
    if (c->block == 1)
        return pl_chol_solve(c, b, x);
    pl_triangular_solve(&c->triangular, &c->supernodes, b, x);
    return PL_OK;
}

void pl_chol_focus(pl_chol *c, int count, const int *vertices)
{
    if (c->block == 3)
        pl_triangular_focus(&c->triangular, &c->supernodes, count, vertices);
}

pl_status pl_chol_begin(pl_chol *c, const double *b, double *x)
{
    if (c->block == 3) {
        pl_triangular_begin(&c->triangular, &c->supernodes, b, x);
        return PL_OK;
    }
    PL_TRY(pl_chol_solve(c, b, c->work));
    memcpy(x, c->work, sizeof(double) * 3 * (size_t)c->pattern->n);
    return PL_OK;
}

pl_status pl_chol_end(pl_chol *c, const double *change, const double *known, double *x)
{
    if (c->block == 3) {
        pl_triangular_end(&c->triangular, &c->supernodes, change, known, x);
        return PL_OK;
    }
    PL_TRY(pl_chol_solve(c, change, x));
    for (int i = 0; i < 3 * c->pattern->n; i++)
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
    size_t n = (size_t)c->pattern->n;
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
    if (c->block == 1)
        return inverse_of_scalars(c, row_count, rows, col_count, cols, out, ld);
    return pl_inverse_block(&c->inverse, &c->triangular, &c->supernodes, row_count, rows, col_count,
                            cols, out, ld);
}

const int *pl_chol_last(const pl_chol *c, int *count)
{
    *count = c->last_count;
    return c->last;
}

pl_status pl_chol_inverse_last(pl_chol *c, float *out, int ld)
{
    return pl_inverse_last(&c->inverse, &c->triangular, &c->supernodes, c->last_count, c->last, out,
                           ld);
}

bool pl_chol_schur(const pl_chol *c, int count, const int *vertices, float *out, int ld)
{
    const pl_triangular *t = &c->triangular;
    const float *schur = c->multifront.schur;
    int size = 3 * count, first = c->supernodes.n - size;
    bool told = schur && !c->in_double && count == c->last_count;
    for (int i = 0; told && i < count; i++)
        told = t->place[3 * vertices[i]] >= first && (i == 0 || vertices[i] > vertices[i - 1]);
    if (!told)
        return false;
#pragma omp parallel for num_threads(c->ctx->threads) schedule(static)
    for (int a = 0; a < size; a++) {
        int i = t->place[3 * vertices[a / 3] + a % 3] - first;
        for (int b = 0; b < size; b++) {
            int j = t->place[3 * vertices[b / 3] + b % 3] - first, low = pl_smaller(i, j);
            out[(size_t)a * (size_t)ld + (size_t)b] =
                schur[(size_t)low * (size_t)size + (size_t)(i + j - low)] /
                (t->scale[vertices[a / 3]] * t->scale[vertices[b / 3]]);
        }
    }
    return true;
}
