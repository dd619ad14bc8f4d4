/*
 * Unknowns: from x to physical values, into the scene and its inputs, and derivatives the way back.
 *
 *     p = map(x),   dL/dx_i = dp/dx_i * (sum of dL/d(input) over the inputs that p_i drives)
 */
#include "fit/task.h"

#include "core/vec.h"

double pl_map_to_x(const pl_unknown *u, double p)
{
    switch (u->map) {
    case PL_MAP_NONE:
        break;
    case PL_MAP_LOG:
        return log(p);
    case PL_MAP_LOGIT:
        return log((p - u->lower) / (u->upper - p));
    }
    return p;
}

double pl_map_to_p(const pl_unknown *u, double x)
{
    switch (u->map) {
    case PL_MAP_NONE:
        break;
    case PL_MAP_LOG:
        return exp(x);
    case PL_MAP_LOGIT:
        return u->lower + (u->upper - u->lower) / (1 + exp(-x));
    }
    return x;
}

double pl_map_slope(const pl_unknown *u, double x)
{
    switch (u->map) {
    case PL_MAP_NONE:
        break;
    case PL_MAP_LOG:
        return exp(x);
    case PL_MAP_LOGIT: {
        double s = 1 / (1 + exp(-x));
        return (u->upper - u->lower) * s * (1 - s);
    }
    }
    return 1;
}

/* Vertex forces are left out: a number for every vertex and step is not something to identify. */
bool pl_quantity_at(int index, pl_quantity *out)
{
    for (int c = 0; index >= 0 && c < PL_CHANNEL_COUNT; c++) {
        const pl_channel_info *info = pl_channel_get((pl_channel)c);
        bool pose = info->blend == PL_BLEND_POSE;
        if (c == PL_VERTEX_FORCE)
            continue;
        if (index == 0)
            *out = (pl_quantity){pose ? "collider_position" : info->name, pose ? "m" : info->unit,
                                 (pl_channel)c, 0, pose ? 3 : info->width};
        else if (pose && index == 1)
            *out = (pl_quantity){"collider_rotation", "rad", (pl_channel)c, 3, 3};
        if (index < 1 + pose)
            return true;
        index -= 1 + pose;
    }
    return false;
}

/* Bounds are exact: exp(log(p)) need not be p. */
double pl_task_value(const pl_task *task, const pl_unknown *u, int i, double x)
{
    return u->map == PL_MAP_NONE ? pl_clip(x, task->lower[i], task->upper[i])
                                 : pl_clip(pl_map_to_p(u, x), u->lower, u->upper);
}

/* ------------------------------------------------------------------------------- into the scene */

static void turn_pose(double *pose, const double axis_angle[3])
{
    double angle = pl_norm3(axis_angle), *q = pose + 3;
    if (angle == 0)
        return;
    double s = sin(angle / 2) / angle, w = cos(angle / 2);
    double x = s * axis_angle[0], y = s * axis_angle[1], z = s * axis_angle[2];
    double turned[4] = {
        w * q[0] - x * q[1] - y * q[2] - z * q[3], w * q[1] + x * q[0] + y * q[3] - z * q[2],
        w * q[2] - x * q[3] + y * q[0] + z * q[1], w * q[3] + x * q[2] - y * q[1] + z * q[0]};
    memcpy(q, turned, sizeof turned);
}

static pl_role role_of(const pl_unknown *u)
{
    return pl_channel_get(u->of.channel)->role;
}

/* The k-th row that it drives of those that its owner has, or -1. A pair of bodies is in the row of the
 * one that comes first. */
static int row_at(const pl_task *task, const pl_unknown *u, pl_span span, int k)
{
    int smaller = pl_smaller(u->owner, k), bodies = task->scene->body_count;
    if (u->other >= 0 && u->other != k)
        return -1;
    return u->of.channel == PL_BODY_FRICTION ? smaller * bodies + u->owner + k - smaller
                                             : span.first + k;
}

/* Coefficients of friction, one by one, as the pairs that they are of. */
static pl_status set_pairs(pl_task *task, const pl_unknown *u)
{
    pl_span span = pl_channel_span(task->scene, u->of.channel, u->owner);
    pl_values *values;
    PL_TRY(pl_channel_check(task->ctx, u->of.channel, 1, task->p + u->first));
    PL_TRY(pl_params_edit(pl_scene_params(task->scene), &values));
    for (int k = 0; k < span.count; k++)
        if (row_at(task, u, span, k) >= 0)
            values->of[u->of.channel][row_at(task, u, span, k)] = task->p[u->first];
    return PL_OK;
}

/* Adds p times the direction to one row of a channel. */
static void add_to_row(const pl_unknown *u, double p, double *row)
{
    const double by[3] = {p * u->direction[0], p * u->direction[1], p * u->direction[2]};
    if (u->of.column == 3) /* of a pose: its quaternion */
        turn_pose(row, by);
    else
        for (int k = 0; k < u->of.width; k++)
            row[k] += by[k];
}

