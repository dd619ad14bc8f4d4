/* Bad scene files: every message says file, line, field, what was expected and what was found. */
#include "common_files.h"

#include <pliant/io.h>

#include <unistd.h>

/* A scene whose third line is `line`, with a body and a floor on the lines after it. */
static pl_status load_line(pl_context *ctx, const char *line, int overrides, const char *const *set)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\n  \"version\": 1,\n  %s\n"
             "  \"bodies\": [{\"name\": \"box\", \"mesh\": {\"grid\": {\"nodes\": [2, 2, 2], "
             "\"spacing\": 1}}}],\n"
             "  \"colliders\": [{\"name\": \"floor\", \"shape\": {\"half_space\": {}}}]\n}\n",
             line);
    pl_scene *scene = NULL;
    pl_status status =
        pl_scene_load_text(ctx, text, strlen(text), "s.json", NULL, overrides, set, &scene, NULL);
    pl_scene_destroy(scene);
    return status;
}

/* A scene with one body, whose keys after the mesh are `keys`, each on its own line from line 4. */
static pl_status load_body(pl_context *ctx, const char *keys)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"version\": 1, \"bodies\": [\n  {\"name\": \"box\",\n   \"mesh\": {\"grid\": "
             "{\"nodes\": [2, 2, 2], "
             "\"spacing\": 1}},\n   %s}\n]}\n",
             keys);
    pl_scene *scene = NULL;
    pl_status status =
        pl_scene_load_text(ctx, text, strlen(text), "s.json", NULL, 0, NULL, &scene, NULL);
    pl_scene_destroy(scene);
    return status;
}

static pl_status load_text(pl_context *ctx, const char *text)
{
    pl_scene *scene = NULL;
    pl_status status =
        pl_scene_load_text(ctx, text, strlen(text), "s.json", NULL, 0, NULL, &scene, NULL);
    assert_true(status == PL_OK || scene == NULL);
    pl_scene_destroy(scene);
    return status;
}

static void expect(pl_context *ctx, pl_status status, pl_status wanted, const char *message)
{
    if (status != wanted || strcmp(pl_context_error(ctx), message) != 0)
        fail_msg("got %s: %s\nwanted %s: %s", pl_status_name(status), pl_context_error(ctx),
                 pl_status_name(wanted), message);
}

typedef struct example {
    const char *text, *message;
} example;

