/*
 * Isotropic materials in singular values, PL_WIDTH elements at once: n = 3 sigmas for tets, 2 for
 * cloth.
 *
 *     tau_i = d psi / d sigma_i,  W = d tau / d sigma,
 *     a_ij = (tau_i - tau_j) / (sigma_i - sigma_j),  b_ij = (tau_i + tau_j) / (sigma_i + sigma_j)
 *
 * psi is zeta itself (exact) or its Moreau envelope min_theta w/2 |theta - sigma|^2 + zeta(theta) with
 * w = 2 mu (projective). The divided differences a are in closed form, so equal sigmas need no limit.
 * Parameters are mu and lambda; the chain to Young's modulus and Poisson's ratio is in parameters.c.
 */
#ifndef PL_MATERIAL_H
#define PL_MATERIAL_H

#include "backend/simd.h"

/* Denominators sigma_i + sigma_j and sigma_i at and below zero belong to inverted or collapsed
 * elements, where b and tau/sigma truly grow without bound: this keeps them finite. */
#define PL_SIGMA_FLOOR 1e-10

enum { PL_WANT_TANGENT = 1, PL_WANT_PARAMETERS = 2 };

typedef struct material {
    vd energy;             /* psi, J/m^3 */
    vd tau[3];             /* Pa */
    vd W[3][3];            /* Pa, with PL_WANT_TANGENT, as a, b, r */
    vd a[3], b[3];         /* of the pairs (0,1), (0,2), (1,2) */
    vd r[3];               /* tau_i / sigma_i, the stiffness out of a cloth's plane */
    vd dmu[3], dlambda[3]; /* d tau / d mu, d tau / d lambda at fixed sigma, with PL_WANT_PARAMETERS */
    vm bad;                /* lanes outside the material's domain */
} material;

#define PAIR_FIRST(p)  ((p) == 2)
#define PAIR_SECOND(p) ((p) == 0 ? 1 : 2)
#define PAIR_COUNT(n)  ((n) == 3 ? 3 : 1)
#define ALWAYS_INLINE  static inline __attribute__((always_inline))
#ifndef PL_NOINLINE
#define PL_NOINLINE static __attribute__((noinline))
#endif

/* psi = m |sigma - 1|^2 + l/2 (sum (sigma - 1))^2: every material below that is quadratic. */
ALWAYS_INLINE void quadratic(int n, const vd *sigma, vd m, vd l, int want, material *out)
{
    vd trace = v_set(0.0), square = v_set(0.0);
    for (int i = 0; i < n; i++) {
        trace += sigma[i] - 1.0;
        square += (sigma[i] - 1.0) * (sigma[i] - 1.0);
    }
    out->energy = m * square + 0.5 * l * trace * trace;
    out->bad = V_NONE;
    for (int i = 0; i < n; i++)
        out->tau[i] = 2.0 * m * (sigma[i] - 1.0) + l * trace;
    if (!(want & PL_WANT_TANGENT))
        return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out->W[i][j] = i == j ? 2.0 * m + l : l;
    for (int p = 0; p < PAIR_COUNT(n); p++) {
        vd sum = sigma[PAIR_FIRST(p)] + sigma[PAIR_SECOND(p)];
        out->a[p] = 2.0 * m;
        out->b[p] = 2.0 * m + (2.0 * l * trace - 4.0 * m) / v_max(sum, v_set(PL_SIGMA_FLOOR));
    }
    for (int i = 0; i < n; i++)
        out->r[i] = 2.0 * m + (l * trace - 2.0 * m) / v_max(sigma[i], v_set(PL_SIGMA_FLOOR));
}

/* zeta = 0 on rotations, infinite elsewhere, theta = 1: psi = mu |sigma - 1|^2. The exact reading takes
 * mu |sigma - 1|^2 for zeta, so that the two agree. */
ALWAYS_INLINE void arap(int n, const vd *sigma, vd mu, int want, material *out)
{
    quadratic(n, sigma, mu, v_set(0.0), want, out);
    if (want & PL_WANT_PARAMETERS)
        for (int i = 0; i < n; i++) {
            out->dmu[i] = 2.0 * (sigma[i] - 1.0);
            out->dlambda[i] = v_set(0.0);
        }
}

/* zeta = mu |sigma - 1|^2 + lambda/2 (sum (sigma - 1))^2 */
ALWAYS_INLINE void corotated_exact(int n, const vd *sigma, vd mu, vd lambda, int want, material *out)
{
    quadratic(n, sigma, mu, lambda, want, out);
    if (want & PL_WANT_PARAMETERS) {
        vd trace = v_set(0.0);
        for (int i = 0; i < n; i++)
            trace += sigma[i] - 1.0;
        for (int i = 0; i < n; i++) {
            out->dmu[i] = 2.0 * (sigma[i] - 1.0);
            out->dlambda[i] = trace;
        }
    }
}

