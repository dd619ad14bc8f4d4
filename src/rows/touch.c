/* Contacts of vertices with colliders: where they are, and how their geometry depends on that and on
 * where they were set up. */
#include "contact/geometry.h"
#include "core/vec.h"
#include "rows/rows.h"
#include "sim/solver.h"

static double *friction(const pl_slope *s, const pl_contact_point *p, const pl_gradient *g)
{
    return g->of[PL_FRICTION] + p->collider * s->at->scene->body_count + p->body;
}

static void vjp(const pl_slope *s, const pl_contact_point *p, const double a[3], double by_mu,
                const double *z, pl_gradient *g, double *dq0)
{
    const pl_substep *sub = s->at;
    size_t v = 3 * (size_t)p->vertex;
    double f[3], h2 = sub->h * sub->h;
    pl_geometry_grad d;
    if (g->of[PL_FRICTION])
        *friction(s, p, g) += by_mu;
    for (size_t k = 0; k < 3; k++)
        f[k] = h2 * z[v + k];
    pl_geometry_vjp(p, sub->pose_start + 7 * p->collider,
                    sub->drive->of[PL_COLLIDER_POSE] + 7 * p->collider, sub->q0 + v, s->u + v, a, f,
                    &d);
    pl_axpy3(1, d.x0, dq0 + v);
    if (g->of[PL_COLLIDER_POSE]) {
        pl_slope_spread_pose(s, g, p->collider, sub->to, d.pose_end);
        pl_slope_spread_pose(s, g, p->collider, sub->from, d.pose_start);
    }
}

static void jvp(const pl_slope *s, const pl_contact_point *p, const pl_gradient *d, const double *dq0,
                double d_delta[3], double *d_mu, double *rhs)
{
    const pl_substep *sub = s->at;
    size_t v = 3 * (size_t)p->vertex;
    double d_force[3];
    pl_geometry_grad along = {0};
    memcpy(along.x0, dq0 + v, sizeof along.x0);
    if (d->of[PL_COLLIDER_POSE]) {
        pl_slope_blend_pose(s, d, p->collider, sub->to, along.pose_end);
        pl_slope_blend_pose(s, d, p->collider, sub->from, along.pose_start);
    }
    pl_geometry_jvp(p, sub->pose_start + 7 * p->collider,
                    sub->drive->of[PL_COLLIDER_POSE] + 7 * p->collider, sub->q0 + v, s->u + v, &along,
                    d_delta, d_force);
    pl_axpy3(sub->h * sub->h, d_force, rhs + v);
    *d_mu = d->of[PL_FRICTION] ? *friction(s, p, d) : 0;
}

static void place(const pl_substep *s, const double *q, pl_contact_point *p, pl_stencil_entry *entry)
{
    pl_obstacles o = pl_substep_obstacles(s);
    size_t v = 3 * (size_t)p->vertex;
    pl_contact_follow(&o, s->q0 + v, q + v, p, entry);
}

static void bend(const pl_slope *s, const pl_contact_point *p, const double *x, double scale,
                 bool transposed, double *y)
{
    static const double nothing[3] = {0};
    size_t v = 3 * (size_t)p->vertex;
    double d_delta[3], out[3] = {0};
    if (transposed)
        pl_geometry_pull_turn(p, p->lambda, s->u + v, nothing, x + v, out);
    else
        pl_geometry_push_turn(p, p->lambda, s->u + v, x + v, d_delta, out);
    pl_axpy3(scale, out, y + v);
}

const pl_rows pl_rows_touch = {.name = "contact", .place = place, .vjp = vjp, .jvp = jvp, .bend = bend};
