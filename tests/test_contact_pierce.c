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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plates_that_hit),
        cmocka_unit_test(bodies_that_hit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
