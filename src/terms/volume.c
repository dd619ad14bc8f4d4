/* Enclosed volume. Positions count from one of the vertices: what a closed surface encloses does not
 * depend on the origin, but its rounding does. */
#include "terms/volume.h"

#include "core/vec.h"

/* The corners a, b, c of a triangle. */
static void corners_of(const int *triangles, int t, const double *q, double x[3][3])
{
    for (int k = 0; k < 3; k++)
        pl_sub3(q + 3 * (size_t)triangles[3 * t + k], q + 3 * (size_t)triangles[0], x[k]);
}

double pl_volume(int count, const int *triangles, const double *q)
{
    double sum = 0, x[3][3], n[3];
    for (int t = 0; t < count; t++) {
        corners_of(triangles, t, q, x);
        pl_cross3(x[1], x[2], n);
        sum += pl_dot3(x[0], n) / 6;
    }
    return sum;
}

void pl_volume_gradient(int count, const int *triangles, const double *q, double scale, double *out)
{
    double x[3][3], n[3];
    for (int t = 0; t < count; t++) {
        corners_of(triangles, t, q, x);
        for (int k = 0; k < 3; k++) {
            pl_cross3(x[(k + 1) % 3], x[(k + 2) % 3], n);
            pl_axpy3(scale / 6, n, out + 3 * (size_t)triangles[3 * t + k]);
        }
    }
}

void pl_volume_corner(const int *triangles, int t, int k, const double *q, double out[3])
{
    double x[3][3], n[3];
    corners_of(triangles, t, q, x);
    pl_cross3(x[(k + 1) % 3], x[(k + 2) % 3], n);
    pl_axpy3(1.0 / 6, n, out);
}

double pl_volume_along(int count, const int *triangles, const double *q, const double *x)
{
    double sum = 0, at[3][3], n[3];
    for (int t = 0; t < count; t++) {
        corners_of(triangles, t, q, at);
        for (int k = 0; k < 3; k++) {
            pl_cross3(at[(k + 1) % 3], at[(k + 2) % 3], n);
            sum += pl_dot3(n, x + 3 * (size_t)triangles[3 * t + k]) / 6;
        }
    }
    return sum;
}

/* d(b x c) = db x c + b x dc */
void pl_volume_multiply(int count, const int *triangles, const double *q, const double *x, double scale,
                        double *y)
{
    double at[3][3], n[3];
    for (int t = 0; t < count; t++) {
        const int *v = triangles + 3 * t;
        corners_of(triangles, t, q, at);
        for (int k = 0; k < 3; k++) {
            int b = (k + 1) % 3, c = (k + 2) % 3;
            pl_cross3(x + 3 * (size_t)v[b], at[c], n);
            pl_axpy3(scale / 6, n, y + 3 * (size_t)v[k]);
            pl_cross3(at[b], x + 3 * (size_t)v[c], n);
            pl_axpy3(scale / 6, n, y + 3 * (size_t)v[k]);
        }
    }
}

/* block += s [x], the matrix of x cross */
static void add_cross(double s, const double x[3], double block[9])
{
    block[1] -= s * x[2], block[2] += s * x[1];
    block[3] += s * x[2], block[5] -= s * x[0];
    block[6] -= s * x[1], block[7] += s * x[0];
}

void pl_volume_tangent(int count, const int *triangles, const double *q, const pl_pattern *pattern,
                       double scale, double *blocks)
{
    double at[3][3];
    for (int t = 0; t < count; t++) {
        const int *v = triangles + 3 * t;
        corners_of(triangles, t, q, at);
        for (int k = 0; k < 3; k++) {
            int b = (k + 1) % 3, c = (k + 2) % 3;
            add_cross(-scale / 6, at[c], blocks + 9 * (size_t)pl_pattern_find(pattern, v[k], v[b]));
            add_cross(scale / 6, at[b], blocks + 9 * (size_t)pl_pattern_find(pattern, v[k], v[c]));
        }
    }
}
