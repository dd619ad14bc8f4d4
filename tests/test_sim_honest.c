/*
 * Converged means it: steps end where an independent solve with a far smaller tolerance ends. The
 * scenes are such that corrections in the metric of an old factor, or of the constant matrix, seem to
 * be small while the body is still turning.
 */
#include "common_scene.h"

#include <pliant/io.h>

typedef struct hard_case {
    const char *name;
    int steps;
    double allowed; /* m */
    const char *text;
} hard_case;

/* allowed: ten times the tolerance of a step, 1e-10 m, but where the reason is given. */
static const hard_case cases[] = {
    {"a stiff, light body spins between plates", 1, 1e-9,
     "{\"version\": 1, \"time_step\": 0.01, \"bodies\": [{\"mesh\": {\"ellipsoid\": {\"radii\": "
     "[0.0203, "
     "0.0207, 0.0252], \"cell\": 0.0135}}, \"material\": {\"model\": \"corotated\", \"young\": 2.55e8, "
     "\"poisson\": 0.45, \"density\": 35.6, \"damping\": 0.07}, \"transform\": {\"rotate\": {\"axis\": "
     "[-0.1646, 0.9827, 0.0853], \"degrees\": 135.84}, \"translate\": [0, 0, 0.02277]}, \"velocity\": "
     "[-0.0824, 0.1075, 0.0044], \"angular_velocity\": [33.57, -16.72, 28.09]}], \"colliders\": "
     "[{\"shape\": {\"half_space\": {}}, \"friction\": 0}, {\"shape\": {\"half_space\": {}}, "
     "\"friction\": "
     "0.001, \"table\": [[0, 0, 0, 0.04634, 0, 1, 0, 0], [0.1858, 0, 0, 0.0276, 0, 1, 0, 0]]}]}"},
    {"a stiff sheet spins freely", 3, 1e-9,
     "{\"version\": 1, \"time_step\": 0.033, \"gravity\": [0, 0, 0], \"bodies\": [{\"mesh\": "
     "{\"rectangle\": {\"width\": 0.2, \"height\": 0.2, \"cell\": 0.04}}, \"material\": {\"model\": "
     "\"corotated\", \"young\": 1e9, \"density\": 10}, \"angular_velocity\": [0, 1.8, 2.4]}]}"},
    {"a stiff cylinder in the wind, just above the floor", 3, 1e-9,
     "{\"version\": 1, \"time_step\": 0.01121, \"bodies\": [{\"mesh\": {\"cylinder\": {\"radius\": "
     "0.013687, \"height\": 0.030645, \"cell\": 0.0095165}}, \"material\": {\"young\": 34336456, "
     "\"poisson\": 0.499, \"density\": 624.23}, \"transform\": {\"translate\": [0, 0, 0.016464]}, "
     "\"velocity\": [0.0443, -0.047, -0.0635], \"angular_velocity\": [-0.4031, -0.8201, 0.1295]}], "
     "\"colliders\": [{\"shape\": {\"half_space\": {}}, \"friction\": 0.001}], \"wind\": [{\"body\": "
     "0, "
     "\"drag\": 0.01667, \"velocity\": [-2.527, 10.25, 0.9555]}]}"},
    {"a stiff cylinder thrown, by the constant matrix", 10, 1e-9,
     "{\"version\": 1, \"solver\": \"constant\", \"time_step\": 0.01, \"bodies\": [{\"mesh\": "
     "{\"cylinder\": {\"radius\": 0.0453, \"height\": 0.1253, \"cell\": 0.0405}}, \"material\": "
     "{\"model\": "
     "\"corotated\", \"reading\": \"projective\", \"young\": 2.6e8, \"poisson\": 0.499, \"density\": "
     "11.42, "
     "\"damping\": 0.029}, \"transform\": {\"translate\": [0.0444, 0.0237, 0.35]}, \"velocity\": "
     "[-0.0976, "
     "0.3689, 0.3116], \"angular_velocity\": [0.6318, -1.5928, -1.0222]}], \"colliders\": [{\"shape\": "
     "{\"half_space\": {}}, \"friction\": 0.5}]}"},
    {"a stiff body on springs, pulled over the floor, by the constant matrix", 10, 1e-9,
     "{\"version\": 1, \"time_step\": 0.1, \"solver\": \"constant\", \"bodies\": [{\"mesh\": "
     "{\"ellipsoid\": {\"radii\": [0.0177, 0.0139, 0.02236], \"cell\": 0.00795}}, \"material\": "
     "{\"young\": 151500000.0, \"poisson\": 0.45, \"density\": 128}, \"transform\": {\"rotate\": "
     "{\"axis\": [-0.555, -0.8209, -0.1345], \"degrees\": 260.49}, \"translate\": [0, 0, 0.0373]}, "
     "\"velocity\": [-16.155, 5.045, -7.11]}], \"colliders\": [{\"shape\": {\"half_space\": {}}, "
     "\"friction\": 0.2877}], \"wind\": [{\"body\": 0, \"drag\": 0.3758, \"velocity\": [-11.9, -0.146, "
     "-4.375]}], \"pins\": [{\"body\": 0, \"vertices\": [16, 20, 21, 30, 33, 36, 37, 38, 39], "
     "\"compliance\": 6.3e-05, \"offset\": [[0, 0, 0, 0], [1, -0.0019, -0.0034, -0.0151]]}]}"},
};

