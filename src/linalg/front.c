/* One front by strips. */
#include "linalg/front.h"

#define SQUARE (PL_STRIP * PL_STRIP)

static int strips(int rows)
{
    return (rows + PL_STRIP - 1) / PL_STRIP;
}

/* Where the room's parts begin. Strips of L11 and the last one of L21 are as wide as the panel. */
typedef struct rooms {
    size_t lower, inverse, diagonal, partial, values;
} rooms;

static rooms rooms_of(const pl_panel *p)
{
    size_t columns = (size_t)p->columns, strip = PL_STRIP * columns, own = (size_t)strips(p->columns);
    rooms r = {.lower = (size_t)p->height * columns + PL_STRIP};
    r.diagonal = r.lower + own * strip;
    r.inverse = r.diagonal + own * SQUARE;
    r.partial = r.inverse + strip;
    r.values = r.partial + strip;
    return r;
}

size_t pl_front_room(const pl_panel *panel)
{
    return rooms_of(panel).values;
}

size_t pl_front_rest(const pl_panel *panel)
{
    return panel->below > 0 ? (size_t)panel->below * (size_t)panel->below + PL_STRIP : 0;
}

/* ---- Strips: those of L11, then those of L21 ---- */

typedef struct strip {
    int first; /* row of the front */
    int rows;
    float *at; /* PL_STRIP rows a column */
} strip;

static strip strip_at(const pl_front *f, int s)
{
    const pl_panel *p = &f->panel;
    rooms r = rooms_of(p);
    int own = strips(p->columns), row = PL_STRIP * (s - own);
    if (s < own)
        return (strip){PL_STRIP * s, pl_smaller(PL_STRIP, p->columns - PL_STRIP * s),
                       f->room + r.lower + (size_t)(PL_STRIP * s) * (size_t)p->columns};
    bool full = p->below - row >= PL_STRIP;
    return (strip){p->columns + row, full ? PL_STRIP : p->below - row,
                   full ? f->store + pl_panel_offset(p, pl_panel_under(p) + row) : f->room + r.partial};
}

/* The inverse of the square on the diagonal. */
static float *inverse_square(const pl_front *f, int block)
{
    return f->room + rooms_of(&f->panel).diagonal + (size_t)block * SQUARE;
}

/* A strip's columns of a block less what those before it take; in place where there are none, else in
 * `tile`. */
static const float *reduce(const pl_front *f, const strip *s, int block, float *tile, size_t *stride)
{
    const pl_panel *p = &f->panel;
    int first = PL_STRIP * block;
    const float *from = f->room + (size_t)first * (size_t)p->height + s->first;
    *stride = (size_t)p->height;
    if (block == 0)
        return from;
    f->backend->strip_product(&(pl_strip_product){.rows = s->rows,
                                                  .columns = pl_smaller(PL_STRIP, p->columns - first),
                                                  .depth = first,
                                                  .subtract = true,
                                                  .a = s->at,
                                                  .a_stride = PL_STRIP,
                                                  .b = strip_at(f, block).at,
                                                  .from = from,
                                                  .from_stride = *stride,
                                                  .out = tile,
                                                  .out_stride = PL_STRIP});
    *stride = PL_STRIP;
    return tile;
}

static bool factor_diagonal(const pl_front *f, int block)
{
    float tile[SQUARE];
    size_t stride;
    strip s = strip_at(f, block);
    const float *square = reduce(f, &s, block, tile, &stride);
    return f->backend->square_factor(s.rows, square, stride, s.at + (size_t)block * SQUARE,
                                     inverse_square(f, block));
}

static void divide_strip(const pl_front *f, int block, int number)
{
    float tile[SQUARE];
    size_t stride;
    strip s = strip_at(f, number);
    const float *from = reduce(f, &s, block, tile, &stride);
    int columns = pl_smaller(PL_STRIP, f->panel.columns - PL_STRIP * block);
    f->backend->strip_product(&(pl_strip_product){.rows = s.rows,
                                                  .columns = columns,
                                                  .depth = columns,
                                                  .triangular = true,
                                                  .a = from,
                                                  .a_stride = stride,
                                                  .b = inverse_square(f, block),
                                                  .out = s.at + (size_t)block * SQUARE,
                                                  .out_stride = PL_STRIP});
}

static bool factor_columns(const pl_front *f)
{
    int own = strips(f->panel.columns), all = own + strips(f->panel.below);
    for (int block = 0; block < own; block++) {
        if (!factor_diagonal(f, block))
            return false;
        if (f->threads == 1) {
            for (int s = block + 1; s < all; s++)
                divide_strip(f, block, s);
            continue;
        }
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1)
        for (int s = block + 1; s < all; s++)
            divide_strip(f, block, s);
    }
    return true;
}

