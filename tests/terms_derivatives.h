/* What every energy owes its users: forces that are its derivative, a tangent that is theirs, products
 * with it, balance, a clamped tangent without negative eigenvalues; and gradients of rollouts. */
#ifndef PL_TEST_TERMS_DERIVATIVES_H
#define PL_TEST_TERMS_DERIVATIVES_H

#include "sim_substep.h"

#include "core/vec.h"
#include "terms/term.h"

#include <pliant/check.h>

#include <stdlib.h>

/* A substep of a started world at a time, s, with the scene's own inputs. */
static inline pl_substep term_substep(test_world *w, double time)
{
    assert_ok(w->ctx, pl_drive_resolve(w->scene, time, NULL, &w->sim->drive));
    return world_substep(w);
}

/* Its start, every coordinate moved by up to `amount` m. */
static inline double *term_shaken(const test_world *w, double amount, uint64_t seed)
{
    double *q = malloc(sizeof *q * 3 * (size_t)w->n);
    for (int i = 0; i < 3 * w->n; i++)
        q[i] = w->state->q[i] + amount * test_random(&seed);
    return q;
}

/* The tangent as a dense matrix [3n, 3n], the caller's. */
static inline double *term_matrix(const pl_term *term, const pl_substep *s, const double *q, bool clamp)
{
    const pl_pattern *p = s->pattern;
    size_t n = 3 * (size_t)p->n;
    double *blocks = calloc(9 * (size_t)p->nnz, sizeof *blocks), *a = calloc(n * n, sizeof *a);
    term->tangent(s, q, clamp, 1, blocks);
    for (int i = 0; i < p->n; i++)
        for (int at = p->row[i]; at < p->row[i + 1]; at++)
            for (int k = 0; k < 9; k++)
                a[(3 * (size_t)i + (size_t)(k / 3)) * n + 3 * (size_t)p->col[at] + (size_t)(k % 3)] =
                    blocks[9 * (size_t)at + (size_t)k];
    free(blocks);
    return a;
}

/* Whether Cholesky finds no pivot of A + 1e-12 |A| I below 0. */
static inline bool term_positive(const double *matrix, int n)
{
    double *a = malloc(sizeof *a * (size_t)n * (size_t)n), most = 0;
    bool positive = true;
    for (int i = 0; i < n * n; i++)
        most = fmax(most, fabs(a[i] = matrix[i]));
    for (int j = 0; j < n && positive; j++) {
        for (int i = j; i < n; i++) {
            double sum = a[i * n + j] + (i == j ? 1e-12 * most : 0);
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j)
                positive = sum > 0;
            a[i * n + j] = i == j ? sqrt(fmax(sum, 0)) : sum / a[j * n + j];
        }
    }
    free(a);
    return positive;
}

typedef struct term_errors {
    double force, tangent, multiply, asymmetry; /* relative, of the best step of the differences */
    double net_force, net_torque;               /* over the sums of absolute values */
} term_errors;

static inline void term_balance(int n, const double *q, const double *g, term_errors *out)
{
    double sum[3] = {0}, turn[3] = {0}, all = 0, turns = 0, t[3];
    for (int i = 0; i < n; i++) {
        pl_axpy3(1, g + 3 * i, sum);
        pl_cross3(q + 3 * i, g + 3 * i, t);
        pl_axpy3(1, t, turn);
        all += pl_norm3(g + 3 * i);
        turns += pl_norm3(t);
    }
    out->net_force = pl_norm3(sum) / all;
    out->net_torque = pl_norm3(turn) / turns;
}

static inline double term_difference(int count, const double *a, const double *b)
{
    double apart = 0, size = 0;
    for (int i = 0; i < count; i++) {
        apart = fmax(apart, fabs(a[i] - b[i]));
        size = fmax(size, fabs(a[i]));
    }
    return apart / size;
}

