/*
 * Products with a panel [rows, columns] of a triangular factor in single precision, y = A x and x = A^T
 * y.
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
#define EIGHT(p) (*(const vf *)(p))

/* One strip of 8 `vectors` rows: y = a x. Two columns at a time, so that sums wait less for each other.
 */
static inline __attribute__((always_inline)) void strip_forward(int vectors, const float *a,
                                                                int columns, const float *x, float *y)
{
    vf even[4] = {{0}}, odd[4] = {{0}};
    int j = 0;
    for (; j + 2 <= columns; j += 2, a += 16 * vectors) {
        vf x0 = x[j] - (vf){0}, x1 = x[j + 1] - (vf){0};
        even[0] += EIGHT(a) * x0;
        odd[0] += EIGHT(a + 8 * vectors) * x1;
        if (vectors > 1) {
            even[1] += EIGHT(a + 8) * x0;
            odd[1] += EIGHT(a + 8 * vectors + 8) * x1;
        }
        if (vectors > 2) {
            even[2] += EIGHT(a + 16) * x0;
            odd[2] += EIGHT(a + 8 * vectors + 16) * x1;
        }
        if (vectors > 3) {
            even[3] += EIGHT(a + 24) * x0;
            odd[3] += EIGHT(a + 8 * vectors + 24) * x1;
        }
    }
    for (int v = 0; v < vectors; v++) {
        if (j < columns)
            even[v] += EIGHT(a + 8 * v) * x[j];
        *(vf *)(y + 8 * v) = even[v] + odd[v];
    }
}

/* sums [columns, 8] += the strip's products with y, eight rows apart. */
static inline __attribute__((always_inline)) void
strip_backward(int vectors, const float *a, int columns, const float *y, float *sums)
{
    vf zero = {0}, y0 = EIGHT(y), y1 = vectors > 1 ? EIGHT(y + 8) : zero;
    vf y2 = vectors > 2 ? EIGHT(y + 16) : zero, y3 = vectors > 3 ? EIGHT(y + 24) : zero;
    for (int j = 0; j < columns; j++, a += 8 * vectors, sums += 8) {
        vf sum = EIGHT(sums) + EIGHT(a) * y0;
        if (vectors > 1)
            sum += EIGHT(a + 8) * y1;
        if (vectors > 2)
            sum += EIGHT(a + 16) * y2;
        if (vectors > 3)
            sum += EIGHT(a + 24) * y3;
        *(vf *)sums = sum;
    }
}

static inline __attribute__((always_inline)) int smaller(int a, int b)
{
    return a < b ? a : b;
}

static void kernel_panel_forward(const float *panel, int first, int last, int columns, const float *x,
                                 float *y)
{
    for (int r = first; r < last; r += PL_STRIP) {
        int height = PL_STRIP_ROWS(smaller(last - r, PL_STRIP)), width = smaller(columns, r + PL_STRIP);
        if (height == 32)
            strip_forward(4, panel, width, x, y + r);
        else if (height == 24)
            strip_forward(3, panel, width, x, y + r);
        else if (height == 16)
            strip_forward(2, panel, width, x, y + r);
        else
            strip_forward(1, panel, width, x, y + r);
        panel += (size_t)height * (size_t)width;
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

static void kernel_panel_backward(const float *panel, int first, int last, int columns, const float *y,
                                  float *sums, float *x)
{
    memset(sums, 0, 8 * sizeof *sums * (size_t)(columns + 3));
    for (int r = first; r < last; r += PL_STRIP) {
        int height = PL_STRIP_ROWS(smaller(last - r, PL_STRIP)), width = smaller(columns, r + PL_STRIP);
        if (height == 32)
            strip_backward(4, panel, width, y + r, sums);
        else if (height == 24)
            strip_backward(3, panel, width, y + r, sums);
        else if (height == 16)
            strip_backward(2, panel, width, y + r, sums);
        else
            strip_backward(1, panel, width, y + r, sums);
        panel += (size_t)height * (size_t)width;
    }
    add_up(sums, columns, x);
}

#endif
