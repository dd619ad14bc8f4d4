/* Pairs that no contact was expected for: they become contacts, and the step is not split. */
#include "common_meet.h"

typedef struct pile {
    int wide, high, nodes; /* blocks along each side and up, and nodes along a block's sides */
    double spacing, pitch, tilt, h;
} pile;

/* Soft blocks, a little tilted, fall into a box of five half-spaces. */
static void heap(test_world *w, pl_context *ctx, pile p)
{
    uint64_t seed = 1;
    double half = 0.5 * p.spacing * (p.nodes - 1), wall = 0.5 * p.pitch * p.wide + 0.01;
    *w = world_new(ctx, touching(p.h, -9.81, 0.4));
    for (int i = 0; i < p.wide * p.wide * p.high; i++) {
        pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
        pl_mesh *mesh = world_grid(ctx, p.nodes, p.nodes, p.nodes, p.spacing, -half, -half, -half);
        double x = test_random(&seed), y = test_random(&seed), z = test_random(&seed) + 1e-3, turn[4];
        double to[3] = {p.pitch * (i / p.high / p.wide - 0.5 * (p.wide - 1)),
                        p.pitch * (i / p.high % p.wide - 0.5 * (p.wide - 1)),
                        0.6 * p.pitch + p.pitch * (i % p.high)};
        world_turn(x, y, z, p.tilt * test_random(&seed), turn);
        pl_mesh_transform(mesh, 1, turn, to);
        def.contact_offset = OFFSET;
        world_add(w, def, mesh);
    }
    world_floor(w, 0, 0.4);
    for (int side = 0; side < 4; side++) {
        pl_collider_def def = pl_collider_def_default();
        double out = side % 2 ? -1 : 1;
        def.friction = 0.4;
        def.pose[side / 2] = out * wall;
        world_turn(side / 2, 1 - side / 2, 0, (side / 2 ? out : -out) * M_PI / 2, def.pose + 3);
        assert_ok(ctx, pl_scene_add_collider(w->scene, &def, NULL));
    }
    world_start(w);
}

/* Every step is solved as it is, with redundant contacts and friction; surfaces stay apart. */
static void a_heap_in_a_box(void **state)
{
    (void)state;
    double first[3 * 8 * 27];
    for (int threads = 1; threads <= 2; threads++) {
        pl_context *ctx = test_context(threads);
        test_world w;
        int most = 0;
        heap(&w, ctx, (pile){2, 2, 3, 0.05, 0.13, 0.08, 0.01});
        for (int k = 0; k < (threads == 1 ? 14 : 12); k++) {
            pl_step_info info = world_step(&w);
            assert_int_equal(info.splits, 0);
            assert_true(info.residual <= 1e-10 && info.complementarity < 1e-8);
            most = info.contacts > most ? info.contacts : most;
            if (k == 11 && threads == 1)
                memcpy(first, w.state->q, sizeof first);
        }
        if (threads == 1)
            run_checked(&w, 1);
        else
            assert_memory_equal(first, w.state->q, sizeof first);
        assert_true(most > 80);
        world_free(&w);
        pl_context_destroy(ctx);
    }
}

/* Cubes of one cell have edges alone to meet by, and turn freely: edges that are nearer than they are
 * kept without being a place of least distance would pass each other a little later. */
static void cubes_in_a_box(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w;
    heap(&w, ctx, (pile){4, 2, 2, 0.04, 0.06, 0.4, 0.005});
    for (int k = 0; k < 40; k++) {
        pl_step_info info = world_step(&w);
        assert_int_equal(info.splits, 0);
        assert_true(info.residual <= 1e-10 && info.complementarity < 1e-8);
    }
    run_checked(&w, 1);
    assert_true(w.state->contact_count > 80);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heap_in_a_box),
        cmocka_unit_test(cubes_in_a_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
