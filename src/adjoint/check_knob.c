/* The numbers a rollout depends on, channel by channel: values, natural sizes, ranges, and moving them.
 */
#include "adjoint/check.h"

#include "core/vec.h"
#include "terms/term.h"

/* ------------------------------------------------------------------------------- the trial */

/* Numbers of an input in one step. */
static size_t numbers(const pl_scene *scene, int channel)
{
    return pl_channel_size(scene, (pl_channel)channel, 1) *
           (size_t)pl_channel_get((pl_channel)channel)->width;
}

pl_status pl_trial_create(pl_sim *sim, const pl_state *start, const pl_inputs *inputs, int steps,
                          pl_trial *t)
{
    pl_scene *scene = sim->scene;
    pl_context *ctx = sim->ctx;
    pl_status status = PL_OK;
    pl_drive drive = {0};
    pl_rollout rows = {.sim = sim, .def = {.inputs = *inputs}};
    *t = (pl_trial){.sim = sim, .start = start, .steps = steps};
    PL_CHECK(pl_params_create(scene, &t->params), done);
    PL_CHECK(pl_drive_create(scene, &drive), done);
    PL_CHECK(pl_state_create(scene, &t->state), done);
    PL_CHECK(pl_state_copy(scene, start, t->state), done);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (drive.of[c])
            PL_NEW(ctx, t->input[c], numbers(scene, c) * (size_t)steps, done);
    for (int k = 0; k < steps; k++) {
        pl_inputs given = pl_rollout_inputs_at(&rows, k);
        double time = start->time + (k + 1) * t->params->values->def.time_step;
        PL_CHECK(pl_drive_resolve(scene, time, &given, &drive), done);
        for (int c = 0; c < PL_CHANNEL_COUNT; c++)
            if (drive.of[c])
                memcpy(t->input[c] + (size_t)k * numbers(scene, c), drive.of[c],
                       sizeof(double) * numbers(scene, c));
    }
done:
    pl_drive_free(ctx, &drive);
    return status;
}

void pl_trial_free(pl_trial *t)
{
    if (!t->sim)
        return;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        pl_free(t->sim->ctx, t->input[c]);
    pl_state_destroy(t->sim->scene, t->state);
    pl_params_destroy(t->params);
}

pl_status pl_trial_run(pl_trial *t, bool tape, pl_progress_fn progress, void *user,
                       pl_rollout **rollout)
{
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = t->steps;
    def.tape = tape;
    def.params = t->params;
    def.progress = progress;
    def.progress_user = user;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        def.inputs.of[c] = t->input[c];
    return pl_rollout_run(t->sim, t->state, &def, rollout);
}

/* ------------------------------------------------------------------------------- knobs */

static double largest(const double *x, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* The array of a trial that a channel of its start or its inputs is in. */
static double *trial_array(const pl_trial *t, pl_channel channel)
{
    return channel == PL_POSITION   ? t->state->q
           : channel == PL_VELOCITY ? t->state->v
                                    : t->input[channel];
}

/* A hundredth of the scene's extent, m: a large change of a position. */
static double length_scale(const pl_trial *t)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY},
           d[3];
    for (int i = 0; i < 3 * t->start->vertex_count; i++) {
        lower[i % 3] = fmin(lower[i % 3], t->start->q[i]);
        upper[i % 3] = fmax(upper[i % 3], t->start->q[i]);
    }
    pl_sub3(upper, lower, d);
    return 0.01 * pl_norm3(d);
}

/* A parameter's own size; where it is 0, what would be a moderate value of it. */
static double param_weight(const pl_scene *scene, pl_channel channel, int index, double value)
{
    int vertex[4];
    if (value != 0)
        return value;
    if (channel == PL_BENDING && !pl_scene_element(scene, index, vertex)->cloth)
        return 0;
    return pl_channel_get(channel)->usual;
}

static double input_weight(const pl_trial *t, const pl_knob *k, int index)
{
    double size, usual = pl_channel_get(k->channel)->usual;
    switch (k->channel) {
    case PL_VELOCITY:
        return fmax(largest(k->base, k->count), 0.1);
    case PL_VERTEX_FORCE: /* the vertex's weight, N */
        return 9.81 * t->sim->matter.mass[index / 3 % t->sim->scene->vertex_count];
    case PL_POSITION:
    case PL_PIN_TARGET:
        return length_scale(t);
    case PL_COLLIDER_POSE:
        return index % 6 < 3 ? length_scale(t) : 0.01;
    default:
        size = largest(k->base, k->count);
        return size > 0 ? size : usual > 0 ? usual : 1;
    }
}

