/* Scenes on devices: what is not covered is refused as a whole, with what to do; splits; inputs over
 * time; a tape that is limited; a batch. */
#include "common_alloc.h"
#include "device_worlds.h"

static void expect(pl_context *ctx, pl_status status, pl_status wanted, const char *part)
{
    assert_int_equal(status, wanted);
    if (!strstr(pl_context_error(ctx), part))
        fail_msg("\"%s\" does not say \"%s\"", pl_context_error(ctx), part);
}

/* A block over a floor, not yet started. */
static test_world block(pl_context *ctx, pl_scene_def def, pl_body_def body)
{
    test_world w = world_new(ctx, def);
    world_add(&w, body, world_grid(ctx, 3, 3, 3, 0.03, 0, 0, 1e-3));
    world_floor(&w, 0, 0.3);
    return w;
}

static void test_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_sim *sim = NULL;
    pl_scene_def def = device_def("no such device", 0.01);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    test_world w = block(ctx, def, body);
    expect(ctx, pl_sim_create(w.scene, &sim), PL_ERROR_ARGUMENT, "expected \"cpu\", \"opencl\"");
    world_free(&w);

    def.device = "reference";
    body.self_contact = true;
    w = block(ctx, def, body);
    expect(ctx, pl_sim_create(w.scene, &sim), PL_ERROR_ARGUMENT, "do not cover bodies that touch");
    world_free(&w);

    body.self_contact = false;
    w = block(ctx, def, body);
    pl_attachment_def spring = pl_attachment_def_default();
    spring.points[0] = (pl_point){.body = 0, .count = 1, .vertices = {0}, .weights = {1}};
    spring.points[1] = (pl_point){.body = 0, .count = 1, .vertices = {8}, .weights = {1}};
    assert_ok(ctx, pl_scene_add_attachment(w.scene, &spring, NULL));
    expect(ctx, pl_sim_create(w.scene, &sim), PL_ERROR_ARGUMENT, "do not cover attachments");
    world_free(&w);

    def.integrator = PL_BDF2;
    w = block(ctx, def, body);
    world_start(&w);
    expect(ctx, pl_step(w.sim, w.state, NULL, NULL), PL_ERROR_ARGUMENT, "integrators other than");
    world_free(&w);

    def.integrator = PL_EULER;
    body.viscosity = 10;
    w = block(ctx, def, body);
    world_start(&w);
    expect(ctx, pl_step(w.sim, w.state, NULL, NULL), PL_ERROR_ARGUMENT, "do not cover viscosity");
    assert_int_equal(w.state->step, 0);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A coarse block on the corner of a box, between its vertices. */
static void test_edges(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, device_def("reference", 0.01));
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5), world_grid(ctx, 2, 2, 2, 0.1, 0, 0, 1e-4));
    pl_collider_def box = pl_collider_def_default();
    box.shape = PL_BOX;
    box.size[0] = box.size[1] = box.size[2] = 0.02;
    box.pose[0] = box.pose[1] = 0.05, box.pose[2] = -0.02;
    assert_ok(ctx, pl_scene_add_collider(w.scene, &box, NULL));
    world_start(&w);
    expect(ctx, pl_step(w.sim, w.state, NULL, NULL), PL_ERROR_ARGUMENT,
           "touches collider \"collider0\"");
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A step without a solution in the iterations allowed is the step's error, and the state is as it was.
 */
