/*
 * Resistance to changes of volume, taken over patches of tets instead of each: a body that keeps its
 * volume can then still bend, which linear tets cannot (they lock). With v(q) the volume of a patch, V
 * at rest, J = v/V, and k = sum_e lambda_e V_e over its tets,
 *
 *     E = k/2 log(J)^2,     dE/dq = p dv/dq,     p = k log(J)/v
 *     d2E/dq2 = k (1 - log J)/v^2 dv/dq dv/dq^T + p d2v/dq2
 *
 * The elements have the rest of the energy (elastic/parameters.c): the same as ever where a patch's
 * tets change their volumes alike.
 */
#include "terms/mean_volume.h"

#include "core/vec.h"
#include "terms/term.h"

/* A patch of a body: its vertices in the scene, its tets' corners among these. */
typedef struct patch {
    int tets, vertices;
    int element[PL_PATCH_TETS]; /* of the scene */
    int vertex[PL_PATCH_VERTICES];
    int corner[PL_PATCH_TETS][4];
    double k, rest;                        /* k and V */
    double x[PL_PATCH_VERTICES][3];        /* q there */
    double v, slope[PL_PATCH_VERTICES][3]; /* the volume and its derivative */
} patch;

static int place_of(patch *p, int vertex)
{
    int at = 0;
    while (at < p->vertices && p->vertex[at] != vertex)
        at++;
    if (at == p->vertices)
        p->vertex[p->vertices++] = vertex;
    return at;
}

/* The corners of patch i, without its volume. */
static patch corners_of(const pl_body *b, int i)
{
    patch p = {0};
    for (int k = b->patch_begin[i]; k < b->patch_begin[i + 1]; k++, p.tets++) {
        int tet = b->patch_tets[k];
        p.element[p.tets] = b->element_offset + tet;
        for (int c = 0; c < 4; c++)
            p.corner[p.tets][c] =
                place_of(&p, b->vertex_offset + b->elements[4 * (size_t)tet + (size_t)c]);
    }
    return p;
}

/* Of a tet at x [.., 3]: g [4, 3] = dv/dx, or along a direction d its change. Returns v. */
static double tet_slopes(const int corner[4], double (*x)[3], double (*d)[3], double g[4][3])
{
    double e[3][3], de[3][3], s[3];
    memset(g[0], 0, sizeof g[0]);
    for (int k = 0; k < 3; k++) {
        pl_sub3(x[corner[k + 1]], x[corner[0]], e[k]);
        if (d)
            pl_sub3(d[corner[k + 1]], d[corner[0]], de[k]);
    }
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        memset(g[k + 1], 0, sizeof g[k + 1]);
        pl_cross3(d ? de[a] : e[a], e[b], s);
        pl_axpy3(1.0 / 6, s, g[k + 1]);
        if (d) {
            pl_cross3(e[a], de[b], s);
            pl_axpy3(1.0 / 6, s, g[k + 1]);
        }
        pl_axpy3(-1, g[k + 1], g[0]);
    }
    return pl_dot3(e[0], g[1]);
}

static patch patch_of(const pl_substep *s, const pl_body *b, int i, const double *q)
{
    patch p = corners_of(b, i);
    double g[4][3];
    for (int a = 0; a < p.vertices; a++)
        memcpy(p.x[a], q + 3 * (size_t)p.vertex[a], sizeof p.x[a]);
    for (int t = 0; t < p.tets; t++) {
        double volume = s->scene->volume[p.element[t]];
        p.k += pl_elastic_bulk(s->matter->elastic, p.element[t], NULL) * volume;
        p.rest += volume;
        p.v += tet_slopes(p.corner[t], p.x, NULL, g);
        for (int c = 0; c < 4; c++)
            pl_axpy3(1, g[c], p.slope[p.corner[t][c]]);
    }
    return p;
}

static double log_ratio(const patch *p)
{
    return log(p->v / p->rest);
}

/* Visits every patch p of every body that has them, at q. */
#define FOR_PATCHES(s, q, p)                                                                           \
    for (int b_ = 0; b_ < (s)->scene->body_count; b_++)                                                \
        for (int i_ = 0; i_ < (s)->scene->bodies[b_].patch_count; i_++)                                \
            for (patch p = patch_of(s, &(s)->scene->bodies[b_], i_, q), *once_ = &p; once_;            \
                 once_ = NULL)

