/*
 * From an iterate to the next one: by the combination of past moves, by the last move, by Newton's own
 * step (without contacts truncated.c, with them coupled.c), by a fresh factor's, by a part of it.
 *
 * With contacts Newton's own step is the rule. It takes a few iterations of GMRES, each a solve with
 * the lagged factor, and a correction afterwards; the lagged factor alone takes a correction for each,
 * with the contact law to be solved every time. Where the factor hardly lags, and the differences of
 * earlier substeps tell what the first move lacks, that is still less.
 */
#include "sim/newton.h"

#include "core/vec.h"

#include <cblas.h>

#define SHORTEST_STEP  1e-4
#define FITTING_RATE   0.1 /* of a first step that earlier ones' differences helped to find */
#define UPHILL_STEPS   20  /* steps that may enlarge the correction */
#define UPHILL_RATE    3.0
#define MOST_DOUBLINGS 20
#define CG_LIMIT       0.5  /* of a factorisation's cost: CG is given up, */
#define CG_SLOW        0.25 /* or followed by a new factor */

#define GMRES_LIMIT     12   /* iterations for Newton's own step with contacts, */
#define CONVERGING      0.3  /* where corrections shrink to this or less, */
#define KEEPS_ON        0.5  /* for as long as it does so; */
#define LAST_GOAL       0.2  /* of the tolerance may be left by the last of these steps: */
#define FINEST_GOAL     3e-7 /* if that is more than this of the correction, it can be the first; */
#define FIRST_GOAL      1e-3 /* or else so much of the correction may be left by the first, */
#define FORCING         0.1  /* and of the square of the last rate by later ones, */
#define ROUGHEST_GOAL   0.1  /* at most */
#define GOOD_FIRST_RATE 0.03 /* of what earlier differences suggest: a first step for nothing */
#define SOON            0.5  /* of the tolerance: as close as the lagged factor has to come */

#define SADDLE_LIMIT 40   /* iterations of GMRES at a saddle, */
#define SADDLE_GOAL  1e-6 /* of the residual: soft modes show little in it beside stiff ones */

/* Whether bodies in contact are at an indefinite tangent, as far as the factor knows. */
static bool at_saddle(const pl_newton *s)
{
    return s->solver->matrix.clamped && s->solver->space.set.count > 0;
}

/* A correction should shrink. Where the true tangent is indefinite (buckling) the way to the solution
 * may first lead away from a stationary point: then it is the potential that must fall. Modes of
 * contact that change may enlarge it too, for a number of steps, at most three times each. */
static bool acceptable(pl_newton *s, double t, bool combined, double trial_norm)
{
    if (s->law_failed || !isfinite(trial_norm))
        return false;
    if (s->by_earlier)
        return trial_norm <= FITTING_RATE * s->norm;
    if (trial_norm <= (1 - 0.01 * t) * s->norm || s->downhill)
        return true;
    if (s->solver->space.set.count == 0)
        return s->potential < s->energy - 1e-12 * fabs(s->energy);
    if (trial_norm > UPHILL_RATE * s->norm || at_saddle(s))
        return false;
    return (combined || !s->stale) && s->uphill++ < UPHILL_STEPS;
}

