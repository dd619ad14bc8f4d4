/* Cables: tensions with known answers, a trunk bent by four of them, derivatives, what is refused. */
#include "terms_derivatives.h"

enum { LEVELS = 11, CABLES = 4, STEPS = 10 };

static pl_point at_vertex(int body, int vertex)
{
    return (pl_point){.body = body, .count = 1, .vertices = {vertex}, .weights = {1}};
}

static pl_point at_place(double x, double y, double z)
{
    return (pl_point){.body = -1, .position = {x, y, z}};
}

typedef struct kind {
    bool segments, two_way;
    double compliance;
    pl_solver_kind solver;
} kind;

/* A trunk 0.4 m high of 3 x 3 x 11 vertices that stands on its pinned base, a cable along each of its
 * edges; in ten steps the first becomes 20 % shorter and its antagonist 20 % longer. */
static test_world trunk(pl_context *ctx, kind k, double by, double time)
{
    pl_scene_def def = world_def(0.01, 0, 0, 0);
    def.solver = k.solver;
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    body.poisson = 0.2;
    int b = world_add(&w, body, world_grid(ctx, 3, 3, LEVELS, 0.04, 0, 0, 0)), base[9];
    for (int i = 0; i < 9; i++)
        base[i] = i;
    pl_pin_def pin = pl_pin_def_default();
    pin.body = b, pin.vertex_count = 9, pin.vertices = base;
    assert_ok(ctx, pl_scene_add_pin(w.scene, &pin, NULL));
    static const int edge[CABLES] = {0, 8, 2, 6};
    for (int c = 0; c < CABLES; c++) {
        pl_point points[LEVELS];
        for (int l = 0; l < LEVELS; l++)
            points[l] = at_vertex(b, 9 * l + edge[c]);
        double change = c == 0 ? -by : c == 1 ? by : 0;
        const double times[2] = {0, time}, lengths[2] = {0.4, 0.4 * (1 + change)};
        pl_cable_def cable = pl_cable_def_default();
        cable.point_count = LEVELS, cable.points = points;
        cable.segments = k.segments, cable.two_way = k.two_way, cable.compliance = k.compliance;
        cable.table = (pl_table){2, times, lengths};
        assert_ok(ctx, pl_scene_add_cable(w.scene, &cable, NULL));
    }
    world_start(&w);
    return w;
}

static double length_of(const test_world *w, int edge)
{
    double sum = 0;
    for (int l = 0; l + 1 < LEVELS; l++) {
        const double *a = w->state->q + 3 * (9 * l + edge), *b = a + 27;
        sum += sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) +
                    (b[2] - a[2]) * (b[2] - a[2]));
    }
    return sum;
}

