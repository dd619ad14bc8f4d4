/* Which reader or writer a path gets, by its extension. */
#include "mesh/read.h"
#include "mesh/write.h"

static pl_word extension_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? (pl_word){dot, strlen(dot)} : (pl_word){"", 0};
}

typedef pl_status (*reader_fn)(pl_scan *scan, pl_raw *raw);

static reader_fn find_reader(const char *path)
{
    static const struct {
        const char *extension;
        reader_fn read;
    } readers[] = {{".msh", pl_read_gmsh}, {".mesh", pl_read_medit},  {".vtk", pl_read_vtk},
                   {".vtu", pl_read_vtu},  {".node", pl_read_tetgen}, {".ele", pl_read_tetgen},
                   {".obj", pl_read_obj}};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (pl_word_is_anycase(extension_of(path), readers[i].extension))
            return readers[i].read;
    }
    return NULL;
}

bool pl_mesh_readable(const char *path)
{
    return find_reader(path) != NULL;
}

pl_status pl_mesh_read(pl_context *ctx, const char *path, pl_mesh **out)
{
    if (!path || !out)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "pl_mesh_read: path or out is NULL");
    pl_status status = PL_OK;
    pl_scan scan = {0};
    pl_raw raw = {.ctx = ctx, .path = path};
    reader_fn read = find_reader(path);
    if (!read)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: unknown extension, expected " PL_MESH_EXTENSIONS,
                       path);
    PL_CHECK(pl_scan_open(ctx, path, &scan), done);
    /* Files of either VTK format are met under the other's extension. */
    if (read == pl_read_vtk || read == pl_read_vtu)
        read = scan.text[0] == '#' ? pl_read_vtk : pl_read_vtu;
    PL_CHECK(read(&scan, &raw), done);
    status = pl_raw_finish(&raw, out);
done:
    pl_raw_free(&raw);
    pl_scan_close(&scan);
    return status;
}

pl_status pl_mesh_write(pl_context *ctx, const pl_mesh *mesh, const char *path)
{
    if (!mesh || !path)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "pl_mesh_write: mesh or path is NULL");
    pl_word extension = extension_of(path);
    if (pl_word_is_anycase(extension, ".msh"))
        return pl_write_gmsh(ctx, mesh, path);
    if (pl_word_is_anycase(extension, ".vtu"))
        return pl_write_vtu(ctx, mesh, path);
    return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: unknown extension, expected .msh or .vtu", path);
}
