/* The optimisers on functions whose minima are known, with bounds, failing evaluations and resuming. */
#include "common.h"

#include "fit/optimizer.h"

typedef struct rosenbrock {
    int calls;
    double refuse_above;         /* x[0] beyond this cannot be evaluated */
    double rough_from, rough_to; /* between these it cannot be differentiated */
    int refused;
    int interrupt_at; /* this call is interrupted; 0 = none */
} rosenbrock;

/* f = sum 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2, as residuals 10 (x_{i+1} - x_i^2) and 1 - x_i */
static pl_status rosenbrock_residual_n(rosenbrock *f, int n, const double *x, double *r, double *j)
{
    f->calls++;
    if (f->calls == f->interrupt_at)
        return PL_ERROR_INTERRUPTED;
    if (x[0] > f->refuse_above || (j && x[0] > f->rough_from && x[0] < f->rough_to)) {
        f->refused++;
        return PL_ERROR_CONVERGENCE;
    }
    int m = 2 * (n - 1);
    if (j)
        memset(j, 0, (size_t)(n * m) * sizeof *j);
    for (int i = 0; i < n - 1; i++) {
        r[2 * i] = 10 * (x[i + 1] - x[i] * x[i]);
        r[2 * i + 1] = 1 - x[i];
        if (j) {
            j[i * m + 2 * i] = -20 * x[i];
            j[(i + 1) * m + 2 * i] = 10;
            j[i * m + 2 * i + 1] = -1;
        }
    }
    return PL_OK;
}

enum { N = 6, M = 2 * (N - 1) };

static pl_status rosenbrock_residual(void *user, const double *x, double *r, double *j)
{
    return rosenbrock_residual_n(user, N, x, r, j);
}

static pl_status rosenbrock_evaluate(void *user, const double *x, double *loss, double *g)
{
    double r[M], j[N * M];
    pl_status status = rosenbrock_residual_n(user, N, x, r, j);
    *loss = 0;
    if (status != PL_OK)
        return status;
    for (int k = 0; k < M; k++)
        *loss += r[k] * r[k];
    for (int i = 0; i < N; i++) {
        g[i] = 0;
        for (int k = 0; k < M; k++)
            g[i] += 2 * j[i * M + k] * r[k];
    }
    return PL_OK;
}

static const double none_low[N] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
static const double none_high[N] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
static const double start[N] = {-1.2, 1, -1.2, 1, -1.2, 1};

static pl_problem rosenbrock_problem(rosenbrock *f)
{
    return (pl_problem){.n = N,
                        .lower = none_low,
                        .upper = none_high,
                        .evaluate = rosenbrock_evaluate,
                        .residual_count = M,
                        .residual = rosenbrock_residual,
                        .user = f};
}

static pl_optimizer *run(pl_context *ctx, const pl_optimizer_def *def, const pl_problem *problem,
                         const double *x)
{
    pl_optimizer *opt;
    assert_ok(ctx, pl_optimizer_create(ctx, def, problem, x, &opt));
    assert_ok(ctx, pl_optimizer_start(opt));
    while (opt->state[PL_HEAD_STOP] == PL_STOP_NONE)
        assert_ok(ctx, pl_optimizer_step(opt));
    return opt;
}

static void minimises_rosenbrock(void **unused)
{
    (void)unused;
    const struct {
        pl_method method;
        int iterations;
        double error;
    } cases[] = {{PL_LBFGSB, 60, 1e-8}, {PL_LEVENBERG_MARQUARDT, 40, 1e-10}};
    pl_context *ctx = test_context(1);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rosenbrock f = {.refuse_above = INFINITY};
        pl_problem problem = rosenbrock_problem(&f);
        pl_optimizer_def def = pl_optimizer_def_default();
        def.method = cases[c].method;
        def.iterations = cases[c].iterations;
        def.stop_loss = 1e-22;
        pl_optimizer *opt = run(ctx, &def, &problem, start);
        assert_true(opt->state[PL_HEAD_STOP] != PL_STOP_ITERATIONS);
        for (int i = 0; i < N; i++)
            assert_close(pl_optimizer_x(opt, opt->state)[i], 1.0, cases[c].error);
        pl_optimizer_destroy(opt);
    }
    pl_context_destroy(ctx);
}

