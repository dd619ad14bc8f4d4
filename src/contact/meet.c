/* Finding where bodies meet. */
#include "contact/meet.h"

#include "core/vec.h"
#include "mesh/bvh.h"

#include <stdlib.h>

#define REACH   0.15 /* of the edges of both bodies: the reach of an offset (meeting.h) */
#define FARTHER 1.5  /* times the motion foreseen: how far apart pieces may yet meet */

/* ---- A search ---- */

void pl_meet_search_free(pl_context *ctx, pl_meet_search *s)
{
    for (int b = 0; b < s->body_count; b++) {
        pl_boxes_free(ctx, &s->triangles[b]);
        pl_boxes_free(ctx, &s->edges[b]);
    }
    pl_free(ctx, s->triangles);
    pl_free(ctx, s->edges);
    pl_free(ctx, s->around);
    pl_free(ctx, s->fitted);
    pl_free(ctx, s->own);
    pl_free(ctx, s->found);
    *s = (pl_meet_search){0};
}

pl_status pl_meet_search_create(pl_context *ctx, const pl_meet_rules *rules, int n, const double *x,
                                pl_meet_search *out)
{
    pl_status status = PL_OK;
    const pl_surface *f = rules->surface;
    int *numbers = NULL;
    *out = (pl_meet_search){0};
    if (!f)
        return PL_OK;
    PL_NEW(ctx, numbers, f->triangle_count + f->edge_count, done);
    PL_NEW(ctx, out->triangles, rules->body_count, done);
    PL_NEW(ctx, out->edges, rules->body_count, done);
    PL_NEW(ctx, out->around, rules->body_count, done);
    PL_NEW(ctx, out->fitted, rules->body_count, done);
    PL_NEW(ctx, out->own, 3 * n, done);
    out->body_count = rules->body_count;
    for (int b = 0; b < rules->body_count; b++) {
        pl_run t = f->of[b].triangles, e = f->of[b].edges;
        for (int i = 0; i < t.count; i++)
            numbers[i] = t.first + i;
        PL_CHECK(pl_boxes_create(ctx, t.count, numbers, 3, f->triangle, x, &out->triangles[b]), done);
        for (int i = 0; i < e.count; i++)
            numbers[i] = e.first + i;
        PL_CHECK(pl_boxes_create(ctx, e.count, numbers, 2, f->edge, x, &out->edges[b]), done);
    }
done:
    pl_free(ctx, numbers);
    return status;
}

void pl_meet_surround(pl_meet_search *s, const pl_surface *surface, const double *q0, const double *q,
                      double wide)
{
    for (int b = 0; b < s->body_count; b++) {
        pl_run of = surface->of[b].vertices;
        s->around[b] = pl_box_around(of.count, surface->vertex + of.first, q0, q, wide);
        s->fitted[b] = false;
    }
}

void pl_meet_fit(pl_meet_search *s, int b, const double *q0, const double *q, double wide, bool edges)
{
    if (s->fitted[b])
        return;
    pl_boxes_fit(&s->triangles[b], q0, q, wide);
    if (edges)
        pl_boxes_fit(&s->edges[b], q0, q, wide);
    s->fitted[b] = true;
}

void pl_meet_from_within(pl_meet_search *m, const pl_surface *surface, int b, const double *q0,
                         const double *q)
{
    pl_run of = surface->of[b].vertices;
    double mean[3] = {0}, u[3];
    for (int i = of.first; i < of.first + of.count; i++) {
        size_t v = 3 * (size_t)surface->vertex[i];
        pl_sub3(q + v, q0 + v, u);
        pl_axpy3(1.0 / of.count, u, mean);
    }
    for (int i = of.first; i < of.first + of.count; i++)
        pl_sub3(q + 3 * (size_t)surface->vertex[i], mean, m->own + 3 * (size_t)surface->vertex[i]);
    m->fitted[b] = false;
}

/* ---- Rules ---- */

