/* How inputs that move during a time step enter its substeps: values between the ends, and derivatives
 * back to them. The start of a rollout is not an input. */
#include "terms/term.h"

#include "core/vec.h"
#include "sim/sim.h"

/* ---- linear ones */

/* What a value at the end of the substep has of the ends of the time step. The start of a rollout is
 * not an input. */
static void shares(const pl_slope *s, double *now, double *ago)
{
    *now = s->at->to;
    *ago = s->row > 0 ? 1 - s->at->to : 0;
}

void pl_slope_spread(const pl_slope *s, pl_gradient *g, pl_channel channel, int row, double scale,
                     const double *x)
{
    int width = pl_channel_get(channel)->gradient_width;
    double now, ago, *here = pl_slope_row(s, g, channel, row);
    shares(s, &now, &ago);
    for (int k = 0; k < width; k++)
        here[k] += scale * now * x[k];
    if (ago > 0)
        here -= pl_gradient_size(s->at->scene, channel, 1);
    for (int k = 0; ago > 0 && k < width; k++)
        here[k] += scale * ago * x[k];
}

void pl_slope_blend(const pl_slope *s, const pl_gradient *d, pl_channel channel, int row, double *out)
{
    int width = pl_channel_get(channel)->gradient_width;
    double now, ago;
    const double *here = pl_slope_row(s, d, channel, row);
    const double *before = here - (s->row > 0 ? pl_gradient_size(s->at->scene, channel, 1) : 0);
    shares(s, &now, &ago);
    for (int k = 0; k < width; k++)
        out[k] = now * here[k] + ago * before[k];
}

/* ---- poses */

/* Quaternion of the rotation vector w. */
static void small_rotation(const double w[3], double q[4])
{
    double angle = pl_norm3(w), s = angle > 1e-12 ? sin(0.5 * angle) / angle : 0.5;
    q[0] = cos(0.5 * angle);
    for (int k = 0; k < 3; k++)
        q[1 + k] = s * w[k];
}

static void multiply(const double a[4], const double b[4], double out[4])
{
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* Columns by central differences with a step of 1e-5 rad, good to 1e-10: only split steps of turning
 * colliders come here. */
static void between_jacobian(const double from[7], const double to[7], double s, double d_from[9],
                             double d_to[9])
{
    const double size = 1e-5;
    double middle[7];
    pl_pose_between(from, to, s, middle);
    for (int end = 0; end < 2; end++)
        for (int axis = 0; axis < 3; axis++) {
            double turned[2][4];
            for (int side = 0; side < 2; side++) {
                double ends[2][7], moved[7], w[3] = {0}, turn[4];
                double back[4] = {middle[3], -middle[4], -middle[5], -middle[6]};
                memcpy(ends[0], from, sizeof ends[0]);
                memcpy(ends[1], to, sizeof ends[1]);
                w[axis] = side ? size : -size;
                small_rotation(w, turn);
                multiply(turn, (end ? to : from) + 3, ends[end] + 3);
                pl_pose_between(ends[0], ends[1], s, moved);
                multiply(moved + 3, back, turned[side]);
            }
            for (int k = 0; k < 3; k++) /* small rotation vector = 2 (x, y, z) */
                (end ? d_to : d_from)[3 * k + axis] = (turned[1][1 + k] - turned[0][1 + k]) / size;
        }
}

void pl_slope_spread_pose(const pl_slope *s, pl_gradient *g, int collider, double fraction,
                          const double d[6])
{
    double *now = pl_slope_row(s, g, PL_COLLIDER_POSE, collider);
    double *ago = s->row > 0 ? now - pl_gradient_size(s->at->scene, PL_COLLIDER_POSE, 1) : NULL;
    if (fraction == 0 || fraction == 1) {
        double *only = fraction == 1 ? now : ago;
        for (int k = 0; only && k < 6; k++)
            only[k] += d[k];
        return;
    }
    double d_from[9], d_to[9], turned[3];
    between_jacobian(s->before->of[PL_COLLIDER_POSE] + 7 * collider,
                     s->after->of[PL_COLLIDER_POSE] + 7 * collider, fraction, d_from, d_to);
    pl_axpy3(fraction, d, now);
    pl_mat3_tvec(d_to, d + 3, turned);
    pl_axpy3(1, turned, now + 3);
    if (ago) {
        pl_axpy3(1 - fraction, d, ago);
        pl_mat3_tvec(d_from, d + 3, turned);
        pl_axpy3(1, turned, ago + 3);
    }
}

void pl_slope_blend_pose(const pl_slope *s, const pl_gradient *d, int collider, double fraction,
                         double out[6])
{
    const double *now = pl_slope_row(s, d, PL_COLLIDER_POSE, collider), still[6] = {0};
    const double *ago = s->row > 0 ? now - pl_gradient_size(s->at->scene, PL_COLLIDER_POSE, 1) : still;
    if (fraction == 0 || fraction == 1) {
        memcpy(out, fraction == 1 ? now : ago, 6 * sizeof(double));
        return;
    }
    double d_from[9], d_to[9], turned[3];
    between_jacobian(s->before->of[PL_COLLIDER_POSE] + 7 * collider,
                     s->after->of[PL_COLLIDER_POSE] + 7 * collider, fraction, d_from, d_to);
    for (int k = 0; k < 3; k++)
        out[k] = (1 - fraction) * ago[k] + fraction * now[k];
    pl_mat3_vec(d_to, now + 3, out + 3);
    pl_mat3_vec(d_from, ago + 3, turned);
    pl_axpy3(1, turned, out + 3);
}
