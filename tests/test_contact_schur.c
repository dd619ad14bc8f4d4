/* The approximate inverse of the contact system: exact where its assumption holds, close elsewhere. */
#include "common_alloc.h"

#include "contact/schur.h"

enum { COUNT = 40, SIZE = 3 * COUNT };

typedef struct contact_system {
    pl_law laws[COUNT];
    pl_law_linear linear[COUNT];
    float w[SIZE * SIZE];
} contact_system;

/* W = B B^T + I, and contacts of which every `stick`th sticks while the others slip; slipping ones'
 * equations depend on tangential motion by `leak`. */
static void make(contact_system *s, int stick, double leak)
{
    static double b[SIZE * SIZE];
    uint64_t seed = 9;
    for (int i = 0; i < SIZE * SIZE; i++)
        b[i] = test_random(&seed) / sqrt(SIZE);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = i == j;
            for (int k = 0; k < SIZE; k++)
                sum += b[i * SIZE + k] * b[j * SIZE + k];
            s->w[i * SIZE + j] = (float)sum;
        }
    for (int c = 0; c < COUNT; c++) {
        pl_law_linear *l = &s->linear[c];
        *l = (pl_law_linear){0};
        s->laws[c] = (pl_law){.mu = 0.3, .epsilon2 = 1e-12, .rho = 1};
        bool slips = c % stick != 0;
        l->d_delta[0] = 1;
        l->d_lambda[0] = 1e-3;
        for (int k = 1; k < 3; k++) {
            l->d_delta[4 * k] = slips ? leak : 1;
            l->d_lambda[4 * k] = slips ? 1 : 1e-3;
            l->d_lambda[3 * k] = slips ? 0.3 * k : 0;
            l->d_delta[3 * k] = slips ? 0 : 0.1;
        }
    }
}

/* The relative residual of y = S^-1 x. */
static double residual_of(const contact_system *s, pl_schur *schur)
{
    double x[SIZE], y[SIZE], left = 0, all = 0;
    uint64_t seed = 3;
    for (int i = 0; i < SIZE; i++)
        x[i] = test_random(&seed);
    pl_schur_solve(schur, x, y);
    for (int c = 0; c < COUNT; c++)
        for (int r = 0; r < 3; r++) {
            double sum = -x[3 * c + r];
            for (int k = 0; k < 3; k++) {
                double moved = 0;
                for (int j = 0; j < SIZE; j++)
                    moved += (double)s->w[(3 * c + k) * SIZE + j] * y[j];
                sum += s->linear[c].d_delta[3 * r + k] * moved +
                       s->linear[c].d_lambda[3 * r + k] * y[3 * c + k];
            }
            left += sum * sum;
            all += x[3 * c + r] * x[3 * c + r];
        }
    return sqrt(left / all);
}

static double factor_and_solve(contact_system *s, int threads, int *size)
{
    pl_context *ctx = test_context(threads);
    pl_schur schur = {0};
    assert_ok(ctx, pl_schur_reserve(ctx, &schur, COUNT));
    pl_schur_factor(ctx, &schur, COUNT, s->laws, s->linear, s->w);
    assert_int_equal(schur.count, COUNT);
    assert_int_equal(schur.size, 3 * COUNT - 2 * schur.slips);
    assert_true(pl_schur_patience(&schur) > 0);
    double residual = residual_of(s, &schur);
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
    make(&s, 1, 0);
    assert_true(factor_and_solve(&s, 1, &size) < 1e-6);
    assert_int_equal(size, SIZE);
    /* Most slip, their tangential equations without any motion: exact too. */
    make(&s, 4, 0);
    assert_true(factor_and_solve(&s, 1, &size) < 1e-6);
    assert_int_equal(size, 10 * 3 + 30);
    /* With a little of it, as good as that is small. */
    make(&s, 4, 1e-2);
    double residual = factor_and_solve(&s, 1, &size);
    assert_true(residual < 5e-3 && residual > 1e-4);
    assert_int_equal(size, 10 * 3 + 30);
    assert_true(factor_and_solve(&s, 3, &size) == residual);
}

static void test_singular(void **state)
{
    (void)state;
    static contact_system s;
    pl_context *ctx = test_context(1);
    pl_schur schur = {0};
    make(&s, 1, 0);
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
