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
 * convergence: it accepts the step, shortens it, or asks for Newton's own step (truncated.c, with
 * contacts coupled.c) or a fresh factor.
 */
#include "sim/newton.h"

#include "core/vec.h"

#include <cblas.h>

#define SHORTEST_STEP  1e-4
#define FITTING_RATE   0.1  /* of a first step that earlier ones' differences helped to find */
#define GOOD_RATE      0.95 /* a longer sequence than this is not worth waiting for */
#define SLOW_RATE      0.7  /* of a lagged factor that Newton's own steps took over from */
#define UPHILL_STEPS   20   /* steps that may enlarge the correction */
#define UPHILL_RATE    3.0
#define CG_LIMIT       0.5  /* of a factorisation's cost: CG is given up, */
#define CG_SLOW        0.25 /* or followed by a new factor */
#define CG_LAGGED      4    /* iterations it takes as a rule with a lagged factor, */
#define CG_CONSTANT    40   /* and with the constant matrix's */
#define COUPLED_LIMIT  40
#define MOST_DOUBLINGS 20
#define SHARPENINGS    2 /* corrections for the last digits of gaps, a substep */

/* A fresh factor at the iterate and the correction it proposes. */
static pl_status refresh(pl_newton *s)
{
    pl_sim *sim = s->sim;
    pl_newton_keep_forces(s);
    pl_factor_kind kind = sim->solver == PL_SOLVER_CONSTANT ? PL_FACTOR_CONSTANT : PL_FACTOR_TANGENT;
    PL_TRY(pl_matrix_refresh(sim, kind, s->sub->h, sim->iterate));
    s->stale = s->truncated = false;
    pl_anderson_reset(&sim->anderson);
    PL_TRY(pl_newton_prepare(s));
    pl_newton_evaluate(s, sim->iterate);
    s->energy = s->potential;
    return pl_newton_correct(s, sim->iterate, sim->move, &s->norm);
}

/* Iterations from the present correction down to the tolerance at a rate. */
static double iterations_left(const pl_newton *s, double rate)
{
    return log(s->sim->scene->def.tolerance / s->norm) / log(fmin(fmax(rate, 1e-6), GOOD_RATE));
}

/* Whether CG on the true tangent can take over from the lagged or constant factor alone. */
static bool can_truncate(const pl_newton *s)
{
    const pl_sim *sim = s->sim;
    return sim->contacts.count == 0 && sim->solver != PL_SOLVER_DIRECT && s->stale;
}

/* With rate theta, would waiting cost more than a factorisation and what follows it, or, where it can
 * take over, three of Newton's own steps by CG? */
static bool refresh_pays(const pl_newton *s, double theta)
{
    const pl_sim *sim = s->sim;
    int m = sim->contacts.count;
    const pl_costs *c = &sim->costs;
    if (can_truncate(s)) {
        double cg = sim->solver == PL_SOLVER_CONSTANT ? CG_CONSTANT : CG_LAGGED;
        return iterations_left(s, theta) * (c->stress + c->solve) >
               3 * (c->assembly + 2 * c->stress + cg * (c->solve + c->product));
    }
    if (sim->solver != PL_SOLVER_LAGGED)
        return sim->solver == PL_SOLVER_DIRECT;
    /* Each correction, with contact the law and longer solves too; a factor brings Delassus columns. */
    double iteration = c->stress + (m > 0 ? 2 : 1) * c->solve;
    double fresh = c->assembly + c->factor + 1.5 * m * c->solve;
    return iterations_left(s, theta) * iteration >
           fresh + iterations_left(s, s->fresh_rate) * iteration;
}

/* Whether bodies in contact are at an indefinite tangent, as far as the factor knows. */
static bool at_saddle(const pl_newton *s)
{
    return s->sim->factor_clamped && s->sim->contacts.count > 0;
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
    if (s->sim->contacts.count == 0)
        return s->potential < s->energy - 1e-12 * fabs(s->energy);
    if (trial_norm > UPHILL_RATE * s->norm || at_saddle(s))
        return false;
    return (combined || !s->stale) && s->uphill++ < UPHILL_STEPS;
}

