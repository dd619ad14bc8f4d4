/* What muscles, cables and chambers share: fingers that bend as beams do, energy that stays, messages
 * that name the one to blame, and names. */
#include "terms_derivatives.h"

#include <pliant/io.h>

extern const pl_term pl_term_muscle, pl_term_chamber;

#define YOUNG 1e5

/* ------------------------------------------------------------------------------- beams */

#define LENGTH 0.4
#define HEIGHT 0.08

/* Which vertices of a bar along x have an x, and a y and z; `out` has room for all. */
static int vertices_at(const pl_mesh *mesh, double x, double y, double z, int *out)
{
    int count = 0;
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *p = mesh->vertices + 3 * (size_t)v;
        if (fabs(p[0] - x) < 1e-9 && (isnan(y) || fabs(p[1] - y) < 1e-9) &&
            (isnan(z) || fabs(p[2] - z) < 1e-9))
            out[count++] = v;
    }
    return count;
}

/* A bar of `cells` by `cells` cells across, held at x = 0, without Poisson's effect, which the wall
 * would hinder. */
static test_world finger(pl_context *ctx, int cells, pl_mesh **mesh)
{
    test_world w = world_new(ctx, world_def(100, 0, 0, 0));
    pl_body_def body = world_body(PL_COROTATED, PL_EXACT, YOUNG);
    double cell = HEIGHT / cells;
    body.poisson = 0;
    *mesh = world_grid(ctx, 5 * cells + 1, cells + 1, cells + 1, cell, 0, 0, 0);
    int *wall = malloc(sizeof *wall * (size_t)(*mesh)->vertex_count);
    int count = vertices_at(*mesh, 0, NAN, NAN, wall);
    world_add(&w, body, world_grid(ctx, 5 * cells + 1, cells + 1, cells + 1, cell, 0, 0, 0));
    world_pin(&w, 0, count, wall, 1e-12);
    free(wall);
    return w;
}

/* How far the middle of the free end has risen after it has come to rest, m. */
static double rise(test_world *w, const pl_mesh *mesh)
{
    int end;
    world_start(w);
    world_steps(w, 3);
    assert_int_equal(vertices_at(mesh, LENGTH, HEIGHT / 2, HEIGHT / 2, &end), 1);
    return w->state->q[3 * end + 2] - HEIGHT / 2;
}

/* The upper half pulls with the stress s: a moment of s H^3 / 8 per width against E H^3 / 12. */
static double muscle_rise(pl_context *ctx, int cells)
{
    const double stress = 1e-4 * YOUNG, way[3] = {1, 0, 0};
    pl_mesh *mesh;
    test_world w = finger(ctx, cells, &mesh);
    int *upper = malloc(sizeof *upper * (size_t)mesh->tet_count), count = 0;
    for (int e = 0; e < mesh->tet_count; e++) {
        double z = 0;
        for (int a = 0; a < 4; a++)
            z += mesh->vertices[3 * mesh->tets[4 * e + a] + 2] / 4;
        if (z > HEIGHT / 2)
            upper[count++] = e;
    }
    pl_muscle_def def = pl_muscle_def_default();
    def.element_count = count, def.elements = upper;
    def.direction_count = 1, def.directions = way;
    def.law = PL_MUSCLE_FORCE, def.stiffness = stress, def.activation = 1;
    assert_ok(ctx, pl_scene_add_muscle(w.scene, &def, NULL));
    double found = rise(&w, mesh), expected = 1.5 * stress / YOUNG / HEIGHT * LENGTH * LENGTH / 2;
    free(upper);
    pl_mesh_free(ctx, mesh);
    world_free(&w);
    return found / expected;
}

/* A cable along the middle of the top, drawn by its compliance alone: the moment is t H / 2. */
static double cable_rise(pl_context *ctx, int cells)
{
    pl_mesh *mesh;
    test_world w = finger(ctx, cells, &mesh);
    pl_point points[41] = {0};
    int count = 5 * cells + 1;
    for (int i = 0; i < count; i++) {
        points[i] = (pl_point){.count = 1, .weights = {1}};
        assert_int_equal(
            vertices_at(mesh, i * LENGTH / (count - 1), HEIGHT / 2, HEIGHT, points[i].vertices), 1);
    }
    pl_cable_def def = pl_cable_def_default();
    def.point_count = count, def.points = points;
    def.length = LENGTH * (1 - 1e-4), def.two_way = true;
    assert_ok(ctx, pl_scene_add_cable(w.scene, &def, NULL));
    double found = rise(&w, mesh), tension = w.state->live[0];
    double inertia = HEIGHT * HEIGHT * HEIGHT * HEIGHT / 12;
    double expected = tension * HEIGHT / 2 / (YOUNG * inertia) * LENGTH * LENGTH / 2;
    pl_mesh_free(ctx, mesh);
    world_free(&w);
    return found / expected;
}

