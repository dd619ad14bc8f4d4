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

#endif
