/*
 * From a solved adjoint to gradients: dL/dp = -psi . dR/dp for everything p the substep's residual
 * (sim/substep.h) and contact law depend on explicitly: terms by themselves, contacts here.
 */
#include "adjoint/sweep.h"

#include "contact/geometry.h"
#include "core/vec.h"
#include "terms/term.h"

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
    pl_slope slope = {.at = &l->sub, .q = l->q, .u = l->u, .row = s->step};
    pl_terms_vjp(&slope, l->solution, s->mass_work, g, dq0, dv0);
    pull_contacts(s, l->solution, g, dq0);
}