int pl_meeting_order(const pl_meeting *a, const pl_meeting *b)
{
    int by = (a->kind > b->kind) - (a->kind < b->kind);
    for (int k = 0; by == 0 && k < 4; k++)
        by = (a->vertex[k] > b->vertex[k]) - (a->vertex[k] < b->vertex[k]);
    return by;
}

static int compare(const void *a, const void *b)
{
    return pl_meeting_order(a, b);
}

/* The bodies of its first and last vertex. */
static void bodies_of(const pl_meet_rules *rules, const pl_meeting *m, int body[2])
{
    body[0] = rules->body_of[m->vertex[0]];
    body[1] = rules->body_of[m->vertex[pl_meeting_count(m->kind) - 1]];
}

int pl_meet_pair(const pl_meet_rules *rules, const pl_meeting *m)
{
    int b[2];
    bodies_of(rules, m, b);
    return pl_smaller(b[0], b[1]) * rules->body_count + (b[0] > b[1] ? b[0] : b[1]);
}

pl_meeting_place pl_meet_place(const pl_meet_rules *rules, const pl_meeting *m, const double *q0)
{
    int b[2];
    pl_meeting_place place;
    const pl_surface *f = rules->surface;
    bodies_of(rules, m, b);
    double reach = REACH * (f->of[b[0]].edge_length + f->of[b[1]].edge_length);
    pl_meeting_find(f, m, rules->offset[b[0]] + rules->offset[b[1]],
                    b[0] == b[1] && pl_meeting_hinges(f, m) ? 0 : reach, q0, &place);
    return place;
}

pl_status pl_meet_add(pl_context *ctx, const pl_meet_rules *rules, const pl_meeting *m,
                      const double *q0, pl_contact_set *set)
{
    pl_meeting_place place = pl_meet_place(rules, m, q0);
    pl_stencil_entry *entry;
    pl_contact_point p = {
        .kind = PL_ROWS_MEET,
        .meeting = *m,
        .vertex = m->vertex[0],
        .collider = -1,
        .body = rules->body_of[m->vertex[0]],
        .gap = place.distance - place.offset,
        .law.mu = rules->friction[pl_meet_pair(rules, m)],
    };
    memcpy(p.frame, place.normal, sizeof place.normal);
    memcpy(p.weight, place.weight, sizeof place.weight);
    pl_contact_frame(p.frame);
    PL_TRY(pl_contact_set_add(ctx, set, &p, place.count, &entry));
    for (int k = 0; k < place.count; k++) {
        entry[k].vertex = m->vertex[k];
        for (int i = 0; i < 9; i++)
            entry[k].block[i] = place.weight[k] * p.frame[i];
    }
    set->touching = set->count;
    return PL_OK;
}

/* ---- What was found ---- */

pl_status pl_meet_note(pl_context *ctx, pl_meet_search *s, const pl_meeting *m)
{
    PL_TRY(pl_grow(ctx, (void **)&s->found, &s->capacity, s->count + 1, sizeof *s->found));
    s->found[s->count++] = *m;
    return PL_OK;
}

void pl_meet_sort(pl_meet_search *s)
{
    int kept = 0;
    if (s->count > 0)
        qsort(s->found, (size_t)s->count, sizeof *s->found, compare);
    for (int i = 0; i < s->count; i++)
        if (i == 0 || compare(&s->found[i], &s->found[kept - 1]) != 0)
            s->found[kept++] = s->found[i];
    s->count = kept;
}

/* ---- Candidates ---- */

typedef struct search {
    pl_context *ctx;
    pl_meet_search *s;
    const pl_meet_rules *rules;
    const double *q0, *q;
    double margin;
    int item; /* the vertex or edge that is being looked at */
} search;

/* How far both sides may move towards each other, at most: all but what they move together. */
static double motion_of(const search *s, const pl_meeting *m, const double *weight)
{
    int count = pl_meeting_count(m->kind);
    double u[12], mean[3] = {0}, most[2] = {0};
    for (int k = 0; k < count; k++) {
        pl_sub3(s->q + 3 * (size_t)m->vertex[k], s->q0 + 3 * (size_t)m->vertex[k], u + 3 * k);
        pl_axpy3(1.0 / count, u + 3 * k, mean);
    }
    for (int k = 0; k < count; k++) {
        double own[3];
        pl_sub3(u + 3 * k, mean, own);
        most[weight[k] > 0] = fmax(most[weight[k] > 0], pl_norm3(own));
    }
    return most[0] + most[1];
}

