/* docs/scene.schema.json against the tables the loader works with: the same text, and key by key. */
#include "common.h"

#include "io/scene_spec.h"

#include <pliant/io.h>

static char *read_document(const char *name)
{
    char path[1024];
    const char *source = getenv("PLIANT_SOURCE");
    snprintf(path, sizeof path, "%s/docs/%s", source ? source : ".", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is missing", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void published_schema_is_current(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    char *text = NULL, *published = read_document("scene.schema.json");
    assert_ok(ctx, pl_scene_schema(ctx, &text));
    if (strcmp(text, published) != 0)
        fail_msg("docs/scene.schema.json is out of date: pliant schema > docs/scene.schema.json");
    pl_free(ctx, text);
    free(published);
    pl_context_destroy(ctx);
}

static int keys_seen;

static void compare(const pl_spec *spec, const json_t *schema);

/* The schema of a key's own object, if it has one, against its specification. */
static void compare_key(const pl_key *key, const json_t *schema)
{
    keys_seen++;
    assert_non_null(json_string_value(json_object_get(schema, "description")));
    if (key->kind == PL_KEY_OBJECT)
        compare(key->spec, schema);
    if (key->kind == PL_KEY_LIST)
        compare(key->spec, json_object_get(schema, "items"));
}

static bool is_required(const json_t *schema, const char *name)
{
    const json_t *required = json_object_get(schema, "required");
    for (size_t i = 0; i < json_array_size(required); i++)
        if (strcmp(json_string_value(json_array_get(required, i)), name) == 0)
            return true;
    return false;
}

/* Both ways: every key is a property, every property is a key. */
static void compare_properties(const pl_spec *spec, const json_t *schema, const char *only)
{
    const json_t *properties = json_object_get(schema, "properties");
    assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
    size_t expected = 0;
    for (int i = 0; i < spec->key_count; i++) {
        const pl_key *key = &spec->keys[i];
        if (only && strcmp(only, key->name) != 0 && !pl_key_goes_with(key, only))
            continue;
        expected++;
        const json_t *property = json_object_get(properties, key->name);
        if (!property)
            fail_msg("%s.%s is not in the schema", spec->title, key->name);
        bool needed = key->required || (only && strcmp(only, key->name) == 0);
        assert_int_equal(is_required(schema, key->name), needed);
        compare_key(key, property);
    }
    assert_int_equal(json_object_size(properties), expected);
}

static void compare(const pl_spec *spec, const json_t *schema)
{
    if (!spec->one_of) {
        compare_properties(spec, schema, NULL);
        return;
    }
    const json_t *choices = json_object_get(schema, "oneOf");
    size_t choice = 0;
    for (int i = 0; i < spec->key_count; i++)
        if (!spec->keys[i].goes_with)
            compare_properties(spec, json_array_get(choices, choice++), spec->keys[i].name);
    assert_int_equal(json_array_size(choices), choice);
}

static void every_key_is_in_the_schema_and_back(void **unused)
{
    (void)unused;
    char *published = read_document("scene.schema.json");
    json_t *schema = json_loads(published, 0, NULL);
    assert_non_null(schema);
    assert_string_equal(json_string_value(json_object_get(schema, "$schema")),
                        "https://json-schema.org/draft/2020-12/schema");
    keys_seen = 0;
    compare(&pl_spec_scene, schema);
    assert_true(keys_seen > 80);
    json_decref(schema);
    free(published);
}

static void check_explained(const pl_spec *spec, const char *text)
{
    for (int i = 0; i < spec->key_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "`%s`", spec->keys[i].name);
        if (!strstr(text, name))
            fail_msg("docs/scenes.md does not explain %s of a %s", name, spec->title);
        if (spec->keys[i].spec)
            check_explained(spec->keys[i].spec, text);
    }
}

static void every_key_is_explained(void **unused)
{
    (void)unused;
    char *text = read_document("scenes.md");
    check_explained(&pl_spec_scene, text);
    free(text);
}

/* The published default of a key is what a scene without the key gets. */
static void defaults_are_the_loaders(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    char *published = read_document("scene.schema.json");
    json_t *schema = json_loads(published, 0, NULL);
    const json_t *scene_keys = json_object_get(schema, "properties");
    const char text[] =
        "{\"version\": 1, \"bodies\": [{\"mesh\": {\"grid\": {\"nodes\": [2, 2, 2], \"spacing\": "
        "1}}}]}";
    pl_scene *scene = NULL;
    pl_scene_file_info info;
    assert_ok(ctx, pl_scene_load_text(ctx, text, sizeof text - 1, "t", NULL, 0, NULL, &scene, &info));
    pl_scene_def def = pl_scene_get_def(scene);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"time_step", def.time_step},
                   {"tolerance", def.tolerance},
                   {"max_iterations", def.max_iterations},
                   {"contact_epsilon2", def.contact_epsilon2},
                   {"steps", info.steps}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *key = json_object_get(scene_keys, numbers[i].name);
        assert_true(json_number_value(json_object_get(key, "default")) == numbers[i].value);
    }
    const json_t *material = json_object_get(
        json_object_get(
            json_object_get(
                json_object_get(json_object_get(json_object_get(scene_keys, "bodies"), "items"),
                                "properties"),
                "material"),
            "properties"),
        "young");
    double young[5];
    assert_ok(ctx, pl_params_get(pl_scene_params(scene), PL_YOUNG, 0, 5, young));
    assert_true(json_number_value(json_object_get(material, "default")) == young[0]);
    pl_scene_destroy(scene);
    json_decref(schema);
    free(published);
    pl_context_destroy(ctx);
}

/* Lines are found whatever the text's layout. */
static void lines_of_places(void **unused)
{
    (void)unused;
    const char text[] =
        "\n\n{ \"a\" : [1,\n 2, {\"b\\\"]\": \"x,}\\\"\", \n\n\"c\"\n:[[],\n[5]]}\n],\"d\": 1}";
    const pl_place a = {NULL, "a", 0}, a2 = {&a, NULL, 2}, c = {&a2, "c", 0}, c1 = {&c, NULL, 1};
    const pl_place c10 = {&c1, NULL, 0}, d = {NULL, "d", 0}, none = {&c, NULL, 7}, a1 = {&a, NULL, 1};
    const struct {
        const pl_place *place;
        int line;
    } places[] = {{NULL, 3}, {&a, 3},   {&a1, 4}, {&a2, 4},  {&c, 6},
                  {&c1, 8},  {&c10, 8}, {&d, 9},  {&none, 6}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_int_equal(pl_place_line(text, sizeof text - 1, places[i].place), places[i].line);
    char path[64];
    pl_place_text(&c10, path, sizeof path);
    assert_string_equal(path, "a[2].c[1][0]");
    char small[6];
    pl_place_text(&c10, small, sizeof small);
    assert_string_equal(small, "a[2].");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_schema_is_current),
        cmocka_unit_test(every_key_is_in_the_schema_and_back),
        cmocka_unit_test(every_key_is_explained),
        cmocka_unit_test(defaults_are_the_loaders),
        cmocka_unit_test(lines_of_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
