/*
 * Gradient descent and Adam: steps along the gradient, projected onto the bounds.
 *
 *     descent  x <- P(x - rate g)
 *     Adam     m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2,
 *              x <- P(x - rate m / (1 - b1^k) / sqrt(v / (1 - b2^k)))
 *
 * A step to a point where the loss cannot be evaluated is halved until it can. With growth > 1 descent
 * also halves its rate until the loss does not increase, and raises it by that factor afterwards: a
 * plateau is crossed by ever longer steps, and what lies behind it by shorter ones.
 */
#include "fit/optimizer.h"

enum { MAX_HALVINGS = 100 };

/* Moves x of the work state by -delta, or by the longest of its halves with a loss up to `limit`;
 * *scale says which. */
static pl_status take_step(pl_optimizer *opt, const double *delta, double limit, double *scale)
{
    int n = opt->problem.n;
    double *x = pl_optimizer_x(opt, opt->work), *g = pl_optimizer_gradient(opt, opt->work);
    double *trial = opt->scratch + n, *gradient = opt->scratch + 2 * n, loss;
    *scale = 1;
    for (int k = 0; k < MAX_HALVINGS; k++, *scale *= 0.5) {
        for (int i = 0; i < n; i++)
            trial[i] = pl_clip(x[i] - *scale * delta[i], opt->problem.lower[i], opt->problem.upper[i]);
        PL_TRY(pl_optimizer_evaluate(opt, trial, &loss, gradient));
        if (isfinite(loss) && loss <= limit) {
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
    double *delta = opt->scratch, *rate = &opt->work[PL_HEAD_RATE], longest = 0, scale;
    for (int i = 0; i < n; i++) {
        delta[i] = *rate * g[i];
        longest = fmax(longest, fabs(delta[i]));
    }
    if (opt->def.max_step > 0 && longest > opt->def.max_step)
        for (int i = 0; i < n; i++)
            delta[i] *= opt->def.max_step / longest;
    bool adapts = opt->def.growth > 1;
    PL_TRY(take_step(opt, delta, adapts ? opt->work[PL_HEAD_LOSS] : INFINITY, &scale));
    if (adapts)
        *rate *= scale * opt->def.growth;
    return PL_OK;
}

pl_status pl_adam_step(pl_optimizer *opt)
{
    int n = opt->problem.n;
    const double *g = pl_optimizer_gradient(opt, opt->work);
    double *m = pl_optimizer_memory(opt, opt->work), *v = m + n;
    double b1 = opt->def.beta1, b2 = opt->def.beta2, k = opt->work[PL_HEAD_ITERATION];
    double *delta = opt->scratch, scale;
    for (int i = 0; i < n; i++) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        double mean = m[i] / (1 - pow(b1, k)), square = v[i] / (1 - pow(b2, k));
        delta[i] = square > 0 ? opt->def.rate * mean / sqrt(square) : 0;
    }
    return take_step(opt, delta, INFINITY, &scale);
}
