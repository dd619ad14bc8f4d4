/*
 * One correction of an iterate: the elastic residual, and the move by the factor in use with the
 * contact law solved along the way.
 *
 *     r = F_el(q),   b = H(q - E^-1 r) - d,   law(b + W lambda, lambda) = 0,   move = E^-1 (-r + h^2
 * H^T lambda)
 */
#include "sim/newton.h"

#include "core/vec.h"
#include "rows/rows.h"
#include "sim/folded.h"

#define LAW_GOAL        0.003 /* of the correction: how well the contact law is solved on the way */
#define LAW_SLACK       1e-4  /* of the tolerance: what each contact may add to meet its law */
#define BLOCKS          16    /* of vertices, that threads share, */
#define LAW_EXACT_BELOW 1     /* tolerances: expecting a correction as small as this, to rounding */

/* solver->residual of vertices [first, last) from the stress; returns what inertia and constant forces
 * have of the potential. */
static double residual_of(pl_newton *s, const double *q, int first, int last)
{
    pl_solver *solver = s->solver;
    const pl_substep *sub = s->sub;
    double h = sub->h, potential = 0;
    for (int i = first; i < last; i++)
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            double u = q[k] - sub->p[k],
                   inertia = solver->matter->mass[i] + h * solver->matter->damping[i];
            double push = h * solver->matter->mass[i] * sub->w[k] + h * h * solver->external[k];
            solver->residual[k] = inertia * u - push + h * h * solver->gradient[k];
            potential += (0.5 * inertia * u - push) * u;
        }
    return potential;
}

/* The same of all, by blocks that are the same for any number of threads. */
static double add_inertia(pl_newton *s, const double *q)
{
    double parts[BLOCKS], potential = 0;
    int n = s->solver->n;
#pragma omp parallel for num_threads(s->solver->ctx->threads)                                          \
    schedule(static) if (n > s->solver->ctx->limits.thread_vertices)
    for (int b = 0; b < BLOCKS; b++)
        parts[b] =
            residual_of(s, q, (int)((int64_t)n * b / BLOCKS), (int)((int64_t)n * (b + 1) / BLOCKS));
    for (int b = 0; b < BLOCKS; b++)
        potential += parts[b];
    return potential;
}

bool pl_newton_evaluate(pl_newton *s, const double *q)
{
    pl_solver *solver = s->solver;
    double h = s->sub->h;
    pl_elastic_result e =
        pl_elastic_evaluate(solver->matter->elastic, q, false, 0, NULL, solver->gradient, NULL);
    s->inadmissible = e.inadmissible;
    solver->meter.info.energy_elastic = e.energy;
    s->potential = h * h * e.energy;
    if (e.inadmissible < 0) {
        s->potential += add_inertia(s, q);
        s->potential += h * h * pl_terms_energy(s->sub, q, h * h, solver->residual);
    }
    pl_stage(&solver->meter, PL_STAGE_LOCAL);
    return e.inadmissible < 0;
}

pl_status pl_newton_reserve_contacts(pl_solver *solver, int need)
{
    int capacity = solver->space.capacity;
    if (need <= capacity)
        return PL_OK;
    int wanted = need + need / 2 + 16;
    pl_law *laws = pl_alloc(solver->ctx, (size_t)wanted, sizeof *laws);
    double *lambda = pl_alloc(solver->ctx, 3 * (size_t)wanted, sizeof *lambda);
    double *motion = pl_alloc(solver->ctx, 3 * (size_t)wanted, sizeof *motion);
    double *origin = pl_alloc(solver->ctx, 3 * (size_t)wanted, sizeof *origin);
    double *moves = pl_alloc(solver->ctx, 3 * (size_t)wanted, sizeof *moves);
    double *delta = pl_alloc(solver->ctx, 3 * (size_t)wanted, sizeof *delta);
    bool ok = laws && lambda && motion && origin && moves && delta;
    pl_free(solver->ctx, ok ? solver->space.laws : laws);
    pl_free(solver->ctx, ok ? solver->space.lambda : lambda);
    pl_free(solver->ctx, ok ? solver->space.free_motion : motion);
    pl_free(solver->ctx, ok ? solver->space.origin : origin);
    pl_free(solver->ctx, ok ? solver->space.wanted : moves);
    pl_free(solver->ctx, ok ? solver->space.delta : delta);
    if (!ok)
        return PL_ERROR_MEMORY;
    solver->space.laws = laws, solver->space.lambda = lambda, solver->space.free_motion = motion,
    solver->space.origin = origin;
    solver->space.wanted = moves, solver->space.delta = delta;
    solver->space.capacity = wanted;
    return PL_OK;
}

