/*
 * Legacy VTK files, ASCII or binary (big-endian): unstructured grids and polygon data.
 *     POINTS n type, 3 n numbers
 *     CELLS n size, size numbers (m i_1 ... i_m per cell), CELL_TYPES n, n numbers
 *     CELLS n size, OFFSETS type, n numbers, CONNECTIVITY type, size numbers      (from version 5)
 * POLYGONS are written as CELLS. Point and cell data end the geometry and are not read.
 */
#include "mesh/read.h"
#include "mesh/vtk_data.h"

static const pl_vtk_type *const int_type = &(const pl_vtk_type){NULL, "int", 4, false, true};

static pl_status read_type(pl_scan *scan, const pl_vtk_type **type)
{
    pl_word word;
    PL_TRY(pl_scan_word(scan, "a data type", &word));
    *type = pl_vtk_find_type(word, false);
    return *type ? PL_OK : pl_scan_unexpected(scan, "a data type such as int or double");
}

/* Moves to the first number of an array; its bytes start on the next line. */
static pl_status open_array(pl_scan *scan, bool binary, const char *what, const pl_vtk_type *type,
                            size_t count, const void **bytes)
{
    if (!binary)
        return pl_scan_check_count(scan, what, 2, (int64_t)count);
    pl_scan_skip_line(scan);
    scan->binary = true;
    scan->big_endian = true;
    pl_status status = pl_scan_bytes(scan, what, count * (size_t)type->size, bytes);
    scan->binary = status != PL_OK;
    return status;
}

/* *values [count] is the caller's, also when this fails. */
static pl_status read_integers(pl_scan *scan, bool binary, const char *what, const pl_vtk_type *type,
                               int count, int64_t **values)
{
    const void *bytes = NULL;
    PL_TRY(open_array(scan, binary, what, type, (size_t)count, &bytes));
    *values = pl_alloc(scan->ctx, (size_t)count, sizeof **values);
    if (!*values)
        return PL_ERROR_MEMORY;
    if (binary)
        pl_vtk_load_integers(type, bytes, (size_t)count, true, *values);
    for (int i = 0; !binary && i < count; i++)
        PL_TRY(pl_scan_integer(scan, what, INT64_MIN, INT64_MAX, &(*values)[i]));
    return PL_OK;
}

static pl_status read_points(pl_scan *scan, bool binary, pl_raw *raw)
{
    int count;
    const pl_vtk_type *type = NULL;
    const void *bytes = NULL;
    PL_TRY(pl_scan_count(scan, "the number of points", 3, &count));
    PL_TRY(read_type(scan, &type));
    PL_TRY(open_array(scan, binary, "point coordinates", type, 3 * (size_t)count, &bytes));
    for (int i = 0; i < count; i++) {
        double x[3];
        if (binary)
            pl_vtk_load_reals(type, (const char *)bytes + 3 * (size_t)i * (size_t)type->size, 3, true,
                              x);
        else
            PL_TRY(pl_scan_point(scan, "a point coordinate", x));
        PL_TRY(pl_raw_add_vertex(raw, x));
    }
    return PL_OK;
}

/* Takes (m i_1 ... i_m)... in cells->point[size] apart into ends and points. */
static pl_status split_list(pl_scan *scan, int size, pl_vtk_cells *cells)
{
    int at = 0;
    cells->end = pl_alloc(scan->ctx, (size_t)cells->count, sizeof *cells->end);
    if (!cells->end)
        return PL_ERROR_MEMORY;
    for (int c = 0; c < cells->count; c++) {
        int64_t n = at < size ? cells->point[at++] : -1;
        if (n < 0 || n > size - at)
            return pl_scan_fail(scan, "cell %d does not fit in the %d numbers of the cells", c, size);
        memmove(cells->point + cells->point_count, cells->point + at, (size_t)n * sizeof *cells->point);
        cells->point_count += (int)n;
        cells->end[c] = cells->point_count;
        at += (int)n;
    }
    if (at != size)
        return pl_scan_fail(scan, "the cells use %d of their %d numbers", at, size);
    return PL_OK;
}

static pl_status read_cells(pl_scan *scan, bool binary, pl_vtk_cells *cells)
{
    int size;
    const pl_vtk_type *type = NULL;
    if (cells->end)
        return pl_scan_fail(scan, "a second list of cells");
    PL_TRY(pl_scan_count(scan, "the number of cells", 2, &cells->count));
    cells->mark = scan->mark;
    PL_TRY(pl_scan_count(scan, "the size of the cells", 2, &size));
    size_t start = scan->at;
    if (!pl_scan_accept(scan, "OFFSETS")) {
        scan->at = start;
        PL_TRY(read_integers(scan, binary, "cells", int_type, size, &cells->point));
        scan->mark = cells->mark;
        return split_list(scan, size, cells);
    }
    if (cells->count < 1)
        return pl_scan_fail(scan, "expected at least one offset");
    PL_TRY(read_type(scan, &type));
    PL_TRY(read_integers(scan, binary, "cell offsets", type, cells->count, &cells->end));
    if (!pl_scan_accept(scan, "CONNECTIVITY"))
        return pl_scan_unexpected(scan, "CONNECTIVITY");
    PL_TRY(read_type(scan, &type));
    PL_TRY(read_integers(scan, binary, "cell points", type, size, &cells->point));
    cells->point_count = size;
    /* The first offset is the 0 where the first cell starts. */
    int64_t *end = cells->end;
    if (end[0] != 0)
        return pl_scan_fail(scan, "the first cell offset is %lld, expected 0", (long long)end[0]);
    cells->count--;
    memmove(end, end + 1, (size_t)cells->count * sizeof *end);
    return PL_OK;
}

