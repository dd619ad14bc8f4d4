/*
 * Gmsh .msh files, versions 1, 2 and 4.1: the frame of $Sections, numbers, nodes by tag, elements by
 * type. gmsh2.c and gmsh4.c know the sections themselves.
 */
#include "mesh/gmsh.h"
#include "mesh/read.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------- numbers */

static pl_status binary_integer(pl_gmsh *gmsh, const char *what, int size, int64_t *value)
{
    const void *bytes;
    PL_TRY(pl_scan_bytes(gmsh->scan, what, (size_t)size, &bytes));
    *value = pl_load_integer(bytes, size, true, gmsh->scan->big_endian);
    return PL_OK;
}

pl_status pl_gmsh_int(pl_gmsh *gmsh, const char *what, int64_t *value)
{
    if (gmsh->scan->binary)
        return binary_integer(gmsh, what, 4, value);
    return pl_scan_integer(gmsh->scan, what, INT64_MIN, INT64_MAX, value);
}

pl_status pl_gmsh_tag(pl_gmsh *gmsh, const char *what, int64_t *value)
{
    if (gmsh->scan->binary && gmsh->wide)
        return binary_integer(gmsh, what, 8, value);
    return pl_gmsh_int(gmsh, what, value);
}

pl_status pl_gmsh_double(pl_gmsh *gmsh, const char *what, double *value)
{
    if (!gmsh->scan->binary)
        return pl_scan_double(gmsh->scan, what, value);
    const void *bytes;
    PL_TRY(pl_scan_bytes(gmsh->scan, what, 8, &bytes));
    *value = pl_load_real(bytes, 8, gmsh->scan->big_endian);
    if (!isfinite(*value))
        return pl_scan_fail(gmsh->scan, "expected %s, found a value that is not a finite number", what);
    return PL_OK;
}

pl_status pl_gmsh_count(pl_gmsh *gmsh, const char *what, int numbers_each, int *count)
{
    int64_t value;
    PL_TRY(pl_gmsh_tag(gmsh, what, &value));
    /* A number takes at least a digit and a blank, or four bytes. */
    size_t bytes_each = (size_t)numbers_each * (gmsh->scan->binary ? 4 : 2);
    PL_TRY(pl_scan_check_count(gmsh->scan, what, bytes_each, value));
    *count = (int)value;
    return PL_OK;
}

/* ------------------------------------------------------------------------------- nodes */

pl_status pl_gmsh_add_node(pl_gmsh *gmsh, int64_t tag, const double x[3])
{
    PL_TRY(pl_grow(gmsh->raw->ctx, (void **)&gmsh->node_tag, &gmsh->tag_capacity,
                   gmsh->raw->vertex_count + 1, sizeof *gmsh->node_tag));
    gmsh->node_tag[gmsh->raw->vertex_count] = tag;
    return pl_raw_add_vertex(gmsh->raw, x);
}

typedef struct tagged {
    int64_t tag;
    int index;
} tagged;

static int compare_tagged(const void *a, const void *b)
{
    int64_t x = ((const tagged *)a)->tag, y = ((const tagged *)b)->tag;
    return (x > y) - (x < y);
}

pl_status pl_gmsh_nodes_done(pl_gmsh *gmsh)
{
    pl_status status = PL_OK;
    int count = gmsh->raw->vertex_count, counted = 1;
    tagged *sorted = NULL;
    gmsh->has_nodes = true;
    while (counted < count && gmsh->node_tag[counted] == gmsh->node_tag[counted - 1] + 1)
        counted++;
    if (counted >= count)
        return PL_OK;
    PL_NEW(gmsh->raw->ctx, sorted, count, done);
    PL_NEW(gmsh->raw->ctx, gmsh->node_order, count, done);
    for (int i = 0; i < count; i++)
        sorted[i] = (tagged){gmsh->node_tag[i], i};
    qsort(sorted, (size_t)count, sizeof *sorted, compare_tagged);
    for (int i = 0; i < count; i++) {
        if (i > 0 && sorted[i].tag == sorted[i - 1].tag) {
            status = pl_scan_fail(gmsh->scan, "node %lld comes twice", (long long)sorted[i].tag);
            goto done;
        }
        gmsh->node_order[i] = sorted[i].index;
        gmsh->node_tag[i] = sorted[i].tag; /* now ascending, as node_order */
    }
done:
    pl_free(gmsh->raw->ctx, sorted);
    return status;
}

