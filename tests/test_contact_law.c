/*
 * The contact law of one contact. Its solutions are known in closed form for a given delta,
 *
 *     lambda_n = eps^2/delta_n,   lambda_f = -mu lambda_n delta_f/x_hat,   x_hat = |delta_f| +
 * delta_n/mu,
 *
 * which every test here compares with: sticking, slipping, leaving, with tiny friction, with none.
 */
#include "common.h"

#include "contact/law.h"
#include "core/vec.h"

typedef struct regime {
    const char *name;
    pl_law law;
    double delta[3];
} regime;

/* Soft laws (eps^2 not small) so that differences see all terms, then what a simulation meets. */
static const regime regimes[] = {
    {"soft stick", {.mu = 0.5, .epsilon2 = 1e-3, .rho = 0.1}, {1e-3, 3e-5, -2e-5}},
    {"soft slip", {.mu = 0.5, .epsilon2 = 1e-3, .rho = 0.1}, {1e-3, 0.2, 0.3}},
    {"soft corner", {.mu = 0.3, .epsilon2 = 1e-2, .rho = 1.0}, {0.05, -0.1, 0.02}},
    {"soft leaving", {.mu = 0.7, .epsilon2 = 1e-3, .rho = 0.1}, {2.0, 0.3, -0.1}},
    {"soft, no tangential load", {.mu = 0.4, .epsilon2 = 1e-3, .rho = 0.1}, {1e-2, 0, 0}},
    {"soft, large mu", {.mu = 20, .epsilon2 = 1e-3, .rho = 0.1}, {1e-2, 0.01, 0.03}},
    {"soft, tiny mu", {.mu = 1e-6, .epsilon2 = 1e-3, .rho = 0.1}, {1e-2, 0.2, 0.1}},
    {"soft, no friction", {.mu = 0, .epsilon2 = 1e-3, .rho = 0.1}, {1e-2, 0.2, 0.1}},
    {"stick", {.mu = 0.5, .epsilon2 = 0.5e-12, .rho = 1e-5}, {1e-12, 2e-13, 1e-13}},
    {"slip", {.mu = 0.5, .epsilon2 = 0.5e-12, .rho = 1e-5}, {1e-12, 2e-4, -1e-3}},
    {"leaving", {.mu = 0.5, .epsilon2 = 0.5e-12, .rho = 1e-5}, {1e-4, 2e-4, -1e-3}},
    {"no tangential load", {.mu = 0.5, .epsilon2 = 0.5e-12, .rho = 1e-5}, {1e-12, 0, 0}},
    {"tiny mu, slip", {.mu = 1e-8, .epsilon2 = 0.5e-12, .rho = 1e-5}, {1e-12, 2e-4, -1e-3}},
    {"no friction", {.mu = 0, .epsilon2 = 0.5e-12, .rho = 1e-5}, {1e-12, 2e-4, -1e-3}},
};

enum { REGIMES = sizeof regimes / sizeof *regimes };

static double residual(const pl_law *law, const double delta[3], const double lambda[3])
{
    pl_law_linear at;
    pl_law_newton(law, delta, lambda, &at);
    return pl_norm3(at.residual);
}

static void closed_form(const pl_law *law, const double delta[3], double lambda[3])
{
    double x = hypot(delta[1], delta[2]);
    lambda[0] = law->epsilon2 / delta[0];
    lambda[1] = lambda[2] = 0;
    for (int k = 1; law->mu > 0 && k < 3; k++)
        lambda[k] = -law->mu * lambda[0] * delta[k] / (x + delta[0] / law->mu);
}

/* Lengths over which delta and lambda change by order one: the step sizes of differences. */
static void sizes(const pl_law *law, const double delta[3], const double lambda[3], double d[3],
                  double l[3])
{
    double x_hat = law->mu > 0 ? hypot(delta[1], delta[2]) + delta[0] / law->mu : 1;
    double s = law->mu > 0 ? law->epsilon2 / x_hat : lambda[0];
    d[0] = delta[0], d[1] = d[2] = x_hat;
    l[0] = fmin(lambda[0], law->mu > 0 ? s / law->mu : lambda[0]);
    l[1] = l[2] = s;
}

