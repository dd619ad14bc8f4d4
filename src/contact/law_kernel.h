/*
 * A contact's law at a point of it, without cancellation (law.h), for the library and for the kernels
 * of devices: nothing here but arithmetic.
 */
#ifndef PL_LAW_KERNEL_H
#define PL_LAW_KERNEL_H

#include <math.h>
#include <stdbool.h>

typedef struct pl_law {
    double mu;
    double epsilon2;   /* eps^2, N m */
    double rho;        /* m/N, turns forces into lengths: the mean diagonal of the Delassus block */
    double compliance; /* c, m/N */
    bool two_way;
} pl_law;

/* A solved contact without cancellation: delta_n from lambda_n, x_hat from forces in stick and from
 * motion in slip. */
typedef struct pl_law_point {
    double delta_n, x_hat, s; /* delta_n with what gives */
    double direction[2];      /* d, along delta_f, unit */
} pl_law_point;

/* d along delta_f - rho lambda_f: never zero unless both are, and at a solution along delta_f. */
static inline void friction_direction(double rho, const double delta[3], const double lambda[3],
                                      double d[2])
{
    double w1 = delta[1] - rho * lambda[1], w2 = delta[2] - rho * lambda[2];
    double length = hypot(w1, w2);
    d[0] = length > 0 ? w1 / length : 1;
    d[1] = length > 0 ? w2 / length : 0;
}

/* pl_law_resolve */
static inline void law_resolve(const pl_law *law, const double delta[3], const double lambda[3],
                               pl_law_point *out)
{
    double mu = law->mu;
    out->x_hat = out->s = 0;
    out->direction[0] = 1;
    out->direction[1] = 0;
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

/* a - c/a = z, a > 0 */
static inline double positive_root(double z, double c)
{
    double r = sqrt(z * z + 4 * c);
    return z > 0 ? 0.5 * (z + r) : 2 * c / (r - z);
}

/* pl_law_meet */
static inline void law_meet(const pl_law *law, double delta[3], double lambda[3], pl_law_point *out)
{
    double mu = law->mu, rho = law->rho, e2 = law->epsilon2;
    double y[2] = {delta[1] - rho * lambda[1], delta[2] - rho * lambda[2]};
    out->x_hat = out->s = 0;
    out->direction[0] = 1;
    out->direction[1] = 0;
    delta[0] = out->delta_n = positive_root(delta[0] - rho * lambda[0], rho * e2);
    lambda[0] = e2 / delta[0];
    if (mu == 0) {
        lambda[1] = lambda[2] = 0;
        return;
    }
    double length = hypot(y[0], y[1]), apart = delta[0] / mu, most = mu * lambda[0];
    out->x_hat = positive_root(length + apart - rho * most, rho * e2);
    out->s = e2 / out->x_hat;
    double slip = fmax(out->x_hat - apart, 0.0), force = fmax(most - out->s, 0.0);
    for (int k = 0; k < 2; k++) {
        out->direction[k] = length > 0 ? y[k] / length : 1 - k;
        delta[1 + k] = slip * out->direction[k];
        lambda[1 + k] = -force * out->direction[k];
    }
}

#endif
