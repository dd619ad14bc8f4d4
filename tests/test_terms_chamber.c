/* Chambers: what pressure does to their walls, derivatives alone and with friction, in every solver and
 * when steps are split, pressures that walls do not hold, and what is refused. */
#include "terms_chamber.h"

#include <pliant/io.h>

extern const pl_term pl_term_chamber;

/* ------------------------------------------------------------------------------- one by one */

static void forces_and_tangents_are_derivatives(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = cube_with(ctx, world_def(0.01, 0, 0, 0), 7, false, 3e3, (pl_table){0});
    int body = world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG), hollow(ctx, 0.3, 7));
    add_chamber(&w, body, false, -2e3, (pl_table){0});
    world_start(&w);
    pl_substep s = term_substep(&w, 0.01);
    double *q = term_shaken(&w, 0.01, 3);
    term_errors e = term_compare(&pl_term_chamber, &s, q, 0.05);
    if (!(e.force < 1e-8 && e.tangent < 1e-10 && e.multiply < 1e-14 && e.asymmetry == 0 &&
          e.net_force < 1e-15 && e.net_torque < 1e-14))
        fail_msg("force %.2g, tangent %.2g, product %.2g, asymmetry %.2g, net %.2g, %.2g", e.force,
                 e.tangent, e.multiply, e.asymmetry, e.net_force, e.net_torque);
    double *clamped = term_matrix(&pl_term_chamber, &s, q, true);
    for (int i = 0; i < 9 * w.n * w.n; i++)
        assert_true(clamped[i] == 0);
    free(q);
    free(clamped);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* At rest, a wall of 10 by 10 cm is pushed outwards by p times its area, the outer faces not at all. */
static void pressure_pushes_walls_outwards(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = cube_with(ctx, world_def(0.01, 0, 0, 0), 0, false, 3e3, (pl_table){0});
    world_start(&w);
    pl_substep s = term_substep(&w, 0.01);
    double *g = calloc(3 * (size_t)w.n, sizeof *g);
    assert_close(volume(&w, 0), 1e-3, 1e-16);
    assert_close(pl_term_chamber.energy(&s, w.state->q, -1, g), -3.0, 1e-12);
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++) {
            double push = 0;
            for (int i = 0; i < w.n; i++) {
                bool outer = false;
                for (int k = 0; k < 3; k++)
                    outer |= fabs(w.state->q[3 * i + k] - 0.1) > 0.06;
                if (outer)
                    assert_true(g[3 * i + axis] == 0);
                else if (fabs(w.state->q[3 * i + axis] - (side ? 0.15 : 0.05)) < 1e-9)
                    push += g[3 * i + axis];
            }
            assert_close(push, (side ? 1 : -1) * 3e3 * 0.01, 1e-11);
        }
    free(g);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* The shells k .. n of a ball: its tets but those that reach farther in than `inner` m. */
static pl_mesh *shell(pl_context *ctx, double outer, double inner, double cell)
{
    pl_mesh *ball = NULL, *made = NULL;
    int kept = 0, used = 0;
    assert_ok(ctx, pl_mesh_ellipsoid(ctx, (const double[3]){outer, outer, outer}, cell, &ball));
    int *number = malloc(sizeof *number * (size_t)ball->vertex_count);
    for (int v = 0; v < ball->vertex_count; v++) {
        number[v] = pl_norm3(ball->vertices + 3 * v) > inner - 1e-9 ? used : -1;
        if (number[v] >= 0)
            memmove(ball->vertices + 3 * used++, ball->vertices + 3 * v, 3 * sizeof(double));
    }
    for (int t = 0; t < ball->tet_count; t++) {
        bool inside = false;
        for (int k = 0; k < 4; k++)
            inside |= number[ball->tets[4 * t + k]] < 0;
        for (int k = 0; !inside && k < 4; k++)
            ball->tets[4 * kept + k] = number[ball->tets[4 * t + k]];
        kept += !inside;
    }
    assert_ok(ctx, pl_mesh_create(ctx, used, ball->vertices, kept, ball->tets, 0, NULL, &made));
    pl_mesh_free(ctx, ball);
    free(number);
    return made;
}

