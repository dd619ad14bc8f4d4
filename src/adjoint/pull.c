/*
 * From a solved adjoint to gradients: dL/dp = -psi . dR/dp for everything p the substep's residual
 *
 *     r = (M + hC) u - h M v0 - h^2 f + h^2 grad Psi + h^2 k (q - target) - h^2 H^T lambda
 *     u = q - q0
 *
 * and contact law depend on explicitly.
 */
#include "adjoint/sweep.h"

#include "contact/geometry.h"
#include "core/vec.h"
#include "sim/lump.h"
#include "sim/wind.h"

/* d(mass) and d(damping) of each vertex, then of the elements that give it mass. */
static void pull_mass(pl_sweep *s, const double *z, pl_gradient *g)
{
    const pl_linear *l = &s->linear;
    const pl_sim *sim = l->sim;
    const pl_scene *scene = sim->scene;
    double h = l->sub.h, *dm = s->mass_work, *dc = s->mass_work + sim->n, *on = sim->element_work;
    if (!g->of[PL_DENSITY] && !g->of[PL_DAMPING])
        return;
    for (int i = 0; i < sim->n; i++) {
        const double *zi = z + 3 * i, *u = l->u + 3 * i, *v = l->sub.v0 + 3 * i;
        dc[i] = -h * pl_dot3(zi, u);
        dm[i] = -pl_dot3(zi, u) + h * pl_dot3(zi, v) + h * h * pl_dot3(zi, sim->values->def.gravity);
    }
    for (int a = 0; a < scene->force_count; a++)
        for (int k = 0; scene->forces[a].per == PL_PER_MASS && k < scene->forces[a].count; k++) {
            int v = scene->forces[a].vertex[k];
            dm[v] += h * h * pl_dot3(z + 3 * (size_t)v, s->part.of[PL_FORCE] + 3 * a);
        }
    pl_lump_mean(scene, dm, on);
    for (int e = 0; g->of[PL_DENSITY] && e < scene->element_count; e++)
        g->of[PL_DENSITY][e] += scene->volume[e] * on[e];
    pl_lump_mean(scene, dc, on);
    for (int e = 0; g->of[PL_DENSITY] && e < scene->element_count; e++)
        g->of[PL_DENSITY][e] += scene->volume[e] * sim->values->of[PL_DAMPING][e] * on[e];
    for (int e = 0; g->of[PL_DAMPING] && e < scene->element_count; e++)
        g->of[PL_DAMPING][e] += scene->volume[e] * sim->values->of[PL_DENSITY][e] * on[e];
}

static void pull_forces(pl_sweep *s, const double *z, pl_gradient *g, double *dq0, double *dv0)
{
    const pl_linear *l = &s->linear;
    const pl_sim *sim = l->sim;
    const pl_scene *scene = sim->scene;
    double h2 = l->sub.h * l->sub.h;
    size_t step = (size_t)s->step;
    if (g->of[PL_VERTEX_FORCE])
        for (int i = 0; i < 3 * sim->n; i++)
            g->of[PL_VERTEX_FORCE][step * 3 * (size_t)sim->n + (size_t)i] += h2 * z[i];
    for (int a = 0; g->of[PL_FORCE] && a < scene->force_count; a++)
        for (int k = 0; k < scene->forces[a].count; k++) {
            int v = scene->forces[a].vertex[k];
            pl_axpy3(h2 * pl_force_share(&scene->forces[a], sim->mass, v), z + 3 * (size_t)v,
                     g->of[PL_FORCE] + 3 * (step * (size_t)scene->force_count + (size_t)a));
        }
    for (int w = 0; w < scene->wind_count; w++)
        pl_wind_vjp(&scene->winds[w], s->part.of[PL_WIND] + 3 * w, l->sub.q0, l->sub.v0, z, h2,
                    g->of[PL_WIND] ? g->of[PL_WIND] + 3 * (step * (size_t)scene->wind_count + (size_t)w)
                                   : NULL,
                    dq0, dv0);
}

