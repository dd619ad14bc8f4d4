/*
 * Newton's own step with contacts. The factor E^ that proposed the last move may lag behind the true
 * tangent E, or be of a clamped one where E is indefinite; then its corrections creep or do not
 * converge. With the law linearised where the nested solve left it (D_delta, D_lambda), the move lacks
 *
 *     [ E             -h^2 H^T ] [x ]   [ -r + h^2 H^T lambda - E move ]
 *     [ D_delta H     D_lambda ] [dl] = [ 0                            ]
 *
 * solved by GMRES with the same system as preconditioner, E^ for E, through contact space.
 */
#include "sim/newton.h"

#include "core/vec.h"

#define ACCURACY 1e-6 /* of the residual: soft modes show little in it beside stiff ones */
#define RESTART  40

/* y = matrix x; the law's rows are scaled to the size of E's. */
static pl_status apply_coupled(void *user, const double *x, double *y)
{
    const pl_sim *sim = user;
    size_t n = (size_t)sim->n;
    double h2 = sim->factor_h * sim->factor_h;
    pl_bsr_multiply(sim->ctx->threads, pl_elastic_pattern(sim->elastic), sim->tangent, x, y);
    for (int c = 0; c < sim->contacts.count; c++) {
        const pl_contact_point *p = &sim->contacts.points[c];
        const pl_law_linear *law = &sim->contact_solver.linear[c];
        const double *force = x + 3 * n + 3 * (size_t)c;
        double *out = y + 3 * n + 3 * (size_t)c, at[3], moved[3];
        pl_contact_gather(p, x, at);
        pl_contact_scatter(p, -h2, force, y);
        pl_mat3_vec(law->d_lambda, force, out);
        pl_mat3_vec(law->d_delta, at, moved);
        for (int k = 0; k < 3; k++)
            out[k] = (out[k] + moved[k]) * h2 / sim->laws[c].rho;
    }
    return PL_OK;
}

/* The same system with the factor for E: x0 = E^^-1 a, S dl = b - D_delta H x0, x = x0 + E^^-1 h^2 H^T
 * dl */
static pl_status apply_factor(void *user, const double *x, double *y)
{
    pl_sim *sim = user;
    size_t n = (size_t)sim->n;
    int m = sim->contacts.count;
    double h2 = sim->factor_h * sim->factor_h, *force = y + 3 * n;
    PL_TRY(pl_matrix_begin(sim, x, y));
    for (int c = 0; c < m; c++) {
        double at[3], moved[3];
        pl_contact_gather(&sim->contacts.points[c], y, at);
        pl_mat3_vec(sim->contact_solver.linear[c].d_delta, at, moved);
        for (int k = 0; k < 3; k++)
            force[3 * c + k] = x[3 * n + (size_t)(3 * c + k)] * sim->laws[c].rho / h2 - moved[k];
    }
    pl_contact_system_back_substitute(sim->ctx, &sim->contact_solver.system, m, force);
    memset(sim->guess, 0, sizeof(double) * 3 * n);
    for (int c = 0; c < m; c++)
        pl_contact_scatter(&sim->contacts.points[c], h2, force + 3 * c, sim->guess);
    return pl_matrix_end(sim, sim->guess, NULL, y);
}

/* rhs = (-r + h^2 H^T lambda - E move, 0) */
static void lacking(pl_sim *sim, const double *move, double *rhs)
{
    double h2 = sim->factor_h * sim->factor_h;
    pl_bsr_multiply(sim->ctx->threads, pl_elastic_pattern(sim->elastic), sim->tangent, move, rhs);
    for (int i = 0; i < 3 * sim->n; i++)
        rhs[i] = -sim->residual[i] - rhs[i];
    memset(rhs + 3 * (size_t)sim->n, 0, sizeof(double) * 3 * (size_t)sim->contacts.count);
    for (int c = 0; c < sim->contacts.count; c++)
        pl_contact_scatter(&sim->contacts.points[c], h2, sim->lambda + 3 * c, rhs);
}

pl_status pl_coupled_newton(pl_sim *sim, const double *q, const double *move, int limit, double *step,
                            pl_truncated *out)
{
    double h = sim->factor_h;
    int m = sim->contacts.count, size = 3 * sim->n + 3 * m;
    pl_krylov_result result = {0};
    *out = (pl_truncated){.kind = PL_TRUNCATED_NONE};
    PL_TRY(pl_krylov_reserve(sim->ctx, &sim->krylov, size, RESTART));
    PL_TRY(pl_grow(sim->ctx, (void **)&sim->coupled, &sim->coupled_capacity, 2 * size, sizeof(double)));
    double *rhs = sim->coupled, *x = sim->coupled + size;
    pl_matrix_diagonal(sim, h);
    pl_elastic_evaluate(sim->elastic, q, false, h * h, sim->diagonal, NULL, sim->tangent);
    pl_stage(sim, PL_STAGE_ASSEMBLE);
    pl_coupling on = pl_newton_coupling(sim);
    bool regular = pl_contact_linearize(sim->ctx, &sim->contact_solver, &on, sim->lambda);
    pl_stage(sim, PL_STAGE_CONTACT);
    if (!regular)
        return PL_OK;
    lacking(sim, move, rhs);
    PL_TRY(pl_gmres(&sim->krylov, size, (pl_operator){.apply = apply_coupled, .user = sim},
                    (pl_operator){.apply = apply_factor, .user = sim}, rhs, x, ACCURACY, limit,
                    &result));
    pl_stage(sim, PL_STAGE_SOLVE);
    out->iterations = result.iterations;
    if (!result.converged)
        return PL_OK;
    out->kind = PL_TRUNCATED_NEWTON;
    for (int i = 0; i < 3 * sim->n; i++)
        step[i] = move[i] + x[i];
    return PL_OK;
}
