/* One dense front of any shape: its factor, the inverse of its square, what it leaves; the same by any
 * number of threads. */
#include "common.h"

#include "linalg/front.h"

typedef struct sample {
    pl_panel panel;
    float *room, *rest, *store;
    double *lower; /* [height, columns] of the same front in double precision */
} sample;

static void make(sample *s, int columns, int below)
{
    uint64_t seed = (uint64_t)(1000 * columns + below);
    int height = columns + below;
    s->panel = (pl_panel){.columns = columns, .below = below, .height = height};
    s->room = calloc(pl_front_room(&s->panel), sizeof *s->room);
    s->rest = calloc(pl_front_rest(&s->panel) + 1, sizeof *s->rest);
    s->store = calloc(pl_panel_values(&s->panel), sizeof *s->store);
    s->lower = calloc((size_t)(height * columns), sizeof *s->lower);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < height; i++)
            s->room[height * j + i] = (float)test_random(&seed) + (i == j ? 2 * (float)columns : 0);
    for (int j = 0; j < columns; j++)
        for (int i = j; i < height; i++) {
            double sum = (double)s->room[height * j + i];
            for (int k = 0; k < j; k++)
                sum -= s->lower[height * k + i] * s->lower[height * k + j];
            s->lower[height * j + i] = i == j ? sqrt(sum) : sum / s->lower[height * j + j];
        }
}

static void discard(sample *s)
{
    free(s->room), free(s->rest), free(s->store), free(s->lower);
}

/* Row r of the panel (panel.h) in column j. */
static double stored(const sample *s, int r, int j)
{
    int first = r / PL_STRIP * PL_STRIP, rows = pl_panel_rows(&s->panel, first);
    return (double)s->store[pl_panel_offset(&s->panel, first) + (size_t)(rows * j + r - first)];
}

static void check(const sample *s)
{
    int columns = s->panel.columns, below = s->panel.below, height = s->panel.height;
    int under = pl_panel_under(&s->panel);
    for (int j = 0; j < columns; j++)
        for (int i = j; i < columns; i++) {
            double sum = 0;
            for (int k = j; k <= i; k++)
                sum += s->lower[height * k + i] * stored(s, k, j);
            assert_close(sum, i == j, 2e-6);
        }
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < below; i++)
            assert_close(stored(s, under + i, j), s->lower[height * j + columns + i], 2e-6);
    for (int j = 0; j < below; j++)
        for (int i = j; i < below; i++) {
            double sum = 0;
            for (int k = 0; k < columns; k++)
                sum += s->lower[height * k + columns + i] * s->lower[height * k + columns + j];
            assert_close((double)s->rest[below * j + i], -sum, 2e-6);
        }
}

static void test_factor(void **state)
{
    (void)state;
    static const int sizes[] = {3, 6, 15, 30, 33, 48, 63, 96, 99, 150};
    const pl_backend *list[PL_BACKEND_MAX];
    int count = pl_backend_list(list), shapes = sizeof sizes / sizeof *sizes;
    for (int c = 0; c < shapes; c++)
        for (int b = -1; b < shapes; b++)
            for (int k = 0; k < count; k++) {
                sample one, several;
                make(&one, sizes[c], b < 0 ? 0 : sizes[b]);
                make(&several, sizes[c], b < 0 ? 0 : sizes[b]);
                assert_true(
                    pl_front_factor(&(pl_front){list[k], one.panel, 1, one.room, one.rest, one.store}));
                check(&one);
                assert_true(pl_front_factor(
                    &(pl_front){list[k], several.panel, 3, several.room, several.rest, several.store}));
                assert_memory_equal(one.store, several.store,
                                    sizeof(float) * pl_panel_values(&one.panel));
                for (int j = 0; j < one.panel.below; j++)
                    for (int i = j; i < one.panel.below; i++)
                        assert_true(one.rest[one.panel.below * j + i] ==
                                    several.rest[one.panel.below * j + i]);
                discard(&one);
                discard(&several);
            }
}

static void test_pivot(void **state)
{
    (void)state;
    const pl_backend *list[PL_BACKEND_MAX];
    pl_backend_list(list);
    for (int at = 0; at < 75; at += 37) {
        sample s;
        make(&s, 75, 12);
        s.room[(s.panel.height + 1) * at] = -1;
        assert_false(pl_front_factor(&(pl_front){list[0], s.panel, 1, s.room, s.rest, s.store}));
        discard(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_factor), cmocka_unit_test(test_pivot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
