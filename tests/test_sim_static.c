/*
 * Statics: a bar's stretch against E and against the modulus that the projective reading makes of it,
 * the drape of a heavy strip, a strip rolled up by an end moment and one held along an arc.
 */
#include "common_scene.h"

#include "core/vec.h"
#include "sim/sim.h"

static const double LOAD = 1e-5;

/* Steps from rest until nothing moves by more than 1e-9 of `length`: each minimises the energy plus
 * inertia, which long steps make small. */
static void settle(test_world *w, const pl_inputs *inputs, double length)
{
    size_t bytes = 3 * (size_t)w->n * sizeof(double);
    for (int k = 0; k < 4000; k++) {
        double fastest = 0;
        memset(w->state->v, 0, bytes);
        assert_ok(w->ctx, pl_step(w->sim, w->state, inputs, NULL));
        for (int i = 0; i < 3 * w->n; i++)
            fastest = fmax(fastest, fabs(w->state->v[i]));
        if (fastest * w->sim->matter.values->def.time_step < 1e-9 * length)
            return;
    }
    fail_msg("no rest after 4000 steps");
}

/*
 * Stretch per unit length of a bar of E, nu under the nominal stress LOAD E along x. It is pulled at
 * both ends and held nowhere, so stress is uniform and linear tets are exact.
 */
static double stretch(pl_context *ctx, pl_material model, pl_reading reading, double poisson,
                      double *across)
{
    const double side = 0.05, young = 1e5;
    test_world w = world_new(ctx, world_def(0.5, 0, 0, 0));
    pl_body_def body = world_body(model, reading, young);
    body.poisson = poisson;
    pl_mesh *mesh = world_grid(ctx, 4, 2, 2, side, 0, 0, 0);
    double *rest = calloc(3 * (size_t)mesh->vertex_count, sizeof *rest);
    memcpy(rest, mesh->vertices, sizeof(double) * 3 * (size_t)mesh->vertex_count);
    /* A uniform stress pulls at each vertex with its share of the end's area, a third of each triangle.
     */
    double *pull = calloc(3 * (size_t)mesh->vertex_count, sizeof *pull);
    int count = 0, *triangles = NULL;
    assert_ok(ctx, pl_mesh_surface(ctx, mesh, &count, &triangles));
    for (int t = 0; t < count; t++)
        for (int end = 0; end < 2; end++) {
            const int *v = triangles + 3 * t;
            bool here = true;
            for (int k = 0; k < 3; k++)
                here = here && fabs(rest[3 * v[k]] - (end ? 3 * side : 0)) < 1e-9;
            for (int k = 0; here && k < 3; k++)
                pull[3 * v[k]] += (end ? 1 : -1) * LOAD * young * side * side / 6;
        }
    pl_free(ctx, triangles);
    world_add(&w, body, mesh);
    world_start(&w);
    pl_inputs inputs = {.of[PL_VERTEX_FORCE] = pull};
    for (int k = 0; k < 60; k++)
        assert_ok(ctx, pl_step(w.sim, w.state, &inputs, NULL));
    /* Lengths between the middles of opposite faces, as the bar may have turned. */
    double strain[2];
    for (int axis = 0; axis < 2; axis++) {
        double far = axis ? side : 3 * side, between[3] = {0};
        for (int i = 0; i < w.n; i++) {
            double x = rest[3 * i + axis];
            int sign = fabs(x) < 1e-9 ? -1 : fabs(x - far) < 1e-9 ? 1 : 0;
            pl_axpy3(sign / (axis ? 8.0 : 4.0), w.state->q + 3 * i, between);
        }
        strain[axis] = pl_norm3(between) / far - 1;
    }
    *across = strain[1];
    free(rest), free(pull);
    world_free(&w);
    return strain[0];
}