/* The point a fraction t along `step` and its own correction; accepted, it becomes the iterate. */
static pl_status attempt(pl_newton *s, const double *step, double t, bool *accepted, double *theta)
{
    pl_solver *solver = s->solver;
    double trial_norm = INFINITY;
    for (int i = 0; i < 3 * solver->n; i++)
        solver->trial[i] = solver->iterate[i] + t * step[i];
    s->law_failed = false;
    if (pl_newton_evaluate(s, solver->trial))
        PL_TRY(pl_newton_correct(s, solver->trial, solver->trial_move, &trial_norm));
    pl_log(solver->ctx, PL_LOG_DEBUG, "step %d: move %.3e m, after %g of it%s %.3e m%s%s%s",
           s->sub->step + 1, s->norm, t, step == solver->move ? "" : " combined", trial_norm,
           s->stale ? ", lagged factor" : "", s->inadmissible >= 0 ? ", inverted" : "",
           s->law_failed ? ", law unsolved" : "");
    *accepted = acceptable(s, t, step != solver->move, trial_norm);
    if (!*accepted)
        return PL_OK;
    solver->meter.info.iterations++;
    double *swap = solver->iterate;
    solver->iterate = solver->trial, solver->trial = swap;
    swap = solver->move;
    solver->move = solver->trial_move, solver->trial_move = swap;
    *theta = trial_norm / s->norm;
    s->fresh_step = !s->stale;
    if (!s->stale)
        s->fresh_rate = *theta;
    s->norm = trial_norm;
    s->energy = s->potential;
    s->stale = !s->renewed;
    return PL_OK;
}

/* How far to go along a step downhill: twice as long as long as the potential falls, or half until it
 * does. Contact forces count as constant. */
static void search_downhill(pl_newton *s, double *step)
{
    pl_solver *solver = s->solver;
    double best = s->energy, factor = 1, h2 = s->sub->h * s->sub->h;
    for (int k = 0; k < MOST_DOUBLINGS; k++) {
        double work = 0;
        for (int c = 0; c < solver->space.set.count; c++) {
            double moved[3];
            pl_contact_gather(&solver->space.set, c, step, moved);
            work += h2 * pl_dot3(moved, solver->space.lambda + 3 * c);
        }
        for (int i = 0; i < 3 * solver->n; i++)
            solver->trial[i] = solver->iterate[i] + step[i];
        bool lower = pl_newton_evaluate(s, solver->trial) && s->potential - work < best;
        if (!lower && factor > 1)
            cblas_dscal(3 * solver->n, 0.5, step, 1);
        if ((!lower && factor > 1) || (lower && factor < 1))
            return;
        factor = lower ? 2 : 0.5;
        best = lower ? s->potential - work : best;
        cblas_dscal(3 * solver->n, factor, step, 1);
    }
}

/* ---- Without contacts ---- */

/* Newton's own step, or one downhill; where even a quarter of it is too far, a fresh factor is better.
 */
static pl_status advance_truncated(pl_newton *s, bool *accepted, double *theta)
{
    pl_solver *solver = s->solver;
    pl_truncated found;
    double factor =
        solver->matrix.costs.factor / (solver->matrix.costs.solve + solver->matrix.costs.product);
    int limit = solver->matter->method == PL_SOLVER_CONSTANT ? 10 * PL_CG_CONSTANT
                                                             : (int)(CG_LIMIT * factor) + 1;
    pl_newton_evaluate(s, solver->iterate);
    PL_TRY(
        pl_truncated_newton(solver, s->sub, solver->iterate, s->norm, limit, solver->combined, &found));
    pl_log(solver->ctx, PL_LOG_DEBUG, "step %d: %d linear iterations%s", s->sub->step + 1,
           found.iterations,
           found.kind == PL_TRUNCATED_DOWNHILL ? ", downhill"
           : found.kind == PL_TRUNCATED_NONE   ? ", given up"
                                               : "");
    if (found.kind == PL_TRUNCATED_DOWNHILL)
        search_downhill(s, solver->combined);
    for (double t = 1; found.kind != PL_TRUNCATED_NONE && !*accepted && t >= 0.25; t *= 0.5)
        PL_TRY(attempt(s, solver->combined, t, accepted, theta));
    if (solver->matter->method == PL_SOLVER_LAGGED && found.kind == PL_TRUNCATED_NEWTON)
        pl_ledger_count(&solver->memory.ledger, found.iterations, 1,
                        solver->matrix.costs.solve + solver->matrix.costs.product);
    s->slow_cg = solver->matter->method == PL_SOLVER_LAGGED && found.iterations > CG_SLOW * factor;
    if (!*accepted) {
        s->truncated = false;
        pl_anderson_reset(&solver->memory.anderson);
    }
    return PL_OK;
}

