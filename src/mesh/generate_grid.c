/*
 * Generators on a grid of cells: box, hollow box, grid, bar (solids) and rectangle (cloth).
 *
 * Nodes are numbered with x fastest: (i, j, k) -> i + nx (j + ny k), nx nodes along x. Corner c of a
 * cube is (c & 1, c >> 1 & 1, c >> 2). Cubes are cut so that neighbours agree on the diagonal of the
 * face they share:
 *
 * - alternating, into five: a tet in the middle, of the corners 0, 3, 5, 6 or in every other cube 1, 2,
 * 4, 7, and one at each of the other four corners. No direction is favoured, and little locks.
 * - diagonal, into the six of Kuhn, one per order (a, b, c) of the axes, all around the diagonal from 0
 *   to 7: vertices 0, e_a, e_a + e_b, e_a + e_b + e_c. Stiffer, and bends sideways.
 */
#include "mesh/mesh.h"

pl_status pl_mesh_cells(pl_context *ctx, const char *name, double length, double cell, int *cells)
{
    if (!(length > 0) || !isfinite(length))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: %g m must be positive and finite", name, length);
    if (!(cell > 0) || !isfinite(cell))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "cell: %g m must be positive and finite", cell);
    double count = round(length / cell);
    if (count > 1e8)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "cell: %g m makes %g cells along %s, too many", cell,
                       count, name);
    *cells = count < 1 ? 1 : (int)count;
    return PL_OK;
}

pl_status pl_mesh_fits(pl_context *ctx, double vertex_count, double element_count)
{
    if (vertex_count > PL_ELEMENTS_MAX || element_count > PL_ELEMENTS_MAX)
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "%.10g vertices and %.10g elements are too many, at most %d are made",
                       vertex_count, element_count, PL_ELEMENTS_MAX);
    return PL_OK;
}

static void split_in_six(const int corner[8], int *tets)
{
    static const int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    for (int p = 0; p < 6; p++) {
        int a = 1 << axes[p][0], ab = a | 1 << axes[p][1];
        bool even = p < 3; /* an odd order of the axes has negative volume: exchange two vertices */
        int *tet = tets + 4 * (size_t)p;
        tet[0] = corner[0];
        tet[1] = corner[even ? a : ab];
        tet[2] = corner[even ? ab : a];
        tet[3] = corner[7];
    }
}

static void split_in_five(const int corner[8], bool odd, int *tets)
{
    static const int middle[2][4] = {{0, 5, 3, 6}, {1, 2, 4, 7}},
                     ends[2][4] = {{1, 2, 4, 7}, {0, 3, 5, 6}};
    for (int k = 0; k < 4; k++) {
        int c = ends[odd][k], *tet = tets + 4 * (size_t)(k + 1);
        tets[k] = corner[middle[odd][k]];
        tet[0] = corner[c];
        tet[1] = corner[c ^ (odd ? 1 : 2)];
        tet[2] = corner[c ^ (odd ? 2 : 1)];
        tet[3] = corner[c ^ 4];
    }
}

static int tets_of(pl_cut cut)
{
    return cut == PL_CUT_ALTERNATING ? 5 : 6;
}

/* A solid of cells[3] cubes with its corner at origin; the last node of an axis is exactly at
 * origin + size. */
static pl_status make_grid(pl_context *ctx, const int cells[3], const double origin[3],
                           const double size[3], pl_cut cut, pl_mesh **out)
{
    int each = tets_of(cut);
    int nodes[3] = {cells[0] + 1, cells[1] + 1, cells[2] + 1};
    double cubes = (double)cells[0] * cells[1] * cells[2];
    PL_TRY(pl_mesh_fits(ctx, (double)nodes[0] * nodes[1] * nodes[2], each * cubes));
    pl_mesh *mesh = NULL;
    PL_TRY(pl_mesh_new(ctx, nodes[0] * nodes[1] * nodes[2], each * (int)cubes, 0, &mesh));

    int v = 0, t = 0, step[3] = {1, nodes[0], nodes[0] * nodes[1]};
    for (int k = 0; k < nodes[2]; k++) {
        for (int j = 0; j < nodes[1]; j++) {
            for (int i = 0; i < nodes[0]; i++, v++) {
                int at[3] = {i, j, k};
                for (int d = 0; d < 3; d++)
                    mesh->vertices[3 * (size_t)v + (size_t)d] =
                        origin[d] + size[d] * ((double)at[d] / cells[d]);
                if (i == cells[0] || j == cells[1] || k == cells[2])
                    continue;
                int corner[8];
                for (int c = 0; c < 8; c++)
                    corner[c] = v + (c & 1) * step[0] + (c >> 1 & 1) * step[1] + (c >> 2) * step[2];
                if (cut == PL_CUT_ALTERNATING)
                    split_in_five(corner, (i + j + k) % 2, mesh->tets + 4 * (size_t)t);
                else
                    split_in_six(corner, mesh->tets + 4 * (size_t)t);
                t += each;
            }
        }
    }
    *out = mesh;
    return PL_OK;
}

