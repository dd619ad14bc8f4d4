/* Pins, forces, wind, colliders, friction pairs, attachments, muscles, cables and chambers of a scene
 * file: what refers to bodies or obstacles. */
#include "io/scene_spec.h"

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

/* The index of the item of root[list] that json names, by "name", by the default name, or by index. */
static pl_status resolve(const pl_document *document, const json_t *object, const char *key,
                         const char *list, const char *default_name, const pl_place *place, int *index)
{
    const json_t *reference = json_object_get(object, key),
                 *items = json_object_get(document->root, list);
    const pl_place here = {place, key, 0};
    int count = (int)json_array_size(items);
    if (json_is_integer(reference)) {
        json_int_t value = json_integer_value(reference);
        if (value < 0 || value >= count)
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                    "there is no %s %d: the scene has %d", key, (int)value, count);
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
    return pl_document_fail(document, &here, PL_ERROR_ARGUMENT, "there is no %s named \"%s\"%s", key,
                            json_string_value(reference), known);
}

/* ------------------------------------------------------------------------------- tables over time */

/* A table and the memory behind it, one array: times, then values. */
typedef struct table {
    pl_table view;
    double *data;
} table;

static pl_status build_table(const pl_document *document, const json_t *object, const char *key,
                             int width, table *out)
{
    const json_t *rows = json_object_get(object, key);
    size_t count = json_array_size(rows);
    *out = (table){0};
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
    *out = (table){{(int)count, data, data + count}, data};
    return PL_OK;
}

/* ------------------------------------------------------------------------------- sets */

/* Of vertices, or of elements. */
typedef struct index_set {
    int count;
    int *index;
} index_set;

static void keep_marked(int count, const bool *marked, index_set *out)
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

