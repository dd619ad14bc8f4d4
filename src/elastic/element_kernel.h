/*
 * The element kernels, PL_WIDTH elements at once; see backend.h for layouts.
 * element_math.h has the mechanics. Only blocks k < l are written: sum_k g_k = 0, so the assembled
 * diagonal follows from its row. The exact Neo-Hookean material needs no singular values and has
 * kernels of its own (direct_sets).
 */
#ifndef PL_ELEMENT_KERNEL_H
#define PL_ELEMENT_KERNEL_H

#include "backend/backend.h"
#include "elastic/element_math.h"
#include "linalg/svd_simd.h"

/* Sets of PL_WIDTH elements that go through each stage together: one hides the latency of the other's
 * divisions, square roots and logarithms. Where a set is a whole block they are two blocks. */
#define SETS   PL_SVD_GROUP
#define BLOCKS (SETS * PL_WIDTH > PL_LANES ? SETS * PL_WIDTH / PL_LANES : 1)

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
    evaluate_model(job->model, job->reading, n, e, want, m);
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
        vm outside = V_NOT(d[u].J > 0.0);
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
