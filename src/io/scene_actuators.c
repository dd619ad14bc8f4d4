/* Muscles, cables and chambers of a scene file. */
#include "io/scene_refer.h"

/* Rows [count, 3] of an object; *rows is the caller's, NULL without the key. */
static pl_status build_points(const pl_document *document, const json_t *object, const char *key,
                              int *count, double **rows)
{
    const json_t *list = json_object_get(object, key);
    *count = (int)json_array_size(list);
    *rows = NULL;
    if (*count == 0)
        return PL_OK;
    if (!(*rows = pl_alloc(document->ctx, 3 * (size_t)*count, sizeof **rows)))
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < 3 * (size_t)*count; i++)
        (*rows)[i] = json_number_value(json_array_get(json_array_get(list, i / 3), i % 3));
    return PL_OK;
}

/* Several of them one after the other, [*sum, 3], and how many rows each has, *sizes [*count]. */
static pl_status build_polylines(const pl_document *document, const json_t *object, const char *key,
                                 int *sum, double **rows, int *count, int **sizes)
{
    const json_t *list = json_object_get(object, key);
    size_t at = 0;
    *count = (int)json_array_size(list);
    if (*count == 0)
        return PL_OK;
    if (!(*sizes = pl_alloc(document->ctx, (size_t)*count, sizeof **sizes)))
        return PL_ERROR_MEMORY;
    for (int i = 0; i < *count; i++)
        *sum += (*sizes)[i] = (int)json_array_size(json_array_get(list, (size_t)i));
    if (!(*rows = pl_alloc(document->ctx, 3 * (size_t)*sum + 1, sizeof **rows)))
        return PL_ERROR_MEMORY;
    for (int i = 0; i < *count; i++)
        for (size_t k = 0; k < 3 * (size_t)(*sizes)[i]; k++)
            (*rows)[at++] = json_number_value(
                json_array_get(json_array_get(json_array_get(list, (size_t)i), k / 3), k % 3));
    return PL_OK;
}

/* Not both of two keys, nor one with nothing in it. */
static pl_status check_either(const pl_document *document, const json_t *object, const char *first,
                              const char *second, const pl_place *place)
{
    const json_t *one = json_object_get(object, first), *other = json_object_get(object, second);
    if (one && other)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected \"%s\" or \"%s\", got both", first, second);
    const pl_place here = {place, one ? first : second, 0};
    if ((one || other) && json_array_size(one ? one : other) == 0)
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT, "expected at least one row");
    return PL_OK;
}

