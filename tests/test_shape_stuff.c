/* Isosurface stuffing itself: the angle bound on any field, symmetry, cleaning. */
#include "test_shape_common.h"

#include "core/core.h"
#include "shape/clean.h"
#include "shape/field.h"
#include "shape/lattice.h"
#include "shape/quality.h"

typedef struct noise {
    double wave[30][4];
    bool mirror;
} noise;

/* A sum of waves in a ball: every way a surface can pass a lattice cell occurs. */
static double noise_distance(const void *user, const double x[3])
{
    const noise *n = user;
    double f = 0, y = n->mirror ? fabs(x[1]) : x[1];
    for (int k = 0; k < 30; k++)
        f += sin(6 * (n->wave[k][0] * x[0] + n->wave[k][1] * y + n->wave[k][2] * x[2]) +
                 9 * n->wave[k][3]);
    return fmax(f, 10 * (sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 0.9));
}

static noise make_noise(uint64_t seed, bool mirror)
{
    noise n = {.mirror = mirror};
    for (int k = 0; k < 120; k++)
        n.wave[k / 4][k % 4] = test_random(&seed);
    return n;
}

/* The paper's bound for its thresholds, 10.78 to 164.74 degrees, in 20 fields and on the mirror plane.
 */
static void angles_are_bounded(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int trial = 0; trial < 20; trial++) {
        noise n = make_noise((uint64_t)trial + 1, trial % 2);
        pl_field field = {.distance = noise_distance,
                          .user = &n,
                          .lower = {-0.91, -0.91, -0.91},
                          .upper = {0.91, 0.91, 0.91},
                          .mirror = n.mirror};
        pl_mesh *mesh = NULL;
        assert_ok(ctx, pl_stuff(ctx, &field, 0.07 + 0.013 * (trial / 2), &mesh));
        for (int t = 0; t < mesh->tet_count; t++) {
            double low, high;
            pl_tet_dihedral_range(mesh->vertices, mesh->tets + 4 * t, &low, &high);
            if (low < 10.78 || high > 164.74)
                fail_msg("trial %d: tet %d has angles %g to %g", trial, t, low, high);
        }
        pl_clean_report report;
        assert_ok(ctx, pl_clean(ctx, mesh, &(pl_pieces){.count = 1}, &report));
        check_solid(ctx, mesh, 1);
        assert_true(report.lost >= 0 && report.lost < 1);
        pl_mesh_free(ctx, mesh);
    }
    pl_context_destroy(ctx);
}

/* Vertices are on the surface or inside it, never outside. */
static double ball_distance(const void *user, const double x[3])
{
    (void)user;
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 1;
}

static void boundary_on_surface(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_field field = {.distance = ball_distance, .lower = {-1, -1, -1}, .upper = {1, 1, 1}};
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_stuff(ctx, &field, 0.17, &mesh));
    int count, *triangles;
    assert_ok(ctx, pl_mesh_surface(ctx, mesh, &count, &triangles));
    for (int k = 0; k < 3 * count; k++)
        assert_close(ball_distance(NULL, mesh->vertices + 3 * triangles[k]), 0, 1e-7);
    pl_free(ctx, triangles);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

/* Every edge has one slot, which its ends agree on. */
static void lattice_slots(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_field field = {.distance = ball_distance, .lower = {-1, -1, -1}, .upper = {1, 1.3, 1}};
    pl_lattice lattice;
    assert_ok(ctx, pl_lattice_create(ctx, &field, 0.4, &lattice));
    int *used = calloc((size_t)lattice.slot_count, sizeof *used);
    for (int p = 0; p < lattice.point_count; p++) {
        int half[3], slots[11], ends[11], near[14];
        pl_lattice_half(&lattice, p, half);
        assert_int_equal(pl_lattice_point(&lattice, half), p);
        int count = pl_lattice_owned(&lattice, p, slots, ends);
        for (int k = 0; k < count; k++) {
            assert_int_equal(used[slots[k]]++, 0);
            if (ends[k] < 0)
                continue;
            assert_int_equal(pl_lattice_slot(&lattice, p, ends[k]), slots[k]);
            assert_int_equal(pl_lattice_slot(&lattice, ends[k], p), slots[k]);
        }
        pl_lattice_neighbours(&lattice, p, near);
        for (int k = 0; k < 14; k++) {
            double x[3], y[3], d2 = 0;
            if (near[k] < 0)
                continue;
            pl_lattice_position(&lattice, p, x), pl_lattice_position(&lattice, near[k], y);
            for (int i = 0; i < 3; i++)
                d2 += (x[i] - y[i]) * (x[i] - y[i]);
            assert_close(d2, (k < 6 ? 1 : 0.75) * 0.16, 1e-12);
        }
    }
    free(used);
    pl_lattice_free(ctx, &lattice);
    pl_context_destroy(ctx);
}

/* Two cubes that touch in an edge, or in a vertex: the smaller side of the pinch goes. */
static void pinches_are_removed(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    /* Five tets around vertex 0 as a fan, and one more that meets them in vertex 0 only. */
    const double vertices[] = {0, 0, 0, 1,  0, 0, 0, 1,  0, 0, 0, 1,
                               1, 1, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1};
    const int tets[] = {0, 1, 2, 3, 1, 2, 3, 4, 0, 5, 7, 6};
    for (int extra = 0; extra < 2; extra++) {
        pl_mesh *mesh = NULL;
        pl_clean_report report;
        assert_ok(ctx, pl_mesh_create(ctx, 8, vertices, 2 + extra, tets, 0, NULL, &mesh));
        assert_ok(ctx, pl_clean(ctx, mesh, &(pl_pieces){.count = 1}, &report));
        assert_int_equal(report.pinched, extra);
        assert_int_equal(report.components, 1);
        assert_int_equal(report.dropped, 0);
        assert_int_equal(mesh->tet_count, 2);
        assert_int_equal(mesh->vertex_count, 5);
        pl_mesh_free(ctx, mesh);
    }
    pl_context_destroy(ctx);
}

static void dihedral_of_known_tets(void **state)
{
    (void)state;
    const double corner[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double regular[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    double low, high;
    pl_tet_dihedral_range(corner, (int[4]){0, 1, 2, 3}, &low, &high);
    assert_close(low, acos(1 / sqrt(3)) * 180 / M_PI, 1e-12);
    assert_close(high, 90, 1e-12);
    pl_tet_dihedral_range(regular, (int[4]){0, 2, 1, 3}, &low, &high);
    assert_close(low, acos(1.0 / 3) * 180 / M_PI, 1e-12);
    assert_close(high, low, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angles_are_bounded),     cmocka_unit_test(boundary_on_surface),
        cmocka_unit_test(lattice_slots),          cmocka_unit_test(pinches_are_removed),
        cmocka_unit_test(dihedral_of_known_tets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
