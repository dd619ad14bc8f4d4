/*
 * Ball: with k0 = |p/r| and k1 = |p/r^2|, the distance is k0 (k0 - 1) / k1 to first order.
 * Union of d and e over width k: min(d, e) - h^2 k / 4, h = max(0, 1 - |d - e| / k).
 */
#include "shape/part.h"

#include "core/vec.h"

static double ball_distance(const pl_part *part, const double x[3])
{
    double p[3], k0 = 0, k1 = 0;
    pl_sub3(x, part->a, p);
    if (part->turn[1] != 0) {
        double c = cos(part->turn[1] * M_PI / 180), s = sin(part->turn[1] * M_PI / 180), y = p[1];
        p[1] = c * y + s * p[2], p[2] = -s * y + c * p[2];
    }
    if (part->turn[0] != 0) {
        double c = cos(part->turn[0] * M_PI / 180), s = sin(part->turn[0] * M_PI / 180), z = p[2];
        p[2] = c * z + s * p[0], p[0] = -s * z + c * p[0];
    }
    for (int i = 0; i < 3; i++) {
        double q = p[i] / part->b[i];
        k0 += q * q, k1 += q * q / (part->b[i] * part->b[i]);
    }
    k0 = sqrt(k0), k1 = sqrt(k1);
    return k1 > 0 ? k0 * (k0 - 1) / k1 : -fmin(part->b[0], fmin(part->b[1], part->b[2]));
}

static double limb_distance(const pl_part *part, const double x[3])
{
    double e[3], p[3];
    pl_sub3(part->b, part->a, e), pl_sub3(x, part->a, p);
    double t = fmax(0, fmin(1, pl_dot3(p, e) / pl_dot3(e, e)));
    pl_axpy3(-t, e, p);
    return pl_norm3(p) - (part->turn[0] + t * (part->turn[1] - part->turn[0]));
}

static double block_distance(const pl_part *part, const double x[3])
{
    double inside = -INFINITY, outside[3];
    for (int i = 0; i < 3; i++) {
        double d = fabs(x[i] - part->a[i]) - part->b[i];
        inside = fmax(inside, d);
        outside[i] = fmax(d, 0);
    }
    return inside > 0 ? pl_norm3(outside) : inside;
}

double pl_part_distance(const pl_part *part, const double x[3])
{
    switch (part->kind) {
    case PL_BALL:
        return ball_distance(part, x);
    case PL_LIMB:
        return limb_distance(part, x);
    default:
        return block_distance(part, x);
    }
}

static double melt(double d, double e, double width)
{
    double h = width > 0 ? fmax(0, 1 - fabs(d - e) / width) : 0;
    return fmin(d, e) - 0.25 * h * h * width;
}

double pl_parts_distance(const pl_part *parts, int count, const double x[3])
{
    double d = INFINITY;
    for (int k = 0; k < count; k++) {
        double e = pl_part_distance(&parts[k], x);
        d = k == 0                ? e
            : parts[k].blend >= 0 ? melt(d, e, parts[k].blend)
                                  : -melt(-d, e, -parts[k].blend);
    }
    return d;
}
