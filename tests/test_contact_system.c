/* Newton systems in contact space: few and many contacts, old inverses, W that lasts, singular ones. */
#include "common_contact_products.h"
#include "common_contact_system.h"

#include "contact/system.h"

enum { FEW = 30 };

static contact_system made;
static double wide[SIZE * SIZE];
static float single[SIZE * SIZE], stiffness[SIZE * SIZE], scratch[SIZE * SIZE];
static double rho[COUNT];
static pl_delassus delassus;

/* The first m contacts of the system made, with their part of W. */
static pl_coupling coupling(int m, bool lasts)
{
    for (int i = 0; i < 3 * m; i++)
        for (int j = 0; j < 3 * m; j++) {
            single[3 * m * i + j] = made.w[SIZE * i + j];
            wide[3 * m * i + j] = made.w[SIZE * i + j];
        }
    delassus.w = wide, delassus.single = single, delassus.stiffness = stiffness;
    delassus.lower = scratch;
    contact_products_renew(&delassus, m, rho);
    delassus.lasts = lasts, delassus.stiff = false, delassus.regret = 0;
    return (pl_coupling){m, made.laws, &delassus};
}

/* |moved - W x|/|W x| */
static void check_moved(const pl_coupling *on, const double *x, const double *moved, double accuracy)
{
    int size = 3 * on->count;
    double off = 0, length = 0;
    for (int i = 0; i < size; i++) {
        double wx = 0;
        for (int j = 0; j < size; j++)
            wx += on->delassus->w[size * i + j] * x[j];
        off += (moved[i] - wx) * (moved[i] - wx);
        length += wx * wx;
    }
    assert_true(sqrt(off) <= accuracy * sqrt(length));
}

/* |g - S x|/|g| and, with many contacts, that. */
static void check(const pl_coupling *on, const double *g, const double *x, const double *moved,
                  double accuracy)
{
    /* GMRES' own residual is of W rounded, and twice what it is asked for will do. */
    double excess = moved ? 2.01 : 1.01;
    assert_close(contact_system_residual(&made, on->count, false, g, x), 0, excess * accuracy);
    if (moved)
        check_moved(on, x, moved, 2e-6); /* single precision */
}

static void test_solve(void **state)
{
    (void)state;
    double g[SIZE], x[SIZE], moved[SIZE];
    uint64_t seed = 4;
    bool solved;
    for (int i = 0; i < SIZE; i++)
        g[i] = test_random(&seed);
    for (int threads = 1; threads <= 3; threads += 2) {
        pl_context *ctx = test_context(threads);
        pl_contact_system s = {0};
        ctx->limits.gmres_contacts = FEW + 1;
        assert_ok(ctx, pl_contact_system_reserve(ctx, &s, COUNT));
        make_contact_system(&made, 3, 1e-2);
        pl_coupling on = coupling(FEW, false);
        assert_ok(ctx, pl_contact_system_solve(ctx, &s, &on, made.linear, g, 1e-2, x, moved, &solved));
        assert_true(solved);
        check(&on, g, x, NULL, 1e-13);
        assert_true(pl_contact_system_prepare(ctx, &s, &on, made.linear));
        assert_ok(ctx, pl_contact_system_approximate(ctx, &s, &on, made.linear, g, x, moved));
        check(&on, g, x, NULL, 1e-13);
        check_moved(&on, x, moved, 1e-13);

        /* Many: as well as asked for, by a new LU and then by the old one. */
        on = coupling(COUNT, false);
        for (double accuracy = 1e-1; accuracy > 1e-5; accuracy *= 0.1) {
            assert_ok(ctx, pl_contact_system_solve(ctx, &s, &on, made.linear, g, accuracy, x, moved,
                                                   &solved));
            assert_true(solved && s.schur.count == COUNT && !delassus.stiff);
            check(&on, g, x, moved, accuracy);
        }
        /* Roughly, with W and the LU in half precision. */
        assert_true(pl_contact_system_prepare(ctx, &s, &on, made.linear));
        assert_ok(ctx, pl_contact_system_approximate(ctx, &s, &on, made.linear, g, x, moved));
        assert_close(contact_system_residual(&made, COUNT, false, g, x), 0, 0.1);
        check_moved(&on, x, moved, 1e-3);
        pl_contact_system_forget(&s);
        assert_int_equal(s.schur.count, 0);
        pl_contact_system_free(ctx, &s);
        contact_products_free(ctx, &delassus);
        pl_context_destroy(ctx);
    }
}

/* Contacts that stick but for some, each time others: W^-1 once it would have paid, until W is another.
 */
