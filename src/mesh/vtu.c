/*
 * VTK XML unstructured grids (.vtu): every <Piece> has Points, Cells (connectivity, offsets, types)
 * and data arrays; an array is text, or binary inline or appended (vtu_data.c). Cell and point arrays
 * named "tet group:x", "triangle group:x" and "vertex group:x" are masks of the group x.
 */
#include "mesh/read.h"
#include "mesh/vtk_data.h"
#include "mesh/vtu_data.h"
#include "mesh/xml.h"

typedef enum section { OTHER, POINTS, CELLS, POINT_DATA, CELL_DATA } section;

typedef struct data_array {
    section section;
    pl_word name;
    const pl_vtk_type *type;
    bool ascii;
    size_t mark;        /* of its tag */
    pl_vtu_block block; /* where its numbers are */
} data_array;

typedef struct vtu_file {
    pl_scan *scan;
    pl_raw *raw;
    pl_vtu_block inline_block, appended_block; /* how such arrays are stored; begin of the appended */
    int point_count, cell_count, first_vertex; /* of the piece */
    int array_count, array_capacity;
    data_array *arrays; /* of the piece */
} vtu_file;

/* ------------------------------------------------------------------------------- arrays */

static pl_status describe_array(vtu_file *file, const pl_xml_tag *tag, data_array *array)
{
    pl_scan *scan = file->scan;
    pl_word type, format, offset;
    if (!pl_xml_attribute(tag, "type", &type) || !(array->type = pl_vtk_find_type(type, true)))
        return pl_scan_fail(scan, "expected a DataArray with a type such as Float64 or Int32");
    if (!pl_xml_attribute(tag, "format", &format))
        return pl_scan_fail(scan, "expected a DataArray with a format");
    if (pl_word_is(format, "appended")) {
        array->block = file->appended_block;
        if (array->block.begin == 0)
            return pl_scan_fail(scan, "expected a section AppendedData for this array");
        if (!pl_xml_attribute(tag, "offset", &offset))
            return pl_scan_fail(scan, "expected an offset of appended data");
        pl_scan number = *scan;
        number.at = (size_t)(offset.start - scan->text);
        number.size = number.at + offset.length;
        int64_t value;
        PL_TRY(pl_scan_integer(&number, "an offset of appended data", 0,
                               (int64_t)(array->block.end - array->block.begin), &value));
        array->block.begin += (size_t)value;
        return PL_OK;
    }
    array->ascii = pl_word_is(format, "ascii");
    if (!array->ascii && !pl_word_is(format, "binary"))
        return pl_scan_fail(scan, "format \"%.*s\" cannot be read, expected ascii, binary or appended",
                            (int)(format.length < 40 ? format.length : 40), format.start);
    array->block = file->inline_block;
    array->block.begin = array->block.end = scan->at;
    if (tag->empty)
        return PL_OK;
    /* The numbers end at the next tag, which need not be the closing one. */
    const char *end = memchr(scan->text + scan->at, '<', scan->size - scan->at);
    if (!end || !pl_scan_skip_to(scan, "</DataArray"))
        return pl_scan_fail(scan, "expected </DataArray> after this tag, found the end of the file");
    array->block.end = (size_t)(end - scan->text);
    return PL_OK;
}

static pl_status add_array(vtu_file *file, const pl_xml_tag *tag, section in)
{
    data_array array = {.section = in, .mark = file->scan->mark};
    if (!pl_xml_attribute(tag, "Name", &array.name))
        array.name = (pl_word){"", 0};
    PL_TRY(pl_grow(file->scan->ctx, (void **)&file->arrays, &file->array_capacity,
                   file->array_count + 1, sizeof *file->arrays));
    PL_TRY(describe_array(file, tag, &array));
    file->arrays[file->array_count++] = array;
    return PL_OK;
}

/* A wrong count must not ask for absurd memory: zlib packs at most about 1032 to 1. */
static pl_status check_fits(vtu_file *file, const data_array *array, const char *what, size_t count)
{
    size_t held = array->block.end - array->block.begin;
    size_t numbers = array->ascii              ? held / 2 + 1
                     : array->block.compressed ? 1100 * held / (size_t)array->type->size
                                               : held / (size_t)array->type->size;
    if (count <= numbers)
        return PL_OK;
    file->scan->mark = array->mark;
    return pl_scan_fail(file->scan, "%s: expected %zu numbers, more than its %zu bytes can hold", what,
                        count, held);
}

