/*
 * One implicit step: elastic Newton outside, friction in contact space inside.
 *
 *     repeat   r = F_el(q)                                   stress at q
 *              b = H(q - E^-1 r) - d,  W = h^2 H E^-1 H^T    free motion, Delassus matrix
 *              lambda: contact law with delta = W lambda + b
 *              q <- q + t E^-1 (-r + h^2 H^T lambda)
 *
 * E may lag behind the true tangent. Each correction at a trial point is measured with the E that
 * proposed it (Deuflhard's natural monotonicity test), so the ratio of two corrections is the rate of
 * convergence: it tells which way to go on (advance.c), when a fresh factor pays, and when the last
 * correction is made.
 */
#include "sim/newton.h"

#include "contact/passage.h"
#include "contact/pierce.h"
#include "core/vec.h"
#include "sim/folded.h"

#include <cblas.h>
#include <float.h>
#include <limits.h>

#define GOOD_RATE       0.95 /* a longer sequence than this is not worth waiting for */
#define SLOW_RATE       0.7  /* of a lagged factor that Newton's own steps took over from */
#define CG_LAGGED       4    /* iterations that CG takes as a rule with a lagged factor */
#define SHARPENINGS     2    /* corrections for the last digits of gaps, a substep */
#define PATIENCE        3000 /* iterations along the contact law's central path before a substep is split */
#define CONSTANT_SOLVES 500  /* by the constant matrix: then the tangent is better */
#define RESOLVES        4    /* times that pairs which would have passed become contacts, a substep */
#define REBALANCES      4    /* attempts at bodies that are out of balance as a whole, */
#define SLIGHT          1e-8 /* of the contacts' forces: what bodies that they hold may lack of it, */
#define ROUNDED         100  /* tolerances: what rounding of stiff bodies' forces may leave of it */
#define FAR_OUT         0.1  /* of the tolerance: what rounding of positions may take */

pl_status pl_newton_refresh(pl_newton *s)
{
    pl_solver *solver = s->solver;
    pl_newton_keep_forces(s);
    if (solver->matter->method != PL_SOLVER_CONSTANT)
        PL_TRY(pl_folded_springs(s));
    PL_TRY(pl_solver_refresh(solver, s->sub, solver->iterate));
    s->stale = s->truncated = s->uncoupled = false;
    pl_anderson_reset(&solver->memory.anderson);
    PL_TRY(pl_newton_prepare(s));
    pl_newton_evaluate(s, solver->iterate);
    s->energy = s->potential;
    return pl_newton_correct(s, solver->iterate, solver->move, &s->norm);
}

/* Iterations from the present correction down to the tolerance at a rate. */
static double iterations_left(const pl_newton *s, double rate)
{
    return log(s->solver->matter->values->def.tolerance / s->norm) /
           log(fmin(fmax(rate, 1e-6), GOOD_RATE));
}

bool pl_newton_can_truncate(const pl_newton *s)
{
    const pl_solver *solver = s->solver;
    return solver->space.set.count == 0 && solver->matter->method != PL_SOLVER_DIRECT && s->stale;
}

/* With rate theta, would waiting cost more than a factorisation and what follows it, or, where it can
 * take over, three of Newton's own steps by CG? */
static bool refresh_pays(const pl_newton *s, double theta)
{
    const pl_solver *solver = s->solver;
    int m = solver->space.set.count;
    const pl_costs *c = &solver->matrix.costs;
    if (pl_newton_can_truncate(s)) {
        double cg = solver->matter->method == PL_SOLVER_CONSTANT ? PL_CG_CONSTANT : CG_LAGGED;
        return iterations_left(s, theta) * (c->stress + c->solve) >
               3 * (c->assembly + 2 * c->stress + cg * (c->solve + c->product));
    }
    if (solver->matter->method != PL_SOLVER_LAGGED)
        return solver->matter->method == PL_SOLVER_DIRECT;
    /* Each correction, with contact the law and longer solves too; a factor brings Delassus columns. */
    double iteration = c->stress + (m > 0 ? 2 : 1) * c->solve;
    double columns = solver->matrix.fold.count > 0 ? 0 : 1.5 * m * c->solve;
    double fresh = c->assembly + c->factor + columns;
    return iterations_left(s, theta) * iteration >
           fresh + iterations_left(s, s->fresh_rate) * iteration;
}

