/*
 * Edges and faces at ridges of colliders: how their geometry depends on where they were set up, the
 * body at q0 and the collider at the pose that the substep starts from. As between bodies
 * (rows/meet.c), with the ends X of the ridge as vertices that are at X(pose_start) and go to
 * X(pose_end), wherever the poses lead them:
 *
 *     d delta += [n; T^T] sum_c beta_c dX_c(pose_end)
 */
#include "contact/brush.h"
#include "core/vec.h"
#include "rows/rows.h"
#include "sim/solver.h"

typedef struct brush {
    pl_brush_place place;
    double u[12];              /* [4, 3] how far all its places go */
    const double *start, *end; /* poses of the collider */
    double at[3];              /* of a cotangent the friction part, in the world */
    double held[3], force[3];  /* friction, and the whole force */
} brush;

/* The friction part of a vector in the frame, in the world. */
static void tangent_of(const pl_contact_point *p, const double in_frame[3], double out[3])
{
    double only[3] = {0, in_frame[1], in_frame[2]};
    pl_mat3_tvec(p->frame, only, out);
}

static brush gather(const pl_slope *s, const pl_contact_point *p)
{
    const pl_substep *sub = s->at;
    pl_collider *shapes = sub->scene->colliders[p->collider].shape;
    brush b = {.start = sub->pose_start + 7 * p->collider,
               .end = sub->drive->of[PL_COLLIDER_POSE] + 7 * p->collider};
    /* As if it were the only collider. */
    pl_obstacles o = {.count = 1, .shapes = &shapes, .pose_start = b.start, .pose_end = b.end};
    pl_brush alone = p->brush;
    alone.collider = 0;
    b.place = pl_brush_place_of(&o, &alone, sub->q0);
    memcpy(b.u, b.place.u, sizeof b.u);
    for (int k = 0; k < b.place.body_count; k++)
        memcpy(b.u + 3 * (b.place.body + k), s->u + 3 * (size_t)p->brush.vertex[k], 3 * sizeof *b.u);
    tangent_of(p, p->lambda, b.held);
    pl_mat3_tvec(p->frame, p->lambda, b.force);
    return b;
}

static double *friction(const pl_slope *s, const pl_contact_point *p, const pl_gradient *g)
{
    return g->of[PL_FRICTION] + p->collider * s->at->scene->body_count + p->body;
}

/* d [6] += what a cotangent of the collider's point x is of the pose there. */
static void onto_pose(const double pose[7], const double x[3], const double by[3], double d[6])
{
    double arm[3], moment[3];
    pl_sub3(x, pose, arm);
    pl_cross3(arm, by, moment);
    pl_axpy3(1, by, d);
    pl_axpy3(1, moment, d + 3);
}

/* How the collider's point x changes with the pose there. */
static void by_pose(const double pose[7], const double x[3], const double d[6], double out[3])
{
    double arm[3];
    pl_sub3(x, pose, arm);
    pl_cross3(d + 3, arm, out);
    pl_axpy3(1, d, out);
}

/* dx [4, 3]: cotangents of where its places start. */
static void pull_places(const pl_slope *s, const pl_contact_point *p, const brush *b, const double a[3],
                        const double *z, double dx[12])
{
    const pl_meeting_place *place = &b->place.at;
    const double *n = p->frame;
    double h2 = s->at->h * s->at->h, moved[3] = {0}, pushed[3] = {0}, at[3], pull[3], by_normal[3],
           by_weight[4] = {0};
    tangent_of(p, a, at);
    pl_mat3_tvec(p->frame, a, pull);
    for (int k = 0; k < place->count; k++) {
        int i = k - b->place.body;
        bool body = i >= 0 && i < b->place.body_count;
        const double *push = z + 3 * (size_t)(body ? p->brush.vertex[i] : 0);
        pl_axpy3(place->weight[k], b->u + 3 * k, moved);
        by_weight[k] = pl_dot3(pull, b->u + 3 * k) + (body ? h2 * pl_dot3(b->force, push) : 0);
        pl_axpy3(body ? h2 * place->weight[k] : 0, push, pushed);
        pl_axpy3(-place->weight[k], at, dx + 3 * k);
    }
    for (int k = 0; k < 3; k++)
        by_normal[k] = a[0] * moved[k] - pl_dot3(n, moved) * at[k] + p->lambda[0] * pushed[k] -
                       pl_dot3(n, pushed) * b->held[k];
    pl_meeting_vjp(&b->place.meeting, place, b->place.x, by_normal, by_weight, 0, dx);
}

