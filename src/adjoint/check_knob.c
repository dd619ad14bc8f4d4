/* The numbers a rollout depends on, kind by kind: values, natural sizes, ranges, and moving them. */
#include "adjoint/check.h"

#include "core/vec.h"

typedef struct kind_info {
    unsigned flag;
    const char *name;
    int param; /* pl_param, or -1 */
    double lower, upper;
} kind_info;

static const kind_info kinds[] = {
    {PL_GRAD_POSITION, "position", -1, -INFINITY, INFINITY},
    {PL_GRAD_VELOCITY, "velocity", -1, -INFINITY, INFINITY},
    {PL_GRAD_VERTEX_FORCE, "vertex_force", -1, -INFINITY, INFINITY},
    {PL_GRAD_FORCE, "force", -1, -INFINITY, INFINITY},
    {PL_GRAD_WIND, "wind", -1, -INFINITY, INFINITY},
    {PL_GRAD_PIN_TARGET, "pin_target", -1, -INFINITY, INFINITY},
    {PL_GRAD_COLLIDER_POSE, "collider_pose", -1, -INFINITY, INFINITY},
    {PL_GRAD_YOUNG, "young", PL_YOUNG, 0, INFINITY},
    {PL_GRAD_POISSON, "poisson", PL_POISSON, 0, 0.499},
    {PL_GRAD_DENSITY, "density", PL_DENSITY, 0, INFINITY},
    {PL_GRAD_BENDING, "bending", PL_BENDING, 0, INFINITY},
    {PL_GRAD_DAMPING, "damping", PL_DAMPING, 0, INFINITY},
    {PL_GRAD_FRICTION, "friction", PL_FRICTION, 0, 1e3},
    {PL_GRAD_COMPLIANCE, "compliance", PL_COMPLIANCE, 0, INFINITY},
};

static const kind_info *find_kind(unsigned flag)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].flag == flag)
            return &kinds[k];
    return NULL;
}

const char *pl_gradient_name(unsigned flag)
{
    const kind_info *k = find_kind(flag);
    return k ? k->name : NULL;
}

double *pl_gradient_array(const pl_gradient *g, unsigned flag)
{
    switch (flag) {
    case PL_GRAD_POSITION:
        return g->position;
    case PL_GRAD_VELOCITY:
        return g->velocity;
    case PL_GRAD_VERTEX_FORCE:
        return g->vertex_force;
    case PL_GRAD_FORCE:
        return g->force;
    case PL_GRAD_WIND:
        return g->wind;
    case PL_GRAD_PIN_TARGET:
        return g->pin_target;
    case PL_GRAD_COLLIDER_POSE:
        return g->collider_pose;
    case PL_GRAD_YOUNG:
        return g->young;
    case PL_GRAD_POISSON:
        return g->poisson;
    case PL_GRAD_DENSITY:
        return g->density;
    case PL_GRAD_BENDING:
        return g->bending;
    case PL_GRAD_DAMPING:
        return g->damping;
    case PL_GRAD_FRICTION:
        return g->friction;
    case PL_GRAD_COMPLIANCE:
        return g->compliance;
    default:
        return NULL;
    }
}

int pl_gradient_count(const pl_scene *scene, int steps, unsigned flag)
{
    switch (flag) {
    case PL_GRAD_POSITION:
    case PL_GRAD_VELOCITY:
        return 3 * scene->vertex_count;
    case PL_GRAD_VERTEX_FORCE:
        return 3 * scene->vertex_count * steps;
    case PL_GRAD_FORCE:
        return 3 * scene->force_count * steps;
    case PL_GRAD_WIND:
        return 3 * scene->wind_count * steps;
    case PL_GRAD_PIN_TARGET:
        return 3 * scene->pin_vertex_count * steps;
    case PL_GRAD_COLLIDER_POSE:
        return 6 * scene->collider_count * steps;
    case PL_GRAD_FRICTION:
        return scene->collider_count * scene->body_count;
    case PL_GRAD_COMPLIANCE:
        return scene->pin_count;
    default:
        return scene->element_count;
    }
}

