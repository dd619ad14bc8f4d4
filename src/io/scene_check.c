/*
 * Checks JSON against a specification, and reads what passed into C structs. Messages say what was
 * expected, in which unit and range, and what was found; a key nobody knows gets the nearest known one.
 */
#include "io/scene_spec.h"

#include <limits.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------- wording */

bool pl_key_ranged(const pl_key *key)
{
    return key->lower != 0 || key->upper != 0;
}

static void describe_range(const pl_key *key, char *out, size_t size)
{
    if (!pl_key_ranged(key))
        out[0] = '\0';
    else if (key->lower == key->upper)
        snprintf(out, size, " equal to %g", key->lower);
    else if (key->upper >= HUGE_VAL)
        snprintf(out, size, " %s %g", key->above ? ">" : ">=", key->lower);
    else
        snprintf(out, size, " in %s%g, %g]", key->above ? "(" : "[", key->lower, key->upper);
}

const char *pl_key_choice(const pl_key *key, int index)
{
    return key->choice ? key->choice(index) : key->choices[index];
}

static void describe_choices(const pl_key *key, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "one of");
    for (int i = 0; pl_key_choice(key, i) && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s \"%s\"", i ? "," : "", pl_key_choice(key, i));
}

static void describe_keys(const pl_spec *spec, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s", spec->key_count ? "one of" : "nothing");
    for (int i = 0; i < spec->key_count && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s \"%s\"", i ? "," : "", spec->keys[i].name);
}

/* "expected a number > 0 (Pa)" without the first word. */
static void describe_expected(const pl_key *key, char *out, size_t size)
{
    char range[64], unit[48] = "";
    describe_range(key, range, sizeof range);
    if (key->unit)
        snprintf(unit, sizeof unit, " (%s)", key->unit);
    switch (key->kind) {
    case PL_KEY_NUMBER:
        snprintf(out, size, "a number%s%s", range, unit);
        break;
    case PL_KEY_INTEGER:
        snprintf(out, size, "a whole number%s%s", range, unit);
        break;
    case PL_KEY_BOOLEAN:
        snprintf(out, size, "true or false");
        break;
    case PL_KEY_TEXT:
        snprintf(out, size, "text");
        break;
    case PL_KEY_CHOICE:
        describe_choices(key, out, size);
        break;
    case PL_KEY_VECTOR:
        snprintf(out, size, "an array of %d numbers%s%s", key->length, range, unit);
        break;
    case PL_KEY_INTEGERS:
        if (key->length < 0)
            snprintf(out, size, "an array of whole numbers%s%s", range, unit);
        else
            snprintf(out, size, "an array of %d whole numbers%s%s", key->length, range, unit);
        break;
    case PL_KEY_OBJECT:
        snprintf(out, size, "an object");
        break;
    case PL_KEY_LIST:
        snprintf(out, size, "an array of objects");
        break;
    case PL_KEY_ROWS:
        snprintf(out, size, "an array of rows [time in s, %d value%s%s]", key->length,
                 key->length == 1 ? "" : "s", unit);
        break;
    case PL_KEY_POINTS:
        snprintf(out, size, "an array of rows of %d numbers%s", key->length, unit);
        break;
    case PL_KEY_POLYLINES:
        snprintf(out, size, "an array of arrays of rows of %d numbers%s", key->length, unit);
        break;
    case PL_KEY_CORNERS:
        snprintf(out, size, "an array of rows of %d indices", key->length);
        break;
    case PL_KEY_SETS:
        snprintf(out, size, "{\"name\": [index, ...]}");
        break;
    case PL_KEY_FIELD:
        snprintf(out, size, "a number%s%s, an array of one per element, or {\"group\": number}", range,
                 unit);
        break;
    case PL_KEY_VERTICES:
    case PL_KEY_ELEMENTS:
        snprintf(out, size, "[index, ...], {\"group\": name} or {\"box\": [[x, y, z], [x, y, z]]} (m)");
        break;
    case PL_KEY_REFERENCE:
        snprintf(out, size, "a name or an index");
        break;
    }
}

static void describe(const json_t *value, char *out, size_t size)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        snprintf(out, size, "an object");
        break;
    case JSON_ARRAY:
        snprintf(out, size, "an array of %zu", json_array_size(value));
        break;
    case JSON_STRING:
        snprintf(out, size, "\"%.40s\"", json_string_value(value));
        break;
    case JSON_INTEGER:
        snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(out, size, "%g", json_real_value(value));
        break;
    case JSON_TRUE:
        snprintf(out, size, "true");
        break;
    case JSON_FALSE:
        snprintf(out, size, "false");
        break;
    case JSON_NULL:
        snprintf(out, size, "null");
        break;
    }
}