/* At q, along a random direction, over a sweep of steps of 1e-3 to 1e-6 times `size` m. */
static inline term_errors term_compare(const pl_term *term, const pl_substep *s, const double *q,
                                       double size)
{
    int n = s->scene->vertex_count;
    size_t bytes = sizeof(double) * 3 * (size_t)n;
    double *g = calloc(1, bytes), *low = malloc(bytes), *high = malloc(bytes), *x = malloc(bytes),
           *d = malloc(bytes), *product = calloc(1, bytes), *dense = calloc(1, bytes);
    term_errors e = {.force = INFINITY, .tangent = INFINITY};
    uint64_t seed = 7;
    double along = 0;
    term->energy(s, q, 1, g);
    for (int i = 0; i < 3 * n; i++) {
        d[i] = test_random(&seed);
        along += g[i] * d[i];
    }
    term->multiply(s, q, d, 1, product);
    double *matrix = term_matrix(term, s, q, false);
    for (int i = 0; i < 3 * n; i++)
        for (int k = 0; k < 3 * n; k++) {
            dense[i] += matrix[i * 3 * n + k] * d[k];
            e.asymmetry = fmax(e.asymmetry, fabs(matrix[i * 3 * n + k] - matrix[k * 3 * n + i]));
        }
    e.multiply = term_difference(3 * n, product, dense);
    term_balance(n, q, g, &e);
    for (double step = 1e-3 * size; step > 0.5e-6 * size; step /= 10) {
        double energy[2];
        for (int side = 0; side < 2; side++) {
            double *out = side ? high : low;
            memset(out, 0, bytes);
            for (int i = 0; i < 3 * n; i++)
                x[i] = q[i] + (side ? step : -step) * d[i];
            energy[side] = term->energy(s, x, 1, out);
        }
        for (int i = 0; i < 3 * n; i++)
            high[i] = (high[i] - low[i]) / (2 * step);
        e.force = fmin(e.force, fabs((energy[1] - energy[0]) / (2 * step) / along - 1));
        e.tangent = fmin(e.tangent, term_difference(3 * n, product, high));
    }
    void *all[] = {g, low, high, x, d, product, dense, matrix};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    return e;
}

/* How far the errors of a term may go. */
typedef struct term_limits {
    double force, tangent, multiply, asymmetry, net_force, net_torque;
} term_limits;

/* A term's derivatives at q, within these limits, and its clamped tangent without negative eigenvalues.
 */
static inline void term_expect(const pl_term *term, const pl_substep *s, const double *q, int n,
                               term_limits most, const char *what)
{
    term_errors e = term_compare(term, s, q, 0.05);
    if (!(e.force < most.force && e.tangent < most.tangent && e.multiply < most.multiply &&
          e.asymmetry < most.asymmetry && e.net_force < most.net_force &&
          e.net_torque < most.net_torque))
        fail_msg("%s: force %g, tangent %g, multiply %g, asymmetry %g, net %g, %g", what, e.force,
                 e.tangent, e.multiply, e.asymmetry, e.net_force, e.net_torque);
    double *clamped = term_matrix(term, s, q, true);
    assert_true(term_positive(clamped, 3 * n));
    free(clamped);
}

/* A square of cloth of 10 cm, beside what is at the origin. */
static inline void term_add_sheet(test_world *w, pl_body_def body)
{
    world_add(w, body, world_cloth(w->ctx, 0.1, 0.1, 0.05, 0, 0.2, 0));
}

/* Of all positions and velocities but the first. */
static inline bool term_loss(void *user, int step, const double *q, const double *v, double *value,
                             double *dq, double *dv)
{
    const test_world *w = user;
    for (int i = 0; step > 0 && i < 3 * w->n; i++) {
        double a = 1 + 0.5 * sin(1.7 * i + step);
        *value += 0.5 * a * q[i] * q[i] + 0.01 * v[i] * v[i];
        dq[i] += a * q[i];
        dv[i] += 0.02 * v[i];
    }
    return true;
}

/* Where the noise of solves hides which difference is the best, one of the sweep has to agree, to the
 * tolerance of the channel's largest derivative: a direction across the gradient may have next to none.
 */
