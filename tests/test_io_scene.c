/* Scene files: what they mean in calls, overrides, and memory that runs out anywhere. */
#include "common.h"

#include <pliant/io.h>

#include <unistd.h>

static pl_scene *load(pl_context *ctx, const char *text, int overrides, const char *const *set,
                      pl_scene_file_info *info)
{
    pl_scene *scene = NULL;
    assert_ok(ctx,
              pl_scene_load_text(ctx, text, strlen(text), "text", NULL, overrides, set, &scene, info));
    return scene;
}

static const char everything[] =
    "{\"version\": 1, \"name\": \"all\", \"time_step\": 0.02, \"steps\": 7, \"gravity\": [0, 0, -1],\n"
    " \"tolerance\": 1e-9, \"max_iterations\": 30, \"max_splits\": 2, \"contact_epsilon2\": 1e-11,\n"
    " \"contact_margin\": 0.01, \"solver\": \"direct\", \"outputs\": {\"every\": 3, \"volume\": "
    "false},\n"
    " \"bodies\": [\n"
    "  {\"name\": \"bar\", \"mesh\": {\"bar\": {\"length\": 0.4, \"width\": 0.1, \"height\": 0.1, "
    "\"cell\": 0.1}},\n"
    "   \"transform\": {\"scale\": 2, \"rotate\": {\"axis\": [0, 0, 3], \"degrees\": 90}, "
    "\"translate\": [1, 0, 0]},\n"
    "   \"material\": {\"model\": \"corotated\", \"reading\": \"projective\", \"young\": 2e5,\n"
    "                \"poisson\": 0.4, \"density\": 500, \"damping\": 0.5},\n"
    "   \"velocity\": [1, 2, 3], \"angular_velocity\": [0, 0, 1], \"lumped_equally\": true},\n"
    "  {\"mesh\": {\"rectangle\": {\"width\": 1, \"height\": 1, \"cell\": 0.5}},\n"
    "   \"material\": {\"bending\": 1e-4, \"thickness\": 0.002}}],\n"
    " \"pins\": [{\"body\": \"bar\", \"vertices\": {\"group\": \"left\"}, \"compliance\": 1e-6,\n"
    "            \"offset\": [[0, 0, 0, 0], [1, 0, 0, 0.5]], \"rotation\": [[0, 0, 0, 1, 0.25]],\n"
    "            \"pivot\": [1, 0, 0]},\n"
    "           {\"body\": 1, \"vertices\": [0, 2]},\n"
    "           {\"body\": \"body1\", \"vertices\": {\"box\": [[-1, 0.9, -1], [2, 2, 1]]}}],\n"
    " \"forces\": [{\"body\": \"bar\", \"per\": \"mass\", \"value\": [1, 0, 0]},\n"
    "             {\"body\": \"bar\", \"vertices\": {\"group\": \"right\"}, \"per\": \"group\",\n"
    "              \"table\": [[0, 0, 0, 0], [2, 4, 0, 0]]}],\n"
    " \"wind\": [{\"body\": 1, \"drag\": 2, \"velocity\": [0, 0, 5]}],\n"
    " \"colliders\": [{\"name\": \"floor\", \"shape\": {\"half_space\": {}}, \"position\": [0, 0, "
    "-5]},\n"
    "                {\"shape\": {\"sphere\": {\"radius\": 0.5}}, \"friction\": 0.1, \"position\": [9, "
    "9, 9]},\n"
    "                {\"shape\": {\"box\": {\"half_extents\": [1, 1, 1]}}, \"position\": [19, 9, 9]},\n"
    "                {\"shape\": {\"cylinder\": {\"radius\": 1, \"half_height\": 2}}, \"position\": "
    "[29, 9, 9]},\n"
    "                {\"shape\": {\"capsule\": {\"radius\": 1, \"half_height\": 2}}, \"position\": "
    "[39, 9, 9]},\n"
    "                {\"shape\": {\"mesh\": {\"ellipsoid\": {\"radii\": [1, 1, 2], \"cell\": 0.5}}},\n"
    "                 \"table\": [[0, 49, 9, 9, 1, 0, 0, 0], [1, 50, 9, 9, 1, 0, 0, 0]]}],\n"
    " \"friction\": [{\"body\": \"bar\", \"collider\": \"floor\", \"value\": 0.25}]}\n";

