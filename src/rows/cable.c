/*
 * Cables: chains of anchors p_i, each a point of a body or fixed in the world, that are drawn to a
 * length L0 by a tension t, which is an unknown of its own:
 *
 *     L(q) = sum_i |p_i+1 - p_i|,    force -t grad L,    slack s = L0 - L + c t
 *
 * one way: s t = eps^2, both positive; both ways: s = 0. As rows: H = -grad L where the iterate is,
 * offset L0 - L. The tangent has t d2L/dq2 besides, d2L/dq2 = (1 - d d^T)/l between the ends of a
 * segment of length l along d, which is what the term is for. One that slides has one tension and one
 * row; one that is held at its anchors has a row for each segment, with L0 and c in proportion to the
 * segments' lengths at the start.
 *
 * The tension of one that goes slack may come all at once, like a contact's force, and is counted as
 * that is (sim/integrator.h): t is its mean over the substep, the scheme's share of what pulls at its
 * end. So H, offset and c of such a row are over that share.
 *
 * Where the ends of a segment meet, |d| has a kink: the tension would have any direction. So within a
 * = NEAR of its length at the start a segment counts as
 *
 *     a (3/8 + 3/4 x^2 - x^4/8),    x = |d|/a
 *
 * which has the value, slope and curvature of |d| at x = 1: its pull fades to nothing as they meet.
 */
#include "core/vec.h"
#include "rows/rows.h"

#include <stddef.h>
#include <stdio.h>

#define NEAR     0.05
#define SHORTEST 1e-9 /* m, of lengths that a cable may be drawn to */

enum { POINT = 4 };

typedef struct anchor {
    int count; /* 0: fixed */
    int vertex[POINT];
    double weight[POINT], place[3];
} anchor;

typedef struct cable {
    int segment_count;
    pl_point *points; /* [segment_count + 1] as given, */
    anchor *anchors;  /* and in the scene's vertices */
    double *share;    /* [segment_count] of the length at the start */
    double start;     /* that length, m */
    bool sliding, two_way;
    int first_row;
    pl_curve length;
} cable;

pl_cable_def pl_cable_def_default(void)
{
    return (pl_cable_def){.compliance = 1e-6};
}

/* ---- asking */

static const cable *get(const pl_scene *scene, int index)
{
    return (const cable *)scene->parts[PL_OWNER_CABLE].items + index;
}

static int cable_count(const pl_scene *scene)
{
    return scene->parts[PL_OWNER_CABLE].count;
}

static int row_count(const cable *c)
{
    return c->sliding ? 1 : c->segment_count;
}

static int count(const pl_scene *scene)
{
    int last = cable_count(scene) - 1;
    return last < 0 ? 0 : get(scene, last)->first_row + row_count(get(scene, last));
}

/* What a row's own are multiplied by: one over the scheme's share of a force that may come all at once.
 */
static double weight_of(const pl_substep *s, const cable *c)
{
    return c->two_way ? 1 : 1 / s->scheme->share;
}

/* The segments of a row, and what it has of the cable's length and compliance. */
static void range_of(const cable *c, int row, int *first, int *end, double *share)
{
    *first = c->sliding ? 0 : row;
    *end = c->sliding ? c->segment_count : row + 1;
    *share = c->sliding ? 1 : c->share[row];
}

static void locate(const anchor *a, const double *q, double x[3])
{
    memcpy(x, a->place, 3 * sizeof *x);
    for (int k = 0; k < a->count; k++)
        pl_axpy3(a->weight[k], q + 3 * (size_t)a->vertex[k], x);
}

/* The distance of a segment's ends, and the direction from one to the other, if it has one. */
static double apart(const cable *c, int i, const double *q, double unit[3])
{
    double from[3], to[3];
    locate(&c->anchors[i], q, from);
    locate(&c->anchors[i + 1], q, to);
    pl_sub3(to, from, unit);
    double distance = pl_norm3(unit);
    for (int k = 0; k < 3; k++)
        unit[k] = distance > 0 ? unit[k] / distance : 0;
    return distance;
}

/* A segment's length l(d) and its derivatives: l' along the unit vector, l'' along it, and l'/|d|
 * across. */
typedef struct stretched {
    double length, unit[3], slope, along, across;
} stretched;

static stretched stretch(const cable *c, int i, const double *q)
{
    stretched s = {.slope = 1};
    double near = NEAR * c->share[i] * c->start, x;
    s.length = apart(c, i, q, s.unit);
    s.across = 1 / s.length;
    x = s.length / near;
    if (x < 1) {
        s.length = near * (0.375 + x * x * (0.75 - 0.125 * x * x));
        s.slope = x * (1.5 - 0.5 * x * x);
        s.along = 1.5 * (1 - x * x) / near;
        s.across = (1.5 - 0.5 * x * x) / near;
    }
    return s;
}

