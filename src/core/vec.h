/* 3-vectors, 3x3 matrices (row-major) and quaternions (w,x,y,z), inline. */
#ifndef PL_VEC_H
#define PL_VEC_H

#include <math.h>
#include <stdbool.h>

/* fmin and fmax, inlined; of a NaN and a number, the second. */
static inline double pl_lesser(double a, double b)
{
    return a < b ? a : b;
}

static inline double pl_larger(double a, double b)
{
    return a > b ? a : b;
}

/* Whether x is more than the largest so far. One that is not a number is, and nothing is more than it.
 */
static inline bool pl_is_more(double x, double largest)
{
    return !(x <= largest) && largest == largest;
}

static inline double pl_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double pl_norm3(const double a[3])
{
    return sqrt(pl_dot3(a, a));
}

static inline void pl_cross3(const double a[3], const double b[3], double out[3])
{
    double x = a[1] * b[2] - a[2] * b[1];
    double y = a[2] * b[0] - a[0] * b[2];
    double z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}

static inline void pl_sub3(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

/* y += s x */
static inline void pl_axpy3(double s, const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] += s * x[i];
}

static inline void pl_mat3_vec(const double m[9], const double x[3], double out[3])
{
    double y[3];
    for (int i = 0; i < 3; i++)
        y[i] = m[3 * i] * x[0] + m[3 * i + 1] * x[1] + m[3 * i + 2] * x[2];
    out[0] = y[0], out[1] = y[1], out[2] = y[2];
}

static inline void pl_mat3_tvec(const double m[9], const double x[3], double out[3])
{
    double y[3];
    for (int i = 0; i < 3; i++)
        y[i] = m[i] * x[0] + m[3 + i] * x[1] + m[6 + i] * x[2];
    out[0] = y[0], out[1] = y[1], out[2] = y[2];
}

static inline double pl_det3(const double m[9])
{
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/* Inverse of m, given that its determinant is not zero. */
static inline void pl_inverse3(const double m[9], double out[9])
{
    double s = 1.0 / pl_det3(m);
    out[0] = s * (m[4] * m[8] - m[5] * m[7]);
    out[1] = s * (m[2] * m[7] - m[1] * m[8]);
    out[2] = s * (m[1] * m[5] - m[2] * m[4]);
    out[3] = s * (m[5] * m[6] - m[3] * m[8]);
    out[4] = s * (m[0] * m[8] - m[2] * m[6]);
    out[5] = s * (m[2] * m[3] - m[0] * m[5]);
    out[6] = s * (m[3] * m[7] - m[4] * m[6]);
    out[7] = s * (m[1] * m[6] - m[0] * m[7]);
    out[8] = s * (m[0] * m[4] - m[1] * m[3]);
}

static inline void pl_quat_to_mat3(const double q[4], double m[9])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    m[0] = 1 - 2 * (y * y + z * z), m[1] = 2 * (x * y - w * z), m[2] = 2 * (x * z + w * y);
    m[3] = 2 * (x * y + w * z), m[4] = 1 - 2 * (x * x + z * z), m[5] = 2 * (y * z - w * x);
    m[6] = 2 * (x * z - w * y), m[7] = 2 * (y * z + w * x), m[8] = 1 - 2 * (x * x + y * y);
}

#endif
