/*
 * The mechanics of one element, or of PL_WIDTH of them at once, in registers: what vector kernels
 * (element_kernel.h) and those of devices (device/kernels/) share.
 *
 *     F = sum_k x_k g_k^T     P = U diag(tau) V^T
 *     K_kl = vol U T_kl U^T,  T_kl[i][j] = W_ij g'_k,i g'_l,j + (a-b)/2 g'_k,j g'_l,i      (i != j)
 *                             T_kl[i][i] = W_ii g'_k,i g'_l,i + sum_j (a+b)/2 g'_k,j g'_l,j
 *
 * with g' = V^T g. Cloth has two columns and T_kl[2][2] = sum_j tau_j/sigma_j g'_k,j g'_l,j for its
 * normal.
 */
#ifndef PL_ELEMENT_MATH_H
#define PL_ELEMENT_MATH_H

#include "elastic/material.h"

#include <pliant/pliant.h>

typedef struct element {
    vd g[3][3]; /* shape gradients of vertices 1.. as rows */
    vd F[3][3];
    vd U[3][3], sigma[3], V[3][3];
    vd volume, mu, lambda;
} element;

/* out [3][n] = edges g: the gradient of the field with these edge vectors. */
ALWAYS_INLINE void field_gradient(int n, vd edges[3][3], vd g[3][3], vd out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < n; j++) {
            out[i][j] = edges[i][0] * g[0][j];
            for (int k = 1; k < n; k++)
                out[i][j] += edges[i][k] * g[k][j];
        }
}

ALWAYS_INLINE void evaluate_model(pl_material model, pl_reading reading, int n, const element *e,
                                  int want, material *m)
{
    if (model == PL_ARAP)
        arap(n, e->sigma, e->mu, want, m);
    else if (model == PL_COROTATED && reading == PL_EXACT)
        corotated_exact(n, e->sigma, e->mu, e->lambda, want, m);
    else if (model == PL_COROTATED)
        corotated_projective(n, e->sigma, e->mu, e->lambda, want, m);
    else if (reading == PL_EXACT)
        neo_hookean_exact(n, e->sigma, e->mu, e->lambda, want, m);
    else
        neo_hookean_projective(n, e->sigma, e->mu, e->lambda, want, m);
}

/* P = U diag(tau) V^T, [3][n] */
ALWAYS_INLINE void first_stress(int n, const element *e, const vd *tau, vd P[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < n; j++) {
            P[i][j] = e->U[i][0] * tau[0] * e->V[j][0];
            for (int k = 1; k < n; k++)
                P[i][j] += e->U[i][k] * tau[k] * e->V[j][k];
        }
}

/* Replaces the symmetric W [n][n] by the nearest positive semi-definite matrix: Jacobi rotations to
 * W = Q diag Q^T, negative eigenvalues to zero. Lanes that have none keep W as it is. */
PL_NOINLINE void clamp_matrix(int n, vd W[3][3])
{
    vd A[3][3], Q[3][3], zero = v_set(0.0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = W[i][j], Q[i][j] = v_set(i == j ? 1.0 : 0.0);
    for (int sweep = 0; sweep < 8; sweep++)
        for (int pair = 0; pair < PAIR_COUNT(n); pair++) {
            int p = PAIR_FIRST(pair), q = PAIR_SECOND(pair);
            vd gamma = A[p][q], delta = A[q][q] - A[p][p];
            vd t = v_copysign(2.0 * gamma, V_FLIP(gamma, delta)) /
                   (v_abs(delta) + v_sqrt(delta * delta + 4.0 * gamma * gamma));
            t = v_select(v_abs(gamma) > 0.0, t, zero);
            vd c = 1.0 / v_sqrt(1.0 + t * t), s = c * t;
            for (int i = 0; i < n; i++) {
                vd ap = A[i][p], aq = A[i][q], qp = Q[i][p], qq = Q[i][q];
                A[i][p] = c * ap - s * aq, A[i][q] = s * ap + c * aq;
                Q[i][p] = c * qp - s * qq, Q[i][q] = s * qp + c * qq;
            }
            for (int i = 0; i < n; i++) {
                vd ap = A[p][i], aq = A[q][i];
                A[p][i] = c * ap - s * aq, A[q][i] = s * ap + c * aq;
            }
        }
    vm negative = A[0][0] < 0.0;
    for (int k = 1; k < n; k++)
        negative |= A[k][k] < 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            vd sum = zero;
            for (int k = 0; k < n; k++)
                sum += Q[i][k] * v_max(A[k][k], zero) * Q[j][k];
            W[i][j] = v_select(negative, sum, W[i][j]);
        }
}

