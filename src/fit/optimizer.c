/* The frame around the methods: checking, the state array, stopping. */
#include "fit/optimizer.h"

#include <limits.h>

pl_optimizer_def pl_optimizer_def_default(void)
{
    return (pl_optimizer_def){.method = PL_LBFGSB,
                              .iterations = 100,
                              .rate = 0.1,
                              .growth = 1,
                              .beta1 = 0.9,
                              .beta2 = 0.999,
                              .pairs = 10,
                              .stop_decrease = 1e-14};
}

const char *pl_stop_text(pl_stop stop)
{
    switch (stop) {
    case PL_STOP_NONE:
        return "not stopped";
    case PL_STOP_ITERATIONS:
        return "all iterations done";
    case PL_STOP_LOSS:
        return "the loss reached its goal";
    case PL_STOP_GRADIENT:
        return "the gradient vanished";
    case PL_STOP_DECREASE:
        return "the loss no longer changes";
    case PL_STOP_STALLED:
        return "no step decreases the loss";
    }
    return "unknown";
}

static pl_status check_def(pl_context *ctx, const pl_optimizer_def *def, const pl_problem *problem)
{
    if (def->iterations < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "optimizer: iterations is %d, expected >= 0",
                       def->iterations);
    if (!(def->rate > 0) || !isfinite(def->rate))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "optimizer: rate is %g, expected > 0", def->rate);
    if (!(def->growth >= 1) || !isfinite(def->growth))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "optimizer: growth is %g, expected >= 1", def->growth);
    if (!(def->max_step >= 0))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "optimizer: max_step is %g, expected >= 0",
                       def->max_step);
    if (!(def->beta1 >= 0 && def->beta1 < 1 && def->beta2 >= 0 && def->beta2 < 1))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "optimizer: beta1, beta2 are %g, %g, expected in [0, 1)",
                       def->beta1, def->beta2);
    if (def->pairs < 1 || def->pairs > 1000)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "optimizer: pairs is %d, expected 1 to 1000",
                       def->pairs);
    if (!(def->stop_loss >= 0 && def->stop_gradient >= 0 && def->stop_decrease >= 0))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "optimizer: stop_... must be >= 0");
    for (int i = 0; i < problem->n; i++)
        if (!(problem->lower[i] <= problem->upper[i]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "optimizer: unknown %d has bounds [%g, %g]", i,
                           problem->lower[i], problem->upper[i]);
    return PL_OK;
}

static void method_sizes(const pl_optimizer_def *def, const pl_problem *p, size_t *memory,
                         size_t *scratch)
{
    size_t n = (size_t)p->n;
    *memory = 0;
    *scratch = 3 * n;
    switch (def->method) {
    case PL_GRADIENT_DESCENT:
        break;
    case PL_ADAM:
        *memory = 2 * n;
        break;
    case PL_LBFGSB:
        *memory = 2 * n * (size_t)def->pairs;
        *scratch = pl_lbfgsb_scratch(n, (size_t)def->pairs);
        break;
    case PL_LEVENBERG_MARQUARDT:
        *scratch = pl_lm_scratch(n, (size_t)p->residual_count);
        break;
    }
}

pl_status pl_optimizer_create(pl_context *ctx, const pl_optimizer_def *def, const pl_problem *problem,
                              const double *x, pl_optimizer **out)
{
    *out = NULL;
    PL_TRY(check_def(ctx, def, problem));
    pl_status status = PL_OK;
    pl_optimizer *opt = NULL;
    size_t memory, scratch;
    method_sizes(def, problem, &memory, &scratch);

    PL_NEW(ctx, opt, 1, done);
    opt->ctx = ctx;
    opt->def = *def;
    opt->problem = *problem;
    opt->state_count = (int)(PL_HEAD_COUNT + 2 * (size_t)problem->n + memory);
    PL_NEW(ctx, opt->state, opt->state_count, done);
    PL_NEW(ctx, opt->work, opt->state_count, done);
    PL_NEW(ctx, opt->scratch, scratch, done);
    pl_optimizer_reset(opt, x);
    *out = opt;
    opt = NULL;
done:
    pl_optimizer_destroy(opt);
    return status;
}

