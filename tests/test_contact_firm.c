/* The contact system through W^-1: exact where firm rows are quite firm, close elsewhere. */
#include "common_contact_system.h"

#include "contact/delassus.h"
#include "contact/firm.h"

#define GIVE 0.1
#define WEAK 0.1

static float stiffness[SIZE * SIZE], scratch[SIZE * SIZE];

static const float *inverse_of(pl_context *ctx, contact_system *s)
{
    pl_delassus d = {
        .single = s->w, .stiffness = stiffness, .lower = scratch, .lasts = true, .regret = INFINITY};
    assert_true(pl_delassus_invert(ctx, &d, COUNT));
    return stiffness;
}

static const double *mean_diagonal(const contact_system *s)
{
    static double rho[COUNT];
    for (int c = 0; c < COUNT; c++) {
        const float *own = s->w + 3 * c * (SIZE + 1);
        rho[c] = (own[0] + own[SIZE + 1] + own[2 * SIZE + 2]) / 3;
    }
    return rho;
}

/* `loose`: rows. */
static double solve_with(contact_system *s, int threads, int loose, bool transposed)
{
    pl_context *ctx = test_context(threads);
    pl_firm firm = {0};
    pl_symmetric product = pl_symmetric_create(false);
    double x[SIZE], y[SIZE];
    uint64_t seed = 3;
    for (int i = 0; i < SIZE; i++)
        x[i] = test_random(&seed);
    assert_ok(ctx, pl_firm_reserve(ctx, &firm, COUNT));
    assert_true(pl_firm_suits(COUNT, mean_diagonal(s), s->linear, GIVE, WEAK));
    assert_true(pl_firm_factor(ctx, &firm, COUNT, inverse_of(ctx, s), s->linear, GIVE));
    assert_int_equal(firm.moves.size, loose);
    assert_ok(ctx, pl_symmetric_store(ctx, &product, SIZE, stiffness));
    pl_firm_solve(ctx, &firm, &product, transposed, x, y);
    double residual = contact_system_residual(s, COUNT, transposed, x, y);
    pl_firm_solve(ctx, &firm, &product, transposed, x, x); /* in place */
    assert_memory_equal(x, y, sizeof x);
    pl_symmetric_free(ctx, &product);
    pl_firm_free(ctx, &firm);
    pl_context_destroy(ctx);
    return residual;
}

static double invert_and_solve(contact_system *s, int threads, int loose)
{
    return fmax(solve_with(s, threads, loose, false), solve_with(s, threads, loose, true));
}

/* Every `loose`th contact slips; the others' D_lambda is `give`. */
static void make(contact_system *s, int loose, double give)
{
    make_contact_system(s, 1, 0);
    for (int c = 0; c < COUNT; c++) {
        pl_law_linear *l = &s->linear[c];
        for (int k = 0; k < 3; k++)
            l->d_lambda[4 * k] = give;
        for (int k = 1; c % loose == 0 && k < 3; k++) {
            l->d_delta[3 * k] = 0;
            l->d_delta[4 * k] = 1e-2;
            l->d_lambda[4 * k] = 1;
            l->d_lambda[3 * k] = 0.3 * k;
        }
    }
}

static void test_inverse(void **state)
{
    (void)state;
    static contact_system s;
    /* Quite firm: exact. */
    make(&s, COUNT + 1, 0);
    s.linear[0] = s.linear[1];
    assert_true(invert_and_solve(&s, 1, 0) < 1e-6);
    make(&s, 4, 0);
    assert_true(invert_and_solve(&s, 1, COUNT / 2) < 2e-6);
    /* Giving a little: as good as that is little. */
    make(&s, 4, 1e-3);
    double residual = invert_and_solve(&s, 1, COUNT / 2);
    assert_true(residual < 2e-3 && residual > 1e-5);
    assert_true(invert_and_solve(&s, 3, COUNT / 2) == residual);
}

static void test_too_many_loose(void **state)
{
    (void)state;
    static contact_system s;
    make(&s, 2, 0);
    assert_true(pl_firm_suits(COUNT, mean_diagonal(&s), s.linear, GIVE, WEAK));
    make(&s, 1, 0);
    assert_false(pl_firm_suits(COUNT, mean_diagonal(&s), s.linear, GIVE, WEAK));
}

/* A loose contact without a law. */
static void test_singular(void **state)
{
    (void)state;
    static contact_system s;
    pl_context *ctx = test_context(1);
    pl_firm firm = {0};
    assert_ok(ctx, pl_firm_reserve(ctx, &firm, COUNT));
    make(&s, 4, 0);
    s.linear[4] = (pl_law_linear){.d_lambda = {1}};
    assert_false(pl_firm_factor(ctx, &firm, COUNT, inverse_of(ctx, &s), s.linear, GIVE));
    pl_firm_free(ctx, &firm);
    pl_context_destroy(ctx);
}

static pl_status run(pl_context *ctx, void *user)
{
    (void)user;
    pl_firm firm = {0};
    pl_status status = pl_firm_reserve(ctx, &firm, 3);
    pl_firm_free(ctx, &firm);
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
        cmocka_unit_test(test_too_many_loose),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
