/*
 * Products of strips and factors of small squares: what a dense front is factored by (linalg/front.h).
 * A strip is PL_STRIP rows, column after column, so that it is read in order, by vectors on the left
 * of a product and number by number on the right.
 */
#ifndef PL_FRONT_KERNEL_H
#define PL_FRONT_KERNEL_H

#include "backend/backend.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#define FRONT_WIDTH  16 /* floats in a register, */
#define FRONT_ACROSS 8  /* and columns of a tile: two registers each, which stay where they are */
#elif defined(__AVX2__)
#define FRONT_WIDTH  8
#define FRONT_ACROSS 4
#else
#define FRONT_WIDTH  4
#define FRONT_ACROSS 4
#endif

typedef float vs __attribute__((vector_size(4 * FRONT_WIDTH), aligned(4), may_alias));
typedef int vi __attribute__((vector_size(4 * FRONT_WIDTH), aligned(4), may_alias));

/* One column of a tile: += a b. Written out: in loops sums would leave their registers. */
#define TILE_COLUMN(i)                                                                                 \
    if (FRONT_ACROSS > (i)) {                                                                          \
        vs factor = b[(size_t)(i)*across] - (vs){0};                                                   \
        sum[i][0] += low * factor;                                                                     \
        if (vectors > 1)                                                                               \
            sum[i][1] += high * factor;                                                                \
    }

/* sum = a [vectors registers, depth] b [depth, FRONT_ACROSS] */
static inline __attribute__((always_inline)) void tile_sum(int vectors, int depth, const float *a,
                                                           size_t stride, const float *b, size_t along,
                                                           size_t across, vs sum[FRONT_ACROSS][2])
{
    for (int k = 0; k < depth; k++, a += stride, b += along) {
        vs low = *(const vs *)a, high = vectors > 1 ? *(const vs *)(a + FRONT_WIDTH) : low;
        TILE_COLUMN(0)
        TILE_COLUMN(1)
        TILE_COLUMN(2)
        TILE_COLUMN(3)
        TILE_COLUMN(4)
        TILE_COLUMN(5)
        TILE_COLUMN(6)
        TILE_COLUMN(7)
    }
}

#define TILE_STORE(i)                                                                                  \
    if (FRONT_ACROSS > (i) && columns > (i))                                                           \
        for (int v = 0; v < vectors; v++) {                                                            \
            vs value = p->subtract ? -sum[i][v] : sum[i][v];                                           \
            if (from)                                                                                  \
                value += *(const vs *)(from + (i)*p->from_stride + v * FRONT_WIDTH);                   \
            *(vs *)(out + (i)*p->out_stride + v * FRONT_WIDTH) = value;                                \
        }

/* Columns [first, first + FRONT_ACROSS) of the product, from row r on. */
static inline __attribute__((always_inline)) void tile(const pl_strip_product *p, int vectors,
                                                       bool turned, int r, int first)
{
    vs sum[FRONT_ACROSS][2] = {{{0}}};
    int columns = p->columns - first, depth = p->depth;
    if (p->triangular && depth > first + FRONT_ACROSS)
        depth = first + FRONT_ACROSS;
    if (turned)
        tile_sum(vectors, depth, p->a + r, p->a_stride, p->b + (size_t)PL_STRIP * (size_t)first, 1,
                 PL_STRIP, sum);
    else
        tile_sum(vectors, depth, p->a + r, p->a_stride, p->b + first, PL_STRIP, 1, sum);
    const float *from = p->from ? p->from + (size_t)first * p->from_stride + r : NULL;
    float *out = p->out + (size_t)first * p->out_stride + r;
    TILE_STORE(0)
    TILE_STORE(1)
    TILE_STORE(2)
    TILE_STORE(3)
    TILE_STORE(4)
    TILE_STORE(5)
    TILE_STORE(6)
    TILE_STORE(7)
}

/* From below: a tile may write past the last row, over rows of the next columns that come later. */
static inline __attribute__((always_inline)) void tiles(const pl_strip_product *p, bool turned)
{
    for (int r = (p->rows - 1) / (2 * FRONT_WIDTH) * (2 * FRONT_WIDTH); r >= 0; r -= 2 * FRONT_WIDTH)
        for (int first = 0; first < p->columns; first += FRONT_ACROSS)
            if (p->rows - r > FRONT_WIDTH)
                tile(p, 2, turned, r, first);
            else
                tile(p, 1, turned, r, first);
}