/* ---- With contacts ---- */

/* What GMRES would leave over of a correction to make it the last but one. */
static double last_goal(const pl_newton *s)
{
    return LAST_GOAL * s->solver->matter->values->def.tolerance / s->norm;
}

/* Whether the lagged factor's own corrections are so few that Newton's step would cost more. */
static bool lagged_will_do(const pl_newton *s)
{
    const pl_solver *solver = s->solver;
    double left = solver->memory.lag * s->norm;
    if (s->last_rate == 0 && solver->memory.anderson.kept > 0) {
        if (solver->memory.first_rate < GOOD_FIRST_RATE && last_goal(s) < FINEST_GOAL)
            return true;
        left *= solver->memory.first_rate;
    }
    return left <= SOON * solver->matter->values->def.tolerance;
}

/* Whether to make Newton's own step. */
static bool can_couple(const pl_newton *s)
{
    const pl_solver *solver = s->solver;
    double rate = s->last_rate > 0 ? s->last_rate : solver->memory.lag;
    return solver->space.set.count > 0 && solver->matter->method == PL_SOLVER_LAGGED && s->stale &&
           !s->uncoupled && !at_saddle(s) && rate < CONVERGING && !lagged_will_do(s);
}

/* How well the system of Newton's own step is to be solved: so that the next correction is the last, if
 * that may be, or as the steps have shown to converge (Eisenstat and Walker). */
static double coupled_goal(const pl_newton *s)
{
    double last = last_goal(s), rate = s->last_rate;
    double soonest = rate > 0 ? FORCING * rate * rate : last < FINEST_GOAL ? FIRST_GOAL : 0;
    return fmin(fmax(last, soonest), ROUGHEST_GOAL);
}

bool pl_newton_worn(const pl_solver *solver)
{
    const pl_costs *c = &solver->matrix.costs;
    return pl_ledger_worn(&solver->memory.ledger, c->assembly + c->factor);
}

