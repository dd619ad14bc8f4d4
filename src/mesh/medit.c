/*
 * MEDIT .mesh, ASCII: keywords, each with a count and rows of numbers ending in a reference that is
 * not used. Vertices count from 1. Sections of other names are passed over.
 */
#include "mesh/read.h"

static pl_status read_vertices(pl_scan *scan, pl_raw *raw, int dimension)
{
    int count;
    int64_t reference;
    PL_TRY(pl_scan_count(scan, "the number of vertices", 2 * (size_t)dimension, &count));
    for (int i = 0; i < count; i++) {
        double x[3] = {0, 0, 0};
        for (int d = 0; d < dimension; d++)
            PL_TRY(pl_scan_double(scan, "a vertex coordinate", &x[d]));
        PL_TRY(pl_scan_integer(scan, "a vertex reference", INT64_MIN, INT64_MAX, &reference));
        PL_TRY(pl_raw_add_vertex(raw, x));
    }
    return PL_OK;
}

static pl_status read_elements(pl_scan *scan, pl_raw *raw, int width, bool tets)
{
    int count;
    int64_t reference;
    PL_TRY(pl_scan_count(scan, "the number of elements", 2 * (size_t)width, &count));
    for (int i = 0; i < count; i++) {
        int v[4];
        for (int k = 0; k < width; k++)
            PL_TRY(pl_scan_index(scan, "a vertex of an element", 1, raw->vertex_count, &v[k]));
        PL_TRY(pl_scan_integer(scan, "an element reference", INT64_MIN, INT64_MAX, &reference));
        PL_TRY(tets ? pl_raw_add_tet(raw, v) : pl_raw_add_polygon(raw, width, v));
    }
    return PL_OK;
}

/* Passes over everything up to the next keyword, which begins with a letter. */
static pl_status skip_section(pl_scan *scan)
{
    while (!pl_scan_at_end(scan)) {
        char c = scan->text[scan->at];
        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
            break;
        pl_word word;
        PL_TRY(pl_scan_word(scan, "a keyword", &word));
    }
    return PL_OK;
}

static bool unusable(pl_word word)
{
    static const char *const names[] = {"Hexahedra", "HexahedraQ2", "Hexaedra",    "Prisms",
                                        "Pyramids",  "TrianglesP2", "TetrahedraP2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (pl_word_is_anycase(word, names[i]))
            return true;
    }
    return false;
}

pl_status pl_read_medit(pl_scan *scan, pl_raw *raw)
{
    int64_t version, dimension = 3;
    pl_word word;
    scan->comment = '#';
    if (!pl_scan_accept(scan, "MeshVersionFormatted"))
        return pl_scan_unexpected(scan, "MeshVersionFormatted");
    PL_TRY(pl_scan_integer(scan, "the format's version", 0, 4, &version));
    while (!pl_scan_at_end(scan)) {
        PL_TRY(pl_scan_word(scan, "a keyword", &word));
        if (pl_word_is_anycase(word, "End"))
            return PL_OK;
        if (pl_word_is_anycase(word, "Dimension"))
            PL_TRY(pl_scan_integer(scan, "the dimension", 2, 3, &dimension));
        else if (pl_word_is_anycase(word, "Vertices"))
            PL_TRY(read_vertices(scan, raw, (int)dimension));
        else if (pl_word_is_anycase(word, "Tetrahedra"))
            PL_TRY(read_elements(scan, raw, 4, true));
        else if (pl_word_is_anycase(word, "Triangles"))
            PL_TRY(read_elements(scan, raw, 3, false));
        else if (pl_word_is_anycase(word, "Quadrilaterals"))
            PL_TRY(read_elements(scan, raw, 4, false));
        else if (unusable(word) && !pl_scan_accept(scan, "0"))
            return pl_scan_fail(scan, "%.*s cannot be used, expected Tetrahedra and Triangles",
                                (int)word.length, word.start);
        else if ((word.start[0] | 32) < 'a' || (word.start[0] | 32) > 'z')
            return pl_scan_unexpected(scan, "a keyword");
        else
            PL_TRY(skip_section(scan));
    }
    return PL_OK;
}
