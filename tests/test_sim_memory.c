/* Memory: every allocation may fail once without a leak or a wrong answer, and warm steps make none. */
#include "common_alloc.h"
#include "common_scene.h"

#define TRY(call)                                                                                      \
    do {                                                                                               \
        status = (call);                                                                               \
        if (status != PL_OK)                                                                           \
            goto done;                                                                                 \
    } while (0)

/* A muscle, and a cable from the world to the solid and along it. */
static pl_status add_actuators(pl_scene *scene)
{
    pl_muscle_def muscle = pl_muscle_def_default();
    pl_cable_def cable = pl_cable_def_default();
    const int elements[] = {0, 1, 2};
    const double up[] = {0, 0, 1}, times[] = {0, 1}, activation[] = {0, 0.2};
    const pl_point points[] = {{.body = -1, .position = {0, 0, 0.3}},
                               {.body = 0, .count = 1, .vertices = {0}, .weights = {1}},
                               {.body = 0, .count = 1, .vertices = {7}, .weights = {1}}};
    muscle.element_count = 3;
    muscle.elements = elements;
    muscle.direction_count = 1;
    muscle.directions = up;
    muscle.table = (pl_table){2, times, activation};
    cable.point_count = 3;
    cable.points = points;
    cable.length = 0.3;
    pl_status status = pl_scene_add_muscle(scene, &muscle, NULL);
    return status == PL_OK ? pl_scene_add_cable(scene, &cable, NULL) : status;
}

/* The parts of a scene that owns one of everything. */
static pl_status fill_scene(pl_context *ctx, pl_scene *scene)
{
    pl_status status = PL_OK;
    pl_mesh *solid = NULL, *sheet = NULL;
    const int nodes[3] = {2, 2, 2}, held[] = {0, 3};
    const double unturned[4] = {1, 0, 0, 0}, up[3] = {0, 0, 2e-3};
    const double times[] = {0, 1}, offsets[] = {0, 0, 0, 0.01, 0, 0};
    pl_body_def body = pl_body_def_default();
    pl_pin_def pin = pl_pin_def_default();
    pl_force_def force = pl_force_def_default();
    pl_wind_def wind = pl_wind_def_default();
    pl_collider_def floor = pl_collider_def_default(), ball = pl_collider_def_default();
    TRY(pl_mesh_grid(ctx, nodes, 0.05, PL_CUT_DIAGONAL, &solid));
    TRY(pl_mesh_rectangle(ctx, 0.1, 0.1, 0.05, &sheet));
    pl_mesh_transform(solid, 1, unturned, up);
    pl_mesh_transform(sheet, 1, unturned, up);
    body.mesh = solid;
    body.name = "solid";
    body.velocity[2] = -0.5;
    TRY(pl_scene_add_body(scene, &body, NULL));
    body.mesh = sheet;
    body.name = NULL;
    body.bending = 1e-4;
    TRY(pl_scene_add_body(scene, &body, NULL));
    pin.vertex_count = 2;
    pin.vertices = held;
    pin.compliance = 1;
    pin.offset = (pl_table){2, times, offsets};
    TRY(pl_scene_add_pin(scene, &pin, NULL));
    TRY(pl_scene_add_force(scene, &force, NULL));
    TRY(pl_scene_add_wind(scene, &wind, NULL));
    TRY(pl_scene_add_collider(scene, &floor, NULL));
    ball.shape = PL_SPHERE;
    ball.size[0] = 0.1;
    ball.pose[2] = -0.11;
    TRY(pl_scene_add_collider(scene, &ball, NULL));
    TRY(add_actuators(scene));
done:
    pl_mesh_free(ctx, solid);
    pl_mesh_free(ctx, sheet);
    return status;
}

static bool loss(void *user, int step, const double *q, const double *v, double *value, double *dq,
                 double *dv)
{
    (void)user, (void)q, (void)dv;
    *value += step * v[2];
    dq[2] += step;
    return true;
}

static bool look(void *user, int step, const double *q, const double *v, const double *dq,
                 const double *dv)
{
    (void)user, (void)step, (void)q, (void)v, (void)dq, (void)dv;
    return true;
}

typedef struct options {
    pl_solver_kind solver;
    size_t budget;
    pl_preconditioner preconditioner;
} options;

