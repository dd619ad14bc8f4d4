/*
 * Bodies and obstacles that start inside each other. Distances change no faster than their place does:
 * the least of one along a segment is found by steps as long as it is above the least so far.
 */
#include "sim/overlap.h"

#include "core/vec.h"
#include "mesh/bvh.h"

#define FINEST   0.01  /* of a body's edges: shorter steps are not taken, thinner things not seen */
#define REFINED  1e-3  /* of such a step: to this the place of the least is found */
#define BLUNT    2     /* edges: what is rounder than this is left to vertices, */
#define SINK     0.125 /* and edges and faces between them sink in by less than this part of an edge */
#define ROUNDING 1e-14 /* of a ridge's length: what places along it may be off by */

static void scale(double s, double x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] *= s;
}

/* ---- The least of a distance along a segment ---- */

typedef double (*distance_fn)(void *user, const double x[3]);

/* The distance at t m from a on the way to b, which is x. */
static double at_part(distance_fn distance, void *user, const double *a, const double unit[3], double t,
                      double x[3])
{
    memcpy(x, a, 3 * sizeof *x);
    pl_axpy3(t, unit, x);
    return distance(user, x);
}

/* How far to go from t on. Far from what is measured, distances bend by 1/here: so long a step passes
 * over no dip that is deeper than REFINED of the shortest. A step ends in another number than t. */
static double next_place(double t, double here, double room, double shortest)
{
    double straight = sqrt(8 * REFINED * shortest * fmax(here, 0));
    return fmax(t + fmax(room, fmax(straight, shortest)), nextafter(t, INFINITY));
}

/* The least along the way from a to b if it is below `limit`, at x; otherwise `limit`. */
static double least_along(distance_fn distance, void *user, const double *a, const double *b,
                          double shortest, double limit, double x[3])
{
    double unit[3], least = limit, best = -1, t = 0, reach = shortest;
    pl_sub3(b, a, unit);
    double length = pl_norm3(unit);
    scale(length > 0 ? 1 / length : 0, unit);
    for (bool last = false; !last;) {
        last = t >= length;
        double here = at_part(distance, user, a, unit, fmin(t, length), x), room = here - least;
        double next = next_place(t, here, room, shortest);
        if (here < least)
            least = here, best = fmin(t, length), reach = next - t;
        t = next;
    }
    if (best < 0)
        return limit;
    for (double step = reach / 2; step > REFINED * shortest; step /= 2)
        for (int side = -1; side <= 1; side += 2) {
            double to = fmin(fmax(best + side * step, 0), length);
            double here = at_part(distance, user, a, unit, to, x);
            if (here < least)
                least = here, best = to;
        }
    return at_part(distance, user, a, unit, best, x);
}

/* ---- One body and one collider ---- */

typedef struct pair {
    const pl_overlap_search *s;
    int body, collider;
    const pl_collider *shape;
    const double *pose; /* [7] */
    const pl_surface *skin;
    double edge; /* mean length, m */
    pl_bvh *bvh; /* of the body's surface */
    bool sheet;
    double end[6], lower[3], upper[3]; /* of the ridge in hand, and its box */
    pl_overlap found;
} pair;

static pl_status tell(const pair *p, pl_overlap_kind kind, int vertex, int second, double depth,
                      const double out[3])
{
    pl_overlap o = {.kind = kind,
                    .body = p->body,
                    .other = -1,
                    .collider = p->collider,
                    .vertex = {vertex, second},
                    .depth = depth};
    memcpy(o.out, out, sizeof o.out);
    return p->s->visit(p->s->user, &o);
}

static double to_collider(void *user, const double x[3])
{
    const pair *p = user;
    pl_surface_point at;
    pl_collider_query(p->shape, p->pose, x, &at);
    return at.distance;
}

static pl_status find_vertices(const pair *p)
{
    const pl_scene *scene = p->s->m->scene;
    const pl_body *body = &scene->bodies[p->body];
    for (int v = body->vertex_offset; v < body->vertex_offset + body->mesh->vertex_count; v++) {
        const double *x = scene->q0 + 3 * (size_t)v;
        pl_surface_point at;
        if (!pl_collider_near(p->shape, p->pose, x, 0))
            continue;
        pl_collider_query(p->shape, p->pose, x, &at);
        if (-at.distance > p->s->harmless)
            PL_TRY(tell(p, PL_OVERLAP_VERTEX, v, -1, -at.distance, at.normal));
    }
    return PL_OK;
}

/* Whether vertices alone tell a part of the collider. */
static bool is_blunt(const pair *p)
{
    const pl_ridges *ridges = pl_collider_ridges(p->shape);
    for (int r = 0; r < ridges->count; r++)
        if (ridges->ridge[r].blunt > BLUNT * p->edge)
            return true;
    return false;
}

