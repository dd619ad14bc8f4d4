/* The tangent system's right-hand side: -dR/dp along a direction, the mirror image of pull.c. */
#include "adjoint/sweep.h"

#include "contact/geometry.h"
#include "core/vec.h"
#include "sim/lump.h"
#include "sim/wind.h"

/* -(u - h v0 - h^2 acceleration) dm - h u dC */
static void push_mass(pl_sweep *s, const pl_gradient *d)
{
    pl_linear *l = &s->linear;
    const pl_sim *sim = l->sim;
    const pl_scene *scene = sim->scene;
    double h = l->sub.h, *dm = s->mass_work, *dc = s->mass_work + sim->n, *of = sim->element_work;
    if (!d->of[PL_DENSITY] && !d->of[PL_DAMPING])
        return;
    for (int e = 0; e < scene->element_count; e++)
        of[e] = d->of[PL_DENSITY] ? scene->volume[e] * d->of[PL_DENSITY][e] : 0;
    pl_lump(scene, of, dm);
    for (int e = 0; e < scene->element_count; e++) {
        of[e] *= sim->values->of[PL_DAMPING][e];
        of[e] += d->of[PL_DAMPING]
                     ? scene->volume[e] * sim->values->of[PL_DENSITY][e] * d->of[PL_DAMPING][e]
                     : 0;
    }
    pl_lump(scene, of, dc);
    for (int i = 0; i < sim->n; i++)
        for (int k = 0; k < 3; k++)
            l->rhs[3 * i + k] -= dm[i] * (l->u[3 * i + k] - h * l->sub.v0[3 * i + k] -
                                          h * h * sim->values->def.gravity[k]) +
                                 dc[i] * h * l->u[3 * i + k];
    for (int a = 0; a < scene->force_count; a++)
        for (int k = 0; scene->forces[a].per == PL_PER_MASS && k < scene->forces[a].count; k++) {
            int v = scene->forces[a].vertex[k];
            pl_axpy3(h * h * dm[v], s->part.of[PL_FORCE] + 3 * a, l->rhs + 3 * (size_t)v);
        }
}

static void push_forces(pl_sweep *s, const pl_gradient *d, const double *dq0, const double *dv0)
{
    pl_linear *l = &s->linear;
    const pl_sim *sim = l->sim;
    const pl_scene *scene = sim->scene;
    double h2 = l->sub.h * l->sub.h;
    size_t step = (size_t)s->step;
    for (int i = 0; d->of[PL_VERTEX_FORCE] && i < 3 * sim->n; i++)
        l->rhs[i] += h2 * d->of[PL_VERTEX_FORCE][step * 3 * (size_t)sim->n + (size_t)i];
    for (int a = 0; d->of[PL_FORCE] && a < scene->force_count; a++)
        for (int k = 0; k < scene->forces[a].count; k++) {
            int v = scene->forces[a].vertex[k];
            pl_axpy3(h2 * pl_force_share(&scene->forces[a], sim->mass, v),
                     d->of[PL_FORCE] + 3 * (step * (size_t)scene->force_count + (size_t)a),
                     l->rhs + 3 * (size_t)v);
        }
    for (int w = 0; w < scene->wind_count; w++)
        pl_wind_jvp(&scene->winds[w], s->part.of[PL_WIND] + 3 * w, l->sub.q0, l->sub.v0,
                    d->of[PL_WIND] ? d->of[PL_WIND] + 3 * (step * (size_t)scene->wind_count + (size_t)w)
                                   : NULL,
                    dq0, dv0, h2, l->rhs);
}

static void push_pins(pl_sweep *s, const pl_gradient *d)
{
    pl_linear *l = &s->linear;
    const pl_scene *scene = l->sim->scene;
    double h2 = l->sub.h * l->sub.h, to = l->sub.to;
    size_t rows = (size_t)scene->pin_vertex_count;
    for (int p = 0; p < scene->pin_count; p++) {
        double stiffness = 1 / l->sim->values->of[PL_COMPLIANCE][p];
        for (int k = scene->pins[p].first; k < scene->pins[p].first + scene->pins[p].count; k++) {
            double *rhs = l->rhs + 3 * (size_t)scene->pin_vertex[k], stretch[3];
            pl_sub3(l->q + 3 * (size_t)scene->pin_vertex[k], s->part.of[PL_PIN_TARGET] + 3 * k,
                    stretch);
            if (d->of[PL_PIN_TARGET]) {
                const double *now = d->of[PL_PIN_TARGET] + 3 * ((size_t)s->step * rows + (size_t)k);
                pl_axpy3(to * h2 * stiffness, now, rhs);
                if (s->step > 0 && to < 1)
                    pl_axpy3((1 - to) * h2 * stiffness, now - 3 * rows, rhs);
            }
            if (d->of[PL_COMPLIANCE])
                pl_axpy3(h2 * stiffness * stiffness * d->of[PL_COMPLIANCE][p], stretch, rhs);
        }
    }
}

