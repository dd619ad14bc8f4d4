/* CHOLMOD behind the pattern of a scene. */
#include "linalg/chol.h"

#include "linalg/triangular.h"

#include <cholmod.h>
#include <lapacke.h>
#include <omp.h>

#define PANEL 48 /* columns solved at once: wide enough for BLAS 3, small enough for the cache */

struct pl_chol {
    pl_context *ctx;
    const pl_pattern *pattern;
    int block;
    int last_count;
    int *last;                /* [last_count] vertices eliminated last */
    double *trailing;         /* [3 last_count, 3 last_count] scratch of pl_chol_inverse_last */
    int *place;               /* [3 n] a permuted unknown's row there, or -1 */
    pl_triangular triangular; /* solves with blocks of 3 */
    bool rounded;             /* its single-precision copy is of the newest factor */
    double *begun;            /* [n, 3] pl_chol_begin's answer, for scalar entries */
    cholmod_common common;
    cholmod_sparse *matrix; /* lower triangle, scalar CSC */
    cholmod_factor *factor;
    cholmod_dense *b, *x, *work_y, *work_e; /* of scalar entries: one right-hand side [n, 3] */
    cholmod_dense *panel_b, *panel_x, *panel_y, *panel_e; /* PANEL columns at once */
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

/* The factor's layout, by reference. */
static pl_supernodes supernodes(const pl_chol *c)
{
    const cholmod_factor *f = c->factor;
    return (pl_supernodes){
        .n = (int)f->n,
        .count = (int)f->nsuper,
        .first = f->super,
        .begin = f->pi,
        .at = f->px,
        .row = f->s,
        .order = f->Perm,
        .value = f->x,
    };
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
    size_t n = (size_t)pattern->n;
    c->matrix = lower_structure(c);
    c->b = cholmod_allocate_dense(n, 3, n, CHOLMOD_REAL, &c->common);
    if (!c->matrix || !c->b) {
        status = cholmod_failed(c, "allocation");
        goto done;
    }
    PL_NEW(ctx, c->last, last_count, done);
    if (last_count > 0)
        memcpy(c->last, last, sizeof(int) * (size_t)last_count);
    c->last_count = last_count;
    PL_CHECK(analyse(c), done);
    if (block == 3) {
        pl_supernodes l = supernodes(c);
        PL_CHECK(pl_triangular_create(ctx, &l, c->factor->xsize, &c->triangular), done);
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
    pl_free(c->ctx, c->begun);
    pl_free(c->ctx, c->last);
    pl_free(c->ctx, c->trailing);
    pl_free(c->ctx, c->place);
    pl_free(c->ctx, c);
}

pl_chol_cost pl_chol_get_cost(const pl_chol *c)
{
    const pl_triangular *t = &c->triangular;
    return (pl_chol_cost){
        .factor_flops = c->common.fl,
        .factor_entries = c->common.lnz,
        .correct_values = t->single_at ? (double)t->single_at[t->count] : 0,
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
    c->rounded = false;
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
    return PL_OK;
}

/* Three columns at once by CHOLMOD. */
static pl_status solve_scalar(pl_chol *c, const double *b, double *x)
{
    int n = c->pattern->n;
    double *in = c->b->x;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            in[k * n + i] = b[3 * i + k];
    if (!cholmod_solve2(CHOLMOD_A, c->factor, c->b, NULL, &c->x, NULL, &c->work_y, &c->work_e,
                        &c->common))
        return cholmod_failed(c, "solve");
    const double *result = c->x->x;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            x[3 * i + k] = result[k * n + i];
    return PL_OK;
}

/* The factor's layout, with its copy in single precision up to date. */
static pl_supernodes rounded_supernodes(pl_chol *c)
{
    pl_supernodes l = supernodes(c);
    if (!c->rounded)
        pl_triangular_round(&c->triangular, &l);
    c->rounded = true;
    return l;
}

static pl_status solve(pl_chol *c, bool exact, const double *b, double *x)
{
    if (c->block == 1)
        return solve_scalar(c, b, x);
    pl_supernodes l = exact ? supernodes(c) : rounded_supernodes(c);
    pl_triangular_solve(&c->triangular, &l, exact, b, x);
    return PL_OK;
}

pl_status pl_chol_solve(pl_chol *c, const double *b, double *x)
{
    return solve(c, true, b, x);
}

pl_status pl_chol_correct(pl_chol *c, const double *b, double *x)
{
    return solve(c, false, b, x);
}

void pl_chol_focus(pl_chol *c, int count, const int *vertices)
{
    pl_supernodes l = supernodes(c);
    if (c->block == 3)
        pl_triangular_focus(&c->triangular, &l, count, vertices);
}

pl_status pl_chol_begin(pl_chol *c, const double *b, double *x)
{
    size_t size = 3 * (size_t)c->pattern->n;
    if (c->block == 3) {
        pl_supernodes l = rounded_supernodes(c);
        pl_triangular_begin(&c->triangular, &l, b, x);
        return PL_OK;
    }
    if (!c->begun && !(c->begun = pl_alloc(c->ctx, size, sizeof *c->begun)))
        return PL_ERROR_MEMORY;
    PL_TRY(solve_scalar(c, b, c->begun));
    memcpy(x, c->begun, sizeof(double) * size);
    return PL_OK;
}

pl_status pl_chol_end(pl_chol *c, const double *change, double *x)
{
    if (c->block == 3) {
        pl_supernodes l = supernodes(c);
        pl_triangular_end(&c->triangular, &l, change, x);
        return PL_OK;
    }
    PL_TRY(solve_scalar(c, change, x));
    for (int i = 0; i < 3 * c->pattern->n; i++)
        x[i] += c->begun[i];
    return PL_OK;
}

/* Writes one solved column (unknown `unit` of vertex column j) of A^-1 into its place. */
static void store_column(const pl_chol *c, const double *column, int row_count, const int *rows, int j,
                         int unit, double *out, int ld)
{
    for (int i = 0; i < row_count; i++)
        for (int r = 0; r < 3; r++) {
            double *place = out + (size_t)(3 * i + r) * (size_t)ld + 3 * (size_t)j;
            if (c->block == 3) {
                place[unit] = column[3 * rows[i] + r];
            } else {
                place[0] = place[1] = place[2] = 0;
                place[r] = column[rows[i]];
            }
        }
}

pl_status pl_chol_inverse_block(pl_chol *c, int row_count, const int *rows, int col_count,
                                const int *cols, double *out, int ld)
{
    int block = c->block, total = block * col_count;
    size_t n = (size_t)c->pattern->n * (size_t)block;
    if (!c->panel_b && !(c->panel_b = cholmod_zeros(n, PANEL, CHOLMOD_REAL, &c->common)))
        return cholmod_failed(c, "panel");
    double *in = c->panel_b->x;
    for (int first = 0; first < total; first += PANEL) {
        int width = total - first < PANEL ? total - first : PANEL;
        c->panel_b->ncol = (size_t)width;
        for (int k = 0; k < width; k++)
            in[n * (size_t)k + (size_t)(block * cols[(first + k) / block] + (first + k) % block)] = 1;
        int solved = cholmod_solve2(CHOLMOD_A, c->factor, c->panel_b, NULL, &c->panel_x, NULL,
                                    &c->panel_y, &c->panel_e, &c->common);
        for (int k = 0; k < width; k++)
            in[n * (size_t)k + (size_t)(block * cols[(first + k) / block] + (first + k) % block)] = 0;
        c->panel_b->ncol = PANEL;
        if (!solved)
            return cholmod_failed(c, "panel solve");
        for (int k = 0; k < width; k++)
            store_column(c, (double *)c->panel_x->x + n * (size_t)k, row_count, rows,
                         (first + k) / block, (first + k) % block, out, ld);
    }
    return PL_OK;
}

const int *pl_chol_last(const pl_chol *c, int *count)
{
    *count = c->last_count;
    return c->last;
}

/* Gathers the columns of L that belong to the last vertices: all their rows do too. */
static void gather_trailing(pl_chol *c)
{
    const cholmod_factor *f = c->factor;
    const int *super = f->super, *begin = f->pi, *at = f->px, *rows = f->s;
    const double *values = f->x;
    size_t size = 3 * (size_t)c->last_count;
    memset(c->trailing, 0, sizeof(double) * size * size);
    for (size_t s = 0; s < f->nsuper; s++) {
        int height = begin[s + 1] - begin[s];
        for (int j = 0; j < super[s + 1] - super[s]; j++) {
            int col = c->place[super[s] + j];
            for (int i = j; col >= 0 && i < height; i++) {
                int row = c->place[rows[begin[s] + i]];
                if (row >= 0)
                    c->trailing[(size_t)col * size + (size_t)row] = values[at[s] + i + j * height];
            }
        }
    }
}

pl_status pl_chol_inverse_last(pl_chol *c, double *out, int ld)
{
    int n3 = 3 * c->pattern->n, size = 3 * c->last_count, found = 0;
    const int *order = c->factor->Perm;
    if (!c->trailing && !(c->trailing = pl_alloc(c->ctx, (size_t)size * (size_t)size, sizeof(double))))
        return PL_ERROR_MEMORY;
    if (!c->place && !(c->place = pl_alloc(c->ctx, 2 * (size_t)n3, sizeof(int))))
        return PL_ERROR_MEMORY;
    int *number = c->place + n3; /* of an unknown in the caller's numbering, -1 for others */
    for (int k = 0; k < n3; k++)
        number[k] = -1;
    for (int k = 0; k < size; k++)
        number[3 * c->last[k / 3] + k % 3] = k;
    for (int k = 0; k < n3; k++)
        c->place[k] = number[order[k]] >= 0 ? found++ : -1;
    gather_trailing(c);
    if (LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', size, c->trailing, size) != 0)
        return pl_fail(c->ctx, PL_ERROR_NUMERIC, "the trailing block of a factor is singular");
    for (int k = 0; k < n3; k++)
        for (int l = 0; c->place[k] >= 0 && l <= k; l++) {
            if (c->place[l] < 0)
                continue;
            double value = c->trailing[(size_t)c->place[l] * (size_t)size + (size_t)c->place[k]];
            size_t a = (size_t)number[order[k]], b = (size_t)number[order[l]];
            out[a * (size_t)ld + b] = out[b * (size_t)ld + a] = value;
        }
    return PL_OK;
}
