/*
 * The element kernels, PL_WIDTH elements at once; see backend.h for layouts.
 *
 *     F = sum_k x_k g_k^T     P = U diag(tau) V^T     grad_k = vol P g_k
 *     K_kl = vol U T_kl U^T,  T_kl[i][j] = W_ij g'_k,i g'_l,j + (a-b)/2 g'_k,j g'_l,i      (i != j)
 *                             T_kl[i][i] = W_ii g'_k,i g'_l,i + sum_j (a+b)/2 g'_k,j g'_l,j
 *
 * with g' = V^T g. Cloth has two columns and T_kl[2][2] = sum_j tau_j/sigma_j g'_k,j g'_l,j for its
 * normal. What belongs to vertex 0 follows from sum_k g_k = 0.
 */
#ifndef PL_ELEMENT_KERNEL_H
#define PL_ELEMENT_KERNEL_H

#include "backend/backend.h"
#include "elastic/material.h"
#include "linalg/svd_simd.h"

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
    double e[3][3][PL_WIDTH];
    for (int w = 0; w < PL_WIDTH; w++) {
        const double *x0 = x + 3 * (size_t)block->vertex[0][lane + w];
        for (int k = 0; k < n; k++) {
            const double *xk = x + 3 * (size_t)block->vertex[k + 1][lane + w];
            for (int i = 0; i < 3; i++)
                e[i][k][w] = xk[i] - x0[i];
        }
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < n; k++)
            edges[i][k] = v_load(e[i][k]);
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

ALWAYS_INLINE void load_element(const pl_element_job *job, const pl_element_block *block, int lane,
                                int n, element *e)
{
    vd edges[3][3];
    gather_edges(block, lane, n, job->q, edges);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            e->g[k][j] = v_load(&block->gradient[n * k + j][lane]);
    field_gradient(n, edges, e->g, e->F);
    e->volume = v_load(&block->volume[lane]);
    e->mu = v_load(&block->mu[lane]);
    e->lambda = v_load(&block->lambda[lane]);
}

ALWAYS_INLINE void decompose(int n, element *e)
{
    vd B[3][3];
    memcpy(B, e->F, sizeof B);
    if (n == 3)
        v_svd3(B, e->U, e->sigma, e->V);
    else
        v_svd32(B, e->U, e->sigma, e->V);
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

/* vol P g_k for every vertex, into force [slot, 4, 3]. */
ALWAYS_INLINE void store_force(int n, const element *e, vd P[3][3], double *force)
{
    vd sum[3] = {v_set(0.0), v_set(0.0), v_set(0.0)};
    double out[PL_FORCE_STRIDE][PL_WIDTH];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 3; i++) {
            vd f = P[i][0] * e->g[k][0];
            for (int j = 1; j < n; j++)
                f += P[i][j] * e->g[k][j];
            f *= e->volume;
            sum[i] -= f;
            v_store(out[3 * (k + 1) + i], f);
        }
    for (int i = 0; i < 3; i++)
        v_store(out[i], sum[i]);
    for (int w = 0; w < PL_WIDTH; w++)
        for (int i = 0; i < 3 * (n + 1); i++)
            force[w * PL_FORCE_STRIDE + i] = out[i][w];
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

ALWAYS_INLINE void clamp_material(int n, material *m)
{
    vd zero = v_set(0.0);
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

/* All blocks (k, l), k <= l, of the element's tangent into tangent [slot, pair, 9]. K[k][l] of vertices
 * 1.. are computed, those of vertex 0 are minus their sums. */
ALWAYS_INLINE void store_tangent(int n, const element *e, const tangent_terms *t, double *tangent)
{
    vd rotated[3][3], K[10][9];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            rotated[k][i] = e->g[k][0] * e->V[0][i];
            for (int j = 1; j < n; j++)
                rotated[k][i] += e->g[k][j] * e->V[j][i];
        }
    for (int c = 0; c < 9; c++)
        for (int l = 0; l <= n; l++)
            K[l][c] = v_set(0.0);
    for (int k = 0, pair = n + 1; k < n; k++)
        for (int l = k; l < n; l++, pair++) {
            tangent_block(n, e, t, rotated[k], rotated[l], K[pair]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    vd value = K[pair][3 * i + j];
                    K[l + 1][3 * i + j] -= value;
                    if (k != l)
                        K[k + 1][3 * j + i] -= value;
                }
        }
    for (int l = 1; l <= n; l++)
        for (int c = 0; c < 9; c++)
            K[0][c] -= K[l][c];
    int count = n == 3 ? 90 : 54;
    const double *values = (const double *)K;
    for (int w = 0; w < PL_WIDTH; w++)
        for (int c = 0; c < count; c++)
            tangent[w * PL_TANGENT_STRIDE + c] = values[c * PL_WIDTH + w];
}

ALWAYS_INLINE int elements_of(const pl_element_job *job, int n, int want)
{
    int bad = -1;
    for (int b = job->first; b < job->last; b++)
        for (int lane = 0; lane < PL_LANES; lane += PL_WIDTH) {
            size_t slot = (size_t)PL_LANES * (size_t)b + (size_t)lane;
            element e;
            material m;
            tangent_terms terms;
            vd P[3][3];
            load_element(job, job->blocks + b, lane, n, &e);
            decompose(n, &e);
            evaluate_material(job, n, &e, want, &m);
            if (bad < 0 && v_any(m.bad))
                for (int w = PL_WIDTH - 1; w >= 0; w--)
                    bad = m.bad[w] ? (int)slot + w : bad;
            if (job->energy)
                v_store(job->energy + slot, e.volume * m.energy);
            if (job->force) {
                first_stress(n, &e, m.tau, P);
                store_force(n, &e, P, job->force + slot * PL_FORCE_STRIDE);
            }
            if (want & PL_WANT_TANGENT) {
                if (job->clamp)
                    clamp_material(n, &m);
                make_terms(n, &e, &m, &terms);
                store_tangent(n, &e, &terms, job->tangent + slot * PL_TANGENT_STRIDE);
            }
        }
    return bad;
}

static int kernel_elements(const pl_element_job *job)
{
    if (job->tangent)
        return job->cloth ? elements_of(job, 2, PL_WANT_TANGENT) : elements_of(job, 3, PL_WANT_TANGENT);
    return job->cloth ? elements_of(job, 2, 0) : elements_of(job, 3, 0);
}

ALWAYS_INLINE void stress_of(const pl_element_job *job, int n)
{
    for (int b = job->first; b < job->last; b++)
        for (int lane = 0; lane < PL_LANES; lane += PL_WIDTH) {
            double *out =
                job->tangent + ((size_t)PL_LANES * (size_t)b + (size_t)lane) * PL_TANGENT_STRIDE;
            element e;
            material m;
            vd P[3][3];
            load_element(job, job->blocks + b, lane, n, &e);
            decompose(n, &e);
            evaluate_material(job, n, &e, 0, &m);
            first_stress(n, &e, m.tau, P);
            for (int w = 0; w < PL_WIDTH; w++, out += PL_TANGENT_STRIDE)
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < n; j++) {
                        out[n * i + j] = e.F[i][j][w];
                        out[9 + n * i + j] = P[i][j][w];
                    }
        }
}

