/* Pins, forces, wind, colliders, friction pairs and attachments of a scene file: what refers to bodies
 * or obstacles. */
#include "io/scene_refer.h"

static pl_status build_pin(const pl_document *document, pl_scene *scene, const json_t *object,
                           const pl_place *place)
{
    pl_status status = PL_OK;
    pl_index_set vertices = {0};
    pl_refer_rows offset = {0}, rotation = {0};
    pl_pin_def def;
    pl_spec_pin.defaults(&def);
    pl_spec_read(&pl_spec_pin, object, &def);
    PL_CHECK(pl_refer(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(pl_refer_set(document, scene, def.body, object, "vertices", false, place, &vertices),
             done);
    PL_CHECK(pl_refer_table(document, object, "offset", 3, &offset), done);
    PL_CHECK(pl_refer_table(document, object, "rotation", 4, &rotation), done);
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
    pl_index_set vertices = {0};
    pl_refer_rows rows = {0};
    pl_force_def def;
    pl_spec_force.defaults(&def);
    pl_spec_read(&pl_spec_force, object, &def);
    PL_CHECK(pl_refer(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(pl_refer_set(document, scene, def.body, object, "vertices", false, place, &vertices),
             done);
    PL_CHECK(pl_refer_alone(document, object, place), done);
    PL_CHECK(pl_refer_table(document, object, "table", 3, &rows), done);
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
    pl_refer_rows rows = {0};
    pl_wind_def def;
    pl_spec_wind.defaults(&def);
    pl_spec_read(&pl_spec_wind, object, &def);
    PL_CHECK(pl_refer(document, object, "body", "bodies", "body", place, &def.body), done);
    PL_CHECK(pl_refer_alone(document, object, place), done);
    PL_CHECK(pl_refer_table(document, object, "table", 3, &rows), done);
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
    pl_refer_rows rows = {0};
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
    PL_CHECK(pl_refer_alone(document, object, place), done);
    PL_CHECK(pl_refer_table(document, object, "table", 7, &rows), done);
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

/* That an earlier item of the list at `place` is not of the same two, in this order or, with `either`,
 * the other one. */
static pl_status check_once(const pl_document *document, const char *list, const char *const keys[2],
                            const char *const lists[2], const char *const names[2], const int pair[2],
                            bool either, const pl_place *place)
{
    const json_t *items = json_object_get(document->root, list);
    for (int i = 0; i < place->index; i++) {
        int earlier[2];
        for (int k = 0; k < 2; k++)
            PL_TRY(pl_refer(document, json_array_get(items, (size_t)i), keys[k], lists[k], names[k],
                            place, &earlier[k]));
        if ((earlier[0] == pair[0] && earlier[1] == pair[1]) ||
            (either && earlier[0] == pair[1] && earlier[1] == pair[0]))
            return pl_document_fail(document, place, PL_ERROR_ARGUMENT, "%s[%d] is of the same two",
                                    list, i);
    }
    return PL_OK;
}

static pl_status build_friction(const pl_document *document, pl_scene *scene, const json_t *object,
                                const pl_place *place)
{
    static const char *const keys[] = {"body", "collider"}, *const lists[] = {"bodies", "colliders"};
    pl_friction_source source;
    int pair[2] = {0, 0};
    pl_spec_friction.defaults(&source);
    pl_spec_read(&pl_spec_friction, object, &source);
    for (int k = 0; k < 2; k++)
        PL_TRY(pl_refer(document, object, keys[k], lists[k], keys[k], place, &pair[k]));
    PL_TRY(check_once(document, "friction", keys, lists, keys, pair, false, place));
    pl_status status = pl_scene_set_friction(scene, pair[0], pair[1], source.value);
    return status == PL_OK ? PL_OK : pl_document_fail_within(document, place, status);
}

static pl_status build_body_pair(const pl_document *document, pl_scene *scene, const json_t *object,
                                 const pl_place *place)
{
    static const char *const keys[] = {"body", "to_body"}, *const lists[] = {"bodies", "bodies"};
    static const char *const names[] = {"body", "body"};
    pl_body_pair_source source;
    pl_status status = PL_OK;
    int pair[2] = {0, 0};
    pl_spec_body_pair.defaults(&source);
    pl_spec_read(&pl_spec_body_pair, object, &source);
    for (int k = 0; k < 2; k++)
        PL_TRY(pl_refer(document, object, keys[k], lists[k], names[k], place, &pair[k]));
    PL_TRY(check_once(document, "body_pairs", keys, lists, names, pair, true, place));
    if (json_object_get(object, "contact"))
        status = pl_scene_set_body_contact(scene, pair[0], pair[1], source.contact);
    if (status == PL_OK && json_object_get(object, "friction"))
        status = pl_scene_set_body_friction(scene, pair[0], pair[1], source.friction);
    return status == PL_OK ? PL_OK : pl_document_fail_within(document, place, status);
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
    PL_TRY(pl_refer_point(document, object, "body", "vertices", "weights", place, &def.points[0]));
    if (held)
        PL_TRY(
            pl_refer(document, object, "to_collider", "colliders", "collider", place, &def.collider));
    else
        PL_TRY(pl_refer_point(document, object, "to_body", "to_vertices", "to_weights", place,
                              &def.points[1]));
    pl_status status = pl_scene_add_attachment(scene, &def, NULL);
    return status == PL_OK ? PL_OK : pl_document_fail_within(document, place, status);
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

/* The start as the file asks for, once all that bodies may be in is there. */
static pl_status bring_out(const pl_document *document, pl_scene *scene)
{
    const pl_place here = {NULL, "bring_out", 0};
    double farthest = 0;
    if (!json_is_true(json_object_get(document->root, "bring_out")))
        return PL_OK;
    pl_status status = pl_scene_bring_out(scene, &farthest);
    if (status != PL_OK)
        return pl_document_fail_within(document, &here, status);
    pl_log(document->ctx, PL_LOG_INFO, "bring_out shifted bodies by %.3g m at most", farthest);
    return PL_OK;
}

pl_status pl_build_parts(const pl_document *document, pl_scene *scene)
{
    const struct {
        const char *key;
        pl_status (*build)(const pl_document *, pl_scene *, const json_t *, const pl_place *);
    } parts[] = {{"bodies", pl_build_body},         {"pins", build_pin},
                 {"forces", build_force},           {"wind", build_wind},
                 {"colliders", build_collider},     {"friction", build_friction},
                 {"body_pairs", build_body_pair},   {"bring_out", NULL},
                 {"attachments", build_attachment}, {"muscles", pl_build_muscle},
                 {"cables", pl_build_cable},        {"chambers", pl_build_chamber}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        PL_TRY(check_names(document, parts[p].key));
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        const json_t *list = json_object_get(document->root, parts[p].key);
        const pl_place outer = {NULL, parts[p].key, 0};
        if (!parts[p].build)
            PL_TRY(bring_out(document, scene));
        for (size_t i = 0; i < json_array_size(list); i++) {
            const pl_place place = {&outer, NULL, (int)i};
            PL_TRY(parts[p].build(document, scene, json_array_get(list, i), &place));
        }
    }
    return PL_OK;
}
