/* Bodies that start inside each other, through each other or themselves, or too close. */
#include "sim/overlap.h"

#include "core/vec.h"
#include "mesh/bvh.h"

/* ---- Vertices inside other bodies ---- */

/* Vertices of body a inside solid b, by how often its surface goes round them. */
static pl_status find_inside(const pl_overlap_search *s, int a, int b, const pl_bvh *bvh)
{
    const double *q = s->m->scene->q0;
    pl_run of = s->m->surface->of[a].vertices;
    double lower[3], upper[3];
    pl_bvh_bounds(bvh, lower, upper);
    for (int i = of.first; i < of.first + of.count; i++) {
        int v = s->m->surface->vertex[i];
        const double *x = q + 3 * (size_t)v;
        pl_bvh_hit hit;
        if (x[0] < lower[0] || x[1] < lower[1] || x[2] < lower[2] || x[0] > upper[0] ||
            x[1] > upper[1] || x[2] > upper[2])
            continue;
        double depth = -pl_bvh_signed_distance(bvh, x);
        if (!(depth > 0))
            continue;
        pl_overlap o = {.kind = PL_OVERLAP_INSIDE,
                        .body = a,
                        .other = b,
                        .collider = -1,
                        .vertex = {v, -1},
                        .depth = depth};
        pl_bvh_closest(bvh, x, INFINITY, &hit);
        for (int k = 0; k < 3; k++)
            o.out[k] = (hit.point[k] - x[k]) / depth;
        PL_TRY(s->visit(s->user, &o));
    }
    return PL_OK;
}

static pl_status find_insides(const pl_overlap_search *s, int b)
{
    const pl_model *m = s->m;
    const pl_scene *scene = m->scene;
    pl_run of = m->surface->of[b].triangles;
    pl_status status = PL_OK;
    pl_bvh *bvh = NULL;
    for (int a = 0; a < scene->body_count; a++) {
        if (scene->bodies[b].cloth || a == b || !s->touches[b * scene->body_count + a] ||
            !pl_box_meets(&s->meet.around[a], &s->meet.around[b]))
            continue;
        if (!bvh)
            PL_CHECK(pl_bvh_create(scene->ctx, scene->vertex_count, scene->q0, of.count,
                                   m->surface->triangle + 3 * of.first, &bvh),
                     done);
        PL_CHECK(find_inside(s, a, b, bvh), done);
    }
done:
    pl_bvh_destroy(scene->ctx, bvh);
    return status;
}

/* ---- Edges through triangles ---- */

typedef struct crossing {
    const pl_overlap_search *s;
    int edge, a, b; /* an edge of body a, and the body with the triangles */
} crossing;

/* Over the end of the edge that is nearer to the triangle's plane; of a solid, the one behind it. */
static pl_overlap through(const crossing *c, const double *const corner[3])
{
    const pl_scene *scene = c->s->m->scene;
    const int *e = c->s->m->surface->edge + 2 * c->edge;
    double side[6], n[3], to[3], height[2];
    pl_sub3(corner[1], corner[0], side);
    pl_sub3(corner[2], corner[0], side + 3);
    pl_cross3(side, side + 3, n);
    double area = pl_norm3(n);
    for (int k = 0; k < 2; k++) {
        pl_sub3(scene->q0 + 3 * (size_t)e[k], corner[0], to);
        height[k] = pl_dot3(to, n) / area;
    }
    double over = scene->bodies[c->b].cloth ? fabs(height[0]) < fabs(height[1]) ? height[0] : height[1]
                                            : fmin(height[0], height[1]);
    pl_overlap o = {.kind = PL_OVERLAP_THROUGH,
                    .body = c->a,
                    .other = c->b,
                    .collider = -1,
                    .vertex = {e[0], e[1]},
                    .depth = fabs(over)};
    for (int k = 0; k < 3; k++)
        o.out[k] = (over < 0 ? n[k] : -n[k]) / area;
    return o;
}

static pl_status cross(void *user, int triangle)
{
    const crossing *c = user;
    const double *q = c->s->m->scene->q0, *corner[3];
    const int *t = c->s->m->surface->triangle + 3 * triangle;
    const int *e = c->s->m->surface->edge + 2 * c->edge;
    for (int k = 0; k < 3; k++)
        corner[k] = q + 3 * (size_t)t[k];
    if (pl_meet_hang_together(2, e, 3, t) ||
        !pl_edge_crosses(q + 3 * (size_t)e[0], q + 3 * (size_t)e[1], corner))
        return PL_OK;
    pl_overlap o = through(c, corner);
    return c->s->visit(c->s->user, &o);
}

static pl_status find_crossings(const pl_overlap_search *s, pl_meet_search *search)
{
    const pl_scene *scene = s->m->scene;
    const pl_surface *surface = s->m->surface;
    int bodies = scene->body_count;
    for (int i = 0; i < bodies * bodies; i++) {
        crossing c = {.s = s, .a = i / bodies, .b = i % bodies};
        pl_run of = surface->of[c.a].edges;
        if (!s->touches[i] || !pl_box_meets(&search->around[c.a], &search->around[c.b]))
            continue;
        pl_meet_fit(search, c.b, scene->q0, scene->q0, 0, false);
        for (c.edge = of.first; c.edge < of.first + of.count; c.edge++) {
            pl_box box = pl_box_around(2, surface->edge + 2 * c.edge, scene->q0, scene->q0, 0);
            PL_TRY(pl_boxes_find(&search->triangles[c.b], &box, cross, &c));
        }
    }
    return PL_OK;
}

/* ---- Surfaces that are too near ---- */

static pl_status find_close(const pl_overlap_search *s, const pl_meet_rules *rules,
                            pl_meet_search *search)
{
    const pl_scene *scene = s->m->scene;
    PL_TRY(pl_meet_find(scene->ctx, search, rules, scene->q0, scene->q0, 0));
    for (int k = 0; k < search->count; k++) {
        const pl_meeting *at = &search->found[k];
        pl_meeting_place place = pl_meet_place(rules, at, scene->q0);
        pl_overlap o = {.kind = PL_OVERLAP_CLOSE,
                        .body = scene->body_of[at->vertex[0]],
                        .other = scene->body_of[at->vertex[place.count - 1]],
                        .collider = -1,
                        .vertex = {at->vertex[0], -1},
                        .depth = place.offset - place.distance,
                        .apart = place.offset};
        memcpy(o.out, place.normal, sizeof o.out);
        if (o.depth > 0)
            PL_TRY(s->visit(s->user, &o));
    }
    return PL_OK;
}

pl_status pl_overlaps_between_bodies(pl_overlap_search *s)
{
    const pl_scene *scene = s->m->scene;
    pl_meet_rules rules = pl_model_meet_rules(s->m);
    rules.touches = s->touches;
    if (!s->m->surface)
        return PL_OK;
    pl_meet_surround(&s->meet, s->m->surface, scene->q0, scene->q0, 0);
    for (int b = 0; b < scene->body_count; b++)
        PL_TRY(find_insides(s, b));
    PL_TRY(find_crossings(s, &s->meet));
    return find_close(s, &rules, &s->meet);
}
