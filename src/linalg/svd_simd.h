/*
 * F = U diag(sigma) V^T for PL_WIDTH matrices at once, det U = det V = +1, |sigma| descending, only the
 * last sigma may be negative. One-sided Jacobi: rotations V make the columns of B = F V orthogonal,
 * which keeps small singular values accurate. Every choice is a select, so lanes do not disturb each
 * other: a converged lane is rotated by exactly nothing.
 */
#ifndef PL_SVD_SIMD_H
#define PL_SVD_SIMD_H

#include "backend/simd.h"

/* Columns whose cosine is below this count as orthogonal: a few roundings of a dot product. */
#define PL_SVD_COSINE     5e-16
#define PL_SVD_MAX_SWEEPS 16
#define PL_SVD_GROUP      2

/* Rotates columns p and q of B [3, columns] orthogonal, and of V [columns, columns] along with them.
 * Returns the lanes in which there was something to do. */
static inline __attribute__((always_inline)) vm v_jacobi(vd B[3][3], vd V[3][3], int columns, int p,
                                                         int q)
{
    vd alpha = B[0][p] * B[0][p] + B[1][p] * B[1][p] + B[2][p] * B[2][p];
    vd beta = B[0][q] * B[0][q] + B[1][q] * B[1][q] + B[2][q] * B[2][q];
    vd gamma = B[0][p] * B[0][q] + B[1][p] * B[1][q] + B[2][p] * B[2][q];
    vm todo = gamma * gamma > PL_SVD_COSINE * PL_SVD_COSINE * alpha * beta;
    if (!v_any(todo))
        return todo;
    vd delta = beta - alpha;
    /* tan of the smaller angle that zeroes gamma */
    vd t = v_copysign(2.0 * gamma, V_FLIP(gamma, delta)) /
           (v_abs(delta) + v_sqrt(delta * delta + 4.0 * gamma * gamma));
    t = v_select(todo, t, v_set(0.0));
    vd c = 1.0 / v_sqrt(1.0 + t * t), s = c * t;
    for (int i = 0; i < 3; i++) {
        vd bp = B[i][p], bq = B[i][q];
        B[i][p] = c * bp - s * bq;
        B[i][q] = s * bp + c * bq;
    }
    for (int i = 0; i < columns; i++) {
        vd vp = V[i][p], vq = V[i][q];
        V[i][p] = c * vp - s * vq;
        V[i][q] = s * vp + c * vq;
    }
    return todo;
}

/* Swaps columns p and q where q is the longer, negating one so that det V stays +1. */
static inline __attribute__((always_inline)) void v_order(vd B[3][3], vd V[3][3], int columns, int p,
                                                          int q)
{
    vd np = B[0][p] * B[0][p] + B[1][p] * B[1][p] + B[2][p] * B[2][p];
    vd nq = B[0][q] * B[0][q] + B[1][q] * B[1][q] + B[2][q] * B[2][q];
    vm swap = nq > np;
    for (int i = 0; i < 3; i++) {
        vd bp = B[i][p], bq = B[i][q];
        B[i][p] = v_select(swap, bq, bp);
        B[i][q] = v_select(swap, -bp, bq);
    }
    for (int i = 0; i < columns; i++) {
        vd vp = V[i][p], vq = V[i][q];
        V[i][p] = v_select(swap, vq, vp);
        V[i][q] = v_select(swap, -vp, vq);
    }
}

/* U from the ordered orthogonal columns: u1 along b1, u2 along what b2 has across u1, u3 = u1 x u2.
 * Where b1 or b2 is zero or only rounding, any unit vector will do. */
