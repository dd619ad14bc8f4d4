/* Products with symmetric matrices: to six digits, in half precision to three, in any unit, whatever
 * the threads; stored anew, larger and smaller. */
#include "common.h"

#include "linalg/symmetric.h"

enum { MOST = 700 };

/* Random, the diagonal three times as large; units differ from row to row by what `spread` says. */
static void fill(int size, double spread, float *a)
{
    uint64_t seed = (uint64_t)size;
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++) {
            double unit = pow(spread, (double)(i + j) / size), value = test_random(&seed);
            a[i * size + j] = a[j * size + i] = (float)(unit * (i == j ? 3 + value : value));
        }
}

/* The largest error of a row over the sum of what it adds up. */
static double error_of(int size, const float *a, const float *x, const float *y)
{
    double worst = 0;
    for (int i = 0; i < size; i++) {
        double sum = 0, all = 0;
        for (int j = 0; j < size; j++) {
            sum += (double)a[i * size + j] * x[j];
            all += fabs((double)a[i * size + j] * x[j]);
        }
        worst = fmax(worst, fabs(y[i] - sum) / all);
    }
    return worst;
}

static void check(bool half)
{
    static float a[MOST * MOST], x[MOST], y[3][MOST];
    const int sizes[] = {1, 3, 8, 31, 32, 33, 100, 333, 700, 90};
    for (int threads = 1; threads <= 3; threads++) {
        pl_context *ctx = test_context(threads);
        pl_symmetric s = pl_symmetric_create(half);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (double spread = 1; spread < 1e15; spread *= 1e7) {
                int size = sizes[k];
                uint64_t seed = 3;
                fill(size, spread, a);
                for (int i = 0; i < size; i++)
                    x[i] = (float)(test_random(&seed) / pow(spread, (double)i / size));
                assert_ok(ctx, pl_symmetric_store(ctx, &s, size, a));
                pl_symmetric_multiply(ctx, &s, x, y[threads - 1]);
                double error = error_of(size, a, x, y[threads - 1]);
                assert_true(error <=
                            (s.half ? 3e-4 : 1e-6)); /* of each value 2^-12 or 2^-24, and sums */
            }
        memset(y[threads - 1] + 90, 0, sizeof y[0] - 90 * sizeof(float));
        assert_memory_equal(y[threads - 1], y[0], sizeof y[0]);
        pl_symmetric_free(ctx, &s);
        pl_context_destroy(ctx);
    }
}

static void test_single(void **state)
{
    (void)state;
    check(false);
}

static void test_half(void **state)
{
    (void)state;
    check(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_single), cmocka_unit_test(test_half)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
