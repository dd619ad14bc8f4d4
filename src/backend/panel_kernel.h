/*
 * Products with a panel [rows, columns] of a triangular factor in single or half precision, y = A x and
 * x = A^T y; they are summed up in single precision.
 *
 * Its first `columns` rows are lower triangular. It is stored in strips of 32 rows, column after
 * column, each strip without the columns that are zero in all of it: both products read it once, in
 * order. The last strip's rows are filled up to a multiple of 8 by zeros.
 */
#ifndef PL_PANEL_KERNEL_H
#define PL_PANEL_KERNEL_H

#include "backend/backend.h"

/* Eight floats, wherever they are; the compiler splits them where registers are shorter. A macro, since
 * functions that return them would depend on the registers. */
typedef float vf __attribute__((vector_size(32), aligned(4), may_alias));
#ifdef __F16C__
#include <immintrin.h>
#define WIDENED(p) ((vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p))))
#else
#define WIDENED(p) ((vf){0}) /* never asked for */
#endif
#define EIGHT(p) (half ? WIDENED(p) : *(const vf *)(p))

/* One strip of 8 `vectors` rows, floats or halves: y = a x. Two columns at a time, so that sums wait
 * less for each other. */
static inline __attribute__((always_inline)) void strip_forward(int vectors, bool half, const char *a,
                                                                int columns, const float *x, float *y)
{
    vf even[4] = {{0}}, odd[4] = {{0}};
    int j = 0, eight = half ? 16 : 32, column = vectors * eight; /* bytes */
    for (; j + 2 <= columns; j += 2, a += 2 * column) {
        vf x0 = x[j] - (vf){0}, x1 = x[j + 1] - (vf){0};
        even[0] += EIGHT(a) * x0;
        odd[0] += EIGHT(a + column) * x1;
        if (vectors > 1) {
            even[1] += EIGHT(a + eight) * x0;
            odd[1] += EIGHT(a + column + eight) * x1;
        }
        if (vectors > 2) {
            even[2] += EIGHT(a + 2 * eight) * x0;
            odd[2] += EIGHT(a + column + 2 * eight) * x1;
        }
        if (vectors > 3) {
            even[3] += EIGHT(a + 3 * eight) * x0;
            odd[3] += EIGHT(a + column + 3 * eight) * x1;
        }
    }
    for (int v = 0; v < vectors; v++) {
        if (j < columns)
            even[v] += EIGHT(a + v * eight) * x[j];
        *(vf *)(y + 8 * v) = even[v] + odd[v];
    }
}

/* sums [columns, 8] += the strip's products with y, eight rows apart. */
static inline __attribute__((always_inline)) void
strip_backward(int vectors, bool half, const char *a, int columns, const float *y, float *sums)
{
    const vf *rows = (const vf *)y;
    vf zero = {0}, y0 = rows[0], y1 = vectors > 1 ? rows[1] : zero;
    vf y2 = vectors > 2 ? rows[2] : zero, y3 = vectors > 3 ? rows[3] : zero;
    int eight = half ? 16 : 32; /* bytes */
    for (int j = 0; j < columns; j++, a += vectors * eight, sums += 8) {
        vf sum = *(const vf *)sums + EIGHT(a) * y0;
        if (vectors > 1)
            sum += EIGHT(a + eight) * y1;
        if (vectors > 2)
            sum += EIGHT(a + 2 * eight) * y2;
        if (vectors > 3)
            sum += EIGHT(a + 3 * eight) * y3;
        *(vf *)sums = sum;
    }
}

/* A strip's kernel with its number of vectors constant. */
#define BY_HEIGHT(strip, ...)                                                                          \
    do {                                                                                               \
        if (height == 32)                                                                              \
            strip(4, __VA_ARGS__);                                                                     \
        else if (height == 24)                                                                         \
            strip(3, __VA_ARGS__);                                                                     \
        else if (height == 16)                                                                         \
            strip(2, __VA_ARGS__);                                                                     \
        else                                                                                           \
            strip(1, __VA_ARGS__);                                                                     \
    } while (0)

static inline __attribute__((always_inline)) int smaller(int a, int b)
{
    return a < b ? a : b;
}

static inline __attribute__((always_inline)) void
panel_forward(bool half, const char *panel, int first, int last, int columns, const float *x, float *y)
{
    for (int r = first; r < last; r += PL_STRIP) {
        int height = PL_STRIP_ROWS(smaller(last - r, PL_STRIP)), width = smaller(columns, r + PL_STRIP);
        BY_HEIGHT(strip_forward, half, panel, width, x, y + r);
        panel += (size_t)(half ? 2 : 4) * (size_t)height * (size_t)width;
    }
}

