/* Surfaces by their extension, as they are in the file. */
#include "shape/surface.h"

static bool has_extension(const char *path, const char *extension)
{
    size_t length = strlen(path), tail = strlen(extension);
    return length >= tail && pl_word_is_anycase((pl_word){path + length - tail, tail}, extension);
}

static pl_status read_raw(pl_context *ctx, const char *path, pl_status (*read)(pl_scan *, pl_raw *),
                          pl_mesh **out)
{
    pl_status status = PL_OK;
    pl_scan scan = {0};
    pl_raw raw = {.ctx = ctx, .path = path};
    PL_CHECK(pl_scan_open(ctx, path, &scan), done);
    PL_CHECK(read(&scan, &raw), done);
    if (raw.triangle_count == 0)
        status = pl_fail(ctx, PL_ERROR_MESH, "%s: there are no triangles", path);
    else
        status = pl_mesh_create(ctx, raw.vertex_count, raw.vertices, 0, NULL, raw.triangle_count,
                                raw.triangles, out);
done:
    pl_raw_free(&raw);
    pl_scan_close(&scan);
    return status;
}

static pl_status read_boundary(pl_context *ctx, const char *path, pl_mesh **out)
{
    pl_mesh *mesh = NULL;
    int count, *triangles = NULL;
    pl_status status = PL_OK;
    PL_CHECK(pl_mesh_read(ctx, path, &mesh), done);
    PL_CHECK(pl_mesh_surface(ctx, mesh, &count, &triangles), done);
    status = pl_mesh_create(ctx, mesh->vertex_count, mesh->vertices, 0, NULL, count, triangles, out);
done:
    pl_mesh_free(ctx, mesh);
    pl_free(ctx, triangles);
    return status;
}

pl_status pl_surface_read(pl_context *ctx, const char *path, pl_mesh **out)
{
    if (has_extension(path, ".obj"))
        return read_raw(ctx, path, pl_read_obj, out);
    if (has_extension(path, ".stl"))
        return read_raw(ctx, path, pl_read_stl, out);
    if (has_extension(path, ".ply"))
        return read_raw(ctx, path, pl_read_ply, out);
    if (!pl_mesh_readable(path))
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "%s: unknown extension, expected .stl, .ply, " PL_MESH_EXTENSIONS, path);
    return read_boundary(ctx, path, out);
}
