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
#include "sim/sim.h"

#include "core/vec.h"

#include <cblas.h>

#define SHORTEST_STEP   1e-4
#define GOOD_RATE       0.95 /* a longer sequence than this is not worth waiting for */
#define SLOW_RATE       0.7  /* of a lagged factor that Newton's own steps took over from */
#define UPHILL_STEPS    20   /* steps that may enlarge the correction */
#define UPHILL_RATE     3.0
#define CG_LIMIT        0.5  /* of a factorisation's cost: CG is given up, */
#define CG_SLOW         0.25 /* or followed by a new factor */
#define CG_LAGGED       4    /* iterations it takes as a rule with a lagged factor, */
#define CG_CONSTANT     40   /* and with the constant matrix's */
#define COUPLED_LIMIT   40
#define MOST_DOUBLINGS  20
#define LAW_GOAL        0.003 /* of the correction: how well the contact law is solved on the way */
#define LAW_EXACT_BELOW 1     /* tolerances: expecting a correction as small as this, to rounding */

typedef struct newton {
    pl_sim *sim;
    const pl_substep *sub;
    double potential;       /* whose gradient is F_el, J s^2, at the last evaluation */
    double energy;          /* the same at the iterate */
    double norm;            /* of sim->move, m: largest vertex */
    int worst;              /* its vertex */
    bool stale;             /* the factor was made at another iterate */
    bool prepared;          /* sim->lambda belongs to the present contacts */
    double rate, last_rate; /* of the last two steps, of the last one */
    bool fresh_step;        /* the last step was a new factor's first */
    double fresh_rate;      /* how much the first step of the newest factor shrank the correction */
    bool truncated;         /* steps are Newton's own: the lagged factor has become too slow */
    bool slow_cg;           /* finding the last of them took long */
    int uphill;             /* steps accepted although the correction grew */
    bool downhill;          /* the step being attempted is one down the potential */
    int inadmissible;       /* element with J <= 0 at the last evaluation, or -1 */
    bool law_failed;        /* the contact law was not solved at the last correction */
    bool law_rough;         /* it was solved only as well as needed on the way, */
    double law_residual;    /* to this, m */
    bool law_exact;         /* it is to be solved to rounding */
} newton;

/* F_el at q into sim->residual, and the potential it is the gradient of; false when an element is
 * inadmissible there. */
static bool evaluate(newton *s, const double *q)
{
    pl_sim *sim = s->sim;
    const pl_substep *sub = s->sub;
    double h = sub->h;
    pl_elastic_result e = pl_elastic_evaluate(sim->elastic, q, false, 0, NULL, sim->gradient, NULL);
    s->inadmissible = e.inadmissible;
    sim->info.energy_elastic = e.energy;
    s->potential = h * h * e.energy;
    for (int i = 0; e.inadmissible < 0 && i < sim->n; i++)
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            double u = q[k] - sub->q0[k], inertia = sim->mass[i] + h * sim->damping[i];
            double push = h * sim->mass[i] * sub->v0[k] + h * h * sim->external[k];
            double pull = h * h * sim->pin_stiffness[i],
                   anchor = h * h * sim->spring[k] - pull * sub->q0[k];
            sim->residual[k] = (inertia + pull) * u - push - anchor + h * h * sim->gradient[k];
            s->potential += (0.5 * (inertia + pull) * u - push - anchor) * u;
        }
    pl_stage(sim, PL_STAGE_LOCAL);
    return e.inadmissible < 0;
}