/* Lame: a thick spherical wall from a to b grows within by
 * u(a) = p a / (E (b^3 - a^3)) [(1 - 2 nu) a^3 + (1 + nu) b^3 / 2]. */
static void a_sphere_grows_as_lame_says(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double a = 0.05, b = 0.1, p = 1e2, a3 = a * a * a, b3 = b * b * b;
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
        test_world w = world_new(ctx, world_def(1, 0, 0, 0)); /* long steps: at rest in a few */
        pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG);
        def.poisson = 0;
        int body = world_add(&w, def, shell(ctx, b, a, fine ? 0.0125 : 0.025));
        add_chamber(&w, body, false, p, (pl_table){0});
        world_start(&w);
        double before = volume(&w, 0);
        world_steps(&w, 10);
        double grown = cbrt(volume(&w, 0) / before) - 1;
        error[fine] = fabs(grown / (p / (YOUNG * (b3 - a3)) * (a3 + b3 / 2)) - 1);
        world_free(&w);
    }
    if (!(error[1] < 0.06 && error[1] < error[0] / 3))
        fail_msg("off by %.3g, and by %.3g with half the cells", error[1], error[0]);
    pl_context_destroy(ctx);
}

/* Free in space: nothing but the walls moves, momentum stays 0; a vacuum draws them in. */
static void free_bodies_stay_where_they_are(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int sign = -1; sign <= 1; sign += 2) {
        test_world w = cube_with(ctx, world_def(0.01, 0, 0, 0), 0, false, sign * 5e3, (pl_table){0});
        world_start(&w);
        world_steps(&w, 10);
        double momentum[3] = {0}, fastest = 0;
        for (int i = 0; i < 3 * w.n; i++) {
            momentum[i % 3] += w.sim->matter.mass[i / 3] * w.state->v[i];
            fastest = fmax(fastest, w.sim->matter.mass[i / 3] * fabs(w.state->v[i]));
        }
        for (int k = 0; k < 3; k++)
            assert_true(fabs(momentum[k]) <= 1e-8 * fastest * w.n); /* tolerance of a step: 1e-10 m */
        assert_true(sign * (volume(&w, 0) / 1e-3 - 1) > 0.02);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* The surface of a cube of 20 cm, as cloth, with a vertex in the middle of each face. */
static pl_mesh *bag(pl_context *ctx)
{
    const double size[3] = {0.2, 0.2, 0.2};
    pl_mesh *box = NULL, *out = NULL;
    int count, *triangles = NULL, *number = NULL, used = 0;
    assert_ok(ctx, pl_mesh_box(ctx, size, 0.1, &box));
    assert_ok(ctx, pl_mesh_surface(ctx, box, &count, &triangles));
    number = calloc((size_t)box->vertex_count, sizeof *number);
    for (int v = 0; v < box->vertex_count; v++) { /* all but the one in the middle */
        number[v] = used;
        bool middle = fabs(box->vertices[3 * v] - 0.1) < 0.01 &&
                      fabs(box->vertices[3 * v + 1] - 0.1) < 0.01 &&
                      fabs(box->vertices[3 * v + 2] - 0.1) < 0.01;
        if (!middle)
            memmove(box->vertices + 3 * used++, box->vertices + 3 * v, 3 * sizeof(double));
    }
    for (int i = 0; i < 3 * count; i++)
        triangles[i] = number[triangles[i]];
    assert_ok(ctx, pl_mesh_create(ctx, used, box->vertices, 0, NULL, count, triangles, &out));
    pl_mesh_free(ctx, box);
    pl_free(ctx, triangles);
    free(number);
    return out;
}

/* Closed cloth is a balloon. */
static void cloth_is_inflated(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG);
    def.damping = 10;
    int body = world_add(&w, def, bag(ctx));
    add_chamber(&w, body, false, 50, (pl_table){0});
    world_start(&w);
    assert_close(volume(&w, 0), 8e-3, 1e-15);
    world_steps(&w, 20);
    assert_true(volume(&w, 0) > 9e-3);
    term_check(&w, PL_BIT(PL_PRESSURE), 5, 1e-6, "cloth");
    world_free(&w);
    pl_context_destroy(ctx);
}

