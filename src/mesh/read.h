/* The readers, one per format: each fills `raw` from a file that is open in `scan`. */
#ifndef PL_MESH_READ_H
#define PL_MESH_READ_H

#include "mesh/raw.h"
#include "mesh/scan.h"

#define PL_MESH_EXTENSIONS ".msh, .mesh, .vtk, .vtu, .node, .ele or .obj"

/* Whether the extension is one of these. */
bool pl_mesh_readable(const char *path);

pl_status pl_read_gmsh(pl_scan *scan, pl_raw *raw);
pl_status pl_read_medit(pl_scan *scan, pl_raw *raw);
pl_status pl_read_vtk(pl_scan *scan, pl_raw *raw); /* legacy */
pl_status pl_read_vtu(pl_scan *scan, pl_raw *raw);
pl_status pl_read_tetgen(pl_scan *scan, pl_raw *raw); /* opens the other of the two files itself */
pl_status pl_read_obj(pl_scan *scan, pl_raw *raw);

#endif
