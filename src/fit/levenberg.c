/*
 * Levenberg-Marquardt for loss = |r(x)|^2 within bounds. One iteration, J = dr/dx at x, F the variables
 * that are not held at a bound by the gradient:
 *
 *     (J_F^T J_F + damping diag(J_F^T J_F)) s = -J_F^T r,     x' = P(x + s)
 *
 * repeated with more damping until the loss falls at a point where J can be had too: without it there
 * is no next step. The damping follows the ratio of the actual to the
 * predicted decrease (Nielsen 1999), predicted for the step as clipped. A step as good as predicted
 * divides it by 10, not by Nielsen's 3: what a far start made large would else slow down the last
 * steps, which are quadratic without it.
 */
#include "fit/optimizer.h"

#include <lapacke.h>

enum { MAX_TRIALS = 40 };

typedef struct lm {
    int n, m;
    double *r, *jacobian;      /* [m], [n, m] of the point last looked at */
    double *normal;            /* J^T J [n, n] */
    double *jtr;               /* J^T r [n] */
    double *matrix, *step, *x; /* [n, n], [n], [n]: one trial */
} lm;

size_t pl_lm_scratch(size_t n, size_t m)
{
    return m + n * m + 2 * n * n + 3 * n;
}

static lm lay_out(pl_optimizer *opt)
{
    lm s = {.n = opt->problem.n, .m = opt->problem.residual_count, .r = opt->scratch};
    s.jacobian = s.r + s.m;
    s.normal = s.jacobian + (size_t)s.n * s.m;
    s.jtr = s.normal + (size_t)s.n * s.n;
    s.matrix = s.jtr + s.n;
    s.step = s.matrix + (size_t)s.n * s.n;
    s.x = s.step + s.n;
    return s;
}

static void form_normal(lm *s)
{
    for (int i = 0; i < s->n; i++) {
        const double *ji = s->jacobian + (size_t)i * s->m;
        s->jtr[i] = pl_dot(s->m, ji, s->r);
        for (int j = 0; j <= i; j++)
            s->normal[i * s->n + j] = s->normal[j * s->n + i] =
                pl_dot(s->m, ji, s->jacobian + (size_t)j * s->m);
    }
}

/* The damped step, clipped to the bounds, in s->step and s->x; false when the matrix is singular. */
static bool trial_step(pl_optimizer *opt, lm *s, const double *x, double damping)
{
    int n = s->n;
    const double *lower = opt->problem.lower, *upper = opt->problem.upper;
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, s->normal[i * n + i]);
    memcpy(s->matrix, s->normal, (size_t)n * n * sizeof *s->matrix);
    for (int i = 0; i < n; i++) {
        bool held = (x[i] <= lower[i] && s->jtr[i] > 0) || (x[i] >= upper[i] && s->jtr[i] < 0);
        if (held)
            for (int j = 0; j < n; j++)
                s->matrix[i * n + j] = s->matrix[j * n + i] = 0;
        /* An unknown without any effect keeps its value: a floor far below the others stands in. */
        s->matrix[i * n + i] += held ? 1.0 : damping * fmax(s->normal[i * n + i], 1e-14 * largest);
        s->step[i] = held ? 0 : -s->jtr[i];
    }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, 1, s->matrix, n, s->step, 1) != 0)
        return false;
    double longest = 0, most = opt->def.max_step;
    for (int i = 0; i < n; i++)
        longest = fmax(longest, fabs(s->step[i]));
    double part = most > 0 && longest > most ? most / longest : 1;
    for (int i = 0; i < n; i++) {
        s->x[i] = pl_clip(x[i] + part * s->step[i], lower[i], upper[i]);
        s->step[i] = s->x[i] - x[i];
    }
    return true;
}

/* |r|^2 - |r + J s|^2 */
static double predicted_decrease(const lm *s)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        sum -= s->step[i] * (2 * s->jtr[i] + pl_dot(s->n, s->normal + (size_t)i * s->n, s->step));
    return sum;
}

/* |r|^2 at x, with the Jacobian unless that is NULL; infinite where the point is refused. */
static pl_status look_at(pl_optimizer *opt, lm *s, const double *x, double *jacobian, double *loss)
{
    pl_status status = opt->problem.residual(opt->problem.user, x, s->r, jacobian);
    if (status != PL_OK)
        return pl_optimizer_judge(opt, status, loss);
    *loss = pl_dot(s->m, s->r, s->r);
    bool finite = isfinite(*loss);
    for (int i = 0; jacobian && i < s->n; i++)
        finite = finite && pl_all_finite(s->m, jacobian + (size_t)i * s->m);
    if (!finite)
        status = pl_fail(opt->ctx, PL_ERROR_NUMERIC, "the residuals or their Jacobian are not finite");
    return pl_optimizer_judge(opt, status, loss);
}

/* Jacobian, normal matrix and the loss's gradient 2 J^T r at x; those of the last point stay when x is
 * refused. */
static pl_status linearise(pl_optimizer *opt, lm *s, const double *x, double *loss)
{
    double *g = pl_optimizer_gradient(opt, opt->work);
    PL_TRY(look_at(opt, s, x, s->jacobian, loss));
    if (*loss == INFINITY)
        return PL_OK;
    form_normal(s);
    for (int i = 0; i < s->n; i++)
        g[i] = 2 * s->jtr[i];
    opt->linearised = true;
    return PL_OK;
}

pl_status pl_lm_start(pl_optimizer *opt)
{
    lm s = lay_out(opt);
    opt->linearised = false;
    opt->work[PL_HEAD_EVALUATIONS] += 1;
    return linearise(opt, &s, pl_optimizer_x(opt, opt->work), &opt->work[PL_HEAD_LOSS]);
}

pl_status pl_lm_step(pl_optimizer *opt)
{
    lm s = lay_out(opt);
    double *x = pl_optimizer_x(opt, opt->work);
    double *damping = &opt->work[PL_HEAD_DAMPING], growth = 2;
    double loss = opt->work[PL_HEAD_LOSS], trial;
    if (!opt->linearised)
        PL_TRY(linearise(opt, &s, x, &trial));
    if (!opt->linearised)
        return pl_fail_within(opt->ctx, opt->refusal, "the loss has no derivatives here any more");
    for (int k = 0; k < MAX_TRIALS; k++, *damping *= growth, growth *= 2) {
        if (!trial_step(opt, &s, x, *damping))
            continue;
        double predicted = predicted_decrease(&s);
        if (!(predicted > 0))
            break;
        opt->work[PL_HEAD_EVALUATIONS] += 1;
        PL_TRY(look_at(opt, &s, s.x, NULL, &trial));
        double ratio = (loss - trial) / predicted;
        if (ratio > 1e-4)
            PL_TRY(linearise(opt, &s, s.x, &trial));
        if (!(ratio > 1e-4) || trial == INFINITY)
            continue;
        double u = 2 * ratio - 1;
        *damping = fmax(*damping * fmax(0.1, 1 - u * u * u), 1e-12);
        memcpy(x, s.x, (size_t)s.n * sizeof *x);
        opt->work[PL_HEAD_LOSS] = trial;
        return PL_OK;
    }
    *damping = 1e-3;
    opt->work[PL_HEAD_STOP] = PL_STOP_STALLED;
    return PL_OK;
}
