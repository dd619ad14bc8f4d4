/* The life of a mesh: making, copying, freeing, named groups, placing it in space. */
#include "mesh/mesh.h"

#include <stdlib.h>

pl_status pl_mesh_new(pl_context *ctx, int vertex_count, int tet_count, int triangle_count,
                      pl_mesh **out)
{
    pl_status status = PL_OK;
    pl_mesh *mesh = NULL;
    PL_NEW(ctx, mesh, 1, failed);
    mesh->vertex_count = vertex_count;
    mesh->tet_count = tet_count;
    mesh->triangle_count = triangle_count;
    PL_NEW(ctx, mesh->vertices, 3 * (size_t)vertex_count, failed);
    PL_NEW(ctx, mesh->tets, 4 * (size_t)tet_count, failed);
    PL_NEW(ctx, mesh->triangles, 3 * (size_t)triangle_count, failed);
    *out = mesh;
    return PL_OK;
failed:
    pl_mesh_free(ctx, mesh);
    return status;
}

void pl_mesh_free(pl_context *ctx, pl_mesh *mesh)
{
    if (!mesh)
        return;
    for (int g = 0; g < mesh->group_count; g++) {
        pl_free(ctx, mesh->groups[g].name);
        pl_free(ctx, mesh->groups[g].index);
    }
    pl_free(ctx, mesh->groups);
    pl_free(ctx, mesh->triangles);
    pl_free(ctx, mesh->tets);
    pl_free(ctx, mesh->vertices);
    pl_free(ctx, mesh);
}

static void copy_items(void *to, const void *from, size_t count, size_t size)
{
    if (count > 0)
        memcpy(to, from, count * size);
}

pl_status pl_mesh_create(pl_context *ctx, int vertex_count, const double *vertices, int tet_count,
                         const int *tets, int triangle_count, const int *triangles, pl_mesh **out)
{
    if (vertex_count < 0 || tet_count < 0 || triangle_count < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "mesh: counts must not be negative (%d vertices, %d tets, %d triangles)",
                       vertex_count, tet_count, triangle_count);
    if ((vertex_count > 0 && !vertices) || (tet_count > 0 && !tets) ||
        (triangle_count > 0 && !triangles))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "mesh: an array with a positive count is NULL");
    pl_mesh *mesh = NULL;
    PL_TRY(pl_mesh_new(ctx, vertex_count, tet_count, triangle_count, &mesh));
    copy_items(mesh->vertices, vertices, 3 * (size_t)vertex_count, sizeof *vertices);
    copy_items(mesh->tets, tets, 4 * (size_t)tet_count, sizeof *tets);
    copy_items(mesh->triangles, triangles, 3 * (size_t)triangle_count, sizeof *triangles);
    *out = mesh;
    return PL_OK;
}

pl_status pl_mesh_copy(pl_context *ctx, const pl_mesh *mesh, pl_mesh **out)
{
    if (!mesh || !out)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "pl_mesh_copy: mesh or out is NULL");
    pl_status status = PL_OK;
    pl_mesh *copy = NULL;
    PL_TRY(pl_mesh_create(ctx, mesh->vertex_count, mesh->vertices, mesh->tet_count, mesh->tets,
                          mesh->triangle_count, mesh->triangles, &copy));
    for (int g = 0; g < mesh->group_count; g++) {
        const pl_group *group = &mesh->groups[g];
        PL_CHECK(pl_mesh_add_group(ctx, copy, group->name, group->kind, group->count, group->index),
                 failed);
    }
    *out = copy;
    return PL_OK;
failed:
    pl_mesh_free(ctx, copy);
    return status;
}

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int group_limit(const pl_mesh *mesh, pl_group_kind kind)
{
    return kind == PL_GROUP_VERTEX ? mesh->vertex_count
           : kind == PL_GROUP_TET  ? mesh->tet_count
                                   : mesh->triangle_count;
}

/* Room for one more group, which stays uncounted until it is complete. */
static pl_status grow_groups(pl_context *ctx, pl_mesh *mesh)
{
    pl_group *groups = pl_alloc(ctx, (size_t)mesh->group_count + 1, sizeof *groups);
    if (!groups)
        return PL_ERROR_MEMORY;
    copy_items(groups, mesh->groups, (size_t)mesh->group_count, sizeof *groups);
    pl_free(ctx, mesh->groups);
    mesh->groups = groups;
    return PL_OK;
}

pl_status pl_mesh_add_group(pl_context *ctx, pl_mesh *mesh, const char *name, pl_group_kind kind,
                            int count, const int *index)
{
    static const char *const kinds[] = {"vertices", "tets", "triangles"};
    if (!mesh)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "group: mesh is NULL");
    if (!name || !*name)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "group: its name is empty");
    if ((unsigned)kind > PL_GROUP_TRIANGLE || count < 0 || (count > 0 && !index))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "group \"%s\": impossible kind %d or count %d", name,
                       (int)kind, count);
    if (pl_mesh_find_group(mesh, name, kind))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "group \"%s\": the mesh has a group of %s of that name",
                       name, kinds[kind]);

    pl_status status = PL_OK;
    pl_group group = {.kind = kind, .count = count};
    PL_NEW(ctx, group.index, count, failed);
    copy_items(group.index, index, (size_t)count, sizeof *index);
    qsort(group.index, (size_t)count, sizeof *group.index, compare_ints);
    for (int i = 0; i < count; i++) {
        if (group.index[i] < 0 || group.index[i] >= group_limit(mesh, kind)) {
            status = pl_fail(ctx, PL_ERROR_ARGUMENT, "group \"%s\": index %d is not in [0, %d), the %s",
                             name, group.index[i], group_limit(mesh, kind), kinds[kind]);
            goto failed;
        }
        if (i > 0 && group.index[i] == group.index[i - 1]) {
            status = pl_fail(ctx, PL_ERROR_ARGUMENT, "group \"%s\": index %d comes twice", name,
                             group.index[i]);
            goto failed;
        }
    }
    group.name = pl_strdup(ctx, name);
    if (!group.name) {
        status = PL_ERROR_MEMORY;
        goto failed;
    }
    PL_CHECK(grow_groups(ctx, mesh), failed);
    mesh->groups[mesh->group_count++] = group;
    return PL_OK;
failed:
    pl_free(ctx, group.name);
    pl_free(ctx, group.index);
    return status;
}

const pl_group *pl_mesh_find_group(const pl_mesh *mesh, const char *name, pl_group_kind kind)
{
    for (int g = 0; g < mesh->group_count; g++) {
        if (mesh->groups[g].kind == kind && strcmp(mesh->groups[g].name, name) == 0)
            return &mesh->groups[g];
    }
    return NULL;
}

void pl_mesh_transform(pl_mesh *mesh, double scale, const double rotation[4],
                       const double translation[3])
{
    double r[9];
    pl_quat_to_mat3(rotation, r);
    for (int i = 0; i < 9; i++)
        r[i] *= scale;
    for (int v = 0; v < mesh->vertex_count; v++) {
        double *x = mesh->vertices + 3 * (size_t)v;
        pl_mat3_vec(r, x, x);
        pl_axpy3(1.0, translation, x);
    }
}
