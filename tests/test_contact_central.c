/* The contact law by its central path: redundant contacts with friction, whose W is singular. */
#include "common.h"
#include "common_contact_products.h"

#include "contact/solve.h"
#include "core/vec.h"

enum { MOST = 60, SIZE = 3 * MOST };

typedef struct problem {
    int m;
    pl_law laws[MOST];
    double w[SIZE * SIZE], b[SIZE], rho[MOST];
    float single[SIZE * SIZE];
    pl_delassus delassus;
} problem;

static const double no_force[SIZE];

static pl_contact_problem given(problem *p)
{
    p->delassus.w = p->w;
    p->delassus.single = p->single;
    contact_products_renew(&p->delassus, p->m, p->rho);
    return (pl_contact_problem){.on = {p->m, p->laws, &p->delassus}, .b = p->b, .origin = no_force};
}

/* m contacts of two layers that a few vertices carry: each contact pushes four of them apart, with
 * weights that a face has, so that W = rho H H^T has rank 3 `vertices` at most. All are pressed
 * together and sheared. */
static void make(problem *p, int m, int vertices, double mu, uint64_t seed)
{
    static double h[SIZE * SIZE];
    int size = 3 * m, wide = 3 * vertices;
    double rho = 1e-5;
    p->m = m;
    memset(h, 0, sizeof h);
    for (int c = 0; c < m; c++) {
        double weight[4] = {1, -0.5, -0.3, -0.2};
        for (int k = 0; k < 4; k++) {
            int v = (int)(0.5 * (1 + test_random(&seed)) * (vertices - 1));
            for (int r = 0; r < 3; r++)
                h[(3 * c + r) * wide + 3 * v + r] += weight[k] * (1 + 0.1 * test_random(&seed));
        }
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            double sum = 0;
            for (int k = 0; k < wide; k++)
                sum += h[i * wide + k] * h[j * wide + k];
            p->w[i * size + j] = rho * sum;
            p->single[i * size + j] = (float)p->w[i * size + j];
        }
    for (int c = 0; c < m; c++) {
        const double *d = &p->w[(size_t)(3 * c * (size + 1))];
        p->laws[c] =
            (pl_law){.mu = mu, .epsilon2 = 5e-13, .rho = (d[0] + d[size + 1] + d[2 * size + 2]) / 3};
    }
    /* What some motion of the vertices does, so that there is one that takes it back. */
    double x[SIZE];
    for (int k = 0; k < wide; k++)
        x[k] = 1e-3 * test_random(&seed);
    for (int i = 0; i < size; i++) {
        p->b[i] = i % 3 == 0 ? 1e-4 : 0;
        for (int k = 0; k < wide; k++)
            p->b[i] += h[i * wide + k] * x[k];
    }
}

/* The law holds at delta = b + W lambda, formed here. */
static void check(const problem *p, const double *lambda)
{
    int size = 3 * p->m;
    for (int c = 0; c < p->m; c++) {
        double delta[3];
        pl_law_linear at;
        for (int r = 0; r < 3; r++) {
            delta[r] = p->b[3 * c + r];
            for (int j = 0; j < size; j++)
                delta[r] += p->w[(3 * c + r) * size + j] * lambda[j];
        }
        assert_true(lambda[3 * c] > 0);
        assert_true(hypot(lambda[3 * c + 1], lambda[3 * c + 2]) <=
                    p->laws[c].mu * lambda[3 * c] * (1 + 1e-12));
        pl_law_newton(&p->laws[c], delta, lambda + 3 * c, &at);
        assert_close(pl_norm3(at.residual), 0, 1e-16); /* sums of 180 members of 1e-3 m */
    }
}