/* One whose lid goes down into it is a chamber, until it goes through the bottom. */
static void one_that_crosses_itself_is_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 2; k++) {
        test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
        pl_mesh *mesh = bag(ctx);
        for (int v = 0; v < mesh->vertex_count; v++) {
            double *x = mesh->vertices + 3 * v;
            if (fabs(x[0] - 0.1) < 0.01 && fabs(x[1] - 0.1) < 0.01 && x[2] > 0.19)
                x[2] = k == 0 ? 0.01 : -0.01;
        }
        int body = world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG), mesh);
        pl_chamber_def def = pl_chamber_def_default();
        def.body = body;
        assert_int_equal(pl_scene_add_chamber(w.scene, &def, NULL), k == 0 ? PL_OK : PL_ERROR_ARGUMENT);
        if (k == 1)
            assert_non_null(
                strstr(pl_context_error(ctx), "the cavity crosses itself at rest: triangle ["));
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- together */

/* Blown up and drawn in. */
static const chamber_kind kind = {false, {0, 8e3, -3e3}, 2.5e4};

static void gradients_agree_with_differences(void **state)
{
    (void)state;
    check_gradients(&kind);
}

/* Without pressure differences are of a moderate one. */
static void gradients_without_pressure(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = cube_with(ctx, world_def(0.01, 0, 0, 0), 0, false, 0, (pl_table){0});
    world_start(&w);
    term_check(&w, PL_BIT(PL_PRESSURE), 5, 1e-6, "no pressure");
    world_free(&w);
    pl_context_destroy(ctx);
}

static void gradients_of_split_steps(void **state)
{
    (void)state;
    check_split_gradients(&kind);
}

static void every_solver_finds_the_same_motion(void **state)
{
    (void)state;
    check_solvers(&kind);
}

static void every_adjoint_finds_the_same_gradient(void **state)
{
    (void)state;
    check_adjoints(&kind);
}

/* More than walls hold: a step is solved or says that it is not, and leaves the state as it was. */
static void overpressure_is_solved_or_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double pressures[] = {0.2, 0.4, 0.6, 1, 3, 30, -0.5, -3};
    for (size_t k = 0; k < sizeof pressures / sizeof *pressures; k++)
        for (int long_steps = 0; long_steps < 2; long_steps++) {
            test_world w = cube_with(ctx, world_def(long_steps ? 0.1 : 0.01, 0, 0, 0), 0, false,
                                     pressures[k] * YOUNG, (pl_table){0});
            world_start(&w);
            pl_status status = PL_OK;
            for (int step = 0; step < 10 && status == PL_OK; step++)
                status = pl_step(w.sim, w.state, NULL, NULL);
            for (int i = 0; i < 3 * w.n; i++)
                assert_true(isfinite(w.state->q[i]) && isfinite(w.state->v[i]));
            if (status != PL_OK) {
                assert_true(status == PL_ERROR_CONVERGENCE || status == PL_ERROR_NUMERIC);
                assert_non_null(strstr(pl_context_error(ctx), "step"));
                assert_non_null(strstr(pl_context_error(ctx), "chamber 0, \"chamber0\", is under"));
            }
            assert_true(status == PL_OK || fabs(pressures[k]) > 0.3);
            world_free(&w);
        }
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- interfaces */

static void pressures_are_inputs(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world told = thrown(ctx, &kind, PL_SOLVER_AUTO), own = thrown(ctx, &kind, PL_SOLVER_AUTO);
    double p = 8e3 / 5;
    pl_inputs inputs = {.of[PL_PRESSURE] = &p};
    assert_true(own.state->input[PL_PRESSURE][0] == 0);
    world_step(&own);
    assert_ok(ctx, pl_step(told.sim, told.state, &inputs, NULL));
    assert_true(world_distance(3 * own.n, told.state->q, own.state->q) < 1e-12);
    assert_true(told.state->input[PL_PRESSURE][0] == p);
    p = INFINITY;
    assert_int_equal(pl_step(told.sim, told.state, &inputs, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "inputs.pressure[0][0] is not finite"));
    world_free(&told);
    world_free(&own);
    pl_context_destroy(ctx);
}