/* The envelope of a quadratic is quadratic: m = mu/2, l = lambda mu / (4 mu + n lambda). */
ALWAYS_INLINE void corotated_projective(int n, const vd *sigma, vd mu, vd lambda, int want,
                                        material *out)
{
    vd inverse = 1.0 / (4.0 * mu + (double)n * lambda);
    quadratic(n, sigma, 0.5 * mu, lambda * mu * inverse, want, out);
    if (want & PL_WANT_PARAMETERS) {
        vd trace = v_set(0.0);
        for (int i = 0; i < n; i++)
            trace += sigma[i] - 1.0;
        for (int i = 0; i < n; i++) {
            out->dmu[i] = sigma[i] - 1.0 + (double)n * lambda * lambda * inverse * inverse * trace;
            out->dlambda[i] = 4.0 * mu * mu * inverse * inverse * trace;
        }
    }
}

/* zeta = mu/2 (|sigma|^2 - 2 L - n) + lambda/2 L^2, L = log prod sigma. */
ALWAYS_INLINE void neo_hookean_exact(int n, const vd *sigma, vd mu, vd lambda, int want, material *out)
{
    vd J = n == 3 ? sigma[0] * sigma[1] * sigma[2] : sigma[0] * sigma[1];
    out->bad = V_NOT(J > 0.0);
    vd L = v_log(v_select(out->bad, v_set(1.0), J));
    vd pull = lambda * L - mu, strain = v_set(0.0), inverse[3];
    for (int i = 0; i < n; i++) {
        inverse[i] = 1.0 / sigma[i];
        strain += (sigma[i] - 1.0) * (sigma[i] + 1.0);
        out->tau[i] = mu * sigma[i] + pull * inverse[i];
    }
    out->energy = mu * (0.5 * strain - L) + 0.5 * lambda * L * L;
    if (want & PL_WANT_TANGENT) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                out->W[i][j] = lambda * inverse[i] * inverse[j];
        for (int i = 0; i < n; i++) {
            out->W[i][i] += mu - pull * inverse[i] * inverse[i];
            out->r[i] = mu + pull * inverse[i] * inverse[i];
        }
        for (int p = 0; p < PAIR_COUNT(n); p++) {
            vd shear = pull * inverse[PAIR_FIRST(p)] * inverse[PAIR_SECOND(p)];
            out->a[p] = mu - shear;
            out->b[p] = mu + shear;
        }
    }
    if (want & PL_WANT_PARAMETERS)
        for (int i = 0; i < n; i++) {
            out->dmu[i] = sigma[i] - inverse[i];
            out->dlambda[i] = L * inverse[i];
        }
}

/*
 * theta of the projective Neo-Hookean material. Stationarity, with c = mu - lambda L, is
 * 3 theta_i^2 - 2 sigma_i theta_i = c/mu for all i, hence theta_i = (sigma_i + S_i)/3 with
 * S_i^2 = sigma_i^2 + 3c/mu. One unknown is left: u = S_last^2 >= 0, of
 *
 *     g(u) = (lambda/mu) sum log theta_i + (u - sigma_last^2)/3 - 1 = 0,
 *
 * which is concave and increasing: Newton from below rises to the root without passing it. sigma_last
 * is the smallest (it alone may be negative, and then u > sigma_last^2 keeps theta > 0), so every S_i
 * is real. Under very large expansion g(0) > 0; then S_last is negative and found by bisection.
 */
typedef struct projection {
    vd theta[3], S[3], log_volume;
} projection;

ALWAYS_INLINE vd projection_residual(int n, const vd *sigma, vd ratio, vd root, projection *p)
{
    vd last = sigma[n - 1], u = root * root, volume = v_set(1.0);
    for (int i = 0; i < n; i++) {
        vd above = (sigma[i] - last) * (sigma[i] + last);
        p->S[i] = i == n - 1 ? root : v_sqrt(v_max(above, v_set(0.0)) + u);
        p->theta[i] = (sigma[i] + p->S[i]) * (1.0 / 3.0);
        volume *= p->theta[i];
    }
    p->log_volume = v_log(v_max(volume, v_set(1e-300)));
    return ratio * p->log_volume + (u - last * last) * (1.0 / 3.0) - 1.0;
}

/* The root with S_last in (-sigma_last, 0), in the lanes of very large expansion. */
PL_NOINLINE vd projection_bisect(int n, const vd *sigma, vd ratio)
{
    projection p;
    vd low = -sigma[n - 1], high = v_set(0.0);
    for (int k = 0; k < 60; k++) {
        vd middle = 0.5 * (low + high);
        vm above = projection_residual(n, sigma, ratio, middle, &p) > 0.0;
        high = v_select(above, middle, high);
        low = v_select(above, low, middle);
    }
    return 0.5 * (low + high);
}

