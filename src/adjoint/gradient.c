/* Gradients as plain arrays. */
#include "core/core.h"

pl_status pl_gradient_create(const pl_scene *scene, int steps, unsigned wanted, pl_gradient **out)
{
    pl_context *ctx = pl_scene_context(scene);
    pl_scene_info s = pl_scene_get_info(scene);
    pl_status status = PL_OK;
    *out = NULL;
    if (steps < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "steps = %d: expected >= 0", steps);
    pl_gradient *g = pl_alloc(ctx, 1, sizeof *g);
    if (!g)
        return PL_ERROR_MEMORY;
    g->wanted = wanted;
    g->steps = steps;
    size_t n = (size_t)s.vertex_count, t = (size_t)steps, e = (size_t)s.element_count;
    const struct {
        unsigned flag;
        double **array;
        size_t count;
    } fields[] = {
        {PL_GRAD_POSITION, &g->position, 3 * n},
        {PL_GRAD_VELOCITY, &g->velocity, 3 * n},
        {PL_GRAD_VERTEX_FORCE, &g->vertex_force, 3 * n * t},
        {PL_GRAD_FORCE, &g->force, 3 * (size_t)s.force_count * t},
        {PL_GRAD_WIND, &g->wind, 3 * (size_t)s.wind_count * t},
        {PL_GRAD_PIN_TARGET, &g->pin_target, 3 * (size_t)s.pin_vertex_count * t},
        {PL_GRAD_COLLIDER_POSE, &g->collider_pose, 6 * (size_t)s.collider_count * t},
        {PL_GRAD_YOUNG, &g->young, e},
        {PL_GRAD_POISSON, &g->poisson, e},
        {PL_GRAD_DENSITY, &g->density, e},
        {PL_GRAD_BENDING, &g->bending, e},
        {PL_GRAD_DAMPING, &g->damping, e},
        {PL_GRAD_FRICTION, &g->friction, (size_t)s.collider_count * (size_t)s.body_count},
        {PL_GRAD_COMPLIANCE, &g->compliance, (size_t)s.pin_count},
    };
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        if (wanted & fields[k].flag)
            PL_NEW(ctx, *fields[k].array, fields[k].count, done);
    *out = g;
    g = NULL;
done:
    pl_gradient_destroy(scene, g);
    return status;
}

void pl_gradient_destroy(const pl_scene *scene, pl_gradient *g)
{
    if (!g)
        return;
    pl_context *ctx = pl_scene_context(scene);
    void *arrays[] = {g->position,   g->velocity,      g->vertex_force, g->force,      g->wind,
                      g->pin_target, g->collider_pose, g->young,        g->poisson,    g->density,
                      g->bending,    g->damping,       g->friction,     g->compliance, g};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
}