/* Two cubes as one body, the second shifted by 0.3 m along x. */
static pl_mesh *twins(pl_context *ctx)
{
    pl_mesh *one = hollow(ctx, 0, 0), *both = NULL;
    int n = one->vertex_count, m = one->tet_count;
    double *x = malloc(sizeof *x * 6 * (size_t)n);
    int *tets = malloc(sizeof *tets * 8 * (size_t)m);
    for (int i = 0; i < 6 * n; i++)
        x[i] = one->vertices[i % (3 * n)] + (i >= 3 * n && i % 3 == 0 ? 0.3 : 0);
    for (int i = 0; i < 8 * m; i++)
        tets[i] = one->tets[i % (4 * m)] + (i >= 4 * m ? n : 0);
    assert_ok(ctx, pl_mesh_create(ctx, 2 * n, x, 2 * m, tets, 0, NULL, &both));
    pl_mesh_free(ctx, one);
    free(x);
    free(tets);
    return both;
}

static void cavities_are_found(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    int body = world_add(&w, pl_body_def_default(), twins(ctx));
    int half = w.scene->vertex_count / 2;
    const double first[3] = {0.1, 0.08, 0.13}, second[3] = {0.36, 0.1, 0.1};
    const struct {
        const double *inside;
        int cavity, expected;
    } cases[] = {{NULL, 0, 0}, {NULL, 1, 1}, {second, 0, 1}, {first, 1, 0}};
    pl_chamber_def told;
    for (int k = 0; k < 4; k++) {
        pl_chamber_def def = pl_chamber_def_default();
        def.body = body;
        def.inside = cases[k].inside;
        def.cavity = cases[k].cavity;
        assert_ok(ctx, pl_scene_add_chamber(w.scene, &def, NULL));
        assert_ok(ctx, pl_scene_chamber(w.scene, k, &told));
        assert_int_equal(told.triangle_count, 6 * 2 * 4);
        for (int i = 0; i < 3 * told.triangle_count; i++)
            assert_int_equal(told.triangles[i] >= half, cases[k].expected);
    }
    /* The list, either way around, is the same chamber. */
    int *list = malloc(sizeof *list * 3 * (size_t)told.triangle_count);
    memcpy(list, told.triangles, sizeof *list * 3 * (size_t)told.triangle_count);
    for (int turned = 0; turned < 2; turned++) {
        pl_chamber_def def = told, again;
        def.name = NULL;
        def.triangles = list;
        for (int t = 0; turned && t < told.triangle_count; t++) {
            int v = list[3 * t + 1];
            list[3 * t + 1] = list[3 * t + 2];
            list[3 * t + 2] = v;
        }
        assert_ok(ctx, pl_scene_add_chamber(w.scene, &def, NULL));
        assert_ok(ctx, pl_scene_chamber(w.scene, 3, &told));
        assert_ok(ctx, pl_scene_chamber(w.scene, 4 + turned, &again));
        assert_memory_equal(told.triangles, again.triangles,
                            sizeof *list * 3 * (size_t)told.triangle_count);
    }
    world_start(&w);
    assert_close(volume(&w, 5), 1e-3, 1e-15);
    assert_int_equal(pl_chamber_volume(w.scene, 6, w.state->q, &(double){0}), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "chamber = 6: the scene has 6 chambers"));
    assert_int_equal(pl_scene_chamber(w.scene, -1, &told), PL_ERROR_ARGUMENT);
    free(list);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void refuse(test_world *w, pl_chamber_def def, const char *what)
{
    int before = pl_scene_owner_count(w->scene, PL_OWNER_CHAMBER);
    assert_int_equal(pl_scene_add_chamber(w->scene, &def, NULL), PL_ERROR_ARGUMENT);
    if (!strstr(pl_context_error(w->ctx), what))
        fail_msg("\"%s\" does not say \"%s\"", pl_context_error(w->ctx), what);
    assert_int_equal(pl_scene_owner_count(w->scene, PL_OWNER_CHAMBER), before);
}

