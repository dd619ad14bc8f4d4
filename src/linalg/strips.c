/* Rectangles and triangles in half precision. */
#include "linalg/strips.h"

#include "linalg/lower.h"
#include "linalg/panel.h"

#define PIECES  4
#define LARGEST 6e4F /* in half precision, with a margin */

static const pl_half_kernels *kernels(void)
{
    const pl_backend *backends[PL_BACKEND_MAX];
    pl_backend_list(backends);
    return backends[0]->half;
}

bool pl_strips_supported(void)
{
    return kernels() != NULL;
}

/* ---- Products by pieces ---- */

/* Rows [first, first + rows) of a panel, all its columns; the first is at `value`. */
typedef struct slab {
    const pl_half_kernels *half;
    const pl_half *value;
    int first, rows, columns;
} slab;

/* Row, counted from the slab's first, at which piece p begins. */
static int piece_begin(const slab *s, int pieces, int p)
{
    return p == pieces ? s->rows : s->rows * p / pieces / PL_STRIP * PL_STRIP;
}

static int piece_count(const pl_context *ctx, const slab *s)
{
    return (size_t)s->rows * (size_t)s->columns < ctx->limits.pieces_strips ? 1 : PIECES;
}

/* y [rows, filled up] = A x, rows from y + first on. */
static void slab_forward(const pl_context *ctx, const slab *s, const float *x, float *y)
{
    int pieces = piece_count(ctx, s);
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (pieces > 1)
    for (int p = 0; p < pieces; p++) {
        int begin = piece_begin(s, pieces, p), end = piece_begin(s, pieces, p + 1);
        s->half->forward(s->value + (size_t)begin * (size_t)s->columns, s->first + begin,
                         s->first + end, s->columns, x, y);
    }
}

/* Scratch of one piece of a transposed product. */
static size_t piece_size(int columns)
{
    return 9 * ((size_t)columns + 4);
}

/* The sums, in the pieces' scratch, of A^T y, y from y + first on and zero where it is filled up;
 * returns their number. */
static int slab_backward(const pl_context *ctx, const slab *s, const float *y, float *sums)
{
    int pieces = piece_count(ctx, s);
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (pieces > 1)
    for (int p = 0; p < pieces; p++) {
        int begin = piece_begin(s, pieces, p), end = piece_begin(s, pieces, p + 1);
        float *x = sums + (size_t)p * piece_size(s->columns);
        s->half->backward(s->value + (size_t)begin * (size_t)s->columns, s->first + begin,
                          s->first + end, s->columns, y, x + s->columns + 4, x);
    }
    return pieces;
}

static void subtract_sums(const float *sums, int pieces, int columns, float *x)
{
    for (int p = 0; p < pieces; p++, sums += piece_size(columns))
        for (int j = 0; j < columns; j++)
            x[j] -= sums[j];
}

/* A power of two not below. */
static float power_above(float value)
{
    int exponent;
    frexpf(value, &exponent);
    return value > 0 ? ldexpf(1, exponent) : 1;
}

/* A piece of a strip as the kernels want it, column after column. */
typedef struct tile {
    int rows, columns;
    float value[PL_STRIP][PL_STRIP]; /* [columns, rows], filled up by zeros */
} tile;

/* Values a[i row + j column], read along the memory. */
static void read_tile(const float *a, size_t row, size_t column, tile *t)
{
    memset(t->value, 0, sizeof t->value);
    for (int i = 0; column == 1 && i < t->rows; i++)
        for (int j = 0; j < t->columns; j++)
            t->value[j][i] = a[(size_t)i * row + (size_t)j];
    for (int j = 0; column != 1 && j < t->columns; j++)
        for (int i = 0; i < t->rows; i++)
            t->value[j][i] = a[(size_t)i * row + (size_t)j * column];
}

/* Its columns as halves of a strip; false if something is out of range. */
static bool round_tile(const pl_half_kernels *half, const tile *t, pl_half *to)
{
    int filled = PL_STRIP_ROWS(t->rows);
    bool fits = true;
    for (int j = 0; j < t->columns; j++) {
        float largest = 0;
        for (int i = 0; i < PL_STRIP; i++)
            largest += fabsf(t->value[j][i]);
        fits = fits && largest <= LARGEST; /* nor if one is not a number */
        half->round(t->value[j], (size_t)filled, to + j * filled);
    }
    return fits;
}

/* ---- Rectangles ---- */

/* Rows of a rectangle are numbered as those below a triangle that it does not have. */
static slab whole(const pl_rectangle *r)
{
    pl_panel p = {.columns = r->columns, .below = r->rows};
    return (slab){r->half, r->value, pl_panel_under(&p), r->rows, r->columns};
}

void pl_rectangle_free(pl_context *ctx, pl_rectangle *r)
{
    void *arrays[] = {r->value, r->scale, r->y, r->sums};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *r = (pl_rectangle){0};
}

