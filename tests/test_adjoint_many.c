/*
 * Gradients where a scene is large enough for the ways of many contacts: factors and W in half
 * precision, LUs of slipping contacts alone and copied to half precision, W^-1 where they stick. Small
 * scenes take none of them.
 */
#include "common_scene.h"

#include "sim/sim.h"

#include <pliant/check.h>

enum { ACROSS = 21, HIGH = 8, STEPS = 6 };

#define HALVED 3000000 /* values of a factor from which on it is kept in half precision */

/* A soft block put down with some speed: it slides on, or comes to rest. */
static pl_check_result *check(pl_context *ctx, double speed, double friction)
{
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    pl_check_def def = pl_check_def_default();
    pl_check_result *result = NULL;
    body.velocity[0] = speed;
    world_add(&w, body, world_grid(ctx, ACROSS, ACROSS, HIGH, 0.02, 0, 0, 0));
    world_floor(&w, 0, friction);
    world_start(&w);
    def.steps = STEPS;
    def.wanted = PL_BIT(PL_FRICTION) | PL_BIT(PL_YOUNG) | PL_BIT(PL_VELOCITY);
    def.directions = 1;
    def.step = 1e-3;
    def.step_count = 2;
    def.newton_tolerance = 1e-12;
    world_loss loss = {STEPS, w.n, 1};
    def.loss = world_loss_term;
    def.loss_user = &loss;
    assert_ok(ctx, pl_check(w.sim, w.state, &def, &result));
    assert_true(pl_chol_get_cost(w.sim->solver.matrix.tangent_factor).factor_entries > HALVED);
    world_free(&w);
    return result;
}

/* Differences are good to 4e-7 here; adjoint systems are solved to 1e-11, of which
 * sums that cancel in a random direction leave a little more. */
static void assert_right(const pl_check_result *r)
{
    assert_int_equal(r->row_count, 6);
    for (int k = 0; k < r->row_count; k++) {
        const pl_check_row *row = &r->rows[k];
        if (!(row->error <= 1e-6 && row->sweep_error <= 5e-11))
            fail_msg("%s: adjoint %.12g, tangent %.12g, difference %.12g",
                     pl_channel_get(row->channel)->name, row->adjoint, row->tangent, row->difference);
    }
}

static void test_sliding(void **state)
{
    (void)state;
    pl_context *ctx = test_context(2);
    pl_check_result *r = check(ctx, 1, 0.3);
    assert_right(r);
    assert_true(r->regimes.slip >= (STEPS - 1) * ACROSS * ACROSS);
    pl_check_destroy(ctx, r);
    pl_context_destroy(ctx);
}

static void test_coming_to_rest(void **state)
{
    (void)state;
    pl_context *ctx = test_context(2);
    pl_check_result *r = check(ctx, 0.1, 0.5);
    assert_right(r);
    assert_true(r->regimes.slip > ACROSS * ACROSS && r->regimes.stick > ACROSS * ACROSS);
    pl_check_destroy(ctx, r);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sliding),
                                       cmocka_unit_test(test_coming_to_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
