/*
 * Polygon files (PLY): a text header lists elements and the types of their properties, then come the
 * rows of each element, as text or binary of either byte order. Used are x, y, z of "vertex" and the
 * list vertex_indices (or vertex_index) of "face"; everything else is read past.
 */
#include "shape/surface.h"

#define MAX_ELEMENTS   16
#define MAX_PROPERTIES 64
#define MAX_CORNERS    256

typedef struct number_type {
    const char *name, *other_name;
    int size;
    enum { SIGNED, UNSIGNED, REAL } kind;
} number_type;

static const number_type types[] = {
    {"char", "int8", 1, SIGNED},       {"uchar", "uint8", 1, UNSIGNED}, {"short", "int16", 2, SIGNED},
    {"ushort", "uint16", 2, UNSIGNED}, {"int", "int32", 4, SIGNED},     {"uint", "uint32", 4, UNSIGNED},
    {"float", "float32", 4, REAL},     {"double", "float64", 8, REAL},
};

typedef struct property {
    const number_type *count, *type; /* count NULL = not a list */
    int axis;                        /* of a vertex: 0, 1, 2 = x, y, z; -1 = not used */
    bool corners;                    /* of a face: the list of vertices */
} property;

typedef struct element {
    enum { OTHER, VERTEX, FACE } kind;
    int count, property_count;
    property properties[MAX_PROPERTIES];
} element;

typedef struct header {
    int element_count;
    element elements[MAX_ELEMENTS];
} header;

static pl_status read_type(pl_scan *scan, const number_type **type)
{
    pl_word word;
    PL_TRY(pl_scan_word(scan, "a type", &word));
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if (pl_word_is(word, types[k].name) || pl_word_is(word, types[k].other_name)) {
            *type = &types[k];
            return PL_OK;
        }
    }
    return pl_scan_unexpected(scan, "a type such as float or uchar");
}

static pl_status read_property(pl_scan *scan, header *h)
{
    pl_word name;
    if (h->element_count == 0)
        return pl_scan_fail(scan, "a property comes before any element");
    element *e = &h->elements[h->element_count - 1];
    if (e->property_count == MAX_PROPERTIES)
        return pl_scan_fail(scan, "an element has more than %d properties", MAX_PROPERTIES);
    property *p = &e->properties[e->property_count++];
    *p = (property){.axis = -1};
    if (pl_scan_accept(scan, "list"))
        PL_TRY(read_type(scan, &p->count));
    PL_TRY(read_type(scan, &p->type));
    PL_TRY(pl_scan_word(scan, "a property's name", &name));
    for (int i = 0; i < 3 && e->kind == VERTEX && !p->count; i++)
        if (pl_word_is(name, (const char *[]){"x", "y", "z"}[i]))
            p->axis = i;
    p->corners = e->kind == FACE && p->count &&
                 (pl_word_is(name, "vertex_indices") || pl_word_is(name, "vertex_index"));
    return PL_OK;
}

static pl_status read_element(pl_scan *scan, header *h)
{
    pl_word name;
    int64_t count;
    if (h->element_count == MAX_ELEMENTS)
        return pl_scan_fail(scan, "more than %d elements", MAX_ELEMENTS);
    element *e = &h->elements[h->element_count++];
    *e = (element){0};
    PL_TRY(pl_scan_word(scan, "an element's name", &name));
    e->kind = pl_word_is(name, "vertex") ? VERTEX : pl_word_is(name, "face") ? FACE : OTHER;
    PL_TRY(pl_scan_integer(scan, "an element's count", 0, INT32_MAX, &count));
    PL_TRY(pl_scan_check_count(scan, "elements", 1, count));
    e->count = (int)count;
    return PL_OK;
}