/* Edges of the body in the collider, whose ends are outside. */
static pl_status find_edges(pair *p)
{
    const double *q = p->s->m->scene->q0;
    pl_run of = p->skin->of[p->body].edges;
    double allowed = p->s->harmless + (is_blunt(p) ? SINK * p->edge : 0);
    for (int e = of.first; e < of.first + of.count; e++) {
        const int *v = p->skin->edge + 2 * e;
        const double *a = q + 3 * (size_t)v[0], *b = q + 3 * (size_t)v[1];
        double middle[3], along[3], x[3];
        pl_sub3(b, a, along);
        memcpy(middle, a, sizeof middle);
        pl_axpy3(0.5, along, middle);
        if (!pl_collider_near(p->shape, p->pose, middle, 0.5 * pl_norm3(along)) ||
            fmin(to_collider(p, a), to_collider(p, b)) < -p->s->harmless)
            continue;
        double least = least_along(to_collider, p, a, b, FINEST * p->edge, -allowed, x);
        if (!(least < -allowed))
            continue;
        pl_surface_point at;
        pl_collider_query(p->shape, p->pose, x, &at);
        PL_TRY(tell(p, PL_OVERLAP_EDGE, v[0], v[1], -least, at.normal));
    }
    return PL_OK;
}

/* ---- Ridges of the collider in the body ---- */

static double to_body(void *user, const double x[3])
{
    const pair *p = user;
    pl_bvh_hit hit;
    if (!p->sheet)
        return pl_bvh_signed_distance(p->bvh, x);
    pl_bvh_closest(p->bvh, x, INFINITY, &hit);
    return hit.distance;
}

static const int *triangle_of(const pair *p, int triangle)
{
    return p->skin->triangle + 3 * (p->skin->of[p->body].triangles.first + triangle);
}

/* The unit normal of a triangle of the body. */
static void normal_of(const pair *p, int triangle, double n[3])
{
    const int *t = triangle_of(p, triangle);
    const double *q = p->s->m->scene->q0;
    double e[6];
    pl_sub3(q + 3 * (size_t)t[1], q + 3 * (size_t)t[0], e);
    pl_sub3(q + 3 * (size_t)t[2], q + 3 * (size_t)t[0], e + 3);
    pl_cross3(e, e + 3, n);
    scale(1 / pl_norm3(n), n);
}

/* The point x of a ridge, that the body is `distance` from, is too near. */
static pl_status tell_ridge(const pair *p, const double x[3], double distance, double radius)
{
    pl_bvh_hit hit;
    double out[3];
    int nearest = 0;
    pl_bvh_closest(p->bvh, x, INFINITY, &hit);
    const int *t = triangle_of(p, hit.triangle);
    for (int k = 1; k < 3; k++)
        if (hit.weight[k] > hit.weight[nearest])
            nearest = k;
    pl_sub3(hit.point, x, out);
    if (hit.distance > 1e-9 * p->edge) {
        scale((distance < 0 ? -1 : 1) / hit.distance, out);
    } else {
        normal_of(p, hit.triangle, out);
        scale(-1, out);
    }
    return tell(p, PL_OVERLAP_COLLIDER, t[nearest], -1, radius - distance, out);
}

/* A triangle of cloth that the ridge passes through: over the end that is nearer. */
static bool cross_sheet(void *user, int triangle)
{
    pair *p = user;
    const int *t = triangle_of(p, triangle);
    const double *q = p->s->m->scene->q0, *corner[3];
    double n[3], to[3], height[2];
    for (int k = 0; k < 3; k++)
        corner[k] = q + 3 * (size_t)t[k];
    if (!pl_edge_crosses(p->end, p->end + 3, corner))
        return true;
    normal_of(p, triangle, n);
    for (int k = 0; k < 2; k++) {
        pl_sub3(p->end + 3 * k, corner[0], to);
        height[k] = pl_dot3(to, n);
    }
    double over = fabs(height[0]) < fabs(height[1]) ? height[0] : height[1];
    if (fabs(over) > p->found.depth) {
        p->found.depth = fabs(over);
        p->found.vertex[0] = t[0];
        scale(over < 0 ? -1 : 1, n);
        memcpy(p->found.out, n, sizeof n);
    }
    return true;
}

/* The part of a ridge, which may be a million times as long as the body, that holds its place of least
 * distance h: where a ball of radius r around the body is no farther than h + 2 r. */