/* The point a fraction t along `step` and its own correction; accepted, it becomes the iterate. */
static pl_status attempt(pl_newton *s, const double *step, double t, bool *accepted, double *theta)
{
    pl_sim *sim = s->sim;
    double trial_norm = INFINITY;
    for (int i = 0; i < 3 * sim->n; i++)
        sim->trial[i] = sim->iterate[i] + t * step[i];
    s->law_failed = false;
    if (pl_newton_evaluate(s, sim->trial))
        PL_TRY(pl_newton_correct(s, sim->trial, sim->trial_move, &trial_norm));
    pl_log(sim->ctx, PL_LOG_DEBUG, "step %d: move %.3e m, after %g of it%s %.3e m%s%s%s",
           s->sub->step + 1, s->norm, t, step == sim->move ? "" : " combined", trial_norm,
           s->stale ? ", lagged factor" : "", s->inadmissible >= 0 ? ", inverted" : "",
           s->law_failed ? ", law unsolved" : "");
    *accepted = acceptable(s, t, step != sim->move, trial_norm);
    if (!*accepted)
        return PL_OK;
    sim->info.iterations++;
    double *swap = sim->iterate;
    sim->iterate = sim->trial, sim->trial = swap;
    swap = sim->move;
    sim->move = sim->trial_move, sim->trial_move = swap;
    *theta = trial_norm / s->norm;
    s->fresh_step = !s->stale;
    if (!s->stale)
        s->fresh_rate = *theta;
    s->norm = trial_norm;
    s->energy = s->potential;
    s->stale = true;
    return PL_OK;
}

/* How far to go along a step downhill: twice as long as long as the potential falls, or half until it
 * does. Contact forces count as constant. */
static void search_downhill(pl_newton *s, double *step)
{
    pl_sim *sim = s->sim;
    double best = s->energy, factor = 1, h2 = s->sub->h * s->sub->h;
    for (int k = 0; k < MOST_DOUBLINGS; k++) {
        double work = 0;
        for (int c = 0; c < sim->contacts.count; c++) {
            double moved[3];
            pl_contact_gather(&sim->contacts.points[c], step, moved);
            work += h2 * pl_dot3(moved, sim->lambda + 3 * c);
        }
        for (int i = 0; i < 3 * sim->n; i++)
            sim->trial[i] = sim->iterate[i] + step[i];
        bool lower = pl_newton_evaluate(s, sim->trial) && s->potential - work < best;
        if (!lower && factor > 1)
            cblas_dscal(3 * sim->n, 0.5, step, 1);
        if ((!lower && factor > 1) || (lower && factor < 1))
            return;
        factor = lower ? 2 : 0.5;
        best = lower ? s->potential - work : best;
        cblas_dscal(3 * sim->n, factor, step, 1);
    }
}

/* Newton's own step, or one downhill; where even a quarter of it is too far, a fresh factor is better.
 */
static pl_status advance_truncated(pl_newton *s, bool *accepted, double *theta)
{
    pl_sim *sim = s->sim;
    pl_truncated found;
    double factor = sim->costs.factor / (sim->costs.solve + sim->costs.product);
    int limit = sim->solver == PL_SOLVER_CONSTANT ? 10 * CG_CONSTANT : (int)(CG_LIMIT * factor) + 1;
    pl_newton_evaluate(s, sim->iterate);
    PL_TRY(pl_truncated_newton(sim, s->sub->h, sim->iterate, s->norm, limit, sim->combined, &found));
    pl_log(sim->ctx, PL_LOG_DEBUG, "step %d: %d linear iterations%s", s->sub->step + 1,
           found.iterations,
           found.kind == PL_TRUNCATED_DOWNHILL ? ", downhill"
           : found.kind == PL_TRUNCATED_NONE   ? ", given up"
                                               : "");
    if (found.kind == PL_TRUNCATED_DOWNHILL)
        search_downhill(s, sim->combined);
    for (double t = 1; found.kind != PL_TRUNCATED_NONE && !*accepted && t >= 0.25; t *= 0.5)
        PL_TRY(attempt(s, sim->combined, t, accepted, theta));
    s->slow_cg = sim->solver == PL_SOLVER_LAGGED && found.iterations > CG_SLOW * factor;
    if (!*accepted) {
        s->truncated = false;
        pl_anderson_reset(&sim->anderson);
    }
    return PL_OK;
}

