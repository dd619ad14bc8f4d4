/* Writing: everything comes back bit for bit, and a file appears whole or not at all. */
#include "common_mesh.h"

#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void assert_same_mesh(const pl_mesh *a, const pl_mesh *b)
{
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->tet_count, b->tet_count);
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_int_equal(a->group_count, b->group_count);
    assert_memory_equal(a->vertices, b->vertices, 24 * (size_t)a->vertex_count);
    assert_memory_equal(a->tets, b->tets, 16 * (size_t)a->tet_count);
    assert_memory_equal(a->triangles, b->triangles, 12 * (size_t)a->triangle_count);
    for (int g = 0; g < a->group_count; g++) {
        const pl_group *x = &a->groups[g], *y = pl_mesh_find_group(b, x->name, x->kind);
        assert_non_null(y);
        assert_int_equal(x->count, y->count);
        assert_memory_equal(x->index, y->index, (size_t)x->count * sizeof *x->index);
    }
}

static void round_trip(pl_context *ctx, const test_folder *folder, const pl_mesh *mesh,
                       const char *name)
{
    pl_mesh *back = NULL;
    const char *path = test_file(folder, name);
    assert_ok(ctx, pl_mesh_write(ctx, mesh, path));
    assert_ok(ctx, pl_mesh_read(ctx, path, &back));
    assert_same_mesh(mesh, back);
    pl_mesh_free(ctx, back);
}

/* Groups that overlap, share a name across kinds, are empty or hold everything. */
static pl_mesh *grouped(pl_context *ctx)
{
    pl_mesh *mesh = test_solid(ctx);
    int all[200];
    for (int i = 0; i < 200; i++)
        all[i] = i;
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "tips", PL_GROUP_TET, 20, all));
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "everything", PL_GROUP_TET, mesh->tet_count, all));
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "nothing", PL_GROUP_TRIANGLE, 0, NULL));
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "half", PL_GROUP_TRIANGLE, 24, all + 12));
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "low", PL_GROUP_VERTEX, 9, all));
    return mesh;
}

static void test_round_trip(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *solid = grouped(ctx), *cloth = NULL, *plain = NULL;
    round_trip(ctx, &folder, solid, "a.vtu");
    assert_int_equal(pl_mesh_write(ctx, solid, test_file(&folder, "a.msh")), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx), "group 2 has a quotation mark");
    assert_int_equal(test_folder_count(&folder), 1); /* nothing left over */
    strcpy(strchr(solid->groups[2].name, '"'), "& ok");
    round_trip(ctx, &folder, solid, "a.msh");
    assert_ok(ctx, pl_mesh_rectangle(ctx, 1, 1, 0.25, &cloth));
    round_trip(ctx, &folder, cloth, "b.msh");
    round_trip(ctx, &folder, cloth, "b.VTU");
    /* doubles of every size, subnormal and negative zero among them */
    const double x[12] = {
        -0.0, 4.9406564584124654e-324, 1.0 / 3, 1e100, 2.0 / 3, -1e-300, 0.1, 1e100, 0.3, 0.7, 0,
        1e100};
    assert_ok(ctx, pl_mesh_create(ctx, 4, x, 0, NULL, 2, (const int[6]){0, 1, 2, 2, 1, 3}, &plain));
    round_trip(ctx, &folder, plain, "c.msh");
    round_trip(ctx, &folder, plain, "c.vtu");
    pl_mesh_free(ctx, plain);
    pl_mesh_free(ctx, cloth);
    pl_mesh_free(ctx, solid);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