/* A solution is a root of the solver's residual, as far as delta and lambda carry the digits. */
static void test_solutions_are_roots(void **state)
{
    (void)state;
    for (int k = 0; k < REGIMES; k++) {
        const pl_law *law = &regimes[k].law;
        const double *delta = regimes[k].delta;
        double lambda[3];
        closed_form(law, delta, lambda);
        double r = residual(law, delta, lambda);
        double floor = 1e-15 * (law->rho * lambda[0] + pl_norm3(delta));
        if (!(r <= floor))
            fail_msg("%s: residual %g m > %g", regimes[k].name, r, floor);
        pl_law_error e = pl_law_check(law, delta, lambda);
        assert_close(e.complementarity, 0, 1e-15);
        /* mu lambda_n - |lambda_f| = s loses mu lambda_n / s of its digits. */
        double s = law->mu > 0 ? law->epsilon2 / (hypot(delta[1], delta[2]) + delta[0] / law->mu) : 1;
        assert_close(e.friction, 0, 1e-15 * (2 + law->mu * lambda[0] / s));
        assert_true(e.cone <= 0);
    }
}

/* ... and what is no solution is none: half of each force leaves a residual of the motion's order. */
static void test_other_points_are_not(void **state)
{
    (void)state;
    for (int k = 0; k < REGIMES; k++) {
        const pl_law *law = &regimes[k].law;
        double lambda[3], other[3];
        closed_form(law, regimes[k].delta, lambda);
        for (int i = 0; i < 3; i++)
            other[i] = 0.5 * lambda[i];
        double r = residual(law, regimes[k].delta, other);
        assert_true(r > 0.1 * fmin(regimes[k].delta[0], law->rho * lambda[0]));
        assert_true(pl_law_check(law, regimes[k].delta, other).complementarity > 0.4);
    }
}

/* The Newton matrix at a solution, against central differences of the residual. */
static void test_newton_matrix(void **state)
{
    (void)state;
    for (int k = 0; k < 8;
         k++) { /* the soft ones: differences need digits that eps ~ 1e-12 leaves none of */
        const pl_law *law = &regimes[k].law;
        double lambda[3], size[2][3];
        pl_law_linear at, side[2];
        closed_form(law, regimes[k].delta, lambda);
        sizes(law, regimes[k].delta, lambda, size[0], size[1]);
        pl_law_newton(law, regimes[k].delta, lambda, &at);
        for (int which = 0; which < 2; which++)
            for (int j = 0; j < 3; j++) {
                double step = 1e-5 * size[which][j];
                for (int s = 0; s < 2; s++) {
                    double p[2][3];
                    memcpy(p[0], regimes[k].delta, sizeof p[0]);
                    memcpy(p[1], lambda, sizeof p[1]);
                    p[which][j] += s ? step : -step;
                    pl_law_newton(law, p[0], p[1], &side[s]);
                }
                for (int i = 0; i < 3; i++) {
                    double fd = (side[1].residual[i] - side[0].residual[i]) / (2 * step);
                    double exact = (which ? at.d_lambda : at.d_delta)[3 * i + j];
                    double scale = which ? law->rho : 1;
                    /* Without tangential motion or load the direction is undefined: |delta_f| has a
                     * kink. */
                    if (regimes[k].delta[1] == 0 && regimes[k].delta[2] == 0 && j > 0)
                        continue;
                    if (!(fabs(fd - exact) <= 1e-7 * scale))
                        fail_msg("%s: d residual[%d] / d %s[%d] = %.12g, differences %.12g",
                                 regimes[k].name, i, which ? "lambda" : "delta", j, exact, fd);
                }
            }
    }
}

/* lambda's derivatives from D_lambda d(lambda) = -D_delta d(delta) - d_mu d(mu). */
static void solve_linear(const pl_law_linear *at, const double rhs[3], double out[3])
{
    double inverse[9];
    pl_inverse3(at->d_lambda, inverse);
    pl_mat3_vec(inverse, rhs, out);
    for (int i = 0; i < 3; i++)
        out[i] = -out[i];
}

