/* Scenes: creating, destroying, asking. */
#include "sim/scene.h"

#include "core/vec.h"
#include "terms/mean_volume.h"
#include "terms/term.h"

pl_scene_def pl_scene_def_default(void)
{
    return (pl_scene_def){
        .time_step = 0.01,
        .gravity = {0, 0, -9.81},
        .tolerance = 1e-10,
        .max_iterations = 100,
        .max_splits = 6,
        .contact_epsilon2 = 0.5e-12,
        .body_contact = true,
        .solver = PL_SOLVER_AUTO,
    };
}

static pl_status check_def(pl_context *ctx, const pl_scene_def *d)
{
    if (!(d->time_step > 0) || !isfinite(d->time_step))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "time_step = %g: expected > 0 s", d->time_step);
    if (!isfinite(d->gravity[0]) || !isfinite(d->gravity[1]) || !isfinite(d->gravity[2]))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "gravity is not finite");
    if (!(d->tolerance > 0) || !(d->tolerance < 1))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "tolerance = %g: expected in (0, 1) m", d->tolerance);
    if (d->max_iterations < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "max_iterations = %d: expected >= 1", d->max_iterations);
    if (d->max_splits < 0 || d->max_splits > 20)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "max_splits = %d: expected 0 to 20", d->max_splits);
    if (!(d->contact_epsilon2 >= 1e-18) || !(d->contact_epsilon2 <= 1))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "contact_epsilon2 = %g: expected 1e-18 to 1 N m",
                       d->contact_epsilon2);
    if (!(d->contact_margin >= 0) || !isfinite(d->contact_margin))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "contact_margin = %g: expected >= 0 m",
                       d->contact_margin);
    PL_TRY(pl_channel_check(ctx, PL_BODY_FRICTION, 1, &d->body_friction));
    if ((int)d->solver < 0 || d->solver > PL_SOLVER_CONSTANT)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "solver = %d: no such solver", (int)d->solver);
    if ((int)d->integrator < 0 || d->integrator > PL_TR_BDF2)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "integrator = %d: no such integrator",
                       (int)d->integrator);
    return PL_OK;
}

pl_status pl_scene_create(pl_context *ctx, const pl_scene_def *def, pl_scene **out)
{
    *out = NULL;
    pl_scene_def d = def ? *def : pl_scene_def_default();
    PL_TRY(check_def(ctx, &d));
    pl_scene *scene = pl_alloc(ctx, 1, sizeof *scene);
    if (!scene)
        return PL_ERROR_MEMORY;
    scene->ctx = ctx;
    scene->params.scene = scene;
    if (d.device && !(d.device = scene->device = pl_strdup(ctx, d.device))) {
        pl_free(ctx, scene);
        return PL_ERROR_MEMORY;
    }
    pl_status status = pl_values_create(ctx, &d, &scene->params.values);
    if (status != PL_OK) {
        pl_free(ctx, scene->device);
        pl_free(ctx, scene);
    } else {
        *out = scene;
    }
    return status;
}

