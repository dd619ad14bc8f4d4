/*
 * The element kernels, PL_WIDTH elements at once; see backend.h for layouts.
 *
 *     F = sum_k x_k g_k^T     P = U diag(tau) V^T     grad_k = vol P g_k
 *     K_kl = vol U T_kl U^T,  T_kl[i][j] = W_ij g'_k,i g'_l,j + (a-b)/2 g'_k,j g'_l,i      (i != j)
 *                             T_kl[i][i] = W_ii g'_k,i g'_l,i + sum_j (a+b)/2 g'_k,j g'_l,j
 *
 * with g' = V^T g. Cloth has two columns and T_kl[2][2] = sum_j tau_j/sigma_j g'_k,j g'_l,j for its
 * normal. Only k < l are written: sum_k g_k = 0, so the assembled diagonal follows from its row. The
 * exact Neo-Hookean material needs no singular values and has kernels of its own (direct_sets).
 */
#ifndef PL_ELEMENT_KERNEL_H
#define PL_ELEMENT_KERNEL_H

#include "backend/backend.h"
#include "elastic/material.h"
#include "linalg/svd_simd.h"

/* Sets of PL_WIDTH elements that go through each stage together: one hides the latency of the other's
 * divisions, square roots and logarithms. Where a set is a whole block they are two blocks. */
#define SETS   PL_SVD_GROUP
#define BLOCKS (SETS * PL_WIDTH > PL_LANES ? SETS * PL_WIDTH / PL_LANES : 1)

typedef struct element {
    vd g[3][3]; /* shape gradients of vertices 1.. as rows */
    vd F[3][3];
    vd U[3][3], sigma[3], V[3][3];
    vd volume, mu, lambda;
} element;

/* Edge vectors x_k - x_0 of a [n, 3] field as columns. */
ALWAYS_INLINE void gather_edges(const pl_element_block *block, int lane, int n, const double *x,
                                vd edges[3][3])
{
    vd origin[3], corner[3];
    v_gather3(x, block->vertex[0] + lane, origin);
    for (int k = 0; k < n; k++) {
        v_gather3(x, block->vertex[k + 1] + lane, corner);
        for (int i = 0; i < 3; i++)
            edges[i][k] = corner[i] - origin[i];
    }
}

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

ALWAYS_INLINE void load_element(const pl_element_job *job, int b, int lane, int n, element *e)
{
    const pl_element_block *block = job->blocks + b;
    const pl_element_moduli *moduli = job->moduli + b;
    vd edges[3][3];
    gather_edges(block, lane, n, job->q, edges);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            e->g[k][j] = v_load(&block->gradient[n * k + j][lane]);
    field_gradient(n, edges, e->g, e->F);
    e->volume = v_load(&block->volume[lane]);
    e->mu = v_load(&moduli->mu[lane]);
    e->lambda = v_load(&moduli->lambda[lane]);
}

/* `sets` sets from a lane of block b on. */
ALWAYS_INLINE void load_sets(const pl_element_job *job, int b, int lane, int n, int sets, element *e)
{
    for (int u = 0; u < sets; u++) {
        int at = lane + u * PL_WIDTH;
        load_element(job, b + at / PL_LANES, at % PL_LANES, n, &e[u]);
    }
}

/* The singular values of `count` sets of elements together. */
ALWAYS_INLINE void decompose(int n, int count, element *e)
{
    v_svd svd[SETS];
    for (int u = 0; u < count; u++)
        memcpy(svd[u].B, e[u].F, sizeof svd[u].B);
    if (n == 3)
        v_svd3(count, svd);
    else
        v_svd32(count, svd);
    for (int u = 0; u < count; u++) {
        memcpy(e[u].U, svd[u].U, sizeof e[u].U);
        memcpy(e[u].V, svd[u].V, sizeof e[u].V);
        memcpy(e[u].sigma, svd[u].sigma, sizeof e[u].sigma);
    }
}

