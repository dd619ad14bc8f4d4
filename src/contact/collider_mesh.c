/*
 * Distance to a closed triangle surface: the nearest point p is on a face, an edge or a vertex, and
 *
 *     face    phi = n_f . (x - p),    n = n_f,            kappa = 0
 *     edge    phi = +-|x - p|,        n = (x - p)/phi,    kappa = (I - n n^T - e e^T)/phi
 *     vertex  the same,                                   kappa = (I - n n^T)/phi
 *
 * The sign at an edge or vertex is that of (x - p) . m, with m the sum of the normals around it
 * weighted by their angles (Baerentzen and Aanaes 2005). Edges and vertices that do not bend the
 * surface count as what they are: a vertex between coplanar triangles is a face, one along a straight
 * edge is an edge.
 */
#include "contact/collider_mesh.h"

#include "core/vec.h"
#include "mesh/bvh.h"

#include <float.h>

/* Normals closer than this (rad) are one plane: triangulated flats are flat to rounding only. */
#define FLAT 1e-9

struct pl_collider_mesh {
    pl_mesh surface; /* its triangles; vertices may lie in none of them */
    pl_bvh *bvh;
    double *normal;    /* [triangle_count, 3] unit */
    int *across;       /* [triangle_count, 3] the triangle beyond the edge from corner k to k + 1 */
    int *first;        /* [vertex_count + 1] into around */
    int *around;       /* [3 * triangle_count] corners 3 t + k at each vertex */
    double *out;       /* [vertex_count, 3] angle-weighted normal, any length */
    double *axis;      /* [vertex_count, 3] the straight edge through an edge-like vertex */
    pl_feature *shape; /* [vertex_count] what the surface is at this vertex */
    double resolution; /* m, what rounding does to a nearest point */
};

/* ---------------------------------------------------------------------------------- preparation */

static const double *corner_position(const pl_collider_mesh *mesh, int t, int k)
{
    return mesh->surface.vertices +
           3 * (size_t)mesh->surface.triangles[3 * (size_t)t + (size_t)(k % 3)];
}

static pl_status find_normals(pl_context *ctx, pl_collider_mesh *mesh)
{
    double volume6 = 0.0;
    for (int t = 0; t < mesh->surface.triangle_count; t++) {
        const double *a = corner_position(mesh, t, 0), *o = corner_position(mesh, 0, 0);
        double e[3], f[3], g[3], *n = mesh->normal + 3 * (size_t)t;
        pl_sub3(corner_position(mesh, t, 1), a, e);
        pl_sub3(corner_position(mesh, t, 2), a, f);
        pl_sub3(a, o, g);
        pl_cross3(e, f, n);
        volume6 += pl_dot3(n, g);
        double area2 = pl_norm3(n);
        if (!(area2 > 1e-12 * fmax(pl_dot3(e, e), pl_dot3(f, f))))
            return pl_fail(ctx, PL_ERROR_MESH, "surface: triangle %d (%d %d %d) has no area", t,
                           mesh->surface.triangles[3 * (size_t)t],
                           mesh->surface.triangles[3 * (size_t)t + 1],
                           mesh->surface.triangles[3 * (size_t)t + 2]);
        for (int i = 0; i < 3; i++)
            n[i] /= area2;
    }
    if (!(volume6 > 0.0))
        return pl_fail(ctx, PL_ERROR_MESH,
                       "surface: encloses a volume of %g m^3, expected > 0: triangles should run "
                       "counter-clockwise seen from outside",
                       volume6 / 6.0);
    return PL_OK;
}

/* Lists the corners at each vertex, in the order of the triangles. */
static void list_corners(pl_collider_mesh *mesh)
{
    int count = 3 * mesh->surface.triangle_count, n = mesh->surface.vertex_count;
    for (int c = 0; c < count; c++)
        mesh->first[mesh->surface.triangles[c] + 1]++;
    for (int v = 0; v < n; v++)
        mesh->first[v + 1] += mesh->first[v];
    for (int c = 0; c < count; c++)
        mesh->around[mesh->first[mesh->surface.triangles[c]]++] = c;
    /* first[v] has become the end of v. */
    memmove(mesh->first + 1, mesh->first, (size_t)n * sizeof *mesh->first);
    mesh->first[0] = 0;
}

