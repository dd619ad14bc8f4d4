/* Neighbouring tets in small groups. */
#ifndef PL_MESH_PATCHES_H
#define PL_MESH_PATCHES_H

#include "mesh/mesh.h"

/* Tets of a patch, at most. Each beyond the first has three vertices of another. */
#define PL_PATCH_TETS     8
#define PL_PATCH_VERTICES (PL_PATCH_TETS + 3)

/* of [tet_count] = the patch each tet is in, from 0 to *count - 1; `mesh` has been checked. */
pl_status pl_mesh_patches(pl_context *ctx, const pl_mesh *mesh, int *count, int *of);

#endif