ALWAYS_INLINE void evaluate_material(const pl_element_job *job, int n, const element *e, int want,
                                     material *m)
{
    if (job->model == PL_ARAP)
        arap(n, e->sigma, e->mu, want, m);
    else if (job->model == PL_COROTATED && job->reading == PL_EXACT)
        corotated_exact(n, e->sigma, e->mu, e->lambda, want, m);
    else if (job->model == PL_COROTATED)
        corotated_projective(n, e->sigma, e->mu, e->lambda, want, m);
    else if (job->reading == PL_EXACT)
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

/* P g_k for every vertex, into force [slot, 4, 3]; P times the volume is given. */
ALWAYS_INLINE void store_force(int n, const element *e, vd P[3][3], double *force)
{
    vd out[12];
    for (int i = 0; i < 3; i++)
        out[i] = v_set(0.0);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 3; i++) {
            vd f = P[i][0] * e->g[k][0];
            for (int j = 1; j < n; j++)
                f += P[i][j] * e->g[k][j];
            out[3 * (k + 1) + i] = f;
            out[i] -= f;
        }
    v_store_slots(out, 3 * (n + 1), force, PL_FORCE_STRIDE);
}

/* Replaces the symmetric W [n][n] by the nearest positive semi-definite matrix: Jacobi rotations to
 * W = Q diag Q^T, negative eigenvalues to zero. Lanes that have none keep W as it is. */
static __attribute__((noinline)) void clamp_matrix(int n, vd W[3][3])
{
    vd A[3][3], Q[3][3], zero = v_set(0.0);
    memcpy(A, W, sizeof A);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            Q[i][j] = v_set(i == j ? 1.0 : 0.0);
    for (int sweep = 0; sweep < 8; sweep++)
        for (int pair = 0; pair < PAIR_COUNT(n); pair++) {
            int p = PAIR_FIRST(pair), q = PAIR_SECOND(pair);
            vd gamma = A[p][q], delta = A[q][q] - A[p][p];
            vd t = v_copysign(2.0 * gamma, (vd)((vu)gamma ^ (vu)delta)) /
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
    if (v_any(~positive_definite(n, m->W)))
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

ALWAYS_INLINE void general_tangent(int n, const element *e, const material *m, double *tangent,
                                   const int target[][PL_LANES])
{
    vd rotated[4][3], K[9];
    tangent_terms terms;
    make_terms(n, e, m, &terms);
    rotate_gradients(n, e, rotated);
    for (int k = 0, pair = 0; k < n; k++)
        for (int l = k + 1; l <= n; l++, pair++) {
            tangent_block(n, e, &terms, rotated[k], rotated[l], K);
            v_add_nine(K, tangent, target[pair]);
        }
}

/* Where the pairs of the elements from `slot` on go: [pair][0 .. PL_WIDTH - 1]. */
ALWAYS_INLINE const int (*targets_of(const pl_element_job *job, size_t slot))[PL_LANES]
{
    return (const int(*)[PL_LANES])(job->targets[slot / PL_LANES].at[0] + slot % PL_LANES);
}

/* Remembers the first bad slot; `slot` is the first lane's. */
ALWAYS_INLINE int first_bad(int found, vm bad, size_t slot)
{
    if (found < 0 && v_any(bad))
        for (int w = PL_WIDTH - 1; w >= 0; w--)
            found = bad[w] ? (int)slot + w : found;
    return found;
}

/* `sets` sets from a lane of block b on; returns `bad`, or where that is negative the first bad slot.
 */
ALWAYS_INLINE int general_sets(const pl_element_job *job, int n, int want, int b, int lane, int sets,
                               int bad)
{
    element e[SETS];
    material m;
    vd P[3][3];
    load_sets(job, b, lane, n, sets, e);
    decompose(n, sets, e);
    for (int u = 0; u < sets; u++) {
        size_t slot = (size_t)PL_LANES * (size_t)b + (size_t)(lane + u * PL_WIDTH);
        evaluate_material(job, n, &e[u], want, &m);
        bad = first_bad(bad, m.bad, slot);
        if (job->energy)
            v_store(job->energy + slot, e[u].volume * m.energy);
        if (job->force) {
            for (int i = 0; i < n; i++)
                m.tau[i] *= e[u].volume;
            first_stress(n, &e[u], m.tau, P);
            store_force(n, &e[u], P, job->force + slot * PL_FORCE_STRIDE);
        }
        if (want & PL_WANT_TANGENT) {
            if (job->clamp)
                clamp_material(n, &m);
            general_tangent(n, &e[u], &m, job->tangent, targets_of(job, slot));
        }
    }
    return bad;
}

/*
 * Exact Neo-Hookean without singular values. With the cofactors C = J F^-T (cloth: J F (F^T F)^-1), h_k
 * = C g_k / J and c = mu - lambda log J,
 *
 *     P = mu F - c/J C      K_kl = vol (mu g_k.g_l I + lambda h_k h_l^T + c h_l h_k^T)
 *
 * and cloth has -c h_k.h_l N besides, N the projector onto its normal.
 */
typedef struct direct {
    vd C[3][3], J, L, normal[3]; /* L = log J */
    vd mu, lambda, c, inverse;   /* the first three times the volume; 1/J */
} direct;

ALWAYS_INLINE void cross_columns(vd A[3][3], int p, vd B[3][3], int q, vd out[3][3], int column)
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i][column] = A[j][p] * B[k][q] - A[k][p] * B[j][q];
    }
}

