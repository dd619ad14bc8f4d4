/* What drives a step: every input, from the scene's tables or from the caller. */
#include "sim/sim.h"

#include "terms/term.h"

pl_status pl_drive_create(const pl_scene *scene, pl_drive *d)
{
    pl_status status = PL_OK;
    *d = (pl_drive){0};
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        const pl_channel_info *info = pl_channel_get((pl_channel)c);
        if (info->role == PL_INPUT)
            PL_NEW(scene->ctx, d->of[c], pl_channel_size(scene, (pl_channel)c, 1) * (size_t)info->width,
                   done);
    }
done:
    return status;
}

void pl_drive_free(pl_context *ctx, pl_drive *d)
{
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        pl_free(ctx, d->of[c]);
    *d = (pl_drive){0};
}

/* The scene's own values. */
static void scene_values(const pl_scene *scene, double time, pl_drive *d)
{
    memset(d->of[PL_VERTEX_FORCE], 0, sizeof(double) * 3 * (size_t)scene->vertex_count);
    for (int f = 0; f < scene->force_count; f++)
        pl_curve_at(&scene->forces[f].value, time, d->of[PL_FORCE] + 3 * f);
    for (int w = 0; w < scene->wind_count; w++)
        pl_curve_at(&scene->winds[w].velocity, time, d->of[PL_WIND] + 3 * w);
    for (int c = 0; c < scene->collider_count; c++)
        pl_curve_pose_at(&scene->colliders[c].pose, time, d->of[PL_COLLIDER_POSE] + 7 * c);
    pl_pin_targets(scene, time, d->of[PL_PIN_TARGET]);
    pl_terms_inputs(scene, time, d->of);
}

static pl_status normalise_pose(pl_context *ctx, int collider, double *r)
{
    double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    if (!(fabs(norm - 1) < 1e-6))
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "inputs.collider_pose[%d]: the quaternion has length %g, expected 1", collider,
                       norm);
    for (int k = 0; k < 4; k++)
        r[k] /= norm;
    return PL_OK;
}

static pl_status check_range(const pl_scene *scene, pl_channel channel, int row, double time,
                             double value)
{
    double lower, upper;
    pl_terms_range(scene, channel, row, &lower, &upper);
    return value >= lower && value < upper
               ? PL_OK
               : pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                         "inputs.%s[%d] = %g: expected >= %g and < %g, for the step to %g s",
                         pl_channel_get(channel)->name, row, value, lower, upper, time);
}

/* What the caller gives of one channel, instead, for the step that ends at a time. */
static pl_status override(const pl_scene *scene, pl_channel channel, double time, const double *from,
                          double *to)
{
    const pl_channel_info *info = pl_channel_get(channel);
    if (info->role != PL_INPUT)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "inputs.%s: not an input", info->name);
    int rows = pl_scene_row_count(scene, channel), width = info->width;
    for (int k = 0; k < rows * width; k++) {
        if (!isfinite(from[k]))
            return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                           "inputs.%s[%d][%d] is not finite, for the step to %g s", info->name,
                           k / width, k % width, time);
        to[k] = from[k];
    }
    for (int row = 0; width == 1 && row < rows; row++)
        PL_TRY(check_range(scene, channel, row, time, from[row]));
    for (int c = 0; info->blend == PL_BLEND_POSE && c < rows; c++)
        PL_TRY(normalise_pose(scene->ctx, c, to + 7 * c + 3));
    return PL_OK;
}

pl_status pl_drive_resolve(const pl_scene *scene, double time, const pl_inputs *inputs, pl_drive *d)
{
    scene_values(scene, time, d);
    for (int c = 0; inputs && c < PL_CHANNEL_COUNT; c++)
        if (inputs->of[c])
            PL_TRY(override(scene, (pl_channel)c, time, inputs->of[c], d->of[c]));
    return PL_OK;
}

void pl_pose_between(const double from[7], const double to[7], double s, double out[7])
{
    double dot = from[3] * to[3] + from[4] * to[4] + from[5] * to[5] + from[6] * to[6];
    double sign = dot < 0 ? -1 : 1, norm = 0;
    for (int k = 0; k < 3; k++)
        out[k] = from[k] + s * (to[k] - from[k]);
    for (int k = 3; k < 7; k++) {
        out[k] = (1 - s) * from[k] + s * sign * to[k];
        norm += out[k] * out[k];
    }
    for (int k = 3; k < 7; k++)
        out[k] /= sqrt(norm);
}

void pl_poses_between(int count, const double *from, const double *to, double s, double *out)
{
    for (int c = 0; c < count; c++)
        if (s == 0)
            memcpy(out + 7 * c, from + 7 * c, 7 * sizeof *out);
        else
            pl_pose_between(from + 7 * c, to + 7 * c, s, out + 7 * c);
}

void pl_drive_between(const pl_scene *scene, double *const *start, const pl_drive *end, double s,
                      pl_drive *out)
{
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        const pl_channel_info *info = pl_channel_get((pl_channel)c);
        if (info->role != PL_INPUT)
            continue;
        size_t rows = pl_channel_size(scene, (pl_channel)c, 1), count = rows * (size_t)info->width;
        const double *from = start[c], *to = end->of[c];
        if (s == 1 || info->blend == PL_BLEND_HELD)
            memcpy(out->of[c], to, sizeof(double) * count);
        else if (info->blend == PL_BLEND_LINEAR)
            for (size_t k = 0; k < count; k++)
                out->of[c][k] = from[k] + s * (to[k] - from[k]);
        else
            for (size_t k = 0; k < count; k += 7)
                pl_pose_between(from + k, to + k, s, out->of[c] + k);
    }
}
