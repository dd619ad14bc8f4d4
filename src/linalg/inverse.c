/* Parts of the inverse of a factored matrix. */
#include "linalg/inverse.h"

#include "linalg/lower.h"

#include "backend/backend.h"

#include <cblas.h>

#define WIDTH 48 /* columns solved for at once: wide enough for BLAS 3, in the cache */

void pl_inverse_free(pl_context *ctx, pl_inverse *v)
{
    void *arrays[] = {v->columns, v->rows, v->dense, v->gathered};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *v = (pl_inverse){0};
}

pl_status pl_inverse_plan_create(pl_context *ctx, const pl_supernodes *l, int last_count,
                                 const int *last, pl_inverse_plan *out)
{
    pl_status status = PL_OK;
    pl_inverse_plan *p = out;
    *p = (pl_inverse_plan){.last_count = last_count, .last = last};
    PL_NEW(ctx, p->number, l->n, done);
    PL_NEW(ctx, p->given, l->n, done);
    for (int j = 0; j < l->n; j++)
        p->number[j] = -1;
    for (int i = 0; i < 3 * last_count; i++)
        p->number[l->place[3 * last[i / 3] + i % 3]] = i;
    for (int k = 0; k < l->count; k++) {
        if (p->number[l->first[k]] < 0)
            continue;
        for (int j = l->first[k]; j < l->first[k + 1]; j++) {
            p->given[p->size] = p->number[j];
            p->number[j] = p->size++;
        }
    }
done:
    if (status != PL_OK)
        pl_inverse_plan_free(ctx, p);
    return status;
}

void pl_inverse_plan_free(pl_context *ctx, pl_inverse_plan *p)
{
    pl_free(ctx, p->number);
    pl_free(ctx, p->given);
    *p = (pl_inverse_plan){0};
}

/* A strip of a supernode's panel: rows [row, row + rows) of its first `columns` columns, column-major.
 */
typedef struct strip {
    int row, rows, stored, columns;
    const float *value;
} strip;

/* The strip at r, in the panel's numbering of rows. */
static strip read_strip(const pl_triangular *t, const pl_panel *p, int k, int r)
{
    int under = pl_panel_under(p), row = r < under ? r : p->columns + r - under;
    return (strip){
        .row = row,
        .rows = pl_smaller((r < under ? p->columns : p->height) - row, PL_STRIP),
        .stored = pl_panel_rows(p, r),
        .columns = pl_smaller(p->columns, r + PL_STRIP),
        .value = t->single + t->plan->single_at[k] + pl_panel_offset(p, r),
    };
}

/* ---- Columns of A^-1 along paths ---- */

/* v->rows [first, last), in the panel's numbering, = own by these rows of the panel. */
static void multiply(pl_inverse *v, const pl_triangular *t, const pl_panel *p, int k, int first,
                     int last)
{
    const float *own = v->columns + (size_t)p->first * WIDTH;
    for (int r = first; r < last; r += PL_STRIP) {
        strip s = read_strip(t, p, k, r);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, s.rows, WIDTH, s.columns, 1, s.value,
                    s.stored, own, WIDTH, 0, v->rows + (size_t)s.row * WIDTH, WIDTH);
    }
}

/* own += factor times v->rows by the panel's rows [first, last), transposed. */
static void multiply_transposed(pl_inverse *v, const pl_triangular *t, const pl_panel *p, int k,
                                int first, int last, float factor)
{
    float *own = v->columns + (size_t)p->first * WIDTH;
    for (int r = first; r < last; r += PL_STRIP) {
        strip s = read_strip(t, p, k, r);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, s.columns, WIDTH, s.rows, factor,
                    s.value, s.stored, v->rows + (size_t)s.row * WIDTH, WIDTH, 1, own, WIDTH);
    }
}

