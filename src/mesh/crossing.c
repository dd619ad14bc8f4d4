/*
 * Triangles that pass through each other: some edge of one goes through the other. Of two that share a
 * vertex only the edges across from it can.
 */
#include "core/vec.h"
#include "mesh/bvh.h"

typedef struct probe {
    const double *vertices;
    const int *triangles;
    int triangle, hit; /* that it passes through, or -1 */
} probe;

static void corners_of(const probe *p, int t, const double *x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] = p->vertices + 3 * (size_t)p->triangles[3 * (size_t)t + (size_t)k];
}

/* How many vertices two triangles share, and the corner of the first that they do. */
static int shared(const int *a, const int *b, int *corner)
{
    int count = 0;
    for (int i = 0; i < 9; i++)
        if (a[i / 3] == b[i % 3]) {
            *corner = i / 3;
            count++;
        }
    return count;
}

/* Whether an edge of triangle a passes through b, but none at a vertex that they share. */
static bool pierces(const probe *p, int a, int b)
{
    const double *x[3], *y[3];
    int corner = -1,
        common = shared(p->triangles + 3 * (size_t)a, p->triangles + 3 * (size_t)b, &corner);
    corners_of(p, a, x);
    corners_of(p, b, y);
    for (int k = 0; k < 3 && common < 2; k++) {
        int next = (k + 1) % 3;
        if (k != corner && next != corner && pl_edge_crosses(x[k], x[next], y))
            return true;
    }
    return false;
}

static bool visit(void *user, int other)
{
    probe *p = user;
    if (other != p->triangle && (pierces(p, p->triangle, other) || pierces(p, other, p->triangle)))
        p->hit = other;
    return p->hit < 0;
}

int pl_count_crossings(const pl_bvh *bvh, const double *vertices, int count, const int *triangles,
                       int pair[2])
{
    int found = 0, first[2] = {-1, -1};
    for (int t = 0; t < count; t++) {
        probe p = {.vertices = vertices, .triangles = triangles, .triangle = t, .hit = -1};
        const double *x[3];
        double lower[3], upper[3];
        corners_of(&p, t, x);
        for (int i = 0; i < 3; i++) {
            lower[i] = fmin(x[0][i], fmin(x[1][i], x[2][i]));
            upper[i] = fmax(x[0][i], fmax(x[1][i], x[2][i]));
        }
        pl_bvh_overlap(bvh, lower, upper, visit, &p);
        if (p.hit < 0)
            continue;
        if (found++ == 0)
            first[0] = t, first[1] = p.hit;
    }
    if (pair)
        pair[0] = first[0], pair[1] = first[1];
    return found;
}