static void test_bar_stretch(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double poissons[] = {0, 0.3, 0.45};
    for (int model = PL_COROTATED; model <= PL_NEO_HOOKEAN; model++)
        for (int reading = PL_EXACT; reading <= PL_PROJECTIVE; reading++)
            for (int k = 0; k < 3; k++) {
                double nu = poissons[k], young = 1e5, across;
                double along = stretch(ctx, (pl_material)model, (pl_reading)reading, nu, &across);
                double mu = young / (2 * (1 + nu)), bulk3 = young / (1 - 2 * nu); /* 3K */
                if (reading == PL_PROJECTIVE) {
                    bulk3 = 2 * mu * bulk3 / (2 * mu + bulk3);
                    mu = mu / 2;
                }
                double felt = 3 * bulk3 * mu / (bulk3 + mu); /* 9K mu/(3K + mu) */
                double ratio = (bulk3 - 2 * mu) / (2 * (bulk3 + mu));
                /* Large strain shows in second order, some ten times LOAD; co-rotated is linear in
                 * sigma and as exact as the steps' tolerance. */
                double slack = model == PL_COROTATED ? 1e-7 : 2e-4;
                double want = LOAD * young / felt;
                if (!(fabs(along - want) <= slack * want) ||
                    !(fabs(across + ratio * want) <= slack * want))
                    fail_msg("model %d, reading %d, nu %g: stretch %.9g, expected %.9g; across %.9g, "
                             "expected %.9g",
                             model, reading, nu, along, want, across, -ratio * want);
            }
    pl_context_destroy(ctx);
}

/*
 * A strip of `cells` columns of squares, two across, along x from the clamp at x = 0 to its length. The
 * vertices of the first column are held. It bends from the middle of that on, which is the clamp: then
 * errors fall with the square of the cell.
 */
typedef struct strip {
    test_world w;
    double length, cell;
    int end[3], before[3]; /* the last two columns' vertices, in order across */
} strip;

static strip strip_new(pl_context *ctx, int cells, double length, double step, double gravity,
                       pl_body_def body)
{
    strip s = {.w = world_new(ctx, world_def(step, 0, 0, -gravity)),
               .length = length,
               .cell = length / (cells - 0.5)};
    pl_mesh *mesh = world_cloth(ctx, cells * s.cell, 2 * s.cell, s.cell, -0.5 * s.cell, 0, 0);
    int held[6], count = world_select(mesh, 0, -0.5 * s.cell, held);
    count += world_select(mesh, 0, 0.5 * s.cell, held + count);
    assert_int_equal(count, 6);
    assert_int_equal(world_select(mesh, 0, length, s.end), 3);
    assert_int_equal(world_select(mesh, 0, length - s.cell, s.before), 3);
    world_add(&s.w, body, mesh);
    world_pin(&s.w, 0, count, held, 1e-12);
    world_start(&s.w);
    return s;
}

/* Drop over overhang of a strip that hangs by its own weight, Gamma = rho_area g L^3/k_b. */
static double drop_over_reach(pl_context *ctx, double gamma, int cells)
{
    const double length = 0.2, area_density = 0.1, thickness = 1e-3;
    pl_body_def body = world_body(PL_COROTATED, PL_EXACT, 1);
    body.poisson = 0;
    body.thickness = thickness;
    body.density = area_density / thickness;
    body.bending = area_density * 9.81 * pow(length, 3) / gamma;
    body.young = 1e6 * body.bending / (length * length * thickness); /* next to inextensible */
    strip s = strip_new(ctx, cells, length, 0.2, 9.81, body);
    settle(&s.w, NULL, length);
    const double *tip = s.w.state->q + 3 * s.end[1];
    double ratio = -tip[2] / tip[0];
    world_free(&s.w);
    return ratio;
}

/* The values for an inextensible elastica. */
static void test_heavy_strip(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    /* Allowed at 20 cells. At Gamma = 100 the strip turns down within four cells of its clamp. */
    const double gammas[] = {1, 10, 20, 100}, table[] = {0.12456, 1.0668, 1.8639, 5.8881},
                 slack[] = {2e-3, 2e-3, 2e-3, 1.5e-2};
    for (int k = 0; k < 4; k++) {
        double f = drop_over_reach(ctx, gammas[k], 20);
        assert_close(f, table[k], slack[k] * table[k]);
    }
    pl_context_destroy(ctx);
}

/* A moment about -y as a couple on the last two columns, normal to the cells between them. */
static void apply_moment(const strip *s, double moment, double *force)
{
    const double *q = s->w.state->q, share[3] = {0.25, 0.5, 0.25};
    double d[3];
    pl_sub3(q + 3 * s->end[1], q + 3 * s->before[1], d);
    double f = moment / (d[0] * d[0] + d[2] * d[2]);
    for (int k = 0; k < 3; k++) {
        double *end = force + 3 * s->end[k], *before = force + 3 * s->before[k];
        end[0] = -f * d[2] * share[k], end[2] = f * d[0] * share[k];
        before[0] = -end[0], before[2] = -end[2];
    }
}

/* How far the tip of the cantilever is from its place on the circle that the moment makes of it, over
 * its length: L = 12, width 1, thickness 0.1, E = 1.2e6, nu = 0, a full turn at M = 50 pi/3. */
