/*
 * Nodes and elements of Gmsh 1 and 2. Text:
 *     count, then per node: tag x y z
 *     count, then per element: tag type number-of-tags tags... nodes...        (version 2)
 *                              tag type physical elementary node-count nodes... (version 1)
 * Binary (version 2): the counts are text; nodes are int, 3 doubles; elements come in blocks
 * (type, count, number-of-tags) of (tag, tags..., nodes...), all int. The first tag is the physical
 * group.
 */
#include "mesh/gmsh.h"

/* The count line of a section, after which its numbers may be binary. */
static pl_status read_count(pl_gmsh *gmsh, const char *what, int numbers_each, int *count)
{
    PL_TRY(pl_gmsh_count(gmsh, what, numbers_each, count));
    if (gmsh->binary) {
        pl_scan_skip_line(gmsh->scan);
        gmsh->scan->binary = true;
    }
    return PL_OK;
}

pl_status pl_gmsh2_nodes(pl_gmsh *gmsh)
{
    int count;
    if (gmsh->has_nodes)
        return pl_scan_fail(gmsh->scan, "a second section of nodes");
    PL_TRY(read_count(gmsh, "the number of nodes", 4, &count));
    for (int i = 0; i < count; i++) {
        int64_t tag;
        double x[3];
        PL_TRY(pl_gmsh_tag(gmsh, "a node's number", &tag));
        for (int d = 0; d < 3; d++)
            PL_TRY(pl_gmsh_double(gmsh, "a node's coordinate", &x[d]));
        PL_TRY(pl_gmsh_add_node(gmsh, tag, x));
    }
    return pl_gmsh_nodes_done(gmsh);
}

/* Reads `count` tags and keeps the first, the physical group; 0 means none. */
static pl_status read_tags(pl_gmsh *gmsh, int64_t count, int64_t *physical)
{
    int64_t tag;
    *physical = 0;
    if (count < 0 || count > 1000)
        return pl_scan_fail(gmsh->scan, "the number of tags is %lld, expected 0 to 1000",
                            (long long)count);
    for (int64_t i = 0; i < count; i++) {
        PL_TRY(pl_gmsh_int(gmsh, "an element's tag", &tag));
        *physical = i == 0 ? tag : *physical;
    }
    return PL_OK;
}

static pl_status read_binary_blocks(pl_gmsh *gmsh, int count)
{
    for (int done = 0; done < count;) {
        int64_t type, block, tag_count, number, physical;
        PL_TRY(pl_gmsh_int(gmsh, "an element type", &type));
        PL_TRY(pl_gmsh_int(gmsh, "the number of elements of a block", &block));
        if (block < 1 || block > count - done)
            return pl_scan_fail(gmsh->scan, "a block has %lld elements, expected 1 to %d",
                                (long long)block, count - done);
        PL_TRY(pl_gmsh_int(gmsh, "the number of tags", &tag_count));
        for (int64_t i = 0; i < block; i++) {
            PL_TRY(pl_gmsh_int(gmsh, "an element's number", &number));
            PL_TRY(read_tags(gmsh, tag_count, &physical));
            PL_TRY(pl_gmsh_element(gmsh, type, physical != 0, &physical));
        }
        done += (int)block;
    }
    return PL_OK;
}

pl_status pl_gmsh2_elements(pl_gmsh *gmsh, bool version1)
{
    int count;
    if (!gmsh->has_nodes)
        return pl_scan_fail(gmsh->scan, "elements come before the nodes");
    PL_TRY(read_count(gmsh, "the number of elements", gmsh->binary ? 2 : 4, &count));
    if (gmsh->binary)
        return read_binary_blocks(gmsh, count);
    for (int i = 0; i < count; i++) {
        int64_t number, type, tag_count = 2, node_count, physical;
        PL_TRY(pl_gmsh_int(gmsh, "an element's number", &number));
        PL_TRY(pl_gmsh_int(gmsh, "an element type", &type));
        if (!version1)
            PL_TRY(pl_gmsh_int(gmsh, "the number of tags", &tag_count));
        PL_TRY(read_tags(gmsh, tag_count, &physical));
        if (version1)
            PL_TRY(pl_gmsh_int(gmsh, "the number of nodes", &node_count));
        PL_TRY(pl_gmsh_element(gmsh, type, physical != 0, &physical));
    }
    return PL_OK;
}
