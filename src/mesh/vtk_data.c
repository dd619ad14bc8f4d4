/* Numbers and cells of VTK files: see vtk_data.h. */
#include "mesh/vtk_data.h"

static const pl_vtk_type types[] = {
    {"Int8", "char", 1, false, true},
    {"UInt8", "unsigned_char", 1, false, false},
    {"Int16", "short", 2, false, true},
    {"UInt16", "unsigned_short", 2, false, false},
    {"Int32", "int", 4, false, true},
    {"UInt32", "unsigned_int", 4, false, false},
    {"Int64", "vtktypeint64", 8, false, true},
    {"UInt64", "vtktypeuint64", 8, false, false},
    {NULL, "long", 8, false, true},
    {NULL, "unsigned_long", 8, false, false},
    {NULL, "vtkidtype", 4, false, true},
    {"Float32", "float", 4, true, true},
    {"Float64", "double", 8, true, true},
};

const pl_vtk_type *pl_vtk_find_type(pl_word name, bool xml)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *known = xml ? types[i].xml : types[i].legacy;
        if (known && pl_word_is_anycase(name, known))
            return &types[i];
    }
    return NULL;
}

void pl_vtk_load_reals(const pl_vtk_type *type, const char *bytes, size_t count, bool big_endian,
                       double *values)
{
    for (size_t i = 0; i < count; i++, bytes += type->size)
        values[i] = type->real
                        ? pl_load_real(bytes, type->size, big_endian)
                        : (double)pl_load_integer(bytes, type->size, type->is_signed, big_endian);
}

void pl_vtk_load_integers(const pl_vtk_type *type, const char *bytes, size_t count, bool big_endian,
                          int64_t *values)
{
    for (size_t i = 0; i < count; i++, bytes += type->size)
        values[i] = pl_load_integer(bytes, type->size, type->is_signed, big_endian);
}

/* ------------------------------------------------------------------------------- cells */

void pl_vtk_cells_free(pl_context *ctx, pl_vtk_cells *cells)
{
    pl_free(ctx, cells->triangle_start);
    pl_free(ctx, cells->tet_start);
    pl_free(ctx, cells->point);
    pl_free(ctx, cells->end);
    pl_free(ctx, cells->type);
    *cells = (pl_vtk_cells){0};
}

enum {
    VTK_VERTEX = 1,
    VTK_POLY_VERTEX,
    VTK_LINE,
    VTK_POLY_LINE,
    VTK_TRIANGLE,
    VTK_POLYGON = 7,
    VTK_QUAD = 9,
    VTK_TETRA = 10,
    VTK_QUADRATIC_EDGE = 21
};

/* The points a cell of a type must have at least and at most; false: the type cannot be used. */
static bool cell_size(int64_t type, int64_t *lower, int64_t *upper)
{
    *lower = 0;
    *upper = INT32_MAX;
    switch (type) {
    case VTK_VERTEX:
    case VTK_POLY_VERTEX:
    case VTK_LINE:
    case VTK_POLY_LINE:
    case VTK_QUADRATIC_EDGE:
        return true;
    case VTK_POLYGON:
        *lower = 3;
        return true;
    case VTK_TRIANGLE:
        *lower = *upper = 3;
        return true;
    case VTK_QUAD:
    case VTK_TETRA:
        *lower = *upper = 4;
        return true;
    default:
        return false;
    }
}

static pl_status add_cell(pl_scan *scan, pl_raw *raw, int c, int64_t type, int n, const int64_t *point,
                          int first_vertex, int *vertex)
{
    int64_t lower, upper;
    if (!cell_size(type, &lower, &upper))
        return pl_scan_fail(scan,
                            "cell %d has type %lld, which cannot be used, expected tetrahedra (10) and "
                            "triangles (5)",
                            c, (long long)type);
    if (n < lower || n > upper)
        return pl_scan_fail(scan, "cell %d of type %lld has %d points, expected %lld", c,
                            (long long)type, n, (long long)lower);
    int limit = raw->vertex_count - first_vertex;
    for (int i = 0; i < n; i++) {
        if (point[i] < 0 || point[i] >= limit)
            return pl_scan_fail(scan, "cell %d has point %lld, expected 0 to %d", c,
                                (long long)point[i], limit - 1);
        vertex[i] = first_vertex + (int)point[i];
    }
    if (type == VTK_TETRA)
        return pl_raw_add_tet(raw, vertex);
    if (type == VTK_TRIANGLE || type == VTK_QUAD || type == VTK_POLYGON)
        return pl_raw_add_polygon(raw, n, vertex);
    raw->skipped++;
    return PL_OK;
}

pl_status pl_vtk_add_cells(pl_scan *scan, pl_raw *raw, const pl_vtk_cells *cells, int first_vertex)
{
    pl_status status = PL_OK;
    int *vertex = NULL;
    scan->mark = cells->mark;
    PL_NEW(scan->ctx, vertex, cells->point_count, done);
    for (int c = 0; c < cells->count; c++) {
        int64_t begin = c > 0 ? cells->end[c - 1] : 0, end = cells->end[c];
        if (end < begin || end > cells->point_count) {
            status = pl_scan_fail(scan, "cell %d ends at offset %lld, expected %lld to %d", c,
                                  (long long)end, (long long)begin, cells->point_count);
            goto done;
        }
        if (cells->tet_start)
            cells->tet_start[c] = raw->tet_count;
        if (cells->triangle_start)
            cells->triangle_start[c] = raw->triangle_count;
        PL_CHECK(add_cell(scan, raw, c, cells->type ? cells->type[c] : VTK_POLYGON, (int)(end - begin),
                          cells->point + begin, first_vertex, vertex),
                 done);
    }
    if (cells->tet_start)
        cells->tet_start[cells->count] = raw->tet_count;
    if (cells->triangle_start)
        cells->triangle_start[cells->count] = raw->triangle_count;
done:
    pl_free(scan->ctx, vertex);
    return status;
}
