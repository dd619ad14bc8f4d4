/*
 * The baseline of the nested solver: one coupled Newton method on positions and contact forces, the law
 * linearised once an iteration,
 *
 *     [ E            -h^2 H^T ] [dq     ]     [ r - h^2 H^T lambda ]
 *     [ D_delta H    D_lambda ] [dlambda] = - [ law(H q, lambda)   ]
 *
 * with a line search on the length of the right-hand side (forces over masses, law in metres). Each
 * step that the nested solver has made, both with a fresh factor in every iteration, is solved again
 * this way.
 */
#include "bench.h"

#include "core/vec.h"
#include "sim/newton.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITERATIONS 100
#define SHORTEST_STEP  1e-3

typedef struct coupled {
    pl_sim *sim;
    const pl_state *state;
    double took;    /* ms */
    int iterations; /* of all steps */
    int failures;
    double apart; /* m, largest distance from what the nested solver found */
    int room;     /* contacts there is room for */
    pl_law_linear *linear;
    double *delta, *change, *trial_lambda, *schur; /* [3 m], schur [3 m, 3 m] */
    int *pivot;
} coupled;

static bool reserve(coupled *s, int m)
{
    if (m <= s->room)
        return true;
    size_t size = 3 * (size_t)m;
    s->linear = realloc(s->linear, (size_t)m * sizeof *s->linear);
    s->delta = realloc(s->delta, size * sizeof(double));
    s->change = realloc(s->change, size * sizeof(double));
    s->trial_lambda = realloc(s->trial_lambda, size * sizeof(double));
    s->schur = realloc(s->schur, size * size * sizeof(double));
    s->pivot = realloc(s->pivot, size * sizeof(int));
    s->room = m;
    return s->linear && s->delta && s->change && s->trial_lambda && s->schur && s->pivot;
}

static void free_all(coupled *s)
{
    free(s->linear), free(s->delta), free(s->change);
    free(s->trial_lambda), free(s->schur), free(s->pivot);
}

/* Law and derivatives at q with forces lambda; the squared length of both residuals. The elastic one is
 * sim->residual. */
static double merit(coupled *s, const pl_substep *sub, const double *q, const double *lambda)
{
    pl_sim *sim = s->sim;
    double sum = 0, h2 = sub->h * sub->h;
    for (int i = 0; i < 3 * sim->n; i++)
        sim->guess[i] = q[i] - sub->q0[i];
    for (int c = 0; c < sim->contacts.count; c++) {
        pl_contact_delta(&sim->contacts.points[c], sim->guess, s->delta + 3 * c);
        pl_law_newton(&sim->laws[c], s->delta + 3 * c, lambda + 3 * c, &s->linear[c]);
        sum += pl_dot3(s->linear[c].residual, s->linear[c].residual);
    }
    memcpy(sim->guess, sim->residual, sizeof(double) * 3 * (size_t)sim->n);
    for (int c = 0; c < sim->contacts.count; c++)
        pl_contact_scatter(&sim->contacts.points[c], -h2, lambda + 3 * c, sim->guess);
    for (int i = 0; i < 3 * sim->n; i++)
        sum += pow(sim->guess[i] / sim->mass[i / 3], 2);
    return sum;
}

/* dq into sim->move and dlambda into s->change, at the iterate that merit was last taken at. */
static pl_status newton_step(coupled *s, const pl_substep *sub, double *norm)
{
    pl_sim *sim = s->sim;
    int m = sim->contacts.count, size = 3 * m;
    double h2 = sub->h * sub->h;
    for (int i = 0; i < 3 * sim->n; i++)
        sim->move[i] = -sim->guess[i];
    if (m == 0) {
        PL_TRY(pl_matrix_correct(sim, sim->move, sim->move));
    } else {
        PL_TRY(pl_matrix_begin(sim, sim->move, sim->move));
        for (int c = 0; c < m; c++) {
            double at[3], moved[3];
            pl_contact_gather(&sim->contacts.points[c], sim->move, at);
            pl_mat3_vec(s->linear[c].d_delta, at, moved);
            for (int k = 0; k < 3; k++)
                s->change[3 * c + k] = -s->linear[c].residual[k] - moved[k];
        }
        pl_contact_schur(sim->ctx, m, s->linear, pl_delassus_wide(sim->ctx, &sim->delassus), s->schur);
        if (LAPACKE_dgesv(LAPACK_COL_MAJOR, size, 1, s->schur, size, s->pivot, s->change, size) != 0)
            return PL_ERROR_NUMERIC;
        memset(sim->guess, 0, sizeof(double) * 3 * (size_t)sim->n);
        for (int c = 0; c < m; c++)
            pl_contact_scatter(&sim->contacts.points[c], h2, s->change + 3 * c, sim->guess);
        PL_TRY(pl_matrix_end(sim, sim->guess, NULL, sim->move));
    }
    *norm = 0;
    for (int i = 0; i < sim->n; i++)
        *norm = fmax(*norm, pl_norm3(sim->move + 3 * (size_t)i));
    return PL_OK;
}

