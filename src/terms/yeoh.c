/*
 * What a rubber has beyond Neo-Hooke: it stiffens where it is stretched far (Yeoh),
 *
 *     E = V (c2 k^2 + c3 k^3),     k = |F|^2 - n,     n = 3, of cloth 2
 *     dE/dq_a = V a F g_a,     a = 4 c2 k + 6 c3 k^2
 *     d2E/dq_a dq_b = V [ a g_a.g_b 1 + b (F g_a)(F g_b)^T ],     b = 8 c2 + 24 c3 k
 *
 * c1 = mu/2 is the elements' own, which have the volume too. k is 0 at rest and E of second order in
 * it: Young's modulus and Poisson's ratio keep their meaning.
 */
#include "terms/yeoh.h"

#include "terms/gradient.h"

typedef struct piece {
    pl_piece at;
    double k, a, b, energy; /* energy / V */
} piece;

static piece piece_of(const pl_substep *s, int element, const double *q)
{
    piece p = {.at = pl_piece_of(s, element, q)};
    double c2 = s->matter->values->of[PL_YEOH2][element], c3 = s->matter->values->of[PL_YEOH3][element];
    double k = p.k = pl_contract(p.at.f, p.at.f) - (p.at.corners - 1);
    p.a = 4 * c2 * k + 6 * c3 * k * k;
    p.b = 8 * c2 + 24 * c3 * k;
    p.energy = c2 * k * k + c3 * k * k * k;
    return p;
}

static bool has(const pl_substep *s, int element)
{
    return s->matter->values->of[PL_YEOH2][element] != 0 ||
           s->matter->values->of[PL_YEOH3][element] != 0;
}

/* Visits the elements e that have any, as pieces p at q. */
#define FOR_YEOH(s, q, e, p)                                                                           \
    for (int e = 0; (s)->matter->stiffens && e < (s)->scene->element_count; e++)                       \
        if (has(s, e))                                                                                 \
            for (piece p = piece_of(s, e, q), *once_ = &p; once_; once_ = NULL)

static double energy(const pl_substep *s, const double *q, double scale, double *out)
{
    double sum = 0;
    FOR_YEOH(s, q, e, p)
    {
        sum += p.at.volume * p.energy;
        pl_piece_scatter(&p.at, scale * p.at.volume * p.a, p.at.f, out);
    }
    return sum;
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    FOR_YEOH(s, q, e, p)
    for (int i = 0; i < p.at.corners; i++)
        for (int j = 0; j < p.at.corners; j++) {
            double *block =
                blocks + 9 * (size_t)pl_pattern_find(s->pattern, p.at.vertex[i], p.at.vertex[j]);
            double fi[3], fj[3], weight = scale * p.at.volume, a = clamp ? fmax(p.a, 0) : p.a,
                                 b = clamp ? fmax(p.b, 0) : p.b;
            pl_mat3_vec(p.at.f, p.at.g + 3 * i, fi);
            pl_mat3_vec(p.at.f, p.at.g + 3 * j, fj);
            for (int row = 0; row < 3; row++) {
                block[4 * row] += weight * a * pl_dot3(p.at.g + 3 * i, p.at.g + 3 * j);
                pl_axpy3(weight * b * fi[row], fj, block + 3 * row);
            }
        }
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    double df[9];
    FOR_YEOH(s, q, e, p)
    {
        pl_piece_gradient(&p.at, x, df);
        pl_piece_scatter(&p.at, scale * p.at.volume * p.a, df, y);
        pl_piece_scatter(&p.at, scale * p.at.volume * p.b * pl_contract(p.at.f, df), p.at.f, y);
    }
}

/* 8 c2 (div u)^2 at rest, which is no more than 8 c2 |grad u|^2 where the boundary is held */
static void constant(const pl_substep *s, double scale, double *matrix)
{
    FOR_YEOH(s, s->q0, e, p)
    for (int k = 0; k < p.at.corners * p.at.corners; k++) {
        int i = k / p.at.corners, j = k % p.at.corners;
        matrix[pl_pattern_find(s->pattern, p.at.vertex[i], p.at.vertex[j])] +=
            scale * p.at.volume * fmax(8 * s->matter->values->of[PL_YEOH2][e], 0) *
            pl_dot3(p.at.g + 3 * i, p.at.g + 3 * j);
    }
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dq0, (void)dv0;
    double dz[9];
    for (int e = 0; (g->of[PL_YEOH2] || g->of[PL_YEOH3]) && e < s->at->scene->element_count; e++) {
        piece p = piece_of(s->at, e, s->q);
        pl_piece_gradient(&p.at, z, dz);
        double push = -scale * p.at.volume * pl_contract(p.at.f, dz);
        if (g->of[PL_YEOH2])
            g->of[PL_YEOH2][e] += 4 * p.k * push;
        if (g->of[PL_YEOH3])
            g->of[PL_YEOH3][e] += 6 * p.k * p.k * push;
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)dq0, (void)dv0;
    const double *c2 = d->of[PL_YEOH2], *c3 = d->of[PL_YEOH3];
    for (int e = 0; (c2 || c3) && e < s->at->scene->element_count; e++) {
        piece p = piece_of(s->at, e, s->q);
        double a = (c2 ? 4 * p.k * c2[e] : 0) + (c3 ? 6 * p.k * p.k * c3[e] : 0);
        pl_piece_scatter(&p.at, -scale * p.at.volume * a, p.at.f, rhs);
    }
}

const pl_term pl_term_yeoh = {.name = "yeoh",
                              .energy = energy,
                              .tangent = tangent,
                              .multiply = multiply,
                              .constant = constant,
                              .vjp = vjp,
                              .jvp = jvp};

double pl_yeoh_energy(const pl_scene *scene, pl_matter *matter, const double *q, double *energies)
{
    const pl_substep at = {.scene = scene, .matter = matter};
    double sum = 0;
    FOR_YEOH(&at, q, e, p)
    {
        sum += p.at.volume * p.energy;
        if (energies)
            energies[e] += p.at.volume * p.energy;
    }
    return sum;
}

const double *pl_yeoh_stress(const pl_scene *scene, pl_matter *matter, const double *q)
{
    const pl_substep at = {.scene = scene, .matter = matter};
    if (!matter->stiffens)
        return NULL;
    memset(matter->element, 0, sizeof(double) * (size_t)scene->element_count);
    FOR_YEOH(&at, q, e, p)
    matter->element[e] = p.a;
    return matter->element;
}
