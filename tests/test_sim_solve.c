/*
 * The solver of a step: its true residual recomputed from scratch, its ways of solving against each
 * other, thread counts, harsh and hopeless steps.
 */
#include "common_factor.h"
#include "common_scene.h"

#include "core/vec.h"
#include "sim/sim.h"

/*
 * Largest vertex of E^-1 r(q, lambda), the Newton step left at a solution, with everything made anew:
 * masses from the mesh, forces from the state's contacts, gradient, tangent and factor from a sim of
 * its own.
 */
static double true_residual(const test_world *w, const double *q0, const double *v0)
{
    pl_sim *fresh = NULL;
    assert_ok(w->ctx, pl_sim_create(w->scene, &fresh));
    const pl_scene *scene = w->scene;
    const pl_pattern *pattern = pl_elastic_pattern(fresh->matter.elastic);
    const pl_values *values = scene->params.values;
    double h = values->def.time_step, largest = 0;
    double *mass = calloc((size_t)w->n, sizeof *mass), *drag = calloc((size_t)w->n, sizeof *drag);
    double *diagonal = calloc((size_t)w->n, sizeof *diagonal), *r = calloc(3 * (size_t)w->n, sizeof *r);
    double *gradient = calloc(3 * (size_t)w->n, sizeof *gradient);
    double *tangent = calloc(9 * (size_t)pattern->nnz, sizeof *tangent);
    for (int e = 0; e < scene->element_count; e++) {
        int vertex[4];
        const pl_body *b = pl_scene_element(scene, e, vertex);
        for (int k = 0; k < (b->cloth ? 3 : 4); k++) {
            double share = values->of[PL_DENSITY][e] * scene->volume[e] / (b->cloth ? 3 : 4);
            mass[vertex[k]] += share;
            drag[vertex[k]] += share * values->of[PL_DAMPING][e];
        }
    }
    for (int i = 0; i < w->n; i++)
        diagonal[i] = mass[i] + h * drag[i];
    for (int k = 0; k < scene->pin_vertex_count; k++)
        diagonal[scene->pin_vertex[k]] += h * h / values->of[PL_COMPLIANCE][0];
    const double *q = w->state->q;
    /* clamped, as a metric must be definite: a sheet's tangent is not when it buckles */
    pl_elastic_result e =
        pl_elastic_evaluate(fresh->matter.elastic, q, true, h * h, diagonal, gradient, tangent);
    assert_int_equal(e.inadmissible, -1);
    for (int i = 0; i < 3 * w->n; i++)
        r[i] = (mass[i / 3] + h * drag[i / 3]) * (q[i] - q0[i]) - h * mass[i / 3] * v0[i] +
               h * h * (gradient[i] - mass[i / 3] * values->def.gravity[i % 3]);
    for (int k = 0; k < scene->pin_vertex_count; k++)
        for (int i = 0; i < 3; i++) {
            int at = 3 * scene->pin_vertex[k] + i;
            r[at] += h * h / values->of[PL_COMPLIANCE][0] *
                     (q[at] - w->state->input[PL_PIN_TARGET][3 * k + i]);
        }
    for (int c = 0; c < w->state->contact_count; c++) {
        const pl_contact *p = &w->state->contacts[c];
        pl_axpy3(-h * h * p->force_normal, p->normal, r + 3 * p->vertex[0]);
        pl_axpy3(-h * h, p->force_tangent, r + 3 * p->vertex[0]);
    }
    pl_chol *chol = test_chol(w->ctx, pattern, 3, 0, NULL);
    assert_ok(w->ctx, pl_chol_factor(chol, tangent));
    assert_ok(w->ctx, pl_chol_solve(chol, r, r));
    for (int i = 0; i < w->n; i++)
        largest = fmax(largest, pl_norm3(r + 3 * i));
    pl_chol_destroy(chol);
    pl_sim_destroy(fresh);
    free(mass), free(drag), free(diagonal), free(r), free(gradient), free(tangent);
    return largest;
}

/* A box thrown down on a rough floor, a cloth falling on a sphere, or a bar held at one end. */
static test_world scene_of(pl_context *ctx, int kind, pl_material model, pl_reading reading,
                           pl_scene_def def)
{
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(model, reading, kind == 1 ? 1e6 : 3e4);
    body.damping = 0.5;
    if (kind == 0) {
        body.velocity[2] = -1, body.velocity[0] = 0.7;
        world_add(&w, body, world_grid(ctx, 4, 3, 3, 0.05, 0, 0, 0.012));
        world_floor(&w, 0, 0.3);
    } else if (kind == 1) {
        body.bending = 1e-4;
        world_add(&w, body, world_cloth(ctx, 0.2, 0.2, 0.04, -0.1, -0.09, 0.103));
        pl_collider_def ball = pl_collider_def_default();
        ball.shape = PL_SPHERE;
        ball.size[0] = 0.1;
        ball.friction = 0.2;
        assert_ok(ctx, pl_scene_add_collider(w.scene, &ball, NULL));
    } else {
        int held[9];
        pl_mesh *mesh = world_grid(ctx, 6, 3, 3, 0.05, 0, 0, 0);
        int count = world_select(mesh, 0, 0, held);
        world_add(&w, body, mesh);
        world_pin(&w, 0, count, held, 1e-8);
    }
    world_start(&w);
    return w;
}