static pl_status reserve_contacts(pl_sim *sim)
{
    int need = sim->contacts.count, capacity = sim->law_capacity;
    if (need <= capacity)
        return PL_OK;
    int wanted = need + need / 2 + 16;
    pl_law *laws = pl_alloc(sim->ctx, (size_t)wanted, sizeof *laws);
    double *lambda = pl_alloc(sim->ctx, 3 * (size_t)wanted, sizeof *lambda);
    double *motion = pl_alloc(sim->ctx, 3 * (size_t)wanted, sizeof *motion);
    double *origin = pl_alloc(sim->ctx, 3 * (size_t)wanted, sizeof *origin);
    bool ok = laws && lambda && motion && origin;
    pl_free(sim->ctx, ok ? sim->laws : laws);
    pl_free(sim->ctx, ok ? sim->lambda : lambda);
    pl_free(sim->ctx, ok ? sim->free_motion : motion);
    pl_free(sim->ctx, ok ? sim->origin : origin);
    if (!ok)
        return PL_ERROR_MEMORY;
    sim->laws = laws, sim->lambda = lambda, sim->free_motion = motion, sim->origin = origin;
    sim->law_capacity = wanted;
    return PL_OK;
}

/* Laws and Delassus matrix for the present contacts and factor; the warm start from the contacts. */
static pl_status prepare_contacts(newton *s)
{
    pl_sim *sim = s->sim;
    int m = sim->contacts.count;
    PL_TRY(reserve_contacts(sim));
    s->prepared = true;
    if (m == 0)
        return PL_OK;
    PL_TRY(
        pl_delassus_build(sim->ctx, &sim->delassus, pl_matrix_factor(sim), s->sub->h, &sim->contacts));
    pl_matrix_focus(sim);
    for (int c = 0; c < m; c++) {
        const double *w = sim->delassus.w + (size_t)(3 * c) * (size_t)(3 * m + 1);
        size_t next = (size_t)(3 * m + 1);
        sim->laws[c] = (pl_law){
            .mu = sim->contacts.points[c].mu,
            .epsilon2 = sim->scene->def.contact_epsilon2,
            .rho = (w[0] + w[next] + w[2 * next]) / 3,
        };
        memcpy(sim->lambda + 3 * c, sim->contacts.points[c].lambda, 3 * sizeof(double));
    }
    pl_stage(sim, PL_STAGE_CONTACT);
    return PL_OK;
}

/* How well the contact law is to be solved, m: on the way to the solution not much better than the
 * elastic problem will be after this correction, whose size the last one and the rate foretell. */
static double law_goal(const newton *s, const double *move)
{
    if (s->law_exact)
        return 0;
    const pl_contact_set *set = &s->sim->contacts;
    double last = s->norm, rate = s->stale && s->last_rate > 0 ? s->last_rate : 0.1;
    for (int c = 0; s->norm == 0 && c < set->count; c++)
        last = fmax(last, pl_norm3(move + 3 * (size_t)set->points[c].vertex[0]));
    double expected = fmin(rate, 1) * last;
    return expected > LAW_EXACT_BELOW * s->sim->scene->def.tolerance ? LAW_GOAL * expected : 0;
}

/* lambda from the contact law, given the move that the present forces (sim->origin) make. */
static pl_status solve_law(newton *s, const double *q, const double *move)
{
    pl_sim *sim = s->sim;
    int m = sim->contacts.count;
    pl_contact_solution solution;
    for (int c = 0; c < m; c++) {
        const pl_contact_point *p = &sim->contacts.points[c];
        for (int k = 0; k < p->count; k++)
            for (int i = 3 * p->vertex[k]; i < 3 * p->vertex[k] + 3; i++)
                sim->guess[i] = (q[i] - s->sub->q0[i]) + move[i];
        pl_contact_delta(p, sim->guess, sim->free_motion + 3 * c);
    }
    double goal = law_goal(s, move);
    pl_contact_problem problem = {
        m, sim->laws, sim->delassus.w, sim->delassus.single, sim->free_motion, sim->origin};
    PL_TRY(pl_contact_solve(sim->ctx, &sim->contact_solver, &problem, goal, sim->lambda, &solution));
    sim->info.inner_iterations += solution.iterations;
    s->law_failed = !solution.converged;
    s->law_rough = goal > 0;
    s->law_residual = solution.residual;
    if (s->law_failed)
        pl_log(sim->ctx, PL_LOG_DEBUG,
               "step %d: contact law off by %.3e m at contact %d of %d after %d iterations",
               s->sub->step, solution.residual, solution.worst, m, solution.iterations);
    pl_stage(sim, PL_STAGE_CONTACT);
    return PL_OK;
}

