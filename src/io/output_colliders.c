/*
 * The obstacles as VTU files, each where it is at that moment. A file is written when one of them has
 * moved since the last, so what never moves is written once. A half-space is a square about where the
 * bodies began, which doubles until it reaches below all of them.
 */
#include "io/output.h"

#include "core/vec.h"

#include <stdio.h>

enum { MOST_DOUBLINGS = 60 };

/* ------------------------------------------------------------------------------- shapes */

static pl_status allocate(pl_output *output, const pl_triangles *shapes)
{
    pl_output_colliders *c = &output->colliders;
    pl_context *ctx = output->ctx;
    pl_status status = PL_OK;
    int triangles = 0;
    for (int i = 0; i < c->count; i++) {
        c->first[i + 1] = c->first[i] + shapes[i].point_count;
        triangles += shapes[i].triangle_count;
    }
    c->grid.point_count = c->first[c->count];
    PL_NEW(ctx, c->local, 3 * (size_t)c->grid.point_count, done);
    PL_NEW(ctx, c->points, 3 * (size_t)c->grid.point_count, done);
    PL_NEW(ctx, c->patch, 3 * (size_t)c->count, done);
    PL_NEW(ctx, c->drawn, 8 * (size_t)c->count, done);
    PL_CHECK(pl_output_alloc_grid(ctx, 0, triangles, 3 * triangles, &c->grid), done);
done:
    return status;
}

pl_status pl_output_build_colliders(pl_output *output)
{
    pl_output_colliders *c = &output->colliders;
    pl_context *ctx = output->ctx;
    pl_status status = PL_OK;
    pl_triangles *shapes = NULL;
    c->count = pl_scene_get_info(output->scene).collider_count;
    c->step = -1;
    PL_NEW(ctx, c->first, c->count + 1, done);
    PL_NEW(ctx, c->flat, c->count, done);
    PL_NEW(ctx, shapes, c->count, done);
    for (int i = 0; i < c->count; i++) {
        pl_collider_def def;
        PL_CHECK(pl_scene_collider(output->scene, i, &def), done);
        PL_CHECK(pl_collider_surface_make(ctx, &def, &shapes[i]), done);
        c->flat[i] = def.shape == PL_HALF_SPACE;
    }
    PL_CHECK(allocate(output, shapes), done);
    for (int i = 0; i < c->count; i++) {
        const pl_triangles *shape = &shapes[i];
        memcpy(c->local + 3 * c->first[i], shape->points,
               sizeof(double) * 3 * (size_t)shape->point_count);
        pl_output_add_cells(&c->grid, i, shape->triangle_count, 3, shape->corners, c->first[i]);
    }
done:
    for (int i = 0; shapes && i < c->count; i++)
        pl_triangles_free(ctx, &shapes[i]);
    pl_free(ctx, shapes);
    return status;
}

void pl_output_free_colliders(pl_output *output)
{
    pl_output_colliders *c = &output->colliders;
    pl_free(output->ctx, c->first);
    pl_free(output->ctx, c->patch);
    pl_free(output->ctx, c->flat);
    pl_free(output->ctx, c->drawn);
    pl_free(output->ctx, c->local);
    pl_free(output->ctx, c->points);
    pl_free(output->ctx, c->frames);
}

/* ------------------------------------------------------------------------------- squares */

/* x in the frame of a pose. */
static void to_local(const double pose[7], const double rotation[9], const double x[3], double out[3])
{
    double d[3];
    pl_sub3(x, pose, d);
    pl_mat3_tvec(rotation, d, out);
}

/* The square's centre, below that of all bodies, and its half width, twice their extent. */
static void place_patch(const pl_state *state, const double pose[7], const double rotation[9],
                        double patch[3])
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 3 * state->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], state->q[i]);
        high[i % 3] = fmax(high[i % 3], state->q[i]);
    }
    double middle[3], extent[3], local[3];
    for (int k = 0; k < 3; k++)
        middle[k] = 0.5 * (low[k] + high[k]);
    pl_sub3(high, low, extent);
    to_local(pose, rotation, middle, local);
    patch[0] = local[0];
    patch[1] = local[1];
    patch[2] = 2 * pl_norm3(extent);
}

static void widen_patch(const pl_state *state, const double pose[7], const double rotation[9],
                        double patch[3])
{
    double reach = 0, local[3];
    for (int v = 0; v < state->vertex_count; v++) {
        to_local(pose, rotation, state->q + 3 * v, local);
        reach = fmax(reach, fmax(fabs(local[0] - patch[0]), fabs(local[1] - patch[1])));
    }
    for (int k = 0; k < MOST_DOUBLINGS && patch[2] < reach; k++)
        patch[2] *= 2;
}

/* ------------------------------------------------------------------------------- frames */

/* World coordinates of all points; returns whether anything has moved since they were last written. */
static bool place_all(pl_output_colliders *c, const pl_state *state)
{
    bool moved = c->step < 0;
    for (int i = 0; i < c->count; i++) {
        const double *pose = state->input[PL_COLLIDER_POSE] + 7 * i;
        double rotation[9], *patch = c->patch + 3 * i, *drawn = c->drawn + 8 * i;
        pl_quat_to_mat3(pose + 3, rotation);
        if (c->flat[i] && c->step < 0)
            place_patch(state, pose, rotation, patch);
        if (c->flat[i])
            widen_patch(state, pose, rotation, patch);
        moved = moved || memcmp(drawn, pose, 7 * sizeof *pose) != 0 || drawn[7] != patch[2];
        memcpy(drawn, pose, 7 * sizeof *pose);
        drawn[7] = patch[2];
        for (int p = c->first[i]; p < c->first[i + 1]; p++) {
            const double *x = c->local + 3 * p;
            double local[3] = {x[0], x[1], x[2]};
            for (int k = 0; c->flat[i] && k < 2; k++)
                local[k] = patch[k] + patch[2] * x[k];
            pl_mat3_vec(rotation, local, c->points + 3 * p);
            pl_axpy3(1, pose, c->points + 3 * p);
        }
    }
    return moved;
}

static pl_status write_file(pl_output *output, int step)
{
    const pl_output_colliders *c = &output->colliders;
    char name[64];
    snprintf(name, sizeof name, "colliders/%06d.vtu", step);
    char *path = pl_directory_path(&output->directory, name);
    if (!path)
        return PL_ERROR_MEMORY;
    const pl_vtu_field cells[] = {{"collider", 1, c->grid.body}};
    const pl_vtu vtu = {.point_count = c->grid.point_count,
                        .points = c->points,
                        .cell_count = c->grid.cell_count,
                        .corners = c->grid.corners,
                        .ends = c->grid.ends,
                        .types = c->grid.types,
                        .cell_field_count = 1,
                        .cell_fields = cells};
    pl_status status = pl_vtu_write(output->ctx, path, &vtu);
    pl_free(output->ctx, path);
    return status;
}

pl_status pl_output_write_colliders(pl_output *output, const pl_state *state)
{
    pl_output_colliders *c = &output->colliders;
    PL_TRY(pl_grow(output->ctx, (void **)&c->frames, &c->frame_capacity, c->frame_count + 1,
                   sizeof *c->frames));
    if (place_all(c, state)) {
        PL_TRY(write_file(output, state->step));
        c->step = state->step;
    }
    c->frames[c->frame_count++] = (pl_pvd_entry){state->time, c->step};
    return PL_OK;
}
