/*
 * Batches: whatever the number of workers, states and gradients are those of sims alone, bit for bit;
 * environments fail alone; arrays for another number of environments are refused by name.
 */
#include "common_alloc.h"
#include "common_scene.h"

enum { COUNT = 5, STEPS = 6 };

static const pl_channels wanted = PL_BIT(PL_POSITION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_FORCE) |
                                  PL_BIT(PL_YOUNG) | PL_BIT(PL_FRICTION);

#define assert_refused(ctx, call, text)                                                                \
    do {                                                                                               \
        assert_int_equal((call), PL_ERROR_ARGUMENT);                                                   \
        if (strstr(pl_context_error(ctx), (text)) == NULL)                                             \
            fail_msg("%s: \"%s\" does not say \"%s\"", #call, pl_context_error(ctx), (text));          \
    } while (0)

/* A block over a floor, pushed by a force; BDF2, so that a state is more than q and v. */
static test_world block(pl_context *ctx)
{
    pl_scene_def def = world_def(0.01, 0, 0, -9.81);
    def.integrator = PL_BDF2;
    test_world w = world_new(ctx, def);
    pl_force_def force = pl_force_def_default();
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 3e4),
              world_grid(ctx, 3, 4, 3, 0.05, 0, 0, 1e-3));
    world_floor(&w, 0, 0.4);
    force.per = PL_PER_GROUP;
    assert_ok(ctx, pl_scene_add_force(w.scene, &force, NULL));
    world_start(&w);
    return w;
}

/* What the environments differ in, [COUNT, ...] each. */
typedef struct numbers {
    int elements, n;
    double *young, *velocity;
    double friction[COUNT], force[COUNT * STEPS * 3];
} numbers;

static numbers draw(const test_world *w)
{
    numbers x = {.elements = pl_scene_row_count(w->scene, PL_YOUNG), .n = w->n};
    uint64_t seed = 7;
    x.young = malloc(sizeof(double) * COUNT * (size_t)x.elements);
    x.velocity = malloc(sizeof(double) * COUNT * 3 * (size_t)x.n);
    for (int e = 0; e < COUNT; e++) {
        double young = 2e4 * (e + 1), push = 0.2 * e;
        for (int k = 0; k < x.elements; k++)
            x.young[e * x.elements + k] = young * (1 + 0.1 * test_random(&seed));
        for (int k = 0; k < 3 * x.n; k++)
            x.velocity[e * 3 * x.n + k] = k % 3 == 0 ? push : k % 3 == 2 ? -0.5 : 0;
        x.friction[e] = 0.1 + 0.15 * e;
        for (int k = 0; k < 3 * STEPS; k++)
            x.force[e * 3 * STEPS + k] = test_random(&seed);
    }
    return x;
}

static void drop(numbers *x)
{
    free(x->young);
    free(x->velocity);
}

static void give(pl_batch *batch, pl_context *ctx, const numbers *x)
{
    assert_ok(ctx, pl_batch_set(batch, PL_YOUNG, COUNT, x->young));
    assert_ok(ctx, pl_batch_set(batch, PL_FRICTION, COUNT, x->friction));
    assert_ok(ctx, pl_batch_set(batch, PL_VELOCITY, COUNT, x->velocity));
}

static pl_batch *make(const test_world *w, int count, int workers)
{
    pl_batch *batch = NULL;
    pl_batch_def def = pl_batch_def_default();
    def.environments = count;
    def.workers = workers;
    assert_ok(w->ctx, pl_batch_create(w->scene, &def, &batch));
    return batch;
}

static pl_batch_run_def run_def(const numbers *x)
{
    pl_batch_run_def def = pl_batch_run_def_default();
    def.steps = STEPS;
    def.inputs.of[PL_FORCE] = x->force;
    return def;
}

static bool loss(void *user, int step, const double *q, const double *v, double *value, double *dq,
                 double *dv)
{
    int n = *(int *)user;
    for (int i = 0; i < n; i++) {
        *value += step * (q[3 * i] * q[3 * i] + v[3 * i + 2]);
        dq[3 * i] += 2 * step * q[3 * i];
        dv[3 * i + 2] += step;
    }
    return true;
}

