/* Thin obstacles and fast motion: no vertex passes through, and none is left behind. */
#include "common_scene.h"

/* A plate of 2 cm across x that moves along it, 4 cm before a soft block that flies towards it. */
static void meet_at(double speed, double block_speed)
{
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    pl_collider_def plate = pl_collider_def_default();
    const double times[2] = {0, 0.1},
                 poses[14] = {-0.05, 0, 0, 1, 0, 0, 0, -0.05 + 0.1 * speed, 0, 0, 1, 0, 0, 0};
    body.velocity[0] = -block_speed;
    world_add(&w, body, world_grid(ctx, 3, 3, 3, 0.04, 0, -0.04, -0.04));
    plate.shape = PL_BOX;
    plate.size[0] = 0.01, plate.size[1] = plate.size[2] = 0.3;
    plate.table = (pl_table){2, times, poses};
    plate.friction = 0;
    assert_ok(ctx, pl_scene_add_collider(w.scene, &plate, NULL));
    world_start(&w);
    for (int k = 1; k <= 10; k++) {
        pl_step_info info = world_step(&w);
        assert_true(info.converged);
        double front = -0.05 + 0.01 * speed * k + 0.01;
        for (int i = 0; i < w.n; i++)
            assert_true(w.state->q[3 * i] > front - 1e-9);
    }
    world_free(&w);
    pl_context_destroy(ctx);
}

static void plates_that_hit(void **state)
{
    (void)state;
    meet_at(2, 0);
    meet_at(5, 0);
    meet_at(20, 0);
}

static void bodies_that_hit(void **state)
{
    (void)state;
    meet_at(0, 5);
    meet_at(0, 40);
}

/* A plate that a block rests on for 0.1 s and that is then drawn away at 5 m/s: no vertex passes
 * through what it leaves, so no step is split. */
static void a_plate_that_leaves(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    pl_collider_def plate = pl_collider_def_default();
    const double times[3] = {0, 0.1, 0.2}, poses[21] = {0, 0, -0.01, 1, 0, 0,     0, 0, 0, -0.01, 1,
                                                        0, 0, 0,     0, 0, -0.51, 1, 0, 0, 0};
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5),
              world_grid(ctx, 3, 3, 3, 0.04, -0.04, -0.04, 1e-4));
    plate.shape = PL_BOX;
    plate.size[0] = plate.size[1] = 0.3, plate.size[2] = 0.01;
    plate.table = (pl_table){3, times, poses};
    assert_ok(ctx, pl_scene_add_collider(w.scene, &plate, NULL));
    world_start(&w);
    int touched = 0;
    for (int k = 1; k <= 15; k++) {
        pl_step_info info = world_step(&w);
        assert_int_equal(info.splits, 0);
        touched += k == 10 ? info.contacts : 0;
    }
    assert_int_equal(touched, 9);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plates_that_hit),
        cmocka_unit_test(bodies_that_hit),
        cmocka_unit_test(a_plate_that_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
