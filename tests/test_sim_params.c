/* Parameters as values: who shares them, and that a rollout goes by those it was run with. */
#include "common_scene.h"

#include "sim/sim.h"

enum { STEPS = 70 }; /* more than a block of the tape */

/* A block thrown at the floor. */
static test_world thrown(pl_context *ctx)
{
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    def.velocity[0] = 1, def.velocity[2] = -1;
    world_add(&w, def, world_grid(ctx, 3, 3, 3, 0.02, 0, 0, 0.005));
    world_floor(&w, 0, 0.3);
    world_start(&w);
    return w;
}

static bool height(void *user, int step, const double *q, const double *v, double *value, double *dq,
                   double *dv)
{
    (void)v, (void)dv;
    int n = *(int *)user;
    for (int i = 0; step == STEPS && i < n; i++) {
        *value += q[3 * i] * q[3 * i + 2];
        dq[3 * i] += q[3 * i + 2];
        dq[3 * i + 2] += q[3 * i];
    }
    return true;
}

static const pl_channels wanted =
    PL_BIT(PL_YOUNG) | PL_BIT(PL_DENSITY) | PL_BIT(PL_FRICTION) | PL_BIT(PL_VELOCITY);

/* The gradient of a rollout; with `change` other parameters are set between it and its sweep. */
static pl_gradient *gradient_of(test_world *w, const pl_params *params, size_t budget, bool change)
{
    pl_rollout *rollout = NULL;
    pl_gradient *g = NULL;
    pl_state *state = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    double stiff = 4e5, rough = 0.9, young = 1e5, mu = 0.3;
    pl_params *own = pl_scene_params(w->scene);
    def.steps = STEPS;
    def.memory_budget = budget;
    def.params = params;
    assert_ok(w->ctx, pl_state_create(w->scene, &state));
    assert_ok(w->ctx, pl_rollout_run(w->sim, state, &def, &rollout));
    if (change) {
        assert_ok(w->ctx, pl_params_set(own, PL_YOUNG, 0, 1, &stiff));
        assert_ok(w->ctx, pl_params_set(own, PL_FRICTION, 0, 1, &rough));
    }
    assert_ok(w->ctx, pl_gradient_create(w->scene, STEPS, wanted, &g));
    assert_ok(w->ctx, pl_rollout_backward(rollout, NULL, height, &w->n, g, NULL));
    if (change) {
        assert_ok(w->ctx, pl_params_set(own, PL_YOUNG, 0, 1, &young));
        assert_ok(w->ctx, pl_params_set(own, PL_FRICTION, 0, 1, &mu));
    }
    pl_rollout_destroy(rollout);
    pl_state_destroy(w->scene, state);
    return g;
}

static void assert_same_bits(const test_world *w, const pl_gradient *a, const pl_gradient *b)
{
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (a->of[c])
            assert_memory_equal(a->of[c], b->of[c],
                                sizeof(double) * pl_gradient_size(w->scene, (pl_channel)c, STEPS));
}

static void a_sweep_goes_by_what_the_rollout_was_run_with(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx);
    pl_gradient *plain = gradient_of(&w, NULL, 0, false);
    for (int limited = 0; limited < 2; limited++) {
        pl_gradient *changed = gradient_of(&w, NULL, limited ? 1 : 0, true);
        assert_same_bits(&w, plain, changed);
        pl_gradient_destroy(w.scene, changed);
    }
    assert_true(plain->of[PL_FRICTION][0] != 0);
    pl_gradient_destroy(w.scene, plain);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void parameters_of_ones_own_serve_as_the_scenes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx);
    double stiff = 4e5;
    pl_params *mine = NULL;
    pl_gradient *soft = gradient_of(&w, NULL, 0, false);
    assert_ok(ctx, pl_params_create(w.scene, &mine));
    assert_ok(ctx, pl_params_set(mine, PL_YOUNG, 0, 1, &stiff));
    pl_gradient *by_mine = gradient_of(&w, mine, 0, false), *again = gradient_of(&w, NULL, 0, false);
    assert_same_bits(&w, soft, again);
    assert_true(by_mine->of[PL_YOUNG][0] != soft->of[PL_YOUNG][0]);
    assert_ok(ctx, pl_params_set(pl_scene_params(w.scene), PL_YOUNG, 0, 1, &stiff));
    pl_gradient *by_scene = gradient_of(&w, NULL, 0, false);
    assert_same_bits(&w, by_mine, by_scene);
    pl_gradient *all[] = {soft, by_mine, again, by_scene};
    for (int k = 0; k < 4; k++)
        pl_gradient_destroy(w.scene, all[k]);
    pl_params_destroy(mine);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void values_are_copied_only_when_others_hold_them(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    world_add(&w, pl_body_def_default(), world_grid(ctx, 2, 2, 2, 0.02, 0, 0, 0));
    pl_params *own = pl_scene_params(w.scene), *mine = NULL;
    const pl_values *first = own->values;
    double soft = 1e4;
    assert_ok(ctx, pl_params_set(own, PL_YOUNG, 0, 1, &soft));
    assert_ptr_equal(own->values, first);
    assert_ok(ctx, pl_params_create(w.scene, &mine));
    assert_ptr_equal(mine->values, first);
    assert_ok(ctx, pl_params_set(mine, PL_DENSITY, 0, 1, &soft));
    assert_ptr_not_equal(mine->values, first);
    assert_ptr_equal(own->values, first);
    assert_true(mine->values->of[PL_YOUNG][0] == soft && own->values->of[PL_DENSITY][0] == 1000);
    pl_mesh *mesh = world_grid(ctx, 2, 2, 2, 0.02, 0, 0, 0);
    pl_body_def def = pl_body_def_default();
    def.mesh = mesh;
    assert_int_equal(pl_scene_add_body(w.scene, &def, NULL), PL_ERROR_ARGUMENT);
    pl_params_destroy(mine);
    assert_ok(ctx, pl_scene_add_body(w.scene, &def, NULL));
    pl_mesh_free(ctx, mesh);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void parameters_of_another_scene_are_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx), other = thrown(ctx);
    pl_rollout *rollout = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    def.params = pl_scene_params(other.scene);
    assert_int_equal(pl_rollout_run(w.sim, w.state, &def, &rollout), PL_ERROR_ARGUMENT);
    assert_null(rollout);
    assert_non_null(strstr(pl_context_error(ctx), "params"));
    world_free(&w);
    world_free(&other);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_goes_by_what_the_rollout_was_run_with),
        cmocka_unit_test(parameters_of_ones_own_serve_as_the_scenes),
        cmocka_unit_test(values_are_copied_only_when_others_hold_them),
        cmocka_unit_test(parameters_of_another_scene_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
