/*
 * Contacts of vertices with colliders, a slot for each pair of them. On the path of the law
 * (docs/decisions/springs.md) a contact is a point of its law and a spring there,
 *
 *     z = delta - rho lambda,   K = -d lambda/d delta = T^T D,   D = diag(k_n, k_d, k_t),
 *     T = [1 -tau 0; 0 1 0; 0 0 1] in (n, d, t), d the direction of slip
 *
 * and the frame F = (n, e2, e3) of a vertex, of its stiffest contact, has the normal for an axis: what
 * is stiff is then one unknown's own. With P = T^-T F, G = -d(H^T lambda)/dx beyond that of H dx,
 *
 *     step      P (E + G) F^T x' + h^2 D x' = -P left - h^2 D off
 *     adjoint   its transpose, F (E + G^T) P^T z' + h^2 D z' = F g
 *
 * in which no two large numbers cancel, whatever K; only T^T D, which is never formed, has that.
 * Further contacts of a vertex add their K as a matrix.
 */
#ifndef PL_DEVICE_CONTACT_H
#define PL_DEVICE_CONTACT_H

#define PL_FARTHEST_TURN 0.5 /* cosine of what a frame may turn by to follow its vertex */
#define PL_PARALLEL      0.1 /* sine of the angle between normals below which they count as one */
#define PL_OTHER         3.0 /* times as stiff: another spring than the factor's */

typedef struct touch {
    double frame[9], gap, drift[3], curvature[9];
} touch;

static inline void unit_rotation(const double pose[7], double r[9])
{
    double q[4], s = 1.0 / sqrt(pl_dot3(pose + 4, pose + 4) + pose[3] * pose[3]);
    for (int i = 0; i < 4; i++)
        q[i] = s * pose[3 + i];
    pl_quat_to_mat3(q, r);
}

typedef struct surface_at {
    double distance, normal[3], curvature[9];
    bool round;
} surface_at;

/* Distance, normal and curvature of a collider at x; `side`: of its round surface alone. */
static inline void query_collider(pl_shape shape, const double size[3], const double pose[7],
                                  const double x[3], bool side, surface_at *out)
{
    double r[9], from[3], in[3], axis[3];
    pl_local_point p;
    unit_rotation(pose, r);
    pl_sub3(x, pose, from);
    pl_mat3_tvec(r, from, in);
    if (side)
        shape_round(shape, size, in, &p);
    else
        shape_query(shape, size, in, &p);
    out->distance = p.distance;
    out->round = p.round;
    pl_mat3_vec(r, p.normal, out->normal);
    pl_mat3_vec(r, p.axis, axis);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out->curvature[3 * i + j] =
                p.bend * ((i == j ? 1.0 : 0.0) - out->normal[i] * out->normal[j] - axis[i] * axis[j]) +
                p.axis_bend * (axis[i] * axis[j]);
}

/* Two tangents to the normal that the frame has (pl_contact_frame). */
static inline void tangents(double frame[9])
{
    double axis[3] = {0, 0, 0}, a = fabs(frame[0]), b = fabs(frame[1]), c = fabs(frame[2]);
    int least = a <= b ? (a <= c ? 0 : 2) : (b <= c ? 1 : 2);
    axis[least] = 1;
    pl_cross3(axis, frame, frame + 3);
    double length = pl_norm3(frame + 3);
    for (int k = 0; k < 3; k++)
        frame[3 + k] /= length;
    pl_cross3(frame, frame + 3, frame + 6);
}

/* The frame with another normal, its tangents turned by as little as need be. */
static inline void turn_to(double frame[9], const double normal[3])
{
    double sum[3];
    for (int k = 0; k < 3; k++)
        sum[k] = frame[k] + normal[k];
    double twice = 1 + pl_dot3(frame, normal);
    for (int t = 3; t < 9; t += 3)
        pl_axpy3(-pl_dot3(frame + t, normal) / twice, sum, frame + t);
    for (int k = 0; k < 3; k++)
        frame[k] = normal[k];
}

/* How far the collider's own point that is at x goes with it from one pose to the next. */
static inline void drift_at(const double from[7], const double to[7], const double x[3],
                            double drift[3])
{
    double r0[9], r1[9], arm[3], in[3];
    pl_quat_to_mat3(from + 3, r0);
    pl_quat_to_mat3(to + 3, r1);
    pl_sub3(x, from, arm);
    pl_mat3_tvec(r0, arm, in);
    pl_mat3_vec(r1, in, drift);
    for (int k = 0; k < 3; k++)
        drift[k] = (to[k] - from[k]) + (drift[k] - arm[k]);
}

