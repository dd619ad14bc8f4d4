/* The gradient check itself: right gradients pass, wrong ones are found, nothing is left changed. */
#include "common_alloc.h"
#include "common_scene.h"

#include <pliant/check.h>

/* A small block thrown along the floor. */
static test_world thrown(pl_context *ctx, double height, double vx, double vz, double friction)
{
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    body.velocity[0] = vx;
    body.velocity[2] = vz;
    world_add(&w, body, world_grid(ctx, 3, 2, 2, 0.05, 0, 0, height));
    world_floor(&w, 0, friction);
    world_start(&w);
    return w;
}

static pl_check_result *check_world(test_world *w, pl_check_def def, double factor)
{
    pl_check_result *result = NULL;
    world_loss loss = {def.steps, w->n, factor};
    def.loss = world_loss_term;
    def.loss_user = &loss;
    assert_ok(w->ctx, pl_check(w->sim, w->state, &def, &result));
    return result;
}

static pl_check_def small_def(int steps, unsigned wanted)
{
    pl_check_def def = pl_check_def_default();
    def.steps = steps;
    def.wanted = wanted;
    def.directions = 1;
    def.step_count = 4;
    return def;
}

/* Every kind a scene can have, through an impact that ends in slip. */
static void test_impact(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx, 0.05, 1, -2, 0.3);
    pl_check_result *r = check_world(&w, small_def(8, ~0u), 1);
    assert_int_equal(r->failed, 0);
    assert_int_equal(r->unresolved, 0);
    /* position, velocity, vertex force, pose, eight of the material less bending, friction: two each */
    assert_int_equal(r->row_count, 2 * 12);
    assert_true(r->worst_sweep_error < 1e-8);
    assert_true(r->regimes.impact_steps > 0 && r->regimes.slip > 0);
    assert_true(r->regimes.free_steps > 0 && r->regimes.free_steps < 8);
    assert_int_equal(r->regimes.steps, 8);
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void test_regimes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx, 0, 0, 0, 0.5);
    pl_check_result *r = check_world(&w, small_def(5, PL_BIT(PL_DENSITY)), 1);
    /* A block put down without any speed sticks from the first step on. */
    assert_int_equal(r->regimes.free_steps, 0);
    assert_int_equal(r->regimes.stick_steps, 5);
    assert_int_equal(r->regimes.impact, 6);
    /* Its vertices carry its weight: 0.1 x 0.05 x 0.05 m of 1000 kg/m^3. */
    assert_true(r->regimes.largest_force > 0.25 * 9.81 / 6 && r->regimes.largest_force < 0.25 * 9.81);
    pl_check_destroy(ctx, r);
    world_free(&w);

    w = thrown(ctx, 0, 1, 0, 0.2);
    r = check_world(&w, small_def(5, PL_BIT(PL_FRICTION)), 1);
    assert_int_equal(r->regimes.slip_steps, 5);
    assert_int_equal(r->failed, 0);
    /* Friction brakes: the mean of x^2 falls with mu. */
    for (int k = 0; k < r->row_count; k++)
        assert_true(r->rows[k].along_gradient ? r->rows[k].adjoint > 0 : r->rows[k].adjoint != 0);
    pl_check_destroy(ctx, r);
    world_free(&w);

    w = thrown(ctx, 1, 1, 0, 0.2);
    r = check_world(
        &w,
        small_def(3, PL_BIT(PL_YOUNG) | PL_BIT(PL_POISSON) | PL_BIT(PL_DENSITY) | PL_BIT(PL_VISCOSITY)),
        1);
    assert_int_equal(r->regimes.free_steps, 3);
    /* In free fall nothing depends on the material but by rounding, which is no error. */
    assert_int_equal(r->row_count, 8);
    assert_int_equal(r->failed + r->unresolved, 0);
    assert_int_equal(r->regimes.stick + r->regimes.slip + r->regimes.impact, 0);
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Blocks that fly at each other, at first without touching. */
static void test_bodies_meet(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def scene = world_def(0.01, 0, 0, 0);
    scene.body_contact = true;
    scene.body_friction = 0.3;
    test_world w = world_new(ctx, scene);
    for (int k = 0; k < 2; k++) {
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
        body.velocity[2] = k ? -0.5 : 0.5;
        world_add(&w, body, world_grid(ctx, 3, 3, 2, 0.05, 0.007 * k, 0.012 * k, k ? 0.072 : 0));
    }
    world_start(&w);
    pl_check_result *r = check_world(&w, small_def(6, PL_BIT(PL_VELOCITY)), 1);
    assert_int_equal(r->failed, 0);
    assert_true(r->regimes.free_steps > 0 && r->regimes.impact_steps > 0 && r->regimes.impact > 3);
    assert_true(r->regimes.impact_steps < 6 - r->regimes.free_steps);
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* What steps solved to a coarse tolerance leave is not blamed on the gradient. */
static void test_coarse(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx, 0.05, 1, -2, 0.3);
    pl_check_def def = small_def(8, PL_BIT(PL_YOUNG) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_FRICTION));
    def.newton_tolerance = 3e-6;
    pl_check_result *r = check_world(&w, def, 1);
    assert_int_equal(r->failed, 0);
    assert_true(r->unresolved > 0);
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Masses that a body shares equally among its vertices. */
static void test_equal_masses(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    body.lumped_equally = true;
    body.damping = 2;
    body.angular_velocity[1] = 3;
    world_add(&w, body, world_grid(ctx, 4, 2, 2, 0.05, 0, 0, 0));
    world_start(&w);
    pl_check_result *r = check_world(&w, small_def(8, PL_BIT(PL_DENSITY) | PL_BIT(PL_DAMPING)), 1);
    assert_int_equal(r->row_count, 4);
    assert_int_equal(r->failed + r->unresolved, 0);
    for (int k = 0; k < r->row_count; k++)
        assert_true(r->rows[k].adjoint != 0);
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Pins of the usual compliance, 1e-9 m/N, put 1e5 into a tangent's right-hand side: the sweeps agree
 * all the same. */
static void test_stiff_pins(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5), world_grid(ctx, 4, 2, 2, 0.05, 0, 0, 0));
    pl_pin_def pin = pl_pin_def_default();
    pin.vertices = (const int[]){0, 4, 8, 12};
    pin.vertex_count = 4;
    assert_ok(ctx, pl_scene_add_pin(w.scene, &pin, NULL));
    world_start(&w);
    pl_check_result *r = check_world(&w, small_def(8, PL_BIT(PL_PIN_TARGET)), 1);
    assert_int_equal(r->failed, 0);
    assert_true(r->worst_sweep_error < 1e-11);
    pl_check_destroy(ctx, r);
    /* A pin that stiff hardly gives: what steps are solved to shows in differences by its compliance,
     * of some 1e-8, from the fifth digit on, so that only the sweeps are compared. */
    r = check_world(&w, small_def(8, PL_BIT(PL_COMPLIANCE)), 1);
    assert_true(r->worst_sweep_error < 1e-11);
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A loss whose derivative is off by 1e-4, and a backward pass with another smoothing, are found out. */
static void test_wrong(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx, 0, 1, 0, 0.2);
    pl_check_result *r =
        check_world(&w, small_def(5, PL_BIT(PL_VELOCITY) | PL_BIT(PL_FRICTION)), 1.0001);
    assert_int_equal(r->failed, r->row_count);
    assert_close(r->worst_error, 1e-4, 1e-6);
    pl_check_destroy(ctx, r);

    pl_check_def def = small_def(5, PL_BIT(PL_VERTEX_FORCE));
    def.adjoint.contact_epsilon2 = 1e-4;
    r = check_world(&w, def, 1);
    assert_true(r->failed > 0);
    assert_true(r->worst_error > 1e-3);
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