/* Beside groups of tets, Gmsh and meshio need a physical group for the other tets too. */
static void test_gmsh_all_in_groups(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *mesh = test_solid(ctx), *back = NULL;
    pl_free(ctx, mesh->groups[2].name); /* of triangles, with a quotation mark */
    pl_free(ctx, mesh->groups[2].index);
    mesh->group_count = 2;
    assert_ok(ctx, pl_mesh_write(ctx, mesh, test_file(&folder, "a.msh")));
    size_t count;
    char *text = test_file_read(test_file(&folder, "a.msh"), &count), *line;
    int points, curves, surfaces, volumes;
    line = strstr(text, "$Entities\n") + strlen("$Entities\n");
    assert_int_equal(sscanf(line, "%d %d %d %d", &points, &curves, &surfaces, &volumes), 4);
    assert_int_equal(points, 2);
    assert_int_equal(curves, 0);
    assert_int_equal(surfaces, 1);
    assert_int_equal(volumes, 2);
    for (int p = 0; p < points; p++)
        line = strchr(line, '\n') + 1;
    for (int e = 0; e < surfaces + volumes; e++) {
        int tags = 0, tag = 0;
        line = strchr(line, '\n') + 1;
        assert_int_equal(sscanf(line, "%*d %*f %*f %*f %*f %*f %*f %d %d", &tags, &tag), 2);
        assert_int_equal(tags, 1);
        assert_int_equal(tag, e == surfaces + 1 ? 2 : 3); /* "core", or the unnamed one */
    }
    free(text);
    assert_ok(ctx, pl_mesh_read(ctx, test_file(&folder, "a.msh"), &back));
    assert_same_mesh(mesh, back);
    pl_mesh_free(ctx, back);
    pl_mesh_free(ctx, mesh);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

/* With a decimal comma in the locale, files still have points. */
static void test_locale(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"};
    for (int i = 0; i < 4 && !setlocale(LC_NUMERIC, locales[i]); i++)
        ;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *mesh = test_cloth(ctx);
    round_trip(ctx, &folder, mesh, "a.msh");
    size_t count;
    char *text = test_file_read(test_file(&folder, "a.msh"), &count);
    assert_null(strchr(text, ','));
    free(text);
    setlocale(LC_NUMERIC, "C");
    pl_mesh_free(ctx, mesh);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

static void test_bad_places(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *mesh = test_cloth(ctx);
    assert_int_equal(pl_mesh_write(ctx, mesh, test_file(&folder, "a.obj")), PL_ERROR_ARGUMENT);
    assert_contains(pl_context_error(ctx), "unknown extension, expected .msh or .vtu");
    assert_int_equal(pl_mesh_write(ctx, mesh, test_file(&folder, "none/a.msh")), PL_ERROR_FILE);
    assert_contains(pl_context_error(ctx), "none/a.msh: cannot be written: No such file");
    assert_int_equal(mkdir(test_file(&folder, "dir.vtu"), 0700), 0);
    assert_int_equal(pl_mesh_write(ctx, mesh, test_file(&folder, "dir.vtu")), PL_ERROR_FILE);
    assert_contains(pl_context_error(ctx),
                    "dir.vtu: cannot be replaced: it is a directory, not a file");
    assert_int_equal(test_folder_count(&folder), 1);
    pl_mesh_free(ctx, mesh);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

/* A limit on the size of files stands for a full disk: the old file stays as it was. */
static void test_full_disk(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *small = test_cloth(ctx), *large = NULL;
    assert_ok(ctx, pl_mesh_box(ctx, (const double[3]){1, 1, 1}, 0.1, &large));
    static const char *const names[] = {"a.msh", "a.vtu"};
    for (int i = 0; i < 2; i++)
        assert_ok(ctx, pl_mesh_write(ctx, small, test_file(&folder, names[i])));
    struct rlimit before, tight;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    for (int i = 0; i < 2; i++) {
        size_t old_count, new_count;
        char *old = test_file_read(test_file(&folder, names[i]), &old_count);
        tight.rlim_cur = i == 0 ? 100000 : 1000; /* in a later and in the first flush */
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        pl_status status = pl_mesh_write(ctx, large, test_file(&folder, names[i]));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, PL_ERROR_FILE);
        assert_contains(pl_context_error(ctx), names[i]);
        assert_contains(pl_context_error(ctx), ": cannot be written: File too large");
        char *new = test_file_read(test_file(&folder, names[i]), &new_count);
        assert_int_equal(old_count, new_count);
        assert_memory_equal(old, new, old_count);
        free(new);
        free(old);
    }
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(test_folder_count(&folder), 2);
    pl_mesh_free(ctx, large);
    pl_mesh_free(ctx, small);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_gmsh_all_in_groups),
        cmocka_unit_test(test_locale),     cmocka_unit_test(test_bad_places),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
