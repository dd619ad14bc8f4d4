/*
 * Newton's own step by CG with an old factor: the step itself, a saddle recognised, and a whole swing
 * of a soft body whose steps pass through buckling.
 */
#include "common_scene.h"

#include "core/vec.h"
#include "sim/sim.h"
#include "sim_substep.h"

/* A soft bar; its sim has a factor made at rest. */
static test_world soft_bar(pl_context *ctx, pl_material model)
{
    test_world w = world_new(ctx, world_def(0.05, 0, 0, 0));
    world_add(&w, world_body(model, PL_PROJECTIVE, 1e4), world_grid(ctx, 13, 4, 4, 0.02, 0, 0, 0));
    world_start(&w);
    pl_substep sub = world_substep(&w);
    assert_ok(ctx,
              pl_matrix_refresh(&w.sim->solver.matrix, &sub, PL_FACTOR_TANGENT, w.state->q, 0, NULL));
    return w;
}

static void fill_residual(pl_solver *solver)
{
    uint64_t seed = 4;
    for (int i = 0; i < 3 * solver->n; i++)
        solver->residual[i] = 1e-6 * test_random(&seed);
}

/* Stretched and sheared a little: E p = -r to a hundredth, which is what is asked of CG. */
static void test_newton_step(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int model = 0; model < 3; model++) {
        test_world w = soft_bar(ctx, (pl_material)model);
        double *q = w.state->q, *step = calloc(3 * (size_t)w.n, sizeof *step);
        double *product = calloc(3 * (size_t)w.n, sizeof *product), left = 0, all = 0;
        for (int i = 0; i < w.n; i++) {
            q[3 * i] *= 1.05;
            q[3 * i + 2] += 0.1 * q[3 * i];
        }
        fill_residual(&w.sim->solver);
        pl_truncated found;
        pl_substep sub = world_substep(&w);
        assert_ok(ctx, pl_truncated_newton(&w.sim->solver, &sub, q, 1e-3, 50, step, &found));
        assert_int_equal(found.kind, PL_TRUNCATED_NEWTON);
        assert_true(found.iterations >= 1 && found.iterations <= 12); /* without the factor: over 50 */
        pl_bsr_multiply(1, w.sim->model->pattern, w.sim->solver.matrix.tangent, step, product);
        for (int i = 0; i < 3 * w.n; i++) {
            left += pow(product[i] + w.sim->solver.residual[i], 2);
            all += pow(w.sim->solver.residual[i], 2);
        }
        assert_true(sqrt(left) <= 1.0001e-2 * sqrt(all));
        /* A limit that is too small is said. */
        assert_ok(ctx, pl_truncated_newton(&w.sim->solver, &sub, q, 1e-3, 1, step, &found));
        assert_int_equal(found.kind, PL_TRUNCATED_NONE);
        free(step), free(product);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* Pressed to 60 % of its length the bar would buckle: the step contains a direction of negative
 * curvature, as long as asked. */
static void test_saddle(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = soft_bar(ctx, PL_COROTATED);
    double *q = w.state->q, *step = calloc(3 * (size_t)w.n, sizeof *step);
    double *product = calloc(3 * (size_t)w.n, sizeof *product), longest = 0;
    for (int i = 0; i < w.n; i++)
        q[3 * i] *= 0.6;
    fill_residual(&w.sim->solver);
    pl_truncated found;
    pl_substep sub = world_substep(&w);
    assert_ok(ctx, pl_truncated_newton(&w.sim->solver, &sub, q, 1e-3, 50, step, &found));
    assert_int_equal(found.kind, PL_TRUNCATED_DOWNHILL);
    const double *direction = w.sim->solver.krylov.direction;
    pl_bsr_multiply(1, w.sim->model->pattern, w.sim->solver.matrix.tangent, direction, product);
    double curvature = 0, slope = 0;
    for (int i = 0; i < 3 * w.n; i++) {
        curvature += direction[i] * product[i];
        slope += step[i] * w.sim->solver.residual[i];
        longest = fmax(longest, pl_norm3(step + 3 * (i / 3)));
    }
    assert_true(curvature < 0 && slope < 0);
    assert_true(longest > 0.5e-3);
    free(step), free(product);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A soft bar thrown against its own pinned end folds: every step converges, none is split. */
static void test_folding(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int model = 1; model < 3; model++) {
        test_world w = world_new(ctx, world_def(0.05, 0, 0, -9.81));
        pl_body_def body = world_body((pl_material)model, PL_PROJECTIVE, 3e3);
        body.velocity[0] = -1;
        int b = world_add(&w, body, world_grid(ctx, 13, 4, 4, 0.02, 0, 0, 0));
        int end[16], count = 0;
        for (int i = 0; i < 13 * 4 * 4; i++)
            if (w.scene->bodies[b].mesh->vertices[3 * i] < 1e-9)
                end[count++] = i;
        assert_int_equal(count, 16);
        world_pin(&w, b, count, end, 1e-6);
        world_start(&w);
        for (int k = 0; k < 20; k++) {
            pl_step_info info = world_step(&w);
            assert_int_equal(info.splits, 0);
            assert_true(info.residual <= 1e-10 && info.iterations <= 60);
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newton_step),
        cmocka_unit_test(test_saddle),
        cmocka_unit_test(test_folding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
