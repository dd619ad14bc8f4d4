/* Least shifts of bodies beyond planes: shared, held, one on the other, and planes that contradict. */
#include "common.h"
#include "sim/shifts.h"

#include <math.h>

static pl_shift_plane plane(int body, int other, double x, double y, double z, double least)
{
    return (pl_shift_plane){.body = body, .other = other, .normal = {x, y, z}, .least = least};
}

static bool find(pl_context *ctx, const bool *moves, int count, pl_shift_plane *planes, double *x)
{
    bool met;
    assert_ok(ctx, pl_shifts_find(ctx, 3, moves, count, planes, 1e-9, x, &met));
    return met;
}

static void expect(const double *x, const double expected[9])
{
    for (int i = 0; i < 9; i++)
        assert_true(fabs(x[i] - expected[i]) < 1e-7);
}

static void half_and_half_unless_held(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_shift_plane p[] = {plane(1, 0, 0, 0, 1, 0.2)};
    double x[9];
    assert_true(find(ctx, (bool[]){true, true, true}, 1, p, x));
    expect(x, (double[]){0, 0, -0.1, 0, 0, 0.1, 0, 0, 0});
    p[0].force = 0;
    assert_true(find(ctx, (bool[]){false, true, true}, 1, p, x));
    expect(x, (double[]){0, 0, 0, 0, 0, 0.2, 0, 0, 0});
    p[0].force = 0;
    assert_false(find(ctx, (bool[]){false, false, true}, 1, p, x));
    pl_context_destroy(ctx);
}

/* A stack of three on a floor, and a plane that is met without being pushed against. */
static void a_stack(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_shift_plane p[] = {plane(1, 0, 0, 0, 1, 0.2), plane(2, 1, 0, 0, 1, 0.3),
                          plane(0, -1, 0, 0, 1, -0.01), plane(2, -1, 0, 0.6, 0.8, 0.1)};
    double x[9];
    assert_true(find(ctx, (bool[]){true, true, true}, 4, p, x));
    expect(x, (double[]){0, 0, -0.01, 0, 0, 0.19, 0, 0, 0.49});
    assert_true(p[3].force == 0 && p[0].force > 0);
    pl_context_destroy(ctx);
}

/* Between a floor and a lid; the blame is with these and with what stands between, nothing else. */
static void what_contradicts(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_shift_plane p[] = {plane(1, 0, 0, 0, 1, 0.2), plane(0, -1, 0, 0, 1, 0),
                          plane(2, 0, 1, 0, 0, 0.1), plane(1, -1, 0, 0, -1, -0.199)};
    double x[9];
    assert_false(find(ctx, (bool[]){true, true, true}, 4, p, x));
    assert_true(p[0].blame > 0 && p[2].blame < 1e-3 * p[0].blame);
    assert_true(fabs(p[1].blame / p[0].blame - 1) < 1e-2 && fabs(p[3].blame / p[0].blame - 1) < 1e-2);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_and_half_unless_held),
        cmocka_unit_test(a_stack),
        cmocka_unit_test(what_contradicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