static pl_status take(search *s, const pl_meeting *m)
{
    pl_meeting_place place = pl_meet_place(s->rules, m, s->q0);
    if (!pl_meeting_holds(s->rules->surface, m, &place, s->q0))
        return PL_OK;
    double motion = motion_of(s, m, place.weight);
    if (!(place.distance - place.offset < s->margin + FARTHER * motion))
        return PL_OK;
    return pl_meet_note(s->ctx, s->s, m);
}

bool pl_meet_hang_together(int a_count, const int *a, int b_count, const int *b)
{
    for (int i = 0; i < a_count * b_count; i++)
        if (a[i / b_count] == b[i % b_count])
            return true;
    return false;
}

/* Whether x is behind a triangle [3, 3] of a solid, where its inside is. */
static bool is_behind(const double corners[9], const double *x)
{
    double e[6], n[3], to[3];
    pl_sub3(corners + 3, corners, e);
    pl_sub3(corners + 6, corners, e + 3);
    pl_sub3(x, corners, to);
    pl_cross3(e, e + 3, n);
    return pl_dot3(n, to) < 0;
}

/* Whether the nearest point is inside the face or edge, or as good as. */
static bool is_within(const pl_surface *f, const pl_meeting *m, const double *q0)
{
    pl_meeting_place place;
    pl_meeting_find(f, m, 0, 0, q0, &place);
    for (int k = 1; k < place.count; k++)
        if (!(place.weight[k] <= 0.5 * PL_MEETING_BORDER))
            return false;
    return true;
}

static pl_meeting with_edge(const pl_surface *f, int vertex, int edge)
{
    return (pl_meeting){PL_MEETING_EDGE, {vertex, f->edge[2 * edge], f->edge[2 * edge + 1], -1}, edge};
}

pl_meeting pl_meet_nearest(const pl_meet_rules *rules, int vertex, int triangle, const double *q0,
                           bool *behind)
{
    const pl_surface *f = rules->surface;
    const int *t = f->triangle + 3 * triangle, *edge = f->triangle_edge + 3 * triangle;
    const double *x = q0 + 3 * (size_t)vertex;
    double corners[9];
    pl_bvh_hit hit;
    for (int k = 0; k < 3; k++)
        memcpy(corners + 3 * k, q0 + 3 * (size_t)t[k], 3 * sizeof(double));
    pl_triangle_closest(corners, x, &hit);
    pl_meeting found = {PL_MEETING_FACE, {vertex, t[0], t[1], t[2]}, -1};
    *behind = false;
    if (hit.feature == PL_FEATURE_FACE || is_within(f, &found, q0)) {
        *behind = !f->of[rules->body_of[t[0]]].sheet && is_behind(corners, x);
        return found;
    }
    if (hit.feature == PL_FEATURE_EDGE)
        return with_edge(f, vertex, edge[hit.corner]);
    for (int k = 0; k < 2; k++) { /* the two that end there */
        found = with_edge(f, vertex, edge[(hit.corner + 2 * k) % 3]);
        if (is_within(f, &found, q0))
            return found;
    }
    int v = t[hit.corner], low = pl_smaller(v, vertex);
    return (pl_meeting){PL_MEETING_VERTEX, {low, v + vertex - low, -1, -1}, -1};
}

static pl_status vertex_by_triangle(void *user, int triangle)
{
    search *s = user;
    bool behind;
    if (pl_meet_hang_together(1, &s->item, 3, s->rules->surface->triangle + 3 * triangle))
        return PL_OK;
    pl_meeting m = pl_meet_nearest(s->rules, s->item, triangle, s->q0, &behind);
    return behind ? PL_OK : take(s, &m);
}