/* ---- L11^-1: X_JJ = L_JJ^-1, X_IJ = -X_II sum_K<I L_IK X_KJ ---- */

/* Where X_IJ is: in the panel, but for a last strip that is not full. */
static float *inverse_at(const pl_front *f, int i, int j)
{
    const pl_panel *p = &f->panel;
    bool full = p->columns - PL_STRIP * i >= PL_STRIP;
    float *at = full ? f->store + pl_panel_offset(p, PL_STRIP * i) : f->room + rooms_of(p).inverse;
    return at + (size_t)j * SQUARE;
}

static void invert_block(const pl_front *f, int i, int j)
{
    float sum[SQUARE];
    strip s = strip_at(f, i);
    for (int k = j; k < i; k++)
        f->backend->strip_product(&(pl_strip_product){.rows = s.rows,
                                                      .columns = PL_STRIP,
                                                      .depth = PL_STRIP,
                                                      .turned = true,
                                                      .a = s.at + (size_t)k * SQUARE,
                                                      .a_stride = PL_STRIP,
                                                      .b = inverse_at(f, k, j),
                                                      .from = k > j ? sum : NULL,
                                                      .from_stride = PL_STRIP,
                                                      .out = sum,
                                                      .out_stride = PL_STRIP});
    f->backend->strip_product(&(pl_strip_product){.rows = s.rows,
                                                  .columns = PL_STRIP,
                                                  .depth = s.rows,
                                                  .subtract = true,
                                                  .turned = true,
                                                  .a = inverse_square(f, i),
                                                  .a_stride = PL_STRIP,
                                                  .b = sum,
                                                  .out = inverse_at(f, i, j),
                                                  .out_stride = PL_STRIP});
}

static void invert_column(const pl_front *f, int j)
{
    int own = strips(f->panel.columns), columns = pl_smaller(PL_STRIP, f->panel.columns - PL_STRIP * j);
    memcpy(inverse_at(f, j, j), inverse_square(f, j), sizeof(float) * PL_STRIP * (size_t)columns);
    for (int i = j + 1; i < own; i++)
        invert_block(f, i, j);
}

static void invert(const pl_front *f)
{
    int own = strips(f->panel.columns);
    if (f->threads == 1) {
        for (int j = 0; j < own; j++)
            invert_column(f, j);
        return;
    }
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1)
    for (int j = 0; j < own; j++)
        invert_column(f, j);
}

/* ---- F22 ---- */

/* -L21 L21^T in a strip of columns. What strips below write past its end, those above, or the next
 * columns, write over. */
static void leave_columns(const pl_front *f, int j)
{
    const pl_panel *p = &f->panel;
    int own = strips(p->columns), count = strips(p->below), columns = p->below - PL_STRIP * j;
    size_t below = (size_t)p->below;
    for (int i = count - 1; i >= j; i--) {
        strip s = strip_at(f, own + i);
        size_t at = (size_t)(PL_STRIP * j) * below + (size_t)(PL_STRIP * i);
        f->backend->strip_product(&(pl_strip_product){.rows = s.rows,
                                                      .columns = pl_smaller(PL_STRIP, columns),
                                                      .depth = p->columns,
                                                      .subtract = true,
                                                      .a = s.at,
                                                      .a_stride = PL_STRIP,
                                                      .b = strip_at(f, own + j).at,
                                                      .out = f->rest + at,
                                                      .out_stride = below});
    }
}

static void leave_rest(const pl_front *f)
{
    int count = strips(f->panel.below);
    if (f->threads == 1) {
        for (int j = 0; j < count; j++)
            leave_columns(f, j);
        return;
    }
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1)
    for (int j = 0; j < count; j++)
        leave_columns(f, j);
}

/* ---- All of it ---- */

/* A last strip that is not full, into the panel. */
static void store_partial(const pl_front *f, const float *from, int rows, int first)
{
    const pl_panel *p = &f->panel;
    if (rows == 0)
        return;
    float *to = f->store + pl_panel_offset(p, first);
    size_t filled = PL_STRIP_ROWS(rows);
    for (int j = 0; j < p->columns; j++, from += PL_STRIP, to += filled) {
        memcpy(to, from, sizeof *to * (size_t)rows);
        memset(to + rows, 0, sizeof *to * (filled - (size_t)rows));
    }
}

bool pl_front_factor(const pl_front *f)
{
    const pl_panel *p = &f->panel;
    if (!factor_columns(f))
        return false;
    invert(f);
    leave_rest(f);
    rooms r = rooms_of(p);
    int own = p->columns % PL_STRIP, below = p->below % PL_STRIP;
    store_partial(f, f->room + r.inverse, own, p->columns - own);
    store_partial(f, f->room + r.partial, below, pl_panel_under(p) + p->below - below);
    return true;
}