static void test_lasting(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_system s = {0};
    double g[SIZE], x[SIZE], moved[SIZE];
    uint64_t seed = 4;
    bool solved;
    for (int i = 0; i < SIZE; i++)
        g[i] = test_random(&seed);
    make_contact_system(&made, 1, 0);
    assert_ok(ctx, pl_contact_system_reserve(ctx, &s, COUNT));
    for (int lasts = 0; lasts < 2; lasts++) {
        pl_coupling on = coupling(COUNT, lasts);
        for (int k = 0; k < 6; k++) {
            make_contact_system(&made, 1, 0);
            for (int c = k; c < COUNT; c += 5) {
                made.linear[c].d_delta[4] = made.linear[c].d_delta[8] = 1e-2;
                made.linear[c].d_lambda[4] = made.linear[c].d_lambda[8] = 1;
            }
            s.schur.count = 0; /* as after many changes */
            assert_ok(ctx,
                      pl_contact_system_solve(ctx, &s, &on, made.linear, g, 1e-4, x, moved, &solved));
            assert_true(solved);
            check(&on, g, x, moved, 1e-4);
            assert_int_equal(delassus.stiff, lasts && k > 0);
            assert_ok(ctx, pl_contact_system_approximate(ctx, &s, &on, made.linear, g, x, moved));
            assert_close(contact_system_residual(&made, COUNT, false, g, x), 0, 0.1);
            check_moved(&on, x, moved, lasts && k > 0 ? 1e-5 : 1e-3); /* single or half precision */
        }
    }
    pl_contact_system_free(ctx, &s);
    contact_products_free(ctx, &delassus);
    pl_context_destroy(ctx);
}

static void test_singular(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_system s = {0};
    double g[SIZE] = {1}, x[SIZE], moved[SIZE];
    bool solved = true;
    make_contact_system(&made, 1, 0);
    made.linear[5] = (pl_law_linear){0};
    ctx->limits.gmres_contacts = FEW + 1;
    assert_ok(ctx, pl_contact_system_reserve(ctx, &s, COUNT));
    for (int m = FEW; m <= COUNT; m += COUNT - FEW) {
        pl_coupling on = coupling(m, false);
        assert_ok(ctx, pl_contact_system_solve(ctx, &s, &on, made.linear, g, 1e-2, x, moved, &solved));
        assert_false(solved);
        assert_int_equal(pl_contact_system_prepare(ctx, &s, &on, made.linear), m != FEW);
        if (m == FEW)
            continue;
        /* Nothing to approximate it by. */
        assert_ok(ctx, pl_contact_system_approximate(ctx, &s, &on, made.linear, g, x, moved));
        for (int i = 0; i < SIZE; i++)
            assert_true(x[i] == 0 && moved[i] == 0);
    }
    pl_contact_system_free(ctx, &s);
    contact_products_free(ctx, &delassus);
    pl_context_destroy(ctx);
}

/* S = D_lambda + D_delta W, entry by entry, on one and on three threads. */
static void test_schur(void **state)
{
    (void)state;
    static double w[SIZE * SIZE], schur[2][SIZE * SIZE];
    static pl_law_linear linear[COUNT];
    uint64_t seed = 6;
    for (int i = 0; i < SIZE * SIZE; i++)
        w[i] = test_random(&seed);
    for (int c = 0; c < COUNT; c++)
        for (int k = 0; k < 9; k++) {
            linear[c].d_delta[k] = test_random(&seed);
            linear[c].d_lambda[k] = test_random(&seed);
        }
    for (int t = 0; t < 2; t++) {
        pl_context *ctx = test_context(1 + 2 * t);
        pl_contact_schur(ctx, COUNT, linear, w, schur[t]);
        pl_context_destroy(ctx);
    }
    assert_memory_equal(schur[0], schur[1], sizeof schur[0]);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = i / 3 == j / 3 ? linear[i / 3].d_lambda[3 * (i % 3) + j % 3] : 0;
            for (int k = 0; k < 3; k++)
                sum += linear[i / 3].d_delta[3 * (i % 3) + k] * w[(3 * (i / 3) + k) * SIZE + j];
            assert_close(schur[0][j * SIZE + i], sum, 1e-14);
        }
}

static pl_status run(pl_context *ctx, void *user)
{
    (void)user;
    pl_contact_system s = {0};
    pl_status status = pl_contact_system_reserve(ctx, &s, COUNT);
    pl_contact_system_free(ctx, &s);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(run, NULL) >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solve), cmocka_unit_test(test_lasting), cmocka_unit_test(test_singular),
        cmocka_unit_test(test_schur), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
