/* Products with panels in single precision, by every table of kernels that runs here, against double.
 */
#include "common.h"

#include "backend/backend.h"

enum { ROWS = 75, COLUMNS = 45 };

typedef struct sample {
    double dense[ROWS][COLUMNS];
    float strips[PL_STRIP_ROWS(ROWS) * COLUMNS];
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
            s->dense[i][j] = (float)test_random(&seed);
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
static void check(const pl_backend *backend, const sample *s, int rows, int columns, int cut)
{
    float y[PL_STRIP_ROWS(ROWS)], x[COLUMNS + 3] = {0}, sums[8 * (COLUMNS + 3)];
    const float *from = s->strips;
    for (int first = 0, last = cut; first < rows; first = last, last = rows) {
        float part[COLUMNS + 3];
        backend->panel_forward(from, first, last, columns, s->x, y);
        backend->panel_backward(from, first, last, columns, s->y, sums, part);
        for (int j = 0; j < columns; j++)
            x[j] += part[j];
        for (int r = first; r < last; r += PL_STRIP)
            from += PL_STRIP * (columns < r + PL_STRIP ? columns : r + PL_STRIP);
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
            for (int b = 0; b < count; b++) {
                check(list[b], &s, rows, columns, rows);
                if (rows > PL_STRIP)
                    check(list[b], &s, rows, columns, PL_STRIP);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