/* A move along a round surface leads off it by half its square times the curvature, which is taken
 * back.
 */
static void stay_on_surface(pl_solver *solver)
{
    const pl_contact_set *set = &solver->space.set;
    for (int c = 0; c < set->single; c++) {
        const pl_contact_point *p = &set->points[c];
        size_t v = 3 * (size_t)p->vertex;
        double bent[3];
        if (!p->follows)
            continue;
        pl_mat3_vec(p->curvature, solver->move + v, bent);
        pl_axpy3(-0.5 * pl_dot3(bent, solver->move + v), p->frame, solver->iterate + v);
    }
}

/* iterate + move is the solution; delta there, before it is rounded: by more than a gap is wide. */
static void make_last_move(pl_newton *s)
{
    pl_solver *solver = s->solver;
    pl_anderson_remember(&solver->memory.anderson, solver->iterate, solver->move);
    pl_contacts_delta_exact(solver->ctx, &solver->space.set, s->sub->q0, solver->iterate, solver->move,
                            solver->space.delta);
    for (int i = 0; i < 3 * solver->n; i++)
        solver->iterate[i] += solver->move[i];
    stay_on_surface(solver);
    solver->meter.info.iterations++;
}

/* The rate of the last step, and the factor's: what will be left after the next correction, of that.
 * The slower of the last two, because a combined step flatters; but a new factor's own step does not.
 * Of Newton's own steps it is the factor's rate that counts: with contacts they told it, without them
 * it was too slow. */
static void note_rate(pl_newton *s, double theta)
{
    pl_solver *solver = s->solver;
    double slower = s->coupled ? solver->memory.lag : s->last_rate;
    s->rate = s->truncated ? SLOW_RATE : fmin(s->fresh_step ? theta : fmax(theta, slower), 0.99);
    if (!s->coupled && s->last_rate == 0)
        solver->memory.first_rate = theta;
    else if (!s->coupled && !s->truncated)
        solver->memory.lag = fmin(theta, 1);
    s->last_rate = theta;
}

/* Whether to go on with a fresh factor, or by CG. */
static bool is_slow(const pl_newton *s, double theta)
{
    if (s->truncated)
        return s->slow_cg && s->norm > 1e3 * s->solver->matter->values->def.tolerance;
    return (!s->coupled || s->uncoupled) && refresh_pays(s, theta);
}

/* Whether what would move all masses by `off` is nothing beside the forces of contacts. */
static bool is_slight(const pl_newton *s, double off)
{
    const pl_solver *solver = s->solver;
    double mass = 0, force = 0;
    for (int i = 0; i < solver->n; i++)
        mass += solver->matter->mass[i];
    for (int c = 0; c < solver->space.set.count; c++)
        force += fabs(solver->space.lambda[3 * c]);
    return mass * off <= SLIGHT * s->sub->h * s->sub->h * force;
}

/* The end of the iteration as an independent measure sees it: bodies as a whole are where they should
 * be, whatever the factor says. If not, a fresh factor; where there is none to be had, as with the
 * constant matrix, the move with what it lacks. */
static pl_status check_balance(pl_newton *s, bool *balanced)
{
    pl_solver *solver = s->solver;
    double off = pl_newton_imbalance(s, false, solver->combined);
    double tolerance = solver->matter->values->def.tolerance;
    bool last = s->rebalanced == REBALANCES;
    *balanced = off <= tolerance || (last && off <= ROUNDED * tolerance);
    if (!*balanced && is_slight(s, off)) {
        off = pl_newton_imbalance(s, true, solver->combined);
        *balanced = last && off <= tolerance;
    }
    s->imbalance = off;
    if (*balanced || last)
        return PL_OK;
    s->rebalanced++;
    pl_log(solver->ctx, PL_LOG_DEBUG, "step %d: a body is %.3e m from balance", s->sub->step + 1, off);
    if (s->stale && solver->matter->method != PL_SOLVER_CONSTANT)
        return pl_newton_refresh(s);
    for (int i = 0; i < 3 * solver->n; i++)
        solver->iterate[i] += solver->move[i] + solver->combined[i];
    pl_newton_evaluate(s, solver->iterate);
    s->energy = s->potential;
    s->stale = true;
    solver->meter.info.iterations++;
    pl_anderson_reset(&solver->memory.anderson);
    return pl_newton_correct(s, solver->iterate, solver->move, &s->norm);
}

