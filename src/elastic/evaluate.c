/*
 * Evaluating the elastic energy: the kernels write each element's energy, gradient and tangent blocks,
 * then each vertex and each matrix entry gathers its own, in element order. No two threads write the
 * same place and no sum depends on their number.
 */
#include "elastic/internal.h"

#include "core/vec.h"

#include <limits.h>

pl_element_job pl_elastic_job(const pl_elastic *el, const pl_elastic_group *group, const double *q)
{
    return (pl_element_job){
        .blocks = el->blocks,
        .first = group->block_offset,
        .last = group->block_offset + group->block_count,
        .cloth = group->cloth,
        .model = group->model,
        .reading = group->reading,
        .q = q,
    };
}

/* Runs the kernel over all groups inside a parallel region; returns this thread's first bad slot. */
static int run_elements(const pl_elastic *el, const double *q, bool clamp, double *tangent)
{
    int bad = INT_MAX;
    for (int g = 0; g < el->group_count; g++) {
        const pl_elastic_group *group = &el->groups[g];
#pragma omp for schedule(dynamic, 1) nowait
        for (int first = 0; first < group->block_count; first += PL_CHUNK) {
            pl_element_job job = pl_elastic_job(el, group, q);
            int rest = group->block_count - first;
            job.first = group->block_offset + first;
            job.last = job.first + (rest < PL_CHUNK ? rest : PL_CHUNK);
            job.clamp = clamp;
            job.energy = el->energy;
            job.force = el->force;
            job.tangent = tangent;
            int found = el->backend->elements(&job);
            if (found >= 0 && found < bad)
                bad = found;
        }
    }
    return bad;
}

static void run_patches(const pl_elastic *el, const double *q)
{
#pragma omp for schedule(static) nowait
    for (int i = 0; i < el->patch_count; i++) {
        const pl_bending_patch *patch = &el->patches[i];
        el->energy[el->slot_count + i] =
            pl_bending_force(patch, patch->stiffness, q, el->force + patch->force_at);
    }
}

void pl_elastic_gather_force(const pl_elastic *el, bool add, double scale, double *out)
{
#pragma omp for schedule(static)
    for (int i = 0; i < el->vertex_count; i++) {
        double sum[3] = {0};
        for (int k = el->vertex_begin[i]; k < el->vertex_begin[i + 1]; k++)
            for (int c = 0; c < 3; c++)
                sum[c] += el->force[el->vertex_from[k] + c];
        for (int c = 0; c < 3; c++)
            out[3 * (size_t)i + (size_t)c] =
                scale * sum[c] + (add ? out[3 * (size_t)i + (size_t)c] : 0.0);
    }
}

/* The kernels' row ranges, inside a parallel region. */
static void assemble(const pl_elastic *el, const pl_assembly *assembly)
{
    int n = assembly->pattern->n;
#pragma omp for schedule(dynamic, 1)
    for (int first = 0; first < n; first += PL_ROWS)
        el->backend->assemble_upper(assembly, first, n - first < PL_ROWS ? n : first + PL_ROWS);
#pragma omp for schedule(dynamic, 1)
    for (int first = 0; first < n; first += PL_ROWS)
        el->backend->assemble_diagonal(assembly, first, n - first < PL_ROWS ? n : first + PL_ROWS);
}

static int element_of_slot(const pl_elastic *el, int slot)
{
    int g = 0;
    while (slot >= PL_LANES * (el->groups[g].block_offset + el->groups[g].block_count))
        g++;
    return slot - PL_LANES * el->groups[g].block_offset + el->groups[g].element_offset;
}

/* Lane by lane, then the lanes: a fixed order, and no chain of dependent additions. */
static double sum_in_order(const double *x, size_t count)
{
    double lane[PL_LANES] = {0}, sum = 0.0;
    size_t whole = count - count % PL_LANES;
    for (size_t i = 0; i < whole; i += PL_LANES)
        for (size_t w = 0; w < PL_LANES; w++)
            lane[w] += x[i + w];
    for (size_t w = 0; w < PL_LANES; w++)
        sum += lane[w];
    for (size_t i = whole; i < count; i++)
        sum += x[i];
    return sum;
}

pl_elastic_result pl_elastic_evaluate(pl_elastic *el, const double *q, bool clamp, double scale,
                                      const double *diagonal, double *gradient, double *tangent)
{
    int bad = INT_MAX;
    pl_assembly assembly = {&el->pattern, el->mirror, el->entry_begin, el->entry_from, el->tangent,
                            el->bending,  scale,      diagonal,        tangent};
#pragma omp parallel num_threads(el->ctx->threads) if (el->slot_count > PL_SERIAL) reduction(min : bad)
    {
        run_patches(el, q);
        bad = run_elements(el, q, clamp, tangent ? el->tangent : NULL);
#pragma omp barrier
        if (gradient)
            pl_elastic_gather_force(el, false, 1.0, gradient);
        if (tangent)
            assemble(el, &assembly);
    }
    if (bad < INT_MAX)
        return (pl_elastic_result){INFINITY, element_of_slot(el, bad)};
    return (pl_elastic_result){
        sum_in_order(el->energy, (size_t)el->slot_count + (size_t)el->patch_count), -1};
}