pl_status pl_mesh_grid(pl_context *ctx, const int nodes[3], double spacing, pl_cut cut, pl_mesh **out)
{
    int cells[3];
    double size[3];
    for (int d = 0; d < 3; d++) {
        if (nodes[d] < 2)
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "nodes[%d]: %d must be at least 2", d, nodes[d]);
        cells[d] = nodes[d] - 1;
        size[d] = cells[d] * spacing;
    }
    if (!(spacing > 0) || !isfinite(size[0] + size[1] + size[2]))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "spacing: %g m must be positive and finite", spacing);
    if ((int)cut < 0 || cut > PL_CUT_DIAGONAL)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "cut = %d: no such cut", (int)cut);
    return make_grid(ctx, cells, (double[3]){0, 0, 0}, size, cut, out);
}

pl_status pl_mesh_box(pl_context *ctx, const double size[3], double cell, pl_mesh **out)
{
    static const char *const names[] = {"size[0]", "size[1]", "size[2]"};
    int cells[3];
    for (int d = 0; d < 3; d++)
        PL_TRY(pl_mesh_cells(ctx, names[d], size[d], cell, &cells[d]));
    return make_grid(ctx, cells, (double[3]){0, 0, 0}, size, PL_CUT_ALTERNATING, out);
}

/* Whether a cell or, counted in nodes, a vertex is in the hollow that walls of these cells leave. */
static bool in_hollow(const int cells[3], int wall, const int at[3], int nodes)
{
    for (int d = 0; d < 3; d++)
        if (at[d] < wall + nodes || at[d] >= cells[d] - wall)
            return false;
    return true;
}

/* Leaves out, in place, the cubes of a grid in the hollow and the nodes that none has then. */
static void hollow_out(pl_mesh *mesh, const int cells[3], int wall, int *number)
{
    const size_t each = 4 * (size_t)tets_of(PL_CUT_ALTERNATING);
    int kept = 0, tets = 0, cube = 0;
    for (int v = 0; v < mesh->vertex_count; v++) {
        int nx = cells[0] + 1, ny = cells[1] + 1, at[3] = {v % nx, v / nx % ny, v / nx / ny};
        if (!in_hollow(cells, wall, at, 1)) {
            memmove(mesh->vertices + 3 * (size_t)kept, mesh->vertices + 3 * (size_t)v,
                    3 * sizeof *mesh->vertices);
            number[v] = kept++;
        }
        if (at[0] == cells[0] || at[1] == cells[1] || at[2] == cells[2])
            continue;
        if (!in_hollow(cells, wall, at, 0)) {
            memmove(mesh->tets + each * (size_t)tets, mesh->tets + each * (size_t)cube,
                    each * sizeof *mesh->tets);
            tets++;
        }
        cube++;
    }
    mesh->vertex_count = kept;
    mesh->tet_count = (int)each / 4 * tets;
    for (int i = 0; i < 4 * mesh->tet_count; i++)
        mesh->tets[i] = number[mesh->tets[i]];
}

pl_status pl_mesh_hollow_box(pl_context *ctx, const double size[3], double wall, double cell,
                             pl_mesh **out)
{
    static const char *const names[] = {"size[0]", "size[1]", "size[2]"};
    int cells[3], thick;
    pl_mesh *mesh = NULL;
    PL_TRY(pl_mesh_cells(ctx, "wall", wall, cell, &thick));
    for (int d = 0; d < 3; d++) {
        PL_TRY(pl_mesh_cells(ctx, names[d], size[d], cell, &cells[d]));
        if (cells[d] <= 2 * thick)
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "wall: %d cells on both sides leave no hollow in the %d along %s", thick,
                           cells[d], names[d]);
    }
    PL_TRY(make_grid(ctx, cells, (double[3]){0, 0, 0}, size, PL_CUT_ALTERNATING, &mesh));
    int *number = pl_alloc(ctx, (size_t)mesh->vertex_count, sizeof *number);
    if (!number) {
        pl_mesh_free(ctx, mesh);
        return PL_ERROR_MEMORY;
    }
    hollow_out(mesh, cells, thick, number);
    pl_free(ctx, number);
    *out = mesh;
    return PL_OK;
}