/* As far along the step as the residual shrinks; false when it does not. */
static bool search(coupled *s, pl_newton *newton, double before)
{
    pl_sim *sim = s->sim;
    int m = sim->contacts.count;
    for (double t = 1; t >= SHORTEST_STEP; t *= 0.5) {
        for (int i = 0; i < 3 * sim->n; i++)
            sim->trial[i] = sim->iterate[i] + t * sim->move[i];
        for (int i = 0; i < 3 * m; i++)
            s->trial_lambda[i] = sim->lambda[i] + t * s->change[i];
        if (!pl_newton_evaluate(newton, sim->trial) ||
            !(merit(s, newton->sub, sim->trial, s->trial_lambda) < before))
            continue;
        memcpy(sim->iterate, sim->trial, sizeof(double) * 3 * (size_t)sim->n);
        for (int c = 0; c < m; c++)
            memcpy(sim->contacts.points[c].lambda, s->trial_lambda + 3 * c, 3 * sizeof(double));
        return true;
    }
    return false;
}

static pl_status solve(coupled *s, const pl_substep *sub, bool *converged)
{
    pl_sim *sim = s->sim;
    pl_newton newton = {.sim = sim, .sub = sub};
    *converged = false;
    PL_TRY(pl_newton_begin(&newton, s->state));
    for (int k = 0; k < MAX_ITERATIONS; k++) {
        double norm;
        if (!reserve(s, sim->contacts.count))
            return PL_ERROR_MEMORY;
        PL_TRY(pl_matrix_refresh(sim, PL_FACTOR_TANGENT, sub->h, sim->iterate));
        PL_TRY(pl_newton_prepare(&newton));
        pl_newton_evaluate(&newton, sim->iterate);
        double before = merit(s, sub, sim->iterate, sim->lambda);
        s->iterations++;
        if (newton_step(s, sub, &norm) != PL_OK)
            return PL_OK;
        *converged = norm <= sim->values->def.tolerance;
        if (*converged || !search(s, &newton, before))
            return PL_OK;
    }
    return PL_OK;
}

/* Solves a substep that was just made again, and leaves everything as it was. */
static pl_status again(void *user, const pl_sim *unused, const pl_substep *sub)
{
    (void)unused;
    coupled *s = user;
    pl_sim *sim = s->sim;
    size_t bytes = sizeof(double) * 3 * (size_t)sim->n;
    int count = sim->contacts.count;
    double *found = malloc(bytes), began = bench_milliseconds();
    pl_contact_point *points = malloc(sizeof *points * (size_t)(count + 1));
    bool converged = false;
    pl_status status = found && points ? PL_OK : PL_ERROR_MEMORY;
    if (status == PL_OK) {
        memcpy(found, sim->iterate, bytes);
        memcpy(points, sim->contacts.points, sizeof *points * (size_t)count);
        status = solve(s, sub, &converged);
        s->failures += !converged;
        for (int i = 0; converged && i < 3 * sim->n; i++)
            s->apart = fmax(s->apart, fabs(found[i] - sim->iterate[i]));
        memcpy(sim->iterate, found, bytes);
        memcpy(sim->contacts.points, points, sizeof *points * (size_t)count);
        sim->contacts.count = count;
    }
    free(found), free(points);
    s->took += bench_milliseconds() - began;
    return status;
}

pl_status bench_coupled(FILE *file, const bench_case *c, pl_context *ctx, int steps)
{
    bench_world w = {0};
    bench_build(c, ctx, PL_SOLVER_DIRECT, &w);
    pl_status status = w.status;
    coupled s = {.sim = w.sim, .state = w.state};
    double began = bench_milliseconds(), nested = 0;
    for (int k = 0; status == PL_OK && k < steps; k++) {
        pl_step_info info;
        status = pl_step_recorded(w.sim, w.sim->values, w.state, NULL, &info, again, &s);
        nested += info.iterations;
    }
    double all = bench_milliseconds() - began;
    if (status == PL_OK)
        fprintf(file,
                "| step, direct: nested (%.1f iterations), one coupled Newton (%.1f; %d of %d steps do "
                "not converge, the others "
                "agree to %.0e m) | %s | %.3f | %.3f | %.2f |\n",
                nested / steps, (double)s.iterations / steps, s.failures, steps, s.apart, c->name,
                (all - s.took) / steps, s.took / steps, s.took / (all - s.took));
    free_all(&s);
    bench_close(&w);
    return status;
}
