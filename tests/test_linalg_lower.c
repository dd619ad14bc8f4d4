/* Inverses and squares of dense triangles, on one thread and on several. */
#include "common.h"

#include "linalg/lower.h"

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
    /* Some 15 roundings of the terms of a sum. */
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0, terms = 0;
            for (int k = 0; k <= i; k++) {
                double term = (double)l[STRIDE * k + i] * (double)x[SIZE * j + k];
                sum += term, terms += fabs(term);
            }
            assert_close(sum, i == j, 1e-6 * terms);
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
            assert_close((double)g[STRIDE * j + i], sum, 1e-6 * terms);
        }
    free(l), free(x), free(again), free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lower)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
