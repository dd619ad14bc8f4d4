/* Dihedral angles: pi minus the angle between the outward normals of the two faces at an edge. */
#include "shape/quality.h"

#include "core/vec.h"
#include "mesh/mesh.h"

void pl_tet_dihedral_range(const double *vertices, const int tet[4], double *low, double *high)
{
    double normal[4][3], length[4];
    for (int f = 0; f < 4; f++) {
        const double *x[3];
        double e[3], g[3];
        for (int k = 0; k < 3; k++)
            x[k] = vertices + 3 * (size_t)tet[pl_tet_faces[f][k]];
        pl_sub3(x[1], x[0], e), pl_sub3(x[2], x[0], g);
        pl_cross3(e, g, normal[f]);
        length[f] = pl_norm3(normal[f]);
    }
    *low = 180, *high = 0;
    for (int f = 0; f < 4; f++) {
        for (int g = f + 1; g < 4; g++) {
            double c = -pl_dot3(normal[f], normal[g]) / (length[f] * length[g]);
            double angle = acos(fmax(-1, fmin(1, c))) * 180 / M_PI;
            *low = fmin(*low, angle), *high = fmax(*high, angle);
        }
    }
}
