/* What scenes, steps and parameters refuse: each bad value by a message that names it, with nothing
 * changed. */
#include "common_scene.h"

#include "sim/sim.h"

static void expect(pl_context *ctx, pl_status got, pl_status wanted, const char *word)
{
    if (got != wanted || strstr(pl_context_error(ctx), word) == NULL)
        fail_msg("expected \"%s\" about \"%s\", got \"%s\": %s", pl_status_name(wanted), word,
                 pl_status_name(got), pl_context_error(ctx));
}

/* Each line: a good definition with one field spoilt, and the word its message must hold. */
#define REFUSE(call, def, good, field, value, word)                                                    \
    do {                                                                                               \
        def = good;                                                                                    \
        def.field = (value);                                                                           \
        expect(ctx, (call), PL_ERROR_ARGUMENT, word);                                                  \
    } while (0)

static void test_scene(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def good = pl_scene_def_default(), def;
    pl_scene *scene = NULL;
    const double times[] = {0, -1, NAN, INFINITY};
    for (int k = 0; k < 4; k++)
        REFUSE(pl_scene_create(ctx, &def, &scene), def, good, time_step, times[k], "time_step");
    for (int k = 0; k < 3; k++)
        REFUSE(pl_scene_create(ctx, &def, &scene), def, good, gravity[k], NAN, "gravity");
    const double tolerances[] = {0, -1e-9, 1, NAN};
    for (int k = 0; k < 4; k++)
        REFUSE(pl_scene_create(ctx, &def, &scene), def, good, tolerance, tolerances[k], "tolerance");
    REFUSE(pl_scene_create(ctx, &def, &scene), def, good, max_iterations, 0, "max_iterations");
    REFUSE(pl_scene_create(ctx, &def, &scene), def, good, max_splits, -1, "max_splits");
    REFUSE(pl_scene_create(ctx, &def, &scene), def, good, max_splits, 1000, "max_splits");
    const double epsilons[] = {0, -1, NAN, INFINITY};
    for (int k = 0; k < 4; k++)
        REFUSE(pl_scene_create(ctx, &def, &scene), def, good, contact_epsilon2, epsilons[k],
               "contact_epsilon2");
    REFUSE(pl_scene_create(ctx, &def, &scene), def, good, contact_margin, -1, "contact_margin");
    REFUSE(pl_scene_create(ctx, &def, &scene), def, good, contact_margin, NAN, "contact_margin");
    REFUSE(pl_scene_create(ctx, &def, &scene), def, good, solver, (pl_solver_kind)17, "solver");
    REFUSE(pl_scene_create(ctx, &def, &scene), def, good, solver, (pl_solver_kind)-1, "solver");
    assert_null(scene);
    assert_ok(ctx, pl_scene_create(ctx, NULL, &scene)); /* NULL = the defaults */
    assert_true(pl_scene_get_def(scene).time_step == 0.01);
    pl_sim *sim = NULL;
    expect(ctx, pl_sim_create(scene, &sim), PL_ERROR_ARGUMENT, "bodies");
    assert_null(sim);
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

static void test_body(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, pl_scene_def_default());
    pl_mesh *mesh = world_grid(ctx, 2, 2, 2, 0.1, 0, 0, 0);
    pl_body_def good = pl_body_def_default(), def;
    good.mesh = mesh;
    const double bad[] = {-1, NAN, INFINITY};
    for (int k = 0; k < 3; k++) {
        REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, young, bad[k], "young");
        REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, poisson, bad[k], "poisson");
        REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, density, bad[k], "density");
        REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, thickness, bad[k], "thickness");
        REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, bending, bad[k], "bending");
        REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, damping, bad[k], "damping");
    }
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, young, 0, "young");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, density, 0, "density");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, thickness, 0, "thickness");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, poisson, 0.5, "poisson");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, model, (pl_material)3, "model");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, reading, (pl_reading)-2, "reading");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, velocity[1], NAN, "velocity");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, angular_velocity[2], INFINITY,
           "angular_velocity");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, mesh, NULL, "mesh");
    double of[6], start[24];
    for (int e = 0; e < 6; e++)
        of[e] = e == 4 ? -3 : 0.1;
    memcpy(start, mesh->vertices, sizeof start);
    start[17] = NAN;
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, young_of, of, "young of element 4");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, poisson_of, of, "poisson of element 4");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, density_of, of, "density of element 4");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, bending_of, of, "bending of element 4");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, damping_of, of, "damping of element 4");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, positions, start, "vertex 5");
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, velocities, start, "vertex 5");
    good.velocities = mesh->vertices;
    REFUSE(pl_scene_add_body(w.scene, &def, NULL), def, good, angular_velocity[1], 1,
           "velocities: given beside");
    pl_scene_info info = pl_scene_get_info(w.scene);
    assert_int_equal(info.body_count, 0);
    assert_int_equal(info.vertex_count, 0);
    pl_mesh_free(ctx, mesh);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void test_bad_meshes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, pl_scene_def_default());
    const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 2, 2};
    double holed[12];
    memcpy(holed, x, sizeof holed);
    holed[4] = NAN;
    const struct {
        int vertices;
        const double *x;
        int tets;
        int tet[8];
        const char *word;
    } bad[] = {
        {4, x, 1, {1, 0, 2, 3}, "inverted"},
        {4, x, 1, {0, 1, 2, 9}, "vertex numbers"},
        {4, x, 1, {0, 1, 2, 2}, "vertex numbers"},
        {5, x, 1, {0, 1, 2, 3}, "in no element"},
        {4, x, 2, {0, 1, 2, 3, 0, 2, 3, 1}, "duplicate"},
        {4, holed, 1, {0, 1, 2, 3}, "not finite"},
        {4, x, 0, {0}, "no elements"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        pl_mesh *mesh = NULL;
        pl_body_def def = pl_body_def_default();
        assert_ok(ctx, pl_mesh_create(ctx, bad[k].vertices, bad[k].x, bad[k].tets, bad[k].tet, 0, NULL,
                                      &mesh));
        def.mesh = mesh;
        expect(ctx, pl_scene_add_body(w.scene, &def, NULL), PL_ERROR_MESH, bad[k].word);
        pl_mesh_free(ctx, mesh);
    }
    assert_int_equal(pl_scene_get_info(w.scene).body_count, 0);
    world_free(&w);
    pl_context_destroy(ctx);
}