/* Straight-sided tets are too stiff in bending by a part in proportion to the square of their size:
 * what two meshes leave of that is a percent. */
static void fingers_bend_as_beams_do(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double muscle[2], cable[2];
    for (int k = 0; k < 2; k++) {
        muscle[k] = muscle_rise(ctx, 4 << k);
        cable[k] = cable_rise(ctx, 4 << k);
    }
    for (int k = 0; k < 2; k++)
        assert_true(muscle[k] < 1 && cable[k] < 1);
    assert_close((4 * muscle[1] - muscle[0]) / 3, 1, 0.012);
    assert_close((4 * cable[1] - cable[0]) / 3, 1, 0.012);
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- energy */

typedef enum drive { MUSCLE, CABLE, CHAMBER, DRIVES } drive;

static test_world swinging(pl_context *ctx, drive by, double h)
{
    pl_scene_def scene = world_def(h, 0, 0, 0);
    const double size[3] = {0.2, 0.2, 0.2}, way[3] = {1, 0, 0};
    pl_mesh *mesh = NULL;
    scene.integrator = PL_BDF2;
    scene.contact_epsilon2 = 1e-15;
    test_world w = world_new(ctx, scene);
    if (by == CHAMBER)
        assert_ok(ctx, pl_mesh_hollow_box(ctx, size, 0.05, 0.05, &mesh));
    else
        mesh = world_grid(ctx, 5, 3, 3, 0.1, 0, 0, 0);
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG), mesh);
    if (by == MUSCLE) {
        pl_muscle_def def = pl_muscle_def_default();
        def.direction_count = 1, def.directions = way;
        def.law = PL_MUSCLE_SPRING, def.activation = 0.1;
        assert_ok(ctx, pl_scene_add_muscle(w.scene, &def, NULL));
    } else if (by == CABLE) {
        pl_cable_def def = pl_cable_def_default();
        const pl_point points[2] = {{.count = 1, .vertices = {0}, .weights = {1}},
                                    {.count = 1, .vertices = {4}, .weights = {1}}};
        def.point_count = 2, def.points = points;
        def.length = 0.38, def.compliance = 1e-3, def.two_way = true;
        assert_ok(ctx, pl_scene_add_cable(w.scene, &def, NULL));
    } else {
        pl_chamber_def def = pl_chamber_def_default();
        def.pressure = 0.05 * YOUNG;
        assert_ok(ctx, pl_scene_add_chamber(w.scene, &def, NULL));
    }
    world_start(&w);
    return w;
}

/* What the actuator of a state stores, J. */
static double stored(test_world *w, drive by)
{
    double sum, *scratch = calloc(3 * (size_t)w->n, sizeof *scratch);
    pl_substep s = term_substep(w, 1);
    if (by == CABLE) {
        double d[3];
        pl_sub3(w->state->q + 12, w->state->q, d);
        sum = (pl_norm3(d) - 0.38) * (pl_norm3(d) - 0.38) / (2 * 1e-3);
    } else {
        const pl_term *term = by == MUSCLE ? &pl_term_muscle : &pl_term_chamber;
        sum = term->energy(&s, w->state->q, 1, scratch);
    }
    free(scratch);
    return sum;
}

/* The largest change of all energy in 0.2 s, over the largest kinetic energy. */
static double drift(pl_context *ctx, drive by, double h)
{
    test_world w = swinging(ctx, by, h);
    double start = stored(&w, by), most = 0, swing = 0;
    for (int k = 0; k < (int)lround(0.2 / h); k++) {
        pl_step_info info = world_step(&w);
        double now = info.energy_kinetic + info.energy_elastic + stored(&w, by);
        most = fmax(most, fabs(now - start));
        swing = fmax(swing, info.energy_kinetic);
    }
    world_free(&w);
    return most / swing;
}

