/* Newton's method in contact space. */
#include "contact/solve.h"

#include "contact/delassus.h"
#include "core/vec.h"

#include <float.h>

#define MAX_NEWTON    40
#define MAX_HALVINGS  12
#define RECENT        8    /* points: a step may end above the last of them, but not above them all */
#define ROUGHEST_STEP 1e-2 /* of a Newton step's residual: how well its system is solved at least, */
#define FINEST_STEP   1e-5 /* and at most: single precision */
#define PREDICTED     1e-3 /* how well the predicted change of the solution is found */
#define RELATIVE_GOAL 1e-9 /* of the smaller member of each complementary pair */
#define ROUNDING      (16 * DBL_EPSILON) /* of the largest number in a sum: all it is good for */
#define NOISE         0.25               /* of that: residuals this small tell nothing */
#define SHARP         5e-9               /* of the normal pair, with what rounding may have spoilt */

void pl_contact_solver_free(pl_context *ctx, pl_contact_solver *s)
{
    void *arrays[] = {s->moved,       s->trial_moved, s->delta,        s->step,   s->trial,
                      s->trial_delta, s->linear,      s->trial_linear, s->change, s->last_delta,
                      s->last_lambda, s->step_moved,  s->springs,      s->reach};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    pl_contact_system_free(ctx, &s->system);
    pl_central_free(ctx, &s->central);
    *s = (pl_contact_solver){0};
}

void pl_contact_solver_forget(pl_contact_solver *s)
{
    pl_contact_system_forget(&s->system);
    s->solved = 0;
}

pl_status pl_contact_solver_reserve(pl_context *ctx, pl_contact_solver *s, int m)
{
    pl_status status = PL_OK;
    if (m <= s->capacity)
        return PL_OK;
    int wanted = m + m / 2 + 8;
    pl_contact_solver_free(ctx, s);
    double **vectors[] = {&s->delta,      &s->step,        &s->trial,      &s->trial_delta,
                          &s->moved,      &s->trial_moved, &s->step_moved, &s->change,
                          &s->last_delta, &s->last_lambda, &s->reach};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        PL_NEW(ctx, *vectors[k], 3 * wanted, fail);
    PL_NEW(ctx, s->springs, 9 * wanted, fail);
    PL_NEW(ctx, s->linear, wanted, fail);
    PL_NEW(ctx, s->trial_linear, wanted, fail);
    s->capacity = wanted;
    return PL_OK;
fail:
    pl_contact_solver_free(ctx, s);
    return status;
}

/* moved = W change, delta = b + moved */
static void displacement(const pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                         const double *change, double *moved, double *delta)
{
    int size = 3 * p->on.count;
    bool changed = false;
    for (int i = 0; i < size; i++)
        changed = changed || change[i] != 0;
    memset(moved, 0, sizeof(double) * (size_t)size);
    if (changed)
        pl_contact_system_couple(ctx, &s->system, &p->on, change, moved);
    for (int i = 0; i < size; i++)
        delta[i] = p->b[i] + moved[i];
}

/* lambda = origin + change of one contact */
static void force_at(const pl_contact_problem *p, const double *change, int c, double lambda[3])
{
    for (int k = 0; k < 3; k++)
        lambda[k] = p->origin[3 * c + k] + change[3 * c + k];
}

/* Below these a contact's residuals are as small as the rounding of delta and lambda lets them be, as
 * far as they depend on each. `moved` is the largest that is added up in a row of W change, m. */
static void rounding_floor(const pl_contact_problem *p, int c, const pl_law_linear *at,
                           const double *delta, const double *change, const double lambda[3],
                           double moved, double floor[3])
{
    for (int r = 0; r < 3; r++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += fabs(at->d_delta[3 * r + k]) * (fabs(p->b[3 * c + k]) + fabs(delta[k]) + moved) +
                   fabs(at->d_lambda[3 * r + k]) * (fabs(change[k]) + fabs(lambda[k]));
        floor[r] = ROUNDING * sum;
    }
}

/* The largest sqrt(rho) |change|: W being positive definite, sqrt(rho) times this is as large as a
 * member of a row of W change can be, or nearly. */
static double reach_of(const pl_contact_problem *p, const double *change)
{
    double most = 0;
    for (int c = 0; c < p->on.count; c++)
        for (int k = 0; k < 3; k++)
            most = fmax(most, sqrt(p->on.laws[c].rho) * fabs(change[3 * c + k]));
    return most;
}

/* The laws at (delta, origin + change), residuals that are noise taken as zero: or the others could not
 * be told to fall. Returns half the sum of squares. */
