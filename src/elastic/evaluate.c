/*
 * Evaluating the elastic energy: the kernels write each element's energy and gradient, and add up the
 * tangents of each portion's elements; then each vertex and each row of the matrix gathers its own, in
 * a fixed order. No two threads write the same place and no sum depends on their number.
 */
#include "elastic/internal.h"

#include "core/vec.h"

#include <limits.h>

pl_element_job pl_elastic_job(const pl_elastic *el, const pl_elastic_portion *portion, const double *q)
{
    const pl_elements *elements = el->elements;
    const pl_elastic_group *group = &elements->groups[portion->group];
    return (pl_element_job){
        .blocks = elements->blocks,
        .moduli = el->moduli,
        .first = portion->first,
        .last = portion->last,
        .cloth = group->cloth,
        .model = group->model,
        .reading = group->reading,
        .q = q,
        .targets = elements->targets,
    };
}

int pl_elastic_threads(const pl_elastic *el, double cost)
{
    return cost < el->ctx->limits.thread_elements ? 1 : el->ctx->threads;
}

static void clear_shares(const pl_elastic *el, const pl_elastic_portion *portion, size_t values)
{
    memset(el->share + values * (size_t)portion->share_begin, 0,
           sizeof(double) * values * (size_t)(portion->share_end - portion->share_begin));
}

/* Runs the kernel over all portions inside a parallel region; returns this thread's first bad slot. */
static int run_elements(const pl_elastic *el, const double *q, bool clamp, bool tangent)
{
    const pl_elements *elements = el->elements;
    int bad = INT_MAX;
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < elements->portion_count; i++) {
        const pl_elastic_portion *portion = &elements->portions[i];
        pl_element_job job = pl_elastic_job(el, portion, q);
        job.clamp = clamp;
        job.energy = el->energy;
        job.force = el->force;
        if (tangent) {
            job.tangent = el->share;
            clear_shares(el, portion, 9);
        }
        int found = el->backend->elements(&job);
        if (found >= 0 && found < bad)
            bad = found;
    }
    return bad;
}

void pl_elastic_gather_force(const pl_elastic *el, bool add, double scale, double *out)
{
    const pl_elements *elements = el->elements;
    int n = elements->vertex_count;
    pl_gathering gathering = {
        elements->vertex_begin, elements->vertex_from, el->force, scale, add, out};
#pragma omp for schedule(static)
    for (int first = 0; first < n; first += PL_ROWS)
        el->backend->gather(&gathering, first, n - first < PL_ROWS ? n : first + PL_ROWS);
}

/* The kernels' row ranges, inside a parallel region. */
static void assemble(const pl_elastic *el, const pl_assembly *assembly)
{
    int n = assembly->pattern->n;
#pragma omp for schedule(dynamic, 1)
    for (int first = 0; first < n; first += PL_ROWS)
        el->backend->assemble(assembly, first, n - first < PL_ROWS ? n : first + PL_ROWS);
}