/* The end, unless surfaces passed through each other or through obstacles on the way. Where no contact
 * was expected, one is made; *added counts these. */
static pl_status check_passage(pl_newton *s, pl_substep_result *out, int *added)
{
    pl_solver *solver = s->solver;
    int vertex = -1, collider = -1;
    *added = 0;
    if (solver->scene->collider_count > 0) {
        pl_obstacles o = pl_substep_obstacles(s->sub);
        pl_pierce_find(&o, &solver->space.set, solver->n, s->sub->q0, solver->iterate,
                       solver->matter->margin, &vertex, &collider);
        if (vertex < 0 && solver->brushes.surface)
            PL_TRY(pl_brush_pierce(&solver->brushes, &o, &solver->space.set, s->sub->q0,
                                   solver->iterate, solver->matter->margin, &vertex, &collider));
        pl_stage(&solver->meter, PL_STAGE_CONTACT);
    }
    if (vertex < 0 && s->sub->surface) {
        pl_meet_rules rules = pl_substep_meet_rules(s->sub);
        PL_TRY(pl_passage_find(solver->ctx, &solver->search, &rules, s->sub->q0, solver->iterate,
                               &vertex));
        if (vertex >= 0 && s->resolved++ < RESOLVES)
            PL_TRY(pl_newton_meet_found(s, added));
        pl_stage(&solver->meter, PL_STAGE_CONTACT);
    }
    *out = (pl_substep_result){.converged = vertex < 0,
                               .reason = collider >= 0 ? "a body would pass through an obstacle"
                                                       : "bodies would pass through each other",
                               .vertex = vertex,
                               .element = -1};
    return PL_OK;
}

static pl_status iterate(pl_newton *s, pl_substep_result *out)
{
    pl_solver *solver = s->solver;
    double tolerance = solver->matter->values->def.tolerance;
    int limit = solver->meter.info.iterations + solver->matter->values->def.max_iterations;
    int solves = solver->meter.info.linear_solves + CONSTANT_SOLVES;
    for (;;) {
        double theta;
        /* What is left after the move is about theta/(1 - theta) of it: below the tolerance, with
         * margin. */
        bool close = s->norm <= tolerance * fmin(1, 0.2 * (1 - s->rate) / fmax(s->rate, 1e-3));
        /* Gaps that are left of much larger motions lack digits; the next correction starts closer. */
        bool blunt = !s->law_sharp && !s->law_failed && s->sharpened < SHARPENINGS;
        if (close && (s->law_rough || blunt)) {
            s->sharpened += !s->law_rough;
            PL_TRY(pl_newton_correct(s, solver->iterate, solver->move, &s->norm));
            continue;
        }
        if (close && !s->law_failed) {
            int added;
            bool balanced;
            int before = s->rebalanced;
            PL_TRY(check_balance(s, &balanced));
            if (!balanced && s->rebalanced > before)
                continue;
            if (!balanced)
                break;
            make_last_move(s);
            PL_TRY(pl_newton_meet_late(s, &added));
            if (added == 0)
                PL_TRY(check_passage(s, out, &added));
            if (added == 0)
                return PL_OK;
            pl_anderson_reset(&solver->memory.anderson);
            bool fits;
            PL_TRY(pl_folded_fits(s, &fits));
            if (!fits) {
                PL_TRY(pl_newton_refresh(s));
                continue;
            }
            PL_TRY(pl_newton_prepare(s));
            pl_newton_evaluate(s, solver->iterate);
            s->energy = s->potential;
            PL_TRY(pl_newton_correct(s, solver->iterate, solver->move, &s->norm));
            continue;
        }
        if (solver->meter.info.iterations > limit ||
            (solver->matter->method == PL_SOLVER_CONSTANT && solver->meter.info.linear_solves > solves))
            break;
        PL_TRY(pl_newton_advance(s, out, &theta));
        if (!out->converged)
            return PL_OK;
        out->converged = false;
        note_rate(s, theta);
        if (s->norm <= tolerance || !is_slow(s, theta))
            continue;
        if (pl_newton_can_truncate(s) && !s->truncated)
            s->truncated = true;
        else
            PL_TRY(pl_newton_refresh(s));
    }
    out->reason =
        s->rebalanced == REBALANCES ? "a body does not come to balance" : "too many iterations";
    out->vertex = s->worst;
    out->element = -1;
    return PL_OK;
}