/* The same scene by calls. */
static pl_scene *by_calls(pl_context *ctx)
{
    pl_scene_def def = pl_scene_def_default();
    def.time_step = 0.02;
    def.gravity[2] = -1;
    def.tolerance = 1e-9;
    def.max_iterations = 30;
    def.max_splits = 2;
    def.contact_epsilon2 = 1e-11;
    def.contact_margin = 0.01;
    def.solver = PL_SOLVER_DIRECT;
    pl_scene *scene = NULL;
    assert_ok(ctx, pl_scene_create(ctx, &def, &scene));

    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_bar(ctx, 0.4, 0.1, 0.1, 0.1, &mesh));
    pl_mesh_transform(mesh, 2, (double[]){sqrt(0.5), 0, 0, sqrt(0.5)}, (double[]){1, 0, 0});
    pl_body_def bar = pl_body_def_default();
    bar.name = "bar";
    bar.mesh = mesh;
    bar.model = PL_COROTATED;
    bar.reading = PL_PROJECTIVE;
    bar.young = 2e5;
    bar.poisson = 0.4;
    bar.density = 500;
    bar.damping = 0.5;
    memcpy(bar.velocity, (double[]){1, 2, 3}, sizeof bar.velocity);
    bar.angular_velocity[2] = 1;
    bar.lumped_equally = true;
    assert_ok(ctx, pl_scene_add_body(scene, &bar, NULL));
    pl_mesh_free(ctx, mesh);

    assert_ok(ctx, pl_mesh_rectangle(ctx, 1, 1, 0.5, &mesh));
    pl_body_def cloth = pl_body_def_default();
    cloth.mesh = mesh;
    cloth.bending = 1e-4;
    cloth.thickness = 0.002;
    assert_ok(ctx, pl_scene_add_body(scene, &cloth, NULL));
    pl_mesh_free(ctx, mesh);
    return scene;
}

static void scenes_mean_calls(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    pl_scene_file_info file;
    pl_scene *scene = load(ctx, everything, 0, NULL, &file), *twin = by_calls(ctx);
    assert_string_equal(file.name, "all");
    assert_int_equal(file.steps, 7);
    assert_int_equal(file.output_every, 3);
    assert_false(file.output_volume);
    assert_true(file.output_surface);

    pl_scene_def a = pl_scene_get_def(scene), b = pl_scene_get_def(twin);
    assert_true(a.time_step == b.time_step && a.tolerance == b.tolerance && a.solver == b.solver);
    assert_true(a.max_iterations == b.max_iterations && a.max_splits == b.max_splits);
    assert_true(a.contact_epsilon2 == b.contact_epsilon2 && a.contact_margin == b.contact_margin);
    assert_memory_equal(a.gravity, b.gravity, sizeof a.gravity);

    pl_scene_info info = pl_scene_get_info(scene), other = pl_scene_get_info(twin);
    assert_int_equal(info.vertex_count, other.vertex_count);
    assert_int_equal(info.element_count, other.element_count);
    assert_int_equal(info.pin_count, 3);
    /* "left" is 2 x 2 vertices, then two by index, then the cloth's upper row of three. */
    assert_int_equal(info.pin_vertex_count, 4 + 2 + 3);
    assert_int_equal(info.force_count, 2);
    assert_int_equal(info.wind_count, 1);
    assert_int_equal(info.collider_count, 6);
    assert_close(info.mass, other.mass, 1e-14 * other.mass);

    pl_state *s = NULL, *t = NULL;
    assert_ok(ctx, pl_state_create(scene, &s));
    assert_ok(ctx, pl_state_create(twin, &t));
    for (int i = 0; i < 3 * info.vertex_count; i++) {
        assert_close(s->q[i], t->q[i], 1e-15); /* the quaternion of 90 degrees is rounded differently */
        assert_close(s->v[i], t->v[i], 1e-14);
    }
    double mu[2];
    assert_ok(ctx, pl_params_get(pl_scene_params(scene), PL_FRICTION, 0, 2, mu));
    assert_true(mu[0] == 0.25 && mu[1] == 0.5);
    assert_ok(ctx, pl_params_get(pl_scene_params(scene), PL_FRICTION, 1, 2, mu));
    assert_true(mu[0] == 0.1 && mu[1] == 0.1);
    double compliance;
    assert_ok(ctx, pl_params_get(pl_scene_params(scene), PL_COMPLIANCE, 0, 1, &compliance));
    assert_true(compliance == 1e-6);

    pl_state_destroy(scene, s);
    pl_state_destroy(twin, t);
    pl_scene_destroy(scene);
    pl_scene_destroy(twin);
    pl_context_destroy(ctx);
}