static inline __attribute__((always_inline)) void v_left_vectors(vd B[3][3], vd U[3][3])
{
    vd n1 = v_sqrt(B[0][0] * B[0][0] + B[1][0] * B[1][0] + B[2][0] * B[2][0]);
    vm some = n1 > 0.0;
    vd r1 = 1.0 / v_select(some, n1, v_set(1.0));
    vd x = v_select(some, B[0][0] * r1, v_set(1.0)), y = B[1][0] * r1, z = B[2][0] * r1;
    /* A unit vector across u1, without branches (Duff et al., 2017). */
    vd sign = v_copysign(v_set(1.0), z), a = -1.0 / (sign + z);
    vd any[3] = {1.0 + sign * x * x * a, sign * x * y * a, -sign * x};
    vd side = v_copysign(v_set(1.0), any[0] * B[0][1] + any[1] * B[1][1] + any[2] * B[2][1]);

    vd along = x * B[0][1] + y * B[1][1] + z * B[2][1];
    vd w[3] = {B[0][1] - along * x, B[1][1] - along * y, B[2][1] - along * z};
    vd whole = B[0][1] * B[0][1] + B[1][1] * B[1][1] + B[2][1] * B[2][1];
    vd across = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    vm good = (across > 0.25 * whole) & (across > 0.0);
    vd r2 = 1.0 / v_sqrt(v_select(good, across, v_set(1.0)));
    for (int i = 0; i < 3; i++)
        w[i] = v_select(good, w[i] * r2, side * any[i]);
    U[0][0] = x, U[1][0] = y, U[2][0] = z;
    U[0][1] = w[0], U[1][1] = w[1], U[2][1] = w[2];
    U[0][2] = y * w[2] - z * w[1];
    U[1][2] = z * w[0] - x * w[2];
    U[2][2] = x * w[1] - y * w[0];
}

static inline vd v_column_dot(vd U[3][3], vd B[3][3], int column)
{
    return U[0][column] * B[0][column] + U[1][column] * B[1][column] + U[2][column] * B[2][column];
}

/* Divides F by the power of two of its largest entry, so that no square over- or underflows; returns
 * its inverse. Exact. */
static inline __attribute__((always_inline)) vd v_normalise(vd F[3][3], int columns)
{
    vd largest = v_set(0.0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < columns; j++)
            largest = v_max(v_abs(F[i][j]), largest);
    vd scale = v_inverse_power(largest);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < columns; j++)
            F[i][j] *= scale;
    return v_inverse_power(scale);
}

typedef struct v_svd {
    vd B[3][3]; /* F on entry; overwritten */
    vd U[3][3], sigma[3], V[3][3];
} v_svd;

/* `count` independent sets of matrices; two together hide the latency of each other's square roots. */
static inline void v_svd3(int count, v_svd *svd)
{
    vd scale[PL_SVD_GROUP];
    for (int u = 0; u < count; u++) {
        scale[u] = v_normalise(svd[u].B, 3);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                svd[u].V[i][j] = v_set(i == j ? 1.0 : 0.0);
    }
    for (int sweep = 0; sweep < PL_SVD_MAX_SWEEPS; sweep++) {
        vm todo = V_NONE;
        for (int pair = 0; pair < 3; pair++)
            for (int u = 0; u < count; u++)
                todo |= v_jacobi(svd[u].B, svd[u].V, 3, pair == 2, pair == 0 ? 1 : 2);
        if (!v_any(todo))
            break;
    }
    for (int u = 0; u < count; u++) {
        v_order(svd[u].B, svd[u].V, 3, 0, 1);
        v_order(svd[u].B, svd[u].V, 3, 0, 2);
        v_order(svd[u].B, svd[u].V, 3, 1, 2);
        v_left_vectors(svd[u].B, svd[u].U);
        for (int i = 0; i < 3; i++)
            svd[u].sigma[i] = scale[u] * v_column_dot(svd[u].U, svd[u].B, i);
    }
}

/* The 3x2 case: F in the first two columns, V [2][2] in the corner, U's third column is the normal,
 * both sigma >= 0. */
static inline void v_svd32(int count, v_svd *svd)
{
    for (int u = 0; u < count; u++) {
        vd scale = v_normalise(svd[u].B, 2);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                svd[u].V[i][j] = v_set(i == j ? 1.0 : 0.0);
        for (int sweep = 0; sweep < PL_SVD_MAX_SWEEPS; sweep++)
            if (!v_any(v_jacobi(svd[u].B, svd[u].V, 2, 0, 1)))
                break;
        v_order(svd[u].B, svd[u].V, 2, 0, 1);
        v_left_vectors(svd[u].B, svd[u].U);
        for (int i = 0; i < 2; i++)
            svd[u].sigma[i] = scale * v_column_dot(svd[u].U, svd[u].B, i);
    }
}

#endif