/* move = E^-1 (rhs + h^2 H^T (lambda - origin)), rhs in `move`: what the present forces move at the
 * contacts, the law's change of them, then everything. In single precision but for the contacts, where
 * gaps of 1e-12 m are to be met. */
static pl_status move_with_contacts(newton *s, const double *q, double *move)
{
    pl_sim *sim = s->sim;
    double h2 = s->sub->h * s->sub->h;
    PL_TRY(pl_matrix_begin(sim, move, move));
    pl_stage(sim, PL_STAGE_SOLVE);
    PL_TRY(solve_law(s, q, move));
    memset(sim->guess, 0, sizeof(double) * 3 * (size_t)sim->n);
    for (int c = 0; c < sim->contacts.count; c++) {
        double change[3];
        pl_sub3(sim->lambda + 3 * c, sim->origin + 3 * c, change);
        pl_contact_scatter(&sim->contacts.points[c], h2, change, sim->guess);
    }
    PL_TRY(pl_matrix_end(sim, sim->guess, move));
    pl_stage(sim, PL_STAGE_SOLVE);
    return PL_OK;
}

/* move = E^-1(-r + h^2 H^T lambda) for the residual last evaluated (at q); *norm its largest vertex. */
static pl_status correct_once(newton *s, const double *q, double *move, double *norm)
{
    pl_sim *sim = s->sim;
    double h2 = s->sub->h * s->sub->h;
    int m = sim->contacts.count;
    sim->info.iterations++;
    for (int i = 0; i < 3 * sim->n; i++)
        move[i] = -sim->residual[i];
    if (m > 0)
        memcpy(sim->origin, sim->lambda, sizeof(double) * 3 * (size_t)m);
    for (int c = 0; c < m; c++)
        pl_contact_scatter(&sim->contacts.points[c], h2, sim->origin + 3 * c, move);
    s->law_failed = s->law_rough = false;
    if (m > 0) {
        PL_TRY(move_with_contacts(s, q, move));
    } else {
        PL_TRY(pl_matrix_correct(sim, move, move));
        pl_stage(sim, PL_STAGE_SOLVE);
    }
    *norm = 0;
    for (int i = 0; i < sim->n; i++) {
        double length = pl_norm3(move + 3 * (size_t)i);
        if (!(length <= *norm)) { /* also when not a number */
            *norm = length;
            s->worst = i;
        }
    }
    return PL_OK;
}

/* The same; where it is smaller than what the law was left with, it says nothing: once more, exactly.
 */
static pl_status correct(newton *s, const double *q, double *move, double *norm)
{
    PL_TRY(correct_once(s, q, move, norm));
    if (!s->law_rough || *norm >= s->law_residual)
        return PL_OK;
    s->law_exact = true;
    pl_status status = correct_once(s, q, move, norm);
    s->law_exact = false;
    return status;
}

/* The forces found so far, as the contacts' own: the next start. */
static void keep_forces(newton *s)
{
    pl_contact_set *set = &s->sim->contacts;
    for (int c = 0; s->prepared && c < set->count; c++)
        memcpy(set->points[c].lambda, s->sim->lambda + 3 * c, 3 * sizeof(double));
}

/* A fresh factor at the iterate and the correction it proposes. */
static pl_status refresh(newton *s)
{
    pl_sim *sim = s->sim;
    keep_forces(s);
    pl_factor_kind kind = sim->solver == PL_SOLVER_CONSTANT ? PL_FACTOR_CONSTANT : PL_FACTOR_TANGENT;
    PL_TRY(pl_matrix_refresh(sim, kind, s->sub->h, sim->iterate));
    s->stale = s->truncated = false;
    pl_anderson_reset(&sim->anderson);
    PL_TRY(prepare_contacts(s));
    evaluate(s, sim->iterate);
    s->energy = s->potential;
    return correct(s, sim->iterate, sim->move, &s->norm);
}

