/* Creating a batch, and the numbers of its environments. */
#include "batch/batch.h"

pl_batch_def pl_batch_def_default(void)
{
    return (pl_batch_def){.environments = 1};
}

static pl_status check_def(const pl_scene *scene, const pl_batch_def *d)
{
    if (d->environments < 1)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "environments = %d: expected >= 1",
                       d->environments);
    if (d->workers < 0 || d->workers > 1024)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "workers = %d: expected 0 to 1024", d->workers);
    return pl_scene_must_have_bodies(scene);
}

pl_status pl_batch_create(pl_scene *scene, const pl_batch_def *def, pl_batch **out)
{
    pl_status status = PL_OK;
    pl_context *ctx = scene->ctx;
    pl_batch_def d = def ? *def : pl_batch_def_default();
    *out = NULL;
    PL_TRY(check_def(scene, &d));
    pl_batch *b = pl_alloc(ctx, 1, sizeof *b);
    if (!b)
        return PL_ERROR_MEMORY;
    b->ctx = ctx;
    b->scene = scene;
    b->environment_count = d.environments;
    b->worker_count = pl_smaller(d.workers > 0 ? d.workers : ctx->threads, d.environments);
    scene->user_count++;
    PL_CHECK(pl_model_take(scene, &b->model), done);
    PL_CHECK(pl_scene_check_start(b->model), done);
    PL_CHECK(pl_pool_create(b), done);
    PL_NEW(ctx, b->environments, b->environment_count, done);
    for (int e = 0; e < b->environment_count; e++) {
        PL_CHECK(pl_params_create(scene, &b->environments[e].params), done);
        PL_CHECK(pl_state_create(scene, &b->environments[e].state), done);
    }
    *out = b;
    b = NULL;
done:
    pl_batch_destroy(b);
    return status;
}

void pl_batch_destroy(pl_batch *b)
{
    if (!b)
        return;
    for (int e = 0; b->environments && e < b->environment_count; e++) {
        pl_params_destroy(b->environments[e].params);
        pl_state_destroy(b->scene, b->environments[e].state);
    }
    pl_free(b->ctx, b->environments);
    pl_pool_free(b);
    pl_model_drop(b->model);
    b->scene->user_count--;
    pl_free(b->ctx, b);
}

int pl_batch_environments(const pl_batch *b)
{
    return b->environment_count;
}

int pl_batch_workers(const pl_batch *b)
{
    return b->worker_count;
}

static bool has(const pl_batch *b, int environment)
{
    return environment >= 0 && environment < b->environment_count;
}

pl_params *pl_batch_params(pl_batch *b, int environment)
{
    return has(b, environment) ? b->environments[environment].params : NULL;
}

pl_state *pl_batch_state(pl_batch *b, int environment)
{
    return has(b, environment) ? b->environments[environment].state : NULL;
}

pl_status pl_batch_status(const pl_batch *b, int environment, const char **message)
{
    if (!has(b, environment))
        return pl_fail(b->ctx, PL_ERROR_ARGUMENT, "environment = %d: the batch has %d", environment,
                       b->environment_count);
    if (message)
        *message = b->environments[environment].message;
    return b->environments[environment].status;
}

pl_status pl_batch_reset(pl_batch *b, int environment)
{
    pl_state *start;
    pl_status status = PL_OK;
    if (environment != -1 && !has(b, environment))
        return pl_fail(b->ctx, PL_ERROR_ARGUMENT, "environment = %d: the batch has %d", environment,
                       b->environment_count);
    PL_TRY(pl_state_create(b->scene, &start));
    for (int e = 0; e < b->environment_count; e++) {
        pl_environment *env = &b->environments[e];
        if (environment != -1 && e != environment)
            continue;
        PL_CHECK(pl_state_copy(b->scene, start, env->state), done);
        pl_values_release(b->ctx, env->params->values);
        env->params->values = pl_values_hold(b->scene->params.values);
    }
done:
    pl_state_destroy(b->scene, start);
    return status;
}

/* ------------------------------------------------------------------------------- values */

static pl_status check_start(const pl_batch *b, pl_channel channel, size_t count, const double *values)
{
    for (size_t k = 0; k < count; k++)
        if (!isfinite(values[k]))
            return pl_fail(b->ctx, PL_ERROR_ARGUMENT, "%s of vertex %zu is not finite",
                           pl_channel_get(channel)->name, k / 3);
    return PL_OK;
}

static pl_status set_one(pl_environment *env, pl_channel channel, size_t count, const double *values)
{
    pl_values *own;
    if (pl_channel_get(channel)->role == PL_PARAMETER) {
        PL_TRY(pl_params_edit(env->params, &own));
        memcpy(own->of[channel], values, sizeof *values * count);
        return PL_OK;
    }
    memcpy(channel == PL_POSITION ? env->state->q : env->state->v, values, sizeof *values * count);
    env->state->before_length = 0;
    return PL_OK;
}

pl_status pl_batch_set(pl_batch *b, pl_channel channel, int environments, const double *values)
{
    const pl_channel_info *info = pl_channel_get(channel);
    if (!info || info->role == PL_INPUT)
        return pl_fail(b->ctx, PL_ERROR_ARGUMENT, "channel: %s is neither a parameter nor the start's",
                       info ? info->name : "there is no such one, which");
    if (environments != 1 && environments != b->environment_count)
        return pl_fail(b->ctx, PL_ERROR_ARGUMENT,
                       "%s: values for %d environments, expected 1 or the batch's %d", info->name,
                       environments, b->environment_count);
    size_t count = pl_channel_size(b->scene, channel, 1) * (size_t)info->width;
    for (int e = 0; e < environments; e++) {
        const double *own = values + (size_t)e * count;
        pl_status status = info->role == PL_PARAMETER
                               ? pl_channel_check(b->ctx, channel, (int)count, own)
                               : check_start(b, channel, count, own);
        if (status != PL_OK)
            return pl_fail_within(b->ctx, status, "environment %d", e);
    }
    for (int e = 0; e < b->environment_count; e++)
        PL_TRY(set_one(&b->environments[e], channel, count,
                       values + (environments == 1 ? 0 : (size_t)e * count)));
    return PL_OK;
}
