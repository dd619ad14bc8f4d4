/* Scene files, from text to scene: parse, override, check, build. */
#include "io/scene_spec.h"

#include <pliant/io.h>

#include <errno.h>
#include <stdio.h>

/* Far above any text we read; keeps a device or a wrong file from filling the memory. */
#define LARGEST_FILE ((size_t)1 << 30)

/* jansson calls some failures of memory bad syntax; what malloc left in errno tells. */
pl_status pl_document_parse(pl_document *document)
{
    json_error_t error;
    errno = 0;
    document->root = json_loadb(document->text, document->length, JSON_REJECT_DUPLICATES, &error);
    if (document->root)
        return PL_OK;
    if (errno == ENOMEM || json_error_code(&error) == json_error_out_of_memory)
        return pl_fail(document->ctx, PL_ERROR_MEMORY, "%s: out of memory", document->name);
    return pl_fail(document->ctx, PL_ERROR_PARSE, "%s:%d: not valid JSON: %s", document->name,
                   error.line < 1 ? 1 : error.line, error.text);
}

char *pl_document_resolve(const pl_document *document, const char *file)
{
    const char *directory = document->directory;
    if (file[0] == '/' || !directory || !directory[0])
        return pl_strdup(document->ctx, file);
    size_t size = strlen(directory) + strlen(file) + 2;
    char *path = pl_alloc(document->ctx, size, 1);
    if (path)
        snprintf(path, size, "%s/%s", directory, file);
    return path;
}

pl_status pl_read_text(pl_context *ctx, const char *path, char **text, size_t *length)
{
    pl_status status = PL_OK;
    int capacity = 0;
    size_t used = 0, got;
    char *data = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot open: %s", path, strerror(errno));
    do {
        if (used >= LARGEST_FILE) {
            status = pl_fail(ctx, PL_ERROR_FILE, "%s: too large a text", path);
            goto done;
        }
        PL_CHECK(pl_grow(ctx, (void **)&data, &capacity, (int)used + 65536, 1), done);
        got = fread(data + used, 1, (size_t)capacity - used, file);
        used += got;
    } while (got > 0);
    if (ferror(file)) {
        status = pl_fail(ctx, PL_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
        goto done;
    }
    *text = data;
    *length = used;
    data = NULL;
done:
    fclose(file);
    pl_free(ctx, data);
    return status;
}

static pl_status build(const pl_document *document, pl_scene **out, pl_scene_file_info *info)
{
    pl_scene *scene = NULL;
    pl_scene_source source;
    pl_spec_scene.defaults(&source);
    pl_spec_read(&pl_spec_scene, document->root, &source);
    pl_status status = pl_scene_create(document->ctx, &source.def, &scene);
    if (status != PL_OK)
        return pl_document_fail_within(document, NULL, status);
    status = pl_build_parts(document, scene);
    if (status != PL_OK) {
        pl_scene_destroy(scene);
        return status;
    }
    if (info) {
        *info = (pl_scene_file_info){.steps = source.steps,
                                     .output_every = source.every,
                                     .output_volume = source.volume,
                                     .output_surface = source.surface,
                                     .output_colliders = source.obstacles};
        snprintf(info->name, sizeof info->name, "%s", source.name ? source.name : "");
    }
    *out = scene;
    return PL_OK;
}

pl_status pl_scene_load_text(pl_context *ctx, const char *text, size_t length, const char *name,
                             const char *directory, int override_count, const char *const *overrides,
                             pl_scene **out, pl_scene_file_info *info)
{
    *out = NULL;
    pl_status status = PL_OK;
    pl_document document = {
        .ctx = ctx, .name = name, .directory = directory, .text = text, .length = length};
    PL_TRY(pl_document_parse(&document));
    if (!json_is_object(document.root)) {
        status = pl_fail(ctx, PL_ERROR_PARSE, "%s:1: expected an object (a scene)", name);
        goto done;
    }
    if (json_object_get(document.root, "scene") && json_object_get(document.root, "unknowns")) {
        status = pl_fail(ctx, PL_ERROR_PARSE,
                         "%s:1: this is a task, which `pliant fit` and pl_task_load read, not a scene",
                         name);
        goto done;
    }
    PL_CHECK(pl_document_override(&document, override_count, overrides), done);
    PL_CHECK(pl_spec_check(&document, &pl_spec_scene, document.root, NULL), done);
    PL_CHECK(build(&document, out, info), done);
done:
    json_decref(document.root);
    pl_free(ctx, document.overrides);
    return status;
}

pl_status pl_scene_load(pl_context *ctx, const char *path, int override_count,
                        const char *const *overrides, pl_scene **out, pl_scene_file_info *info)
{
    *out = NULL;
    pl_status status = PL_OK;
    char *text = NULL, *directory = NULL;
    size_t length = 0;
    PL_CHECK(pl_read_text(ctx, path, &text, &length), done);
    if (!(directory = pl_strdup(ctx, path))) {
        status = PL_ERROR_MEMORY;
        goto done;
    }
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = '\0'; /* "/scene.json" lies in "/" */
    else
        directory[0] = '\0';
    status =
        pl_scene_load_text(ctx, text, length, path, directory, override_count, overrides, out, info);
done:
    pl_free(ctx, text);
    pl_free(ctx, directory);
    return status;
}