static int next_corner(int c)
{
    return c % 3 == 2 ? c - 2 : c + 1;
}

/* How many triangles run from vertex a to vertex b; *last is one of them. */
static int count_edges(const pl_collider_mesh *mesh, int a, int b, int *last)
{
    int found = 0;
    for (int k = mesh->first[a]; k < mesh->first[a + 1]; k++) {
        int c = mesh->around[k];
        if (mesh->surface.triangles[next_corner(c)] == b)
            found++, *last = c / 3;
    }
    return found;
}

static pl_status join_edges(pl_context *ctx, pl_collider_mesh *mesh)
{
    for (int c = 0; c < 3 * mesh->surface.triangle_count; c++) {
        int a = mesh->surface.triangles[c], b = mesh->surface.triangles[next_corner(c)], self;
        int along = count_edges(mesh, a, b, &self), against = count_edges(mesh, b, a, &mesh->across[c]);
        if (along != 1 || against != 1)
            return pl_fail(
                ctx, PL_ERROR_MESH,
                "surface: not closed: edge (%d, %d) of triangle %d has %d triangle%s running "
                "along it and %d against, expected one each",
                a, b, c / 3, along, along == 1 ? "" : "s", against);
    }
    return PL_OK;
}

/* m of a vertex: its triangles' normals, each by its angle there. */
static void vertex_normal(const pl_collider_mesh *mesh, int v, double m[3])
{
    for (int k = mesh->first[v]; k < mesh->first[v + 1]; k++) {
        int t = mesh->around[k] / 3, corner = mesh->around[k] % 3;
        double e[3], f[3], cross[3];
        const double *x = corner_position(mesh, t, corner);
        pl_sub3(corner_position(mesh, t, corner + 1), x, e);
        pl_sub3(corner_position(mesh, t, corner + 2), x, f);
        pl_cross3(e, f, cross);
        pl_axpy3(atan2(pl_norm3(cross), pl_dot3(e, f)), mesh->normal + 3 * (size_t)t, m);
    }
}

/* Which of its triangles' normals are independent: one is a face, two an edge along their cross
 * product. */
static pl_feature vertex_shape(const pl_collider_mesh *mesh, int v, double axis[3])
{
    int begin = mesh->first[v], end = mesh->first[v + 1];
    double widest = FLAT;
    pl_feature shape = PL_FEATURE_FACE;
    for (int k = begin + 1; k < end; k++) {
        const double *n = mesh->normal + 3 * (size_t)(mesh->around[begin] / 3);
        const double *other = mesh->normal + 3 * (size_t)(mesh->around[k] / 3);
        double cross[3];
        pl_cross3(n, other, cross);
        double sine = pl_norm3(cross);
        if (sine <= FLAT && pl_dot3(n, other) < 0.0) /* the tip of a blade without thickness */
            return PL_FEATURE_VERTEX;
        if (sine > widest) {
            widest = sine, shape = PL_FEATURE_EDGE;
            for (int i = 0; i < 3; i++)
                axis[i] = cross[i] / sine;
        }
    }
    for (int k = begin; shape == PL_FEATURE_EDGE && k < end; k++)
        if (fabs(pl_dot3(axis, mesh->normal + 3 * (size_t)(mesh->around[k] / 3))) > FLAT / widest)
            shape = PL_FEATURE_VERTEX;
    return shape;
}

static void find_resolution(pl_collider_mesh *mesh)
{
    double lower[3], upper[3], largest = 0.0;
    pl_bvh_bounds(mesh->bvh, lower, upper);
    for (int i = 0; i < 3; i++)
        largest = fmax(largest, fmax(fabs(lower[i]), fabs(upper[i])));
    mesh->resolution = 4.0 * DBL_EPSILON * largest;
}