static void clip_to_body(const pair *p, double part[6])
{
    double lower[3], upper[3], middle[3], half[3], unit[3], to[3], from[3];
    pl_bvh_bounds(p->bvh, lower, upper);
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (lower[k] + upper[k]);
        half[k] = 0.5 * (upper[k] - lower[k]);
    }
    memcpy(from, p->end, sizeof from);
    memcpy(part, p->end, 6 * sizeof *part);
    pl_sub3(p->end + 3, from, unit);
    double length = pl_norm3(unit);
    if (!(length > 0))
        return;
    scale(1 / length, unit);
    pl_sub3(middle, from, to);
    double foot = fmin(fmax(pl_dot3(to, unit), 0), length), radius = pl_norm3(half);
    pl_axpy3(-foot, unit, to);
    double reach = 2 * sqrt(radius * (pl_norm3(to) + radius)) + ROUNDING * length;
    for (int end = 0; end < 2; end++) {
        double t = foot + (end ? reach : -reach);
        if (t > 0 && t < length) {
            memcpy(part + 3 * end, from, sizeof from);
            pl_axpy3(t, unit, part + 3 * end);
        }
    }
}

static pl_status find_ridge(pair *p, const pl_ridge *ridge, const double *own)
{
    double turn[9], x[3], part[6];
    double allowed = p->s->harmless + (ridge->blunt > BLUNT * p->edge ? SINK * p->edge : 0);
    pl_quat_to_mat3(p->pose + 3, turn);
    for (int k = 0; k < 2; k++) {
        pl_mat3_vec(turn, own + 3 * k, p->end + 3 * k);
        pl_axpy3(1, p->pose, p->end + 3 * k);
    }
    for (int k = 0; k < 3; k++) {
        p->lower[k] = fmin(p->end[k], p->end[3 + k]);
        p->upper[k] = fmax(p->end[k], p->end[3 + k]);
    }
    double limit = ridge->radius - allowed;
    if (!p->sheet || ridge->radius > 0) {
        clip_to_body(p, part);
        double least = least_along(to_body, p, part, part + 3, FINEST * p->edge, limit, x);
        if (least < limit)
            return tell_ridge(p, x, least, ridge->radius);
    }
    if (!p->sheet)
        return PL_OK;
    p->found.depth = p->s->harmless;
    p->found.vertex[0] = -1;
    pl_bvh_overlap(p->bvh, p->lower, p->upper, cross_sheet, p);
    return p->found.vertex[0] < 0
               ? PL_OK
               : tell(p, PL_OVERLAP_COLLIDER, p->found.vertex[0], -1, p->found.depth, p->found.out);
}

/* Whether the collider may reach the body at all. */
static bool is_near(const pair *p)
{
    double middle[3], half[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (p->lower[k] + p->upper[k]);
        half[k] = 0.5 * (p->upper[k] - p->lower[k]);
    }
    return pl_collider_near(p->shape, p->pose, middle, pl_norm3(half));
}

static pl_status find_ridges(pair *p)
{
    const pl_model *m = p->s->m;
    const pl_ridges *ridges = pl_collider_ridges(p->shape);
    pl_run of = p->skin->of[p->body].triangles;
    pl_status status = PL_OK;
    PL_TRY(pl_bvh_create(m->scene->ctx, m->scene->vertex_count, m->scene->q0, of.count,
                         p->skin->triangle + 3 * of.first, &p->bvh));
    pl_bvh_bounds(p->bvh, p->lower, p->upper);
    for (int r = 0, near = is_near(p); near && r < ridges->count; r++)
        PL_CHECK(find_ridge(p, &ridges->ridge[r], ridges->x + 6 * (size_t)r), done);
done:
    pl_bvh_destroy(m->scene->ctx, p->bvh);
    return status;
}

/* ---- All of them, one kind after the other ---- */

pl_status pl_overlaps_with_colliders(const pl_overlap_search *s)
{
    const pl_scene *scene = s->m->scene;
    static pl_status (*const finds[])(pair *) = {find_ridges, find_edges};
    for (int kind = 0; kind < 3; kind++)
        for (int c = 0; c < scene->collider_count; c++)
            for (int b = 0; b < scene->body_count; b++) {
                if (!s->obstructs[b * scene->collider_count + c])
                    continue;
                pair p = {.s = s,
                          .body = b,
                          .collider = c,
                          .shape = scene->colliders[c].shape,
                          .pose = s->pose + 7 * c,
                          .skin = s->m->skin};
                if (kind == 0) {
                    PL_TRY(find_vertices(&p));
                    continue;
                }
                if (pl_collider_ridges(p.shape)->count == 0)
                    continue;
                p.edge = p.skin->of[b].edge_length;
                p.sheet = p.skin->of[b].sheet;
                PL_TRY(finds[kind - 1](&p));
            }
    return PL_OK;
}
