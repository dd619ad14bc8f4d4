/*
 * Gradient descent and Adam: a step of fixed rate, projected onto the bounds.
 *
 *     descent  x <- P(x - rate g)
 *     Adam     m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2,
 *              x <- P(x - rate m / (1 - b1^k) / sqrt(v / (1 - b2^k)))
 *
 * A step to a point where the loss cannot be evaluated is halved until it can.
 */
#include "fit/optimizer.h"

enum { MAX_HALVINGS = 40 };

/* Moves x of the work state by -delta, or by the longest of its halves that can be evaluated. */
static pl_status take_step(pl_optimizer *opt, const double *delta)
{
    int n = opt->problem.n;
    double *x = pl_optimizer_x(opt, opt->work), *g = pl_optimizer_gradient(opt, opt->work);
    double *trial = opt->scratch + n, *gradient = opt->scratch + 2 * n;
    double scale = 1.0, loss;
    for (int k = 0; k < MAX_HALVINGS; k++, scale *= 0.5) {
        for (int i = 0; i < n; i++)
            trial[i] = pl_clip(x[i] - scale * delta[i], opt->problem.lower[i], opt->problem.upper[i]);
        PL_TRY(pl_optimizer_evaluate(opt, trial, &loss, gradient));
        if (isfinite(loss)) {
            memcpy(x, trial, (size_t)n * sizeof *x);
            memcpy(g, gradient, (size_t)n * sizeof *g);
            opt->work[PL_HEAD_LOSS] = loss;
            return PL_OK;
        }
    }
    opt->work[PL_HEAD_STOP] = PL_STOP_STALLED;
    return PL_OK;
}

pl_status pl_descent_step(pl_optimizer *opt)
{
    int n = opt->problem.n;
    const double *g = pl_optimizer_gradient(opt, opt->work);
    double *delta = opt->scratch;
    double longest = 0;
    for (int i = 0; i < n; i++) {
        delta[i] = opt->def.rate * g[i];
        longest = fmax(longest, fabs(delta[i]));
    }
    if (opt->def.max_step > 0 && longest > opt->def.max_step)
        for (int i = 0; i < n; i++)
            delta[i] *= opt->def.max_step / longest;
    return take_step(opt, delta);
}

pl_status pl_adam_step(pl_optimizer *opt)
{
    int n = opt->problem.n;
    const double *g = pl_optimizer_gradient(opt, opt->work);
    double *m = pl_optimizer_memory(opt, opt->work), *v = m + n;
    double b1 = opt->def.beta1, b2 = opt->def.beta2, k = opt->work[PL_HEAD_ITERATION];
    double *delta = opt->scratch;
    for (int i = 0; i < n; i++) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        double mean = m[i] / (1 - pow(b1, k)), square = v[i] / (1 - pow(b2, k));
        delta[i] = square > 0 ? opt->def.rate * mean / sqrt(square) : 0;
    }
    return take_step(opt, delta);
}
