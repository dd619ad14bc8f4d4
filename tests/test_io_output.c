/* Output directories: whole or not at all; VTU files whose arrays are where the header says. */
#include "common_vtu.h"

#include <pliant/io.h>

#include <dirent.h>
#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char scene_text[] =
    "{\"version\": 1, \"bodies\": [{\"name\": \"box\", \"mesh\": {\"grid\": {\"nodes\": [3, 3, 3], "
    "\"spacing\": 0.1}},\n"
    "\"velocity\": [0.3, 0, 0], \"transform\": {\"translate\": [0, 0, 1e-5]}},\n"
    "{\"name\": \"sheet\", \"mesh\": {\"rectangle\": {\"width\": 0.2, \"height\": 0.2, \"cell\": "
    "0.1}},\n"
    "\"transform\": {\"translate\": [1, 0, 1]}}],\n"
    "\"muscles\": [{\"body\": \"box\", \"elements\": [0, 3], \"direction\": [1, 0, 0], "
    "\"stiffness\": 10, \"activation\": 0.5},\n"
    "{\"body\": 0, \"elements\": [3, 4], \"direction\": [1, 0, 0], \"stiffness\": 10, "
    "\"table\": [[0, 0], [0.04, 0.25], [0.08, 0]]}],\n"
    "\"cables\": [{\"points\": [{\"fixed\": [1, 0, 1.5]}, {\"body\": \"sheet\", \"vertices\": [0, 1]}, "
    "{\"body\": 1, \"vertex\": 2}]},\n"
    "{\"points\": [{\"fixed\": [1, 0, 2]}, {\"body\": 1, \"vertex\": 3}, {\"body\": 1, \"vertex\": "
    "5}], "
    "\"segments\": true}],\n"
    "\"colliders\": [{\"shape\": {\"half_space\": {}}, \"friction\": 0.3}]}";