static void kernel_strip_product(const pl_strip_product *p)
{
    if (p->turned)
        tiles(p, true);
    else
        tiles(p, false);
}

/* Rows of a square below row k, all bits set. */
static inline vi rows_below(int k, int from)
{
    vi rows = {0};
    for (int i = 0; i < FRONT_WIDTH; i++)
        rows[i] = from + i;
    return rows > k;
}

/* Column by column; zeros above the diagonal. False at a pivot that is not positive. */
static bool factor_square(int size, int vectors, float *l, float *reciprocal)
{
    for (int k = 0; k < size; k++) {
        float *column = l + PL_STRIP * k, pivot = column[k];
        if (!(pivot > 0) || !isfinite(pivot))
            return false;
        float root = sqrtf(pivot);
        reciprocal[k] = 1 / root;
        for (int v = 0; v < vectors; v++) {
            vs *at = (vs *)(column + v * FRONT_WIDTH);
            *at = (vs)((vi)(*at * reciprocal[k]) & rows_below(k - 1, v * FRONT_WIDTH));
        }
        for (int j = k + 1; j < size; j++)
            for (int v = j / FRONT_WIDTH; v < vectors; v++)
                *(vs *)(l + PL_STRIP * j + v * FRONT_WIDTH) -=
                    column[j] * *(const vs *)(column + v * FRONT_WIDTH);
    }
    return true;
}

/* x = l^-1, its rows scaled at the end. */
static void invert_square(int size, int vectors, const float *l, const float *reciprocal, float *x)
{
    memset(x, 0, sizeof *x * PL_STRIP * (size_t)size);
    for (int j = 0; j < size; j++)
        x[(PL_STRIP + 1) * j] = 1;
    for (int k = 0; k < size; k++)
        for (int v = k / FRONT_WIDTH; v < vectors; v++) {
            vs column = (vs)(*(const vi *)(l + PL_STRIP * k + v * FRONT_WIDTH) &
                             rows_below(k, v * FRONT_WIDTH));
            column *= reciprocal[k];
            for (int j = 0; j <= k; j++)
                *(vs *)(x + PL_STRIP * j + v * FRONT_WIDTH) -= x[PL_STRIP * j + k] * column;
        }
    for (int j = 0; j < size; j++)
        for (int v = 0; v < vectors; v++)
            *(vs *)(x + PL_STRIP * j + v * FRONT_WIDTH) *= *(const vs *)(reciprocal + v * FRONT_WIDTH);
}

static bool kernel_square_factor(int size, const float *from, size_t stride, float *l, float *x)
{
    int vectors = (size + FRONT_WIDTH - 1) / FRONT_WIDTH;
    float reciprocal[PL_STRIP] = {0};
    for (int j = 0; j < size; j++) {
        memcpy(l + PL_STRIP * j, from + (size_t)j * stride, sizeof *l * (size_t)size);
        memset(l + PL_STRIP * j + size, 0, sizeof *l * (size_t)(PL_STRIP - size));
    }
    if (!factor_square(size, vectors, l, reciprocal))
        return false;
    invert_square(size, vectors, l, reciprocal, x);
    return true;
}

/* to [count] += from */
static inline __attribute__((always_inline)) void add_run(int count, const float *from, float *to)
{
#if defined(__AVX512F__)
    for (; count > 0; count -= 16, from += 16, to += 16) {
        __mmask16 mask = count >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << count) - 1);
        __m512 sum = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, from), _mm512_maskz_loadu_ps(mask, to));
        _mm512_mask_storeu_ps(to, mask, sum);
    }
#else
    for (int i = 0; i < count; i++)
        to[i] += from[i];
#endif
}

static void kernel_front_add(const pl_front_sum *s, int first, int last)
{
    for (int j = first; j < last; j++) {
        const float *from = s->from + 3 * (size_t)j * s->from_stride;
        float *to = s->to + (size_t)(s->position[j] - s->above) * s->to_stride;
        for (int i = j; i < s->count; i = s->run_end[i]) {
            const float *run = from + 3 * i;
            float *place = to + (s->position[i] - s->above);
            int values = 3 * (s->run_end[i] - i);
            for (int c = 0; c < 3; c++)
                add_run(values, run + (size_t)c * s->from_stride, place + (size_t)c * s->to_stride);
        }
    }
}

#endif
