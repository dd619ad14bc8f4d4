/*
 * Contexts in threads of their own do not know of each other: two at the same time, stepping and
 * sweeping, give the bits that one alone gives. Under the thread sanitizer this finds what they share.
 */
#include "common.h"

#include <pliant/io.h>

#include <pthread.h>

enum { STEPS = 4, ROUNDS = 2, THREADS = 2 };

/* A block and a sheet on a floor, with friction; the solver is the thread's. */
static const char scene_text[] =
    "{\"version\": 1, \"bodies\": [{\"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cell\": 0.05}}, "
    "\"transform\": {\"translate\": [0, 0, 0.001]}, \"velocity\": [0.3, 0, -0.2]}, {\"mesh\": "
    "{\"rectangle\": {\"width\": 0.2, \"height\": 0.2, \"cell\": 0.1}}, \"transform\": {\"translate\": "
    "[1, 0, 0.002]}, \"material\": {\"bending\": 1e-4}}], \"colliders\": [{\"shape\": {\"half_space\": "
    "{}}, \"friction\": 0.3}]}";

typedef struct job {
    const char *solver;
    double *q;        /* [3n] at the end */
    double *velocity; /* [3n] of the gradient */
    int count;        /* 3n */
    pthread_barrier_t *together;
} job;

static bool loss(void *user, int step, const double *q, const double *v, double *value, double *dq,
                 double *dv)
{
    (void)user, (void)q, (void)dv;
    *value += step * v[0];
    dq[0] += step;
    return true;
}

static void roll_and_sweep(job *j, pl_context *ctx, pl_scene *scene)
{
    pl_sim *sim = NULL;
    pl_state *state = NULL;
    pl_rollout *rollout = NULL;
    pl_gradient *gradient = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    pl_adjoint_def adjoint = pl_adjoint_def_default();
    def.steps = STEPS;
    assert_ok(ctx, pl_sim_create(scene, &sim));
    assert_ok(ctx, pl_state_create(scene, &state));
    for (int k = 0; k < STEPS; k++)
        assert_ok(ctx, pl_step(sim, state, NULL, NULL));
    assert_ok(ctx, pl_rollout_run(sim, state, &def, &rollout));
    assert_ok(ctx, pl_gradient_create(scene, STEPS, ~0ull, &gradient));
    assert_ok(ctx, pl_rollout_backward(rollout, &adjoint, loss, NULL, gradient, NULL));
    size_t bytes = sizeof(double) * (size_t)(j->count = 3 * state->vertex_count);
    j->q = realloc(j->q, bytes);
    j->velocity = realloc(j->velocity, bytes);
    assert_ok(ctx, pl_rollout_state(rollout, STEPS, j->q, NULL));
    memcpy(j->velocity, gradient->of[PL_VELOCITY], bytes);
    pl_gradient_destroy(scene, gradient);
    pl_rollout_destroy(rollout);
    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
}

/* From the context on, again and again. */
static void *work(void *user)
{
    job *j = user;
    char solver[64];
    const char *overrides[] = {solver};
    snprintf(solver, sizeof solver, "solver=%s", j->solver);
    for (int round = 0; round < ROUNDS; round++) {
        if (j->together)
            pthread_barrier_wait(j->together);
        pl_context *ctx = test_context(1);
        pl_scene *scene = NULL;
        assert_ok(ctx, pl_scene_load_text(ctx, scene_text, sizeof scene_text - 1, "t", NULL, 1,
                                          overrides, &scene, NULL));
        roll_and_sweep(j, ctx, scene);
        pl_scene_destroy(scene);
        pl_context_destroy(ctx);
    }
    return NULL;
}

static void contexts_do_not_meet(void **state)
{
    (void)state;
    static const char *const solvers[] = {"direct", "lagged", "constant"};
    for (int s = 0; s < 3; s++) {
        job alone[THREADS] = {{.solver = solvers[s]}, {.solver = solvers[(s + 1) % 3]}}, both[THREADS];
        pthread_t threads[THREADS];
        pthread_barrier_t together;
        assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
        for (int t = 0; t < THREADS; t++) {
            work(&alone[t]);
            both[t] = (job){.solver = alone[t].solver, .together = &together};
        }
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, work, &both[t]), 0);
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(pthread_join(threads[t], NULL), 0);
        for (int t = 0; t < THREADS; t++) {
            size_t bytes = sizeof(double) * (size_t)alone[t].count;
            assert_memory_equal(both[t].q, alone[t].q, bytes);
            assert_memory_equal(both[t].velocity, alone[t].velocity, bytes);
            free(alone[t].q), free(alone[t].velocity);
            free(both[t].q), free(both[t].velocity);
        }
        pthread_barrier_destroy(&together);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contexts_do_not_meet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
