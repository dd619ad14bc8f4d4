#include "io/scene_refer.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------- references */

/* The name of an item of a list, its own or "body0", which is written to `standard`. */
static const char *name_of(const json_t *items, int i, const char *default_name, char standard[32])
{
    const char *name = json_string_value(json_object_get(json_array_get(items, (size_t)i), "name"));
    snprintf(standard, 32, "%s%d", default_name, i);
    return name ? name : standard;
}

/* "; the scene has \"block\", \"ball\"" */
static void describe_names(const json_t *items, const char *default_name, char *out, size_t size)
{
    char standard[32];
    int count = (int)json_array_size(items);
    size_t used = (size_t)snprintf(out, size, "; the scene has %s", count ? "" : "none");
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s\"%s\"", i ? ", " : "",
                                 name_of(items, i, default_name, standard));
}

pl_status pl_refer(const pl_document *document, const json_t *object, const char *key, const char *list,
                   const char *default_name, const pl_place *place, int *index)
{
    const json_t *reference = json_object_get(object, key),
                 *items = json_object_get(document->root, list);
    const pl_place here = {place, key, 0};
    int count = (int)json_array_size(items);
    if (json_is_integer(reference)) {
        json_int_t value = json_integer_value(reference);
        if (value < 0 || value >= count)
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                    "there is no %s %d: the scene has %d", default_name, (int)value,
                                    count);
        *index = (int)value;
        return PL_OK;
    }
    for (int i = 0; i < count; i++) {
        char standard[32];
        if (strcmp(name_of(items, i, default_name, standard), json_string_value(reference)) == 0) {
            *index = i;
            return PL_OK;
        }
    }
    char known[256];
    describe_names(items, default_name, known, sizeof known);
    return pl_document_fail(document, &here, PL_ERROR_ARGUMENT, "there is no %s named \"%s\"%s",
                            default_name, json_string_value(reference), known);
}

/* ------------------------------------------------------------------------------- tables over time */

pl_status pl_refer_table(const pl_document *document, const json_t *object, const char *key, int width,
                         pl_refer_rows *out)
{
    const json_t *rows = json_object_get(object, key);
    size_t count = json_array_size(rows);
    *out = (pl_refer_rows){0};
    if (!rows)
        return PL_OK;
    double *data = pl_alloc(document->ctx, count * (size_t)(width + 1), sizeof *data);
    if (!data)
        return PL_ERROR_MEMORY;
    for (size_t r = 0; r < count; r++) {
        const json_t *row = json_array_get(rows, r);
        data[r] = json_number_value(json_array_get(row, 0));
        for (int k = 0; k < width; k++)
            data[count + r * (size_t)width + (size_t)k] =
                json_number_value(json_array_get(row, (size_t)k + 1));
    }
    *out = (pl_refer_rows){{(int)count, data, data + count}, data};
    return PL_OK;
}

pl_status pl_refer_alone(const pl_document *document, const json_t *object, const pl_place *place)
{
    static const char *const replaced[] = {"value",      "velocity", "position", "rotate",
                                           "activation", "length",   "pressure"};
    const pl_place here = {place, "table", 0};
    for (size_t k = 0; json_object_get(object, "table") && k < sizeof replaced / sizeof *replaced; k++)
        if (json_object_get(object, replaced[k]))
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                    "expected it or \"%s\", which it replaces, got both", replaced[k]);
    return PL_OK;
}

/* ------------------------------------------------------------------------------- sets */

static void keep_marked(int count, const bool *marked, pl_index_set *out)
{
    for (int i = 0; i < count; i++)
        if (marked[i])
            out->index[out->count++] = i;
}

/* Marks the vertices of a group of that name: of vertices, or else of the elements' corners. */
static bool mark_group(const pl_mesh *mesh, const char *name, bool *marked)
{
    const struct {
        pl_group_kind kind;
        int width;
        const int *corners;
    } kinds[] = {{PL_GROUP_VERTEX, 1, NULL},
                 {PL_GROUP_TRIANGLE, 3, mesh->triangles},
                 {PL_GROUP_TET, 4, mesh->tets}};
    for (int k = 0; k < 3; k++) {
        const pl_group *group = pl_mesh_find_group(mesh, name, kinds[k].kind);
        if (!group)
            continue;
        for (int i = 0; i < group->count * kinds[k].width; i++) {
            int item = group->index[i / kinds[k].width];
            marked[kinds[k].corners ? kinds[k].corners[item * kinds[k].width + i % kinds[k].width]
                                    : item] = true;
        }
        return true;
    }
    return false;
}

