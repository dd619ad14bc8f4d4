/* Viscosity: its derivatives, what it resists and what it leaves alone, decay as predicted, gradients.
 */
#include "terms_derivatives.h"

extern const pl_term pl_term_viscosity;

/* A block and a sheet, both viscous, the block's elements not alike; `some` of them are not viscous. */
static test_world block_and_sheet(pl_context *ctx, pl_scene_def def, bool some)
{
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e4);
    pl_mesh *block = world_grid(ctx, 3, 2, 2, 0.05, 0, 0, 0);
    double *of = malloc(sizeof *of * (size_t)block->tet_count);
    for (int e = 0; e < block->tet_count; e++)
        of[e] = some && e % 5 == 0 ? 0 : 200 + e;
    body.viscosity_of = of;
    world_add(&w, body, block);
    free(of);
    body.viscosity_of = NULL;
    body.viscosity = 300;
    term_add_sheet(&w, body);
    return w;
}

/* Substeps from a state that has moved, of every integrator's rows. */
static void derivatives_agree(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int i = 0; i < 4; i++) {
        test_world w = block_and_sheet(ctx, world_def(0.01, 0, 0, 0), true);
        world_start(&w);
        double *q = term_shaken(&w, 0.01, 5), *before = term_shaken(&w, 0.005, 9);
        pl_substep s = term_substep(&w, 0.01);
        s.scheme = pl_schemes_get(i < 2 ? (pl_integrator)i : PL_TR_BDF2) + (i == 3);
        s.h = s.scheme->theta * s.length;
        s.q1 = before;
        s.v0 = q; /* as good a field as any */
        s.v1 = before;
        term_expect(&pl_term_viscosity, &s, q, w.n,
                    (term_limits){1e-9, 1e-8, 1e-13, 1e-9, 1e-14, 1e-13}, "viscosity");
        free(before);
        free(q);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* What each state is turned and shifted from the one before has no rate of strain, to rounding. */
static void turning_is_free(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = block_and_sheet(ctx, world_def(0.01, 0, 0, 0), true);
    world_start(&w);
    size_t bytes = sizeof(double) * 3 * (size_t)w.n;
    double *x[3], *f = calloc(1, bytes), *strained = calloc(1, bytes),
                  *shape = term_shaken(&w, 0.01, 3);
    for (int k = 0; k < 3; k++) {
        double turn[4], m[9];
        world_turn(0.3, -0.5, 0.8, 0.7 * k, turn);
        pl_quat_to_mat3(turn, m);
        x[k] = malloc(bytes);
        for (int i = 0; i < w.n; i++) {
            pl_mat3_vec(m, shape + 3 * i, x[k] + 3 * i);
            x[k][3 * i] += 0.1 * k;
        }
    }
    for (int i = PL_EULER; i <= PL_BDF2; i++) {
        pl_substep s = term_substep(&w, 0.01);
        s.scheme = pl_schemes_get((pl_integrator)i);
        s.q1 = x[0];
        s.q0 = x[1];
        memset(f, 0, bytes);
        memset(strained, 0, bytes);
        pl_term_viscosity.energy(&s, x[2], 1, f);
        s.q0 = w.state->q;
        pl_term_viscosity.energy(&s, x[2], 1, strained);
        double most = 0, size = 0;
        for (int k = 0; k < 3 * w.n; k++) {
            most = fmax(most, fabs(f[k]));
            size = fmax(size, fabs(strained[k]));
        }
        assert_true(size > 0.1 && most < 1e-13 * size);
    }
    for (int k = 0; k < 3; k++)
        free(x[k]);
    free(f);
    free(strained);
    free(shape);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A regular tet that breathes: F = (1 + s) 1 and, Poisson's ratio being 0, J s'' = -3 V (E s + 2 eta
 * s'), J = sum m |x|^2. It falls by exp(-3 V eta/J t). */
static void decay_is_as_predicted(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double young = 1e4, eta = 80, length = 1e-4, strain = 1e-5;
    const double corners[12] = {0.05,  0.05, 0.05,  0.05,  -0.05, -0.05,
                                -0.05, 0.05, -0.05, -0.05, -0.05, 0.05};
    pl_scene_def def = world_def(length, 0, 0, 0);
    def.integrator = PL_BDF2;
    test_world w = world_new(ctx, def);
    pl_mesh *mesh = NULL;
    pl_body_def body = world_body(PL_COROTATED, PL_EXACT, young);
    body.poisson = 0;
    body.viscosity = eta;
    assert_ok(ctx, pl_mesh_create(ctx, 4, corners, 1, (const int[4]){0, 2, 1, 3}, 0, NULL, &mesh));
    world_add(&w, body, mesh);
    world_start(&w);
    for (int i = 0; i < 12; i++)
        w.state->q[i] *= 1 + strain;
    double mass = pl_scene_get_info(w.scene).mass, spread = 3 * 0.05 * 0.05 * mass,
           volume = mass / body.density, rate = 3 * volume * eta / spread,
           swing = sqrt(3 * volume * young / spread - rate * rate);
    for (int k = 1; k <= 600; k++) {
        world_step(&w);
        double t = k * length, found = (w.state->q[0] / 0.05 - 1) / strain;
        double want = exp(-rate * t) * (cos(swing * t) + rate / swing * sin(swing * t));
        if (!(fabs(found - want) < 1e-2))
            fail_msg("step %d: %g, expected %g", k, found, want);
    }
    assert_true(rate * 600 * length > 1);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A free block that spins and quivers: what is left of its angular momentum is what is left without. */
static void a_spin_goes_on(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double kept[2];
    for (int k = 0; k < 4; k++) {
        int viscous = k % 2;
        pl_scene_def def = world_def(0.005, 0, 0, 0);
        def.integrator = k < 2 ? PL_BDF2 : PL_TR_BDF2;
        test_world w = world_new(ctx, def);
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6);
        body.viscosity = viscous ? 1000 : 0;
        body.angular_velocity[2] = 10;
        world_add(&w, body, world_grid(ctx, 3, 3, 2, 0.05, -0.05, -0.05, 0));
        world_start(&w);
        world_steps(&w, 100);
        kept[viscous] = 0;
        for (int i = 0; i < w.n; i++) {
            const double *q = w.state->q + 3 * i, *v = w.state->v + 3 * i;
            kept[viscous] += w.sim->matter.mass[i] * (q[0] * v[1] - q[1] * v[0]);
        }
        world_free(&w);
        assert_true(!viscous || fabs(kept[1] - kept[0]) < 2e-3 * kept[0]);
    }
    pl_context_destroy(ctx);
}

/* All that a gradient is taken of, with every integrator, from rest and from a motion, in contact;
 * last also by the viscosity of elements that have none, which differences are taken of to one side. */
static void gradients_agree_with_differences(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int i = 0; i < 6; i++) {
        pl_scene_def def = world_def(0.01, 0.5, 0, -9.81);
        def.integrator = (pl_integrator)(i % 3);
        def.tolerance = 1e-13; /* what viscosity does here is little */
        test_world w = block_and_sheet(ctx, def, i == 4);
        world_floor(&w, -1e-3, 0.3);
        world_start(&w);
        for (int k = 0; k < w.n; k++)
            w.state->v[3 * k] += 0.5 + 20 * w.state->q[3 * k + 2], w.state->v[3 * k + 2] -= 0.3;
        world_steps(&w, i < 3 ? 0 : 3);
        pl_channels wanted = PL_BIT(PL_POSITION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) |
                             PL_BIT(PL_DENSITY) | PL_BIT(PL_VISCOSITY) | PL_BIT(PL_FRICTION);
        char what[64];
        snprintf(what, sizeof what, "integrator %d, %s", i % 3, i < 3 ? "from rest" : "from a motion");
        pl_check_regimes met = term_check(&w, wanted, 8, 1e-5, what);
        assert_true(met.slip > 0);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* Every way to solve a step ends at the same place. */
static void solvers_agree(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double q[3][200];
    for (int k = 0; k < 3; k++) {
        pl_scene_def def = world_def(0.01, 0.5, 0, -9.81);
        def.solver = (pl_solver_kind)(PL_SOLVER_DIRECT + k);
        test_world w = block_and_sheet(ctx, def, true);
        world_floor(&w, -1e-3, 0.3);
        world_start(&w);
        world_steps(&w, 10);
        assert_true(3 * w.n <= 200);
        memcpy(q[k], w.state->q, sizeof(double) * 3 * (size_t)w.n);
        assert_true(k == 0 || world_distance(3 * w.n, q[k], q[0]) < 1e-8);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* A limited tape gives the same gradient, bit for bit, with states that look back. */
static void budgets_change_nothing(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double *first = NULL;
    for (int limited = 0; limited < 2; limited++) {
        pl_scene_def def = world_def(0.005, 0, 0, -9.81);
        def.integrator = PL_TR_BDF2;
        test_world w = block_and_sheet(ctx, def, true);
        world_floor(&w, -1e-3, 0.3);
        world_start(&w);
        pl_rollout_def run = pl_rollout_def_default();
        pl_rollout *rollout = NULL;
        pl_gradient *g = NULL;
        pl_adjoint_info info;
        run.steps = 200;
        run.memory_budget = limited ? 1 : 0;
        assert_ok(ctx, pl_rollout_run(w.sim, w.state, &run, &rollout));
        assert_ok(ctx, pl_gradient_create(w.scene, 200, PL_BIT(PL_VISCOSITY), &g));
        assert_ok(ctx, pl_rollout_backward(rollout, NULL, term_loss, &w, g, &info));
        assert_true((info.recomputed > 0) == (limited > 0));
        size_t bytes = sizeof(double) * (size_t)pl_scene_row_count(w.scene, PL_VISCOSITY);
        if (!limited) {
            first = malloc(bytes);
            memcpy(first, g->of[PL_VISCOSITY], bytes);
        }
        assert_memory_equal(first, g->of[PL_VISCOSITY], bytes);
        assert_true(first[0] != 0);
        pl_gradient_destroy(w.scene, g);
        pl_rollout_destroy(rollout);
        world_free(&w);
    }
    free(first);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_agree),
        cmocka_unit_test(turning_is_free),
        cmocka_unit_test(decay_is_as_predicted),
        cmocka_unit_test(a_spin_goes_on),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(solvers_agree),
        cmocka_unit_test(budgets_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