/* Points beyond x_0 = 1.05 cannot be evaluated; the minimum at 1 is still found. */
static void steps_back_from_refused_points(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const pl_method methods[] = {PL_LBFGSB, PL_LEVENBERG_MARQUARDT};
    for (int k = 0; k < 2; k++) {
        rosenbrock f = {.refuse_above = 1.05};
        pl_problem problem = rosenbrock_problem(&f);
        pl_optimizer_def def = pl_optimizer_def_default();
        def.method = methods[k];
        def.iterations = 200;
        def.stop_loss = 1e-20;
        pl_optimizer *opt = run(ctx, &def, &problem, start);
        assert_int_equal((int)opt->state[PL_HEAD_STOP], PL_STOP_LOSS);
        pl_optimizer_destroy(opt);
    }
    pl_context_destroy(ctx);
}

/* A point with a loss but without derivatives is too far as well: no step could start from there. */
static void steps_back_from_points_without_derivatives(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const pl_method methods[] = {PL_LBFGSB, PL_LEVENBERG_MARQUARDT};
    for (int k = 0; k < 2; k++) {
        rosenbrock f = {.refuse_above = INFINITY, .rough_from = 0, .rough_to = 0.2};
        pl_problem problem = rosenbrock_problem(&f);
        pl_optimizer_def def = pl_optimizer_def_default();
        def.method = methods[k];
        def.iterations = 200;
        def.stop_loss = 1e-20;
        pl_optimizer *opt = run(ctx, &def, &problem, start);
        assert_true(f.refused > 0);
        assert_int_equal((int)opt->state[PL_HEAD_STOP], PL_STOP_LOSS);
        pl_optimizer_destroy(opt);
    }
    pl_context_destroy(ctx);
}

/* f = x^T A x / 2 - b^T x + 1000 with A = tridiag(-1, 2 + shift, -1), as a box-constrained quadratic.
 */
enum { Q = 50 };

static pl_status quadratic(void *user, const double *x, double *loss, double *g)
{
    (void)user;
    *loss = 1000; /* losses are not negative */
    for (int i = 0; i < Q; i++) {
        double left = i > 0 ? x[i - 1] : 0, right = i < Q - 1 ? x[i + 1] : 0;
        double b = sin(0.7 * i) + 0.2;
        g[i] = 2.1 * x[i] - left - right - b;
        *loss += 0.5 * x[i] * (2.1 * x[i] - left - right) - b * x[i];
    }
    return PL_OK;
}

/* At the solution the gradient vanishes inside, and points outward at the bounds. */
static void satisfies_bounds_and_optimality(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    double low[Q], high[Q], x[Q];
    for (int i = 0; i < Q; i++) {
        low[i] = i % 3 == 0 ? -INFINITY : -0.3;
        high[i] = i % 5 == 0 ? INFINITY : 0.5;
        x[i] = i % 2 ? 3.0 : -3.0;
    }
    const pl_method methods[] = {PL_LBFGSB, PL_GRADIENT_DESCENT};
    for (int k = 0; k < 2; k++) {
        pl_problem problem = {.n = Q, .lower = low, .upper = high, .evaluate = quadratic};
        pl_optimizer_def def = pl_optimizer_def_default();
        def.method = methods[k];
        def.iterations = k ? 2000 : 80;
        def.rate = 0.4;
        def.stop_gradient = 1e-9;
        def.stop_decrease = 0;
        pl_optimizer *opt = run(ctx, &def, &problem, x);
        double *z = pl_optimizer_x(opt, opt->state), *g = pl_optimizer_gradient(opt, opt->state);
        int held = 0;
        assert_int_equal((int)opt->state[PL_HEAD_STOP], PL_STOP_GRADIENT);
        for (int i = 0; i < Q; i++) {
            assert_true(z[i] >= low[i] && z[i] <= high[i]);
            held += z[i] == low[i] || z[i] == high[i];
            if (z[i] > low[i])
                assert_true(g[i] <= 1e-9);
            if (z[i] < high[i])
                assert_true(g[i] >= -1e-9);
        }
        assert_true(held > 5 && held < Q);
        pl_optimizer_destroy(opt);
    }
    pl_context_destroy(ctx);
}

