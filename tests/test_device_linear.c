/*
 * Adjoints on devices: true residuals, the host's gradients, differences over a sweep of steps along
 * random directions and along the gradient itself (pl_check, whose tangent sweeps are the host's), and
 * the same bits again.
 */
#include "device_worlds.h"

#include <pliant/check.h>

static const pl_channels wanted = PL_BIT(PL_POSITION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_VERTEX_FORCE) |
                                  PL_BIT(PL_YOUNG) | PL_BIT(PL_POISSON) | PL_BIT(PL_DENSITY) |
                                  PL_BIT(PL_BENDING) | PL_BIT(PL_FRICTION) | PL_BIT(PL_DAMPING);

/* The gradient of where the body is after `steps`, of all that is wanted. */
static pl_gradient *gradient_of(test_world *w, int steps, pl_adjoint_info *info)
{
    pl_rollout_def def = pl_rollout_def_default();
    pl_rollout *rollout = NULL;
    pl_gradient *gradient = NULL;
    world_loss loss = {steps, w->n, 1};
    def.steps = steps;
    assert_ok(w->ctx, pl_rollout_run(w->sim, w->state, &def, &rollout));
    assert_ok(w->ctx, pl_gradient_create(w->scene, steps, wanted, &gradient));
    assert_ok(w->ctx, pl_rollout_backward(rollout, NULL, world_loss_term, &loss, gradient, info));
    pl_rollout_destroy(rollout);
    return gradient;
}

/* Every number of every channel to 1e-6 of its channel's largest. */
static void compare(const test_world *w, int steps, const pl_gradient *a, const pl_gradient *b)
{
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        double most = 0, apart = 0;
        for (size_t i = 0; b->of[c] && i < pl_gradient_size(w->scene, (pl_channel)c, steps); i++) {
            most = fmax(most, fabs(b->of[c][i]));
            apart = fmax(apart, fabs(a->of[c][i] - b->of[c][i]));
        }
        if (!(apart <= 1e-6 * most))
            fail_msg("%s: %.3g apart, of %.3g", pl_channel_get((pl_channel)c)->name, apart, most);
    }
}

/* From the host's own rollout, but for what a step's tolerance leaves. */
static void check_host(const char *device, bool cloth, int steps)
{
    pl_context *ctx = test_context(1);
    pl_adjoint_info info, here;
    test_world host =
        cloth ? device_cloth(ctx, NULL, PL_SPHERE) : device_block(ctx, NULL, PL_NEO_HOOKEAN, PL_EXACT);
    test_world on = cloth ? device_cloth(ctx, device, PL_SPHERE)
                          : device_block(ctx, device, PL_NEO_HOOKEAN, PL_EXACT);
    pl_gradient *a = gradient_of(&on, steps, &info), *b = gradient_of(&host, steps, &here);
    assert_true(on.state->contact_count > 0);
    assert_true(info.residual <= 1e-8 && info.error <= 1e-8 && info.iterations > 0);
    assert_close(info.loss, here.loss, 1e-8);
    compare(&host, steps, a, b);
    pl_gradient_destroy(on.scene, a);
    pl_gradient_destroy(host.scene, b);
    world_free(&host);
    world_free(&on);
    pl_context_destroy(ctx);
}

static void check_differences(const char *device)
{
    pl_context *ctx = test_context(1);
    test_world w = device_block(ctx, device, PL_NEO_HOOKEAN, PL_EXACT);
    pl_check_def def = pl_check_def_default();
    pl_check_result *result = NULL;
    world_loss loss = {18, w.n, 1};
    def.steps = 18;
    def.wanted = PL_BIT(PL_POSITION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_VERTEX_FORCE) |
                 PL_BIT(PL_YOUNG) | PL_BIT(PL_POISSON) | PL_BIT(PL_FRICTION);
    def.directions = 1;
    def.newton_tolerance = 1e-12;
    def.loss = world_loss_term;
    def.loss_user = &loss;
    assert_ok(ctx, pl_check(w.sim, w.state, &def, &result));
    assert_int_equal(result->failed, 0);
    assert_true(result->regimes.slip_steps > 0 && result->regimes.stick_steps > 0);
    int along = 0;
    for (int r = 0; r < result->row_count; r++) {
        const pl_check_row *row = &result->rows[r];
        along += row->along_gradient;
        if (!(row->error < 1e-5))
            fail_msg("%s: adjoint %.12g, difference %.12g", pl_channel_get(row->channel)->name,
                     row->adjoint, row->difference);
        assert_true(row->step_count >= 5);
    }
    assert_int_equal(along, 6);
    pl_check_destroy(ctx, result);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void check_repeats(const char *device)
{
    pl_context *ctx = test_context(1);
    pl_gradient *g[2];
    test_world w[2];
    for (int k = 0; k < 2; k++) {
        w[k] = device_cloth(ctx, device, PL_SPHERE);
        g[k] = gradient_of(&w[k], 6, NULL);
    }
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (g[0]->of[c])
            assert_memory_equal(g[0]->of[c], g[1]->of[c],
                                sizeof(double) * pl_gradient_size(w[0].scene, (pl_channel)c, 6));
    for (int k = 0; k < 2; k++) {
        pl_gradient_destroy(w[k].scene, g[k]);
        world_free(&w[k]);
    }
    pl_context_destroy(ctx);
}

/* The adjoint shrinks to below what single precision has. */
static void check_decay(const char *device)
{
    pl_context *ctx = test_context(1);
    pl_adjoint_info info;
    test_world host = world_oiled_bar(ctx, device_def(NULL, 0.05)),
               on = world_oiled_bar(ctx, device_def(device, 0.05));
    pl_gradient *a = gradient_of(&on, 30, &info), *b = gradient_of(&host, 30, NULL);
    double most = 0;
    for (int i = 0; i < 3 * on.n; i++)
        most = fmax(most, fabs(b->of[PL_VELOCITY][i]));
    assert_true(most > 0 && most < 1e-38);
    for (int i = 0; i < 3 * on.n; i++)
        assert_true(fabs(a->of[PL_VELOCITY][i] - b->of[PL_VELOCITY][i]) <= 1e-6 * most);
    pl_gradient_destroy(on.scene, a);
    pl_gradient_destroy(host.scene, b);
    world_free(&host);
    world_free(&on);
    pl_context_destroy(ctx);
}

static void check_all(const char *device)
{
    check_host(device, false, 20);
    check_host(device, true, 8);
    check_repeats(device);
    check_decay(device);
}

static void test_reference(void **state)
{
    (void)state;
    check_all("reference");
    check_differences("reference");
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
    check_differences("opencl");
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