/* The contact's geometry for a vertex that begins at x0 and is at x (pl_contact_place, _follow). */
static inline void place_touch(pl_shape shape, const double size[3], const double pose[14],
                               const double x0[3], const double x[3], touch *out)
{
    surface_at start, at;
    double u[3];
    query_collider(shape, size, pose + 7, x0, false, &start);
    for (int k = 0; k < 3; k++)
        out->frame[k] = start.normal[k];
    tangents(out->frame);
    drift_at(pose, pose + 7, x0, out->drift);
    out->gap = start.distance;
    for (int k = 0; k < 9; k++)
        out->curvature[k] = 0;
    if (!start.round)
        return;
    query_collider(shape, size, pose + 7, x, true, &at);
    if (!(pl_dot3(at.normal, start.normal) > PL_FARTHEST_TURN))
        return;
    pl_sub3(x, x0, u);
    turn_to(out->frame, at.normal);
    out->gap = at.distance - pl_dot3(at.normal, u);
    for (int k = 0; k < 9; k++)
        out->curvature[k] = at.curvature[k];
}

/* A sum in two doubles (contact/gap.c). */
static inline void sum_add(double sum[2], double x)
{
    double high = sum[0] + x, part = high - sum[0];
    sum[1] += (sum[0] - (high - part)) + (x - part);
    sum[0] = high;
}

static inline void sum_product(double sum[2], double a, double b)
{
    double product = a * b;
    sum_add(sum, product);
    sum[1] += fma(a, b, -product);
}

/* delta at x + move, to the last digit. */
static inline void exact_delta(const touch *t, const double x0[3], const double x[3],
                               const double move[3], double delta[3])
{
    for (int r = 0; r < 3; r++) {
        double sum[2];
        sum[0] = r == 0 ? t->gap : -pl_dot3(t->frame + 3 * r, t->drift);
        sum[1] = 0;
        for (int i = 0; i < 3; i++) {
            double weight = t->frame[3 * r + i], high = x[i] - x0[i], part = high - x[i];
            double low = (x[i] - (high - part)) + (-x0[i] - part);
            sum_product(sum, weight, high);
            sum_product(sum, weight, low);
            sum_product(sum, weight, move[i]);
        }
        delta[r] = sum[0] + sum[1];
    }
}

/* The spring of a law at a point of it: k_n, k_d, k_t, tau; no stiffer than 1/soft. */
static inline void spring_of(double mu, double soft, const pl_law_point *p, double normal,
                             double spring[4])
{
    double push = mu * normal;
    spring[0] = normal / (p->delta_n + soft * normal);
    spring[1] = spring[2] = spring[3] = 0;
    if (mu == 0)
        return;
    spring[1] = p->s / (p->x_hat + soft * p->s);
    spring[2] = push / (p->x_hat + soft * push);
    spring[3] = (p->x_hat * mu + p->s / mu * (soft - 1 / spring[0])) / (p->x_hat + soft * p->s);
}

static inline void load_shape(PL_GLOBAL const double *shapes, int c, double size[3], double pose[14])
{
    for (int i = 0; i < 3; i++)
        size[i] = shapes[PL_SHAPE_SIZE * c + 1 + i];
    for (int i = 0; i < 14; i++)
        pose[i] = shapes[PL_SHAPE_SIZE * c + 4 + i];
}

static inline void store_touch(const touch *t, const double spring[4], const pl_law_point *p,
                               const double off[3], double far, PL_GLOBAL double *out)
{
    for (int i = 0; i < 9; i++) {
        out[PL_TOUCH_FRAME + i] = t->frame[i];
        out[PL_TOUCH_CURVATURE + i] = t->curvature[i];
    }
    for (int i = 0; i < 4; i++)
        out[PL_TOUCH_SPRING + i] = spring[i];
    for (int i = 0; i < 2; i++)
        out[PL_TOUCH_ALONG + i] = p->direction[i];
    for (int i = 0; i < 3; i++) {
        out[PL_TOUCH_OFF + i] = off[i];
        out[PL_TOUCH_DRIFT + i] = t->drift[i];
    }
    out[PL_TOUCH_FAR] = far;
    out[PL_TOUCH_GAP] = t->gap;
}

static inline double beyond(const touch *t, const double x0[3], const double x[3])
{
    double u[3];
    pl_sub3(x, x0, u);
    return pl_dot3(t->frame, u) - pl_dot3(t->frame, t->drift);
}

/* Forces [slots, 3] that are told in the world, into the frames of where vertices begin. */
PL_KERNEL(warm, PL_VALUE(int, colliders) PL_ARRAY(double, shapes) PL_ARRAY(double, q0)
                    PL_ARRAY(double, lambda))
{
    double x0[3], size[3], pose[14], force[3], in[3];
    int c = item % colliders;
    touch t;
    load3(lambda, item, force);
    if (force[0] == 0 && force[1] == 0 && force[2] == 0)
        return;
    load3(q0, item / colliders, x0);
    load_shape(shapes, c, size, pose);
    place_touch((pl_shape)(int)shapes[PL_SHAPE_SIZE * c], size, pose, x0, x0, &t);
    pl_mat3_vec(t.frame, force, in);
    in[0] = fmax(in[0], 0.0);
    store3(in, lambda, item);
}
PL_END