static pl_status stencils(const pl_scene *scene, int *count, int *width, int **index)
{
    pl_status status = PL_OK;
    int *list = NULL, at = 0;
    *count = 0;
    *width = PL_PATCH_VERTICES;
    for (int b = 0; b < scene->body_count; b++)
        *count += scene->bodies[b].patch_count;
    PL_NEW(scene->ctx, list, (size_t)*count * PL_PATCH_VERTICES, done);
    for (int b = 0; b < scene->body_count; b++)
        for (int i = 0; i < scene->bodies[b].patch_count; i++) {
            patch p = corners_of(&scene->bodies[b], i);
            for (int k = 0; k < PL_PATCH_VERTICES; k++)
                list[at++] = k < p.vertices ? p.vertex[k] : -1;
        }
    *index = list;
done:
    return status;
}

static double energy(const pl_substep *s, const double *q, double scale, double *out)
{
    double sum = 0;
    FOR_PATCHES(s, q, p)
    {
        double l = log_ratio(&p);
        sum += 0.5 * p.k * l * l;
        for (int a = 0; a < p.vertices; a++)
            pl_axpy3(scale * p.k * l / p.v, p.slope[a], out + 3 * (size_t)p.vertex[a]);
    }
    return sum;
}

/* A patch's blocks in the matrix, [vertices, vertices]. */
typedef double *places[PL_PATCH_VERTICES][PL_PATCH_VERTICES];

static void locate(const pl_substep *s, const patch *p, double *blocks, places at)
{
    for (int a = 0; a < p->vertices; a++)
        for (int b = 0; b < p->vertices; b++)
            at[a][b] = blocks + 9 * (size_t)pl_pattern_find(s->pattern, p->vertex[a], p->vertex[b]);
}

/* += scale d2v/dq2: of corners a, b of a tet whose others are c, d, (a, b, c, d) an even permutation,
 * d2v/dx_a dx_b y = (x_c - x_d) x y / 6. */
static void add_turning(const patch *p, double scale, places at)
{
    static const int even[12][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 0, 3, 2},
                                    {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 0, 1, 3}, {2, 1, 3, 0},
                                    {2, 3, 0, 1}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 2, 1, 0}};
    for (int t = 0; t < p->tets; t++)
        for (int k = 0; k < 12; k++) {
            const int *c = p->corner[t];
            double *block = at[c[even[k][0]]][c[even[k][1]]], w[3];
            pl_sub3(p->x[c[even[k][2]]], p->x[c[even[k][3]]], w);
            for (int i = 0; i < 3; i++) {
                int j = (i + 1) % 3, l = (i + 2) % 3;
                block[3 * i + j] -= scale / 6 * w[l];
                block[3 * j + i] += scale / 6 * w[l];
            }
        }
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    FOR_PATCHES(s, q, p)
    {
        double l = log_ratio(&p), stiff = scale * p.k * (clamp ? fmax(1 - l, 0) : 1 - l) / (p.v * p.v);
        places at;
        locate(s, &p, blocks, at);
        for (int a = 0; a < p.vertices; a++)
            for (int b = 0; b < p.vertices; b++)
                for (int row = 0; row < 3; row++)
                    pl_axpy3(stiff * p.slope[a][row], p.slope[b], at[a][b] + 3 * row);
        if (!clamp)
            add_turning(&p, scale * p.k * l / p.v, at);
    }
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    FOR_PATCHES(s, q, p)
    {
        double l = log_ratio(&p), d[PL_PATCH_VERTICES][3], g[4][3], dv = 0;
        for (int a = 0; a < p.vertices; a++) {
            memcpy(d[a], x + 3 * (size_t)p.vertex[a], sizeof d[a]);
            dv += pl_dot3(p.slope[a], d[a]);
        }
        for (int a = 0; a < p.vertices; a++)
            pl_axpy3(scale * p.k * (1 - l) / (p.v * p.v) * dv, p.slope[a], y + 3 * (size_t)p.vertex[a]);
        for (int t = 0; t < p.tets; t++) {
            tet_slopes(p.corner[t], p.x, d, g);
            for (int c = 0; c < 4; c++)
                pl_axpy3(scale * p.k * l / p.v, g[c], y + 3 * (size_t)p.vertex[p.corner[t][c]]);
        }
    }
}

/* As of elements that resist by themselves: (integral of div u)^2 <= V times the integral of (div u)^2.
 */