static pl_status find_node(pl_gmsh *gmsh, int64_t tag, int *vertex)
{
    int low = 0, high = gmsh->raw->vertex_count;
    if (!gmsh->node_order && high > 0 && tag >= gmsh->node_tag[0] && tag - gmsh->node_tag[0] < high) {
        *vertex = (int)(tag - gmsh->node_tag[0]);
        return PL_OK;
    }
    while (gmsh->node_order && low < high) {
        int middle = low + (high - low) / 2;
        if (gmsh->node_tag[middle] == tag) {
            *vertex = gmsh->node_order[middle];
            return PL_OK;
        }
        low = gmsh->node_tag[middle] < tag ? middle + 1 : low;
        high = gmsh->node_tag[middle] < tag ? high : middle;
    }
    return pl_scan_fail(gmsh->scan, "node %lld of an element is not among the %d nodes", (long long)tag,
                        gmsh->raw->vertex_count);
}

/* ------------------------------------------------------------------------------- elements */

typedef struct element_type {
    int type, nodes;
    const char *name;
} element_type;

static const element_type element_types[] = {
    {1, 2, "line"},
    {2, 3, "triangle"},
    {3, 4, "quadrangle"},
    {4, 4, "tetrahedron"},
    {8, 3, "3-node line"},
    {15, 1, "point"},
    {26, 4, "4-node line"},
    {27, 5, "5-node line"},
    {28, 6, "6-node line"},
    {5, 0, "hexahedron"},
    {6, 0, "prism"},
    {7, 0, "pyramid"},
    {9, 0, "6-node triangle"},
    {11, 0, "10-node tetrahedron"},
};

static pl_status find_type(pl_gmsh *gmsh, int64_t type, const element_type **found)
{
    const char *name = "unknown";
    for (size_t i = 0; i < sizeof element_types / sizeof *element_types; i++) {
        if (element_types[i].type != type)
            continue;
        *found = &element_types[i];
        if ((*found)->nodes > 0)
            return PL_OK;
        name = (*found)->name;
    }
    return pl_scan_fail(gmsh->scan,
                        "element type %lld (%s) cannot be used, expected tetrahedra of 4 nodes and "
                        "triangles of 3",
                        (long long)type, name);
}

static pl_status add_labels(pl_gmsh *gmsh, pl_group_kind kind, int index, int count,
                            const int64_t *physical)
{
    for (int p = 0; p < count; p++)
        PL_TRY(pl_raw_add_label(gmsh->raw, kind, llabs(physical[p]), index));
    return PL_OK;
}

/* Whether an element only repeats the one before for another group; remembers it otherwise. */
static bool repeats_last(pl_gmsh *gmsh, int64_t type, int nodes, const int *v, int64_t physical)
{
    size_t size = (size_t)nodes * sizeof *v;
    bool same = !gmsh->wide && type == gmsh->last_type && physical != gmsh->last_physical &&
                memcmp(v, gmsh->last, size) == 0;
    gmsh->last_type = type;
    gmsh->last_physical = physical;
    memcpy(gmsh->last, v, size);
    return same;
}

