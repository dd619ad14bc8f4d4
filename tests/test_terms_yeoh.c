/* Rubber that stiffens: derivatives, uniaxial stress in closed form, gradients, solvers. */
#include "terms_derivatives.h"

extern const pl_term pl_term_yeoh;

static test_world block_and_sheet(pl_context *ctx, pl_scene_def def)
{
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e4);
    body.yeoh2 = -300;
    body.yeoh3 = 2e3;
    world_add(&w, body, world_grid(ctx, 3, 2, 2, 0.05, 0, 0, 0));
    body.yeoh2 = 500;
    body.yeoh3 = 0;
    term_add_sheet(&w, body);
    return w;
}

static void derivatives_agree(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = block_and_sheet(ctx, world_def(0.01, 0, 0, 0));
    world_start(&w);
    double *q = term_shaken(&w, 0.02, 5);
    pl_substep s = term_substep(&w, 0.01);
    term_expect(&pl_term_yeoh, &s, q, w.n, (term_limits){1e-9, 1e-8, 1e-13, 1e-9, 1e-14, 1e-13},
                "stiffening");
    free(q);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A cube stretched to twice its length, nearly incompressible, free at its sides: the nominal stress is
 * 2 (s - 1/s^2) (c1 + 2 c2 k + 3 c3 k^2), k = s^2 + 2/s - 3. */
static void stress_is_as_predicted(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double stretch = 2, c2 = -4e2, c3 = 2e3;
    test_world w = world_new(ctx, world_def(1, 0, 0, 0));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 6e4);
    pl_mesh *mesh = NULL;
    body.poisson = 0.499;
    body.mean_volume = true;
    body.yeoh2 = c2;
    body.yeoh3 = c3;
    assert_ok(ctx, pl_mesh_box(ctx, (const double[3]){0.1, 0.1, 0.1}, 0.1, &mesh));
    world_add(&w, body, mesh);
    const double time[2] = {0, 10}, offset[6] = {0, 0, 0, (stretch - 1) * 0.1, 0, 0};
    for (int k = 0; k < 4; k++) {
        pl_pin_def pin = pl_pin_def_default();
        int held[4], count = 0;
        for (int i = 0; i < 8; i++)
            if ((i >> k % 3 & 1) == (k == 3))
                held[count++] = i;
        pin.vertex_count = count;
        pin.vertices = held;
        pin.compliance = 1e-8;
        pin.normal[k % 3] = 1;
        if (k == 3)
            pin.offset = (pl_table){2, time, offset};
        assert_ok(ctx, pl_scene_add_pin(w.scene, &pin, NULL));
    }
    world_start(&w);
    for (int k = 0; k < 25; k++) {
        world_step(&w);
        memset(w.state->v, 0, sizeof(double) * 3 * (size_t)w.n);
    }
    double stress[45], s = w.state->q[3] / 0.1, k = s * s + 2 / s - 3;
    assert_ok(ctx, pl_element_fields(w.sim, w.state, NULL, stress, NULL));
    double mu = 6e4 / 2 / 1.499, want = 2 * (s - 1 / s / s) * (mu / 2 + 2 * c2 * k + 3 * c3 * k * k),
           mean = 0;
    for (int e = 0; e < 5; e++) /* Cauchy stress is s times the nominal one */
        mean += stress[9 * e] / s * (e == 0 ? 1.0 / 3 : 1.0 / 6);
    assert_close(s, stretch, 1e-3);
    assert_close(mean, want, 0.01 * want);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void gradients_agree_with_differences(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = block_and_sheet(ctx, world_def(0.01, 0.5, 0, -9.81));
    world_floor(&w, -1e-3, 0.3);
    world_start(&w);
    for (int k = 0; k < w.n; k++)
        w.state->v[3 * k] += 0.5 + 20 * w.state->q[3 * k + 2], w.state->v[3 * k + 2] -= 0.3;
    term_check(&w,
               PL_BIT(PL_POSITION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) | PL_BIT(PL_YEOH2) |
                   PL_BIT(PL_YEOH3),
               8, 1e-5, "yeoh");
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Steps of a difference by which the rubber loses its shape give way to shorter ones. */
static void checks_keep_to_shapes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = block_and_sheet(ctx, world_def(0.01, 0, 0, -9.81));
    pl_check_result *r = NULL;
    pl_check_def def = pl_check_def_default();
    world_start(&w);
    for (int i = 0; i < w.n; i++)
        w.state->v[3 * i] = 60 * w.state->q[3 * i];
    def.steps = 4;
    def.step = 0.4;
    def.directions = 0;
    def.wanted = PL_BIT(PL_YEOH3);
    def.loss = term_loss, def.loss_user = &w;
    assert_ok(ctx, pl_check(w.sim, w.state, &def, &r));
    assert_int_equal(r->row_count, 1);
    assert_true(r->rows[0].steps[0] < 0.5 * def.step);
    assert_close(r->rows[0].adjoint, r->rows[0].difference, 1e-5 * fabs(r->rows[0].adjoint));
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void solvers_agree(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double q[3][200];
    for (int k = 0; k < 3; k++) {
        pl_scene_def def = world_def(0.01, 0.5, 0, -9.81);
        def.solver = (pl_solver_kind)(PL_SOLVER_DIRECT + k);
        test_world w = block_and_sheet(ctx, def);
        world_floor(&w, -1e-3, 0.3);
        world_start(&w);
        world_steps(&w, 10);
        assert_true(3 * w.n <= 200);
        memcpy(q[k], w.state->q, sizeof(double) * 3 * (size_t)w.n);
        assert_true(world_distance(3 * w.n, q[k], q[0]) < 1e-8);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_agree),
        cmocka_unit_test(stress_is_as_predicted),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(checks_keep_to_shapes),
        cmocka_unit_test(solvers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
