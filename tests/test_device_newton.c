/* Steps on devices: those of the host to the tolerance, the laws to the last digit, the same bits
 * again, whatever is in the way. */
#include "device_worlds.h"

/* J, of the host's elements at the device's state. */
static double elastic_energy(test_world *w)
{
    int count = pl_scene_get_info(w->scene).element_count;
    double *energy = calloc((size_t)count, sizeof *energy), sum = 0;
    assert_non_null(energy);
    assert_ok(w->ctx, pl_element_fields(w->sim, w->state, energy, NULL, NULL));
    for (int e = 0; e < count; e++)
        sum += energy[e];
    free(energy);
    return sum;
}

/* The device's steps, one by one from the host's own states: then neither runs away from the other. */
static void follow(test_world *host, test_world *on, int steps)
{
    for (int k = 0; k < steps; k++) {
        assert_ok(host->ctx, pl_state_copy(host->scene, host->state, on->state));
        pl_step_info info = world_step(on);
        world_step(host);
        assert_true(info.converged && info.residual <= 1e-10 && info.complementarity <= 1e-8);
        assert_true(info.cone_violation <= 1e-12);
        double energy = elastic_energy(on);
        assert_close(info.energy_elastic, energy, 1e-8 * (1e-6 + energy));
        double apart = world_distance(3 * host->n, host->state->q, on->state->q);
        if (!(apart < 2e-9))
            fail_msg("step %d: %.3g m apart", k + 1, apart);
    }
}

static void check_blocks(const char *device)
{
    const struct {
        pl_material model;
        pl_reading reading;
    } models[] = {{PL_NEO_HOOKEAN, PL_EXACT}, {PL_COROTATED, PL_PROJECTIVE}};
    for (int k = 0; k < 2; k++) {
        pl_context *ctx = test_context(1);
        test_world host = device_block(ctx, NULL, models[k].model, models[k].reading);
        test_world on = device_block(ctx, device, models[k].model, models[k].reading);
        follow(&host, &on, 24); /* it slides, and comes to rest */
        assert_true(host.state->contact_count > 0);
        world_free(&host);
        world_free(&on);
        pl_context_destroy(ctx);
    }
}

static void check_shapes(const char *device)
{
    const pl_shape shapes[] = {PL_SPHERE, PL_CAPSULE, PL_HALF_SPACE};
    for (int k = 0; k < 3; k++) {
        pl_context *ctx = test_context(1);
        test_world host = device_cloth(ctx, NULL, shapes[k]), on = device_cloth(ctx, device, shapes[k]);
        follow(&host, &on, 7); /* then a cloth buckles, one way or another */
        assert_true(host.state->contact_count > 0);
        world_free(&host);
        world_free(&on);
        pl_context_destroy(ctx);
    }
}

/* A block in the corner of a floor and a wall, which it hits: two contacts of some vertices, without
 * friction. */
static test_world cornered(pl_context *ctx, const char *device)
{
    test_world w = world_new(ctx, device_def(device, 0.01));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    body.velocity[0] = 0.4;
    world_add(&w, body, world_grid(ctx, 3, 3, 3, 0.03, 0, 0, 1e-4));
    world_floor(&w, 0, 0);
    pl_collider_def wall = pl_collider_def_default();
    wall.friction = 0;
    wall.pose[0] = 0.063;
    world_turn(0, 1, 0, -0.5 * 3.14159265358979323846, wall.pose + 3); /* it looks along -x */
    assert_ok(ctx, pl_scene_add_collider(w.scene, &wall, NULL));
    world_start(&w);
    return w;
}

static void check_corner(const char *device)
{
    pl_context *ctx = test_context(1);
    test_world host = cornered(ctx, NULL), on = cornered(ctx, device);
    follow(&host, &on, 3);
    int both = 0;
    for (int c = 1; c < host.state->contact_count; c++)
        both += host.state->contacts[c].vertex[0] == host.state->contacts[c - 1].vertex[0];
    assert_true(both > 0);
    follow(&host, &on, 5);
    world_free(&host);
    world_free(&on);
    pl_context_destroy(ctx);
}

/* The same bits from run to run, and of a rollout and single steps. */
static void check_repeats(const char *device)
{
    pl_context *ctx = test_context(1);
    test_world a = device_block(ctx, device, PL_NEO_HOOKEAN, PL_EXACT);
    test_world b = device_block(ctx, device, PL_NEO_HOOKEAN, PL_EXACT);
    pl_rollout *rollout = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = 8;
    world_steps(&a, 8);
    assert_ok(ctx, pl_rollout_run(b.sim, b.state, &def, &rollout));
    assert_memory_equal(a.state->q, b.state->q, sizeof(double) * 3 * (size_t)a.n);
    assert_memory_equal(a.state->v, b.state->v, sizeof(double) * 3 * (size_t)a.n);
    pl_rollout_destroy(rollout);
    world_free(&a);
    world_free(&b);
    pl_context_destroy(ctx);
}

/* What a step moves across: its inputs, a struct for each correction, its outcome. */
static void check_traffic(const char *device)
{
    pl_context *ctx = test_context(1);
    test_world w = device_block(ctx, device, PL_NEO_HOOKEAN, PL_EXACT);
    world_steps(&w, 2);
    pl_device_traffic before = w.sim->device->system->device->traffic;
    pl_step_info info = world_step(&w);
    pl_device_traffic after = w.sim->device->system->device->traffic;
    assert_int_equal(after.writes - before.writes, 5);
    /* One look at the guess, one a correction, four arrays; another where GMRES took longer. */
    assert_true(after.reads - before.reads >= 5 + info.iterations);
    assert_true(after.reads - before.reads <= 5 + 2 * info.iterations);
    size_t n = (size_t)w.n;
    assert_int_equal(after.bytes_written - before.bytes_written, 8 * (9 * n + 3 * n + PL_SHAPE_SIZE));
    world_free(&w);
    pl_context_destroy(ctx);
}

static void check_all(const char *device)
{
    check_blocks(device);
    check_shapes(device);
    check_corner(device);
    check_repeats(device);
    check_traffic(device);
}

static void test_reference(void **state)
{
    (void)state;
    check_all("reference");
}

static void test_memcheck(void **state)
{
    (void)state;
    check_all("memcheck");
}

static void test_opencl(void **state)
{
    (void)state;
    need_device("opencl");
    check_all("opencl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_memcheck),
        cmocka_unit_test(test_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