/* Scene, sim, a step, a rollout, both sweeps, fields. */
static pl_status everything(pl_context *ctx, void *user)
{
    const options *o = user;
    pl_status status = PL_OK;
    pl_scene *scene = NULL;
    pl_sim *sim = NULL;
    pl_state *state = NULL, *copy = NULL;
    pl_rollout *rollout = NULL;
    pl_gradient *gradient = NULL;
    pl_scene_def def = world_def(0.01, 0, 0, -9.81);
    pl_rollout_def roll = pl_rollout_def_default();
    pl_adjoint_def adjoint = pl_adjoint_def_default();
    pl_contact *contacts = NULL;
    int contact_count;
    double energy[64];
    def.solver = o->solver;
    roll.steps = o->budget ? 70 : 3;
    roll.memory_budget = o->budget;
    adjoint.solver = PL_ADJOINT_KRYLOV;
    adjoint.preconditioner = o->preconditioner;
    TRY(pl_scene_create(ctx, &def, &scene));
    TRY(fill_scene(ctx, scene));
    TRY(pl_sim_create(scene, &sim));
    TRY(pl_state_create(scene, &state));
    TRY(pl_state_create(scene, &copy));
    TRY(pl_step(sim, state, NULL, NULL));
    TRY(pl_state_copy(scene, state, copy));
    TRY(pl_rollout_run(sim, state, &roll, &rollout));
    TRY(pl_gradient_create(scene, roll.steps, ~0u, &gradient));
    TRY(pl_rollout_backward(rollout, &adjoint, loss, NULL, gradient, NULL));
    TRY(pl_rollout_tangent(rollout, &adjoint, gradient, look, NULL, NULL));
    TRY(pl_rollout_state(rollout, 2, state->q, NULL));
    TRY(pl_rollout_contacts(rollout, 2, &contact_count, &contacts));
    TRY(pl_element_fields(sim, copy, energy, NULL, NULL));
done:
    pl_free(ctx, contacts);
    pl_gradient_destroy(scene, gradient);
    pl_rollout_destroy(rollout);
    if (scene) {
        pl_state_destroy(scene, state);
        pl_state_destroy(scene, copy);
    }
    pl_sim_destroy(sim);
    pl_scene_destroy(scene);
    return status;
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    options lagged = {PL_SOLVER_LAGGED, 0, PL_PRECONDITION_LAGGED};
    options constant = {PL_SOLVER_CONSTANT, 0, PL_PRECONDITION_WOODBURY};
    assert_true(test_fail_every_allocation(everything, &lagged) > 100);
    assert_true(test_fail_every_allocation(everything, &constant) > 100);
}

/* With a limited tape sweeps allocate too; every 61st allocation will do, there are thousands. */
static void test_limited_tape(void **state)
{
    (void)state;
    options limited = {PL_SOLVER_LAGGED, 1, PL_PRECONDITION_LAGGED};
    for (long k = 1, failed = 1; failed; k += 61) {
        test_allocator allocator = {0};
        pl_context *ctx = test_context_with(&allocator, 1);
        allocator.fail_at = allocator.calls + k;
        pl_status status = everything(ctx, &limited);
        assert_int_equal(status, allocator.failed ? PL_ERROR_MEMORY : PL_OK);
        pl_context_destroy(ctx);
        assert_int_equal(allocator.live, 0);
        failed = allocator.failed;
    }
}

/* A failing allocation inside a step leaves the state as it was, and the next try succeeds. */
static void test_step_after_failure(void **state)
{
    (void)state;
    for (long k = 1;; k++) {
        test_allocator allocator = {0};
        pl_context *ctx = test_context_with(&allocator, 1);
        test_world w = {.ctx = ctx};
        pl_scene_def def = world_def(0.01, 0, 0, -9.81);
        assert_ok(ctx, pl_scene_create(ctx, &def, &w.scene));
        assert_ok(ctx, fill_scene(ctx, w.scene));
        world_start(&w);
        double before[3 * 32], after[3 * 32];
        assert_true(w.n <= 32);
        memcpy(before, w.state->q, sizeof(double) * 3 * (size_t)w.n);
        allocator.fail_at = allocator.calls + k;
        pl_status status = pl_step(w.sim, w.state, NULL, NULL);
        if (allocator.failed) {
            assert_int_equal(status, PL_ERROR_MEMORY);
            assert_memory_equal(before, w.state->q, sizeof(double) * 3 * (size_t)w.n);
            assert_int_equal(w.state->step, 0);
            assert_ok(ctx, pl_step(w.sim, w.state, NULL, NULL));
        }
        memcpy(after, w.state->q, sizeof(double) * 3 * (size_t)w.n);
        bool failed = allocator.failed;
        world_free(&w);
        pl_context_destroy(ctx);
        /* The same step without any trouble. */
        ctx = test_context(1);
        w = (test_world){.ctx = ctx};
        assert_ok(ctx, pl_scene_create(ctx, &def, &w.scene));
        assert_ok(ctx, fill_scene(ctx, w.scene));
        world_start(&w);
        world_step(&w);
        assert_memory_equal(after, w.state->q, sizeof(double) * 3 * (size_t)w.n);
        world_free(&w);
        pl_context_destroy(ctx);
        if (!failed)
            break;
    }
}

/* Once contacts have come and gone, steps take no memory. */
static void test_warm_steps_do_not_allocate(void **state)
{
    (void)state;
    const pl_solver_kind solvers[] = {PL_SOLVER_DIRECT, PL_SOLVER_LAGGED, PL_SOLVER_CONSTANT};
    for (int s = 0; s < 3; s++) {
        test_allocator allocator = {0};
        pl_context *ctx = test_context_with(&allocator, 1);
        pl_scene_def def = world_def(0.01, 0.5, 0, -9.81);
        def.solver = solvers[s];
        test_world w = world_new(ctx, def);
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 5e4);
        body.velocity[2] = -1;
        world_add(&w, body, world_grid(ctx, 3, 3, 3, 0.04, 0, 0, 0.01));
        world_floor(&w, 0, 0.3);
        world_start(&w);
        world_steps(&w, 40);
        long calls = allocator.calls;
        world_steps(&w, 40);
        assert_int_equal(allocator.calls, calls);
        world_free(&w);
        pl_context_destroy(ctx);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_limited_tape),
        cmocka_unit_test(test_step_after_failure),
        cmocka_unit_test(test_warm_steps_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
