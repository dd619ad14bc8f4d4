/* Muscles: their laws, what they do to a bar, derivatives alone and with friction, in every solver and
 * when steps are split, and what is refused. */
#include "terms_derivatives.h"

#include <pliant/io.h>

extern const pl_term pl_term_muscle;

static const pl_muscle_law laws[] = {PL_MUSCLE_TENSION, PL_MUSCLE_SPRING, PL_MUSCLE_FORCE};
static const char *const law_names[] = {"tension", "spring", "force"};

/* T(l, a), as the header says. */
static double tension_of(pl_muscle_law law, double l, double a)
{
    double x = l - (1 - a);
    return law == PL_MUSCLE_TENSION  ? 0.5 * (x + sqrt(x * x + 0.02 * 0.02))
           : law == PL_MUSCLE_SPRING ? x
                                     : a * l;
}

/* A bar along x of 6 by 2 by 2 cells of 5 cm, its lowest edge at z. */
static int bar(test_world *w, pl_material model, double young, double z)
{
    return world_add(w, world_body(model, PL_EXACT, young), world_grid(w->ctx, 7, 3, 3, 0.05, 0, 0, z));
}

/* One along x, in the upper or lower half of such a bar at z. */
static void add_half(test_world *w, int body, pl_muscle_law law, bool upper, double z, double stiffness,
                     pl_table table)
{
    const double way[3] = {1, 0, 0}, at = z + (upper ? 0.075 : 0.025);
    const double path[6] = {-0.1, 0.05, at, 0.4, 0.05, at};
    pl_muscle_def def = pl_muscle_def_default();
    def.body = body;
    def.point_count = 2;
    def.path = path;
    def.radius = 0.05;
    def.direction_count = upper;
    def.directions = way;
    def.law = law;
    def.stiffness = stiffness;
    def.activation = 0.3;
    def.table = table;
    assert_ok(w->ctx, pl_scene_add_muscle(w->scene, &def, NULL));
}

/* ------------------------------------------------------------------------------- one by one */

