/*
 * Starts brought out of what they are in: bodies are shifted as wholes, so that no strain and no
 * velocity changes. In every pass each pair is taken at its deepest place and moved apart there, a body
 * from an obstacle alone, two bodies by half of it each.
 */
#include "sim/overlap.h"

#include "core/vec.h"

#define PASSES 400
#define ROOM   1e-6 /* m that are left in between */

typedef struct shifts {
    int bodies, others;  /* pairs are [bodies, others]: with bodies, then with colliders */
    pl_overlap *deepest; /* [bodies, others]; depth 0: none */
    pl_overlap worst;
    int count;
} shifts;

static pl_status note(void *user, const pl_overlap *o)
{
    shifts *s = user;
    bool swap = o->other >= 0 && o->other < o->body;
    int row = swap ? o->other : o->body;
    int column = o->other < 0 ? s->bodies + o->collider : swap ? o->body : o->other;
    pl_overlap *known = &s->deepest[row * s->others + column];
    bool alike = o->other < 0 || o->kind == known->kind;
    if (known->depth == 0 || (alike && o->depth > known->depth))
        *known = *o;
    if (s->count == 0 || (o->kind == s->worst.kind && o->depth > s->worst.depth))
        s->worst = *o;
    s->count++;
    return PL_OK;
}

static void shift(pl_scene *scene, int body, double by, const double along[3])
{
    const pl_body *b = &scene->bodies[body];
    for (int v = b->vertex_offset; v < b->vertex_offset + b->mesh->vertex_count; v++)
        pl_axpy3(by, along, scene->q0 + 3 * (size_t)v);
}

static pl_status pass(const pl_model *m, shifts *s)
{
    pl_scene *scene = m->scene;
    s->count = 0;
    memset(s->deepest, 0, sizeof *s->deepest * (size_t)(s->bodies * s->others));
    PL_TRY(pl_overlaps_find(m, note, s));
    for (int i = 0; i < s->bodies * s->others; i++) {
        const pl_overlap *o = &s->deepest[i];
        double by = o->depth + ROOM;
        if (o->depth == 0)
            continue;
        if (o->other == o->body)
            return pl_overlap_tell(m, o, 1, NULL);
        shift(scene, o->body, o->other < 0 ? by : by / 2, o->out);
        if (o->other >= 0)
            shift(scene, o->other, -by / 2, o->out);
    }
    return PL_OK;
}

static pl_status bring_out(const pl_model *m, shifts *s)
{
    for (int k = 0; k < PASSES; k++) {
        PL_TRY(pass(m, s));
        if (s->count == 0)
            return PL_OK;
    }
    return pl_overlap_tell(m, &s->worst, s->count,
                           "bring_out found no way out for the bodies as wholes, move them apart");
}

static pl_status check_open(pl_scene *scene)
{
    PL_TRY(pl_scene_must_be_open(scene));
    PL_TRY(pl_scene_must_have_bodies(scene));
    if (scene->parts[PL_OWNER_ATTACHMENT].count > 0 || scene->parts[PL_OWNER_CABLE].count > 0)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                       "bring_out: expected before attachments and cables are added, which take their "
                       "lengths from where bodies are");
    return PL_OK;
}

pl_status pl_scene_bring_out(pl_scene *scene, double *farthest)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    size_t size = 3 * (size_t)scene->vertex_count;
    double *before = NULL, most = 0;
    pl_model *m = NULL;
    shifts s = {.bodies = scene->body_count, .others = scene->body_count + scene->collider_count};
    PL_TRY(check_open(scene));
    PL_NEW(ctx, before, size, done);
    PL_NEW(ctx, s.deepest, s.bodies * s.others, done);
    memcpy(before, scene->q0, sizeof *before * size);
    PL_CHECK(pl_model_take(scene, &m), done);
    status = bring_out(m, &s);
    for (int b = 0; b < scene->body_count; b++) {
        size_t first = 3 * (size_t)scene->bodies[b].vertex_offset;
        double moved[3];
        pl_sub3(scene->q0 + first, before + first, moved);
        most = fmax(most, pl_norm3(moved));
    }
    if (status != PL_OK)
        memcpy(scene->q0, before, sizeof *before * size);
    else if (farthest)
        *farthest = most;
done:
    pl_model_drop(m);
    pl_free(ctx, s.deepest);
    pl_free(ctx, before);
    return status;
}
