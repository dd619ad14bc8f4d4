/* Contact forces by pair: weights and pushes that must come out, of every kind of contact. */
#include "common_scene.h"

#define MASS 1.0 /* kg, of a block of 0.1 m */

static void add_block(test_world *w, double x, double z)
{
    world_add(w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6), world_grid(w->ctx, 3, 3, 3, 0.05, x, x, z));
}

static pl_pair_force *forces(const test_world *w, int expected)
{
    pl_pair_force *pairs = NULL;
    int count = 0;
    assert_ok(w->ctx,
              pl_pair_forces(w->scene, w->state->contact_count, w->state->contacts, &count, &pairs));
    assert_int_equal(count, expected);
    return pairs;
}

/* Weight per weight: a force of `size` N. */
static void assert_weight(const double force[3], double size)
{
    for (int k = 0; k < 3; k++)
        assert_true(fabs(force[k] - (k == 2 ? size : 0)) < 0.02 * fabs(size));
}

/* A block on a block on the floor, the upper one pushed sideways by less than friction holds. */
static void a_tower(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def def = world_def(0.01, 0, 0, -9.81);
    def.body_contact = true;
    def.body_friction = 0.5;
    test_world w = world_new(ctx, def);
    pl_force_def push = pl_force_def_default();
    add_block(&w, 0, 1e-4);
    add_block(&w, 0.003, 0.102);
    world_floor(&w, 0, 0.8);
    push.body = 1;
    push.per = PL_PER_MASS;
    push.value[0] = 2;
    assert_ok(ctx, pl_scene_add_force(w.scene, &push, NULL));
    world_start(&w);
    pl_free(ctx, forces(&w, 0));
    world_steps(&w, 200);
    pl_pair_force *pairs = forces(&w, 2), *blocks = &pairs[0], *ground = &pairs[1];
    assert_true(blocks->body == 0 && blocks->other == 1 && blocks->collider == -1);
    assert_true(ground->body == 0 && ground->other == -1 && ground->collider == 0);
    double sum[3], carried[3];
    for (int k = 0; k < 3; k++) {
        carried[k] = blocks->normal[k] + blocks->friction[k];
        sum[k] = ground->normal[k] + ground->friction[k] + carried[k];
    }
    assert_true(fabs(carried[2] + 9.81 * MASS) < 1e-3 && fabs(carried[0] - 2 * MASS) < 1e-3);
    assert_true(fabs(sum[2] - 9.81 * MASS) < 1e-3 && fabs(sum[0]) < 1e-3);
    assert_weight(ground->normal, 2 * 9.81 * MASS);
    assert_true(fabs(ground->friction[0] + 2 * MASS) < 1e-3);
    assert_true(fabs(ground->pressing - ground->normal[2]) < 1e-9);
    assert_true(blocks->pressing >= -blocks->normal[2] && blocks->contacts > 2);
    pl_free(ctx, pairs);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A block between its vertices on two rods: contacts of edges. */
static void on_rods(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    pl_collider_def def = pl_collider_def_default();
    add_block(&w, 0, 1e-4);
    def.shape = PL_CAPSULE;
    def.size[0] = 0.01, def.size[1] = 0.5;
    def.pose[2] = -0.01;
    world_turn(1, 0, 0, 1.5707963267948966, def.pose + 3);
    for (int k = 0; k < 2; k++) {
        def.pose[0] = k ? 0.08 : 0.02;
        assert_ok(ctx, pl_scene_add_collider(w.scene, &def, NULL));
    }
    world_start(&w);
    world_steps(&w, 200);
    pl_pair_force *pairs = forces(&w, 2);
    assert_true(w.state->contacts[0].count > 1);
    assert_true(pairs[0].collider == 0 && pairs[1].collider == 1);
    for (int k = 0; k < 2; k++)
        assert_true(fabs(pairs[k].normal[2] + pairs[k].friction[2] - 0.5 * 9.81 * MASS) < 0.03);
    pl_free(ctx, pairs);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_tower), cmocka_unit_test(on_rods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