static void scene_keys(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const example examples[] = {
        {"\"time_step\": 0,", "s.json:3: time_step: expected a number > 0 (s), got 0"},
        {"\"time_step\": \"fast\",", "s.json:3: time_step: expected a number > 0 (s), got \"fast\""},
        {"\"timestep\": 0.1,",
         "s.json:3: timestep: unknown key in a scene; did you mean \"time_step\"?"},
        {"\"zzz\": 0.1,",
         "s.json:3: zzz: unknown key in a scene; expected one of \"$schema\", \"version\", "
         "\"name\", \"description\", \"time_step\", \"steps\", \"gravity\", "
         "\"tolerance\", \"max_iterations\", \"max_splits\", \"contact_epsilon2\", "
         "\"contact_margin\", \"body_contact\", \"body_friction\", \"bring_out\", "
         "\"solver\", \"integrator\", \"device\", \"bodies\", \"pins\", \"forces\", \"wind\", "
         "\"attachments\", "
         "\"muscles\", \"cables\", \"chambers\", "
         "\"colliders\", \"friction\", \"body_pairs\", \"outputs\""},
        {"\"steps\": 1.5,", "s.json:3: steps: expected a whole number >= 0, got 1.5"},
        {"\"steps\": 3000000000,", "s.json:3: steps: expected a whole number >= 0, got 3000000000"},
        {"\"gravity\": [0, 0],",
         "s.json:3: gravity: expected an array of 3 numbers (m/s^2), got an array of 2"},
        {"\"gravity\": [0, 0, null],", "s.json:3: gravity[2]: expected a number (m/s^2), got null"},
        {"\"solver\": \"fast\",", "s.json:3: solver: expected one of \"auto\", \"direct\", \"lagged\", "
                                  "\"constant\", got \"fast\""},
        {"\"max_splits\": 21,", "s.json:3: max_splits: expected a whole number in [0, 20], got 21"},
        {"\"outputs\": {\"every\": 0},",
         "s.json:3: outputs.every: expected a whole number >= 1, got 0"},
        {"\"outputs\": [],",
         "s.json:3: outputs: expected an object (a set of outputs), got an array of 0"},
        {"\"tolerance\": 2,", "s.json:3: tolerance: expected in (0, 1) m, got 2"},
        {"\"pins\": {},", "s.json:3: pins: expected an array of objects, got an object"},
        {"\"pins\": [{\"body\": \"ball\", \"vertices\": [0]}],",
         "s.json:3: pins[0].body: there is no body named \"ball\"; the scene has \"box\""},
        {"\"pins\": [{\"body\": 1, \"vertices\": [0]}],",
         "s.json:3: pins[0].body: there is no body 1: the scene has 1"},
        {"\"pins\": [{\"body\": 0}],", "s.json:3: pins[0]: \"vertices\" is missing in this pin: "
                                       "expected [index, ...], {\"group\": name} or "
                                       "{\"box\": [[x, y, z], [x, y, z]]} (m)"},
        {"\"pins\": [{\"body\": 0, \"vertices\": [8]}],",
         "s.json:3: pins[0].vertices: vertices[0] = 8: body \"box\" has 8 vertices"},
        {"\"pins\": [{\"body\": 0, \"vertices\": []}],",
         "s.json:3: pins[0].vertices: expected vertices of \"box\", got none"},
        {"\"pins\": [{\"body\": 0, \"vertices\": {\"group\": \"feet\"}}],",
         "s.json:3: pins[0].vertices.group: the mesh of \"box\" has no group \"feet\"; it has none"},
        {"\"pins\": [{\"body\": 0, \"vertices\": {\"box\": [[5, 5, 5], [6, 6, 6]]}}],",
         "s.json:3: pins[0].vertices.box: no vertex of \"box\" is there: its rest shape reaches from "
         "[0, 0, 0] to [1, 1, 1] m"},
        {"\"pins\": [{\"body\": 0, \"vertices\": {\"box\": [[5, 5], [6, 6, 6]]}}],",
         "s.json:3: pins[0].vertices.box[0]: expected an array of 3 numbers, got an array of 2"},
        {"\"pins\": [{\"body\": 0, \"vertices\": [0], \"offset\": [[0, 0, 0]]}],",
         "s.json:3: pins[0].offset[0]: expected an array of 4 numbers, got an array of 3"},
        {"\"pins\": [{\"body\": 0, \"vertices\": [0], \"offset\": [[1, 0, 0, 0], [1, 0, 0, 0]]}],",
         "s.json:3: pins[0].offset[1]: expected a time after the previous row's (1 s), got 1"},
        {"\"pins\": [{\"body\": 0, \"vertices\": [0], \"offset\": []}],",
         "s.json:3: pins[0].offset: expected an array of rows [time in s, 3 values (m)], got an array "
         "of 0"},
        {"\"pins\": [{\"body\": 0, \"vertices\": [0], \"compliance\": 0}],",
         "s.json:3: pins[0].compliance: expected a number > 0 (m/N), got 0"},
        {"\"forces\": [{\"body\": 0, \"per\": \"kilo\"}],",
         "s.json:3: forces[0].per: expected one of \"vertex\", \"group\", \"mass\", got \"kilo\""},
        {"\"wind\": [{\"body\": 0, \"drag\": -1}],",
         "s.json:3: wind[0].drag: expected a number >= 0 (N s/m^3), got -1"},
        {"\"friction\": [{\"body\": \"box\", \"collider\": \"roof\", \"value\": 1}],",
         "s.json:3: friction[0].collider: there is no collider named \"roof\"; the scene has "
         "\"floor\""},
        {"\"friction\": [{\"body\": \"box\", \"collider\": \"floor\", \"value\": -1}],",
         "s.json:3: friction[0].value: expected a number in [0, 1000], got -1"},
        {"\"friction\": [{\"body\": \"box\", \"collider\": \"floor\", \"value\": 1},\n"
         "{\"body\": 0, \"collider\": 0, \"value\": 0.5}],",
         "s.json:4: friction[1]: friction[0] is of the same two"},
        {"\"body_pairs\": [{\"body\": 0, \"to_body\": \"nobody\", \"contact\": true}],",
         "s.json:3: body_pairs[0].to_body: there is no body named \"nobody\"; the scene has \"box\""},
        {"\"body_pairs\": [{\"body\": 0, \"to_body\": 0, \"contact\": true},\n"
         "{\"body\": \"box\", \"to_body\": \"box\", \"contact\": false}],",
         "s.json:4: body_pairs[1]: body_pairs[0] is of the same two"},
        {"\"wind\": [{\"body\": 0, \"velocity\": [1, 0, 0], \"table\": [[0, 1, 0, 0]]}],",
         "s.json:3: wind[0].table: expected it or \"velocity\", which it replaces, got both"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        expect(ctx, load_line(ctx, examples[i].text, 0, NULL), PL_ERROR_ARGUMENT, examples[i].message);
    assert_int_equal(load_line(ctx, "", 0, NULL), PL_OK);
    pl_context_destroy(ctx);
}

static void body_keys(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const example examples[] = {
        {"\"material\": {\n    \"young\": -3}", "s.json:5: bodies[0].material.young: expected a number "
                                                "> 0 (Pa), got -3"},
        {"\"material\": {\"young\": \"soft\"}", "s.json:4: bodies[0].material.young: expected a number "
                                                "> 0 (Pa), an array of one per element, or "
                                                "{\"group\": number}, got \"soft\""},
        {"\"material\": {\"young\": [1, 2]}",
         "s.json:4: bodies[0].material.young: expected 5 values, one per tet, got 2"},
        {"\"material\": {\"young\": [1, 2, 3,\n4, 5,\n-6]}",
         "s.json:6: bodies[0].material.young[5]: expected a number > 0 (Pa), got -6"},
        {"\"material\": {\"young\": {\"core\": 1}}", "s.json:4: bodies[0].material.young.core: the "
                                                     "mesh has no group of tets \"core\"; it has none"},
        {"\"material\": {\"model\": \"neohookean\"}",
         "s.json:4: bodies[0].material.model: expected one of \"arap\", \"corotated\", "
         "\"neo_hookean\", got \"neohookean\"; did you mean \"neo_hookean\"?"},
        {"\"material\": {\"young\": {\"core\": 0}}",
         "s.json:4: bodies[0].material.young.core: expected a number > 0 (Pa), got 0"},
        {"\"material\": {\"young\": 1e16}",
         "s.json:4: bodies[0].material.young: expected > 0 and <= 1e+15 Pa, got 1e+16"},
        {"\"material\": {\"poisson\": 0.5}", "s.json:4: bodies[0].material.poisson: expected a number "
                                             "in [0, 0.499], got 0.5"},
        {"\"material\": {\"youngs\": 1}",
         "s.json:4: bodies[0].material.youngs: unknown key in a material; did you mean \"young\"?"},
        {"\"transform\": {\"scale\": 0}",
         "s.json:4: bodies[0].transform.scale: expected a number > 0, got 0"},
        {"\"transform\": {\"rotate\": {\"axis\": [0, 0, 0], \"degrees\": 1}}",
         "s.json:4: bodies[0].transform.rotate: axis: expected a direction, got zero"},
        {"\"transform\": {\"rotate\": {\"axis\": [0, 0, 1]}}",
         "s.json:4: bodies[0].transform.rotate: \"degrees\" is missing in this rotation: expected a "
         "number (degrees)"},
        {"\"positions\": [[0, 0, 0]]",
         "s.json:4: bodies[0].positions: expected 8 rows, one per vertex, got 1"},
        {"\"lumped_equally\": 1", "s.json:4: bodies[0].lumped_equally: expected true or false, got 1"},
        {"\"name\": 1", NULL}, /* given twice: a parse error */
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (examples[i].message)
            expect(ctx, load_body(ctx, examples[i].text), PL_ERROR_ARGUMENT, examples[i].message);
        else
            assert_int_equal(load_body(ctx, examples[i].text), PL_ERROR_PARSE);
    pl_context_destroy(ctx);
}

static void meshes_and_shapes(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const example meshes[] = {
        {"{}", "s.json:2: bodies[0].mesh: expected one of \"box\", \"hollow_box\", \"grid\", \"bar\", "
               "\"cylinder\", "
               "\"ellipsoid\", "
               "\"rectangle\", \"disc\", \"file\", \"arrays\", \"shape\", \"surface\""},
        {"{\"file\": \"a.msh\", \"vertices\": 3}",
         "s.json:2: bodies[0].mesh.vertices: does not go with \"file\""},
        {"{\"box\": {\"size\": [1, 1, 1]}}",
         "s.json:2: bodies[0].mesh.box: \"cell\" is missing in this box: expected a number > 0 (m)"},
        {"{\"box\": {\"size\": [1, -1, 1], \"cell\": 1}}",
         "s.json:2: bodies[0].mesh.box.size[1]: expected a number > 0 (m), got -1"},
        {"{\"grid\": {\"nodes\": [1, 2, 2], \"spacing\": 1}}",
         "s.json:2: bodies[0].mesh.grid.nodes[0]: expected a whole number >= 2, got 1"},
        {"7", "s.json:2: bodies[0].mesh: expected an object (a mesh), got 7"},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
        snprintf(text, sizeof text, "{\"version\": 1, \"bodies\": [\n{\"mesh\": %s}]}", meshes[i].text);
        expect(ctx, load_text(ctx, text), PL_ERROR_ARGUMENT, meshes[i].message);
    }
    const char bar[] =
        "{\"version\": 1, \"bodies\": [{\"mesh\": {\"bar\": {\"length\": 1, \"width\": 1, "
        "\"height\": 1, \"cell\": 1}}}],\n"
        "\"pins\": [{\"body\": 0, \"vertices\": {\"group\": \"feet\"}}]}";
    expect(ctx, load_text(ctx, bar), PL_ERROR_ARGUMENT,
           "s.json:2: pins[0].vertices.group: the mesh of \"body0\" has no group \"feet\"; it has "
           "\"left\", \"right\"");
    const char task[] = "{\"version\": 1, \"scene\": \"a.json\", \"unknowns\": []}";
    expect(ctx, load_text(ctx, task), PL_ERROR_PARSE,
           "s.json:1: this is a task, which `pliant fit` and pl_task_load read, not a scene");
    const char two[] =
        "{\"version\": 1, \"bodies\": [{\"mesh\": {\"disc\": {\"radius\": 1, \"cell\": 1},\n"
        "\"file\": \"a.msh\"}}]}";
    assert_int_equal(load_text(ctx, two), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "s.json:2: bodies[0].mesh.file: a mesh is one of"));
    assert_non_null(strstr(pl_context_error(ctx), "\"disc\" is given already"));

    /* Too fine to hold, missing, of no known name: the library's own messages, with the place before
     * them. */
    const struct {
        const char *mesh, *start;
        pl_status status;
    } refused[] = {
        {"{\"box\": {\"size\": [1, 1, 1], \"cell\": 1e-9}}",
         "s.json:1: bodies[0].mesh.box.cell: 1e-09 m", PL_ERROR_ARGUMENT},
        {"{\"file\": \"/nowhere/a.msh\"}", "s.json:1: bodies[0].mesh.file: ", PL_ERROR_FILE},
        {"{\"surface\": \"/nowhere/a.obj\"}", "s.json:1: bodies[0].mesh.surface: ", PL_ERROR_FILE},
        {"{\"shape\": \"no such body\"}", "s.json:1: bodies[0].mesh.shape: ", PL_ERROR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(text, sizeof text, "{\"version\": 1, \"bodies\": [{\"mesh\": %s}]}", refused[i].mesh);
        pl_status status = load_text(ctx, text);
        if (status != refused[i].status ||
            strncmp(pl_context_error(ctx), refused[i].start, strlen(refused[i].start)) != 0)
            fail_msg("%s: got %s: %s", refused[i].mesh, pl_status_name(status), pl_context_error(ctx));
    }

    const example shapes[] = {
        {"{\"sphere\": {\"radius\": 0}}",
         "s.json:2: colliders[0].shape.sphere.radius: expected a number in (0, 1e+09] (m), got 0"},
        {"{\"sphere\": {}}", "s.json:2: colliders[0].shape.sphere: \"radius\" is missing in this "
                             "sphere: expected a number in (0, 1e+09] (m)"},
        {"{\"half_space\": {\"normal\": 1}}", "s.json:2: colliders[0].shape.half_space.normal: unknown "
                                              "key in a half space; expected nothing"},
        {"{\"cone\": {}}",
         "s.json:2: colliders[0].shape.cone: unknown key in a shape; expected one of \"half_space\", "
         "\"sphere\", \"box\", \"cylinder\", \"capsule\", \"mesh\""},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        snprintf(text, sizeof text,
                 "{\"version\": 1, \"bodies\": [], \"colliders\": [\n{\"shape\": %s}]}",
                 shapes[i].text);
        expect(ctx, load_text(ctx, text), PL_ERROR_ARGUMENT, shapes[i].message);
    }
    pl_context_destroy(ctx);
}

static void cables(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
#define TO  "{\"body\": 0, \"vertex\": 7}"
#define AT0 "s.json:3: cables[0].points[0]"
    const example examples[] = {
        {"\"points\": []", "s.json:3: cables[0]: a cable needs at least two points, not 0"},
        {"\"points\": [" TO "]", "s.json:3: cables[0]: a cable needs at least two points, not 1"},
        {"\"length\": 1", "s.json:3: cables[0]: \"points\" is missing in this cable: expected an array "
                          "of objects"},
        {"\"points\": [{\"vertex\": 0}, " TO "]",
         AT0 ": \"body\" is missing in this point: expected a name or an index"},
        {"\"points\": [{\"body\": 0}, " TO "]",
         AT0 ": expected one of \"vertex\", \"vertices\", \"at\", \"fixed\""},
        {"\"points\": [{\"body\": 0, \"fixed\": [0, 0, 0]}, " TO "]",
         AT0 ".body: does not go with \"fixed\""},
        {"\"points\": [{\"body\": 0, \"vertex\": 1, \"at\": [0, 0, 0]}, " TO "]",
         AT0 ".at: a point is one of \"vertex\", \"vertices\", \"at\", \"fixed\"; \"vertex\" is given "
             "already"},
        {"\"points\": [{\"body\": 0, \"vertex\": 1, \"weights\": [1]}, " TO "]",
         AT0 ".weights: does not go with \"vertex\""},
        {"\"points\": [{\"body\": \"arm\", \"vertex\": 1}, " TO "]",
         AT0 ".body: there is no body named \"arm\"; the scene has \"box\""},
        {"\"points\": [" TO ", {\"body\": 0, \"vertex\": 8}]",
         "s.json:3: cables[0].points[1]: vertices[0] = 8: body \"box\" has 8 vertices"},
        {"\"points\": [{\"body\": 0, \"vertices\": [0, 1], \"weights\": [0.5]}, " TO "]",
         AT0 ".weights: expected 1 to 4 vertices, and as many weights"},
        {"\"points\": [{\"body\": 0, \"vertices\": [0, 1], \"weights\": [0.5, 0.6]}, " TO "]",
         AT0 ": the weights add up to 1.1, expected 1"},
        {"\"points\": [{\"body\": 0, \"vertices\": [1, 0, 1]}, " TO "]",
         AT0 ": vertices[2] = 1 comes twice"},
        {"\"name\": \"\", \"points\": [" TO ", {\"fixed\": [0, 0, 0]}]",
         "s.json:3: cables[0].name: name is empty"},
        {"\"points\": [{\"body\": 0, \"at\": [0.5, 0.5, 1.25]}, " TO "]",
         AT0 ".at: [0.5, 0.5, 1.25] is 0.25 m off \"box\" at the start"},
        {"\"points\": [" TO ", " TO "]",
         "s.json:3: cables[0].points: points[0] and points[1] are the same point"},
        {"\"points\": [" TO ", {\"fixed\": [0, 0, 0]}, {\"fixed\": [0, 1, 0]}]",
         "s.json:3: cables[0].points: points[1] and points[2] are both fixed: nothing moves between "
         "them"},
        {"\"points\": [" TO ", {\"fixed\": [0, 0]}]",
         "s.json:3: cables[0].points[1].fixed: expected an array of 3 numbers (m), got an array of 2"},
        {"\"points\": [" TO ", {\"fixed\": [0, 0, 0]}], \"length\": -1",
         "s.json:3: cables[0].length: expected a number >= 0 (m), got -1"},
        {"\"points\": [" TO ", {\"fixed\": [0, 0, 0]}], \"compliance\": -1",
         "s.json:3: cables[0].compliance: expected a number >= 0 (m/N), got -1"},
        {"\"points\": [" TO ", {\"fixed\": [0, 0, 0]}], \"table\": [[0, 1], [1, 0]]",
         "s.json:3: cables[0]: length in the table = 0: expected >= 1e-09 and < 1e+15"},
        {"\"points\": [" TO ", {\"fixed\": [0, 0, 0]}], \"one_way\": true",
         "s.json:3: cables[0].one_way: unknown key in a cable; did you mean \"two_way\"?"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"version\": 1, \"bodies\": [{\"name\": \"box\", \"mesh\": {\"grid\": "
                 "{\"nodes\": [2, 2, 2], \"spacing\": 1}}}],\n\"cables\": [\n{%s}]}",
                 examples[i].text);
        expect(ctx, load_text(ctx, text), PL_ERROR_ARGUMENT, examples[i].message);
    }
    pl_context_destroy(ctx);
}

static void broken_files(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    expect(ctx, load_text(ctx, "[]"), PL_ERROR_PARSE, "s.json:1: expected an object (a scene)");
    expect(ctx, load_text(ctx, "{}"), PL_ERROR_ARGUMENT,
           "s.json:1: \"version\" is missing in this scene: expected a whole number equal to 1");
    expect(ctx, load_text(ctx, "{\"version\": 2, \"bodies\": []}"), PL_ERROR_ARGUMENT,
           "s.json:1: version: expected a whole number equal to 1, got 2");
    const char *const broken[] = {"",
                                  "{",
                                  "{\"version\": NaN}",
                                  "{\"version\": 1e999}",
                                  "{\"version\": 1, \"version\": 1}",
                                  "{\"version\": 1} trailing",
                                  "\xff\xfe",
                                  "{\"name\": \"\xff\"}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_int_equal(load_text(ctx, broken[i]), PL_ERROR_PARSE);
        assert_non_null(strstr(pl_context_error(ctx), "s.json:1: not valid JSON: "));
    }
    assert_int_equal(load_text(ctx, "{\n\"version\": 1,\n\"bodies\": [,]}"), PL_ERROR_PARSE);
    assert_non_null(strstr(pl_context_error(ctx), "s.json:3: "));

    pl_scene *scene = NULL;
    expect(ctx, pl_scene_load(ctx, "/nowhere/s.json", 0, NULL, &scene, NULL), PL_ERROR_FILE,
           "/nowhere/s.json: cannot open: No such file or directory");
    assert_int_equal(pl_scene_load(ctx, "/tmp", 0, NULL, &scene, NULL), PL_ERROR_FILE);
    const char names[] = "{\"version\": 1, \"bodies\": [], \"colliders\": [{\"name\": \"a\", "
                         "\"shape\": {\"half_space\": "
                         "{}}},\n{\"name\": \"a\", \"shape\": {\"half_space\": {}}}]}";
    expect(ctx, load_text(ctx, names), PL_ERROR_ARGUMENT,
           "s.json:2: colliders[1].name: colliders[0] is named \"a\" already");
    pl_context_destroy(ctx);
}

static void bad_overrides(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const example examples[] = {
        {"bodies[0].material.young=-3",
         "override 'bodies[0].material.young=-3': bodies[0].material.young: expected a number > 0 "
         "(Pa), got -3"},
        {"bodies.box.mass=1",
         "override 'bodies.box.mass=1': bodies[0].mass: unknown key in a body; did you mean "
         "\"mesh\"?"},
        {"steps", "override 'steps': expected path=value"},
        {"=3", "override '=3': expected path=value"},
        {"bodies[1].name=a", "override 'bodies[1].name=a': no item 1: expected an index below 1"},
        {"bodies.ball.name=a", "override 'bodies.ball.name=a': nothing there is named ball"},
        {"bodies[x].name=a", "override 'bodies[x].name=a': cannot read the path at [x].name=a"},
        {"bodies..name=a", "override 'bodies..name=a': nothing there is named "},
        {"version.major=1", "override 'version.major=1': not inside an object or array: major"},
        {"steps=many", "override 'steps=many': steps: expected a whole number >= 0, got \"many\""},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        pl_status status = load_line(ctx, "", 1, &examples[i].text);
        if (strstr(examples[i].text, "..")) /* wording does not matter: it must not pass */
            assert_int_equal(status, PL_ERROR_ARGUMENT);
        else
            expect(ctx, status, PL_ERROR_ARGUMENT, examples[i].message);
    }
    pl_context_destroy(ctx);
}

/* Every prefix of a good file fails with a message or, never, crashes. */
static void truncated_files(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const char text[] = "{\"version\": 1, \"name\": \"a\\\"b\", \"bodies\": [{\"mesh\": {\"grid\": "
                        "{\"nodes\": [2, 2, 2], "
                        "\"spacing\": 1}}, \"material\": {\"young\": 1e4}}]}";
    char *copy = malloc(sizeof text); /* on the heap, so that sanitizers see reads past its end */
    assert_non_null(copy);
    for (size_t length = 0; length < sizeof text - 1; length++) {
        char *exact = realloc(copy, length ? length : 1);
        assert_non_null(exact);
        copy = exact;
        memcpy(copy, text, length);
        pl_scene *scene = NULL;
        assert_int_equal(pl_scene_load_text(ctx, copy, length, "t", NULL, 0, NULL, &scene, NULL),
                         PL_ERROR_PARSE);
        assert_null(scene);
    }
    free(copy);
    pl_context_destroy(ctx);
}

/* What a load with one override (NULL: none) logs. */
static void expect_log(const char *keys, const char *override, const char *expected)
{
    char text[512];
    test_log log = {""};
    pl_context *ctx = test_context_logging(&log);
    pl_scene *scene = NULL;
    snprintf(text, sizeof text,
             "{\"version\": 1, \"bodies\": [{\"mesh\": {\"grid\": {\"nodes\": [2, 2, 2], "
             "\"spacing\": 1}},\n\"material\": {%s}}]}",
             keys);
    assert_ok(ctx, pl_scene_load_text(ctx, text, strlen(text), "s.json", NULL, override ? 1 : 0,
                                      &override, &scene, NULL));
    assert_string_equal(log.text, expected);
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

static void values_without_use(void **unused)
{
    (void)unused;
    const char *set = "bodies[0].material.model=arap";
    expect_log("\"model\": \"arap\", \"poisson\": 0.3", NULL,
               "s.json:2: bodies[0].material.poisson: not used: \"arap\" has no Poisson's ratio\n");
    expect_log("\"model\": \"arap\"", "bodies[0].material.poisson=0.2",
               "override 'bodies[0].material.poisson=0.2': bodies[0].material.poisson: not used: "
               "\"arap\" has no Poisson's ratio\n");
    expect_log("\"model\": \"arap\"", NULL, "");
    expect_log(
        "\"thickness\": 1e-3", NULL,
        "s.json:2: bodies[0].material.thickness: not used: that is of cloth, the body is a solid\n");
    expect_log("\"poisson\": 0.3", set, "");
    expect_log("\"model\": \"corotated\", \"poisson\": 0.3", NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scene_keys),        cmocka_unit_test(body_keys),
        cmocka_unit_test(meshes_and_shapes), cmocka_unit_test(cables),
        cmocka_unit_test(broken_files),      cmocka_unit_test(bad_overrides),
        cmocka_unit_test(truncated_files),   cmocka_unit_test(values_without_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
