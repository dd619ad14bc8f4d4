/* What a start must not have where bodies touch each other or themselves: bodies inside each other,
 * surfaces that cross, or that are nearer than they are kept apart. */
#include "sim/model.h"

#include "core/vec.h"
#include "mesh/bvh.h"

/* ---- Bodies inside others ---- */

typedef struct trouble {
    int vertex, body;
    double depth; /* m */
} trouble;

/* Vertices of other bodies inside solid b, by how often its surface goes round them. */
static pl_status find_inside(const pl_model *m, int b, trouble *worst)
{
    const pl_scene *scene = m->scene;
    const pl_body *body = &scene->bodies[b];
    pl_run of = m->surface->of[b].triangles;
    double lower[3], upper[3];
    pl_bvh *bvh;
    if (body->cloth)
        return PL_OK;
    PL_TRY(pl_bvh_create(scene->ctx, scene->vertex_count, scene->q0, of.count,
                         m->surface->triangle + 3 * of.first, &bvh));
    pl_bvh_bounds(bvh, lower, upper);
    for (int i = 0; i < m->surface->vertex_count; i++) {
        int v = m->surface->vertex[i];
        const double *x = scene->q0 + 3 * (size_t)v;
        if (scene->body_of[v] == b || !scene->touches[b * scene->body_count + scene->body_of[v]] ||
            x[0] < lower[0] || x[1] < lower[1] || x[2] < lower[2] || x[0] > upper[0] ||
            x[1] > upper[1] || x[2] > upper[2])
            continue;
        double distance = pl_bvh_signed_distance(bvh, x);
        if (-distance > worst->depth)
            *worst = (trouble){v, b, -distance};
    }
    pl_bvh_destroy(scene->ctx, bvh);
    return PL_OK;
}

static pl_status tell_inside(const pl_model *m, const trouble *t)
{
    const pl_scene *scene = m->scene;
    const pl_body *mine = &scene->bodies[scene->body_of[t->vertex]];
    return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                   "vertex %d of body \"%s\" starts %.3g m inside body \"%s\": move them apart, or set "
                   "body_contact to false",
                   t->vertex - mine->vertex_offset, mine->name, t->depth, scene->bodies[t->body].name);
}

/* ---- Surfaces that cross ---- */

typedef struct crossing {
    const pl_model *m;
    int edge, hit; /* the edge, and a triangle it crosses or -1 */
} crossing;

static pl_status cross(void *user, int triangle)
{
    crossing *c = user;
    const double *q = c->m->scene->q0, *corner[3];
    const int *t = c->m->surface->triangle + 3 * triangle, *e = c->m->surface->edge + 2 * c->edge;
    for (int k = 0; k < 3; k++)
        corner[k] = q + 3 * (size_t)t[k];
    if (c->hit < 0 && !pl_meet_hang_together(2, e, 3, t) &&
        pl_edge_crosses(q + 3 * (size_t)e[0], q + 3 * (size_t)e[1], corner))
        c->hit = triangle;
    return PL_OK;
}

/* Edges of body a that cross triangles of body b. */
static pl_status check_crossing(const pl_model *m, const pl_meet_search *search, int a, int b)
{
    const pl_scene *scene = m->scene;
    pl_run of = m->surface->of[a].edges;
    crossing c = {.m = m, .hit = -1};
    for (c.edge = of.first; c.edge < of.first + of.count && c.hit < 0; c.edge++) {
        pl_box box = pl_box_around(2, m->surface->edge + 2 * c.edge, scene->q0, scene->q0, 0);
        PL_TRY(pl_boxes_find(&search->triangles[b], &box, cross, &c));
    }
    if (c.hit < 0)
        return PL_OK;
    const int *e = m->surface->edge + 2 * (c.edge - 1);
    const pl_body *body = &scene->bodies[a];
    return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                   "the edge from vertex %d to %d of body \"%s\" starts by passing through %s%s%s: %s",
                   e[0] - body->vertex_offset, e[1] - body->vertex_offset, body->name,
                   a == b ? "the body itself" : "body \"", a == b ? "" : scene->bodies[b].name,
                   a == b ? "" : "\"",
                   a == b ? "unfold it, or set self_contact to false"
                          : "move them apart, or set body_contact to false");
}

static pl_status check_crossings(const pl_model *m, pl_meet_search *search)
{
    const pl_scene *scene = m->scene;
    int bodies = scene->body_count;
    pl_meet_surround(search, m->surface, scene->q0, scene->q0, 0);
    for (int a = 0; a < bodies; a++)
        for (int b = 0; b < bodies; b++) {
            if (!scene->touches[a * bodies + b] ||
                !pl_box_meets(&search->around[a], &search->around[b]))
                continue;
            pl_meet_fit(search, b, scene->q0, scene->q0, 0, false);
            PL_TRY(check_crossing(m, search, a, b));
        }
    return PL_OK;
}

/* ---- Surfaces that are too near ---- */

static pl_status tell_close(const pl_model *m, const pl_meeting *at, const pl_meeting_place *place)
{
    const pl_scene *scene = m->scene;
    const pl_body *mine = &scene->bodies[scene->body_of[at->vertex[0]]];
    const pl_body *other = &scene->bodies[scene->body_of[at->vertex[place->count - 1]]];
    return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                   "vertex %d of body \"%s\" starts %.3g m from %s%s%s, and surfaces are kept %.3g m "
                   "apart: leave that much between them, or lower contact_offset",
                   at->vertex[0] - mine->vertex_offset, mine->name, place->distance,
                   mine == other ? "another part of it" : "body \"", mine == other ? "" : other->name,
                   mine == other ? "" : "\"", place->offset);
}

