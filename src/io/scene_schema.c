/*
 * The JSON Schema (draft 2020-12) of scene files, printed from the tables of scene_keys.c. Defaults are
 * read out of the C structs' own default functions, through the same offsets the loader writes to.
 */
#include "io/scene_spec.h"

#include <pliant/io.h>

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *object_schema(const pl_spec *spec, const char *defaults);

static void put(json_t *schema, const char *name, json_t *value)
{
    json_object_set_new(schema, name, value);
}

/* Whole numbers print as such: 100, not 100.0. */
static json_t *number(double value)
{
    return value == floor(value) && fabs(value) < 1e9 ? json_integer((json_int_t)value)
                                                      : json_real(value);
}

static void put_range(json_t *schema, const pl_key *key)
{
    if (!pl_key_ranged(key))
        return;
    put(schema, key->above ? "exclusiveMinimum" : "minimum", number(key->lower));
    if (key->upper < HUGE_VAL)
        put(schema, "maximum", number(key->upper));
}

static json_t *number_schema(const pl_key *key, bool whole)
{
    json_t *schema = json_pack("{s:s}", "type", whole ? "integer" : "number");
    put_range(schema, key);
    return schema;
}

/* Arrays of `item`; length < 0 = any. Takes the item. */
static json_t *array_schema(json_t *item, int length)
{
    json_t *schema = json_pack("{s:s, s:o}", "type", "array", "items", item);
    if (length >= 0) {
        put(schema, "minItems", json_integer(length));
        put(schema, "maxItems", json_integer(length));
    }
    return schema;
}

static json_t *plain_rows(int width)
{
    return array_schema(array_schema(json_pack("{s:s}", "type", "number"), width), -1);
}

static json_t *field_schema(const pl_key *key)
{
    return json_pack("{s:[o, o, {s:s, s:o}]}", "oneOf", number_schema(key, false),
                     array_schema(number_schema(key, false), -1), "type", "object",
                     "additionalProperties", number_schema(key, false));
}

static json_t *indices_schema(int length)
{
    return array_schema(json_pack("{s:s, s:i}", "type", "integer", "minimum", 0), length);
}

static json_t *sets_schema(void)
{
    return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", indices_schema(-1));
}

static json_t *vertices_schema(void)
{
    json_t *box = plain_rows(3);
    put(box, "minItems", json_integer(2));
    put(box, "maxItems", json_integer(2));
    json_t *group = json_pack("{s:s, s:{s:{s:s}}, s:[s], s:b}", "type", "object", "properties", "group",
                              "type", "string", "required", "group", "additionalProperties", 0);
    json_t *region = json_pack("{s:s, s:{s:o}, s:[s], s:b}", "type", "object", "properties", "box", box,
                               "required", "box", "additionalProperties", 0);
    return json_pack("{s:[o, o, o]}", "oneOf", indices_schema(-1), group, region);
}

static json_t *choice_schema(const pl_key *key)
{
    json_t *names = json_array();
    for (int i = 0; pl_key_choice(key, i); i++)
        json_array_append_new(names, json_string(pl_key_choice(key, i)));
    return json_pack("{s:o}", "enum", names);
}

static json_t *rows_schema(int width)
{
    json_t *rows = plain_rows(width);
    put(rows, "minItems", json_integer(1));
    return rows;
}

static json_t *kind_schema(const pl_key *key, const char *defaults)
{
    switch (key->kind) {
    case PL_KEY_NUMBER:
        return number_schema(key, false);
    case PL_KEY_INTEGER:
        return number_schema(key, true);
    case PL_KEY_BOOLEAN:
        return json_pack("{s:s}", "type", "boolean");
    case PL_KEY_TEXT:
        return json_pack("{s:s}", "type", "string");
    case PL_KEY_CHOICE:
        return choice_schema(key);
    case PL_KEY_VECTOR:
        return array_schema(number_schema(key, false), key->length);
    case PL_KEY_INTEGERS:
        return array_schema(number_schema(key, true), key->length);
    case PL_KEY_OBJECT:
        return object_schema(key->spec,
                             defaults && key->offset != PL_KEY_UNREAD ? defaults + key->offset : NULL);
    case PL_KEY_LIST:
        return array_schema(object_schema(key->spec, NULL), -1);
    case PL_KEY_ROWS:
        return rows_schema(key->length + 1);
    case PL_KEY_POINTS:
        return plain_rows(key->length);
    case PL_KEY_POLYLINES:
        return array_schema(plain_rows(key->length), -1);
    case PL_KEY_CORNERS:
        return array_schema(indices_schema(key->length), -1);
    case PL_KEY_SETS:
        return sets_schema();
    case PL_KEY_FIELD:
        return field_schema(key);
    case PL_KEY_VERTICES:
    case PL_KEY_ELEMENTS:
        return vertices_schema();
    case PL_KEY_REFERENCE:
        return json_pack("{s:[s, s]}", "type", "string", "integer");
    }
    return NULL;
}

