/* A sparsity pattern as bodies have it: the cells of a cube of side^3 vertices. */
#ifndef PL_TEST_COMMON_PATTERN_H
#define PL_TEST_COMMON_PATTERN_H

#include "common.h"

#include "linalg/sparse.h"

/* Returns the cells' vertices [*count, 8], to be freed. */
static inline int *test_cube_pattern(pl_context *ctx, int side, pl_pattern *out, int *count)
{
    int *cells = malloc(8 * (size_t)((side - 1) * (side - 1) * (side - 1)) * sizeof *cells);
    assert_non_null(cells);
    *count = 0;
    for (int x = 0; x + 1 < side; x++)
        for (int y = 0; y + 1 < side; y++)
            for (int z = 0; z + 1 < side; z++, ++*count)
                for (int k = 0; k < 8; k++)
                    cells[8 * *count + k] =
                        (x + (k & 1)) + side * ((y + (k >> 1 & 1)) + side * (z + (k >> 2)));
    pl_stencils stencils = {.count = *count, .width = 8, .index = cells};
    assert_ok(ctx, pl_pattern_create(ctx, side * side * side, 1, &stencils, out));
    return cells;
}

/* A discrete Laplacian of a pattern plus `shift`, its blocks turned a little so that they are full:
 * [nnz, 9], to be freed. */
static inline double *test_laplacian_of(const pl_pattern *p, double shift)
{
    double *values = calloc((size_t)(9 * p->nnz), sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < p->n; i++) {
        double *diagonal = values + 9 * p->diag[i];
        for (int k = p->row[i]; k < p->row[i + 1]; k++) {
            if (p->col[k] == i)
                continue;
            for (int r = 0; r < 9; r++)
                values[9 * k + r] = r % 4 == 0 ? -1 : 0.1;
            for (int r = 0; r < 9; r++)
                diagonal[r] += r % 4 == 0 ? 1 : -0.1;
        }
        for (int r = 0; r < 9; r += 4)
            diagonal[r] += shift;
    }
    return values;
}

/* Of the cells of a cube. */
static inline double *test_laplacian(pl_context *ctx, int side, double shift, pl_pattern *out)
{
    int count;
    free(test_cube_pattern(ctx, side, out, &count));
    return test_laplacian_of(out, shift);
}

/* The largest difference over the largest of b. */
static inline double test_relative_difference(int count, const double *a, const double *b)
{
    double worst = 0, size = 0;
    for (int i = 0; i < count; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return worst / size;
}

#endif
