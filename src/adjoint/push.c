/* The tangent system's right-hand side: -dR/dp along a direction, the mirror image of pull.c. */
#include "adjoint/sweep.h"

#include "contact/geometry.h"
#include "core/vec.h"
#include "terms/term.h"

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
    double h2 = l->sub.h * l->sub.h;
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        size_t v = 3 * (size_t)p->vertex[0];
        double *row = l->rhs + 3 * (size_t)l->n + 3 * (size_t)c, d_delta[3], d_force[3], pushed[3];
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
            d->of[PL_FRICTION] ? d->of[PL_FRICTION][p->collider * l->scene->body_count + p->body] : 0;
        for (int k = 0; k < 3; k++)
            row[k] = -pushed[k] - l->d_mu[3 * c + k] * mu;
    }
}

void pl_push(pl_sweep *s, const pl_gradient *d, const double *dq0, const double *dv0)
{
    pl_linear *l = &s->linear;
    pl_slope slope = {.at = &l->sub, .q = l->q, .u = l->u, .row = s->step};
    pl_terms_jvp(&slope, d, dq0, dv0, s->mass_work, l->rhs);
    push_contacts(s, d, dq0);
}