void pl_optimizer_reset(pl_optimizer *opt, const double *x)
{
    memset(opt->state, 0, (size_t)opt->state_count * sizeof *opt->state);
    opt->state[PL_HEAD_LOSS] = INFINITY;
    opt->state[PL_HEAD_RATE] = opt->def.rate;
    double *start = pl_optimizer_x(opt, opt->state);
    for (int i = 0; i < opt->problem.n; i++)
        start[i] = pl_clip(x[i], opt->problem.lower[i], opt->problem.upper[i]);
    opt->linearised = false;
}

void pl_optimizer_destroy(pl_optimizer *opt)
{
    if (!opt)
        return;
    pl_context *ctx = opt->ctx;
    pl_free(ctx, opt->state);
    pl_free(ctx, opt->work);
    pl_free(ctx, opt->scratch);
    pl_free(ctx, opt);
}

pl_status pl_optimizer_judge(pl_optimizer *opt, pl_status status, double *loss)
{
    if (!pl_point_refused(status))
        return status;
    opt->refusal = status;
    opt->work[PL_HEAD_REFUSED] += 1;
    opt->work[PL_HEAD_REFUSED_LAST] += 1;
    *loss = INFINITY;
    return PL_OK;
}

pl_status pl_optimizer_evaluate(pl_optimizer *opt, const double *x, double *loss, double *gradient)
{
    opt->work[PL_HEAD_EVALUATIONS] += 1;
    pl_status status = opt->problem.evaluate(opt->problem.user, x, loss, gradient);
    if (status == PL_OK && (!isfinite(*loss) || !pl_all_finite(opt->problem.n, gradient)))
        status = pl_fail(opt->ctx, PL_ERROR_NUMERIC, "the loss or its gradient is not finite");
    return pl_optimizer_judge(opt, status, loss);
}

static bool is_count(double value, double most)
{
    return value >= 0 && value <= most && value == floor(value);
}

static bool head_is_possible(const pl_optimizer *opt, const double *head)
{
    return is_count(head[PL_HEAD_ITERATION], INT_MAX) && is_count(head[PL_HEAD_EVALUATIONS], INT_MAX) &&
           is_count(head[PL_HEAD_STOP], PL_STOP_STALLED) &&
           is_count(head[PL_HEAD_PAIRS], opt->def.pairs) && is_count(head[PL_HEAD_REFUSED], INT_MAX) &&
           is_count(head[PL_HEAD_REFUSED_LAST], INT_MAX);
}

pl_status pl_optimizer_resume(pl_optimizer *opt, int count, const double *state)
{
    if (count != opt->state_count)
        return pl_fail(opt->ctx, PL_ERROR_ARGUMENT,
                       "optimizer: a saved state of %d numbers, expected %d: saved by another task?",
                       count, opt->state_count);
    if (!pl_all_finite(count, state))
        return pl_fail(opt->ctx, PL_ERROR_ARGUMENT, "optimizer: the saved state is not finite");
    if (!head_is_possible(opt, state))
        return pl_fail(opt->ctx, PL_ERROR_ARGUMENT, "optimizer: the saved state is impossible");
    memcpy(opt->state, state, (size_t)count * sizeof *state);
    /* More iterations are allowed than when it was saved. */
    if (state[PL_HEAD_STOP] == PL_STOP_ITERATIONS && state[PL_HEAD_ITERATION] < opt->def.iterations)
        opt->state[PL_HEAD_STOP] = PL_STOP_NONE;
    opt->linearised = false;
    return PL_OK;
}

/* Largest entry of the projected gradient x - P(x - g): zero at a solution, bounds included. As g
 * itself between bounds: beside an x of 1e5 Pa the difference would be rounded to nothing. */
