/* Every allocation of every mesh function may fail once: PL_ERROR_MEMORY, and nothing leaks. */
#include "common_alloc.h"
#include "common_mesh.h"

static pl_status finish(pl_context *ctx, pl_status status, pl_mesh *mesh)
{
    assert_true(status == PL_OK || mesh == NULL);
    pl_mesh_free(ctx, mesh);
    return status;
}

static pl_status generate(pl_context *ctx, void *user)
{
    pl_mesh *mesh = NULL;
    pl_status status = PL_OK;
    const double size[3] = {0.2, 0.1, 0.1};
    switch (*(int *)user) {
    case 0:
        status = pl_mesh_box(ctx, size, 0.1, &mesh);
        break;
    case 1:
        status = pl_mesh_grid(ctx, (const int[3]){2, 2, 3}, 0.1, PL_CUT_DIAGONAL, &mesh);
        break;
    case 2:
        status = pl_mesh_bar(ctx, 0.3, 0.1, 0.1, 0.1, &mesh);
        break;
    case 3:
        status = pl_mesh_cylinder(ctx, 0.1, 0.2, 0.1, &mesh);
        break;
    case 4:
        status = pl_mesh_ellipsoid(ctx, size, 0.1, &mesh);
        break;
    case 5:
        status = pl_mesh_rectangle(ctx, 0.2, 0.1, 0.1, &mesh);
        break;
    case 6:
        status = pl_mesh_disc(ctx, 0.2, 0.1, &mesh);
        break;
    }
    return finish(ctx, status, mesh);
}

static void test_generators(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++)
        assert_true(test_fail_every_allocation(generate, &i) >= 4);
}

static pl_status copy(pl_context *ctx, void *user)
{
    pl_mesh *mesh = NULL;
    pl_status status = pl_mesh_copy(ctx, user, &mesh);
    return finish(ctx, status, mesh);
}

static pl_status surface(pl_context *ctx, void *user)
{
    int count = -1, *triangles = NULL;
    pl_status status = pl_mesh_surface(ctx, user, &count, &triangles);
    assert_true((status == PL_OK) == (triangles != NULL));
    pl_free(ctx, triangles);
    return status;
}

static pl_status check(pl_context *ctx, void *user)
{
    pl_mesh_report report = {.components = -7};
    pl_status status = pl_mesh_check(ctx, user, &report);
    assert_true((status == PL_OK) == (report.components != -7));
    return status;
}

static void test_structure(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *solid = test_solid(ctx), *cloth = test_cloth(ctx);
    test_fail_every_allocation(copy, solid);
    test_fail_every_allocation(surface, solid);
    test_fail_every_allocation(surface, cloth);
    test_fail_every_allocation(check, solid);
    pl_mesh_free(ctx, cloth);
    pl_mesh_free(ctx, solid);
    pl_context_destroy(ctx);
}

static pl_status read_path(pl_context *ctx, void *user)
{
    pl_mesh *mesh = NULL;
    pl_status status = pl_mesh_read(ctx, user, &mesh);
    return finish(ctx, status, mesh);
}

static void test_readers(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *solid = test_solid(ctx), *cloth = test_cloth(ctx);
    for (int f = 0; f < TEST_FORMATS; f++) {
        char path[600];
        strcpy(path,
               test_format_write(&test_formats[f], &folder, test_formats[f].cloth ? cloth : solid));
        assert_true(test_fail_every_allocation(read_path, path) > 15);
    }
    pl_mesh_free(ctx, cloth);
    pl_mesh_free(ctx, solid);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

typedef struct target {
    const test_folder *folder;
    const char *name;
    const pl_mesh *mesh;
} target;

static pl_status write_mesh(pl_context *ctx, void *user)
{
    const target *to = user;
    pl_status status = pl_mesh_write(ctx, to->mesh, test_file(to->folder, to->name));
    assert_int_equal(test_folder_count(to->folder), status == PL_OK ? 1 : 0);
    return status;
}

static void test_writers(void **state)
{
    (void)state;
    static const char *const names[] = {"a.msh", "a.vtu"};
    pl_context *ctx = test_context(1);
    pl_mesh *solid = test_solid(ctx);
    strcpy(solid->groups[2].name, "skin");
    for (int i = 0; i < 2; i++) {
        test_folder folder = test_folder_make();
        target to = {&folder, names[i], solid};
        test_fail_every_allocation(write_mesh, &to);
        char path[600];
        strcpy(path, test_file(&folder, names[i]));
        test_fail_every_allocation(read_path, path); /* with groups of every kind */
        test_folder_remove(&folder);
    }
    pl_mesh_free(ctx, solid);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generators),
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