static pl_status prepare(pl_context *ctx, pl_collider_mesh *mesh)
{
    list_corners(mesh);
    PL_TRY(join_edges(ctx, mesh));
    PL_TRY(find_normals(ctx, mesh));
    for (int v = 0; v < mesh->surface.vertex_count; v++) {
        vertex_normal(mesh, v, mesh->out + 3 * (size_t)v);
        mesh->shape[v] = vertex_shape(mesh, v, mesh->axis + 3 * (size_t)v);
    }
    find_resolution(mesh);
    return PL_OK;
}

pl_status pl_collider_mesh_create(pl_context *ctx, const pl_mesh *source, pl_collider_mesh **out)
{
    pl_status status = PL_OK;
    pl_collider_mesh *mesh = NULL;
    PL_NEW(ctx, mesh, 1, done);
    PL_CHECK(pl_mesh_surface(ctx, source, &mesh->surface.triangle_count, &mesh->surface.triangles),
             done);
    mesh->surface.vertex_count = source->vertex_count;
    size_t n = (size_t)mesh->surface.vertex_count, m = (size_t)mesh->surface.triangle_count;
    PL_CHECK(pl_bvh_create(ctx, mesh->surface.vertex_count, source->vertices,
                           mesh->surface.triangle_count, mesh->surface.triangles, &mesh->bvh),
             done);
    PL_NEW(ctx, mesh->surface.vertices, 3 * n, done);
    memcpy(mesh->surface.vertices, source->vertices, 3 * n * sizeof *mesh->surface.vertices);
    PL_NEW(ctx, mesh->normal, 3 * m, done);
    PL_NEW(ctx, mesh->across, 3 * m, done);
    PL_NEW(ctx, mesh->first, n + 1, done);
    PL_NEW(ctx, mesh->around, 3 * m, done);
    PL_NEW(ctx, mesh->out, 3 * n, done);
    PL_NEW(ctx, mesh->axis, 3 * n, done);
    PL_NEW(ctx, mesh->shape, n, done);
    PL_CHECK(prepare(ctx, mesh), done);
    *out = mesh;
    mesh = NULL;
done:
    pl_collider_mesh_destroy(ctx, mesh);
    return status;
}

void pl_collider_mesh_destroy(pl_context *ctx, pl_collider_mesh *mesh)
{
    if (!mesh)
        return;
    pl_bvh_destroy(ctx, mesh->bvh);
    void *arrays[] = {mesh->surface.vertices,
                      mesh->surface.triangles,
                      mesh->normal,
                      mesh->across,
                      mesh->first,
                      mesh->around,
                      mesh->out,
                      mesh->axis,
                      mesh->shape,
                      mesh};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pl_free(ctx, arrays[i]);
}

/* ---------------------------------------------------------------------------------- queries */

/* Replaces the hit by triangle t's own nearest point if that lies in a larger piece (face before edge
 * before vertex). Distances cannot tell: near a piece's border they agree to second order. */
static void prefer(const pl_collider_mesh *mesh, int t, const double x[3], pl_bvh_hit *hit)
{
    double corners[9];
    pl_bvh_hit other;
    for (int k = 0; k < 3; k++)
        memcpy(corners + 3 * k, corner_position(mesh, t, k), 3 * sizeof *corners);
    pl_triangle_closest(corners, x, &other);
    if (other.feature < hit->feature) {
        *hit = other;
        hit->triangle = t;
    }
}

/* False where squares of distances overflow. */
static bool nearest(const pl_collider_mesh *mesh, const double x[3], pl_bvh_hit *hit)
{
    if (!pl_bvh_closest(mesh->bvh, x, INFINITY, hit))
        return false;
    int c = 3 * hit->triangle + hit->corner;
    if (hit->feature == PL_FEATURE_EDGE) {
        prefer(mesh, mesh->across[c], x, hit);
    } else if (hit->feature == PL_FEATURE_VERTEX) {
        int v = mesh->surface.triangles[c];
        for (int k = mesh->first[v]; k < mesh->first[v + 1] && hit->feature != PL_FEATURE_FACE; k++)
            prefer(mesh, mesh->around[k] / 3, x, hit);
    }
    return true;
}