static inline bool term_agrees(const pl_check_result *r, const pl_check_row *row, double tolerance)
{
    bool agrees = row->verdict == PL_CHECK_PASSED;
    double largest = 0;
    for (int k = 0; k < r->row_count; k++)
        if (r->rows[k].channel == row->channel)
            largest = fmax(largest, fabs(r->rows[k].adjoint));
    for (int s = 0; s < row->step_count && row->verdict == PL_CHECK_UNRESOLVED; s++)
        agrees |= fabs(row->differences[s] - row->adjoint) <= tolerance * largest;
    return agrees;
}

/* Every one of the channels passes the gradient check, in three directions; what contacts did. */
static inline pl_check_regimes term_check(test_world *w, pl_channels wanted, int steps,
                                          double tolerance, const char *what)
{
    pl_check_result *r = NULL;
    pl_check_def def = pl_check_def_default();
    def.steps = steps;
    def.wanted = wanted;
    def.loss = term_loss;
    def.loss_user = w;
    def.tolerance = tolerance;
    assert_ok(w->ctx, pl_check(w->sim, w->state, &def, &r));
    int kinds = 0;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        kinds += (wanted & PL_BIT(c)) != 0;
    assert_int_equal(r->row_count, kinds * 3);
    for (int k = 0; k < r->row_count; k++)
        if (!term_agrees(r, &r->rows[k], tolerance))
            fail_msg("%s: %s: adjoint %.12g, tangent %.12g, difference %.12g +- %.2g", what,
                     pl_channel_get(r->rows[k].channel)->name, r->rows[k].adjoint, r->rows[k].tangent,
                     r->rows[k].difference, r->rows[k].uncertainty);
    pl_check_regimes regimes = r->regimes;
    pl_check_destroy(w->ctx, r);
    return regimes;
}

/* Gradients by an input with one number a row, by every way to solve the adjoint system. */
static inline void term_compare_adjoints(test_world *w, pl_channel channel, int steps, const char *what)
{
    const struct {
        pl_adjoint_solver solver;
        pl_preconditioner preconditioner;
    } kinds[] = {
        {PL_ADJOINT_DIRECT, PL_PRECONDITION_NONE},    {PL_ADJOINT_AUTO, PL_PRECONDITION_NONE},
        {PL_ADJOINT_KRYLOV, PL_PRECONDITION_NONE},    {PL_ADJOINT_KRYLOV, PL_PRECONDITION_JACOBI},
        {PL_ADJOINT_KRYLOV, PL_PRECONDITION_INVERSE}, {PL_ADJOINT_KRYLOV, PL_PRECONDITION_WOODBURY},
        {PL_ADJOINT_KRYLOV, PL_PRECONDITION_LAGGED}};
    int count = steps * pl_scene_row_count(w->scene, channel);
    double *reference = malloc(sizeof *reference * (size_t)count);
    pl_rollout *rollout = NULL;
    pl_rollout_def run = pl_rollout_def_default();
    run.steps = steps;
    assert_ok(w->ctx, pl_rollout_run(w->sim, w->state, &run, &rollout));
    for (size_t a = 0; a < sizeof kinds / sizeof *kinds; a++) {
        pl_gradient *g = NULL;
        pl_adjoint_def def = pl_adjoint_def_default();
        def.solver = kinds[a].solver;
        def.preconditioner = kinds[a].preconditioner;
        def.max_iterations = 5000;
        if (def.solver == PL_ADJOINT_KRYLOV && def.preconditioner == PL_PRECONDITION_NONE)
            def.tolerance = 1e-7; /* rounding may keep its restarts from less */
        assert_ok(w->ctx, pl_gradient_create(w->scene, steps, PL_BIT(channel), &g));
        assert_ok(w->ctx, pl_rollout_backward(rollout, &def, term_loss, w, g, NULL));
        if (a == 0)
            memcpy(reference, g->of[channel], sizeof *reference * (size_t)count);
        double apart = term_difference(count, reference, g->of[channel]);
        if (!(apart < 1e-6))
            fail_msg("%s, adjoint %zu: %.3g", what, a, apart);
        pl_gradient_destroy(w->scene, g);
    }
    pl_rollout_destroy(rollout);
    free(reference);
}

#endif