/* ------------------------------------------------------------------------------- the trial */

pl_status pl_trial_create(pl_sim *sim, const pl_state *start, const pl_rollout_inputs *inputs,
                          int steps, pl_trial *t)
{
    const pl_scene *scene = sim->scene;
    pl_context *ctx = sim->ctx;
    pl_status status = PL_OK;
    pl_drive drive = {0};
    pl_rollout rows = {.sim = sim, .def = {.inputs = *inputs}};
    size_t n3 = 3 * (size_t)scene->vertex_count, f3 = 3 * (size_t)scene->force_count;
    size_t w3 = 3 * (size_t)scene->wind_count, p3 = 3 * (size_t)scene->pin_vertex_count;
    size_t c7 = 7 * (size_t)scene->collider_count, rounds = (size_t)steps;
    *t = (pl_trial){.sim = sim, .start = start, .steps = steps};
    PL_CHECK(pl_drive_create(scene, &drive), done);
    PL_CHECK(pl_state_create(scene, &t->state), done);
    PL_CHECK(pl_state_copy(scene, start, t->state), done);
    PL_NEW(ctx, t->vertex_force, n3 * rounds, done);
    PL_NEW(ctx, t->force, f3 * rounds, done);
    PL_NEW(ctx, t->wind, w3 * rounds, done);
    PL_NEW(ctx, t->pin_target, p3 * rounds, done);
    PL_NEW(ctx, t->collider_pose, c7 * rounds, done);
    for (size_t k = 0; k < rounds; k++) {
        pl_inputs given = pl_rollout_inputs_at(&rows, (int)k);
        double time = start->time + (double)(k + 1) * scene->def.time_step;
        PL_CHECK(pl_drive_resolve(scene, time, &given, &drive), done);
        memcpy(t->vertex_force + k * n3, drive.vertex_force, sizeof(double) * n3);
        memcpy(t->force + k * f3, drive.force, sizeof(double) * f3);
        memcpy(t->wind + k * w3, drive.wind, sizeof(double) * w3);
        memcpy(t->pin_target + k * p3, drive.pin_target, sizeof(double) * p3);
        memcpy(t->collider_pose + k * c7, drive.collider_pose, sizeof(double) * c7);
    }
done:
    pl_drive_free(ctx, &drive);
    return status;
}

void pl_trial_free(pl_trial *t)
{
    if (!t->sim)
        return;
    pl_context *ctx = t->sim->ctx;
    void *arrays[] = {t->vertex_force, t->force, t->wind, t->pin_target, t->collider_pose};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    pl_state_destroy(t->sim->scene, t->state);
}

