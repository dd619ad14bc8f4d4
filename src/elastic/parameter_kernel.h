/* The element kernels that give stresses for pictures and derivatives with respect to the parameters mu
 * and lambda, PL_WIDTH elements at once; element_kernel.h has the mechanics. */
#ifndef PL_PARAMETER_KERNEL_H
#define PL_PARAMETER_KERNEL_H

#include "elastic/element_kernel.h"

ALWAYS_INLINE void stress_of(const pl_element_job *job, int n, double *out)
{
    for (int b = job->first; b < job->last; b++)
        for (int lane = 0; lane < PL_LANES; lane += PL_WIDTH) {
            element e;
            material m;
            vd P[3][3];
            load_element(job, b, lane, n, &e);
            decompose(n, 1, &e);
            evaluate_material(job, n, &e, 0, &m);
            first_stress(n, &e, m.tau, P);
            for (int w = 0; w < PL_WIDTH; w++, out += 18)
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < n; j++) {
                        out[n * i + j] = e.F[i][j][w];
                        out[9 + n * i + j] = P[i][j][w];
                    }
        }
}

static void kernel_stress(const pl_element_job *job, double *out)
{
    if (job->cloth)
        stress_of(job, 2, out);
    else
        stress_of(job, 3, out);
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
            load_element(job, b, lane, n, &e);
            decompose(n, 1, &e);
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
            load_element(job, b, lane, n, &e);
            decompose(n, 1, &e);
            evaluate_material(job, n, &e, PL_WANT_PARAMETERS, &m);
            for (int i = 0; i < n; i++)
                dtau[i] =
                    e.volume * (m.dmu[i] * v_load(dmu + slot) + m.dlambda[i] * v_load(dlambda + slot));
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