pl_status pl_rectangle_reserve(pl_context *ctx, pl_rectangle *r, size_t values, int rows, int columns)
{
    pl_status status = PL_OK;
    pl_rectangle_free(ctx, r);
    r->half = kernels();
    PL_NEW(ctx, r->value, values + 8 * (size_t)columns, fail);
    PL_NEW(ctx, r->scale, rows, fail);
    PL_NEW(ctx, r->y, columns + rows + 2 * PL_STRIP, fail);
    PL_NEW(ctx, r->sums, PIECES * piece_size(columns), fail);
    return PL_OK;
fail:
    pl_rectangle_free(ctx, r);
    return status;
}

static void store_row_strip(pl_rectangle *r, int first, const float *a)
{
    size_t columns = (size_t)r->columns;
    tile t = {.rows = pl_smaller(r->rows - first, PL_STRIP)};
    float inverse[PL_STRIP] = {0};
    for (int i = 0; i < t.rows; i++) {
        const float *row = a + (size_t)(first + i) * columns;
        float most = 0;
        for (size_t j = 0; j < columns; j++)
            most = fabsf(row[j]) > most ? fabsf(row[j]) : most;
        r->scale[first + i] = power_above(most);
        inverse[i] = 1 / r->scale[first + i];
    }
    pl_half *to = r->value + (size_t)first * columns;
    for (int begin = 0; begin < r->columns; begin += PL_STRIP) {
        t.columns = pl_smaller(r->columns - begin, PL_STRIP);
        read_tile(a + (size_t)first * columns + (size_t)begin, columns, 1, &t);
        for (int j = 0; j < t.columns; j++)
            for (int i = 0; i < PL_STRIP; i++)
                t.value[j][i] *= inverse[i];
        round_tile(r->half, &t, to + begin * PL_STRIP_ROWS(t.rows));
    }
}

void pl_rectangle_store(const pl_context *ctx, pl_rectangle *r, int rows, int columns, const float *a)
{
    r->rows = rows;
    r->columns = columns;
#pragma omp parallel for num_threads(ctx->threads) schedule(static, 1)
    for (int first = 0; first < rows; first += PL_STRIP)
        store_row_strip(r, first, a);
}

void pl_rectangle_subtract(const pl_context *ctx, pl_rectangle *r, const float *x, float *y)
{
    slab s = whole(r);
    slab_forward(ctx, &s, x, r->y);
    for (int i = 0; i < r->rows; i++)
        y[i] -= r->scale[i] * r->y[s.first + i];
}

void pl_rectangle_subtract_transposed(const pl_context *ctx, pl_rectangle *r, const float *y, float *x)
{
    slab s = whole(r);
    for (int i = 0; i < PL_STRIP_ROWS(r->rows); i++)
        r->y[s.first + i] = i < r->rows ? r->scale[i] * y[i] : 0;
    int pieces = slab_backward(ctx, &s, r->y, r->sums);
    subtract_sums(r->sums, pieces, r->columns, x);
}

/* ---- Triangles ---- */

/* Panels of about the same number of columns. */
static int panel_count(const pl_triangle *t)
{
    return (t->size + t->most - 1) / t->most;
}

static pl_panel get_panel(const pl_triangle *t, int k)
{
    int size = t->size, count = panel_count(t), first = size * k / count, next = size * (k + 1) / count;
    return (pl_panel){
        .columns = next - first, .below = size - next, .height = size - first, .first = first};
}

/* Values of the first k panels. */
static size_t values_before(const pl_triangle *t, int k)
{
    size_t values = 0;
    for (int i = 0; i < k; i++) {
        pl_panel p = get_panel(t, i);
        values += pl_panel_values(&p);
    }
    return values;
}

void pl_triangle_free(pl_context *ctx, pl_triangle *t)
{
    void *arrays[] = {t->value, t->block, t->inverse, t->x, t->y, t->sums};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *t = (pl_triangle){0};
}

pl_status pl_triangle_reserve(pl_context *ctx, pl_triangle *t, int size)
{
    pl_status status = PL_OK;
    size_t n = (size_t)size, most = (size_t)ctx->limits.block_triangle;
    pl_triangle_free(ctx, t);
    t->most = ctx->limits.block_triangle;
    t->half = kernels();
    PL_NEW(ctx, t->value, n * (n + 2 * PL_STRIP) / 2, fail); /* strips on the diagonal, and filled up */
    PL_NEW(ctx, t->block, most * most, fail);
    PL_NEW(ctx, t->inverse, most * most, fail);
    PL_NEW(ctx, t->x, most + 4, fail);
    PL_NEW(ctx, t->y, n + 2 * PL_STRIP, fail);
    PL_NEW(ctx, t->sums, PIECES * piece_size(t->most), fail);
    return PL_OK;
fail:
    pl_triangle_free(ctx, t);
    return status;
}

