/*
 * Gradients of a rollout against central differences and against the tangent sweep. A problem is a
 * world with a point `base` in the space of everything a gradient is taken of; directions live in the
 * same space.
 */
#ifndef PL_TEST_ADJOINT_CHECK_H
#define PL_TEST_ADJOINT_CHECK_H

#include "common_scene.h"

typedef struct test_problem {
    test_world w;
    int first; /* number of the step it starts with */
    int steps;
    pl_scene_info info;
    pl_gradient *base;    /* the values themselves; collider_pose is kept apart */
    double *pose;         /* [steps, collider_count, 7] */
    int splits, contacts; /* of the last run */
    double value;
} test_problem;

enum { TEST_FIELDS = PL_CHANNEL_COUNT };

/* A small change of a channel; 0 = of the value's own size. */
static const double test_units[TEST_FIELDS] = {
    [PL_POSITION] = 1e-3, [PL_VELOCITY] = 1e-1,   [PL_VERTEX_FORCE] = 1e-2,  [PL_FORCE] = 1e-1,
    [PL_WIND] = 1e-1,     [PL_PIN_TARGET] = 1e-3, [PL_COLLIDER_POSE] = 1e-3,
};

static inline const pl_channel_info *test_info(int field)
{
    return pl_channel_get((pl_channel)field);
}

/* Relative. Material parameters act through the whole body's deformation: their differences are
 * noisier. */
static inline double test_tolerance(int field)
{
    return test_info(field)->row == PL_ROW_ELEMENT ? 1e-5 : 1e-6;
}

static inline double *test_values(const pl_gradient *g, int field)
{
    return g->of[field];
}

static inline int test_count(const test_problem *p, int field)
{
    return pl_scene_row_count(p->w.scene, (pl_channel)field) * test_info(field)->gradient_width *
           (test_info(field)->role == PL_INPUT ? p->steps : 1);
}

static inline pl_gradient *test_gradient(const test_problem *p)
{
    pl_gradient *g = NULL;
    assert_ok(p->w.ctx, pl_gradient_create(p->w.scene, p->steps, ~0ull, &g));
    return g;
}

/* The parameters of every owner, read from (or written to) the arrays of `at`. */
static inline void test_parameters(const test_problem *p, const pl_gradient *at, bool write)
{
    pl_params *params = pl_scene_params(p->w.scene);
    for (int c = 0; c < TEST_FIELDS; c++)
        for (int o = 0; test_info(c)->role == PL_PARAMETER &&
                        o < pl_scene_owner_count(p->w.scene, test_info(c)->owner);
             o++) {
            int first, count;
            assert_ok(p->w.ctx, pl_scene_rows(p->w.scene, (pl_channel)c, o, &first, &count));
            double *values = at->of[c] + first;
            assert_ok(p->w.ctx, write ? pl_params_set(params, (pl_channel)c, o, count, values)
                                      : pl_params_get(params, (pl_channel)c, o, count, values));
        }
}

/* Takes over a started world, with its own values as the base. Inputs: the forces `force` and winds
 * `wind` in every step, pins and colliders that wander and turn a little. */
