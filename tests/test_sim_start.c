/* Starts that cannot be meant: bodies in the same place are told, vertices inside obstacles refused. */
#include "common_files.h"
#include "common_scene.h"

/* Cubes of 0.1 m, named "cube0" and so on, at these places. */
static test_world cubes(pl_context *ctx, int count, double places[][3])
{
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    for (int i = 0; i < count; i++) {
        char name[16];
        pl_body_def def = pl_body_def_default();
        snprintf(name, sizeof name, "cube%d", i);
        def.name = name;
        world_add(&w, def, world_grid(ctx, 2, 2, 2, 0.1, places[i][0], places[i][1], places[i][2]));
    }
    return w;
}

static void floor_at(test_world *w, double height)
{
    pl_collider_def def = pl_collider_def_default();
    def.name = pl_scene_get_info(w->scene).collider_count == 0 ? "floor" : NULL;
    def.pose[2] = height;
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &def, NULL));
}

/* What making a sim of these cubes says: a warning, or with `refused` an error. */
static void expect_said(int count, double places[][3], const char *warning, const char *refused)
{
    test_log log = {{0}};
    pl_context *ctx = test_context_logging(&log);
    test_world w = cubes(ctx, count, places);
    floor_at(&w, 0);
    assert_int_equal(pl_sim_create(w.scene, &w.sim), refused ? PL_ERROR_ARGUMENT : PL_OK);
    assert_string_equal(log.text, warning);
    if (refused)
        assert_string_equal(pl_context_error(ctx), refused);
    pl_sim_destroy(w.sim);
    pl_scene_destroy(w.scene);
    pl_context_destroy(ctx);
}

static void expect_log(int count, double places[][3], const char *expected)
{
    expect_said(count, places, expected, NULL);
}

static void bodies_in_the_same_place(void **state)
{
    (void)state;
    expect_log(2, (double[][3]){{0, 0, 1}, {0.05, 0.05, 1.05}},
               "the boxes around bodies \"cube0\" and \"cube1\" meet at the start: without "
               "body_contact bodies pass through each other\n");
    expect_log(3, (double[][3]){{5, 0, 1}, {0, 0, 1}, {0, 0, 1.0999}},
               "the boxes around bodies \"cube1\" and \"cube2\" meet at the start: without "
               "body_contact bodies pass through each other\n");
    expect_log(3, (double[][3]){{0, 0, 1}, {0.01, 0, 1}, {0.02, 0, 1}},
               "the boxes around bodies \"cube0\" and \"cube1\" (and 2 more pairs) meet at the start: "
               "without body_contact bodies pass through each other\n");
    expect_log(3, (double[][3]){{0, 0, 1}, {0.101, 0, 1}, {0, 0, 1.101}}, "");
}

static void vertices_inside_obstacles(void **state)
{
    (void)state;
    expect_log(1, (double[][3]){{0, 0, 0}}, "");
    expect_log(1, (double[][3]){{0, 0, -0.9e-5}}, ""); /* pushed out by less than 1 mm/s */
    expect_said(2, (double[][3]){{0, 0, 1}, {0, 0, -0.03}}, "",
                "vertex 0 of body \"cube1\", the deepest of 4, starts 0.03 m inside \"floor\": move "
                "them apart, or set bring_out (in Python call scene.bring_out())");
}

/* A table moves an obstacle: it counts where it is when time begins. */
static void moving_obstacles_count_where_they_begin(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = cubes(ctx, 1, (double[][3]){{0, 0, 0}});
    const double time[] = {0, 1}, poses[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0};
    pl_collider_def def = pl_collider_def_default();
    def.name = "ball";
    def.shape = PL_SPHERE;
    def.size[0] = 0.05;
    def.table = (pl_table){2, time, poses};
    assert_ok(ctx, pl_scene_add_collider(w.scene, &def, NULL));
    assert_int_equal(pl_sim_create(w.scene, &w.sim), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx), "vertex 0 of body \"cube0\" starts 0.05 m inside \"ball\"");
    pl_scene_destroy(w.scene);
    pl_context_destroy(ctx);
}

static void said_once_and_again_after_a_change(void **state)
{
    (void)state;
    test_log log = {{0}};
    pl_context *ctx = test_context_logging(&log);
    test_world w = cubes(ctx, 2, (double[][3]){{0, 0, 1}, {0, 0, 1}});
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, pl_sim_create(w.scene, &w.sim));
        pl_sim_destroy(w.sim);
    }
    size_t once = strlen(log.text);
    assert_true(once > 0 && strchr(log.text, '\n') == log.text + once - 1);
    floor_at(&w, 0);
    assert_ok(ctx, pl_sim_create(w.scene, &w.sim));
    assert_contains(log.text + once, "the boxes around");
    pl_sim_destroy(w.sim);
    floor_at(&w, 1.05);
    assert_int_equal(pl_sim_create(w.scene, &w.sim), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx), "the deepest of 8, starts 0.05 m inside");
    pl_scene_destroy(w.scene);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_in_the_same_place),
        cmocka_unit_test(vertices_inside_obstacles),
        cmocka_unit_test(moving_obstacles_count_where_they_begin),
        cmocka_unit_test(said_once_and_again_after_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