/* x [columns] = the sums of sums' rows of eight; four at a time, so both are filled up to that. */
static inline void add_up(const float *sums, int columns, float *x)
{
    typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
    for (int j = 0; j < columns; j += 4, sums += 32) {
        four s[4];
        for (int i = 0; i < 4; i++)
            s[i] = *(const four *)(sums + 8 * i) + *(const four *)(sums + 8 * i + 4);
        four low = __builtin_shufflevector(s[0], s[1], 0, 4, 1, 5) +
                   __builtin_shufflevector(s[0], s[1], 2, 6, 3, 7);
        four high = __builtin_shufflevector(s[2], s[3], 0, 4, 1, 5) +
                    __builtin_shufflevector(s[2], s[3], 2, 6, 3, 7);
        *(four *)(x + j) = __builtin_shufflevector(low, high, 0, 1, 4, 5) +
                           __builtin_shufflevector(low, high, 2, 3, 6, 7);
    }
}

static inline __attribute__((always_inline)) void panel_backward(bool half, const char *panel,
                                                                 int first, int last, int columns,
                                                                 const float *y, float *sums, float *x)
{
    memset(sums, 0, 8 * sizeof *sums * (size_t)(columns + 3));
    for (int r = first; r < last; r += PL_STRIP) {
        int height = PL_STRIP_ROWS(smaller(last - r, PL_STRIP)), width = smaller(columns, r + PL_STRIP);
        BY_HEIGHT(strip_backward, half, panel, width, y + r, sums);
        panel += (size_t)(half ? 2 : 4) * (size_t)height * (size_t)width;
    }
    add_up(sums, columns, x);
}

static void kernel_panel_forward(const float *panel, int first, int last, int columns, const float *x,
                                 float *y)
{
    panel_forward(false, (const char *)panel, first, last, columns, x, y);
}

static void kernel_panel_backward(const float *panel, int first, int last, int columns, const float *y,
                                  float *sums, float *x)
{
    panel_backward(false, (const char *)panel, first, last, columns, y, sums, x);
}

/* One strip of 8 `vectors` rows: y = a x and sums [columns, 8] += the products with the rows' own x. */
static inline __attribute__((always_inline)) void strip_both(int vectors, bool half, const char *a,
                                                             int columns, const float *x,
                                                             const float *own, float *y, float *sums)
{
    int eight = half ? 16 : 32; /* bytes */
    const vf *rows = (const vf *)own;
    vf zero = {0}, total[4] = {{0}}, x0 = rows[0], x1 = vectors > 1 ? rows[1] : zero;
    vf x2 = vectors > 2 ? rows[2] : zero, x3 = vectors > 3 ? rows[3] : zero;
    for (int j = 0; j < columns; j++, a += vectors * eight, sums += 8) {
        vf value = EIGHT(a), sum = *(const vf *)sums + value * x0;
        total[0] += value * x[j];
        if (vectors > 1) {
            value = EIGHT(a + eight);
            sum += value * x1;
            total[1] += value * x[j];
        }
        if (vectors > 2) {
            value = EIGHT(a + 2 * eight);
            sum += value * x2;
            total[2] += value * x[j];
        }
        if (vectors > 3) {
            value = EIGHT(a + 3 * eight);
            sum += value * x3;
            total[3] += value * x[j];
        }
        *(vf *)sums = sum;
    }
    for (int v = 0; v < vectors; v++)
        *(vf *)(y + 8 * v) = total[v];
}

/* Strips of the lower triangle of a square: T x of their rows, and what these add as T^T. */
static inline __attribute__((always_inline)) void symmetric(bool half, const char *a, int first,
                                                            int last, const float *x, float *y,
                                                            float *sums, float *across)
{
    memset(sums, 0, 8 * sizeof *sums * (size_t)(last + 3));
    for (int r = first; r < last; r += PL_STRIP) {
        int height = PL_STRIP_ROWS(smaller(last - r, PL_STRIP)), width = smaller(last, r + PL_STRIP);
        BY_HEIGHT(strip_both, half, a, width, x, x + r, y + r, sums);
        a += (size_t)(half ? 2 : 4) * (size_t)height * (size_t)width;
    }
    add_up(sums, last, across);
}

static void kernel_symmetric(const float *strips, int first, int last, const float *x, float *y,
                             float *sums, float *across)
{
    symmetric(false, (const char *)strips, first, last, x, y, sums, across);
}

/* ---- Half precision, where the processor converts it ---- */

#ifdef __F16C__
static void half_round(const float *from, size_t count, pl_half *to)
{
    for (size_t i = 0; i < count; i += 8)
        _mm_storeu_si128((__m128i *)(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
}

static void half_forward(const pl_half *panel, int first, int last, int columns, const float *x,
                         float *y)
{
    panel_forward(true, (const char *)panel, first, last, columns, x, y);
}

static void half_backward(const pl_half *panel, int first, int last, int columns, const float *y,
                          float *sums, float *x)
{
    panel_backward(true, (const char *)panel, first, last, columns, y, sums, x);
}

static void half_symmetric(const pl_half *strips, int first, int last, const float *x, float *y,
                           float *sums, float *across)
{
    symmetric(true, (const char *)strips, first, last, x, y, sums, across);
}

static const pl_half_kernels kernel_half_table = {half_round, half_forward, half_backward,
                                                  half_symmetric};
#define KERNEL_HALF (&kernel_half_table)
#else
#define KERNEL_HALF NULL
#endif

#endif
