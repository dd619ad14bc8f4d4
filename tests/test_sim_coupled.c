/*
 * Newton's own step with contacts by GMRES with an old factor: the step itself, and impacts whose way
 * leads past a saddle.
 */
#include "common_scene.h"

#include "core/vec.h"
#include "sim/sim.h"

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
    assert_int_equal(w.sim->contacts.count, 16);
    return w;
}

/*
 * At a state pressed to 70 % of its height, where the tangent is indefinite: what E p + r - h^2 H^T
 * lambda leaves over is h^2 H^T of a change of the contact forces, nothing elsewhere, and with that
 * change the linearised law holds.
 */
static void test_newton_step(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown_block(ctx);
    pl_sim *sim = w.sim;
    double *q = w.state->q, h2 = 1e-4, all = 0, elsewhere = 0, law = 0, moved = 0;
    double *step = calloc(3 * (size_t)w.n, sizeof *step), *left = calloc(3 * (size_t)w.n, sizeof *left);
    double *move = calloc(3 * (size_t)w.n, sizeof *move);
    uint64_t seed = 4;
    for (int i = 0; i < w.n; i++)
        q[3 * i + 2] *= 0.7;
    for (int i = 0; i < 3 * w.n; i++) {
        sim->residual[i] = 1e-6 * test_random(&seed);
        move[i] = 1e-5 * test_random(&seed);
    }
    pl_truncated found;
    assert_ok(ctx, pl_coupled_newton(sim, q, move, 1, step, &found));
    assert_int_equal(found.kind, PL_TRUNCATED_NONE); /* one iteration is too few, and said to be */
    assert_ok(ctx, pl_coupled_newton(sim, q, move, 80, step, &found));
    assert_int_equal(found.kind, PL_TRUNCATED_NEWTON);
    assert_true(found.iterations > 1);

    pl_bsr_multiply(1, pl_elastic_pattern(sim->elastic), sim->tangent, move, left);
    for (int i = 0; i < 3 * w.n; i++)
        left[i] += sim->residual[i];
    for (int c = 0; c < sim->contacts.count; c++)
        pl_contact_scatter(&sim->contacts.points[c], -h2, sim->lambda + 3 * c, left);
    for (int i = 0; i < 3 * w.n; i++)
        all += left[i] * left[i]; /* what the move lacks: GMRES's right-hand side */
    pl_bsr_multiply(1, pl_elastic_pattern(sim->elastic), sim->tangent, step, left);
    for (int i = 0; i < 3 * w.n; i++)
        left[i] += sim->residual[i];
    for (int c = 0; c < sim->contacts.count; c++) {
        const pl_contact_point *p = &sim->contacts.points[c];
        const pl_law_linear *linear = &sim->contact_solver.linear[c];
        double force[3], change[3], by_force[3], x[3], by_motion[3];
        pl_contact_gather(p, left, force);
        for (int k = 0; k < 3; k++)
            change[k] = force[k] / h2 - sim->lambda[3 * c + k];
        pl_contact_scatter(p, -1, force, left);
        for (int i = 3 * p->vertex[0]; i < 3 * p->vertex[0] + 3; i++)
            step[i] -= move[i]; /* the law is solved at the end of the move */
        pl_contact_gather(p, step, x);
        pl_mat3_vec(linear->d_delta, x, by_motion);
        pl_mat3_vec(linear->d_lambda, change, by_force);
        for (int k = 0; k < 3; k++) {
            law = fmax(law, fabs(by_motion[k] + by_force[k]));
            moved = fmax(moved, fabs(x[k]));
        }
    }
    for (int i = 0; i < 3 * w.n; i++)
        elsewhere += left[i] * left[i];
    assert_true(sqrt(elsewhere) <= 1.0001e-6 * sqrt(all)); /* GMRES is asked for 1e-6 */
    assert_true(law <= 1e-5 * moved);
    free(step), free(left), free(move);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Soft cubes thrown on the floor: a step of the first meets a saddle, from which the clamped tangent
 * alone does not come away in a hundred iterations. None is split. */
static void test_impacts(void **state)
{
    (void)state;
    const pl_model models[] = {PL_NEO_HOOKEAN, PL_COROTATED};
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
        cmocka_unit_test(test_impacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
