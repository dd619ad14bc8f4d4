/* Finding and placing edges and faces at ridges. */
#include "contact/brush.h"

#include "core/vec.h"

#include <stdlib.h>

#define BLUNT   2    /* edges: what is rounder than this, vertices tell; they sink in by 1/16 */
#define ENDS    1e-3 /* of an edge: there its vertex touches */
#define TIE     1e-9 /* where pieces border on each other: better twice than not at all */
#define TILT    0.3  /* sine of what a normal may be outside of a sharp ridge's own ones */
#define DEEPEST 0.1  /* of the body's edges: what is inside of a sharp ridge by more is not there, */
#define LEVEL   1e-9 /* m: deeper than this, it has to be seen that it is inside at all, */
#define FACING  -0.5 /* and there the nearest way out does not go back along the normal */

static const struct {
    int body, body_count, rigid, rigid_count;
} places[] = {
    [PL_MEETING_FACE] = {1, 3, 0, 1},
    [PL_MEETING_EDGE] = {1, 2, 0, 1},
    [PL_MEETING_EDGES] = {0, 2, 2, 2},
};

int pl_brush_count(pl_meeting_kind kind)
{
    return places[kind].body_count;
}

int pl_brush_order(const pl_brush *a, const pl_brush *b)
{
    const int left[] = {a->collider, a->vertex[0], a->vertex[1], a->vertex[2], a->ridge};
    const int right[] = {b->collider, b->vertex[0], b->vertex[1], b->vertex[2], b->ridge};
    for (int k = 0; k < 5; k++)
        if (left[k] != right[k])
            return left[k] < right[k] ? -1 : 1;
    return 0;
}

static int compare(const void *a, const void *b)
{
    return pl_brush_order(a, b);
}

pl_brush pl_brush_like(const pl_contact *contact)
{
    pl_brush out = {.collider = contact->collider, .vertex = {-1, -1, -1}, .ridge = contact->ridge};
    memcpy(out.vertex, contact->vertex, sizeof *out.vertex * (size_t)contact->count);
    return out;
}

/* ---- Geometry ---- */

static pl_brush_place begin(pl_meeting_kind kind)
{
    return (pl_brush_place){.meeting = {kind, {0, 1, 2, 3}, -1},
                            .body = places[kind].body,
                            .body_count = places[kind].body_count,
                            .rigid = places[kind].rigid,
                            .rigid_count = places[kind].rigid_count};
}

/* From p->x. A sharp ridge tells the side: out of it, or into a face that is before it. */
static void locate(pl_brush_place *p, const pl_ridge *ridge, const double out[3])
{
    pl_meeting_place *at = &p->at;
    pl_meeting_find(NULL, &p->meeting, ridge->radius, 0, p->x, at);
    double outward = pl_dot3(at->normal, out) * (p->body == 0 ? 1 : -1);
    if (ridge->radius > 0 || outward >= 0)
        return;
    at->distance = -at->distance;
    for (int k = 0; k < 3; k++)
        at->normal[k] = -at->normal[k];
}

/* Where the points a, given in the frame of a pose, are. */
static void out_of(const double pose[7], const double *a, double *x)
{
    double turn[9];
    pl_quat_to_mat3(pose + 3, turn);
    pl_mat3_vec(turn, a, x);
    pl_axpy3(1, pose, x);
}

pl_brush_place pl_brush_place_of(const pl_obstacles *o, const pl_brush *b, const double *q0)
{
    pl_brush_place p = begin(b->kind);
    const pl_ridges *ridges = pl_collider_ridges(o->shapes[b->collider]);
    const pl_ridge *ridge = &ridges->ridge[b->ridge];
    const double *start = o->pose_start + 7 * b->collider, *end = o->pose_end + 7 * b->collider;
    double turn[9], out[3], there[3];
    for (int k = 0; k < p.body_count; k++)
        memcpy(p.x + 3 * (p.body + k), q0 + 3 * (size_t)b->vertex[k], 3 * sizeof *q0);
    for (int k = 0; k < p.rigid_count; k++) {
        const double *own = ridges->x + 6 * (size_t)b->ridge + 3 * k;
        double *x = p.x + 3 * (p.rigid + k);
        out_of(start, own, x);
        out_of(end, own, there);
        pl_sub3(there, x, p.u + 3 * (p.rigid + k));
    }
    pl_quat_to_mat3(start + 3, turn);
    pl_mat3_vec(turn, ridge->out, out);
    locate(&p, ridge, out);
    return p;
}