/* T11 of panel p, [columns, columns] column-major. */
static void read_diagonal(const pl_context *ctx, const pl_panel *p, const pl_triangle_source *from,
                          float *block)
{
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int j = 0; j < p->columns; j++)
        for (int i = j; i < p->columns; i++) {
            size_t row = (size_t)(p->first + i), column = (size_t)(p->first + j);
            float value = from->unit && i == j ? 1 : from->a[row * from->row + column * from->column];
            block[(size_t)j * (size_t)p->columns + (size_t)i] =
                from->row_scale[row] * value * from->column_scale[column];
        }
}

/* A tile of T21 from row i and column j of T on. */
static void read_scaled(const pl_triangle_source *from, int i, int j, tile *t)
{
    read_tile(from->a + (size_t)i * from->row + (size_t)j * from->column, from->row, from->column, t);
    for (int c = 0; c < t->columns; c++)
        for (int r = 0; r < t->rows; r++)
            t->value[c][r] *= from->row_scale[i + r] * from->column_scale[j + c];
}

/* The strip of panel p at row r; false if something is out of range. */
static bool store_panel_strip(const pl_half_kernels *half, const pl_panel *p,
                              const pl_triangle_source *from, const float *inverse, int r, pl_half *to)
{
    int under = pl_panel_under(p), last = r < under ? p->columns : under + p->below;
    int width = pl_smaller(p->columns, r + PL_STRIP);
    tile t = {.rows = pl_smaller(last - r, PL_STRIP)};
    bool fits = true;
    to += pl_panel_offset(p, r);
    for (int begin = 0; begin < width; begin += PL_STRIP) {
        t.columns = pl_smaller(width - begin, PL_STRIP);
        if (r < under)
            read_tile(inverse + (size_t)begin * (size_t)p->columns + (size_t)r, 1, (size_t)p->columns,
                      &t);
        else
            read_scaled(from, p->first + p->columns + r - under, p->first + begin, &t);
        fits = round_tile(half, &t, to + begin * PL_STRIP_ROWS(t.rows)) && fits;
    }
    return fits;
}

bool pl_triangle_store(const pl_context *ctx, pl_triangle *t, int size, pl_triangle_source from)
{
    bool fits = true;
    t->size = size;
    for (int k = 0; k < panel_count(t); k++) {
        pl_panel p = get_panel(t, k);
        pl_half *to = t->value + values_before(t, k);
        read_diagonal(ctx, &p, &from, t->block);
        pl_lower_invert(ctx->threads, p.columns, t->block, p.columns, t->inverse);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1) reduction(&& : fits)
        for (int r = 0; r < pl_panel_under(&p) + p.below; r += PL_STRIP)
            fits = store_panel_strip(t->half, &p, &from, t->inverse, r, to) && fits;
    }
    return fits;
}

/* The rows of T21. */
static slab under(const pl_triangle *t, const pl_panel *p, const pl_half *panel)
{
    int first = pl_panel_under(p);
    return (slab){t->half, panel + pl_panel_offset(p, first), first, p->below, p->columns};
}

void pl_triangle_solve(const pl_context *ctx, pl_triangle *t, float *x)
{
    const pl_half *panel = t->value;
    for (int k = 0; k < panel_count(t); k++) {
        pl_panel p = get_panel(t, k);
        slab s = under(t, &p, panel);
        float *own = x + p.first;
        t->half->forward(panel, 0, p.columns, p.columns, own, t->y);
        memcpy(own, t->y, sizeof *own * (size_t)p.columns);
        slab_forward(ctx, &s, own, t->y);
        for (int i = 0; i < p.below; i++)
            own[p.columns + i] -= t->y[s.first + i];
        panel += pl_panel_values(&p);
    }
}

void pl_triangle_solve_transposed(const pl_context *ctx, pl_triangle *t, float *x)
{
    for (int k = panel_count(t) - 1; k >= 0; k--) {
        pl_panel p = get_panel(t, k);
        const pl_half *panel = t->value + values_before(t, k);
        slab s = under(t, &p, panel);
        float *own = x + p.first;
        for (int i = 0; i < PL_STRIP_ROWS(p.below); i++)
            t->y[s.first + i] = i < p.below ? own[p.columns + i] : 0;
        int pieces = slab_backward(ctx, &s, t->y, t->sums);
        subtract_sums(t->sums, pieces, p.columns, own);
        for (int i = 0; i < PL_STRIP_ROWS(p.columns); i++)
            t->y[i] = i < p.columns ? own[i] : 0;
        t->half->backward(panel, 0, p.columns, p.columns, t->y, t->sums, t->x);
        memcpy(own, t->x, sizeof *own * (size_t)p.columns);
    }
}
