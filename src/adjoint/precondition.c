/* Preconditioners: none, Jacobi, A^-1, Woodbury (A with contact), the lagged factor with contact. */
#include "adjoint/precondition.h"

#include "core/vec.h"

#include <lapacke.h>

static bool through_contact_space(const pl_linear *l)
{
    return l->def.preconditioner == PL_PRECONDITION_WOODBURY || l->def.preconditioner == PL_PRECONDITION_LAGGED;
}

/* sim->tangent = E at the solution, exact. */
static pl_status exact_tangent(pl_linear *l)
{
    pl_sim *sim = l->sim;
    double h = l->sub.h;
    pl_matrix_diagonal(sim, h);
    pl_elastic_result e = pl_elastic_evaluate(sim->elastic, l->q, false, h * h, sim->diagonal, NULL, sim->tangent);
    if (e.inadmissible >= 0)
        return pl_fail(sim->ctx, PL_ERROR_NUMERIC, "step %d: element %d is inverted", l->sub.step,
                       e.inadmissible);
    return PL_OK;
}

/* LU of S = Dl + Dd W. */
static pl_status factor_schur(pl_linear *l)
{
    pl_sim *sim = l->sim;
    int m = sim->contacts.count, size = 3 * m;
    if (m == 0)
        return PL_OK;
    PL_TRY(pl_delassus_build(sim->ctx, &sim->delassus, pl_matrix_factor(sim), l->sub.h, &sim->contacts));
    pl_contact_schur(sim->ctx, m, l->laws, sim->delassus.w, l->schur);
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, size, size, l->schur, size, l->pivot) != 0)
        return pl_fail(sim->ctx, PL_ERROR_NUMERIC, "step %d: the contact block is singular", l->sub.step);
    return PL_OK;
}

pl_status pl_precondition_refresh(pl_linear *l)
{
    pl_sim *sim = l->sim;
    PL_TRY(pl_matrix_refresh(sim, PL_FACTOR_TANGENT, l->sub.h, l->q));
    l->factorizations++;
    l->excess = 0;
    l->lagging = false;
    PL_TRY(exact_tangent(l)); /* the factor may have been of a clamped one */
    return factor_schur(l);
}

static void invert_diagonal(pl_linear *l)
{
    const pl_pattern *pattern = pl_elastic_pattern(l->sim->elastic);
    for (int i = 0; i < l->sim->n; i++)
        pl_inverse3(l->sim->tangent + 9 * (size_t)pattern->diag[i], l->diagonal_inverse + 9 * (size_t)i);
}

pl_status pl_precondition_setup(pl_linear *l)
{
    pl_sim *sim = l->sim;
    pl_preconditioner kind = l->def.preconditioner;
    bool constant = kind == PL_PRECONDITION_INVERSE || kind == PL_PRECONDITION_WOODBURY;
    if (kind == PL_PRECONDITION_LAGGED) {
        /* Iterations beyond a fresh factor's one since it was made, a solve each (two with contact) and a
         * little more, against making a new one. */
        double iteration = sim->contacts.count > 0 ? 2.2 : 1.2;
        double limit = (sim->refresh_cost + 1.5 * sim->contacts.count) / iteration;
        if (sim->factor != PL_FACTOR_TANGENT || sim->factor_h != l->sub.h || l->excess > limit ||
            l->def.solver == PL_ADJOINT_DIRECT)
            return pl_precondition_refresh(l);
    }
    PL_TRY(exact_tangent(l));
    if (constant && (sim->factor != PL_FACTOR_CONSTANT || sim->factor_h != l->sub.h)) {
        PL_TRY(pl_matrix_refresh(sim, PL_FACTOR_CONSTANT, l->sub.h, l->q));
        l->factorizations++;
    }
    if (kind == PL_PRECONDITION_JACOBI)
        invert_diagonal(l);
    return through_contact_space(l) ? factor_schur(l) : PL_OK;
}

/* [E^ H^T Dd^T; -h^2 H  Dl^T] or its untransposed form, with S: two applications of E^-1. */
static pl_status apply_schur(pl_linear *l, const double *x, double *y)
{
    pl_sim *sim = l->sim;
    size_t n = (size_t)sim->n;
    int m = sim->contacts.count, size = 3 * m;
    double h2 = l->sub.h * l->sub.h, *w = y + 3 * n;
    PL_TRY(pl_matrix_solve(sim, x, y));
    if (m == 0)
        return PL_OK;
    for (int c = 0; c < m; c++) {
        double at[3], pulled[3];
        const double *row = x + 3 * n + 3 * (size_t)c;
        pl_contact_gather(&sim->contacts.points[c], y, at);
        pl_mat3_vec(l->laws[c].d_delta, at, pulled);
        for (int k = 0; k < 3; k++)
            w[3 * c + k] = l->transposed ? l->rho[c] * row[k] + h2 * at[k] : l->rho[c] / h2 * row[k] - pulled[k];
    }
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, l->transposed ? 'T' : 'N', size, 1, l->schur, size, l->pivot, w, size);
    memcpy(l->work, x, sizeof(double) * 3 * n);
    for (int c = 0; c < m; c++) {
        double a[3];
        pl_mat3_tvec(l->laws[c].d_delta, w + 3 * c, a);
        pl_contact_scatter(&sim->contacts.points[c], l->transposed ? -1 : h2, l->transposed ? a : w + 3 * c,
                           l->work);
    }
    return pl_matrix_solve(sim, l->work, y);
}

/* Contact rows alone: (Dl + rho Dd)^-1 or its transpose, block by block. */
static void apply_contact_diagonal(const pl_linear *l, const double *x, double *y)
{
    double h2 = l->sub.h * l->sub.h;
    for (int c = 0; c < l->sim->contacts.count; c++) {
        double block[9], inverse[9], row[3];
        for (int k = 0; k < 9; k++)
            block[k] = l->laws[c].d_lambda[k] + l->rho[c] * l->laws[c].d_delta[k];
        pl_inverse3(block, inverse);
        for (int k = 0; k < 3; k++)
            row[k] = (l->transposed ? l->rho[c] : l->rho[c] / h2) * x[3 * c + k];
        if (l->transposed)
            pl_mat3_tvec(inverse, row, y + 3 * c);
        else
            pl_mat3_vec(inverse, row, y + 3 * c);
    }
}

pl_status pl_precondition_apply(void *user, const double *x, double *y)
{
    pl_linear *l = user;
    size_t n = (size_t)l->sim->n;
    if (through_contact_space(l))
        return apply_schur(l, x, y);
    apply_contact_diagonal(l, x + 3 * n, y + 3 * n);
    if (l->def.preconditioner == PL_PRECONDITION_INVERSE)
        return pl_matrix_solve(l->sim, x, y);
    for (size_t i = 0; i < n; i++)
        pl_mat3_vec(l->diagonal_inverse + 9 * i, x + 3 * i, y + 3 * i);
    return PL_OK;
}