pl_status pl_brush_add(pl_context *ctx, const pl_obstacles *o, const pl_brush *b, const double *q0,
                       pl_contact_set *set)
{
    pl_brush_place place = pl_brush_place_of(o, b, q0);
    pl_stencil_entry *entry;
    pl_contact_point p = {
        .kind = PL_ROWS_BRUSH,
        .brush = *b,
        .vertex = b->vertex[0],
        .collider = b->collider,
        .body = o->body_of[b->vertex[0]],
        .gap = place.at.distance - place.at.offset,
    };
    p.law.mu = o->friction[b->collider * o->body_count + p.body];
    memcpy(p.frame, place.at.normal, sizeof place.at.normal);
    memcpy(p.weight, place.at.weight + place.body, sizeof *p.weight * (size_t)place.body_count);
    pl_contact_frame(p.frame);
    for (int k = place.rigid; k < place.rigid + place.rigid_count; k++)
        pl_axpy3(-place.at.weight[k], place.u + 3 * k, p.drift);
    p.gap -= pl_dot3(p.frame, p.drift);
    PL_TRY(pl_contact_set_add(ctx, set, &p, place.body_count, &entry));
    for (int k = 0; k < place.body_count; k++) {
        entry[k].vertex = b->vertex[k];
        for (int i = 0; i < 9; i++)
            entry[k].block[i] = p.weight[k] * p.frame[i];
    }
    set->brushing = set->touching = set->count;
    return PL_OK;
}

/* ---- A search ---- */

void pl_brush_search_free(pl_context *ctx, pl_brush_search *s)
{
    pl_free(ctx, s->start);
    pl_free(ctx, s->end);
    pl_free(ctx, s->found);
    *s = (pl_brush_search){0};
}

pl_status pl_brush_search_create(pl_context *ctx, const pl_surface *surface, int n,
                                 pl_brush_search *out)
{
    pl_status status = PL_OK;
    *out = (pl_brush_search){.surface = surface};
    if (!surface)
        return PL_OK;
    PL_NEW(ctx, out->start, 3 * n, done);
    PL_NEW(ctx, out->end, 3 * n, done);
done:
    return status;
}

/* What is done with every piece of a body and ridge that come near each other. */
typedef struct search search;
typedef pl_status (*visitor)(search *s, const pl_brush *brush, pl_brush_place *p);

struct search {
    pl_context *ctx;
    pl_brush_search *s;
    const pl_obstacles *o;
    const pl_contact_set *set; /* what are contacts already */
    const pl_ridges *ridges;
    visitor visit;
    double margin;
    pl_brush piece; /* collider, and vertices of the piece */
    int edge;       /* of the surface, or -1: a face */
    bool sheet;
    double edge_length;
    int hit;
};

static pl_status piece_by_ridge(void *user, int ridge)
{
    search *s = user;
    bool point = s->ridges->ridge[ridge].ends == 1;
    pl_brush b = s->piece;
    if ((s->edge < 0 && !point) || s->ridges->ridge[ridge].blunt > BLUNT * s->edge_length)
        return PL_OK;
    if (s->edge >= 0 && point && s->ridges->ridge[ridge].radius == 0)
        return PL_OK; /* its faces touch that */
    b.ridge = ridge;
    b.kind = s->edge < 0 ? PL_MEETING_FACE : point ? PL_MEETING_EDGE : PL_MEETING_EDGES;
    pl_brush_place p = begin(b.kind);
    for (int k = 0; k < p.body_count; k++) {
        size_t v = 3 * (size_t)b.vertex[k];
        memcpy(p.x + 3 * (p.body + k), s->s->start + v, 3 * sizeof *p.x);
        pl_sub3(s->s->end + v, s->s->start + v, p.u + 3 * (p.body + k));
    }
    memcpy(p.x + 3 * p.rigid, s->ridges->x + 6 * (size_t)ridge,
           sizeof *p.x * 3 * (size_t)p.rigid_count);
    return s->visit(s, &b, &p);
}