/* Marks the elements of a group of that name. */
static bool mark_element_group(const pl_body_info *body, const char *name, bool *marked)
{
    const pl_group *group =
        pl_mesh_find_group(body->mesh, name, body->cloth ? PL_GROUP_TRIANGLE : PL_GROUP_TET);
    for (int i = 0; group && i < group->count; i++)
        marked[group->index[i]] = true;
    return group;
}

/* Marks those of `count` points in the box, each the mean of `width` vertices. */
static void mark_box(const pl_mesh *mesh, int count, int width, const int *corners, const json_t *box,
                     bool *marked)
{
    for (int i = 0; i < count; i++) {
        marked[i] = true;
        for (size_t k = 0; k < 3; k++) {
            double a = json_number_value(json_array_get(json_array_get(box, 0), k));
            double b = json_number_value(json_array_get(json_array_get(box, 1), k));
            double x = 0;
            for (int c = 0; c < width; c++)
                x += mesh->vertices[3 * (size_t)(corners ? corners[i * width + c] : i) + k] / width;
            marked[i] = marked[i] && x >= fmin(a, b) && x <= fmax(a, b);
        }
    }
}

/* Says that a box holds none of what is asked for, and where there are some. */
static pl_status nothing_there(const pl_document *document, const pl_body_info *body, const char *what,
                               const pl_place *place)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 3 * body->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], body->mesh->vertices[i]);
        high[i % 3] = fmax(high[i % 3], body->mesh->vertices[i]);
    }
    return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                            "no %s of \"%s\" is there: its rest shape reaches from "
                            "[%g, %g, %g] to [%g, %g, %g] m",
                            what, body->name, low[0], low[1], low[2], high[0], high[1], high[2]);
}

pl_status pl_refer_set(const pl_document *document, const pl_scene *scene, int body,
                       const json_t *object, const char *key, bool elements, const pl_place *place,
                       pl_index_set *out)
{
    const json_t *value = json_object_get(object, key);
    const json_t *group = json_object_get(value, "group"), *box = json_object_get(value, "box");
    const pl_place in = {place, key, 0}, here = {&in, group ? "group" : "box", 0};
    pl_context *ctx = document->ctx;
    pl_status status = PL_OK;
    pl_body_info info;
    bool *marked = NULL;
    *out = (pl_index_set){0};
    if (!value)
        return PL_OK;
    PL_TRY(pl_scene_body(scene, body, &info));
    int count = elements ? info.element_count : info.vertex_count, width = info.cloth ? 3 : 4;
    const int *corners = info.cloth ? info.mesh->triangles : info.mesh->tets;
    size_t listed = json_array_size(value);
    PL_NEW(ctx, out->index, listed > (size_t)count ? listed : (size_t)count, done);
    PL_NEW(ctx, marked, count, done);
    for (size_t i = 0; i < listed; i++)
        out->index[out->count++] = (int)json_integer_value(json_array_get(value, i));
    if (group && !(elements ? mark_element_group(&info, json_string_value(group), marked)
                            : mark_group(info.mesh, json_string_value(group), marked))) {
        char known[256];
        unsigned kind = 1u << (info.cloth ? PL_GROUP_TRIANGLE : PL_GROUP_TET);
        pl_describe_groups(info.mesh, elements ? kind : ~0u, known, sizeof known);
        status = pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                  "the mesh of \"%s\" has no group%s \"%s\"; it has %s", info.name,
                                  elements ? " of elements" : "", json_string_value(group), known);
        goto done;
    }
    if (box)
        mark_box(info.mesh, count, elements ? width : 1, elements ? corners : NULL, box, marked);
    keep_marked(count, marked, out);
    if (out->count == 0 && box)
        status = nothing_there(document, &info, elements ? "element" : "vertex", &here);
    else if (out->count == 0)
        status = pl_document_fail(document, group ? &here : &in, PL_ERROR_ARGUMENT,
                                  "expected %s of \"%s\", got none", elements ? "elements" : "vertices",
                                  info.name);
done:
    pl_free(ctx, marked);
    return status;
}

pl_status pl_refer_point(const pl_document *document, const json_t *object, const char *body,
                         const char *vertices, const char *weights, const pl_place *place,
                         pl_point *out)
{
    const json_t *list = json_object_get(object, vertices), *shares = json_object_get(object, weights);
    const pl_place here = {place, shares ? weights : vertices, 0};
    size_t count = json_array_size(list);
    PL_TRY(pl_refer(document, object, body, "bodies", "body", place, &out->body));
    if (count < 1 || count > 4 || (shares && json_array_size(shares) != count))
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                "expected 1 to 4 vertices, and as many weights");
    out->count = (int)count;
    for (size_t k = 0; k < count; k++) {
        out->vertices[k] = (int)json_integer_value(json_array_get(list, k));
        out->weights[k] = shares ? json_number_value(json_array_get(shares, k)) : 1.0 / (double)count;
    }
    return PL_OK;
}