static inline test_problem test_problem_new(test_world w, int steps, const double force[3],
                                            const double wind[3])
{
    test_problem p = {.w = w, .steps = steps, .info = pl_scene_get_info(w.scene)};
    p.base = test_gradient(&p);
    memcpy(p.base->of[PL_POSITION], w.state->q, sizeof(double) * 3 * (size_t)w.n);
    memcpy(p.base->of[PL_VELOCITY], w.state->v, sizeof(double) * 3 * (size_t)w.n);
    test_parameters(&p, p.base, false);
    for (int k = 0; k < 3 * steps * p.info.force_count; k++)
        p.base->of[PL_FORCE][k] = force[k % 3];
    for (int k = 0; k < 3 * steps * p.info.wind_count; k++)
        p.base->of[PL_WIND][k] = wind[k % 3];
    int rows = 3 * p.info.pin_vertex_count;
    for (int k = 0; k < steps * rows; k++)
        p.base->of[PL_PIN_TARGET][k] = w.state->input[PL_PIN_TARGET][k % rows] + 1e-3 * (k / rows);
    p.pose = calloc(7 * (size_t)(steps * p.info.collider_count) + 1, sizeof *p.pose);
    for (int k = 0; k < steps; k++)
        for (int c = 0; c < p.info.collider_count; c++) {
            double *pose = p.pose + 7 * (k * p.info.collider_count + c), turn[4];
            memcpy(pose, w.state->input[PL_COLLIDER_POSE] + 7 * c, 7 * sizeof(double));
            pose[0] += 2e-4 * k;
            world_turn(0.1, 0.2, 1, 2e-3 * (k + 1), turn);
            world_multiply(turn, pose + 3, pose + 3);
        }
    return p;
}

static inline void test_problem_free(test_problem *p)
{
    pl_gradient_destroy(p->w.scene, p->base);
    free(p->pose);
    world_free(&p->w);
}

/* A loss of positions and velocities at the end, half-way and at the start. */
static inline bool test_loss(void *user, int step, const double *q, const double *v, double *value,
                             double *dq, double *dv)
{
    const test_problem *p = user;
    double weight = step == p->steps ? 1 : step == p->steps / 2 ? 0.5 : step == 0 ? 0.25 : 0;
    for (int i = 0; weight > 0 && i < 3 * p->w.n; i++) {
        double a = weight * (1 + 0.5 * sin(1.7 * i + step)), b = 0.02 * weight * (1 + 0.5 * cos(i));
        *value += 0.5 * a * q[i] * q[i] + 0.5 * b * v[i] * v[i];
        dq[i] += a * q[i];
        dv[i] += b * v[i];
    }
    return true;
}

static inline bool test_progress(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    test_problem *p = user;
    static double ignored[6 * 1024];
    assert_true(p->w.n <= 1024);
    p->splits += info->splits;
    p->contacts = info->contacts;
    return test_loss(p, step, state->q, state->v, &p->value, ignored, ignored + 3 * 1024);
}

/* The loss at `at` (poses: `pose`); with `keep`, the rollout with its tape, and with its inputs
 * borrowed. */
static inline double test_run(test_problem *p, const pl_gradient *at, const double *pose, size_t budget,
                              pl_rollout **keep)
{
    pl_context *ctx = p->w.ctx;
    pl_state *state = NULL;
    pl_rollout *rollout = NULL;
    double dq[3 * 1024], dv[3 * 1024];
    test_parameters(p, at, true);
    assert_ok(ctx, pl_state_create(p->w.scene, &state));
    memcpy(state->q, at->of[PL_POSITION], sizeof(double) * 3 * (size_t)p->w.n);
    memcpy(state->v, at->of[PL_VELOCITY], sizeof(double) * 3 * (size_t)p->w.n);
    state->step = p->first;
    p->value = 0, p->splits = 0;
    test_loss(p, 0, state->q, state->v, &p->value, dq, dv);
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = p->steps;
    def.tape = keep != NULL;
    def.memory_budget = budget;
    def.progress = test_progress;
    def.progress_user = p;
    for (int c = 0; c < TEST_FIELDS; c++)
        def.inputs.of[c] = test_info(c)->role == PL_INPUT ? at->of[c] : NULL;
    def.inputs.of[PL_COLLIDER_POSE] = pose;
    assert_ok(ctx, pl_rollout_run(p->w.sim, state, &def, &rollout));
    if (keep)
        *keep = rollout;
    else
        pl_rollout_destroy(rollout);
    pl_state_destroy(p->w.scene, state);
    return p->value;
}

