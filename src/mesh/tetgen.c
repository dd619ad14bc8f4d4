/*
 * TetGen's pair of files, # comments:
 *     .node  count 3 attributes markers, then per vertex: number x y z attributes... [marker]
 *     .ele   count 4 attributes,         then per tet:    number v0 v1 v2 v3 attributes...
 * Numbers start at 0 or 1: at whatever the first vertex has.
 */
#include "mesh/read.h"

static pl_status skip_numbers(pl_scan *scan, const char *what, int64_t count)
{
    double unused;
    for (int64_t i = 0; i < count; i++)
        PL_TRY(pl_scan_double(scan, what, &unused));
    return PL_OK;
}

static pl_status read_nodes(pl_scan *scan, pl_raw *raw, int *base)
{
    int count;
    int64_t dimension, attributes, markers, number;
    PL_TRY(pl_scan_count(scan, "the number of vertices", 8, &count));
    PL_TRY(pl_scan_integer(scan, "the dimension", 3, 3, &dimension));
    PL_TRY(pl_scan_integer(scan, "the number of attributes", 0, 1000, &attributes));
    PL_TRY(pl_scan_integer(scan, "the number of markers", 0, 1, &markers));
    for (int i = 0; i < count; i++) {
        double x[3];
        PL_TRY(pl_scan_integer(scan, "a vertex number", i == 0 ? 0 : *base + i, i == 0 ? 1 : *base + i,
                               &number));
        *base = i == 0 ? (int)number : *base;
        PL_TRY(pl_scan_point(scan, "a vertex coordinate", x));
        PL_TRY(skip_numbers(scan, "a vertex attribute or marker", attributes + markers));
        PL_TRY(pl_raw_add_vertex(raw, x));
    }
    return PL_OK;
}

static pl_status read_tets(pl_scan *scan, pl_raw *raw, int base)
{
    int count;
    int64_t width, attributes, number;
    PL_TRY(pl_scan_count(scan, "the number of tets", 10, &count));
    PL_TRY(pl_scan_integer(scan, "the number of vertices of a tet", 1, 100, &width));
    if (width != 4)
        return pl_scan_fail(scan, "tets of %lld vertices cannot be used, expected 4", (long long)width);
    PL_TRY(pl_scan_integer(scan, "the number of attributes", 0, 1000, &attributes));
    for (int i = 0; i < count; i++) {
        int v[4];
        PL_TRY(pl_scan_integer(scan, "a tet number", base + i, base + i, &number));
        for (int k = 0; k < 4; k++)
            PL_TRY(pl_scan_index(scan, "a vertex of a tet", base, raw->vertex_count, &v[k]));
        PL_TRY(skip_numbers(scan, "a tet attribute", attributes));
        PL_TRY(pl_raw_add_tet(raw, v));
    }
    return PL_OK;
}

/* Opens the file beside `path` that has another extension. */
static pl_status open_partner(pl_context *ctx, const char *path, const char *extension, char **name,
                              pl_scan *scan)
{
    size_t stem = (size_t)(strrchr(path, '.') - path);
    *name = pl_alloc(ctx, stem + strlen(extension) + 1, 1);
    if (!*name)
        return PL_ERROR_MEMORY;
    memcpy(*name, path, stem);
    strcpy(*name + stem, extension);
    pl_status status = pl_scan_open(ctx, *name, scan);
    return status ? pl_fail_within(ctx, status, "%s needs the file beside it", path) : PL_OK;
}

pl_status pl_read_tetgen(pl_scan *scan, pl_raw *raw)
{
    pl_status status = PL_OK;
    char *name = NULL;
    pl_scan partner = {0};
    int base = 0;
    bool is_node = strrchr(scan->path, '.')[1] == 'n' || strrchr(scan->path, '.')[1] == 'N';
    PL_CHECK(open_partner(scan->ctx, scan->path, is_node ? ".ele" : ".node", &name, &partner), done);
    scan->comment = partner.comment = '#';
    PL_CHECK(read_nodes(is_node ? scan : &partner, raw, &base), done);
    PL_CHECK(read_tets(is_node ? &partner : scan, raw, base), done);
done:
    pl_scan_close(&partner);
    pl_free(scan->ctx, name);
    return status;
}