static pl_status read_cell_types(pl_scan *scan, bool binary, pl_vtk_cells *cells)
{
    int count;
    PL_TRY(pl_scan_count(scan, "the number of cell types", 1, &count));
    if (count != cells->count || cells->type)
        return pl_scan_fail(scan, "%d cell types, expected one list of %d", count, cells->count);
    return read_integers(scan, binary, "cell types", int_type, count, &cells->type);
}

/* FIELD name n, then n arrays: name components tuples type, numbers. */
static pl_status skip_field(pl_scan *scan, bool binary)
{
    pl_word word;
    int arrays, components, tuples;
    PL_TRY(pl_scan_word(scan, "a field's name", &word));
    PL_TRY(pl_scan_count(scan, "the number of arrays", 8, &arrays));
    for (int i = 0; i < arrays; i++) {
        const pl_vtk_type *type = NULL;
        const void *bytes;
        PL_TRY(pl_scan_word(scan, "an array's name", &word));
        PL_TRY(pl_scan_count(scan, "the number of components", 1, &components));
        PL_TRY(pl_scan_count(scan, "the number of tuples", 1, &tuples));
        PL_TRY(read_type(scan, &type));
        size_t count = (size_t)components * (size_t)tuples;
        PL_TRY(open_array(scan, binary, "a field", type, count, &bytes));
        for (size_t k = 0; !binary && k < count; k++)
            PL_TRY(pl_scan_word(scan, "a number of a field", &word));
    }
    return PL_OK;
}

/* METADATA goes on to an empty line. */
static void skip_metadata(pl_scan *scan)
{
    do
        pl_scan_skip_line(scan);
    while (scan->at < scan->size && scan->text[scan->at] != '\n' && scan->text[scan->at] != '\r');
}

static pl_status read_header(pl_scan *scan, bool *binary, bool *grid)
{
    static const char first[] = "# vtk DataFile Version";
    pl_word word;
    if (scan->size < sizeof first || memcmp(scan->text, first, sizeof first - 1) != 0)
        return pl_scan_fail(scan, "expected \"%s\"", first);
    pl_scan_skip_line(scan);
    pl_scan_skip_line(scan); /* the title */
    PL_TRY(pl_scan_word(scan, "ASCII or BINARY", &word));
    *binary = pl_word_is_anycase(word, "BINARY");
    if (!*binary && !pl_word_is_anycase(word, "ASCII"))
        return pl_scan_unexpected(scan, "ASCII or BINARY");
    PL_TRY(pl_scan_word(scan, "DATASET", &word));
    if (!pl_word_is_anycase(word, "DATASET"))
        return pl_scan_unexpected(scan, "DATASET");
    PL_TRY(pl_scan_word(scan, "the kind of data set", &word));
    *grid = pl_word_is_anycase(word, "UNSTRUCTURED_GRID");
    if (!*grid && !pl_word_is_anycase(word, "POLYDATA"))
        return pl_scan_unexpected(scan, "UNSTRUCTURED_GRID or POLYDATA");
    return PL_OK;
}

static pl_status read_geometry(pl_scan *scan, bool binary, pl_raw *raw, pl_vtk_cells *cells)
{
    pl_status status = PL_OK;
    while (status == PL_OK && !pl_scan_at_end(scan)) {
        pl_word word = {0};
        pl_vtk_cells unused = {0};
        PL_TRY(pl_scan_word(scan, "a keyword", &word));
        if (pl_word_is_anycase(word, "CELL_DATA") || pl_word_is_anycase(word, "POINT_DATA"))
            break;
        if (pl_word_is_anycase(word, "POINTS"))
            status = read_points(scan, binary, raw);
        else if (pl_word_is_anycase(word, "CELLS") || pl_word_is_anycase(word, "POLYGONS"))
            status = read_cells(scan, binary, cells);
        else if (pl_word_is_anycase(word, "CELL_TYPES"))
            status = read_cell_types(scan, binary, cells);
        else if (pl_word_is_anycase(word, "LINES") || pl_word_is_anycase(word, "VERTICES"))
            status = read_cells(scan, binary, &unused);
        else if (pl_word_is_anycase(word, "FIELD"))
            status = skip_field(scan, binary);
        else if (pl_word_is_anycase(word, "METADATA"))
            skip_metadata(scan);
        else
            status = pl_scan_unexpected(scan, "POINTS, CELLS, CELL_TYPES or POLYGONS");
        pl_vtk_cells_free(scan->ctx, &unused);
    }
    return status;
}

pl_status pl_read_vtk(pl_scan *scan, pl_raw *raw)
{
    pl_status status = PL_OK;
    bool binary = false, grid = false;
    pl_vtk_cells cells = {0};
    PL_CHECK(read_header(scan, &binary, &grid), done);
    PL_CHECK(read_geometry(scan, binary, raw, &cells), done);
    scan->binary = binary;
    if (grid && cells.count > 0 && !cells.type)
        status = pl_scan_fail(scan, "expected CELL_TYPES, found the end of the geometry");
    else
        status = pl_vtk_add_cells(scan, raw, &cells, 0);
done:
    pl_vtk_cells_free(scan->ctx, &cells);
    return status;
}
