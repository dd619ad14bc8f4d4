/* Forecasts of a linear system, each unknown a spring of its own, by implicit Euler: what is told to be
 * left of the balance of forces is left, and nothing where the motion has few frequencies. */
#include "common_alloc.h"

#include "sim/forecast.h"

enum { N = 40, SIZE = 3 * N };

typedef struct springs {
    double mass[N], stiffness[SIZE];
    double q[SIZE], v[SIZE], acceleration[SIZE];
} springs;

static const double h = 0.01, h4 = 1e-8;

/* Springs of which so many are different, for masses of one. */
static void make(springs *s, int kinds)
{
    uint64_t seed = 3;
    for (int i = 0; i < SIZE; i++) {
        if (i % 3 == 0)
            s->mass[i / 3] = 1 + 0.5 * test_random(&seed);
        s->stiffness[i] = s->mass[i / 3] * 2e3 * (1 + i % kinds);
        s->q[i] = test_random(&seed);
        s->v[i] = 10 * test_random(&seed);
    }
}

static void step(springs *s)
{
    for (int i = 0; i < SIZE; i++) {
        double m = s->mass[i / 3], k = s->stiffness[i];
        double u = (h * m * s->v[i] - h * h * k * s->q[i]) / (m + h * h * k);
        s->acceleration[i] = (u / h - s->v[i]) / h;
        s->q[i] += u;
        s->v[i] = u / h;
    }
}

/* r^T M^-1 r at q0 + h v0 + h^2 sum c_j a_j. */
static double imbalance(const springs *s, const pl_forecast *f, int terms, const double *c)
{
    double sum = 0;
    for (int i = 0; i < SIZE; i++) {
        double m = s->mass[i / 3], a = 0;
        for (int j = 0; j < terms; j++)
            a += c[j] * pl_forecast_past(f, j)[i];
        double r = h * h * m * a + h * h * s->stiffness[i] * (s->q[i] + h * s->v[i] + h * h * a);
        sum += r * r / m;
    }
    return sum;
}

static void run(pl_context *ctx, springs *s, pl_forecast *f, int steps)
{
    for (int k = 0; k < steps; k++) {
        step(s);
        pl_forecast_add(ctx, f, s->mass, s->acceleration);
    }
}

static void test_linear_motion(void **state)
{
    (void)state;
    static const double parabola[] = {1}, cubic[] = {2, -1};
    for (int kinds = 1; kinds <= SIZE; kinds *= 2) {
        springs s;
        pl_forecast f;
        double c[PL_FORECAST_TERMS], left;
        pl_context *ctx = test_context(1);
        assert_ok(ctx, pl_forecast_create(ctx, N, &f));
        make(&s, kinds);
        for (int count = 1; count < 12; count++) {
            run(ctx, &s, &f, 1);
            int terms = pl_forecast_fit(&f, c, &left);
            assert_int_equal(terms, count < 3                  ? 0
                                    : count < PL_FORECAST_KEPT ? count - 2
                                                               : PL_FORECAST_TERMS);
            if (terms == 0)
                continue;
            double polynomial = fmin(imbalance(&s, &f, 1, parabola), imbalance(&s, &f, 2, cubic));
            double there = imbalance(&s, &f, terms, c);
            /* Rounding, where terms nearly depend on each other and c is large. */
            assert_close(left, there / h4, 1e-6 * there / h4 + 2e-12 * f.product[0][0]);
            assert_true(terms < 2 || there <= polynomial);
            if (terms >= 2 * kinds) /* an oscillation is told by two accelerations */
                assert_true(there < 1e-9 * polynomial);
        }
        pl_forecast_reset(&f);
        assert_int_equal(pl_forecast_fit(&f, c, &left), 0);
        pl_forecast_free(ctx, &f);
        pl_context_destroy(ctx);
    }
}

/* What does not move has nothing to tell. */
static void test_at_rest(void **state)
{
    (void)state;
    springs s = {0};
    pl_forecast f;
    double c[PL_FORECAST_TERMS], left;
    pl_context *ctx = test_context(1);
    assert_ok(ctx, pl_forecast_create(ctx, N, &f));
    for (int i = 0; i < N; i++)
        s.mass[i] = 1;
    run(ctx, &s, &f, 10);
    assert_int_equal(pl_forecast_fit(&f, c, &left), 0);
    pl_forecast_free(ctx, &f);
    pl_context_destroy(ctx);
}

static pl_status create(pl_context *ctx, void *user)
{
    (void)user;
    pl_forecast f;
    pl_status status = pl_forecast_create(ctx, N, &f);
    pl_forecast_free(ctx, &f);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(create, NULL) >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_motion),
        cmocka_unit_test(test_at_rest),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
