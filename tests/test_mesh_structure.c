/* Making, copying, grouping, placing and checking meshes; the surface of solids. */
#include "common_mesh.h"

/* Two tets on one face, the second below; vertex 5 belongs to nothing. */
static const double vertices[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 5, 5, 5};
static const int tets[8] = {0, 1, 2, 3, 0, 2, 1, 4};

static void test_create_and_copy(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL, *copy = NULL;
    assert_ok(ctx, pl_mesh_create(ctx, 6, vertices, 2, tets, 0, NULL, &mesh));
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "tip", PL_GROUP_VERTEX, 3, (const int[3]){4, 0, 3}));
    assert_ok(ctx, pl_mesh_copy(ctx, mesh, &copy));
    pl_mesh_free(ctx, mesh);
    assert_memory_equal(copy->vertices, vertices, sizeof vertices);
    assert_memory_equal(copy->tets, tets, sizeof tets);
    const pl_group *tip = pl_mesh_find_group(copy, "tip", PL_GROUP_VERTEX);
    const int sorted[3] = {0, 3, 4};
    assert_true(tip && tip->count == 3);
    assert_memory_equal(tip->index, sorted, sizeof sorted);
    pl_mesh_free(ctx, copy);
    pl_mesh_free(ctx, NULL);

    mesh = NULL;
    assert_int_equal(pl_mesh_create(ctx, -1, vertices, 0, NULL, 0, NULL, &mesh), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_mesh_create(ctx, 6, vertices, 2, NULL, 0, NULL, &mesh), PL_ERROR_ARGUMENT);
    assert_null(mesh);
    assert_ok(ctx, pl_mesh_create(ctx, 0, NULL, 0, NULL, 0, NULL, &mesh));
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void test_groups(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    const int index[2] = {1, 0}, out_of_range[2] = {0, 2}, twice[2] = {1, 1};
    assert_ok(ctx, pl_mesh_create(ctx, 6, vertices, 2, tets, 0, NULL, &mesh));
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "a", PL_GROUP_TET, 2, index));
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "a", PL_GROUP_VERTEX, 0, NULL)); /* another kind */
    assert_null(pl_mesh_find_group(mesh, "a", PL_GROUP_TRIANGLE));
    assert_null(pl_mesh_find_group(mesh, "b", PL_GROUP_TET));
    static const char *const names[] = {"a", "b", "c", "", NULL, "d"};
    const int *indices[] = {index, out_of_range, twice, index, index, NULL};
    static const char *const parts[] = {"of that name", "index 2", "index 1 comes twice",
                                        "empty",        "empty",   "count"};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(pl_mesh_add_group(ctx, mesh, names[i], PL_GROUP_TET, 2, indices[i]),
                         PL_ERROR_ARGUMENT);
        assert_contains(pl_context_error(ctx), parts[i]);
    }
    assert_int_equal(mesh->group_count, 2);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void test_transform(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_create(ctx, 6, vertices, 2, tets, 0, NULL, &mesh));
    /* a quarter turn about z takes x to y */
    const double turn[4] = {sqrt(0.5), 0, 0, sqrt(0.5)}, move[3] = {10, 20, 30};
    pl_mesh_transform(mesh, 2, turn, move);
    const double expected[3] = {10, 22, 30};
    for (int d = 0; d < 3; d++)
        assert_close(mesh->vertices[3 + d], expected[d], 1e-14);
    pl_mesh_report r;
    assert_ok(ctx, pl_mesh_check(ctx, mesh, &r));
    assert_close(r.volume, 8 * 2.0 / 6, 1e-13);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void test_surface(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    int count, *surface;
    assert_ok(ctx, pl_mesh_create(ctx, 6, vertices, 2, tets, 0, NULL, &mesh));
    assert_ok(ctx, pl_mesh_surface(ctx, mesh, &count, &surface));
    assert_int_equal(count, 6); /* the shared face is inside */
    for (int t = 0; t < count; t++) {
        const double *x[3];
        for (int i = 0; i < 3; i++)
            x[i] = mesh->vertices + 3 * surface[3 * t + i];
        double a[3], b[3], middle[3], out = 0;
        for (int d = 0; d < 3; d++)
            a[d] = x[1][d] - x[0][d], b[d] = x[2][d] - x[0][d],
            middle[d] = (x[0][d] + x[1][d] + x[2][d]) / 3;
        const double inside[3] = {0.25, 0.25, 0};
        const double normal[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                  a[0] * b[1] - a[1] * b[0]};
        for (int d = 0; d < 3; d++)
            out += normal[d] * (middle[d] - inside[d]);
        assert_true(out > 0);
    }
    pl_free(ctx, surface);
    mesh->tets[7] = 6;
    assert_int_equal(pl_mesh_surface(ctx, mesh, &count, &surface), PL_ERROR_MESH);
    assert_contains(pl_context_error(ctx), "tet 1 names a vertex");
    pl_mesh_free(ctx, mesh);

    assert_ok(ctx,
              pl_mesh_create(ctx, 6, vertices, 0, NULL, 2, (const int[6]){0, 1, 2, 0, 1, 3}, &mesh));
    assert_ok(ctx, pl_mesh_surface(ctx, mesh, &count, &surface));
    assert_int_equal(count, 2);
    assert_memory_equal(surface, mesh->triangles, 6 * sizeof *surface);
    pl_free(ctx, surface);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void test_check_counts(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    pl_mesh_report r;
    double x[27];
    memcpy(x, vertices, sizeof vertices);
    const double more[9] = {0.5, 0.5, 0, NAN, 0, 0, 6, 6, 6};
    memcpy(x + 18, more, sizeof more);
    /* good, inverted, flat, duplicate of the first, bad index, vertex twice, with a NaN */
    const int bad[28] = {0, 1, 2, 3, 0, 1, 2, 4, 0, 1, 2, 6, 3, 2,
                         1, 0, 0, 1, 2, 9, 0, 1, 1, 3, 0, 1, 2, 7};
    assert_ok(ctx, pl_mesh_create(ctx, 9, x, 7, bad, 1, (const int[3]){0, 1, 17}, &mesh));
    assert_ok(ctx, pl_mesh_check(ctx, mesh, &r));
    assert_int_equal(r.inverted, 1); /* (3,2,1,0) has positive volume again */
    assert_int_equal(r.first_inverted, 1);
    assert_int_equal(r.degenerate, 1);
    assert_int_equal(r.first_degenerate, 2);
    assert_int_equal(r.duplicate, 1);
    assert_int_equal(r.first_duplicate, 3);
    assert_int_equal(r.bad_index, 3); /* two tets, and the triangle after all seven */
    assert_int_equal(r.first_bad_index, 4);
    assert_int_equal(r.non_finite, 1);
    assert_int_equal(r.first_non_finite, 7);
    assert_int_equal(r.unreferenced, 2);
    assert_int_equal(r.first_unreferenced, 5);
    assert_int_equal(r.components, 1);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

/* The regular tet has the dihedral angle acos(1/3); two of them apart are two components. */
static void test_check_measures(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    pl_mesh_report r;
    double x[24] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    for (int i = 0; i < 12; i++)
        x[12 + i] = x[i] + 10;
    assert_ok(ctx,
              pl_mesh_create(ctx, 8, x, 2, (const int[8]){0, 2, 1, 3, 4, 6, 5, 7}, 0, NULL, &mesh));
    assert_ok(ctx, pl_mesh_check(ctx, mesh, &r));
    double angle = acos(1.0 / 3) * 180 / 3.14159265358979323846;
    assert_close(r.min_dihedral, angle, 1e-12);
    assert_close(r.max_dihedral, angle, 1e-12);
    assert_close(r.volume, 2 * 8.0 / 3, 1e-13);
    assert_int_equal(r.components, 2);
    assert_int_equal(r.inverted, 0);
    assert_int_equal(r.first_inverted, -1);
    pl_mesh_free(ctx, mesh);

    /* a 3-4-5 triangle */
    const double plane[9] = {0, 0, 0, 4, 0, 0, 0, 3, 0};
    assert_ok(ctx, pl_mesh_create(ctx, 3, plane, 0, NULL, 1, (const int[3]){0, 1, 2}, &mesh));
    assert_ok(ctx, pl_mesh_check(ctx, mesh, &r));
    assert_close(r.volume, 6, 1e-15);
    assert_close(r.min_dihedral, atan2(3, 4) * 180 / 3.14159265358979323846, 1e-12);
    assert_close(r.max_dihedral, 90, 1e-12);
    assert_close(r.upper[0], 4, 0);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void test_null_arguments(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    pl_mesh_report report;
    int count, *triangles = NULL;
    assert_int_equal(pl_mesh_copy(ctx, NULL, &mesh), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_mesh_check(ctx, NULL, &report), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_mesh_surface(ctx, NULL, &count, &triangles), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_mesh_read(ctx, NULL, &mesh), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_mesh_write(ctx, NULL, "a.msh"), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_mesh_add_group(ctx, NULL, "a", PL_GROUP_TET, 0, NULL), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx), "NULL");
    assert_null(mesh);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_and_copy), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_transform),       cmocka_unit_test(test_surface),
        cmocka_unit_test(test_check_counts),    cmocka_unit_test(test_check_measures),
        cmocka_unit_test(test_null_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