static pl_status check_text_end(vtu_file *file, const data_array *array, pl_scan *text,
                                const char *what, size_t count)
{
    if (pl_scan_at_end(text))
        return PL_OK;
    file->scan->mark = array->mark;
    return pl_scan_fail(file->scan, "%s has more numbers than the expected %zu", what, count);
}

/* Reads reals or integers, whichever is not NULL. */
static pl_status read_numbers(vtu_file *file, const data_array *array, const char *what, size_t count,
                              double *reals, int64_t *integers)
{
    pl_scan text = *file->scan;
    text.at = array->block.begin;
    text.size = array->block.end;
    for (size_t i = 0; array->ascii && i < count; i++) {
        PL_TRY(reals ? pl_scan_double(&text, what, &reals[i])
                     : pl_scan_integer(&text, what, INT64_MIN, INT64_MAX, &integers[i]));
    }
    if (array->ascii)
        return check_text_end(file, array, &text, what, count);
    size_t bytes = count * (size_t)array->type->size;
    char *data = pl_alloc(file->scan->ctx, bytes, 1);
    if (!data)
        return PL_ERROR_MEMORY;
    file->scan->binary = !array->block.base64;
    pl_status status = pl_vtu_read_block(file->scan, &array->block, what, bytes, data);
    file->scan->binary = status != PL_OK && file->scan->binary;
    if (status == PL_OK && reals)
        pl_vtk_load_reals(array->type, data, count, array->block.big_endian, reals);
    else if (status == PL_OK)
        pl_vtk_load_integers(array->type, data, count, array->block.big_endian, integers);
    pl_free(file->scan->ctx, data);
    return status;
}

static pl_status read_integers(vtu_file *file, const data_array *array, const char *what, size_t count,
                               int64_t **values)
{
    PL_TRY(check_fits(file, array, what, count));
    *values = pl_alloc(file->scan->ctx, count, sizeof **values);
    return *values ? read_numbers(file, array, what, count, NULL, *values) : PL_ERROR_MEMORY;
}

static pl_status find_array(vtu_file *file, section in, const char *name, const data_array **found)
{
    for (int i = 0; i < file->array_count; i++) {
        if (file->arrays[i].section == in && (!name || pl_word_is(file->arrays[i].name, name))) {
            *found = &file->arrays[i];
            return PL_OK;
        }
    }
    return pl_scan_fail(file->scan, "expected a DataArray of %s before the end of this piece",
                        name ? name : "Points");
}

/* ------------------------------------------------------------------------------- pieces */

static pl_status read_points(vtu_file *file)
{
    pl_status status = PL_OK;
    const data_array *array = NULL;
    double *x = NULL;
    size_t count = 3 * (size_t)file->point_count;
    PL_CHECK(find_array(file, POINTS, NULL, &array), done);
    PL_CHECK(check_fits(file, array, "a point coordinate", count), done);
    PL_NEW(file->scan->ctx, x, count, done);
    PL_CHECK(read_numbers(file, array, "a point coordinate", count, x, NULL), done);
    for (int i = 0; i < file->point_count; i++)
        PL_CHECK(pl_raw_add_vertex(file->raw, x + 3 * (size_t)i), done);
done:
    pl_free(file->scan->ctx, x);
    return status;
}

