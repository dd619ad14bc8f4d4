/* Energy, forces, constant matrix and parameter derivatives of bending, triangle by triangle. */
#include "elastic/bending.h"

#include "core/vec.h"
#include "elastic/bending_patch.h"

static pl_status pack(pl_context *ctx, int count, const pl_bending_patch *patches, pl_bending *b)
{
    pl_status status = PL_OK;
    b->count = count;
    for (int i = 0; i < count; i++)
        b->force_count += patches[i].count;
    PL_NEW(ctx, b->element, count, done);
    PL_NEW(ctx, b->area, count, done);
    PL_NEW(ctx, b->begin, count + 1, done);
    PL_NEW(ctx, b->vertex, b->force_count, done);
    PL_NEW(ctx, b->weight, b->force_count, done);
    for (int i = 0; i < count; i++) {
        const pl_bending_patch *p = &patches[i];
        b->element[i] = p->element;
        b->area[i] = p->area;
        b->begin[i + 1] = b->begin[i] + p->count;
        memcpy(b->vertex + b->begin[i], p->vertex, (size_t)p->count * sizeof *p->vertex);
        memcpy(b->weight + b->begin[i], p->weight, (size_t)p->count * sizeof *p->weight);
    }
done:
    return status;
}

pl_status pl_bending_create(pl_context *ctx, int body_count, const pl_elastic_body *bodies,
                            pl_bending *out)
{
    pl_bending_patch *patches = NULL;
    int count;
    PL_TRY(pl_bending_patches(ctx, body_count, bodies, &count, &patches));
    pl_status status = pack(ctx, count, patches, out);
    pl_free(ctx, patches);
    return status;
}

void pl_bending_free(pl_context *ctx, pl_bending *b)
{
    pl_free(ctx, b->element);
    pl_free(ctx, b->area);
    pl_free(ctx, b->begin);
    pl_free(ctx, b->vertex);
    pl_free(ctx, b->weight);
    pl_free(ctx, b->entry);
}

/* One triangle's part of the arrays. */
typedef struct triangle {
    int count; /* of its vertices */
    const int *vertex;
    const double (*weight)[3];
} triangle;

static triangle triangle_at(const pl_bending *b, int i)
{
    int begin = b->begin[i];
    return (triangle){b->begin[i + 1] - begin, b->vertex + begin,
                      (const double(*)[3])b->weight + begin};
}

/* Whether vertices k and l feel each other; not if their weights are orthogonal. */
static bool couples(const triangle *t, int k, int l)
{
    const double *u = t->weight[k], *v = t->weight[l];
    return fabs(pl_dot3(u, v)) > 1e-12 * pl_norm3(u) * pl_norm3(v);
}

int pl_bending_pairs(const pl_bending *b, int *pairs)
{
    int count = 0;
    for (int i = 0; i < b->count; i++) {
        triangle t = triangle_at(b, i);
        for (int k = 0; k < t.count; k++)
            for (int l = 0; l < k; l++) {
                if (!couples(&t, k, l))
                    continue;
                if (pairs) {
                    pairs[2 * (size_t)count] = t.vertex[k];
                    pairs[2 * (size_t)count + 1] = t.vertex[l];
                }
                count++;
            }
    }
    return count;
}

pl_status pl_bending_locate(pl_context *ctx, const pl_pattern *pattern, pl_bending *b)
{
    pl_status status = PL_OK;
    size_t total = 0;
    for (int i = 0; i < b->count; i++) {
        size_t count = (size_t)triangle_at(b, i).count;
        total += count * count;
    }
    PL_NEW(ctx, b->entry, total, done);
    int *entry = b->entry;
    for (int i = 0; i < b->count; i++) {
        triangle t = triangle_at(b, i);
        for (int k = 0; k < t.count; k++)
            for (int l = 0; l < t.count; l++)
                *entry++ = pl_pattern_find(pattern, t.vertex[k], t.vertex[l]);
    }
done:
    return status;
}

/* As measured with AVX2. */
double pl_bending_cost(const pl_bending *b)
{
    return 30.0 * b->count;
}

pl_status pl_bending_numbers_create(pl_context *ctx, const pl_bending *b, const pl_pattern *pattern,
                                    pl_bending_numbers *out)
{
    pl_status status = PL_OK;
    PL_NEW(ctx, out->stiffness, b->count, done);
    if (b->count > 0)
        PL_NEW(ctx, out->matrix, pattern->nnz, done);
done:
    return status;
}

