/* Points of bodies: as a caller gives them, and that at a place at the start. */
#include "sim/scene.h"

#include "core/vec.h"
#include "mesh/bvh.h"
#include "mesh/mesh.h"

pl_status pl_scene_take_point(pl_scene *scene, const char *what, const pl_point *point, int *vertex,
                              double *weight)
{
    enum { MOST = sizeof point->vertices / sizeof *point->vertices };
    double sum = 0;
    if (point->count < 1 || point->count > MOST)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "%s: count = %d: expected 1 to %d", what,
                       point->count, MOST);
    pl_status status = pl_scene_check_vertices(scene, point->body, point->count, point->vertices);
    if (status != PL_OK)
        return pl_fail_within(scene->ctx, status, "%s", what);
    for (int k = 0; k < point->count; k++) {
        for (int j = 0; j < k; j++)
            if (point->vertices[j] == point->vertices[k])
                return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "%s: vertices[%d] = %d comes twice", what,
                               k, point->vertices[k]);
        vertex[k] = scene->bodies[point->body].vertex_offset + point->vertices[k];
        weight[k] = point->weights[k];
        sum += point->weights[k];
    }
    if (!(fabs(sum - 1) < 1e-9))
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "%s: the weights add up to %g, expected 1", what,
                       sum);
    return PL_OK;
}

static void corners_of(const pl_scene *scene, const pl_body *body, int count, const int *corners,
                       double *x)
{
    for (int k = 0; k < count; k++)
        memcpy(x + 3 * k, scene->q0 + 3 * (size_t)(body->vertex_offset + corners[k]), 3 * sizeof *x);
}

static bool in_a_tet(const pl_scene *scene, int index, const double x[3], pl_point *point)
{
    const pl_body *body = &scene->bodies[index];
    for (int e = 0; !body->cloth && e < body->element_count; e++) {
        const int *tet = body->elements + 4 * (size_t)e;
        double corner[12], w[4];
        corners_of(scene, body, 4, tet, corner);
        pl_tet_weights(corner, x, w);
        if (!(fmin(fmin(w[0], w[1]), fmin(w[2], w[3])) >= 0))
            continue;
        *point = (pl_point){.body = index, .count = 4};
        memcpy(point->vertices, tet, sizeof point->vertices);
        memcpy(point->weights, w, sizeof point->weights);
        return true;
    }
    return false;
}

/* The nearest point of all faces, or of the cloth; returns how far it is, m. */
static double on_a_face(const pl_scene *scene, int index, const double x[3], pl_point *point)
{
    const pl_body *body = &scene->bodies[index];
    int faces = body->cloth ? 1 : 4;
    double nearest = INFINITY;
    for (int f = 0; f < faces * body->element_count; f++) {
        const int *element = body->elements + (size_t)(f / faces) * (body->cloth ? 3 : 4);
        int corner[3];
        double at[9];
        pl_bvh_hit hit;
        for (int k = 0; k < 3; k++)
            corner[k] = element[body->cloth ? k : pl_tet_faces[f % 4][k]];
        corners_of(scene, body, 3, corner, at);
        pl_triangle_closest(at, x, &hit);
        if (!(hit.distance < nearest))
            continue;
        nearest = hit.distance;
        *point = (pl_point){.body = index};
        for (int k = 0; k < 3; k++)
            if (hit.weight[k] != 0) {
                point->vertices[point->count] = corner[k];
                point->weights[point->count++] = hit.weight[k];
            }
    }
    return nearest;
}

/* The diagonal of its bounding box at the start, m. */
static double extent_of(const pl_scene *scene, const pl_body *body)
{
    const double *q = scene->q0 + 3 * (size_t)body->vertex_offset;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 3 * body->mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], q[i]);
        high[i % 3] = fmax(high[i % 3], q[i]);
    }
    pl_sub3(high, low, high);
    return pl_norm3(high);
}

pl_status pl_scene_point_at(const pl_scene *scene, int body, const double x[3], pl_point *point)
{
    if (body < 0 || body >= scene->body_count)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "body = %d: the scene has %d bodies", body,
                       scene->body_count);
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "at: the point is not finite");
    if (in_a_tet(scene, body, x, point))
        return PL_OK;
    double distance = on_a_face(scene, body, x, point);
    if (distance <= 1e-6 * extent_of(scene, &scene->bodies[body]))
        return PL_OK;
    return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "at: [%g, %g, %g] is %.3g m off \"%s\" at the start",
                   x[0], x[1], x[2], distance, scene->bodies[body].name);
}