/* The change [6] of a pose a fraction of the way through the step. */
static void blend_pose(const pl_sweep *s, int c, double fraction, const pl_gradient *d, double out[6])
{
    size_t count = (size_t)s->rollout->sim->scene->collider_count;
    const double *now = d->of[PL_COLLIDER_POSE] + 6 * ((size_t)s->step * count + (size_t)c),
                 still[6] = {0};
    const double *ago = s->step > 0 ? now - 6 * count : still;
    if (fraction == 0 || fraction == 1) {
        memcpy(out, fraction == 1 ? now : ago, 6 * sizeof(double));
        return;
    }
    double d_from[9], d_to[9], turned[3];
    pl_pose_between_jacobian(s->before.of[PL_COLLIDER_POSE] + 7 * c,
                             s->after.of[PL_COLLIDER_POSE] + 7 * c, fraction, d_from, d_to);
    for (int k = 0; k < 3; k++)
        out[k] = (1 - fraction) * ago[k] + fraction * now[k];
    pl_mat3_vec(d_to, now + 3, out + 3);
    pl_mat3_vec(d_from, ago + 3, turned);
    pl_axpy3(1, turned, out + 3);
}

static void push_contacts(pl_sweep *s, const pl_gradient *d, const double *dq0)
{
    pl_linear *l = &s->linear;
    const pl_sim *sim = l->sim;
    double h2 = l->sub.h * l->sub.h;
    for (int c = 0; c < sim->contacts.count; c++) {
        const pl_contact_point *p = &sim->contacts.points[c];
        size_t v = 3 * (size_t)p->vertex[0];
        double *row = l->rhs + 3 * (size_t)sim->n + 3 * (size_t)c, d_delta[3], d_force[3], pushed[3];
        pl_geometry_grad along = {0};
        memcpy(along.x0, dq0 + v, sizeof along.x0);
        if (d->of[PL_COLLIDER_POSE]) {
            blend_pose(s, p->collider, l->sub.to, d, along.pose_end);
            blend_pose(s, p->collider, l->sub.from, d, along.pose_start);
        }
        pl_geometry_jvp(p, s->pose_start + 7 * p->collider,
                        s->part.of[PL_COLLIDER_POSE] + 7 * p->collider, l->sub.q0 + v, l->u + v, &along,
                        d_delta, d_force);
        pl_axpy3(h2, d_force, l->rhs + v);
        pl_mat3_vec(l->laws[c].d_delta, d_delta, pushed);
        double mu =
            d->of[PL_FRICTION] ? d->of[PL_FRICTION][p->collider * sim->scene->body_count + p->body] : 0;
        for (int k = 0; k < 3; k++)
            row[k] = -pushed[k] - l->d_mu[3 * c + k] * mu;
    }
}

void pl_push(pl_sweep *s, const pl_gradient *d, const double *dq0, const double *dv0)
{
    pl_linear *l = &s->linear;
    pl_sim *sim = l->sim;
    double h = l->sub.h;
    for (int i = 0; i < sim->n; i++)
        for (int k = 3 * i; k < 3 * i + 3; k++)
            l->rhs[k] = (sim->mass[i] + h * sim->damping[i]) * dq0[k] + h * sim->mass[i] * dv0[k];
    push_mass(s, d);
    push_forces(s, d, dq0, dv0);
    push_pins(s, d);
    push_contacts(s, d, dq0);
    if (d->of[PL_YOUNG] || d->of[PL_POISSON] || d->of[PL_BENDING])
        pl_elastic_param_jvp(sim->elastic, l->q, d->of[PL_YOUNG], d->of[PL_POISSON], d->of[PL_BENDING],
                             -h * h, l->rhs);
}
