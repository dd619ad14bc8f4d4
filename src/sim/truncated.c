/*
 * Newton's own step E p = -r by conjugate gradients on the true tangent E, with the lagged factor as
 * the preconditioner: a few products and solves where a new factor costs some fifty. CG stops early
 * where the potential curves down: the direction it meets there leads away from a saddle, on which
 * corrections by a clamped tangent would only creep.
 */
#include "sim/sim.h"

#include "core/vec.h"

#define ACCURACY 1e-2 /* of the residual: more would not show in the step that follows */

static pl_status apply_tangent(void *user, const double *x, double *y)
{
    const pl_sim *sim = user;
    pl_bsr_multiply(sim->ctx->threads, pl_elastic_pattern(sim->elastic), sim->tangent, x, y);
    return PL_OK;
}

static pl_status apply_factor(void *user, const double *x, double *y)
{
    return pl_matrix_correct(user, x, y);
}

static double largest(int n, const double *x)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, pl_norm3(x + 3 * (size_t)i));
    return most;
}

pl_status pl_truncated_newton(pl_sim *sim, double h, const double *q, double size, int limit,
                              double *step, pl_truncated *out)
{
    pl_krylov_result result;
    pl_matrix_diagonal(sim, h);
    pl_elastic_evaluate(sim->elastic, q, false, h * h, sim->diagonal, NULL, sim->tangent);
    pl_stage(sim, PL_STAGE_ASSEMBLE);
    for (int i = 0; i < 3 * sim->n; i++)
        sim->guess[i] = -sim->residual[i];
    PL_TRY(pl_cg(&sim->krylov, 3 * sim->n, (pl_operator){.apply = apply_tangent, .user = sim},
                 (pl_operator){.apply = apply_factor, .user = sim}, sim->guess, step, ACCURACY, limit,
                 &result));
    pl_stage(sim, PL_STAGE_SOLVE);
    out->iterations = result.iterations;
    out->kind = result.indefinite  ? PL_TRUNCATED_DOWNHILL
                : result.converged ? PL_TRUNCATED_NEWTON
                                   : PL_TRUNCATED_NONE;
    if (!result.indefinite)
        return PL_OK;
    const double *direction = sim->krylov.direction;
    double reach = fmax(largest(sim->n, step), size) / largest(sim->n, direction);
    for (int i = 0; i < 3 * sim->n; i++)
        step[i] += reach * direction[i];
    return PL_OK;
}