pl_status pl_knob_create(const pl_trial *t, pl_channel channel, pl_knob *k)
{
    const pl_channel_info *info = pl_channel_get(channel);
    const pl_scene *scene = t->sim->scene;
    pl_context *ctx = t->sim->ctx;
    pl_status status = PL_OK;
    bool parameter = info->role == PL_PARAMETER, pose = info->blend == PL_BLEND_POSE;
    *k = (pl_knob){.channel = channel};
    k->count = (int)pl_gradient_size(scene, channel, t->steps);
    PL_NEW(ctx, k->base, k->count, done);
    PL_NEW(ctx, k->weight, k->count, done);
    if (pose) {
        size_t poses = numbers(scene, channel) * (size_t)t->steps;
        PL_NEW(ctx, k->poses, poses, done);
        memcpy(k->poses, t->input[channel], sizeof(double) * poses);
    } else {
        const double *from = parameter ? t->params->values->of[channel] : trial_array(t, channel);
        memcpy(k->base, from, sizeof(double) * (size_t)k->count);
    }
    bool alike = !parameter && !pose && channel != PL_VERTEX_FORCE;
    for (int i = 0; i < k->count; i++)
        k->weight[i] = parameter        ? param_weight(scene, channel, i, k->base[i])
                       : alike && i > 0 ? k->weight[0]
                                        : input_weight(t, k, i);
done:
    return status;
}

void pl_knob_free(pl_context *ctx, pl_knob *k)
{
    pl_free(ctx, k->base);
    pl_free(ctx, k->weight);
    pl_free(ctx, k->poses);
    *k = (pl_knob){0};
}

void pl_knob_range(const pl_trial *t, const pl_knob *k, int i, double *lower, double *upper)
{
    const pl_channel_info *info = pl_channel_get(k->channel);
    *lower = info->lower;
    *upper = info->upper;
    if (info->role == PL_INPUT)
        pl_terms_range(t->sim->scene, k->channel,
                       i / info->gradient_width % pl_scene_row_count(t->sim->scene, k->channel), lower,
                       upper);
}

/* pose = base moved by d (3) and turned by the rotation vector d + 3 about its own position. */
static void move_pose(const double base[7], const double d[6], double pose[7])
{
    double angle = pl_norm3(d + 3), s = angle > 0 ? sin(0.5 * angle) / angle : 0.5;
    double a[4] = {cos(0.5 * angle), s * d[3], s * d[4], s * d[5]};
    const double *b = base + 3;
    for (int k = 0; k < 3; k++)
        pose[k] = base[k] + d[k];
    pose[3] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    pose[4] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    pose[5] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    pose[6] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static void turn_poses(pl_trial *t, const pl_knob *k, const double *direction, double e)
{
    for (int r = 0; r < k->count / 6; r++) {
        double d[6];
        for (int i = 0; i < 6; i++)
            d[i] = e * direction[6 * r + i];
        move_pose(k->poses + 7 * r, d, t->input[k->channel] + 7 * r);
    }
}

pl_status pl_knob_turn(pl_trial *t, const pl_knob *k, const double *direction, double e)
{
    const pl_channel_info *info = pl_channel_get(k->channel);
    pl_values *own;
    PL_TRY(pl_state_copy(t->sim->scene, t->start, t->state));
    if (info->blend == PL_BLEND_POSE) {
        turn_poses(t, k, direction, e);
        return PL_OK;
    }
    if (info->role == PL_PARAMETER)
        PL_TRY(pl_params_edit(t->params, &own));
    double *values = info->role == PL_PARAMETER ? own->of[k->channel] : trial_array(t, k->channel);
    for (int i = 0; i < k->count; i++)
        values[i] = k->base[i] + e * direction[i];
    return info->role == PL_PARAMETER ? pl_channel_check(t->sim->ctx, k->channel, k->count, values)
                                      : PL_OK;
}
