/*
 * Newton's own step with contacts by GMRES with an old factor: the step itself, the few iterations that
 * it saves a sliding body, and impacts whose way leads past a saddle.
 */
#include "common_scene.h"

#include "core/vec.h"
#include "sim/sim.h"
#include "sim_substep.h"

/* A block on a rough floor, thrown along it for one step: contacts, forces, law and factor are its. */
static test_world thrown_block(pl_context *ctx)
{
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_PROJECTIVE, 1e4);
    body.velocity[0] = 0.3;
    world_add(&w, body, world_grid(ctx, 4, 4, 7, 0.02, 0, 0, 1e-4));
    world_floor(&w, 0, 0.3);
    world_start(&w);
    for (int k = 0; k < 5; k++)
        world_step(&w);
    assert_int_equal(w.sim->solver.space.set.count, 16);
    return w;
}

/*
 * At a state pressed to 70 % of its height, where the tangent E is indefinite, for any residual, move
 * and change of the contact forces: what E p + r - h^2 H^T origin leaves over is h^2 H^T dl, nothing
 * elsewhere, and with that dl the linearised law holds. With E over the move as well, if that is short.
 */
static void check_newton_step(bool secant)
{
    pl_context *ctx = test_context(1);
    test_world w = thrown_block(ctx);
    pl_solver *solver = &w.sim->solver;
    pl_contact_space *space = &solver->space;
    pl_substep sub = world_substep(&w);
    int size = 3 * w.n;
    double *q = w.state->q, h2 = 1e-4, scale = secant ? 1e-3 : 1, all = 0, elsewhere = 0, law = 0;
    double *step = calloc((size_t)size, sizeof *step), *left = calloc((size_t)size, sizeof *left);
    double *move = calloc((size_t)size, sizeof *move), moved = 0;
    uint64_t seed = 4;
    for (int i = 0; i < w.n; i++)
        q[3 * i + 2] *= 0.7;
    for (int i = 0; i < size; i++) {
        solver->residual[i] = 1e-6 * test_random(&seed);
        move[i] = 1e-5 * scale * test_random(&seed);
    }
    pl_matrix_diagonal(&solver->matrix, solver->matter, 0.01);
    pl_elastic_evaluate(solver->matter->elastic, q, false, h2, solver->matrix.diagonal,
                        solver->gradient, solver->matrix.tangent);
    pl_truncated found;
    assert_ok(ctx, pl_coupled_newton(solver, &sub, q, move, secant, 1e-6, 1, step, &found));
    assert_int_equal(found.kind, PL_TRUNCATED_NONE); /* one iteration is too few, and said to be */
    assert_ok(ctx, pl_coupled_newton(solver, &sub, q, move, secant, 1e-6, 80, step, &found));
    assert_int_equal(found.kind, PL_TRUNCATED_NEWTON);
    assert_true(found.iterations > 1 && found.residual <= 1e-6);

    pl_bsr_multiply(1, w.sim->model->pattern, solver->matrix.tangent, step, left);
    for (int i = 0; i < size; i++) {
        left[i] += solver->residual[i];
        all += solver->residual[i] * solver->residual[i];
    }
    for (int c = 0; c < space->set.count; c++)
        pl_contact_scatter(&space->set, c, -h2, space->origin + 3 * c, left);
    for (int c = 0; c < space->set.count; c++) {
        const pl_contact_point *p = &space->set.points[c];
        const pl_law_linear *linear = &space->solver.linear[c];
        double force[3], more[3], by_force[3], x[3], by_motion[3];
        pl_contact_gather(&space->set, c, left, force);
        pl_contact_scatter(&space->set, c, -1, force, left);
        for (int k = 0; k < 3; k++) {
            double dl = force[k] / h2;
            assert_close(space->lambda[3 * c + k], space->origin[3 * c + k] + dl, 2e-6);
            more[k] = dl - space->solver.change[3 * c + k];
        }
        for (int i = 3 * p->vertex; i < 3 * p->vertex + 3; i++)
            step[i] -= move[i]; /* the law is solved at the end of the move, with its change */
        pl_contact_gather(&space->set, c, step, x);
        pl_mat3_vec(linear->d_delta, x, by_motion);
        pl_mat3_vec(linear->d_lambda, more, by_force);
        for (int k = 0; k < 3; k++) {
            law = fmax(law, fabs(by_motion[k] + by_force[k] + linear->residual[k]));
            moved = fmax(moved, fabs(x[k]));
        }
    }
    for (int i = 0; i < size; i++)
        elsewhere += left[i] * left[i];
    /* GMRES is asked for 1e-6 of a right-hand side that is more than r; and a secant over a move that
     * has nothing to do with the step is another matrix. */
    assert_true(sqrt(elsewhere) <= (secant ? 1e-4 : 1e-5) * sqrt(all));
    assert_true(law <= (secant ? 1e-4 : 1e-5) * moved);
    free(step), free(left), free(move);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void test_newton_step(void **state)
{
    (void)state;
    check_newton_step(false);
    check_newton_step(true);
}

/* Sliding to rest on a rough floor and on a slope: as good as with a new factor in every iteration, in
 * as few iterations, with next to no factors; solves are what GMRES takes. */
static void test_sliding(void **state)
{
    (void)state;
    pl_context *ctx = test_context(2);
    const double gravity[][3] = {{0, 0, -9.81}, {2, 0, -9.6}};
    for (int slope = 0; slope < 2; slope++) {
        test_world w[2];
        int iterations[2] = {0}, factors[2] = {0}, solves[2] = {0};
        for (int direct = 0; direct < 2; direct++) {
            pl_scene_def def = world_def(0.01, gravity[slope][0], 0, gravity[slope][2]);
            def.solver = direct ? PL_SOLVER_DIRECT : PL_SOLVER_LAGGED;
            pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
            body.velocity[0] = 0.5;
            w[direct] = world_new(ctx, def);
            world_add(&w[direct], body, world_grid(ctx, 11, 11, 5, 0.02, 0, 0, 0));
            world_floor(&w[direct], 0, slope ? 0.1 : 0.3);
            world_start(&w[direct]);
            for (int k = 0; k < 40; k++) {
                pl_step_info info = world_step(&w[direct]);
                assert_true(info.residual <= 1e-10);
                iterations[direct] += info.iterations;
                factors[direct] += info.factorizations;
                solves[direct] += info.linear_solves;
            }
        }
        for (int i = 0; i < 3 * w[0].n; i++)
            assert_close(w[0].state->q[i], w[1].state->q[i], 5e-12); /* 5e-13 */
        assert_true(iterations[0] <= 3 * 40);
        assert_true(factors[0] <= 2);
        assert_true(solves[0] > iterations[0]);
        world_free(&w[0]);
        world_free(&w[1]);
    }
    pl_context_destroy(ctx);
}

/* Soft cubes thrown on the floor: a step of the first meets a saddle, from which the clamped tangent
 * alone does not come away in a hundred iterations. None is split. */
static void test_impacts(void **state)
{
    (void)state;
    const pl_material models[] = {PL_NEO_HOOKEAN, PL_COROTATED};
    pl_context *ctx = test_context(1);
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
        pl_body_def body = world_body(models[k], PL_PROJECTIVE, 1e4);
        body.velocity[0] = 3, body.velocity[2] = -5;
        world_add(&w, body, world_grid(ctx, 4, 4, 4, 0.1 / 3, 0, 0, 0.02));
        world_floor(&w, 0, 0.5);
        world_start(&w);
        for (int step = 0; step < 12; step++) {
            pl_step_info info = world_step(&w);
            assert_int_equal(info.splits, 0);
            assert_true(info.residual <= 1e-10);
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newton_step),
        cmocka_unit_test(test_sliding),
        cmocka_unit_test(test_impacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
