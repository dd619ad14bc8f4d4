/* Pins along a normal: their derivatives, a symmetry plane, a roller on a slope, gradients. */
#include "terms_derivatives.h"

extern const pl_term pl_term_pin;

static void pin_along(test_world *w, int body, int count, const int *vertices, double compliance,
                      double x, double y, double z)
{
    pl_pin_def def = pl_pin_def_default();
    def.body = body;
    def.vertex_count = count;
    def.vertices = vertices;
    def.compliance = compliance;
    def.normal[0] = x, def.normal[1] = y, def.normal[2] = z;
    assert_ok(w->ctx, pl_scene_add_pin(w->scene, &def, NULL));
}

/* A block with pins of both kinds; `pushed` has wind and gravity. */
static test_world held_block(pl_context *ctx)
{
    static const int some[3] = {0, 4, 7}, others[2] = {4, 9};
    test_world w = world_new(ctx, world_def(0.01, 0.5, 0.2, -9.81));
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5), world_grid(ctx, 3, 2, 2, 0.05, 0, 0, 0));
    pin_along(&w, 0, 3, some, 1e-3, 1, -2, 0.5);
    pin_along(&w, 0, 2, others, 2e-3, 0, 0, 0);
    world_start(&w);
    return w;
}

static void derivatives_agree(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = held_block(ctx);
    double *q = term_shaken(&w, 0.01, 5);
    pl_substep s = term_substep(&w, 0.01);
    term_errors e = term_compare(&pl_term_pin, &s, q, 0.05);
    if (!(e.force < 1e-9 && e.tangent < 1e-9 && e.multiply < 1e-14 && e.asymmetry < 1e-12))
        fail_msg("force %g, tangent %g, multiply %g, asymmetry %g", e.force, e.tangent, e.multiply,
                 e.asymmetry);
    free(q);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void gradients_agree_with_differences(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = held_block(ctx);
    term_check(
        &w, PL_BIT(PL_PIN_TARGET) | PL_BIT(PL_COMPLIANCE) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_POSITION),
        8, 1e-6, "pins");
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A bar pulled at both ends, and half of it pulled at one and held across its middle plane. */
static void a_plane_of_symmetry_is_half_the_body(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double end[2];
    for (int half = 0; half < 2; half++) {
        test_world w = world_new(ctx, world_def(0.02, 0, 0, 0));
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
        body.damping = 20;
        pl_mesh *mesh = NULL;
        assert_ok(ctx, pl_mesh_grid(ctx, (const int[3]){half ? 3 : 5, 2, 2}, 0.05, PL_CUT_ALTERNATING,
                                    &mesh));
        pl_mesh_transform(mesh, 1, (const double[4]){1, 0, 0, 0},
                          (const double[3]){half ? 0 : -0.1, 0, 0});
        int left[4], right[4], count[2] = {0, 0};
        for (int i = 0; i < mesh->vertex_count; i++) {
            double x = mesh->vertices[3 * i];
            if (fabs(x - 0.1) < 1e-9)
                right[count[1]++] = i;
            if (fabs(x - (half ? 0 : -0.1)) < 1e-9)
                left[count[0]++] = i;
        }
        assert_true(count[0] == 4 && count[1] == 4);
        world_add(&w, body, mesh);
        for (int side = half; side < 2; side++) {
            pl_force_def force = pl_force_def_default();
            force.vertex_count = 4;
            force.vertices = side ? right : left;
            force.value[0] = side ? 4 : -4;
            assert_ok(ctx, pl_scene_add_force(w.scene, &force, NULL));
        }
        if (half)
            pin_along(&w, 0, 4, left, 1e-12, 3, 0, 0);
        world_start(&w);
        world_steps(&w, 200);
        end[half] = w.state->q[3 * right[0]];
        world_free(&w);
    }
    assert_true(end[0] > 0.103);
    assert_close(end[1], end[0], 1e-8);
    pl_context_destroy(ctx);
}

/* Held along the normal of a plane of 30 degrees, a block slides down it: g sin 30 along, nothing
 * across. */
static void a_roller_rolls(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    int all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6), world_grid(ctx, 2, 2, 2, 0.05, 0, 0, 0));
    pin_along(&w, 0, 8, all, 1e-10, 1, 0, sqrt(3));
    world_start(&w);
    world_steps(&w, 50);
    double along = 0, across = 0;
    for (int i = 0; i < 8; i++) {
        along += (0.5 * sqrt(3) * w.state->v[3 * i] - 0.5 * w.state->v[3 * i + 2]) / 8;
        across = fmax(across, fabs(0.5 * w.state->v[3 * i] + 0.5 * sqrt(3) * w.state->v[3 * i + 2]));
    }
    assert_close(along, 9.81 * 0.5 * 0.5, 1e-8);
    assert_true(across < 1e-6);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_agree),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(a_plane_of_symmetry_is_half_the_body),
        cmocka_unit_test(a_roller_rolls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