/* A scheme of second order loses little of it, and less the shorter its steps. */
static void energy_stays(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (drive by = MUSCLE; by < DRIVES; by++) {
        double e[3];
        for (int k = 0; k < 3; k++)
            e[k] = drift(ctx, by, (by == CHAMBER ? 5e-4 : 1e-3) / (1 << k));
        assert_true(e[2] < 0.02);
        assert_true(e[0] > 3 * e[1] && e[1] > 4 * e[2]);
    }
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- messages and names */

/* A bar or cube with two actuators of a kind, the second of which is asked too much. */
static test_world strained(pl_context *ctx, drive by, double much, int iterations)
{
    const double size[3] = {0.2, 0.2, 0.2}, way[3] = {1, 0, 0};
    const char *const names[2] = {"left", "right"};
    pl_scene_def scene = world_def(0.01, 0, 0, 0);
    scene.max_iterations = iterations;
    if (iterations == 1)
        scene.tolerance = 1e-16;
    test_world w = world_new(ctx, scene);
    for (int k = 0; k < (by == CHAMBER ? 2 : 1); k++) {
        pl_mesh *mesh = NULL;
        if (by == CHAMBER)
            assert_ok(ctx, pl_mesh_hollow_box(ctx, size, 0.05, 0.05, &mesh));
        else
            mesh = world_grid(ctx, 5, 3, 3, 0.1, 0, 0, 0);
        world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG), mesh);
    }
    for (int k = 0; k < 2; k++) {
        double share = k == 1 ? 1 : 0.01;
        if (by == MUSCLE) {
            pl_muscle_def def = pl_muscle_def_default();
            def.name = names[k];
            def.direction_count = 1, def.directions = way;
            def.law = PL_MUSCLE_FORCE, def.activation = share * much;
            assert_ok(ctx, pl_scene_add_muscle(w.scene, &def, NULL));
        } else if (by == CABLE) {
            pl_cable_def def = pl_cable_def_default();
            const pl_point points[3] = {{.count = 1, .vertices = {5 * k}, .weights = {1}},
                                        {.count = 1, .vertices = {5 * k + 2}, .weights = {1}},
                                        {.count = 1, .vertices = {5 * k + 4}, .weights = {1}}};
            def.name = names[k];
            def.point_count = 3, def.points = points;
            def.length = 0.4 * (1 - share * much), def.segments = true, def.two_way = true;
            def.compliance = 1e-10;
            assert_ok(ctx, pl_scene_add_cable(w.scene, &def, NULL));
        } else {
            pl_chamber_def def = pl_chamber_def_default();
            def.name = names[k];
            def.body = k;
            def.pressure = share * much * YOUNG;
            assert_ok(ctx, pl_scene_add_chamber(w.scene, &def, NULL));
        }
    }
    world_start(&w);
    return w;
}

/* The message of the first step that fails. */
static const char *failure(pl_context *ctx, drive by, double much, int iterations)
{
    test_world w = strained(ctx, by, much, iterations);
    pl_status status = PL_OK;
    for (int k = 0; k < 10 && status == PL_OK; k++)
        status = pl_step(w.sim, w.state, NULL, NULL);
    assert_int_equal(status, PL_ERROR_CONVERGENCE);
    world_free(&w);
    return pl_context_error(ctx);
}

/* Few iterations stand for what cannot be solved: muscles and cables are solved at any strength. */
static void failing_steps_name_the_actuator(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    assert_non_null(strstr(failure(ctx, MUSCLE, 30, 1),
                           "; muscle 1, \"right\", is active by 30 and pulls with 3e+06 Pa, 30 of "
                           "Young's modulus"));
    assert_non_null(strstr(failure(ctx, CABLE, 0.7, 1),
                           "; cable 1, \"right\", is drawn to 0.12 m, 0.3 of its length at the start"));
    assert_non_null(strstr(failure(ctx, CHAMBER, 1, 100),
                           "; chamber 1, \"right\", is under 1e+05 Pa, 1 of Young's modulus"));
    /* What is asked little is not blamed. */
    assert_null(strstr(failure(ctx, MUSCLE, 0.4, 1), "right"));
    assert_null(strstr(failure(ctx, CABLE, 0.04, 1), "right"));
    pl_context_destroy(ctx);
}

static void names_are_kept(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double way[3] = {1, 0, 0};
    char *text = NULL;
    pl_muscle_def def = pl_muscle_def_default(), asked;
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG), world_grid(ctx, 3, 3, 3, 0.1, 0, 0, 0));
    def.direction_count = 1, def.directions = way;
    assert_ok(ctx, pl_scene_add_muscle(w.scene, &def, NULL));
    assert_ok(ctx, pl_scene_muscle(w.scene, 0, &asked));
    assert_string_equal(asked.name, "muscle0");
    assert_ok(ctx, pl_scene_text(w.scene, NULL, &text));
    assert_null(strstr(text, "muscle0"));
    pl_free(ctx, text);
    def.name = "back";
    assert_ok(ctx, pl_scene_add_muscle(w.scene, &def, NULL));
    assert_ok(ctx, pl_scene_muscle(w.scene, 1, &asked));
    assert_string_equal(asked.name, "back");
    assert_int_equal(pl_scene_add_muscle(w.scene, &def, NULL), PL_ERROR_ARGUMENT);
    assert_string_equal(pl_context_error(ctx), "name: muscle 1 is named \"back\" already");
    assert_ok(ctx, pl_scene_muscle(w.scene, 1, &asked));
    assert_int_equal(pl_scene_muscle(w.scene, 2, &asked), PL_ERROR_ARGUMENT);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fingers_bend_as_beams_do),
        cmocka_unit_test(energy_stays),
        cmocka_unit_test(failing_steps_name_the_actuator),
        cmocka_unit_test(names_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