/* The vertices, or elements, that a value names; an index out of range is the scene's to refuse. */
static pl_status build_set(const pl_document *document, const pl_scene *scene, int body,
                           const json_t *object, const char *key, bool elements, const pl_place *place,
                           index_set *out)
{
    const json_t *value = json_object_get(object, key);
    const json_t *group = json_object_get(value, "group"), *box = json_object_get(value, "box");
    const pl_place in = {place, key, 0}, here = {&in, group ? "group" : "box", 0};
    pl_context *ctx = document->ctx;
    pl_status status = PL_OK;
    pl_body_info info;
    bool *marked = NULL;
    *out = (index_set){0};
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

/* ------------------------------------------------------------------------------- parts */

static pl_status build_pin(const pl_document *document, pl_scene *scene, const json_t *object,
                           const pl_place *place)
{
    pl_status status = PL_OK;
    index_set vertices = {0};
    table offset = {0}, rotation = {0};
    pl_pin_def def;
    pl_spec_pin.defaults(&def);
    pl_spec_read(&pl_spec_pin, object, &def);
    PL_CHECK(resolve(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(build_set(document, scene, def.body, object, "vertices", false, place, &vertices), done);
    PL_CHECK(build_table(document, object, "offset", 3, &offset), done);
    PL_CHECK(build_table(document, object, "rotation", 4, &rotation), done);
    def.vertex_count = vertices.count;
    def.vertices = vertices.index;
    def.offset = offset.view;
    def.rotation = rotation.view;
    status = pl_scene_add_pin(scene, &def, NULL);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    pl_free(document->ctx, vertices.index);
    pl_free(document->ctx, offset.data);
    pl_free(document->ctx, rotation.data);
    return status;
}

static pl_status build_force(const pl_document *document, pl_scene *scene, const json_t *object,
                             const pl_place *place)
{
    pl_status status = PL_OK;
    index_set vertices = {0};
    table rows = {0};
    pl_force_def def;
    pl_spec_force.defaults(&def);
    pl_spec_read(&pl_spec_force, object, &def);
    PL_CHECK(resolve(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(build_set(document, scene, def.body, object, "vertices", false, place, &vertices), done);
    PL_CHECK(build_table(document, object, "table", 3, &rows), done);
    def.vertex_count = vertices.count;
    def.vertices = vertices.index;
    def.table = rows.view;
    status = pl_scene_add_force(scene, &def, NULL);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    pl_free(document->ctx, vertices.index);
    pl_free(document->ctx, rows.data);
    return status;
}

static pl_status build_wind(const pl_document *document, pl_scene *scene, const json_t *object,
                            const pl_place *place)
{
    pl_status status = PL_OK;
    table rows = {0};
    pl_wind_def def;
    pl_spec_wind.defaults(&def);
    pl_spec_read(&pl_spec_wind, object, &def);
    PL_CHECK(resolve(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(build_table(document, object, "table", 3, &rows), done);
    def.table = rows.view;
    status = pl_scene_add_wind(scene, &def, NULL);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    pl_free(document->ctx, rows.data);
    return status;
}

static pl_status build_collider(const pl_document *document, pl_scene *scene, const json_t *object,
                                const pl_place *place)
{
    pl_status status = PL_OK;
    pl_mesh *surface = NULL;
    table rows = {0};
    pl_collider_source source;
    pl_spec_collider.defaults(&source);
    pl_spec_read(&pl_spec_collider, object, &source);
    const json_t *shape = json_object_get(object, "shape"), *mesh = json_object_get(shape, "mesh");
    const pl_place turn_place = {place, "rotate", 0}, shape_place = {place, "shape", 0};
    const pl_place mesh_place = {&shape_place, "mesh", 0};
    for (int i = 0; i < pl_spec_shape.key_count; i++)
        if (json_object_get(shape, pl_spec_shape.keys[i].name))
            source.def.shape = (pl_shape)i;
    if (mesh)
        PL_CHECK(pl_build_mesh(document, mesh, &mesh_place, &surface), done);
    PL_CHECK(build_table(document, object, "table", 7, &rows), done);
    PL_CHECK(pl_turn_quaternion(document, &source.rotate, &turn_place, source.def.pose + 3), done);
    memcpy(source.def.pose, source.position, sizeof source.position);
    source.def.surface = surface;
    source.def.table = rows.view;
    status = pl_scene_add_collider(scene, &source.def, NULL);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    pl_mesh_free(document->ctx, surface);
    pl_free(document->ctx, rows.data);
    return status;
}

static pl_status build_friction(const pl_document *document, pl_scene *scene, const json_t *object,
                                const pl_place *place)
{
    pl_friction_source source;
    int body = 0, collider = 0;
    pl_spec_friction.defaults(&source);
    pl_spec_read(&pl_spec_friction, object, &source);
    PL_TRY(resolve(document, object, "body", "bodies", "body", place, &body));
    PL_TRY(resolve(document, object, "collider", "colliders", "collider", place, &collider));
    pl_status status = pl_scene_set_friction(scene, body, collider, source.value);
    return status == PL_OK ? PL_OK : pl_document_fail_within(document, place, status);
}

static pl_status build_body_pair(const pl_document *document, pl_scene *scene, const json_t *object,
                                 const pl_place *place)
{
    pl_body_pair_source source;
    pl_status status = PL_OK;
    int body = 0, other = 0;
    pl_spec_body_pair.defaults(&source);
    pl_spec_read(&pl_spec_body_pair, object, &source);
    PL_TRY(resolve(document, object, "body", "bodies", "body", place, &body));
    PL_TRY(resolve(document, object, "to_body", "bodies", "body", place, &other));
    if (json_object_get(object, "contact"))
        status = pl_scene_set_body_contact(scene, body, other, source.contact);
    if (status == PL_OK && json_object_get(object, "friction"))
        status = pl_scene_set_body_friction(scene, body, other, source.friction);
    return status == PL_OK ? PL_OK : pl_document_fail_within(document, place, status);
}

/* A point of a body from its three keys. */
static pl_status build_point(const pl_document *document, const json_t *object, const char *body,
                             const char *vertices, const char *weights, const pl_place *place,
                             pl_point *out)
{
    const json_t *list = json_object_get(object, vertices), *shares = json_object_get(object, weights);
    const pl_place here = {place, shares ? weights : vertices, 0};
    size_t count = json_array_size(list);
    PL_TRY(resolve(document, object, body, "bodies", "body", place, &out->body));
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

static pl_status build_attachment(const pl_document *document, pl_scene *scene, const json_t *object,
                                  const pl_place *place)
{
    bool to_body = json_object_get(object, "to_body"), held = json_object_get(object, "to_collider");
    pl_attachment_def def;
    pl_spec_attachment.defaults(&def);
    pl_spec_read(&pl_spec_attachment, object, &def);
    if (to_body == held)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected either \"to_body\" or \"to_collider\"");
    PL_TRY(build_point(document, object, "body", "vertices", "weights", place, &def.points[0]));
    if (held)
        PL_TRY(resolve(document, object, "to_collider", "colliders", "collider", place, &def.collider));
    else
        PL_TRY(build_point(document, object, "to_body", "to_vertices", "to_weights", place,
                           &def.points[1]));
    pl_status status = pl_scene_add_attachment(scene, &def, NULL);
    return status == PL_OK ? PL_OK : pl_document_fail_within(document, place, status);
}

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

static pl_status build_muscle(const pl_document *document, pl_scene *scene, const json_t *object,
                              const pl_place *place)
{
    const json_t *one = json_object_get(object, "direction");
    pl_status status = PL_OK;
    index_set elements = {0};
    double *path = NULL, *directions = NULL, direction[3];
    table rows = {0};
    pl_muscle_def def;
    pl_spec_muscle.defaults(&def);
    pl_spec_read(&pl_spec_muscle, object, &def);
    PL_CHECK(resolve(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(build_set(document, scene, def.body, object, "elements", true, place, &elements), done);
    PL_CHECK(build_points(document, object, "path", &def.point_count, &path), done);
    PL_CHECK(build_points(document, object, "directions", &def.direction_count, &directions), done);
    PL_CHECK(build_table(document, object, "table", 1, &rows), done);
    if (one && directions) {
        status = pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                  "expected \"direction\" or \"directions\", got both");
        goto done;
    }
    for (size_t k = 0; one && k < 3; k++)
        direction[k] = json_number_value(json_array_get(one, k));
    def.element_count = elements.count;
    def.elements = elements.index;
    def.path = path;
    def.direction_count = one ? 1 : def.direction_count;
    def.directions = one ? direction : directions;
    def.table = rows.view;
    status = pl_scene_add_muscle(scene, &def, NULL);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    pl_free(document->ctx, elements.index);
    pl_free(document->ctx, path);
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
        return build_point(document, object, "body", "vertices", "weights", place, out);
    PL_TRY(resolve(document, object, "body", "bodies", "body", place, &out->body));
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

static pl_status build_cable(const pl_document *document, pl_scene *scene, const json_t *object,
                             const pl_place *place)
{
    const json_t *list = json_object_get(object, "points");
    const pl_place outer = {place, "points", 0};
    pl_status status = PL_OK;
    pl_point *points = NULL;
    table rows = {0};
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
    PL_CHECK(build_table(document, object, "table", 1, &rows), done);
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

static pl_status build_chamber(const pl_document *document, pl_scene *scene, const json_t *object,
                               const pl_place *place)
{
    static const char *const ways[] = {"triangles", "group", "inside", "cavity"};
    const json_t *point = json_object_get(object, "inside");
    pl_status status = PL_OK;
    int *triangles = NULL, chosen = 0;
    double inside[3];
    table rows = {0};
    pl_chamber_def def;
    pl_spec_chamber.defaults(&def);
    pl_spec_read(&pl_spec_chamber, object, &def);
    for (int k = 0; k < 4; k++)
        chosen += json_object_get(object, ways[k]) != NULL;
    if (chosen > 1)
        return pl_document_fail(
            document, place, PL_ERROR_ARGUMENT,
            "expected one of \"triangles\", \"group\", \"inside\" and \"cavity\", got %d", chosen);
    PL_CHECK(resolve(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(build_triangles(document, scene, def.body, object, place, &def.triangle_count, &triangles),
             done);
    PL_CHECK(build_table(document, object, "table", 1, &rows), done);
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

/* References need names to be different. */
static pl_status check_names(const pl_document *document, const char *list)
{
    const json_t *items = json_object_get(document->root, list);
    const pl_place outer = {NULL, list, 0};
    for (size_t i = 0; i < json_array_size(items); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(items, i), "name"));
        for (size_t j = 0; name && j < i; j++) {
            const pl_place item = {&outer, NULL, (int)i}, here = {&item, "name", 0};
            const char *other = json_string_value(json_object_get(json_array_get(items, j), "name"));
            if (other && strcmp(name, other) == 0)
                return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                        "%s[%zu] is named \"%s\" already", list, j, name);
        }
    }
    return PL_OK;
}

pl_status pl_build_parts(const pl_document *document, pl_scene *scene)
{
    const struct {
        const char *key;
        pl_status (*build)(const pl_document *, pl_scene *, const json_t *, const pl_place *);
    } parts[] = {{"bodies", pl_build_body},       {"pins", build_pin},
                 {"forces", build_force},         {"wind", build_wind},
                 {"colliders", build_collider},   {"friction", build_friction},
                 {"body_pairs", build_body_pair}, {"attachments", build_attachment},
                 {"muscles", build_muscle},       {"cables", build_cable},
                 {"chambers", build_chamber}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        PL_TRY(check_names(document, parts[p].key));
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        const json_t *list = json_object_get(document->root, parts[p].key);
        const pl_place outer = {NULL, parts[p].key, 0};
        for (size_t i = 0; i < json_array_size(list); i++) {
            const pl_place place = {&outer, NULL, (int)i};
            PL_TRY(parts[p].build(document, scene, json_array_get(list, i), &place));
        }
    }
    return PL_OK;
}