static int element_of_slot(const pl_elastic *el, int slot)
{
    const pl_elements *elements = el->elements;
    int g = 0;
    while (slot >= PL_LANES * (elements->groups[g].block_offset + elements->groups[g].block_count))
        g++;
    return slot - PL_LANES * elements->groups[g].block_offset + elements->groups[g].element_offset;
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
    const pl_elements *elements = el->elements;
    int bad = INT_MAX;
    pl_assembly assembly = {
        .pattern = &elements->pattern,
        .begin = elements->entry_begin,
        .from = elements->entry_from,
        .share = el->share,
        .isotropic = el->bending.matrix,
        .scale = scale,
        .diagonal = diagonal,
        .out = tangent,
    };
    int threads = pl_elastic_threads(el, tangent ? elements->tangent_cost : elements->stress_cost);
#pragma omp parallel num_threads(threads) reduction(min : bad)
    {
        pl_bending_evaluate(&elements->bending, &el->bending, q, el->energy + elements->slot_count,
                            pl_elastic_bending_force(el));
        bad = run_elements(el, q, clamp, tangent != NULL);
        if (gradient)
            pl_elastic_gather_force(el, false, 1.0, gradient);
        if (tangent)
            assemble(el, &assembly);
    }
    if (bad < INT_MAX)
        return (pl_elastic_result){INFINITY, element_of_slot(el, bad)};
    return (pl_elastic_result){
        sum_in_order(el->energy, (size_t)elements->slot_count + (size_t)elements->bending.count), -1};
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

/* Adds a portion's sum w V G^T G to its shares, [share_count] here. */
static void add_constant(const pl_elastic *el, const pl_elastic_portion *portion)
{
    const pl_elements *elements = el->elements;
    const pl_elastic_group *group = &elements->groups[portion->group];
    int n = group->cloth ? 2 : 3;
    clear_shares(el, portion, 1);
    for (int b = portion->first; b < portion->last; b++) {
        const pl_element_block *block = &elements->blocks[b];
        const pl_element_moduli *moduli = &el->moduli[b];
        const pl_element_targets *targets = &elements->targets[b];
        for (int lane = 0; lane < PL_LANES; lane++) {
            double weight =
                block->volume[lane] * constant_weight(group, moduli->mu[lane], moduli->lambda[lane]);
            for (int pair = 0; pair < n * (n + 1) / 2; pair++)
                el->share[targets->at[pair][lane] / 9] += weight * shape_product(block, lane, n, pair);
        }
    }
}

void pl_elastic_constant(const pl_elastic *el, double scale, const double *diagonal, double *out)
{
    const pl_elements *elements = el->elements;
    const pl_pattern *p = &elements->pattern;
    const double *bending = el->bending.matrix;
#pragma omp parallel num_threads(pl_elastic_threads(el, elements->tangent_cost))
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < elements->portion_count; i++)
            add_constant(el, &elements->portions[i]);
#pragma omp for schedule(static)
        for (int i = 0; i < p->n; i++) {
            /* Rows add up to `diagonal`: the form does not feel translations. */
            double row = diagonal ? diagonal[i] : 0.0;
            for (int k = p->row[i]; k < p->row[i + 1]; k++) {
                double sum = bending ? bending[k] : 0.0;
                for (int s = elements->entry_begin[k]; s < elements->entry_begin[k + 1]; s++)
                    sum += el->share[elements->entry_from[s] / 9];
                out[k] = scale * sum;
                row -= k == p->diag[i] ? 0.0 : out[k];
            }
            out[p->diag[i]] = row;
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

void pl_elastic_fields(pl_elastic *el, const double *q, const double *more, double *energy,
                       double *cauchy, double *von_mises)
{
    const pl_elements *elements = el->elements;
    double block[PL_LANES][2][9]; /* F and P */
    for (int g = 0; g < elements->group_count; g++) {
        const pl_elastic_group *group = &elements->groups[g];
        for (int i = 0; i < group->element_count; i++) {
            int e = group->element_offset + i;
            double stress[9];
            if (i % PL_LANES == 0) {
                int b = group->block_offset + i / PL_LANES;
                pl_elastic_portion one = {.group = g, .first = b, .last = b + 1};
                pl_element_job job = pl_elastic_job(el, &one, q);
                job.energy = el->energy;
                el->backend->elements(&job);
                el->backend->stress(&job, block[0][0]);
            }
            for (int k = 0; more && k < 9; k++)
                block[i % PL_LANES][1][k] += more[e] * block[i % PL_LANES][0][k];
            cauchy_stress(block[i % PL_LANES][0], block[i % PL_LANES][1], group->cloth, stress);
            if (energy)
                energy[e] = el->energy[elements->slot[e]];
            if (cauchy)
                memcpy(cauchy + 9 * (size_t)e, stress, sizeof stress);
            if (von_mises)
                von_mises[e] = von_mises_stress(stress);
        }
    }
    if (energy)
        pl_bending_fields(&elements->bending, &el->bending, q, energy);
}