/* y = a exp(-b t): exact data, so a zero residual at a = 2, b = 0.7; b is bounded. */
static pl_status decay(void *user, const double *x, double *r, double *j)
{
    (void)user;
    for (int k = 0; k < 20; k++) {
        double t = 0.25 * k, e = exp(-x[1] * t);
        r[k] = x[0] * e - 2 * exp(-0.7 * t);
        if (j)
            j[k] = e, j[20 + k] = -t * x[0] * e;
    }
    return PL_OK;
}

static void fits_a_decay_within_bounds(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const double x[2] = {0.1, 3.0}, low[2] = {0, 0};
    for (int bounded = 0; bounded < 2; bounded++) {
        const double high[2] = {INFINITY, bounded ? 0.5 : 10};
        pl_problem problem = {
            .n = 2, .lower = low, .upper = high, .residual_count = 20, .residual = decay};
        pl_optimizer_def def = pl_optimizer_def_default();
        def.method = PL_LEVENBERG_MARQUARDT;
        def.iterations = 30;
        def.stop_loss = 1e-26;
        pl_optimizer *opt = run(ctx, &def, &problem, x);
        double *z = pl_optimizer_x(opt, opt->state), *g = pl_optimizer_gradient(opt, opt->state);
        if (bounded) {
            assert_true(z[1] == 0.5 && g[1] < 0);
            assert_close(g[0], 0, 1e-8);
        } else {
            assert_close(z[0], 2.0, 1e-12);
            assert_close(z[1], 0.7, 1e-12);
        }
        pl_optimizer_destroy(opt);
    }
    pl_context_destroy(ctx);
}

/* A modulus in Pa that is seen in m: the loss's slope is far below the last digit of the unknown. */
static pl_status soft_spring(void *user, const double *x, double *loss, double *g)
{
    (void)user;
    double off = 1e-9 * (x[0] - 1e5);
    *loss = off * off;
    g[0] = 2e-9 * off;
    return PL_OK;
}

static void units_do_not_matter(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const double x = 1.04e5, low = 0, high = 1e6;
    pl_problem problem = {.n = 1, .lower = &low, .upper = &high, .evaluate = soft_spring};
    pl_optimizer_def def = pl_optimizer_def_default();
    def.method = PL_LBFGSB;
    pl_optimizer *opt = run(ctx, &def, &problem, &x);
    assert_close(pl_optimizer_x(opt, opt->state)[0], 1e5, 1e-6);
    pl_optimizer_destroy(opt);
    pl_context_destroy(ctx);
}

/* A tenth of the way down a plateau whose slope is 1e-9, as a body that a force does not yet lift. */
static pl_status plateau(void *user, const double *x, double *loss, double *g)
{
    (void)user;
    double lifted = x[0] > 10 ? x[0] - 10 : 0, missing = 10 - lifted - 1e-9 * x[0];
    *loss = missing * missing;
    g[0] = -2 * missing * ((x[0] > 10) + 1e-9);
    return PL_OK;
}

static void crosses_a_plateau(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const double x[1] = {0}, low[1] = {-100}, high[1] = {100};
    pl_problem problem = {.n = 1, .lower = low, .upper = high, .evaluate = plateau};
    pl_optimizer_def def = pl_optimizer_def_default();
    def.stop_loss = 1e-20;
    pl_optimizer *opt = run(ctx, &def, &problem, x);
    assert_int_equal((int)opt->state[PL_HEAD_STOP], PL_STOP_LOSS);
    assert_true(opt->state[PL_HEAD_EVALUATIONS] < 20);
    pl_optimizer_destroy(opt);

    /* Descent needs a rate that grows: 2^30 times as long a step on the plateau as behind it. */
    def.method = PL_GRADIENT_DESCENT;
    def.growth = 2;
    def.iterations = 300;
    opt = run(ctx, &def, &problem, x);
    assert_int_equal((int)opt->state[PL_HEAD_STOP], PL_STOP_LOSS);
    pl_optimizer_destroy(opt);
    pl_context_destroy(ctx);
}

