/* The approximate inverse of the contact system: exact where its assumption holds, close elsewhere. */
#include "common_contact_system.h"

#include "contact/schur.h"

/* The worse residual of a solve and a transposed one. */
static double factor_and_solve(contact_system *s, int threads, double weak, int *size)
{
    pl_context *ctx = test_context(threads);
    pl_schur schur = {0};
    double x[SIZE], y[SIZE], worst = 0;
    uint64_t seed = 3;
    for (int i = 0; i < SIZE; i++)
        x[i] = test_random(&seed);
    assert_ok(ctx, pl_schur_reserve(ctx, &schur, COUNT));
    pl_schur_factor(ctx, &schur, COUNT, s->linear, s->w, weak);
    assert_int_equal(schur.count, COUNT);
    assert_true(pl_schur_price(&schur) > 0);
    for (int transposed = 0; transposed < 2; transposed++) {
        pl_schur_solve(&schur, transposed, x, y);
        worst = fmax(worst, contact_system_residual(s, COUNT, transposed, x, y));
    }
    pl_schur_solve(&schur, true, x, x); /* in place */
    assert_memory_equal(x, y, sizeof x);
    *size = schur.size;
    pl_schur_free(ctx, &schur);
    pl_context_destroy(ctx);
    return worst;
}

static void test_inverse(void **state)
{
    (void)state;
    static contact_system s;
    int size;
    /* All stick: an LU of everything. */
    make_contact_system(&s, 1, 0);
    assert_true(factor_and_solve(&s, 1, 0.1, &size) < 1e-6);
    assert_int_equal(size, SIZE);
    /* Most slip, their tangential equations without any motion: exact too. */
    make_contact_system(&s, 4, 0);
    assert_true(factor_and_solve(&s, 1, 0.1, &size) < 1e-6);
    assert_int_equal(size, COUNT / 4 * 3 + COUNT * 3 / 4);
    /* With a little of it, as good as that is small. */
    make_contact_system(&s, 4, 1e-2);
    double residual = factor_and_solve(&s, 1, 0.1, &size);
    assert_true(residual < 5e-3 && residual > 1e-4);
    assert_int_equal(size, COUNT / 4 * 3 + COUNT * 3 / 4);
    assert_true(factor_and_solve(&s, 3, 0.1, &size) == residual);
}

/* A contact pressed by `force` that has moved by `slip`; open when the force is small. */
static void place(contact_system *s, int c, double mu, double force, double slip)
{
    pl_law law = {.mu = mu, .epsilon2 = 0.5e-12, .rho = 1};
    double d_mu[3], angle = 0.7 * c, direction[2] = {cos(angle), sin(angle)};
    pl_law_point point = {.delta_n = law.epsilon2 / force, .direction = {direction[0], direction[1]}};
    point.x_hat = slip + point.delta_n / fmax(mu, 1e-3);
    point.s = law.epsilon2 / point.x_hat;
    double held = mu * force - point.s;
    const double lambda[3] = {force, -held * direction[0], -held * direction[1]};
    pl_law_derivative(&law, &point, lambda, &s->linear[c], d_mu);
}

/* Contacts that stick, slide, slide fast, are open, have no friction: as many rows as they need. The
 * error is that of single precision, and what weak rows leave out: 1e-7 of what they hear of others. */
static void test_rows_are_as_many_as_contacts_need(void **state)
{
    (void)state;
    static contact_system s;
    const struct {
        double mu, force, slip;
        int rows;
    } kinds[] = {
        {0.5, 1, 1e-12, 3}, {0.5, 1, 1, 2}, {0.5, 1, 1e8, 1}, {0.5, 1e-10, 1e-3, 0}, {0, 1, 0, 1}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    int size, rows = 0;
    make_contact_system(&s, 1, 0);
    for (int k = 0; k < KINDS; k++) {
        for (int c = 0; c < COUNT; c++)
            place(&s, c, kinds[k].mu, kinds[k].force, kinds[k].slip);
        assert_true(factor_and_solve(&s, 1, 1e-7, &size) < 1e-6);
        assert_int_equal(size, kinds[k].rows * COUNT);
    }
    /* All kinds at once: the fewer-row ones among those with three. */
    for (int c = 0; c < COUNT; c++) {
        place(&s, c, kinds[c % KINDS].mu, kinds[c % KINDS].force, kinds[c % KINDS].slip);
        rows += kinds[c % KINDS].rows;
    }
    assert_true(factor_and_solve(&s, 2, 1e-7, &size) < 1e-6);
    assert_int_equal(size, rows);
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
    pl_schur_factor(ctx, &schur, COUNT, s.linear, s.w, 0.1);
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
    assert_true(test_fail_every_allocation(run, NULL) >= 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_rows_are_as_many_as_contacts_need),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