/* The constant matrix's weight of an element. Projective bodies: w = 2 mu, the method's own. Exact
 * ones: 2 mu + lambda, the least w whose w |grad u|^2 bounds the rest tangent of every field that
 * vanishes on the boundary, since there 2 mu |sym grad u|^2 + lambda (div u)^2 integrates to mu |grad
 * u|^2 + (mu + lambda)(div u)^2 <= (2 mu + lambda) |grad u|^2. */
static double constant_weight(const pl_elastic_group *group, double mu, double lambda)
{
    bool soft = group->reading == PL_PROJECTIVE || group->model == PL_ARAP;
    return soft ? 2.0 * mu : 2.0 * mu + lambda;
}

/* g_k . g_l of the pair's k < l. */
static double shape_product(const pl_element_block *block, int lane, int n, int pair)
{
    int k = 0, l = pair + 1;
    for (; l > n; k++)
        l -= n - k - 1;
    double product = 0.0;
    for (int j = 0; j < n; j++) {
        double g0 = 0.0;
        for (int m = 0; m < n; m++)
            g0 -= block->gradient[n * m + j][lane];
        double gk = k ? block->gradient[n * (k - 1) + j][lane] : g0;
        product += gk * block->gradient[n * (l - 1) + j][lane];
    }
    return product;
}

/* Entry k of sum w V G^T G, right of the diagonal. */
static double constant_entry(const pl_elastic *el, int k)
{
    double sum = 0.0;
    for (int s = el->entry_begin[k], g = 0; s < el->entry_begin[k + 1]; s++) {
        int slot = el->entry_from[s] / PL_TANGENT_STRIDE, lane = slot % PL_LANES;
        int pair = el->entry_from[s] % PL_TANGENT_STRIDE / 9;
        while (slot >= PL_LANES * (el->groups[g].block_offset + el->groups[g].block_count))
            g++;
        const pl_element_block *block = &el->blocks[slot / PL_LANES];
        sum += constant_weight(&el->groups[g], block->mu[lane], block->lambda[lane]) *
               block->volume[lane] * shape_product(block, lane, el->groups[g].cloth ? 2 : 3, pair);
    }
    return sum;
}

void pl_elastic_constant(const pl_elastic *el, double scale, const double *diagonal, double *out)
{
    const pl_pattern *p = &el->pattern;
#pragma omp parallel num_threads(el->ctx->threads) if (el->slot_count > PL_SERIAL)
    {
#pragma omp for schedule(dynamic, PL_ROWS)
        for (int i = 0; i < p->n; i++)
            for (int k = p->diag[i] + 1; k < p->row[i + 1]; k++)
                out[k] = out[el->mirror[k]] = scale * (constant_entry(el, k) + el->bending[k]);
                /* Rows add up to `diagonal`: the form does not feel translations. */
#pragma omp for schedule(static)
        for (int i = 0; i < p->n; i++) {
            double sum = diagonal ? diagonal[i] : 0.0;
            for (int k = p->row[i]; k < p->row[i + 1]; k++)
                sum -= k == p->diag[i] ? 0.0 : out[k];
            out[p->diag[i]] = sum;
        }
    }
}

/* Cauchy stress P F^T / J [3, 3]; J is the ratio of areas for cloth, whose thickness is kept. */
static void cauchy_stress(const double *F, const double *P, bool cloth, double cauchy[9])
{
    int n = cloth ? 2 : 3;
    double J;
    if (cloth) {
        double a[3] = {F[0], F[2], F[4]}, b[3] = {F[1], F[3], F[5]}, normal[3];
        pl_cross3(a, b, normal);
        J = pl_norm3(normal);
    } else {
        J = pl_det3(F);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += P[n * i + k] * F[n * j + k];
            cauchy[3 * i + j] = sum / J;
        }
}

static double von_mises_stress(const double s[9])
{
    double x = s[0] - s[4], y = s[4] - s[8], z = s[8] - s[0];
    double shear = s[1] * s[1] + s[5] * s[5] + s[2] * s[2];
    return sqrt(0.5 * (x * x + y * y + z * z) + 3.0 * shear);
}

void pl_elastic_fields(pl_elastic *el, const double *q, double *energy, double *cauchy,
                       double *von_mises)
{
    for (int g = 0; g < el->group_count; g++) {
        const pl_elastic_group *group = &el->groups[g];
        pl_element_job job = pl_elastic_job(el, group, q);
        job.energy = el->energy;
        el->backend->elements(&job);
        job.tangent = el->tangent;
        el->backend->stress(&job);
        for (int e = group->element_offset; e < group->element_offset + group->element_count; e++) {
            const double *F = el->tangent + PL_TANGENT_STRIDE * (size_t)el->slot[e];
            double stress[9];
            cauchy_stress(F, F + 9, group->cloth, stress);
            if (energy)
                energy[e] = el->energy[el->slot[e]];
            if (cauchy)
                memcpy(cauchy + 9 * (size_t)e, stress, sizeof stress);
            if (von_mises)
                von_mises[e] = von_mises_stress(stress);
        }
    }
    for (int i = 0; energy && i < el->patch_count; i++)
        energy[el->patches[i].element] +=
            pl_bending_energy(&el->patches[i], el->patches[i].stiffness, q);
}
