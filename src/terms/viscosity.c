/*
 * Viscosity of the material (Kelvin-Voigt): stress from the rate R of Green's strain E = (F^T F - 1)/2,
 * by the scheme's weights of the states (q_j, v_j) before (sim/integrator.h):
 *
 *     R = (E(q) - sum_j c_j E(q_j)) / h - sum_j b_j sym(F(q_j)^T F(v_j)),     S = 2 eta R
 *     D = h eta V |R|^2,     dD/dq_a = V F S g_a
 *     d2D/dq_a dq_b = V [ g_a.S g_b 1 + eta/h (g_a.g_b F F^T + (F g_b)(F g_a)^T) ]
 *
 * with g_a the shape gradients of an element, F = sum_a q_a g_a^T. A body that turns as a whole keeps
 * E, and is not held back. Cloth has two columns; the third of F and g is 0 then, and so is that of R.
 */
#include "terms/gradient.h"

typedef struct piece {
    pl_piece at;
    double eta, rate[9]; /* and R */
} piece;

/* out += s (A^T B + B^T A)/2 */
static void add_symmetric(double s, const double a[9], const double b[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                out[3 * i + j] += 0.5 * s * (a[3 * k + i] * b[3 * k + j] + b[3 * k + i] * a[3 * k + j]);
}

/* out = A B */
static void product(const double a[9], const double b[9], double out[9])
{
    memset(out, 0, 9 * sizeof *out);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            pl_axpy3(a[3 * i + k], b + 3 * k, out + 3 * i);
}

/* F of the states before the substep and of their velocities, newest first. */
static void earlier(const pl_substep *s, const piece *p, int j, double f[9], double rate[9])
{
    pl_piece_gradient(&p->at, j == 0 ? s->q0 : s->q1, f);
    if (s->scheme->b[j] != 0)
        pl_piece_gradient(&p->at, j == 0 ? s->v0 : s->v1, rate);
}

static piece piece_of(const pl_substep *s, int element, const double *q)
{
    piece p = {.at = pl_piece_of(s, element, q), .eta = s->matter->values->of[PL_VISCOSITY][element]};
    double f[9], rate[9];
    add_symmetric(0.5 / s->h, p.at.f, p.at.f, p.rate);
    for (int j = 0; j < s->scheme->states; j++) {
        earlier(s, &p, j, f, rate);
        add_symmetric(-0.5 * s->scheme->c[j] / s->h, f, f, p.rate);
        if (s->scheme->b[j] != 0)
            add_symmetric(-s->scheme->b[j], f, rate, p.rate);
    }
    return p;
}

/* Visits the elements that are viscous, as pieces p at q. */
#define FOR_VISCOUS(s, q, p)                                                                           \
    for (int e_ = 0; (s)->matter->viscous && e_ < (s)->scene->element_count; e_++)                     \
        if ((s)->matter->values->of[PL_VISCOSITY][e_] > 0)                                             \
            for (piece p = piece_of(s, e_, q), *once_ = &p; once_; once_ = NULL)

static double energy(const pl_substep *s, const double *q, double scale, double *out)
{
    double sum = 0, stress[9];
    FOR_VISCOUS(s, q, p)
    {
        sum += s->h * p.eta * p.at.volume * pl_contract(p.rate, p.rate);
        product(p.at.f, p.rate, stress);
        pl_piece_scatter(&p.at, 2 * scale * p.eta * p.at.volume, stress, out);
    }
    return sum;
}

static void add_block(const pl_substep *s, const piece *p, int a, int b, bool clamp, double scale,
                      double *blocks)
{
    const double *ga = p->at.g + 3 * a, *gb = p->at.g + 3 * b;
    double *block = blocks + 9 * (size_t)pl_pattern_find(s->pattern, p->at.vertex[a], p->at.vertex[b]);
    double fa[3], fb[3], rb[3], weight = scale * p->at.volume * p->eta;
    pl_mat3_vec(p->at.f, ga, fa);
    pl_mat3_vec(p->at.f, gb, fb);
    pl_mat3_vec(p->rate, gb, rb);
    /* without S, which may pull or push, the rest is a sum of squares */
    double along = clamp ? 0 : 2 * pl_dot3(ga, rb), both = pl_dot3(ga, gb) / s->h;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            block[3 * i + j] +=
                weight * ((i == j ? along : 0) + both * pl_dot3(p->at.f + 3 * i, p->at.f + 3 * j) +
                          fb[i] * fa[j] / s->h);
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    FOR_VISCOUS(s, q, p)
    for (int k = 0; k < p.at.corners * p.at.corners; k++)
        add_block(s, &p, k / p.at.corners, k % p.at.corners, clamp, scale, blocks);
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    FOR_VISCOUS(s, q, p)
    {
        double df[9], turned[9], stretched[9], rate[9] = {0};
        pl_piece_gradient(&p.at, x, df);
        add_symmetric(1 / s->h, p.at.f, df, rate);
        product(df, p.rate, turned);
        product(p.at.f, rate, stretched);
        pl_piece_scatter(&p.at, 2 * scale * p.eta * p.at.volume, turned, y);
        pl_piece_scatter(&p.at, 2 * scale * p.eta * p.at.volume, stretched, y);
    }
}

/* 2 eta/h V |sym F^T dF|^2 <= 2 eta/h V |dF|^2 where F is a rotation */
static void constant(const pl_substep *s, double scale, double *a)
{
    FOR_VISCOUS(s, s->q0, p)
    for (int i = 0; i < p.at.corners; i++)
        for (int j = 0; j < p.at.corners; j++)
            a[pl_pattern_find(s->pattern, p.at.vertex[i], p.at.vertex[j])] +=
                scale * 2 * p.eta / s->h * p.at.volume * pl_dot3(p.at.g + 3 * i, p.at.g + 3 * j);
}

/* T = sym F^T Z, Z the gradient of z: z . force = -2 eta V R : T. */
static void strain_along(const piece *p, const double *z, double t[9])
{
    double dz[9];
    memset(t, 0, 9 * sizeof *t);
    pl_piece_gradient(&p->at, z, dz);
    add_symmetric(1, p->at.f, dz, t);
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    const pl_substep *at = s->at;
    double *by = g->of[PL_VISCOSITY], t[9], f[9], rate[9], push[9];
    for (int e = 0; by && e < at->scene->element_count; e++) {
        piece p = piece_of(at, e, s->q);
        strain_along(&p, z, t);
        by[e] -= 2 * scale * p.at.volume * pl_contract(p.rate, t);
    }
    FOR_VISCOUS(at, s->q, p)
    {
        strain_along(&p, z, t);
        for (int j = 0; j < at->scheme->states; j++) {
            double weight = 2 * scale * p.eta * p.at.volume, b = at->scheme->b[j];
            double *dq = j == 0 ? dq0 : s->q1;
            earlier(at, &p, j, f, rate);
            product(f, t, push);
            pl_piece_scatter(&p.at, weight * at->scheme->c[j] / at->h, push, dq);
            if (b == 0)
                continue;
            pl_piece_scatter(&p.at, weight * b, push, j == 0 ? dv0 : s->v1);
            product(rate, t, push);
            pl_piece_scatter(&p.at, weight * b, push, dq);
        }
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    const pl_substep *at = s->at;
    const double *along = d->of[PL_VISCOSITY];
    double f[9], rate[9], df[9], push[9];
    for (int e = 0; along && e < at->scene->element_count; e++) {
        piece p = piece_of(at, e, s->q);
        product(p.at.f, p.rate, push);
        pl_piece_scatter(&p.at, -2 * scale * along[e] * p.at.volume, push, rhs);
    }
    FOR_VISCOUS(at, s->q, p)
    {
        double before[9] = {0};
        for (int j = 0; j < at->scheme->states; j++) {
            double b = at->scheme->b[j];
            earlier(at, &p, j, f, rate);
            pl_piece_gradient(&p.at, j == 0 ? dq0 : s->q1, df);
            add_symmetric(at->scheme->c[j] / at->h, f, df, before);
            if (b == 0)
                continue;
            add_symmetric(b, rate, df, before);
            pl_piece_gradient(&p.at, j == 0 ? dv0 : s->v1, df);
            add_symmetric(b, f, df, before);
        }
        product(p.at.f, before, push);
        pl_piece_scatter(&p.at, 2 * scale * p.eta * p.at.volume, push, rhs);
    }
}

const pl_term pl_term_viscosity = {.name = "viscosity",
                                   .energy = energy,
                                   .tangent = tangent,
                                   .multiply = multiply,
                                   .constant = constant,
                                   .vjp = vjp,
                                   .jvp = jvp};