/* The loss at base + s direction. */
static inline double test_moved(test_problem *p, const pl_gradient *direction, double s)
{
    pl_gradient *at = test_gradient(p);
    size_t bytes = sizeof(double) * 7 * (size_t)(p->steps * p->info.collider_count);
    double *pose = malloc(bytes + 1);
    memcpy(pose, p->pose, bytes);
    for (int f = 0; f < TEST_FIELDS; f++) {
        double *x = test_values(at, f), *x0 = test_values(p->base, f), *d = test_values(direction, f);
        for (int k = 0; k < test_count(p, f); k++)
            x[k] = x0[k] + s * d[k];
    }
    for (int k = 0; k < p->steps * p->info.collider_count; k++) {
        const double *d = direction->of[PL_COLLIDER_POSE] + 6 * k;
        double angle = s * sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]), turn[4];
        for (int i = 0; i < 3; i++)
            pose[7 * k + i] += s * d[i];
        if (angle != 0) {
            world_turn(d[3], d[4], d[5], angle, turn);
            world_multiply(turn, pose + 7 * k + 3, pose + 7 * k + 3);
        }
    }
    double value = test_run(p, at, pose, 0, NULL);
    pl_gradient_destroy(p->w.scene, at);
    free(pose);
    return value;
}

static inline double test_dot(const test_problem *p, const pl_gradient *a, const pl_gradient *b)
{
    double sum = 0;
    for (int f = 0; f < TEST_FIELDS; f++)
        for (int k = 0; k < test_count(p, f); k++)
            sum += test_values(a, f)[k] * test_values(b, f)[k];
    return sum;
}

/* A direction in one field only (or all, field -1): random, or along `g` with the same largest entry.
 */
static inline void test_direction(const test_problem *p, int field, const pl_gradient *g, uint64_t seed,
                                  pl_gradient *out)
{
    for (int f = 0; f < TEST_FIELDS; f++) {
        int count = test_count(p, f);
        double *d = test_values(out, f), *base = test_values(p->base, f), largest = 0;
        for (int k = 0; k < count; k++) {
            double unit = test_units[f] > 0 ? test_units[f] : fabs(base[k]);
            double along = g ? test_values(g, f)[k] * unit : test_random(&seed);
            d[k] = field < 0 || field == f ? unit * along : 0;
            largest = fmax(largest, fabs(along));
        }
        for (int k = 0; g && largest > 0 && k < count; k++)
            d[k] /= largest;
    }
}

/* Central differences along a direction, with smaller and smaller steps until one is close enough;
 * false if none is, with the best in *found. Their error falls with the step's square, so two of them
 * give a better one. Two losses known to 1e-14 of themselves give no better than noise = 1e-14
 * loss/step, with the step of 1e-4 that the other error asks for: it only counts where the loss hardly
 * depends on the field, as on the friction of what sticks. */
static inline bool test_differences(test_problem *p, const pl_gradient *d, double exact, double scale,
                                    double tolerance, double *found)
{
    double best = INFINITY, before = NAN, loss = fabs(p->value);
    for (double step = 1e-3; step > 5e-8; step *= 0.25) {
        double fd = (test_moved(p, d, step) - test_moved(p, d, -step)) / (2 * step);
        double tries[2] = {fd, fd + (fd - before) / 15};
        for (int k = 0; k < 2; k++)
            if (fabs(tries[k] - exact) < best) {
                best = fabs(tries[k] - exact);
                *found = tries[k];
            }
        if (best <= tolerance * scale + 1e-10 * loss)
            return true;
        before = fd;
    }
    return false;
}