static void forces_and_tangents_are_derivatives(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 3; k++) {
        test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
        int body = bar(&w, PL_NEO_HOOKEAN, 1e5, 0);
        add_half(&w, body, laws[k], true, 0, 2e5, (pl_table){0});
        add_half(&w, body, laws[k], false, 0, 1e5, (pl_table){0});
        world_start(&w);
        pl_substep s = term_substep(&w, 0.01);
        double *q = term_shaken(&w, 0.01, 3);
        term_errors e = term_compare(&pl_term_muscle, &s, q, 0.05);
        if (!(e.force < 1e-9 && e.tangent < 2e-9 && e.multiply < 1e-14 && e.asymmetry < 1e-9 &&
              e.net_force < 1e-15 && e.net_torque < 1e-15))
            fail_msg("%s: force %.2g, tangent %.2g, product %.2g, asymmetry %.2g, net %.2g, %.2g",
                     law_names[k], e.force, e.tangent, e.multiply, e.asymmetry, e.net_force,
                     e.net_torque);
        free(q);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* Fibres half as long as they should be: a spring pushes and its tangent is indefinite, clamped it is
 * not; the other laws never are. Clamping leaves alone what needs none. */
static void clamped_tangents_are_positive(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 3; k++) {
        test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
        int body = bar(&w, PL_ARAP, 1e5, 0);
        add_half(&w, body, laws[k], true, 0, 2e5, (pl_table){0});
        world_start(&w);
        pl_substep s = term_substep(&w, 0.01);
        double *q = term_shaken(&w, 0.005, 3);
        for (int i = 0; i < 3 * w.n; i += 3)
            q[i] *= 0.5;
        double *free_one = term_matrix(&pl_term_muscle, &s, q, false);
        double *clamped = term_matrix(&pl_term_muscle, &s, q, true);
        assert_true(term_positive(clamped, 3 * w.n));
        assert_int_equal(term_positive(free_one, 3 * w.n), laws[k] != PL_MUSCLE_SPRING);
        if (laws[k] != PL_MUSCLE_SPRING)
            assert_memory_equal(free_one, clamped, sizeof(double) * 9 * (size_t)(w.n * w.n));
        free(q);
        free(free_one);
        free(clamped);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* A fibre without length pulls nowhere, and nothing becomes NaN. */
static void flat_elements_stay_finite(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 3; k++) {
        test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
        int body = bar(&w, PL_ARAP, 1e5, 0);
        add_half(&w, body, laws[k], true, 0, 2e5, (pl_table){0});
        world_start(&w);
        pl_substep s = term_substep(&w, 0.01);
        double *q = calloc(3 * (size_t)w.n, sizeof *q), *g = calloc(3 * (size_t)w.n, sizeof *g);
        assert_true(isfinite(pl_term_muscle.energy(&s, q, 1, g)));
        double *matrix = term_matrix(&pl_term_muscle, &s, q, false);
        for (int i = 0; i < 3 * w.n; i++)
            assert_true(g[i] == 0);
        for (int i = 0; i < 9 * w.n * w.n; i++)
            assert_true(isfinite(matrix[i]));
        free(q);
        free(g);
        free(matrix);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- known answers */

/* All of a free bar shortens by -s until E s + k T(1 + s, a) = 0; of small s the material's law does
 * not matter. */
static void a_free_bar_shortens_as_it_should(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double way[3] = {-2, 0, 0}, young = 1e5, stiffness = 1e3, a = 0.01;
    for (int k = 0; k < 3; k++) {
        test_world w = world_new(ctx, world_def(1, 0, 0, 0)); /* long steps: at rest in a few */
        int body = bar(&w, PL_COROTATED, young, 0), list[64];
        pl_muscle_def def = pl_muscle_def_default();
        def.body = body;
        def.direction_count = 1;
        def.directions = way;
        def.law = laws[k];
        def.stiffness = stiffness;
        def.activation = a;
        assert_ok(ctx, pl_scene_add_muscle(w.scene, &def, NULL));
        world_start(&w);
        world_steps(&w, 30);
        double low = -1, high = 0, apart[3] = {0}; /* from end to end: it turns a little */
        while (high - low > 1e-15) {
            double s = 0.5 * (low + high);
            *(young * s + stiffness * tension_of(laws[k], 1 + s, a) > 0 ? &high : &low) = s;
        }
        for (int side = 0; side < 2; side++) {
            int count = world_select(w.scene->bodies[body].mesh, 0, 0.3 * side, list);
            for (int i = 0; i < count; i++)
                pl_axpy3((side ? 1.0 : -1.0) / count, w.state->q + 3 * list[i], apart);
        }
        assert_close((pl_norm3(apart) / 0.3 - 1) / low, 1, 1e-3);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* The end of a bar that is held at the other rises when its upper side is active, and falls when the
 * lower one is. */
static void a_bar_bends_to_its_active_side(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 6; k++) {
        bool upper = k % 2;
        test_world w = world_new(ctx, world_def(0.1, 0, 0, 0));
        int body = bar(&w, PL_NEO_HOOKEAN, 1e5, 0), list[64];
        const pl_mesh *mesh = w.scene->bodies[body].mesh;
        world_pin(&w, body, world_select(mesh, 0, 0, list), list, 1e-9);
        add_half(&w, body, laws[k / 2], upper, 0, 1e5, (pl_table){0});
        int ends = world_select(mesh, 0, 0.3, list);
        world_start(&w);
        world_steps(&w, 40);
        double rise = 0;
        for (int i = 0; i < ends; i++)
            rise += (w.state->q[3 * list[i] + 2] - w.scene->q0[3 * list[i] + 2]) / ends;
        if (!(upper ? rise > 0.02 : rise < -0.02))
            fail_msg("%s, %s side: %.3g m", law_names[k / 2], upper ? "upper" : "lower", rise);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- together */

/* Antagonists in a bar on a rough floor, each going its own way. */
static test_world crawler(pl_context *ctx, pl_muscle_law law, pl_solver_kind solver)
{
    static const double time[] = {0, 0.05, 0.1, 0.2};
    static const double values[2][4] = {{0.1, 0.4, 0.2, 0.5}, {0.3, 0.05, 0.45, 0.1}};
    pl_scene_def def = world_def(0.01, 0, 0, -9.81);
    def.solver = solver;
    test_world w = world_new(ctx, def);
    int body = bar(&w, PL_NEO_HOOKEAN, 1e5, 2e-4);
    world_floor(&w, 0, 0.3);
    add_half(&w, body, law, true, 2e-4, 1e5, (pl_table){4, time, values[0]});
    add_half(&w, body, law, false, 2e-4, 2e5, (pl_table){4, time, values[1]});
    world_start(&w);
    return w;
}

static void gradients_agree_with_differences(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const pl_channels wanted = PL_BIT(PL_ACTIVATION) | PL_BIT(PL_MUSCLE_STIFFNESS) |
                               PL_BIT(PL_FRICTION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG);
    for (int k = 0; k < 3; k++) {
        test_world w = crawler(ctx, laws[k], PL_SOLVER_AUTO);
        term_check(&w, wanted, 10, 1e-6, law_names[k]);
        world_steps(&w, 10);
        assert_true(w.state->contact_count > 0);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* A relaxed muscle of the law of force is at the edge of its range: differences go one way. */
static void gradients_at_the_edge_of_the_range(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static const double time[] = {0, 1}, relaxed[] = {0, 0};
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    int body = bar(&w, PL_NEO_HOOKEAN, 1e5, 0), list[64];
    world_pin(&w, body, world_select(w.scene->bodies[body].mesh, 0, 0, list), list, 1e-7);
    add_half(&w, body, PL_MUSCLE_FORCE, true, 0, 1e5, (pl_table){2, time, relaxed});
    world_start(&w);
    term_check(&w, PL_BIT(PL_ACTIVATION), 5, 1e-6, "relaxed");
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A jump of activation that a step of five iterations cannot make at once. */
static void gradients_of_split_steps(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static const double time[] = {0, 0.0999, 0.1}, jump[] = {0, 0, 0.6};
    pl_scene_def def = world_def(0.05, 0, 0, -9.81);
    def.max_iterations = 5;
    def.solver = PL_SOLVER_DIRECT;
    test_world w = world_new(ctx, def);
    int body = bar(&w, PL_NEO_HOOKEAN, 1e5, 0), list[64];
    world_pin(&w, body, world_select(w.scene->bodies[body].mesh, 0, 0, list), list, 1e-7);
    add_half(&w, body, PL_MUSCLE_TENSION, true, 0, 5e5, (pl_table){3, time, jump});
    world_start(&w);
    term_check(&w, PL_BIT(PL_ACTIVATION) | PL_BIT(PL_MUSCLE_STIFFNESS), 4, 1e-6, "split");
    int splits = 0;
    for (int k = 0; k < 4; k++)
        splits += world_step(&w).splits;
    assert_true(splits > 0);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void every_solver_finds_the_same_motion(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 3; k++) {
        test_world reference = crawler(ctx, laws[k], PL_SOLVER_DIRECT);
        world_steps(&reference, 15);
        for (int solver = PL_SOLVER_AUTO; solver <= PL_SOLVER_CONSTANT; solver++) {
            test_world w = crawler(ctx, laws[k], (pl_solver_kind)solver);
            world_steps(&w, 15);
            double apart = world_distance(3 * w.n, w.state->q, reference.state->q);
            /* Steps of the constant matrix end by its own measure, which is stiffer than the body. */
            if (!(apart < (solver == PL_SOLVER_CONSTANT ? 1e-8 : 1e-9)))
                fail_msg("%s, solver %d: %.3g m apart", law_names[k], solver, apart);
            world_free(&w);
        }
        world_free(&reference);
    }
    pl_context_destroy(ctx);
}

static void every_adjoint_finds_the_same_gradient(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 3; k++) {
        test_world w = crawler(ctx, laws[k], PL_SOLVER_AUTO);
        term_compare_adjoints(&w, PL_ACTIVATION, 8, law_names[k]);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- interfaces */

/* Inputs given to a step replace the table's, and the state knows what the last step had. */
static void activations_are_inputs(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world told = crawler(ctx, PL_MUSCLE_TENSION, PL_SOLVER_AUTO);
    test_world own = crawler(ctx, PL_MUSCLE_TENSION, PL_SOLVER_AUTO);
    double a[2];
    pl_inputs inputs = {.of[PL_ACTIVATION] = a};
    assert_true(own.state->input[PL_ACTIVATION][0] == 0.1 && own.state->input[PL_ACTIVATION][1] == 0.3);
    pl_term_muscle.inputs(own.scene, 0.01, (double *[PL_CHANNEL_COUNT]){[PL_ACTIVATION] = a});
    world_step(&own);
    assert_ok(ctx, pl_step(told.sim, told.state, &inputs, NULL));
    assert_memory_equal(told.state->q, own.state->q, sizeof(double) * 3 * (size_t)own.n);
    assert_memory_equal(told.state->input[PL_ACTIVATION], a, sizeof a);
    a[1] = 1;
    assert_int_equal(pl_step(told.sim, told.state, &inputs, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "inputs.activation[1] = 1: expected"));
    a[1] = NAN;
    assert_int_equal(pl_step(told.sim, told.state, &inputs, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "inputs.activation[1][0] is not finite"));
    world_free(&told);
    world_free(&own);
    pl_context_destroy(ctx);
}

static void paths_choose_elements_and_ways(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    bar(&w, PL_NEO_HOOKEAN, 1e5, 0);
    const double path[9] = {0, 0.05, 0.05, 0.15, 0.05, 0.05, 0.15, 0.05, 1};
    pl_muscle_def def = pl_muscle_def_default(), told;
    def.point_count = 3;
    def.path = path;
    def.radius = 0.03;
    def.stiffness = 123;
    assert_ok(ctx, pl_scene_add_muscle(w.scene, &def, NULL));
    assert_ok(ctx, pl_scene_muscle(w.scene, 0, &told));
    const pl_body *body = &w.scene->bodies[0];
    int inside = 0, upward = 0;
    for (int e = 0; e < body->element_count; e++) {
        double x[3] = {0}, to_first, to_second;
        for (int a = 0; a < 4; a++)
            pl_axpy3(0.25, body->mesh->vertices + 3 * body->elements[4 * e + a], x);
        double beyond = fmax(fmax(x[0] - 0.15, -x[0]), 0), below = fmax(0.05 - x[2], 0);
        to_first = sqrt(beyond * beyond + pow(x[1] - 0.05, 2) + pow(x[2] - 0.05, 2));
        to_second = sqrt(pow(x[0] - 0.15, 2) + pow(x[1] - 0.05, 2) + below * below);
        if (fmin(to_first, to_second) > 0.03)
            continue;
        assert_int_equal(told.elements[inside], e);
        assert_close(told.directions[3 * inside], to_first <= to_second ? 0.15 : 0, 1e-15);
        assert_close(told.directions[3 * inside + 2], to_first <= to_second ? 0 : 0.95, 1e-15);
        upward += to_second < to_first;
        inside++;
    }
    assert_true(upward > 3 && inside > upward + 3);
    assert_int_equal(told.element_count, inside);
    assert_int_equal(told.direction_count, inside);
    assert_true(told.stiffness == 123 && told.law == PL_MUSCLE_TENSION && told.table.count == 0);
    assert_int_equal(pl_scene_muscle(w.scene, 1, &told), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "muscle = 1: the scene has 1 muscles"));
    world_free(&w);
    pl_context_destroy(ctx);
}

/* One muscle around three polylines has what three around one each have, and no fibre where the end of
 * one is joined with the start of the next. */
static void one_muscle_follows_several_paths(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    bar(&w, PL_NEO_HOOKEAN, 1e5, 0);
    const double path[] = {0,    0.02, 0.02, 0.1,  0.02, 0.02, /* along x */
                           0.28, 0,    0.02, 0.28, 0.1,  0.02, /* along y */
                           0.15, 0.08, 0,    0.15, 0.08, 0.05, 0.17, 0.08, 0.1};
    const int sizes[] = {2, 2, 3};
    pl_muscle_def def = pl_muscle_def_default(), told, one;
    def.point_count = 7;
    def.path = path;
    def.path_count = 3;
    def.path_sizes = sizes;
    def.radius = 0.03;
    assert_ok(ctx, pl_scene_add_muscle(w.scene, &def, NULL));
    def.path_count = 0;
    for (int i = 0, first = 0; i < 3; first += sizes[i++]) {
        def.point_count = sizes[i];
        def.path = path + 3 * first;
        assert_ok(ctx, pl_scene_add_muscle(w.scene, &def, NULL));
    }
    assert_ok(ctx, pl_scene_muscle(w.scene, 0, &told));
    int sum = 0;
    for (int i = 1; i < 4; i++) {
        assert_ok(ctx, pl_scene_muscle(w.scene, i, &one));
        assert_true(one.element_count > 3);
        sum += one.element_count;
        for (int k = 0, at = 0; k < one.element_count; k++, at++) {
            while (at < told.element_count && told.elements[at] != one.elements[k])
                at++;
            assert_true(at < told.element_count);
            assert_memory_equal(told.directions + 3 * at, one.directions + 3 * k, 3 * sizeof(double));
        }
    }
    assert_int_equal(told.element_count, sum);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void refuse(test_world *w, pl_muscle_def def, const char *what)
{
    int before = pl_scene_owner_count(w->scene, PL_OWNER_MUSCLE);
    assert_int_equal(pl_scene_add_muscle(w->scene, &def, NULL), PL_ERROR_ARGUMENT);
    if (!strstr(pl_context_error(w->ctx), what))
        fail_msg("\"%s\" does not say \"%s\"", pl_context_error(w->ctx), what);
    assert_int_equal(pl_scene_owner_count(w->scene, PL_OWNER_MUSCLE), before);
}

static void impossible_ones_are_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    bar(&w, PL_NEO_HOOKEAN, 1e5, 0);
    world_add(&w, pl_body_def_default(), world_cloth(ctx, 1, 1, 0.5, 0, 0, 5));
    const int list[] = {0, 5, 9}, twice[] = {0, 5, 0}, beyond[] = {0, 144, 1};
    const double ways[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, none[] = {1, 0, 0, 0, 0, 0, 0, 0, 1};
    const double nan_way[] = {1, NAN, 0}, far[] = {0, 0, 7, 1, 0, 7}, still[] = {0, 0, 0, 0, 0, 0};
    const double time[] = {0, 1}, most[] = {0.2, 1.5};
    pl_muscle_def good = pl_muscle_def_default(), bad;
    good.element_count = 3;
    good.elements = list;
    good.direction_count = 3;
    good.directions = ways;
    bad = good, bad.body = 2;
    refuse(&w, bad, "body = 2: the scene has 2 bodies");
    bad = good, bad.body = 1;
    refuse(&w, bad, "cloth");
    bad = good, bad.elements = beyond;
    refuse(&w, bad, "elements[1] = 144: body \"body0\" has 144 elements");
    bad = good, bad.elements = twice;
    refuse(&w, bad, "elements[2] = 0 comes twice");
    bad = good, bad.element_count = 0;
    refuse(&w, bad, "elements");
    bad = good, bad.directions = none;
    refuse(&w, bad, "directions[1] has length 0");
    bad = good, bad.direction_count = 1, bad.directions = nan_way;
    refuse(&w, bad, "directions[0][1] is not finite");
    bad = good, bad.direction_count = 2;
    refuse(&w, bad, "directions: 2 of them");
    bad = good, bad.direction_count = 0;
    refuse(&w, bad, "directions: expected one");
    bad = good, bad.elements = NULL;
    refuse(&w, bad, "directions: 3 of them");
    bad = good, bad.elements = NULL, bad.direction_count = 0, bad.point_count = 2, bad.path = far,
    bad.radius = 0.1;
    refuse(&w, bad, "from [0, 0, 0] to [0.3, 0.1, 0.1] m");
    bad.radius = 0;
    refuse(&w, bad, "radius = 0");
    bad.radius = NAN;
    refuse(&w, bad, "radius = nan");
    bad.radius = 0.1, bad.elements = list;
    refuse(&w, bad, "radius = 0.1: needs a path, and no elements");
    bad.elements = NULL, bad.point_count = 1;
    refuse(&w, bad, "path: one point");
    bad.point_count = 2, bad.path = still;
    refuse(&w, bad, "points 0 and 1 are the same");
    bad.path = nan_way, bad.point_count = 1;
    refuse(&w, bad, "path[0][1] is not finite");
    const double lines[] = {0, 0, 0, 0.1, 0, 0, 0.1, 0, 0, 0.2, NAN, 0};
    const int pairs[] = {2, 2}, single[] = {3, 1}, few[] = {2, 1}, many[] = {2, 3}, empty[] = {4, 0};
    bad = good, bad.elements = NULL, bad.direction_count = 0, bad.radius = 0.1;
    bad.point_count = 4, bad.path = lines, bad.path_count = 2, bad.path_sizes = pairs;
    refuse(&w, bad, "paths[1][1][1] is not finite");
    bad.path_sizes = single;
    refuse(&w, bad, "paths[0]: points 1 and 2 are the same");
    bad.point_count = 3, bad.path_sizes = few;
    refuse(&w, bad, "paths[1]: one point, expected two or more");
    bad.path_sizes = many;
    refuse(&w, bad, "paths[1]: 3 points, expected two or more, of 1 that are left");
    bad.path_sizes = NULL;
    refuse(&w, bad, "path_count = 2");
    bad.path_sizes = pairs, bad.path_count = 1;
    refuse(&w, bad, "path_sizes: 2 points in sum, but point_count = 3");
    bad.path_sizes = empty + 1, bad.path_count = 1;
    refuse(&w, bad, "paths[0]: 0 points");
    bad = good, bad.law = (pl_muscle_law)3;
    refuse(&w, bad, "law = 3");
    bad = good, bad.stiffness = 0;
    refuse(&w, bad, "muscle_stiffness = 0");
    bad = good, bad.stiffness = NAN;
    refuse(&w, bad, "muscle_stiffness");
    bad = good, bad.activation = 1;
    refuse(&w, bad, "activation = 1: expected >= -1e+15 and < 1");
    bad = good, bad.law = PL_MUSCLE_FORCE, bad.activation = -0.1;
    refuse(&w, bad, "activation = -0.1: expected >= 0 and < 1e+15");
    bad.activation = 1e300;
    refuse(&w, bad, "activation = 1e+300: expected >= 0 and < 1e+15");
    bad = good, bad.activation = NAN;
    refuse(&w, bad, "activation");
    bad = good, bad.table = (pl_table){2, time, most};
    refuse(&w, bad, "activation in the table = 1.5");
    assert_ok(ctx, pl_scene_add_muscle(w.scene, &good, NULL));
    world_start(&w);
    refuse(&w, good, "sim");
    world_free(&w);
    pl_context_destroy(ctx);
}

static const char scene_text[] =
    "{\"version\": 1, \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"arrays\": {"
    "\"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[1,1,1]], \"tets\": [[0,1,2,3],[1,4,2,3]],"
    "\"tet_groups\": {\"upper\": [1]}}}}], \"muscles\": [%s]}";

static void scene_files_have_them(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const struct {
        const char *muscle, *error;
        int elements;
    } cases[] = {
        {"{\"body\": \"bar\", \"elements\": [1, 0], \"direction\": [0, 0, 2]}", NULL, 2},
        {"{\"body\": 0, \"elements\": {\"group\": \"upper\"}, \"directions\": [[0, 1, 2]], \"law\": "
         "\"force\", \"stiffness\": 5, \"table\": [[0, 0.2], [1, 3]]}",
         NULL, 1},
        {"{\"body\": 0, \"elements\": {\"box\": [[0, 0, 0], [0.3, 0.3, 0.3]]}, \"direction\": [1, 0, "
         "0]}",
         NULL, 1},
        {"{\"body\": 0, \"path\": [[0, 0, 0], [1, 1, 1]], \"radius\": 9}", NULL, 2},
        {"{\"body\": 0, \"direction\": [1, 0, 0], \"activation\": 0.5}", NULL, 2},
        {"{\"body\": 0, \"paths\": [[[0, 0, 0], [0.5, 0, 0]], [[1, 1, 1], [1, 1, 0.9]]], \"radius\": "
         "0.8}",
         NULL, 2},
        {"{\"body\": 0, \"paths\": [[[0, 0, 0], [0.5, 0, 0]]], \"radius\": 0.4}", NULL, 1},
        {"{\"body\": 0, \"paths\": [[[0, 0, 0]]], \"radius\": 0.4}",
         "muscles[0].paths[0]: one point, expected two or more", 0},
        {"{\"body\": 0, \"paths\": [[0, 0, 0]], \"radius\": 0.4}", "muscles[0].paths[0][0]: expected",
         0},
        {"{\"body\": 0, \"paths\": [], \"radius\": 0.4}", "muscles[0].paths: expected at least one", 0},
        {"{\"body\": 0, \"path\": [], \"direction\": [1, 0, 0]}",
         "muscles[0].path: expected at least one", 0},
        {"{\"body\": 0, \"paths\": [[]], \"radius\": 0.4}", "muscles[0]", 0},
        {"{\"body\": 0, \"path\": [[0, 0, 0], [1, 0, 0]], \"paths\": [[[0, 0, 0], [1, 0, 0]]]}",
         "muscles[0]: expected \"path\" or \"paths\", got both", 0},
        {"{\"body\": 0}", "muscles[0]: directions: expected one", 0},
        {"{\"body\": 0, \"elements\": {\"group\": \"lower\"}, \"direction\": [1, 0, 0]}",
         "muscles[0].elements.group: the mesh of \"bar\" has no group of elements \"lower\"; it has "
         "\"upper\"",
         0},
        {"{\"body\": 0, \"elements\": {\"box\": [[5, 5, 5], [6, 6, 6]]}, \"direction\": [1, 0, 0]}",
         "no element of \"bar\" is there", 0},
        {"{\"body\": 0, \"elements\": [], \"direction\": [1, 0, 0]}", "expected elements of \"bar\"",
         0},
        {"{\"body\": 0, \"elements\": [2], \"direction\": [1, 0, 0]}", "elements[0] = 2", 0},
        {"{\"body\": 0, \"elements\": [0], \"direction\": [1, 0, 0], \"directions\": [[1, 0, 0]]}",
         "got both", 0},
        {"{\"body\": 0, \"direction\": [1, 0, 0], \"law\": \"tensing\"}", "did you mean \"tension\"",
         0},
        {"{\"body\": 0, \"direction\": [1, 0, 0], \"activation\": 1.5}",
         "muscles[0].activation: expected >= -1e+15 and < 1, got 1.5", 0},
        {"{\"body\": 0, \"path\": [[0, 0, 9], [1, 0, 9]], \"radius\": 0.1}", "from [0, 0, 0] to", 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[1024], *again = NULL;
        pl_scene *scene = NULL;
        pl_muscle_def def;
        snprintf(text, sizeof text, scene_text, cases[k].muscle);
        pl_status status =
            pl_scene_load_text(ctx, text, strlen(text), "s.json", NULL, 0, NULL, &scene, NULL);
        if (cases[k].error) {
            assert_int_not_equal(status, PL_OK);
            if (!strstr(pl_context_error(ctx), cases[k].error))
                fail_msg("\"%s\" does not say \"%s\"", pl_context_error(ctx), cases[k].error);
            continue;
        }
        assert_ok(ctx, status);
        assert_ok(ctx, pl_scene_muscle(scene, 0, &def));
        assert_int_equal(def.element_count, cases[k].elements);
        assert_ok(ctx, pl_scene_text(scene, NULL, &again));
        assert_non_null(strstr(again, "\"muscles\""));
        pl_free(ctx, again);
        pl_scene_destroy(scene);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_and_tangents_are_derivatives),
        cmocka_unit_test(clamped_tangents_are_positive),
        cmocka_unit_test(flat_elements_stay_finite),
        cmocka_unit_test(a_free_bar_shortens_as_it_should),
        cmocka_unit_test(a_bar_bends_to_its_active_side),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(gradients_at_the_edge_of_the_range),
        cmocka_unit_test(gradients_of_split_steps),
        cmocka_unit_test(every_solver_finds_the_same_motion),
        cmocka_unit_test(every_adjoint_finds_the_same_gradient),
        cmocka_unit_test(activations_are_inputs),
        cmocka_unit_test(paths_choose_elements_and_ways),
        cmocka_unit_test(one_muscle_follows_several_paths),
        cmocka_unit_test(impossible_ones_are_refused),
        cmocka_unit_test(scene_files_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
