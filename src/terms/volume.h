/*
 * The volume that closed triangles [count, 3] enclose, counter-clockwise seen from outside, and its
 * derivatives by the positions q [n, 3] of their vertices:
 *
 *     V = sum over triangles (a, b, c) of a . (b x c) / 6,    dV/da = b x c / 6
 */
#ifndef PL_VOLUME_H
#define PL_VOLUME_H

#include "linalg/sparse.h"

double pl_volume(int count, const int *triangles, const double *q);
/* out [n, 3] += scale dV/dq */
void pl_volume_gradient(int count, const int *triangles, const double *q, double scale, double *out);
/* out [3] += what triangle t has of dV/dq at its corner k */
void pl_volume_corner(const int *triangles, int t, int k, const double *q, double out[3]);
/* dV along x [n, 3] */
double pl_volume_along(int count, const int *triangles, const double *q, const double *x);
/* y [n, 3] += scale d2V/dq2 x */
void pl_volume_multiply(int count, const int *triangles, const double *q, const double *x, double scale,
                        double *y);
/* blocks [nnz, 9] += scale d2V/dq2; the pattern has every pair of vertices of a triangle. */
void pl_volume_tangent(int count, const int *triangles, const double *q, const pl_pattern *pattern,
                       double scale, double *blocks);

#endif