/* Back to the iterate after a trial: its residual, and the contacts' forces and law. */
static pl_status return_to_iterate(pl_newton *s)
{
    pl_newton_evaluate(s, s->sim->iterate);
    return pl_newton_correct(s, s->sim->iterate, s->sim->move, &s->norm);
}

/* At a saddle: Newton's own step, which finds also what the potential falls away from. */
static pl_status advance_coupled(pl_newton *s, bool *accepted, double *theta)
{
    pl_sim *sim = s->sim;
    pl_truncated found;
    PL_TRY(return_to_iterate(s));
    PL_TRY(pl_coupled_newton(sim, sim->iterate, sim->move, COUPLED_LIMIT, sim->combined, &found));
    pl_log(sim->ctx, PL_LOG_DEBUG, "step %d: GMRES %d iterations%s", s->sub->step + 1, found.iterations,
           found.kind == PL_TRUNCATED_NONE ? ", given up" : "");
    if (found.kind == PL_TRUNCATED_NEWTON)
        PL_TRY(attempt(s, sim->combined, 1, accepted, theta));
    s->truncated = *accepted;
    pl_anderson_reset(&sim->anderson);
    return PL_OK;
}

/* At a saddle without a solution nearby: as far as the potential falls along the clamped step. */
static pl_status advance_downhill(pl_newton *s, bool *accepted, double *theta)
{
    pl_sim *sim = s->sim;
    PL_TRY(return_to_iterate(s));
    memcpy(sim->combined, sim->move, sizeof(double) * 3 * (size_t)sim->n);
    search_downhill(s, sim->combined);
    s->downhill = true;
    PL_TRY(attempt(s, sim->combined, 1, accepted, theta));
    s->downhill = false;
    pl_anderson_reset(&sim->anderson);
    return PL_OK;
}

/* From the iterate to a point whose own correction is smaller: by the combination of past moves, by the
 * last move, by Newton's own step, by a fresh factor's, by a part of it. */
static pl_status advance(pl_newton *s, pl_substep_result *out, double *theta)
{
    pl_sim *sim = s->sim;
    bool accepted = false;
    if (!s->truncated && pl_anderson_step(&sim->anderson, sim->iterate, sim->move, sim->combined)) {
        s->by_earlier = sim->anderson.count == 0;
        PL_TRY(attempt(s, sim->combined, 1, &accepted, theta));
        s->by_earlier = false;
        if (!accepted)
            pl_anderson_reset(&sim->anderson);
    }
    if (!accepted && !s->truncated)
        PL_TRY(attempt(s, sim->move, 1, &accepted, theta));
    if (!accepted && at_saddle(s))
        PL_TRY(advance_coupled(s, &accepted, theta));
    if (!accepted && can_truncate(s)) {
        s->truncated = true;
        PL_TRY(advance_truncated(s, &accepted, theta));
    }
    if (!accepted && s->stale && sim->solver != PL_SOLVER_CONSTANT) {
        PL_TRY(refresh(s));
        PL_TRY(attempt(s, sim->move, 1, &accepted, theta));
    }
    if (!accepted && at_saddle(s))
        PL_TRY(advance_downhill(s, &accepted, theta));
    for (double t = 0.5; !accepted && t >= SHORTEST_STEP; t *= 0.5)
        PL_TRY(attempt(s, sim->move, t, &accepted, theta));
    out->converged = accepted;
    out->vertex = s->law_failed ? s->law_worst : s->worst;
    out->element = s->inadmissible;
    out->reason = s->inadmissible >= 0 ? "an element would invert"
                  : s->law_failed      ? "the contact law was not solved"
                                       : "no step reduces the residual";
    return PL_OK;
}

