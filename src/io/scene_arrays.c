/* A mesh whose vertices, elements and groups stand in the scene file itself: its "arrays". */
#include "io/scene_spec.h"

/* *out [count, width] of a key's rows, empty when it is not there. */
static pl_status read_points(const pl_document *document, const json_t *object, const char *key,
                             size_t width, int *count, double **out)
{
    const json_t *rows = json_object_get(object, key);
    *count = (int)json_array_size(rows);
    *out = pl_alloc(document->ctx, (size_t)*count * width, sizeof **out);
    for (size_t i = 0; *out && i < (size_t)*count * width; i++)
        (*out)[i] = json_number_value(json_array_get(json_array_get(rows, i / width), i % width));
    return *out ? PL_OK : PL_ERROR_MEMORY;
}

/* The same of vertex numbers, all below `limit`. */
static pl_status read_corners(const pl_document *document, const json_t *object, const char *key,
                              size_t width, int limit, const pl_place *place, int *count, int **out)
{
    const json_t *rows = json_object_get(object, key);
    *count = (int)json_array_size(rows);
    *out = pl_alloc(document->ctx, (size_t)*count * width, sizeof **out);
    if (!*out)
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < (size_t)*count * width; i++) {
        (*out)[i] = (int)json_integer_value(json_array_get(json_array_get(rows, i / width), i % width));
        const pl_place list = {place, key, 0}, here = {&list, NULL, (int)(i / width)};
        if ((*out)[i] >= limit)
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                    "vertex %d is named, there are %d", (*out)[i], limit);
    }
    return PL_OK;
}

static pl_status add_group(const pl_document *document, pl_mesh *mesh, const char *name,
                           pl_group_kind kind, const json_t *index, const pl_place *place)
{
    pl_status status = PL_OK;
    int *numbers = NULL, count = (int)json_array_size(index);
    PL_NEW(document->ctx, numbers, count, done);
    for (int i = 0; i < count; i++)
        numbers[i] = (int)json_integer_value(json_array_get(index, (size_t)i));
    status = pl_mesh_add_group(document->ctx, mesh, name, kind, count, numbers);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    pl_free(document->ctx, numbers);
    return status;
}

static pl_status add_groups(const pl_document *document, pl_mesh *mesh, const json_t *object,
                            const pl_place *place)
{
    for (int kind = PL_GROUP_VERTEX; kind <= PL_GROUP_TRIANGLE; kind++) {
        const pl_place list = {place, pl_group_keys[kind], 0};
        const char *name;
        json_t *index;
        json_object_foreach (json_object_get(object, list.key), name, index) {
            const pl_place here = {&list, name, 0};
            PL_TRY(add_group(document, mesh, name, (pl_group_kind)kind, index, &here));
        }
    }
    return PL_OK;
}

pl_status pl_build_arrays(const pl_document *document, const json_t *object, const pl_place *place,
                          pl_mesh **out)
{
    pl_context *ctx = document->ctx;
    pl_status status = PL_OK;
    pl_mesh *mesh = NULL;
    double *vertices = NULL;
    int n, tet_count, triangle_count, *tets = NULL, *triangles = NULL;
    PL_CHECK(read_points(document, object, "vertices", 3, &n, &vertices), done);
    PL_CHECK(read_corners(document, object, "tets", 4, n, place, &tet_count, &tets), done);
    PL_CHECK(read_corners(document, object, "triangles", 3, n, place, &triangle_count, &triangles),
             done);
    PL_CHECK(pl_mesh_create(ctx, n, vertices, tet_count, tets, triangle_count, triangles, &mesh), done);
    PL_CHECK(add_groups(document, mesh, object, place), done);
    *out = mesh;
    mesh = NULL;
done:
    pl_mesh_free(ctx, mesh);
    pl_free(ctx, vertices);
    pl_free(ctx, tets);
    pl_free(ctx, triangles);
    return status;
}
