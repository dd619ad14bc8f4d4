/* Every built-in body: counts, angles, symmetry, manifold boundary, groups. */
#include "test_shape_common.h"

static int compare_points(const void *a, const void *b)
{
    const double *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* The vertices are their own mirror image in y = 0, to the last bit. */
static void check_mirror(const pl_mesh *mesh)
{
    size_t n = (size_t)mesh->vertex_count;
    double *a = malloc(24 * n), *b = malloc(24 * n);
    for (size_t k = 0; k < 3 * n; k++) {
        a[k] = mesh->vertices[k] + 0.0; /* no negative zeros */
        b[k] = (k % 3 == 1 ? -mesh->vertices[k] : mesh->vertices[k]) + 0.0;
    }
    qsort(a, n, 24, compare_points);
    qsort(b, n, 24, compare_points);
    assert_memory_equal(a, b, 24 * n);
    free(a);
    free(b);
}

static void check_shape(pl_context *ctx, const pl_shape_info *info, int wanted)
{
    pl_mesh *mesh = NULL;
    pl_mesh_report report;
    assert_ok(ctx, pl_shape_build(ctx, info->name, wanted, &mesh));
    assert_ok(ctx, pl_mesh_check(ctx, mesh, &report));
    int expected = wanted > 0 ? wanted : info->vertices;
    if (abs(mesh->vertex_count - expected) > expected / 10)
        fail_msg("%s: %d vertices for %d", info->name, mesh->vertex_count, expected);
    assert_int_equal(info->cloth, mesh->tet_count == 0);
    assert_int_equal(report.components, 1);
    assert_int_equal(report.unreferenced + report.inverted + report.degenerate + report.duplicate, 0);
    double low = info->cloth ? 15 : 8, high = info->cloth ? 140 : 166;
    if (report.min_dihedral < low || report.max_dihedral > high)
        fail_msg("%s at %d: angles %g to %g", info->name, wanted, report.min_dihedral,
                 report.max_dihedral);
    check_mirror(mesh);
    int count, *triangles;
    assert_ok(ctx, pl_mesh_surface(ctx, mesh, &count, &triangles));
    check_manifold(mesh->vertex_count, count, triangles, info->cloth);
    pl_free(ctx, triangles);
    assert_true(mesh->group_count > 0);
    for (int g = 0; g < mesh->group_count; g++)
        assert_true(mesh->groups[g].count > 0 && mesh->groups[g].count < mesh->vertex_count * 8);
    assert_close(report.lower[2], 0, 1e-12);
    pl_mesh_free(ctx, mesh);
}

static void every_shape(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; pl_shape_list(k); k++) {
        check_shape(ctx, pl_shape_list(k), 0);
        check_shape(ctx, pl_shape_list(k), 700);
        check_shape(ctx, pl_shape_list(k), 3000);
    }
    pl_context_destroy(ctx);
}

/* The demonstration body stands on many coplanar vertices and keeps its ears when coarse. */
static void bunny_base(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const int wanted[] = {300, 500, 1000, 1500};
    for (int k = 0; k < 4; k++) {
        pl_mesh *mesh = NULL;
        pl_mesh_report report;
        assert_ok(ctx, pl_shape_build(ctx, "bunny", wanted[k], &mesh));
        assert_ok(ctx, pl_mesh_check(ctx, mesh, &report));
        assert_true(report.upper[2] > 0.5);
        const pl_group *feet = pl_mesh_find_group(mesh, "feet", PL_GROUP_VERTEX);
        assert_true(feet && feet->count > wanted[k] / 25);
        for (int i = 0; i < feet->count; i++)
            assert_close(mesh->vertices[3 * feet->index[i] + 2], 0, 1e-15);
        pl_mesh_free(ctx, mesh);
    }
    pl_context_destroy(ctx);
}

static void same_for_any_threads(void **state)
{
    (void)state;
    pl_mesh *mesh[2] = {NULL};
    pl_context *ctx[2] = {test_context(1), test_context(3)};
    for (int k = 0; k < 2; k++)
        assert_ok(ctx[k], pl_shape_build(ctx[k], "bunny", 800, &mesh[k]));
    assert_int_equal(mesh[0]->vertex_count, mesh[1]->vertex_count);
    assert_int_equal(mesh[0]->tet_count, mesh[1]->tet_count);
    assert_memory_equal(mesh[0]->vertices, mesh[1]->vertices, 24 * (size_t)mesh[0]->vertex_count);
    assert_memory_equal(mesh[0]->tets, mesh[1]->tets, 4 * sizeof(int) * (size_t)mesh[0]->tet_count);
    for (int k = 0; k < 2; k++) {
        pl_mesh_free(ctx[k], mesh[k]);
        pl_context_destroy(ctx[k]);
    }
}

static void refuses_unknown(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    assert_int_equal(pl_shape_build(ctx, "unicorn", 0, &mesh), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "\"unicorn\": expected one of armadillo, bunny, "));
    assert_int_equal(pl_shape_build(ctx, "bunny", 100000000, &mesh), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "600000000 elements are too many"));
    assert_int_equal(pl_shape_build(ctx, "bunny", -1, &mesh), PL_ERROR_ARGUMENT);
    assert_null(mesh);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),
        cmocka_unit_test(bunny_base),
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(refuses_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
