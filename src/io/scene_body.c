/* A "body" object of a scene file as a body of the scene: mesh, transform, values per element, start.
 */
#include "io/scene_spec.h"

/* ------------------------------------------------------------------------------- values per element */

/* Values of the groups named in `map`; the rest keep `values`. "default" names the elements in none. */
static pl_status fill_groups(const pl_document *document, const pl_mesh *mesh, const json_t *map,
                             const pl_place *place, int count, double *values)
{
    pl_group_kind kind = mesh->tet_count > 0 ? PL_GROUP_TET : PL_GROUP_TRIANGLE;
    const json_t *rest = json_object_get(map, "default");
    for (int e = 0; rest && e < count; e++)
        values[e] = json_number_value(rest);
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)map, name, value) {
        const pl_place here = {place, name, 0};
        const pl_group *group = pl_mesh_find_group(mesh, name, kind);
        if (!group && value != rest) {
            char known[256];
            pl_describe_groups(mesh, 1u << kind, known, sizeof known);
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                    "the mesh has no group of %s \"%s\"; it has %s",
                                    kind == PL_GROUP_TET ? "tets" : "triangles", name, known);
        }
        for (int i = 0; group && i < group->count; i++)
            values[group->index[i]] = json_number_value(value);
    }
    return PL_OK;
}

/* *out [element_count] from an array or a map; NULL when the key holds one number or nothing. */
static pl_status build_field(const pl_document *document, const pl_mesh *mesh, const json_t *material,
                             const char *name, double plain, const pl_place *place, double **out)
{
    const json_t *value = json_object_get(material, name);
    const pl_place in = {place, "material", 0}, here = {&in, name, 0};
    if (!json_is_array(value) && !json_is_object(value))
        return PL_OK;
    int count = mesh->tet_count > 0 ? mesh->tet_count : mesh->triangle_count;
    if (json_is_array(value) && json_array_size(value) != (size_t)count)
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                "expected %d values, one per %s, got %zu", count,
                                mesh->tet_count > 0 ? "tet" : "triangle", json_array_size(value));
    *out = pl_alloc(document->ctx, (size_t)count, sizeof **out);
    if (!*out)
        return PL_ERROR_MEMORY;
    for (int e = 0; e < count; e++)
        (*out)[e] = json_is_array(value) ? json_number_value(json_array_get(value, (size_t)e)) : plain;
    return json_is_array(value) ? PL_OK : fill_groups(document, mesh, value, &here, count, *out);
}

/* *out [vertex_count, 3] from rows; NULL when the key is not there. */
static pl_status build_points(const pl_document *document, const pl_mesh *mesh, const json_t *object,
                              const char *name, const pl_place *place, double **out)
{
    const json_t *rows = json_object_get(object, name);
    const pl_place here = {place, name, 0};
    if (!rows)
        return PL_OK;
    if (json_array_size(rows) != (size_t)mesh->vertex_count)
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                "expected %d rows, one per vertex, got %zu", mesh->vertex_count,
                                json_array_size(rows));
    *out = pl_alloc(document->ctx, 3 * (size_t)mesh->vertex_count, sizeof **out);
    if (!*out)
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        (*out)[i] = json_number_value(json_array_get(json_array_get(rows, i / 3), i % 3));
    return PL_OK;
}

/* ------------------------------------------------------------------------------- the body */

static pl_status transform_mesh(const pl_document *document, const json_t *object,
                                const pl_place *place, pl_mesh *mesh)
{
    const json_t *json = json_object_get(object, "transform");
    const pl_place in = {place, "transform", 0}, here = {&in, "rotate", 0};
    if (!json)
        return PL_OK;
    pl_transform transform;
    double quaternion[4];
    pl_spec_transform.defaults(&transform);
    pl_spec_read(&pl_spec_transform, json, &transform);
    PL_TRY(pl_turn_quaternion(document, &transform.rotate, &here, quaternion));
    pl_mesh_transform(mesh, transform.scale, quaternion, transform.translate);
    return PL_OK;
}

/* A value that the file gives and the material has no use for. A model that is changed from outside
 * leaves the file's values over, which is no mistake of theirs. */
static void warn_of_unused(const pl_document *document, const json_t *object, const pl_place *place,
                           pl_material model, bool solid)
{
    static const char *const of_cloth[] = {"thickness", "bending"};
    const pl_place in = {place, "material", 0}, chosen = {&in, "model", 0}, here = {&in, "poisson", 0};
    const json_t *material = json_object_get(object, "material");
    if (model == PL_ARAP && json_object_get(material, "poisson") &&
        !pl_document_overridden(document, &chosen))
        pl_document_warn(document, &here, "not used: \"arap\" has no Poisson's ratio");
    for (int k = 0; solid && k < 2; k++) {
        const pl_place there = {&in, of_cloth[k], 0};
        if (json_object_get(material, of_cloth[k]))
            pl_document_warn(document, &there, "not used: that is of cloth, the body is a solid");
    }
}

pl_status pl_build_body(const pl_document *document, pl_scene *scene, const json_t *object,
                        const pl_place *place)
{
    pl_context *ctx = document->ctx;
    pl_status status = PL_OK;
    pl_mesh *mesh = NULL;
    double *fields[8] = {NULL}, *positions = NULL, *velocities = NULL;
    pl_body_def def;
    pl_spec_body.defaults(&def);
    pl_spec_read(&pl_spec_body, object, &def);

    const pl_place mesh_place = {place, "mesh", 0};
    PL_CHECK(pl_build_mesh(document, json_object_get(object, "mesh"), &mesh_place, &mesh), done);
    PL_CHECK(transform_mesh(document, object, place, mesh), done);
    warn_of_unused(document, object, place, def.model, mesh->tet_count > 0);
    const struct {
        const char *name;
        double plain;
        const double **slot;
    } values[8] = {
        {"young", def.young, &def.young_of},       {"poisson", def.poisson, &def.poisson_of},
        {"density", def.density, &def.density_of}, {"bending", def.bending, &def.bending_of},
        {"damping", def.damping, &def.damping_of}, {"viscosity", def.viscosity, &def.viscosity_of},
        {"yeoh2", def.yeoh2, &def.yeoh2_of},       {"yeoh3", def.yeoh3, &def.yeoh3_of}};
    for (int i = 0; i < 8; i++) {
        PL_CHECK(build_field(document, mesh, json_object_get(object, "material"), values[i].name,
                             values[i].plain, place, &fields[i]),
                 done);
        *values[i].slot = fields[i];
    }
    PL_CHECK(build_points(document, mesh, object, "positions", place, &positions), done);
    PL_CHECK(build_points(document, mesh, object, "velocities", place, &velocities), done);
    def.mesh = mesh;
    def.positions = positions;
    def.velocities = velocities;
    status = pl_scene_add_body(scene, &def, NULL);
    if (status != PL_OK)
        pl_document_fail_within(document, place, status);
done:
    for (int i = 0; i < 8; i++)
        pl_free(ctx, fields[i]);
    pl_free(ctx, positions);
    pl_free(ctx, velocities);
    pl_mesh_free(ctx, mesh);
    return status;
}