/* ---- adding one */

static pl_status take_anchor(pl_scene *scene, int index, const pl_point *point, anchor *a)
{
    char what[32];
    snprintf(what, sizeof what, "points[%d]", index);
    *a = (anchor){.count = point->body < 0 ? 0 : point->count};
    if (point->body >= 0)
        return pl_scene_take_point(scene, what, point, a->vertex, a->weight);
    memcpy(a->place, point->position, sizeof a->place);
    if (!isfinite(a->place[0]) || !isfinite(a->place[1]) || !isfinite(a->place[2]))
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "%s: its position is not finite", what);
    return PL_OK;
}

static pl_status take_points(pl_scene *scene, const pl_cable_def *def, cable *c)
{
    double unit[3];
    for (int i = 0; i < def->point_count; i++) {
        PL_TRY(take_anchor(scene, i, &def->points[i], &c->anchors[i]));
        c->points[i] = def->points[i];
    }
    for (int i = 0; i < c->segment_count; i++) {
        c->share[i] = apart(c, i, scene->q0, unit);
        c->start += c->share[i];
        if (!(c->share[i] > 0))
            return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                           "points[%d] and points[%d] are the same point", i, i + 1);
        if (c->anchors[i].count == 0 && c->anchors[i + 1].count == 0)
            return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                           "points[%d] and points[%d] are both fixed: nothing moves between them", i,
                           i + 1);
    }
    for (int i = 0; i < c->segment_count; i++)
        c->share[i] /= c->start;
    return PL_OK;
}

static void discard(pl_context *ctx, cable *c)
{
    pl_free(ctx, c->points);
    pl_free(ctx, c->anchors);
    pl_free(ctx, c->share);
    pl_curve_free(ctx, &c->length);
}

pl_status pl_scene_add_cable(pl_scene *scene, const pl_cable_def *def, int *index)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    PL_TRY(pl_scene_must_be_open(scene));
    if (def->point_count < 2)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "a cable needs at least two points, not %d",
                       def->point_count);
    cable c = {.segment_count = def->point_count - 1,
               .sliding = !def->segments,
               .two_way = def->two_way,
               .first_row = count(scene)};
    PL_NEW(ctx, c.points, def->point_count, done);
    PL_NEW(ctx, c.anchors, def->point_count, done);
    PL_NEW(ctx, c.share, c.segment_count, done);
    PL_CHECK(take_points(scene, def, &c), done);
    double length = def->length == 0 ? c.start : def->length;
    PL_CHECK(pl_curve_create(ctx, "length", &def->table, 1, &length, &c.length), done);
    PL_CHECK(pl_curve_check(ctx, "length", SHORTEST, PL_INPUT_MOST, &c.length), done);
    const pl_channel channel = PL_CABLE_COMPLIANCE;
    PL_CHECK(pl_scene_append(scene, PL_OWNER_CABLE, def->name, &c, sizeof c, 1, &channel,
                             &def->compliance, index),
             done);
    return PL_OK;
done:
    discard(ctx, &c);
    return status;
}

static void release(pl_scene *scene)
{
    cable *cables = scene->parts[PL_OWNER_CABLE].items;
    for (int i = 0; i < cable_count(scene); i++)
        discard(scene->ctx, &cables[i]);
}

int pl_scene_cable_rows(const pl_scene *scene, int index, int *first)
{
    if (index < 0 || index >= cable_count(scene))
        return 0;
    *first = get(scene, index)->first_row;
    return row_count(get(scene, index));
}

pl_status pl_scene_cable(const pl_scene *scene, int index, pl_cable_def *def)
{
    if (index < 0 || index >= cable_count(scene))
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "cable = %d: the scene has %d cables", index,
                       cable_count(scene));
    const cable *c = get(scene, index);
    *def = (pl_cable_def){.name = pl_part_name(scene, PL_OWNER_CABLE, index),
                          .point_count = c->segment_count + 1,
                          .points = c->points,
                          .segments = !c->sliding,
                          .two_way = c->two_way,
                          .length = c->length.value[0],
                          .compliance = scene->params.values->of[PL_CABLE_COMPLIANCE][index]};
    def->table = pl_curve_rows(&c->length);
    return PL_OK;
}

/* ---- inputs */

static void inputs(const pl_scene *scene, double time, double *const *of)
{
    pl_parts_at(scene, PL_OWNER_CABLE, sizeof(cable), offsetof(cable, length), time,
                of[PL_CABLE_LENGTH]);
}

static void range(const pl_scene *scene, pl_channel channel, int row, double *lower, double *upper)
{
    (void)scene, (void)row, (void)upper;
    if (channel == PL_CABLE_LENGTH)
        *lower = SHORTEST;
}

