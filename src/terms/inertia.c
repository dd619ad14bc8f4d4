/* Inertia and mass-proportional damping, (M + hC)(q - q0) - h M v0: how a substep's end depends on its
 * start. */
#include "terms/term.h"

#include "core/vec.h"

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)scale, (void)g;
    const pl_substep *at = s->at;
    const double *mass = at->matter->mass, *damping = at->matter->damping;
    for (int i = 0; i < at->scene->vertex_count; i++) {
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            dq0[k] += (mass[i] + at->h * damping[i]) * z[k];
            dv0[k] += at->h * mass[i] * z[k];
        }
        if (!s->mass)
            continue;
        double moved = pl_dot3(z + 3 * i, s->u + 3 * i);
        s->mass[i] += at->h * pl_dot3(z + 3 * i, at->v0 + 3 * i) - moved;
        s->drag[i] -= at->h * moved;
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)scale, (void)d;
    const pl_substep *at = s->at;
    const double *mass = at->matter->mass, *damping = at->matter->damping;
    for (int i = 0; i < at->scene->vertex_count; i++)
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            rhs[k] += (mass[i] + at->h * damping[i]) * dq0[k] + at->h * mass[i] * dv0[k];
            if (s->mass)
                rhs[k] -= s->mass[i] * (s->u[k] - at->h * at->v0[k]) + s->drag[i] * at->h * s->u[k];
        }
}

const pl_term pl_term_inertia = {.name = "inertia", .vjp = vjp, .jvp = jvp};
