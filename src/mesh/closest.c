/*
 * Nearest point of a triangle: the foot on its plane when that lies inside, else the nearest point of
 * the edges the foot lies beyond. A triangle without area is its three edges.
 */
#include "core/vec.h"
#include "mesh/bvh.h"

#include <float.h>

static void settle(const double corners[9], const double x[3], pl_feature feature, int corner,
                   const double weight[3], pl_bvh_hit *hit)
{
    double d[3];
    hit->triangle = -1, hit->feature = feature, hit->corner = corner;
    for (int i = 0; i < 3; i++) {
        hit->weight[i] = weight[i];
        hit->point[i] =
            weight[0] * corners[i] + weight[1] * corners[3 + i] + weight[2] * corners[6 + i];
        d[i] = x[i] - hit->point[i];
    }
    hit->distance = pl_norm3(d);
}

/* Nearest point of the edge from corner k to k + 1. */
static void edge_closest(const double corners[9], const double x[3], int k, pl_bvh_hit *hit)
{
    int next = (k + 1) % 3;
    double e[3], d[3];
    pl_sub3(corners + 3 * next, corners + 3 * k, e);
    pl_sub3(x, corners + 3 * k, d);
    double along = pl_dot3(d, e), length2 = pl_dot3(e, e);
    double weight[3] = {0};
    if (along <= 0) {
        weight[k] = 1;
        settle(corners, x, PL_FEATURE_VERTEX, k, weight, hit);
    } else if (along >= length2) {
        weight[next] = 1;
        settle(corners, x, PL_FEATURE_VERTEX, next, weight, hit);
    } else {
        weight[next] = along / length2;
        weight[k] = 1 - weight[next];
        settle(corners, x, PL_FEATURE_EDGE, k, weight, hit);
    }
}

void pl_triangle_closest(const double corners[9], const double x[3], pl_bvh_hit *hit)
{
    double e[3], f[3], d[3], normal[3], cross[3], weight[3];
    pl_sub3(corners + 3, corners, e), pl_sub3(corners + 6, corners, f), pl_sub3(x, corners, d);
    pl_cross3(e, f, normal);
    double n2 = pl_dot3(normal, normal);
    /* Barycentric weights of the foot on the triangle's plane. */
    pl_cross3(d, f, cross);
    weight[1] = pl_dot3(cross, normal) / n2;
    pl_cross3(e, d, cross);
    weight[2] = pl_dot3(cross, normal) / n2;
    weight[0] = 1 - weight[1] - weight[2];
    if (n2 > 0 && weight[0] > 0 && weight[1] > 0 && weight[2] > 0) {
        settle(corners, x, PL_FEATURE_FACE, 0, weight, hit);
        return;
    }
    /* Edge k faces corner k + 2; only edges the foot lies beyond can be nearest. */
    pl_bvh_hit found;
    hit->distance = INFINITY;
    for (int k = 0; k < 3; k++) {
        if (n2 > 0 && weight[(k + 2) % 3] > 0)
            continue;
        edge_closest(corners, x, k, &found);
        if (found.distance < hit->distance)
            *hit = found;
    }
}

void pl_tet_weights(const double corners[12], const double x[3], double weight[4])
{
    double edges[9], inverse[9], d[3];
    for (int i = 0; i < 9; i++)
        edges[i] = corners[3 + 3 * (i % 3) + i / 3] - corners[i / 3];
    pl_inverse3(edges, inverse);
    pl_sub3(x, corners, d);
    pl_mat3_vec(inverse, d, weight + 1);
    weight[0] = 1 - weight[1] - weight[2] - weight[3];
}

static double volume6(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], n[3];
    pl_sub3(b, a, u), pl_sub3(c, a, v), pl_sub3(d, a, w);
    pl_cross3(u, v, n);
    return pl_dot3(n, w);
}

/* What a volume of points that lie in one plane is off by: their last digits over an area. */
static double rounding_of(const double *p, const double *q, const double *const t[3])
{
    const double *all[] = {p, q, t[0], t[1], t[2]};
    double far = 0, wide = 0;
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 3; i++) {
            far = fmax(far, fabs(all[k][i]));
            wide = fmax(wide, fabs(all[k][i] - p[i]));
        }
    return 64 * DBL_EPSILON * far * wide * wide;
}

bool pl_edge_crosses(const double *p, const double *q, const double *const t[3])
{
    double least = rounding_of(p, q, t), from = volume6(t[0], t[1], t[2], p),
           to = volume6(t[0], t[1], t[2], q);
    if (fabs(from) <= least || fabs(to) <= least || (from > 0) == (to > 0))
        return false;
    double a = volume6(p, q, t[0], t[1]), b = volume6(p, q, t[1], t[2]), c = volume6(p, q, t[2], t[0]);
    return fmin(a, fmin(b, c)) >= -least || fmax(a, fmax(b, c)) <= least;
}
