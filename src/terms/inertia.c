/* Inertia and mass-proportional damping, (M + hC)(q - p) - h M w: how a substep's end depends on the
 * states before it. */
#include "terms/term.h"

#include "core/vec.h"

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)scale, (void)g, (void)dq0, (void)dv0;
    const pl_substep *at = s->at;
    const double *mass = at->matter->mass, *damping = at->matter->damping;
    for (int i = 0; i < at->scene->vertex_count; i++) {
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            s->p[k] += (mass[i] + at->h * damping[i]) * z[k];
            s->w[k] += at->h * mass[i] * z[k];
        }
        if (!s->mass)
            continue;
        double u[3];
        pl_sub3(s->q + 3 * i, at->p + 3 * i, u);
        double moved = pl_dot3(z + 3 * i, u);
        s->mass[i] += at->h * pl_dot3(z + 3 * i, at->w + 3 * i) - moved;
        for (int k = 0; s->z && k < 3; k++) /* M^-1 H^T lambda in what is kept as acceleration */
            s->mass[i] +=
                s->z[3 * i + k] * (u[k] - at->h * (at->w[3 * i + k] + at->h * s->a[3 * i + k]));
        s->drag[i] -= at->h * moved;
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)scale, (void)d, (void)dq0, (void)dv0;
    const pl_substep *at = s->at;
    const double *mass = at->matter->mass, *damping = at->matter->damping;
    for (int i = 0; i < at->scene->vertex_count; i++)
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            double u = s->q[k] - at->p[k];
            rhs[k] += (mass[i] + at->h * damping[i]) * s->p[k] + at->h * mass[i] * s->w[k];
            if (s->mass)
                rhs[k] -= s->mass[i] * (u - at->h * at->w[k]) + s->drag[i] * at->h * u;
        }
}

const pl_term pl_term_inertia = {.name = "inertia", .vjp = vjp, .jvp = jvp};