static pl_status piece_by_collider(search *s, int count, const int *vertices)
{
    pl_box box = pl_box_around(count, vertices, s->s->start, s->s->end, s->margin + s->ridges->largest);
    for (int k = 0; k < 3; k++)
        s->piece.vertex[k] = k < count ? vertices[k] : -1;
    return pl_boxes_find(&s->ridges->tree, &box, piece_by_ridge, s);
}

static pl_status body_by_collider(search *s, int b)
{
    const pl_surface *f = s->s->surface;
    const pl_surface_body *body = &f->of[b];
    double reach = s->margin + s->ridges->largest;
    if (s->ridges->least > BLUNT * body->edge_length)
        return PL_OK;
    pl_box box = pl_box_around(body->vertices.count, f->vertex + body->vertices.first, s->s->start,
                               s->s->end, reach);
    if (!pl_box_meets(&box, s->ridges->tree.node))
        return PL_OK;
    s->sheet = body->sheet;
    s->edge_length = body->edge_length;
    for (s->edge = body->edges.first; s->edge < body->edges.first + body->edges.count; s->edge++)
        PL_TRY(piece_by_collider(s, 2, f->edge + 2 * s->edge));
    s->edge = -1;
    for (int t = body->triangles.first; t < body->triangles.first + body->triangles.count; t++)
        PL_TRY(piece_by_collider(s, 3, f->triangle + 3 * t));
    return PL_OK;
}

/* s->start and end of the surface's vertices: q0 and q as the collider sees them. */
static void see(search *s, int c, const double *q0, const double *q)
{
    const pl_surface *f = s->s->surface;
    double from[9], to[9];
    const double *start = s->o->pose_start + 7 * c, *end = s->o->pose_end + 7 * c;
    pl_quat_to_mat3(start + 3, from);
    pl_quat_to_mat3(end + 3, to);
    for (int i = 0; i < f->vertex_count; i++) {
        size_t v = 3 * (size_t)f->vertex[i];
        double arm[3];
        pl_sub3(q0 + v, start, arm);
        pl_mat3_tvec(from, arm, s->s->start + v);
        pl_sub3(q + v, end, arm);
        pl_mat3_tvec(to, arm, s->s->end + v);
    }
}

static pl_status search_all(search *s, const double *q0, const double *q)
{
    for (int c = 0; c < s->o->count && s->hit < 0; c++) {
        s->ridges = pl_collider_ridges(s->o->shapes[c]);
        s->piece.collider = c;
        if (s->ridges->count == 0)
            continue;
        see(s, c, q0, q);
        for (int b = 0; b < s->o->body_count && s->hit < 0; b++)
            PL_TRY(body_by_collider(s, b));
    }
    return PL_OK;
}

/* ---- Candidates ---- */

/* Whether the nearest points are inside both pieces. */
static bool is_inside(const pl_brush_place *p)
{
    const double *w = p->at.weight;
    double least = p->meeting.kind == PL_MEETING_FACE ? -TIE : ENDS, sign = p->body == 0 ? 1 : -1;
    for (int k = p->body; k < p->body + p->body_count; k++)
        if (!(sign * w[k] >= least))
            return false;
    for (int k = p->rigid; k < p->rigid + p->rigid_count; k++)
        if (!(sign * w[k] <= TIE))
            return false;
    return p->meeting.kind != PL_MEETING_EDGES || !pl_meeting_parallel(&p->at);
}