ALWAYS_INLINE void cofactors(int n, element *e, direct *d)
{
    if (n == 3) {
        for (int p = 0; p < 3; p++)
            cross_columns(e->F, (p + 1) % 3, e->F, (p + 2) % 3, d->C, p);
        d->J = e->F[0][0] * d->C[0][0] + e->F[1][0] * d->C[1][0] + e->F[2][0] * d->C[2][0];
        return;
    }
    vd N[3][3];
    cross_columns(e->F, 0, e->F, 1, N, 0);
    d->J = v_sqrt(N[0][0] * N[0][0] + N[1][0] * N[1][0] + N[2][0] * N[2][0]);
    for (int i = 0; i < 3; i++)
        d->normal[i] = N[i][0] = N[i][0] / d->J;
    cross_columns(e->F, 1, N, 0, d->C, 0);
    cross_columns(N, 0, e->F, 0, d->C, 1);
}

/* vol P */
ALWAYS_INLINE void direct_stress(int n, const element *e, const direct *d, vd P[3][3])
{
    vd across = d->c * d->inverse;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < n; j++)
            P[i][j] = d->mu * e->F[i][j] - across * d->C[i][j];
}

ALWAYS_INLINE void direct_tangent(int n, const element *e, const direct *d, double *tangent,
                                  const int target[][PL_LANES])
{
    vd h[4][3], g[4][3], K[9];
    for (int j = 0; j < n; j++) {
        g[0][j] = v_set(0.0);
        for (int k = 0; k < n; k++) {
            g[k + 1][j] = e->g[k][j];
            g[0][j] -= e->g[k][j];
        }
    }
    for (int i = 0; i < 3; i++) {
        h[0][i] = v_set(0.0);
        for (int k = 1; k <= n; k++) {
            vd sum = d->C[i][0] * g[k][0];
            for (int j = 1; j < n; j++)
                sum += d->C[i][j] * g[k][j];
            h[k][i] = d->inverse * sum;
            h[0][i] -= h[k][i];
        }
    }
    for (int k = 0, pair = 0; k < n; k++)
        for (int l = k + 1; l <= n; l++, pair++) {
            vd gg = g[k][0] * g[l][0], hh = h[k][0] * h[l][0];
            for (int j = 1; j < n; j++)
                gg += g[k][j] * g[l][j];
            for (int j = 1; j < 3; j++)
                hh += h[k][j] * h[l][j];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    vd value = d->lambda * h[k][i] * h[l][j] + d->c * h[k][j] * h[l][i];
                    if (i == j)
                        value += d->mu * gg;
                    if (n == 2)
                        value -= d->c * hh * d->normal[i] * d->normal[j];
                    K[3 * i + j] = value;
                }
            v_add_nine(K, tangent, target[pair]);
        }
}

