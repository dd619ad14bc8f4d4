/*
 * Optimisers that can stop after any iteration and go on later, bit for bit.
 *
 * Everything that changes lives in one array of doubles: the head below, x [n], the loss's gradient at
 * x [n], then the method's memory. Saving a fit is writing that array, resuming is reading it. An
 * iteration is computed in a copy and taken over as a whole, so an evaluation that fails or is
 * interrupted leaves the last iteration as it was.
 *
 *     gradient descent        x <- P(x - rate g)
 *     Adam                    memory: first and second moments [2, n]
 *     L-BFGS-B                memory: steps S and gradient changes Y [2, pairs, n], oldest first
 *     Levenberg-Marquardt     no memory: residuals and Jacobian are taken anew at x
 */
#ifndef PL_OPTIMIZER_H
#define PL_OPTIMIZER_H

#include <pliant/fit.h>

#include "core/core.h"

/*
 * What is minimised, within lower <= x <= upper. A callback that returns PL_ERROR_CONVERGENCE or
 * PL_ERROR_NUMERIC, or a loss that is not finite, says "not here": the optimiser tries a shorter step.
 * Any other status ends the iteration and is handed on.
 */
typedef struct pl_problem {
    int n;
    const double *lower, *upper; /* [n], infinite where there is no bound */
    pl_status (*evaluate)(void *user, const double *x, double *loss, double *gradient);
    int residual_count; /* m */
    /* r [m] with loss = |r|^2; jacobian [n, m], a row for each unknown, or NULL */
    pl_status (*residual)(void *user, const double *x, double *r, double *jacobian);
    void *user;
} pl_problem;

enum {
    PL_HEAD_ITERATION,
    PL_HEAD_EVALUATIONS,
    PL_HEAD_STOP, /* pl_stop */
    PL_HEAD_LOSS,
    PL_HEAD_STEP,         /* largest change of an unknown in the last iteration */
    PL_HEAD_RATE,         /* of gradient descent */
    PL_HEAD_DAMPING,      /* of Levenberg-Marquardt */
    PL_HEAD_PAIRS,        /* of L-BFGS-B */
    PL_HEAD_REFUSED,      /* points so far that could not be evaluated */
    PL_HEAD_REFUSED_LAST, /* of them in the last iteration */
    PL_HEAD_COUNT
};

typedef struct pl_optimizer {
    pl_context *ctx;
    pl_optimizer_def def;
    pl_problem problem;
    int state_count;
    double *state; /* the last whole iteration */
    double *work;  /* the iteration being computed, same layout */
    double *scratch;
    bool linearised;   /* scratch holds the normal matrix at the state's x: saves taking it again */
    pl_status refusal; /* why the last point refused was */
} pl_optimizer;

/* lower, upper and user are borrowed. The state is that before the first iteration, at x clipped to its
 * bounds and with the loss not yet known: call pl_optimizer_start, or pl_optimizer_resume. */
pl_status pl_optimizer_create(pl_context *ctx, const pl_optimizer_def *def, const pl_problem *problem,
                              const double *x, pl_optimizer **out);
void pl_optimizer_destroy(pl_optimizer *opt);
/* As after creation, from another x. */
void pl_optimizer_reset(pl_optimizer *opt, const double *x);
/* The loss and gradient at x; also after the problem itself has changed: L-BFGS pairs are forgotten
 * then. */
pl_status pl_optimizer_start(pl_optimizer *opt);
/* Takes over a saved state [count]. */
pl_status pl_optimizer_resume(pl_optimizer *opt, int count, const double *state);
/* One iteration. Afterwards the head says whether to go on. */
pl_status pl_optimizer_step(pl_optimizer *opt);

static inline double *pl_optimizer_x(const pl_optimizer *opt, double *state)
{
    (void)opt;
    return state + PL_HEAD_COUNT;
}

static inline double *pl_optimizer_gradient(const pl_optimizer *opt, double *state)
{
    return state + PL_HEAD_COUNT + opt->problem.n;
}

static inline double *pl_optimizer_memory(const pl_optimizer *opt, double *state)
{
    return state + PL_HEAD_COUNT + 2 * opt->problem.n;
}

/* ---- between the methods ---- */

static inline bool pl_point_refused(pl_status status)
{
    return status == PL_ERROR_CONVERGENCE || status == PL_ERROR_NUMERIC;
}

/* What an evaluation's status means: a point that is refused has an infinite loss, and all is well. */
pl_status pl_optimizer_judge(pl_optimizer *opt, pl_status status, double *loss);
/* Loss and gradient at x, counted and judged. */
pl_status pl_optimizer_evaluate(pl_optimizer *opt, const double *x, double *loss, double *gradient);

static inline double pl_clip(double x, double lower, double upper)
{
    return fmin(fmax(x, lower), upper);
}

static inline bool pl_all_finite(int n, const double *a)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(a[i]))
            return false;
    return true;
}

static inline double pl_dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* One iteration each, on opt->work. */
pl_status pl_descent_step(pl_optimizer *opt);
pl_status pl_adam_step(pl_optimizer *opt);
pl_status pl_lbfgsb_step(pl_optimizer *opt);
pl_status pl_lm_step(pl_optimizer *opt);
/* Loss and gradient at x through the residuals. */
pl_status pl_lm_start(pl_optimizer *opt);
size_t pl_lbfgsb_scratch(size_t n, size_t pairs);
size_t pl_lm_scratch(size_t n, size_t m);

/*
 * A point on x + t d that satisfies the strong Wolfe conditions
 *     f(t) <= f(0) + c1 t f'(0),    |f'(t)| <= c2 |f'(0)|,    c1 = 1e-4, c2 = 0.9,
 * or the first alone when t reaches t_max or no better point is found. *found is false when not even a
 * decrease was found. best_x, best_g [n] and *best_loss receive the point; scratch [2 n].
 */
typedef struct pl_line {
    const double *x, *direction; /* [n] */
    double loss, slope;          /* at t = 0; slope < 0 */
    double t_first, t_max;
    double *best_x, *best_g;
    double best_loss;
    double *scratch;
    bool found;
} pl_line;

pl_status pl_line_search(pl_optimizer *opt, pl_line *line);

/*
 * The L-BFGS matrix B = theta I - W M W^T with W = [Y, theta S] [n, 2k], from the pairs of the memory.
 * Column c of W is contiguous. middle [2k, 2k] holds M itself.
 */
typedef struct pl_compact {
    int n, k;
    double theta;
    double *w;      /* [2k, n] */
    double *middle; /* [2k, 2k] */
} pl_compact;

/* false when M is singular: the pairs are then useless. scratch [8 k^2] */
bool pl_compact_build(pl_compact *b, int n, int k, const double *s, const double *y, double *scratch);

#endif
