/*
 * The report on a mesh: what is wrong with it, by index, and how good its elements are.
 *
 * Elements are the tets of a solid or the triangles of a cloth. The triangles of a solid only mark its
 * boundary: they are numbered after its tets and looked at for bad indices alone.
 *
 * Degenerate: V <= 1e-12 l^3 for a tet, A <= 1e-12 l^2 for a triangle, l its longest edge.
 * Dihedral angle at the edge between faces i and j, outward normals n: cos = -n_i.n_j / |n_i| |n_j|.
 */
#include "mesh/mesh.h"

#define DEGENERATE 1e-12

static void note(int *count, int *first, int index)
{
    if ((*count)++ == 0)
        *first = index;
}

static void widen(pl_mesh_report *report, double cosine)
{
    double degrees = acos(fmin(fmax(cosine, -1), 1)) * (180 / 3.14159265358979323846);
    report->min_dihedral = fmin(report->min_dihedral, degrees);
    report->max_dihedral = fmax(report->max_dihedral, degrees);
}

static double longest_edge(const double *vertices, int width, const int *element)
{
    double longest = 0;
    for (int i = 0; i < width; i++) {
        for (int j = 0; j < i; j++) {
            double d[3];
            pl_sub3(vertices + 3 * (size_t)element[i], vertices + 3 * (size_t)element[j], d);
            longest = fmax(longest, pl_norm3(d));
        }
    }
    return longest;
}

void pl_tet_orient(const double *vertices, int tet[4])
{
    if (pl_tet_volume6(vertices, tet) < 0) {
        int last = tet[3];
        tet[3] = tet[2];
        tet[2] = last;
    }
}

static void check_tet(const pl_mesh *mesh, int e, pl_mesh_report *report)
{
    const int *tet = mesh->tets + 4 * (size_t)e;
    double volume6 = pl_tet_volume6(mesh->vertices, tet);
    double length = longest_edge(mesh->vertices, 4, tet);
    report->volume += volume6 / 6;
    /* Written so that an overflow to infinity or NaN counts as degenerate. */
    if (!(fabs(volume6) / 6 > DEGENERATE * length * length * length)) {
        note(&report->degenerate, &report->first_degenerate, e);
        return;
    }
    if (volume6 < 0)
        note(&report->inverted, &report->first_inverted, e);
    double normal[4][3];
    for (int f = 0; f < 4; f++) {
        const double *x[3];
        for (int i = 0; i < 3; i++)
            x[i] = mesh->vertices + 3 * (size_t)tet[pl_tet_faces[f][i]];
        double a[3], b[3];
        pl_sub3(x[1], x[0], a);
        pl_sub3(x[2], x[0], b);
        pl_cross3(a, b, normal[f]);
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++)
            widen(report, -pl_dot3(normal[i], normal[j]) / (pl_norm3(normal[i]) * pl_norm3(normal[j])));
    }
}

static void check_triangle(const pl_mesh *mesh, int e, pl_mesh_report *report)
{
    const int *triangle = mesh->triangles + 3 * (size_t)e;
    double edge[3][3], normal[3]; /* edge i runs from vertex i to the next */
    for (int i = 0; i < 3; i++)
        pl_sub3(mesh->vertices + 3 * (size_t)triangle[(i + 1) % 3],
                mesh->vertices + 3 * (size_t)triangle[i], edge[i]);
    pl_cross3(edge[0], edge[1], normal);
    double area2 = pl_norm3(normal), length = longest_edge(mesh->vertices, 3, triangle);
    report->volume += area2 / 2;
    if (!(area2 / 2 > DEGENERATE * length * length)) {
        note(&report->degenerate, &report->first_degenerate, e);
        return;
    }
    for (int i = 0; i < 3; i++) {
        const double *in = edge[(i + 2) % 3], *out = edge[i];
        widen(report, -pl_dot3(in, out) / (pl_norm3(in) * pl_norm3(out)));
    }
}

static bool finite_element(const pl_mesh *mesh, int width, const int *element)
{
    for (int i = 0; i < width; i++) {
        const double *x = mesh->vertices + 3 * (size_t)element[i];
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return false;
    }
    return true;
}

static void check_vertices(const pl_mesh *mesh, pl_mesh_report *report)
{
    for (int d = 0; d < 3; d++)
        report->lower[d] = INFINITY, report->upper[d] = -INFINITY;
    for (int v = 0; v < mesh->vertex_count; v++) {
        if (!finite_element(mesh, 1, &v)) {
            note(&report->non_finite, &report->first_non_finite, v);
            continue;
        }
        for (int d = 0; d < 3; d++) {
            report->lower[d] = fmin(report->lower[d], mesh->vertices[3 * (size_t)v + (size_t)d]);
            report->upper[d] = fmax(report->upper[d], mesh->vertices[3 * (size_t)v + (size_t)d]);
        }
    }
}

