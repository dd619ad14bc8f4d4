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
typedef pl_status (*preconditioner)(void *, const double *, double *);

/* One system and what solving it takes. */
typedef struct fixture {
    pl_context *ctx;
    pl_krylov k;
    dense d;
    double b[SIZE], x[SIZE];
    double near; /* of the preconditioner */
    int near_size;
    pl_krylov_result result;
} fixture;

static void start(fixture *f, double skew, int restart)
{
    *f = (fixture){.ctx = test_context(1)};
    make(&f->d, skew);
    fill(f->b);
    assert_ok(f->ctx, pl_krylov_reserve(f->ctx, &f->k, SIZE, restart));
}

static void finish(fixture *f)
{
    pl_krylov_free(f->ctx, &f->k);
    pl_context_destroy(f->ctx);
}

static pl_status solve(fixture *f, method by, preconditioner p, double tolerance, int most)
{
    pl_operator inverse = {.apply = p, .user = &f->d, .near = f->near, .near_size = f->near_size};
    return by(&f->k, SIZE, (pl_operator){.apply = multiply, .user = &f->d}, inverse, f->b, f->x,
              tolerance, most, &f->result);
}

/* Returns how many iterations it took. */
static int solve_and_check(method by, double skew, preconditioner p, int restart, double tolerance)
{
    fixture f;
    start(&f, skew, restart);
    assert_ok(f.ctx, solve(&f, by, p, tolerance, 2000));
    assert_true(f.result.converged);
    assert_false(f.result.indefinite);
    assert_close(f.result.residual, true_residual(&f.d, f.b, f.x), 1e-15);
    assert_true(f.result.residual <= 2 * tolerance);
    finish(&f);
    return f.result.iterations;
}

static void test_methods_solve(void **state)
{
    (void)state;
    assert_true(solve_and_check(pl_cg, 0, jacobi, 1, 1e-8) < solve_and_check(pl_cg, 0, NULL, 1, 1e-8));
    assert_true(solve_and_check(pl_gmres, 3, NULL, SIZE, 1e-12) <= SIZE);
    int helped = solve_and_check(pl_gmres, 3, jacobi, SIZE, 1e-12);
    assert_true(helped <= SIZE);
    /* Restarts: more iterations, the same answer. */
    assert_true(solve_and_check(pl_gmres, 3, jacobi, 30, 1e-10) >= helped);
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
    fixture f;
    start(&f, 3, SIZE);
    assert_ok(f.ctx, solve(&f, pl_gmres, rough_jacobi, 1e-10, 500));
    assert_true(f.result.converged);
    assert_true(f.result.iterations <= SIZE);
    assert_int_equal(f.d.applied, f.result.iterations + 1);
    finish(&f);
}

/* The product with each entry of A rounded to three digits. */
static pl_status rough_multiply(void *user, const double *x, double *y)
{
    const dense *d = user;
    for (int i = 0; i < SIZE; i++) {
        y[i] = 0;
        for (int j = 0; j < SIZE; j++)
            y[i] += round(1024 * d->a[SIZE * i + j] / d->diagonal[i]) / 1024 * d->diagonal[i] * x[j];
    }
    return PL_OK;
}

/* Iterations by a rough product, restarts by what the exact one leaves over: an answer with all digits.
 */
static void test_gmres_with_a_rough_product(void **state)
{
    (void)state;
    fixture f;
    start(&f, 0, SIZE);
    for (int i = 0; i < SIZE; i++)
        f.d.a[(SIZE + 1) * i] = 2 * f.d.diagonal[i]; /* or three digits are none */
    pl_operator a = {.apply = rough_multiply, .user = &f.d, .exactly = multiply};
    pl_operator p = {.apply = jacobi, .user = &f.d};
    assert_ok(f.ctx, pl_gmres(&f.k, SIZE, a, p, f.b, f.x, 1e-9, 500, &f.result));
    assert_true(f.result.converged);
    assert_true(f.result.residual <= 2e-9);
    assert_close(f.result.residual, true_residual(&f.d, f.b, f.x), 1e-15);
    assert_in_range(f.d.applied - 1, 2, 6); /* restarts */
    finish(&f);
}

/* No product but the iterations' own, and the residual that they tell. */
static void test_gmres_that_is_trusted(void **state)
{
    (void)state;
    fixture f;
    start(&f, 3, SIZE);
    pl_operator a = {.apply = multiply, .user = &f.d, .trusted = true};
    pl_operator p = {.apply = jacobi, .user = &f.d};
    assert_ok(f.ctx, pl_gmres(&f.k, SIZE, a, p, f.b, f.x, 1e-6, 500, &f.result));
    assert_true(f.result.converged && f.result.residual <= 1e-6);
    assert_int_equal(f.d.applied, f.result.iterations);
    assert_close(f.result.residual, true_residual(&f.d, f.b, f.x), 1e-12);
    /* One that ends too early is looked at all the same. */
    f.d.applied = 0;
    assert_ok(f.ctx, pl_gmres(&f.k, SIZE, a, p, f.b, f.x, 1e-6, 5, &f.result));
    assert_false(f.result.converged);
    assert_int_equal(f.d.applied, 6);
    assert_close(f.result.residual, true_residual(&f.d, f.b, f.x), 1e-15);
    finish(&f);
}

