/*
 * Statics, reached by damped motion: a bar's stretch against E and against the modulus that the
 * projective reading makes of it, the drape of a heavy strip, the bending of a strip by end moments.
 */
#include "common_scene.h"

#include "core/vec.h"
#include "sim/sim.h"

static const double LOAD = 1e-5;

/* Steps until nothing moves faster than 1e-9 of `length` a step; with long steps implicit Euler is
 * Newton's method on the static problem. */
static void settle(test_world *w, double length)
{
    for (int k = 0; k < 4000; k++) {
        double fastest = 0;
        world_step(w);
        for (int i = 0; i < 3 * w->n; i++)
            fastest = fmax(fastest, fabs(w->state->v[i]));
        if (fastest * w->sim->scene->def.time_step < 1e-9 * length)
            return;
    }
    fail_msg("no rest after 4000 steps");
}

/*
 * Stretch per unit length of a bar of E, nu under the nominal stress LOAD E along x. It is pulled at
 * both ends and held nowhere, so stress is uniform and linear tets are exact.
 */
static double stretch(pl_context *ctx, pl_model model, pl_reading reading, double poisson,
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
    pl_inputs inputs = {.vertex_force = pull};
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
                double along = stretch(ctx, (pl_model)model, (pl_reading)reading, nu, &across);
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
 * A strip of squares, `rows` across, whose diagonals lean the other way in every other row. Energies of
 * hinges depend on how squares are split: split like this, bending along the strip has just the
 * rigidity k_b, while other patterns find softer shapes that are not cylinders.
 */
static pl_mesh *strip_mesh(pl_context *ctx, int cells, int rows, double cell, double left)
{
    int width = cells + 1, count = width * (rows + 1), at = 0;
    double *x = calloc(3 * (size_t)count, sizeof *x);
    int *triangles = calloc(6 * (size_t)(cells * rows), sizeof *triangles);
    pl_mesh *mesh = NULL;
    for (int i = 0; i < count; i++)
        x[3 * i] = left + cell * (i % width), x[3 * i + 1] = cell * (i / width);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cells; c++) {
            int a = r * width + c, b = a + 1, d = a + width, e = d + 1;
            int pairs[2][6] = {{a, b, e, a, e, d}, {a, b, d, b, e, d}};
            memcpy(triangles + at, pairs[r % 2], sizeof pairs[0]);
            at += 6;
        }
    assert_ok(ctx, pl_mesh_create(ctx, count, x, 0, NULL, 2 * cells * rows, triangles, &mesh));
    free(x), free(triangles);
    return mesh;
}

/* Drop over reach of a strip of `cells` that hangs from a level clamp by its own weight, for
 * Gamma = rho_area g L^3/D with D = k_b (nu = 0). */
static double drop_over_reach(pl_context *ctx, double gamma, int cells)
{
    const double length = 0.2, area_density = 0.1, thickness = 1e-3, cell = length / cells;
    test_world w = world_new(ctx, world_def(0.02, 0, 0, -9.81));
    pl_body_def body =
        world_body(PL_COROTATED, PL_EXACT, 1e6); /* E t L^2/D > 5e3: next to inextensible */
    body.poisson = 0;
    body.thickness = thickness;
    body.density = area_density / thickness;
    body.bending = area_density * 9.81 * pow(length, 3) / gamma;
    body.damping = 5;
    pl_mesh *mesh = strip_mesh(ctx, cells + 1, 2, cell, -cell); /* the cell before x = 0 is the clamp */
    int held[6], tip[3], count = world_select(mesh, 0, -cell, held);
    count += world_select(mesh, 0, 0, held + count);
    assert_int_equal(world_select(mesh, 0, length, tip), 3);
    world_add(&w, body, mesh);
    world_pin(&w, 0, count, held, 1e-9);
    world_start(&w);
    settle(&w, length);
    double ratio = -w.state->q[3 * tip[1] + 2] / w.state->q[3 * tip[1]];
    world_free(&w);
    return ratio;
}

/* The values for an inextensible elastica. A mesh's clamp gives way over half a cell, so the error is
 * of first order in the cell (8 % at 40 cells); extrapolated from three meshes half a percent is
 * allowed. */
static void test_heavy_strip(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double gammas[] = {1, 10}, table[] = {0.12456, 1.0668};
    for (int k = 0; k < 2; k++) {
        double f[3];
        for (int m = 0; m < 3; m++)
            f[m] = drop_over_reach(ctx, gammas[k], 10 << m);
        assert_true(f[0] > f[1] && f[1] > f[2] && f[2] > table[k]);
        assert_close((8 * f[2] - 6 * f[1] + f[0]) / 3, table[k], 5e-3 * table[k]);
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
    test_world w = world_new(ctx, world_def(0.05, 0, 0, 0));
    pl_body_def body = world_body(PL_COROTATED, PL_EXACT, 1e6);
    body.poisson = 0;
    body.bending = rigidity;
    body.damping = 5;
    pl_mesh *mesh = strip_mesh(ctx, CELLS, 2, cell, 0);
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
    world_pin(&w, 0, count, held, 1e-9);
    world_start(&w);
    settle(&w, length);
    pl_step_info info = world_step(&w);
    double want = 0.5 * rigidity / (radius * radius) * length * 2 * cell;
    /* The two end columns' outer hinges are missing: one cell of 40. */
    assert_close(info.energy_elastic, want * (CELLS - 1) / CELLS, 0.02 * want);
    for (int i = 0; i < n; i++)
        assert_close(
            pl_norm3((double[3]){w.state->q[3 * i] - arc[3 * i], w.state->q[3 * i + 1] - arc[3 * i + 1],
                                 w.state->q[3 * i + 2] - arc[3 * i + 2]}),
            0, 0.01 * length);
    free(arc), free(start);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bar_stretch),
        cmocka_unit_test(test_heavy_strip),
        cmocka_unit_test(test_bent_to_an_arc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
