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

static void add_plate(test_world *w, double z)
{
    pl_collider_def def = pl_collider_def_default();
    def.name = "plate";
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
    add_plate(&w, 0);
    add_plate(&w, 0.09);
    assert_ok(ctx, pl_state_create(w.scene, &before));
    assert_int_equal(pl_scene_bring_out(w.scene, NULL), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx), "bring_out found no way out");
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
        cmocka_unit_test(out_of_the_floor),    cmocka_unit_test(off_a_rod),
        cmocka_unit_test(out_of_each_other),   cmocka_unit_test(what_is_too_close),
        cmocka_unit_test(what_has_no_way_out), cmocka_unit_test(scene_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
