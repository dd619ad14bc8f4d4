/* Factors in half precision: how far off they are, where they are refused, that units, pins of whatever
 * stiffness and threads do not show, and that subtrees are sealed, but not to a focus. Through pl_chol,
 * on a body large enough for them. */
#include "common_factor.h"

#include "backend/backend.h"

enum { SIDE = 19, N = SIDE * SIDE * SIDE, FACE = SIDE * SIDE, FOCUS = 20 };

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
    test_system *s = test_system_make(test_context(2), SIDE, 0.05, 0);
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
    test_system *s = test_system_make(test_context(2), SIDE, 0.05, 0);
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
    test_system *s = test_system_make(test_context(2), SIDE, 0.05, 0);
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
        test_system *s = test_system_make(test_context(2), SIDE, shift, 0);
        /* Sealed subtrees cancel what they add to the rest to 2.4e-4 only. */
        assert_true(measure(s).left <= 0.03);
        test_system_discard(s);
    }
}

/* The rows of L that leave sealed subtrees, most of what these have, are not read. */
static void test_sealed(void **state)
{
    (void)state;
    test_system *s = test_system_make(test_context(2), SIDE, 0.05, 0);
    assert_int_equal(pl_chol_factor_rough(s->chol, s->values), PL_ROUGH_GOOD);
    pl_chol_cost cost = pl_chol_get_cost(s->chol);
    if (has_half())
        assert_true(cost.correct_bytes < 0.85 * 2 * cost.factor_entries);
    pl_chol_use_half(s->chol, false);
    cost = pl_chol_get_cost(s->chol);
    assert_true(cost.correct_bytes > 4 * cost.factor_entries); /* with what fills strips up */
    test_system_discard(s);
}

/* begin and end against whole solves, the focus anywhere, also in subtrees sealed otherwise, or
 * eliminated last and its answer told; and the same bits by any number of threads, and of a plain
 * correction whatever the focus. */
static void test_focus(void **state)
{
    (void)state;
    static double b[3 * N], change[3 * N], sum[3 * N], begun[3 * N], x[3 * N], plain[3 * N];
    static double first[2][3 * N], again[3 * N];
    int focus[FOCUS];
    uint64_t seed = 7;
    for (int i = 0; i < 3 * N; i++)
        b[i] = test_random(&seed);
    for (int k = 0; k < FOCUS; k++) {
        focus[k] = (331 * k + 3) % N;
        for (int r = 0; r < 3; r++)
            change[3 * focus[k] + r] = 5 * test_random(&seed);
    }
    for (int threads = 1; threads <= 3; threads++)
        for (int last = 0; last <= 1; last++) {
            test_system *s = test_system_make(test_context(threads), SIDE, 0.05, 0);
            pl_chol *chol = test_chol(s->ctx, &s->pattern, 3, last ? FOCUS : 0, focus);
            assert_int_equal(pl_chol_factor_rough(chol, s->values), PL_ROUGH_GOOD);
            assert_ok(s->ctx, pl_chol_correct(chol, b, plain));
            assert_ok(s->ctx, pl_chol_correct(chol, change, sum));
            for (int i = 0; i < 3 * N; i++)
                sum[i] += plain[i];
            pl_chol_focus(chol, FOCUS, focus);
            assert_ok(s->ctx, pl_chol_begin(chol, b, begun));
            memcpy(again, begun, sizeof again);
            for (int k = 0; k < 3 * FOCUS; k++) {
                int i = 3 * focus[k / 3] + k % 3;
                assert_close(begun[i], plain[i], 3e-3);
                again[i] = sum[i];
            }
            assert_ok(s->ctx, pl_chol_end(chol, change, again, x));
            assert_true(test_relative_difference(3 * N, x, sum) <= 3e-3);
            if (threads == 1)
                memcpy(first[last], x, sizeof x);
            assert_memory_equal(first[last], x, sizeof x);
            assert_ok(s->ctx, pl_chol_correct(chol, b, again));
            assert_memory_equal(again, plain, sizeof again);
            pl_chol_destroy(chol);
            test_system_discard(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),  cmocka_unit_test(test_units),  cmocka_unit_test(test_pins),
        cmocka_unit_test(test_condition), cmocka_unit_test(test_sealed), cmocka_unit_test(test_focus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