pl_meeting pl_meet_edges(const pl_surface *surface, int a, int b)
{
    int first = pl_smaller(a, b), second = a + b - first;
    const int *e = surface->edge + 2 * first, *g = surface->edge + 2 * second;
    return (pl_meeting){PL_MEETING_EDGES, {e[0], e[1], g[0], g[1]}, -1};
}

static pl_status edge_by_edge(void *user, int edge)
{
    search *s = user;
    const pl_surface *f = s->rules->surface;
    bool twice = pl_surface_sharp(f, edge) && edge > s->item; /* found from there too */
    pl_meeting m = pl_meet_edges(f, s->item, edge);
    if (twice || pl_meet_hang_together(2, m.vertex, 2, m.vertex + 2))
        return PL_OK;
    return take(s, &m);
}

/* Vertices of body a by the triangles of body b. */
static pl_status vertices_by_body(search *s, int a, int b)
{
    pl_run of = s->rules->surface->of[a].vertices;
    for (int i = of.first; i < of.first + of.count; i++) {
        s->item = s->rules->surface->vertex[i];
        pl_box box = pl_box_around(1, &s->item, s->q0, s->q, 0);
        PL_TRY(pl_boxes_find(&s->s->triangles[b], &box, vertex_by_triangle, s));
    }
    return PL_OK;
}

/* Sharp edges of body a by the edges of body b. */
static pl_status edges_by_body(search *s, int a, int b)
{
    pl_run of = s->rules->surface->of[a].edges;
    for (int i = of.first; i < of.first + of.count; i++) {
        if (!pl_surface_sharp(s->rules->surface, i))
            continue;
        s->item = i;
        pl_box box = pl_box_around(2, s->rules->surface->edge + 2 * i, s->q0, s->q, 0);
        PL_TRY(pl_boxes_find(&s->s->edges[b], &box, edge_by_edge, s));
    }
    return PL_OK;
}

/* Pieces of different bodies. */
static pl_status find_between(search *s, double wide)
{
    const pl_meet_rules *rules = s->rules;
    for (int a = 0; a < rules->body_count; a++)
        for (int b = 0; b < a; b++) {
            if (!rules->touches[a * rules->body_count + b] ||
                !pl_box_meets(&s->s->around[a], &s->s->around[b]))
                continue;
            pl_meet_fit(s->s, a, s->q0, s->q, wide, true);
            pl_meet_fit(s->s, b, s->q0, s->q, wide, true);
            PL_TRY(vertices_by_body(s, a, b));
            PL_TRY(vertices_by_body(s, b, a));
            PL_TRY(edges_by_body(s, a, b));
            PL_TRY(edges_by_body(s, b, a));
        }
    return PL_OK;
}

/* Pieces of one body, as it moves itself. */
static pl_status find_within(search s, double wide)
{
    const pl_meet_rules *rules = s.rules;
    for (int b = 0; b < rules->body_count; b++) {
        if (!rules->touches[b * rules->body_count + b])
            continue;
        pl_meet_from_within(s.s, rules->surface, b, s.q0, s.q);
        search own = s;
        own.q = s.s->own;
        pl_meet_fit(s.s, b, s.q0, own.q, wide, true);
        PL_TRY(vertices_by_body(&own, b, b));
        PL_TRY(edges_by_body(&own, b, b));
    }
    return PL_OK;
}

pl_status pl_meet_find(pl_context *ctx, pl_meet_search *m, const pl_meet_rules *rules, const double *q0,
                       const double *q, double margin)
{
    search s = {.ctx = ctx, .s = m, .rules = rules, .q0 = q0, .q = q, .margin = margin};
    double widest = 0;
    m->count = 0;
    for (int b = 0; b < m->body_count; b++)
        widest = fmax(widest, rules->offset[b]);
    pl_meet_surround(m, rules->surface, q0, q, margin / 2 + widest);
    PL_TRY(find_between(&s, margin + 2 * widest));
    PL_TRY(find_within(s, margin + 2 * widest));
    pl_meet_sort(m);
    return PL_OK;
}