/* Elements with the same vertex set as an earlier one; rows with bad indices take no part. */
static pl_status check_duplicates(pl_context *ctx, const pl_mesh *mesh, int width, int count,
                                  const int *elements, pl_mesh_report *report)
{
    pl_status status = PL_OK;
    int *rows = NULL, *order = NULL, *number = NULL, valid = 0;
    bool *repeated = NULL;
    size_t w = (size_t)width;
    PL_NEW(ctx, rows, w * (size_t)count, done);
    PL_NEW(ctx, order, count, done);
    PL_NEW(ctx, number, count, done);
    PL_NEW(ctx, repeated, count, done);
    for (int e = 0; e < count; e++) {
        if (!pl_element_valid(width, elements + w * (size_t)e, mesh->vertex_count))
            continue;
        memcpy(rows + w * (size_t)valid, elements + w * (size_t)e, w * sizeof *rows);
        pl_sort_few(width, rows + w * (size_t)valid);
        number[valid++] = e;
    }
    PL_CHECK(pl_sort_rows(ctx, valid, width, rows, mesh->vertex_count, order), done);
    for (int i = 1; i < valid; i++) {
        if (memcmp(rows + w * (size_t)order[i], rows + w * (size_t)order[i - 1], w * sizeof *rows) == 0)
            repeated[number[order[i]]] = true;
    }
    for (int e = 0; e < count; e++) {
        if (repeated[e])
            note(&report->duplicate, &report->first_duplicate, e);
    }
done:
    pl_free(ctx, repeated);
    pl_free(ctx, number);
    pl_free(ctx, order);
    pl_free(ctx, rows);
    return status;
}

static int find_root(int *parent, int v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* Vertices of no element, and connected components, by union-find; -1 marks a vertex not yet seen. */
static pl_status check_connection(pl_context *ctx, const pl_mesh *mesh, int width, int count,
                                  const int *elements, pl_mesh_report *report)
{
    int *parent = pl_alloc(ctx, (size_t)mesh->vertex_count, sizeof *parent);
    if (!parent)
        return PL_ERROR_MEMORY;
    for (int v = 0; v < mesh->vertex_count; v++)
        parent[v] = -1;
    for (int e = 0; e < count; e++) {
        const int *element = elements + (size_t)width * (size_t)e;
        if (!pl_element_valid(width, element, mesh->vertex_count))
            continue;
        for (int i = 0; i < width; i++) {
            if (parent[element[i]] < 0)
                parent[element[i]] = element[i];
            parent[find_root(parent, element[i])] = find_root(parent, element[0]);
        }
    }
    for (int v = 0; v < mesh->vertex_count; v++) {
        report->components += parent[v] == v;
        if (parent[v] < 0)
            note(&report->unreferenced, &report->first_unreferenced, v);
    }
    pl_free(ctx, parent);
    return PL_OK;
}

pl_status pl_mesh_check(pl_context *ctx, const pl_mesh *mesh, pl_mesh_report *report)
{
    if (!mesh || !report)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "pl_mesh_check: mesh or report is NULL");
    bool solid = mesh->tet_count > 0;
    int width = solid ? 4 : 3, count = solid ? mesh->tet_count : mesh->triangle_count;
    const int *elements = solid ? mesh->tets : mesh->triangles;
    pl_mesh_report r = {.first_inverted = -1,
                        .first_degenerate = -1,
                        .first_duplicate = -1,
                        .first_unreferenced = -1,
                        .first_bad_index = -1,
                        .first_non_finite = -1,
                        .min_dihedral = 180};
    check_vertices(mesh, &r);
    for (int e = 0; e < count; e++) {
        const int *element = elements + (size_t)width * (size_t)e;
        if (!pl_element_valid(width, element, mesh->vertex_count))
            note(&r.bad_index, &r.first_bad_index, e);
        else if (finite_element(mesh, width, element))
            (solid ? check_tet : check_triangle)(mesh, e, &r);
    }
    for (int e = 0; solid && e < mesh->triangle_count; e++) {
        if (!pl_element_valid(3, mesh->triangles + 3 * (size_t)e, mesh->vertex_count))
            note(&r.bad_index, &r.first_bad_index, mesh->tet_count + e);
    }
    PL_TRY(check_duplicates(ctx, mesh, width, count, elements, &r));
    PL_TRY(check_connection(ctx, mesh, width, count, elements, &r));
    *report = r;
    return PL_OK;
}