pl_status pl_gmsh_element(pl_gmsh *gmsh, int64_t type, int physical_count, const int64_t *physical)
{
    const element_type *kind = NULL;
    int v[6];
    PL_TRY(find_type(gmsh, type, &kind));
    for (int i = 0; i < kind->nodes; i++) {
        int64_t tag;
        PL_TRY(pl_gmsh_tag(gmsh, "a node of an element", &tag));
        PL_TRY(find_node(gmsh, tag, &v[i]));
    }
    pl_raw *raw = gmsh->raw;
    int64_t first_physical = physical_count > 0 ? physical[0] : 0;
    if (type == 4) {
        if (!repeats_last(gmsh, type, 4, v, first_physical))
            PL_TRY(pl_raw_add_tet(raw, v));
        return add_labels(gmsh, PL_GROUP_TET, raw->tet_count - 1, physical_count, physical);
    }
    if (type == 2 || type == 3) {
        if (!repeats_last(gmsh, type, kind->nodes, v, first_physical))
            PL_TRY(pl_raw_add_polygon(raw, kind->nodes, v));
        for (int t = raw->triangle_count - (kind->nodes - 2); t < raw->triangle_count; t++)
            PL_TRY(add_labels(gmsh, PL_GROUP_TRIANGLE, t, physical_count, physical));
        return PL_OK;
    }
    raw->skipped += physical_count == 0;
    int64_t dimension = type == 15 ? 0 : PL_GMSH_LINE_TAG;
    for (int i = 0; i < kind->nodes; i++) {
        for (int p = 0; p < physical_count; p++)
            PL_TRY(pl_raw_add_label(raw, PL_GROUP_VERTEX, llabs(physical[p]) + dimension, v[i]));
    }
    return PL_OK;
}

/* ------------------------------------------------------------------------------- sections */

static pl_status read_format(pl_gmsh *gmsh, int *version)
{
    pl_scan *scan = gmsh->scan;
    double number;
    int64_t binary, size;
    PL_TRY(pl_scan_double(scan, "the format's version", &number));
    size_t mark = scan->mark;
    PL_TRY(pl_scan_integer(scan, "the file type, 0 (ASCII) or 1 (binary)", 0, 1, &binary));
    PL_TRY(pl_scan_integer(scan, "the data size", 4, 8, &size));
    *version = fabs(number) < 100 ? (int)(10 * number + 0.5) : 0;
    if (*version != 41 && (*version < 20 || *version > 22)) {
        scan->mark = mark;
        return pl_scan_fail(scan, "version %g cannot be read, expected 1, 2.2 or 4.1", number);
    }
    gmsh->binary = binary == 1;
    gmsh->wide = *version == 41;
    if (!gmsh->binary)
        return PL_OK;
    if (size != 8)
        return pl_scan_fail(scan, "data size is %lld, expected 8 in a binary file", (long long)size);
    pl_scan_skip_line(scan);
    const void *one;
    PL_TRY(pl_scan_bytes(scan, "the number 1 that shows the byte order", 4, &one));
    if (pl_load_integer(one, 4, true, false) != 1 && pl_load_integer(one, 4, true, true) != 1)
        return pl_scan_fail(scan, "expected the binary number 1 that shows the byte order");
    scan->big_endian = pl_load_integer(one, 4, true, false) != 1;
    return PL_OK;
}

/* The text between two quotation marks. */
static pl_status read_quoted(pl_scan *scan, pl_word *name)
{
    if (pl_scan_at_end(scan) || scan->text[scan->at] != '"')
        return pl_scan_unexpected(scan, "a name in quotation marks");
    size_t begin = scan->at + 1, end = begin;
    while (end < scan->size && scan->text[end] != '"' && scan->text[end] != '\n')
        end++;
    if (end == scan->size || scan->text[end] != '"')
        return pl_scan_fail(scan, "expected the quotation mark that ends a name");
    *name = (pl_word){scan->text + begin, end - begin};
    scan->at = end + 1;
    return PL_OK;
}

