/* Derivatives of a contact's frame, gap and drift. */
#include "contact/geometry.h"

#include "core/vec.h"

/* The pieces both directions need. */
typedef struct pieces {
    double turn[9];      /* Q = R1 R0^T */
    double r0[3], r1[3]; /* x0 - p0, y - p1 */
    double carried[3];   /* Q r0 */
    double force_t[3];   /* lambda_f, world */
    double beyond;       /* n . (u - drift) */
    double start;        /* 1: the frame is that of x0, 0: of x */
} pieces;

/* lambda_f in the world. */
static void friction(const pl_contact_point *p, const double lambda[3], double out[3])
{
    double tangent[3] = {0, lambda[1], lambda[2]};
    pl_mat3_tvec(p->frame, tangent, out);
}

static double beyond(const pl_contact_point *p, const double u[3])
{
    return pl_dot3(p->frame, u) - pl_dot3(p->frame, p->drift);
}

static pieces gather(const pl_contact_point *p, const double start[7], const double end[7],
                     const double x0[3], const double u[3])
{
    pieces g;
    double a[9], b[9];
    pl_quat_to_mat3(start + 3, a);
    pl_quat_to_mat3(end + 3, b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            g.turn[3 * i + j] =
                b[3 * i] * a[3 * j] + b[3 * i + 1] * a[3 * j + 1] + b[3 * i + 2] * a[3 * j + 2];
    pl_sub3(x0, start, g.r0);
    pl_sub3(x0, end, g.r1);
    g.start = p->follows ? 0 : 1;
    pl_axpy3(1 - g.start, u, g.r1);
    pl_mat3_vec(g.turn, g.r0, g.carried);
    friction(p, p->lambda, g.force_t);
    g.beyond = beyond(p, u);
    return g;
}

void pl_geometry_vjp(const pl_contact_point *p, const double pose_start[7], const double pose_end[7],
                     const double x0[3], const double u[3], const double a[3], const double f[3],
                     pl_geometry_grad *out)
{
    pieces g = gather(p, pose_start, pose_end, x0, u);
    const double *n = p->frame;
    double in_plane[3] = {0, a[1], a[2]}, at[3], on_n[3], bent[3], back[3], part[3];
    pl_mat3_tvec(p->frame, in_plane, at); /* cotangent of -drift and -u, along the tangents */
    /* delta_n = phi (+ n.u); delta_i = t_i.(u - drift); force = lambda_n n + sum lambda_i t_i */
    for (int k = 0; k < 3; k++)
        on_n[k] = g.start * a[0] * u[k] - g.beyond * at[k] + p->lambda[0] * f[k] -
                  pl_dot3(n, f) * g.force_t[k];
    pl_mat3_vec(p->curvature, on_n, bent);
    pl_mat3_tvec(g.turn, at, back);
    for (int k = 0; k < 3; k++) {
        out->x0[k] = g.start * bent[k] - back[k];
        out->pose_end[k] = -a[0] * n[k] - bent[k] - at[k];
        out->pose_start[k] = back[k];
    }
    double *w1 = out->pose_end + 3, *w0 = out->pose_start + 3;
    pl_cross3(n, on_n, w1);
    pl_cross3(g.r1, n, part);
    pl_axpy3(-a[0], part, w1);
    pl_cross3(g.r1, bent, part);
    pl_axpy3(-1, part, w1);
    pl_cross3(g.carried, at, part);
    pl_axpy3(-1, part, w1);
    pl_cross3(g.r0, back, w0);
}

void pl_geometry_jvp(const pl_contact_point *p, const double pose_start[7], const double pose_end[7],
                     const double x0[3], const double u[3], const pl_geometry_grad *d,
                     double d_delta[3], double d_force[3])
{
    pieces g = gather(p, pose_start, pose_end, x0, u);
    const double *n = p->frame;
    double part[3], toward[3], d_n[3], d_drift[3], moved[3];
    /* toward = dy - dp1 - w1 x r1: how the point moves in the collider's frame */
    pl_cross3(d->pose_end + 3, g.r1, part);
    for (int k = 0; k < 3; k++)
        toward[k] = g.start * d->x0[k] - d->pose_end[k] - part[k];
    pl_mat3_vec(p->curvature, toward, d_n);
    pl_cross3(d->pose_end + 3, n, part);
    pl_axpy3(1, part, d_n);
    /* d drift = Q (dx0 - dp0 - w0 x r0) + w1 x (Q r0) + dp1 - dx0 */
    pl_cross3(d->pose_start + 3, g.r0, part);
    for (int k = 0; k < 3; k++)
        moved[k] = d->x0[k] - d->pose_start[k] - part[k];
    pl_mat3_vec(g.turn, moved, d_drift);
    pl_cross3(d->pose_end + 3, g.carried, part);
    for (int k = 0; k < 3; k++)
        d_drift[k] += part[k] + d->pose_end[k] - d->x0[k];
    d_delta[0] = pl_dot3(n, toward) + g.start * (pl_dot3(d_n, u) - pl_dot3(n, d->x0));
    for (int i = 1; i < 3; i++) {
        const double *t = p->frame + 3 * i;
        d_delta[i] = -pl_dot3(t, d->x0) - pl_dot3(t, d_drift) - pl_dot3(t, d_n) * g.beyond;
    }
    for (int k = 0; k < 3; k++)
        d_force[k] = p->lambda[0] * d_n[k] - n[k] * pl_dot3(g.force_t, d_n);
}

void pl_geometry_pull_turn(const pl_contact_point *p, const double lambda[3], const double u[3],
                           const double a[3], const double f[3], double *y)
{
    double in_plane[3] = {0, a[1], a[2]}, at[3], force_t[3], on_n[3], bent[3];
    if (!p->follows)
        return;
    pl_mat3_tvec(p->frame, in_plane, at);
    friction(p, lambda, force_t);
    double far = beyond(p, u), along = pl_dot3(p->frame, f);
    for (int k = 0; k < 3; k++)
        on_n[k] = lambda[0] * f[k] - far * at[k] - along * force_t[k];
    pl_mat3_vec(p->curvature, on_n, bent);
    pl_axpy3(1, bent, y);
}

void pl_geometry_push_turn(const pl_contact_point *p, const double lambda[3], const double u[3],
                           const double x[3], double d_delta[3], double d_force[3])
{
    double force_t[3], d_n[3] = {0};
    if (p->follows)
        pl_mat3_vec(p->curvature, x, d_n);
    friction(p, lambda, force_t);
    double far = beyond(p, u), lean = pl_dot3(force_t, d_n);
    d_delta[0] = 0;
    for (int i = 1; i < 3; i++)
        d_delta[i] = -far * pl_dot3(p->frame + 3 * i, d_n);
    for (int k = 0; k < 3; k++)
        d_force[k] = lambda[0] * d_n[k] - lean * p->frame[k];
}