static void kernel_stress(const pl_element_job *job)
{
    if (job->cloth)
        stress_of(job, 2);
    else
        stress_of(job, 3);
}

/* z . d grad/d xi = vol sum_i dtau_i/dxi (U^T Z V)_ii with Z the gradient of the field z. */
ALWAYS_INLINE void parameters_of(const pl_element_job *job, int n, const double *z, double *out_mu,
                                 double *out_lambda)
{
    for (int b = job->first; b < job->last; b++)
        for (int lane = 0; lane < PL_LANES; lane += PL_WIDTH) {
            size_t slot = (size_t)PL_LANES * (size_t)b + (size_t)lane;
            element e;
            material m;
            vd edges[3][3], Z[3][3], mu = v_set(0.0), lambda = v_set(0.0);
            load_element(job, job->blocks + b, lane, n, &e);
            decompose(n, &e);
            evaluate_material(job, n, &e, PL_WANT_PARAMETERS, &m);
            gather_edges(job->blocks + b, lane, n, z, edges);
            field_gradient(n, edges, e.g, Z);
            for (int k = 0; k < n; k++) {
                vd diagonal = v_set(0.0);
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < n; j++)
                        diagonal += e.U[i][k] * Z[i][j] * e.V[j][k];
                mu += m.dmu[k] * diagonal;
                lambda += m.dlambda[k] * diagonal;
            }
            v_store(out_mu + slot, e.volume * mu);
            v_store(out_lambda + slot, e.volume * lambda);
        }
}

static void kernel_parameters(const pl_element_job *job, const double *z, double *out_mu,
                              double *out_lambda)
{
    if (job->cloth)
        parameters_of(job, 2, z, out_mu, out_lambda);
    else
        parameters_of(job, 3, z, out_mu, out_lambda);
}

ALWAYS_INLINE void parameters_forward_of(const pl_element_job *job, int n, const double *dmu,
                                         const double *dlambda)
{
    for (int b = job->first; b < job->last; b++)
        for (int lane = 0; lane < PL_LANES; lane += PL_WIDTH) {
            size_t slot = (size_t)PL_LANES * (size_t)b + (size_t)lane;
            element e;
            material m;
            vd P[3][3], dtau[3];
            load_element(job, job->blocks + b, lane, n, &e);
            decompose(n, &e);
            evaluate_material(job, n, &e, PL_WANT_PARAMETERS, &m);
            for (int i = 0; i < n; i++)
                dtau[i] = m.dmu[i] * v_load(dmu + slot) + m.dlambda[i] * v_load(dlambda + slot);
            first_stress(n, &e, dtau, P);
            store_force(n, &e, P, job->force + slot * PL_FORCE_STRIDE);
        }
}

static void kernel_parameters_forward(const pl_element_job *job, const double *dmu,
                                      const double *dlambda)
{
    if (job->cloth)
        parameters_forward_of(job, 2, dmu, dlambda);
    else
        parameters_forward_of(job, 3, dmu, dlambda);
}

#endif
