/*
 * Newton's own step E p = -r by conjugate gradients on the true tangent E, with the lagged factor as
 * the preconditioner: a few products and solves where a new factor costs some fifty. CG stops early
 * where the potential curves down: the direction it meets there leads away from a saddle, on which
 * corrections by a clamped tangent would only creep.
 */
#include "sim/solver.h"

#include "core/vec.h"
#include "terms/term.h"

#define ACCURACY 1e-2 /* of the residual: more would not show in the step that follows */

static pl_status apply_tangent(void *user, const double *x, double *y)
{
    const pl_solver *solver = user;
    pl_bsr_multiply(solver->ctx->threads, solver->matrix.model->pattern, solver->matrix.tangent, x, y);
    return PL_OK;
}

static pl_status apply_factor(void *user, const double *x, double *y)
{
    pl_solver *solver = user;
    return pl_matrix_correct(&solver->matrix, x, y);
}

static double largest(int n, const double *x)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, pl_norm3(x + 3 * (size_t)i));
    return most;
}

pl_status pl_truncated_newton(pl_solver *solver, const pl_substep *sub, const double *q, double size,
                              int limit, double *step, pl_truncated *out)
{
    pl_krylov_result result;
    pl_matrix_diagonal(&solver->matrix, solver->matter, sub->h);
    pl_terms_tangent(sub, q, false, sub->h * sub->h, solver->matrix.diagonal, solver->matrix.tangent);
    pl_stage(&solver->meter, PL_STAGE_ASSEMBLE);
    for (int i = 0; i < 3 * solver->n; i++)
        solver->guess[i] = -solver->residual[i];
    PL_TRY(pl_cg(&solver->krylov, 3 * solver->n, (pl_operator){.apply = apply_tangent, .user = solver},
                 (pl_operator){.apply = apply_factor, .user = solver}, solver->guess, step, ACCURACY,
                 limit, &result));
    pl_stage(&solver->meter, PL_STAGE_SOLVE);
    out->iterations = result.iterations;
    out->kind = result.indefinite  ? PL_TRUNCATED_DOWNHILL
                : result.converged ? PL_TRUNCATED_NEWTON
                                   : PL_TRUNCATED_NONE;
    if (!result.indefinite)
        return PL_OK;
    const double *direction = solver->krylov.direction;
    double reach = fmax(largest(solver->n, step), size) / largest(solver->n, direction);
    for (int i = 0; i < 3 * solver->n; i++)
        step[i] += reach * direction[i];
    return PL_OK;
}
