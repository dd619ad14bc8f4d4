/* Rectangles and triangles in half precision: to three digits, in any unit, whatever the threads; and
 * what does not fit its range is told. */
#include "common_alloc.h"

#include "linalg/strips.h"

enum { MOST = 1100 };

static float a[MOST * MOST], ones[MOST];

/* The largest error over what rounding to 2^-12 may do to a row. */
static double error_of_product(int rows, int columns, bool transposed, const float *x, const float *y)
{
    double worst = 0;
    for (int i = 0; i < (transposed ? columns : rows); i++) {
        double sum = 0, all = 0;
        for (int j = 0; j < (transposed ? rows : columns); j++) {
            double value = transposed ? a[j * columns + i] : a[i * columns + j];
            sum += value * x[j];
            all += fabs(value * x[j]);
        }
        worst = fmax(worst, fabs(-y[i] - sum) / all);
    }
    return worst;
}

static void test_rectangle(void **state)
{
    (void)state;
    if (!pl_strips_supported())
        skip();
    const int sizes[][2] = {{1, 1}, {3, 40}, {40, 3}, {33, 65}, {650, 300}, {100, 1100}};
    static float x[MOST], y[MOST], first[6][2][MOST];
    for (int threads = 1; threads <= 3; threads++)
        for (int k = 0; k < 6; k++) {
            pl_context *ctx = test_context(threads);
            pl_rectangle r = {0};
            int rows = sizes[k][0], columns = sizes[k][1];
            uint64_t seed = 5;
            for (int i = 0; i < rows * columns; i++) /* rows in units of their own */
                a[i] = (float)(test_random(&seed) * pow(10, i / columns % 21 - 10));
            assert_ok(ctx, pl_rectangle_reserve(ctx, &r, (size_t)(rows * columns), rows, columns));
            pl_rectangle_store(ctx, &r, rows, columns, a);
            for (int transposed = 0; transposed < 2; transposed++) {
                for (int i = 0; i < MOST; i++)
                    x[i] = (float)(test_random(&seed) * (transposed ? pow(10, 10 - i % 21) : 1));
                memset(y, 0, sizeof y);
                if (transposed)
                    pl_rectangle_subtract_transposed(ctx, &r, x, y);
                else
                    pl_rectangle_subtract(ctx, &r, x, y);
                assert_true(error_of_product(rows, columns, transposed, x, y) <= 5e-4);
                if (threads == 1)
                    memcpy(first[k][transposed], y, sizeof y);
                assert_memory_equal(first[k][transposed], y, sizeof y);
            }
            pl_rectangle_free(ctx, &r);
            pl_context_destroy(ctx);
        }
}

/* Lower triangles of random numbers, well conditioned, read by rows or by columns, scaled or not. */
static void check_triangle(int threads, int size, bool by_columns, bool unit, float *y)
{
    pl_context *ctx = test_context(threads);
    pl_triangle t = {0};
    static float scale[MOST], x[MOST];
    size_t row = by_columns ? 1 : (size_t)size, column = by_columns ? (size_t)size : 1;
    uint64_t seed = 11;
    for (int i = 0; i < size * size; i++)
        a[i] = (float)(0.5 * test_random(&seed) / sqrt(size));
    for (int i = 0; i < size; i++) {
        scale[i] = ldexpf(1, 12 - i % 25);
        x[i] = (float)test_random(&seed);
        a[i * (size + 1)] = unit ? 1 : (float)(1 + 0.3 * test_random(&seed));
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            a[(size_t)i * row + (size_t)j * column] /= unit ? 1 : scale[i] * scale[j];
    if (unit)
        for (int i = 0; i < size; i++)
            a[i * (size + 1)] = NAN; /* not to be read */
    const float *by = unit ? ones : scale;
    assert_ok(ctx, pl_triangle_reserve(ctx, &t, size));
    assert_true(pl_triangle_store(ctx, &t, size, (pl_triangle_source){a, row, column, by, by, unit}));
    for (int transposed = 0; transposed < 2; transposed++, y += MOST) {
        memcpy(y, x, sizeof x);
        if (transposed)
            pl_triangle_solve_transposed(ctx, &t, y);
        else
            pl_triangle_solve(ctx, &t, y);
        for (int i = 0; i < size; i++) {
            double sum = 0;
            for (int j = transposed ? i : 0; j <= (transposed ? size - 1 : i); j++) {
                size_t at = transposed ? (size_t)j * row + (size_t)i * column
                                       : (size_t)i * row + (size_t)j * column;
                sum += (unit && i == j ? 1 : (double)a[at] * by[i] * by[j]) * y[j];
            }
            assert_close(sum, x[i], 2e-3);
        }
    }
    pl_triangle_free(ctx, &t);
    pl_context_destroy(ctx);
}

static void test_triangle(void **state)
{
    (void)state;
    if (!pl_strips_supported())
        skip();
    const int sizes[] = {1, 8, 33, 300, 700, 1100};
    static float first[2 * MOST], y[2 * MOST];
    for (int i = 0; i < MOST; i++)
        ones[i] = 1;
    for (int k = 0; k < 6; k++)
        for (int form = 0; form < 4; form++)
            for (int threads = 1; threads <= 3; threads += 2) {
                check_triangle(threads, sizes[k], form & 1, form & 2, y);
                if (threads == 1)
                    memcpy(first, y, sizeof y);
                assert_memory_equal(first, y, sizeof y);
            }
}

static void test_range(void **state)
{
    (void)state;
    if (!pl_strips_supported())
        skip();
    pl_context *ctx = test_context(1);
    pl_triangle t = {0};
    const float bad[] = {1e6F, INFINITY, NAN};
    for (int i = 0; i < MOST; i++)
        ones[i] = 1;
    assert_ok(ctx, pl_triangle_reserve(ctx, &t, 700));
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 700 * 700; i++)
            a[i] = i % 701 == 0;
        assert_true(
            pl_triangle_store(ctx, &t, 700, (pl_triangle_source){a, 700, 1, ones, ones, false}));
        a[600 * 700 + 20] = bad[k];
        assert_false(
            pl_triangle_store(ctx, &t, 700, (pl_triangle_source){a, 700, 1, ones, ones, false}));
    }
    pl_triangle_free(ctx, &t);
    pl_context_destroy(ctx);
}

static pl_status run(pl_context *ctx, void *user)
{
    (void)user;
    pl_triangle t = {0};
    pl_rectangle r = {0};
    pl_status status = pl_triangle_reserve(ctx, &t, 9);
    if (status == PL_OK)
        status = pl_rectangle_reserve(ctx, &r, 9, 3, 3);
    pl_triangle_free(ctx, &t);
    pl_rectangle_free(ctx, &r);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(run, NULL) >= 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rectangle),
        cmocka_unit_test(test_triangle),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
