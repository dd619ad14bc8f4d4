/*
 * What follows from the index arrays alone: sorting rows of vertex indices, the boundary of a solid.
 *
 * A face of a tet is on the boundary when no other tet has the same three vertices.
 */
#include "mesh/mesh.h"

void pl_sort_few(int count, int *values)
{
    for (int i = 1; i < count; i++) {
        int value = values[i], j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

bool pl_element_valid(int width, const int *element, int vertex_count)
{
    for (int i = 0; i < width; i++) {
        if (element[i] < 0 || element[i] >= vertex_count)
            return false;
        for (int j = 0; j < i; j++) {
            if (element[i] == element[j])
                return false;
        }
    }
    return true;
}

/* Radix sort from the last column to the first, one stable counting sort each. */
pl_status pl_sort_rows(pl_context *ctx, int count, int width, const int *rows, int limit, int *order)
{
    pl_status status = PL_OK;
    int *start = NULL, *from = NULL;
    PL_NEW(ctx, start, (size_t)limit + 1, done);
    PL_NEW(ctx, from, count, done);
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int column = width - 1; column >= 0; column--) {
        const int *key = rows + column;
        memset(start, 0, ((size_t)limit + 1) * sizeof *start);
        for (int i = 0; i < count; i++)
            start[key[(size_t)i * (size_t)width] + 1]++;
        for (int v = 0; v < limit; v++)
            start[v + 1] += start[v];
        memcpy(from, order, (size_t)count * sizeof *from);
        for (int i = 0; i < count; i++)
            order[start[key[(size_t)from[i] * (size_t)width]]++] = from[i];
    }
done:
    pl_free(ctx, from);
    pl_free(ctx, start);
    return status;
}

const int pl_tet_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

/* Marks in single[4 tet_count] the faces that only one tet has; refuses those that more than two have.
 */
static pl_status find_single_faces(pl_context *ctx, const pl_mesh *mesh, bool *single)
{
    pl_status status = PL_OK;
    int count = 4 * mesh->tet_count, *rows = NULL, *order = NULL;
    PL_NEW(ctx, rows, 3 * (size_t)count, done);
    PL_NEW(ctx, order, count, done);
    for (int f = 0; f < count; f++) {
        for (int i = 0; i < 3; i++)
            rows[3 * (size_t)f + (size_t)i] =
                mesh->tets[4 * (size_t)(f / 4) + (size_t)pl_tet_faces[f % 4][i]];
        pl_sort_few(3, rows + 3 * (size_t)f);
    }
    PL_CHECK(pl_sort_rows(ctx, count, 3, rows, mesh->vertex_count, order), done);
    for (int begin = 0, end; begin < count; begin = end) {
        const int *row = rows + 3 * (size_t)order[begin];
        for (end = begin + 1; end < count; end++) {
            if (memcmp(row, rows + 3 * (size_t)order[end], 3 * sizeof *row) != 0)
                break;
        }
        single[order[begin]] = end - begin == 1;
        if (end - begin > 2) {
            status =
                pl_fail(ctx, PL_ERROR_MESH,
                        "mesh: the face of vertices %d, %d and %d is in %d tets, expected at most 2",
                        row[0], row[1], row[2], end - begin);
            goto done;
        }
    }
done:
    pl_free(ctx, order);
    pl_free(ctx, rows);
    return status;
}

static pl_status check_elements(pl_context *ctx, const pl_mesh *mesh, const char *name, int width,
                                int count, const int *elements)
{
    for (int e = 0; e < count; e++) {
        if (!pl_element_valid(width, elements + (size_t)width * (size_t)e, mesh->vertex_count))
            return pl_fail(ctx, PL_ERROR_MESH,
                           "mesh: %s %d names a vertex twice or one that is not in [0, %d)", name, e,
                           mesh->vertex_count);
    }
    return PL_OK;
}

static pl_status solid_surface(pl_context *ctx, const pl_mesh *mesh, int *count, int **triangles)
{
    pl_status status = PL_OK;
    bool *single = NULL;
    int *out = NULL, kept = 0, face_count = 4 * mesh->tet_count;
    PL_NEW(ctx, single, face_count, done);
    PL_CHECK(find_single_faces(ctx, mesh, single), done);
    for (int f = 0; f < face_count; f++)
        kept += single[f];
    PL_NEW(ctx, out, 3 * (size_t)kept, done);
    int *next = out;
    for (int f = 0; f < face_count; f++) {
        for (int i = 0; single[f] && i < 3; i++)
            *next++ = mesh->tets[4 * (size_t)(f / 4) + (size_t)pl_tet_faces[f % 4][i]];
    }
    *count = kept;
    *triangles = out;
done:
    pl_free(ctx, single);
    return status;
}

pl_status pl_mesh_surface(pl_context *ctx, const pl_mesh *mesh, int *count, int **triangles)
{
    if (!mesh || !count || !triangles)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "pl_mesh_surface: an argument is NULL");
    if (mesh->tet_count > INT32_MAX / 4)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "mesh: %d tets are too many", mesh->tet_count);
    if (mesh->tet_count > 0) {
        PL_TRY(check_elements(ctx, mesh, "tet", 4, mesh->tet_count, mesh->tets));
        return solid_surface(ctx, mesh, count, triangles);
    }
    PL_TRY(check_elements(ctx, mesh, "triangle", 3, mesh->triangle_count, mesh->triangles));
    int *copy = pl_alloc(ctx, 3 * (size_t)mesh->triangle_count, sizeof *copy);
    if (!copy)
        return PL_ERROR_MEMORY;
    memcpy(copy, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *copy);
    *count = mesh->triangle_count;
    *triangles = copy;
    return PL_OK;
}
