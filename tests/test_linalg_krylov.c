/* CG and GMRES on small dense systems: what they report is the true residual, whatever happens. */
#include "common_alloc.h"

#include "linalg/krylov.h"

enum { SIZE = 40 };

typedef struct dense {
    double a[SIZE * SIZE];
    double diagonal[SIZE];
    int applied, fail_at;
} dense;

static pl_status multiply(void *user, const double *x, double *y)
{
    dense *d = user;
    if (++d->applied == d->fail_at)
        return PL_ERROR_INTERRUPTED;
    for (int i = 0; i < SIZE; i++) {
        y[i] = 0;
        for (int j = 0; j < SIZE; j++)
            y[i] += d->a[SIZE * i + j] * x[j];
    }
    return PL_OK;
}

static pl_status jacobi(void *user, const double *x, double *y)
{
    const dense *d = user;
    for (int i = 0; i < SIZE; i++)
        y[i] = x[i] / d->diagonal[i];
    return PL_OK;
}

/* B B^T + I with rows scaled over four orders of magnitude; with `skew`, plus a skew part. */
static void make(dense *d, double skew)
{
    double b[SIZE * SIZE];
    uint64_t seed = 5;
    for (int i = 0; i < SIZE * SIZE; i++)
        b[i] = test_random(&seed);
    *d = (dense){0};
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = i == j;
            for (int k = 0; k < SIZE; k++)
                sum += b[SIZE * i + k] * b[SIZE * j + k];
            double turn = i < j ? b[SIZE * i + j] : i > j ? -b[SIZE * j + i] : 0;
            d->a[SIZE * i + j] = (sum + skew * turn) * pow(10, -0.05 * (i + j));
        }
    for (int i = 0; i < SIZE; i++)
        d->diagonal[i] = d->a[(SIZE + 1) * i];
}

static double true_residual(dense *d, const double *b, const double *x)
{
    double r[SIZE], above = 0, below = 0;
    multiply(d, x, r);
    for (int i = 0; i < SIZE; i++) {
        above += (b[i] - r[i]) * (b[i] - r[i]);
        below += b[i] * b[i];
    }
    return sqrt(above / below);
}

static void fill(double *b)
{
    uint64_t seed = 9;
    for (int i = 0; i < SIZE; i++)
        b[i] = test_random(&seed);
}

typedef pl_status (*method)(pl_krylov *, int, pl_operator, pl_operator, const double *, double *,
                            double, int, pl_krylov_result *);

static void solve_and_check(method solve, dense *d, bool preconditioned, int restart, double tolerance,
                            pl_krylov_result *result)
{
    pl_context *ctx = test_context(1);
    pl_krylov k = {0};
    double b[SIZE], x[SIZE];
    fill(b);
    assert_ok(ctx, pl_krylov_reserve(ctx, &k, SIZE, restart));
    assert_ok(ctx,
              solve(&k, SIZE, (pl_operator){multiply, d},
                    (pl_operator){preconditioned ? jacobi : NULL, d}, b, x, tolerance, 2000, result));
    assert_true(result->converged);
    assert_false(result->indefinite);
    assert_close(result->residual, true_residual(d, b, x), 1e-15);
    assert_true(result->residual <= 2 * tolerance);
    pl_krylov_free(ctx, &k);
    pl_context_destroy(ctx);
}

static void test_methods_solve(void **state)
{
    (void)state;
    dense symmetric, skew;
    pl_krylov_result plain, helped;
    make(&symmetric, 0);
    make(&skew, 3);
    solve_and_check(pl_cg, &symmetric, false, 1, 1e-8, &plain);
    solve_and_check(pl_cg, &symmetric, true, 1, 1e-8, &helped);
    assert_true(helped.iterations < plain.iterations);
    solve_and_check(pl_gmres, &skew, false, SIZE, 1e-12, &plain);
    assert_true(plain.iterations <= SIZE);
    solve_and_check(pl_gmres, &skew, true, SIZE, 1e-12, &helped);
    assert_true(helped.iterations <= SIZE);
    /* Restarts: more iterations, the same answer. */
    solve_and_check(pl_gmres, &skew, true, 30, 1e-10, &plain);
    assert_true(plain.iterations >= helped.iterations);
}

/* Jacobi to two or three digits, as single precision is to more: not linear. */
static pl_status rough_jacobi(void *user, const double *x, double *y)
{
    jacobi(user, x, y);
    for (int i = 0; i < SIZE; i++) {
        int exponent;
        double mantissa = frexp(y[i], &exponent);
        y[i] = ldexp(round(256 * mantissa) / 256, exponent);
    }
    return PL_OK;
}

/* A product for each iteration and one for the true residual: no restart to mend what the
 * preconditioner's rounding did. */