pl_status pl_newton_prepare(pl_newton *s)
{
    pl_solver *solver = s->solver;
    pl_contact_set *set = &solver->space.set;
    int m = set->count;
    PL_TRY(pl_newton_reserve_contacts(solver, m));
    s->prepared = true;
    if (m == 0)
        return PL_OK;
    pl_rows_place(s->sub, solver->iterate, set);
    if (solver->matrix.fold.count > 0)
        return pl_folded_prepare(s);
    PL_TRY(pl_delassus_build(solver->ctx, &solver->space.delassus, pl_matrix_factor(&solver->matrix),
                             s->sub->h, &solver->space.set));
    int touched;
    PL_TRY(pl_solver_touched(solver, &touched));
    pl_matrix_focus(&solver->matrix, touched, solver->space.touched, set->touching == m);
    for (int c = 0; c < m; c++) {
        pl_law *law = &solver->space.laws[c];
        *law = solver->space.set.points[c].law;
        law->epsilon2 = solver->matter->values->def.contact_epsilon2;
        law->rho = solver->space.delassus.rho[c];
        memcpy(solver->space.lambda + 3 * c, solver->space.set.points[c].lambda, 3 * sizeof(double));
    }
    pl_stage(&solver->meter, PL_STAGE_CONTACT);
    return PL_OK;
}

/* How well the contact law is to be solved, m: on the way to the solution not much better than the
 * elastic problem will be after this correction, whose size the last one and the rate foretell, at
 * first the last substep's. */
static double law_goal(const pl_newton *s, const double *move)
{
    if (s->law_exact)
        return 0;
    const pl_contact_set *set = &s->solver->space.set;
    double last = s->norm, rate = s->stale && s->last_rate > 0 ? s->last_rate : 0.1;
    if (s->norm > 0 && s->last_rate == 0 && s->solver->memory.first_rate > 0)
        rate = s->solver->memory.first_rate;
    for (int c = 0; s->norm == 0 && c < set->count; c++)
        last = fmax(last, pl_norm3(move + 3 * (size_t)set->points[c].vertex));
    double expected = s->expected > 0 ? s->expected : fmin(rate, 1) * last;
    return expected > LAW_EXACT_BELOW * s->solver->matter->values->def.tolerance ? LAW_GOAL * expected
                                                                                 : 0;
}

pl_coupling pl_newton_coupling(pl_solver *solver)
{
    return (pl_coupling){solver->space.set.count, solver->space.laws, &solver->space.delassus};
}

/* How the law was solved. */
static void note_law(pl_newton *s, double goal, const pl_contact_solution *solution)
{
    pl_solver *solver = s->solver;
    solver->meter.info.inner_iterations += solution->iterations;
    s->patience -= solution->central;
    s->law_failed = !solution->converged;
    s->law_rough = goal > 0;
    s->law_sharp = solution->sharp;
    s->law_residual = solution->residual;
    s->law_worst = solver->space.set.points[solution->worst].vertex;
    if (s->law_failed)
        pl_log(solver->ctx, PL_LOG_DEBUG,
               "step %d: contact law off by %.3e m at contact %d of %d after %d iterations",
               s->sub->step + 1, solution->residual, solution->worst, solver->space.set.count,
               solution->iterations);
    pl_stage(&solver->meter, PL_STAGE_CONTACT);
}

/* lambda from the contact law, given the move that the present forces (solver->space.origin) make. */
static pl_status solve_law(pl_newton *s, const double *q, const double *move)
{
    pl_solver *solver = s->solver;
    pl_contact_solution solution;
    pl_contacts_delta_exact(solver->ctx, &solver->space.set, s->sub->q0, q, move,
                            solver->space.free_motion);
    double goal = law_goal(s, move);
    pl_contact_problem problem = {.on = pl_newton_coupling(solver),
                                  .b = solver->space.free_motion,
                                  .origin = solver->space.origin,
                                  .slack = LAW_SLACK * solver->matter->values->def.tolerance,
                                  .impatient = s->patience <= 0};
    PL_TRY(pl_contact_solve(solver->ctx, &solver->space.solver, &problem, goal, solver->space.lambda,
                            &solution));
    note_law(s, goal, &solution);
    return PL_OK;
}

/* move = E^-1 (rhs + h^2 H^T (lambda - origin)), rhs in `move`: what the present forces move at the
 * contacts, the law's change of them, then everything. In single precision; but the contacts move as
 * the law wants it, because gaps of 1e-12 m are to be met. */
