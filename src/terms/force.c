/* Forces on vertices: those of the scene, per vertex, group or mass, and the caller's own. */
#include "terms/term.h"

#include "core/vec.h"

/* What one vertex feels of a force's value: N per unit of it. */
static double share(const pl_force *force, const double *mass, int vertex)
{
    return force->per == PL_PER_MASS    ? mass[vertex]
           : force->per == PL_PER_GROUP ? 1.0 / force->count
                                        : 1;
}

static void force(const pl_substep *s, double *f)
{
    const double *value = s->drive->of[PL_FORCE], *own = s->drive->of[PL_VERTEX_FORCE];
    for (int i = 0; i < 3 * s->scene->vertex_count; i++)
        f[i] += own[i];
    for (int a = 0; a < s->scene->force_count; a++) {
        const pl_force *of = &s->scene->forces[a];
        for (int k = 0; k < of->count; k++)
            pl_axpy3(share(of, s->matter->mass, of->vertex[k]), value + 3 * a,
                     f + 3 * (size_t)of->vertex[k]);
    }
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dq0, (void)dv0;
    const pl_substep *at = s->at;
    if (g->of[PL_VERTEX_FORCE]) {
        double *own = pl_slope_row(s, g, PL_VERTEX_FORCE, 0);
        for (int i = 0; i < 3 * at->scene->vertex_count; i++)
            own[i] += scale * z[i];
    }
    for (int a = 0; a < at->scene->force_count; a++) {
        const pl_force *of = &at->scene->forces[a];
        double *value = g->of[PL_FORCE] ? pl_slope_row(s, g, PL_FORCE, a) : NULL;
        for (int k = 0; k < of->count; k++) {
            int v = of->vertex[k];
            if (value)
                pl_axpy3(scale * share(of, at->matter->mass, v), z + 3 * (size_t)v, value);
            if (s->mass && of->per == PL_PER_MASS)
                s->mass[v] += scale * pl_dot3(z + 3 * (size_t)v, at->drive->of[PL_FORCE] + 3 * a);
        }
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)dq0, (void)dv0;
    const pl_substep *at = s->at;
    if (d->of[PL_VERTEX_FORCE]) {
        const double *own = pl_slope_row(s, d, PL_VERTEX_FORCE, 0);
        for (int i = 0; i < 3 * at->scene->vertex_count; i++)
            rhs[i] += scale * own[i];
    }
    for (int a = 0; a < at->scene->force_count; a++) {
        const pl_force *of = &at->scene->forces[a];
        const double *value = d->of[PL_FORCE] ? pl_slope_row(s, d, PL_FORCE, a) : NULL;
        for (int k = 0; k < of->count; k++) {
            int v = of->vertex[k];
            if (value)
                pl_axpy3(scale * share(of, at->matter->mass, v), value, rhs + 3 * (size_t)v);
            if (s->mass && of->per == PL_PER_MASS)
                pl_axpy3(scale * s->mass[v], at->drive->of[PL_FORCE] + 3 * a, rhs + 3 * (size_t)v);
        }
    }
}

const pl_term pl_term_force = {.name = "force", .force = force, .vjp = vjp, .jvp = jvp};