static pl_status read_cells(vtu_file *file, pl_vtk_cells *cells)
{
    const data_array *array = NULL;
    size_t count = (size_t)file->cell_count;
    cells->count = file->cell_count;
    PL_TRY(find_array(file, CELLS, "types", &array));
    PL_TRY(read_integers(file, array, "a cell type", count, &cells->type));
    PL_TRY(find_array(file, CELLS, "offsets", &array));
    PL_TRY(read_integers(file, array, "a cell offset", count, &cells->end));
    PL_TRY(find_array(file, CELLS, "connectivity", &array));
    int64_t points = count > 0 ? cells->end[count - 1] : 0;
    if (points < 0 || points > INT32_MAX)
        return pl_scan_fail(file->scan, "the last cell offset is %lld, expected 0 to %d",
                            (long long)points, INT32_MAX);
    cells->point_count = (int)points;
    cells->mark = array->mark;
    PL_TRY(read_integers(file, array, "a point of a cell", (size_t)points, &cells->point));
    cells->tet_start = pl_alloc(file->scan->ctx, count + 1, sizeof *cells->tet_start);
    cells->triangle_start = pl_alloc(file->scan->ctx, count + 1, sizeof *cells->triangle_start);
    if (!cells->tet_start || !cells->triangle_start)
        return PL_ERROR_MEMORY;
    return pl_vtk_add_cells(file->scan, file->raw, cells, file->first_vertex);
}

/* The kind and the name of the group an array marks; false: none. */
static bool group_of(const data_array *array, pl_group_kind *kind, pl_word *name)
{
    static const char *const prefixes[] = {"vertex group:", "tet group:", "triangle group:"};
    for (int k = 0; k < 3; k++) {
        size_t length = strlen(prefixes[k]);
        if (array->section == (k == PL_GROUP_VERTEX ? POINT_DATA : CELL_DATA) &&
            array->name.length > length && memcmp(array->name.start, prefixes[k], length) == 0) {
            *kind = (pl_group_kind)k;
            *name = (pl_word){array->name.start + length, array->name.length - length};
            return true;
        }
    }
    return false;
}

static pl_status add_group_name(vtu_file *file, pl_group_kind kind, int64_t tag, pl_word name)
{
    char *text = pl_alloc(file->scan->ctx, name.length + 1, 1);
    if (!text)
        return PL_ERROR_MEMORY;
    memcpy(text, name.start, name.length);
    size_t length = pl_xml_unescape(text, name.length);
    pl_status status = pl_raw_add_group(file->raw, kind, tag, text, length);
    pl_free(file->scan->ctx, text);
    return status;
}

static pl_status read_group(vtu_file *file, const data_array *array, const pl_vtk_cells *cells)
{
    pl_status status = PL_OK;
    pl_group_kind kind;
    pl_word name;
    int64_t *mask = NULL, tag = file->raw->group_count;
    if (!group_of(array, &kind, &name))
        return PL_OK;
    size_t count = (size_t)(kind == PL_GROUP_VERTEX ? file->point_count : file->cell_count);
    PL_CHECK(read_integers(file, array, "a group's mask", count, &mask), done);
    PL_CHECK(add_group_name(file, kind, tag, name), done);
    const int *start = kind == PL_GROUP_TET ? cells->tet_start : cells->triangle_start;
    for (size_t i = 0; i < count; i++) {
        if (mask[i] == 0)
            continue;
        int first = kind == PL_GROUP_VERTEX ? file->first_vertex + (int)i : start[i];
        int end = kind == PL_GROUP_VERTEX ? first + 1 : start[i + 1];
        for (int e = first; e < end; e++)
            PL_CHECK(pl_raw_add_label(file->raw, kind, tag, e), done);
    }
done:
    pl_free(file->scan->ctx, mask);
    return status;
}

static pl_status finish_piece(vtu_file *file)
{
    pl_status status = PL_OK;
    pl_vtk_cells cells = {0};
    file->first_vertex = file->raw->vertex_count;
    PL_CHECK(read_points(file), done);
    PL_CHECK(read_cells(file, &cells), done);
    for (int i = 0; i < file->array_count; i++)
        PL_CHECK(read_group(file, &file->arrays[i], &cells), done);
    file->array_count = 0;
done:
    pl_vtk_cells_free(file->scan->ctx, &cells);
    return status;
}

/* ------------------------------------------------------------------------------- the file */

