/*
 * Wavefront .obj surfaces: lines "v x y z ..." and "f a b c ..." with a one of i, i/t, i//n, i/t/n;
 * i counts from 1, or from the last vertex backwards when negative. Polygons become fans. Everything
 * else (normals, textures, materials, names) is passed over.
 */
#include "mesh/read.h"

/* Whether the line goes on after the position: neither its end nor a comment. */
static bool more_on_line(pl_scan *scan)
{
    for (;;) {
        while (scan->at < scan->size && (scan->text[scan->at] == ' ' || scan->text[scan->at] == '\t' ||
                                         scan->text[scan->at] == '\r'))
            scan->at++;
        /* A backslash before the line's end joins the next line. */
        if (scan->at >= scan->size || scan->text[scan->at] != '\\')
            break;
        pl_scan_skip_line(scan);
    }
    return scan->at < scan->size && scan->text[scan->at] != '\n' && scan->text[scan->at] != '#';
}

static int count_vertices(const pl_scan *scan)
{
    int count = 0;
    for (pl_scan at = *scan; at.at < at.size; pl_scan_skip_line(&at)) {
        while (at.at < at.size && (at.text[at.at] == ' ' || at.text[at.at] == '\t'))
            at.at++;
        const char *line = at.text + at.at; /* ends in NUL at the latest */
        count += line[0] == 'v' && (line[1] == ' ' || line[1] == '\t');
    }
    return count;
}

/* The vertex of one corner: the number before the first slash. */
static pl_status read_corner(pl_scan *scan, const pl_raw *raw, int vertex_count, int *vertex)
{
    pl_scan corner = *scan;
    pl_word word;
    int64_t value;
    PL_TRY(pl_scan_word(scan, "a vertex of a face", &word));
    const char *slash = memchr(word.start, '/', word.length);
    if (slash == word.start)
        return pl_scan_unexpected(scan, "a vertex of a face");
    corner.size = (size_t)((slash ? slash : word.start + word.length) - scan->text);
    PL_TRY(pl_scan_integer(&corner, "a vertex of a face", INT64_MIN, INT64_MAX, &value));
    if (value < 0)
        value += raw->vertex_count + 1;
    scan->mark = corner.mark;
    PL_TRY(pl_scan_check_index(scan, "a vertex of a face", 1, vertex_count, value));
    *vertex = (int)value - 1;
    return PL_OK;
}

static pl_status read_face(pl_scan *scan, pl_raw *raw, int vertex_count, int **face, int *capacity)
{
    int n = 0;
    size_t mark = scan->mark;
    for (; more_on_line(scan); n++) {
        PL_TRY(pl_grow(scan->ctx, (void **)face, capacity, n + 1, sizeof **face));
        PL_TRY(read_corner(scan, raw, vertex_count, &(*face)[n]));
    }
    if (n < 3) {
        scan->mark = mark;
        return pl_scan_fail(scan, "a face has %d vertices, expected at least 3", n);
    }
    return pl_raw_add_polygon(raw, n, *face);
}

pl_status pl_read_obj(pl_scan *scan, pl_raw *raw)
{
    pl_status status = PL_OK;
    int vertex_count = count_vertices(scan), *face = NULL, capacity = 0;
    scan->comment = '#';
    while (!pl_scan_at_end(scan)) {
        pl_word word;
        double x[3];
        PL_CHECK(pl_scan_word(scan, "a line of a surface", &word), done);
        if (pl_word_is(word, "v")) {
            PL_CHECK(pl_scan_point(scan, "a vertex coordinate", x), done);
            PL_CHECK(pl_raw_add_vertex(raw, x), done);
        } else if (pl_word_is(word, "f")) {
            PL_CHECK(read_face(scan, raw, vertex_count, &face, &capacity), done);
        }
        while (more_on_line(scan))
            PL_CHECK(pl_scan_word(scan, "the rest of the line", &word), done);
        pl_scan_skip_line(scan);
    }
    if (raw->vertex_count != vertex_count)
        status = pl_scan_fail(scan, "expected %d vertices, found %d", vertex_count, raw->vertex_count);
done:
    pl_free(scan->ctx, face);
    return status;
}