/* Whether the normal is one of the ridge's own, or nearly; `out` is it, out of the collider. */
static bool suits_ridge(const search *s, const pl_ridge *ridge, const double out[3])
{
    for (int i = 0; i < ridge->sides; i++)
        if (pl_dot3(out, s->ridges->side + 3 * (size_t)(ridge->first + i)) > TILT)
            return false;
    return true;
}

/* Whether the ridge is before a solid's face. */
static bool suits_face(const search *s, const pl_brush_place *p, const double out[3])
{
    double e[6], front[3];
    if (s->edge >= 0 || s->sheet)
        return true;
    pl_sub3(p->x + 6, p->x + 3, e);
    pl_sub3(p->x + 9, p->x + 3, e + 3);
    pl_cross3(e, e + 3, front);
    return pl_dot3(front, out) < 0;
}

/* Whether a place inside of a sharp ridge is inside of the collider, and the way out there is this. */
static bool is_within(const search *s, const pl_brush_place *p, const double out[3])
{
    static const double unmoved[7] = {0, 0, 0, 1, 0, 0, 0};
    pl_surface_point surface;
    double x[3] = {0};
    for (int k = p->body; k < p->body + p->body_count; k++)
        pl_axpy3(fabs(p->at.weight[k]), p->x + 3 * k, x);
    pl_collider_query(s->o->shapes[s->piece.collider], unmoved, x, &surface);
    return surface.distance <= 0 && pl_dot3(surface.normal, out) > FACING;
}

/* How much nearer the ridge it goes, along the normal. */
static double approach(const pl_brush_place *p)
{
    double moved[3] = {0};
    for (int k = p->body; k < p->body + p->body_count; k++)
        pl_axpy3(p->at.weight[k], p->u + 3 * k, moved);
    return -pl_dot3(p->at.normal, moved);
}

/* The normal out of the collider. */
static void outward(const pl_brush_place *p, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = p->body == 0 ? p->at.normal[k] : -p->at.normal[k];
}

static pl_status take(search *s, const pl_brush *b, pl_brush_place *p)
{
    const pl_ridge *ridge = &s->ridges->ridge[b->ridge];
    double out[3];
    locate(p, ridge, ridge->out);
    double gap = p->at.distance - ridge->radius;
    if (!(gap - fmax(approach(p), 0) < s->margin) || !is_inside(p))
        return PL_OK;
    outward(p, out);
    if (!suits_ridge(s, ridge, out) || !suits_face(s, p, out))
        return PL_OK;
    if (ridge->radius == 0 && gap < -LEVEL &&
        (gap < -DEEPEST * s->edge_length || !is_within(s, p, out)))
        return PL_OK;
    pl_brush_search *f = s->s;
    PL_TRY(pl_grow(s->ctx, (void **)&f->found, &f->capacity, f->count + 1, sizeof *f->found));
    f->found[f->count++] = *b;
    return PL_OK;
}

pl_status pl_brush_find(pl_context *ctx, pl_brush_search *f, const pl_obstacles *o, const double *q0,
                        const double *q, double margin)
{
    search s = {.ctx = ctx, .s = f, .o = o, .visit = take, .margin = margin, .hit = -1};
    f->count = 0;
    PL_TRY(search_all(&s, q0, q));
    if (f->count > 0)
        qsort(f->found, (size_t)f->count, sizeof *f->found, compare);
    return PL_OK;
}

/* ---- What passes ---- */

#define THROUGH 0.25 /* of the margin: as deep as what is no contact may end, */
#define SUNK    0.1  /* of the radius, of a round ridge, */
#define DEEP    0.02 /* and of the body's edges what is one */
#define PARTS   8    /* of the way that are looked at one by one */
#define HALVES  40