/* d(lambda) = -K d(delta) + k_mu d(mu) from pl_law_derivative, against solving the law again. */
static void test_derivative_of_the_solution(void **state)
{
    (void)state;
    for (int k = 0; k < REGIMES; k++) {
        const pl_law *law = &regimes[k].law;
        const double *delta = regimes[k].delta;
        double lambda[3], size[3], force_size[3], d_mu[3];
        pl_law_point point;
        pl_law_linear at;
        closed_form(law, delta, lambda);
        sizes(law, delta, lambda, size, force_size);
        pl_law_resolve(law, delta, lambda, &point);
        pl_law_derivative(law, &point, lambda, &at, d_mu);
        for (int i = 0; i < 3; i++)
            assert_true(at.residual[i] == 0);
        for (int j = 0; j < 4; j++) {
            double step = 1e-5 * (j < 3 ? size[j] : law->mu), side[2][3], rhs[3], exact[3];
            if (step == 0)
                continue;
            for (int s = 0; s < 2; s++) {
                double moved[3] = {delta[0], delta[1], delta[2]};
                pl_law other = *law;
                *(j < 3 ? &moved[j] : &other.mu) += s ? step : -step;
                closed_form(&other, moved, side[s]);
            }
            for (int i = 0; i < 3; i++)
                rhs[i] = j < 3 ? at.d_delta[3 * i + j] : d_mu[i];
            solve_linear(&at, rhs, exact);
            for (int i = 0; i < 3; i++) {
                double fd = (side[1][i] - side[0][i]) / (2 * step);
                /* In slip, s is what rounding of mu lambda_n and |lambda_f| leaves; K's row for it
                 * holds s/x_hat, a small part of its other entries. |delta_f| has a kink at zero,
                 * second order here. */
                double scale = fmax(lambda[0], fabs(lambda[i])) / (j < 3 ? size[j] : law->mu) *
                               (law->mu > 0 && i > 0 ? fmax(law->mu, 1e-3) : 1);
                double kink = delta[1] == 0 && delta[2] == 0 ? 2e-5 : 0;
                if (!(fabs(fd - exact[i]) <= (1e-8 + kink) * scale))
                    fail_msg("%s: d lambda[%d] / d %d = %.12g, differences %.12g", regimes[k].name, i,
                             j, exact[i], fd);
            }
        }
    }
}

/* A gap of 1e-12 m computed as H q - d carries no digits: the derivative must not use it. */
static void test_resolve_does_not_cancel(void **state)
{
    (void)state;
    for (int k = 8; k < REGIMES; k++) {
        const pl_law *law = &regimes[k].law;
        double lambda[3], spoilt[3], d_mu[3];
        pl_law_point clean, noisy;
        pl_law_linear a, b;
        closed_form(law, regimes[k].delta, lambda);
        memcpy(spoilt, regimes[k].delta, sizeof spoilt);
        spoilt[0] += 3e-13; /* rounding of positions near 1 m, a few times over */
        pl_law_resolve(law, regimes[k].delta, lambda, &clean);
        pl_law_resolve(law, spoilt, lambda, &noisy);
        assert_true(clean.delta_n == noisy.delta_n);
        pl_law_derivative(law, &clean, lambda, &a, d_mu);
        pl_law_derivative(law, &noisy, lambda, &b, d_mu);
        for (int i = 0; i < 9; i++) {
            assert_true(a.d_delta[i] == b.d_delta[i]);
            assert_true(a.d_lambda[i] == b.d_lambda[i]);
        }
        assert_close(noisy.delta_n, regimes[k].delta[0], 1e-15 * regimes[k].delta[0]);
        if (law->mu > 0) {
            double x_hat =
                hypot(regimes[k].delta[1], regimes[k].delta[2]) + regimes[k].delta[0] / law->mu;
            assert_close(clean.x_hat, x_hat, 1e-12 * x_hat);
            assert_close(clean.s, law->epsilon2 / x_hat, 1e-12 * law->epsilon2 / x_hat);
        }
    }
}

/* Forces die out smoothly with distance, and mu -> 0 leads to no friction. */
static void test_limits(void **state)
{
    (void)state;
    double before = INFINITY;
    for (double gap = 1e-13; gap < 1; gap *= 10) {
        pl_law law = {.mu = 0.5, .epsilon2 = 0.5e-12, .rho = 1e-5};
        double delta[3] = {gap, 1e-3, 0}, lambda[3];
        closed_form(&law, delta, lambda);
        assert_true(lambda[0] < before && lambda[0] > 0);
        assert_true(-lambda[1] < law.mu * lambda[0]);
        before = lambda[0];
    }
    assert_true(before < 1e-11);
    for (double mu = 1e-2; mu > 1e-12; mu *= 0.1) {
        pl_law law = {.mu = mu, .epsilon2 = 0.5e-12, .rho = 1e-5},
               none = {.mu = 0, .epsilon2 = 0.5e-12, .rho = 1e-5};
        double delta[3] = {1e-12, 1e-3, 2e-3}, lambda[3], free[3];
        closed_form(&law, delta, lambda);
        closed_form(&none, delta, free);
        pl_law_linear a, b;
        pl_law_newton(&law, delta, lambda, &a);
        pl_law_newton(&none, delta, free, &b);
        assert_true(hypot(lambda[1], lambda[2]) <= mu * lambda[0]);
        for (int i = 0; i < 9; i++) /* nothing in the linearised law grows as mu -> 0 */
            assert_true(fabs(a.d_delta[i]) <= 2 && fabs(a.d_lambda[i]) <= 2 * law.rho);
        assert_true(a.d_delta[0] == b.d_delta[0] && a.d_lambda[0] == b.d_lambda[0]);
    }
}

