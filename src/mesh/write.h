/* The writers, one per format. */
#ifndef PL_MESH_WRITE_H
#define PL_MESH_WRITE_H

#include "mesh/mesh.h"

pl_status pl_write_gmsh(pl_context *ctx, const pl_mesh *mesh, const char *path);
pl_status pl_write_vtu(pl_context *ctx, const pl_mesh *mesh, const char *path);

#endif
