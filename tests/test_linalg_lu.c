/* Dense LU against the system it factors, on one thread and on several. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors_solve),
        cmocka_unit_test(test_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
