/* The contact law: Fischer-Burmeister residuals for the solver, the exact derivative for gradients. */
#include "contact/law.h"

#include "core/vec.h"

#define LEAST_WEIGHT 1e-13 /* of a direction's slip against its force */

/* phi = a + b - sqrt(a^2 + b^2 + c) = 0 iff ab = c/2 with both positive; without cancellation. */
typedef struct fischer {
    double value, da, db;
} fischer;

static double one_minus_ratio(double a, double b, double c, double r)
{
    return a > 0 ? (b * b + c) / (r * (r + a)) : 1 - a / r;
}

static fischer fischer_burmeister(double a, double b, double c)
{
    double r = sqrt(a * a + b * b + c);
    return (fischer){
        .value = a + b > 0 ? (2 * a * b - c) / (a + b + r) : a + b - r,
        .da = one_minus_ratio(a, b, c, r),
        .db = one_minus_ratio(b, a, c, r),
    };
}

void pl_law_newton(const pl_law *law, const double delta[3], const double lambda[3], pl_law_linear *out)
{
    double mu = law->mu, rho = law->rho, c = 2 * rho * law->epsilon2;
    memset(out, 0, sizeof *out);
    double apart = delta[0] + law->compliance * lambda[0];
    fischer n = law->two_way ? (fischer){apart, 1, 0} : fischer_burmeister(apart, rho * lambda[0], c);
    out->residual[0] = n.value;
    out->d_delta[0] = n.da;
    out->d_lambda[0] = rho * n.db + law->compliance * n.da;
    if (mu == 0) {
        for (int k = 1; k < 3; k++) {
            out->residual[k] = rho * lambda[k];
            out->d_lambda[4 * k] = rho;
        }
        return;
    }
    double d[2];
    friction_direction(rho, delta, lambda, d);
    double x_hat = d[0] * delta[1] + d[1] * delta[2] + delta[0] / mu;
    double s = mu * lambda[0] + d[0] * lambda[1] + d[1] * lambda[2];
    /* Both members of the pair brought to the size of the normal one's, so that mu -> 0 stays tame. */
    double size = fmin(mu, 1), on_x = size, on_s = rho * size / mu;
    fischer f = fischer_burmeister(on_x * x_hat, on_s * s, c * size * size / mu);
    f.da *= on_x, f.db *= on_s;
    out->residual[1] = f.value;
    out->d_delta[3] = f.da / mu;
    out->d_lambda[3] = f.db * mu;
    /* Weights of the direction equation; their own change multiplies delta_perp - rho lambda_perp = 0.
     * Neither is nothing, so that D_lambda has an inverse. */
    double force = fmax(rho * mu * lambda[0], 0), slip = fmax(x_hat, LEAST_WEIGHT * force) + 1e-300;
    double wd = force / (force + slip), wl = rho * slip / (force + slip);
    double perp[2] = {-d[1], d[0]};
    for (int k = 0; k < 2; k++) {
        out->d_delta[4 + k] = f.da * d[k];
        out->d_lambda[4 + k] = f.db * d[k];
        out->d_delta[7 + k] = wd * perp[k];
        out->d_lambda[7 + k] = wl * perp[k];
        out->residual[2] += wd * perp[k] * delta[1 + k] + wl * perp[k] * lambda[1 + k];
    }
}

void pl_law_least(const pl_law_linear *at, double rho, const double r[3], double motion[3],
                  double force[3])
{
    double normal[9], inverse[9], by[3];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            normal[3 * a + b] = pl_dot3(at->d_delta + 3 * a, at->d_delta + 3 * b) +
                                pl_dot3(at->d_lambda + 3 * a, at->d_lambda + 3 * b) / (rho * rho);
    pl_inverse3(normal, inverse);
    pl_mat3_vec(inverse, r, by);
    pl_mat3_tvec(at->d_delta, by, motion);
    pl_mat3_tvec(at->d_lambda, by, force);
    for (int k = 0; k < 3; k++)
        force[k] /= rho * rho;
}

/* The positive p with p - rho tau/p = a; p bends where a changes by *bend. */
static double pair_member(double a, double rho, double tau, double *bend)
{
    *bend = sqrt(a * a + 4 * rho * tau);
    return a > 0 ? 0.5 * (a + *bend) : 2 * rho * tau / (*bend - a);
}