static void constant(const pl_substep *s, double scale, double *a)
{
    for (int b = 0; b < s->scene->body_count; b++) {
        const pl_body *body = &s->scene->bodies[b];
        for (int e = body->element_offset;
             body->patch_count && e < body->element_offset + body->element_count; e++) {
            int vertex[4];
            double g[12], lambda = pl_elastic_bulk(s->matter->elastic, e, NULL);
            pl_elastic_shape(s->matter->elastic, e, vertex, g);
            for (int k = 0; k < 16; k++)
                a[pl_pattern_find(s->pattern, vertex[k / 4], vertex[k % 4])] +=
                    scale * lambda * s->scene->volume[e] * pl_dot3(g + 3 * (k / 4), g + 3 * (k % 4));
        }
    }
}

static bool asked(const pl_gradient *g)
{
    return g->of[PL_YOUNG] || g->of[PL_POISSON];
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dq0, (void)dv0;
    if (!asked(g))
        return;
    FOR_PATCHES(s->at, s->q, p)
    {
        double along = 0, by[2];
        for (int a = 0; a < p.vertices; a++)
            along += pl_dot3(p.slope[a], z + 3 * (size_t)p.vertex[a]);
        for (int t = 0; t < p.tets; t++) {
            int e = p.element[t];
            double push = -scale * log_ratio(&p) / p.v * along * s->at->scene->volume[e];
            pl_elastic_bulk(s->at->matter->elastic, e, by);
            if (g->of[PL_YOUNG])
                g->of[PL_YOUNG][e] += push * by[0];
            if (g->of[PL_POISSON])
                g->of[PL_POISSON][e] += push * by[1];
        }
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)dq0, (void)dv0;
    if (!asked(d))
        return;
    FOR_PATCHES(s->at, s->q, p)
    {
        double change = 0, by[2];
        for (int t = 0; t < p.tets; t++) {
            int e = p.element[t];
            pl_elastic_bulk(s->at->matter->elastic, e, by);
            change +=
                s->at->scene->volume[e] * ((d->of[PL_YOUNG] ? by[0] * d->of[PL_YOUNG][e] : 0) +
                                           (d->of[PL_POISSON] ? by[1] * d->of[PL_POISSON][e] : 0));
        }
        for (int a = 0; a < p.vertices; a++)
            pl_axpy3(-scale * change * log_ratio(&p) / p.v, p.slope[a], rhs + 3 * (size_t)p.vertex[a]);
    }
}

const pl_term pl_term_mean_volume = {.name = "mean volume",
                                     .stencils = stencils,
                                     .energy = energy,
                                     .tangent = tangent,
                                     .multiply = multiply,
                                     .constant = constant,
                                     .vjp = vjp,
                                     .jvp = jvp};

double pl_mean_volume_fields(const pl_scene *scene, pl_matter *matter, const double *q, double *energy,
                             double *cauchy)
{
    const pl_substep at = {.scene = scene, .matter = matter};
    double sum = 0;
    FOR_PATCHES(&at, q, p)
    {
        double l = log_ratio(&p), whole = 0.5 * p.k * l * l;
        sum += whole;
        for (int t = 0; t < p.tets; t++) {
            if (energy)
                energy[p.element[t]] += whole * scene->volume[p.element[t]] / p.rest;
            for (int k = 0; cauchy && k < 9; k += 4)
                cauchy[9 * (size_t)p.element[t] + (size_t)k] += p.k * l / p.v;
        }
    }
    return sum;
}

/* ---- making the patches */

pl_status pl_mean_volume_create(pl_context *ctx, pl_body *b)
{
    pl_status status = PL_OK;
    int *of = NULL, count;
    PL_NEW(ctx, of, b->element_count, done);
    PL_CHECK(pl_mesh_patches(ctx, b->mesh, &count, of), done);
    PL_NEW(ctx, b->patch_begin, count + 1, done);
    PL_NEW(ctx, b->patch_tets, b->element_count, done);
    for (int t = 0; t < b->element_count; t++)
        b->patch_begin[of[t] + 1]++;
    for (int i = 0; i < count; i++)
        b->patch_begin[i + 1] += b->patch_begin[i];
    for (int t = b->element_count - 1; t >= 0; t--)
        b->patch_tets[--b->patch_begin[of[t] + 1]] = t;
    /* each beginning has moved to its own patch's, one place too far right */
    memmove(b->patch_begin, b->patch_begin + 1, (size_t)count * sizeof *b->patch_begin);
    b->patch_begin[count] = b->element_count;
    b->patch_count = count;
done:
    pl_free(ctx, of);
    return status;
}

void pl_mean_volume_free(pl_context *ctx, pl_body *b)
{
    pl_free(ctx, b->patch_begin);
    pl_free(ctx, b->patch_tets);
}
