#include "world.h"

#include <math.h>
#include <stdlib.h>

void bench_open(bench_world *w, pl_context *ctx, const pl_scene_def *def)
{
    *w = (bench_world){.ctx = ctx};
    w->status = pl_scene_create(ctx, def, &w->scene);
}

pl_mesh *bench_grid(bench_world *w, int nx, int ny, int nz, double spacing)
{
    const int nodes[3] = {nx, ny, nz};
    pl_mesh *mesh = NULL;
    if (w->status == PL_OK)
        w->status = pl_mesh_grid(w->ctx, nodes, spacing, PL_CUT_DIAGONAL, &mesh);
    return mesh;
}

void bench_place(pl_mesh *mesh, const double axis[3], double angle, double lowest)
{
    if (!mesh)
        return;
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double s = sin(0.5 * angle) / length,
           turn[4] = {cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2]};
    const double still[4] = {1, 0, 0, 0}, nowhere[3] = {0, 0, 0};
    pl_mesh_transform(mesh, 1, turn, nowhere);
    double low = INFINITY;
    for (int i = 0; i < mesh->vertex_count; i++)
        low = fmin(low, mesh->vertices[3 * i + 2]);
    const double lift[3] = {0, 0, lowest - low};
    pl_mesh_transform(mesh, 1, still, lift);
}

void bench_add(bench_world *w, pl_mesh *mesh, const pl_body_def *def)
{
    if (w->status == PL_OK) {
        pl_body_def body = *def;
        body.mesh = mesh;
        w->status = pl_scene_add_body(w->scene, &body, &w->body);
    }
    pl_mesh_free(w->ctx, mesh);
}

void bench_floor(bench_world *w, double friction)
{
    pl_collider_def def = pl_collider_def_default();
    def.friction = friction;
    if (w->status == PL_OK)
        w->status = pl_scene_add_collider(w->scene, &def, NULL);
}

void bench_shelf(bench_world *w, double friction, double thickness, double top)
{
    pl_collider_def def = pl_collider_def_default();
    def.shape = PL_BOX;
    def.size[0] = def.size[1] = 0.5;
    def.size[2] = 0.5 * thickness;
    def.pose[2] = top - 0.5 * thickness;
    def.friction = friction;
    if (w->status == PL_OK)
        w->status = pl_scene_add_collider(w->scene, &def, NULL);
}

void bench_slope(pl_scene_def *def, double degrees)
{
    double angle = degrees * acos(-1) / 180;
    def->gravity[0] = 9.81 * sin(angle);
    def->gravity[2] = -9.81 * cos(angle);
}

void bench_pin(bench_world *w, int axis, bool upper)
{
    pl_body_info info;
    if (w->status != PL_OK || (w->status = pl_scene_body(w->scene, w->body, &info)) != PL_OK)
        return;
    const double *x = info.mesh->vertices;
    double sign = upper ? 1 : -1, end = -INFINITY;
    pl_pin_def def = pl_pin_def_default();
    int *list = malloc(sizeof *list * (size_t)info.mesh->vertex_count);
    if (!list) {
        w->status = PL_ERROR_MEMORY;
        return;
    }
    for (int i = 0; i < info.mesh->vertex_count; i++)
        end = fmax(end, sign * x[3 * i + axis]);
    for (int i = 0; i < info.mesh->vertex_count; i++)
        if (sign * x[3 * i + axis] > end - 1e-9)
            list[def.vertex_count++] = i;
    def.body = w->body;
    def.vertices = list;
    w->status = pl_scene_add_pin(w->scene, &def, NULL);
    free(list);
}

pl_status bench_start(bench_world *w)
{
    if (w->status == PL_OK)
        w->status = pl_sim_create(w->scene, &w->sim);
    if (w->status == PL_OK)
        w->status = pl_state_create(w->scene, &w->state);
    return w->status;
}

void bench_close(bench_world *w)
{
    if (w->state)
        pl_state_destroy(w->scene, w->state);
    pl_sim_destroy(w->sim);
    pl_scene_destroy(w->scene);
    *w = (bench_world){0};
}

double bench_mean(const pl_state *state, int axis)
{
    double sum = 0;
    for (int i = 0; i < state->vertex_count; i++)
        sum += state->q[3 * i + axis];
    return sum / state->vertex_count;
}