/* What the surface is at the hit, with the outward direction m there and the axis of an edge. */
static pl_feature describe(const pl_collider_mesh *mesh, const pl_bvh_hit *hit, double m[3],
                           double axis[3])
{
    int c = 3 * hit->triangle + hit->corner;
    if (hit->feature == PL_FEATURE_VERTEX &&
        mesh->shape[mesh->surface.triangles[c]] != PL_FEATURE_FACE) {
        size_t v = (size_t)mesh->surface.triangles[c];
        memcpy(axis, mesh->axis + 3 * v, 3 * sizeof *axis);
        memcpy(m, mesh->out + 3 * v, 3 * sizeof *m);
        return mesh->shape[v];
    }
    memcpy(m, mesh->normal + 3 * (size_t)hit->triangle, 3 * sizeof *m);
    if (hit->feature != PL_FEATURE_EDGE)
        return PL_FEATURE_FACE;
    const double *beyond = mesh->normal + 3 * (size_t)mesh->across[c];
    double cross[3];
    pl_cross3(m, beyond, cross);
    if (pl_norm3(cross) <= FLAT && pl_dot3(m, beyond) > 0.0)
        return PL_FEATURE_FACE;
    pl_sub3(corner_position(mesh, hit->triangle, hit->corner + 1),
            corner_position(mesh, hit->triangle, hit->corner), axis);
    double length = pl_norm3(axis);
    for (int i = 0; i < 3; i++)
        axis[i] /= length;
    pl_axpy3(1.0, beyond, m);
    return PL_FEATURE_EDGE;
}

/* Distance and normal from the nearest point of an edge or vertex. */
static void leave_crease(const pl_collider_mesh *mesh, const double to[3], const pl_bvh_hit *hit,
                         const double m[3], pl_local_point *out)
{
    double length = pl_norm3(to), width = pl_norm3(m);
    if (length > mesh->resolution) {
        out->distance = pl_dot3(to, m) < 0.0 ? -length : length;
        for (int i = 0; i < 3; i++)
            out->normal[i] = to[i] / out->distance;
        return;
    }
    /* On the crease itself the offset is rounding: any direction between the faces is a normal. */
    const double *n = width > FLAT ? m : mesh->normal + 3 * (size_t)hit->triangle;
    width = pl_norm3(n);
    for (int i = 0; i < 3; i++)
        out->normal[i] = n[i] / width;
    out->distance = pl_dot3(to, out->normal);
}

void pl_collider_mesh_query(const pl_collider_mesh *mesh, const double x[3], pl_local_point *out)
{
    pl_bvh_hit hit;
    double to[3], m[3], axis[3] = {0};
    *out = (pl_local_point){.distance = INFINITY, .normal = {0.0, 0.0, 1.0}};
    if (!nearest(mesh, x, &hit))
        return;
    pl_feature feature = describe(mesh, &hit, m, axis);
    pl_sub3(x, hit.point, to);
    if (feature == PL_FEATURE_FACE) {
        memcpy(out->normal, m, sizeof out->normal);
        out->distance = pl_dot3(to, m);
        return;
    }
    if (feature == PL_FEATURE_EDGE) {
        pl_axpy3(-pl_dot3(to, axis), axis, to);
        memcpy(out->axis, axis, sizeof out->axis);
    }
    leave_crease(mesh, to, &hit, m, out);
    out->bend = pl_reciprocal(out->distance);
    out->axis_bend = feature == PL_FEATURE_EDGE ? 0.0 : out->bend;
}

void pl_collider_mesh_bounds(const pl_collider_mesh *mesh, double lower[3], double upper[3])
{
    pl_bvh_bounds(mesh->bvh, lower, upper);
}

const pl_mesh *pl_collider_mesh_surface(const pl_collider_mesh *mesh)
{
    return &mesh->surface;
}

const double *pl_collider_mesh_normal(const pl_collider_mesh *mesh, int triangle)
{
    return mesh->normal + 3 * (size_t)triangle;
}

int pl_collider_mesh_across(const pl_collider_mesh *mesh, int triangle, int k)
{
    return mesh->across[3 * (size_t)triangle + (size_t)k];
}
