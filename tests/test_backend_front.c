/* Products of strips, factors of small squares and sums of fronts, by every table of kernels that runs
 * here, against double. */
#include "common.h"

#include "backend/backend.h"

enum { DEPTH = 40, SIZE = PL_STRIP * PL_STRIP };

static void fill(uint64_t *seed, int count, float *x)
{
    for (int i = 0; i < count; i++)
        x[i] = (float)test_random(seed);
}

/* Both layouts of b, from something or nothing, added or taken off, all heights and some widths. */
static void test_product(void **state)
{
    (void)state;
    static float a[PL_STRIP * DEPTH], b[PL_STRIP * DEPTH], from[SIZE];
    const pl_backend *list[PL_BACKEND_MAX];
    int count = pl_backend_list(list);
    uint64_t seed = 1;
    fill(&seed, PL_STRIP * DEPTH, a);
    fill(&seed, PL_STRIP * DEPTH, b);
    fill(&seed, SIZE, from);
    for (int way = 0; way < 16 * count; way++)
        for (int rows = 1; rows <= PL_STRIP; rows++)
            for (int columns = 1; columns <= PL_STRIP; columns += 1 + columns / 3) {
                bool turned = way & 1, started = way & 2, triangular = (way & 4) && !turned;
                bool subtract = way & 8;
                float out[SIZE + PL_STRIP];
                pl_strip_product p = {.rows = rows,
                                      .columns = columns,
                                      .depth = turned ? PL_STRIP : DEPTH,
                                      .subtract = subtract,
                                      .turned = turned,
                                      .triangular = triangular,
                                      .a = a,
                                      .a_stride = PL_STRIP,
                                      .b = b,
                                      .from = started ? from : NULL,
                                      .from_stride = PL_STRIP,
                                      .out = out,
                                      .out_stride = (size_t)rows};
                /* What is below the diagonal of b may count or not: that it is zero is the caller's. */
                float kept[PL_STRIP * DEPTH];
                memcpy(kept, b, sizeof b);
                for (int k = 0; triangular && k < DEPTH; k++)
                    for (int j = 0; j < PL_STRIP && j < k; j++)
                        b[PL_STRIP * k + j] = 0;
                list[way / 16]->strip_product(&p);
                for (int j = 0; j < columns; j++)
                    for (int i = 0; i < rows; i++) {
                        double sum = 0;
                        for (int k = 0; k < p.depth; k++)
                            sum += (double)a[PL_STRIP * k + i] *
                                   (double)b[turned ? PL_STRIP * j + k : PL_STRIP * k + j];
                        sum = (started ? (double)from[PL_STRIP * j + i] : 0) + (subtract ? -sum : sum);
                        assert_close((double)out[rows * j + i], sum, 1e-5);
                    }
                memcpy(b, kept, sizeof b);
            }
}

static void test_square(void **state)
{
    (void)state;
    static float square[SIZE], l[SIZE], x[SIZE];
    const pl_backend *list[PL_BACKEND_MAX];
    int count = pl_backend_list(list);
    uint64_t seed = 2;
    for (int size = 1; size <= PL_STRIP; size++)
        for (int b = 0; b < count; b++) {
            fill(&seed, SIZE, square);
            for (int k = 0; k < size; k++)
                square[size * k + k] += 1 + (float)size;
            assert_true(list[b]->square_factor(size, square, (size_t)size, l, x));
            for (int i = 0; i < size; i++)
                for (int j = 0; j <= i; j++) {
                    double of_l = 0, of_x = 0;
                    for (int k = 0; k < size; k++) {
                        of_l += (double)l[PL_STRIP * k + i] * (double)l[PL_STRIP * k + j];
                        of_x += (double)l[PL_STRIP * k + i] * (double)x[PL_STRIP * j + k];
                    }
                    assert_close(of_l, (double)square[size * j + i], 2e-6 * size);
                    assert_close(of_x, i == j, 1e-6);
                }
            for (int j = 0; j < size; j++)
                for (int i = 0; i < PL_STRIP; i++)
                    assert_true((i >= j && i < size) ||
                                (l[PL_STRIP * j + i] == 0 && x[PL_STRIP * j + i] == 0));
            for (int bad = 0; bad < 3; bad++) {
                static const float pivots[3] = {-1, 0, NAN};
                square[(size + 1) * (size - 1)] = pivots[bad];
                assert_false(list[b]->square_factor(size, square, (size_t)size, l, x));
            }
        }
}

/* Five vertices with two gaps among eight of the parent, of which two are left out. */
static void test_sum(void **state)
{
    (void)state;
    enum { COUNT = 5, FROM = 3 * COUNT, ABOVE = 6, TO = 18 };
    static const int position[COUNT] = {0, 6, 9, 15, 18}, run_end[COUNT] = {1, 3, 3, 5, 5};
    const pl_backend *list[PL_BACKEND_MAX];
    int count = pl_backend_list(list);
    for (int b = 0; b < count; b++) {
        float from[FROM * FROM], to[TO * TO] = {0};
        uint64_t seed = 3;
        fill(&seed, FROM * FROM, from);
        pl_front_sum sum = {COUNT, position, run_end, from, FROM, to, ABOVE, TO};
        list[b]->front_add(&sum, 1, COUNT);
        for (int j = 3; j < FROM; j++)
            for (int i = j; i < FROM; i++) {
                int row = position[i / 3] + i % 3 - ABOVE, column = position[j / 3] + j % 3 - ABOVE;
                assert_true(to[TO * column + row] == from[FROM * j + i]);
                to[TO * column + row] = 0;
            }
        for (int j = 0; j < TO; j++)
            for (int i = j; i < TO; i++)
                assert_true(to[TO * j + i] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_product), cmocka_unit_test(test_square),
                                       cmocka_unit_test(test_sum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
