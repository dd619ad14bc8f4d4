/*
 * Strong Wolfe line search: steps grow until a minimum is bracketed, then the bracket shrinks by cubic
 * interpolation (Nocedal & Wright, algorithms 3.5 and 3.6). A point that cannot be evaluated has an
 * infinite loss: it closes the bracket from above and is approached by bisection.
 */
#include "fit/optimizer.h"

#define ARMIJO    1e-4
#define CURVATURE 0.9

enum { MAX_EXPANSIONS = 60, MAX_SHRINKS = 60 };

typedef struct sample {
    double t, loss, slope;
} sample;

/* The loss at t, with x and gradient left in the line's scratch. */
static pl_status take_sample(pl_optimizer *opt, pl_line *line, double t, sample *out)
{
    int n = opt->problem.n;
    double *x = line->scratch, *g = line->scratch + n;
    for (int i = 0; i < n; i++)
        x[i] =
            pl_clip(line->x[i] + t * line->direction[i], opt->problem.lower[i], opt->problem.upper[i]);
    *out = (sample){.t = t};
    PL_TRY(pl_optimizer_evaluate(opt, x, &out->loss, g));
    if (isfinite(out->loss))
        for (int i = 0; i < n; i++)
            out->slope += g[i] * line->direction[i];
    return PL_OK;
}

static void keep_sample(pl_optimizer *opt, pl_line *line, const sample *s)
{
    size_t bytes = (size_t)opt->problem.n * sizeof *line->best_x;
    memcpy(line->best_x, line->scratch, bytes);
    memcpy(line->best_g, line->scratch + opt->problem.n, bytes);
    line->best_loss = s->loss;
    line->found = true;
}

/* Armijo's condition; near a minimum, where the loss itself no longer resolves it, the same condition
 * for the parabola through the two slopes (the approximate Wolfe condition of Hager and Zhang). */
static bool decreases(const pl_line *line, const sample *s)
{
    bool level = s->loss <= line->loss + 4e-16 * fabs(line->loss);
    return s->loss <= line->loss + ARMIJO * s->t * line->slope ||
           (level && s->slope <= (2 * ARMIJO - 1) * line->slope);
}

static bool flat_enough(const pl_line *line, const sample *s)
{
    return fabs(s->slope) <= -CURVATURE * line->slope;
}

/* Minimiser of the cubic through two samples, kept within the inner 80 % between them. */
static double interpolate(const sample *a, const sample *b)
{
    double middle = 0.5 * (a->t + b->t), t = middle;
    if (isfinite(a->loss) && isfinite(b->loss)) {
        double d1 = a->slope + b->slope - 3 * (a->loss - b->loss) / (a->t - b->t);
        double root = d1 * d1 - a->slope * b->slope;
        if (root >= 0) {
            double d2 = copysign(sqrt(root), b->t - a->t);
            t = b->t - (b->t - a->t) * (b->slope + d2 - d1) / (b->slope - a->slope + 2 * d2);
        }
    }
    double low = fmin(a->t, b->t), width = fabs(b->t - a->t);
    return isfinite(t) ? pl_clip(t, low + 0.1 * width, low + 0.9 * width) : middle;
}

/* `low` is the best sample so far, already kept unless it is the start; a minimum lies towards `high`.
 */
static pl_status shrink(pl_optimizer *opt, pl_line *line, sample low, sample high)
{
    for (int k = 0; k < MAX_SHRINKS; k++) {
        sample s;
        if (fabs(high.t - low.t) <= 1e-14 * fmax(low.t, high.t))
            return PL_OK;
        PL_TRY(take_sample(opt, line, interpolate(&low, &high), &s));
        if (!decreases(line, &s) || s.loss > low.loss) {
            high = s;
            continue;
        }
        keep_sample(opt, line, &s);
        if (flat_enough(line, &s))
            return PL_OK;
        if (s.slope * (high.t - low.t) >= 0)
            high = low;
        low = s;
    }
    return PL_OK;
}

pl_status pl_line_search(pl_optimizer *opt, pl_line *line)
{
    sample last = {0, line->loss, line->slope}, s;
    double t = fmin(line->t_first, line->t_max);
    line->found = false;
    for (int k = 0; k < MAX_EXPANSIONS; k++) {
        PL_TRY(take_sample(opt, line, t, &s));
        if (!decreases(line, &s) || (k > 0 && s.loss > last.loss))
            return shrink(opt, line, last, s);
        keep_sample(opt, line, &s);
        if (flat_enough(line, &s))
            return PL_OK;
        if (s.slope >= 0)
            return shrink(opt, line, s, last);
        if (t >= line->t_max)
            return PL_OK;
        /* The secant through the two slopes says where the slope vanishes; it is trusted between
         * twice and ten times the last step. */
        double secant = s.t + (s.t - last.t) * s.slope / (last.slope - s.slope);
        double next = isfinite(secant) && secant > s.t ? pl_clip(secant, 2 * s.t, 10 * s.t) : 10 * s.t;
        last = s;
        t = fmin(next, line->t_max);
    }
    return PL_OK;
}