/* The own rows become L11^-1 own, and the rows below lose L21 times that. */
static void forward(pl_inverse *v, const pl_triangular *t, int k)
{
    pl_panel p = pl_panel_of(t->plan->supernodes, k);
    int under = pl_panel_under(&p);
    float *own = v->columns + (size_t)p.first * WIDTH;
    multiply(v, t, &p, k, 0, p.columns);
    memcpy(own, v->rows, sizeof *own * WIDTH * (size_t)p.columns);
    multiply(v, t, &p, k, under, under + p.below);
    for (int i = 0; i < p.below; i++) {
        float *to = v->columns + (size_t)p.row[i] * WIDTH;
        const float *from = v->rows + (size_t)(p.columns + i) * WIDTH;
        for (int c = 0; c < WIDTH; c++)
            to[c] -= from[c];
    }
}

/* own = L11^-T (own - L21^T of the rows below). */
static void backward(pl_inverse *v, const pl_triangular *t, int k)
{
    pl_panel p = pl_panel_of(t->plan->supernodes, k);
    int under = pl_panel_under(&p);
    float *own = v->columns + (size_t)p.first * WIDTH;
    for (int i = 0; i < p.below; i++)
        memcpy(v->rows + (size_t)(p.columns + i) * WIDTH, v->columns + (size_t)p.row[i] * WIDTH,
               sizeof *own * WIDTH);
    multiply_transposed(v, t, &p, k, under, under + p.below, -1);
    memcpy(v->rows, own, sizeof *own * WIDTH * (size_t)p.columns);
    memset(own, 0, sizeof *own * WIDTH * (size_t)p.columns);
    multiply_transposed(v, t, &p, k, 0, p.columns, 1);
}

static pl_status reserve_columns(pl_inverse *v, const pl_triangular *t)
{
    if (v->columns)
        return PL_OK;
    pl_free(t->ctx, v->rows);
    v->rows = pl_alloc(t->ctx, t->plan->tallest * WIDTH, sizeof *v->rows);
    v->columns =
        v->rows ? pl_alloc(t->ctx, (size_t)t->plan->supernodes->n * WIDTH, sizeof *v->columns) : NULL;
    return v->columns ? PL_OK : PL_ERROR_MEMORY;
}

pl_status pl_inverse_block(pl_inverse *v, pl_triangular *t, int row_count, const int *rows,
                           int col_count, const int *cols, float *out, int ld)
{
    const pl_supernodes *l = t->plan->supernodes;
    PL_TRY(reserve_columns(v, t));
    for (int first = 0; first < 3 * col_count; first += WIDTH) {
        int width = pl_smaller(WIDTH, 3 * col_count - first);
        pl_triangular_focus(t, (width + 2) / 3, cols + first / 3);
        memset(v->columns, 0, sizeof *v->columns * WIDTH * (size_t)l->n);
        for (int c = 0; c < width; c++) {
            int unknown = 3 * cols[(first + c) / 3] + (first + c) % 3;
            v->columns[(size_t)l->place[unknown] * WIDTH + (size_t)c] = t->scale[unknown / 3];
        }
        for (int k = 0; k < l->count; k++)
            if (t->on_path[k])
                forward(v, t, k);
        pl_triangular_focus(t, row_count, rows);
        for (int k = l->count - 1; k >= 0; k--)
            if (t->on_path[k])
                backward(v, t, k);
        for (int i = 0; i < 3 * row_count; i++) {
            const float *from = v->columns + (size_t)l->place[3 * rows[i / 3] + i % 3] * WIDTH;
            for (int c = 0; c < width; c++)
                out[(size_t)i * (size_t)ld + (size_t)(first + c)] = t->scale[rows[i / 3]] * from[c];
        }
    }
    return PL_OK;
}

/* ---- A^-1 between the vertices eliminated last ---- */

/* One of their supernodes. */
typedef struct corner {
    int at;             /* number of the first column */
    int columns, below; /* unknowns */
    const int *row;     /* columns of the rows below */
    float *value;       /* [columns + below, columns] column-major: X, Y */
} corner;

