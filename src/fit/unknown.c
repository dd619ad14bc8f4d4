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

const char *pl_unknown_unit(const pl_unknown *u)
{
    static const char *const units[] = {"Pa", NULL,  "kg/m^3", "N m", "1/s", NULL,  "m/N",
                                        NULL, "m/s", "m",      "m",   "rad", "m/s", "m"};
    return units[u->quantity];
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

/* Adds p times the direction to the rows that an input unknown drives. */
static void drive(pl_task *task, const pl_unknown *u)
{
    const pl_scene *scene = task->scene;
    for (int step = 0; step < task->steps; step++) {
        double p = task->p[u->first + (u->spread == PL_SPREAD_STEP ? step : 0)];
        size_t row = (size_t)step;
        if (u->quantity == PL_OF_FORCE) {
            pl_axpy3(p, u->direction,
                     task->force + 3 * (row * (size_t)scene->force_count + (size_t)u->owner));
        } else if (u->quantity == PL_OF_WIND) {
            pl_axpy3(p, u->direction,
                     task->wind + 3 * (row * (size_t)scene->wind_count + (size_t)u->owner));
        } else if (u->quantity == PL_OF_PIN_TARGET) {
            const pl_pin *pin = &scene->pins[u->owner];
            double *target =
                task->pin_target + 3 * (row * (size_t)scene->pin_vertex_count + (size_t)pin->first);
            for (int k = 0; k < pin->count; k++)
                pl_axpy3(p, u->direction, target + 3 * k);
        } else {
            double *pose = task->pose + 7 * (row * (size_t)scene->collider_count + (size_t)u->owner);
            const double turn[3] = {p * u->direction[0], p * u->direction[1], p * u->direction[2]};
            if (u->quantity == PL_OF_COLLIDER_POSITION)
                pl_axpy3(1, turn, pose);
            else
                turn_pose(pose, turn);
        }
    }
}

static void reset_inputs(pl_task *task)
{
    const pl_scene *s = task->scene;
    size_t steps = (size_t)task->steps;
    if (task->force)
        memcpy(task->force, task->force_base, steps * (size_t)s->force_count * 3 * sizeof(double));
    if (task->wind)
        memcpy(task->wind, task->wind_base, steps * (size_t)s->wind_count * 3 * sizeof(double));
    if (task->pin_target)
        memcpy(task->pin_target, task->pin_base,
               steps * (size_t)s->pin_vertex_count * 3 * sizeof(double));
    if (task->pose)
        memcpy(task->pose, task->pose_base, steps * (size_t)s->collider_count * 7 * sizeof(double));
}

static void start_with(const pl_task *task, const pl_unknown *u, pl_state *state)
{
    const pl_body *body = &task->scene->bodies[u->owner];
    double *rows =
        (u->quantity == PL_OF_VELOCITY ? state->v : state->q) + 3 * (size_t)body->vertex_offset;
    for (int i = 0; i < body->mesh->vertex_count; i++)
        pl_axpy3(task->p[u->first + (u->spread == PL_SPREAD_VERTEX ? i : 0)], u->direction,
                 rows + 3 * (size_t)i);
}

pl_status pl_task_apply(pl_task *task, const double *x, pl_state *state)
{
    reset_inputs(task);
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        for (int i = u->first; i < u->first + u->count; i++)
            task->p[i] = pl_clip(pl_map_to_p(u, x[i]), u->lower, u->upper);
        if (!pl_quantity_is_vector(u->quantity)) {
            pl_status status = pl_scene_set_param(task->scene, (pl_param)u->quantity, u->owner,
                                                  u->count, task->p + u->first);
            /* Out of the parameter's range: a place where the loss is not defined. */
            if (status == PL_ERROR_ARGUMENT)
                status = PL_ERROR_NUMERIC;
            if (status != PL_OK)
                return pl_fail_within(task->ctx, status, "unknown \"%s\"", u->name);
        } else if (pl_quantity_is_driven(u->quantity)) {
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

/*
 * Visits the entries of a pl_gradient that p_i drives, each with its factor: with `add` NULL it sums
 * factor * entry, else it adds *add * factor to the entry.
 */
static double touch(double *entry, double factor, const double *add)
{
    if (!add)
        return factor * *entry;
    *entry += *add * factor;
    return 0;
}

static double touch3(double *entry, const double *factor, const double *add)
{
    return touch(entry, factor[0], add) + touch(entry + 1, factor[1], add) +
           touch(entry + 2, factor[2], add);
}

static double touch_driven(const pl_task *task, const pl_unknown *u, int step, const pl_gradient *g,
                           const double *add)
{
    const pl_scene *s = task->scene;
    size_t row = (size_t)step;
    double sum = 0;
    switch (u->quantity) {
    case PL_OF_FORCE:
        return touch3(g->force + 3 * (row * (size_t)s->force_count + (size_t)u->owner), u->direction,
                      add);
    case PL_OF_WIND:
        return touch3(g->wind + 3 * (row * (size_t)s->wind_count + (size_t)u->owner), u->direction,
                      add);
    case PL_OF_PIN_TARGET:
        for (int k = s->pins[u->owner].first; k < s->pins[u->owner].first + s->pins[u->owner].count;
             k++)
            sum += touch3(g->pin_target + 3 * (row * (size_t)s->pin_vertex_count + (size_t)k),
                          u->direction, add);
        return sum;
    case PL_OF_COLLIDER_POSITION:
        return touch3(g->collider_pose + 6 * (row * (size_t)s->collider_count + (size_t)u->owner),
                      u->direction, add);
    default: /* a turn about a fixed axis: its rate is the axis, whatever the angle */
        return touch3(g->collider_pose + 6 * (row * (size_t)s->collider_count + (size_t)u->owner) + 3,
                      u->direction, add);
    }
}

static double touch_material(const pl_task *task, const pl_unknown *u, int index, const pl_gradient *g,
                             const double *add)
{
    double *const fields[] = {g->young, g->poisson, g->density, g->bending, g->damping};
    const pl_body *body = &task->scene->bodies[u->owner];
    double *values = fields[u->quantity] + body->element_offset, sum = 0;
    if (u->spread == PL_SPREAD_ELEMENT)
        return touch(values + index, 1, add);
    for (int e = 0; e < body->element_count; e++)
        sum += touch(values + e, 1, add);
    return sum;
}

static double touch_start(const pl_task *task, const pl_unknown *u, int index, const pl_gradient *g,
                          const double *add)
{
    const pl_body *body = &task->scene->bodies[u->owner];
    double *rows =
        (u->quantity == PL_OF_VELOCITY ? g->velocity : g->position) + 3 * (size_t)body->vertex_offset;
    double sum = 0;
    if (u->spread == PL_SPREAD_VERTEX)
        return touch3(rows + 3 * (size_t)index, u->direction, add);
    for (int i = 0; i < body->mesh->vertex_count; i++)
        sum += touch3(rows + 3 * (size_t)i, u->direction, add);
    return sum;
}

/* All that entry `index` of unknown u drives. */
static double touch_all(const pl_task *task, const pl_unknown *u, int index, const pl_gradient *g,
                        const double *add)
{
    double sum = 0;
    if (u->quantity <= PL_OF_DAMPING)
        return touch_material(task, u, index, g, add);
    if (u->quantity == PL_OF_FRICTION) {
        int bodies = task->scene->body_count;
        for (int b = 0; b < bodies; b++)
            sum += touch(g->friction + (size_t)u->owner * (size_t)bodies + b, 1, add);
        return sum;
    }
    if (u->quantity == PL_OF_COMPLIANCE)
        return touch(g->compliance + u->owner, 1, add);
    if (!pl_quantity_is_driven(u->quantity))
        return touch_start(task, u, index, g, add);
    if (u->spread == PL_SPREAD_STEP)
        return touch_driven(task, u, index, g, add);
    for (int step = 0; step < task->steps; step++)
        sum += touch_driven(task, u, step, g, add);
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