static pl_status move_with_contacts(pl_newton *s, const double *q, double *move)
{
    pl_solver *solver = s->solver;
    const pl_contact_set *set = &solver->space.set;
    double h2 = s->sub->h * s->sub->h;
    PL_TRY(pl_matrix_begin(&solver->matrix, move, move));
    pl_stage(&solver->meter, PL_STAGE_SOLVE);
    PL_TRY(solve_law(s, q, move));
    memset(solver->guess, 0, sizeof(double) * 3 * (size_t)solver->n);
    for (int c = 0; c < set->count; c++) {
        double *wanted = solver->space.wanted + 3 * c;
        pl_contact_scatter(set, c, h2, solver->space.solver.change + 3 * c, solver->guess);
        pl_contact_gather(set, c, move, wanted);
        pl_axpy3(1, solver->space.solver.moved + 3 * c, wanted);
    }
    pl_delassus *w = &solver->space.delassus;
    pl_delassus_move(w, set, solver->space.wanted, solver->guess, move);
    PL_TRY(pl_matrix_end(&solver->matrix, solver->guess, move, move));
    pl_delassus_hold(w, set, solver->space.wanted, move);
    pl_stage(&solver->meter, PL_STAGE_SOLVE);
    return PL_OK;
}

/* Rows that follow the iterate where q is, and what couples them. */
static pl_status follow(pl_newton *s, const double *q)
{
    pl_solver *solver = s->solver;
    if (!pl_rows_follow(&solver->space.set))
        return PL_OK;
    pl_rows_place(s->sub, q, &solver->space.set);
    if (solver->matrix.fold.count > 0) {
        pl_folded_turn(solver);
        return PL_OK;
    }
    return pl_delassus_build(solver->ctx, &solver->space.delassus, pl_matrix_factor(&solver->matrix),
                             s->sub->h, &solver->space.set);
}

/* move = E^-1(-r + h^2 H^T lambda) for the residual last evaluated (at q); *norm its largest vertex. */
static pl_status correct_once(pl_newton *s, const double *q, double *move, double *norm)
{
    pl_solver *solver = s->solver;
    double h2 = s->sub->h * s->sub->h;
    int m = solver->space.set.count;
    PL_TRY(follow(s, q));
    for (int i = 0; i < 3 * solver->n; i++)
        move[i] = -solver->residual[i];
    if (m > 0)
        memcpy(solver->space.origin, solver->space.lambda, sizeof(double) * 3 * (size_t)m);
    for (int c = 0; c < m; c++)
        pl_contact_scatter(&solver->space.set, c, h2, solver->space.origin + 3 * c, move);
    s->law_failed = s->law_rough = false;
    s->law_sharp = true;
    if (m > 0 && solver->matrix.fold.count > 0) {
        pl_contact_solution solution;
        for (int i = 0; i < 3 * solver->n; i++)
            move[i] /= solver->matrix.own[i / 3];
        double goal = law_goal(s, move);
        PL_TRY(pl_folded_move(s, q, goal, move, &solution));
        note_law(s, goal, &solution);
    } else if (m > 0) {
        PL_TRY(move_with_contacts(s, q, move));
    } else {
        PL_TRY(pl_matrix_correct(&solver->matrix, move, move));
        pl_stage(&solver->meter, PL_STAGE_SOLVE);
    }
    *norm = 0;
    for (int i = 0; i < solver->n; i++) {
        double length = pl_norm3(move + 3 * (size_t)i);
        if (pl_is_more(length, *norm)) {
            *norm = length;
            s->worst = i;
        }
    }
    return PL_OK;
}

/* The same; where it is smaller than what the law was left with, it says nothing: once more, exactly.
 */
pl_status pl_newton_correct(pl_newton *s, const double *q, double *move, double *norm)
{
    s->renewed = false;
    pl_status status = correct_once(s, q, move, norm);
    if (status == PL_OK && s->law_rough && *norm < s->law_residual) {
        s->law_exact = true;
        status = correct_once(s, q, move, norm);
        s->law_exact = false;
    }
    if (s->renewed)
        pl_anderson_reset(&s->solver->memory.anderson);
    s->stale = s->stale && !(s->renewed && q == s->solver->iterate);
    return status;
}

void pl_newton_keep_forces(pl_newton *s)
{
    pl_contact_set *set = &s->solver->space.set;
    const double *lambda = s->solver->space.lambda;
    for (int c = 0; s->prepared && c < set->count; c++)
        memcpy(set->points[c].lambda, lambda + 3 * c, 3 * sizeof(double));
    for (int c = set->touching; s->prepared && c < set->count; c++)
        s->solver->live[c - set->touching] = lambda[3 * c];
}
