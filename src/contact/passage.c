/* Continuous collision detection. */
#include "contact/passage.h"

#include "core/vec.h"
#include "mesh/bvh.h"

#define FLOOR   0.1 /* of the distance that is kept, or of that at first */
#define CAUTION 0.9 /* of the way that cannot lead to contact */
#define MOST    10000

typedef struct passage {
    pl_context *ctx;
    pl_meet_search *s;
    const pl_meet_rules *rules;
    const double *q0, *q;
    int item; /* the vertex, or the edge */
    double kept, wide;
    int hit;
} passage;

static double clamp(double x)
{
    return fmin(fmax(x, 0), 1);
}

/* Between segments x[0] x[1] and x[2] x[3]. */
static double segments_apart(const double x[12])
{
    double a[3], b[3], r[3];
    pl_sub3(x + 3, x, a);
    pl_sub3(x + 9, x + 6, b);
    pl_sub3(x, x + 6, r);
    double aa = pl_dot3(a, a), bb = pl_dot3(b, b), ab = pl_dot3(a, b), ar = pl_dot3(a, r),
           br = pl_dot3(b, r), det = aa * bb - ab * ab;
    double s = det > 0 ? clamp((ab * br - bb * ar) / det) : 0, t = (ab * s + br) / bb;
    if (t < 0 || t > 1) {
        t = clamp(t);
        s = clamp((ab * t - ar) / aa);
    }
    for (int k = 0; k < 3; k++)
        r[k] += s * a[k] - t * b[k];
    return pl_norm3(r);
}

static double triangle_apart(const double x[12])
{
    pl_bvh_hit hit;
    pl_triangle_closest(x + 3, x, &hit);
    return hit.distance;
}

/* Whether four vertices, the first `first` of one piece, stay apart all the way. */
static bool stays_apart(const passage *p, const int v[4], int first, double (*apart)(const double *))
{
    double x[12], u[12], mean[3] = {0}, speed[2] = {0};
    for (int k = 0; k < 12; k++) {
        size_t i = 3 * (size_t)v[k / 3] + (size_t)(k % 3);
        x[k] = p->q0[i];
        u[k] = p->q[i] - p->q0[i];
        mean[k % 3] += u[k] / 4;
    }
    for (int k = 0; k < 4; k++) {
        double own[3];
        pl_sub3(u + 3 * k, mean, own);
        speed[k >= first] = fmax(speed[k >= first], pl_norm3(own));
    }
    double fastest = speed[0] + speed[1], distance = apart(x), least = FLOOR * fmin(p->kept, distance);
    double t = 0;
    for (int i = 0; i < MOST; i++) {
        double gain = CAUTION * (distance - least);
        if (fastest * (1 - t) <= gain)
            return true;
        if (!(gain > 1e-3 * (p->kept - least)) && !(gain > 1e-9 * fastest))
            return false;
        t += gain / fastest;
        double there[12];
        for (int k = 0; k < 12; k++)
            there[k] = x[k] + t * u[k];
        distance = apart(there);
        if (distance <= least)
            return false;
    }
    return false;
}

/* A pair that came too near, as a contact that keeps it apart: at any place, of least distance or not.
 */
static pl_status note(passage *p, int vertex, const pl_meeting *m)
{
    pl_meeting_place place = pl_meet_place(p->rules, m, p->q0);
    p->hit = vertex;
    place.reach = 0;
    return pl_meeting_holds(p->rules->surface, m, &place, p->q0) ? pl_meet_note(p->ctx, p->s, m)
                                                                 : PL_OK;
}

static pl_status vertex_by_triangle(void *user, int triangle)
{
    passage *p = user;
    const int *t = p->rules->surface->triangle + 3 * triangle, v[4] = {p->item, t[0], t[1], t[2]};
    bool behind;
    if (pl_meet_hang_together(1, v, 3, t) || stays_apart(p, v, 1, triangle_apart))
        return PL_OK;
    pl_meeting m = pl_meet_nearest(p->rules, p->item, triangle, p->q0, &behind);
    return note(p, p->item, &m);
}

static pl_status edge_by_triangle(void *user, int triangle)
{
    passage *p = user;
    const pl_surface *f = p->rules->surface;
    for (int k = 0; k < 3; k++) {
        pl_meeting m = pl_meet_edges(f, p->item, f->triangle_edge[3 * triangle + k]);
        if (!pl_meet_hang_together(2, m.vertex, 2, m.vertex + 2) &&
            !stays_apart(p, m.vertex, 2, segments_apart))
            PL_TRY(note(p, m.vertex[0], &m));
    }
    return PL_OK;
}

/* Pieces of body a by the triangles of body b. */
static pl_status body_by_body(passage *p, int a, int b, bool edges)
{
    const pl_surface *f = p->rules->surface;
    const pl_box *all = p->s->triangles[b].node;
    pl_run of = edges ? f->of[a].edges : f->of[a].vertices;
    for (int i = of.first; i < of.first + of.count; i++) {
        p->item = edges ? i : f->vertex[i];
        pl_box box = pl_box_around(edges ? 2 : 1, edges ? f->edge + 2 * i : &p->item, p->q0, p->q, 0);
        if (pl_box_meets(&box, all))
            PL_TRY(pl_boxes_find(&p->s->triangles[b], &box,
                                 edges ? edge_by_triangle : vertex_by_triangle, p));
    }
    return PL_OK;
}

/* Of two bodies, or one and itself. */
static pl_status passage_of(passage *p, int a, int b)
{
    pl_meet_fit(p->s, a, p->q0, p->q, p->wide, false);
    pl_meet_fit(p->s, b, p->q0, p->q, p->wide, false);
    p->kept = p->rules->offset[a] + p->rules->offset[b];
    PL_TRY(body_by_body(p, a, b, false));
    if (a != b)
        PL_TRY(body_by_body(p, b, a, false));
    return body_by_body(p, a, b, true);
}

pl_status pl_passage_find(pl_context *ctx, pl_meet_search *s, const pl_meet_rules *rules,
                          const double *q0, const double *q, int *vertex)
{
    passage p = {.ctx = ctx, .s = s, .rules = rules, .q0 = q0, .q = q, .hit = -1};
    const bool *touches = rules->touches;
    int bodies = s->body_count;
    s->count = 0;
    for (int b = 0; b < bodies; b++)
        p.wide = fmax(p.wide, 2 * FLOOR * rules->offset[b]);
    pl_meet_surround(s, rules->surface, q0, q, p.wide / 2);
    for (int a = 0; a < bodies; a++)
        for (int b = 0; b < a; b++)
            if (touches[a * bodies + b] && pl_box_meets(&s->around[a], &s->around[b]))
                PL_TRY(passage_of(&p, a, b));
    p.q = s->own;
    for (int b = 0; b < bodies; b++)
        if (touches[b * bodies + b]) {
            pl_meet_from_within(s, rules->surface, b, q0, q);
            PL_TRY(passage_of(&p, b, b));
        }
    pl_meet_sort(s);
    *vertex = p.hit;
    return PL_OK;
}
