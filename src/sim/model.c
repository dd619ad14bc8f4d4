/* Making what all sims of a scene share. */
#include "sim/model.h"

#include "terms/term.h"

static void destroy(pl_model *m)
{
    pl_surface_destroy(m->scene->ctx, m->skin);
    pl_free(m->scene->ctx, m->offset);
    pl_free(m->scene->ctx, m->part_of);
    pl_chol_plans_destroy(m->plans);
    pl_elements_destroy(m->elements);
    pl_free(m->scene->ctx, m);
}

static pl_status create_elements(pl_model *m)
{
    const pl_scene *scene = m->scene;
    pl_status status = PL_OK;
    pl_elastic_body *bodies = NULL;
    pl_stencils extra[PL_TERMS_MAX];
    int *lists[PL_TERMS_MAX] = {0}, count = 0;
    PL_NEW(scene->ctx, bodies, scene->body_count, done);
    for (int b = 0; b < scene->body_count; b++) {
        const pl_body *body = &scene->bodies[b];
        bodies[b] = (pl_elastic_body){
            .vertex_offset = body->vertex_offset,
            .vertex_count = body->mesh->vertex_count,
            .rest = body->mesh->vertices,
            .cloth = body->cloth,
            .element_count = body->element_count,
            .elements = body->elements,
            .model = body->model,
            .reading = body->reading,
            .thickness = body->thickness,
            .mean_volume = body->mean_volume,
        };
    }
    PL_CHECK(pl_terms_stencils(scene, &count, extra, lists), done);
    PL_CHECK(pl_elements_create(scene->ctx, scene->vertex_count, scene->body_count, bodies, count,
                                extra, &m->elements),
             done);
    m->pattern = pl_elements_pattern(m->elements);
done:
    for (int k = 0; k < count; k++)
        pl_free(scene->ctx, lists[k]);
    pl_free(scene->ctx, bodies);
    return status;
}

#define OFFSET 0.01 /* of a body's edges */

static pl_status create_surface(pl_model *m)
{
    const pl_scene *scene = m->scene;
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    pl_surface_part *parts = NULL;
    int **triangles = NULL;
    bool meets = false, brushes = false;
    for (int i = 0; i < scene->body_count * scene->body_count; i++)
        meets |= scene->touches[i];
    for (int c = 0; c < scene->collider_count; c++)
        brushes |= pl_collider_ridges(scene->colliders[c].shape)->count > 0;
    if (!meets && !brushes)
        return PL_OK;
    PL_NEW(ctx, parts, scene->body_count, done);
    PL_NEW(ctx, triangles, scene->body_count, done);
    PL_NEW(ctx, m->offset, scene->body_count, done);
    for (int b = 0; b < scene->body_count; b++) {
        const pl_body *body = &scene->bodies[b];
        parts[b] = (pl_surface_part){
            .vertex_offset = body->vertex_offset, .sheet = body->cloth, .rest = body->mesh->vertices};
        status = pl_mesh_surface(ctx, body->mesh, &parts[b].triangle_count, &triangles[b]);
        if (status == PL_ERROR_MESH)
            pl_fail_within(ctx, status, "body \"%s\"", body->name);
        if (status != PL_OK)
            goto done;
        parts[b].triangles = triangles[b];
    }
    PL_CHECK(pl_surface_create(ctx, scene->vertex_count, scene->body_count, parts, &m->skin), done);
    m->surface = meets ? m->skin : NULL;
    for (int b = 0; b < scene->body_count; b++)
        m->offset[b] = scene->bodies[b].contact_offset > 0 ? scene->bodies[b].contact_offset
                                                           : OFFSET * m->skin->of[b].edge_length;
done:
    for (int b = 0; triangles && b < scene->body_count; b++)
        pl_free(ctx, triangles[b]);
    pl_free(ctx, triangles);
    pl_free(ctx, parts);
    return status;
}

pl_status pl_model_take(pl_scene *scene, pl_model **out)
{
    pl_status status = PL_OK;
    pl_model *m = scene->model;
    if (!m) {
        PL_NEW(scene->ctx, m, 1, done);
        m->scene = scene;
        PL_CHECK(create_elements(m), done);
        PL_NEW(scene->ctx, m->part_of, scene->vertex_count, done);
        pl_pattern_parts(m->pattern, m->part_of);
        PL_CHECK(create_surface(m), done);
        PL_CHECK(pl_model_fit_offsets(m), done);
        PL_CHECK(pl_chol_plans_create(scene->ctx, m->pattern, &m->plans), done);
        scene->model = m;
    }
    m->users++;
    *out = m;
    m = NULL;
done:
    if (m)
        destroy(m);
    return status;
}

void pl_model_drop(pl_model *m)
{
    if (!m || --m->users > 0)
        return;
    m->scene->model = NULL;
    destroy(m);
}
