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
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e4), world_grid(ctx, 2, 2, 2, 0.1, 0, 0, 0));
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
    swing(ctx, PL_TR_BDF2, 64, exact);
    for (int i = PL_EULER; i <= PL_TR_BDF2; i++) {
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
    double euler = spin(ctx, PL_EULER), bdf2 = spin(ctx, PL_BDF2), tr = spin(ctx, PL_TR_BDF2);
    if (!(euler < 0.85 && bdf2 > 0.98 && bdf2 < 1.001 && tr > 0.998 && tr < 1.0001))
        fail_msg("euler keeps %g, bdf2 %g, tr_bdf2 %g", euler, bdf2, tr);
    pl_context_destroy(ctx);
}

/* Energy never rises: a soft block falls, hits the floor, rebounds and comes to rest on it. */
static void impacts_gain_nothing(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int i = PL_EULER; i <= PL_TR_BDF2; i++) {
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

/* A rod flies at 0.1 m/s against a wall, c = 10 m/s, and stays there for 0.2 s: what it flies back
 * with, over that, and the most energy it has on the way, over what it had. */
static void hit(pl_context *ctx, pl_integrator integrator, double h, double *back, double *most)
{
    pl_scene_def def = world_def(h, 0, 0, 0);
    def.integrator = integrator;
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    body.poisson = 0, body.velocity[2] = -0.1;
    world_add(&w, body, world_grid(ctx, 2, 2, 21, 0.05, 0, 0, 1.3e-3));
    world_floor(&w, 0, 0);
    world_start(&w);
    pl_step_info info;
    double mass = pl_scene_get_info(w.scene).mass, start = 0.5 * mass * 0.01;
    *back = *most = 0;
    for (int k = 0; k * h < 0.35; k++) {
        double momentum = 0;
        assert_ok(ctx, pl_step(w.sim, w.state, NULL, &info));
        for (int i = 0; i < w.n; i++)
            momentum += w.sim->matter.mass[i] * w.state->v[3 * i + 2];
        *back = fmax(*back, momentum / (0.1 * mass));
        *most = fmax(*most, (info.energy_kinetic + info.energy_elastic) / start);
    }
    world_free(&w);
}

/* In the limit of small steps this rod has 0.95 left, the rest is in its waves. */
static void a_rod_rebounds(void **state)
{
    static const double h[3] = {0.02, 0.01, 0.005};
    static const double least[3][3] = {{0.48, 0.63, 0.73}, {0.78, 0.86, 0.91}, {0.89, 0.92, 0.94}};
    (void)state;
    pl_context *ctx = test_context(1);
    for (int i = PL_EULER; i <= PL_TR_BDF2; i++)
        for (int k = 0; k < 3; k++) {
            double back, most;
            hit(ctx, (pl_integrator)i, h[k], &back, &most);
            if (!(back > least[i][k] && back < 0.96 && most < 1 + 1e-9))
                fail_msg("integrator %d, h = %g: back with %g, energy %g", i, h[k], back, most);
        }
    pl_context_destroy(ctx);
}

/* A block falls 12.5 cm until its cable is taut, stiff or soft: a jerk gains nothing. */
static void jerks_gain_nothing(void **state)
{
    static const double compliance[3] = {0, 1e-5, 1e-3};
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 9; k++) {
        pl_scene_def def = world_def(0.02 / (1 << 2 * (k / 3)), 0, 0, -9.81);
        def.integrator = PL_TR_BDF2;
        test_world w = world_new(ctx, def);
        world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5),
                  world_grid(ctx, 2, 2, 2, 0.05, 0, 0, 0));
        const pl_point ends[2] = {
            {.body = -1, .position = {0.025, 0.025, 0.3}},
            {.body = 0, .count = 4, .vertices = {0, 3, 5, 6}, .weights = {0.25, 0.25, 0.25, 0.25}}};
        pl_cable_def cable = pl_cable_def_default();
        cable.point_count = 2, cable.points = ends, cable.length = 0.4;
        cable.compliance = compliance[k % 3];
        assert_ok(ctx, pl_scene_add_cable(w.scene, &cable, NULL));
        world_start(&w);
        double first = 0, scale = pl_scene_get_info(w.scene).mass * 9.81 * 0.125;
        for (int step = 0; step * def.time_step < 0.5; step++) {
            pl_step_info info;
            assert_ok(ctx, pl_step(w.sim, w.state, NULL, &info));
            double t = w.state->live[0];
            double energy = info.energy_kinetic + info.energy_elastic + info.energy_gravity +
                            0.5 * cable.compliance * t * t;
            first = step == 0 ? energy : first;
            if (!(energy <= first + 1e-3 * scale))
                fail_msg("h = %g, c = %g: %g of the fall gained in step %d", def.time_step,
                         cable.compliance, (energy - first) / scale, step + 1);
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* A block that rests on the floor: what it is told to weigh, whatever the parts of a step. */
static void contacts_tell_the_mean_force(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int i = PL_EULER; i <= PL_TR_BDF2; i++) {
        pl_scene_def def = world_def(0.01, 0, 0, -9.81);
        def.integrator = (pl_integrator)i;
        test_world w = world_new(ctx, def);
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
        body.damping = 30;
        world_add(&w, body, world_grid(ctx, 3, 3, 2, 0.04, 0, 0, 0));
        world_floor(&w, 0, 0.3);
        world_start(&w);
        world_steps(&w, 300);
        double sum = 0, weight = 9.81 * pl_scene_get_info(w.scene).mass;
        for (int c = 0; c < w.state->contact_count; c++)
            sum += w.state->contacts[c].force_normal;
        assert_close(sum, weight, 1e-6 * weight);
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
    for (int k = 0; k < 4; k++) {
        int first = k % 2;
        pl_scene_def scene = world_def(0.01, 0.5, 0, -9.81);
        scene.integrator = k < 2 ? PL_BDF2 : PL_TR_BDF2;
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
        pl_check_regimes met = term_check(&w, wanted, 8, 1e-6, first ? "from a motion" : "from rest");
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
    def.integrator = PL_TR_BDF2;
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
        cmocka_unit_test(copies_look_back),      cmocka_unit_test(a_rod_rebounds),
        cmocka_unit_test(jerks_gain_nothing),    cmocka_unit_test(contacts_tell_the_mean_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