static void vjp(const pl_slope *s, const pl_contact_point *p, const double a[3], double by_mu,
                const double *z, pl_gradient *g, double *dq0)
{
    brush b = gather(s, p);
    const pl_brush_place *place = &b.place;
    double dx[12] = {0}, d_start[6] = {0}, d_end[6] = {0}, pull[3];
    if (g->of[PL_FRICTION])
        *friction(s, p, g) += by_mu;
    pull_places(s, p, &b, a, z, dx);
    for (int k = 0; k < place->body_count; k++)
        pl_axpy3(1, dx + 3 * (place->body + k), dq0 + 3 * (size_t)p->brush.vertex[k]);
    if (!g->of[PL_COLLIDER_POSE])
        return;
    for (int k = place->rigid; k < place->rigid + place->rigid_count; k++) {
        double to[3] = {0};
        pl_mat3_tvec(p->frame, a, pull);
        pl_axpy3(place->at.weight[k], pull, to);
        onto_pose(b.start, place->x + 3 * k, dx + 3 * k, d_start);
        for (int i = 0; i < 3; i++)
            pull[i] = place->x[3 * k + i] + place->u[3 * k + i];
        onto_pose(b.end, pull, to, d_end);
    }
    pl_slope_spread_pose(s, g, p->collider, s->at->to, d_end);
    pl_slope_spread_pose(s, g, p->collider, s->at->from, d_start);
}

/* Changes of where its places start, dx [4, 3], and of where the ridge's end, dy [4, 3]. */
static void push_places(const pl_slope *s, const pl_contact_point *p, const brush *b,
                        const pl_gradient *d, const double *dq0, double dx[12], double dy[12])
{
    const pl_brush_place *place = &b->place;
    double d_start[6], d_end[6], there[3];
    for (int k = 0; k < place->body_count; k++)
        memcpy(dx + 3 * (place->body + k), dq0 + 3 * (size_t)p->brush.vertex[k], 3 * sizeof *dx);
    if (!d->of[PL_COLLIDER_POSE])
        return;
    pl_slope_blend_pose(s, d, p->collider, s->at->to, d_end);
    pl_slope_blend_pose(s, d, p->collider, s->at->from, d_start);
    for (int k = place->rigid; k < place->rigid + place->rigid_count; k++) {
        by_pose(b->start, place->x + 3 * k, d_start, dx + 3 * k);
        for (int i = 0; i < 3; i++)
            there[i] = place->x[3 * k + i] + place->u[3 * k + i];
        by_pose(b->end, there, d_end, dy + 3 * k);
    }
}

static void jvp(const pl_slope *s, const pl_contact_point *p, const pl_gradient *d, const double *dq0,
                double d_delta[3], double *d_mu, double *rhs)
{
    brush b = gather(s, p);
    const pl_meeting_place *place = &b.place.at;
    const double *n = p->frame;
    double h2 = s->at->h * s->at->h, dx[12] = {0}, dy[12] = {0}, dn[3], dw[4], d_offset, moved[3] = {0},
           slid[3] = {0}, turn[3];
    push_places(s, p, &b, d, dq0, dx, dy);
    pl_meeting_jvp(&b.place.meeting, place, b.place.x, dx, dn, dw, &d_offset);
    for (int k = 0; k < 3; k++)
        turn[k] = p->lambda[0] * dn[k] - pl_dot3(b.held, dn) * n[k];
    for (int k = 0; k < place->count; k++) {
        pl_axpy3(place->weight[k], b.u + 3 * k, moved);
        pl_axpy3(dw[k], b.u + 3 * k, slid);
        pl_axpy3(place->weight[k], dy + 3 * k, slid);
    }
    for (int k = 0; k < b.place.body_count; k++) {
        double *to = rhs + 3 * (size_t)p->brush.vertex[k];
        pl_axpy3(h2 * dw[b.place.body + k], b.force, to);
        pl_axpy3(h2 * place->weight[b.place.body + k], turn, to);
    }
    d_delta[0] = pl_dot3(dn, moved) + pl_dot3(n, slid);
    for (int k = 0; k < place->count; k++)
        pl_axpy3(-place->weight[k], dx + 3 * k, slid);
    for (int r = 1; r < 3; r++)
        d_delta[r] =
            pl_dot3(p->frame + 3 * r, slid) - pl_dot3(p->frame + 3 * r, dn) * pl_dot3(n, moved);
    *d_mu = d->of[PL_FRICTION] ? *friction(s, p, d) : 0;
}

const pl_rows pl_rows_brush = {.name = "contact of an edge or a face", .vjp = vjp, .jvp = jvp};
