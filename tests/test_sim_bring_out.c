/* Starts that are brought out: nothing overlaps afterwards, bodies keep their shape and velocities, and
 * what has no way out is refused and left as it was. */
#include "common_files.h"
#include "common_scene.h"

#include <pliant/io.h>

static test_world touching_world(pl_context *ctx)
{
    pl_scene_def def = world_def(0.01, 0, 0, -9.81);
    def.body_contact = true;
    return world_new(ctx, def);
}

static void add_cube(test_world *w, double x, double y, double z)
{
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    def.velocity[0] = 0.5;
    world_add(w, def, world_grid(w->ctx, 3, 3, 3, 0.05, x, y, z));
}

static void add_plate(test_world *w, const char *name, double z)
{
    pl_collider_def def = pl_collider_def_default();
    def.name = name;
    def.shape = PL_BOX;
    def.size[0] = def.size[1] = 1, def.size[2] = 0.01;
    def.pose[2] = z;
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &def, NULL));
}

/* That bodies were shifted as wholes, by `farthest` at most, and the first step gives them no more
 * energy than gravity does. */
static void bring_out(test_world *w, double expected)
{
    double farthest = 0;
    pl_state *before = NULL;
    assert_ok(w->ctx, pl_state_create(w->scene, &before));
    assert_int_equal(pl_sim_create(w->scene, &w->sim), PL_ERROR_ARGUMENT);
    assert_ok(w->ctx, pl_scene_bring_out(w->scene, &farthest));
    assert_true(fabs(farthest - expected) < 0.01 * expected);
    world_start(w);
    for (int b = 0; b < pl_scene_get_info(w->scene).body_count; b++) {
        pl_body_info body;
        assert_ok(w->ctx, pl_scene_body(w->scene, b, &body));
        const double *from = before->q + 3 * body.vertex_offset,
                     *to = w->state->q + 3 * body.vertex_offset;
        for (int i = 3; i < 3 * body.vertex_count; i++)
            assert_true(fabs((to[i] - to[i % 3]) - (from[i] - from[i % 3])) < 1e-15);
    }
    assert_memory_equal(before->v, w->state->v, sizeof(double) * 3 * (size_t)w->n);
    pl_step_info info = world_step(w);
    assert_true(info.converged && info.energy_elastic < 1e-2);
    for (int i = 0; i < w->n; i++)
        assert_true(fabs(w->state->v[3 * i] - 0.5) < 0.1 && fabs(w->state->v[3 * i + 2]) < 0.1);
    pl_state_destroy(w->scene, before);
}