static void test_true_residual(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double q0[3 * 64], v0[3 * 64];
    for (int kind = 0; kind < 3; kind++)
        for (int material = 0; material < 12; material++) {
            pl_scene_def def = world_def(0.01, 0, 0, -9.81);
            def.solver = material < 6 ? PL_SOLVER_DIRECT : PL_SOLVER_LAGGED;
            test_world w =
                scene_of(ctx, kind, (pl_material)(material % 3), (pl_reading)(material / 3 % 2), def);
            int contacts = 0;
            for (int k = 0; k < 12; k++) {
                memcpy(q0, w.state->q, sizeof(double) * 3 * (size_t)w.n);
                memcpy(v0, w.state->v, sizeof(double) * 3 * (size_t)w.n);
                pl_step_info info = world_step(&w);
                contacts += info.contacts;
                assert_true(info.converged && info.residual <= def.tolerance);
                if (info.splits > 0)
                    continue;
                double left = true_residual(&w, q0, v0);
                if (!(left <= def.tolerance))
                    fail_msg("scene %d, material %d, step %d: %g m left, %g m reported", kind, material,
                             k, left, info.residual);
                assert_true(info.complementarity <= 1e-8 && info.cone_violation <= 1e-12);
                assert_true(info.penetration <= def.tolerance);
                for (int i = 0; i < 3 * w.n; i++)
                    assert_close(w.state->v[i], (w.state->q[i] - q0[i]) / 0.01, 1e-12);
            }
            assert_true(kind == 2 ? contacts == 0 : contacts > 10);
            world_free(&w);
        }
    pl_context_destroy(ctx);
}

/* The three ways to solve give one answer: they only differ in the way to it. */
static void test_solvers_agree(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const pl_solver_kind solvers[] = {PL_SOLVER_DIRECT, PL_SOLVER_LAGGED, PL_SOLVER_CONSTANT,
                                      PL_SOLVER_AUTO};
    double first[3 * 64];
    for (int kind = 0; kind < 3; kind++)
        for (int reading = 0; reading < 2; reading++)
            for (int s = 0; s < 4; s++) {
                /* A converges at the rate of the softest mode against the stiffest: out of a sheet's
                 * plane and in it, hopeless once it wrinkles. */
                if (kind == 1 && solvers[s] == PL_SOLVER_CONSTANT)
                    continue;
                pl_scene_def def = world_def(0.01, 0, 0, -9.81);
                def.solver = solvers[s];
                def.tolerance = 1e-13; /* well below what is asked of 10 steps together */
                def.max_iterations = 500;
                test_world w = scene_of(ctx, kind, PL_NEO_HOOKEAN, (pl_reading)reading, def);
                pl_step_info info = world_steps(&w, 10);
                assert_int_equal(info.splits, 0);
                if (s == 0)
                    memcpy(first, w.state->q, sizeof(double) * 3 * (size_t)w.n);
                double apart = world_distance(3 * w.n, first, w.state->q);
                if (!(apart <= 1e-9))
                    fail_msg("scene %d, reading %d: solver %d is %g m away", kind, reading, s, apart);
                world_free(&w);
            }
    pl_context_destroy(ctx);
}

