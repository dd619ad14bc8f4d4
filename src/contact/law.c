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

/* d along delta_f - rho lambda_f: never zero unless both are, and at a solution along delta_f. */
static void friction_direction(double rho, const double delta[3], const double lambda[3], double d[2])
{
    double w1 = delta[1] - rho * lambda[1], w2 = delta[2] - rho * lambda[2];
    double length = hypot(w1, w2);
    d[0] = length > 0 ? w1 / length : 1;
    d[1] = length > 0 ? w2 / length : 0;
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
    double mu = law->mu;
    *out = (pl_law_point){.direction = {1, 0}};
    out->delta_n = law->two_way ? 0 : law->epsilon2 / lambda[0];
    if (mu == 0)
        return;
    double x = hypot(delta[1], delta[2]), force = hypot(lambda[1], lambda[2]);
    double moved = x + out->delta_n / mu, held = mu * lambda[0] - force;
    /* Rounding spoils x below ~1e-16 m and s below ~1e-16 mu lambda_n: use the one it spoils less. */
    if (moved * mu * lambda[0] > held) {
        out->x_hat = moved;
        out->s = law->epsilon2 / moved;
    } else {
        out->s = held;
        out->x_hat = law->epsilon2 / held;
    }
    friction_direction(law->rho, delta, lambda, out->direction);
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