typedef struct rough_loss {
    world_loss end;
    double base, kink; /* where the unperturbed motion ends; of a kink there, 0 = a jump */
} rough_loss;

/* With a kink where the unperturbed motion ends, or with another slope everywhere else. */
static bool rough_term(void *user, int step, const double *q, const double *v, double *value,
                       double *dq, double *dv)
{
    rough_loss *loss = user;
    double before = *value;
    if (step == loss->end.last && isnan(loss->base))
        loss->base = q[0]; /* the first is the unperturbed one */
    world_loss_term(&loss->end, step, q, v, value, dq, dv);
    if (step != loss->end.last || q[0] == loss->base)
        return true;
    double away = q[0] - loss->base, term = *value - before;
    *value += loss->kink > 0 ? loss->kink * (fabs(away) + 0.5 * away) : 1 + term;
    return true;
}

/* Differences of what is not smooth are no judge. */
static void test_rough(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int kink = 0; kink < 2; kink++) {
        test_world w = thrown(ctx, 0.05, 1, -2, 0.3);
        pl_check_def def = small_def(4, PL_BIT(PL_VELOCITY));
        pl_check_result *r = NULL;
        rough_loss loss = {{4, w.n, 1}, NAN, kink};
        def.loss = rough_term;
        def.loss_user = &loss;
        assert_ok(ctx, pl_check(w.sim, w.state, &def, &r));
        assert_int_equal(r->failed, 0);
        assert_int_equal(r->unresolved, r->row_count);
        pl_check_destroy(ctx, r);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

typedef struct steep_loss {
    world_loss end;
    double base, width; /* of q[0], where the unperturbed motion ends, m */
} steep_loss;

/* What is left of the slope beyond the width is a 1e-4th. */
static bool steep_term(void *user, int step, const double *q, const double *v, double *value,
                       double *dq, double *dv)
{
    steep_loss *loss = user;
    (void)v, (void)dv;
    if (step != loss->end.last)
        return true;
    if (isnan(loss->base))
        loss->base = q[0]; /* the first is the unperturbed one */
    double away = (q[0] - loss->base) / loss->width, steep = tanh(away);
    *value += loss->width * (steep + 1e-4 * away);
    dq[0] += 1 - steep * steep + 1e-4;
    return true;
}

/* A slope that only the smallest steps see: what the larger ones agree on is not it. */
static void test_steep(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int wide = 0; wide < 2; wide++) {
        test_world w = thrown(ctx, 0.05, 1, -2, 0.3);
        pl_check_def def = small_def(4, PL_BIT(PL_VELOCITY));
        pl_check_result *r = NULL;
        steep_loss loss = {{4, w.n, 1}, NAN, wide ? 1e3 : 1e-8};
        def.loss = steep_term;
        def.loss_user = &loss;
        assert_ok(ctx, pl_check(w.sim, w.state, &def, &r));
        assert_int_equal(r->failed, 0);
        assert_int_equal(r->unresolved, wide ? 0 : r->row_count);
        pl_check_destroy(ctx, r);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* A block thrown into a corner: vertices that floor and wall both hold. */
static void test_corner(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    body.velocity[0] = body.velocity[2] = -1;
    world_add(&w, body, world_grid(ctx, 2, 3, 2, 0.05, 0.012, 0, 0.015));
    world_floor(&w, 0, 1);
    pl_collider_def wall = pl_collider_def_default();
    wall.friction = 1;
    wall.pose[3] = wall.pose[5] = sqrt(0.5); /* a quarter turn about y: its normal is x */
    assert_ok(ctx, pl_scene_add_collider(w.scene, &wall, NULL));
    world_start(&w);
    pl_check_def def = small_def(8, ~(unsigned)PL_BIT(PL_COLLIDER_POSE));
    pl_check_result *r = check_world(&w, def, 1);
    assert_int_equal(r->failed, 0);
    assert_int_equal(r->unresolved, 0);
    assert_true(r->regimes.stick > 6);
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* The scene, the state and the result of the next step are as they were. */
static void test_untouched(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx, 0.02, 1, -2, 0.3), fresh = thrown(ctx, 0.02, 1, -2, 0.3);
    double before[16], after[16];
    int first, count;
    pl_check_destroy(
        ctx,
        check_world(&w, small_def(4, PL_BIT(PL_YOUNG) | PL_BIT(PL_FRICTION) | PL_BIT(PL_POSITION)), 1));
    assert_ok(ctx, pl_scene_rows(w.scene, PL_YOUNG, 0, &first, &count));
    assert_true(count <= 16);
    assert_ok(ctx, pl_params_get(pl_scene_params(fresh.scene), PL_YOUNG, 0, count, before));
    assert_ok(ctx, pl_params_get(pl_scene_params(w.scene), PL_YOUNG, 0, count, after));
    assert_memory_equal(before, after, sizeof(double) * (size_t)count);
    assert_true(pl_scene_get_def(w.scene).tolerance == pl_scene_get_def(fresh.scene).tolerance);
    world_steps(&w, 4);
    world_steps(&fresh, 4);
    assert_memory_equal(w.state->q, fresh.state->q, sizeof(double) * 3 * (size_t)w.n);
    world_free(&w);
    world_free(&fresh);
    pl_context_destroy(ctx);
}

/* Values at the edge of their range move inwards only; friction of 0 does not move at all. */
static void test_edges(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx, 0.02, 1, -2, 0);
    pl_check_result *r = check_world(&w, small_def(6, PL_BIT(PL_DAMPING) | PL_BIT(PL_FRICTION)), 1);
    assert_int_equal(r->row_count, 2);
    for (int k = 0; k < r->row_count; k++) {
        assert_int_equal(r->rows[k].channel, PL_DAMPING);
        assert_true(r->rows[k].one_sided);
        assert_int_equal(r->rows[k].verdict, PL_CHECK_PASSED);
    }
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

static bool stop_soon(void *user, int done, int total)
{
    assert_true(done <= total);
    return ++*(int *)user < 3;
}

static void test_arguments(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx, 1, 0, 0, 0.3);
    world_loss loss = {2, w.n, 1};
    pl_check_result *r;
    pl_check_def good = small_def(2, PL_BIT(PL_VELOCITY)), def = good;
    assert_int_equal(pl_check(w.sim, w.state, &def, &r), PL_ERROR_ARGUMENT);
    good.loss = world_loss_term;
    good.loss_user = &loss;
    def = good, def.steps = 0;
    assert_int_equal(pl_check(w.sim, w.state, &def, &r), PL_ERROR_ARGUMENT);
    def = good, def.step_count = 1;
    assert_int_equal(pl_check(w.sim, w.state, &def, &r), PL_ERROR_ARGUMENT);
    def = good, def.step = 0;
    assert_int_equal(pl_check(w.sim, w.state, &def, &r), PL_ERROR_ARGUMENT);
    def = good, def.tolerance = -1;
    assert_int_equal(pl_check(w.sim, w.state, &def, &r), PL_ERROR_ARGUMENT);
    assert_null(r);
    int calls = 0;
    def = good, def.progress = stop_soon, def.progress_user = &calls;
    assert_int_equal(pl_check(w.sim, w.state, &def, &r), PL_ERROR_INTERRUPTED);
    assert_int_equal(calls, 3);
    assert_string_equal(pl_channel_get(PL_COMPLIANCE)->name, "compliance");
    assert_int_equal(pl_channel_find("compliance"), PL_COMPLIANCE);
    assert_int_equal(pl_channel_find("complaisance"), PL_CHANNEL_COUNT);
    assert_null(pl_channel_get(PL_CHANNEL_COUNT));
    world_free(&w);
    pl_context_destroy(ctx);
}

static pl_status check_once(pl_context *ctx, void *user)
{
    pl_scene *scene = NULL;
    pl_sim *sim = NULL;
    pl_state *state = NULL;
    pl_mesh *mesh = NULL;
    pl_check_result *result = NULL;
    pl_scene_def scene_def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    pl_collider_def floor = pl_collider_def_default();
    pl_check_def def = small_def(1, PL_BIT(PL_FRICTION) | PL_BIT(PL_COLLIDER_POSE));
    const int nodes[3] = {2, 2, 2};
    world_loss loss = {1, 8, 1};
    (void)user;
    def.directions = 0;
    def.step_count = 2;
    def.loss = world_loss_term;
    def.loss_user = &loss;
    pl_status status = pl_scene_create(ctx, &scene_def, &scene);
    status = status ? status : pl_mesh_grid(ctx, nodes, 0.05, PL_CUT_DIAGONAL, &mesh);
    body.mesh = mesh;
    status = status ? status : pl_scene_add_body(scene, &body, NULL);
    status = status ? status : pl_scene_add_collider(scene, &floor, NULL);
    status = status ? status : pl_sim_create(scene, &sim);
    status = status ? status : pl_state_create(scene, &state);
    status = status ? status : pl_check(sim, state, &def, &result);
    pl_check_destroy(ctx, result);
    if (state)
        pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    pl_mesh_free(ctx, mesh);
    pl_scene_destroy(scene);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(check_once, NULL) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impact),       cmocka_unit_test(test_regimes),
        cmocka_unit_test(test_equal_masses), cmocka_unit_test(test_stiff_pins),
        cmocka_unit_test(test_wrong),        cmocka_unit_test(test_untouched),
        cmocka_unit_test(test_edges),        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_rough),        cmocka_unit_test(test_steep),
        cmocka_unit_test(test_corner),       cmocka_unit_test(test_bodies_meet),
        cmocka_unit_test(test_coarse),       cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