/* An array has a value per element. */
static void values_per_element(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    pl_scene *scene = load(ctx,
                           "{\"version\": 1, \"bodies\": [{\"mesh\": {\"grid\": {\"nodes\": [2, 2, 2], "
                           "\"spacing\": 1}}, \"material\": {\"young\": [1, 2, 3, 4, 5]}}]}",
                           0, NULL, NULL);
    double young[5];
    assert_ok(ctx, pl_params_get(pl_scene_params(scene), PL_YOUNG, 0, 5, young));
    for (int e = 0; e < 5; e++)
        assert_true(young[e] == e + 1);
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

/* A map of groups, in a mesh file beside the scene: the file's physical groups are the names. */
static void groups_of_a_file(void **unused)
{
    (void)unused;
    static const char mesh[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                               "$PhysicalNames\n2\n3 1 \"soft\"\n3 2 \"hard\"\n$EndPhysicalNames\n"
                               "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n"
                               "$Elements\n2\n1 4 2 1 1 1 2 3 4\n2 4 2 2 1 2 3 4 5\n$EndElements\n";
    static const char text[] =
        "{\"version\": 1, \"bodies\": [{\"name\": \"b\", \"mesh\": {\"file\": \"two.msh\"},\n"
        "\"material\": {\"young\": {\"soft\": 10, \"default\": 70}}}],\n"
        "\"pins\": [{\"body\": \"b\", \"vertices\": {\"group\": \"soft\"}}]}\n";
    char folder[] = "/tmp/pliant-test-XXXXXX", path[64], scene_path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/two.msh", folder);
    snprintf(scene_path, sizeof scene_path, "%s/scene.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(mesh, file);
    fclose(file);
    file = fopen(scene_path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);

    pl_context *ctx = test_context(1);
    pl_scene *scene = NULL;
    assert_ok(ctx, pl_scene_load(ctx, scene_path, 0, NULL, &scene, NULL));
    double young[2];
    assert_ok(ctx, pl_params_get(pl_scene_params(scene), PL_YOUNG, 0, 2, young));
    assert_true(young[0] == 10 && young[1] == 70);
    assert_int_equal(pl_scene_get_info(scene).pin_vertex_count, 4); /* the corners of the soft tet */
    pl_scene_destroy(scene);
    remove(path);
    remove(scene_path);
    rmdir(folder);
    pl_context_destroy(ctx);
}

static void overrides_by_index_and_name(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const char *const set[] = {"bodies[0].material.young=3e5",
                               "bodies.bar.material.damping=0.75",
                               "colliders.floor.friction=0.125",
                               "friction=[]",
                               "solver=lagged",
                               "outputs.surface=false",
                               "bodies[1].material.density=50",
                               "pins[0].vertices={\"group\": \"right\"}",
                               "steps=9",
                               "steps=11"};
    pl_scene_file_info file;
    pl_scene *scene = load(ctx, everything, 10, set, &file);
    int first, count;
    assert_ok(ctx, pl_scene_rows(scene, PL_YOUNG, 0, &first, &count));
    double values[1024];
    assert_ok(ctx, pl_params_get(pl_scene_params(scene), PL_YOUNG, 0, count, values));
    assert_true(values[0] == 3e5 && values[count - 1] == 3e5);
    assert_ok(ctx, pl_params_get(pl_scene_params(scene), PL_DAMPING, 0, count, values));
    assert_true(values[0] == 0.75);
    assert_ok(ctx, pl_params_get(pl_scene_params(scene), PL_FRICTION, 0, 2, values));
    assert_true(values[0] == 0.125 && values[1] == 0.125);
    assert_int_equal(pl_scene_get_def(scene).solver, PL_SOLVER_LAGGED);
    assert_false(file.output_surface);
    assert_int_equal(file.steps, 11); /* the last one counts */
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

/* An allocator that fails from the `left`-th call on and counts what is alive. */
typedef struct budget {
    long left, alive;
} budget;

static void *limited(void *user, void *ptr, size_t bytes)
{
    budget *b = user;
    if (bytes == 0) {
        b->alive -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (b->left-- <= 0)
        return NULL;
    void *result = realloc(ptr, bytes);
    b->alive += ptr == NULL && result != NULL;
    return result;
}

static void any_allocation_may_fail(void **unused)
{
    (void)unused;
    budget b = {.left = 1000000};
    pl_context_def def = pl_context_def_default();
    def.threads = 1;
    def.realloc = limited;
    def.realloc_user = &b;
    pl_context *ctx = NULL;
    assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
    const char *const set[] = {"steps=3"};
    long before = b.alive, needed = 0;
    for (bool enough = false; !enough; needed++) {
        pl_scene *scene = NULL;
        b.left = needed;
        pl_status status =
            pl_scene_load_text(ctx, everything, strlen(everything), "text", NULL, 1, set, &scene, NULL);
        enough = status == PL_OK;
        if (!enough) {
            assert_int_equal(status, PL_ERROR_MEMORY);
            assert_null(scene);
        }
        b.left = 1000000;
        pl_scene_destroy(scene);
        assert_int_equal(b.alive, before);
    }
    assert_true(needed > 50); /* the hook was in use */
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_mean_calls),       cmocka_unit_test(values_per_element),
        cmocka_unit_test(groups_of_a_file),        cmocka_unit_test(overrides_by_index_and_name),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
