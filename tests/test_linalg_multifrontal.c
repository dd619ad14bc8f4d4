/* Factors in single precision: as good as promised, whatever the threads, and called poor where they
 * are not. Through pl_chol, on a body large enough for threads. */
#include "common_alloc.h"
#include "common_pattern.h"

#include "linalg/chol.h"

enum { SIDE = 13, N = SIDE * SIDE * SIDE };

static void fill(double *b)
{
    uint64_t seed = 5;
    for (int i = 0; i < 3 * N; i++)
        b[i] = test_random(&seed);
}

/* Against CHOLMOD in double precision, free order and a face eliminated last. */
static void test_accuracy(void **state)
{
    (void)state;
    static double b[3 * N], exact[3 * N], rough[3 * N];
    int face[SIDE * SIDE];
    pl_context *ctx = test_context(2);
    pl_pattern pattern;
    double *values = test_laplacian(ctx, SIDE, 0.05, &pattern);
    fill(b);
    for (int i = 0; i < SIDE * SIDE; i++)
        face[i] = i;
    for (int last = 0; last <= SIDE * SIDE; last += SIDE * SIDE) {
        pl_chol *chol;
        assert_ok(ctx, pl_chol_create(ctx, &pattern, 3, last, face, &chol));
        assert_int_equal(pl_chol_factor_rough(chol, values), PL_ROUGH_GOOD);
        assert_ok(ctx, pl_chol_correct(chol, b, rough));
        assert_ok(ctx, pl_chol_factor(chol, values));
        assert_ok(ctx, pl_chol_solve(chol, b, exact));
        double error = test_relative_difference(3 * N, rough, exact);
        assert_true(error <= 1e-5); /* 6e-8 times some growth */
        assert_true(error >= 1e-9);
        pl_chol_destroy(chol);
    }
    pl_pattern_free(ctx, &pattern);
    free(values);
    pl_context_destroy(ctx);
}

static void test_threads_do_not_show(void **state)
{
    (void)state;
    static double b[3 * N], first[3 * N], x[3 * N];
    fill(b);
    for (int threads = 1; threads <= 3; threads++) {
        pl_context *ctx = test_context(threads);
        pl_pattern pattern;
        pl_chol *chol;
        double *values = test_laplacian(ctx, SIDE, 0.05, &pattern);
        assert_ok(ctx, pl_chol_create(ctx, &pattern, 3, 0, NULL, &chol));
        for (int again = 0; again < 2; again++) {
            assert_int_equal(pl_chol_factor_rough(chol, values), PL_ROUGH_GOOD);
            assert_ok(ctx, pl_chol_correct(chol, b, threads == 1 && !again ? first : x));
            if (threads > 1 || again)
                assert_memory_equal(first, x, sizeof x);
        }
        pl_chol_destroy(chol);
        pl_pattern_free(ctx, &pattern);
        free(values);
        pl_context_destroy(ctx);
    }
}

/* A condition of some 20 over the shift that asks for more digits than there are is noticed: what is
 * called good is. */
static void test_condition(void **state)
{
    (void)state;
    static double b[3 * N], rough[3 * N], exact[3 * N];
    pl_context *ctx = test_context(2);
    int good = 0, poor = 0;
    fill(b);
    for (double shift = 0.1; shift > 1e-9; shift *= 0.1) {
        pl_pattern pattern;
        pl_chol *chol;
        double *values = test_laplacian(ctx, SIDE, shift, &pattern);
        assert_ok(ctx, pl_chol_create(ctx, &pattern, 3, 0, NULL, &chol));
        pl_rough found = pl_chol_factor_rough(chol, values);
        if (found == PL_ROUGH_GOOD) {
            assert_int_equal(poor, 0);
            good++;
            assert_ok(ctx, pl_chol_correct(chol, b, rough));
            assert_ok(ctx, pl_chol_factor(chol, values));
            assert_ok(ctx, pl_chol_solve(chol, b, exact));
            assert_true(test_relative_difference(3 * N, rough, exact) <= 2e-3);
        } else {
            poor++;
        }
        pl_chol_destroy(chol);
        pl_pattern_free(ctx, &pattern);
        free(values);
    }
    assert_true(good >= 3 && poor >= 3);
    pl_context_destroy(ctx);
}

/* A caller's own threads, more of them than a context has, each with a context of its own. */
static void test_in_a_callers_threads(void **state)
{
    (void)state;
    enum { CALLERS = 4 };
    static double b[3 * N], x[CALLERS][3 * N];
    pl_context *ctx[CALLERS];
    pl_pattern pattern[CALLERS];
    pl_chol *chol[CALLERS];
    double *values[CALLERS];
    bool good[CALLERS] = {false};
    fill(b);
    for (int c = 0; c < CALLERS; c++) {
        ctx[c] = test_context(1);
        values[c] = test_laplacian(ctx[c], SIDE, 0.05, &pattern[c]);
        assert_ok(ctx[c], pl_chol_create(ctx[c], &pattern[c], 3, 0, NULL, &chol[c]));
    }
#pragma omp parallel for num_threads(CALLERS) schedule(static, 1)
    for (int c = 0; c < CALLERS; c++)
        good[c] = pl_chol_factor_rough(chol[c], values[c]) == PL_ROUGH_GOOD &&
                  pl_chol_correct(chol[c], b, x[c]) == PL_OK;
    for (int c = 0; c < CALLERS; c++) {
        assert_true(good[c]);
        assert_memory_equal(x[c], x[0], sizeof x[0]);
        pl_chol_destroy(chol[c]);
        pl_pattern_free(ctx[c], &pattern[c]);
        free(values[c]);
        pl_context_destroy(ctx[c]);
    }
}

static void test_not_positive_definite(void **state)
{
    (void)state;
    static double b[3 * N], first[3 * N], x[3 * N];
    pl_context *ctx = test_context(2);
    pl_pattern pattern;
    pl_chol *chol;
    double *values = test_laplacian(ctx, SIDE, 0.05, &pattern);
    fill(b);
    assert_ok(ctx, pl_chol_create(ctx, &pattern, 3, 0, NULL, &chol));
    assert_int_equal(pl_chol_factor_rough(chol, values), PL_ROUGH_GOOD);
    assert_ok(ctx, pl_chol_correct(chol, b, first));
    for (int v = 0; v < N; v += N - 1) { /* in a part, and somewhere else */
        double *entry = &values[9 * pattern.diag[v] + 4], kept = *entry;
        *entry = -1;
        assert_int_equal(pl_chol_factor_rough(chol, values), PL_ROUGH_INDEFINITE);
        *entry = kept;
        assert_int_equal(pl_chol_factor_rough(chol, values), PL_ROUGH_GOOD);
        assert_ok(ctx, pl_chol_correct(chol, b, x));
        assert_memory_equal(x, first, sizeof x);
    }
    pl_chol_destroy(chol);
    pl_pattern_free(ctx, &pattern);
    free(values);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_threads_do_not_show),
        cmocka_unit_test(test_condition),
        cmocka_unit_test(test_in_a_callers_threads),
        cmocka_unit_test(test_not_positive_definite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