static test_world one_body(pl_context *ctx)
{
    test_world w = world_new(ctx, pl_scene_def_default());
    world_add(&w, pl_body_def_default(), world_grid(ctx, 2, 2, 2, 0.1, 0, 0, 0.5));
    return w;
}

static void test_pins(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = one_body(ctx);
    const int vertices[] = {0, 7}, outside[] = {0, 8}, below[] = {-1, 0};
    const double back[] = {1, 0.5}, same[] = {1, 1}, hole[] = {0, NAN}, on[] = {0, 1};
    const double zeros[8] = {0}, nan4[8] = {0, 0, 1, 0, 0, 0, 1, NAN};
    pl_pin_def good = pl_pin_def_default(), def;
    good.vertices = vertices;
    good.vertex_count = 2;
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, body, -1, "body");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, body, 1, "body");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, vertex_count, 0, "vertices");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, vertices, NULL, "vertices");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, vertices, outside, "vertices[1] = 8");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, vertices, below, "vertices[0] = -1");
    const double compliances[] = {0, -1, NAN, INFINITY};
    for (int k = 0; k < 4; k++)
        REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, compliance, compliances[k],
               "compliance");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, offset, ((pl_table){2, back, zeros}),
           "pin.offset");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, offset, ((pl_table){2, same, zeros}),
           "pin.offset");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, offset, ((pl_table){2, hole, zeros}),
           "pin.offset");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, offset, ((pl_table){2, on, nan4 + 2}),
           "pin.offset");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, offset, ((pl_table){2, NULL, zeros}),
           "pin.offset");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, offset, ((pl_table){2, on, NULL}),
           "pin.offset");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, offset, ((pl_table){-1, on, zeros}),
           "pin.offset");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, rotation, ((pl_table){2, on, nan4}),
           "pin.rotation");
    const double no_axis[4] = {0, 0, 0, 1};
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, rotation, ((pl_table){1, on, no_axis}),
           "axis of length 0");
    REFUSE(pl_scene_add_pin(w.scene, &def, NULL), def, good, pivot[1], NAN, "pivot");
    assert_int_equal(pl_scene_get_info(w.scene).pin_count, 0);
    assert_int_equal(pl_scene_get_info(w.scene).pin_vertex_count, 0);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void test_forces_and_wind(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = one_body(ctx);
    const int outside[] = {3, 99};
    const double on[] = {0, 1}, back[] = {0, -1}, values[] = {0, 0, 0, 0, INFINITY, 0};
    pl_force_def force = pl_force_def_default(), f;
    REFUSE(pl_scene_add_force(w.scene, &f, NULL), f, force, body, 5, "body");
    REFUSE(pl_scene_add_force(w.scene, &f, NULL), f, force, per, (pl_force_per)3, "per");
    REFUSE(pl_scene_add_force(w.scene, &f, NULL), f, force, value[0], NAN, "force");
    REFUSE(pl_scene_add_force(w.scene, &f, NULL), f, force, table, ((pl_table){2, on, values}),
           "force");
    REFUSE(pl_scene_add_force(w.scene, &f, NULL), f, force, table, ((pl_table){2, back, values}),
           "force");
    force.vertices = outside;
    REFUSE(pl_scene_add_force(w.scene, &f, NULL), f, force, vertex_count, 2, "vertices[1] = 99");
    REFUSE(pl_scene_add_force(w.scene, &f, NULL), f, force, vertex_count, 0, "vertices");
    pl_wind_def wind = pl_wind_def_default(), a;
    REFUSE(pl_scene_add_wind(w.scene, &a, NULL), a, wind, body, -1, "body");
    REFUSE(pl_scene_add_wind(w.scene, &a, NULL), a, wind, drag, -1, "drag");
    REFUSE(pl_scene_add_wind(w.scene, &a, NULL), a, wind, drag, NAN, "drag");
    REFUSE(pl_scene_add_wind(w.scene, &a, NULL), a, wind, velocity[2], INFINITY, "wind");
    REFUSE(pl_scene_add_wind(w.scene, &a, NULL), a, wind, table, ((pl_table){2, on, values}), "wind");
    assert_int_equal(pl_scene_get_info(w.scene).force_count, 0);
    assert_int_equal(pl_scene_get_info(w.scene).wind_count, 0);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void test_colliders(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = one_body(ctx);
    pl_collider_def good = pl_collider_def_default(), def;
    const double bad[] = {-1, NAN, INFINITY}, on[] = {0, 1};
    const double nowhere[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        REFUSE(pl_scene_add_collider(w.scene, &def, NULL), def, good, friction, bad[k], "friction");
        if (k > 0)
            REFUSE(pl_scene_add_collider(w.scene, &def, NULL), def, good, pose[1], bad[k], "pose");
    }
    REFUSE(pl_scene_add_collider(w.scene, &def, NULL), def, good, shape, (pl_shape)11, "shape");
    REFUSE(pl_scene_add_collider(w.scene, &def, NULL), def, good, shape, PL_MESH, "surface");
    REFUSE(pl_scene_add_collider(w.scene, &def, NULL), def, good, pose[3], 0, "pose");
    REFUSE(pl_scene_add_collider(w.scene, &def, NULL), def, good, table, ((pl_table){2, on, nowhere}),
           "quaternion");
    for (int shape = PL_SPHERE; shape <= PL_CAPSULE; shape++)
        for (int k = 0; k < 3; k++) {
            good.shape = (pl_shape)shape;
            good.size[0] = good.size[1] = good.size[2] = 0.1;
            REFUSE(pl_scene_add_collider(w.scene, &def, NULL), def, good, size[0], bad[k], "size");
        }
    assert_int_equal(pl_scene_get_info(w.scene).collider_count, 0);
    world_floor(&w, 0, 0.2);
    expect(ctx, pl_scene_set_friction(w.scene, 1, 0, 0.1), PL_ERROR_ARGUMENT, "body");
    expect(ctx, pl_scene_set_friction(w.scene, 0, 1, 0.1), PL_ERROR_ARGUMENT, "collider");
    expect(ctx, pl_scene_set_friction(w.scene, 0, 0, -0.1), PL_ERROR_ARGUMENT, "friction");
    expect(ctx, pl_scene_set_friction(w.scene, 0, 0, NAN), PL_ERROR_ARGUMENT, "friction");
    double mu = 0;
    assert_ok(ctx, pl_params_get(pl_scene_params(w.scene), PL_FRICTION, 0, 1, &mu));
    assert_true(mu == 0.2);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void test_parameters(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = one_body(ctx);
    const int held[] = {0};
    double one = 2e5, six[6] = {1e5, 2e5, 3e5, 4e5, 5e5, 6e5}, out[6], bad = NAN;
    int first = 0, count = 0;
    world_pin(&w, 0, 1, held, 1e-3);
    world_floor(&w, 0, 0.2);
    expect(ctx, pl_params_set(pl_scene_params(w.scene), PL_CHANNEL_COUNT, 0, 1, &one),
           PL_ERROR_ARGUMENT, "channel");
    expect(ctx, pl_params_set(pl_scene_params(w.scene), PL_FORCE, 0, 1, &one), PL_ERROR_ARGUMENT,
           "owner");
    expect(ctx, pl_params_set(pl_scene_params(w.scene), PL_POSITION, 0, 1, &one), PL_ERROR_ARGUMENT,
           "position is not a parameter");
    expect(ctx, pl_params_set(pl_scene_params(w.scene), PL_YOUNG, 1, 1, &one), PL_ERROR_ARGUMENT,
           "owner");
    expect(ctx, pl_params_set(pl_scene_params(w.scene), PL_FRICTION, -1, 1, &one), PL_ERROR_ARGUMENT,
           "owner");
    expect(ctx, pl_params_set(pl_scene_params(w.scene), PL_COMPLIANCE, 1, 1, &one), PL_ERROR_ARGUMENT,
           "owner");
    expect(ctx, pl_params_set(pl_scene_params(w.scene), PL_YOUNG, 0, 5, six), PL_ERROR_ARGUMENT,
           "count");
    expect(ctx, pl_params_get(pl_scene_params(w.scene), PL_YOUNG, 0, 5, out), PL_ERROR_ARGUMENT,
           "count");
    for (int k = PL_YOUNG; k <= PL_COMPLIANCE; k++) {
        expect(ctx, pl_params_set(pl_scene_params(w.scene), (pl_channel)k, 0, 1, &bad),
               PL_ERROR_ARGUMENT, pl_channel_get((pl_channel)k)->name);
        assert_ok(ctx, pl_scene_rows(w.scene, (pl_channel)k, 0, &first, &count));
        assert_int_equal(count, k < PL_FRICTION ? 6 : 1);
        assert_ok(ctx, pl_params_get(pl_scene_params(w.scene), (pl_channel)k, 0, count, out));
        assert_true(isfinite(out[0]));
    }
    assert_ok(ctx, pl_params_set(pl_scene_params(w.scene), PL_YOUNG, 0, 6, six));
    assert_ok(ctx, pl_params_get(pl_scene_params(w.scene), PL_YOUNG, 0, 6, out));
    assert_memory_equal(six, out, sizeof six);
    assert_ok(ctx, pl_params_set(pl_scene_params(w.scene), PL_YOUNG, 0, 1, &one));
    assert_ok(ctx, pl_params_get(pl_scene_params(w.scene), PL_YOUNG, 0, 6, out));
    assert_true(out[0] == one && out[5] == one);
    pl_body_info info;
    expect(ctx, pl_scene_body(w.scene, 1, &info), PL_ERROR_ARGUMENT, "body");
    world_free(&w);
    pl_context_destroy(ctx);
}

/* States and inputs that are not finite, parts added too late, numbers too large to compute with. */
static void test_steps(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = one_body(ctx);
    const int held[] = {0};
    pl_force_def force = pl_force_def_default();
    pl_wind_def wind = pl_wind_def_default();
    world_pin(&w, 0, 1, held, 1e-3);
    world_floor(&w, 0, 0.2);
    assert_ok(ctx, pl_scene_add_force(w.scene, &force, NULL));
    assert_ok(ctx, pl_scene_add_wind(w.scene, &wind, NULL));
    world_start(&w);
    pl_body_def body = pl_body_def_default();
    pl_pin_def pin = pl_pin_def_default();
    pl_collider_def collider = pl_collider_def_default();
    expect(ctx, pl_scene_add_body(w.scene, &body, NULL), PL_ERROR_ARGUMENT, "sim");
    expect(ctx, pl_scene_add_pin(w.scene, &pin, NULL), PL_ERROR_ARGUMENT, "sim");
    expect(ctx, pl_scene_add_force(w.scene, &force, NULL), PL_ERROR_ARGUMENT, "sim");
    expect(ctx, pl_scene_add_wind(w.scene, &wind, NULL), PL_ERROR_ARGUMENT, "sim");
    expect(ctx, pl_scene_add_collider(w.scene, &collider, NULL), PL_ERROR_ARGUMENT, "sim");
    double bad[24] = {0}, pose[7] = {0, 0, 0, 0.5, 0, 0, 0}, kept = w.state->q[4];
    bad[2] = NAN;
    const pl_inputs inputs[] = {{.of[PL_VERTEX_FORCE] = bad},  {.of[PL_FORCE] = bad},
                                {.of[PL_WIND] = bad},          {.of[PL_PIN_TARGET] = bad},
                                {.of[PL_COLLIDER_POSE] = bad}, {.of[PL_COLLIDER_POSE] = pose}};
    const char *const words[] = {"vertex_force", "force",         "wind",
                                 "pin_target",   "collider_pose", "quaternion"};
    for (int k = 0; k < 6; k++)
        expect(ctx, pl_step(w.sim, w.state, &inputs[k], NULL), PL_ERROR_ARGUMENT, words[k]);
    w.state->q[4] = NAN;
    expect(ctx, pl_step(w.sim, w.state, NULL, NULL), PL_ERROR_ARGUMENT, "vertex 1");
    w.state->q[4] = kept;
    w.state->v[23] = INFINITY;
    expect(ctx, pl_step(w.sim, w.state, NULL, NULL), PL_ERROR_ARGUMENT, "vertex 7");
    /* Not a number yet, but on the way to one: an error, and the state stays. */
    w.state->v[23] = 1e250;
    assert_true(pl_step(w.sim, w.state, NULL, NULL) != PL_OK);
    assert_true(w.state->v[23] == 1e250 && w.state->q[4] == kept && w.state->step == 0);
    w.state->v[23] = 0;
    assert_ok(ctx, pl_step(w.sim, w.state, NULL, NULL));
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Two parts of a kind, also where one of them has the name that the other would get by its number. */
static void test_names_differ(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene *scene = NULL;
    pl_collider_def def = pl_collider_def_default();
    assert_ok(ctx, pl_scene_create(ctx, NULL, &scene));
    def.name = "collider1";
    assert_ok(ctx, pl_scene_add_collider(scene, &def, NULL));
    for (int usual = 0; usual < 2; usual++) {
        def.name = usual ? NULL : "collider1";
        assert_int_equal(pl_scene_add_collider(scene, &def, NULL), PL_ERROR_ARGUMENT);
        assert_string_equal(pl_context_error(ctx), "name: collider 0 is named \"collider1\" already");
    }
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_differ), cmocka_unit_test(test_scene),
        cmocka_unit_test(test_body),         cmocka_unit_test(test_bad_meshes),
        cmocka_unit_test(test_pins),         cmocka_unit_test(test_forces_and_wind),
        cmocka_unit_test(test_colliders),    cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
