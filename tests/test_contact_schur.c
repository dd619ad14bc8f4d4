/* The approximate inverse of the contact system: exact where its assumption holds, close elsewhere. */
#include "common_contact_system.h"

#include "contact/schur.h"

static double factor_and_solve(contact_system *s, int threads, int *size)
{
    pl_context *ctx = test_context(threads);
    pl_schur schur = {0};
    assert_ok(ctx, pl_schur_reserve(ctx, &schur, COUNT));
    pl_schur_factor(ctx, &schur, COUNT, s->laws, s->linear, s->w);
    assert_int_equal(schur.count, COUNT);
    assert_int_equal(schur.size, 3 * COUNT - 2 * schur.slips);
    assert_true(pl_schur_patience(&schur) > 0);
    double x[SIZE], y[SIZE];
    uint64_t seed = 3;
    for (int i = 0; i < SIZE; i++)
        x[i] = test_random(&seed);
    pl_schur_solve(&schur, x, y);
    double residual = contact_system_residual(s, COUNT, false, x, y);
    *size = schur.size;
    pl_schur_free(ctx, &schur);
    pl_context_destroy(ctx);
    return residual;
}

static void test_inverse(void **state)
{
    (void)state;
    static contact_system s;
    int size;
    /* All stick: an LU of everything. */
    make_contact_system(&s, 1, 0);
    assert_true(factor_and_solve(&s, 1, &size) < 1e-6);
    assert_int_equal(size, SIZE);
    /* Most slip, their tangential equations without any motion: exact too. */
    make_contact_system(&s, 4, 0);
    assert_true(factor_and_solve(&s, 1, &size) < 1e-6);
    assert_int_equal(size, COUNT / 4 * 3 + COUNT * 3 / 4);
    /* With a little of it, as good as that is small. */
    make_contact_system(&s, 4, 1e-2);
    double residual = factor_and_solve(&s, 1, &size);
    assert_true(residual < 5e-3 && residual > 1e-4);
    assert_int_equal(size, COUNT / 4 * 3 + COUNT * 3 / 4);
    assert_true(factor_and_solve(&s, 3, &size) == residual);
}

static void test_singular(void **state)
{
    (void)state;
    static contact_system s;
    pl_context *ctx = test_context(1);
    pl_schur schur = {0};
    make_contact_system(&s, 1, 0);
    s.linear[5] = (pl_law_linear){0};
    assert_ok(ctx, pl_schur_reserve(ctx, &schur, COUNT));
    pl_schur_factor(ctx, &schur, COUNT, s.laws, s.linear, s.w);
    assert_int_equal(schur.count, 0);
    pl_schur_free(ctx, &schur);
    pl_context_destroy(ctx);
}

static pl_status run(pl_context *ctx, void *user)
{
    (void)user;
    pl_schur schur = {0};
    pl_status status = pl_schur_reserve(ctx, &schur, 3);
    pl_schur_free(ctx, &schur);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(run, NULL) >= 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
