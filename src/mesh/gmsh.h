/* What the readers of the Gmsh formats share. */
#ifndef PL_MESH_GMSH_H
#define PL_MESH_GMSH_H

#include "mesh/raw.h"
#include "mesh/scan.h"

/* One physical group of one geometric entity (Gmsh 4). */
typedef struct pl_gmsh_physical {
    int64_t dim, entity, tag;
} pl_gmsh_physical;

/* Added to the tags of physical lines, which become vertex groups beside those of physical points. */
#define PL_GMSH_LINE_TAG (INT64_C(1) << 32)

typedef struct pl_gmsh {
    pl_scan *scan;
    pl_raw *raw;
    bool binary; /* the file's sections are */
    bool wide;   /* Gmsh 4: tags and counts have 8 bytes in binary files */
    int tag_capacity;
    int64_t *node_tag; /* [raw->vertex_count] */
    int *node_order;   /* [raw->vertex_count] by ascending tag; NULL when tags count up by one */
    bool has_nodes;
    int64_t last_type, last_physical; /* of the element before */
    int last[4];
    int physical_count, physical_capacity;
    pl_gmsh_physical *physicals;
} pl_gmsh;

/* Numbers of a section: text, or 4 bytes, 4 or 8 bytes (wide), a double in binary files. */
pl_status pl_gmsh_int(pl_gmsh *gmsh, const char *what, int64_t *value);
pl_status pl_gmsh_tag(pl_gmsh *gmsh, const char *what, int64_t *value);
pl_status pl_gmsh_double(pl_gmsh *gmsh, const char *what, double *value);
/* A count of things with so many numbers each, checked against the rest of the file. */
pl_status pl_gmsh_count(pl_gmsh *gmsh, const char *what, int numbers_each, int *count);

pl_status pl_gmsh_add_node(pl_gmsh *gmsh, int64_t tag, const double x[3]);
pl_status pl_gmsh_nodes_done(pl_gmsh *gmsh); /* sorts the tags */

/*
 * Reads the nodes of one element of a Gmsh type and adds it to the physical groups of its dimension
 * among `physical`. Points and lines make vertex groups. Versions 1 and 2 have an element of several
 * groups once for each, one after the other: it is added once.
 */
pl_status pl_gmsh_element(pl_gmsh *gmsh, int64_t type, int physical_count, const int64_t *physical);

/* The sections of versions 1 and 2, and of version 4.1, without their $ lines. */
pl_status pl_gmsh2_nodes(pl_gmsh *gmsh);
pl_status pl_gmsh2_elements(pl_gmsh *gmsh, bool version1);
pl_status pl_gmsh4_entities(pl_gmsh *gmsh);
pl_status pl_gmsh4_nodes(pl_gmsh *gmsh);
pl_status pl_gmsh4_elements(pl_gmsh *gmsh);

#endif