static pl_status solve_from(pl_newton *s, const double *from, const pl_state *warm,
                            pl_substep_result *out)
{
    pl_solver *solver = s->solver;
    const pl_substep *sub = s->sub;
    *s = (pl_newton){.solver = solver,
                     .sub = sub,
                     .from = from,
                     .stale = true,
                     .fresh_rate = 1e-3,
                     .patience = s->patience};
    *out = (pl_substep_result){.reason = "not started"};
    PL_TRY(pl_newton_begin(s, warm));
    bool fits;
    PL_TRY(pl_folded_fits(s, &fits));
    if (solver->matrix.kind == PL_FACTOR_NONE || solver->matrix.h != sub->h ||
        solver->matter->method == PL_SOLVER_DIRECT || pl_newton_worn(solver) || !fits) {
        PL_TRY(pl_newton_refresh(s));
    } else {
        PL_TRY(pl_newton_prepare(s));
        PL_TRY(pl_newton_correct(s, solver->iterate, solver->move, &s->norm));
    }
    return iterate(s, out);
}

/* The lower of the solution just found and the one that another start leads to, if there is one. */
static pl_status choose(pl_newton *s, const pl_state *warm, pl_substep_result *out)
{
    pl_solver *solver = s->solver;
    double first = pl_roots_potential(s), h2 = s->sub->h * s->sub->h;
    memcpy(solver->root, solver->iterate, sizeof(double) * 3 * (size_t)solver->n);
    pl_status status = solve_from(s, solver->combined, warm, out);
    if (status != PL_OK && status != PL_ERROR_NUMERIC)
        return status;
    bool found = status == PL_OK && out->converged;
    if (found && !pl_roots_differ(s, solver->root))
        return PL_OK;
    double second = found ? pl_roots_potential(s) : INFINITY;
    solver->meter.info.choices += found;
    if (found)
        pl_log(solver->ctx, PL_LOG_INFO,
               "step %d: two solutions, of incremental potential %.6g and %.6g J", s->sub->step + 1,
               first / h2, second / h2);
    return second < first ? PL_OK : solve_from(s, solver->root, warm, out);
}

/* Whether positions are so large that what rounding takes of them is what the tolerance asks for. */
static bool is_far_out(const pl_solver *solver)
{
    size_t at = cblas_idamax(3 * solver->n, solver->iterate, 1);
    return fabs(solver->iterate[at]) * DBL_EPSILON > FAR_OUT * solver->matter->values->def.tolerance;
}

pl_status pl_substep_solve(pl_solver *solver, const pl_substep *sub, bool may_split,
                           const pl_state *warm, pl_substep_result *out)
{
    pl_newton s = {.solver = solver, .sub = sub, .patience = may_split ? PATIENCE : INT_MAX};
    int before = solver->meter.info.iterations;
    PL_TRY(solve_from(&s, NULL, warm, out));
    if (!out->converged && is_far_out(solver))
        out->reason = "positions are so far from the origin that they lack the tolerance's digits";
    if (out->converged &&
        pl_roots_doubtful(&s, solver->meter.info.iterations - before, solver->combined))
        PL_TRY(choose(&s, warm, out));
    solver->meter.info.residual = fmax(s.norm, s.imbalance);
    return PL_OK;
}