/* Which vertices are close to a collider where they begin, or at q: they stay contacts for the step. */
PL_KERNEL(detect, PL_VALUE(int, colliders) PL_VALUE(double, margin) PL_ARRAY(double, shapes)
                      PL_ARRAY(double, q0) PL_ARRAY(double, q) PL_ARRAY(int, active))
{
    double x[3], size[3], pose[14];
    int c = item % colliders;
    surface_at at;
    load_shape(shapes, c, size, pose);
    load3(q, item / colliders, x);
    query_collider((pl_shape)(int)shapes[PL_SHAPE_SIZE * c], size, pose + 7, x, false, &at);
    bool close = at.distance < margin;
    load3(q0, item / colliders, x);
    query_collider((pl_shape)(int)shapes[PL_SHAPE_SIZE * c], size, pose + 7, x, false, &at);
    if ((close || at.distance < margin) && active[item] == 0)
        active[item] = PL_NEW_CONTACT;
}
PL_END

/* Contacts at q: the point of the law that each is at, `met` and lambda, its spring, and how far delta
 * is from there. New ones begin where delta - rho lambda leads. Not while GMRES goes on with those
 * there are. */
PL_KERNEL(touches, PL_VALUE(int, colliders) PL_VALUE(int, bodies) PL_VALUE(double, h)
                       PL_VALUE(double, epsilon2) PL_VALUE(double, soft) PL_ARRAY(double, shapes)
                           PL_ARRAY(double, friction) PL_ARRAY(int, body_of) PL_ARRAY(double, mass)
                               PL_ARRAY(double, own) PL_ARRAY(double, q0) PL_ARRAY(double, q)
                                   PL_ARRAY(int, active) PL_ARRAY(double, lambda) PL_ARRAY(double, met)
                                       PL_ARRAY(double, records) PL_ARRAY(double, state))
{
    double x0[3], x[3], size[3], pose[14], delta[3], off[3], force[3], spring[4], still[3] = {0, 0, 0};
    int v = item / colliders, c = item % colliders;
    touch t;
    pl_law law;
    pl_law_point point;
    if (!active[item] || state[PL_STATE_DONE] == 0)
        return;
    load3(q0, v, x0);
    load3(q, v, x);
    load3(lambda, item, force);
    load_shape(shapes, c, size, pose);
    place_touch((pl_shape)(int)shapes[PL_SHAPE_SIZE * c], size, pose, x0, x, &t);
    law.mu = friction[c * bodies + body_of[v]];
    law.epsilon2 = epsilon2;
    law.rho = h * h / mass[2 * v];
    law.compliance = 0;
    law.two_way = false;
    exact_delta(&t, x0, x, still, off);
    if (active[item] == PL_KNOWN)
        load3(met, item, delta);
    else
        for (int i = 0; i < 3; i++)
            delta[i] = off[i];
    law_meet(&law, delta, force, &point);
    for (int i = 0; i < 3; i++)
        off[i] -= delta[i];
    spring_of(law.mu, soft * h * h / own[v], &point, force[0], spring);
    store_touch(&t, spring, &point, off, beyond(&t, x0, x), records + PL_TOUCH_SIZE * (size_t)item);
    store3(force, lambda, item);
    store3(delta, met, item);
    active[item] = PL_KNOWN;
}
PL_END

/* The same at a solution, whose forces are on the law: its springs, as stiff as they are. */
PL_KERNEL(solved_touches,
          PL_VALUE(int, colliders) PL_VALUE(int, bodies) PL_VALUE(double, h) PL_VALUE(double, epsilon2)
              PL_ARRAY(double, shapes) PL_ARRAY(double, friction) PL_ARRAY(int, body_of)
                  PL_ARRAY(double, mass) PL_ARRAY(double, q0) PL_ARRAY(double, q) PL_ARRAY(int, active)
                      PL_ARRAY(double, lambda) PL_ARRAY(double, records))
{
    double x0[3], x[3], u[3], size[3], pose[14], delta[3], force[3], spring[4], off[3] = {0, 0, 0};
    int v = item / colliders, c = item % colliders;
    touch t;
    pl_law law;
    pl_law_point point;
    if (!active[item])
        return;
    load3(q0, v, x0);
    load3(q, v, x);
    load3(lambda, item, force);
    load_shape(shapes, c, size, pose);
    place_touch((pl_shape)(int)shapes[PL_SHAPE_SIZE * c], size, pose, x0, x, &t);
    law.mu = friction[c * bodies + body_of[v]];
    law.epsilon2 = epsilon2;
    law.rho = 3 * h * h / mass[2 * v];
    law.compliance = 0;
    law.two_way = false;
    pl_sub3(x, x0, u);
    for (int r = 0; r < 3; r++)
        delta[r] = (r == 0 ? t.gap : -pl_dot3(t.frame + 3 * r, t.drift)) + pl_dot3(t.frame + 3 * r, u);
    law_resolve(&law, delta, force, &point);
    spring_of(law.mu, 0, &point, force[0], spring);
    store_touch(&t, spring, &point, off, beyond(&t, x0, x), records + PL_TOUCH_SIZE * (size_t)item);
}
PL_END

#endif
