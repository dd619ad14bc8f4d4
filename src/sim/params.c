/* Parameters: values by channel, shared until one of their holders changes them. */
#include "sim/scene.h"

#include <stdio.h>

pl_values *pl_values_hold(pl_values *values)
{
    atomic_fetch_add_explicit(&values->holders, 1, memory_order_relaxed);
    return values;
}

void pl_values_release(pl_context *ctx, pl_values *values)
{
    if (!values || atomic_fetch_sub_explicit(&values->holders, 1, memory_order_acq_rel) > 1)
        return;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        pl_free(ctx, values->of[c]);
    pl_free(ctx, values);
}

pl_status pl_values_create(pl_context *ctx, const pl_scene_def *def, pl_values **out)
{
    pl_status status = PL_OK;
    pl_values *v = NULL;
    PL_NEW(ctx, v, 1, done);
    v->holders = 1;
    v->def = *def;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (pl_channel_get((pl_channel)c)->role == PL_PARAMETER)
            PL_NEW(ctx, v->of[c], 0, done);
    *out = v;
    v = NULL;
done:
    pl_values_release(ctx, v);
    return status;
}

static pl_status copy_values(const pl_scene *scene, const pl_values *from, pl_values **out)
{
    pl_status status = PL_OK;
    pl_values *v = NULL;
    PL_NEW(scene->ctx, v, 1, done);
    v->holders = 1;
    v->def = from->def;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        if (!from->of[c])
            continue;
        size_t count = pl_channel_size(scene, (pl_channel)c, 1);
        PL_NEW(scene->ctx, v->of[c], count, done);
        memcpy(v->of[c], from->of[c], sizeof(double) * count);
    }
    *out = v;
    v = NULL;
done:
    pl_values_release(scene->ctx, v);
    return status;
}

pl_status pl_params_edit(pl_params *params, pl_values **out)
{
    if (params->values->holders > 1) {
        pl_values *own;
        PL_TRY(copy_values(params->scene, params->values, &own));
        pl_values_release(params->scene->ctx, params->values);
        params->values = own;
    }
    *out = params->values;
    return PL_OK;
}

pl_params *pl_scene_params(pl_scene *scene)
{
    return &scene->params;
}

pl_status pl_params_create(pl_scene *scene, pl_params **out)
{
    *out = NULL;
    pl_params *made = pl_alloc(scene->ctx, 1, sizeof *made);
    if (!made)
        return PL_ERROR_MEMORY;
    *made = (pl_params){scene, pl_values_hold(scene->params.values)};
    scene->user_count++;
    *out = made;
    return PL_OK;
}

void pl_params_destroy(pl_params *params)
{
    if (!params)
        return;
    params->scene->user_count--;
    pl_values_release(params->scene->ctx, params->values);
    pl_free(params->scene->ctx, params);
}

pl_status pl_channel_check(pl_context *ctx, pl_channel channel, int count, const double *values)
{
    const pl_channel_info *info = pl_channel_get(channel);
    for (int k = 0; k < count; k++) {
        if (values[k] <= info->upper &&
            (info->above ? values[k] > info->lower : values[k] >= info->lower))
            continue;
        char where[32] = "";
        if (count > 1)
            snprintf(where, sizeof where, " of element %d", k);
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s%s = %g: expected %s %g and <= %g%s%s", info->name,
                       where, values[k], info->above ? ">" : ">=", info->lower, info->upper,
                       *info->unit ? " " : "", info->unit);
    }
    return PL_OK;
}

/* The owner's rows of a parameter, or an error. */
static pl_status locate(const pl_params *params, pl_channel channel, int owner, int *first, int *count)
{
    PL_TRY(pl_scene_rows(params->scene, channel, owner, first, count));
    if (pl_channel_get(channel)->role != PL_PARAMETER)
        return pl_fail(params->scene->ctx, PL_ERROR_ARGUMENT, "channel: %s is not a parameter",
                       pl_channel_get(channel)->name);
    return PL_OK;
}

pl_status pl_params_set(pl_params *params, pl_channel channel, int owner, int count,
                        const double *values)
{
    pl_context *ctx = params->scene->ctx;
    pl_values *own;
    int first, have;
    PL_TRY(locate(params, channel, owner, &first, &have));
    if (count != 1 && count != have)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "count = %d: expected 1 or %d", count, have);
    PL_TRY(pl_channel_check(ctx, channel, count, values));
    PL_TRY(pl_params_edit(params, &own));
    for (int k = 0; k < have; k++)
        own->of[channel][first + k] = values[count == 1 ? 0 : k];
    return PL_OK;
}

pl_status pl_params_get(const pl_params *params, pl_channel channel, int owner, int count,
                        double *values)
{
    int first, have;
    PL_TRY(locate(params, channel, owner, &first, &have));
    if (count != have)
        return pl_fail(params->scene->ctx, PL_ERROR_ARGUMENT, "count = %d: expected %d", count, have);
    memcpy(values, params->values->of[channel] + first, sizeof(double) * (size_t)have);
    return PL_OK;
}
