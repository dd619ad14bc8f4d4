/*
 * Bending of cloth as a constant quadratic form, the plate's energy of curvature per area:
 *
 *     E = sum_T k_b(T) A_T / 2 |kappa_T|^2,      kappa_T = sum_k w_k x_k
 *
 * for triangles T with the curvature of bending_patch.c, (xx, yy, sqrt 2 xy) of three components each.
 * It is that of a plate with Poisson's ratio 0: bending one way does not bend it the other. Exactly
 * invariant under rotation. The rest shape is flat by assumption.
 */
#include "elastic/internal.h"

#include "core/vec.h"

bool pl_bending_couples(const pl_bending_patch *patch, int k, int l)
{
    const double *a = patch->weight[k], *b = patch->weight[l];
    return fabs(pl_dot3(a, b)) > 1e-12 * pl_norm3(a) * pl_norm3(b);
}

pl_status pl_bending_locate(pl_elements *elements)
{
    pl_status status = PL_OK;
    size_t total = 0;
    for (int i = 0; i < elements->patch_count; i++)
        total += (size_t)elements->patches[i].count * (size_t)elements->patches[i].count;
    PL_NEW(elements->ctx, elements->patch_entry, total, done);
    elements->force_count = PL_FORCE_STRIDE * elements->slot_count;
    for (int i = 0, at = 0; i < elements->patch_count; i++) {
        pl_bending_patch *p = &elements->patches[i];
        p->force_at = elements->force_count;
        elements->force_count += 3 * p->count;
        for (int k = 0; k < p->count; k++)
            for (int l = 0; l < p->count; l++)
                elements->patch_entry[at++] =
                    pl_pattern_find(&elements->pattern, p->vertex[k], p->vertex[l]);
    }
done:
    return status;
}

void pl_bending_set(pl_elastic *el, const double *rigidity)
{
    const pl_elements *elements = el->elements;
    const int *entry = elements->patch_entry;
    memset(el->bending, 0, (size_t)elements->pattern.nnz * sizeof *el->bending);
    for (int i = 0; i < elements->patch_count; i++) {
        const pl_bending_patch *p = &elements->patches[i];
        el->stiffness[i] = rigidity[p->element] * p->area;
        for (int k = 0; k < p->count; k++)
            for (int l = 0; l < p->count; l++, entry++)
                if (*entry >= 0)
                    el->bending[*entry] += el->stiffness[i] * pl_dot3(p->weight[k], p->weight[l]);
    }
}

/* kappa [3, 3], from differences so that a far-away cloth loses no digits. */
static void curvature(const pl_bending_patch *patch, const double *x, double kappa[9])
{
    const double *x0 = x + 3 * (size_t)patch->vertex[0];
    memset(kappa, 0, 9 * sizeof *kappa);
    for (int k = 1; k < patch->count; k++) {
        double d[3];
        pl_sub3(x + 3 * (size_t)patch->vertex[k], x0, d);
        for (int r = 0; r < 3; r++)
            pl_axpy3(patch->weight[k][r], d, kappa + 3 * r);
    }
}

static double dot9(const double *a, const double *b)
{
    return pl_dot3(a, b) + pl_dot3(a + 3, b + 3) + pl_dot3(a + 6, b + 6);
}

double pl_bending_energy(const pl_bending_patch *patch, double stiffness, const double *q)
{
    double kappa[9];
    curvature(patch, q, kappa);
    return 0.5 * stiffness * dot9(kappa, kappa);
}

double pl_bending_force(const pl_bending_patch *patch, double stiffness, const double *q, double *force)
{
    double kappa[9];
    curvature(patch, q, kappa);
    for (int k = 0; k < patch->count; k++)
        for (int i = 0; i < 3; i++) {
            const double *w = patch->weight[k];
            force[3 * k + i] =
                stiffness * (w[0] * kappa[i] + w[1] * kappa[3 + i] + w[2] * kappa[6 + i]);
        }
    return 0.5 * stiffness * dot9(kappa, kappa);
}

double pl_bending_product(const pl_bending_patch *patch, const double *x, const double *z)
{
    double of_x[9], of_z[9];
    curvature(patch, x, of_x);
    curvature(patch, z, of_z);
    return dot9(of_x, of_z);
}
