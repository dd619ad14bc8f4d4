/* Obstacles and bodies that start inside each other between their vertices: each is refused by name,
 * place and depth, and what only touches is not. */
#include "common_files.h"
#include "common_scene.h"

typedef struct obstacle {
    pl_shape shape;
    double size[3], at[3];
    double turn; /* about y, rad */
} obstacle;

static void add_obstacle(test_world *w, const obstacle *o)
{
    pl_collider_def def = pl_collider_def_default();
    def.name = "thing";
    def.shape = o->shape;
    memcpy(def.size, o->size, sizeof def.size);
    memcpy(def.pose, o->at, sizeof o->at);
    world_turn(0, 1, 0, o->turn, def.pose + 3);
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &def, NULL));
}

/* A slab of cells of 0.1 m, from z = 0 to 0.1, or a cloth of such at z = 0, both around the origin. */
static test_world one_body(pl_context *ctx, bool cloth)
{
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    pl_body_def def = pl_body_def_default();
    def.name = "body";
    world_add(&w, def,
              cloth ? world_cloth(ctx, 0.3, 0.3, 0.1, -0.15, -0.15, 0)
                    : world_grid(ctx, 4, 4, 2, 0.1, -0.15, -0.15, 0));
    return w;
}

/* That the start is refused for this, or with NULL taken. */
static void expect(bool cloth, obstacle o, const char *refused)
{
    pl_context *ctx = test_context(1);
    test_world w = one_body(ctx, cloth);
    add_obstacle(&w, &o);
    pl_status status = pl_sim_create(w.scene, &w.sim);
    if (refused) {
        assert_int_equal(status, PL_ERROR_ARGUMENT);
        assert_contains(pl_context_error(ctx), refused);
    } else {
        assert_ok(ctx, status);
    }
    pl_sim_destroy(w.sim);
    pl_scene_destroy(w.scene);
    pl_context_destroy(ctx);
}

#define QUARTER 1.5707963267948966

/* What is wholly inside the slab, between its vertices. */
static void obstacles_in_a_solid(void **state)
{
    (void)state;
    const char *ball =
        "collider \"thing\" starts 0.07 m inside body \"body\", between its vertices, next "
        "to vertex";
    expect(false, (obstacle){PL_SPHERE, {0.02}, {0, 0, 0.05}, 0}, ball);
    expect(false, (obstacle){PL_BOX, {0.01, 0.01, 0.01}, {0, 0, 0.05}, 0}, "m inside body \"body\"");
    expect(false, (obstacle){PL_CYLINDER, {0.01, 0.01}, {0, 0, 0.05}, 0}, "m inside body \"body\"");
}

/* What goes in and comes out again: a rod along the middle, a rod and a bar that stand up in it. */
static void obstacles_through_a_solid(void **state)
{
    (void)state;
    expect(false, (obstacle){PL_CAPSULE, {0.01, 1}, {0, 0, 0.05}, QUARTER},
           "collider \"thing\" starts 0.06 m inside body \"body\", between its vertices");
    expect(false, (obstacle){PL_CAPSULE, {0.01, 1}, {0.02, 0.03, 0}, 0}, "inside body \"body\"");
    expect(false, (obstacle){PL_BOX, {0.01, 0.01, 1}, {0.02, 0.03, 0}, 0}, "inside body \"body\"");
}

/* Edges of the slab in a plate that stands between its vertices; ridges of it are far away. */
static void edges_in_a_plate(void **state)
{
    (void)state;
    expect(false, (obstacle){PL_BOX, {0.004, 1, 1}, {0.01, 0, 0}, 0},
           "starts 0.004 m inside \"thing\", between its vertices: move them apart, or set bring_out");
    expect(true, (obstacle){PL_BOX, {0.004, 1, 1}, {0.01, 0, 0}, 0}, "starts 0.004 m inside \"thing\"");
}

static void obstacles_through_cloth(void **state)
{
    (void)state;
    expect(true, (obstacle){PL_CAPSULE, {0.005, 1}, {0.02, 0.03, 0.2}, 0}, "inside body \"body\"");
    expect(true, (obstacle){PL_BOX, {0.005, 0.005, 1}, {0.03, 0.02, 0.2}, 0},
           "starts 0.8 m inside body \"body\", between its vertices");
    expect(true, (obstacle){PL_SPHERE, {0.01}, {0.02, 0.03, 0.005}, 0}, "starts 0.005 m inside body");
}

/* Resting on a rod, a box' edge, a ball, and on one so round that edges between vertices sink in. */
static void what_touches_is_taken(void **state)
{
    (void)state;
    expect(false, (obstacle){PL_CAPSULE, {0.01, 1}, {0.02, 0, -0.01}, QUARTER}, NULL);
    expect(false, (obstacle){PL_CAPSULE, {0.01, 1}, {0.02, 0, -0.01 + 0.9e-5}, QUARTER}, NULL);
    expect(false, (obstacle){PL_CAPSULE, {0.01, 1}, {0.02, 0, -0.01 + 5e-5}, QUARTER},
           "5e-05 m inside");
    expect(false, (obstacle){PL_BOX, {0.1, 0.1, 0.1}, {0.02, 0.01, -0.1}, 0}, NULL);
    expect(false, (obstacle){PL_BOX, {0.15, 0.15, 0.1}, {0, 0, 0.2}, 0}, NULL);
    expect(true, (obstacle){PL_SPHERE, {0.01}, {0.02, 0.03, 0.01}, 0}, NULL);
    /* vertices at (+-0.05, +-0.05, 0) on the ball, the middle of their face 2.5 mm inside */
    double radius = 0.5, height = sqrt(radius * radius - 0.005);
    expect(true, (obstacle){PL_SPHERE, {radius}, {0, 0, -height}, 0}, NULL);
}

/* However long and thick, the search ends, and finds what is there. */
static void obstacles_as_large_as_can_be(void **state)
{
    (void)state;
    const double most = 1e9, thick = 1e6;
    expect(false, (obstacle){PL_CAPSULE, {0.01, most}, {0, 0, 0.05}, QUARTER},
           "collider \"thing\" starts 0.06 m inside body \"body\", between its vertices");
    expect(false, (obstacle){PL_BOX, {most, 0.004, most}, {0, 0.01, 0}, 0}, "starts 0.004 m inside");
    expect(false, (obstacle){PL_CAPSULE, {most, most}, {0, 0, 0}, 0}, "inside \"thing\"");
    expect(true, (obstacle){PL_CYLINDER, {most, most}, {0, 0, 0}, QUARTER / 3}, "inside \"thing\"");
    expect(false, (obstacle){PL_CAPSULE, {thick, most}, {0, 0, -thick}, QUARTER}, NULL);
    expect(false, (obstacle){PL_CAPSULE, {thick, most}, {0, 0, 1e-3 - thick}, QUARTER},
           "0.001 m inside");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obstacles_in_a_solid),  cmocka_unit_test(obstacles_through_a_solid),
        cmocka_unit_test(edges_in_a_plate),      cmocka_unit_test(obstacles_through_cloth),
        cmocka_unit_test(what_touches_is_taken), cmocka_unit_test(obstacles_as_large_as_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
