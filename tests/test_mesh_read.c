/* Every format, written by the small writers of common_mesh.h, comes back as it was, bit for bit. */
#include "common_mesh.h"

static void assert_same_groups(const pl_mesh *a, const pl_mesh *b, bool short_names)
{
    assert_int_equal(a->group_count, b->group_count);
    for (int g = 0; g < a->group_count; g++) {
        const pl_group *x = &a->groups[g];
        const pl_group *y = pl_mesh_find_group(b, short_names ? gmsh_name(x) : x->name, x->kind);
        assert_non_null(y);
        assert_int_equal(x->count, y->count);
        assert_memory_equal(x->index, y->index, (size_t)x->count * sizeof *x->index);
    }
}

static void test_every_format(void **state)
{
    (void)state;
    test_log log = {0};
    pl_context *ctx = test_context_logging(&log);
    test_folder folder = test_folder_make();
    pl_mesh *solid = test_solid(ctx), *cloth = test_cloth(ctx);
    for (int f = 0; f < TEST_FORMATS; f++) {
        const test_format *format = &test_formats[f];
        const pl_mesh *mesh = format->cloth ? cloth : solid;
        pl_mesh *back = NULL;
        pl_status status = pl_mesh_read(ctx, test_format_write(format, &folder, mesh), &back);
        if (status != PL_OK)
            fail_msg("%s: %s", format->name, pl_context_error(ctx));
        assert_int_equal(back->vertex_count, mesh->vertex_count);
        assert_int_equal(back->tet_count, mesh->tet_count);
        assert_int_equal(back->triangle_count, format->triangles ? mesh->triangle_count : 0);
        assert_memory_equal(back->vertices, mesh->vertices, 24 * (size_t)mesh->vertex_count);
        assert_memory_equal(back->tets, mesh->tets, 16 * (size_t)mesh->tet_count);
        assert_memory_equal(back->triangles, mesh->triangles, 12 * (size_t)back->triangle_count);
        if (format->groups)
            assert_same_groups(mesh, back, true);
        else
            assert_int_equal(back->group_count, 0);
        pl_mesh_free(ctx, back);
    }
    assert_string_equal(log.text, "");
    pl_mesh_free(ctx, cloth);
    pl_mesh_free(ctx, solid);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

static pl_mesh *read_text(pl_context *ctx, const test_folder *folder, const char *name,
                          const char *text)
{
    pl_mesh *mesh = NULL;
    const char *path = test_file(folder, name);
    test_file_write(path, text, strlen(text));
    assert_ok(ctx, pl_mesh_read(ctx, path, &mesh));
    return mesh;
}

static void test_tetgen_by_node_name(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *solid = test_solid(ctx), *back = NULL;
    test_format_write(&test_formats[7], &folder, solid);
    assert_ok(ctx, pl_mesh_read(ctx, test_file(&folder, "mesh.node"), &back));
    assert_int_equal(back->tet_count, solid->tet_count);
    pl_mesh_free(ctx, back);
    pl_mesh_free(ctx, solid);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

static void test_polygons_become_fans(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *mesh =
        read_text(ctx, &folder, "a.obj",
                  "v 0 0 0\nv 1 0 0\nv 2 1 0 0.1 0.2 0.3\nv 1 2 0 1\nv 0 1 0\nf 1 2 3 4 5\n");
    const int fan[9] = {0, 1, 2, 0, 2, 3, 0, 3, 4};
    assert_int_equal(mesh->triangle_count, 3);
    assert_memory_equal(mesh->triangles, fan, sizeof fan);
    pl_mesh_free(ctx, mesh);
    mesh = read_text(
        ctx, &folder, "a.msh",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n"
        "$EndNodes\n$Elements\n1\n1 3 2 0 1 1 2 3 4\n$EndElements\n");
    assert_int_equal(mesh->triangle_count, 2);
    assert_memory_equal(mesh->triangles, fan, 6 * sizeof *fan);
    pl_mesh_free(ctx, mesh);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

/* Numbers of every shape are read to the last bit, as strtod of the C locale does. */
static void test_numbers(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0",
                                          "-0",
                                          "1",
                                          "+1.5",
                                          ".5",
                                          "5.",
                                          "-1e-3",
                                          "1E5",
                                          "0.1",
                                          "123456789012345",
                                          "0.30000000000000004",
                                          "1234567890123456789",
                                          "2.2250738585072014e-308",
                                          "4.9406564584124654e-324",
                                          "1e308",
                                          "1.7976931348623157e308",
                                          "9007199254740993",
                                          "0.000000000000001",
                                          "8.41",
                                          "123456.7890123456789"};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    char text[4096] = "";
    for (int i = 0; i < COUNT; i++)
        sprintf(text + strlen(text), "v %s 0 0\nv %s 1 0\nv %s 0 1\nf -1 -2 -3\n", numbers[i],
                numbers[i], numbers[i]);
    pl_mesh *mesh = read_text(ctx, &folder, "a.obj", text);
    for (int i = 0; i < COUNT; i++) {
        double expected = strtod(numbers[i], NULL);
        assert_memory_equal(&mesh->vertices[9 * i], &expected, sizeof expected);
    }
    pl_mesh_free(ctx, mesh);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

static const char repairable[] = "MeshVersionFormatted 1\nDimension 3\nVertices 7\n"
                                 "0 0 0 0\n9 9 9 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n-1 0 0 0\n7 7 7 0\n"
                                 "Tetrahedra 2\n1 3 4 5 0\n1 4 6 5 0\n"
                                 "Triangles 3\n3 4 5 0\n3 5 4 0\n2 3 4 0\n"
                                 "End\n";

static void test_repairs_with_a_warning(void **state)
{
    (void)state;
    test_log log = {0};
    pl_context *ctx = test_context_logging(&log);
    test_folder folder = test_folder_make();
    char inverted[sizeof repairable];
    memcpy(inverted, repairable, sizeof inverted);
    memcpy(strstr(inverted, "1 4 6 5"), "1 4 5 6", 7); /* the second tet turned inside out */
    pl_mesh *mesh = read_text(ctx, &folder, "a.mesh", inverted);
    assert_contains(log.text,
                    "inverted tets were given positive volume: 1, the first is tet 1 (from 0)");
    assert_contains(log.text, "vertices in no element were dropped: 2, the first is vertex 1 (from 0)");
    assert_contains(
        log.text, "triangles on vertices of no tet were dropped: 1, the first is triangle 2 (from 0)");
    assert_contains(log.text,
                    "triangles were turned to face outward or as their neighbours: 1, the first "
                    "is triangle 1 (from 0)");
    assert_contains(log.text, "a.mesh: ");
    pl_mesh_report report;
    assert_ok(ctx, pl_mesh_check(ctx, mesh, &report));
    assert_int_equal(report.inverted + report.unreferenced + report.bad_index, 0);
    assert_int_equal(mesh->vertex_count, 5);
    const int outward[6] = {1, 2, 3, 1, 2, 3};
    assert_int_equal(mesh->triangle_count, 2);
    for (int i = 0; i < 6; i += 3) { /* the same turn: find vertex 1 first */
        int k = 0;
        while (mesh->triangles[i + k] != 1)
            k++;
        assert_int_equal(mesh->triangles[i + (k + 1) % 3], outward[i + 1]);
    }
    pl_mesh_free(ctx, mesh);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

/* A closed surface is turned outward; a piece that disagrees follows the larger part. */
static void test_surface_orientation(void **state)
{
    (void)state;
    test_log log = {0};
    pl_context *ctx = test_context_logging(&log);
    test_folder folder = test_folder_make();
    static const char points[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    static const char *const faces[] = {"f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",  /* outward */
                                        "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n",  /* inward */
                                        "f 1 3 2\nf 1 2 4\nf 2 4 3\nf 1 4 3\n"}; /* one turned */
    static const int turned[] = {0, 4, 1};
    for (int i = 0; i < 3; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", points, faces[i]);
        log.text[0] = 0;
        pl_mesh *mesh = read_text(ctx, &folder, "a.obj", text);
        double volume6 = 0;
        for (int t = 0; t < 4; t++) { /* x0.(x1 x x2) with unit vectors: only the far face counts */
            const int *v = mesh->triangles + 3 * t;
            const double *a = mesh->vertices + 3 * v[0], *b = mesh->vertices + 3 * v[1],
                         *c = mesh->vertices + 3 * v[2];
            volume6 += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                       a[2] * (b[0] * c[1] - b[1] * c[0]);
        }
        assert_close(volume6, 1, 0);
        char expected[64];
        snprintf(expected, sizeof expected, "neighbours: %d", turned[i]);
        if (turned[i] > 0)
            assert_contains(log.text, expected);
        else
            assert_string_equal(log.text, "");
        pl_mesh_free(ctx, mesh);
    }
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

/* Names of physical points and lines give vertex groups; unnamed groups give none. */
static void test_physical_groups(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *mesh = read_text(
        ctx, &folder, "a.msh",
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n0 1 \"ends\"\n1 1 \"hem line\"\n"
        "2 1 \"ends\"\n$EndPhysicalNames\n$Entities\n1 1 1 0\n1 0 0 0 1 1\n"
        "1 0 0 0 1 1 1 1 1 0\n1 0 0 0 1 1 1 2 1 5 0\n$EndEntities\n"
        "$Nodes\n2 4 1 9\n2 1 0 2\n9\n3\n0 0 0\n1 0 0\n2 1 1 2\n4\n1\n1 1 0 0 0\n0 1 0 0 0\n$EndNodes\n"
        "$Elements\n3 4 1 4\n0 1 15 1\n1 4\n1 1 1 1\n2 9 3\n2 1 2 2\n3 9 3 4\n4 9 4 1\n$EndElements\n");
    const pl_group *ends = pl_mesh_find_group(mesh, "ends", PL_GROUP_VERTEX);
    const pl_group *hem = pl_mesh_find_group(mesh, "hem line", PL_GROUP_VERTEX);
    const pl_group *sheet = pl_mesh_find_group(mesh, "ends", PL_GROUP_TRIANGLE);
    assert_int_equal(mesh->group_count, 3);
    assert_true(ends && ends->count == 1 && ends->index[0] == 2);
    assert_true(hem && hem->count == 2 && hem->index[0] == 0 && hem->index[1] == 1);
    assert_true(sheet && sheet->count == 2 && sheet->index[1] == 1);
    pl_mesh_free(ctx, mesh);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

/* Gmsh 2 repeats an element for each of its groups; a repetition within one group is a mistake. */
static void test_repeated_elements(void **state)
{
    (void)state;
    static const char text[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"one\"\n3 2 \"two\"\n"
        "$EndPhysicalNames\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0 0 -1\n$EndNodes\n"
        "$Elements\n3\n1 4 2 1 1 1 2 3 4\n2 4 2 2 1 1 2 3 4\n3 4 2 2 1 1 3 2 5\n$EndElements\n";
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *mesh = read_text(ctx, &folder, "a.msh", text), *none = NULL;
    const pl_group *one = pl_mesh_find_group(mesh, "one", PL_GROUP_TET);
    const pl_group *two = pl_mesh_find_group(mesh, "two", PL_GROUP_TET);
    assert_int_equal(mesh->tet_count, 2);
    assert_true(one && one->count == 1 && one->index[0] == 0);
    assert_true(two && two->count == 2 && two->index[0] == 0 && two->index[1] == 1);
    pl_mesh_free(ctx, mesh);
    char same[sizeof text];
    memcpy(same, text, sizeof same);
    memcpy(strstr(same, "2 4 2 2 1"), "2 4 2 1 1", 9);
    test_file_write(test_file(&folder, "a.msh"), same, strlen(same));
    assert_int_equal(pl_mesh_read(ctx, test_file(&folder, "a.msh"), &none), PL_ERROR_MESH);
    assert_contains(pl_context_error(ctx), "same vertices as an earlier one: 1, the first is tet 1");
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format),           cmocka_unit_test(test_tetgen_by_node_name),
        cmocka_unit_test(test_polygons_become_fans),   cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_repairs_with_a_warning), cmocka_unit_test(test_surface_orientation),
        cmocka_unit_test(test_physical_groups),        cmocka_unit_test(test_repeated_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