static void test_no_convergence(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def def = device_def("reference", 0.01);
    def.max_iterations = 1;
    def.max_splits = 1;
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    body.velocity[2] = -1;
    test_world w = block(ctx, def, body);
    world_start(&w);
    double before = w.state->q[2];
    expect(ctx, pl_step(w.sim, w.state, NULL, NULL), PL_ERROR_CONVERGENCE,
           "step 1: too many iterations");
    assert_true(w.state->q[2] == before && w.state->step == 0);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Pins and colliders that move, forces of the caller's, for a while: as the host has it. */
static void test_inputs(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w[2];
    enum { STEPS = 8 };
    for (int k = 0; k < 2; k++) {
        const int held[] = {24, 25, 26};
        const double time[] = {0, 0.2}, offset[] = {0, 0, 0, 0.01, 0, -0.004};
        w[k] = block(ctx, device_def(k ? "reference" : NULL, 0.01),
                     world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5));
        pl_pin_def pin = pl_pin_def_default();
        pin.vertex_count = 3;
        pin.vertices = held;
        pin.offset = (pl_table){2, time, offset};
        pin.normal[0] = pin.normal[2] = 1;
        assert_ok(ctx, pl_scene_add_pin(w[k].scene, &pin, NULL));
        world_start(&w[k]);
    }
    double *force = calloc(3 * (size_t)w[0].n, sizeof *force);
    assert_non_null(force);
    force[4] = 0.02;
    pl_inputs inputs = {.of[PL_VERTEX_FORCE] = force};
    for (int step = 0; step < STEPS; step++)
        for (int k = 0; k < 2; k++)
            assert_ok(ctx, pl_step(w[k].sim, w[k].state, &inputs, NULL));
    assert_true(world_distance(3 * w[0].n, w[0].state->q, w[1].state->q) < 1e-8);
    assert_true(world_distance(3 * w[0].n, w[0].state->q, w[0].scene->q0) > 1e-3);
    free(force);
    world_free(&w[0]);
    world_free(&w[1]);
    pl_context_destroy(ctx);
}

/* Environments of a batch are those of a sim alone, bit for bit. */
static void test_batch(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = device_block(ctx, "reference", PL_NEO_HOOKEAN, PL_EXACT);
    pl_batch *batch = NULL;
    pl_batch_def def = pl_batch_def_default();
    pl_batch_run_def run = pl_batch_run_def_default();
    def.environments = 2;
    def.workers = 2;
    run.steps = 4;
    assert_ok(ctx, pl_batch_create(w.scene, &def, &batch));
    assert_ok(ctx, pl_batch_run(batch, &run, NULL));
    world_steps(&w, 4);
    for (int e = 0; e < 2; e++)
        assert_memory_equal(pl_batch_state(batch, e)->q, w.state->q, sizeof(double) * 3 * (size_t)w.n);
    pl_batch_destroy(batch);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A scene made, two steps and their gradient, on a device. */
static pl_status make_all(pl_context *ctx, void *user)
{
    (void)user;
    pl_status status = PL_OK;
    pl_scene *scene = NULL;
    pl_sim *sim = NULL;
    pl_state *state = NULL;
    pl_rollout *rollout = NULL;
    pl_gradient *gradient = NULL;
    pl_mesh *mesh = NULL;
    const int nodes[3] = {2, 2, 2};
    pl_scene_def def = device_def("reference", 0.01);
    pl_body_def body = pl_body_def_default();
    pl_collider_def floor = pl_collider_def_default();
    pl_rollout_def run = pl_rollout_def_default();
    world_loss loss = {2, 8, 1};
    run.steps = 2;
    PL_CHECK(pl_mesh_grid(ctx, nodes, 0.05, PL_CUT_DIAGONAL, &mesh), done);
    body.mesh = mesh;
    floor.pose[2] = -1e-4;
    PL_CHECK(pl_scene_create(ctx, &def, &scene), done);
    PL_CHECK(pl_scene_add_body(scene, &body, NULL), done);
    PL_CHECK(pl_scene_add_collider(scene, &floor, NULL), done);
    PL_CHECK(pl_sim_create(scene, &sim), done);
    PL_CHECK(pl_state_create(scene, &state), done);
    PL_CHECK(pl_rollout_run(sim, state, &run, &rollout), done);
    PL_CHECK(pl_gradient_create(scene, 2, PL_BIT(PL_VELOCITY), &gradient), done);
    PL_CHECK(pl_rollout_backward(rollout, NULL, world_loss_term, &loss, gradient, NULL), done);
done:
    pl_mesh_free(ctx, mesh);
    pl_gradient_destroy(scene, gradient);
    pl_rollout_destroy(rollout);
    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    pl_scene_destroy(scene);
    return status;
}

/* Every allocation may fail once. */
static void test_memory(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(make_all, NULL) > 100);
}

/* Steps make none, once warm. */
static void test_warm(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    pl_context *ctx = test_context_with(&allocator, 1);
    test_world w = device_block(ctx, "reference", PL_NEO_HOOKEAN, PL_EXACT);
    world_steps(&w, 3);
    long calls = allocator.calls;
    world_steps(&w, 3);
    assert_int_equal(allocator.calls, calls);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_no_convergence), cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_batch),          cmocka_unit_test(test_memory),
        cmocka_unit_test(test_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