void pl_law_at(const pl_law *law, double tau, const double u[3], double delta[3], double lambda[3],
               pl_law_bend *bend)
{
    double mu = law->mu, rho = law->rho, push, x_hat = 1;
    *bend = (pl_law_bend){.normal = INFINITY, .friction = INFINITY};
    if (law->two_way) {
        delta[0] = 0;
        lambda[0] = -u[0] / rho;
    } else {
        delta[0] = pair_member(u[0], rho, tau, &bend->normal);
        lambda[0] = tau / delta[0];
    }
    push = mu * lambda[0];
    if (mu > 0) {
        double a = hypot(u[1], u[2]) + delta[0] / mu - rho * push;
        bend->lean = (delta[0] / mu + rho * push) / bend->normal;
        x_hat = pair_member(a, rho, tau, &bend->friction);
    }
    for (int k = 1; k < 3; k++) { /* |u_f| = |delta_f| + rho |lambda_f|, and the law's last equation */
        delta[k] = u[k] * x_hat / (x_hat + rho * push);
        lambda[k] = -u[k] * push / (x_hat + rho * push);
    }
}

void pl_law_along(const pl_law *law, const double delta[3], const double lambda[3], pl_law_linear *out,
                  double *by_tau)
{
    double mu = law->mu, rho = law->rho, slip = hypot(delta[1], delta[2]);
    double x_hat = mu > 0 ? delta[0] / mu + slip : 1, scale = rho / (rho * mu * lambda[0] + x_hat);
    memset(out, 0, sizeof *out);
    *by_tau = law->two_way ? 0 : rho / (rho * lambda[0] + delta[0]);
    out->d_delta[0] = law->two_way ? 1 : *by_tau * lambda[0];
    out->d_lambda[0] = *by_tau * delta[0];
    for (int r = 1; r < 3; r++) {
        double *a = out->d_delta + 3 * r, *b = out->d_lambda + 3 * r;
        b[r] = scale * x_hat;
        if (mu == 0)
            continue;
        a[0] = scale * lambda[r] / mu;
        a[r] = scale * mu * lambda[0];
        b[0] = scale * mu * delta[r];
        for (int k = 1; k < 3 && slip > 0; k++)
            a[k] += scale * lambda[r] * delta[k] / slip;
    }
    for (int r = 0; r < 3; r++)
        out->d_lambda[3 * r] += law->compliance * out->d_delta[3 * r];
}

pl_law_error pl_law_check(const pl_law *law, const double delta[3], const double lambda[3])
{
    double force = hypot(lambda[1], lambda[2]), apart = delta[0] + law->compliance * lambda[0];
    pl_law_error e = {
        .complementarity = law->two_way ? 0 : fabs(apart * lambda[0] / law->epsilon2 - 1),
        .cone = force - law->mu * lambda[0],
    };
    if (law->mu > 0) {
        double x_hat = hypot(delta[1], delta[2]) + delta[0] / law->mu;
        e.friction = fabs(x_hat * (law->mu * lambda[0] - force) / law->epsilon2 - 1);
    }
    return e;
}

void pl_law_resolve(const pl_law *law, const double delta[3], const double lambda[3], pl_law_point *out)
{
    law_resolve(law, delta, lambda, out);
}

void pl_law_meet(const pl_law *law, double delta[3], double lambda[3], pl_law_point *out)
{
    law_meet(law, delta, lambda, out);
}

void pl_law_derivative(const pl_law *law, const pl_law_point *p, const double lambda[3],
                       pl_law_linear *out, double d_mu[3])
{
    double mu = law->mu, rho = law->rho;
    memset(out, 0, sizeof *out);
    d_mu[0] = d_mu[1] = d_mu[2] = 0;
    /* lambda_n d(delta_n) + delta_n d(lambda_n) = 0 */
    double scale = rho / (rho * lambda[0] + p->delta_n);
    out->d_delta[0] = law->two_way ? 1 : scale * lambda[0];
    out->d_lambda[0] = law->two_way ? 0 : scale * p->delta_n;
    out->d_lambda[0] += law->compliance * out->d_delta[0];
    if (mu == 0) {
        out->d_lambda[4] = out->d_lambda[8] = rho;
        return;
    }
    /* s (dx + d(delta_n)/mu) + x_hat (mu d(lambda_n) + d . d(lambda_f)) = 0 */
    scale = rho / (rho * p->s + p->x_hat);
    double across = rho / (rho * mu * lambda[0] + p->x_hat);
    const double *d = p->direction;
    double perp[2] = {-d[1], d[0]};
    out->d_delta[3] = scale * p->s / mu;
    out->d_lambda[3] = scale * p->x_hat * mu;
    d_mu[1] = scale * (p->x_hat * lambda[0] - p->s * p->delta_n / (mu * mu));
    for (int k = 0; k < 2; k++) {
        out->d_delta[4 + k] = scale * p->s * d[k];
        out->d_lambda[4 + k] = scale * p->x_hat * d[k];
        /* mu lambda_n d(delta_perp) + x_hat d(lambda_perp) = 0 */
        out->d_delta[7 + k] = across * mu * lambda[0] * perp[k];
        out->d_lambda[7 + k] = across * p->x_hat * perp[k];
    }
}
