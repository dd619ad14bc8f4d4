/*
 * Stereolithography files. Binary: 80 bytes of header, a little-endian count, then per triangle a
 * normal, three corners (twelve floats) and two bytes. Text: "facet normal", "outer loop", three
 * "vertex" lines. Some binary files begin with "solid" like text, so the size decides. Corners are not
 * shared in either.
 */
#include "shape/surface.h"

#define HEADER   84
#define TRIANGLE 50

static pl_status add_triangle(pl_raw *raw, const double corners[9])
{
    int v[3];
    for (int k = 0; k < 3; k++) {
        v[k] = raw->vertex_count;
        PL_TRY(pl_raw_add_vertex(raw, corners + 3 * k));
    }
    return pl_raw_add_polygon(raw, 3, v);
}

static pl_status read_binary(pl_scan *scan, pl_raw *raw, int64_t count)
{
    scan->binary = true;
    scan->at = HEADER;
    for (int64_t t = 0; t < count; t++) {
        const void *bytes;
        double corners[9];
        PL_TRY(pl_scan_bytes(scan, "a triangle", TRIANGLE, &bytes));
        for (int k = 0; k < 9; k++) {
            corners[k] = pl_load_real((const char *)bytes + 12 + 4 * k, 4, false);
            if (!isfinite(corners[k]))
                return pl_scan_fail(scan, "a corner of triangle %lld is not finite", (long long)t);
        }
        PL_TRY(add_triangle(raw, corners));
    }
    return PL_OK;
}

static pl_status read_text(pl_scan *scan, pl_raw *raw)
{
    double corners[9];
    int count = 0;
    while (!pl_scan_at_end(scan)) {
        pl_word word;
        PL_TRY(pl_scan_word(scan, "a line of an STL file", &word));
        if (pl_word_is_anycase(word, "vertex")) {
            if (count == 3)
                return pl_scan_fail(scan, "a facet has more than three vertices");
            PL_TRY(pl_scan_point(scan, "a coordinate", corners + 3 * count++));
        } else if (pl_word_is_anycase(word, "endloop")) {
            if (count < 3)
                return pl_scan_fail(scan, "a facet has %d vertices, three were expected", count);
            PL_TRY(add_triangle(raw, corners));
            count = 0;
        } else if (pl_word_is_anycase(word, "facet") || pl_word_is_anycase(word, "solid") ||
                   pl_word_is_anycase(word, "endsolid")) {
            pl_scan_skip_line(scan); /* a normal or a name */
        } else if (!pl_word_is_anycase(word, "outer") && !pl_word_is_anycase(word, "loop") &&
                   !pl_word_is_anycase(word, "endfacet")) {
            return pl_scan_unexpected(scan, "facet, outer loop, vertex, endloop, endfacet or endsolid");
        }
    }
    if (count > 0)
        return pl_scan_fail(scan, "the file ends within a facet");
    return PL_OK;
}

pl_status pl_read_stl(pl_scan *scan, pl_raw *raw)
{
    bool solid = scan->size >= 5 && memcmp(scan->text, "solid", 5) == 0;
    int64_t count = scan->size >= HEADER ? pl_load_integer(scan->text + 80, 4, false, false) : -1;
    if (count >= 0 && (int64_t)scan->size == HEADER + TRIANGLE * count)
        return read_binary(scan, raw, count);
    if (solid)
        return read_text(scan, raw);
    if (count < 0)
        return pl_scan_fail(scan, "neither \"solid\" nor a binary STL header of %d bytes", HEADER);
    return pl_scan_fail(scan, "a binary STL of %lld triangles has %lld bytes, this file has %lld",
                        (long long)count, (long long)(HEADER + TRIANGLE * count),
                        (long long)scan->size);
}
