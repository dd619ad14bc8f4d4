/* States: positions, velocities, and what the last step left. */
#include "sim/scene.h"

#include "core/vec.h"
#include "sim/sim.h"

void pl_pin_targets(const pl_scene *scene, double time, double *target)
{
    for (int p = 0; p < scene->pin_count; p++) {
        const pl_pin *pin = &scene->pins[p];
        double offset[3], turn[4], r[9];
        pl_curve_at(&pin->offset, time, offset);
        pl_curve_at(&pin->rotation, time, turn);
        double length = pl_norm3(turn), half = 0.5 * turn[3], s = length > 0 ? sin(half) / length : 0;
        double quaternion[4] = {cos(half), s * turn[0], s * turn[1], s * turn[2]};
        pl_quat_to_mat3(quaternion, r);
        for (int k = pin->first; k < pin->first + pin->count; k++) {
            const double *start = scene->q0 + 3 * (size_t)scene->pin_vertex[k];
            double arm[3];
            pl_sub3(start, pin->pivot, arm);
            pl_mat3_vec(r, arm, target + 3 * k);
            for (int i = 0; i < 3; i++)
                target[3 * k + i] =
                    half == 0 ? start[i] + offset[i] : pin->pivot[i] + target[3 * k + i] + offset[i];
        }
    }
}

pl_status pl_state_create(const pl_scene *scene, pl_state **out)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    *out = NULL;
    pl_state *s = pl_alloc(ctx, 1, sizeof *s);
    if (!s)
        return PL_ERROR_MEMORY;
    size_t n = (size_t)scene->vertex_count;
    s->vertex_count = scene->vertex_count;
    PL_NEW(ctx, s->q, 3 * n, done);
    PL_NEW(ctx, s->v, 3 * n, done);
    PL_NEW(ctx, s->pin_target, 3 * scene->pin_vertex_count, done);
    PL_NEW(ctx, s->collider_pose, 7 * scene->collider_count, done);
    memcpy(s->q, scene->q0, sizeof(double) * 3 * n);
    memcpy(s->v, scene->v0, sizeof(double) * 3 * n);
    pl_pin_targets(scene, 0, s->pin_target);
    for (int c = 0; c < scene->collider_count; c++)
        pl_curve_pose_at(&scene->colliders[c].pose, 0, s->collider_pose + 7 * c);
    *out = s;
    s = NULL;
done:
    pl_state_destroy(scene, s);
    return status;
}

pl_status pl_state_copy(const pl_scene *scene, const pl_state *from, pl_state *to)
{
    size_t n = (size_t)scene->vertex_count;
    PL_TRY(pl_grow(scene->ctx, (void **)&to->contacts, &to->contact_capacity, from->contact_count,
                   sizeof *to->contacts));
    memcpy(to->q, from->q, sizeof(double) * 3 * n);
    memcpy(to->v, from->v, sizeof(double) * 3 * n);
    memcpy(to->pin_target, from->pin_target, sizeof(double) * 3 * (size_t)scene->pin_vertex_count);
    memcpy(to->collider_pose, from->collider_pose, sizeof(double) * 7 * (size_t)scene->collider_count);
    if (from->contact_count > 0)
        memcpy(to->contacts, from->contacts, sizeof *to->contacts * (size_t)from->contact_count);
    to->contact_count = from->contact_count;
    to->time = from->time;
    to->step = from->step;
    return PL_OK;
}

void pl_state_destroy(const pl_scene *scene, pl_state *s)
{
    if (!s)
        return;
    pl_free(scene->ctx, s->q);
    pl_free(scene->ctx, s->v);
    pl_free(scene->ctx, s->pin_target);
    pl_free(scene->ctx, s->collider_pose);
    pl_free(scene->ctx, s->contacts);
    pl_free(scene->ctx, s);
}
