/*
 * Triangles of the shapes. Sphere, cylinder and capsule are a profile (r, z) turned about z, its first
 * and last points on the axis:
 *     (r cos t, r sin t, z),   t = 2 pi i / SEGMENTS
 */
#include "io/collider_surface.h"

enum { SEGMENTS = PL_SURFACE_SEGMENTS, ARC = SEGMENTS / 4, PROFILE = 2 * ARC + 2 };

static const double pi = 3.14159265358979323846;

typedef struct profile {
    int count;
    double r[PROFILE], z[PROFILE];
} profile;

static void add_point(profile *p, double r, double z)
{
    p->r[p->count] = r;
    p->z[p->count++] = z;
}

/* A quarter circle from the axis below to the equator, or from there to the axis above. */
static void add_arc(profile *p, double radius, double centre, bool upper)
{
    for (int k = 0; k <= ARC; k++) {
        double angle = 0.5 * pi * ((double)k / ARC - (upper ? 0 : 1));
        bool pole = k == (upper ? ARC : 0);
        add_point(p, pole ? 0 : radius * cos(angle), centre + radius * sin(angle));
    }
}

static profile profile_of(const pl_collider_def *def)
{
    profile p = {0};
    double radius = def->size[0], half = def->size[1];
    if (def->shape == PL_CYLINDER) {
        const double r[] = {0, radius, radius, 0}, z[] = {-half, -half, half, half};
        for (int k = 0; k < 4; k++)
            add_point(&p, r[k], z[k]);
        return p;
    }
    double reach = def->shape == PL_CAPSULE ? half : 0;
    add_arc(&p, radius, -reach, false);
    p.count -= reach == 0; /* a sphere has one equator */
    add_arc(&p, radius, reach, true);
    return p;
}

static pl_status allocate(pl_context *ctx, int points, int triangles, pl_triangles *out)
{
    pl_status status = PL_OK;
    *out = (pl_triangles){.point_count = points, .triangle_count = triangles};
    PL_NEW(ctx, out->points, 3 * (size_t)points, done);
    PL_NEW(ctx, out->corners, 3 * (size_t)triangles, done);
done:
    return status;
}

static void add_triangle(pl_triangles *t, int *at, int a, int b, int c)
{
    t->corners[3 * *at] = a;
    t->corners[3 * *at + 1] = b;
    t->corners[3 * *at + 2] = c;
    ++*at;
}

/* Rings of SEGMENTS points from the lowest up, then the two points on the axis. */
static pl_status turn(pl_context *ctx, const profile *p, pl_triangles *out)
{
    int rings = p->count - 2, low = rings * SEGMENTS, high = low + 1, at = 0;
    PL_TRY(allocate(ctx, high + 1, 2 * rings * SEGMENTS, out));
    for (int i = 0; i < low; i++) {
        double angle = 2 * pi * (i % SEGMENTS) / SEGMENTS;
        int k = 1 + i / SEGMENTS;
        const double point[3] = {p->r[k] * cos(angle), p->r[k] * sin(angle), p->z[k]};
        memcpy(out->points + 3 * i, point, sizeof point);
    }
    out->points[3 * low + 2] = p->z[0];
    out->points[3 * high + 2] = p->z[p->count - 1];
    for (int i = 0; i < SEGMENTS; i++) {
        int next = (i + 1) % SEGMENTS, top = (rings - 1) * SEGMENTS;
        add_triangle(out, &at, low, next, i);
        add_triangle(out, &at, high, top + i, top + next);
        for (int ring = 0; ring < top; ring += SEGMENTS) {
            add_triangle(out, &at, ring + i, ring + next, ring + SEGMENTS + next);
            add_triangle(out, &at, ring + i, ring + SEGMENTS + next, ring + SEGMENTS + i);
        }
    }
    return PL_OK;
}

static pl_status make_square(pl_context *ctx, pl_triangles *out)
{
    static const double points[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    static const int corners[] = {0, 1, 2, 0, 2, 3};
    PL_TRY(allocate(ctx, 4, 2, out));
    memcpy(out->points, points, sizeof points);
    memcpy(out->corners, corners, sizeof corners);
    return PL_OK;
}

/* Corner k lies where bits 0, 1, 2 of k say, of x, y, z. */
static pl_status make_box(pl_context *ctx, const double half[3], pl_triangles *out)
{
    static const int corners[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                  2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    PL_TRY(allocate(ctx, 8, 12, out));
    for (int i = 0; i < 24; i++)
        out->points[i] = i / 3 >> i % 3 & 1 ? half[i % 3] : -half[i % 3];
    memcpy(out->corners, corners, sizeof corners);
    return PL_OK;
}

static pl_status copy_mesh(pl_context *ctx, const pl_mesh *mesh, pl_triangles *out)
{
    PL_TRY(allocate(ctx, mesh->vertex_count, mesh->triangle_count, out));
    memcpy(out->points, mesh->vertices, sizeof(double) * 3 * (size_t)mesh->vertex_count);
    memcpy(out->corners, mesh->triangles, sizeof(int) * 3 * (size_t)mesh->triangle_count);
    return PL_OK;
}

pl_status pl_collider_surface_make(pl_context *ctx, const pl_collider_def *def, pl_triangles *out)
{
    pl_status status;
    if (def->shape == PL_HALF_SPACE) {
        status = make_square(ctx, out);
    } else if (def->shape == PL_BOX) {
        status = make_box(ctx, def->size, out);
    } else if (def->shape == PL_MESH) {
        status = copy_mesh(ctx, def->surface, out);
    } else {
        profile p = profile_of(def);
        status = turn(ctx, &p, out);
    }
    if (status != PL_OK)
        pl_triangles_free(ctx, out);
    return status;
}

void pl_triangles_free(pl_context *ctx, pl_triangles *triangles)
{
    pl_free(ctx, triangles->points);
    pl_free(ctx, triangles->corners);
    *triangles = (pl_triangles){0};
}