/* Bit for bit the same on 1, 2 and 3 threads, and when run again by the same sim. */
static void test_threads_and_repetition(void **state)
{
    (void)state;
    static double first[6 * 343], forces[4 * 100];
    for (int run = 0; run < 4; run++) {
        pl_context *ctx = test_context(run < 3 ? run + 1 : 2);
        test_world w = world_new(ctx, world_def(0.01, 0.5, 0, -9.81));
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 3e4);
        body.velocity[2] = -1;
        world_add(&w, body, world_grid(ctx, 7, 7, 7, 0.02, 0, 0, 0.012));
        world_floor(&w, 0, 0.3);
        world_start(&w);
        for (int again = 0; again < (run < 3 ? 1 : 2); again++) {
            if (again) {
                pl_state_destroy(w.scene, w.state);
                assert_ok(ctx, pl_state_create(w.scene, &w.state));
            }
            world_steps(&w, 8);
        }
        assert_int_equal(w.n, 343);
        assert_true(w.state->contact_count >= 49 && w.state->contact_count < 100);
        size_t bytes = sizeof(double) * 3 * 343;
        if (run == 0) {
            memcpy(first, w.state->q, bytes);
            memcpy(first + 3 * 343, w.state->v, bytes);
        }
        assert_memory_equal(first, w.state->q, bytes);
        assert_memory_equal(first + 3 * 343, w.state->v, bytes);
        for (int c = 0; c < w.state->contact_count; c++) {
            double f[4] = {w.state->contacts[c].force_normal, w.state->contacts[c].force_tangent[0],
                           w.state->contacts[c].force_tangent[1],
                           w.state->contacts[c].force_tangent[2]};
            if (run == 0)
                memcpy(forces + 4 * c, f, sizeof f);
            assert_memory_equal(forces + 4 * c, f, sizeof f);
        }
        world_free(&w);
        pl_context_destroy(ctx);
    }
}

/* A step that cannot be made is an error that names it, and leaves the state as it was. */
static void test_failing_step(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def def = world_def(0.05, 0, 0, -9.81);
    def.max_iterations = 1;
    def.max_splits = 0;
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e4);
    body.name = "jelly";
    body.velocity[2] = -5;
    world_add(&w, body, world_grid(ctx, 4, 4, 3, 0.05, 0, 0, 0.02));
    world_floor(&w, 0, 0.5);
    world_start(&w);
    pl_state *copy = NULL;
    assert_ok(ctx, pl_state_create(w.scene, &copy));
    w.state->step = 17; /* the message counts from 1 */
    assert_ok(ctx, pl_state_copy(w.scene, w.state, copy));
    pl_step_info info = {.iterations = -1};
    assert_int_equal(pl_step(w.sim, w.state, NULL, &info), PL_ERROR_CONVERGENCE);
    assert_non_null(strstr(pl_context_error(ctx), "step 18"));
    assert_non_null(strstr(pl_context_error(ctx), "of body \"jelly\", at collider \"collider0\""));
    assert_null(strstr(pl_context_error(ctx), "cut to")); /* no shorter step was tried */
    assert_int_equal(info.iterations, -1);
    assert_memory_equal(w.state->q, copy->q, sizeof(double) * 3 * (size_t)w.n);
    assert_memory_equal(w.state->v, copy->v, sizeof(double) * 3 * (size_t)w.n);
    assert_memory_equal(w.state->input[PL_COLLIDER_POSE], copy->input[PL_COLLIDER_POSE],
                        7 * sizeof(double));
    assert_int_equal(w.state->contact_count, copy->contact_count);
    assert_int_equal(w.state->step, 17);
    assert_true(w.state->time == copy->time);
    /* A rollout stops there too and says so. */
    pl_rollout_def rollout = pl_rollout_def_default();
    pl_rollout *made = (pl_rollout *)&rollout;
    rollout.steps = 3;
    assert_int_equal(pl_rollout_run(w.sim, w.state, &rollout, &made), PL_ERROR_CONVERGENCE);
    assert_null(made);
    assert_memory_equal(w.state->q, copy->q, sizeof(double) * 3 * (size_t)w.n);
    pl_state_destroy(w.scene, copy);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Smallest J of a body's tets. */
static double smallest_volume(const pl_mesh *mesh, const double *q)
{
    double least = INFINITY;
    for (int e = 0; e < mesh->tet_count; e++) {
        double edge[2][9];
        for (int k = 0; k < 3; k++) {
            pl_sub3(q + 3 * mesh->tets[4 * e + k + 1], q + 3 * mesh->tets[4 * e], edge[0] + 3 * k);
            pl_sub3(mesh->vertices + 3 * mesh->tets[4 * e + k + 1],
                    mesh->vertices + 3 * mesh->tets[4 * e], edge[1] + 3 * k);
        }
        least = fmin(least, pl_det3(edge[0]) / pl_det3(edge[1]));
    }
    return least;
}

/* Exact Neo-Hookean under violence: long steps, 5 m/s into the floor, spinning. Splits, and never J <=
 * 0. */
static void test_violent_motion(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int trial = 0; trial < 3; trial++) {
        test_world w = world_new(ctx, world_def(0.05, 0, 0, -9.81));
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT,
                                      trial == 0   ? 1e4
                                      : trial == 1 ? 1e5
                                                   : 2e4);
        body.velocity[2] = -5, body.velocity[0] = trial;
        body.angular_velocity[1] = 10.0 * trial;
        world_add(&w, body, world_grid(ctx, 4, 4, 3, 0.05, 0, 0, 0.05));
        world_floor(&w, 0, 0.5);
        world_start(&w);
        pl_body_info info;
        assert_ok(ctx, pl_scene_body(w.scene, 0, &info));
        for (int k = 0; k < 20; k++) {
            pl_step_info step = world_step(&w);
            assert_true(smallest_volume(info.mesh, w.state->q) > 0);
            assert_true(step.penetration < 1e-9);
        }
        assert_close(w.state->time, 1, 1e-14);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* A step that takes too many iterations is made of shorter ones; it ends at the same time, nearly where
 * shorter steps asked for would. */
