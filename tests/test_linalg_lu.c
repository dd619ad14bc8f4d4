/* Dense LU against the system it factors, on one thread and on several. */
#include "common.h"

#include "linalg/lu.h"

#include <lapacke.h>

/* Random with rows of very different size: rows are exchanged. */
static void make(int size, double *a)
{
    uint64_t seed = 7;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            a[size * j + i] = (test_random(&seed) - 0.5) * pow(10, -(i * 7 % 5));
}

static void test_factors_solve(void **state)
{
    (void)state;
    pl_context *one = test_context(1), *two = test_context(3);
    const int sizes[] = {1, 2, 95, 96, 97, 300, 450}; /* blocks of 96; threads from 400 on */
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        int size = sizes[t];
        size_t entries = (size_t)size * (size_t)size;
        double *a = malloc(sizeof(double) * entries), *lu = malloc(sizeof(double) * entries),
               *again = malloc(sizeof(double) * entries), *x = malloc(sizeof(double) * (size_t)size);
        int *pivot = malloc(sizeof(int) * (size_t)size), *other = malloc(sizeof(int) * (size_t)size);
        make(size, a);
        memcpy(lu, a, sizeof(double) * entries);
        memcpy(again, a, sizeof(double) * entries);
        assert_true(pl_lu_factor(one, size, lu, pivot));
        assert_true(pl_lu_factor(two, size, again, other));
        assert_memory_equal(lu, again, sizeof(double) * entries);
        assert_memory_equal(pivot, other, sizeof(int) * (size_t)size);
        for (int i = 0; i < size; i++)
            x[i] = cos(i);
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', size, 1, lu, size, pivot, x, size);
        /* Backward stable: residuals are rounding of the row's terms. */
        for (int i = 0; i < size; i++) {
            double sum = 0, terms = fabs(cos(i));
            for (int j = 0; j < size; j++) {
                sum += a[size * j + i] * x[j];
                terms += fabs(a[size * j + i] * x[j]);
            }
            assert_true(fabs(sum - cos(i)) <= 1e-12 * terms * size);
        }
        free(a), free(lu), free(again), free(x), free(pivot), free(other);
    }
    pl_context_destroy(one);
    pl_context_destroy(two);
}

/* The same in single precision: the answer is that of double precision as far as it goes. */
static void test_single(void **state)
{
    (void)state;
    enum { SIZE = 450 };
    pl_context *one = test_context(1), *two = test_context(3);
    size_t entries = (size_t)SIZE * SIZE;
    double *a = malloc(sizeof(double) * entries);
    float *lu = malloc(sizeof(float) * entries), *again = malloc(sizeof(float) * entries), x[SIZE];
    int pivot[SIZE], other[SIZE];
    make(SIZE, a);
    for (size_t k = 0; k < entries; k++)
        lu[k] = again[k] = (float)a[k];
    assert_true(pl_lu_factor_single(one, SIZE, lu, pivot));
    assert_true(pl_lu_factor_single(two, SIZE, again, other));
    assert_memory_equal(lu, again, sizeof(float) * entries);
    assert_memory_equal(pivot, other, sizeof pivot);
    for (int i = 0; i < SIZE; i++)
        x[i] = cosf((float)i);
    LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, 'N', SIZE, 1, lu, SIZE, pivot, x, SIZE);
    for (int i = 0; i < SIZE; i++) {
        double sum = 0, terms = fabs(cos(i));
        for (int j = 0; j < SIZE; j++) {
            sum += a[SIZE * j + i] * (double)x[j];
            terms += fabs(a[SIZE * j + i] * (double)x[j]);
        }
        assert_true(fabs(sum - cos(i)) <= 1e-6 * terms * SIZE);
    }
    free(a), free(lu), free(again);
    pl_context_destroy(one);
    pl_context_destroy(two);
}

static void test_singular(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    enum { SIZE = 120 };
    double *a = calloc(SIZE * SIZE, sizeof *a);
    int pivot[SIZE];
    make(SIZE, a);
    for (int i = 0; i < SIZE; i++)
        a[SIZE * 110 + i] = 0; /* in the second block */
    assert_false(pl_lu_factor(ctx, SIZE, a, pivot));
    free(a);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors_solve),
        cmocka_unit_test(test_single),
        cmocka_unit_test(test_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
