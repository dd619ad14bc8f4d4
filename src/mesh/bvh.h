/*
 * A bounding-volume tree over triangles: nearest point and generalised winding number. It keeps its own
 * copy of the corners. Queries only read, so any number of threads may ask one tree; answers depend
 * on nothing but the input.
 */
#ifndef PL_MESH_BVH_H
#define PL_MESH_BVH_H

#include "core/core.h"

typedef struct pl_bvh pl_bvh;

typedef enum pl_feature { PL_FEATURE_FACE, PL_FEATURE_EDGE, PL_FEATURE_VERTEX } pl_feature;

typedef struct pl_bvh_hit {
    int triangle;       /* in the order given to create; -1: nothing within the limit */
    pl_feature feature; /* the smallest piece of the triangle the point lies on */
    int corner;       /* vertex: that corner; edge: the one from corner to corner + 1 mod 3; face: 0 */
    double weight[3]; /* barycentric, sum 1; exactly 0 off the feature */
    double point[3];  /* m */
    double distance;  /* m, unsigned */
} pl_bvh_hit;

/* vertices [vertex_count, 3], triangles [triangle_count, 3]. At least one triangle, finite vertices and
 * indices in range are required. */
pl_status pl_bvh_create(pl_context *ctx, int vertex_count, const double *vertices, int triangle_count,
                        const int *triangles, pl_bvh **out);
void pl_bvh_destroy(pl_context *ctx, pl_bvh *bvh); /* NULL is fine */

/* Bounding box of all triangles, m. */
void pl_bvh_bounds(const pl_bvh *bvh, double lower[3], double upper[3]);

/* Nearest point of the surface that is nearer than `limit` (INFINITY = any). Returns whether there is
 * one. Of several at the same distance the triangle met first in the tree wins. */
bool pl_bvh_closest(const pl_bvh *bvh, const double x[3], double limit, pl_bvh_hit *hit);

/* How often the surface wraps x: 1 inside a closed outward surface, 0 outside, in between near holes,
 * the sum over overlapping pieces. Far clusters count as dipoles: error of a few hundredths. */
double pl_bvh_winding(const pl_bvh *bvh, const double x[3]);

/* What one triangle [3, 3] adds to it, exactly: its signed solid angle over 4 pi. */
double pl_triangle_winding(const double corners[9], const double x[3]);

/* Distance, negative where the winding number exceeds 1/2. */
double pl_bvh_signed_distance(const pl_bvh *bvh, const double x[3]);

/* Calls visit for every triangle whose bounding box meets [lower, upper]; false from visit stops. */
typedef bool (*pl_bvh_visit)(void *user, int triangle);
void pl_bvh_overlap(const pl_bvh *bvh, const double lower[3], const double upper[3], pl_bvh_visit visit,
                    void *user);

/* Nearest point of one triangle (corners [3, 3]) to x; fills all of hit but `triangle`. */
void pl_triangle_closest(const double corners[9], const double x[3], pl_bvh_hit *hit);
/* Whether edge pq passes through triangle t: p and q lie on different sides of its plane, by more than
 * rounding, and the line pq passes its three edges on the same side or meets them, all as signs of
 * tetrahedron volumes. */
bool pl_edge_crosses(const double *p, const double *q, const double *const t[3]);
/* How many triangles [count, 3], those of the tree, pass through others: some edge of one goes through
 * the other. Triangles that share an edge do not count, nor those that lie in one plane or end at the
 * other. `pair` has two that do, or -1; NULL is fine. */
int pl_count_crossings(const pl_bvh *bvh, const double *vertices, int count, const int *triangles,
                       int pair[2]);
/* Barycentric coordinates of x in a tet (corners [4, 3]); none is negative inside. */
void pl_tet_weights(const double corners[12], const double x[3], double weight[4]);

#endif