pl_status pl_trial_run(pl_trial *t, bool tape, pl_progress_fn progress, void *user,
                       pl_rollout **rollout)
{
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = t->steps;
    def.tape = tape;
    def.progress = progress;
    def.progress_user = user;
    def.inputs = (pl_rollout_inputs){.vertex_force = t->vertex_force,
                                     .force = t->force,
                                     .wind = t->wind,
                                     .pin_target = t->pin_target,
                                     .collider_pose = t->collider_pose};
    pl_sim_forget(t->sim);
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

/* The array of a trial that a kind of input or state lives in. */
static double *trial_array(const pl_trial *t, unsigned flag)
{
    switch (flag) {
    case PL_GRAD_POSITION:
        return t->state->q;
    case PL_GRAD_VELOCITY:
        return t->state->v;
    case PL_GRAD_VERTEX_FORCE:
        return t->vertex_force;
    case PL_GRAD_FORCE:
        return t->force;
    case PL_GRAD_WIND:
        return t->wind;
    default:
        return t->pin_target;
    }
}

/* Owners' values one after another, read from the scene or written to it. */
static pl_status exchange(pl_scene *scene, pl_param param, double *values, bool write)
{
    int owners = param == PL_FRICTION     ? scene->collider_count
                 : param == PL_COMPLIANCE ? scene->pin_count
                                          : scene->body_count;
    for (int o = 0, count; o < owners; o++, values += count) {
        PL_TRY(pl_scene_param_count(scene, param, o, &count));
        PL_TRY(write ? pl_scene_set_param(scene, param, o, count, values)
                     : pl_scene_get_param(scene, param, o, count, values));
    }
    return PL_OK;
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
static double param_weight(const pl_scene *scene, pl_param param, int index, double value)
{
    if (value != 0)
        return value;
    int vertex[4];
    switch (param) {
    case PL_POISSON:
        return 0.1;
    case PL_DAMPING:
        return 1; /* 1/s */
    case PL_BENDING:
        return pl_scene_element(scene, index, vertex)->cloth ? 1e-4 : 0; /* N m */
    default:
        return 0;
    }
}

static double input_weight(const pl_trial *t, const pl_knob *k, int index)
{
    double size;
    switch (k->kind) {
    case PL_GRAD_VELOCITY:
        return fmax(largest(k->base, k->count), 0.1);
    case PL_GRAD_VERTEX_FORCE: /* the vertex's weight, N */
        return 9.81 * t->sim->mass[index / 3 % t->sim->n];
    case PL_GRAD_FORCE:
    case PL_GRAD_WIND:
        size = largest(k->base, k->count);
        return size > 0 ? size : 1;
    case PL_GRAD_COLLIDER_POSE:
        return index % 6 < 3 ? length_scale(t) : 0.01;
    default:
        return length_scale(t);
    }
}

pl_status pl_knob_create(const pl_trial *t, unsigned flag, pl_knob *k)
{
    const kind_info *kind = find_kind(flag);
    pl_scene *scene = t->sim->scene;
    pl_context *ctx = t->sim->ctx;
    pl_status status = PL_OK;
    size_t poses = 7 * (size_t)scene->collider_count * (size_t)t->steps;
    *k = (pl_knob){.kind = flag, .lower = kind->lower, .upper = kind->upper};
    k->count = pl_gradient_count(scene, t->steps, flag);
    PL_NEW(ctx, k->base, k->count, done);
    PL_NEW(ctx, k->weight, k->count, done);
    if (flag == PL_GRAD_COLLIDER_POSE) {
        PL_NEW(ctx, k->poses, poses, done);
        memcpy(k->poses, t->collider_pose, sizeof(double) * poses);
    } else if (kind->param >= 0) {
        PL_CHECK(exchange(scene, (pl_param)kind->param, k->base, false), done);
    } else {
        memcpy(k->base, trial_array(t, flag), sizeof(double) * (size_t)k->count);
    }
    double shared =
        kind->param < 0 && flag != PL_GRAD_VERTEX_FORCE && flag != PL_GRAD_COLLIDER_POSE && k->count > 0
            ? input_weight(t, k, 0)
            : NAN;
    for (int i = 0; i < k->count; i++)
        k->weight[i] = kind->param >= 0 ? param_weight(scene, (pl_param)kind->param, i, k->base[i])
                       : isnan(shared)  ? input_weight(t, k, i)
                                        : shared;
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
        move_pose(k->poses + 7 * r, d, t->collider_pose + 7 * r);
    }
}

pl_status pl_knob_turn(pl_trial *t, const pl_knob *k, const double *direction, double e)
{
    const kind_info *kind = find_kind(k->kind);
    pl_scene *scene = t->sim->scene;
    pl_status status = PL_OK;
    double *values = NULL;
    PL_TRY(pl_state_copy(scene, t->start, t->state));
    if (k->kind == PL_GRAD_COLLIDER_POSE) {
        turn_poses(t, k, direction, e);
        return PL_OK;
    }
    PL_NEW(t->sim->ctx, values, k->count, done);
    for (int i = 0; i < k->count; i++)
        values[i] = k->base[i] + e * direction[i];
    if (kind->param >= 0)
        PL_CHECK(exchange(scene, (pl_param)kind->param, values, true), done);
    else
        memcpy(trial_array(t, k->kind), values, sizeof(double) * (size_t)k->count);
done:
    pl_free(t->sim->ctx, values);
    return status;
}