/* Levenshtein's distance of two short words; long ones are as far apart as can be. */
static int distance(const char *a, const char *b)
{
    enum { MAX = 40 };
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX || m > MAX)
        return INT_MAX;
    int row[MAX + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

/* Keeps the candidate if the word is nearer to it than to those before. */
static void consider(const char *word, const char *candidate, int *closest, const char **nearest)
{
    int d = distance(word, candidate);
    if (d < *closest)
        *closest = d, *nearest = candidate;
}

/* How far a word may be from the one that was meant: less than this. */
static int far_from(const char *word)
{
    return (int)strlen(word) / 3 + 2;
}

static pl_status unexpected(const pl_document *document, const pl_key *key, const json_t *value,
                            const pl_place *place)
{
    char expected[256], found[64];
    describe_expected(key, expected, sizeof expected);
    describe(value, found, sizeof found);
    const char *nearest = NULL, *word = json_string_value(value);
    int closest = word ? far_from(word) : 0;
    for (int i = 0; word && key->kind == PL_KEY_CHOICE && pl_key_choice(key, i); i++)
        consider(word, pl_key_choice(key, i), &closest, &nearest);
    if (nearest)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected %s, got %s; did you mean \"%s\"?", expected, found, nearest);
    return pl_document_fail(document, place, PL_ERROR_ARGUMENT, "expected %s, got %s", expected, found);
}

static pl_status unknown_key(const pl_document *document, const pl_spec *spec, const char *name,
                             const pl_place *place)
{
    const char *nearest = NULL;
    int closest = far_from(name);
    for (int i = 0; i < spec->key_count; i++)
        consider(name, spec->keys[i].name, &closest, &nearest);
    const char *article = strchr("aeiou", spec->title[0]) ? "an" : "a";
    if (nearest)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "unknown key in %s %s; did you mean \"%s\"?", article, spec->title,
                                nearest);
    char known[512];
    describe_keys(spec, known, sizeof known);
    return pl_document_fail(document, place, PL_ERROR_ARGUMENT, "unknown key in %s %s; expected %s",
                            article, spec->title, known);
}

/* ------------------------------------------------------------------------------- values */

static bool in_range(const pl_key *key, double value)
{
    if (!pl_key_ranged(key))
        return true;
    return (key->above ? value > key->lower : value >= key->lower) && value <= key->upper;
}

static bool is_number(const pl_key *key, const json_t *value)
{
    return json_is_number(value) && isfinite(json_number_value(value)) &&
           in_range(key, json_number_value(value));
}

static bool is_integer(const pl_key *key, const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= INT_MIN &&
           json_integer_value(value) <= INT_MAX && in_range(key, json_number_value(value));
}

static int choice_index(const pl_key *key, const json_t *value)
{
    for (int i = 0; json_is_string(value) && pl_key_choice(key, i); i++)
        if (strcmp(pl_key_choice(key, i), json_string_value(value)) == 0)
            return i;
    return -1;
}

/* An array of `length` numbers (any number of them when negative), each in the key's range. */
static pl_status check_numbers(const pl_document *document, const pl_key *key, const json_t *array,
                               int length, bool whole, const pl_place *place)
{
    if (!json_is_array(array) || (length >= 0 && json_array_size(array) != (size_t)length))
        return unexpected(document, key, array, place);
    const pl_key item = {.name = key->name,
                         .kind = whole ? PL_KEY_INTEGER : PL_KEY_NUMBER,
                         .lower = key->lower,
                         .upper = key->upper,
                         .above = key->above,
                         .unit = key->unit};
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);
        const pl_place here = {place, NULL, (int)i};
        if (!(whole ? is_integer(&item, value) : is_number(&item, value)))
            return unexpected(document, &item, value, &here);
    }
    return PL_OK;
}

/* Numbers that count from 0, `length` of them or any number when negative. */
static pl_status check_indices(const pl_document *document, const pl_key *key, const json_t *array,
                               int length, const pl_place *place)
{
    const pl_key index = {
        .name = key->name, .kind = PL_KEY_INTEGERS, .length = length, .upper = HUGE_VAL};
    return check_numbers(document, &index, array, length, true, place);
}

static pl_status check_corners(const pl_document *document, const pl_key *key, const json_t *array,
                               const pl_place *place)
{
    if (!json_is_array(array))
        return unexpected(document, key, array, place);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const pl_place here = {place, NULL, (int)i};
        PL_TRY(check_indices(document, key, json_array_get(array, i), key->length, &here));
    }
    return PL_OK;
}

static pl_status check_sets(const pl_document *document, const pl_key *key, const json_t *value,
                            const pl_place *place)
{
    const char *name;
    json_t *index;
    if (!json_is_object(value))
        return unexpected(document, key, value, place);
    json_object_foreach ((json_t *)value, name, index) {
        const pl_place here = {place, name, 0};
        PL_TRY(check_indices(document, key, index, -1, &here));
    }
    return PL_OK;
}