static double evaluate(const pl_context *ctx, const pl_contact_problem *p, const double *delta,
                       const double *change, pl_law_linear *linear)
{
    double sum = 0, reach = reach_of(p, change);
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static) if (p->on.count > ctx->limits.thread_laws)
    for (int c = 0; c < p->on.count; c++) {
        double lambda[3], floor[3];
        force_at(p, change, c, lambda);
        pl_law_newton(&p->on.laws[c], delta + 3 * c, lambda, &linear[c]);
        rounding_floor(p, c, &linear[c], delta + 3 * c, change + 3 * c, lambda,
                       sqrt(p->on.laws[c].rho) * reach, floor);
        for (int k = 0; k < 3; k++) {
            double *r = &linear[c].residual[k];
            *r = fabs(*r) > NOISE * floor[k] ? *r : 0;
        }
    }
    for (int c = 0; c < p->on.count; c++)
        for (int k = 0; k < 3; k++)
            sum += 0.5 * linear[c].residual[k] * linear[c].residual[k];
    return sum;
}

/* Each residual against the smaller member of its pair; *out gets the largest residual. */
static bool small_enough(const pl_contact_solver *s, const pl_contact_problem *p, double goal,
                         pl_contact_solution *out)
{
    bool all = true;
    double reach = reach_of(p, s->change);
    out->sharp = true;
    out->residual = 0;
    out->worst = 0;
    for (int c = 0; c < p->on.count; c++) {
        const double *r = s->linear[c].residual, *d = s->delta + 3 * c;
        double l[3], floor[3], mu = p->on.laws[c].mu, rho = p->on.laws[c].rho;
        force_at(p, s->change, c, l);
        rounding_floor(p, c, &s->linear[c], d, s->change + 3 * c, l, sqrt(rho) * reach, floor);
        double x = sqrt(d[1] * d[1] + d[2] * d[2]), force = sqrt(l[1] * l[1] + l[2] * l[2]);
        double apart = p->on.laws[c].two_way ? INFINITY : fabs(d[0] + p->on.laws[c].compliance * l[0]);
        double pair[3] = {
            fmin(apart, rho * fabs(l[0])),
            mu > 0 ? fmin(1, mu) * fmin(x + fabs(d[0]) / mu, rho * fabs(l[0] - force / mu)) : 0,
            fmax(x, rho * force),
        };
        /* What gives has no digits to spare: delta and c lambda all but cancel. */
        bool gives = p->on.laws[c].compliance > 0 && fabs(r[0]) <= floor[0];
        out->sharp = out->sharp && (gives || fmax(fabs(r[0]), floor[0]) <= SHARP * pair[0]);
        for (int k = 0; k < 3; k++) {
            all = all && fabs(r[k]) <= fmax(RELATIVE_GOAL * pair[k], fmax(goal, floor[k]));
            if (fabs(r[k]) > out->residual) {
                out->residual = fabs(r[k]);
                out->worst = c;
            }
        }
    }
    return all;
}

/* Whether no residual is above what the rounding of W change over a whole row can cause: the test of
 * last resort, when iterations bring nothing more. */
static bool at_rounding(const pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p)
{
    pl_contact_system_reach(ctx, &s->system, &p->on, s->change, s->reach);
    for (int c = 0; c < p->on.count; c++) {
        double lambda[3], floor[3];
        double moved = fmax(s->reach[3 * c], fmax(s->reach[3 * c + 1], s->reach[3 * c + 2]));
        force_at(p, s->change, c, lambda);
        rounding_floor(p, c, &s->linear[c], s->delta + 3 * c, s->change + 3 * c, lambda, moved, floor);
        for (int k = 0; k < 3; k++)
            if (!(fabs(s->linear[c].residual[k]) <= floor[k]))
                return false;
    }
    return true;
}

/* s->step = -S^-1 residual, to `accuracy` of it, and with many contacts s->step_moved = W s->step;
 * *solved is false when S is singular. */
static pl_status newton_step(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                             double accuracy, bool *solved)
{
    for (int c = 0; c < p->on.count; c++)
        for (int k = 0; k < 3; k++)
            s->trial[3 * c + k] = -s->linear[c].residual[k];
    return pl_contact_system_solve(ctx, &s->system, &p->on, s->linear, s->trial, accuracy, s->step,
                                   s->step_moved, solved);
}

/* How well the next Newton step's system is to be solved: better as the steps converge faster, and not
 * beyond what is asked of the residuals. `value` is half their sum of squares. */
static double step_accuracy(double value, double last_value, double goal)
{
    double wanted = fmax(value / last_value, 0.1 * goal / sqrt(2 * value));
    return fmin(fmax(wanted, FINEST_STEP), ROUGHEST_STEP);
}

/* What s->change does; returns half the sum of squares. */
static double locate(const pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p)
{
    displacement(ctx, s, p, s->change, s->moved, s->delta);
    return evaluate(ctx, p, s->delta, s->change, s->linear);
}

