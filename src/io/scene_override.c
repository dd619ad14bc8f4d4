/*
 * Overrides: "bodies[0].material.young=2e5" or, by name, "bodies.bar.material.young=2e5". The value is
 * JSON; what is not valid JSON is taken as text, so that "solver=direct" needs no quotes. The document
 * is checked afterwards, as if the file had said so.
 */
#include "io/scene_spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct step {
    char key[64]; /* "" = an index */
    size_t index;
} step;

static pl_status refuse(const pl_document *document, const char *text, const char *why,
                        const char *detail)
{
    return pl_fail(document->ctx, PL_ERROR_ARGUMENT, "override '%s': %s%s", text, why, detail);
}

/* Takes one ".key", "key" or "[index]" off *at; false when there is none. */
static bool next_step(const char **at, const char *end, step *out)
{
    const char *s = *at;
    if (*s == '[') {
        char *stop;
        out->key[0] = '\0';
        if (s[1] < '0' || s[1] > '9')
            return false;
        out->index = strtoul(s + 1, &stop, 10);
        *at = stop + 1;
        return *stop == ']' && *at <= end;
    }
    s += *s == '.';
    size_t length = 0;
    while (s + length < end && s[length] != '.' && s[length] != '[')
        length++;
    if (length == 0 || length >= sizeof out->key)
        return false;
    memcpy(out->key, s, length);
    out->key[length] = '\0';
    *at = s + length;
    return true;
}

/* In an array, a key is the "name" of one of its objects. */
static bool find_named(const json_t *array, step *s)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(array, i), "name"));
        if (name && strcmp(name, s->key) == 0) {
            s->key[0] = '\0';
            s->index = i;
            return true;
        }
    }
    return false;
}

/* Finds the container of the last step, making objects on the way; *path becomes canonical. */
static pl_status walk(const pl_document *document, pl_override *override, const char *end,
                      json_t **container, step *last)
{
    const char *at = override->text, *text = override->text;
    json_t *node = document->root;
    for (;;) {
        step s;
        if (!next_step(&at, end, &s))
            return refuse(document, text, "cannot read the path at ", at);
        if (json_is_array(node) && s.key[0] && !find_named(node, &s))
            return refuse(document, text, "nothing there is named ", s.key);
        if (s.key[0] ? !json_is_object(node) : !json_is_array(node))
            return refuse(document, text,
                          "not inside an object or array: ", s.key[0] ? s.key : "[index]");
        if (!s.key[0] && s.index >= json_array_size(node))
            return pl_fail(document->ctx, PL_ERROR_ARGUMENT,
                           "override '%s': no item %zu: expected an index below %zu", text, s.index,
                           json_array_size(node));
        size_t used = strlen(override->path);
        int more =
            s.key[0] ? snprintf(override->path + used, sizeof override->path - used, "%s%s",
                                used ? "." : "", s.key)
                     : snprintf(override->path + used, sizeof override->path - used, "[%zu]", s.index);
        if (used + (size_t)more >= sizeof override->path)
            return refuse(document, text, "the path is too long", "");
        if (at == end) {
            *container = node;
            *last = s;
            return PL_OK;
        }
        json_t *child = s.key[0] ? json_object_get(node, s.key) : json_array_get(node, s.index);
        if (!child && (json_object_set_new(node, s.key, json_object()) != 0 ||
                       !(child = json_object_get(node, s.key))))
            return pl_fail(document->ctx, PL_ERROR_MEMORY, "override '%s': out of memory", text);
        node = child;
    }
}

static pl_status apply(const pl_document *document, pl_override *override)
{
    const char *equals = strchr(override->text, '=');
    if (!equals || equals == override->text)
        return refuse(document, override->text, "expected path=value", "");
    json_t *container = NULL;
    step last;
    PL_TRY(walk(document, override, equals, &container, &last));
    errno = 0;
    json_t *value = json_loads(equals + 1, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (!value && errno != ENOMEM)
        value = json_string(equals + 1);
    if (!value && errno == ENOMEM)
        return pl_fail(document->ctx, PL_ERROR_MEMORY, "override '%s': out of memory", override->text);
    if (!value)
        return refuse(document, override->text, "the value is not UTF-8 text", "");
    int failed = last.key[0] ? json_object_set_new(container, last.key, value)
                             : json_array_set_new(container, last.index, value);
    return failed
               ? pl_fail(document->ctx, PL_ERROR_MEMORY, "override '%s': out of memory", override->text)
               : PL_OK;
}

pl_status pl_document_override(pl_document *document, int count, const char *const *texts)
{
    pl_status status = PL_OK;
    PL_NEW(document->ctx, document->overrides, count, done);
    for (int i = 0; i < count; i++) {
        document->overrides[i].text = texts[i];
        PL_CHECK(apply(document, &document->overrides[i]), done);
        document->override_count = i + 1;
    }
done:
    return status;
}