/* Whether the piece is a contact with the collider already, by this ridge or another. */
static bool is_contact(const search *s, const pl_brush *b)
{
    int low = s->set->single, high = s->set->brushing;
    pl_brush first = *b;
    first.ridge = -1;
    while (low < high) {
        int half = low + (high - low) / 2;
        bool before = pl_brush_order(&s->set->points[half].brush, &first) < 0;
        low = before ? half + 1 : low;
        high = before ? high : half;
    }
    if (low == s->set->brushing)
        return false;
    first = s->set->points[low].brush;
    first.ridge = b->ridge;
    return pl_brush_order(&first, b) == 0;
}

/* The place at time t of the way, [0, 1]. */
static pl_brush_place place_at(const pl_brush_place *p, const pl_ridge *ridge, double t)
{
    pl_brush_place there = *p;
    for (int k = 0; k < 12; k++)
        there.x[k] = p->x[k] + t * p->u[k];
    locate(&there, ridge, ridge->out);
    return there;
}

/* On which side of each other the lines, or the point and plane are: a volume. */
static double side_at(const pl_brush_place *p, double t)
{
    double x[12], e[3], f[3], g[3], n[3];
    for (int k = 0; k < 12; k++)
        x[k] = p->x[k] + t * p->u[k];
    bool lines = p->body == 0;
    pl_sub3(x + (lines ? 3 : 6), x + (lines ? 0 : 3), e);
    pl_sub3(x + 9, x + (lines ? 6 : 3), f);
    pl_sub3(x + (lines ? 6 : 0), x + (lines ? 0 : 3), g);
    pl_cross3(e, f, n);
    return pl_dot3(n, g);
}

/* How far the piece is through the ridge at the end if it passes between these times; 0 if not. */
static double depth_between(const pl_brush_place *p, const pl_ridge *ridge, double from, double to)
{
    double before = side_at(p, from), moved[3] = {0};
    if ((before < 0) == (side_at(p, to) < 0))
        return 0;
    for (int i = 0; i < HALVES; i++) {
        double half = 0.5 * (from + to);
        bool same = (side_at(p, half) < 0) == (before < 0);
        from = same ? half : from;
        to = same ? to : half;
    }
    pl_brush_place there = place_at(p, ridge, from);
    if (!is_inside(&there))
        return 0;
    for (int k = p->body; k < p->body + p->body_count; k++)
        pl_axpy3(there.at.weight[k], p->u + 3 * k, moved);
    if (ridge->radius > 0)
        return ridge->radius;
    return fmax(-pl_dot3(there.at.normal, moved), 0) * (1 - from); /* or it comes out there */
}

static pl_status follow(search *s, const pl_brush *b, pl_brush_place *p)
{
    const pl_ridge *ridge = &s->ridges->ridge[b->ridge];
    bool known = is_contact(s, b);
    double most = known ? fmax(DEEP * s->edge_length, SUNK * ridge->radius)
                        : fmax(THROUGH * s->margin, SUNK * ridge->radius);
    if (s->hit >= 0)
        return PL_OK;
    for (int i = 0; i < PARTS && b->kind != PL_MEETING_EDGE; i++)
        if (depth_between(p, ridge, (double)i / PARTS, (double)(i + 1) / PARTS) > most)
            s->hit = b->vertex[0];
    if (ridge->radius == 0 || known)
        return PL_OK;
    pl_brush_place last = place_at(p, ridge, 1);
    if (is_inside(&last) && ridge->radius - last.at.distance > most)
        s->hit = b->vertex[0];
    return PL_OK;
}

pl_status pl_brush_pierce(pl_brush_search *f, const pl_obstacles *o, const pl_contact_set *set,
                          const double *q0, const double *q, double margin, int *vertex, int *collider)
{
    search s = {.s = f, .o = o, .set = set, .visit = follow, .hit = -1};
    s.margin = margin;
    PL_TRY(search_all(&s, q0, q));
    *vertex = s.hit;
    *collider = s.hit >= 0 ? s.piece.collider : -1;
    return PL_OK;
}