/* Iterations from the present correction down to the tolerance at a rate. */
static double iterations_left(const newton *s, double rate)
{
    return log(s->sim->scene->def.tolerance / s->norm) / log(fmin(fmax(rate, 1e-6), GOOD_RATE));
}

/* Whether CG on the true tangent can take over from the lagged or constant factor alone. */
static bool can_truncate(const newton *s)
{
    const pl_sim *sim = s->sim;
    return sim->contacts.count == 0 && sim->solver != PL_SOLVER_DIRECT && s->stale;
}

/* With rate theta, would waiting cost more than a factorisation and what follows it, or, where it can
 * take over, three of Newton's own steps by CG? */
static bool refresh_pays(const newton *s, double theta)
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
static bool at_saddle(const newton *s)
{
    return s->sim->factor_clamped && s->sim->contacts.count > 0;
}

/* A correction should shrink. Where the true tangent is indefinite (buckling) the way to the solution
 * may first lead away from a stationary point: then it is the potential that must fall. Modes of
 * contact that change may enlarge it too, for a number of steps, at most three times each. */
static bool acceptable(newton *s, double t, bool combined, double trial_norm)
{
    if (s->law_failed || !isfinite(trial_norm))
        return false;
    if (trial_norm <= (1 - 0.01 * t) * s->norm || s->downhill)
        return true;
    if (s->sim->contacts.count == 0)
        return s->potential < s->energy - 1e-12 * fabs(s->energy);
    if (trial_norm > UPHILL_RATE * s->norm || at_saddle(s))
        return false;
    return (combined || !s->stale) && s->uphill++ < UPHILL_STEPS;
}