/* Lanes whose W has positive leading minors. */
ALWAYS_INLINE vm positive_definite(int n, vd W[3][3])
{
    vd minor = W[0][0] * W[1][1] - W[0][1] * W[0][1];
    vm positive = (W[0][0] > 0.0) & (minor > 0.0);
    if (n == 3)
        positive &= W[0][2] * (W[0][1] * W[1][2] - W[1][1] * W[0][2]) +
                        W[1][2] * (W[0][1] * W[0][2] - W[0][0] * W[1][2]) + W[2][2] * minor >
                    0.0;
    return positive;
}

ALWAYS_INLINE void clamp_material(int n, material *m)
{
    vd zero = v_set(0.0);
    if (v_any(V_NOT(positive_definite(n, m->W))))
        clamp_matrix(n, m->W);
    for (int p = 0; p < PAIR_COUNT(n); p++) {
        m->a[p] = v_max(m->a[p], zero);
        m->b[p] = v_max(m->b[p], zero);
    }
    for (int i = 0; i < n; i++)
        m->r[i] = v_max(m->r[i], zero);
}

/* Coefficients of T: C[i][j] = W_ij, (a+b)/2 and (a-b)/2 of each pair, all times the volume. */
typedef struct tangent_terms {
    vd W[3][3], plus[3][3], minus[3][3], normal[3];
} tangent_terms;

ALWAYS_INLINE void make_terms(int n, const element *e, const material *m, tangent_terms *t)
{
    for (int i = 0; i < n; i++) {
        t->normal[i] = e->volume * m->r[i];
        for (int j = 0; j < n; j++)
            t->W[i][j] = e->volume * m->W[i][j];
    }
    for (int p = 0; p < PAIR_COUNT(n); p++) {
        int i = PAIR_FIRST(p), j = PAIR_SECOND(p);
        t->plus[i][j] = t->plus[j][i] = 0.5 * e->volume * (m->a[p] + m->b[p]);
        t->minus[i][j] = t->minus[j][i] = 0.5 * e->volume * (m->a[p] - m->b[p]);
    }
}

/* K = U T_kl U^T */
ALWAYS_INLINE void tangent_block(int n, const element *e, const tangent_terms *t, const vd *gk,
                                 const vd *gl, vd K[9])
{
    vd T[3][3], UT[3][3];
    for (int i = 0; i < n; i++) {
        T[i][i] = t->W[i][i] * gk[i] * gl[i];
        for (int j = 0; j < n; j++)
            if (j != i) {
                T[i][i] += t->plus[i][j] * gk[j] * gl[j];
                T[i][j] = t->W[i][j] * gk[i] * gl[j] + t->minus[i][j] * gk[j] * gl[i];
            }
    }
    if (n == 2)
        T[2][2] = t->normal[0] * gk[0] * gl[0] + t->normal[1] * gk[1] * gl[1];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < n; j++) {
            UT[i][j] = e->U[i][0] * T[0][j];
            for (int k = 1; k < n; k++)
                UT[i][j] += e->U[i][k] * T[k][j];
        }
        if (n == 2)
            UT[i][2] = e->U[i][2] * T[2][2];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            K[3 * i + j] = UT[i][0] * e->U[j][0] + UT[i][1] * e->U[j][1] + UT[i][2] * e->U[j][2];
}

/* Shape gradients of all n + 1 vertices, turned by V: g' = V^T g. Their sum is zero. */
ALWAYS_INLINE void rotate_gradients(int n, const element *e, vd rotated[4][3])
{
    for (int i = 0; i < n; i++) {
        rotated[0][i] = v_set(0.0);
        for (int k = 0; k < n; k++) {
            vd value = e->g[k][0] * e->V[0][i];
            for (int j = 1; j < n; j++)
                value += e->g[k][j] * e->V[j][i];
            rotated[k + 1][i] = value;
            rotated[0][i] -= value;
        }
    }
}

#endif