static double largest_difference(int size, const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < size; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* Newton's own step into solver->combined, if GMRES finds it. */
static pl_status find_newton(pl_newton *s, bool secant, double goal, int limit, pl_truncated *found)
{
    pl_solver *solver = s->solver;
    PL_TRY(pl_coupled_newton(solver, s->sub, solver->iterate, solver->move, secant, goal, limit,
                             solver->combined, found));
    pl_log(solver->ctx, PL_LOG_DEBUG, "step %d: GMRES %d iterations to %.1e, %.1e wanted%s",
           s->sub->step + 1, found->iterations, found->residual, goal,
           found->kind == PL_TRUNCATED_NONE ? ", given up" : "");
    return PL_OK;
}

/* By Newton's own step, which also tells how far the factor lags. */
static pl_status advance_coupled(pl_newton *s, bool *accepted, double *theta)
{
    pl_solver *solver = s->solver;
    int size = 3 * solver->n;
    pl_truncated found;
    double goal = coupled_goal(s), norm = s->norm;
    PL_TRY(find_newton(s, true, goal, GMRES_LIMIT, &found));
    if (found.kind == PL_TRUNCATED_NEWTON) {
        pl_ledger *ledger = &solver->memory.ledger;
        double fresh = pl_ledger_fresh(ledger, found.iterations, found.residual);
        pl_ledger_count(ledger, found.iterations, fresh,
                        solver->matrix.costs.stress + solver->matrix.costs.solve);
        double lag = largest_difference(size, solver->combined, solver->move) / norm;
        if (s->last_rate == 0) { /* that of what earlier differences suggest */
            pl_anderson_combine(&solver->memory.anderson, solver->move, solver->guess);
            solver->memory.first_rate =
                largest_difference(size, solver->combined, solver->guess) / norm;
        }
        s->expected = goal * norm;
        PL_TRY(attempt(s, solver->combined, 1, accepted, theta));
        s->expected = 0;
        solver->memory.lag = *accepted ? lag : solver->memory.lag;
    }
    s->coupled = *accepted;
    s->uncoupled = !*accepted || *theta > KEEPS_ON;
    return PL_OK;
}

/* Back to the iterate after a trial: its residual, and the contacts' forces and law. */
static pl_status return_to_iterate(pl_newton *s)
{
    pl_newton_evaluate(s, s->solver->iterate);
    return pl_newton_correct(s, s->solver->iterate, s->solver->move, &s->norm);
}

/* At a saddle Newton's own step finds also what the potential falls away from. */
static pl_status advance_at_saddle(pl_newton *s, bool *accepted, double *theta)
{
    pl_truncated found;
    PL_TRY(return_to_iterate(s));
    PL_TRY(find_newton(s, false, SADDLE_GOAL, SADDLE_LIMIT, &found));
    if (found.kind == PL_TRUNCATED_NEWTON)
        PL_TRY(attempt(s, s->solver->combined, 1, accepted, theta));
    s->truncated = *accepted;
    pl_anderson_reset(&s->solver->memory.anderson);
    return PL_OK;
}

/* At a saddle without a solution nearby: as far as the potential falls along the clamped step. */
static pl_status advance_downhill(pl_newton *s, bool *accepted, double *theta)
{
    pl_solver *solver = s->solver;
    PL_TRY(return_to_iterate(s));
    memcpy(solver->combined, solver->move, sizeof(double) * 3 * (size_t)solver->n);
    search_downhill(s, solver->combined);
    s->downhill = true;
    PL_TRY(attempt(s, solver->combined, 1, accepted, theta));
    s->downhill = false;
    pl_anderson_reset(&solver->memory.anderson);
    return PL_OK;
}

/* ---- Any ---- */

pl_status pl_newton_advance(pl_newton *s, pl_substep_result *out, double *theta)
{
    pl_solver *solver = s->solver;
    bool accepted = false;
    s->coupled = false;
    if (!s->truncated)
        pl_anderson_remember(&solver->memory.anderson, solver->iterate, solver->move);
    if (can_couple(s))
        PL_TRY(advance_coupled(s, &accepted, theta));
    if (!accepted && !s->truncated &&
        pl_anderson_combine(&solver->memory.anderson, solver->move, solver->combined)) {
        s->by_earlier = solver->memory.anderson.count == 0;
        PL_TRY(attempt(s, solver->combined, 1, &accepted, theta));
        s->by_earlier = false;
        if (!accepted)
            pl_anderson_reset(&solver->memory.anderson);
    }
    if (!accepted && !s->truncated)
        PL_TRY(attempt(s, solver->move, 1, &accepted, theta));
    if (!accepted && at_saddle(s))
        PL_TRY(advance_at_saddle(s, &accepted, theta));
    if (!accepted && pl_newton_can_truncate(s)) {
        s->truncated = true;
        PL_TRY(advance_truncated(s, &accepted, theta));
    }
    if (!accepted && s->stale && solver->matter->method != PL_SOLVER_CONSTANT) {
        PL_TRY(pl_newton_refresh(s));
        PL_TRY(attempt(s, solver->move, 1, &accepted, theta));
    }
    if (!accepted && at_saddle(s))
        PL_TRY(advance_downhill(s, &accepted, theta));
    /* A law that has no solution here has none nearby either. */
    for (double t = 0.5; !accepted && !s->law_failed && t >= SHORTEST_STEP; t *= 0.5)
        PL_TRY(attempt(s, solver->move, t, &accepted, theta));
    out->converged = accepted;
    out->vertex = s->law_failed ? s->law_worst : s->worst;
    out->element = s->inadmissible;
    out->reason = s->inadmissible >= 0 ? "an element would invert"
                  : s->law_failed      ? "the contact law was not solved"
                                       : "no step reduces the residual";
    return PL_OK;
}