/* Of a change of motion and force the least one that does the same to the law is its projection: what
 * is left does nothing, and is orthogonal to it. */
static void test_least_change(void **state)
{
    (void)state;
    uint64_t seed = 17;
    for (int i = 0; i < REGIMES; i++) {
        const pl_law *law = &regimes[i].law;
        double lambda[3], r[3], motion[3], force[3], least_motion[3], least_force[3], along = 0;
        pl_law_linear at;
        closed_form(law, regimes[i].delta, lambda);
        pl_law_newton(law, regimes[i].delta, lambda, &at);
        for (int k = 0; k < 3; k++) {
            motion[k] = test_random(&seed);
            force[k] = test_random(&seed) / law->rho;
        }
        for (int k = 0; k < 3; k++)
            r[k] = pl_dot3(at.d_delta + 3 * k, motion) + pl_dot3(at.d_lambda + 3 * k, force);
        pl_law_least(&at, law->rho, r, least_motion, least_force);
        for (int k = 0; k < 3; k++) {
            assert_close(pl_dot3(at.d_delta + 3 * k, least_motion) +
                             pl_dot3(at.d_lambda + 3 * k, least_force),
                         r[k], 1e-12);
            along += least_motion[k] * (motion[k] - least_motion[k]) +
                     law->rho * law->rho * least_force[k] * (force[k] - least_force[k]);
        }
        assert_close(along, 0, 1e-12);
    }
}

/* Every u is a point of the law at any tau, and along it the law changes as pl_law_along says. */
static void test_points_by_their_difference(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < REGIMES; i++) {
        const pl_law *law = &regimes[i].law;
        double u[3], delta[3], lambda[3], by_tau;
        pl_law_bend bend;
        pl_law_linear at;
        closed_form(law, regimes[i].delta, lambda);
        for (int k = 0; k < 3; k++)
            u[k] = regimes[i].delta[k] - law->rho * lambda[k];
        pl_law_at(law, law->epsilon2, u, delta, lambda, &bend);
        for (int k = 0; k < 3; k++) /* of u's digits, what is small beside the other has few */
            assert_close(delta[k], regimes[i].delta[k], 1e-6 * pl_norm3(u) + 1e-9 * fabs(delta[k]));
        assert_close(delta[0] * lambda[0], law->epsilon2, 1e-14 * law->epsilon2);
        pl_law_along(law, delta, lambda, &at, &by_tau);
        double across = fmin(bend.friction, bend.normal), step[3], d_tau = 1e-5 * law->epsilon2;
        for (int k = 0; k < 3; k++)
            step[k] = 1e-5 * (isfinite(across) ? across : pl_norm3(u)) * test_random(&seed);
        double d_delta[3], d_lambda[3], left[3], right[3];
        for (int sign = -1; sign <= 1; sign += 2) {
            double to[3], d[3], l[3];
            for (int k = 0; k < 3; k++)
                to[k] = u[k] + sign * step[k];
            pl_law_at(law, law->epsilon2 + sign * d_tau, to, d, l, &bend);
            for (int k = 0; k < 3; k++) {
                d_delta[k] = sign < 0 ? -d[k] : 0.5 * (d_delta[k] + d[k]);
                d_lambda[k] = sign < 0 ? -l[k] : 0.5 * (d_lambda[k] + l[k]);
            }
        }
        pl_mat3_vec(at.d_delta, d_delta, left);
        pl_mat3_vec(at.d_lambda, d_lambda, right);
        double size = pl_norm3(left) + pl_norm3(right);
        for (int k = 0; k < 3; k++)
            assert_close(left[k] + right[k], k == 0 ? by_tau * d_tau : 0,
                         1e-5 * size); /* at u_f = 0 the second derivative jumps */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solutions_are_roots),
        cmocka_unit_test(test_other_points_are_not),
        cmocka_unit_test(test_newton_matrix),
        cmocka_unit_test(test_least_change),
        cmocka_unit_test(test_points_by_their_difference),
        cmocka_unit_test(test_derivative_of_the_solution),
        cmocka_unit_test(test_resolve_does_not_cancel),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