static void pull_pins(pl_sweep *s, const double *z, pl_gradient *g)
{
    const pl_linear *l = &s->linear;
    const pl_scene *scene = l->sim->scene;
    double h2 = l->sub.h * l->sub.h, to = l->sub.to;
    size_t rows = (size_t)scene->pin_vertex_count;
    for (int p = 0; p < scene->pin_count; p++) {
        double stiffness = 1 / l->sim->values->of[PL_COMPLIANCE][p];
        for (int k = scene->pins[p].first; k < scene->pins[p].first + scene->pins[p].count; k++) {
            size_t v = (size_t)scene->pin_vertex[k];
            double stretch[3];
            pl_sub3(l->q + 3 * v, s->part.of[PL_PIN_TARGET] + 3 * k, stretch);
            if (g->of[PL_PIN_TARGET]) {
                double *now = g->of[PL_PIN_TARGET] + 3 * ((size_t)s->step * rows + (size_t)k);
                pl_axpy3(to * h2 * stiffness, z + 3 * v, now);
                if (s->step > 0 && to < 1)
                    pl_axpy3((1 - to) * h2 * stiffness, z + 3 * v, now - 3 * rows);
            }
            if (g->of[PL_COMPLIANCE])
                g->of[PL_COMPLIANCE][p] += h2 * stiffness * stiffness * pl_dot3(z + 3 * v, stretch);
        }
    }
}

/* A pose's cotangent [6] back to the poses at both ends of the time step. */
static void spread_pose(pl_sweep *s, int c, double fraction, const double d[6], pl_gradient *g)
{
    size_t count = (size_t)s->rollout->sim->scene->collider_count;
    double *now = g->of[PL_COLLIDER_POSE] + 6 * ((size_t)s->step * count + (size_t)c);
    double *ago = s->step > 0 ? now - 6 * count : NULL; /* the start of the rollout is not an input */
    if (fraction == 0 || fraction == 1) {
        double *only = fraction == 1 ? now : ago;
        for (int k = 0; only && k < 6; k++)
            only[k] += d[k];
        return;
    }
    double d_from[9], d_to[9], turned[3];
    pl_pose_between_jacobian(s->before.of[PL_COLLIDER_POSE] + 7 * c,
                             s->after.of[PL_COLLIDER_POSE] + 7 * c, fraction, d_from, d_to);
    pl_axpy3(fraction, d, now);
    pl_mat3_tvec(d_to, d + 3, turned);
    pl_axpy3(1, turned, now + 3);
    if (ago) {
        pl_axpy3(1 - fraction, d, ago);
        pl_mat3_tvec(d_from, d + 3, turned);
        pl_axpy3(1, turned, ago + 3);
    }
}

static void pull_contacts(pl_sweep *s, const double *z, pl_gradient *g, double *dq0)
{
    const pl_linear *l = &s->linear;
    const pl_sim *sim = l->sim;
    double h2 = l->sub.h * l->sub.h;
    for (int c = 0; c < sim->contacts.count; c++) {
        const pl_contact_point *p = &sim->contacts.points[c];
        const double *w = l->solution + 3 * (size_t)sim->n + 3 * (size_t)c;
        double a[3], f[3];
        pl_geometry_grad d;
        if (g->of[PL_FRICTION])
            g->of[PL_FRICTION][p->collider * sim->scene->body_count + p->body] -=
                pl_dot3(w, l->d_mu + 3 * c);
        pl_linear_pull(l, c, a);
        size_t v = 3 * (size_t)p->vertex[0];
        for (int k = 0; k < 3; k++) {
            a[k] = -a[k];
            f[k] = h2 * z[v + (size_t)k];
        }
        pl_geometry_vjp(p, s->pose_start + 7 * p->collider,
                        s->part.of[PL_COLLIDER_POSE] + 7 * p->collider, l->sub.q0 + v, l->u + v, a, f,
                        &d);
        pl_axpy3(1, d.x0, dq0 + v);
        if (g->of[PL_COLLIDER_POSE]) {
            spread_pose(s, p->collider, l->sub.to, d.pose_end, g);
            spread_pose(s, p->collider, l->sub.from, d.pose_start, g);
        }
    }
}

void pl_pull(pl_sweep *s, pl_gradient *g, double *dq0, double *dv0)
{
    const pl_linear *l = &s->linear;
    pl_sim *sim = l->sim;
    double h = l->sub.h;
    const double *z = l->solution;
    for (int i = 0; i < sim->n; i++)
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            dq0[k] += (sim->mass[i] + h * sim->damping[i]) * z[k];
            dv0[k] += h * sim->mass[i] * z[k];
        }
    pull_mass(s, z, g);
    pull_forces(s, z, g, dq0, dv0);
    pull_pins(s, z, g);
    pull_contacts(s, z, g, dq0);
    if (g->of[PL_YOUNG] || g->of[PL_POISSON] || g->of[PL_BENDING])
        pl_elastic_param_vjp(sim->elastic, l->q, z, -h * h, g->of[PL_YOUNG], g->of[PL_POISSON],
                             g->of[PL_BENDING]);
}
