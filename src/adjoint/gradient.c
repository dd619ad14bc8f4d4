/* Room for the derivatives that are asked for. */
#include "sim/scene.h"

size_t pl_gradient_size(const pl_scene *scene, pl_channel channel, int steps)
{
    return pl_channel_size(scene, channel, steps) * (size_t)pl_channel_get(channel)->gradient_width;
}

pl_status pl_gradient_create(const pl_scene *scene, int steps, pl_channels wanted, pl_gradient **out)
{
    pl_context *ctx = pl_scene_context(scene);
    pl_status status = PL_OK;
    *out = NULL;
    if (steps < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "steps = %d: expected >= 0", steps);
    pl_gradient *g = pl_alloc(ctx, 1, sizeof *g);
    if (!g)
        return PL_ERROR_MEMORY;
    *g = (pl_gradient){.wanted = wanted, .steps = steps};
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (wanted & PL_BIT(c))
            PL_NEW(ctx, g->of[c], pl_gradient_size(scene, (pl_channel)c, steps), done);
    *out = g;
    g = NULL;
done:
    pl_gradient_destroy(scene, g);
    return status;
}

void pl_gradient_clear(const pl_scene *scene, pl_gradient *g)
{
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (g->of[c])
            memset(g->of[c], 0, sizeof(double) * pl_gradient_size(scene, (pl_channel)c, g->steps));
}

void pl_gradient_destroy(const pl_scene *scene, pl_gradient *g)
{
    if (!g)
        return;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        pl_free(pl_scene_context(scene), g->of[c]);
    pl_free(pl_scene_context(scene), g);
}