static pl_status read_header(pl_scan *scan, header *h)
{
    pl_word word;
    bool text = false, known = false;
    if (!pl_scan_accept(scan, "ply"))
        return pl_scan_fail(scan, "expected \"ply\" at the start");
    for (;;) {
        PL_TRY(pl_scan_word(scan, "a line of the header", &word));
        if (pl_word_is(word, "end_header"))
            break;
        if (pl_word_is(word, "format")) {
            PL_TRY(pl_scan_word(scan, "a format", &word));
            text = pl_word_is(word, "ascii");
            scan->big_endian = pl_word_is(word, "binary_big_endian");
            known = text || scan->big_endian || pl_word_is(word, "binary_little_endian");
            pl_scan_skip_line(scan);
        } else if (pl_word_is(word, "element")) {
            PL_TRY(read_element(scan, h));
        } else if (pl_word_is(word, "property")) {
            PL_TRY(read_property(scan, h));
        } else if (pl_word_is(word, "comment") || pl_word_is(word, "obj_info")) {
            pl_scan_skip_line(scan);
        } else {
            return pl_scan_unexpected(scan, "element, property, comment or end_header");
        }
    }
    if (!known)
        return pl_scan_fail(scan,
                            "the format is none of ascii, binary_little_endian, binary_big_endian");
    pl_scan_skip_line(scan);
    scan->binary = !text;
    return PL_OK;
}

static pl_status read_number(pl_scan *scan, const number_type *type, double *value)
{
    const void *bytes;
    if (!scan->binary)
        return pl_scan_double(scan, "a number", value);
    PL_TRY(pl_scan_bytes(scan, "a number", (size_t)type->size, &bytes));
    if (type->kind == REAL)
        *value = pl_load_real(bytes, type->size, scan->big_endian);
    else
        *value = (double)pl_load_integer(bytes, type->size, type->kind == SIGNED, scan->big_endian);
    return PL_OK;
}

static pl_status read_list(pl_scan *scan, const property *p, int vertex_count, pl_raw *raw)
{
    double count, value;
    int corners[MAX_CORNERS];
    PL_TRY(read_number(scan, p->count, &count));
    if (!(count >= 0) || count != floor(count) || (p->corners && (count < 3 || count > MAX_CORNERS)))
        return pl_scan_fail(scan, "a list has %g entries", count);
    for (double k = 0; k < count; k++) {
        PL_TRY(read_number(scan, p->type, &value));
        if (!p->corners)
            continue;
        if (value != floor(value))
            return pl_scan_fail(scan, "a face names vertex %g", value);
        PL_TRY(pl_scan_check_index(scan, "a face's vertex", 0, vertex_count, (int64_t)value));
        corners[(int)k] = (int)value;
    }
    return p->corners ? pl_raw_add_polygon(raw, (int)count, corners) : PL_OK;
}

static pl_status read_rows(pl_scan *scan, const element *e, int vertex_count, pl_raw *raw)
{
    for (int row = 0; row < e->count; row++) {
        double x[3] = {NAN, NAN, NAN}, value;
        for (int k = 0; k < e->property_count; k++) {
            const property *p = &e->properties[k];
            if (p->count) {
                PL_TRY(read_list(scan, p, vertex_count, raw));
                continue;
            }
            PL_TRY(read_number(scan, p->type, &value));
            if (p->axis >= 0)
                x[p->axis] = value;
        }
        if (e->kind != VERTEX)
            continue;
        if (!isfinite(x[0] + x[1] + x[2]))
            return pl_scan_fail(scan, "vertex %d has no finite x, y and z", row);
        PL_TRY(pl_raw_add_vertex(raw, x));
    }
    return PL_OK;
}

pl_status pl_read_ply(pl_scan *scan, pl_raw *raw)
{
    pl_status status = PL_OK;
    header *h = NULL;
    PL_NEW(scan->ctx, h, 1, done);
    PL_CHECK(read_header(scan, h), done);
    int vertex_count = 0;
    for (int k = 0; k < h->element_count; k++)
        vertex_count += h->elements[k].kind == VERTEX ? h->elements[k].count : 0;
    for (int k = 0; k < h->element_count; k++)
        PL_CHECK(read_rows(scan, &h->elements[k], vertex_count, raw), done);
done:
    pl_free(scan->ctx, h);
    return status;
}
