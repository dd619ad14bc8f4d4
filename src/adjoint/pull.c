/*
 * From a solved adjoint to gradients: dL/dp = -psi . dR/dp for everything p the substep's residual
 * (sim/substep.h) and contact law depend on explicitly: terms by themselves, contacts here.
 */
#include "adjoint/sweep.h"

#include "contact/geometry.h"
#include "core/vec.h"
#include "terms/term.h"

static void pull_contacts(pl_sweep *s, const pl_slope *slope, const double *z, pl_gradient *g,
                          double *dq0)
{
    const pl_linear *l = &s->linear;
    double h2 = l->sub.h * l->sub.h;
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        const double *w = l->solution + 3 * (size_t)l->n + 3 * (size_t)c;
        double a[3], f[3];
        pl_geometry_grad d;
        if (g->of[PL_FRICTION])
            g->of[PL_FRICTION][p->collider * l->scene->body_count + p->body] -=
                pl_dot3(w, l->d_mu + 3 * c);
        pl_linear_pull(l, c, a);
        size_t v = 3 * (size_t)p->vertex;
        for (int k = 0; k < 3; k++) {
            a[k] = -a[k];
            f[k] = h2 * z[v + (size_t)k];
        }
        pl_geometry_vjp(p, s->pose_start + 7 * p->collider,
                        s->part.of[PL_COLLIDER_POSE] + 7 * p->collider, l->sub.q0 + v, l->u + v, a, f,
                        &d);
        pl_axpy3(1, d.x0, dq0 + v);
        if (g->of[PL_COLLIDER_POSE]) {
            pl_slope_spread_pose(slope, g, p->collider, l->sub.to, d.pose_end);
            pl_slope_spread_pose(slope, g, p->collider, l->sub.from, d.pose_start);
        }
    }
}

void pl_pull(pl_sweep *s, pl_gradient *g, double *dq0, double *dv0)
{
    const pl_linear *l = &s->linear;
    pl_slope slope = pl_sweep_slope(s);
    pl_terms_vjp(&slope, l->solution, s->mass_work, g, dq0, dv0);
    pull_contacts(s, &slope, l->solution, g, dq0);
}
