/*
 * Contacts as springs in the factor: the law met with the same delta - rho lambda, the same steps as
 * through contact space, the same bits for any number of threads, and gradients.
 */
#include "common_scene.h"

#include "sim/sim.h"

#include <pliant/check.h>

enum { STEPS = 14 };

/* A cloth falls on a ball, off its centre; folded whenever it can be. */
static test_world drape(pl_context *ctx, pl_solver_kind solver, double friction)
{
    pl_scene_def def = world_def(0.01, 0, 0, -9.81);
    def.solver = solver;
    ctx->limits.folded_contacts = 1;
    ctx->limits.folded_dense = 0;
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_ARAP, PL_EXACT, 5e4);
    body.thickness = 1e-3;
    body.bending = 1e-4;
    world_add(&w, body, world_cloth(ctx, 0.4, 0.4, 0.04, -0.193, -0.207, 0.002));
    pl_collider_def ball = pl_collider_def_default();
    ball.shape = PL_SPHERE;
    ball.size[0] = 0.1;
    ball.pose[2] = -0.1;
    ball.friction = friction;
    assert_ok(ctx, pl_scene_add_collider(w.scene, &ball, NULL));
    world_start(&w);
    return w;
}

static void check_law(double mu, const double delta[3], const double lambda[3])
{
    pl_law law = {.mu = mu, .epsilon2 = 5e-13, .rho = 0.02};
    double d[3], l[3];
    pl_law_point at;
    memcpy(d, delta, sizeof d);
    memcpy(l, lambda, sizeof l);
    pl_law_meet(&law, d, l, &at);
    pl_law_error e = pl_law_check(&law, d, l);
    assert_true(d[0] > 0 && l[0] > 0 && e.complementarity < 1e-12);
    if (mu > 0)
        assert_true(e.cone < 0);
    for (int k = 0; k < (mu > 0 ? 3 : 1); k++)
        assert_float_equal(d[k] - law.rho * l[k], delta[k] - law.rho * lambda[k], 1e-15);
}

static void test_law(void **state)
{
    (void)state;
    const double pairs[][6] = {{1e-3, 2e-4, -1e-4, 0.1, 0.02, 0},
                               {-1e-3, 1e-4, 0, 0.2, -0.1, 0.3},
                               {5e-12, 0, 0, 0.1, 0.01, 0.02},
                               {1e-2, 0, 0, 0, 0, 0}};
    for (int k = 0; k < 4; k++)
        for (int mu = 0; mu < 2; mu++)
            check_law(0.3 * mu, pairs[k], pairs[k] + 3);
}

/* Both to a tolerance of 1e-10 m a step: after some steps that is 1e-8. */
static void test_same_steps(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        pl_context *ctx = test_context(1);
        test_world a = drape(ctx, PL_SOLVER_LAGGED, 0.3 * k), b = drape(ctx, PL_SOLVER_DIRECT, 0.3 * k);
        for (int step = 0; step < STEPS; step++) {
            pl_step_info info = world_step(&a);
            world_step(&b);
            assert_true(info.residual <= 1e-10 && info.complementarity < 1e-8 && info.splits == 0);
        }
        assert_true(a.sim->solver.matrix.fold.count > 10);
        assert_int_equal(b.sim->solver.matrix.fold.count, 0);
        assert_true(world_distance(3 * a.n, a.state->q, b.state->q) < 1e-8);
        world_free(&a);
        world_free(&b);
        pl_context_destroy(ctx);
    }
}

static void test_threads(void **state)
{
    (void)state;
    pl_context *one = test_context(1), *two = test_context(2);
    test_world a = drape(one, PL_SOLVER_LAGGED, 0.3), b = drape(two, PL_SOLVER_LAGGED, 0.3);
    world_steps(&a, STEPS);
    world_steps(&b, STEPS);
    assert_memory_equal(a.state->q, b.state->q, sizeof(double) * 3 * (size_t)a.n);
    world_free(&a);
    world_free(&b);
    pl_context_destroy(one);
    pl_context_destroy(two);
}

static void spoil(int count, double *x)
{
    for (int i = 0; i < count; i++)
        x[i] = NAN;
}

/* What a failed step may leave in vectors to work in, NaN, is not read by the next. */
static void test_failures_leave_nothing(void **state)
{
    (void)state;
    for (int springs = 0; springs < 2; springs++) {
        pl_context *ctx = test_context(1);
        test_world a = drape(ctx, PL_SOLVER_LAGGED, 0.3);
        if (!springs)
            ctx->limits.folded_contacts = 1 << 20;
        pl_state *start = NULL;
        assert_ok(ctx, pl_state_create(a.scene, &start));
        world_steps(&a, STEPS);
        assert_true(springs == (a.sim->solver.matrix.fold.count > 0));
        pl_solver *s = &a.sim->solver;
        pl_contact_solver *at = &s->space.solver;
        double *of_vertices[] = {s->gradient, s->residual,   s->guess,    s->iterate, s->move,
                                 s->trial,    s->trial_move, s->combined, s->root,    s->pulled};
        double *of_contacts[] = {at->moved,      at->trial_moved, at->delta,       at->step,
                                 at->trial,      at->reach,       at->trial_delta, at->change,
                                 at->last_delta, at->step_moved};
        for (size_t k = 0; k < sizeof of_vertices / sizeof *of_vertices; k++)
            spoil(3 * a.n, of_vertices[k]);
        for (size_t k = 0; k < sizeof of_contacts / sizeof *of_contacts; k++)
            spoil(3 * at->capacity, of_contacts[k]);
        pl_sim_forget(a.sim);
        for (int step = 0; step < STEPS; step++)
            assert_ok(ctx, pl_step(a.sim, start, NULL, NULL));
        assert_memory_equal(a.state->q, start->q, sizeof(double) * 3 * (size_t)a.n);
        pl_state_destroy(a.scene, start);
        world_free(&a);
        pl_context_destroy(ctx);
    }
}

static void test_gradients(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        pl_context *ctx = test_context(1);
        test_world w = drape(ctx, PL_SOLVER_LAGGED, 0.3 * k);
        pl_check_def def = pl_check_def_default();
        pl_check_result *result = NULL;
        def.steps = STEPS;
        def.wanted = PL_BIT(PL_YOUNG) | PL_BIT(PL_VELOCITY) | (k ? PL_BIT(PL_FRICTION) : 0);
        def.newton_tolerance = 1e-12;
        def.adjoint.tolerance = 1e-8; /* as sweeps have it: for more digits there are no springs */
        world_loss loss = {STEPS, w.n, 1};
        def.loss = world_loss_term;
        def.loss_user = &loss;
        assert_ok(ctx, pl_check(w.sim, w.state, &def, &result));
        assert_true(w.sim->sweep_matrix.fold.count > 10);
        for (int r = 0; r < result->row_count; r++)
            if (!(result->rows[r].error < 1e-5))
                fail_msg("%s: adjoint %.12g, difference %.12g",
                         pl_channel_get(result->rows[r].channel)->name, result->rows[r].adjoint,
                         result->rows[r].difference);
        pl_check_destroy(ctx, result);
        world_free(&w);
        pl_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law),       cmocka_unit_test(test_same_steps),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_failures_leave_nothing),
        cmocka_unit_test(test_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
