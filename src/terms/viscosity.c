/*
 * Viscosity of the material (Kelvin-Voigt): stress from the rate of Green's strain E = (F^T F - 1)/2,
 *
 *     R = (E(q) - sum_j c_j E(q_j)) / h      by the scheme's weights of the states before
 * (sim/integrator.h) D = h eta V |R|^2,     S = 2 eta R,     dD/dq_a = V F S g_a d2D/dq_a dq_b = V [
 * g_a.S g_b 1 + eta/h (g_a.g_b F F^T + (F g_b)(F g_a)^T) ]
 *
 * with g_a the shape gradients of an element, F = sum_a q_a g_a^T. A body that turns as a whole keeps
 * E, and is not held back. Cloth has two columns; the third of F and g is 0 then, and so is that of R.
 */
#include "terms/term.h"

#include "core/vec.h"

typedef struct piece {
    int corners, vertex[4];
    double g[12]; /* [corners, 3] */
    double volume, eta;
    double f[9], rate[9]; /* F and R */
} piece;

/* out [3, 3] = sum_a x_a g_a^T */
static void gradient_of(const piece *p, const double *x, double out[9])
{
    memset(out, 0, 9 * sizeof *out);
    for (int a = 0; a < p->corners; a++)
        for (int i = 0; i < 3; i++)
            pl_axpy3(x[3 * (size_t)p->vertex[a] + (size_t)i], p->g + 3 * a, out + 3 * i);
}

/* y_a += s M g_a at the corners */
static void scatter(const piece *p, double s, const double m[9], double *y)
{
    double force[3];
    for (int a = 0; a < p->corners; a++) {
        pl_mat3_vec(m, p->g + 3 * a, force);
        pl_axpy3(s, force, y + 3 * (size_t)p->vertex[a]);
    }
}

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

static double contract(const double a[9], const double b[9])
{
    return pl_dot3(a, b) + pl_dot3(a + 3, b + 3) + pl_dot3(a + 6, b + 6);
}

/* The states before the substep, newest first. */
static const double *earlier(const pl_substep *s, int j)
{
    return j == 0 ? s->q0 : s->q1;
}

static piece piece_of(const pl_substep *s, int element, const double *q)
{
    piece p = {.eta = s->matter->values->of[PL_VISCOSITY][element],
               .volume = s->scene->volume[element]};
    double before[9];
    p.corners = pl_elastic_shape(s->matter->elastic, element, p.vertex, p.g);
    gradient_of(&p, q, p.f);
    add_symmetric(0.5 / s->h, p.f, p.f, p.rate);
    for (int j = 0; j < s->scheme->states; j++) {
        gradient_of(&p, earlier(s, j), before);
        add_symmetric(-0.5 * s->scheme->c[j] / s->h, before, before, p.rate);
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
        sum += s->h * p.eta * p.volume * contract(p.rate, p.rate);
        product(p.f, p.rate, stress);
        scatter(&p, 2 * scale * p.eta * p.volume, stress, out);
    }
    return sum;
}

static void add_block(const pl_substep *s, const piece *p, int a, int b, bool clamp, double scale,
                      double *blocks)
{
    const double *ga = p->g + 3 * a, *gb = p->g + 3 * b;
    double *block = blocks + 9 * (size_t)pl_pattern_find(s->pattern, p->vertex[a], p->vertex[b]);
    double fa[3], fb[3], rb[3], weight = scale * p->volume * p->eta;
    pl_mat3_vec(p->f, ga, fa);
    pl_mat3_vec(p->f, gb, fb);
    pl_mat3_vec(p->rate, gb, rb);
    /* without S, which may pull or push, the rest is a sum of squares */
    double along = clamp ? 0 : 2 * pl_dot3(ga, rb), both = pl_dot3(ga, gb) / s->h;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            block[3 * i + j] +=
                weight * ((i == j ? along : 0) + both * pl_dot3(p->f + 3 * i, p->f + 3 * j) +
                          fb[i] * fa[j] / s->h);
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    FOR_VISCOUS(s, q, p)
    for (int k = 0; k < p.corners * p.corners; k++)
        add_block(s, &p, k / p.corners, k % p.corners, clamp, scale, blocks);
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    FOR_VISCOUS(s, q, p)
    {
        double df[9], turned[9], stretched[9], rate[9] = {0};
        gradient_of(&p, x, df);
        add_symmetric(1 / s->h, p.f, df, rate);
        product(df, p.rate, turned);
        product(p.f, rate, stretched);
        scatter(&p, 2 * scale * p.eta * p.volume, turned, y);
        scatter(&p, 2 * scale * p.eta * p.volume, stretched, y);
    }
}

/* 2 eta/h V |sym F^T dF|^2 <= 2 eta/h V |dF|^2 where F is a rotation */
static void constant(const pl_substep *s, double scale, double *a)
{
    FOR_VISCOUS(s, s->q0, p)
    for (int i = 0; i < p.corners; i++)
        for (int j = 0; j < p.corners; j++)
            a[pl_pattern_find(s->pattern, p.vertex[i], p.vertex[j])] +=
                scale * 2 * p.eta / s->h * p.volume * pl_dot3(p.g + 3 * i, p.g + 3 * j);
}

/* T = sym F^T Z, Z the gradient of z: z . force = -2 eta V R : T. */
static void strain_along(const piece *p, const double *z, double t[9])
{
    double dz[9];
    memset(t, 0, 9 * sizeof *t);
    gradient_of(p, z, dz);
    add_symmetric(1, p->f, dz, t);
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dv0;
    const pl_substep *at = s->at;
    double *by = g->of[PL_VISCOSITY], t[9], f[9], push[9];
    for (int e = 0; by && e < at->scene->element_count; e++) {
        piece p = piece_of(at, e, s->q);
        strain_along(&p, z, t);
        by[e] -= 2 * scale * p.volume * contract(p.rate, t);
    }
    FOR_VISCOUS(at, s->q, p)
    {
        strain_along(&p, z, t);
        for (int j = 0; j < at->scheme->states; j++) {
            gradient_of(&p, earlier(at, j), f);
            product(f, t, push);
            scatter(&p, 2 * scale * p.eta * p.volume * at->scheme->c[j] / at->h, push,
                    j == 0 ? dq0 : s->q1);
        }
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)dv0;
    const pl_substep *at = s->at;
    const double *along = d->of[PL_VISCOSITY];
    double f[9], df[9], push[9];
    for (int e = 0; along && e < at->scene->element_count; e++) {
        piece p = piece_of(at, e, s->q);
        product(p.f, p.rate, push);
        scatter(&p, -2 * scale * along[e] * p.volume, push, rhs);
    }
    FOR_VISCOUS(at, s->q, p)
    {
        double before[9] = {0};
        for (int j = 0; j < at->scheme->states; j++) {
            gradient_of(&p, earlier(at, j), f);
            gradient_of(&p, j == 0 ? dq0 : s->q1, df);
            add_symmetric(at->scheme->c[j] / at->h, f, df, before);
        }
        product(p.f, before, push);
        scatter(&p, 2 * scale * p.eta * p.volume, push, rhs);
    }
}

const pl_term pl_term_viscosity = {.name = "viscosity",
                                   .energy = energy,
                                   .tangent = tangent,
                                   .multiply = multiply,
                                   .constant = constant,
                                   .vjp = vjp,
                                   .jvp = jvp};