static bool batch_loss(void *user, int environment, int step, const double *q, const double *v,
                       double *value, double *dq, double *dv)
{
    return environment >= 0 && loss(user, step, q, v, value, dq, dv);
}

/* One environment by a sim alone: its states, its gradient added to `gradient`, its loss. */
static double run_alone(test_world *w, const numbers *x, int e, double *q, double *v,
                        pl_gradient *gradient)
{
    pl_params *params = NULL;
    pl_state *state = NULL;
    pl_rollout *rollout = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    pl_adjoint_info info;
    size_t size = 3 * (size_t)w->n;
    assert_ok(w->ctx, pl_params_create(w->scene, &params));
    assert_ok(w->ctx, pl_params_set(params, PL_YOUNG, 0, x->elements, x->young + e * x->elements));
    assert_ok(w->ctx, pl_params_set(params, PL_FRICTION, 0, 1, x->friction + e));
    assert_ok(w->ctx, pl_state_create(w->scene, &state));
    memcpy(state->v, x->velocity + (size_t)e * size, sizeof(double) * size);
    def.steps = STEPS;
    def.params = params;
    def.inputs.of[PL_FORCE] = x->force + 3 * STEPS * e;
    assert_ok(w->ctx, pl_rollout_run(w->sim, state, &def, &rollout));
    for (int k = 0; k <= STEPS; k++)
        assert_ok(w->ctx, pl_rollout_state(rollout, k, q + (size_t)k * size, v + (size_t)k * size));
    assert_ok(w->ctx, pl_rollout_backward(rollout, NULL, loss, &w->n, gradient, &info));
    pl_rollout_destroy(rollout);
    pl_params_destroy(params);
    pl_state_destroy(w->scene, state);
    return info.loss;
}

/* All environments' part of a gradient's channel and one's alone. */
static void assert_gradient(const test_world *w, const pl_gradient *all, int e, const pl_gradient *one)
{
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        const pl_channel_info *info = pl_channel_get((pl_channel)c);
        if (!(wanted & PL_BIT(c)))
            continue;
        size_t size = (size_t)pl_scene_row_count(w->scene, (pl_channel)c) *
                      (size_t)info->gradient_width * (info->role == PL_INPUT ? STEPS : 1);
        assert_true(size > 0);
        assert_memory_equal(all->of[c] + (size_t)e * size, one->of[c], sizeof(double) * size);
    }
}