static void out_of_the_floor(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = touching_world(ctx);
    add_cube(&w, 0, 0, -0.03);
    world_floor(&w, 0, 0);
    bring_out(&w, 0.03);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A rod through the middle of a cube of 0.1 m: by half of it and the radius. */
static void off_a_rod(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = touching_world(ctx);
    pl_collider_def def = pl_collider_def_default();
    add_cube(&w, -0.05, -0.05, -0.04);
    def.shape = PL_CAPSULE;
    def.friction = 0;
    def.size[0] = 0.01, def.size[1] = 1;
    world_turn(0, 1, 0, 1.5707963267948966, def.pose + 3);
    assert_ok(ctx, pl_scene_add_collider(w.scene, &def, NULL));
    bring_out(&w, 0.05);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Three cubes in each other and in the floor. */
static void out_of_each_other(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = touching_world(ctx);
    add_cube(&w, 0, 0, -0.01);
    add_cube(&w, 0.01, 0.005, 0.08);
    add_cube(&w, 0.005, 0.01, 0.17);
    world_floor(&w, 0, 0);
    bring_out(&w, 0.0323);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Cubes that are 0.1 mm apart, and are kept 1.3 mm apart. */
static void what_is_too_close(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = touching_world(ctx);
    add_cube(&w, 0, 0, 0);
    add_cube(&w, 0.001, 0.002, 0.1001);
    double farthest = 0;
    assert_int_equal(pl_sim_create(w.scene, &w.sim), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx), "are kept");
    assert_ok(ctx, pl_scene_bring_out(w.scene, &farthest));
    assert_true(farthest > 1e-4 && farthest < 1e-3);
    world_start(&w);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Between plates that are nearer than it is high; through itself; after a cable was drawn. */
static void what_has_no_way_out(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = touching_world(ctx);
    pl_state *before = NULL, *after = NULL;
    add_cube(&w, 0, 0, 0);
    add_plate(&w, "low", 0);
    add_plate(&w, "high", 0.09);
    assert_ok(ctx, pl_state_create(w.scene, &before));
    assert_int_equal(pl_scene_bring_out(w.scene, NULL), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx),
                    "bring_out found no way out for the bodies as wholes: \"body0\", \"low\" and "
                    "\"high\" are in each other's way");
    assert_ok(ctx, pl_state_create(w.scene, &after));
    assert_memory_equal(before->q, after->q, sizeof(double) * 3 * (size_t)before->vertex_count);
    pl_cable_def cable = pl_cable_def_default();
    pl_point points[2] = {{.body = 0, .count = 1, .vertices = {0}, .weights = {1}},
                          {.body = 0, .count = 1, .vertices = {5}, .weights = {1}}};
    cable.point_count = 2;
    cable.points = points;
    assert_ok(ctx, pl_scene_add_cable(w.scene, &cable, NULL));
    assert_int_equal(pl_scene_bring_out(w.scene, NULL), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx), "before attachments and cables");
    pl_state_destroy(w.scene, before);
    pl_state_destroy(w.scene, after);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* ---- How far, and where to ---- */

#define GAP 1.14e-3 /* m, that contact keeps between these cubes */

static void add_wall(test_world *w, int axis, double at)
{
    pl_collider_def def = pl_collider_def_default();
    def.shape = PL_BOX;
    for (int k = 0; k < 3; k++)
        def.size[k] = k == axis ? 0.005 : 1;
    def.pose[axis] = at;
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &def, NULL));
}

static void add_ball(test_world *w, double x)
{
    pl_mesh *mesh = NULL;
    assert_ok(w->ctx, pl_mesh_ellipsoid(w->ctx, (double[]){0.1, 0.1, 0.1}, 0.04, &mesh));
    pl_mesh_transform(mesh, 1, (double[]){1, 0, 0, 0}, (double[]){x, 0, 0});
    world_add(w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5), mesh);
}

/* Where the first vertex of every body comes to, less where it was [bodies, 3]; the start is taken. */
static void find_shifts(test_world *w, double *shift)
{
    pl_state *before = NULL;
    int bodies = pl_scene_get_info(w->scene).body_count;
    assert_ok(w->ctx, pl_state_create(w->scene, &before));
    assert_ok(w->ctx, pl_scene_bring_out(w->scene, NULL));
    world_start(w);
    for (int b = 0; b < bodies; b++) {
        pl_body_info body;
        assert_ok(w->ctx, pl_scene_body(w->scene, b, &body));
        for (int k = 0; k < 3; k++)
            shift[3 * b + k] =
                w->state->q[3 * body.vertex_offset + k] - before->q[3 * body.vertex_offset + k];
    }
    pl_state_destroy(w->scene, before);
}

static void expect_shifts(test_world *w, int count, const double *expected)
{
    double shift[24];
    find_shifts(w, shift);
    for (int i = 0; i < 3 * count; i++)
        if (!(fabs(shift[i] - expected[i]) < 1e-4))
            fail_msg("shift %d is %g, not %g", i, shift[i], expected[i]);
    world_free(w);
}

/* Cubes in exactly the same place come to stand on each other. */
static void in_one_place(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double up = 0.1 + GAP, expected[] = {0, 0, 0, 0, 0, up, 0, 0, 2 * up, 0, 0, 3 * up};
    for (int count = 2; count <= 4; count++) {
        test_world w = touching_world(ctx);
        for (int k = 0; k < count; k++)
            add_cube(&w, 0, 0, 0);
        world_floor(&w, 0, 0);
        expect_shifts(&w, count, expected);
    }
    pl_context_destroy(ctx);
}

/* Without gravity and obstacles: along z, half the way each. */
static void in_one_place_in_the_air(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double half = 0.5 * (0.1 + GAP);
    pl_scene_def def = world_def(0.01, 0, 0, 0);
    def.body_contact = true;
    test_world w = world_new(ctx, def);
    add_cube(&w, 0, 0, 0);
    add_cube(&w, 0, 0, 0);
    expect_shifts(&w, 2, (double[]){0, 0, -half, 0, 0, half});
    pl_context_destroy(ctx);
}

