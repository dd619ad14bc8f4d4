/*
 * Compact form of the L-BFGS matrix (Byrd, Nocedal, Schnabel 1994):
 *
 *     B = theta I - W M W^T,   W = [Y, theta S],   M = [ -D       L^T        ]^-1
 *                                                      [  L   theta S^T S ]
 *
 * with D = diag(s_i . y_i), L_ij = s_i . y_j for i > j, theta = y.y / s.y of the newest pair.
 */
#include "fit/optimizer.h"

#include <lapacke.h>

bool pl_compact_build(pl_compact *b, int n, int k, const double *s, const double *y, double *scratch)
{
    int size = 2 * k;
    b->n = n;
    b->k = k;
    b->theta = 1.0;
    if (k == 0)
        return true;
    const double *s_last = s + (size_t)(k - 1) * n, *y_last = y + (size_t)(k - 1) * n;
    b->theta = pl_dot(n, y_last, y_last) / pl_dot(n, s_last, y_last);
    memcpy(b->w, y, (size_t)k * n * sizeof *y);
    for (size_t i = 0; i < (size_t)k * n; i++)
        b->w[(size_t)k * n + i] = b->theta * s[i];

    double *a = scratch;
    memset(a, 0, (size_t)size * size * sizeof *a);
    memset(b->middle, 0, (size_t)size * size * sizeof *b->middle);
    for (int i = 0; i < k; i++) {
        const double *si = s + (size_t)i * n;
        a[i * size + i] = -pl_dot(n, si, y + (size_t)i * n);
        for (int j = 0; j < k; j++) {
            a[(k + i) * size + k + j] = b->theta * pl_dot(n, si, s + (size_t)j * n);
            if (i > j) {
                double l = pl_dot(n, si, y + (size_t)j * n);
                a[(k + i) * size + j] = l;
                a[j * size + k + i] = l;
            }
        }
    }
    for (int i = 0; i < size; i++)
        b->middle[i * size + i] = 1.0;
    lapack_int *pivots = (lapack_int *)(scratch + (size_t)size * size);
    if (LAPACKE_dgesv(LAPACK_ROW_MAJOR, size, size, a, size, pivots, b->middle, size) != 0)
        return false;
    for (int i = 0; i < size * size; i++)
        if (!isfinite(b->middle[i]))
            return false;
    return isfinite(b->theta) && b->theta > 0;
}