static void redundant_contacts(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    pl_contact_solver s = {0};
    const double friction[] = {0, 1e-6, 0.05, 0.3, 0.8, 1.5};
    int most = 0;
    for (int f = 0; f < 6; f++)
        for (int m = 10; m <= MOST; m += 25)
            for (uint64_t seed = 1; seed <= 4; seed++) {
                double lambda[SIZE] = {0};
                make(&p, m, m / 3 + 2, friction[f], seed);
                pl_contact_problem whole = given(&p);
                pl_contact_solution out = {0};
                assert_ok(ctx, pl_contact_solve(ctx, &s, &whole, 0, lambda, &out));
                if (!out.converged)
                    fail_msg("%d contacts, mu %g, seed %d: residual %g m after %d iterations", m,
                             friction[f], (int)seed, out.residual, out.iterations);
                check(&p, lambda);
                most = out.iterations > most ? out.iterations : most;
            }
    assert_true(most <= 100);
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

typedef struct follower {
    pl_contact_system system;
    pl_central central;
    pl_law_linear linear[MOST];
} follower;

static bool follow(pl_context *ctx, follower *f, const pl_contact_problem *whole, const double *guess,
                   int *iterations)
{
    pl_path path = {.ctx = ctx,
                    .system = &f->system,
                    .on = &whole->on,
                    .b = whole->b,
                    .origin = whole->origin,
                    .linear = f->linear};
    assert_ok(ctx, pl_contact_system_reserve(ctx, &f->system, MOST));
    assert_ok(ctx, pl_central_reserve(ctx, &f->central, MOST));
    bool found = pl_central_solve(&path, &f->central, guess);
    *iterations = path.iterations;
    return found;
}

static void stop(pl_context *ctx, follower *f)
{
    pl_central_free(ctx, &f->central);
    pl_contact_system_free(ctx, &f->system);
}

/* The path itself, from nothing: the same for any force there was before. */
static void the_path_alone(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    static follower f;
    static double origin[SIZE], b[SIZE];
    int iterations, again;
    make(&p, 40, 12, 0.3, 7);
    pl_contact_problem whole = given(&p);
    assert_true(follow(ctx, &f, &whole, no_force, &iterations));
    assert_true(iterations <= 60);
    /* b seen from other forces is the same problem. */
    uint64_t seed = 3;
    for (int i = 0; i < 120; i++)
        origin[i] = test_random(&seed);
    memcpy(b, p.b, sizeof b);
    pl_delassus_multiply(ctx, 40, p.w, origin, b);
    whole.b = b, whole.origin = origin;
    assert_true(follow(ctx, &f, &whole, no_force, &again));
    assert_true(abs(again - iterations) <= 3); /* but for rounding */
    for (int c = 0; c < 40; c++)
        assert_close(f.central.delta[3 * c] * f.central.lambda[3 * c], 5e-13, 1e-17);
    stop(ctx, &f);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* From forces of nearly the same problem, fewer LUs lead to its answer. */
static void from_forces_about_right(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    static follower f;
    int cold = 0, warm = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double lambda[SIZE], motion[SIZE];
        int iterations;
        make(&p, 40, 12, 0.3, seed);
        pl_contact_problem whole = given(&p);
        assert_true(follow(ctx, &f, &whole, no_force, &iterations));
        memcpy(lambda, f.central.lambda, sizeof lambda);
        for (int i = 0; i < 3 * p.m; i++)
            p.b[i] += 1e-6 * test_random(&(uint64_t){seed + (uint64_t)i});
        assert_true(follow(ctx, &f, &whole, no_force, &iterations));
        memcpy(motion, f.central.delta, sizeof motion);
        cold += iterations;
        assert_true(follow(ctx, &f, &whole, lambda, &iterations));
        warm += iterations;
        for (int i = 0; i < 3 * p.m; i++)
            assert_close(f.central.delta[i], motion[i], 1e-9);
    }
    assert_true(warm < 0.7 * cold);
    stop(ctx, &f);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* Few contacts that share few vertices, with much friction: forces that hold make themselves greater,
 * there are several solutions, and every tenth path turns back on its way. */
static void paths_that_turn_back(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    static follower f;
    int most = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        int iterations;
        make(&p, 3 + (int)(seed % 6), 3, 1 + 0.01 * (double)seed, seed);
        pl_contact_problem whole = given(&p);
        if (!follow(ctx, &f, &whole, no_force, &iterations))
            fail_msg("seed %d: lost after %d iterations", (int)seed, iterations);
        most = iterations > most ? iterations : most;
        for (int c = 0; c < p.m; c++)
            assert_close(f.central.delta[3 * c] * f.central.lambda[3 * c], 5e-13, 1e-17);
        double lambda[SIZE] = {0};
        pl_contact_solver s = {0};
        pl_contact_solution out = {0};
        assert_ok(ctx, pl_contact_solve(ctx, &s, &whole, 0, lambda, &out));
        assert_true(out.converged);
        check(&p, lambda);
        pl_contact_solver_free(ctx, &s);
    }
    assert_true(most <= 150);
    stop(ctx, &f);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redundant_contacts),
        cmocka_unit_test(the_path_alone),
        cmocka_unit_test(from_forces_about_right),
        cmocka_unit_test(paths_that_turn_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