static pl_status read_header(vtu_file *file, const pl_xml_tag *tag)
{
    pl_word value;
    pl_vtu_block *block = &file->inline_block;
    if (!pl_xml_attribute(tag, "type", &value) || !pl_word_is(value, "UnstructuredGrid"))
        return pl_scan_fail(file->scan, "expected a VTKFile of type UnstructuredGrid");
    block->big_endian = pl_xml_attribute(tag, "byte_order", &value) && pl_word_is(value, "BigEndian");
    block->header_size =
        pl_xml_attribute(tag, "header_type", &value) && pl_word_is(value, "UInt64") ? 8 : 4;
    block->base64 = true;
    block->compressed = pl_xml_attribute(tag, "compressor", &value) && value.length > 0;
    if (block->compressed && !pl_word_is(value, "vtkZLibDataCompressor"))
        return pl_scan_fail(file->scan, "compressor \"%.*s\" cannot be read, expected zlib or none",
                            (int)(value.length < 40 ? value.length : 40), value.start);
    return PL_OK;
}

/* Appended data stands at the end of the file, after an underscore. */
static pl_status find_appended(vtu_file *file)
{
    pl_scan at = *file->scan;
    pl_xml_tag tag;
    pl_word encoding;
    if (!pl_scan_skip_to(&at, "<AppendedData"))
        return PL_OK;
    at.at -= strlen("<AppendedData");
    PL_TRY(pl_xml_next(&at, &tag));
    file->appended_block = file->inline_block;
    file->appended_block.base64 =
        pl_xml_attribute(&tag, "encoding", &encoding) && pl_word_is(encoding, "base64");
    if (!pl_scan_skip_to(&at, "_"))
        return pl_scan_fail(&at, "expected an underscore before the appended data");
    file->appended_block.begin = at.at;
    file->appended_block.end = at.size;
    return PL_OK;
}

static pl_status read_piece_count(vtu_file *file, const pl_xml_tag *tag, const char *name, int *count)
{
    pl_word word;
    if (!pl_xml_attribute(tag, name, &word))
        return pl_scan_fail(file->scan, "expected a Piece with %s", name);
    pl_scan number = *file->scan;
    number.at = (size_t)(word.start - number.text);
    number.size = number.at + word.length;
    int64_t value;
    PL_TRY(pl_scan_integer(&number, name, 0, INT32_MAX / 4, &value));
    *count = (int)value;
    return PL_OK;
}

static section section_of(const pl_xml_tag *tag)
{
    return pl_word_is(tag->name, "Points")      ? POINTS
           : pl_word_is(tag->name, "Cells")     ? CELLS
           : pl_word_is(tag->name, "PointData") ? POINT_DATA
           : pl_word_is(tag->name, "CellData")  ? CELL_DATA
                                                : OTHER;
}

static pl_status read_tags(vtu_file *file)
{
    section in = OTHER;
    bool header = false, piece = false;
    for (;;) {
        pl_xml_tag tag = {0};
        PL_TRY(pl_xml_next(file->scan, &tag));
        bool opens = !tag.closing;
        if (tag.name.length == 0 || pl_word_is(tag.name, "AppendedData")) {
            file->scan->mark = file->scan->at;
            return header && !piece ? PL_OK
                                    : pl_scan_unexpected(file->scan, header ? "</Piece>" : "<VTKFile");
        }
        if (pl_word_is(tag.name, "VTKFile") && opens) {
            PL_TRY(read_header(file, &tag));
            PL_TRY(find_appended(file));
            header = true;
        } else if (pl_word_is(tag.name, "Piece") && opens && header) {
            PL_TRY(read_piece_count(file, &tag, "NumberOfPoints", &file->point_count));
            PL_TRY(read_piece_count(file, &tag, "NumberOfCells", &file->cell_count));
            piece = !tag.empty;
        } else if (pl_word_is(tag.name, "Piece") && piece) {
            PL_TRY(finish_piece(file));
            piece = false;
        } else if (pl_word_is(tag.name, "DataArray") && opens) {
            if (piece && in != OTHER)
                PL_TRY(add_array(file, &tag, in));
        } else if (section_of(&tag) != OTHER) {
            in = opens && !tag.empty ? section_of(&tag) : OTHER;
        }
    }
}

pl_status pl_read_vtu(pl_scan *scan, pl_raw *raw)
{
    vtu_file file = {.scan = scan, .raw = raw};
    pl_status status = read_tags(&file);
    pl_free(scan->ctx, file.arrays);
    return status;
}
