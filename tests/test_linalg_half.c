/* Factors in half precision: how far off they are, where they are refused, and that units and pins of
 * whatever stiffness do not show. Through pl_chol, on a body large enough for them. */
#include "common_factor.h"

#include "backend/backend.h"

enum { SIDE = 19, N = SIDE * SIDE * SIDE, FACE = SIDE * SIDE };

/* How far a correction is from the x that b was made of, in half and in single precision, and what a
 * second one in half precision leaves of that. */
typedef struct errors {
    double half, single, left;
} errors;

static errors measure(test_system *s)
{
    static double exact[3 * N], b[3 * N], x[3 * N], ax[3 * N];
    errors e = {0};
    uint64_t seed = 5;
    for (int i = 0; i < 3 * N; i++)
        exact[i] = test_random(&seed);
    pl_bsr_multiply(1, &s->pattern, s->values, exact, b);
    assert_int_equal(pl_chol_factor_rough(s->chol, s->values), PL_ROUGH_GOOD);
    pl_chol_use_half(s->chol, false);
    assert_ok(s->ctx, pl_chol_correct(s->chol, b, x));
    e.single = test_relative_difference(3 * N, x, exact);
    pl_chol_use_half(s->chol, true);
    assert_ok(s->ctx, pl_chol_correct(s->chol, b, x));
    e.half = test_relative_difference(3 * N, x, exact);
    pl_bsr_multiply(1, &s->pattern, s->values, x, ax);
    for (int i = 0; i < 3 * N; i++)
        ax[i] = b[i] - ax[i];
    assert_ok(s->ctx, pl_chol_correct(s->chol, ax, ax));
    for (int i = 0; i < 3 * N; i++)
        x[i] += ax[i];
    e.left = test_relative_difference(3 * N, x, exact) / e.half;
    return e;
}

static bool has_half(void)
{
    const pl_backend *list[PL_BACKEND_MAX];
    pl_backend_list(list);
    return list[0]->half != NULL;
}

static void test_accuracy(void **state)
{
    (void)state;
    test_system *s = test_system_make(2, SIDE, 0.05, 0);
    errors e = measure(s);
    assert_true(e.single <= 1e-5);
    if (has_half()) { /* 2.4e-4 of each value, times some growth */
        assert_true(e.half <= 3e-3);
        assert_true(e.half >= 1e-4);
    }
    test_system_discard(s);
}

/* Powers of two are taken out exactly, so that the same digits are left in whatever units. */
static void test_units(void **state)
{
    (void)state;
    test_system *s = test_system_make(2, SIDE, 0.05, 0);
    errors e = measure(s);
    for (int sign = -1; sign <= 1; sign += 2) {
        double unit = ldexp(1, 60 * sign);
        for (int i = 0; i < 9 * s->pattern.nnz; i++)
            s->values[i] *= unit;
        errors other = measure(s);
        assert_true(other.half == e.half && other.single == e.single);
        for (int i = 0; i < 9 * s->pattern.nnz; i++)
            s->values[i] /= unit;
    }
    test_system_discard(s);
}

/* A face held ever more firmly: what its vertices pass on falls out of the range of half precision, and
 * then single precision is taken. */
static void test_pins(void **state)
{
    (void)state;
    test_system *s = test_system_make(2, SIDE, 0.05, 0);
    for (double pin = 1e8; pin <= 1e16; pin *= 1e8) {
        for (int v = 0; v < FACE; v++)
            for (int k = 0; k < 9; k += 4)
                s->values[9 * (size_t)s->pattern.diag[v] + (size_t)k] += pin;
        errors e = measure(s);
        assert_true(e.single <= 1e-5);
        if (has_half() && pin == 1e8) { /* 1e-4 of a row's diagonal, near the least that half has */
            assert_true(e.half <= 5e-3);
            assert_true(e.half >= 1e-4);
        } else {
            assert_true(e.half == e.single);
        }
    }
    test_system_discard(s);
}

/* Half precision lets more of a rough motion into a smooth one, the worse the condition; but the next
 * correction takes it out again, as long as the factor is called good. */
static void test_condition(void **state)
{
    (void)state;
    for (double shift = 1e-1; shift > 2e-5; shift *= 0.1) {
        test_system *s = test_system_make(2, SIDE, shift, 0);
        assert_true(measure(s).left <= 0.02);
        test_system_discard(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_pins),
        cmocka_unit_test(test_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
