/* What drives a step: forces, wind, pin targets and collider poses, from tables or from the caller. */
#include "sim/sim.h"

#include "core/vec.h"
#include "sim/wind.h"

pl_status pl_drive_create(const pl_scene *scene, pl_drive *d)
{
    pl_status status = PL_OK;
    *d = (pl_drive){0};
    PL_NEW(scene->ctx, d->vertex_force, 3 * scene->vertex_count, done);
    PL_NEW(scene->ctx, d->force, 3 * scene->force_count, done);
    PL_NEW(scene->ctx, d->wind, 3 * scene->wind_count, done);
    PL_NEW(scene->ctx, d->pin_target, 3 * scene->pin_vertex_count, done);
    PL_NEW(scene->ctx, d->collider_pose, 7 * scene->collider_count, done);
done:
    return status;
}

void pl_drive_free(pl_context *ctx, pl_drive *d)
{
    pl_free(ctx, d->vertex_force);
    pl_free(ctx, d->force);
    pl_free(ctx, d->wind);
    pl_free(ctx, d->pin_target);
    pl_free(ctx, d->collider_pose);
    *d = (pl_drive){0};
}

static pl_status override(pl_context *ctx, const char *name, int rows, int width, const double *from,
                          double *to)
{
    if (!from)
        return PL_OK;
    for (int k = 0; k < rows * width; k++) {
        if (!isfinite(from[k]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "inputs.%s[%d][%d] is not finite", name, k / width,
                           k % width);
        to[k] = from[k];
    }
    return PL_OK;
}

pl_status pl_drive_resolve(const pl_scene *scene, double time, const pl_inputs *inputs, pl_drive *d)
{
    pl_context *ctx = scene->ctx;
    pl_inputs none = {0};
    const pl_inputs *in = inputs ? inputs : &none;
    memset(d->vertex_force, 0, sizeof(double) * 3 * (size_t)scene->vertex_count);
    for (int f = 0; f < scene->force_count; f++)
        pl_curve_at(&scene->forces[f].value, time, d->force + 3 * f);
    for (int w = 0; w < scene->wind_count; w++)
        pl_curve_at(&scene->winds[w].velocity, time, d->wind + 3 * w);
    for (int c = 0; c < scene->collider_count; c++)
        pl_curve_pose_at(&scene->colliders[c].pose, time, d->collider_pose + 7 * c);
    pl_pin_targets(scene, time, d->pin_target);
    PL_TRY(override(ctx, "vertex_force", scene->vertex_count, 3, in->vertex_force, d->vertex_force));
    PL_TRY(override(ctx, "force", scene->force_count, 3, in->force, d->force));
    PL_TRY(override(ctx, "wind", scene->wind_count, 3, in->wind, d->wind));
    PL_TRY(override(ctx, "pin_target", scene->pin_vertex_count, 3, in->pin_target, d->pin_target));
    PL_TRY(
        override(ctx, "collider_pose", scene->collider_count, 7, in->collider_pose, d->collider_pose));
    for (int c = 0; in->collider_pose && c < scene->collider_count; c++) {
        double *r = d->collider_pose + 7 * c + 3;
        double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
        if (!(fabs(norm - 1) < 1e-6))
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "inputs.collider_pose[%d]: the quaternion has length %g, "
                           "expected 1",
                           c, norm);
        for (int k = 0; k < 4; k++)
            r[k] /= norm;
    }
    return PL_OK;
}

void pl_pose_between(const double from[7], const double to[7], double s, double out[7])
{
    double dot = from[3] * to[3] + from[4] * to[4] + from[5] * to[5] + from[6] * to[6];
    double sign = dot < 0 ? -1 : 1, norm = 0;
    for (int k = 0; k < 3; k++)
        out[k] = from[k] + s * (to[k] - from[k]);
    for (int k = 3; k < 7; k++) {
        out[k] = (1 - s) * from[k] + s * sign * to[k];
        norm += out[k] * out[k];
    }
    for (int k = 3; k < 7; k++)
        out[k] /= sqrt(norm);
}

void pl_drive_between(const pl_scene *scene, const pl_state *state, const pl_drive *end, double s,
                      pl_drive *out)
{
    memcpy(out->vertex_force, end->vertex_force, sizeof(double) * 3 * (size_t)scene->vertex_count);
    memcpy(out->force, end->force, sizeof(double) * 3 * (size_t)scene->force_count);
    memcpy(out->wind, end->wind, sizeof(double) * 3 * (size_t)scene->wind_count);
    if (s == 1) {
        memcpy(out->pin_target, end->pin_target, sizeof(double) * 3 * (size_t)scene->pin_vertex_count);
        memcpy(out->collider_pose, end->collider_pose,
               sizeof(double) * 7 * (size_t)scene->collider_count);
        return;
    }
    for (int k = 0; k < 3 * scene->pin_vertex_count; k++)
        out->pin_target[k] = state->pin_target[k] + s * (end->pin_target[k] - state->pin_target[k]);
    for (int c = 0; c < scene->collider_count; c++)
        pl_pose_between(state->collider_pose + 7 * c, end->collider_pose + 7 * c, s,
                        out->collider_pose + 7 * c);
}

double pl_force_share(const pl_force *force, const double *mass, int vertex)
{
    return force->per == PL_PER_MASS    ? mass[vertex]
           : force->per == PL_PER_GROUP ? 1.0 / force->count
                                        : 1;
}

void pl_drive_external(const pl_scene *scene, const double *mass, const pl_drive *d, const double *q0,
                       const double *v0, double *f)
{
    for (int i = 0; i < scene->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            f[3 * i + k] = mass[i] * scene->def.gravity[k] + d->vertex_force[3 * i + k];
    for (int a = 0; a < scene->force_count; a++) {
        const pl_force *force = &scene->forces[a];
        for (int k = 0; k < force->count; k++) {
            int v = force->vertex[k];
            pl_axpy3(pl_force_share(force, mass, v), d->force + 3 * a, f + 3 * (size_t)v);
        }
    }
    for (int w = 0; w < scene->wind_count; w++)
        pl_wind_add(&scene->winds[w], d->wind + 3 * w, q0, v0, f);
}
