#include "io/cable_lines.h"

#include "core/vec.h"

void pl_cable_lines_count(const pl_scene *scene, int *points, int *segments)
{
    int cables = pl_scene_owner_count(scene, PL_OWNER_CABLE);
    *points = 0;
    for (int i = 0; i < cables; i++) {
        pl_cable_def cable;
        pl_scene_cable(scene, i, &cable);
        *points += cable.point_count;
    }
    *segments = *points - cables;
}

static void place(const pl_scene *scene, const pl_point *point, const double *q, double out[3])
{
    pl_body_info body;
    memcpy(out, point->position, 3 * sizeof *out);
    if (point->body < 0)
        return;
    memset(out, 0, 3 * sizeof *out);
    pl_scene_body(scene, point->body, &body);
    for (int k = 0; k < point->count; k++)
        pl_axpy3(point->weights[k], q + 3 * (size_t)(body.vertex_offset + point->vertices[k]), out);
}

void pl_cable_lines_at(const pl_scene *scene, const double *q, const double *live, double *points,
                       double *tension, double *cable)
{
    for (int i = 0; i < pl_scene_owner_count(scene, PL_OWNER_CABLE); i++) {
        int first = 0, rows = pl_scene_cable_rows(scene, i, &first);
        pl_cable_def def;
        pl_scene_cable(scene, i, &def);
        for (int k = 0; k < def.point_count; k++, points += 3)
            place(scene, &def.points[k], q, points);
        for (int k = 0; k + 1 < def.point_count; k++) {
            *tension++ = live[first + (rows > 1 ? k : 0)];
            *cable++ = i;
        }
    }
}
