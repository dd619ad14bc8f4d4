/* The mesh a "mesh" object of a scene file names, made or read. */
#include "io/scene_spec.h"

#include <pliant/shape.h>

#include <stdio.h>

pl_status pl_turn_quaternion(const pl_document *document, const pl_turn *turn, const pl_place *place,
                             double quaternion[4])
{
    const double *a = turn->axis;
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (!(length > 0))
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "axis: expected a direction, got zero");
    double half = 0.5 * turn->degrees * (3.14159265358979323846 / 180.0);
    quaternion[0] = cos(half);
    for (int k = 0; k < 3; k++)
        quaternion[1 + k] = sin(half) * a[k] / length;
    return PL_OK;
}

void pl_describe_groups(const pl_mesh *mesh, unsigned kinds, char *out, size_t size)
{
    size_t used = 0;
    snprintf(out, size, "none");
    for (int g = 0; g < mesh->group_count; g++) {
        const pl_group *group = &mesh->groups[g];
        if (!(kinds & 1u << group->kind))
            continue;
        int length = snprintf(out + used, size - used, "%s\"%s\"", used ? ", " : "", group->name);
        if ((size_t)length >= size - used) { /* the rest does not fit */
            snprintf(out + used, size - used, used ? ", ..." : "...");
            return;
        }
        used += (size_t)length;
    }
}

static pl_status read_file(const pl_document *document, const char *file, pl_mesh **out)
{
    char *path = pl_document_resolve(document, file);
    pl_status status = path ? pl_mesh_read(document->ctx, path, out) : PL_ERROR_MEMORY;
    pl_free(document->ctx, path);
    return status;
}

static pl_status fill_surface(const pl_document *document, const char *file, int vertices,
                              pl_mesh **out)
{
    pl_status status = PL_ERROR_MEMORY;
    pl_mesh *surface = NULL;
    pl_tetrahedralize_def def = pl_tetrahedralize_def_default();
    def.vertices = vertices;
    char *path = pl_document_resolve(document, file);
    if (!path)
        goto done;
    PL_CHECK(pl_surface_read(document->ctx, path, &surface), done);
    PL_CHECK(pl_tetrahedralize(document->ctx, surface, &def, out, NULL), done);
done:
    pl_mesh_free(document->ctx, surface);
    pl_free(document->ctx, path);
    return status;
}

static pl_status make(const pl_document *document, const char *kind, const pl_mesh_source *s,
                      pl_mesh **out)
{
    pl_context *ctx = document->ctx;
    if (strcmp(kind, "box") == 0)
        return pl_mesh_box(ctx, s->size, s->cell, out);
    if (strcmp(kind, "hollow_box") == 0)
        return pl_mesh_hollow_box(ctx, s->size, s->wall, s->cell, out);
    if (strcmp(kind, "grid") == 0)
        return pl_mesh_grid(ctx, s->nodes, s->spacing, (pl_cut)s->cut, out);
    if (strcmp(kind, "bar") == 0)
        return pl_mesh_bar(ctx, s->length, s->width, s->height, s->cell, out);
    if (strcmp(kind, "cylinder") == 0)
        return pl_mesh_cylinder(ctx, s->radius, s->height, s->cell, out);
    if (strcmp(kind, "ellipsoid") == 0)
        return pl_mesh_ellipsoid(ctx, s->radii, s->cell, out);
    if (strcmp(kind, "rectangle") == 0)
        return pl_mesh_rectangle(ctx, s->width, s->height, s->cell, out);
    if (strcmp(kind, "disc") == 0)
        return pl_mesh_disc(ctx, s->radius, s->cell, out);
    if (strcmp(kind, "shape") == 0)
        return pl_shape_build(ctx, s->shape, s->vertices, out);
    if (strcmp(kind, "surface") == 0)
        return fill_surface(document, s->surface, s->vertices, out);
    return read_file(document, s->file, out);
}

pl_status pl_build_mesh(const pl_document *document, const json_t *object, const pl_place *place,
                        pl_mesh **out)
{
    pl_mesh_source source;
    pl_spec_mesh.defaults(&source);
    pl_spec_read(&pl_spec_mesh, object, &source);
    const char *kind = NULL;
    for (int i = 0; i < pl_spec_mesh.key_count; i++)
        if (!pl_spec_mesh.keys[i].goes_with && json_object_get(object, pl_spec_mesh.keys[i].name))
            kind = pl_spec_mesh.keys[i].name;
    const pl_place here = {place, kind, 0};
    if (strcmp(kind, "arrays") == 0)
        return pl_build_arrays(document, json_object_get(object, kind), &here, out);
    pl_status status = make(document, kind, &source, out);
    return status == PL_OK ? PL_OK : pl_document_fail_within(document, &here, status);
}
