/* The tangent system's right-hand side: -dR/dp along a direction, the mirror image of pull.c. */
#include "adjoint/sweep.h"

#include "contact/geometry.h"
#include "core/vec.h"
#include "terms/term.h"

static void push_contacts(pl_sweep *s, const pl_slope *slope, const pl_gradient *d, const double *dq0)
{
    pl_linear *l = &s->linear;
    double h2 = l->sub.h * l->sub.h;
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        size_t v = 3 * (size_t)p->vertex;
        double *row = l->rhs + 3 * (size_t)l->n + 3 * (size_t)c, d_delta[3], d_force[3], pushed[3];
        pl_geometry_grad along = {0};
        memcpy(along.x0, dq0 + v, sizeof along.x0);
        if (d->of[PL_COLLIDER_POSE]) {
            pl_slope_blend_pose(slope, d, p->collider, l->sub.to, along.pose_end);
            pl_slope_blend_pose(slope, d, p->collider, l->sub.from, along.pose_start);
        }
        pl_geometry_jvp(p, s->pose_start + 7 * p->collider,
                        s->part.of[PL_COLLIDER_POSE] + 7 * p->collider, l->sub.q0 + v, l->u + v, &along,
                        d_delta, d_force);
        pl_axpy3(h2, d_force, l->rhs + v);
        pl_mat3_vec(l->laws[c].d_delta, d_delta, pushed);
        double mu =
            d->of[PL_FRICTION] ? d->of[PL_FRICTION][p->collider * l->scene->body_count + p->body] : 0;
        for (int k = 0; k < 3; k++)
            row[k] = -pushed[k] - l->d_mu[3 * c + k] * mu;
    }
}

void pl_push(pl_sweep *s, const pl_gradient *d, const double *dq0, const double *dv0)
{
    pl_linear *l = &s->linear;
    pl_slope slope = pl_sweep_slope(s);
    pl_terms_jvp(&slope, d, dq0, dv0, s->mass_work, l->rhs);
    push_contacts(s, &slope, d, dq0);
}