/* Names the cable that is drawn farthest from its length at the start. */
static void doubt(const pl_substep *s, char *text, size_t size)
{
    int worst = -1;
    double most = 0.05;
    for (int i = 0; i < cable_count(s->scene); i++) {
        double change = fabs(s->drive->of[PL_CABLE_LENGTH][i] / get(s->scene, i)->start - 1);
        if (change <= most)
            continue;
        most = change;
        worst = i;
    }
    if (worst >= 0)
        snprintf(text, size,
                 "; cable %d, \"%s\", is drawn to %.3g m, %.2g of its length at the start: it may be "
                 "asked too much, or too fast",
                 worst, pl_part_name(s->scene, PL_OWNER_CABLE, worst),
                 s->drive->of[PL_CABLE_LENGTH][worst],
                 s->drive->of[PL_CABLE_LENGTH][worst] / get(s->scene, worst)->start);
}

/* ---- as rows */

/* The entry of a vertex; new ones are empty. */
static pl_stencil_entry *entry_of(pl_stencil_entry *entries, int *count_so_far, int vertex)
{
    int k = 0;
    while (k < *count_so_far && entries[k].vertex != vertex)
        k++;
    if (k == *count_so_far)
        entries[(*count_so_far)++] = (pl_stencil_entry){.vertex = vertex};
    return &entries[k];
}

static pl_status add_row(const pl_substep *s, int index, int row, pl_contact_set *set)
{
    const cable *c = get(s->scene, index);
    int first, end, used = 0;
    double share;
    pl_stencil_entry *entries;
    range_of(c, row, &first, &end, &share);
    pl_contact_point p = {.kind = PL_ROWS_CABLE, .live = true, .owner = index, .part = row};
    p.law.compliance = s->matter->values->of[PL_CABLE_COMPLIANCE][index] * share * weight_of(s, c);
    p.law.two_way = c->two_way;
    PL_TRY(pl_contact_set_add(s->scene->ctx, set, &p, POINT * (end - first + 1), &entries));
    for (int i = first; i <= end; i++)
        for (int k = 0; k < c->anchors[i].count; k++)
            entry_of(entries, &used, c->anchors[i].vertex[k]);
    pl_contact_set_trim(set, used);
    set->points[set->count - 1].vertex = entries[0].vertex;
    return PL_OK;
}

static pl_status add(const pl_substep *s, pl_contact_set *set)
{
    for (int i = 0; i < cable_count(s->scene); i++)
        for (int row = 0; row < row_count(get(s->scene, i)); row++)
            PL_TRY(add_row(s, i, row, set));
    return PL_OK;
}

static void place(const pl_substep *s, const double *q, pl_contact_point *p, pl_stencil_entry *entries)
{
    const cable *c = get(s->scene, p->owner);
    int first, end, used = p->count;
    double share, weight = weight_of(s, c);
    range_of(c, p->part, &first, &end, &share);
    for (int k = 0; k < p->count; k++)
        memset(entries[k].block, 0, sizeof entries[k].block);
    p->gap = weight * share * s->drive->of[PL_CABLE_LENGTH][p->owner];
    for (int i = first; i < end; i++) {
        stretched at = stretch(c, i, q);
        p->gap -= weight * at.length;
        for (int side = 0; side < 2; side++) {
            const anchor *a = &c->anchors[i + side];
            for (int k = 0; k < a->count; k++)
                pl_axpy3((side ? -1 : 1) * weight * a->weight[k] * at.slope, at.unit,
                         entry_of(entries, &used, a->vertex[k])->block);
        }
    }
}

static void vjp(const pl_slope *s, const pl_contact_point *p, const double a[3], double by_mu,
                const double *z, pl_gradient *g, double *dq0)
{
    (void)by_mu, (void)z, (void)dq0;
    int first, end;
    double share;
    const cable *c = get(s->at->scene, p->owner);
    range_of(c, p->part, &first, &end, &share);
    share *= weight_of(s->at, c);
    if (g->of[PL_CABLE_LENGTH])
        pl_slope_spread(s, g, PL_CABLE_LENGTH, p->owner, share, a);
    if (g->of[PL_CABLE_COMPLIANCE])
        g->of[PL_CABLE_COMPLIANCE][p->owner] += share * a[0] * p->lambda[0];
}

static void jvp(const pl_slope *s, const pl_contact_point *p, const pl_gradient *d, const double *dq0,
                double d_delta[3], double *d_mu, double *rhs)
{
    (void)dq0, (void)d_mu, (void)rhs;
    int first, end;
    double share, length = 0;
    const cable *c = get(s->at->scene, p->owner);
    range_of(c, p->part, &first, &end, &share);
    share *= weight_of(s->at, c);
    if (d->of[PL_CABLE_LENGTH])
        pl_slope_blend(s, d, PL_CABLE_LENGTH, p->owner, &length);
    d_delta[0] += share * length;
    if (d->of[PL_CABLE_COMPLIANCE])
        d_delta[0] += share * d->of[PL_CABLE_COMPLIANCE][p->owner] * p->lambda[0];
}