static pl_status check_distances(const pl_model *m, const pl_meet_rules *rules, pl_meet_search *search)
{
    const pl_scene *scene = m->scene;
    const pl_meeting *worst = NULL;
    double deepest = 0;
    PL_TRY(pl_meet_find(scene->ctx, search, rules, scene->q0, scene->q0, 0));
    for (int k = 0; k < search->count; k++) {
        pl_meeting_place place = pl_meet_place(rules, &search->found[k], scene->q0);
        if (place.offset - place.distance > deepest) {
            deepest = place.offset - place.distance;
            worst = &search->found[k];
        }
    }
    if (!worst)
        return PL_OK;
    pl_meeting_place place = pl_meet_place(rules, worst, scene->q0);
    return tell_close(m, worst, &place);
}

/* ---- A body's own parts, at rest ---- */

#define SHARE 0.25 /* of what parts of a body are apart at rest, or of its edges: an offset at most */

/* Vertices that hang together by one in between are kept apart too: the offset is less than half of
 * every edge. */
static pl_status fit_to_edges(pl_model *m, int b, const double *rest)
{
    const pl_body *body = &m->scene->bodies[b];
    pl_run of = m->surface->of[b].edges;
    double shortest = INFINITY, along[3];
    for (int i = of.first; i < of.first + of.count; i++) {
        const int *e = m->surface->edge + 2 * i;
        pl_sub3(rest + 3 * (size_t)e[1], rest + 3 * (size_t)e[0], along);
        shortest = fmin(shortest, pl_norm3(along));
    }
    if (body->contact_offset == 0)
        m->offset[b] = fmin(m->offset[b], SHARE * shortest);
    else if (2 * m->offset[b] > shortest)
        return pl_fail(
            m->scene->ctx, PL_ERROR_ARGUMENT,
            "contact_offset = %g m of body \"%s\": with self_contact expected at most half of "
            "its shortest edge, %.3g m",
            body->contact_offset, body->name, shortest);
    return PL_OK;
}

/* A body must not push itself where it is at rest: its offset is less than half of what its parts are
 * apart there. */
static pl_status fit_offsets(pl_model *m, const pl_meet_rules *rules, pl_meet_search *search,
                             const double *rest)
{
    const pl_scene *scene = m->scene;
    for (int b = 0; b < scene->body_count; b++)
        if (scene->touches[b * scene->body_count + b])
            PL_TRY(fit_to_edges(m, b, rest));
    PL_TRY(pl_meet_find(scene->ctx, search, rules, rest, rest, 0));
    for (int k = 0; k < search->count; k++) {
        const pl_meeting *at = &search->found[k];
        int b = scene->body_of[at->vertex[0]];
        const pl_body *body = &scene->bodies[b];
        if (scene->body_of[at->vertex[pl_meeting_count(at->kind) - 1]] != b)
            continue;
        double apart = pl_meet_place(rules, at, rest).distance;
        if (body->contact_offset == 0)
            m->offset[b] = fmin(m->offset[b], SHARE * apart);
        else if (2 * m->offset[b] > apart)
            return pl_fail(
                scene->ctx, PL_ERROR_ARGUMENT,
                "contact_offset = %g m: vertex %d of body \"%s\" is %.3g m from another part of "
                "it at rest; with self_contact expected less than half of that",
                body->contact_offset, at->vertex[0] - body->vertex_offset, body->name, apart);
    }
    return PL_OK;
}

pl_status pl_model_fit_offsets(pl_model *m)
{
    pl_status status = PL_OK;
    const pl_scene *scene = m->scene;
    pl_meet_rules rules = pl_model_meet_rules(m);
    pl_meet_search search = {0};
    double *rest = NULL;
    bool any = false;
    for (int b = 0; b < scene->body_count; b++)
        any |= scene->touches[b * scene->body_count + b];
    if (!any)
        return PL_OK;
    PL_NEW(scene->ctx, rest, 3 * scene->vertex_count, done);
    for (int b = 0; b < scene->body_count; b++)
        memcpy(rest + 3 * (size_t)scene->bodies[b].vertex_offset, scene->bodies[b].mesh->vertices,
               sizeof *rest * 3 * (size_t)scene->bodies[b].mesh->vertex_count);
    PL_CHECK(pl_meet_search_create(scene->ctx, &rules, scene->vertex_count, rest, &search), done);
    PL_CHECK(fit_offsets(m, &rules, &search, rest), done);
done:
    pl_meet_search_free(scene->ctx, &search);
    pl_free(scene->ctx, rest);
    return status;
}

pl_meet_rules pl_model_meet_rules(const pl_model *m)
{
    return (pl_meet_rules){.surface = m->surface,
                           .body_count = m->scene->body_count,
                           .body_of = m->scene->body_of,
                           .touches = m->scene->touches,
                           .offset = m->offset};
}

pl_status pl_model_check_start(const pl_model *m)
{
    pl_status status = PL_OK;
    const pl_scene *scene = m->scene;
    pl_meet_rules rules = pl_model_meet_rules(m);
    pl_meet_search search = {0};
    trouble inside = {-1, -1, 0};
    if (!m->surface)
        return PL_OK;
    for (int b = 0; b < scene->body_count; b++)
        PL_TRY(find_inside(m, b, &inside));
    if (inside.vertex >= 0)
        return tell_inside(m, &inside);
    PL_CHECK(pl_meet_search_create(scene->ctx, &rules, scene->vertex_count, scene->q0, &search), done);
    PL_CHECK(check_crossings(m, &search), done);
    PL_CHECK(check_distances(m, &rules, &search), done);
done:
    pl_meet_search_free(scene->ctx, &search);
    return status;
}