static void test_gmres_with_a_rough_preconditioner(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_krylov k = {0};
    pl_krylov_result result;
    dense d;
    double b[SIZE], x[SIZE];
    make(&d, 3);
    fill(b);
    assert_ok(ctx, pl_krylov_reserve(ctx, &k, SIZE, SIZE));
    assert_ok(ctx, pl_gmres(&k, SIZE, (pl_operator){multiply, &d}, (pl_operator){rough_jacobi, &d}, b,
                            x, 1e-10, 500, &result));
    assert_true(result.converged);
    assert_true(result.iterations <= SIZE);
    assert_int_equal(d.applied, result.iterations + 1);
    pl_krylov_free(ctx, &k);
    pl_context_destroy(ctx);
}

/* A direction of negative curvature must be noticed, not divided by. */
static void test_cg_notices_an_indefinite_matrix(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_krylov k = {0};
    pl_krylov_result result;
    dense d;
    double b[SIZE], x[SIZE];
    make(&d, 0);
    for (int i = 0; i < SIZE; i++)
        d.a[(SIZE + 1) * i] -= 20 * pow(10, -0.1 * i);
    fill(b);
    assert_ok(ctx, pl_krylov_reserve(ctx, &k, SIZE, SIZE));
    assert_ok(ctx,
              pl_cg(&k, SIZE, (pl_operator){multiply, &d}, (pl_operator){0}, b, x, 1e-8, 500, &result));
    assert_true(result.indefinite);
    assert_false(result.converged);
    assert_ok(ctx, pl_gmres(&k, SIZE, (pl_operator){multiply, &d}, (pl_operator){0}, b, x, 1e-10, 500,
                            &result));
    assert_true(result.converged);
    assert_true(true_residual(&d, b, x) <= 2e-10);
    pl_krylov_free(ctx, &k);
    pl_context_destroy(ctx);
}

static void test_what_does_not_converge_says_so(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_krylov k = {0};
    pl_krylov_result result;
    dense d;
    double b[SIZE], x[SIZE];
    make(&d, 3);
    fill(b);
    assert_ok(ctx, pl_krylov_reserve(ctx, &k, SIZE, SIZE));
    assert_ok(ctx, pl_gmres(&k, SIZE, (pl_operator){multiply, &d}, (pl_operator){0}, b, x, 1e-12, 5,
                            &result));
    assert_false(result.converged);
    assert_int_equal(result.iterations, 5);
    assert_close(result.residual, true_residual(&d, b, x), 1e-15);
    assert_true(result.residual > 1e-12 && result.residual < 1);
    /* A singular system whose right-hand side is out of reach. */
    for (int i = 0; i < SIZE; i++)
        d.a[SIZE * 3 + i] = d.a[SIZE * i + 3] = 0;
    assert_ok(ctx, pl_gmres(&k, SIZE, (pl_operator){multiply, &d}, (pl_operator){0}, b, x, 1e-10, 500,
                            &result));
    assert_false(result.converged);
    assert_true(isfinite(result.residual) && result.residual > 1e-3);
    /* An operator's error comes through. */
    d.applied = 0, d.fail_at = 4;
    assert_int_equal(
        pl_gmres(&k, SIZE, (pl_operator){multiply, &d}, (pl_operator){0}, b, x, 1e-10, 500, &result),
        PL_ERROR_INTERRUPTED);
    d.applied = 0;
    assert_int_equal(
        pl_cg(&k, SIZE, (pl_operator){multiply, &d}, (pl_operator){0}, b, x, 1e-10, 500, &result),
        PL_ERROR_INTERRUPTED);
    pl_krylov_free(ctx, &k);
    pl_context_destroy(ctx);
}

static void test_nothing_to_solve(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_krylov k = {0};
    pl_krylov_result result;
    dense d;
    double b[SIZE] = {0}, x[SIZE];
    make(&d, 0);
    assert_ok(ctx, pl_krylov_reserve(ctx, &k, SIZE, SIZE));
    method methods[] = {pl_cg, pl_gmres};
    for (int m = 0; m < 2; m++) {
        memset(x, 1, sizeof x);
        assert_ok(ctx, methods[m](&k, SIZE, (pl_operator){multiply, &d}, (pl_operator){0}, b, x, 1e-8,
                                  5, &result));
        assert_true(result.converged);
        assert_int_equal(result.iterations, 0);
        for (int i = 0; i < SIZE; i++)
            assert_true(x[i] == 0);
    }
    pl_krylov_free(ctx, &k);
    pl_context_destroy(ctx);
}

static pl_status reserve(pl_context *ctx, void *user)
{
    (void)user;
    pl_krylov k = {0};
    pl_status status = pl_krylov_reserve(ctx, &k, 10, 4);
    if (status == PL_OK)
        status = pl_krylov_reserve(ctx, &k, 50, 8);
    pl_krylov_free(ctx, &k);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_int_equal(test_fail_every_allocation(reserve, NULL), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods_solve),
        cmocka_unit_test(test_gmres_with_a_rough_preconditioner),
        cmocka_unit_test(test_cg_notices_an_indefinite_matrix),
        cmocka_unit_test(test_what_does_not_converge_says_so),
        cmocka_unit_test(test_nothing_to_solve),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
