/*
 * Of several solutions a step takes the lower one, and says that there was a choice. At h = 0.16 s a
 * body that lies on a floor could as well be thrown about; turning by a radian in a step one can end up
 * the wrong way round.
 */
#include "common_scene.h"

#include "sim/sim.h"

#include <pliant/io.h>

static test_world load(pl_context *ctx, const char *text)
{
    test_world w = {.ctx = ctx};
    assert_ok(ctx, pl_scene_load_text(ctx, text, strlen(text), "scene", NULL, 0, NULL, &w.scene, NULL));
    world_start(&w);
    return w;
}

/* A step to the info, and sum 1/2 m |v1 - v0|^2 and 1/2 m |v0|^2. */
static void step(test_world *w, pl_step_info *info, double *change, double *before)
{
    double *v = malloc(sizeof(double) * 3 * (size_t)w->n);
    memcpy(v, w->state->v, sizeof(double) * 3 * (size_t)w->n);
    assert_ok(w->ctx, pl_step(w->sim, w->state, NULL, info));
    *change = *before = 0;
    for (int i = 0; i < 3 * w->n; i++) {
        double half = 0.5 * w->sim->matter.mass[i / 3], to = w->state->v[i] - v[i];
        *change += half * to * to;
        *before += half * v[i] * v[i];
    }
    free(v);
}

/* Staying where it is costs V0 + 1/2 m |v0|^2, where nothing is in the way: no step costs more. */
static void no_step_is_worse_than_none(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = load(
        ctx, "{\"version\": 1, \"time_step\": 0.164, \"solver\": \"direct\", \"bodies\": [{\"mesh\": "
             "{\"cylinder\": {\"radius\": 0.0279, \"height\": 0.0559, \"cell\": 0.0279}}, "
             "\"material\": {\"model\": \"arap\", \"young\": 69900, \"density\": 406, \"poisson\": "
             "0.333}, \"angular_velocity\": [-13.9, 13.7, -12.1], \"velocity\": [-0.4, 0.0979, "
             "-0.337], \"transform\": {\"rotate\": {\"axis\": [-0.611, -0.146, -0.112], \"degrees\": "
             "249}, \"translate\": [0, 0, 0.123]}}], \"colliders\": [{\"shape\": {\"half_space\": {}}, "
             "\"friction\": 1}]}");
    double energy = INFINITY, potential = INFINITY;
    int choices = 0;
    for (int k = 0; k < 8; k++) {
        pl_step_info info;
        double change, before;
        step(&w, &info, &change, &before);
        assert_int_equal(info.splits, 0);
        double now = info.energy_elastic + info.energy_gravity;
        assert_true(now + change <= (potential + before) * (1 + 1e-6));
        assert_true(now + info.energy_kinetic <= energy * (1 + 1e-6));
        potential = now;
        energy = now + info.energy_kinetic;
        choices += info.choices;
    }
    assert_true(choices >= 1);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A bar spins at 670 rad/s and lands: 38 J turned by more than a quarter from where its spin leads, 34
 * J the other way round. */
static void turns_the_near_way(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = load(
        ctx, "{\"version\": 1, \"time_step\": 0.014, \"solver\": \"constant\", \"bodies\": "
             "[{\"mesh\": {\"bar\": {\"length\": 0.162, \"width\": 0.0539, \"height\": 0.0539, "
             "\"cell\": 0.0539}}, \"material\": {\"model\": \"corotated\", \"young\": 17800, "
             "\"density\": 141, \"poisson\": 0.214}, \"angular_velocity\": [330, -429, 389], "
             "\"velocity\": [-5.33, -12.3, -9.25], \"transform\": {\"rotate\": {\"axis\": [-0.866, "
             "0.742, -1.37], \"degrees\": 195}, \"translate\": [0, 0, 0.237]}}], \"colliders\": "
             "[{\"shape\": {\"half_space\": {}}, \"friction\": 0.3}]}");
    pl_step_info info;
    double change, before;
    step(&w, &info, &change, &before);
    assert_true(info.energy_elastic + info.energy_gravity + change < 36);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Where nothing is in doubt there is no second solve. */
static void plain_steps_have_one(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w =
        load(ctx, "{\"version\": 1, \"time_step\": 0.01, \"bodies\": [{\"mesh\": {\"box\": {\"size\": "
                  "[0.2, 0.1, 0.1], \"cell\": 0.05}}, \"material\": {\"young\": 1e5, \"density\": "
                  "1000}, \"angular_velocity\": [3, 2, 1], \"transform\": {\"translate\": [0, 0, "
                  "0.06]}}], \"colliders\": [{\"shape\": {\"half_space\": {}}, \"friction\": 0.3}]}");
    for (int k = 0; k < 20; k++) {
        pl_step_info info;
        assert_ok(ctx, pl_step(w.sim, w.state, NULL, &info));
        assert_int_equal(info.choices, 0);
    }
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_step_is_worse_than_none),
                                       cmocka_unit_test(turns_the_near_way),
                                       cmocka_unit_test(plain_steps_have_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
