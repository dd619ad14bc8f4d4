/* The generators: exact or converging volume, good angles, closed surface, the size asked for. */
#include "common.h"

#define PI 3.14159265358979323846

/* A surface is closed when every directed edge comes once and its reverse once. Slow but plain. */
static void assert_closed(int count, const int *triangles)
{
    for (int e = 0; e < 3 * count; e++) {
        int a = triangles[e], b = triangles[e / 3 * 3 + (e + 1) % 3], same = 0, reverse = 0;
        for (int f = 0; f < 3 * count; f++) {
            int c = triangles[f], d = triangles[f / 3 * 3 + (f + 1) % 3];
            same += a == c && b == d;
            reverse += a == d && b == c;
        }
        assert_int_equal(same, 1);
        assert_int_equal(reverse, 1);
    }
}

/* (1/6) sum of x0.(x1 x x2): the volume inside, positive when the triangles face outward. */
static double enclosed(const pl_mesh *mesh, int count, const int *triangles)
{
    double sum = 0;
    for (int t = 0; t < count; t++) {
        const double *a = mesh->vertices + 3 * triangles[3 * t],
                     *b = mesh->vertices + 3 * triangles[3 * t + 1],
                     *c = mesh->vertices + 3 * triangles[3 * t + 2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

static double mean_edge(const pl_mesh *mesh)
{
    int width = mesh->tet_count > 0 ? 4 : 3,
        count = mesh->tet_count > 0 ? mesh->tet_count : mesh->triangle_count;
    const int *elements = mesh->tet_count > 0 ? mesh->tets : mesh->triangles;
    double sum = 0;
    int edges = 0;
    for (int e = 0; e < count; e++) {
        for (int i = 0; i < width; i++) {
            for (int j = 0; j < i; j++, edges++) {
                const double *a = mesh->vertices + 3 * elements[width * e + i];
                const double *b = mesh->vertices + 3 * elements[width * e + j];
                sum += sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
            }
        }
    }
    return sum / edges;
}

/* What every generator must give; the volume is compared by the caller. */
static pl_mesh_report check(pl_context *ctx, const pl_mesh *mesh, double cell, double angle)
{
    pl_mesh_report r;
    assert_ok(ctx, pl_mesh_check(ctx, mesh, &r));
    assert_int_equal(
        r.inverted + r.degenerate + r.duplicate + r.unreferenced + r.bad_index + r.non_finite, 0);
    assert_int_equal(r.components, 1);
    if (r.min_dihedral < angle || r.max_dihedral > 180 - angle)
        fail_msg("angles from %g to %g", r.min_dihedral, r.max_dihedral);
    /* A mean edge is longer than the cell by its share of diagonals, up to sqrt(3). */
    double ratio = mean_edge(mesh) / cell;
    if (ratio < 0.75 || ratio > 1.5)
        fail_msg("mean edge / cell = %g", ratio);
    int count, *surface;
    assert_ok(ctx, pl_mesh_surface(ctx, mesh, &count, &surface));
    if (mesh->tet_count > 0) {
        assert_closed(count, surface);
        assert_close(enclosed(mesh, count, surface), r.volume, 1e-13 * r.volume);
    }
    pl_free(ctx, surface);
    return r;
}

static void test_grid(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh;
    assert_ok(ctx, pl_mesh_grid(ctx, (const int[3]){3, 4, 5}, 0.02, PL_CUT_DIAGONAL, &mesh));
    pl_mesh_report r = check(ctx, mesh, 0.02, 45 - 1e-9);
    assert_int_equal(mesh->vertex_count, 60);
    assert_int_equal(mesh->tet_count, 6 * 2 * 3 * 4);
    assert_close(r.volume, 24 * 8e-6, 1e-18);
    for (int k = 0, v = 0; k < 5; k++) {
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < 3; i++, v++) { /* x runs fastest */
                assert_close(mesh->vertices[3 * v], 0.02 * i, 1e-17);
                assert_close(mesh->vertices[3 * v + 1], 0.02 * j, 1e-17);
                assert_close(mesh->vertices[3 * v + 2], 0.02 * k, 2e-17);
            }
        }
    }
    for (int t = 0; t < mesh->tet_count; t++) { /* every tet holds the diagonal of its cube */
        int lowest = mesh->vertex_count, highest = 0;
        for (int i = 0; i < 4; i++) {
            lowest = mesh->tets[4 * t + i] < lowest ? mesh->tets[4 * t + i] : lowest;
            highest = mesh->tets[4 * t + i] > highest ? mesh->tets[4 * t + i] : highest;
        }
        assert_int_equal(highest - lowest, 1 + 3 + 12);
    }
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

/* Five tets a cube, one of which is a third of it; mirrored in the planes between cubes. */
static void test_alternating_grid(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh;
    const int cells[3] = {4, 2, 2};
    assert_ok(ctx, pl_mesh_grid(ctx, (const int[3]){5, 3, 3}, 0.02, PL_CUT_ALTERNATING, &mesh));
    pl_mesh_report r = check(ctx, mesh, 0.02, 54);
    assert_int_equal(mesh->tet_count, 5 * 16);
    assert_close(r.volume, 16 * 8e-6, 1e-18);
    for (int axis = 0; axis < 3; axis++)
        for (int t = 0; t < mesh->tet_count; t++) {
            int mirrored[4], found = 0;
            for (int i = 0; i < 4; i++) {
                int v = mesh->tets[4 * t + i], at[3] = {v % 5, v / 5 % 3, v / 15};
                at[axis] = cells[axis] - at[axis];
                mirrored[i] = at[0] + 5 * (at[1] + 3 * at[2]);
            }
            for (int s = 0; s < mesh->tet_count; s++) {
                int same = 0;
                for (int k = 0; k < 16; k++)
                    same += mesh->tets[4 * s + k / 4] == mirrored[k % 4];
                found += same == 4;
            }
            assert_int_equal(found, 1);
        }
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void test_box_and_bar(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh;
    const double size[3] = {0.1 * 3, 0.2, 0.05};
    assert_ok(ctx, pl_mesh_box(ctx, size, 0.05, &mesh));
    pl_mesh_report r = check(ctx, mesh, 0.05, 45 - 1e-9);
    assert_int_equal(mesh->vertex_count, 7 * 5 * 2);
    assert_close(r.volume, size[0] * size[1] * size[2], 1e-17);
    assert_memory_equal(r.upper, size, sizeof size); /* exactly */
    pl_mesh_free(ctx, mesh);

    assert_ok(ctx, pl_mesh_bar(ctx, 0.7, 0.1, 0.3, 0.1, &mesh));
    r = check(ctx, mesh, 0.1, 45 - 1e-9);
    assert_close(r.volume, 0.7 * 0.1 * 0.3, 1e-16);
    const double lower[3] = {0, -0.05, -0.15}, upper[3] = {0.7, 0.05, 0.15};
    assert_memory_equal(r.lower, lower, sizeof lower);
    assert_memory_equal(r.upper, upper, sizeof upper);
    const pl_group *left = pl_mesh_find_group(mesh, "left", PL_GROUP_VERTEX);
    const pl_group *right = pl_mesh_find_group(mesh, "right", PL_GROUP_VERTEX);
    assert_true(left && right && left->count == 8 && right->count == 8);
    for (int i = 0; i < 8; i++) {
        assert_close(mesh->vertices[3 * left->index[i]], 0, 0);
        assert_close(mesh->vertices[3 * right->index[i]], 0.7, 0);
    }
    pl_mesh_free(ctx, mesh);

    /* 6 by 5 by 4 cells around 4 by 3 by 2; of the nodes 3 by 2 by 1 are in nobody's corner. */
    const double hollow[3] = {0.6, 0.5, 0.4};
    int surface_count, *surface = NULL;
    assert_ok(ctx, pl_mesh_hollow_box(ctx, hollow, 0.08, 0.1, &mesh));
    r = check(ctx, mesh, 0.1, 45 - 1e-9);
    assert_int_equal(mesh->vertex_count, 7 * 6 * 5 - 3 * 2 * 1);
    assert_int_equal(mesh->tet_count, 5 * (6 * 5 * 4 - 4 * 3 * 2));
    assert_close(r.volume, 0.6 * 0.5 * 0.4 - 0.4 * 0.3 * 0.2, 1e-15);
    assert_int_equal(r.unreferenced, 0);
    assert_memory_equal(r.upper, hollow, sizeof hollow);
    assert_ok(ctx, pl_mesh_surface(ctx, mesh, &surface_count, &surface));
    assert_int_equal(surface_count, 4 * (6 * 5 + 5 * 4 + 4 * 6) + 4 * (4 * 3 + 3 * 2 + 2 * 4));
    pl_free(ctx, surface);
    pl_mesh_free(ctx, mesh);

    /* A cell larger than the piece gives one cell. */
    assert_ok(ctx, pl_mesh_box(ctx, size, 10, &mesh));
    assert_int_equal(mesh->tet_count, 5);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

/* Inscribed shapes miss the round volume by O(cell^2): halving the cell divides the error by 4, to
 * within the next order. */
static void assert_second_order(const double error[2])
{
    if (!(error[0] > 0 && error[1] > 0 && error[0] / error[1] > 3.6 && error[0] / error[1] < 4.4))
        fail_msg("errors %g and %g", error[0], error[1]);
}

static void test_cylinder(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double error[2];
    for (int i = 0; i < 2; i++) {
        pl_mesh *mesh;
        double cell = 0.025 / (1 << i);
        assert_ok(ctx, pl_mesh_cylinder(ctx, 0.1, 0.15, cell, &mesh));
        pl_mesh_report r = check(ctx, mesh, cell, 30);
        error[i] = PI * 0.01 * 0.15 - r.volume;
        const pl_group *bottom = pl_mesh_find_group(mesh, "bottom", PL_GROUP_VERTEX);
        const pl_group *top = pl_mesh_find_group(mesh, "top", PL_GROUP_VERTEX);
        int disc = 1 + 3 * (4 << i) * ((4 << i) + 1);
        assert_true(bottom && top && bottom->count == disc && top->count == disc);
        for (int v = 0; v < disc; v++) {
            assert_close(mesh->vertices[3 * bottom->index[v] + 2], 0, 0);
            assert_close(mesh->vertices[3 * top->index[v] + 2], 0.15, 0);
        }
        pl_mesh_free(ctx, mesh);
    }
    assert_second_order(error);
    pl_context_destroy(ctx);
}

static void test_ellipsoid(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double error[2];
    for (int i = 0; i < 2; i++) {
        pl_mesh *mesh;
        double cell = 0.25 / (1 << i);
        assert_ok(ctx, pl_mesh_ellipsoid(ctx, (const double[3]){1, 1, 1}, cell, &mesh));
        pl_mesh_report r = check(ctx, mesh, cell, 35);
        error[i] = 4 * PI / 3 - r.volume;
        int count, *surface;
        assert_ok(ctx, pl_mesh_surface(ctx, mesh, &count, &surface));
        for (int k = 0; k < 3 * count; k++) { /* on the sphere */
            const double *x = mesh->vertices + 3 * surface[k];
            assert_close(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], 1, 1e-15);
        }
        pl_free(ctx, surface);
        pl_mesh_free(ctx, mesh);
    }
    assert_second_order(error);

    pl_mesh *mesh;
    const double radii[3] = {0.1, 0.2, 0.15};
    assert_ok(ctx, pl_mesh_ellipsoid(ctx, radii, 0.05, &mesh));
    pl_mesh_report r = check(ctx, mesh, 0.05, 20); /* stretched tets are flatter */
    assert_true(r.volume < 4 * PI / 3 * 0.1 * 0.2 * 0.15);
    double farthest = 0; /* (x/a)^2 + (y/b)^2 + (z/c)^2 */
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * v;
        farthest = fmax(farthest, pow(x[0] / 0.1, 2) + pow(x[1] / 0.2, 2) + pow(x[2] / 0.15, 2));
    }
    assert_close(farthest, 1, 1e-15);
    pl_mesh_free(ctx, mesh);
    assert_ok(ctx, pl_mesh_ellipsoid(ctx, radii, 10, &mesh));
    assert_int_equal(mesh->tet_count, 20);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void test_rectangle(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh;
    assert_ok(ctx, pl_mesh_rectangle(ctx, 0.7, 0.3, 0.1, &mesh));
    pl_mesh_report r = check(ctx, mesh, 0.1, 45 - 1e-9);
    assert_close(r.volume, 0.7 * 0.3, 1e-15);
    assert_int_equal(mesh->vertex_count, 8 * 4);
    assert_int_equal(mesh->triangle_count, 2 * 7 * 3);
    static const struct {
        const char *name;
        int count;
        double x, y; /* NAN = any */
    } groups[] = {{"left", 4, 0, NAN},     {"right", 4, 0.7, NAN},   {"bottom", 8, NAN, 0},
                  {"top", 8, NAN, 0.3},    {"corner00", 1, 0, 0},    {"corner10", 1, 0.7, 0},
                  {"corner01", 1, 0, 0.3}, {"corner11", 1, 0.7, 0.3}};
    assert_int_equal(mesh->group_count, 8);
    for (int g = 0; g < 8; g++) {
        const pl_group *group = pl_mesh_find_group(mesh, groups[g].name, PL_GROUP_VERTEX);
        assert_true(group && group->count == groups[g].count);
        for (int i = 0; i < group->count; i++) {
            const double *x = mesh->vertices + 3 * group->index[i];
            assert_true(isnan(groups[g].x) || x[0] == groups[g].x);
            assert_true(isnan(groups[g].y) || x[1] == groups[g].y);
            assert_true(x[2] == 0);
        }
    }
    for (int t = 0; t < mesh->triangle_count; t++) { /* facing +z */
        const double *a = mesh->vertices + 3 * mesh->triangles[3 * t],
                     *b = mesh->vertices + 3 * mesh->triangles[3 * t + 1],
                     *c = mesh->vertices + 3 * mesh->triangles[3 * t + 2];
        assert_true((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0);
    }
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void test_disc(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double error[2];
    for (int i = 0; i < 2; i++) {
        pl_mesh *mesh;
        double cell = 0.05 / (1 << i);
        assert_ok(ctx, pl_mesh_disc(ctx, 0.4, cell, &mesh));
        pl_mesh_report r = check(ctx, mesh, cell, 44);
        error[i] = PI * 0.16 - r.volume;
        const pl_group *rim = pl_mesh_find_group(mesh, "rim", PL_GROUP_VERTEX);
        assert_true(rim && rim->count == 6 * (8 << i));
        for (int k = 0; k < rim->count; k++)
            assert_close(
                hypot(mesh->vertices[3 * rim->index[k]], mesh->vertices[3 * rim->index[k] + 1]), 0.4,
                1e-16);
        pl_mesh_free(ctx, mesh);
    }
    assert_second_order(error);
    pl_context_destroy(ctx);
}

#define assert_refused(ctx, call, part)                                                                \
    do {                                                                                               \
        pl_mesh *refused_ = NULL;                                                                      \
        pl_mesh **out = &refused_;                                                                     \
        assert_int_equal((call), PL_ERROR_ARGUMENT);                                                   \
        assert_null(refused_);                                                                         \
        if (!strstr(pl_context_error(ctx), (part)))                                                    \
            fail_msg("\"%s\" lacks %s", pl_context_error(ctx), part);                                  \
    } while (0)

static void test_impossible_sizes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double good[3] = {1, 1, 1}, zero[3] = {1, 0, 1}, infinite[3] = {1, 1, INFINITY};
    assert_refused(ctx, pl_mesh_box(ctx, good, 0, out), "cell");
    assert_refused(ctx, pl_mesh_box(ctx, good, NAN, out), "cell");
    assert_refused(ctx, pl_mesh_box(ctx, good, 1e-5, out), "too many");
    assert_refused(ctx, pl_mesh_box(ctx, good, 1e-300, out), "too many");
    /* A slip of the pen, before any of it is made: so many. */
    assert_refused(ctx, pl_mesh_box(ctx, (const double[3]){100000, 0.2, 0.1}, 0.05, out),
                   "30000015 vertices and 80000000 elements");
    assert_refused(ctx, pl_mesh_rectangle(ctx, 3, 2, 1e-3, out), "12000000 elements");
    assert_refused(ctx, pl_mesh_hollow_box(ctx, good, 0.5, 0.1, out), "leave no hollow");
    assert_refused(ctx, pl_mesh_hollow_box(ctx, good, 0, 0.1, out), "wall");
    assert_refused(ctx, pl_mesh_hollow_box(ctx, zero, 0.2, 0.1, out), "size[1]");
    assert_refused(ctx, pl_mesh_box(ctx, zero, 0.1, out), "size[1]");
    assert_refused(ctx, pl_mesh_box(ctx, infinite, 0.1, out), "size[2]");
    assert_refused(ctx, pl_mesh_grid(ctx, (const int[3]){2, 1, 2}, 0.1, PL_CUT_DIAGONAL, out),
                   "nodes[1]");
    assert_refused(ctx, pl_mesh_grid(ctx, (const int[3]){2, 2, 2}, -0.1, PL_CUT_DIAGONAL, out),
                   "spacing");
    assert_refused(ctx, pl_mesh_grid(ctx, (const int[3]){100000, 100000, 2}, 0.1, PL_CUT_DIAGONAL, out),
                   "too many");
    assert_refused(ctx, pl_mesh_bar(ctx, -1, 1, 1, 0.1, out), "length");
    assert_refused(ctx, pl_mesh_cylinder(ctx, 1, -1, 0.1, out), "height");
    assert_refused(ctx, pl_mesh_cylinder(ctx, 1, 1, 1e-4, out), "too many");
    assert_refused(ctx, pl_mesh_ellipsoid(ctx, zero, 0.1, out), "radii[1]");
    assert_refused(ctx, pl_mesh_ellipsoid(ctx, good, 1e-4, out), "too many");
    assert_refused(ctx, pl_mesh_rectangle(ctx, 1, NAN, 0.1, out), "height");
    assert_refused(ctx, pl_mesh_rectangle(ctx, 1, 1, 1e-5, out), "too many");
    assert_refused(ctx, pl_mesh_disc(ctx, 0, 0.1, out), "radius");
    assert_refused(ctx, pl_mesh_disc(ctx, 1, 1e-5, out), "too many");
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),        cmocka_unit_test(test_alternating_grid),
        cmocka_unit_test(test_box_and_bar), cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_ellipsoid),   cmocka_unit_test(test_rectangle),
        cmocka_unit_test(test_disc),        cmocka_unit_test(test_impossible_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
