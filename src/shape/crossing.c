/*
 * Triangles that pass through each other: some edge of one meets the inside of the other. Touching does
 * not count.
 */
#include "core/vec.h"
#include "shape/surface.h"

typedef struct probe {
    const pl_repaired *surface;
    int triangle;
    bool crosses;
} probe;

static void corners_of(const pl_repaired *s, int t, const double *x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] = s->vertices + 3 * s->triangles[3 * t + k];
}

static bool visit(void *user, int other)
{
    probe *p = user;
    const int *a = p->surface->triangles + 3 * p->triangle, *b = p->surface->triangles + 3 * other;
    for (int i = 0; i < 9; i++)
        if (a[i / 3] == b[i % 3])
            return true;
    const double *x[3], *y[3];
    corners_of(p->surface, p->triangle, x), corners_of(p->surface, other, y);
    for (int k = 0; k < 3 && !p->crosses; k++)
        p->crosses =
            pl_edge_crosses(x[k], x[(k + 1) % 3], y) || pl_edge_crosses(y[k], y[(k + 1) % 3], x);
    return !p->crosses;
}

int pl_count_crossings(const pl_bvh *bvh, const pl_repaired *surface)
{
    int count = 0;
    for (int t = 0; t < surface->triangle_count; t++) {
        probe p = {.surface = surface, .triangle = t};
        const double *x[3];
        double lower[3], upper[3];
        corners_of(surface, t, x);
        for (int i = 0; i < 3; i++) {
            lower[i] = fmin(x[0][i], fmin(x[1][i], x[2][i]));
            upper[i] = fmax(x[0][i], fmax(x[1][i], x[2][i]));
        }
        pl_bvh_overlap(bvh, lower, upper, visit, &p);
        count += p.crosses;
    }
    return count;
}
