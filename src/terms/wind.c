/*
 * Wind on the triangles of a surface. With A = (x1-x0) x (x2-x0), a = A/|A|, r = w - mean(v), each
 * vertex of a triangle feels
 *
 *     f = drag/6 (a . r) A
 *
 * with positions and velocities at the start of the substep.
 */
#include "terms/term.h"

#include "core/vec.h"

typedef struct facet {
    const int *vertex;
    double e1[3], e2[3];
    double area[3];     /* A, twice the area vector */
    double length;      /* |A| */
    double unit[3];     /* a */
    double relative[3]; /* r */
} facet;

/* False when the triangle has no area and so feels nothing. */
static bool make_facet(const pl_wind *wind, int t, const double w[3], const double *q, const double *v,
                       facet *f)
{
    const int *i = f->vertex = wind->triangle + 3 * t;
    pl_sub3(q + 3 * i[1], q + 3 * i[0], f->e1);
    pl_sub3(q + 3 * i[2], q + 3 * i[0], f->e2);
    pl_cross3(f->e1, f->e2, f->area);
    f->length = pl_norm3(f->area);
    for (int k = 0; k < 3; k++) {
        f->unit[k] = f->area[k] / f->length;
        f->relative[k] = w[k] - (v[3 * i[0] + k] + v[3 * i[1] + k] + v[3 * i[2] + k]) / 3;
    }
    return f->length > 0;
}

/* f [n, 3] += the force of wind w at positions q and velocities v. */
static void add_force(const pl_wind *wind, const double w[3], const double *q, const double *v,
                      double *f)
{
    facet t;
    for (int k = 0; k < wind->triangle_count; k++)
        if (make_facet(wind, k, w, q, v, &t))
            for (int c = 0; c < 3; c++)
                pl_axpy3(wind->drag / 6 * pl_dot3(t.unit, t.relative), t.area, f + 3 * t.vertex[c]);
}

/* Cotangent z [n, 3] of f back to w, q and v: each gets scale times its part added; dw may be NULL. */
static void pull(const pl_wind *wind, const double w[3], const double *q, const double *v,
                 const double *z, double scale, double *dw, double *dq, double *dv)
{
    facet t;
    double s = scale * wind->drag / 6;
    for (int k = 0; k < wind->triangle_count; k++) {
        if (!make_facet(wind, k, w, q, v, &t))
            continue;
        double c[3] = {0}, on_area[3], on_e1[3], on_e2[3];
        for (int i = 0; i < 3; i++)
            pl_axpy3(1, z + 3 * t.vertex[i], c);
        double along = pl_dot3(c, t.area), wind_normal = pl_dot3(t.unit, t.relative);
        for (int i = 0; i < 3; i++)
            on_area[i] =
                wind_normal * c[i] + along * (t.relative[i] - wind_normal * t.unit[i]) / t.length;
        pl_cross3(t.e2, on_area, on_e1);
        pl_cross3(on_area, t.e1, on_e2);
        if (dw)
            pl_axpy3(s * along, t.unit, dw);
        for (int i = 0; i < 3; i++)
            pl_axpy3(-s * along / 3, t.unit, dv + 3 * t.vertex[i]);
        pl_axpy3(s, on_e1, dq + 3 * t.vertex[1]);
        pl_axpy3(s, on_e2, dq + 3 * t.vertex[2]);
        pl_axpy3(-s, on_e1, dq + 3 * t.vertex[0]);
        pl_axpy3(-s, on_e2, dq + 3 * t.vertex[0]);
    }
}

/* df [n, 3] += scale times the change of f along (dw, dq, dv); dw may be NULL. */
static void push(const pl_wind *wind, const double w[3], const double *q, const double *v,
                 const double *dw, const double *dq, const double *dv, double scale, double *df)
{
    facet t;
    double s = scale * wind->drag / 6;
    for (int k = 0; k < wind->triangle_count; k++) {
        if (!make_facet(wind, k, w, q, v, &t))
            continue;
        double d_area[3], d_relative[3] = {0}, d1[3], d2[3], part[3], change[3];
        if (dw)
            pl_axpy3(1, dw, d_relative);
        for (int i = 0; i < 3; i++)
            pl_axpy3(-1.0 / 3, dv + 3 * t.vertex[i], d_relative);
        pl_sub3(dq + 3 * t.vertex[1], dq + 3 * t.vertex[0], d1);
        pl_sub3(dq + 3 * t.vertex[2], dq + 3 * t.vertex[0], d2);
        pl_cross3(d1, t.e2, d_area);
        pl_cross3(t.e1, d2, part);
        pl_axpy3(1, part, d_area);
        double wind_normal = pl_dot3(t.unit, t.relative), stretch = pl_dot3(t.unit, d_area);
        double d_normal = (pl_dot3(d_area, t.relative) - stretch * wind_normal) / t.length +
                          pl_dot3(t.unit, d_relative);
        for (int i = 0; i < 3; i++)
            change[i] = d_normal * t.area[i] + wind_normal * d_area[i];
        for (int i = 0; i < 3; i++)
            pl_axpy3(s, change, df + 3 * t.vertex[i]);
    }
}

static void force(const pl_substep *s, double *f)
{
    for (int w = 0; w < s->scene->wind_count; w++)
        add_force(&s->scene->winds[w], s->drive->of[PL_WIND] + 3 * w, s->q0, s->v0, f);
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    const pl_substep *at = s->at;
    for (int w = 0; w < at->scene->wind_count; w++)
        pull(&at->scene->winds[w], at->drive->of[PL_WIND] + 3 * w, at->q0, at->v0, z, scale,
             g->of[PL_WIND] ? pl_slope_row(s, g, PL_WIND, w) : NULL, dq0, dv0);
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    const pl_substep *at = s->at;
    for (int w = 0; w < at->scene->wind_count; w++)
        push(&at->scene->winds[w], at->drive->of[PL_WIND] + 3 * w, at->q0, at->v0,
             d->of[PL_WIND] ? pl_slope_row(s, d, PL_WIND, w) : NULL, dq0, dv0, scale, rhs);
}

const pl_term pl_term_wind = {.name = "wind", .force = force, .vjp = vjp, .jvp = jvp};
