/*
 * Gradients where rounding alone leaves more of the right-hand side than the tolerance: a stiff, light
 * body in free flight. Its centre moves by the sum of velocities whatever the stiffness, so that
 * sum_i d(mean z)/d(v_i z) = steps h.
 */
#include "common_scene.h"

enum { STEPS = 2 };
static const double h = 0.015;

static bool mean_height(void *user, int step, const double *q, const double *v, double *value,
                        double *dq, double *dv)
{
    (void)v, (void)dv;
    int n = *(int *)user;
    for (int i = 0; step == STEPS && i < n; i++) {
        *value += q[3 * i + 2] / n;
        dq[3 * i + 2] += 1.0 / n;
    }
    return true;
}

static test_world stiff_cylinder(pl_context *ctx)
{
    test_world w = world_new(ctx, world_def(h, 0, 0, -9.81));
    pl_body_def body = world_body(PL_ARAP, PL_EXACT, 3.2e8);
    pl_mesh *mesh = NULL;
    body.density = 22.6;
    body.lumped_equally = true;
    body.velocity[2] = -16;
    assert_ok(ctx, pl_mesh_cylinder(ctx, 0.01516, 0.02039, 0.00896, &mesh));
    world_add(&w, body, mesh);
    world_start(&w);
    return w;
}

/* sum_i dL/d(v_i z) */
static double upwards(const test_world *w, const pl_gradient *g)
{
    double sum = 0;
    for (int i = 0; i < w->n; i++)
        sum += g->of[PL_VELOCITY][3 * i + 2];
    return sum;
}

static void stiff_bodies_have_gradients(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = stiff_cylinder(ctx);
    pl_rollout *rollout = NULL;
    pl_gradient *g = NULL;
    pl_adjoint_info info;
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = STEPS;
    assert_ok(ctx, pl_rollout_run(w.sim, w.state, &def, &rollout));
    assert_ok(ctx, pl_gradient_create(w.scene, STEPS, PL_BIT(PL_VELOCITY), &g));
    assert_ok(ctx, pl_rollout_backward(rollout, NULL, mean_height, &w.n, g, &info));
    assert_true(info.residual >
                1e-8); /* the case is one: the next assertion says that it does not show */
    assert_true(info.error > 0 && info.error <= 1e-8);
    assert_close(upwards(&w, g), STEPS * h, STEPS * 1e-8 * STEPS * h); /* the tolerance, a step */
    pl_gradient_destroy(w.scene, g);
    pl_rollout_destroy(rollout);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* The mean height, and a million times how much longer the body is. */
static bool height_and_stretch(void *user, int step, const double *q, const double *v, double *value,
                               double *dq, double *dv)
{
    int n = *(int *)user;
    mean_height(user, step, q, v, value, dq, dv);
    if (step == STEPS) {
        *value += 1e6 * (q[3 * (n - 1) + 2] - q[2]);
        dq[3 * (n - 1) + 2] += 1e6;
        dq[2] -= 1e6;
    }
    return true;
}

/* Stretching asks for forces inside the body, which dwarf what moves it as a whole: a residual that is
 * small beside them says little of that. The error that is told does. */
static void errors_are_no_larger_than_told(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = stiff_cylinder(ctx);
    pl_rollout *rollout = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = STEPS;
    assert_ok(ctx, pl_rollout_run(w.sim, w.state, &def, &rollout));
    for (double tolerance = 1e-3; tolerance > 5e-9; tolerance /= 10) {
        pl_gradient *g = NULL;
        pl_adjoint_info info;
        pl_adjoint_def adjoint = pl_adjoint_def_default();
        adjoint.tolerance = tolerance;
        assert_ok(ctx, pl_gradient_create(w.scene, STEPS, PL_BIT(PL_VELOCITY), &g));
        assert_ok(ctx, pl_rollout_backward(rollout, &adjoint, height_and_stretch, &w.n, g, &info));
        double all = 0;
        for (int i = 0; i < 3 * w.n; i++)
            all += fabs(g->of[PL_VELOCITY][i]);
        assert_true(info.error > 0 && info.error <= tolerance);
        assert_close(upwards(&w, g), STEPS * h, STEPS * info.error * all); /* one a step */
        pl_gradient_destroy(w.scene, g);
    }
    pl_rollout_destroy(rollout);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiff_bodies_have_gradients),
        cmocka_unit_test(errors_are_no_larger_than_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