void pl_bending_numbers_free(pl_context *ctx, pl_bending_numbers *numbers)
{
    pl_free(ctx, numbers->stiffness);
    pl_free(ctx, numbers->matrix);
}

void pl_bending_set(const pl_bending *b, const pl_pattern *pattern, const double *rigidity,
                    pl_bending_numbers *numbers)
{
    const int *entry = b->entry;
    if (b->count == 0)
        return;
    memset(numbers->matrix, 0, (size_t)pattern->nnz * sizeof *numbers->matrix);
    for (int i = 0; i < b->count; i++) {
        triangle t = triangle_at(b, i);
        double stiffness = numbers->stiffness[i] = rigidity[b->element[i]] * b->area[i];
        for (int k = 0; k < t.count; k++)
            for (int l = 0; l < t.count; l++, entry++)
                if (*entry >= 0)
                    numbers->matrix[*entry] += stiffness * pl_dot3(t.weight[k], t.weight[l]);
    }
}

/* kappa [3, 3], from differences so that a far-away cloth loses no digits. Inlined it stays in
 * registers. */
static inline __attribute__((always_inline)) void curvature(const triangle *t, const double *x,
                                                            double kappa[9])
{
    const double *x0 = x + 3 * (size_t)t->vertex[0];
    memset(kappa, 0, 9 * sizeof *kappa);
    for (int k = 1; k < t->count; k++) {
        double d[3];
        pl_sub3(x + 3 * (size_t)t->vertex[k], x0, d);
        for (int r = 0; r < 3; r++)
            pl_axpy3(t->weight[k][r], d, kappa + 3 * r);
    }
}

static double dot9(const double *u, const double *v)
{
    return pl_dot3(u, v) + pl_dot3(u + 3, v + 3) + pl_dot3(u + 6, v + 6);
}

/* The forces [count, 3] with this stiffness; returns the energy. */
static double bend(const triangle *t, double stiffness, const double *q, double *force)
{
    double kappa[9];
    curvature(t, q, kappa);
    for (int k = 0; k < t->count; k++)
        for (int i = 0; i < 3; i++) {
            const double *w = t->weight[k];
            force[3 * k + i] =
                stiffness * (w[0] * kappa[i] + w[1] * kappa[3 + i] + w[2] * kappa[6 + i]);
        }
    return 0.5 * stiffness * dot9(kappa, kappa);
}

void pl_bending_evaluate(const pl_bending *b, const pl_bending_numbers *numbers, const double *q,
                         double *energy, double *force)
{
#pragma omp for schedule(static) nowait
    for (int i = 0; i < b->count; i++) {
        triangle t = triangle_at(b, i);
        energy[i] = bend(&t, numbers->stiffness[i], q, force + 3 * (size_t)b->begin[i]);
    }
}

void pl_bending_fields(const pl_bending *b, const pl_bending_numbers *numbers, const double *q,
                       double *energy)
{
    for (int i = 0; i < b->count; i++) {
        triangle t = triangle_at(b, i);
        double kappa[9];
        curvature(&t, q, kappa);
        energy[b->element[i]] += 0.5 * numbers->stiffness[i] * dot9(kappa, kappa);
    }
}

/* z . d(gradient)/d(stiffness) = kappa(q) . kappa(z) */
void pl_bending_param_vjp(const pl_bending *b, const double *q, const double *z, double scale,
                          double *drigidity)
{
    for (int i = 0; i < b->count; i++) {
        triangle t = triangle_at(b, i);
        double of_q[9], of_z[9];
        curvature(&t, q, of_q);
        curvature(&t, z, of_z);
        drigidity[b->element[i]] += scale * b->area[i] * dot9(of_q, of_z);
    }
}

void pl_bending_param_jvp(const pl_bending *b, const double *q, const double *drigidity, double *force)
{
#pragma omp for schedule(static) nowait
    for (int i = 0; i < b->count; i++) {
        triangle t = triangle_at(b, i);
        double stiffness = drigidity ? drigidity[b->element[i]] * b->area[i] : 0.0;
        bend(&t, stiffness, q, force + 3 * (size_t)b->begin[i]);
    }
}
