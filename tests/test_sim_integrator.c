/* Integrators: their order, what they keep of a motion, their derivatives, states that look back. */
#include "terms_derivatives.h"

/* A block on four springs that swings up and down at 5 Hz, undamped; how far it is after 0.4 s from
 * where it is with steps of 1/64. */
static void swing(pl_context *ctx, pl_integrator integrator, int refine, double *q)
{
    pl_scene_def def = world_def(0.01 / refine, 0, 0, -9.81);
    def.integrator = integrator;
    test_world w = world_new(ctx, def);
    int held[4] = {0, 1, 2, 3};
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6), world_grid(ctx, 2, 2, 2, 0.1, 0, 0, 0));
    world_pin(&w, 0, 4, held, 4e-3);
    world_start(&w);
    world_steps(&w, 40 * refine);
    memcpy(q, w.state->q, sizeof(double) * 3 * (size_t)w.n);
    world_free(&w);
}

static void they_have_their_order(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double exact[24], q[24];
    swing(ctx, PL_BDF2, 64, exact);
    for (int i = PL_EULER; i <= PL_BDF2; i++) {
        double error[3];
        for (int k = 0; k < 3; k++) {
            swing(ctx, (pl_integrator)i, 2 << k, q);
            error[k] = world_distance(24, q, exact);
        }
        double order = log2(error[1] / error[2]);
        if (!(i == PL_EULER ? order > 0.6 && order < 1.2 : order > 1.8 && order < 2.5))
            fail_msg("integrator %d: order %g (%g, %g, %g)", i, order, error[0], error[1], error[2]);
        assert_true(i == PL_EULER || error[1] < 5e-3);
    }
    pl_context_destroy(ctx);
}

/* A free block that spins: what is left of its angular momentum after half a second. */
static double spin(pl_context *ctx, pl_integrator integrator)
{
    pl_scene_def def = world_def(0.01, 0, 0, 0);
    def.integrator = integrator;
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6);
    body.angular_velocity[2] = 10;
    world_add(&w, body, world_grid(ctx, 3, 3, 2, 0.05, -0.05, -0.05, 0));
    world_start(&w);
    double kept[2];
    for (int k = 0; k < 2; k++) {
        kept[k] = 0;
        for (int i = 0; i < w.n; i++) {
            const double *q = w.state->q + 3 * i, *v = w.state->v + 3 * i;
            kept[k] += w.sim->matter.mass[i] * (q[0] * v[1] - q[1] * v[0]);
        }
        if (k == 0)
            world_steps(&w, 50);
    }
    world_free(&w);
    return kept[1] / kept[0];
}

static void a_spin_goes_on(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double euler = spin(ctx, PL_EULER), bdf2 = spin(ctx, PL_BDF2);
    if (!(euler < 0.85 && bdf2 > 0.98 && bdf2 < 1.001))
        fail_msg("euler keeps %g, bdf2 %g", euler, bdf2);
    pl_context_destroy(ctx);
}

/* Energy never rises: a soft block falls, hits the floor, rebounds and comes to rest on it. */
static void impacts_gain_nothing(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int i = PL_EULER; i <= PL_BDF2; i++) {
        pl_scene_def def = world_def(0.005, 0, 0, -9.81);
        def.integrator = (pl_integrator)i;
        test_world w = world_new(ctx, def);
        world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5),
                  world_grid(ctx, 3, 3, 3, 0.04, 0, 0, 0.1));
        world_floor(&w, 0, 0.3);
        world_start(&w);
        double before = INFINITY;
        pl_step_info info;
        for (int k = 0; k < 120; k++) {
            assert_ok(ctx, pl_step(w.sim, w.state, NULL, &info));
            double energy = info.energy_kinetic + info.energy_elastic + info.energy_gravity;
            if (k == 0)
                before = energy;
            if (!(energy <= before * (1 + 1e-3)))
                fail_msg("integrator %d: %g J after step %d, %g at the start", i, energy, k + 1,
                         before);
            assert_true(info.penetration == 0 && info.complementarity < 1e-6);
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* Every channel of a block that is thrown on a rough floor, held by a spring and blown at; also from a
 * state that has one before it. */
static void gradients_agree_with_differences(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int first = 0; first < 2; first++) {
        pl_scene_def scene = world_def(0.01, 0.5, 0, -9.81);
        scene.integrator = PL_BDF2;
        test_world w = world_new(ctx, scene);
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
        body.velocity[0] = 0.5, body.velocity[2] = -0.3, body.damping = 0.5;
        world_add(&w, body, world_grid(ctx, 3, 3, 2, 0.04, 0, 0, 1e-3));
        world_floor(&w, 0, 0.3);
        int held[1] = {17};
        world_pin(&w, 0, 1, held, 1e-2);
        pl_wind_def wind = pl_wind_def_default();
        wind.velocity[1] = 3;
        assert_ok(ctx, pl_scene_add_wind(w.scene, &wind, NULL));
        world_start(&w);
        world_steps(&w, 4 * first);
        assert_true((w.state->before_length > 0) == (first > 0));
        pl_channels wanted = PL_BIT(PL_POSITION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) |
                             PL_BIT(PL_DENSITY) | PL_BIT(PL_DAMPING) | PL_BIT(PL_FRICTION) |
                             PL_BIT(PL_PIN_TARGET) | PL_BIT(PL_WIND) | PL_BIT(PL_COLLIDER_POSE);
        pl_check_regimes met = term_check(&w, wanted, 10, 1e-6, first ? "from a motion" : "from rest");
        assert_true(met.slip > 0);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* A copied state goes on as the original does. */
static void copies_look_back(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def def = world_def(0.01, 0, 0, -9.81);
    def.integrator = PL_BDF2;
    test_world w = world_new(ctx, def);
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5),
              world_grid(ctx, 3, 2, 2, 0.04, 0, 0, 0.01));
    world_floor(&w, 0, 0.3);
    world_start(&w);
    pl_state *copy = NULL;
    assert_ok(ctx, pl_state_create(w.scene, &copy));
    world_steps(&w, 3);
    assert_ok(ctx, pl_state_copy(w.scene, w.state, copy));
    pl_sim_forget(w.sim);
    world_step(&w);
    pl_sim_forget(w.sim);
    assert_ok(ctx, pl_step(w.sim, copy, NULL, NULL));
    assert_memory_equal(copy->q, w.state->q, sizeof(double) * 3 * (size_t)w.n);
    assert_memory_equal(copy->v, w.state->v, sizeof(double) * 3 * (size_t)w.n);
    pl_state_destroy(w.scene, copy);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_have_their_order), cmocka_unit_test(a_spin_goes_on),
        cmocka_unit_test(impacts_gain_nothing),  cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(copies_look_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
