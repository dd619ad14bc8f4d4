/* Dense LU against the system it factors, inverses of triangles, on one thread and on several. */
#include "common.h"

#include "linalg/lu.h"

#include <lapacke.h>

/* Random with rows of very different size: rows are exchanged. */
static void make(int size, float *a)
{
    uint64_t seed = 7;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            a[size * j + i] = (float)((test_random(&seed) - 0.5) * pow(10, -(i * 7 % 5)));
}

static void test_factors_solve(void **state)
{
    (void)state;
    pl_context *one = test_context(1), *two = test_context(3);
    const int sizes[] = {1, 2, 95, 96, 97, 300, 450}; /* blocks of 96; threads from 400 on */
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        int size = sizes[t];
        size_t entries = (size_t)size * (size_t)size;
        float *a = malloc(sizeof(float) * entries), *lu = malloc(sizeof(float) * entries),
              *again = malloc(sizeof(float) * entries), *x = malloc(sizeof(float) * (size_t)size);
        int *pivot = malloc(sizeof(int) * (size_t)size), *other = malloc(sizeof(int) * (size_t)size);
        make(size, a);
        memcpy(lu, a, sizeof(float) * entries);
        memcpy(again, a, sizeof(float) * entries);
        assert_true(pl_lu_factor(one, size, lu, pivot));
        assert_true(pl_lu_factor(two, size, again, other));
        assert_memory_equal(lu, again, sizeof(float) * entries);
        assert_memory_equal(pivot, other, sizeof(int) * (size_t)size);
        for (int i = 0; i < size; i++)
            x[i] = (float)cos(i);
        LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, 'N', size, 1, lu, size, pivot, x, size);
        /* Backward stable: residuals are some 20 roundings of the row's terms. */
        double worst = 0;
        for (int i = 0; i < size; i++) {
            double sum = 0, terms = fabs(cos(i));
            for (int j = 0; j < size; j++) {
                double term = (double)a[size * j + i] * (double)x[j];
                sum += term;
                terms += fabs(term);
            }
            worst = fmax(worst, fabs(sum - cos(i)) / terms);
        }
        assert_true(worst <= 2e-6);
        free(a), free(lu), free(again), free(x), free(pivot), free(other);
    }
    pl_context_destroy(one);
    pl_context_destroy(two);
}

static void test_singular(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    enum { SIZE = 120 };
    float *a = calloc(SIZE * SIZE, sizeof *a);
    int pivot[SIZE];
    make(SIZE, a);
    for (int i = 0; i < SIZE; i++)
        a[SIZE * 110 + i] = 0; /* in the second block */
    assert_false(pl_lu_factor(ctx, SIZE, a, pivot));
    free(a);
    pl_context_destroy(ctx);
}

/* L L^-1 is the identity to rounding, above the diagonal there is nothing, threads do not show. */
static void test_lower(void **state)
{
    (void)state;
    enum { SIZE = 230, STRIDE = SIZE + 7 };
    uint64_t seed = 3;
    float *l = calloc(SIZE * STRIDE, sizeof *l), *x = malloc(sizeof *x * SIZE * SIZE),
          *again = malloc(sizeof *x * SIZE * SIZE);
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < STRIDE; i++)
            l[STRIDE * j + i] = i == j ? 1 : (float)(0.05 * (test_random(&seed) - 0.5));
    pl_lower_invert(1, SIZE, l, STRIDE, x);
    pl_lower_invert(3, SIZE, l, STRIDE, again);
    assert_memory_equal(x, again, sizeof *x * SIZE * SIZE);
    /* Some 30 roundings of the terms of a sum. */
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0, terms = 0;
            for (int k = 0; k <= i; k++) {
                double term = (double)l[STRIDE * k + i] * (double)x[SIZE * j + k];
                sum += term, terms += fabs(term);
            }
            assert_close(sum, i == j, 2e-6 * terms);
            assert_true(i >= j || x[SIZE * j + i] == 0);
        }
    /* X^T X, its lower triangle. */
    float *g = calloc(SIZE * STRIDE, sizeof *g);
    pl_lower_square(3, SIZE, x, SIZE, g, STRIDE);
    for (int j = 0; j < SIZE; j++)
        for (int i = j; i < SIZE; i++) {
            double sum = 0, terms = 0;
            for (int k = i; k < SIZE; k++) {
                double term = (double)x[SIZE * i + k] * (double)x[SIZE * j + k];
                sum += term, terms += fabs(term);
            }
            assert_close((double)g[STRIDE * j + i], sum, 2e-6 * terms);
        }
    free(l), free(x), free(again), free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors_solve),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_lower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