/* The point a fraction t along `step` and its own correction; accepted, it becomes the iterate. */
static pl_status attempt(newton *s, const double *step, double t, bool *accepted, double *theta)
{
    pl_sim *sim = s->sim;
    double trial_norm = INFINITY;
    for (int i = 0; i < 3 * sim->n; i++)
        sim->trial[i] = sim->iterate[i] + t * step[i];
    s->law_failed = false;
    if (evaluate(s, sim->trial))
        PL_TRY(correct(s, sim->trial, sim->trial_move, &trial_norm));
    pl_log(sim->ctx, PL_LOG_DEBUG, "step %d: move %.3e m, after %g of it%s %.3e m%s%s%s", s->sub->step,
           s->norm, t, step == sim->move ? "" : " combined", trial_norm,
           s->stale ? ", lagged factor" : "", s->inadmissible >= 0 ? ", inverted" : "",
           s->law_failed ? ", law unsolved" : "");
    *accepted = acceptable(s, t, step != sim->move, trial_norm);
    if (!*accepted)
        return PL_OK;
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
static void search_downhill(newton *s, double *step)
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
        bool lower = evaluate(s, sim->trial) && s->potential - work < best;
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
static pl_status advance_truncated(newton *s, bool *accepted, double *theta)
{
    pl_sim *sim = s->sim;
    pl_truncated found;
    double factor = sim->costs.factor / (sim->costs.solve + sim->costs.product);
    int limit = sim->solver == PL_SOLVER_CONSTANT ? 10 * CG_CONSTANT : (int)(CG_LIMIT * factor) + 1;
    evaluate(s, sim->iterate);
    PL_TRY(pl_truncated_newton(sim, s->sub->h, sim->iterate, s->norm, limit, sim->combined, &found));
    pl_log(sim->ctx, PL_LOG_DEBUG, "step %d: %d linear iterations%s", s->sub->step, found.iterations,
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
static pl_status return_to_iterate(newton *s)
{
    evaluate(s, s->sim->iterate);
    return correct(s, s->sim->iterate, s->sim->move, &s->norm);
}

/* At a saddle: Newton's own step, which finds also what the potential falls away from. */
static pl_status advance_coupled(newton *s, bool *accepted, double *theta)
{
    pl_sim *sim = s->sim;
    pl_truncated found;
    PL_TRY(return_to_iterate(s));
    PL_TRY(pl_coupled_newton(sim, sim->iterate, sim->move, COUPLED_LIMIT, sim->combined, &found));
    pl_log(sim->ctx, PL_LOG_DEBUG, "step %d: GMRES %d iterations%s", s->sub->step, found.iterations,
           found.kind == PL_TRUNCATED_NONE ? ", given up" : "");
    if (found.kind == PL_TRUNCATED_NEWTON)
        PL_TRY(attempt(s, sim->combined, 1, accepted, theta));
    s->truncated = *accepted;
    pl_anderson_reset(&sim->anderson);
    return PL_OK;
}

/* At a saddle without a solution nearby: as far as the potential falls along the clamped step. */
static pl_status advance_downhill(newton *s, bool *accepted, double *theta)
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
static pl_status advance(newton *s, pl_substep_result *out, double *theta)
{
    pl_sim *sim = s->sim;
    bool accepted = false;
    if (!s->truncated && pl_anderson_step(&sim->anderson, sim->iterate, sim->move, sim->combined)) {
        PL_TRY(attempt(s, sim->combined, 1, &accepted, theta));
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
    out->worst_vertex = s->inadmissible >= 0 ? s->inadmissible : s->worst;
    out->reason = s->inadmissible >= 0 ? "an element would invert"
                  : s->law_failed      ? "the contact law was not solved"
                                       : "no step reduces the residual";
    return PL_OK;
}

/* Forces of the last step's contacts, as far as they are contacts again. */
static void warm_start(pl_contact_set *set, const pl_state *state)
{
    int k = 0;
    for (int c = 0; c < set->count; c++) {
        pl_contact_point *p = &set->points[c];
        while (k < state->contact_count && (state->contacts[k].vertex < p->vertex[0] ||
                                            (state->contacts[k].vertex == p->vertex[0] &&
                                             state->contacts[k].collider < p->collider)))
            k++;
        if (k == state->contact_count || state->contacts[k].vertex != p->vertex[0] ||
            state->contacts[k].collider != p->collider)
            continue;
        pl_mat3_vec(p->frame, state->contacts[k].force_tangent, p->lambda);
        p->lambda[0] = state->contacts[k].force_normal;
    }
}

pl_obstacles pl_substep_obstacles(const pl_sim *sim, const pl_substep *sub)
{
    return (pl_obstacles){
        .count = sim->scene->collider_count,
        .shapes = sim->shapes,
        .pose_start = sub->pose_start,
        .pose_end = sub->drive->collider_pose,
        .body_count = sim->scene->body_count,
        .friction = sim->scene->friction,
        .body_of = sim->scene->body_of,
    };
}

/* External forces, springs, contacts and the first guess q0 + h v0, shortened until it is admissible.
 */
static pl_status begin(newton *s, const pl_state *warm)
{
    pl_sim *sim = s->sim;
    const pl_substep *sub = s->sub;
    const pl_scene *scene = sim->scene;
    double h = sub->h;
    pl_drive_external(scene, sim->mass, sub->drive, sub->q0, sub->v0, sim->external);
    memset(sim->spring, 0, sizeof(double) * 3 * (size_t)sim->n);
    for (int p = 0; p < scene->pin_count; p++)
        for (int k = scene->pins[p].first; k < scene->pins[p].first + scene->pins[p].count; k++)
            pl_axpy3(1 / scene->pins[p].compliance, sub->drive->pin_target + 3 * k,
                     sim->spring + 3 * (size_t)scene->pin_vertex[k]);
    for (int i = 0; i < 3 * sim->n; i++)
        sim->guess[i] = sub->q0[i] + h * sub->v0[i] + h * h * sim->external[i] / sim->mass[i / 3];
    pl_obstacles o = pl_substep_obstacles(sim, sub);
    int added;
    sim->contacts.count = 0;
    PL_TRY(pl_contacts_detect(sim->ctx, &o, sim->n, sub->q0, sim->guess, sim->margin, false,
                              &sim->contacts, &added));
    warm_start(&sim->contacts, warm);
    pl_stage(sim, PL_STAGE_CONTACT);
    double t = 1;
    do {
        for (int i = 0; i < 3 * sim->n; i++)
            sim->iterate[i] = sub->q0[i] + t * h * sub->v0[i];
        t = t > 1e-3 ? 0.5 * t : 0;
    } while (!evaluate(s, sim->iterate) && (t > 0 || s->inadmissible < 0));
    s->energy = s->potential;
    if (s->inadmissible >= 0)
        return pl_fail(sim->ctx, PL_ERROR_NUMERIC, "element %d is inverted at the start of the step",
                       s->inadmissible);
    return PL_OK;
}

/* Vertices that came close without being expected to become contacts too. */
static pl_status late_contacts(newton *s, int *added)
{
    pl_sim *sim = s->sim;
    *added = 0;
    if (sim->scene->collider_count == 0)
        return PL_OK;
    keep_forces(s);
    pl_obstacles o = pl_substep_obstacles(sim, s->sub);
    PL_TRY(pl_contacts_detect(sim->ctx, &o, sim->n, s->sub->q0, sim->iterate, sim->margin, true,
                              &sim->contacts, added));
    pl_stage(sim, PL_STAGE_CONTACT);
    return PL_OK;
}

static pl_status iterate(newton *s, pl_substep_result *out)
{
    pl_sim *sim = s->sim;
    double tolerance = sim->scene->def.tolerance;
    int limit = sim->info.iterations + sim->scene->def.max_iterations;
    for (;;) {
        double theta;
        /* What is left after the move is about theta/(1 - theta) of it: below the tolerance, with
         * margin. */
        bool close = s->norm <= tolerance * fmin(1, 0.2 * (1 - s->rate) / fmax(s->rate, 1e-3));
        if (close && s->law_rough) {
            PL_TRY(correct(s, sim->iterate, sim->move, &s->norm));
            continue;
        }
        if (close && !s->law_failed) {
            int added;
            sim->info.residual = s->norm;
            for (int i = 0; i < 3 * sim->n; i++)
                sim->iterate[i] += sim->move[i];
            PL_TRY(late_contacts(s, &added));
            if (added == 0) {
                out->converged = true;
                return PL_OK;
            }
            pl_anderson_reset(&sim->anderson);
            PL_TRY(prepare_contacts(s));
            evaluate(s, sim->iterate);
            s->energy = s->potential;
            PL_TRY(correct(s, sim->iterate, sim->move, &s->norm));
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
    out->worst_vertex = s->worst;
    return PL_OK;
}

pl_status pl_substep_solve(pl_sim *sim, const pl_substep *sub, const pl_state *warm,
                           pl_substep_result *out)
{
    newton s = {.sim = sim, .sub = sub, .stale = true, .fresh_rate = 1e-3};
    pl_anderson_reset(&sim->anderson);
    *out = (pl_substep_result){.reason = "not started"};
    PL_TRY(begin(&s, warm));
    if (sim->factor == PL_FACTOR_NONE || sim->factor_h != sub->h || sim->solver == PL_SOLVER_DIRECT) {
        PL_TRY(refresh(&s));
    } else {
        PL_TRY(prepare_contacts(&s));
        PL_TRY(correct(&s, sim->iterate, sim->move, &s.norm));
    }
    PL_TRY(iterate(&s, out));
    sim->info.residual = s.norm;
    return PL_OK;
}