static json_t *default_value(const pl_key *key, const char *at)
{
    json_t *array;
    switch (key->kind) {
    case PL_KEY_NUMBER:
    case PL_KEY_FIELD:
        return number(*(const double *)at);
    case PL_KEY_INTEGER:
        return json_integer(*(const int *)at);
    case PL_KEY_BOOLEAN:
        return json_boolean(*(const bool *)at);
    case PL_KEY_CHOICE:
        return *(const int *)at < 0 ? NULL : json_string(pl_key_choice(key, *(const int *)at));
    case PL_KEY_VECTOR:
        array = json_array();
        for (int i = 0; i < key->length; i++)
            json_array_append_new(array, number(((const double *)at)[i]));
        return array;
    default:
        return NULL;
    }
}

static json_t *key_schema(const pl_key *key, const char *defaults)
{
    json_t *schema = kind_schema(key, defaults);
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", key->doc, key->unit ? " Unit: " : "",
             key->unit ? key->unit : "");
    put(schema, "description", json_string(text));
    if (defaults && !key->required && key->offset != PL_KEY_UNREAD) {
        json_t *value = default_value(key, defaults + key->offset);
        if (value)
            put(schema, "default", value);
    }
    return schema;
}

/* Exactly one alternative is there: each is an object of its own, with what goes with it. */
static json_t *one_of_schema(const pl_spec *spec, const char *defaults)
{
    json_t *choices = json_array();
    for (int i = 0; i < spec->key_count; i++) {
        const pl_key *key = &spec->keys[i];
        if (key->goes_with)
            continue;
        json_t *properties = json_object(), *required = json_array();
        put(properties, key->name, key_schema(key, defaults));
        json_array_append_new(required, json_string(key->name));
        for (int j = 0; j < spec->key_count; j++) {
            const pl_key *other = &spec->keys[j];
            if (!pl_key_goes_with(other, key->name))
                continue;
            put(properties, other->name, key_schema(other, defaults));
            if (other->required)
                json_array_append_new(required, json_string(other->name));
        }
        json_array_append_new(choices,
                              json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties",
                                        properties, "required", required, "additionalProperties", 0));
    }
    return json_pack("{s:o}", "oneOf", choices);
}

static json_t *plain_schema(const pl_spec *spec, const char *defaults)
{
    json_t *properties = json_object(), *required = json_array();
    for (int i = 0; i < spec->key_count; i++) {
        const pl_key *key = &spec->keys[i];
        put(properties, key->name, key_schema(key, defaults));
        if (key->required)
            json_array_append_new(required, json_string(key->name));
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required",
                     required, "additionalProperties", 0);
}

static json_t *object_schema(const pl_spec *spec, const char *defaults)
{
    _Alignas(max_align_t) char own[1024];
    assert(spec->size <= sizeof own);
    if (spec->defaults) {
        spec->defaults(own);
        defaults = own;
    }
    return spec->one_of ? one_of_schema(spec, defaults) : plain_schema(spec, defaults);
}

pl_status pl_spec_schema(pl_context *ctx, const pl_spec *spec, const char *title, char **text)
{
    *text = NULL;
    json_t *schema = json_pack("{s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
                               "title", title);
    json_t *object = object_schema(spec, NULL);
    json_object_update(schema, object);
    /* 15 digits: enough for every default, and 0.3 prints as 0.3. */
    char *dump = json_dumps(schema, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    size_t length = dump ? strlen(dump) : 0;
    if (dump && (*text = pl_alloc(ctx, length + 2, 1))) {
        memcpy(*text, dump, length);
        (*text)[length] = '\n';
    }
    free(dump);
    json_decref(object);
    json_decref(schema);
    return *text ? PL_OK : PL_ERROR_MEMORY;
}

pl_status pl_scene_schema(pl_context *ctx, char **text)
{
    return pl_spec_schema(ctx, &pl_spec_scene, "Pliant scene", text);
}