/* Rows of `width` numbers; with `timed` the first of each is a time, increasing. */
static pl_status check_rows(const pl_document *document, const pl_key *key, const json_t *array,
                            int width, bool timed, const pl_place *place)
{
    if (!json_is_array(array) || (timed && json_array_size(array) == 0))
        return unexpected(document, key, array, place);
    const pl_key any = {.name = key->name, .kind = PL_KEY_VECTOR, .length = width};
    double last = -HUGE_VAL;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *row = json_array_get(array, i);
        const pl_place here = {place, NULL, (int)i};
        PL_TRY(check_numbers(document, &any, row, width, false, &here));
        double time = json_number_value(json_array_get(row, 0));
        if (timed && !(time > last))
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                    "expected a time after the previous row's (%g s), got %g", last,
                                    time);
        last = time;
    }
    return PL_OK;
}

static pl_status check_field(const pl_document *document, const pl_key *key, const json_t *value,
                             const pl_place *place)
{
    if (json_is_array(value))
        return check_numbers(document, key, value, -1, false, place);
    const pl_key item = {.kind = PL_KEY_NUMBER,
                         .lower = key->lower,
                         .upper = key->upper,
                         .above = key->above,
                         .unit = key->unit};
    if (!json_is_object(value))
        return is_number(key, value)
                   ? PL_OK
                   : unexpected(document, json_is_number(value) ? &item : key, value, place);
    const char *group;
    json_t *number;
    json_object_foreach ((json_t *)value, group, number) {
        const pl_place here = {place, group, 0};
        if (!is_number(&item, number))
            return unexpected(document, &item, number, &here);
    }
    return PL_OK;
}

static pl_status check_vertices(const pl_document *document, const pl_key *key, const json_t *value,
                                const pl_place *place)
{
    if (json_is_array(value))
        return check_indices(document, key, value, -1, place);
    const json_t *group = json_object_get(value, "group"), *box = json_object_get(value, "box");
    if (json_object_size(value) != 1 || (!group && !box))
        return unexpected(document, key, value, place);
    const pl_place here = {place, group ? "group" : "box", 0};
    const pl_key corners = {.kind = PL_KEY_POINTS, .length = 3, .unit = "m"};
    if (group && !json_is_string(group))
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT, "expected the name of a group");
    if (box && json_array_size(box) != 2)
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                "expected two corners [[x, y, z], [x, y, z]] (m)");
    return box ? check_rows(document, &corners, box, 3, false, &here) : PL_OK;
}

static pl_status check_polylines(const pl_document *document, const pl_key *key, const json_t *value,
                                 const pl_place *place)
{
    if (!json_is_array(value))
        return unexpected(document, key, value, place);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const pl_key points = {.kind = PL_KEY_POINTS, .length = key->length, .unit = key->unit};
        const pl_place here = {place, NULL, (int)i};
        PL_TRY(check_rows(document, &points, json_array_get(value, i), key->length, false, &here));
    }
    return PL_OK;
}

static pl_status check_list(const pl_document *document, const pl_key *key, const json_t *value,
                            const pl_place *place)
{
    if (!json_is_array(value))
        return unexpected(document, key, value, place);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const pl_place here = {place, NULL, (int)i};
        PL_TRY(pl_spec_check(document, key->spec, json_array_get(value, i), &here));
    }
    return PL_OK;
}

static pl_status check_value(const pl_document *document, const pl_key *key, const json_t *value,
                             const pl_place *place)
{
    bool good = true;
    switch (key->kind) {
    case PL_KEY_NUMBER:
        good = is_number(key, value);
        break;
    case PL_KEY_INTEGER:
        good = is_integer(key, value);
        break;
    case PL_KEY_BOOLEAN:
        good = json_is_boolean(value);
        break;
    case PL_KEY_TEXT:
        good = json_is_string(value);
        break;
    case PL_KEY_CHOICE:
        good = choice_index(key, value) >= 0;
        break;
    case PL_KEY_REFERENCE:
        good = json_is_string(value) || json_is_integer(value);
        break;
    case PL_KEY_VECTOR:
    case PL_KEY_INTEGERS:
        return check_numbers(document, key, value, key->length, key->kind == PL_KEY_INTEGERS, place);
    case PL_KEY_OBJECT:
        return pl_spec_check(document, key->spec, value, place);
    case PL_KEY_LIST:
        return check_list(document, key, value, place);
    case PL_KEY_ROWS:
        return check_rows(document, key, value, key->length + 1, true, place);
    case PL_KEY_POINTS:
        return check_rows(document, key, value, key->length, false, place);
    case PL_KEY_POLYLINES:
        return check_polylines(document, key, value, place);
    case PL_KEY_CORNERS:
        return check_corners(document, key, value, place);
    case PL_KEY_SETS:
        return check_sets(document, key, value, place);
    case PL_KEY_FIELD:
        return check_field(document, key, value, place);
    case PL_KEY_VERTICES:
    case PL_KEY_ELEMENTS:
        return check_vertices(document, key, value, place);
    }
    return good ? PL_OK : unexpected(document, key, value, place);
}