static pl_status read_names(pl_gmsh *gmsh)
{
    int count;
    PL_TRY(pl_scan_count(gmsh->scan, "the number of physical names", 6, &count));
    for (int i = 0; i < count; i++) {
        int64_t dim, tag;
        pl_word name = {0};
        PL_TRY(pl_scan_integer(gmsh->scan, "the dimension of a physical name", 0, 3, &dim));
        PL_TRY(pl_scan_integer(gmsh->scan, "the tag of a physical name", 0, INT32_MAX, &tag));
        PL_TRY(read_quoted(gmsh->scan, &name));
        pl_group_kind kind = dim == 3 ? PL_GROUP_TET : dim == 2 ? PL_GROUP_TRIANGLE : PL_GROUP_VERTEX;
        PL_TRY(pl_raw_add_group(gmsh->raw, kind, dim == 1 ? tag + PL_GMSH_LINE_TAG : tag, name.start,
                                name.length));
    }
    return PL_OK;
}

/* Runs one section's reader with the scan in the mode its numbers have. */
static pl_status read_section(pl_gmsh *gmsh, pl_word name, int version)
{
    bool old = version < 41;
    if (pl_word_is(name, "$PhysicalNames"))
        return read_names(gmsh);
    if (pl_word_is(name, "$NOD") || (old && pl_word_is(name, "$Nodes")))
        return pl_gmsh2_nodes(gmsh);
    if (pl_word_is(name, "$ELM") || (old && pl_word_is(name, "$Elements")))
        return pl_gmsh2_elements(gmsh, pl_word_is(name, "$ELM"));
    if (gmsh->binary) {
        pl_scan_skip_line(gmsh->scan);
        gmsh->scan->binary = true;
    }
    if (pl_word_is(name, "$Entities"))
        return pl_gmsh4_entities(gmsh);
    return pl_word_is(name, "$Nodes") ? pl_gmsh4_nodes(gmsh) : pl_gmsh4_elements(gmsh);
}

static bool known_section(pl_word name, int version)
{
    if (version == 10)
        return pl_word_is(name, "$NOD") || pl_word_is(name, "$ELM");
    return pl_word_is(name, "$PhysicalNames") || pl_word_is(name, "$Nodes") ||
           pl_word_is(name, "$Elements") || (version == 41 && pl_word_is(name, "$Entities"));
}

static pl_status read_sections(pl_gmsh *gmsh)
{
    pl_scan *scan = gmsh->scan;
    int version = 10; /* a file of version 1 has no $MeshFormat */
    while (!pl_scan_at_end(scan)) {
        pl_word name;
        PL_TRY(pl_scan_word(scan, "a $Section", &name));
        if (name.start[0] != '$' || name.length < 2 || name.length > 40)
            return pl_scan_unexpected(scan, "a $Section");
        char end[48];
        snprintf(end, sizeof end,
                 pl_word_is(name, "$NOD") || pl_word_is(name, "$ELM") ? "$END%.*s" : "$End%.*s",
                 (int)name.length - 1, name.start + 1);
        size_t mark = scan->mark;
        if (pl_word_is(name, "$MeshFormat")) {
            PL_TRY(read_format(gmsh, &version));
        } else if (known_section(name, version)) {
            PL_TRY(read_section(gmsh, name, version));
            scan->binary = false;
        } else if (pl_scan_skip_to(scan, end)) {
            continue;
        } else {
            scan->mark = mark;
            return pl_scan_fail(scan, "expected %s after this line, found the end of the file", end);
        }
        if (!pl_scan_accept(scan, end))
            return pl_scan_unexpected(scan, end);
    }
    return PL_OK;
}

pl_status pl_read_gmsh(pl_scan *scan, pl_raw *raw)
{
    pl_gmsh gmsh = {.scan = scan, .raw = raw};
    pl_status status = read_sections(&gmsh);
    if (status == PL_OK && !gmsh.has_nodes)
        status = pl_scan_fail(scan, "expected a section $Nodes, found the end of the file");
    pl_free(scan->ctx, gmsh.physicals);
    pl_free(scan->ctx, gmsh.node_order);
    pl_free(scan->ctx, gmsh.node_tag);
    return status;
}
