/* Vertices that pass through obstacles. */
#include "contact/pierce.h"

#include "core/vec.h"

#define THROUGH 0.01 /* of the margin: nearer than this on the way is through */
#define MOST    1000

static const double unmoved[7] = {0, 0, 0, 1, 0, 0, 0};

/* x as an obstacle sees it that is at `place`, turned. */
static void into(const double place[3], const double turn[9], const double *x, double out[3])
{
    double to[3];
    pl_sub3(x, place, to);
    pl_mat3_tvec(turn, to, out);
}

/* Whether the way from a to b, which begin and end outside, leads through: near the surface and towards
 * it. One that begins at a contact and leaves does not. */
static bool leads_through(const pl_collider *shape, const double a[3], const double b[3], double near)
{
    double way[3], x[3], t = 0;
    pl_sub3(b, a, way);
    double length = pl_norm3(way);
    for (int i = 0; i < MOST && t < length; i++) {
        pl_surface_point at;
        memcpy(x, a, sizeof x);
        pl_axpy3(t / length, way, x);
        pl_collider_query(shape, unmoved, x, &at);
        if (at.distance < near && pl_dot3(at.normal, way) < 0)
            return true;
        t += fmax(at.distance, near);
    }
    return false;
}

/* Whether contact p is with another side of a moved obstacle than its vertex was on. */
static bool is_overrun(const pl_obstacles *o, const pl_contact_point *p, const double *q0)
{
    const double *start = o->pose_start + 7 * p->collider, *end = o->pose_end + 7 * p->collider;
    pl_surface_point was;
    double turn[9], now[3], x[3];
    if (memcmp(start, end, 7 * sizeof *start) == 0)
        return false;
    pl_quat_to_mat3(start + 3, turn);
    into(start, turn, q0 + 3 * (size_t)p->vertex, x);
    pl_collider_query(o->shapes[p->collider], unmoved, x, &was);
    pl_quat_to_mat3(end + 3, turn);
    pl_mat3_tvec(turn, p->frame, now);
    return was.distance >= 0 && pl_dot3(was.normal, now) < 0;
}

/* The first vertex whose way leads through obstacle c, of those that are not close to it, or -1. */
static int find_through(const pl_obstacles *o, const pl_contact_set *set, int c, int n,
                        const double *q0, const double *q, double near)
{
    const double *start = o->pose_start + 7 * c, *end = o->pose_end + 7 * c;
    double before[9], after[9];
    pl_quat_to_mat3(start + 3, before);
    pl_quat_to_mat3(end + 3, after);
    for (int v = 0; v < n; v++) {
        double a[3], b[3], way[3];
        if (set->close[(size_t)v * (size_t)o->count + (size_t)c])
            continue;
        into(start, before, q0 + 3 * (size_t)v, a);
        into(end, after, q + 3 * (size_t)v, b);
        pl_sub3(b, a, way);
        if (pl_collider_near(o->shapes[c], unmoved, a, pl_norm3(way)) &&
            leads_through(o->shapes[c], a, b, near))
            return v;
    }
    return -1;
}

void pl_pierce_find(const pl_obstacles *o, const pl_contact_set *set, int n, const double *q0,
                    const double *q, double margin, int *vertex, int *collider)
{
    *vertex = *collider = -1;
    for (int k = 0; k < set->single; k++)
        if (is_overrun(o, &set->points[k], q0)) {
            *vertex = set->points[k].vertex, *collider = set->points[k].collider;
            return;
        }
    for (int c = 0; c < o->count && *vertex < 0; c++) {
        double size[3];
        if (pl_collider_shape(o->shapes[c], size) == PL_HALF_SPACE)
            continue; /* whose outside has no other side */
        *vertex = find_through(o, set, c, n, q0, q, THROUGH * margin);
        *collider = *vertex < 0 ? -1 : c;
    }
}