static const kind kinds[] = {
    {false, false, 1e-6, PL_SOLVER_AUTO},   {false, false, 1e-10, PL_SOLVER_AUTO},
    {false, true, 1e-10, PL_SOLVER_AUTO},   {false, false, 1e-10, PL_SOLVER_DIRECT},
    {false, true, 1e-10, PL_SOLVER_DIRECT}, {false, false, 1e-10, PL_SOLVER_CONSTANT},
    {false, false, 0, PL_SOLVER_AUTO},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* The shortened cable has its length to what its compliance gives, one way its antagonist hangs slack,
 * both ways that one pushes; a fresh tangent in every iteration takes four or five. */
static void a_trunk_bends(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < KINDS; k++) {
        test_world w = trunk(ctx, kinds[k], 0.2, 0.1);
        for (int s = 0; s < STEPS; s++) {
            pl_step_info info;
            assert_ok(ctx, pl_step(w.sim, w.state, NULL, &info));
            assert_int_equal(info.splits, 0);
            assert_true(info.residual <= 1e-10);
            assert_true(info.iterations <= (kinds[k].solver == PL_SOLVER_DIRECT     ? 5
                                            : kinds[k].solver == PL_SOLVER_CONSTANT ? 40
                                                                                    : 14));
        }
        double t = w.state->live[0], give = kinds[k].compliance * t;
        assert_true(t > 30 && t < 60);
        assert_close(length_of(&w, 0), 0.32 + give, 1e-12);
        if (kinds[k].two_way) {
            assert_true(w.state->live[1] < -20);
            assert_close(length_of(&w, 8), 0.48 + kinds[k].compliance * w.state->live[1], 1e-12);
        } else {
            assert_true(w.state->live[1] > 0 && w.state->live[1] < 1e-9);
            assert_true(length_of(&w, 8) < 0.479);
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* Shortened by 30 % in one step: solved, if need be in parts, or refused with its name and nothing
 * moved. Sliding and pulling only it is always solved. */
static void a_sudden_pull_is_solved_or_named(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 4; k++) {
        test_world w = trunk(ctx, (kind){k & 1, k & 2, 1e-10, PL_SOLVER_AUTO}, 0.3, 1e-3);
        pl_step_info info;
        double before = w.state->q[0];
        pl_status status = pl_step(w.sim, w.state, NULL, &info);
        if (status == PL_OK) {
            assert_true(info.converged && info.residual <= 1e-10);
            double give = 0;
            int first, rows = pl_scene_cable_rows(w.scene, 0, &first);
            for (int r = first; r < first + rows; r++)
                give += 1e-10 / rows * w.state->live[r];
            assert_close(length_of(&w, 0), 0.28 + give, 1e-11);
        } else {
            assert_true(k != 0);
            assert_int_equal(status, PL_ERROR_CONVERGENCE);
            assert_non_null(strstr(pl_context_error(ctx), "\"cable0\", is drawn to"));
            assert_true(w.state->step == 0 && w.state->q[0] == before);
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* Held at its anchors, every segment has its share. */
static void segments_are_held_each(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = trunk(ctx, (kind){true, false, 1e-8, PL_SOLVER_AUTO}, 0.1, 0.1);
    world_steps(&w, STEPS);
    int first;
    for (int c = 0; c < CABLES; c++) {
        assert_int_equal(pl_scene_cable_rows(w.scene, c, &first), LEVELS - 1);
        assert_int_equal(first, c * (LEVELS - 1));
    }
    assert_int_equal(w.state->live_count, CABLES * (LEVELS - 1));
    for (int l = 0; l + 1 < LEVELS; l++) {
        const double *a = w.state->q + 27 * l, *b = a + 27;
        double length = sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) +
                             (b[2] - a[2]) * (b[2] - a[2]));
        if (w.state->live[l] > 1e-6)
            assert_close(length, 0.036 + 1e-9 * w.state->live[l], 1e-12);
        else
            assert_true(length < 0.036);
    }
    world_free(&w);
    pl_context_destroy(ctx);
}

/* All at once instead of in ten steps. */
static void a_sudden_pull_is_solved(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = trunk(ctx, (kind){false, false, 1e-10, PL_SOLVER_AUTO}, 0.3, 0.001);
    world_step(&w);
    assert_close(length_of(&w, 0), 0.28, 1e-7);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A block of vertices 0.05 m apart whose lowest corner is at (x, 0, z). */
static int block(test_world *w, double x, double z)
{
    return world_add(w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e5),
                     world_grid(w->ctx, 2, 2, 2, 0.05, x, 0, z));
}

static pl_point in_the_middle(int body)
{
    return (pl_point){
        .body = body, .count = 4, .vertices = {0, 3, 5, 6}, .weights = {0.1, 0.2, 0.3, 0.4}};
}

/* Two blocks on a cable over two fixed points, the second with a loop of its own: what hangs at an end
 * has its weight in the tension, once the motion has died down. */
static void a_weight_hangs(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double c = 1e-4;
    test_world w = world_new(ctx, world_def(0.02, 0, 0, -9.81));
    block(&w, 0, 0);
    const pl_point points[] = {at_place(0.3, 0, 1), at_place(0, 0.1, 1.2)};
    pl_point chain[] = {points[0], in_the_middle(0)};
    pl_cable_def cable = pl_cable_def_default();
    cable.point_count = 2, cable.points = chain, cable.compliance = c;
    assert_ok(ctx, pl_scene_add_cable(w.scene, &cable, NULL));
    world_start(&w);
    double length = pl_scene_get_info(w.scene).mass * 9.81;
    for (int k = 0; k < 3000; k++) {
        for (int i = 0; i < 3 * w.n; i++)
            w.state->v[i] *= 0.97; /* a pendulum, too */
        world_step(&w);
    }
    assert_close(w.state->live[0], length, 1e-5 * length);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A cable between points of one body or of two pulls no body as a whole: momentum and angular momentum
 * of both together stay 0. */
static void forces_balance(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    block(&w, 0, 0);
    block(&w, 0.1, 0.03);
    pl_point chain[] = {in_the_middle(0), at_vertex(1, 2), at_vertex(0, 7)};
    pl_cable_def cable = pl_cable_def_default();
    cable.point_count = 3, cable.points = chain, cable.length = 0.1;
    assert_ok(ctx, pl_scene_add_cable(w.scene, &cable, NULL));
    world_start(&w);
    world_steps(&w, 20);
    double momentum[3] = {0}, fastest = 0;
    for (int i = 0; i < 3 * w.n; i++) {
        momentum[i % 3] += w.sim->matter.mass[i / 3] * w.state->v[i];
        fastest = fmax(fastest, w.sim->matter.mass[i / 3] * fabs(w.state->v[i]));
    }
    for (int k = 0; k < 3; k++)
        assert_true(fabs(momentum[k]) <= 1e-9 * fastest * w.n);
    assert_true(fastest > 1e-3);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void gradients_of_a_trunk(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static const kind some[] = {{false, false, 1e-4, PL_SOLVER_AUTO},
                                {false, false, 1e-10, PL_SOLVER_AUTO},
                                {false, true, 1e-10, PL_SOLVER_AUTO},
                                {true, false, 1e-4, PL_SOLVER_AUTO}};
    for (int k = 0; k < 4; k++) {
        test_world w = trunk(ctx, some[k], 0.2, 0.1);
        /* What 1e-10 m/N gives is below what differences tell. */
        pl_channels compliance = some[k].compliance > 1e-6 ? PL_BIT(PL_CABLE_COMPLIANCE) : 0;
        term_check(&w, PL_BIT(PL_CABLE_LENGTH) | compliance | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG), 6,
                   1e-6, "trunk");
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* A cable that runs through a ring on the wall and a block's middle to another block drags both over a
 * rough floor. */
static test_world tow(pl_context *ctx, pl_solver_kind solver, double compliance)
{
    static const double time[] = {0, 0.2}, lengths[] = {0.5, 0.3};
    pl_scene_def def = world_def(0.01, 0, 0, -9.81);
    def.solver = solver;
    def.max_iterations = 400; /* the constant matrix takes a hundred: a split step is another motion */
    test_world w = world_new(ctx, def);
    block(&w, 0, 5e-4);
    block(&w, 0.08, 5e-4);
    world_floor(&w, 0, 0.3);
    pl_point chain[] = {at_place(0.3, 0.1, 0.1), in_the_middle(1), at_vertex(0, 5),
                        at_place(0.3, 0, 0.1)};
    pl_cable_def cable = pl_cable_def_default();
    cable.point_count = 4, cable.points = chain, cable.compliance = compliance;
    cable.table = (pl_table){2, time, lengths};
    assert_ok(ctx, pl_scene_add_cable(w.scene, &cable, NULL));
    world_start(&w);
    return w;
}

static void gradients_with_friction(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = tow(ctx, PL_SOLVER_AUTO, 1e-3);
    pl_check_regimes met =
        term_check(&w,
                   PL_BIT(PL_CABLE_LENGTH) | PL_BIT(PL_CABLE_COMPLIANCE) | PL_BIT(PL_FRICTION) |
                       PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) | PL_BIT(PL_COLLIDER_POSE),
                   10, 1e-6, "tow");
    assert_true(met.slip > 0);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void every_solver_finds_the_same_motion(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world reference = tow(ctx, PL_SOLVER_DIRECT, 1e-7);
    world_steps(&reference, 12);
    assert_true(reference.state->live[0] > 0.01);
    for (int solver = PL_SOLVER_AUTO; solver <= PL_SOLVER_CONSTANT; solver++) {
        test_world w = tow(ctx, (pl_solver_kind)solver, 1e-7);
        world_steps(&w, 12);
        double apart = world_distance(3 * w.n, w.state->q, reference.state->q);
        if (!(apart < (solver == PL_SOLVER_CONSTANT ? 1e-8 : 1e-9)))
            fail_msg("solver %d: %.3g m apart", solver, apart);
        world_free(&w);
    }
    world_free(&reference);
    pl_context_destroy(ctx);
}

/* A soft bar of 2 x 2 x 4 vertices and a sliding cable along it whose second segment is drawn to
 * nothing. */
static test_world drawn_together(pl_context *ctx, pl_solver_kind solver)
{
    static const double time[] = {0, 0.05}, lengths[] = {0.21, 0.01};
    pl_scene_def def = world_def(0.0025, 0, 0, 0);
    def.solver = solver;
    test_world w = world_new(ctx, def);
    int b =
        world_add(&w, world_body(PL_COROTATED, PL_EXACT, 4e4), world_grid(ctx, 2, 2, 4, 0.06, 0, 0, 0));
    pl_point chain[] = {at_vertex(b, 0), at_vertex(b, 8), at_vertex(b, 13)};
    pl_cable_def cable = pl_cable_def_default();
    cable.point_count = 3, cable.points = chain, cable.compliance = 1e-4;
    cable.table = (pl_table){2, time, lengths};
    assert_ok(ctx, pl_scene_add_cable(w.scene, &cable, NULL));
    world_start(&w);
    return w;
}

/* Ends that meet are no kink: the tension fades there, and its derivatives are those of what it does.
 */
static void ends_may_meet(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int solver = PL_SOLVER_AUTO; solver <= PL_SOLVER_CONSTANT; solver++) {
        test_world w = drawn_together(ctx, (pl_solver_kind)solver);
        int met = 0;
        for (int k = 0; k < 20; k++) {
            world_step(&w);
            met += world_distance(3, w.state->q + 3 * 8, w.state->q + 3 * 13) < 0.03 * 0.085;
        }
        assert_true(met > 0);
        if (solver == PL_SOLVER_AUTO)
            term_check(&w,
                       PL_BIT(PL_CABLE_LENGTH) | PL_BIT(PL_CABLE_COMPLIANCE) | PL_BIT(PL_VELOCITY) |
                           PL_BIT(PL_YOUNG),
                       3, 1e-6, "ends that meet");
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

static void refuse(test_world *w, pl_cable_def def, const char *what)
{
    int before = pl_scene_owner_count(w->scene, PL_OWNER_CABLE);
    assert_int_equal(pl_scene_add_cable(w->scene, &def, NULL), PL_ERROR_ARGUMENT);
    if (!strstr(pl_context_error(w->ctx), what))
        fail_msg("\"%s\" does not say \"%s\"", pl_context_error(w->ctx), what);
    assert_int_equal(pl_scene_owner_count(w->scene, PL_OWNER_CABLE), before);
}

static void impossible_ones_are_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    block(&w, 0, 0);
    pl_point chain[3] = {at_vertex(0, 1), in_the_middle(0), at_place(0, 0, 1)}, odd[3];
    pl_cable_def good = pl_cable_def_default(), bad;
    good.point_count = 3, good.points = chain;
    bad = good, bad.point_count = 1;
    refuse(&w, bad, "at least two points");
    bad = good, bad.compliance = -1;
    refuse(&w, bad, "cable_compliance");
    bad = good, bad.compliance = NAN;
    refuse(&w, bad, "cable_compliance");
    bad = good, bad.length = -0.1;
    refuse(&w, bad, "length");
    bad = good, bad.length = 1e300;
    refuse(&w, bad, "length = 1e+300: expected >= 1e-09 and < 1e+15");
    bad = good, bad.length = NAN;
    refuse(&w, bad, "length");
    bad.points = odd;
    bad.length = 0;
    memcpy(odd, chain, sizeof odd), odd[1] = odd[0];
    refuse(&w, bad, "the same point");
    memcpy(odd, chain, sizeof odd), odd[1] = at_place(0, 1, 0);
    refuse(&w, bad, "both fixed");
    memcpy(odd, chain, sizeof odd), odd[2].position[1] = INFINITY;
    refuse(&w, bad, "points[2]");
    memcpy(odd, chain, sizeof odd), odd[1].weights[2] = 0.7;
    refuse(&w, bad, "points[1]: the weights");
    memcpy(odd, chain, sizeof odd), odd[1].vertices[2] = 8;
    refuse(&w, bad, "points[1]: vertices[2] = 8");
    memcpy(odd, chain, sizeof odd), odd[1].vertices[2] = odd[1].vertices[0];
    refuse(&w, bad, "points[1]: vertices[2] = ");
    bad = good, bad.name = "";
    refuse(&w, bad, "name is empty");
    assert_ok(ctx, pl_scene_add_cable(w.scene, &good, NULL));
    world_start(&w);
    const double zero = 0;
    pl_inputs inputs = {.of = {[PL_CABLE_LENGTH] = &zero}};
    assert_int_equal(pl_step(w.sim, w.state, &inputs, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "cable_length"));
    refuse(&w, good, "sim");
    world_free(&w);
    pl_context_destroy(ctx);
}

static void they_tell_what_they_are(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    kind k = {.segments = true, .two_way = true, .compliance = 1e-7};
    test_world w = trunk(ctx, k, 0.2, 0.1);
    pl_cable_def def;
    assert_ok(ctx, pl_scene_cable(w.scene, 2, &def));
    assert_true(def.segments && def.two_way && def.point_count == LEVELS);
    assert_true(def.compliance == 1e-7);
    double harder = 1e-8;
    assert_ok(ctx, pl_params_set(pl_scene_params(w.scene), PL_CABLE_COMPLIANCE, 2, 1, &harder));
    assert_ok(ctx, pl_scene_cable(w.scene, 2, &def));
    assert_true(def.compliance == harder);
    assert_int_equal(pl_scene_cable(w.scene, CABLES, &def), PL_ERROR_ARGUMENT);
    assert_string_equal(pl_context_error(ctx), "cable = 4: the scene has 4 cables");
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trunk_bends),
        cmocka_unit_test(a_sudden_pull_is_solved_or_named),
        cmocka_unit_test(segments_are_held_each),
        cmocka_unit_test(a_sudden_pull_is_solved),
        cmocka_unit_test(a_weight_hangs),
        cmocka_unit_test(forces_balance),
        cmocka_unit_test(gradients_of_a_trunk),
        cmocka_unit_test(gradients_with_friction),
        cmocka_unit_test(every_solver_finds_the_same_motion),
        cmocka_unit_test(ends_may_meet),
        cmocka_unit_test(impossible_ones_are_refused),
        cmocka_unit_test(they_tell_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
