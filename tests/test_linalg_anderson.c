/* Anderson acceleration: exact for linear iterations of few modes, and much faster than waiting. */
#include "common.h"

#include "linalg/anderson.h"

enum { N = 40 };

/* m(x) = -rate_i (x_i - i): a fixed-point iteration with modes of several speeds. */
static void move(const double *x, const double *speed, int speeds, double *m)
{
    for (int i = 0; i < N; i++)
        m[i] = -speed[i % speeds] * (x[i] - i);
}

static double size(const double *m)
{
    double largest = 0;
    for (int i = 0; i < N; i++)
        largest = fmax(largest, fabs(m[i]));
    return largest;
}

/* Whether `step` is more than the move. */
static bool combine(pl_anderson *a, const double *x, const double *m, double *step)
{
    pl_anderson_remember(a, x, m);
    return pl_anderson_combine(a, m, step);
}

/* With k distinct speeds, k differences combine to the answer. */
static void test_few_modes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double speed[] = {0.05, 0.3, 1.7};
    for (int speeds = 1; speeds <= 3; speeds++) {
        pl_anderson a;
        double x[N] = {0}, m[N], step[N];
        assert_ok(ctx, pl_anderson_create(ctx, N, &a));
        for (int k = 0; k <= speeds; k++) {
            move(x, speed, speeds, m);
            assert_int_equal(combine(&a, x, m, step), k > 0);
            for (int i = 0; i < N; i++)
                x[i] += step[i];
        }
        move(x, speed, speeds, m);
        /* The regularisation of 1e-14 in squares leaves up to its root. */
        assert_true(size(m) < 1e-5);
        pl_anderson_free(&a);
    }
    pl_context_destroy(ctx);
}

/* A slow and an unstable mode among many: the plain iteration would diverge. */
static void test_many_modes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double speed[N], x[N] = {0}, m[N], step[N];
    pl_anderson a;
    for (int i = 0; i < N; i++)
        speed[i] = 0.9 + 0.2 * i / N;
    speed[3] = 0.02;
    speed[7] = -0.1;
    assert_ok(ctx, pl_anderson_create(ctx, N, &a));
    for (int k = 0; k < 30; k++) {
        move(x, speed, N, m);
        combine(&a, x, m, step);
        for (int i = 0; i < N; i++)
            x[i] += step[i];
    }
    move(x, speed, N, m);
    assert_true(size(m) < 1e-8);
    /* After a reset the first step is the move itself. */
    pl_anderson_reset(&a);
    assert_false(combine(&a, x, m, step));
    assert_memory_equal(step, m, sizeof m);
    pl_anderson_free(&a);
    pl_context_destroy(ctx);
}

/* One problem after another, each with another answer: what the first moves of the last ones lacked
 * tells the next one. */
static void test_next_problem(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double speed[N], x[N] = {0}, m[N], step[N];
    pl_anderson a;
    for (int i = 0; i < N; i++)
        speed[i] = i % 2 ? 0.7 : 1.2;
    assert_ok(ctx, pl_anderson_create(ctx, N, &a));
    for (int problem = 0; problem < 5; problem++) {
        double lacking = 0;
        pl_anderson_next(&a);
        for (int k = 0; k < 5; k++) {
            for (int i = 0; i < N; i++)
                m[i] = -speed[i] * (x[i] - i - problem * problem * (i % 2 ? 0.4 : 0.1));
            if (k == 1 && problem > 2) /* the weight against noise, 1e-3, leaves 3 and 1 % */
                assert_true(size(m) < 0.05 * lacking);
            for (int i = 0; k == 0 && i < N; i++) /* after the plain move */
                lacking = fmax(lacking, fabs((1 - speed[i]) * m[i]));
            assert_int_equal(combine(&a, x, m, step), problem > 0 || k > 0);
            for (int i = 0; i < N; i++)
                x[i] += step[i];
        }
    }
    pl_anderson_reset(&a);
    assert_false(combine(&a, x, m, step));
    pl_anderson_free(&a);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_modes),
        cmocka_unit_test(test_many_modes),
        cmocka_unit_test(test_next_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
