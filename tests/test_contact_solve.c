/* The contact law of many contacts with delta = W lambda + b, W random: cold, warm, without friction.
 */
#include "common_alloc.h"
#include "common_contact_products.h"

#include "contact/solve.h"
#include "core/vec.h"

enum { MOST = 24, MANY = 150 };

static const double no_force[3 * MANY]; /* b is the motion without contact forces */

typedef struct problem {
    int m;
    pl_law laws[MANY];
    double w[9 * MANY * MANY], b[3 * MANY];
    float single[9 * MANY * MANY], stiffness[9 * MANY * MANY], scratch[9 * MANY * MANY];
    double rho[MANY];
    pl_delassus delassus; /* of these */
} problem;

/* The first m of its contacts. */
static pl_contact_problem given(problem *p, int m, const double *origin)
{
    p->delassus.w = p->w;
    p->delassus.single = p->single;
    p->delassus.stiffness = p->stiffness;
    p->delassus.lower = p->scratch;
    contact_products_renew(&p->delassus, m, p->rho);
    return (pl_contact_problem){.on = {m, p->laws, &p->delassus}, .b = p->b, .origin = origin};
}

/* W = rho (G G^T + 0.2 I) with columns of G in proportion to 1/sqrt(size): contacts that feel each
 * other, as through one stiff body. A third of them press hard, a third just touch, a third leave. */
static void make(problem *p, int m, double mu, uint64_t seed)
{
    static double g[9 * MANY * MANY];
    int size = 3 * m;
    double rho = 1e-5;
    p->m = m;
    for (int i = 0; i < size * size; i++)
        g[i] = test_random(&seed) * sqrt(3.0 / size);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            double sum = i == j ? 0.2 : 0;
            for (int k = 0; k < size; k++)
                sum += g[size * i + k] * g[size * j + k];
            p->w[size * i + j] = rho * sum;
            p->single[size * i + j] = (float)p->w[size * i + j];
        }
    for (int c = 0; c < m; c++) {
        const double *d = &p->w[(size_t)(3 * c * (size + 1))];
        p->laws[c] = (pl_law){
            .mu = mu, .epsilon2 = 0.5e-12, .rho = (d[0] + d[size + 1] + d[2 * (size + 1)]) / 3};
        p->b[3 * c] = c % 3 == 0 ? -1e-3 * (1.5 + test_random(&seed)) : c % 3 == 1 ? -1e-7 : 1e-3;
        p->b[3 * c + 1] = 5e-4 * test_random(&seed);
        p->b[3 * c + 2] = 5e-4 * test_random(&seed);
    }
}

/* How far lambda is from a solution: the law at delta = W lambda + b, formed here, against rounding. */
static void check(const problem *p, const double *lambda, const double *delta)
{
    int size = 3 * p->m;
    for (int c = 0; c < p->m; c++) {
        double mine[3], largest = 0;
        for (int r = 0; r < 3; r++) {
            mine[r] = p->b[3 * c + r];
            for (int j = 0; j < size; j++) {
                double member = p->w[(3 * c + r) * size + j] * lambda[j];
                mine[r] += member;
                largest = fmax(largest, fabs(member));
            }
            largest = fmax(largest, fabs(p->b[3 * c + r]) + fabs(mine[r]));
            /* What is left of sums over all contacts: some ten roundings of their largest member, 3e-3
             * m. */
            assert_close(mine[r], delta[3 * c + r], 1e-17);
        }
        /* Sums of up to 450 members, each of which may be rounded: 450 2^-53 of the largest. */
        pl_law_linear at;
        pl_law_newton(&p->laws[c], delta + 3 * c, lambda + 3 * c, &at);
        assert_close(pl_norm3(at.residual), 0,
                     1e-9 * fabs(delta[3 * c]) +
                         5e-14 * (largest + p->laws[c].rho * fabs(lambda[3 * c])));
        pl_law_error e = pl_law_check(&p->laws[c], delta + 3 * c, lambda + 3 * c);
        assert_true(lambda[3 * c] > 0 && delta[3 * c] > -1e-17);
        assert_true(e.cone <= 1e-12 * lambda[3 * c]);
    }
}