static void descent_follows_its_formula(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    double low[Q], high[Q], x[Q] = {0}, g[Q], loss;
    for (int i = 0; i < Q; i++)
        low[i] = -INFINITY, high[i] = INFINITY;
    pl_problem problem = {.n = Q, .lower = low, .upper = high, .evaluate = quadratic};
    pl_optimizer_def def = pl_optimizer_def_default();
    def.rate = 0.125;
    def.iterations = 1;
    quadratic(NULL, x, &loss, g);
    const pl_method methods[] = {PL_GRADIENT_DESCENT, PL_ADAM, PL_GRADIENT_DESCENT};
    for (int k = 0; k < 3; k++) {
        def.method = methods[k];
        def.max_step = k == 2 ? 0.01 : 0;
        pl_optimizer *opt = run(ctx, &def, &problem, x);
        double *z = pl_optimizer_x(opt, opt->state), largest = 0;
        for (int i = 0; i < Q; i++)
            largest = fmax(largest, fabs(g[i]));
        for (int i = 0; i < Q; i++) {
            /* The first step of Adam has the size of the rate, whatever the gradient. */
            double step = k == 0   ? 0.125 * g[i]
                          : k == 1 ? copysign(0.125, g[i])
                                   : 0.01 * g[i] / largest;
            assert_close(z[i], -step, 1e-15);
        }
        pl_optimizer_destroy(opt);
    }
    pl_context_destroy(ctx);
}

static void steps_are_limited(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const pl_method methods[] = {PL_GRADIENT_DESCENT, PL_LBFGSB, PL_LEVENBERG_MARQUARDT};
    for (int k = 0; k < 3; k++) {
        rosenbrock f = {.refuse_above = INFINITY};
        pl_problem problem = rosenbrock_problem(&f);
        pl_optimizer_def def = pl_optimizer_def_default();
        pl_optimizer *opt;
        double longest = 0;
        def.method = methods[k];
        def.max_step = 0.03;
        def.growth = 2;
        assert_ok(ctx, pl_optimizer_create(ctx, &def, &problem, start, &opt));
        assert_ok(ctx, pl_optimizer_start(opt));
        for (int i = 0; i < 20; i++) {
            assert_ok(ctx, pl_optimizer_step(opt));
            longest = fmax(longest, opt->state[PL_HEAD_STEP]);
        }
        assert_close(longest, 0.03, 1e-12);
        pl_optimizer_destroy(opt);
    }
    pl_context_destroy(ctx);
}

/* Saving the array after any iteration and going on from it gives the same bits as never stopping. */
static void resumes_bit_for_bit(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    for (int method = 0; method <= PL_LEVENBERG_MARQUARDT; method++) {
        rosenbrock f = {.refuse_above = INFINITY};
        pl_problem problem = rosenbrock_problem(&f);
        pl_optimizer_def def = pl_optimizer_def_default();
        def.method = (pl_method)method;
        def.iterations = 15;
        def.rate = 1e-4;
        def.growth = 1.3;
        def.pairs = 3;
        pl_optimizer *whole = run(ctx, &def, &problem, start);
        double *saved = NULL;
        for (int stop = 0; stop < 15; stop += 4) {
            pl_optimizer *opt;
            assert_ok(ctx, pl_optimizer_create(ctx, &def, &problem, start, &opt));
            assert_ok(ctx, pl_optimizer_start(opt));
            for (int k = 0; k < stop; k++)
                assert_ok(ctx, pl_optimizer_step(opt));
            int count = opt->state_count;
            saved = realloc(saved, (size_t)count * sizeof *saved);
            memcpy(saved, opt->state, (size_t)count * sizeof *saved);
            pl_optimizer_destroy(opt);

            assert_ok(ctx, pl_optimizer_create(ctx, &def, &problem, start, &opt));
            assert_ok(ctx, pl_optimizer_resume(opt, count, saved));
            while (opt->state[PL_HEAD_STOP] == PL_STOP_NONE)
                assert_ok(ctx, pl_optimizer_step(opt));
            assert_memory_equal(opt->state, whole->state, (size_t)count * sizeof *saved);
            pl_optimizer_destroy(opt);
        }
        free(saved);
        pl_optimizer_destroy(whole);
    }
    pl_context_destroy(ctx);
}