/* Energy, forces and tangent of one set, whose cofactors and logarithm are there. */
ALWAYS_INLINE void finish_direct(const pl_element_job *job, int n, int want, size_t slot, element *e,
                                 direct *d)
{
    vd P[3][3], square = v_set(-(double)n);
    d->mu = e->volume * e->mu;
    d->lambda = e->volume * e->lambda;
    d->c = d->mu - d->lambda * d->L;
    d->inverse = 1.0 / d->J;
    for (int i = 0; job->energy && i < 3; i++)
        for (int j = 0; j < n; j++)
            square += e->F[i][j] * e->F[i][j];
    if (job->energy)
        v_store(job->energy + slot, d->mu * (0.5 * square - d->L) + 0.5 * d->lambda * d->L * d->L);
    if (job->force) {
        direct_stress(n, e, d, P);
        store_force(n, e, P, job->force + slot * PL_FORCE_STRIDE);
    }
    if (want & PL_WANT_TANGENT)
        direct_tangent(n, e, d, job->tangent, targets_of(job, slot));
}

ALWAYS_INLINE int direct_sets(const pl_element_job *job, int n, int want, int b, int lane, int sets,
                              int bad)
{
    size_t slot = (size_t)PL_LANES * (size_t)b + (size_t)lane;
    element e[SETS];
    direct d[SETS];
    load_sets(job, b, lane, n, sets, e);
    for (int u = 0; u < sets; u++)
        cofactors(n, &e[u], &d[u]);
    for (int u = 0; u < sets; u++) {
        vm outside = ~(d[u].J > 0.0);
        d[u].L = v_log(v_select(outside, v_set(1.0), d[u].J));
        bad = first_bad(bad, outside, slot + (size_t)(u * PL_WIDTH));
    }
    for (int u = 0; u < sets; u++)
        finish_direct(job, n, want, slot + (size_t)(u * PL_WIDTH), &e[u], &d[u]);
    return bad;
}

ALWAYS_INLINE int elements_of(const pl_element_job *job, int n, int want, bool svd)
{
    int bad = -1, b = job->first;
    for (; b + BLOCKS <= job->last; b += BLOCKS)
        for (int lane = 0; lane < PL_LANES; lane += SETS * PL_WIDTH)
            bad = svd ? general_sets(job, n, want, b, lane, SETS, bad)
                      : direct_sets(job, n, want, b, lane, SETS, bad);
    if (BLOCKS > 1 && b < job->last)
        bad = svd ? general_sets(job, n, want, b, 0, 1, bad) : direct_sets(job, n, want, b, 0, 1, bad);
    return bad;
}

static int kernel_elements(const pl_element_job *job)
{
    int n = job->cloth ? 2 : 3;
    bool svd = job->model != PL_NEO_HOOKEAN || job->reading != PL_EXACT || (job->clamp && job->tangent);
    if (svd && job->tangent)
        return n == 2 ? elements_of(job, 2, PL_WANT_TANGENT, true)
                      : elements_of(job, 3, PL_WANT_TANGENT, true);
    if (svd)
        return n == 2 ? elements_of(job, 2, 0, true) : elements_of(job, 3, 0, true);
    if (job->tangent)
        return n == 2 ? elements_of(job, 2, PL_WANT_TANGENT, false)
                      : elements_of(job, 3, PL_WANT_TANGENT, false);
    return n == 2 ? elements_of(job, 2, 0, false) : elements_of(job, 3, 0, false);
}

#endif