/* The same to the rows that an input unknown drives. */
static void drive(pl_task *task, const pl_unknown *u)
{
    pl_channel channel = u->of.channel;
    pl_span span = pl_channel_span(task->scene, channel, u->owner);
    size_t width = (size_t)pl_channel_get(channel)->width;
    double h = task->scene->params.values->def.time_step;
    for (int step = task->first; step < task->first + task->span; step++) {
        double p = pl_signal_value(u, task->p + u->first, step - task->first, task->span, h);
        size_t first = pl_channel_size(task->scene, channel, step) + (size_t)span.first;
        for (int k = 0; k < span.count; k++)
            add_to_row(u, p, task->input[channel] + width * (first + (size_t)k));
    }
}

/* Those of the steps that are simulated. */
static void reset_inputs(pl_task *task)
{
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        size_t width = (size_t)pl_channel_get((pl_channel)c)->width;
        size_t from = width * pl_channel_size(task->scene, (pl_channel)c, task->first);
        size_t count = width * pl_channel_size(task->scene, (pl_channel)c, task->span);
        if (task->input[c])
            memcpy(task->input[c] + from, task->base[c] + from, sizeof(double) * count);
    }
}

static void start_with(const pl_task *task, const pl_unknown *u, pl_state *state)
{
    pl_span span = pl_channel_span(task->scene, u->of.channel, u->owner);
    double *rows = (u->of.channel == PL_VELOCITY ? state->v : state->q) + 3 * (size_t)span.first;
    for (int i = 0; i < span.count; i++)
        add_to_row(u, task->p[u->first + (u->spread == PL_SPREAD_VERTEX ? i : 0)],
                   rows + 3 * (size_t)i);
}

pl_status pl_task_apply(pl_task *task, const double *x, pl_state *state)
{
    if (task->settled)
        return PL_OK;
    reset_inputs(task);
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        for (int i = u->first; i < u->first + u->count; i++)
            task->p[i] = pl_task_value(task, u, i, x[i]);
        if (role_of(u) == PL_PARAMETER) {
            pl_status status = pl_channel_get(u->of.channel)->row == PL_ROW_BODY
                                   ? set_pairs(task, u)
                                   : pl_params_set(pl_scene_params(task->scene), u->of.channel,
                                                   u->owner, u->count, task->p + u->first);
            /* Out of the parameter's range: a place where the loss is not defined. */
            if (status == PL_ERROR_ARGUMENT)
                status = PL_ERROR_NUMERIC;
            if (status != PL_OK)
                return pl_fail_within(task->ctx, status, "unknown \"%s\"", u->name);
        } else if (role_of(u) == PL_INPUT) {
            drive(task, u);
        } else if (state) {
            start_with(task, u, state);
        }
    }
    return PL_OK;
}

void pl_task_true_x(const pl_task *task, double *x)
{
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        for (int i = u->first; i < u->first + u->count; i++)
            x[i] = pl_map_to_x(u, u->truth);
    }
}

/* ------------------------------------------------------------------------------- the way back */

/* Visits the entries of a pl_gradient that entry `index` of an unknown drives, each with its factor:
 * with `add` NULL it sums factor * entry, else it adds *add * factor to the entry. (A turn about a
 * fixed axis has the axis as its rate, whatever the angle.) */
static double touch_all(const pl_task *task, const pl_unknown *u, int index, const pl_gradient *g,
                        const double *add)
{
    const pl_channel_info *info = pl_channel_get(u->of.channel);
    pl_span span = pl_channel_span(task->scene, u->of.channel, u->owner);
    int steps = info->role == PL_INPUT ? task->steps : 1, from = 0;
    double sum = 0;
    double h = task->scene->params.values->def.time_step, slope = 1;
    if (u->spread == PL_SPREAD_STEP)
        from = index, steps = 1;
    else if (u->spread == PL_SPREAD_ELEMENT || u->spread == PL_SPREAD_VERTEX)
        span = (pl_span){span.first + index, 1};
    for (int step = from; step < from + steps; step++) {
        if (info->role == PL_INPUT)
            slope = pl_signal_slope(u, task->p + u->first, index, step, steps, h);
        size_t first = step > 0 ? pl_channel_size(task->scene, u->of.channel, step) : 0;
        for (int i = 0; i < span.count; i++) {
            int r = row_at(task, u, span, i);
            if (r < 0)
                continue;
            double *row = g->of[u->of.channel] + (first + (size_t)r) * (size_t)info->gradient_width;
            for (int k = 0; k < u->of.width; k++) {
                double factor = info->role == PL_PARAMETER ? 1 : slope * u->direction[k];
                if (add)
                    row[u->of.column + k] += *add * factor;
                else
                    sum += factor * row[u->of.column + k];
            }
        }
    }
    return sum;
}

void pl_task_chain(const pl_task *task, const double *x, const pl_gradient *gradient, double *out)
{
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        for (int i = 0; i < u->count; i++)
            out[u->first + i] +=
                pl_map_slope(u, x[u->first + i]) * touch_all(task, u, i, gradient, NULL);
    }
}

void pl_task_direction(const pl_task *task, int entry, double scale, pl_gradient *direction)
{
    int k = 0;
    while (entry >= task->unknowns[k].first + task->unknowns[k].count)
        k++;
    touch_all(task, &task->unknowns[k], entry - task->unknowns[k].first, direction, &scale);
}