static void impossible_ones_are_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    world_add(&w, pl_body_def_default(), twins(ctx));
    world_add(&w, pl_body_def_default(), world_grid(ctx, 3, 3, 3, 0.1, 5, 0, 0));
    world_add(&w, pl_body_def_default(), world_cloth(ctx, 1, 1, 0.5, 0, 0, 5));
    const pl_mesh *mesh = w.scene->bodies[0].mesh;
    const double wall[3] = {0.02, 0.1, 0.1}, nowhere[3] = {NAN, 0, 0};
    int surface_count, *surface = NULL, list[3 * 100], count = 0;
    assert_ok(ctx, pl_mesh_surface(ctx, mesh, &surface_count, &surface));
    pl_chamber_def good = pl_chamber_def_default(), bad, told;
    bad = good, bad.body = 3;
    refuse(&w, bad, "body = 3: the scene has 3 bodies");
    bad = good, bad.body = 1;
    refuse(&w, bad, "cavity = 0: body \"body1\" has 0 cavities");
    bad = good, bad.body = 2;
    refuse(&w, bad, "cavities"); /* flat: it encloses nothing */
    bad = good, bad.cavity = 2;
    refuse(&w, bad, "cavity = 2: body \"body0\" has 2 cavities");
    bad = good, bad.cavity = -1;
    refuse(&w, bad, "cavity = -1");
    bad = good, bad.inside = wall;
    refuse(&w, bad, "inside = [0.02, 0.1, 0.1]: not in a cavity of \"body0\" at rest, which has 2");
    bad = good, bad.inside = nowhere;
    refuse(&w, bad, "inside[0] is not finite");
    bad = good, bad.pressure = NAN;
    refuse(&w, bad, "pressure");
    bad.pressure = -1e300;
    refuse(&w, bad, "pressure = -1e+300: expected >= -1e+15 and < 1e+15");
    assert_ok(ctx, pl_scene_add_chamber(w.scene, &good, NULL));
    assert_ok(ctx, pl_scene_chamber(w.scene, 0, &told));
    memcpy(list, told.triangles, sizeof *list * 3 * (size_t)told.triangle_count);
    good = told, good.triangles = list;
    bad = good, bad.triangle_count = 0;
    refuse(&w, bad, "triangles: expected at least one");
    bad = good, bad.triangle_count--;
    refuse(&w, bad, "the surface is not closed");
    bad = good, bad.inside = wall;
    refuse(&w, bad, "got both");
    int kept = list[1];
    list[1] = list[2], list[2] = kept;
    refuse(&w, good, "turned differently");
    kept = list[0], list[0] = mesh->vertex_count;
    refuse(&w, good, "triangles[0] names a vertex twice, or one that");
    list[0] = kept;
    /* A tet's four faces are closed, and not all on the boundary. */
    const int *tet = mesh->tets, faces[12] = {tet[1], tet[2], tet[3], tet[0], tet[3], tet[2],
                                              tet[0], tet[1], tet[3], tet[0], tet[2], tet[1]};
    bad = good, bad.triangles = faces, bad.triangle_count = 4;
    refuse(&w, bad, "is not on the boundary of \"body0\"");
    /* The outside of the first cube. */
    int *outside = malloc(sizeof *outside * 3 * (size_t)surface_count);
    for (int t = 0; t < surface_count; t++) {
        bool outer = true;
        for (int k = 0; k < 3; k++) {
            const double *x = mesh->vertices + 3 * surface[3 * t + k];
            outer &=
                x[0] < 0.25 && fmax(fmax(fabs(x[0] - 0.1), fabs(x[1] - 0.1)), fabs(x[2] - 0.1)) > 0.09;
        }
        if (outer)
            memcpy(outside + 3 * count++, surface + 3 * t, 3 * sizeof *outside);
    }
    bad = good, bad.triangles = outside, bad.triangle_count = count;
    refuse(&w, bad, "they surround \"body0\" from outside, not a cavity of it");
    world_start(&w);
    refuse(&w, told, "sim");
    pl_free(ctx, surface);
    free(outside);
    world_free(&w);
    pl_context_destroy(ctx);
}

