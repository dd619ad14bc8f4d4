/* Overlaps of a start as a whole, and how they are told. */
#include "sim/overlap.h"

#include <stdio.h>

#define BRING_OUT "set bring_out (in Python call scene.bring_out())"
#define HARMLESS                                                                                       \
    1e-3 /* m/s: pushed out of an obstacle no faster than this, a vertex counts as outside */

void pl_overlap_search_free(pl_overlap_search *s)
{
    pl_context *ctx = s->m->scene->ctx;
    pl_meet_search_free(ctx, &s->meet);
    pl_free(ctx, s->pose);
    pl_free(ctx, s->touches);
    pl_free(ctx, s->obstructs);
}

pl_status pl_overlap_search_create(const pl_model *m, pl_overlap_search *out)
{
    const pl_scene *scene = m->scene;
    pl_status status = PL_OK;
    pl_meet_rules rules = pl_model_meet_rules(m);
    *out = (pl_overlap_search){.m = m, .harmless = HARMLESS * pl_scene_get_def(scene).time_step};
    PL_NEW(scene->ctx, out->pose, 7 * scene->collider_count, done);
    PL_NEW(scene->ctx, out->touches, scene->body_count * scene->body_count, done);
    PL_NEW(scene->ctx, out->obstructs, scene->body_count * scene->collider_count, done);
    for (int c = 0; c < scene->collider_count; c++)
        pl_curve_pose_at(&scene->colliders[c].pose, 0, out->pose + 7 * c);
    pl_overlap_search_all(out);
    PL_CHECK(pl_meet_search_create(scene->ctx, &rules, scene->vertex_count, scene->q0, &out->meet),
             done);
done:
    if (status != PL_OK) {
        pl_overlap_search_free(out);
        *out = (pl_overlap_search){0};
    }
    return status;
}

static void look_at(pl_overlap_search *s, bool all)
{
    const pl_scene *scene = s->m->scene;
    for (int i = 0; i < scene->body_count * scene->body_count; i++)
        s->touches[i] = all && scene->touches[i];
    for (int i = 0; i < scene->body_count * scene->collider_count; i++)
        s->obstructs[i] = all;
}

void pl_overlap_search_all(pl_overlap_search *s)
{
    look_at(s, true);
}

void pl_overlap_search_pair(pl_overlap_search *s, int body, int other, int collider)
{
    const pl_scene *scene = s->m->scene;
    look_at(s, false);
    if (other < 0)
        s->obstructs[body * scene->collider_count + collider] = true;
    else
        s->touches[body * scene->body_count + other] = s->touches[other * scene->body_count + body] =
            scene->touches[body * scene->body_count + other];
}

pl_status pl_overlaps_look(pl_overlap_search *s, pl_overlap_fn visit, void *user)
{
    s->visit = visit, s->user = user;
    PL_TRY(pl_overlaps_with_colliders(s));
    return pl_overlaps_between_bodies(s);
}

pl_status pl_overlaps_find(const pl_model *m, pl_overlap_fn visit, void *user)
{
    pl_overlap_search s;
    PL_TRY(pl_overlap_search_create(m, &s));
    pl_status status = pl_overlaps_look(&s, visit, user);
    pl_overlap_search_free(&s);
    return status;
}

/* "vertex 3 of body "a"" or "the edge from vertex 3 to 4 of body "a"". */
static void name_piece(const pl_scene *scene, const pl_overlap *o, char *out, size_t size)
{
    const pl_body *body = &scene->bodies[o->body];
    int first = o->vertex[0] - body->vertex_offset, second = o->vertex[1] - body->vertex_offset;
    if (o->kind == PL_OVERLAP_EDGE || o->kind == PL_OVERLAP_THROUGH)
        snprintf(out, size, "the edge from vertex %d to %d of body \"%s\"", first, second, body->name);
    else
        snprintf(out, size, "vertex %d of body \"%s\"", first, body->name);
}

/* What it is in, in words of a message. */
static void name_other(const pl_scene *scene, const pl_overlap *o, char *out, size_t size)
{
    if (o->other < 0)
        snprintf(out, size, "\"%s\"", scene->colliders[o->collider].name);
    else if (o->other != o->body)
        snprintf(out, size, "body \"%s\"", scene->bodies[o->other].name);
    else
        snprintf(out, size, o->kind == PL_OVERLAP_CLOSE ? "another part of it" : "the body itself");
}

pl_status pl_overlap_tell(const pl_model *m, const pl_overlap *o, int count, const char *trouble)
{
    pl_context *ctx = m->scene->ctx;
    char piece[256], other[128], most[48] = "", apart[96] = "";
    const char *remedy = o->other < 0          ? "move them apart, or " BRING_OUT
                         : o->other == o->body ? "unfold it, or set self_contact to false"
                                               : "move them apart, " BRING_OUT
                                                 ", or set body_contact to false";
    name_piece(m->scene, o, piece, sizeof piece);
    name_other(m->scene, o, other, sizeof other);
    if (count > 1)
        snprintf(most, sizeof most, ", the deepest of %d,", count);
    if (o->kind == PL_OVERLAP_CLOSE) {
        snprintf(apart, sizeof apart, ", and surfaces are kept %.3g m apart", o->apart);
        remedy = o->other == o->body
                     ? "leave that much between them, or lower contact_offset"
                     : "leave that much between them, lower contact_offset, or " BRING_OUT;
    }
    if (trouble)
        remedy = trouble;
    switch (o->kind) {
    case PL_OVERLAP_COLLIDER:
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "collider %s starts %.3g m inside body \"%s\", between its vertices, next to "
                       "vertex %d: %s",
                       other, o->depth, m->scene->bodies[o->body].name,
                       o->vertex[0] - m->scene->bodies[o->body].vertex_offset, remedy);
    case PL_OVERLAP_EDGE:
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s%s starts %.3g m inside %s, between its vertices: %s",
                       piece, most, o->depth, other, remedy);
    case PL_OVERLAP_THROUGH:
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s starts by passing through %s by %.3g m: %s", piece,
                       other, o->depth, remedy);
    case PL_OVERLAP_CLOSE:
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s starts %.3g m from %s%s: %s", piece,
                       o->apart - o->depth, other, apart, remedy);
    default:
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s%s starts %.3g m inside %s: %s", piece, most,
                       o->depth, other, remedy);
    }
}

/* The deepest of the first kind that there is. */
typedef struct worst {
    pl_overlap at;
    int count;
} worst;

static pl_status keep_worst(void *user, const pl_overlap *o)
{
    worst *w = user;
    if (w->count > 0 && o->kind != w->at.kind)
        return PL_OK;
    if (w->count++ == 0 || o->depth > w->at.depth)
        w->at = *o;
    return PL_OK;
}

pl_status pl_model_check_start(const pl_model *m)
{
    worst w = {.count = 0};
    PL_TRY(pl_overlaps_find(m, keep_worst, &w));
    return w.count > 0 ? pl_overlap_tell(m, &w.at, w.count, NULL) : PL_OK;
}