typedef struct fixture {
    pl_context *ctx;
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state;
    char folder[64], out[96];
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->ctx = test_context(1);
    assert_ok(f->ctx, pl_scene_load_text(f->ctx, scene_text, sizeof scene_text - 1, "t", NULL, 0, NULL,
                                         &f->scene, NULL));
    assert_ok(f->ctx, pl_sim_create(f->scene, &f->sim));
    assert_ok(f->ctx, pl_state_create(f->scene, &f->state));
    strcpy(f->folder, "/tmp/pliant-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->out, sizeof f->out, "%s/out", f->folder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    pl_state_destroy(f->scene, f->state);
    pl_sim_destroy(f->sim);
    pl_scene_destroy(f->scene);
    pl_context_destroy(f->ctx);
    free(f);
    return 0;
}

static pl_output *open_output(fixture *f, const char *directory, bool replace)
{
    pl_output_def def = pl_output_def_default();
    def.directory = directory;
    def.replace = replace;
    def.every = 2;
    def.scene = "a \"scene\"";
    pl_output *output = NULL;
    assert_ok(f->ctx, pl_output_create(f->sim, &def, &output));
    return output;
}

static int entries(const char *folder)
{
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    int count = 0;
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2;
}

static bool exists(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void step(fixture *f, pl_output *output, int count)
{
    for (int i = 0; i < count; i++) {
        pl_step_info info;
        assert_ok(f->ctx, pl_step(f->sim, f->state, NULL, &info));
        assert_ok(f->ctx, pl_output_step(output, f->state, &info));
    }
}

static void check_volume(fixture *f)
{
    vtu_check v = open_vtu(f->out, "volume/000004.vtu");
    assert_int_equal(v.points, f->state->vertex_count);
    assert_int_equal(v.cells, pl_scene_get_info(f->scene).element_count);
    size_t n = (size_t)v.points, m = (size_t)v.cells;
    assert_memory_equal(vtu_array(&v, "Points", 24 * n), f->state->q, 24 * n);
    assert_memory_equal(vtu_array(&v, "velocity", 24 * n), f->state->v, 24 * n);
    vtu_array(&v, "displacement", 24 * n);
    vtu_array(&v, "stress", 72 * m);
    vtu_array(&v, "von_mises", 8 * m);
    vtu_array(&v, "energy", 8 * m);
    double activation[6];
    memcpy(activation, vtu_array(&v, "activation", 8 * m), sizeof activation);
    const double expected[6] = {0.5, 0, 0, 0.5, 0.25, 0};
    for (int e = 0; e < 6; e++)
        assert_close(activation[e], expected[e], 1e-15);
    const unsigned char *types = vtu_array(&v, "types", m);
    assert_int_equal(types[0], 10);    /* the box's tets come first */
    assert_int_equal(types[m - 1], 5); /* the cloth's triangles last */
    int ends[2];
    memcpy(ends, vtu_array(&v, "offsets", 4 * m), sizeof ends);
    assert_int_equal(ends[0], 4);
    free(v.text);
}

/* The surface leaves out the box's inner vertex, and its contact forces sum to those of the state. */
static void check_surface(fixture *f)
{
    vtu_check v = open_vtu(f->out, "surface/000004.vtu");
    size_t n = (size_t)v.points;
    assert_int_equal(v.points, f->state->vertex_count - 1);
    double normal = 0, tangent = 0, expected_normal = 0, expected_tangent = 0, vector[3];
    const char *normals = vtu_array(&v, "contact_normal", 24 * n);
    const char *tangents = vtu_array(&v, "contact_tangent", 24 * n);
    for (size_t i = 0; i < n; i++) {
        memcpy(vector, normals + 24 * i, sizeof vector);
        normal += vector[2];
        memcpy(vector, tangents + 24 * i, sizeof vector);
        tangent += vector[0];
    }
    for (int c = 0; c < f->state->contact_count; c++) {
        expected_normal += f->state->contacts[c].force_normal;
        expected_tangent += f->state->contacts[c].force_tangent[0];
    }
    assert_true(expected_normal > 1 && expected_tangent < 0); /* it presses and slides */
    assert_close(normal, expected_normal, 1e-12 * expected_normal);
    assert_close(tangent, expected_tangent, 1e-12 * expected_normal);
    const char *partners = vtu_array(&v, "contact_partner", 8 * n);
    for (size_t i = 0; i < n; i++) {
        double partner;
        memcpy(&partner, partners + 8 * i, sizeof partner);
        memcpy(vector, normals + 24 * i, sizeof vector);
        assert_true(partner == (vector[2] > 0 ? pl_scene_get_info(f->scene).body_count : -1));
    }
    free(v.text);
}

/* A row for each pair and step, the last with the forces of the state. */
static void check_forces(fixture *f)
{
    size_t length;
    char *text = slurp(f->out, "contact_forces.csv", &length);
    pl_pair_force *pairs = NULL;
    int count = 0, step, contacts;
    double time, pressing;
    assert_ok(f->ctx,
              pl_pair_forces(f->scene, f->state->contact_count, f->state->contacts, &count, &pairs));
    assert_int_equal(count, 1);
    assert_non_null(strstr(text, "step,time,body,with,contacts,pressing,normal_x,"));
    const char *last = strstr(text, "\n4,");
    assert_non_null(last);
    assert_int_equal(sscanf(last, "\n%d,%lf,box,collider0,%d,%lf,", &step, &time, &contacts, &pressing),
                     4);
    assert_int_equal(contacts, pairs[0].contacts);
    assert_close(pressing, pairs[0].pressing, 1e-8 * pressing);
    pl_free(f->ctx, pairs);
    free(text);
}

/* The first cable slides, with one tension; the second has one for each segment. */
static void check_cables(fixture *f)
{
    vtu_check v = open_vtu(f->out, "cables/000004.vtu");
    pl_body_info sheet;
    assert_ok(f->ctx, pl_scene_body(f->scene, 1, &sheet));
    const double *q = f->state->q + 3 * (size_t)sheet.vertex_offset, *live = f->state->live;
    double points[18], tension[4], cable[4];
    int corners[8];
    assert_int_equal(v.points, 6);
    assert_int_equal(v.cells, 4);
    memcpy(points, vtu_array(&v, "Points", sizeof points), sizeof points);
    memcpy(tension, vtu_array(&v, "tension", sizeof tension), sizeof tension);
    memcpy(cable, vtu_array(&v, "cable", sizeof cable), sizeof cable);
    memcpy(corners, vtu_array(&v, "connectivity", sizeof corners), sizeof corners);
    for (int a = 0; a < 3; a++) {
        const double fixed[3] = {1, 0, 1.5};
        assert_true(points[a] == fixed[a]);
        assert_close(points[3 + a], 0.5 * (q[a] + q[3 + a]), 1e-15);
        assert_true(points[15 + a] == q[15 + a]);
    }
    assert_true(live[0] > 1e-3 && live[1] > 1e-3 && live[1] != live[2]);
    for (int s = 0; s < 4; s++) {
        const int rows[4] = {0, 0, 1, 2}, first[4] = {0, 1, 3, 4};
        assert_true(tension[s] == live[rows[s]] && cable[s] == s / 2);
        assert_true(corners[2 * s] == first[s] && corners[2 * s + 1] == first[s] + 1);
    }
    assert_int_equal(*(const unsigned char *)vtu_array(&v, "types", 4), 3);
    free(v.text);
}

static void check_summary(fixture *f)
{
    size_t length;
    char *text = slurp(f->out, "summary.json", &length);
    json_t *summary = json_loads(text, 0, NULL);
    assert_non_null(summary);
    assert_string_equal(json_string_value(json_object_get(summary, "outcome")), "completed");
    assert_string_equal(json_string_value(json_object_get(summary, "scene")), "a \"scene\"");
    const json_t *steps = json_object_get(summary, "steps"),
                 *totals = json_object_get(summary, "totals");
    assert_int_equal(json_array_size(steps), 4);
    json_int_t iterations = 0;
    for (size_t i = 0; i < 4; i++) {
        const json_t *entry = json_array_get(steps, i);
        assert_int_equal(json_integer_value(json_object_get(entry, "step")), i + 1);
        assert_true(json_is_true(json_object_get(entry, "converged")));
        assert_true(json_number_value(json_object_get(entry, "residual")) <=
                    pl_scene_get_def(f->scene).tolerance);
        assert_true(json_number_value(json_object_get(json_object_get(entry, "energy"), "kinetic")) >
                    0);
        assert_non_null(json_object_get(json_object_get(entry, "milliseconds"), "factor"));
        iterations += json_integer_value(json_object_get(entry, "iterations"));
    }
    assert_int_equal(json_integer_value(json_object_get(totals, "iterations")), iterations);
    /* The worst of all steps. */
    static const char *const worst[][2] = {{"residual", "largest_residual"},
                                           {"complementarity", "largest_complementarity"},
                                           {"cone_violation", "largest_cone_violation"},
                                           {"penetration", "deepest_penetration"}};
    for (int k = 0; k < 4; k++) {
        double largest = -HUGE_VAL;
        for (size_t i = 0; i < 4; i++) {
            const json_t *entry = json_array_get(steps, i);
            assert_true(json_integer_value(json_object_get(entry, "contacts")) > 0);
            largest = fmax(largest, json_number_value(json_object_get(entry, worst[k][0])));
        }
        assert_true(json_is_number(json_object_get(totals, worst[k][1])));
        assert_true(json_number_value(json_object_get(totals, worst[k][1])) == largest);
    }
    assert_int_equal(json_array_size(json_object_get(summary, "frames")), 3);
    json_decref(summary);
    free(text);
}

static void output_is_whole(void **state)
{
    fixture *f = *state;
    pl_output *output = open_output(f, f->out, false);
    assert_ok(f->ctx, pl_output_step(output, f->state, NULL));
    step(f, output, 4);
    assert_false(exists(f->folder, "out")); /* not before it is finished */
    assert_ok(f->ctx, pl_output_finish(output, PL_OK));
    assert_int_equal(pl_output_finish(output, PL_OK), PL_ERROR_ARGUMENT);
    pl_output_destroy(output);
    assert_int_equal(entries(f->folder), 1);
    assert_int_equal(entries(f->out), 11);
    check_volume(f);
    check_surface(f);
    check_cables(f);
    check_forces(f);
    check_summary(f);
    size_t length;
    char *pvd = slurp(f->out, "volume.pvd", &length);
    assert_non_null(strstr(pvd, "<DataSet timestep=\"0.04\" file=\"volume/000004.vtu\"/>"));
    free(pvd);
}

static void abandoned_output_leaves_nothing(void **state)
{
    fixture *f = *state;
    char deep[128];
    snprintf(deep, sizeof deep, "%s/a/b/c/", f->folder);
    pl_output *output = open_output(f, deep, false);
    assert_ok(f->ctx, pl_output_step(output, f->state, NULL));
    assert_true(exists(f->folder, "a/b"));
    pl_output_destroy(output);
    assert_int_equal(entries(f->folder), 0); /* the directories above it went too */
}

static void existing_directories(void **state)
{
    fixture *f = *state;
    pl_output_def def = pl_output_def_default();
    pl_output *output = open_output(f, f->out, false);
    assert_ok(f->ctx, pl_output_finish(output, PL_OK));
    pl_output_destroy(output);

    def.directory = f->out;
    assert_int_equal(pl_output_create(f->sim, &def, &output), PL_ERROR_FILE);
    assert_null(output);
    assert_non_null(strstr(pl_context_error(f->ctx), "exists already"));

    /* An earlier output is exchanged for the new one, at the end only. */
    output = open_output(f, f->out, true);
    assert_ok(f->ctx, pl_output_step(output, f->state, NULL));
    assert_false(exists(f->out, "volume/000000.vtu"));
    assert_ok(f->ctx, pl_output_finish(output, PL_ERROR_INTERRUPTED));
    pl_output_destroy(output);
    assert_true(exists(f->out, "volume/000000.vtu"));
    assert_int_equal(entries(f->folder), 1);

    /* Somebody's own directory, or a file, is never touched. */
    char path[160];
    def.replace = true;
    snprintf(path, sizeof path, "%s/manifest.txt", f->out);
    remove(path);
    assert_int_equal(pl_output_create(f->sim, &def, &output), PL_ERROR_FILE);
    assert_non_null(strstr(pl_context_error(f->ctx), "is no earlier output"));
    assert_true(exists(f->out, "volume/000000.vtu"));
    snprintf(path, sizeof path, "%s/volume.pvd", f->out);
    def.directory = path;
    assert_int_equal(pl_output_create(f->sim, &def, &output), PL_ERROR_FILE);
    def.directory = "";
    assert_int_equal(pl_output_create(f->sim, &def, &output), PL_ERROR_ARGUMENT);
}

/* An empty directory is as good as none. */
static void empty_directory(void **state)
{
    fixture *f = *state;
    assert_int_equal(mkdir(f->out, 0777), 0);
    pl_output *output = open_output(f, f->out, false);
    assert_ok(f->ctx, pl_output_step(output, f->state, NULL));
    pl_output_destroy(output);
    assert_int_equal(entries(f->out), 0); /* abandoned: it is there again */
    output = open_output(f, f->out, false);
    assert_ok(f->ctx, pl_output_finish(output, PL_OK));
    pl_output_destroy(output);
    assert_true(exists(f->out, "summary.json"));
    assert_int_equal(entries(f->folder), 1);
}

/* Somebody takes the place while the simulation runs: what it computed is not thrown away. */
static void taken_place(void **state)
{
    fixture *f = *state;
    char path[160];
    pl_output *output = open_output(f, f->out, false);
    assert_ok(f->ctx, pl_output_step(output, f->state, NULL));
    assert_int_equal(mkdir(f->out, 0777), 0);
    snprintf(path, sizeof path, "%s/notes.txt", f->out);
    fclose(fopen(path, "w"));
    assert_int_equal(pl_output_finish(output, PL_OK), PL_ERROR_FILE);
    pl_output_destroy(output);
    assert_true(exists(f->out, "notes.txt"));
    const char *kept = strstr(pl_context_error(f->ctx), "it is in ");
    if (!kept)
        fail_msg("%s", pl_context_error(f->ctx));
    assert_true(exists(kept + strlen("it is in "), "summary.json"));
    assert_true(exists(kept + strlen("it is in "), "volume/000000.vtu"));
}

static void unwritable_places(void **state)
{
    fixture *f = *state;
    pl_output_def def = pl_output_def_default();
    pl_output *output = NULL;
    def.directory = "/proc/out";
    assert_int_equal(pl_output_create(f->sim, &def, &output), PL_ERROR_FILE);
    def.directory = "/dev/null/out";
    assert_int_equal(pl_output_create(f->sim, &def, &output), PL_ERROR_FILE);
    def.directory = "."; /* nothing can be built beside it and moved there */
    assert_int_equal(pl_output_create(f->sim, &def, &output), PL_ERROR_FILE);
    def.directory = "/..";
    assert_int_equal(pl_output_create(f->sim, &def, &output), PL_ERROR_FILE);
    def.directory = f->out;
    def.every = 0;
    assert_int_equal(pl_output_create(f->sim, &def, &output), PL_ERROR_ARGUMENT);
    assert_int_equal(entries(f->folder), 0);
}

/* A disk that is full after `bytes`, in the form of a limit on file sizes. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void full_disk(void **state)
{
    fixture *f = *state;
    signal(SIGXFSZ, SIG_IGN);
    /* Inside the header, inside the data, and (the VTU files fit) inside the summary. */
    pl_output *output = open_output(f, f->out, false);
    assert_ok(f->ctx, pl_output_step(output, f->state, NULL));
    const rlim_t limits[] = {100, 4000};
    for (int i = 0; i < 2; i++) {
        limit_files(limits[i]);
        pl_status status = pl_output_step(output, f->state, NULL);
        limit_files(RLIM_INFINITY);
        assert_int_equal(status, PL_ERROR_FILE);
        assert_non_null(strstr(pl_context_error(f->ctx), "cannot write: File too large"));
    }
    limit_files(250); /* the collections are smaller */
    pl_status status = pl_output_finish(output, PL_OK);
    limit_files(RLIM_INFINITY);
    assert_int_equal(status, PL_ERROR_FILE);
    assert_non_null(strstr(pl_context_error(f->ctx), "summary.json: cannot write"));
    pl_output_destroy(output);
    assert_int_equal(entries(f->folder), 0);
}

/* Points of the walls carry it, others 0. */
static void surfaces_have_pressures_of_chambers(void **state)
{
    fixture *f = *state;
    const char text[] = "{\"version\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"mesh\": "
                        "{\"hollow_box\": {\"size\": [0.3, 0.3, 0.3], \"wall\": 0.1, \"cell\": "
                        "0.1}}}], \"chambers\": [{\"body\": 0, \"pressure\": 500, \"gas\": true}]}";
    pl_state_destroy(f->scene, f->state);
    pl_sim_destroy(f->sim);
    pl_scene_destroy(f->scene);
    assert_ok(f->ctx,
              pl_scene_load_text(f->ctx, text, sizeof text - 1, "t", NULL, 0, NULL, &f->scene, NULL));
    assert_ok(f->ctx, pl_sim_create(f->scene, &f->sim));
    assert_ok(f->ctx, pl_state_create(f->scene, &f->state));
    pl_output *output = open_output(f, f->out, false);
    step(f, output, 2);
    assert_ok(f->ctx, pl_output_finish(output, PL_OK));
    pl_output_destroy(output);
    vtu_check v = open_vtu(f->out, "surface/000002.vtu");
    double pressure[64], expected;
    int walls = 0;
    assert_int_equal(v.points, 64); /* 56 outside, 8 around the cavity */
    memcpy(pressure, vtu_array(&v, "pressure", sizeof pressure), sizeof pressure);
    assert_ok(f->ctx, pl_chamber_pressure(f->scene, 0, f->state, &expected));
    assert_true(expected > 0 && expected < 500);
    for (int i = 0; i < 64; i++) {
        assert_true(pressure[i] == 0 || pressure[i] == expected);
        walls += pressure[i] != 0;
    }
    assert_int_equal(walls, 8);
    free(v.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(output_is_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(abandoned_output_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(existing_directories, setup, teardown),
        cmocka_unit_test_setup_teardown(empty_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(taken_place, setup, teardown),
        cmocka_unit_test_setup_teardown(unwritable_places, setup, teardown),
        cmocka_unit_test_setup_teardown(surfaces_have_pressures_of_chambers, setup, teardown),
        cmocka_unit_test_setup_teardown(full_disk, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