/* An evaluation interrupted at any moment leaves the last whole iteration. */
static void interruption_keeps_the_last_iteration(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    for (int method = 0; method <= PL_LEVENBERG_MARQUARDT; method++)
        for (int when = 2; when < 30; when += 3) {
            rosenbrock f = {.refuse_above = INFINITY, .interrupt_at = when},
                       g = {.refuse_above = INFINITY};
            pl_problem cut = rosenbrock_problem(&f), plain = rosenbrock_problem(&g);
            pl_optimizer_def def = pl_optimizer_def_default();
            def.method = (pl_method)method;
            def.rate = 1e-4;
            pl_optimizer *a, *b;
            assert_ok(ctx, pl_optimizer_create(ctx, &def, &cut, start, &a));
            assert_ok(ctx, pl_optimizer_create(ctx, &def, &plain, start, &b));
            assert_ok(ctx, pl_optimizer_start(a));
            assert_ok(ctx, pl_optimizer_start(b));
            for (;;) {
                pl_status status = pl_optimizer_step(a);
                if (status != PL_OK) {
                    assert_int_equal(status, PL_ERROR_INTERRUPTED);
                    break;
                }
                assert_ok(ctx, pl_optimizer_step(b));
            }
            assert_memory_equal(a->state, b->state, (size_t)a->state_count * sizeof *a->state);
            assert_ok(ctx, pl_optimizer_step(a));
            assert_ok(ctx, pl_optimizer_step(b));
            assert_memory_equal(a->state, b->state, (size_t)a->state_count * sizeof *a->state);
            pl_optimizer_destroy(a);
            pl_optimizer_destroy(b);
        }
    pl_context_destroy(ctx);
}

static void rejects_bad_definitions(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    rosenbrock f = {.refuse_above = INFINITY};
    pl_problem problem = rosenbrock_problem(&f);
    pl_optimizer *opt;
    pl_optimizer_def def = pl_optimizer_def_default();
    def.rate = NAN;
    assert_int_equal(pl_optimizer_create(ctx, &def, &problem, start, &opt), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "rate"));
    def = pl_optimizer_def_default();
    def.pairs = 0;
    assert_int_equal(pl_optimizer_create(ctx, &def, &problem, start, &opt), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "pairs"));
    def = pl_optimizer_def_default();
    assert_ok(ctx, pl_optimizer_create(ctx, &def, &problem, start, &opt));
    assert_int_equal(pl_optimizer_resume(opt, 3, start), PL_ERROR_ARGUMENT);
    f.refuse_above = -10;
    assert_int_equal(pl_optimizer_start(opt), PL_ERROR_CONVERGENCE);
    pl_optimizer_destroy(opt);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimises_rosenbrock),
        cmocka_unit_test(steps_back_from_refused_points),
        cmocka_unit_test(steps_back_from_points_without_derivatives),
        cmocka_unit_test(satisfies_bounds_and_optimality),
        cmocka_unit_test(fits_a_decay_within_bounds),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(crosses_a_plateau),
        cmocka_unit_test(descent_follows_its_formula),
        cmocka_unit_test(steps_are_limited),
        cmocka_unit_test(resumes_bit_for_bit),
        cmocka_unit_test(interruption_keeps_the_last_iteration),
        cmocka_unit_test(rejects_bad_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
