/* The vector functions against the C library. */
#include "common.h"

#include "backend/simd.h"

#include <stdlib.h>

/* In units of the last place of the result, near 1 and over the whole range. */
static void test_log(void **state)
{
    (void)state;
    uint64_t seed = 1;
    double worst = 0.0;
    for (int t = 0; t < 200000; t++) {
        double r = test_random(&seed), x;
        if (t % 3 == 0)
            x = 1.0 + ldexp(r, -(t % 60)); /* close to 1 from both sides */
        else if (t % 3 == 1)
            x = exp(30.0 * r);
        else
            x = ldexp(1.5 + 0.5 * r, t % 2000 - 1000);
        if (!(x > 0.0))
            continue;
        double got = v_log(v_set(x))[0], ulp = nextafter(fabs(got), INFINITY) - fabs(got);
        worst = fmax(worst, (double)(fabsl((long double)got - logl(x)) / ulp));
    }
    print_message("log: %.2f ulp\n", worst);
    assert_true(worst < 1.0);
    assert_true(v_log(v_set(1.0))[0] == 0.0);
}

static void test_selects(void **state)
{
    (void)state;
    vd a = v_set(-3.0), b = v_set(2.0);
    assert_true(v_select(a < b, a, b)[0] == -3.0 && v_select(a > b, a, b)[0] == 2.0);
    assert_true(v_max(a, b)[0] == 2.0 && v_abs(a)[0] == 3.0 && v_copysign(b, a)[0] == -2.0);
    assert_true(v_any(a < b) && !v_any(a > b));
    assert_true(v_sqrt(v_set(2.0))[0] == sqrt(2.0));
    assert_true(v_inverse_power(v_set(5.0))[0] == 0.25 && v_inverse_power(v_set(0.3))[0] == 4.0);
}

/* Values in vectors come out slot by slot. */
static void test_store_slots(void **state)
{
    (void)state;
    enum { COUNT = 11, STRIDE = 13 };
    vd in[COUNT];
    double out[STRIDE * PL_WIDTH];
    for (int i = 0; i < STRIDE * PL_WIDTH; i++)
        out[i] = -1.0;
    for (int c = 0; c < COUNT; c++)
        for (int w = 0; w < PL_WIDTH; w++)
            in[c][w] = 100.0 * w + c;
    v_store_slots(in, COUNT, out, STRIDE);
    for (int i = 0; i < STRIDE * PL_WIDTH; i++)
        assert_true(out[i] == (i % STRIDE < COUNT ? 100.0 * (i / STRIDE) + i % STRIDE : -1.0));
}

/* Nine values of each lane are added where they belong, also where lanes have one place. */
static void test_add_nine(void **state)
{
    (void)state;
    vd in[9];
    double out[9 * (PL_WIDTH + 1)], expected[9 * (PL_WIDTH + 1)];
    int at[PL_WIDTH];
    for (int i = 0; i < 9 * (PL_WIDTH + 1); i++)
        out[i] = expected[i] = 0.5 * i;
    for (int w = 0; w < PL_WIDTH; w++) {
        at[w] = 9 * (w == 2 ? 1 : PL_WIDTH - w);
        for (int c = 0; c < 9; c++) {
            in[c][w] = 100.0 * w + c;
            expected[at[w] + c] += 100.0 * w + c;
        }
    }
    v_add_nine(in, out, at);
    assert_memory_equal(out, expected, sizeof out);
}

/* Vectors of vertices come out coordinate by coordinate, the last one without reading past it. */
static void test_gather(void **state)
{
    (void)state;
    double *x = malloc(3 * 20 * sizeof *x); /* exactly: address sanitizers see one more */
    int at[PL_WIDTH];
    vd out[3];
    for (int i = 0; i < 60; i++)
        x[i] = i;
    for (int w = 0; w < PL_WIDTH; w++)
        at[w] = w == PL_WIDTH - 1 ? 19 : (7 * w) % 20;
    v_gather3(x, at, out);
    for (int w = 0; w < PL_WIDTH; w++)
        for (int c = 0; c < 3; c++)
            assert_true(out[c][w] == 3 * at[w] + c);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log),         cmocka_unit_test(test_selects),
        cmocka_unit_test(test_store_slots), cmocka_unit_test(test_add_nine),
        cmocka_unit_test(test_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