static void test_splits(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double end[2][3 * 12];
    for (int split = 0; split < 2; split++) {
        pl_scene_def def = world_def(split ? 0.05 : 0.05 / 32, 0, 0, -9.81);
        def.solver = PL_SOLVER_DIRECT;
        def.max_iterations = split ? 1 : 50; /* it takes more the longer the step */
        def.max_splits = 10;
        test_world w = world_new(ctx, def);
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
        body.velocity[2] = -1;
        world_add(&w, body, world_grid(ctx, 3, 2, 2, 0.04, 0, 0, 0.01));
        world_floor(&w, 0, 0.2);
        world_start(&w);
        pl_step_info info = world_steps(&w, split ? 1 : 32);
        assert_true(split ? info.splits > 0 : info.splits == 0);
        assert_close(w.state->time, 0.05, 1e-14);
        memcpy(end[split], w.state->q, sizeof end[split]);
        world_free(&w);
    }
    assert_close(world_distance(3 * 12, end[0], end[1]), 0, 3e-3);
    pl_context_destroy(ctx);
}

/* Projective materials are defined for inverted elements, and find back from a scrambled start. */
static void test_inverted_start(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int model = 0; model < 3; model++) {
        test_world w = world_new(ctx, world_def(0.02, 0, 0, 0));
        pl_body_def body = world_body((pl_material)model, PL_PROJECTIVE, 1e5);
        body.damping = 20;
        pl_mesh *mesh = world_grid(ctx, 3, 3, 3, 0.05, 0, 0, 0);
        double start[3 * 27];
        uint64_t seed = 11;
        for (int i = 0; i < 3 * 27; i++)
            start[i] = mesh->vertices[i] + 0.03 * test_random(&seed);
        body.positions = start;
        assert_true(smallest_volume(mesh, start) < 0);
        pl_mesh *rest = NULL;
        assert_ok(ctx, pl_mesh_copy(ctx, mesh, &rest));
        world_add(&w, body, mesh);
        world_start(&w);
        pl_step_info info = world_steps(&w, 150);
        assert_true(smallest_volume(rest, w.state->q) > 0.999);
        assert_true(info.energy_elastic < 1e-6);
        pl_mesh_free(ctx, rest);
        world_free(&w);
    }
    /* Exact Neo-Hookean has no energy there and says which element. */
    test_world w = world_new(ctx, world_def(0.02, 0, 0, 0));
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5), world_grid(ctx, 3, 3, 3, 0.05, 0, 0, 0));
    world_start(&w);
    w.state->q[3 * 13 + 2] += 0.2;
    assert_int_equal(pl_step(w.sim, w.state, NULL, NULL), PL_ERROR_NUMERIC);
    assert_non_null(strstr(pl_context_error(ctx), "inverted"));
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Stiffness that jumps by 1e4 between neighbours, and next to no compressibility. */
static void test_hard_materials(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int trial = 0; trial < 2; trial++) {
        test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e4);
        pl_mesh *mesh = world_grid(ctx, 6, 3, 3, 0.05, 0, 0, 0.005);
        double young[240];
        int held[9], count = world_select(mesh, 0, 0, held);
        assert_true(mesh->tet_count <= 240);
        for (int e = 0; e < mesh->tet_count; e++)
            young[e] = e % 3 ? 1e3 : 1e7;
        if (trial == 0)
            body.young_of = young;
        else
            body.poisson = 0.499;
        world_add(&w, body, mesh);
        world_pin(&w, 0, count, held, 1e-8);
        world_floor(&w, 0, 0.4);
        world_start(&w);
        int worst = 0;
        for (int k = 0; k < 30; k++) {
            pl_step_info info = world_step(&w);
            assert_int_equal(info.splits, 0);
            assert_true(info.residual <= 1e-10);
            worst = info.iterations > worst ? info.iterations : worst;
        }
        assert_true(worst <= 30);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true_residual),          cmocka_unit_test(test_solvers_agree),
        cmocka_unit_test(test_threads_and_repetition), cmocka_unit_test(test_failing_step),
        cmocka_unit_test(test_violent_motion),         cmocka_unit_test(test_splits),
        cmocka_unit_test(test_inverted_start),         cmocka_unit_test(test_hard_materials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
