/* Sums by blocks: those of plain loops, and the same bits for any number of threads. */
#include "common.h"

#include "linalg/blocks.h"

enum { LONGEST = 40000, MOST = 37 };

static void test_sums(void **state)
{
    (void)state;
    const int sizes[] = {1, 511, 512, 3001, LONGEST}, counts[] = {1, 5, 16, 17, MOST};
    double *vectors = calloc(MOST * LONGEST, sizeof *vectors), *x = calloc(LONGEST, sizeof *x);
    double *kept = calloc(LONGEST, sizeof *kept), *y = calloc(LONGEST, sizeof *y);
    uint64_t seed = 7;
    for (int i = 0; i < MOST * LONGEST; i++)
        vectors[i] = test_random(&seed);
    for (int i = 0; i < LONGEST; i++)
        x[i] = test_random(&seed);
    for (size_t a = 0; a < sizeof sizes / sizeof *sizes; a++)
        for (size_t b = 0; b < sizeof counts / sizeof *counts; b++) {
            int size = sizes[a], count = counts[b];
            double first[MOST], dots[MOST];
            for (int threads = 1; threads <= 3; threads++) {
                pl_context *ctx = test_context(threads);
                pl_dots(ctx, size, count, vectors, x, dots);
                memcpy(y, x, sizeof *y * (size_t)size);
                pl_subtract(ctx, size, count, vectors, dots, y);
                if (threads == 1) {
                    memcpy(first, dots, sizeof dots);
                    memcpy(kept, y, sizeof *y * (size_t)size);
                }
                assert_memory_equal(dots, first, sizeof *dots * (size_t)count);
                assert_memory_equal(y, kept, sizeof *y * (size_t)size);
                pl_context_destroy(ctx);
            }
            for (int i = 0; i < count; i++) {
                double sum = 0;
                for (int e = 0; e < size; e++)
                    sum += vectors[i * size + e] * x[e];
                assert_close(dots[i], sum, 1e-15 * size);
            }
            for (int e = 0; e < size; e += 97) {
                double left = x[e], scale = fabs(x[e]);
                for (int i = 0; i < count; i++) {
                    left -= dots[i] * vectors[i * size + e];
                    scale += fabs(dots[i]);
                }
                assert_close(y[e], left, 1e-15 * scale);
            }
        }
    free(vectors), free(x), free(kept), free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