/* The point a part t of the last step away; returns half its sum of squares. With many contacts W times
 * the step is taken as it was found, in single precision: contacts will be moved by just that
 * (sim/correction.c), and what it is off is a small part of a correction. But a vertex in two contacts
 * has to be moved alike by both. */
static double attempt(const pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                      double goal, double t)
{
    int size = 3 * p->on.count;
    for (int i = 0; i < size; i++)
        s->trial[i] = s->change[i] + t * s->step[i];
    if (p->on.count >= ctx->limits.gmres_contacts && (goal > 0 || p->on.delassus->apart)) {
        for (int i = 0; i < size; i++) {
            s->trial_moved[i] = s->moved[i] + t * s->step_moved[i];
            s->trial_delta[i] = p->b[i] + s->trial_moved[i];
        }
    } else {
        displacement(ctx, s, p, s->trial, s->trial_moved, s->trial_delta);
    }
    return evaluate(ctx, p, s->trial_delta, s->trial, s->trial_linear);
}

static void accept(pl_contact_solver *s)
{
    double *swap = s->change;
    s->change = s->trial, s->trial = swap;
    swap = s->moved;
    s->moved = s->trial_moved, s->trial_moved = swap;
    swap = s->delta;
    s->delta = s->trial_delta, s->trial_delta = swap;
    pl_law_linear *at = s->linear;
    s->linear = s->trial_linear, s->trial_linear = at;
}

/* A better start than forces of another free motion: the law linearised at the solution found last,
 *
 *     D_delta (delta - last_delta) + D_lambda (lambda - last_lambda) = 0,
 *
 * which holds as long as no contact changes its mode. Taken if it does what it should. Half the sums of
 * squares before and after it. */
static pl_status predict(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                         double goal, double *before, double *after)
{
    bool solved;
    displacement(ctx, s, p, s->change, s->moved, s->delta);
    for (int c = 0; c < p->on.count; c++) {
        double lambda[3], moved[3], pressed[3], force[3];
        force_at(p, s->change, c, lambda);
        pl_sub3(s->delta + 3 * c, s->last_delta + 3 * c, moved);
        pl_sub3(lambda, s->last_lambda + 3 * c, pressed);
        pl_mat3_vec(s->linear[c].d_delta, moved, s->linear[c].residual);
        pl_mat3_vec(s->linear[c].d_lambda, pressed, force);
        pl_axpy3(1, force, s->linear[c].residual);
    }
    PL_TRY(newton_step(ctx, s, p, PREDICTED, &solved));
    *before = *after = evaluate(ctx, p, s->delta, s->change, s->linear);
    double value = solved ? attempt(ctx, s, p, goal, 1) : INFINITY;
    if (value < *before) {
        accept(s);
        *after = value;
    }
    return PL_OK;
}

/* The nearest motion and force that meet a contact's law, from (delta, lambda) on. */
static void meet_law(const pl_law *law, const double delta[3], const double lambda[3], double moved[3],
                     double pressed[3])
{
    for (double last = INFINITY;;) {
        double d[3], l[3], motion[3], force[3];
        pl_law_linear at;
        for (int k = 0; k < 3; k++) {
            d[k] = delta[k] + moved[k];
            l[k] = lambda[k] + pressed[k];
        }
        pl_law_newton(law, d, l, &at);
        double size = pl_norm3(at.residual);
        if (!(size < 0.5 * last))
            return;
        last = size;
        pl_law_least(&at, law->rho, at.residual, motion, force);
        pl_axpy3(-1, motion, moved);
        pl_axpy3(-1, force, pressed);
    }
}

/* Once all residuals are within the slack each contact meets its law by itself, which spares a Newton
 * step for their last digits; whether that is enough. */
static bool settle(const pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                   pl_contact_solution *out)
{
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static) if (p->on.count > ctx->limits.thread_laws)
    for (int c = 0; c < p->on.count; c++) {
        double lambda[3], moved[3] = {0}, pressed[3] = {0};
        force_at(p, s->change, c, lambda);
        meet_law(&p->on.laws[c], s->delta + 3 * c, lambda, moved, pressed);
        for (int k = 3 * c; k < 3 * c + 3; k++) {
            s->trial[k] = s->change[k] + pressed[k - 3 * c];
            s->trial_moved[k] = s->moved[k] + moved[k - 3 * c];
            s->trial_delta[k] = p->b[k] + s->trial_moved[k];
        }
    }
    evaluate(ctx, p, s->trial_delta, s->trial, s->trial_linear);
    accept(s);
    if (small_enough(s, p, 0, out))
        return true;
    accept(s); /* back again */
    return false;
}

/* The largest of the values at the points that count, this one of them. */
static double highest(double recent[RECENT], int iteration, double value)
{
    double most = recent[iteration % RECENT] = value;
    for (int k = 0; k < RECENT && k < iteration; k++)
        most = fmax(most, recent[k]);
    return most;
}