static corner read_corner(int at, const pl_triangular *t, int k)
{
    pl_panel p = pl_panel_of(t->plan->supernodes, k);
    corner c = {
        .at = at,
        .columns = p.columns,
        .below = p.below,
        .row = p.row,
        .value = pl_triangular_scratch(t, 0),
    };
    size_t height = (size_t)p.height;
    for (int r = 0; r < pl_panel_under(&p) + p.below; r += PL_STRIP) {
        strip s = read_strip(t, &p, k, r);
        for (int j = 0; j < p.columns; j++)
            for (int i = 0; i < s.rows; i++)
                c.value[(size_t)j * height + (size_t)(s.row + i)] =
                    j < s.columns ? s.value[(size_t)j * (size_t)s.stored + (size_t)i] : 0;
    }
    if (c.below > 0)
        cblas_strmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, c.below,
                    c.columns, 1, c.value, (int)height, c.value + c.columns, (int)height);
    return c;
}

/* With 2 all unknowns that come later, R the rows below among them: G_21 = -G_2R Y, G_11 -= Y^T G_R1.
 * Of G the lower triangle counts. */
static void pass_down(const pl_inverse *v, const int *number, const corner *c, int size)
{
    int r = c->below, height = c->columns + r, next = c->at + c->columns, later = size - next;
    float *of_rows = v->gathered, *under = of_rows + (size_t)later * (size_t)r;
    float *own = v->dense + (size_t)c->at * (size_t)size;
    const float *y = c->value + c->columns;
    for (int j = 0; j < r; j++)
        for (int i = 0; i < later; i++) {
            int a = next + i, b = number[c->row[j]];
            of_rows[(size_t)j * (size_t)later + (size_t)i] =
                v->dense[(size_t)pl_smaller(a, b) * (size_t)size + (size_t)(a > b ? a : b)];
        }
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, later, c->columns, r, -1, of_rows, later, y,
                height, 0, own + next, size);
    for (int j = 0; j < c->columns; j++)
        for (int i = 0; i < r; i++)
            under[(size_t)j * (size_t)r + (size_t)i] =
                own[(size_t)j * (size_t)size + (size_t)number[c->row[i]]];
    cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, c->columns, c->columns, r, -1, y, height,
                under, r, 1, own + c->at, size);
}

static pl_status reserve_dense(pl_inverse *v, pl_context *ctx, size_t size)
{
    if (v->dense)
        return PL_OK;
    pl_free(ctx, v->gathered);
    v->gathered = pl_alloc(ctx, size * size, sizeof *v->gathered);
    v->dense = v->gathered ? pl_alloc(ctx, size * size, sizeof *v->dense) : NULL;
    return v->dense ? PL_OK : PL_ERROR_MEMORY;
}

pl_status pl_inverse_last(pl_inverse *v, const pl_inverse_plan *plan, const pl_triangular *t,
                          float *out, int ld)
{
    int size = plan->size, threads = size < t->ctx->limits.thread_inverse ? 1 : t->ctx->threads;
    PL_TRY(reserve_dense(v, t->ctx, (size_t)size));
    memset(v->dense, 0, sizeof *v->dense * (size_t)size * (size_t)size);
    for (int k = t->plan->supernodes->count - 1; k >= 0; k--) {
        int at = plan->number[t->plan->supernodes->first[k]];
        if (at < 0)
            continue;
        corner c = read_corner(at, t, k);
        pl_lower_square(threads, c.columns, c.value, c.columns + c.below,
                        v->dense + (size_t)c.at * (size_t)(size + 1), size);
        if (c.below > 0)
            pass_down(v, plan->number, &c, size);
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 32) if (threads > 1)
    for (int j = 0; j < size; j++)
        for (int i = j; i < size; i++) {
            if (plan->given[i] < 0 || plan->given[j] < 0)
                continue;
            size_t a = (size_t)plan->given[i], b = (size_t)plan->given[j];
            float value = t->scale[plan->last[a / 3]] * t->scale[plan->last[b / 3]] *
                          v->dense[(size_t)j * (size_t)size + (size_t)i];
            out[a * (size_t)ld + b] = out[b * (size_t)ld + a] = value;
        }
    return PL_OK;
}
