/*
 * Where in a scene file a value stands. The JSON library tells positions of syntax errors only, so the
 * line of a value is found when a message needs it, by walking the text, which is known to be valid.
 */
#include "io/scene_spec.h"

#include <stdio.h>

void pl_place_text(const pl_place *place, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    if (!place)
        return;
    pl_place_text(place->parent, out, size);
    used = strlen(out);
    if (place->key)
        snprintf(out + used, size - used, "%s%s", used ? "." : "", place->key);
    else
        snprintf(out + used, size - used, "[%d]", place->index);
}

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && strchr(" \t\r\n", *c->at))
        c->at++;
}

static void skip_string(cursor *c)
{
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++)
        if (*c->at == '\\')
            c->at++;
    if (c->at < c->end)
        c->at++;
}

/* Past one value: strings as such, brackets by depth, anything else up to a delimiter. */
static void skip_value(cursor *c)
{
    int depth = 0;
    do {
        skip_space(c);
        if (c->at >= c->end)
            return;
        if (*c->at == '"') {
            skip_string(c);
        } else if (strchr("[{", *c->at)) {
            depth++, c->at++;
        } else if (strchr("]}", *c->at)) {
            depth--, c->at++;
        } else if (strchr(",:", *c->at)) {
            c->at++;
        } else {
            while (c->at < c->end && !strchr(" \t\r\n,:]}", *c->at))
                c->at++;
        }
    } while (depth > 0);
}

/* From the start of a container to the child; false when there is no such child. *token is where its
 * key (or, in an array, its value) begins. */
static bool enter(cursor *c, const pl_place *place, const char **token)
{
    skip_space(c);
    if (c->at >= c->end || *c->at != (place->key ? '{' : '['))
        return false;
    c->at++;
    for (int i = 0;; i++) {
        skip_space(c);
        if (c->at >= c->end || strchr("]}", *c->at))
            return false;
        *token = c->at;
        bool found = !place->key && i == place->index;
        if (place->key) {
            skip_string(c);
            size_t length = (size_t)(c->at - *token) - 2;
            found = strlen(place->key) == length && memcmp(*token + 1, place->key, length) == 0;
            skip_space(c);
            c->at++; /* the colon */
            skip_space(c);
        }
        if (found)
            return true;
        skip_value(c);
        skip_space(c);
        if (c->at < c->end && *c->at == ',')
            c->at++;
    }
}

/* Goes to the place; false when it is not there, with *token at the last ancestor that is. */
static bool find(cursor *c, const pl_place *place, const char **token)
{
    return !place || (find(c, place->parent, token) && enter(c, place, token));
}

int pl_place_line(const char *text, size_t length, const pl_place *place)
{
    cursor c = {text, text + length};
    skip_space(&c);
    const char *token = c.at;
    /* enter() moves the token along the siblings it passes: step back to the parent's on failure. */
    for (const pl_place *p = place; p; p = p->parent) {
        cursor at = {text, text + length};
        const char *here = token;
        if (find(&at, p, &here)) {
            token = here;
            break;
        }
    }
    int line = 1;
    for (const char *s = text; s < token; s++)
        line += *s == '\n';
    return line;
}

/* Whether `path` is `root` or inside it. */
static bool within(const char *path, const char *root)
{
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && strchr(".[", path[length]);
}

/* The last override that put the value there, or -1. */
static int override_of(const pl_document *document, const char *path)
{
    int i = document->override_count - 1;
    while (i >= 0 && !within(path, document->overrides[i].path))
        i--;
    return i;
}

bool pl_document_overridden(const pl_document *document, const pl_place *place)
{
    char path[256];
    pl_place_text(place, path, sizeof path);
    return override_of(document, path) >= 0;
}

static void locate(const pl_document *document, const pl_place *place, char *out, size_t size)
{
    char path[256];
    pl_place_text(place, path, sizeof path);
    const char *separator = path[0] ? ": " : "";
    int by = override_of(document, path);
    if (by >= 0) {
        snprintf(out, size, "override '%s'%s%s", document->overrides[by].text, separator, path);
        return;
    }
    int line = pl_place_line(document->text, document->length, place);
    snprintf(out, size, "%s:%d%s%s", document->name, line, separator, path);
}

pl_status pl_document_fail(const pl_document *document, const pl_place *place, pl_status status,
                           const char *format, ...)
{
    char where[512], what[PL_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    locate(document, place, where, sizeof where);
    return pl_fail(document->ctx, status, "%s: %s", where, what);
}

void pl_document_warn(const pl_document *document, const pl_place *place, const char *format, ...)
{
    char where[512], what[PL_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    locate(document, place, where, sizeof where);
    pl_log(document->ctx, PL_LOG_WARNING, "%s: %s", where, what);
}

static const json_t *value_at(const pl_document *document, const pl_place *place)
{
    if (!place)
        return document->root;
    const json_t *parent = value_at(document, place->parent);
    return place->key ? json_object_get(parent, place->key)
                      : json_array_get(parent, (size_t)place->index);
}

/* Messages of the calls behind a scene begin with the field they are about: "young = -3: expected > 0
 * Pa". Where the object at `place`, or its material, has that key, it is the place, and the rest
 * "expected > 0 Pa, got -3". */
pl_status pl_document_fail_within(const pl_document *document, const pl_place *place, pl_status status)
{
    char message[PL_MESSAGE_SIZE], field[64] = "", got[64] = "";
    int used = 0, rest = 0, indexed = 0;
    snprintf(message, sizeof message, "%s", pl_context_error(document->ctx));
    sscanf(message, "%63[a-z_]%n = %63[^:]: %n", field, &used, got, &rest);
    const json_t *object = value_at(document, place);
    const pl_place material = {place, "material", 0};
    pl_place inner = {place, field, 0};
    bool direct = json_object_get(object, field) != NULL;
    if (!direct)
        inner.parent = &material;
    if (!direct && !json_object_get(json_object_get(object, "material"), field))
        return pl_document_fail(document, place, status, "%s", message);
    if (rest > 0 && strncmp(message + rest, "expected", strlen("expected")) == 0)
        return pl_document_fail(document, &inner, status, "%s, got %s", message + rest, got);
    pl_place item = {&inner, NULL, 0}; /* "points[3]: ..." */
    if (sscanf(message + used, "[%d]: %n", &item.index, &indexed) == 1 && indexed > 0)
        return pl_document_fail(document, &item, status, "%s", message + used + indexed);
    bool named = strncmp(message + used, ": ", 2) == 0; /* by the place already */
    return pl_document_fail(document, &inner, status, "%s", named ? message + used + 2 : message);
}