static const char scene_text[] = "{\"version\": 1, \"bodies\": [{\"name\": \"cube\", \"mesh\": "
                                 "{\"hollow_box\": {\"size\": [0.3, 0.3, "
                                 "0.4], \"wall\": 0.1, \"cell\": 0.1}}}], \"chambers\": [%s]}";

static void scene_files_have_them(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const struct {
        const char *chamber, *error;
    } cases[] = {
        {"{\"body\": \"cube\", \"pressure\": 100}", NULL},
        {"{\"body\": 0, \"cavity\": 0, \"table\": [[0, 0], [1, -5]]}", NULL},
        {"{\"body\": 0, \"inside\": [0.15, 0.15, 0.2]}", NULL},
        {"{\"body\": 0, \"inside\": [0.05, 0.15, 0.2]}",
         "chambers[0].inside: inside = [0.05, 0.15, 0.2]: not in a cavity"},
        {"{\"body\": 0, \"cavity\": 1}", "cavity = 1: body \"cube\" has 1 cavities"},
        {"{\"body\": 0, \"cavity\": 0, \"inside\": [0, 0, 0]}", "got 2"},
        {"{\"body\": 0, \"triangles\": []}", "triangles: expected at least one"},
        {"{\"body\": 0, \"triangles\": [[0, 1, 2]]}", "not closed"},
        {"{\"body\": 0, \"triangles\": [[0, 1]]}", "chambers[0].triangles[0]"},
        {"{\"body\": 0, \"group\": \"lung\"}",
         "chambers[0].group: the mesh of \"cube\" has no group of triangles \"lung\"; it has none"},
        {"{\"body\": 0, \"pressure\": \"much\"}", "chambers[0].pressure: expected a number"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[1024], *again = NULL;
        pl_scene *scene = NULL, *twin = NULL;
        snprintf(text, sizeof text, scene_text, cases[k].chamber);
        pl_status status =
            pl_scene_load_text(ctx, text, strlen(text), "s.json", NULL, 0, NULL, &scene, NULL);
        if (cases[k].error) {
            assert_int_not_equal(status, PL_OK);
            if (!strstr(pl_context_error(ctx), cases[k].error))
                fail_msg("\"%s\" does not say \"%s\"", pl_context_error(ctx), cases[k].error);
            continue;
        }
        assert_ok(ctx, status);
        pl_chamber_def def, other;
        assert_ok(ctx, pl_scene_chamber(scene, 0, &def));
        assert_int_equal(def.triangle_count, 2 * (2 + 4 * 2));
        assert_ok(ctx, pl_scene_text(scene, NULL, &again));
        assert_ok(ctx, pl_scene_load_text(ctx, again, strlen(again), "t", NULL, 0, NULL, &twin, NULL));
        assert_ok(ctx, pl_scene_chamber(twin, 0, &other));
        assert_memory_equal(def.triangles, other.triangles,
                            sizeof(int) * 3 * (size_t)def.triangle_count);
        assert_true(def.pressure == other.pressure && def.table.count == other.table.count);
        pl_free(ctx, again);
        pl_scene_destroy(twin);
        pl_scene_destroy(scene);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_and_tangents_are_derivatives),
        cmocka_unit_test(pressure_pushes_walls_outwards),
        cmocka_unit_test(a_sphere_grows_as_lame_says),
        cmocka_unit_test(free_bodies_stay_where_they_are),
        cmocka_unit_test(cloth_is_inflated),
        cmocka_unit_test(one_that_crosses_itself_is_refused),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(gradients_without_pressure),
        cmocka_unit_test(gradients_of_split_steps),
        cmocka_unit_test(every_solver_finds_the_same_motion),
        cmocka_unit_test(every_adjoint_finds_the_same_gradient),
        cmocka_unit_test(overpressure_is_solved_or_refused),
        cmocka_unit_test(pressures_are_inputs),
        cmocka_unit_test(cavities_are_found),
        cmocka_unit_test(impossible_ones_are_refused),
        cmocka_unit_test(scene_files_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
