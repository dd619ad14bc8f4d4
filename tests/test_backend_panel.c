/* Products with panels in single and half precision, by every table of kernels that runs here, against
 * double. */
#include "common.h"

#include "backend/backend.h"

enum { ROWS = 75, COLUMNS = 45 };

typedef struct sample {
    double dense[ROWS][COLUMNS];
    float strips[PL_STRIP_ROWS(ROWS) * COLUMNS];
    pl_half halves[PL_STRIP_ROWS(ROWS) * COLUMNS];
    float x[COLUMNS + 3], y[PL_STRIP_ROWS(ROWS)];
} sample;

/* Random values below the diagonal; what the strips leave out is zero. */
static void fill(sample *s, int rows, int columns)
{
    uint64_t seed = (uint64_t)(100 * rows + columns);
    float *to = s->strips;
    memset(s, 0, sizeof *s);
    for (int j = 0; j < columns; j++) {
        s->x[j] = (float)test_random(&seed);
        for (int i = j; i < rows; i++)
            s->dense[i][j] = ldexp(floor(ldexp(test_random(&seed), 9)), -9); /* fits half precision */
    }
    for (int i = 0; i < rows; i++)
        s->y[i] = (float)test_random(&seed);
    for (int r = 0; r < rows; r += PL_STRIP) {
        int height = rows - r < PL_STRIP ? rows - r : PL_STRIP;
        for (int j = 0; j < columns && j < r + PL_STRIP; j++, to += PL_STRIP_ROWS(height))
            for (int i = 0; i < height; i++)
                to[i] = (float)s->dense[r + i][j];
    }
}

/* In one piece, and in two. */
static void check(const pl_backend *backend, bool half, sample *s, int rows, int columns, int cut)
{
    float y[PL_STRIP_ROWS(ROWS)], x[COLUMNS + 3] = {0}, sums[8 * (COLUMNS + 3)];
    size_t from = 0;
    if (half)
        backend->half->round(s->strips, sizeof s->strips / sizeof *s->strips, s->halves);
    for (int first = 0, last = cut; first < rows; first = last, last = rows) {
        float part[COLUMNS + 3];
        if (half) {
            backend->half->forward(s->halves + from, first, last, columns, s->x, y);
            backend->half->backward(s->halves + from, first, last, columns, s->y, sums, part);
        } else {
            backend->panel_forward(s->strips + from, first, last, columns, s->x, y);
            backend->panel_backward(s->strips + from, first, last, columns, s->y, sums, part);
        }
        for (int j = 0; j < columns; j++)
            x[j] += part[j];
        for (int r = first; r < last; r += PL_STRIP)
            from += (size_t)(PL_STRIP * (columns < r + PL_STRIP ? columns : r + PL_STRIP));
    }
    /* Rounding of sums of at most 75 products below 1. */
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int j = 0; j < columns; j++)
            sum += s->dense[i][j] * s->x[j];
        assert_close(y[i], sum, 5e-6);
    }
    for (int j = 0; j < columns; j++) {
        double sum = 0;
        for (int i = 0; i < rows; i++)
            sum += s->dense[i][j] * s->y[i];
        assert_close(x[j], sum, 5e-6);
    }
}

static void test_products(void **state)
{
    (void)state;
    static sample s;
    const pl_backend *list[PL_BACKEND_MAX];
    int count = pl_backend_list(list);
    for (int columns = 1; columns <= COLUMNS; columns++)
        for (int rows = columns; rows <= ROWS; rows++) {
            fill(&s, rows, columns);
            for (int b = 0; b < count; b++)
                for (int half = 0; half <= (list[b]->half != NULL); half++) {
                    check(list[b], half, &s, rows, columns, rows);
                    if (rows > PL_STRIP)
                        check(list[b], half, &s, rows, columns, PL_STRIP);
                }
        }
}

/* To the nearest of 11 digits; what is too large for the range is infinite. */
static void test_rounding(void **state)
{
    (void)state;
    const pl_backend *list[PL_BACKEND_MAX];
    int count = pl_backend_list(list);
    const float from[8] = {0, 1, -1, 1 + 0x1p-10f, 1 + 0x1p-12f, 0x1p-24f, 65504, 1e6f};
    const pl_half expected[8] = {0, 0x3c00, 0xbc00, 0x3c01, 0x3c00, 1, 0x7bff, 0x7c00};
    for (int b = 0; b < count; b++) {
        pl_half to[8];
        if (!list[b]->half)
            continue;
        list[b]->half->round(from, 8, to);
        assert_memory_equal(to, expected, sizeof to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_rounding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
