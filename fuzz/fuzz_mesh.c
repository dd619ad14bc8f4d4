/* Mesh and surface files. Of TetGen's two, the one with the elements follows a line of "%%". */
#define _GNU_SOURCE
#include "fuzz.h"

#include <pliant/shape.h>

/* Much more than a small file can need: a count believed blindly asks for gigabytes. */
#define MEMORY ((size_t)64 << 20)

static const char *write_input(const fuzz_kind *kind, const uint8_t *data, size_t size)
{
    static char name[32];
    snprintf(name, sizeof name, "mesh.%s", kind->name);
    const uint8_t *mark =
        strcmp(kind->name, "node") == 0 && size ? memmem(data, size, "%%\n", 3) : NULL;
    size_t first = mark ? (size_t)(mark - data) : size;
    fuzz_write(name, data, first);
    if (mark)
        fuzz_write("mesh.ele", mark + 3, size - first - 3);
    return fuzz_path(name);
}

static void check_mesh(pl_context *ctx, const pl_mesh *mesh)
{
    pl_mesh_report r;
    FUZZ_CHECK(pl_mesh_check(ctx, mesh, &r) == PL_OK, "%s", pl_context_error(ctx));
    int broken = r.inverted + r.degenerate + r.duplicate + r.unreferenced + r.bad_index + r.non_finite;
    FUZZ_CHECK(broken == 0, "a broken mesh");
}

/* Surfaces are taken as they are: only their indices are right. */
static void check_surface(const pl_mesh *mesh)
{
    for (int i = 0; i < 3 * mesh->triangle_count; i++)
        FUZZ_CHECK(mesh->triangles[i] >= 0 && mesh->triangles[i] < mesh->vertex_count, "corner %d", i);
}

static void read_as(bool surface, const char *path, size_t size)
{
    fuzz_memory memory;
    pl_context *ctx = fuzz_open(&memory, MEMORY);
    pl_mesh *mesh = NULL;
    pl_status status = (surface ? pl_surface_read : pl_mesh_read)(ctx, path, &mesh);
    FUZZ_CHECK(status != PL_ERROR_MEMORY, "%zu bytes ask for too much: %s", size,
               pl_context_error(ctx));
    FUZZ_CHECK((status == PL_OK) == (mesh != NULL), "%s", pl_status_name(status));
    if (mesh && surface)
        check_surface(mesh);
    else if (mesh)
        check_mesh(ctx, mesh);
    pl_mesh_free(ctx, mesh);
    fuzz_close(&memory, ctx, status, "/mesh.");
}

void fuzz_surface(const fuzz_kind *kind, const uint8_t *data, size_t size)
{
    read_as(true, write_input(kind, data, size), size);
}

void fuzz_mesh(const fuzz_kind *kind, const uint8_t *data, size_t size)
{
    const char *path = write_input(kind, data, size);
    read_as(false, path, size);
    read_as(true, path, size);
}
