/* Gravity, m g. */
#include "terms/term.h"

#include "core/vec.h"

static void force(const pl_substep *s, double *f)
{
    for (int i = 0; i < s->scene->vertex_count; i++)
        pl_axpy3(s->matter->mass[i], s->matter->values->def.gravity, f + 3 * (size_t)i);
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)g, (void)dq0, (void)dv0;
    for (int i = 0; s->mass && i < s->at->scene->vertex_count; i++)
        s->mass[i] += scale * pl_dot3(z + 3 * (size_t)i, s->at->matter->values->def.gravity);
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)d, (void)dq0, (void)dv0;
    for (int i = 0; s->mass && i < s->at->scene->vertex_count; i++)
        pl_axpy3(scale * s->mass[i], s->at->matter->values->def.gravity, rhs + 3 * (size_t)i);
}

const pl_term pl_term_gravity = {.name = "gravity", .force = force, .vjp = vjp, .jvp = jvp};
