/* Triangular solves in parts: threads do not show, a focus is met, a changed right-hand side costs no
 * second solve. Through pl_chol, on a body large enough for threads. */
#include "common_alloc.h"
#include "common_factor.h"

enum { SIDE = 13, N = SIDE * SIDE * SIDE, FOCUS = 20 };

typedef struct system {
    pl_pattern pattern;
    double *values;
    double b[3 * N], change[3 * N];
    int focus[FOCUS];
} system_data;

static system_data *make(pl_context *ctx)
{
    system_data *s = calloc(1, sizeof *s);
    s->values = test_laplacian(ctx, SIDE, 0.05, &s->pattern);
    uint64_t seed = 5;
    for (int i = 0; i < 3 * N; i++)
        s->b[i] = test_random(&seed);
    for (int k = 0; k < FOCUS; k++) {
        s->focus[k] = (89 * k + 3) % N;
        for (int r = 0; r < 3; r++)
            s->change[3 * s->focus[k] + r] = 5 * test_random(&seed);
    }
    return s;
}

static void discard(pl_context *ctx, system_data *s)
{
    pl_pattern_free(ctx, &s->pattern);
    free(s->values);
    free(s);
}

static pl_chol *factor(pl_context *ctx, const system_data *s, int last_count)
{
    pl_chol *chol = test_chol(ctx, &s->pattern, 3, last_count, s->focus);
    assert_ok(ctx, pl_chol_factor(chol, s->values));
    return chol;
}

/* begin and end against whole solves, free order and the focus eliminated last: all in single
 * precision, 6e-8 times some growth. */
static void test_begin_end(void **state)
{
    (void)state;
    pl_context *ctx = test_context(2);
    system_data *s = make(ctx);
    static double exact[3 * N], both[3 * N], sum[3 * N], added[3 * N], x[3 * N], begun[3 * N];
    for (int last = 0; last <= FOCUS; last += FOCUS) {
        pl_chol *chol = factor(ctx, s, last);
        assert_ok(ctx, pl_chol_solve(chol, s->b, exact));
        assert_ok(ctx, pl_chol_solve(chol, s->change, added));
        double size = 0;
        for (int i = 0; i < 3 * N; i++) {
            sum[i] = exact[i] + added[i];
            size = fmax(size, fabs(sum[i]));
        }
        pl_chol_focus(chol, FOCUS, s->focus);
        memcpy(begun, s->b, sizeof begun);
        assert_ok(ctx, pl_chol_begin(chol, begun, begun)); /* in place */
        memcpy(x, begun, sizeof x);
        assert_ok(ctx, pl_chol_end(chol, s->change, NULL, both));
        assert_true(test_relative_difference(3 * N, both, sum) <= 2e-6);
        /* With the answer at the focus told, in place. */
        for (int k = 0; k < FOCUS; k++)
            memcpy(x + 3 * s->focus[k], sum + 3 * s->focus[k], 3 * sizeof *x);
        assert_ok(ctx, pl_chol_begin(chol, s->b, begun));
        assert_ok(ctx, pl_chol_end(chol, s->change, x, x));
        assert_true(test_relative_difference(3 * N, x, sum) <= 2e-6);
        for (int k = 0; k < FOCUS && last > 0; k++) /* where it is taken as it is */
            assert_memory_equal(x + 3 * s->focus[k], sum + 3 * s->focus[k], 3 * sizeof *x);
        for (int k = 0; k < FOCUS; k++)
            for (int i = 3 * s->focus[k]; i < 3 * s->focus[k] + 3; i++) {
                assert_close(begun[i], exact[i], 2e-6 * size);
                assert_close(both[i] - begun[i], added[i], 2e-6 * size);
            }
        /* A plain correction knows no focus. */
        assert_ok(ctx, pl_chol_correct(chol, s->b, x));
        pl_chol_focus(chol, 0, NULL);
        assert_ok(ctx, pl_chol_correct(chol, s->b, both));
        assert_memory_equal(x, both, sizeof x);
        assert_true(test_relative_difference(3 * N, x, exact) <= 2e-6);
        assert_true(test_relative_difference(3 * N, x, exact) >= 1e-10);
        pl_chol_destroy(chol);
    }
    discard(ctx, s);
    pl_context_destroy(ctx);
}

static void test_threads_do_not_show(void **state)
{
    (void)state;
    static double first[3][3 * N], x[3][3 * N];
    for (int threads = 1; threads <= 3; threads++) {
        pl_context *ctx = test_context(threads);
        system_data *s = make(ctx);
        pl_chol *chol = factor(ctx, s, 0);
        assert_true(pl_chol_get_cost(chol).factor_entries > 1e6); /* large enough for threads */
        assert_ok(ctx, pl_chol_solve(chol, s->b, x[0]));
        assert_ok(ctx, pl_chol_correct(chol, s->b, x[1]));
        pl_chol_focus(chol, FOCUS, s->focus);
        assert_ok(ctx, pl_chol_begin(chol, s->b, x[2]));
        assert_ok(ctx, pl_chol_end(chol, s->change, NULL, x[2]));
        if (threads == 1)
            memcpy(first, x, sizeof first);
        else
            assert_memory_equal(first, x, sizeof first);
        pl_chol_destroy(chol);
        discard(ctx, s);
        pl_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begin_end),
        cmocka_unit_test(test_threads_do_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