/* Far too few iterations for the tolerance: most of them are saved, and it says how far it came. */
static void test_gmres_that_is_impatient(void **state)
{
    (void)state;
    fixture f;
    start(&f, 3, SIZE);
    f.k.impatient = true;
    assert_ok(f.ctx, solve(&f, pl_gmres, NULL, 1e-12, 12));
    assert_false(f.result.converged);
    assert_int_equal(f.result.iterations, 4);
    assert_close(f.result.residual, true_residual(&f.d, f.b, f.x), 1e-15);
    /* Enough of them: the answer. */
    for (int i = 0; i < SIZE; i++)
        f.d.a[(SIZE + 1) * i] *= 3;
    assert_ok(f.ctx, solve(&f, pl_gmres, jacobi, 1e-10, SIZE));
    assert_true(f.result.converged && f.result.iterations > 4);
    finish(&f);
}

/* Near enough by what the preconditioner makes of the residual, of all unknowns or the first ones:
 * fewer iterations, and the residual as it is. */
static void test_gmres_that_is_near(void **state)
{
    (void)state;
    double exact[SIZE], made[SIZE];
    fixture f;
    start(&f, 3, SIZE);
    for (int i = 0; i < SIZE; i++) /* so that Jacobi's is close to the inverse */
        f.d.diagonal[i] = f.d.a[(SIZE + 1) * i] *= 20;
    assert_ok(f.ctx, solve(&f, pl_gmres, jacobi, 1e-12, SIZE));
    int all = f.result.iterations;
    memcpy(exact, f.x, sizeof exact);
    for (int counted = SIZE; counted > 0; counted -= SIZE / 2) {
        f.near = 1e-5;
        f.near_size = counted;
        assert_ok(f.ctx, solve(&f, pl_gmres, jacobi, 1e-12, SIZE));
        assert_true(f.result.converged && f.result.residual > 1e-12 && f.result.iterations < all);
        assert_close(f.result.residual, true_residual(&f.d, f.b, f.x), 1e-15);
        for (int i = 0; i < counted; i++)
            assert_close(f.x[i], exact[i], 2 * f.near);
        /* One iteration less would not have been: its own residual, which the direction before it told
         * to within ten times. */
        f.near = 0;
        assert_ok(f.ctx, solve(&f, pl_gmres, jacobi, 1e-12, f.result.iterations - 1));
        multiply(&f.d, f.x, made);
        double most = 0;
        for (int i = 0; i < counted; i++)
            most = fmax(most, fabs(f.b[i] - made[i]) / f.d.diagonal[i]);
        assert_true(most > 1e-6);
    }
    finish(&f);
}

/* A direction of negative curvature must be noticed, not divided by. */
static void test_cg_notices_an_indefinite_matrix(void **state)
{
    (void)state;
    fixture f;
    start(&f, 0, SIZE);
    for (int i = 0; i < SIZE; i++)
        f.d.a[(SIZE + 1) * i] -= 20 * pow(10, -0.1 * i);
    assert_ok(f.ctx, solve(&f, pl_cg, NULL, 1e-8, 500));
    assert_true(f.result.indefinite);
    assert_false(f.result.converged);
    assert_ok(f.ctx, solve(&f, pl_gmres, NULL, 1e-10, 500));
    assert_true(f.result.converged);
    assert_true(true_residual(&f.d, f.b, f.x) <= 2e-10);
    finish(&f);
}

static void test_what_does_not_converge_says_so(void **state)
{
    (void)state;
    fixture f;
    start(&f, 3, SIZE);
    assert_ok(f.ctx, solve(&f, pl_gmres, NULL, 1e-12, 5));
    assert_false(f.result.converged);
    assert_int_equal(f.result.iterations, 5);
    assert_close(f.result.residual, true_residual(&f.d, f.b, f.x), 1e-15);
    assert_true(f.result.residual > 1e-12 && f.result.residual < 1);
    /* A singular system whose right-hand side is out of reach. */
    for (int i = 0; i < SIZE; i++)
        f.d.a[SIZE * 3 + i] = f.d.a[SIZE * i + 3] = 0;
    assert_ok(f.ctx, solve(&f, pl_gmres, NULL, 1e-10, 500));
    assert_false(f.result.converged);
    assert_true(isfinite(f.result.residual) && f.result.residual > 1e-3);
    /* An operator's error comes through. */
    f.d.applied = 0, f.d.fail_at = 4;
    assert_int_equal(solve(&f, pl_gmres, NULL, 1e-10, 500), PL_ERROR_INTERRUPTED);
    f.d.applied = 0;
    assert_int_equal(solve(&f, pl_cg, NULL, 1e-10, 500), PL_ERROR_INTERRUPTED);
    finish(&f);
}

static void test_nothing_to_solve(void **state)
{
    (void)state;
    fixture f;
    start(&f, 0, SIZE);
    memset(f.b, 0, sizeof f.b);
    method methods[] = {pl_cg, pl_gmres};
    for (int m = 0; m < 2; m++) {
        memset(f.x, 1, sizeof f.x);
        assert_ok(f.ctx, solve(&f, methods[m], NULL, 1e-8, 5));
        assert_true(f.result.converged);
        assert_int_equal(f.result.iterations, 0);
        for (int i = 0; i < SIZE; i++)
            assert_true(f.x[i] == 0);
    }
    finish(&f);
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
    assert_int_equal(test_fail_every_allocation(reserve, NULL), 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods_solve),
        cmocka_unit_test(test_gmres_with_a_rough_preconditioner),
        cmocka_unit_test(test_gmres_with_a_rough_product),
        cmocka_unit_test(test_gmres_that_is_trusted),
        cmocka_unit_test(test_gmres_that_is_impatient),
        cmocka_unit_test(test_gmres_that_is_near),
        cmocka_unit_test(test_cg_notices_an_indefinite_matrix),
        cmocka_unit_test(test_what_does_not_converge_says_so),
        cmocka_unit_test(test_nothing_to_solve),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
