/* What a start must not have where bodies touch each other: surfaces nearer than they are kept apart,
 * and bodies inside each other. */
#include "sim/model.h"

#include "core/vec.h"
#include "mesh/bvh.h"

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
        if (scene->body_of[v] == b || x[0] < lower[0] || x[1] < lower[1] || x[2] < lower[2] ||
            x[0] > upper[0] || x[1] > upper[1] || x[2] > upper[2])
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

static pl_status tell_close(const pl_model *m, const pl_meeting *at, const pl_meeting_place *place)
{
    const pl_scene *scene = m->scene;
    const pl_body *mine = &scene->bodies[scene->body_of[at->vertex[0]]];
    int other = scene->body_of[at->vertex[place->count - 1]];
    return pl_fail(
        scene->ctx, PL_ERROR_ARGUMENT,
        "vertex %d of body \"%s\" starts %.3g m from body \"%s\", and surfaces are kept %.3g m "
        "apart: leave that much between them, or lower body_offset",
        at->vertex[0] - mine->vertex_offset, mine->name, place->distance, scene->bodies[other].name,
        place->offset);
}

pl_status pl_model_check_start(const pl_model *m)
{
    pl_status status = PL_OK;
    const pl_scene *scene = m->scene;
    pl_meet_rules rules = {.surface = m->surface,
                           .body_count = scene->body_count,
                           .body_of = scene->body_of,
                           .offset = m->offset};
    pl_meet_search search = {0};
    trouble inside = {-1, -1, 0};
    const pl_meeting *worst = NULL;
    double deepest = 0;
    for (int b = 0; m->surface && b < scene->body_count; b++)
        PL_TRY(find_inside(m, b, &inside));
    if (inside.vertex >= 0)
        return tell_inside(m, &inside);
    PL_CHECK(pl_meet_search_create(scene->ctx, &rules, scene->q0, &search), done);
    PL_CHECK(pl_meet_find(scene->ctx, &search, &rules, scene->q0, scene->q0, 0), done);
    for (int k = 0; k < search.count; k++) {
        pl_meeting_place place = pl_meet_place(&rules, &search.found[k], scene->q0);
        if (place.offset - place.distance > deepest) {
            deepest = place.offset - place.distance;
            worst = &search.found[k];
        }
    }
    if (worst) {
        pl_meeting_place place = pl_meet_place(&rules, worst, scene->q0);
        status = tell_close(m, worst, &place);
    }
done:
    pl_meet_search_free(scene->ctx, &search);
    return status;
}