/* ------------------------------------------------------------------------------- objects */

static const pl_key *find_key(const pl_spec *spec, const char *name)
{
    for (int i = 0; i < spec->key_count; i++)
        if (strcmp(spec->keys[i].name, name) == 0)
            return &spec->keys[i];
    return NULL;
}

bool pl_key_goes_with(const pl_key *key, const char *alternative)
{
    const char *list = key->goes_with;
    size_t length = strlen(alternative);
    for (const char *at = list; at && (at = strstr(at, alternative)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static pl_status missing(const pl_document *document, const pl_spec *spec, const pl_key *key,
                         const pl_place *place)
{
    char expected[256];
    describe_expected(key, expected, sizeof expected);
    return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                            "\"%s\" is missing in this %s: expected %s", key->name, spec->title,
                            expected);
}

/* Exactly one alternative, with what it needs, and nothing that does not go with it. */
static pl_status check_one_of(const pl_document *document, const pl_spec *spec, const json_t *object,
                              const pl_place *place)
{
    const char *chosen = NULL, *name;
    json_t *value;
    char names[256] = "";
    for (int i = 0; i < spec->key_count; i++)
        if (!spec->keys[i].goes_with) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s\"%s\"", used ? ", " : "",
                     spec->keys[i].name);
        }
    json_object_foreach ((json_t *)object, name, value) {
        const pl_place here = {place, name, 0};
        if (find_key(spec, name)->goes_with)
            continue;
        if (chosen)
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                    "a %s is one of %s; \"%s\" is given already", spec->title, names,
                                    chosen);
        chosen = name;
    }
    if (!chosen)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT, "expected one of %s", names);
    for (int i = 0; i < spec->key_count; i++) {
        const pl_key *key = &spec->keys[i];
        const pl_place here = {place, key->name, 0};
        bool given = json_object_get(object, key->name), goes = pl_key_goes_with(key, chosen);
        if (key->goes_with && given && !goes)
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT, "does not go with \"%s\"",
                                    chosen);
        if (key->required && goes && !given)
            return missing(document, spec, key, place);
    }
    return PL_OK;
}

pl_status pl_spec_check(const pl_document *document, const pl_spec *spec, const json_t *object,
                        const pl_place *place)
{
    if (!json_is_object(object)) {
        char found[64];
        describe(object, found, sizeof found);
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT, "expected an object (a %s), got %s",
                                spec->title, found);
    }
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)object, name, value) {
        const pl_place here = {place, name, 0};
        const pl_key *key = find_key(spec, name);
        if (!key)
            return unknown_key(document, spec, name, &here);
        PL_TRY(check_value(document, key, value, &here));
    }
    for (int i = 0; i < spec->key_count; i++) {
        const pl_key *key = &spec->keys[i];
        if (key->required && !key->goes_with && !json_object_get(object, key->name))
            return missing(document, spec, key, place);
    }
    return spec->one_of ? check_one_of(document, spec, object, place) : PL_OK;
}

static void read_value(const pl_key *key, const json_t *value, char *at)
{
    switch (key->kind) {
    case PL_KEY_NUMBER:
        *(double *)at = json_number_value(value);
        break;
    case PL_KEY_INTEGER:
        *(int *)at = (int)json_integer_value(value);
        break;
    case PL_KEY_BOOLEAN:
        *(bool *)at = json_is_true(value);
        break;
    case PL_KEY_TEXT:
        *(const char **)at = json_string_value(value);
        break;
    case PL_KEY_CHOICE:
        *(int *)at = choice_index(key, value);
        break;
    case PL_KEY_VECTOR:
        for (int i = 0; i < key->length; i++)
            ((double *)at)[i] = json_number_value(json_array_get(value, (size_t)i));
        break;
    case PL_KEY_INTEGERS:
        for (int i = 0; i < key->length; i++)
            ((int *)at)[i] = (int)json_integer_value(json_array_get(value, (size_t)i));
        break;
    case PL_KEY_FIELD:
        if (json_is_number(value))
            *(double *)at = json_number_value(value);
        break;
    case PL_KEY_OBJECT:
        pl_spec_read(key->spec, value, at);
        break;
    default:
        break;
    }
}

void pl_spec_read(const pl_spec *spec, const json_t *object, void *into)
{
    for (int i = 0; i < spec->key_count; i++) {
        const pl_key *key = &spec->keys[i];
        const json_t *value = json_object_get(object, key->name);
        if (value && key->offset != PL_KEY_UNREAD)
            read_value(key, value, (char *)into + key->offset);
    }
}