/* Adds the group of the vertices with lower <= x <= upper. */
static pl_status group_where(pl_context *ctx, pl_mesh *mesh, const char *name, const double lower[3],
                             const double upper[3])
{
    pl_status status = PL_OK;
    int count = 0, *index = NULL;
    PL_NEW(ctx, index, mesh->vertex_count, done);
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * (size_t)v;
        bool inside = true;
        for (int d = 0; d < 3; d++)
            inside = inside && lower[d] <= x[d] && x[d] <= upper[d];
        if (inside)
            index[count++] = v;
    }
    status = pl_mesh_add_group(ctx, mesh, name, PL_GROUP_VERTEX, count, index);
done:
    pl_free(ctx, index);
    return status;
}

pl_status pl_mesh_bar(pl_context *ctx, double length, double width, double height, double cell,
                      pl_mesh **out)
{
    pl_status status = PL_OK;
    int cells[3];
    PL_TRY(pl_mesh_cells(ctx, "length", length, cell, &cells[0]));
    PL_TRY(pl_mesh_cells(ctx, "width", width, cell, &cells[1]));
    PL_TRY(pl_mesh_cells(ctx, "height", height, cell, &cells[2]));
    const double size[3] = {length, width, height}, origin[3] = {0, -width / 2, -height / 2};
    pl_mesh *mesh = NULL;
    PL_TRY(make_grid(ctx, cells, origin, size, PL_CUT_ALTERNATING, &mesh));
    PL_CHECK(group_where(ctx, mesh, "left", (double[3]){0, -INFINITY, -INFINITY},
                         (double[3]){0, INFINITY, INFINITY}),
             failed);
    PL_CHECK(group_where(ctx, mesh, "right", (double[3]){length, -INFINITY, -INFINITY},
                         (double[3]){length, INFINITY, INFINITY}),
             failed);
    *out = mesh;
    return PL_OK;
failed:
    pl_mesh_free(ctx, mesh);
    return status;
}

static pl_status add_rectangle_groups(pl_context *ctx, pl_mesh *mesh, double width, double height)
{
    const struct {
        const char *name;
        double lower[3], upper[3];
    } groups[] = {
        {"left", {0, 0, 0}, {0, height, 0}},
        {"right", {width, 0, 0}, {width, height, 0}},
        {"bottom", {0, 0, 0}, {width, 0, 0}},
        {"top", {0, height, 0}, {width, height, 0}},
        {"corner00", {0, 0, 0}, {0, 0, 0}},
        {"corner10", {width, 0, 0}, {width, 0, 0}},
        {"corner01", {0, height, 0}, {0, height, 0}},
        {"corner11", {width, height, 0}, {width, height, 0}},
    };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        PL_TRY(group_where(ctx, mesh, groups[g].name, groups[g].lower, groups[g].upper));
    return PL_OK;
}

/* The diagonals of neighbouring cells alternate, so that the cloth favours no direction. */
static void split_cells(const int cells[2], int *triangles)
{
    for (int j = 0; j < cells[1]; j++) {
        for (int i = 0; i < cells[0]; i++, triangles += 6) {
            int a = i + (cells[0] + 1) * j, b = a + 1, c = b + cells[0] + 1, d = c - 1;
            const int even[6] = {a, b, c, a, c, d}, odd[6] = {a, b, d, b, c, d};
            memcpy(triangles, (i + j) % 2 == 0 ? even : odd, sizeof even);
        }
    }
}

pl_status pl_mesh_rectangle(pl_context *ctx, double width, double height, double cell, pl_mesh **out)
{
    pl_status status = PL_OK;
    int cells[2];
    PL_TRY(pl_mesh_cells(ctx, "width", width, cell, &cells[0]));
    PL_TRY(pl_mesh_cells(ctx, "height", height, cell, &cells[1]));
    double vertices = (cells[0] + 1.0) * (cells[1] + 1.0), triangles = 2.0 * cells[0] * cells[1];
    PL_TRY(pl_mesh_fits(ctx, vertices, triangles));
    pl_mesh *mesh = NULL;
    PL_TRY(pl_mesh_new(ctx, (int)vertices, 0, (int)triangles, &mesh));
    double *x = mesh->vertices;
    for (int j = 0; j <= cells[1]; j++) {
        for (int i = 0; i <= cells[0]; i++, x += 3) {
            x[0] = width * ((double)i / cells[0]);
            x[1] = height * ((double)j / cells[1]);
        }
    }
    split_cells(cells, mesh->triangles);
    PL_CHECK(add_rectangle_groups(ctx, mesh, width, height), failed);
    *out = mesh;
    return PL_OK;
failed:
    pl_mesh_free(ctx, mesh);
    return status;
}