static double roll_up_error(pl_context *ctx, int cells, double turns)
{
    const double length = 12, young = 1.2e6, thickness = 0.1, rigidity = young * 1e-3 / 12;
    pl_body_def body = world_body(PL_COROTATED, PL_EXACT, young);
    body.poisson = 0;
    body.thickness = thickness;
    body.density = 10;
    body.bending = rigidity;
    strip s = strip_new(ctx, cells, length, 3, 0, body);
    double *force = calloc(3 * (size_t)s.w.n, sizeof *force), full = 50 * M_PI / 3;
    double width = 2 * s.cell;
    pl_inputs inputs = {.of[PL_VERTEX_FORCE] = force};
    const double *tip = s.w.state->q + 3 * s.end[1];
    const int parts = (int)(24 * turns + 0.5);
    for (int part = 1; part <= parts; part++) {
        double moved = INFINITY;
        for (int k = 0; k < 200 && moved > 1e-6 * length; k++) {
            double was[3] = {tip[0], tip[1], tip[2]};
            apply_moment(&s, full * width * turns * part / parts, force);
            memset(s.w.state->v, 0, 3 * (size_t)s.w.n * sizeof(double));
            assert_ok(ctx, pl_step(s.w.sim, s.w.state, &inputs, NULL));
            moved = world_distance(3, was, tip);
        }
    }
    double angle = 2 * M_PI * turns, x = length * sin(angle) / angle,
           z = length * (1 - cos(angle)) / angle;
    double error = hypot(tip[0] - x, tip[2] - z) / length;
    free(force);
    world_free(&s.w);
    return error;
}

static void test_roll_up(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double turns[] = {0.25, 0.5, 1}, allowed[] = {1e-3, 6e-3, 2e-2}; /* of 20 cells */
    for (int k = 0; k < 3; k++) {
        double coarse = roll_up_error(ctx, 10, turns[k]), fine = roll_up_error(ctx, 20, turns[k]);
        assert_true(fine < allowed[k] && fine < 0.26 * coarse);
    }
    pl_context_destroy(ctx);
}

/* A strip held at both ends in the direction of a circle's arc is that arc, with k_b kappa^2/2 of
 * energy per area: what end moments of k_b kappa do. */
static void test_bent_to_an_arc(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    enum { CELLS = 40 };
    const double length = 0.2, cell = length / CELLS, rigidity = 1e-4, angle = 3.5,
                 radius = length / angle;
    test_world w = world_new(ctx, world_def(0.5, 0, 0, 0));
    pl_body_def body = world_body(PL_COROTATED, PL_EXACT, 1e6);
    body.poisson = 0;
    body.bending = rigidity;
    pl_mesh *mesh = world_cloth(ctx, length, 2 * cell, cell, 0, 0, 0);
    int n = mesh->vertex_count, held[12], count = 0;
    double *arc = calloc(3 * (size_t)n, sizeof *arc), *start = calloc(3 * (size_t)n, sizeof *start);
    for (int i = 0; i < n; i++) {
        double t = mesh->vertices[3 * i] / radius, y = mesh->vertices[3 * i + 1];
        arc[3 * i] = radius * sin(t), arc[3 * i + 1] = y, arc[3 * i + 2] = radius * (1 - cos(t));
        memcpy(start + 3 * i, arc + 3 * i, 3 * sizeof(double));
        int column = i % (CELLS + 1);
        if (column < 2 || column > CELLS - 2)
            held[count++] = i;
        else
            start[3 * i + 2] += 0.1 * cell * sin(3.1 * i); /* off its place */
    }
    body.positions = start;
    world_add(&w, body, mesh);
    world_pin(&w, 0, count, held, 1e-12);
    world_start(&w);
    settle(&w, NULL, length);
    memset(w.state->v, 0, 3 * (size_t)n * sizeof(double));
    pl_step_info info = world_step(&w);
    /* Across the two ends the curvature is left out: half a cell's at each. */
    double want = 0.5 * rigidity / (radius * radius) * (length - cell) * 2 * cell;
    double turn = angle / CELLS;
    assert_close(info.energy_elastic, want, turn * turn / 6 * want);
    assert_close(world_distance(3 * n, w.state->q, arc), 0, turn * turn * length);
    free(arc), free(start);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bar_stretch),
        cmocka_unit_test(test_heavy_strip),
        cmocka_unit_test(test_roll_up),
        cmocka_unit_test(test_bent_to_an_arc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