/* Cubes deep in each other go the shortest way: up, or half each to the side. */
static void the_shortest_way(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 7; k++) {
        const double at[][3] = {{0, 0, 0.01},      {0.001, 0, 0.01},   {0.01, 0, 0.01},
                                {0.03, 0, 0.01},   {0.01, 0.02, 0.05}, {0.01, 0.02, 0.07},
                                {0.01, 0.02, 0.09}};
        const double up = 0.1 + GAP - at[k][2], side = 0.5 * (0.1 + GAP - at[k][0]);
        test_world w = touching_world(ctx);
        add_cube(&w, 0, 0, 0);
        add_cube(&w, at[k][0], at[k][1], at[k][2]);
        world_floor(&w, 0, 0);
        expect_shifts(&w, 2,
                      k == 3 ? (double[]){-side, 0, 0, side, 0, 0} : (double[]){0, 0, 0, 0, 0, up});
    }
    pl_context_destroy(ctx);
}

/* Balls of 0.1 m: by what is left of two radii, a little less for their flat faces, half each. */
static void balls_deep_in_each_other(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double apart[] = {0, 0.003, 0.01, 0.02, 0.05, 0.1};
    for (int k = 0; k < 6; k++) {
        double shift[6], along[3];
        test_world w = touching_world(ctx);
        add_ball(&w, 0);
        add_ball(&w, apart[k]);
        find_shifts(&w, shift);
        for (int i = 0; i < 3; i++) {
            along[i] = shift[3 + i] - shift[i];
            assert_true(fabs(shift[3 + i] + shift[i]) < 1e-5);
        }
        double length = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
        assert_true(length < 0.2 - apart[k] + 2e-3 && length > 0.19 - apart[k]);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* In a half space and in a box: by the nearest side. Around a ball: not to and fro inside. */
static void deep_in_obstacles(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = touching_world(ctx);
    add_cube(&w, 0, 0, -5);
    world_floor(&w, 0, 0);
    expect_shifts(&w, 1, (double[]){0, 0, 5});
    w = touching_world(ctx);
    pl_collider_def def = pl_collider_def_default();
    add_cube(&w, 0.3, 0, 0);
    def.shape = PL_BOX;
    def.size[0] = 0.5, def.size[1] = def.size[2] = 1;
    assert_ok(ctx, pl_scene_add_collider(w.scene, &def, NULL));
    expect_shifts(&w, 1, (double[]){0.2, 0, 0});
    for (int k = 0; k < 3; k++) {
        double shift[3];
        w = touching_world(ctx);
        add_ball(&w, 0.003 * k);
        def.shape = PL_SPHERE;
        def.size[0] = 0.1;
        assert_ok(ctx, pl_scene_add_collider(w.scene, &def, NULL));
        find_shifts(&w, shift);
        double length = sqrt(shift[0] * shift[0] + shift[1] * shift[1] + shift[2] * shift[2]);
        assert_true(length > 0.18 && length < 0.21);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* Cubes in a shaft that leaves no room side by side: over each other, though to the side is shorter. */
static void in_a_shaft(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double up = 0.1 + GAP;
    const int corner = 0;
    for (int pinned = -1; pinned < 2; pinned++) {
        test_world w = touching_world(ctx);
        add_cube(&w, 0, 0, 0);
        add_cube(&w, 0.02, 0, 0);
        if (pinned >= 0)
            world_pin(&w, pinned, 1, &corner, 1e-9);
        world_floor(&w, 0, 0);
        for (int axis = 0; axis < 2; axis++) {
            add_wall(&w, axis, -0.015);
            add_wall(&w, axis, 0.135);
        }
        expect_shifts(&w, 2,
                      pinned == 1 ? (double[]){0, 0, up, 0, 0, 0} : (double[]){0, 0, 0, 0, 0, up});
    }
    pl_context_destroy(ctx);
}

/* Not through a thin wall next to it, though far enough that nothing is in it at the end. */
static void not_through_walls(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = touching_world(ctx);
    add_cube(&w, 0, 0, 0);
    add_cube(&w, 0.02, 0, 0);
    add_wall(&w, 0, 0.125 + 0.02);
    expect_shifts(&w, 2, (double[]){-0.08 - GAP + 0.02, 0, 0, 0.02, 0, 0});
    pl_context_destroy(ctx);
}

/* A body with pins stays, unless it is in an obstacle, or the other is pinned as well. */
static void pins_stay(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double by = 0.05 + GAP;
    const int corner = 0;
    const double expected[3][6] = {
        {0, 0, 0, 0, 0, by}, {0, 0, -by, 0, 0, 0}, {0, 0, -by / 2, 0, 0, by / 2}};
    for (int k = 0; k < 3; k++) {
        test_world w = touching_world(ctx);
        add_cube(&w, 0, 0, 0);
        add_cube(&w, 0.01, 0, 0.05);
        for (int b = 0; b < 2; b++)
            if (k == b || k == 2)
                world_pin(&w, b, 1, &corner, 1e-9);
        expect_shifts(&w, 2, expected[k]);
    }
    test_world w = touching_world(ctx);
    add_cube(&w, 0, 0, -0.02);
    add_cube(&w, 0, 0, 0.05);
    world_pin(&w, 0, 1, &corner, 1e-9);
    world_floor(&w, 0, 0);
    expect_shifts(&w, 2, (double[]){0, 0, 0.02, 0, 0, by});
    pl_context_destroy(ctx);
}

/* Many, in hardly more than one place. */
static void a_crowd(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = touching_world(ctx);
    for (int k = 0; k < 16; k++)
        add_cube(&w, 0.011 * (k % 5), 0.013 * (k % 3), 0.007 * (k % 7));
    world_floor(&w, 0.03, 0);
    assert_ok(ctx, pl_scene_bring_out(w.scene, NULL));
    world_start(&w);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A scene file that asks for it, and one that does in vain. */
static void scene_files(void **state)
{
    (void)state;
    test_log log = {{0}};
    pl_context *ctx = test_context_logging(&log);
    static const char text[] =
        "{\"version\": 1, \"bring_out\": true, \"bodies\": [{\"name\": \"cube\", \"mesh\": {\"box\": "
        "{\"size\": [0.1, 0.1, 0.1], \"cell\": 0.05}}, \"transform\": {\"translate\": [0, 0, "
        "-0.02]}}],\n"
        " \"colliders\": [{\"name\": \"floor\", \"shape\": {\"half_space\": {}}}]}\n";
    const char *turned[] = {"colliders[0].shape={\"sphere\": {\"radius\": 0.001}}",
                            "colliders[0].position=[0.05, 0.05, 0.03]", "bring_out=false"};
    pl_scene *scene = NULL;
    pl_sim *sim = NULL;
    for (int k = 0; k < 3; k++) {
        assert_ok(ctx,
                  pl_scene_load_text(ctx, text, strlen(text), "text", NULL, k, turned, &scene, NULL));
        assert_ok(ctx, pl_sim_create(scene, &sim));
        if (k == 0)
            assert_contains(log.text, "bring_out shifted bodies by 0.02 m at most");
        pl_sim_destroy(sim);
        pl_scene_destroy(scene);
    }
    assert_ok(ctx, pl_scene_load_text(ctx, text, strlen(text), "text", NULL, 3, turned, &scene, NULL));
    assert_int_equal(pl_sim_create(scene, &sim), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx), "inside \"floor\"");
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_the_floor),
        cmocka_unit_test(off_a_rod),
        cmocka_unit_test(out_of_each_other),
        cmocka_unit_test(what_is_too_close),
        cmocka_unit_test(what_has_no_way_out),
        cmocka_unit_test(in_one_place),
        cmocka_unit_test(in_one_place_in_the_air),
        cmocka_unit_test(the_shortest_way),
        cmocka_unit_test(balls_deep_in_each_other),
        cmocka_unit_test(deep_in_obstacles),
        cmocka_unit_test(in_a_shaft),
        cmocka_unit_test(not_through_walls),
        cmocka_unit_test(pins_stay),
        cmocka_unit_test(a_crowd),
        cmocka_unit_test(scene_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