/* Vertices that came close without being expected to become contacts too. */
static pl_status late_contacts(pl_newton *s, int *added)
{
    pl_sim *sim = s->sim;
    *added = 0;
    if (sim->scene->collider_count == 0)
        return PL_OK;
    pl_newton_keep_forces(s);
    pl_obstacles o = pl_substep_obstacles(sim, s->sub);
    PL_TRY(pl_contacts_add(sim->ctx, &o, sim->n, s->sub->q0, sim->iterate, sim->margin, &sim->contacts,
                           added));
    pl_stage(sim, PL_STAGE_CONTACT);
    return PL_OK;
}

/* iterate + move is the solution; delta there, before it is rounded: by more than a gap is wide. */
static void make_last_move(pl_newton *s)
{
    pl_sim *sim = s->sim;
    pl_contacts_delta_exact(sim->ctx, &sim->contacts, s->sub->q0, sim->iterate, sim->move, sim->delta);
    for (int i = 0; i < 3 * sim->n; i++)
        sim->iterate[i] += sim->move[i];
    sim->info.iterations++;
}

static pl_status iterate(pl_newton *s, pl_substep_result *out)
{
    pl_sim *sim = s->sim;
    double tolerance = sim->scene->def.tolerance;
    int limit = sim->info.iterations + sim->scene->def.max_iterations;
    for (;;) {
        double theta;
        /* What is left after the move is about theta/(1 - theta) of it: below the tolerance, with
         * margin. */
        bool close = s->norm <= tolerance * fmin(1, 0.2 * (1 - s->rate) / fmax(s->rate, 1e-3));
        /* Gaps that are left of much larger motions lack digits; the next correction starts closer. */
        bool blunt = !s->law_sharp && !s->law_failed && s->sharpened < SHARPENINGS;
        if (close && (s->law_rough || blunt)) {
            s->sharpened += !s->law_rough;
            PL_TRY(pl_newton_correct(s, sim->iterate, sim->move, &s->norm));
            continue;
        }
        if (close && !s->law_failed) {
            int added;
            sim->info.residual = s->norm;
            make_last_move(s);
            PL_TRY(late_contacts(s, &added));
            if (added == 0) {
                out->converged = true;
                return PL_OK;
            }
            pl_anderson_reset(&sim->anderson);
            PL_TRY(pl_newton_prepare(s));
            pl_newton_evaluate(s, sim->iterate);
            s->energy = s->potential;
            PL_TRY(pl_newton_correct(s, sim->iterate, sim->move, &s->norm));
            continue;
        }
        if (sim->info.iterations > limit)
            break;
        PL_TRY(advance(s, out, &theta));
        if (!out->converged)
            return PL_OK;
        out->converged = false;
        /* The slower of the last two: a combined step flatters. A new factor's own step does not; of
         * Newton's own steps it is the factor's rate that counts, which was too slow. */
        s->rate =
            s->truncated ? SLOW_RATE : fmin(s->fresh_step ? theta : fmax(theta, s->last_rate), 0.99);
        if (s->last_rate == 0)
            sim->first_rate = theta;
        s->last_rate = theta;
        bool slow = s->truncated ? s->slow_cg && s->norm > 1e3 * tolerance : refresh_pays(s, theta);
        if (s->norm <= tolerance || !slow)
            continue;
        if (can_truncate(s) && !s->truncated)
            s->truncated = true;
        else
            PL_TRY(refresh(s));
    }
    out->reason = "too many iterations";
    out->vertex = s->worst;
    out->element = -1;
    return PL_OK;
}

pl_status pl_substep_solve(pl_sim *sim, const pl_substep *sub, const pl_state *warm,
                           pl_substep_result *out)
{
    pl_newton s = {.sim = sim, .sub = sub, .stale = true, .fresh_rate = 1e-3};
    *out = (pl_substep_result){.reason = "not started"};
    PL_TRY(pl_newton_begin(&s, warm));
    if (sim->factor == PL_FACTOR_NONE || sim->factor_h != sub->h || sim->solver == PL_SOLVER_DIRECT) {
        PL_TRY(refresh(&s));
    } else {
        PL_TRY(pl_newton_prepare(&s));
        PL_TRY(pl_newton_correct(&s, sim->iterate, sim->move, &s.norm));
    }
    PL_TRY(iterate(&s, out));
    sim->info.residual = s.norm;
    return PL_OK;
}
