/*
 * Dense matrices in half precision (backend/panel_kernel.h), to be multiplied by or solved with many
 * times, roughly: rectangles, and lower triangles T as panels [T11^-1; T21] (panel.h), so that solves
 * are products too. Threads share rows; results are the same bits for any number of them.
 *
 * Everything is scaled by powers of two to fit the range of half precision.
 */
#ifndef PL_STRIPS_H
#define PL_STRIPS_H

#include "backend/backend.h"

/* Whether the processor has what it takes. */
bool pl_strips_supported(void);

typedef struct pl_rectangle {
    const pl_half_kernels *half;
    int rows, columns;
    pl_half *value;
    float *scale;    /* [rows] what each was divided by */
    float *y, *sums; /* scratch of products */
} pl_rectangle;

/* Room for up to this many values, rows and columns. */
pl_status pl_rectangle_reserve(pl_context *ctx, pl_rectangle *r, size_t values, int rows, int columns);
void pl_rectangle_free(pl_context *ctx, pl_rectangle *r);
/* a [rows, columns] row-major. */
void pl_rectangle_store(const pl_context *ctx, pl_rectangle *r, int rows, int columns, const float *a);
/* y -= A x and x -= A^T y */
void pl_rectangle_subtract(const pl_context *ctx, pl_rectangle *r, const float *x, float *y);
void pl_rectangle_subtract_transposed(const pl_context *ctx, pl_rectangle *r, const float *y, float *x);

typedef struct pl_triangle {
    const pl_half_kernels *half;
    int size;
    int most; /* columns of a panel */
    pl_half *value;
    float *block, *inverse; /* T11 of the panel that is being stored */
    float *x, *y, *sums;    /* scratch of products */
} pl_triangle;

/* Where T is read from: element (i, j), j <= i, is row_scale[i] a[i row + j column] column_scale[j], on
 * the diagonal row_scale[i] column_scale[i] alone if it is `unit`. */
typedef struct pl_triangle_source {
    const float *a;
    size_t row, column;
    const float *row_scale, *column_scale;
    bool unit;
} pl_triangle_source;

pl_status pl_triangle_reserve(pl_context *ctx, pl_triangle *t, int size);
void pl_triangle_free(pl_context *ctx, pl_triangle *t);
/* False if something is out of range: then the triangle is not to be used. */
bool pl_triangle_store(const pl_context *ctx, pl_triangle *t, int size, pl_triangle_source from);
/* x <- T^-1 x and x <- T^-T x */
void pl_triangle_solve(const pl_context *ctx, pl_triangle *t, float *x);
void pl_triangle_solve_transposed(const pl_context *ctx, pl_triangle *t, float *x);

#endif