void pl_scene_destroy(pl_scene *scene)
{
    if (!scene)
        return;
    pl_context *ctx = scene->ctx;
    for (int b = 0; b < scene->body_count; b++) {
        pl_free(ctx, scene->bodies[b].name);
        pl_mesh_free(ctx, scene->bodies[b].mesh);
        pl_mean_volume_free(ctx, &scene->bodies[b]);
    }
    for (int p = 0; p < scene->pin_count; p++) {
        pl_curve_free(ctx, &scene->pins[p].offset);
        pl_curve_free(ctx, &scene->pins[p].rotation);
    }
    for (int f = 0; f < scene->force_count; f++) {
        pl_free(ctx, scene->forces[f].vertex);
        pl_curve_free(ctx, &scene->forces[f].value);
    }
    for (int w = 0; w < scene->wind_count; w++) {
        pl_free(ctx, scene->winds[w].triangle);
        pl_curve_free(ctx, &scene->winds[w].velocity);
    }
    for (int c = 0; c < scene->collider_count; c++) {
        pl_free(ctx, scene->colliders[c].name);
        pl_collider_destroy(ctx, scene->colliders[c].shape);
        pl_curve_free(ctx, &scene->colliders[c].pose);
    }
    pl_terms_release(scene);
    pl_free(ctx, scene->device);
    for (int o = 0; o < PL_OWNER_COUNT; o++) {
        for (int i = 0; i < scene->parts[o].count; i++)
            pl_free(ctx, scene->parts[o].names[i]);
        pl_free(ctx, scene->parts[o].names);
        pl_free(ctx, scene->parts[o].items);
    }
    pl_free(ctx, scene->touches);
    pl_values_release(ctx, scene->params.values);
    void *arrays[] = {scene->bodies, scene->q0,         scene->v0,     scene->body_of, scene->volume,
                      scene->pins,   scene->pin_vertex, scene->forces, scene->winds,   scene->colliders,
                      scene};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
}

const pl_body *pl_scene_body_with(const pl_scene *scene, int element)
{
    const pl_body *body = scene->bodies;
    while (element >= body->element_offset + body->element_count)
        body++;
    return body;
}

pl_status pl_scene_must_be_open(pl_scene *scene)
{
    if (scene->user_count > 0)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                       "a scene cannot get new parts while a sim or parameters made from it exist");
    scene->start_checked = false;
    return PL_OK;
}

pl_status pl_scene_must_have_bodies(const pl_scene *scene)
{
    if (scene->body_count == 0)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "bodies: the scene has none");
    return PL_OK;
}

const pl_body *pl_scene_element(const pl_scene *scene, int element, int vertex[4])
{
    const pl_body *b = scene->bodies;
    while (element >= b->element_offset + b->element_count)
        b++;
    int width = b->cloth ? 3 : 4;
    const int *local = b->elements + (size_t)(element - b->element_offset) * (size_t)width;
    vertex[3] = -1;
    for (int k = 0; k < width; k++)
        vertex[k] = b->vertex_offset + local[k];
    return b;
}

pl_scene_def pl_scene_get_def(const pl_scene *scene)
{
    return scene->params.values->def;
}

pl_context *pl_scene_context(const pl_scene *scene)
{
    return scene->ctx;
}

static double body_mass(const pl_scene *scene, const pl_body *b)
{
    double mass = 0;
    for (int e = b->element_offset; e < b->element_offset + b->element_count; e++)
        mass += scene->params.values->of[PL_DENSITY][e] * scene->volume[e];
    return mass;
}

pl_scene_info pl_scene_get_info(const pl_scene *scene)
{
    pl_scene_info info = {
        .body_count = scene->body_count,
        .vertex_count = scene->vertex_count,
        .element_count = scene->element_count,
        .pin_count = scene->pin_count,
        .pin_vertex_count = scene->pin_vertex_count,
        .force_count = scene->force_count,
        .wind_count = scene->wind_count,
        .collider_count = scene->collider_count,
    };
    for (int b = 0; b < scene->body_count; b++)
        info.mass += body_mass(scene, &scene->bodies[b]);
    return info;
}

pl_status pl_scene_body(const pl_scene *scene, int body, pl_body_info *info)
{
    if (body < 0 || body >= scene->body_count)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "body = %d: the scene has %d bodies", body,
                       scene->body_count);
    const pl_body *b = &scene->bodies[body];
    *info = (pl_body_info){
        .name = b->name,
        .mesh = b->mesh,
        .vertex_offset = b->vertex_offset,
        .vertex_count = b->mesh->vertex_count,
        .element_offset = b->element_offset,
        .element_count = b->element_count,
        .cloth = b->cloth,
        .mass = body_mass(scene, b),
    };
    return PL_OK;
}