pl_status pl_build_muscle(const pl_document *document, pl_scene *scene, const json_t *object,
                          const pl_place *place)
{
    const json_t *one = json_object_get(object, "direction");
    pl_status status = PL_OK;
    int *sizes = NULL;
    pl_index_set elements = {0};
    double *path = NULL, *directions = NULL, direction[3];
    pl_refer_rows rows = {0};
    pl_muscle_def def;
    pl_spec_muscle.defaults(&def);
    pl_spec_read(&pl_spec_muscle, object, &def);
    PL_TRY(check_either(document, object, "path", "paths", place));
    PL_TRY(check_either(document, object, "direction", "directions", place));
    PL_CHECK(pl_refer(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(pl_refer_set(document, scene, def.body, object, "elements", true, place, &elements), done);
    PL_CHECK(build_points(document, object, "path", &def.point_count, &path), done);
    if (!path)
        PL_CHECK(build_polylines(document, object, "paths", &def.point_count, &path, &def.path_count,
                                 &sizes),
                 done);
    PL_CHECK(build_points(document, object, "directions", &def.direction_count, &directions), done);
    PL_CHECK(pl_refer_alone(document, object, place), done);
    PL_CHECK(pl_refer_table(document, object, "table", 1, &rows), done);
    for (size_t k = 0; one && k < 3; k++)
        direction[k] = json_number_value(json_array_get(one, k));
    def.element_count = elements.count;
    def.elements = elements.index;
    def.path = path;
    def.path_sizes = sizes;
    def.direction_count = one ? 1 : def.direction_count;
    def.directions = one ? direction : directions;
    def.table = rows.view;
    status = pl_scene_add_muscle(scene, &def, NULL);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    pl_free(document->ctx, elements.index);
    pl_free(document->ctx, path);
    pl_free(document->ctx, sizes);
    pl_free(document->ctx, directions);
    pl_free(document->ctx, rows.data);
    return status;
}

static void read_place(const json_t *object, const char *key, double out[3])
{
    for (size_t k = 0; k < 3; k++)
        out[k] = json_number_value(json_array_get(json_object_get(object, key), k));
}

/* A point of a cable: a vertex, several with weights, where the body is, or fixed in the world. */
static pl_status build_anchor(const pl_document *document, const pl_scene *scene, const json_t *object,
                              const pl_place *place, pl_point *out)
{
    const json_t *vertex = json_object_get(object, "vertex");
    double x[3];
    *out = (pl_point){.body = -1};
    if (json_object_get(object, "fixed")) {
        read_place(object, "fixed", out->position);
        return PL_OK;
    }
    if (json_object_get(object, "vertices"))
        return pl_refer_point(document, object, "body", "vertices", "weights", place, out);
    PL_TRY(pl_refer(document, object, "body", "bodies", "body", place, &out->body));
    if (vertex) {
        out->count = 1;
        out->vertices[0] = (int)json_integer_value(vertex);
        out->weights[0] = 1;
        return PL_OK;
    }
    read_place(object, "at", x);
    pl_status status = pl_scene_point_at(scene, out->body, x, out);
    return status == PL_OK ? PL_OK : pl_document_fail_within(document, place, status);
}

pl_status pl_build_cable(const pl_document *document, pl_scene *scene, const json_t *object,
                         const pl_place *place)
{
    const json_t *list = json_object_get(object, "points");
    const pl_place outer = {place, "points", 0};
    pl_status status = PL_OK;
    pl_point *points = NULL;
    pl_refer_rows rows = {0};
    pl_cable_def def;
    pl_spec_cable.defaults(&def);
    pl_spec_read(&pl_spec_cable, object, &def);
    def.point_count = (int)json_array_size(list);
    PL_NEW(document->ctx, points, def.point_count, done);
    for (int i = 0; i < def.point_count; i++) {
        const pl_place here = {&outer, NULL, i};
        PL_CHECK(build_anchor(document, scene, json_array_get(list, (size_t)i), &here, &points[i]),
                 done);
    }
    PL_CHECK(pl_refer_alone(document, object, place), done);
    PL_CHECK(pl_refer_table(document, object, "table", 1, &rows), done);
    def.points = points;
    def.table = rows.view;
    status = pl_scene_add_cable(scene, &def, NULL);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    pl_free(document->ctx, points);
    pl_free(document->ctx, rows.data);
    return status;
}

/* The triangles [*count, 3] that a chamber lists or its group has; *out is the caller's, NULL = none.
 */
static pl_status build_triangles(const pl_document *document, const pl_scene *scene, int body,
                                 const json_t *object, const pl_place *place, int *count, int **out)
{
    const json_t *list = json_object_get(object, "triangles"), *name = json_object_get(object, "group");
    const pl_place here = {place, "group", 0};
    const pl_group *group = NULL;
    pl_body_info info;
    PL_TRY(pl_scene_body(scene, body, &info));
    if (name && !(group = pl_mesh_find_group(info.mesh, json_string_value(name), PL_GROUP_TRIANGLE))) {
        char known[256];
        pl_describe_groups(info.mesh, 1u << PL_GROUP_TRIANGLE, known, sizeof known);
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                "the mesh of \"%s\" has no group of triangles \"%s\"; it has %s",
                                info.name, json_string_value(name), known);
    }
    *count = group ? group->count : (int)json_array_size(list);
    *out = NULL;
    if (!group && !list)
        return PL_OK;
    if (!(*out = pl_alloc(document->ctx, 3 * (size_t)*count, sizeof **out)))
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < 3 * (size_t)*count; i++)
        (*out)[i] = group ? info.mesh->triangles[3 * (size_t)group->index[i / 3] + i % 3]
                          : (int)json_integer_value(json_array_get(json_array_get(list, i / 3), i % 3));
    return PL_OK;
}

pl_status pl_build_chamber(const pl_document *document, pl_scene *scene, const json_t *object,
                           const pl_place *place)
{
    static const char *const ways[] = {"triangles", "group", "inside", "cavity"};
    const json_t *point = json_object_get(object, "inside");
    pl_status status = PL_OK;
    int *triangles = NULL, chosen = 0;
    double inside[3];
    pl_refer_rows rows = {0};
    pl_chamber_def def;
    pl_spec_chamber.defaults(&def);
    pl_spec_read(&pl_spec_chamber, object, &def);
    for (int k = 0; k < 4; k++)
        chosen += json_object_get(object, ways[k]) != NULL;
    if (chosen > 1)
        return pl_document_fail(
            document, place, PL_ERROR_ARGUMENT,
            "expected one of \"triangles\", \"group\", \"inside\" and \"cavity\", got %d", chosen);
    if (json_object_get(object, "ambient") && !def.gas)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT, "\"ambient\" goes with \"gas\"");
    PL_CHECK(pl_refer(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(build_triangles(document, scene, def.body, object, place, &def.triangle_count, &triangles),
             done);
    PL_CHECK(pl_refer_alone(document, object, place), done);
    PL_CHECK(pl_refer_table(document, object, "table", 1, &rows), done);
    for (size_t k = 0; point && k < 3; k++)
        inside[k] = json_number_value(json_array_get(point, k));
    def.triangles = triangles;
    def.inside = point ? inside : NULL;
    def.table = rows.view;
    status = pl_scene_add_chamber(scene, &def, NULL);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    pl_free(document->ctx, triangles);
    pl_free(document->ctx, rows.data);
    return status;
}