static void workers_do_not_matter(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    test_world w = block(ctx);
    numbers x = draw(&w);
    size_t size = (STEPS + 1) * 3 * (size_t)w.n;
    double *alone = malloc(sizeof(double) * 2 * COUNT * size), losses[COUNT];
    double *q = malloc(sizeof(double) * COUNT * size), *v = malloc(sizeof(double) * COUNT * size);
    pl_gradient *one[COUNT] = {0};
    for (int e = 0; e < COUNT; e++) {
        assert_ok(ctx, pl_gradient_create(w.scene, STEPS, wanted, &one[e]));
        losses[e] =
            run_alone(&w, &x, e, alone + (size_t)e * size, alone + (size_t)(COUNT + e) * size, one[e]);
    }
    for (int workers = 1; workers <= 3; workers++) {
        pl_batch *batch = make(&w, COUNT, workers);
        pl_rollouts *rollouts = NULL;
        pl_gradient *all = NULL;
        pl_adjoint_info infos[COUNT];
        pl_step_info steps[COUNT * STEPS] = {0};
        pl_batch_run_def def = run_def(&x);
        def.q = q, def.v = v, def.info = steps;
        assert_int_equal(pl_batch_workers(batch), workers);
        give(batch, ctx, &x);
        assert_ok(ctx, pl_batch_run(batch, &def, &rollouts));
        assert_memory_equal(q, alone, sizeof(double) * COUNT * size);
        assert_memory_equal(v, alone + COUNT * size, sizeof(double) * COUNT * size);
        assert_ok(ctx, pl_batch_gradient_create(batch, STEPS, wanted, &all));
        assert_ok(ctx, pl_rollouts_backward(rollouts, NULL, batch_loss, &w.n, all, infos));
        for (int e = 0; e < COUNT; e++) {
            assert_gradient(&w, all, e, one[e]);
            assert_true(infos[e].loss == losses[e]);
            assert_true(steps[e * STEPS + STEPS - 1].converged);
            assert_true(steps[e * STEPS + STEPS - 1].contacts > 0);
        }
        /* The same at once. */
        pl_gradient *at_once = NULL;
        assert_ok(ctx, pl_batch_gradient_create(batch, STEPS, wanted, &at_once));
        assert_ok(ctx, pl_batch_reset(batch, -1));
        give(batch, ctx, &x);
        assert_ok(ctx, pl_batch_evaluate(batch, &def, NULL, batch_loss, &w.n, at_once, infos));
        for (int e = 0; e < COUNT; e++) {
            assert_gradient(&w, at_once, e, one[e]);
            assert_true(infos[e].loss == losses[e]);
        }
        pl_gradient_destroy(w.scene, at_once);
        pl_gradient_destroy(w.scene, all);
        pl_rollouts_destroy(rollouts);
        pl_batch_destroy(batch);
    }
    for (int e = 0; e < COUNT; e++)
        pl_gradient_destroy(w.scene, one[e]);
    free(alone), free(q), free(v);
    drop(&x);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Derivatives given as arrays are the loss that has them. */
static void pulls(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(2);
    test_world w = block(ctx);
    numbers x = draw(&w);
    size_t size = 3 * (size_t)w.n, count = COUNT * (STEPS + 1) * size;
    double *q = calloc(count, sizeof(double)), *dq = calloc(count, sizeof(double)),
           *dv = calloc(count, sizeof(double));
    pl_batch *batch = make(&w, COUNT, 2);
    pl_rollouts *rollouts = NULL, *later = NULL;
    pl_gradient *by_loss = NULL, *by_arrays = NULL;
    pl_batch_run_def def = run_def(&x);
    def.q = q;
    give(batch, ctx, &x);
    assert_ok(ctx, pl_batch_run(batch, &def, &rollouts));
    for (size_t k = 0; k < COUNT * (STEPS + 1); k++)
        for (size_t i = 0; i < size; i++) {
            double step = (double)(k % (STEPS + 1));
            dq[k * size + i] = i % 3 == 0 ? 2 * step * q[k * size + i] : 0;
            dv[k * size + i] = i % 3 == 2 ? step : 0;
        }
    /* Another run of the batch leaves the tapes as they are. */
    def.q = NULL;
    assert_ok(ctx, pl_batch_set(batch, PL_FRICTION, 1, &(double){0.9}));
    assert_ok(ctx, pl_batch_run(batch, &def, &later));
    assert_ok(ctx, pl_batch_gradient_create(batch, STEPS, wanted, &by_loss));
    assert_ok(ctx, pl_batch_gradient_create(batch, STEPS, wanted, &by_arrays));
    assert_ok(ctx, pl_rollouts_backward(rollouts, NULL, batch_loss, &w.n, by_loss, NULL));
    assert_ok(ctx, pl_rollouts_pull(rollouts, NULL, dq, dv, by_arrays, NULL));
    assert_memory_equal(by_loss->of[PL_YOUNG], by_arrays->of[PL_YOUNG],
                        sizeof(double) * COUNT * (size_t)x.elements);
    assert_memory_equal(by_loss->of[PL_POSITION], by_arrays->of[PL_POSITION],
                        sizeof(double) * COUNT * size);
    pl_gradient_destroy(w.scene, by_loss);
    pl_gradient_destroy(w.scene, by_arrays);
    pl_rollouts_destroy(rollouts);
    pl_rollouts_destroy(later);
    pl_batch_destroy(batch);
    free(q), free(dq), free(dv);
    drop(&x);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A direction's derivatives and the loss's are two sides of the same sum, and those of each alone. */
static void pushes(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(2);
    test_world w = block(ctx);
    numbers x = draw(&w);
    size_t size = 3 * (size_t)w.n, row = (STEPS + 1) * size;
    double *dq = calloc(COUNT * row, sizeof(double)), *by_q = calloc(COUNT * row, sizeof(double));
    double *twice = calloc(COUNT * row, sizeof(double));
    pl_batch *batch = make(&w, COUNT, 2);
    pl_rollouts *rollouts = NULL;
    pl_gradient *along = NULL, *gradient = NULL;
    pl_batch_run_def def = run_def(&x);
    uint64_t seed = 5;
    give(batch, ctx, &x);
    assert_ok(ctx, pl_batch_run(batch, &def, &rollouts));
    assert_ok(ctx, pl_batch_gradient_create(batch, STEPS, PL_BIT(PL_YOUNG), &along));
    assert_ok(ctx, pl_batch_gradient_create(batch, STEPS, PL_BIT(PL_YOUNG), &gradient));
    for (int k = 0; k < COUNT * x.elements; k++)
        along->of[PL_YOUNG][k] = x.young[k] * test_random(&seed);
    for (size_t k = 0; k < COUNT * row; k++)
        by_q[k] = test_random(&seed);
    assert_ok(ctx, pl_rollouts_tangent(rollouts, NULL, along, dq, NULL, NULL));
    assert_ok(ctx, pl_rollouts_pull(rollouts, NULL, by_q, NULL, gradient, NULL));
    for (int e = 0; e < COUNT; e++) {
        double forward = 0, backward = 0;
        for (size_t i = 0; i < row; i++)
            forward += by_q[e * row + i] * dq[e * row + i];
        for (int i = e * x.elements; i < (e + 1) * x.elements; i++)
            backward += gradient->of[PL_YOUNG][i] * along->of[PL_YOUNG][i];
        assert_true(forward != 0);
        assert_close(forward, backward, 1e-6 * fabs(forward));
    }
    pl_batch *single = make(&w, COUNT, 1);
    pl_rollouts *again = NULL;
    give(single, ctx, &x);
    assert_ok(ctx, pl_batch_run(single, &def, &again));
    assert_ok(ctx, pl_rollouts_tangent(again, NULL, along, twice, NULL, NULL));
    assert_memory_equal(twice, dq, sizeof(double) * COUNT * row);
    pl_rollouts_destroy(again);
    pl_batch_destroy(single);
    pl_gradient_destroy(w.scene, along);
    pl_gradient_destroy(w.scene, gradient);
    pl_rollouts_destroy(rollouts);
    pl_batch_destroy(batch);
    free(dq), free(by_q), free(twice);
    drop(&x);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Two that cannot be run are told by their index; the others are as without them. */
static void environments_fail_alone(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    test_world w = block(ctx);
    numbers x = draw(&w), bad = x;
    size_t size = 3 * (size_t)w.n;
    bad.force[3 * STEPS * 1 + 3 * 2] = NAN;
    bad.force[3 * STEPS * 3] = INFINITY;
    for (int workers = 1; workers <= 3; workers++) {
        pl_batch *whole = make(&w, COUNT, workers), *some = make(&w, COUNT, workers);
        pl_rollouts *all = NULL, *most = NULL;
        pl_gradient *of_whole = NULL, *of_some = NULL;
        pl_batch_run_def def = run_def(&x), failing = run_def(&bad);
        const char *message = NULL;
        give(whole, ctx, &x);
        give(some, ctx, &x);
        assert_ok(ctx, pl_batch_run(whole, &def, &all));
        assert_int_equal(pl_batch_run(some, &failing, &most), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(pl_context_error(ctx), "environment 1: "));
        assert_non_null(strstr(pl_context_error(ctx), "(2 of 5 environments failed)"));
        for (int e = 0; e < COUNT; e++) {
            bool failed = e == 1 || e == 3;
            assert_int_equal(pl_batch_status(some, e, &message), failed ? PL_ERROR_ARGUMENT : PL_OK);
            assert_int_equal(strstr(message, "inputs.force") != NULL, failed);
            assert_int_equal(pl_batch_state(some, e)->step, e == 1 ? 2 : e == 3 ? 0 : STEPS);
            if (!failed)
                assert_memory_equal(pl_batch_state(some, e)->q, pl_batch_state(whole, e)->q,
                                    sizeof(double) * size);
        }
        assert_ok(ctx, pl_batch_gradient_create(whole, STEPS, wanted, &of_whole));
        assert_ok(ctx, pl_batch_gradient_create(some, STEPS, wanted, &of_some));
        assert_ok(ctx, pl_rollouts_backward(all, NULL, batch_loss, &w.n, of_whole, NULL));
        assert_int_equal(pl_rollouts_backward(most, NULL, batch_loss, &w.n, of_some, NULL),
                         PL_ERROR_ARGUMENT);
        assert_non_null(strstr(pl_context_error(ctx), "environment 1: it failed in the run"));
        int count = 0;
        pl_contact *contacts = NULL;
        const pl_state *last = pl_batch_state(whole, 4);
        assert_refused(ctx, pl_rollouts_contacts(most, 3, 1, &count, &contacts),
                       "environment 3: it failed in the run");
        assert_refused(ctx, pl_rollouts_contacts(most, 0, STEPS + 1, &count, &contacts),
                       "environment 0: step = 7");
        assert_refused(ctx, pl_rollouts_contacts(most, -1, 1, &count, &contacts),
                       "environment = -1: the batch has 5");
        assert_ok(ctx, pl_rollouts_contacts(most, 4, STEPS, &count, &contacts));
        assert_true(count > 0 && count == last->contact_count);
        for (int c = 0; c < count; c++)
            assert_true(contacts[c].force_normal == last->contacts[c].force_normal);
        pl_free(ctx, contacts);
        for (int e = 0; e < COUNT; e++) {
            const double *young = of_some->of[PL_YOUNG] + e * x.elements;
            if (e == 1 || e == 3)
                assert_true(young[0] == 0);
            else
                assert_memory_equal(young, of_whole->of[PL_YOUNG] + e * x.elements,
                                    sizeof(double) * (size_t)x.elements);
        }
        /* Another run, and all is well. */
        assert_ok(ctx, pl_batch_reset(some, -1));
        give(some, ctx, &x);
        assert_ok(ctx, pl_batch_run(some, &def, NULL));
        assert_int_equal(pl_batch_status(some, 1, &message), PL_OK);
        assert_string_equal(message, "");
        assert_memory_equal(pl_batch_state(some, 1)->q, pl_batch_state(whole, 1)->q,
                            sizeof(double) * size);
        pl_gradient_destroy(w.scene, of_whole);
        pl_gradient_destroy(w.scene, of_some);
        pl_rollouts_destroy(all);
        pl_rollouts_destroy(most);
        pl_batch_destroy(whole);
        pl_batch_destroy(some);
    }
    drop(&x);
    world_free(&w);
    pl_context_destroy(ctx);
}

static bool stop_third(void *user, int environment, int step, const pl_state *state,
                       const pl_step_info *info)
{
    (void)user, (void)state, (void)info;
    return !(environment == 2 && step == 2);
}

static void stops(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    test_world w = block(ctx);
    numbers x = draw(&w);
    pl_batch *batch = make(&w, COUNT, 1);
    pl_batch_run_def def = run_def(&x);
    def.progress = stop_third;
    assert_int_equal(pl_batch_run(batch, &def, NULL), PL_ERROR_INTERRUPTED);
    for (int e = 0; e < COUNT; e++) {
        assert_int_equal(pl_batch_status(batch, e, NULL), e < 2 ? PL_OK : PL_ERROR_INTERRUPTED);
        assert_int_equal(pl_batch_state(batch, e)->step, e < 2 ? STEPS : e == 2 ? 2 : 0);
    }
    pl_batch_destroy(batch);
    drop(&x);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A run goes on where the last one ended, and one input may serve all. */
static void runs_follow_each_other(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    test_world w = block(ctx);
    numbers x = draw(&w);
    pl_batch *batch = make(&w, 3, 2);
    pl_batch_run_def def = run_def(&x);
    pl_rollout_def one = pl_rollout_def_default();
    one.steps = STEPS;
    one.inputs.of[PL_FORCE] = x.force;
    def.inputs_for[PL_FORCE] = 1;
    for (int round = 0; round < 2; round++) {
        pl_rollout *rollout = NULL;
        assert_ok(ctx, pl_batch_run(batch, &def, NULL));
        assert_ok(ctx, pl_rollout_run(w.sim, w.state, &one, &rollout));
        pl_rollout_destroy(rollout);
    }
    for (int e = 0; e < 3; e++) {
        const pl_state *state = pl_batch_state(batch, e);
        assert_int_equal(state->step, 2 * STEPS);
        assert_memory_equal(state->q, w.state->q, sizeof(double) * 3 * (size_t)w.n);
        assert_memory_equal(state->v, w.state->v, sizeof(double) * 3 * (size_t)w.n);
    }
    pl_batch_destroy(batch);
    drop(&x);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Tapes that do not fit are made again, for the same gradient. */
static void keeps_its_budget(void **unused)
{
    (void)unused;
    enum { LONG = 200, FEW = 2 };
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 3e4),
              world_grid(ctx, 3, 3, 3, 0.05, 0, 0, 1e-3));
    world_floor(&w, 0, 0.4);
    world_start(&w);
    pl_batch *batch = make(&w, FEW, 2);
    pl_rollouts *rollouts = NULL;
    pl_gradient *all = NULL, *limited = NULL;
    pl_batch_run_def def = pl_batch_run_def_default();
    pl_adjoint_info infos[FEW];
    def.steps = LONG;
    assert_ok(ctx, pl_batch_gradient_create(batch, LONG, PL_BIT(PL_VELOCITY), &all));
    assert_ok(ctx, pl_batch_gradient_create(batch, LONG, PL_BIT(PL_VELOCITY), &limited));
    assert_ok(ctx, pl_batch_run(batch, &def, &rollouts));
    assert_ok(ctx, pl_rollouts_backward(rollouts, NULL, batch_loss, &w.n, all, infos));
    size_t whole = pl_rollouts_bytes(rollouts);
    assert_int_equal(infos[1].recomputed, 0);
    def.memory_budget = whole / 2;
    pl_rollouts_destroy(rollouts);
    assert_ok(ctx, pl_batch_reset(batch, 0));
    assert_ok(ctx, pl_batch_reset(batch, 1));
    assert_ok(ctx, pl_batch_run(batch, &def, &rollouts));
    assert_ok(ctx, pl_rollouts_backward(rollouts, NULL, batch_loss, &w.n, limited, infos));
    assert_true(infos[0].recomputed > 0 && infos[1].recomputed > 0);
    assert_true(pl_rollouts_bytes(rollouts) <= whole / 2);
    assert_memory_equal(all->of[PL_VELOCITY], limited->of[PL_VELOCITY],
                        sizeof(double) * FEW * 3 * (size_t)w.n);
    pl_gradient_destroy(w.scene, all);
    pl_gradient_destroy(w.scene, limited);
    pl_rollouts_destroy(rollouts);
    pl_batch_destroy(batch);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void refuses(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    test_world w = block(ctx);
    numbers x = draw(&w);
    pl_batch *batch = NULL;
    pl_batch_def none = {.environments = 0}, crowd = {.environments = 2, .workers = 1025};
    pl_batch_run_def def = run_def(&x);
    pl_gradient *gradient = NULL;
    pl_rollouts *rollouts = NULL;
    assert_refused(ctx, pl_batch_create(w.scene, &none, &batch), "environments = 0");
    assert_refused(ctx, pl_batch_create(w.scene, &crowd, &batch), "workers = 1025");
    batch = make(&w, COUNT, 0);
    assert_int_equal(pl_batch_environments(batch), COUNT);
    assert_int_equal(pl_batch_workers(batch), 1);
    assert_null(pl_batch_params(batch, COUNT));
    assert_null(pl_batch_state(batch, -1));
    assert_refused(ctx, pl_batch_set(batch, PL_YOUNG, 3, x.young),
                   "young: values for 3 environments, expected 1 or the batch's 5");
    assert_refused(ctx, pl_batch_set(batch, PL_FORCE, COUNT, x.force), "force is neither");
    x.young[2 * x.elements + 1] = -1;
    assert_refused(ctx, pl_batch_set(batch, PL_YOUNG, COUNT, x.young),
                   "environment 2: young of element 1 = -1");
    x.velocity[4 * 3 * w.n + 3] = NAN;
    assert_refused(ctx, pl_batch_set(batch, PL_VELOCITY, COUNT, x.velocity),
                   "environment 4: velocity of vertex 1 is not finite");
    assert_refused(ctx, pl_batch_status(batch, 5, NULL), "environment = 5: the batch has 5");
    assert_refused(ctx, pl_batch_reset(batch, -2), "environment = -2");
    assert_ok(ctx, pl_batch_gradient_create(batch, STEPS + 1, wanted, &gradient));
    def.inputs_for[PL_FORCE] = 4;
    assert_refused(ctx, pl_batch_run(batch, &def, NULL),
                   "inputs.force: values for 4 environments, expected 1 or the batch's 5");
    def.inputs_for[PL_FORCE] = 0;
    def.steps = 0;
    assert_refused(ctx, pl_batch_run(batch, &def, NULL), "steps = 0");
    def.steps = STEPS;
    assert_ok(ctx, pl_batch_run(batch, &def, &rollouts));
    assert_refused(ctx, pl_rollouts_pull(rollouts, NULL, NULL, NULL, gradient, NULL),
                   "gradient: made for 7 steps, the run has 6");
    /* Its parts stay while it exists. */
    pl_collider_def ball = pl_collider_def_default();
    assert_refused(ctx, pl_scene_add_collider(w.scene, &ball, NULL), "new parts");
    pl_gradient_destroy(w.scene, gradient);
    pl_rollouts_destroy(rollouts);
    pl_batch_destroy(batch);
    drop(&x);
    world_free(&w);
    pl_context_destroy(ctx);
}

static pl_status run_short(pl_context *ctx, void *user)
{
    (void)user;
    pl_status status;
    pl_scene *scene = NULL;
    pl_mesh *mesh = NULL;
    pl_batch *batch = NULL;
    pl_gradient *gradient = NULL;
    pl_rollouts *rollouts = NULL;
    pl_contact *contacts = NULL;
    int count;
    pl_body_def body = pl_body_def_default();
    pl_batch_def def = {.environments = 2, .workers = 1};
    pl_batch_run_def run = pl_batch_run_def_default();
    const double size[3] = {0.1, 0.1, 0.1};
    run.steps = 2;
    if ((status = pl_mesh_box(ctx, size, 0.1, &mesh)) != PL_OK)
        goto done;
    body.mesh = mesh;
    if ((status = pl_scene_create(ctx, NULL, &scene)) == PL_OK &&
        (status = pl_scene_add_body(scene, &body, NULL)) == PL_OK &&
        (status = pl_batch_create(scene, &def, &batch)) == PL_OK &&
        (status = pl_batch_run(batch, &run, &rollouts)) == PL_OK &&
        (status = pl_batch_gradient_create(batch, 2, wanted, &gradient)) == PL_OK)
        status = pl_rollouts_pull(rollouts, NULL, NULL, NULL, gradient, NULL);
    if (status == PL_OK && (status = pl_rollouts_contacts(rollouts, 1, 1, &count, &contacts)) == PL_OK)
        pl_free(ctx, contacts);
done:
    if (scene)
        pl_gradient_destroy(scene, gradient);
    pl_rollouts_destroy(rollouts);
    pl_batch_destroy(batch);
    pl_scene_destroy(scene);
    pl_mesh_free(ctx, mesh);
    return status;
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    assert_true(test_fail_every_allocation(run_short, NULL) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_do_not_matter),
        cmocka_unit_test(pulls),
        cmocka_unit_test(pushes),
        cmocka_unit_test(environments_fail_alone),
        cmocka_unit_test(stops),
        cmocka_unit_test(runs_follow_each_other),
        cmocka_unit_test(keeps_its_budget),
        cmocka_unit_test(refuses),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