/* From s->change, located, to a solution of the laws. `value` is half the sum of squares there, `last`
 * what it was a step earlier. Where contacts are redundant steps have to be exact. */
static pl_status newton(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p, double goal,
                        bool exactly, double value, double last, pl_contact_solution *out)
{
    /* A vertex in two contacts is moved by both alike, and of few contacts a Newton step costs little.
     */
    bool settles = goal == 0 && p->on.count >= ctx->limits.gmres_contacts && p->on.delassus->apart;
    double slack = settles ? p->slack : 0, recent[RECENT];
    out->converged = false;
    for (int iteration = 0; iteration < MAX_NEWTON; iteration++) {
        out->converged = small_enough(s, p, goal, out);
        if (!out->converged && out->residual <= slack) {
            out->converged = settle(ctx, s, p, out);
            slack = 0;
        }
        if (out->converged)
            return PL_OK;
        out->iterations++;
        bool solved;
        double accuracy = exactly ? 0 : step_accuracy(value, last, fmax(goal, slack));
        PL_TRY(newton_step(ctx, s, p, accuracy, &solved));
        if (!solved)
            return PL_OK; /* not converged */
        double t = 1, next = value, most = highest(recent, iteration, value);
        for (int k = 0; k < MAX_HALVINGS; k++, t *= 0.5) {
            next = attempt(ctx, s, p, goal, t);
            if (next <= (1 - 1e-4 * t) * most)
                break;
        }
        /* Newton's method squares its error; when it does not, it may be at the end. */
        if (!(next < 0.1 * value) && at_rounding(ctx, s, p)) {
            out->converged = true;
            return PL_OK;
        }
        if (!(next < most)) {
            /* Noise of large residuals hides what the step does to small ones. */
            attempt(ctx, s, p, goal, 1);
            accept(s);
            out->converged = small_enough(s, p, goal, out);
            return PL_OK;
        }
        accept(s);
        last = value;
        value = next;
    }
    return PL_OK;
}

/* From where the central path leads, the forces of the guess being lambda [3 m]. */
static pl_status by_central_path(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                                 const double *guess, pl_contact_solution *out)
{
    PL_TRY(pl_central_reserve(ctx, &s->central, s->capacity));
    pl_path path = {.ctx = ctx,
                    .system = &s->system,
                    .on = &p->on,
                    .b = p->b,
                    .origin = p->origin,
                    .linear = s->linear};
    bool found = pl_central_solve(&path, &s->central, guess);
    out->iterations += path.iterations;
    if (!found)
        return PL_OK; /* not converged */
    for (int i = 0; i < 3 * p->on.count; i++)
        s->change[i] = s->central.lambda[i] - p->origin[i];
    double value = locate(ctx, s, p);
    return newton(ctx, s, p, 0, true, value, value, out);
}

pl_status pl_contact_solve(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                           double goal, double *lambda, pl_contact_solution *out)
{
    double value, last;
    *out = (pl_contact_solution){.converged = true, .sharp = true};
    if (p->on.count == 0)
        return PL_OK;
    PL_TRY(pl_contact_solver_reserve(ctx, s, p->on.count));
    PL_TRY(pl_contact_system_reserve(ctx, &s->system, s->capacity));
    PL_TRY(pl_contact_system_renew(ctx, &s->system, &p->on));
    for (int i = 0; i < 3 * p->on.count; i++)
        s->change[i] = lambda[i] - p->origin[i];
    if (s->solved == p->on.count)
        PL_TRY(predict(ctx, s, p, goal, &last, &value));
    else
        last = value = locate(ctx, s, p);
    PL_TRY(newton(ctx, s, p, goal, false, value, last, out));
    if (!out->converged && !p->impatient) {
        int before = out->iterations;
        PL_TRY(by_central_path(ctx, s, p, lambda, out));
        out->central = out->iterations - before;
    }
    s->solved = out->converged ? p->on.count : 0;
    for (int c = 0; c < p->on.count; c++)
        force_at(p, s->change, c, lambda + 3 * c);
    memcpy(s->last_delta, s->delta, sizeof(double) * 3 * (size_t)p->on.count);
    memcpy(s->last_lambda, lambda, sizeof(double) * 3 * (size_t)p->on.count);
    return PL_OK;
}

bool pl_contact_linearize(pl_context *ctx, pl_contact_solver *s, const pl_coupling *on,
                          const double *lambda)
{
    for (int c = 0; c < on->count; c++)
        pl_law_newton(&on->laws[c], s->delta + 3 * c, lambda + 3 * c, &s->linear[c]);
    return pl_contact_system_prepare(ctx, &s->system, on, s->linear);
}