/* ---- as a term: t d2L/dq2 */

static pl_status stencils(const pl_scene *scene, int *stencil_count, int *width, int **index)
{
    int total = 0, at = 0;
    for (int i = 0; i < cable_count(scene); i++)
        total += get(scene, i)->segment_count;
    *stencil_count = total;
    *width = 2 * POINT;
    *index = pl_alloc(scene->ctx, (size_t)(2 * POINT * total), sizeof **index);
    if (!*index)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < cable_count(scene); i++)
        for (int k = 0; k < get(scene, i)->segment_count; k++)
            for (int side = 0; side < 2; side++) {
                const anchor *a = &get(scene, i)->anchors[k + side];
                for (int j = 0; j < POINT; j++)
                    (*index)[at++] = j < a->count ? a->vertex[j] : -1;
            }
    return PL_OK;
}

/* d2/dq2 of segment i of the cable with its tension, [3, 3]: what a change of p_i+1 - p_i is multiplied
 * by. */
static void curvature(const pl_substep *s, const cable *c, int i, const double *q, bool clamp,
                      double scale, double out[9])
{
    stretched at = stretch(c, i, q);
    double t = s->live[c->first_row + (c->sliding ? 0 : i)],
           by = clamp && t < 0 ? 0 : scale * t * weight_of(s, c);
    for (int r = 0; r < 9; r++) {
        double along = at.unit[r / 3] * at.unit[r % 3];
        out[r] = by * (at.along * along + at.across * ((r % 4 == 0) - along));
    }
}

/* blocks += w w' K between two anchors of a segment. */
static void add_pair(const pl_substep *s, const anchor *a, const anchor *b, double sign,
                     const double k[9], double *blocks)
{
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            double *block =
                blocks + 9 * (size_t)pl_pattern_find(s->pattern, a->vertex[i], b->vertex[j]);
            for (int r = 0; r < 9; r++)
                block[r] += sign * a->weight[i] * b->weight[j] * k[r];
        }
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    for (int n = 0; n < cable_count(s->scene); n++) {
        const cable *c = get(s->scene, n);
        for (int i = 0; i < c->segment_count; i++) {
            const anchor *a = &c->anchors[i], *b = a + 1;
            double k[9];
            curvature(s, c, i, q, clamp, scale, k);
            add_pair(s, a, a, 1, k, blocks);
            add_pair(s, b, b, 1, k, blocks);
            add_pair(s, a, b, -1, k, blocks);
            add_pair(s, b, a, -1, k, blocks);
        }
    }
}

/* y += scale t d2l/dq2 x of segment i */
static void multiply_segment(const pl_substep *s, const cable *c, int i, const double *q,
                             const double *x, double scale, double *y)
{
    double k[9], apart[3] = {0}, by[3];
    curvature(s, c, i, q, false, scale, k);
    for (int side = 0; side < 2; side++) {
        const anchor *a = &c->anchors[i + side];
        for (int j = 0; j < a->count; j++)
            pl_axpy3((side ? 1 : -1) * a->weight[j], x + 3 * (size_t)a->vertex[j], apart);
    }
    pl_mat3_vec(k, apart, by);
    for (int side = 0; side < 2; side++) {
        const anchor *a = &c->anchors[i + side];
        for (int j = 0; j < a->count; j++)
            pl_axpy3((side ? 1 : -1) * a->weight[j], by, y + 3 * (size_t)a->vertex[j]);
    }
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    for (int n = 0; n < cable_count(s->scene); n++)
        for (int i = 0; i < get(s->scene, n)->segment_count; i++)
            multiply_segment(s, get(s->scene, n), i, q, x, scale, y);
}

static void bend(const pl_slope *s, const pl_contact_point *p, const double *x, double scale,
                 bool transposed, double *y)
{
    (void)transposed; /* it is symmetric */
    const cable *c = get(s->at->scene, p->owner);
    int first, end;
    double share;
    range_of(c, p->part, &first, &end, &share);
    for (int i = first; i < end; i++)
        multiply_segment(s->at, c, i, s->q, x, -scale, y);
}

const pl_rows pl_rows_cable = {
    .name = "cable", .count = count, .add = add, .place = place, .vjp = vjp, .jvp = jvp, .bend = bend};

const pl_term pl_term_cable = {.name = "cable",
                               .inputs = inputs,
                               .range = range,
                               .doubt = doubt,
                               .release = release,
                               .stencils = stencils,
                               .tangent = tangent,
                               .multiply = multiply};
