/* How good the tetrahedra are. */
#ifndef PL_SHAPE_QUALITY_H
#define PL_SHAPE_QUALITY_H

#include "core/core.h"

/* Smallest and largest of a tetrahedron's six dihedral angles, degrees. */
void pl_tet_dihedral_range(const double *vertices, const int tet[4], double *low, double *high);

#endif