/* The scene, with another solver and tolerance if they are given. */
static test_world load(pl_context *ctx, const hard_case *c, int count, const char *const *overrides)
{
    test_world w = {.ctx = ctx};
    assert_ok(ctx, pl_scene_load_text(ctx, c->text, strlen(c->text), "scene", NULL, count, overrides,
                                      &w.scene, NULL));
    world_start(&w);
    return w;
}

static void steps_end_where_they_say(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const char *const exact[] = {"solver=direct", "tolerance=1e-13"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        test_world w = load(ctx, &cases[k], 0, NULL), reference = load(ctx, &cases[k], 2, exact);
        for (int step = 0; step < cases[k].steps; step++) {
            assert_ok(ctx, pl_state_copy(w.scene, w.state, reference.state));
            pl_step_info info = world_step(&w), there = world_step(&reference);
            double apart = world_distance(3 * w.n, w.state->q, reference.state->q);
            if (info.splits == 0 && there.splits == 0 && !(apart <= cases[k].allowed))
                fail_msg("%s: step %d claims %.2g m and is %.2g m off", cases[k].name, step + 1,
                         info.residual, apart);
        }
        world_free(&w);
        world_free(&reference);
    }
    pl_context_destroy(ctx);
}

/* A light, stiff bar thrown between plates that close: it is held by forces of which its weight is a
 * 1e-6th, and what they leave of its balance is more than its mass alone could bear. */
static const hard_case pressed = {
    "a light bar is pressed", 8, 0,
    "{\"version\": 1, \"time_step\": 0.033, \"bodies\": [{\"mesh\": {\"bar\": {\"length\": 0.06, "
    "\"width\": 0.025, \"height\": 0.012, \"cell\": 0.0125}}, \"material\": {\"model\": \"corotated\", "
    "\"reading\": \"projective\", \"young\": 3.2e7, \"poisson\": 0, \"density\": 14, \"damping\": "
    "0.013}, "
    "\"transform\": {\"translate\": [-0.03, 0, 0.0061]}, \"velocity\": [2.8, 0.7, -15], "
    "\"lumped_equally\": true}], \"colliders\": [{\"shape\": {\"half_space\": {}}, \"friction\": 1}, "
    "{\"shape\": {\"half_space\": {}}, \"friction\": 0, \"table\": [[0, 0, 0, 0.013, 0, 1, 0, 0], "
    "[1.2, 0, 0, 0.0065, 0, 1, 0, 0]]}]}"};

/* Such a step is split, but not to bits, and before the law's path takes long: each part gives up after
 * the correction with its 3,000th system, which itself has 900 at most. */
static void pressed_bodies_take_no_longer(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = load(ctx, &pressed, 0, NULL);
    int splits = 0;
    for (int k = 0; k < pressed.steps; k++) {
        pl_step_info info;
        assert_ok(ctx, pl_step(w.sim, w.state, NULL, &info));
        splits += info.splits;
        assert_true(info.residual <= 1e-8);
        assert_true(info.inner_iterations <= 3900 * (1 + 2 * info.splits));
    }
    assert_true(splits <= 8);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A body as soft as this at 17 m/s is flattened: the constant matrix is of no use there, and the
 * tangent takes its place instead of an error. */
static void the_tangent_helps_out(void **state)
{
    (void)state;
    static const hard_case flattened = {
        "a soft ellipsoid flattened, by the constant matrix", 16, 0,
        "{\"version\": 1, \"time_step\": 0.00489, \"solver\": \"constant\", \"bodies\": [{\"mesh\": "
        "{\"ellipsoid\": {\"radii\": [0.05865, 0.07946, 0.0769], \"cell\": 0.03988}}, \"transform\": "
        "{\"rotate\": {\"axis\": [0.748273, -0.592331, -0.298717], \"degrees\": 16.6702}, "
        "\"translate\": [0, 0, 0.18768]}, \"material\": {\"young\": 5411, \"density\": 1262, "
        "\"poisson\": 0.1589}, \"velocity\": [-0.3439, 0, -17.157]}], \"colliders\": [{\"shape\": "
        "{\"half_space\": {}}, \"friction\": 0.9434, \"rotate\": {\"axis\": [0, 1, 0], \"degrees\": "
        "1.06}}]}"};
    pl_context *ctx = test_context(1);
    test_world w = load(ctx, &flattened, 0, NULL);
    for (int k = 0; k < flattened.steps; k++) {
        pl_step_info info;
        assert_ok(ctx, pl_step(w.sim, w.state, NULL, &info));
        assert_true(info.residual <= 1e-8);
    }
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Two thousand kilometres from the origin a position is rounded to 2e-10 m, the tolerance is 1e-10 m.
 */
static void positions_without_digits_are_named(void **state)
{
    (void)state;
    static const hard_case far = {
        .text = "{\"version\": 1, \"time_step\": 0.01, \"bodies\": [{\"mesh\": {\"box\": {\"size\": "
                "[0.1, 0.1, 0.1], \"cell\": 0.05}}, \"transform\": {\"translate\": [0, 0, 2e6]}, "
                "\"angular_velocity\": [3, 1, 2]}]}"};
    pl_context *ctx = test_context(1);
    test_world w = load(ctx, &far, 0, NULL);
    pl_status status = PL_OK;
    for (int step = 0; step < 100 && status == PL_OK; step++)
        status = pl_step(w.sim, w.state, NULL, NULL);
    assert_int_equal(status, PL_ERROR_CONVERGENCE);
    assert_non_null(strstr(pl_context_error(ctx), "so far from the origin"));
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_end_where_they_say), cmocka_unit_test(pressed_bodies_take_no_longer),
        cmocka_unit_test(the_tangent_helps_out), cmocka_unit_test(positions_without_digits_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