ALWAYS_INLINE void project(int n, const vd *sigma, vd ratio, projection *p)
{
    vd last = sigma[n - 1], zero = v_set(0.0);
    vd lowest = v_select(last < 0.0, last * last, zero);
    vd g = projection_residual(n, sigma, ratio, v_sqrt(lowest), p);
    vm expanded = (g > 0.0) & (last > 0.0);
    /* Start where L = 0. A lane stops once its step is so small that the next error is below rounding.
     */
    vd u = last * last + 3.0;
    vm active = V_NOT(expanded);
    for (int k = 0; k < 60 && v_any(active); k++) {
        g = projection_residual(n, sigma, ratio, v_sqrt(u), p);
        vd slope = v_set(1.0 / 3.0);
        for (int i = 0; i < n; i++)
            slope += ratio / (6.0 * p->theta[i] * p->S[i]);
        vd next = u - g / slope;
        next = v_select(next > lowest, next, 0.5 * (u + lowest));
        vm moving = v_abs(next - u) > 1e-10 * u;
        u = v_select(active, next, u);
        active &= moving;
    }
    vd root = v_sqrt(u);
    if (v_any(expanded))
        root = v_select(expanded, projection_bisect(n, sigma, ratio), root);
    projection_residual(n, sigma, ratio, root, p);
}

/* out = H^-1 of a symmetric matrix, by the adjugate: it may be indefinite. */
ALWAYS_INLINE void invert_symmetric(int n, vd H[3][3], vd out[3][3])
{
    if (n == 2) {
        vd s = 1.0 / (H[0][0] * H[1][1] - H[0][1] * H[0][1]);
        out[0][0] = s * H[1][1], out[1][1] = s * H[0][0];
        out[0][1] = out[1][0] = -s * H[0][1];
        return;
    }
    vd c00 = H[1][1] * H[2][2] - H[1][2] * H[1][2], c01 = H[0][2] * H[1][2] - H[0][1] * H[2][2];
    vd c02 = H[0][1] * H[1][2] - H[0][2] * H[1][1];
    vd s = 1.0 / (H[0][0] * c00 + H[0][1] * c01 + H[0][2] * c02);
    out[0][0] = s * c00;
    out[0][1] = out[1][0] = s * c01;
    out[0][2] = out[2][0] = s * c02;
    out[1][1] = s * (H[0][0] * H[2][2] - H[0][2] * H[0][2]);
    out[1][2] = out[2][1] = s * (H[0][1] * H[0][2] - H[0][0] * H[1][2]);
    out[2][2] = s * (H[0][0] * H[1][1] - H[0][1] * H[0][1]);
}

/* tau = 2 mu (sigma - theta). The Hessian of the inner problem over mu is H = diag(2 S/theta) + ratio r
 * r^T with r = 1/theta, so d theta/d sigma = 2 H^-1, d theta/d ratio = -L H^-1 r, and a follows from
 * (theta_i - theta_j)/(sigma_i - sigma_j) = (1 + (sigma_i + sigma_j)/(S_i + S_j))/3. */
ALWAYS_INLINE void neo_hookean_projective(int n, const vd *sigma, vd mu, vd lambda, int want,
                                          material *out)
{
    vd ratio = lambda / mu, r[3], H[3][3], inverse[3][3];
    projection p;
    project(n, sigma, ratio, &p);
    out->bad = V_NONE;
    vd distance = v_set(0.0), strain = v_set(0.0), L = p.log_volume;
    for (int i = 0; i < n; i++) {
        vd gap = sigma[i] - p.theta[i];
        out->tau[i] = 2.0 * mu * gap;
        distance += gap * gap;
        strain += (p.theta[i] - 1.0) * (p.theta[i] + 1.0);
    }
    out->energy = mu * (distance + 0.5 * strain - L + 0.5 * ratio * L * L);
    if (!want)
        return;
    for (int i = 0; i < n; i++)
        r[i] = 1.0 / p.theta[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            H[i][j] = ratio * r[i] * r[j] + (i == j ? 2.0 * p.S[i] * r[i] : v_set(0.0));
    invert_symmetric(n, H, inverse);
    if (want & PL_WANT_TANGENT) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                out->W[i][j] = 2.0 * mu * ((i == j ? 1.0 : 0.0) - 2.0 * inverse[i][j]);
            out->r[i] = out->tau[i] / v_max(sigma[i], v_set(PL_SIGMA_FLOOR));
        }
        for (int q = 0; q < PAIR_COUNT(n); q++) {
            int i = PAIR_FIRST(q), j = PAIR_SECOND(q);
            vd sum = sigma[i] + sigma[j], root = v_max(p.S[i] + p.S[j], v_set(PL_SIGMA_FLOOR));
            out->a[q] = 2.0 * mu * (1.0 - (1.0 + sum / root) * (1.0 / 3.0));
            out->b[q] = (out->tau[i] + out->tau[j]) / v_max(sum, v_set(PL_SIGMA_FLOOR));
        }
    }
    if (want & PL_WANT_PARAMETERS)
        for (int i = 0; i < n; i++) {
            vd dratio = v_set(0.0);
            for (int j = 0; j < n; j++)
                dratio -= L * inverse[i][j] * r[j];
            out->dmu[i] = 2.0 * (sigma[i] - p.theta[i] + ratio * dratio);
            out->dlambda[i] = -2.0 * dratio;
        }
}

#endif