/* Checks every field asked for along its gradient and along a random direction. */
static inline void test_fields_by_differences(test_problem *p, const char *name, pl_channels wanted,
                                              const pl_gradient *g)
{
    pl_gradient *d = test_gradient(p);
    for (int f = 0; f < TEST_FIELDS; f++) {
        if (!(wanted & PL_BIT(f)) || test_count(p, f) == 0)
            continue;
        for (int random = 0; random < 2; random++) {
            test_direction(p, f, random ? NULL : g, 1000 + (uint64_t)f, d);
            double exact = test_dot(p, g, d), found = 0;
            /* Where a random direction happens to be across the gradient, its derivative is a small
             * difference of large terms: not asked for below a tenth of their size. */
            double typical = 0;
            for (int k = 0; k < test_count(p, f); k++)
                typical += pow(test_values(g, f)[k] * test_values(d, f)[k], 2);
            double scale = fmax(fabs(exact), 0.1 * sqrt(typical));
            if (!test_differences(p, d, exact, scale, test_tolerance(f), &found))
                fail_msg("%s: %s %s: analytic %.10e, differences %.10e, relative error %.2e", name,
                         test_info(f)->name, random ? "at random" : "along the gradient", exact, found,
                         fabs(found - exact) / scale);
        }
    }
    pl_gradient_destroy(p->w.scene, d);
}

typedef struct test_tangent {
    test_problem *p;
    double sum, size; /* of the loss's derivative along the trajectory's, and of its terms */
} test_tangent;

static inline bool test_visit(void *user, int step, const double *q, const double *v, const double *dq,
                              const double *dv)
{
    test_tangent *t = user;
    double value = 0, on_q[3 * 1024] = {0}, on_v[3 * 1024] = {0};
    test_loss(t->p, step, q, v, &value, on_q, on_v);
    for (int i = 0; i < 3 * t->p->w.n; i++) {
        t->sum += on_q[i] * dq[i] + on_v[i] * dv[i];
        t->size += fabs(on_q[i] * dq[i]) + fabs(on_v[i] * dv[i]);
    }
    return true;
}

/* In every field: the adjoint's gradient along a random direction is the tangent sweep's derivative. */
static inline void test_fields_by_tangent(test_problem *p, const char *name, pl_rollout *rollout,
                                          const pl_adjoint_def *def, const pl_gradient *g)
{
    pl_gradient *d = test_gradient(p);
    for (int f = 0; f < TEST_FIELDS; f++) {
        if (test_count(p, f) == 0)
            continue;
        test_tangent t = {.p = p};
        test_direction(p, f, NULL, 31 + (uint64_t)f, d);
        assert_ok(p->w.ctx, pl_rollout_tangent(rollout, def, d, test_visit, &t, NULL));
        double exact = test_dot(p, g, d);
        /* A pin that pulls at a stuck vertex changes next to nothing: less than the solve's tolerance
         * resolves. Both sweeps are solved to that: 1.1e-10 of the terms with one of OpenBLAS' kernels.
         */
        if (!(fabs(t.sum - exact) <= 2e-10 * t.size + 1e-16 * fabs(p->value)))
            fail_msg("%s: %s: adjoint %.15e, tangent %.15e, %.2e of the terms", name,
                     test_info(f)->name, exact, t.sum, fabs(t.sum - exact) / t.size);
    }
    pl_gradient_destroy(p->w.scene, d);
}

/* One reverse sweep at the base with a tight tolerance, checked both ways. */
static inline void test_check_problem(test_problem *p, const char *name, pl_channels wanted)
{
    pl_adjoint_def def = pl_adjoint_def_default();
    pl_adjoint_info info;
    pl_gradient *g = test_gradient(p);
    pl_rollout *rollout = NULL;
    def.tolerance = 1e-12;
    double loss = test_run(p, p->base, p->pose, 0, &rollout);
    assert_ok(p->w.ctx, pl_rollout_backward(rollout, &def, test_loss, p, g, &info));
    assert_close(info.loss, loss, 1e-13 * fabs(loss));
    test_fields_by_tangent(p, name, rollout, &def, g);
    test_fields_by_differences(p, name, wanted, g);
    pl_rollout_destroy(rollout);
    pl_gradient_destroy(p->w.scene, g);
}

#endif
