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

#define GOOD_RATE   0.95 /* a longer sequence than this is not worth waiting for */
#define SLOW_RATE   0.7  /* of a lagged factor that Newton's own steps took over from */
#define CG_LAGGED   4    /* iterations that CG takes as a rule with a lagged factor */
#define SHARPENINGS 2    /* corrections for the last digits of gaps, a substep */

pl_status pl_newton_refresh(pl_newton *s)
{
    pl_sim *sim = s->sim;
    pl_newton_keep_forces(s);
    pl_factor_kind kind = sim->solver == PL_SOLVER_CONSTANT ? PL_FACTOR_CONSTANT : PL_FACTOR_TANGENT;
    PL_TRY(pl_matrix_refresh(sim, kind, s->sub->h, sim->iterate));
    s->stale = s->truncated = s->uncoupled = false;
    pl_anderson_reset(&sim->anderson);
    PL_TRY(pl_newton_prepare(s));
    pl_newton_evaluate(s, sim->iterate);
    s->energy = s->potential;
    return pl_newton_correct(s, sim->iterate, sim->move, &s->norm);
}

/* Iterations from the present correction down to the tolerance at a rate. */
static double iterations_left(const pl_newton *s, double rate)
{
    return log(s->sim->values->def.tolerance / s->norm) / log(fmin(fmax(rate, 1e-6), GOOD_RATE));
}

bool pl_newton_can_truncate(const pl_newton *s)
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
    if (pl_newton_can_truncate(s)) {
        double cg = sim->solver == PL_SOLVER_CONSTANT ? PL_CG_CONSTANT : CG_LAGGED;
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
    pl_anderson_remember(&sim->anderson, sim->iterate, sim->move);
    pl_contacts_delta_exact(sim->ctx, &sim->contacts, s->sub->q0, sim->iterate, sim->move, sim->delta);
    for (int i = 0; i < 3 * sim->n; i++)
        sim->iterate[i] += sim->move[i];
    sim->info.iterations++;
}

/* The rate of the last step, and the factor's: what will be left after the next correction, of that.
 * The slower of the last two, because a combined step flatters; but a new factor's own step does not.
 * Of Newton's own steps it is the factor's rate that counts: with contacts they told it, without them
 * it was too slow. */
static void note_rate(pl_newton *s, double theta)
{
    pl_sim *sim = s->sim;
    double slower = s->coupled ? sim->lag : s->last_rate;
    s->rate = s->truncated ? SLOW_RATE : fmin(s->fresh_step ? theta : fmax(theta, slower), 0.99);
    if (!s->coupled && s->last_rate == 0)
        sim->first_rate = theta;
    else if (!s->coupled && !s->truncated)
        sim->lag = fmin(theta, 1);
    s->last_rate = theta;
}

/* Whether to go on with a fresh factor, or by CG. */
static bool is_slow(const pl_newton *s, double theta)
{
    if (s->truncated)
        return s->slow_cg && s->norm > 1e3 * s->sim->values->def.tolerance;
    return (!s->coupled || s->uncoupled) && refresh_pays(s, theta);
}

static pl_status iterate(pl_newton *s, pl_substep_result *out)
{
    pl_sim *sim = s->sim;
    double tolerance = sim->values->def.tolerance;
    int limit = sim->info.iterations + sim->values->def.max_iterations;
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
    if (sim->factor == PL_FACTOR_NONE || sim->factor_h != sub->h || sim->solver == PL_SOLVER_DIRECT ||
        pl_newton_worn(sim)) {
        PL_TRY(pl_newton_refresh(&s));
    } else {
        PL_TRY(pl_newton_prepare(&s));
        PL_TRY(pl_newton_correct(&s, sim->iterate, sim->move, &s.norm));
    }
    PL_TRY(iterate(&s, out));
    sim->info.residual = s.norm;
    return PL_OK;
}
