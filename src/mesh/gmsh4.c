/*
 * Entities, nodes and elements of Gmsh 4.1. The same numbers in text and in binary, where tags and
 * counts have 8 bytes, dimensions, entities, types and physical tags 4, coordinates 8:
 *     entities: 4 counts; point: tag x y z physicals; others: tag box[6] physicals boundary
 *     nodes:    blocks count min max; block: dim entity parametric count, tags..., points...
 *     elements: blocks count min max; block: dim entity type count, (tag nodes...)...
 * Lists are a count and their tags. An element is in the physical groups of its entity.
 */
#include "mesh/gmsh.h"

static pl_status add_physical(pl_gmsh *gmsh, int64_t dim, int64_t entity, int64_t tag)
{
    PL_TRY(pl_grow(gmsh->raw->ctx, (void **)&gmsh->physicals, &gmsh->physical_capacity,
                   gmsh->physical_count + 1, sizeof *gmsh->physicals));
    gmsh->physicals[gmsh->physical_count++] = (pl_gmsh_physical){dim, entity, tag};
    return PL_OK;
}

static pl_status read_entity(pl_gmsh *gmsh, int64_t dim)
{
    int64_t entity, tag;
    double coordinate;
    int count;
    PL_TRY(pl_gmsh_int(gmsh, "an entity's tag", &entity));
    for (int i = 0; i < (dim == 0 ? 3 : 6); i++)
        PL_TRY(pl_gmsh_double(gmsh, "an entity's box", &coordinate));
    PL_TRY(pl_gmsh_count(gmsh, "the number of physical tags", 1, &count));
    for (int i = 0; i < count; i++) {
        PL_TRY(pl_gmsh_int(gmsh, "a physical tag", &tag));
        PL_TRY(add_physical(gmsh, dim, entity, tag));
    }
    if (dim == 0)
        return PL_OK;
    PL_TRY(pl_gmsh_count(gmsh, "the number of bounding entities", 1, &count));
    for (int i = 0; i < count; i++)
        PL_TRY(pl_gmsh_int(gmsh, "a bounding entity", &tag));
    return PL_OK;
}

pl_status pl_gmsh4_entities(pl_gmsh *gmsh)
{
    int count[4];
    for (int dim = 0; dim < 4; dim++)
        PL_TRY(pl_gmsh_count(gmsh, "the number of entities", 5, &count[dim]));
    for (int dim = 0; dim < 4; dim++) {
        for (int i = 0; i < count[dim]; i++)
            PL_TRY(read_entity(gmsh, dim));
    }
    return PL_OK;
}

/* The first line of a section; the smallest and largest tag are not needed. */
static pl_status read_totals(pl_gmsh *gmsh, const char *what, int numbers_each, int *blocks, int *count)
{
    int64_t unused;
    PL_TRY(pl_gmsh_count(gmsh, "the number of blocks", 4, blocks));
    PL_TRY(pl_gmsh_count(gmsh, what, numbers_each, count));
    PL_TRY(pl_gmsh_tag(gmsh, "the smallest tag", &unused));
    return pl_gmsh_tag(gmsh, "the largest tag", &unused);
}

static pl_status read_block(pl_gmsh *gmsh, int numbers_each, int left, int64_t head[3], int *count)
{
    PL_TRY(pl_gmsh_int(gmsh, "the dimension of a block", &head[0]));
    if (head[0] < 0 || head[0] > 3)
        return pl_scan_fail(gmsh->scan, "the dimension of a block is %lld, expected 0 to 3",
                            (long long)head[0]);
    PL_TRY(pl_gmsh_int(gmsh, "the entity of a block", &head[1]));
    PL_TRY(pl_gmsh_int(gmsh, "a block's type", &head[2]));
    PL_TRY(pl_gmsh_count(gmsh, "the number of items of a block", numbers_each, count));
    if (*count > left)
        return pl_scan_fail(gmsh->scan, "a block has %d items, expected at most the %d that are left",
                            *count, left);
    return PL_OK;
}

static pl_status check_total(pl_gmsh *gmsh, const char *what, int left)
{
    if (left == 0)
        return PL_OK;
    return pl_scan_fail(gmsh->scan, "the blocks have %d %s fewer than the section says", left, what);
}

pl_status pl_gmsh4_nodes(pl_gmsh *gmsh)
{
    pl_status status = PL_OK;
    int blocks, left, count;
    int64_t head[3], *tags = NULL;
    if (gmsh->has_nodes)
        return pl_scan_fail(gmsh->scan, "a second section of nodes");
    PL_TRY(read_totals(gmsh, "the number of nodes", 4, &blocks, &left));
    PL_NEW(gmsh->raw->ctx, tags, left, done);
    for (int b = 0; b < blocks; b++, left -= count) {
        PL_CHECK(read_block(gmsh, 4, left, head, &count), done);
        for (int i = 0; i < count; i++)
            PL_CHECK(pl_gmsh_tag(gmsh, "a node's number", &tags[i]), done);
        for (int i = 0; i < count; i++) {
            double x[3], parameter;
            for (int d = 0; d < 3; d++)
                PL_CHECK(pl_gmsh_double(gmsh, "a node's coordinate", &x[d]), done);
            for (int d = 0; head[2] != 0 && d < head[0]; d++)
                PL_CHECK(pl_gmsh_double(gmsh, "a node's parameter", &parameter), done);
            PL_CHECK(pl_gmsh_add_node(gmsh, tags[i], x), done);
        }
    }
    PL_CHECK(check_total(gmsh, "nodes", left), done);
    status = pl_gmsh_nodes_done(gmsh);
done:
    pl_free(gmsh->raw->ctx, tags);
    return status;
}

/* The physical tags of an entity, gathered into tags[physical_count]. */
static int find_physicals(const pl_gmsh *gmsh, const int64_t head[3], int64_t *tags)
{
    int found = 0;
    for (int p = 0; p < gmsh->physical_count; p++) {
        if (gmsh->physicals[p].dim == head[0] && gmsh->physicals[p].entity == head[1])
            tags[found++] = gmsh->physicals[p].tag;
    }
    return found;
}

pl_status pl_gmsh4_elements(pl_gmsh *gmsh)
{
    pl_status status = PL_OK;
    int blocks, left, count;
    int64_t head[3], number, *tags = NULL;
    if (!gmsh->has_nodes)
        return pl_scan_fail(gmsh->scan, "elements come before the nodes");
    PL_TRY(read_totals(gmsh, "the number of elements", 2, &blocks, &left));
    PL_NEW(gmsh->raw->ctx, tags, gmsh->physical_count, done);
    for (int b = 0; b < blocks; b++, left -= count) {
        PL_CHECK(read_block(gmsh, 2, left, head, &count), done);
        int tag_count = find_physicals(gmsh, head, tags);
        for (int i = 0; i < count; i++) {
            PL_CHECK(pl_gmsh_tag(gmsh, "an element's number", &number), done);
            PL_CHECK(pl_gmsh_element(gmsh, head[2], tag_count, tags), done);
        }
    }
    status = check_total(gmsh, "elements", left);
done:
    pl_free(gmsh->raw->ctx, tags);
    return status;
}