static pl_contact_solution solve(pl_context *ctx, pl_contact_solver *s, problem *p, double *lambda)
{
    pl_contact_solution out;
    pl_contact_problem whole = given(p, p->m, no_force);
    assert_ok(ctx, pl_contact_solve(ctx, s, &whole, 0, lambda, &out));
    if (!out.converged)
        fail_msg("%d contacts, mu %g: residual %g m after %d iterations", p->m, p->laws[0].mu,
                 out.residual, out.iterations);
    check(p, lambda, s->delta);
    return out;
}

static void test_cold_and_warm(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    static problem p;
    const double friction[] = {0, 1e-9, 1e-3, 0.1, 0.5, 1.0};
    int warm_most = 0;
    ctx->limits.gmres_contacts = MOST + 1; /* Newton's own steps, not to single precision */
    for (int f = 0; f < 6; f++)
        for (int m = 1; m <= MOST; m += 1 + m / 3) {
            double lambda[3 * MOST] = {0};
            make(&p, m, friction[f], (uint64_t)(100 * m + f));
            solve(ctx, &s, &p, lambda);
            /* The next time step's problem is close by; its solution is near too. */
            for (int i = 0; i < 3 * m; i++)
                p.b[i] *= 1 + 1e-5 * (i % 5 - 2);
            pl_contact_solution warm = solve(ctx, &s, &p, lambda);
            warm_most = warm.iterations > warm_most ? warm.iterations : warm_most;
            /* A solution is a fixed point. */
            double again[3 * MOST];
            memcpy(again, lambda, sizeof again);
            assert_true(solve(ctx, &s, &p, again).iterations <= 1);
        }
    assert_true(warm_most <= 1); /* the start is predicted from the last solution */
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* A goal is met and not passed by much: fewer iterations, residuals below it. */
static void test_goal(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    static problem p;
    pl_contact_solution rough, fine;
    double lambda[2][3 * MOST] = {0};
    make(&p, MOST, 0.3, 21);
    pl_contact_problem whole = given(&p, p.m, no_force);
    assert_ok(ctx, pl_contact_solve(ctx, &s, &whole, 1e-6, lambda[0], &rough));
    assert_true(rough.converged && rough.residual <= 1e-6);
    pl_contact_solver_forget(&s); /* or the first answer is where the second solve starts */
    assert_ok(ctx, pl_contact_solve(ctx, &s, &whole, 0, lambda[1], &fine));
    assert_true(fine.converged && fine.residual < rough.residual && fine.iterations > rough.iterations);
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* More contacts than a dense factorisation is made for each time. */
static void test_many_contacts(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    static problem p;
    static double lambda[3 * MANY];
    make(&p, MANY, 0.3, 13);
    for (int k = 0; k < 4; k++) {
        solve(ctx, &s, &p, lambda);
        for (int i = 0; i < 3 * p.m; i++)
            p.b[i] *= 1 + 1e-3 * (i % 5 - 2);
    }
    /* A solver without a past gives the same. */
    static double fresh[3 * MANY];
    pl_contact_solver other = {0};
    solve(ctx, &s, &p, lambda);
    solve(ctx, &other, &p, fresh);
    for (int i = 0; i < 3 * p.m; i++)
        assert_close(lambda[i], fresh[i], 1e-7 * (1 + fabs(fresh[i])));
    pl_contact_solver_free(ctx, &s);
    pl_contact_solver_free(ctx, &other);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* Contacts near their answer, each a vertex of its own, that may add a little to what W makes of the
 * forces: they meet the law as well as ever, after fewer iterations. */
static void test_slack(void **state)
{
    (void)state;
    const double slack = 1e-14, change = 1e-9; /* m */
    pl_context *ctx = test_context(2);
    static problem p;
    static double near[3 * MANY], lambda[3 * MANY];
    pl_contact_solver first = {0};
    int iterations[2], size = 3 * MANY;
    uint64_t seed = 5;
    make(&p, MANY, 0.3, 31);
    solve(ctx, &first, &p, near);
    for (int i = 0; i < size; i++)
        p.b[i] = first.delta[i] + change * test_random(&seed);
    for (int with = 0; with < 2; with++) {
        pl_contact_solver s = {0};
        pl_contact_solution out;
        pl_contact_problem again = given(&p, MANY, near);
        again.slack = with * slack;
        p.delassus.apart = true;
        memcpy(lambda, near, sizeof lambda);
        assert_ok(ctx, pl_contact_solve(ctx, &s, &again, 0, lambda, &out));
        assert_true(out.converged);
        iterations[with] = out.iterations;
        for (int i = 0; i < size; i++) {
            double moved = 0;
            for (int j = 0; j < size; j++)
                moved += p.w[i * size + j] * s.change[j];
            assert_close(s.delta[i], p.b[i] + s.moved[i], 1e-24);
            /* W in single precision, in a sum of 450 */
            assert_close(s.moved[i], moved, with * 2 * slack + 1e-6 * change);
        }
        for (int c = 0; c < MANY; c++) {
            pl_law_error e = pl_law_check(&p.laws[c], s.delta + 3 * c, lambda + 3 * c);
            assert_true(e.complementarity < 2e-9 && e.cone <= 1e-12 * lambda[3 * c]);
        }
        pl_contact_solver_free(ctx, &s);
    }
    assert_true(iterations[1] < iterations[0]);
    p.delassus.apart = false;
    pl_contact_solver_free(ctx, &first);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* A W that lasts, most contacts sticking: its inverse takes over from LUs, and goes with it. One that
 * has no inverse will do as well. */
static void test_lasting(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    static problem p;
    static double lambda[3 * MANY];
    for (int edition = 1; edition < 4; edition++) {
        make(&p, MANY, 0.8, (uint64_t)(70 + edition));
        for (int i = 0; i < 3 * MANY; i++) { /* contacts that feel each other less, and press */
            p.w[i * (3 * MANY + 1)] *= 10;
            p.laws[i / 3].rho = p.w[i * (3 * MANY + 1)];
            p.b[i] = i % 3 == 0 ? -1e-3 * (i % 10 != 9) : 5e-5 * (i % 7 - 3);
        }
        for (int i = 0; edition == 3 && i < 3 * MANY; i++)
            for (int k = 0; k < 3; k++) { /* contacts 4 and 9 are the same vertex */
                int from = i / 3 == 9 ? i - 15 : i;
                p.w[(27 + k) * 3 * MANY + i] = p.w[(12 + k) * 3 * MANY + from];
                p.w[i * 3 * MANY + 27 + k] = p.w[(27 + k) * 3 * MANY + i];
            }
        for (int i = 0; i < 9 * MANY * MANY; i++)
            p.single[i] = (float)p.w[i];
        p.delassus.stiff = false;
        p.delassus.lasts = true;
        p.delassus.regret = 0;
        memset(lambda, 0, sizeof lambda);
        for (int k = 0; k < 12; k++) {
            pl_contact_problem lasting = given(&p, p.m, no_force);
            pl_contact_solution out;
            assert_ok(ctx, pl_contact_solve(ctx, &s, &lasting, 0, lambda, &out));
            assert_true(out.converged);
            if (edition < 3)
                check(&p, lambda, s.delta);
            else /* which of the two is pressed is open, so not to rounding: 1e-9 of the widest slip */
                assert_true(out.residual <= 1e-9 * 6.5e-4);
            for (int c = 0; c < MANY; c++) /* some begin to slip, others stop */
                p.b[3 * c + 1] = 5e-4 * ((c + k) % 9 == 0) * (1 + 0.1 * (c % 4));
        }
        assert_int_equal(p.delassus.stiff, edition < 3);
    }
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* Guesses far from the answer, wrong in size and sign. */
static void test_bad_guesses(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    static problem p;
    uint64_t seed = 77;
    make(&p, 12, 0.3, 1);
    double first[3 * MOST] = {0};
    solve(ctx, &s, &p, first);
    for (int trial = 0; trial < 20; trial++) {
        double lambda[3 * MOST];
        for (int i = 0; i < 3 * p.m; i++)
            lambda[i] = pow(10, trial % 7 - 3) * test_random(&seed) * 100;
        solve(ctx, &s, &p, lambda);
        for (int i = 0; i < 3 * p.m; i++) /* with friction this weak the answer is one */
            assert_close(lambda[i], first[i], 1e-7 * (1 + fabs(first[i])));
    }
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* mu -> 0 ends at the frictionless answer. */
static void test_friction_vanishes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    static problem p;
    double none[3 * MOST] = {0}, little[3 * MOST] = {0};
    make(&p, 10, 0, 4);
    solve(ctx, &s, &p, none);
    for (int c = 0; c < p.m; c++)
        p.laws[c].mu = 1e-9;
    solve(ctx, &s, &p, little);
    for (int c = 0; c < p.m; c++) {
        assert_true(none[3 * c + 1] == 0 && none[3 * c + 2] == 0);
        for (int k = 0; k < 3; k++)
            assert_close(little[3 * c + k], none[3 * c + k], 1e-7 * (1 + none[3 * c]));
    }
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* From forces as a correction before the last leaves them, up to 300 N: gaps of down to 1e-15 m keep
 * all their digits, although the rounding of the forces alone would move them by 1e-19 m. */
static void test_near_the_answer(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    static problem p;
    static double lambda[3 * MANY], origin[3 * MANY];
    const double friction[] = {0, 0.1, 0.5};
    uint64_t seed = 31;
    for (int k = 0; k < 6; k++) {
        pl_contact_solution out;
        make(&p, k % 2 ? MANY : MOST, friction[k / 2], (uint64_t)(40 + k));
        memset(lambda, 0, sizeof lambda);
        solve(ctx, &s, &p, lambda);
        for (int i = 0; i < 3 * p.m; i++) {
            p.b[i] = s.delta[i] + 1e-10 * test_random(&seed);
            origin[i] = lambda[i];
        }
        pl_contact_solver_forget(&s);
        pl_contact_problem near = given(&p, p.m, origin);
        assert_ok(ctx, pl_contact_solve(ctx, &s, &near, 0, lambda, &out));
        assert_true(out.converged && out.sharp);
        for (int c = 0; c < p.m; c++) {
            double delta[3];
            for (int r = 0; r < 3; r++) {
                delta[r] = p.b[3 * c + r];
                for (int j = 0; j < 3 * p.m; j++)
                    delta[r] += p.w[(size_t)(3 * c + r) * 3 * (size_t)p.m + (size_t)j] * s.change[j];
                assert_close(lambda[3 * c + r], origin[3 * c + r] + s.change[3 * c + r], 0);
            }
            pl_law_error e = pl_law_check(&p.laws[c], delta, lambda + 3 * c);
            assert_close(e.complementarity, 0, 5e-9);
            assert_true(e.cone <= 1e-12 * lambda[3 * c]);
        }
    }
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* Contacts that are vertices of their own move as W says to single precision; the law holds for that
 * motion to the last digit. */
static void test_apart(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    static problem p;
    static double lambda[3 * MANY], origin[3 * MANY];
    for (int k = 0; k < 3; k++) {
        pl_contact_solution out;
        make(&p, MANY, 0.25 * k, (uint64_t)(80 + k));
        memset(lambda, 0, sizeof lambda);
        solve(ctx, &s, &p, lambda);
        p.delassus.apart = true;
        for (int i = 0; i < 3 * MANY; i++) {
            p.b[i] = s.delta[i] + 3e-11 * (i % 7 - 3);
            origin[i] = lambda[i];
        }
        pl_contact_problem near = given(&p, MANY, origin);
        assert_ok(ctx, pl_contact_solve(ctx, &s, &near, 0, lambda, &out));
        p.delassus.apart = false;
        assert_true(out.converged && out.sharp);
        double off = 0, most = 0;
        for (int i = 0; i < 3 * MANY; i++) {
            double moved = 0;
            for (int j = 0; j < 3 * MANY; j++)
                moved += p.w[(size_t)i * 3 * MANY + (size_t)j] * s.change[j];
            off = fmax(off, fabs(s.moved[i] - moved));
            most = fmax(most, fabs(moved));
            assert_true(s.delta[i] == p.b[i] + s.moved[i]);
        }
        assert_true(off <= 2e-6 * most);
        for (int c = 0; c < MANY; c++)
            assert_close(pl_law_check(&p.laws[c], s.delta + 3 * c, lambda + 3 * c).complementarity, 0,
                         5e-9);
    }
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

/* Pressed straight down: no tangential load at all, the case in which the unregularised law has no
 * solution. */
static void test_no_tangential_load(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    static problem p;
    double lambda[3 * MOST] = {0};
    p = (problem){.m = 3};
    for (int i = 0; i < 9; i++)
        p.w[10 * i] = 1e-5, p.single[10 * i] = 1e-5F;
    for (int c = 0; c < 3; c++) {
        p.laws[c] = (pl_law){.mu = 0.5, .epsilon2 = 0.5e-12, .rho = 1e-5};
        p.b[3 * c] = -1e-4 * (c + 1);
    }
    solve(ctx, &s, &p, lambda);
    for (int c = 0; c < 3; c++) {
        pl_law_error e = pl_law_check(&p.laws[c], s.delta + 3 * c, lambda + 3 * c);
        assert_close(lambda[3 * c], 10.0 * (c + 1), 1e-6);
        assert_close(hypot(lambda[3 * c + 1], lambda[3 * c + 2]), 0, 1e-16);
        /* delta_n = 5e-14 m is a difference of numbers of 1e-4: it has 5e-8 of relative rounding in it.
         */
        assert_true(e.complementarity < 1e-6);
    }
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p.delassus);
    pl_context_destroy(ctx);
}

static void test_no_contacts(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_contact_solver s = {0};
    pl_contact_solution out;
    assert_ok(ctx, pl_contact_solve(ctx, &s, &(pl_contact_problem){0}, 0, NULL, &out));
    assert_true(out.converged);
    assert_int_equal(out.iterations, 0);
    pl_contact_solver_free(ctx, &s);
    pl_context_destroy(ctx);
}

static pl_status run(pl_context *ctx, void *user)
{
    problem *p = user;
    pl_contact_solver s = {0};
    pl_contact_solution out;
    double lambda[3 * MOST] = {0};
    pl_contact_problem first = given(p, 1, no_force), whole = given(p, p->m, no_force);
    pl_status status = pl_contact_solve(ctx, &s, &first, 0, lambda, &out);
    if (status == PL_OK)
        status = pl_contact_solve(ctx, &s, &whole, 0, lambda, &out);
    pl_contact_solver_free(ctx, &s);
    contact_products_free(ctx, &p->delassus);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    static problem p;
    make(&p, MOST, 0.2, 8);
    assert_true(test_fail_every_allocation(run, &p) >= 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cold_and_warm),
        cmocka_unit_test(test_goal),
        cmocka_unit_test(test_many_contacts),
        cmocka_unit_test(test_slack),
        cmocka_unit_test(test_lasting),
        cmocka_unit_test(test_bad_guesses),
        cmocka_unit_test(test_friction_vanishes),
        cmocka_unit_test(test_near_the_answer),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_no_tangential_load),
        cmocka_unit_test(test_no_contacts),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
