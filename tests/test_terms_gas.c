/* Chambers that hold a given amount of gas: its law, what it does to walls, derivatives alone and with
 * friction, in every solver and when steps are split, and what is refused. */
#include "terms_chamber.h"

#include <pliant/io.h>

extern const pl_term pl_term_chamber;

#define AMBIENT 101325

static double pressure(const test_world *w)
{
    double out;
    assert_ok(w->ctx, pl_chamber_pressure(w->scene, 0, w->state, &out));
    return out;
}

/* ------------------------------------------------------------------------------- one by one */

/* Also of a cavity pressed to less than a hundredth of its volume, where the law goes on in a line. */
static void forces_and_tangents_are_derivatives(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = cube_with(ctx, world_def(0.01, 0, 0, 0), 7, true, 3e3, (pl_table){0});
    int body = world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG), hollow(ctx, 0.3, 7));
    pl_chamber_def second = chamber_of(true, body, -2e4, (pl_table){0});
    assert_ok(ctx, pl_scene_add_chamber(w.scene, &second, NULL));
    world_start(&w);
    pl_substep s = term_substep(&w, 0.01);
    for (int pressed = 0; pressed < 2; pressed++) {
        double *q = term_shaken(&w, 0.01, 3);
        for (int i = 2; pressed && i < 3 * w.n; i += 3)
            q[i] = 7.1 + 0.004 * (q[i] - 7.1);
        term_errors e = term_compare(&pl_term_chamber, &s, q, pressed ? 5e-3 : 0.05);
        if (!(e.force < 1e-8 && e.tangent < 1e-8 && e.multiply < 1e-12 && e.asymmetry < 1e-9 &&
              e.net_force < 1e-14 && e.net_torque < 1e-13))
            fail_msg("force %.2g, tangent %.2g, product %.2g, asymmetry %.2g, net %.2g, %.2g", e.force,
                     e.tangent, e.multiply, e.asymmetry, e.net_force, e.net_torque);
        double *clamped = term_matrix(&pl_term_chamber, &s, q, true);
        assert_true(term_positive(clamped, 3 * w.n));
        free(q);
        free(clamped);
    }
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Boyle: (p + p_a) V stays. Walls at rest are where the same pressure, given, has them. */
static void gas_at_rest_is_a_given_pressure(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = cube_with(ctx, world_def(0.3, 0, 0, 0), 0, true, 2e4, (pl_table){0});
    world_start(&w);
    world_steps(&w, 40);
    double p = pressure(&w), grown = volume(&w, 0) / 1e-3;
    assert_close(p + AMBIENT, (2e4 + AMBIENT) / grown, 1e-9 * AMBIENT);
    assert_true(grown > 1.05 && p < 1.5e4);
    test_world given = world_new(ctx, world_def(0.3, 0, 0, 0));
    int body = world_add(&given, world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG), hollow(ctx, 0, 0));
    pl_chamber_def def = pl_chamber_def_default();
    def.body = body;
    def.pressure = p;
    assert_ok(ctx, pl_scene_add_chamber(given.scene, &def, NULL));
    world_start(&given);
    world_steps(&given, 40);
    assert_close(volume(&given, 0) / 1e-3, grown, 1e-8);
    assert_close(pressure(&given), p, 0);
    world_free(&w);
    world_free(&given);
    pl_context_destroy(ctx);
}

/* More of it than walls hold as a given pressure: it swells until the pressure has fallen. */
static void gas_swells_past_the_limit_of_pressure(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static const double time[] = {0, 0.2}, values[] = {0, 8e4};
    test_world w = cube_with(ctx, world_def(0.01, 0, 0, 0), 0, true, 0, (pl_table){2, time, values});
    world_start(&w);
    int iterations = 0;
    for (int k = 0; k < 40; k++) {
        pl_step_info info = world_step(&w);
        assert_int_equal(info.splits, 0);
        iterations += info.iterations;
    }
    assert_true(volume(&w, 0) > 1.3e-3 && pressure(&w) < 0.35 * YOUNG);
    assert_true(iterations <= 40 * 8);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- together */

/* Gas that is pumped in and drawn out. */
static const chamber_kind kind = {true, {0, 3e4, -2e4}, 1.5e5};

static void gradients_agree_with_differences(void **state)
{
    (void)state;
    check_gradients(&kind);
}

static void gradients_of_split_steps(void **state)
{
    (void)state;
    check_split_gradients(&kind);
}

static void every_solver_finds_the_same_motion(void **state)
{
    (void)state;
    check_solvers(&kind);
}

static void every_adjoint_finds_the_same_gradient(void **state)
{
    (void)state;
    check_adjoints(&kind);
}

/* ------------------------------------------------------------------------------- interfaces */

static void amounts_below_nothing_are_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = cube_with(ctx, world_def(0.01, 0, 0, 0), 0, true, 0, (pl_table){0});
    pl_chamber_def def = chamber_of(true, 0, -1.1e5, (pl_table){0});
    assert_int_equal(pl_scene_add_chamber(w.scene, &def, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "pressure = -110000: expected >= -101325"));
    for (int k = 0; k < 2; k++) {
        def = chamber_of(true, 0, 0, (pl_table){0});
        def.ambient = k ? NAN : -1;
        assert_int_equal(pl_scene_add_chamber(w.scene, &def, NULL), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(pl_context_error(ctx), "ambient ="));
    }
    world_start(&w);
    double low = -1.1e5;
    pl_inputs inputs = {.of[PL_PRESSURE] = &low};
    assert_int_equal(pl_step(w.sim, w.state, &inputs, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "inputs.pressure[0] = -110000: expected >= -101325"));
    assert_int_equal(pl_chamber_pressure(w.scene, 1, w.state, &low), PL_ERROR_ARGUMENT);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void scene_files_have_it(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const char text[] = "{\"version\": 1, \"bodies\": [{\"name\": \"cube\", \"mesh\": {\"hollow_box\": "
                        "{\"size\": [0.3, 0.3, 0.4], \"wall\": 0.1, \"cell\": 0.1}}}], \"chambers\": "
                        "[{\"body\": 0, \"gas\": true, \"pressure\": 50, \"ambient\": 9e4}]}";
    pl_scene *scene = NULL, *twin = NULL;
    char *again = NULL;
    assert_ok(ctx, pl_scene_load_text(ctx, text, strlen(text), "s", NULL, 0, NULL, &scene, NULL));
    assert_ok(ctx, pl_scene_text(scene, NULL, &again));
    assert_ok(ctx, pl_scene_load_text(ctx, again, strlen(again), "t", NULL, 0, NULL, &twin, NULL));
    pl_chamber_def def;
    assert_ok(ctx, pl_scene_chamber(twin, 0, &def));
    assert_true(def.gas && def.ambient == 9e4 && def.pressure == 50);
    pl_free(ctx, again);
    const char *const without[] = {"chambers[0].gas=false"}; /* which would be told nothing */
    pl_scene *none;
    assert_int_equal(pl_scene_load_text(ctx, text, strlen(text), "s", NULL, 1, without, &none, NULL),
                     PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "chambers[0]: \"ambient\" goes with \"gas\""));
    pl_scene_destroy(twin);
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_and_tangents_are_derivatives),
        cmocka_unit_test(gas_at_rest_is_a_given_pressure),
        cmocka_unit_test(gas_swells_past_the_limit_of_pressure),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(gradients_of_split_steps),
        cmocka_unit_test(every_solver_finds_the_same_motion),
        cmocka_unit_test(every_adjoint_finds_the_same_gradient),
        cmocka_unit_test(amounts_below_nothing_are_refused),
        cmocka_unit_test(scene_files_have_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