static double projected_gradient(pl_optimizer *opt, double *state)
{
    const double *x = pl_optimizer_x(opt, state), *g = pl_optimizer_gradient(opt, state);
    double largest = 0;
    for (int i = 0; i < opt->problem.n; i++)
        largest = fmax(largest,
                       fabs(pl_clip(g[i], x[i] - opt->problem.upper[i], x[i] - opt->problem.lower[i])));
    return largest;
}

static void decide_stop(pl_optimizer *opt, double previous_loss)
{
    double *head = opt->work;
    double loss = head[PL_HEAD_LOSS];
    bool monotone = opt->def.method == PL_LBFGSB || opt->def.method == PL_LEVENBERG_MARQUARDT;
    bool comparable = monotone && opt->def.stop_decrease > 0 && isfinite(previous_loss);
    if (head[PL_HEAD_STOP] != PL_STOP_NONE)
        return;
    if (loss <= opt->def.stop_loss)
        head[PL_HEAD_STOP] = PL_STOP_LOSS;
    else if (projected_gradient(opt, opt->work) <= opt->def.stop_gradient)
        head[PL_HEAD_STOP] = PL_STOP_GRADIENT;
    else if (comparable && previous_loss - loss <= opt->def.stop_decrease * previous_loss)
        head[PL_HEAD_STOP] = PL_STOP_DECREASE;
    else if (head[PL_HEAD_ITERATION] >= opt->def.iterations)
        head[PL_HEAD_STOP] = PL_STOP_ITERATIONS;
}

static void commit(pl_optimizer *opt)
{
    memcpy(opt->state, opt->work, (size_t)opt->state_count * sizeof *opt->state);
}

pl_status pl_optimizer_start(pl_optimizer *opt)
{
    memcpy(opt->work, opt->state, (size_t)opt->state_count * sizeof *opt->state);
    opt->work[PL_HEAD_PAIRS] = 0;
    opt->work[PL_HEAD_DAMPING] = 1e-3;
    opt->work[PL_HEAD_STOP] = PL_STOP_NONE;
    if (opt->def.method == PL_LEVENBERG_MARQUARDT)
        PL_TRY(pl_lm_start(opt));
    else
        PL_TRY(pl_optimizer_evaluate(opt, pl_optimizer_x(opt, opt->work), &opt->work[PL_HEAD_LOSS],
                                     pl_optimizer_gradient(opt, opt->work)));
    if (!isfinite(opt->work[PL_HEAD_LOSS]))
        return pl_fail_within(opt->ctx, opt->refusal, "the loss cannot be evaluated at the start");
    decide_stop(opt, INFINITY);
    commit(opt);
    return PL_OK;
}

pl_status pl_optimizer_step(pl_optimizer *opt)
{
    memcpy(opt->work, opt->state, (size_t)opt->state_count * sizeof *opt->state);
    opt->work[PL_HEAD_ITERATION] += 1;
    opt->work[PL_HEAD_REFUSED_LAST] = 0;
    switch (opt->def.method) {
    case PL_GRADIENT_DESCENT:
        PL_TRY(pl_descent_step(opt));
        break;
    case PL_ADAM:
        PL_TRY(pl_adam_step(opt));
        break;
    case PL_LBFGSB:
        PL_TRY(pl_lbfgsb_step(opt));
        break;
    case PL_LEVENBERG_MARQUARDT:
        PL_TRY(pl_lm_step(opt));
        break;
    }
    const double *x = pl_optimizer_x(opt, opt->work), *old = pl_optimizer_x(opt, opt->state);
    double largest = 0;
    for (int i = 0; i < opt->problem.n; i++)
        largest = fmax(largest, fabs(x[i] - old[i]));
    opt->work[PL_HEAD_STEP] = largest;
    decide_stop(opt, opt->state[PL_HEAD_LOSS]);
    commit(opt);
    return PL_OK;
}
