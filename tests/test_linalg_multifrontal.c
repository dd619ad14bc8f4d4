/* Factors in single precision: as good as promised, whatever the threads, and called poor where they
 * are not. Through pl_chol, on a body large enough for threads. */
#include "common_alloc.h"
#include "common_factor.h"

enum { SIDE = 13, N = SIDE * SIDE * SIDE, FACE = SIDE * SIDE };

/* Factors are never kept in half precision besides. */
static pl_context *single_context(int threads)
{
    pl_context *ctx = test_context(threads);
    ctx->limits.half_factor = INFINITY;
    return ctx;
}

static void fill(double *b)
{
    uint64_t seed = 5;
    for (int i = 0; i < 3 * N; i++)
        b[i] = test_random(&seed);
}

/* How far a correction with the rough factor is from CHOLMOD's solve in double precision. */
static double error_of(test_system *s)
{
    static double b[3 * N], exact[3 * N], rough[3 * N];
    fill(b);
    assert_ok(s->ctx, pl_chol_correct(s->chol, b, rough));
    assert_ok(s->ctx, pl_chol_factor(s->chol, s->values));
    assert_ok(s->ctx, pl_chol_solve(s->chol, b, exact));
    return test_relative_difference(3 * N, rough, exact);
}

static void test_accuracy(void **state)
{
    (void)state;
    for (int last = 0; last <= FACE; last += FACE) {
        test_system *s = test_system_make(single_context(2), SIDE, 0.05, last);
        assert_int_equal(pl_chol_factor_rough(s->chol, s->values), PL_ROUGH_GOOD);
        double error = error_of(s);
        assert_true(error <= 1e-5); /* 6e-8 times some growth */
        assert_true(error >= 1e-9);
        test_system_discard(s);
    }
}

static void test_threads_do_not_show(void **state)
{
    (void)state;
    static double b[3 * N], first[3 * N], x[3 * N];
    fill(b);
    for (int threads = 1; threads <= 3; threads++) {
        test_system *s = test_system_make(single_context(threads), SIDE, 0.05, 0);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(pl_chol_factor_rough(s->chol, s->values), PL_ROUGH_GOOD);
            assert_ok(s->ctx, pl_chol_correct(s->chol, b, threads == 1 && !again ? first : x));
            if (threads > 1 || again)
                assert_memory_equal(first, x, sizeof x);
        }
        test_system_discard(s);
    }
}

/* A condition of some 20 over the shift that asks for more digits than there are is noticed: what is
 * called good is. */
static void test_condition(void **state)
{
    (void)state;
    int good = 0, poor = 0;
    for (double shift = 0.1; shift > 1e-9; shift *= 0.1) {
        test_system *s = test_system_make(single_context(2), SIDE, shift, 0);
        if (pl_chol_factor_rough(s->chol, s->values) == PL_ROUGH_GOOD) {
            assert_int_equal(poor, 0);
            assert_true(error_of(s) <= 2e-3);
            good++;
        } else {
            poor++;
        }
        test_system_discard(s);
    }
    assert_true(good >= 3 && poor >= 3);
}

/* A caller's own threads, more of them than a context has, each with a context of its own. */
static void test_in_a_callers_threads(void **state)
{
    (void)state;
    enum { CALLERS = 4 };
    static double b[3 * N], x[CALLERS][3 * N];
    test_system *s[CALLERS];
    bool good[CALLERS] = {false};
    fill(b);
    for (int c = 0; c < CALLERS; c++)
        s[c] = test_system_make(single_context(1), SIDE, 0.05, 0);
#pragma omp parallel for num_threads(CALLERS) schedule(static, 1)
    for (int c = 0; c < CALLERS; c++)
        good[c] = pl_chol_factor_rough(s[c]->chol, s[c]->values) == PL_ROUGH_GOOD &&
                  pl_chol_correct(s[c]->chol, b, x[c]) == PL_OK;
    for (int c = 0; c < CALLERS; c++) {
        assert_true(good[c]);
        assert_memory_equal(x[c], x[0], sizeof x[0]);
        test_system_discard(s[c]);
    }
}

static void test_not_positive_definite(void **state)
{
    (void)state;
    static double b[3 * N], first[3 * N], x[3 * N];
    test_system *s = test_system_make(single_context(2), SIDE, 0.05, 0);
    fill(b);
    assert_int_equal(pl_chol_factor_rough(s->chol, s->values), PL_ROUGH_GOOD);
    assert_ok(s->ctx, pl_chol_correct(s->chol, b, first));
    for (int v = 0; v < N; v += N - 1) { /* in a part, and somewhere else */
        double *entry = &s->values[9 * s->pattern.diag[v] + 4], kept = *entry;
        *entry = -1;
        assert_int_equal(pl_chol_factor_rough(s->chol, s->values), PL_ROUGH_INDEFINITE);
        *entry = kept;
        assert_int_equal(pl_chol_factor_rough(s->chol, s->values), PL_ROUGH_GOOD);
        assert_ok(s->ctx, pl_chol_correct(s->chol, b, x));
        assert_memory_equal(x, first, sizeof x);
    }
    test_system_discard(s);
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
