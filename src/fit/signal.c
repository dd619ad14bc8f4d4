/*
 * Inputs over time by few numbers p. In step s of S, at the time t of its end:
 *
 *     one        p_0
 *     step       p_s
 *     sinusoid   p_0 + p_1 sin(2 pi p_2 t + p_3), cut off at the bounds
 *     spline     sum_i B_i(s / (S - 1)) p_i with the B-splines of degree d over an even, clamped knot
 *                vector: between the smallest and the largest p, and so within their bounds
 */
#include "fit/task.h"

#include "core/vec.h"

enum { DEGREE_MAX = 3, SINUSOID_COUNT = PL_SINUSOID_PHASE + 1 };
#define TURN 6.283185307179586

int pl_signal_count(const pl_unknown *u)
{
    return u->signal == PL_SIGNAL_SINUSOID ? SINUSOID_COUNT : u->knots;
}

void pl_signal_box(const pl_unknown *u, int i, double *initial, double *lower, double *upper)
{
    double half = (u->upper - u->lower) / 2;
    *initial = u->initial;
    *lower = u->lower;
    *upper = u->upper;
    if (u->signal != PL_SIGNAL_SINUSOID || i == PL_SINUSOID_OFFSET)
        return;
    if (i == PL_SINUSOID_AMPLITUDE) {
        *initial = u->amplitude;
        *lower = -half;
        *upper = half;
    } else if (i == PL_SINUSOID_FREQUENCY) {
        *initial = u->frequency;
        *lower = u->frequency_range[0];
        *upper = u->frequency_range[1];
    } else {
        *initial = u->phase;
        *lower = u->phase - TURN;
        *upper = u->phase + TURN;
    }
}

/* ------------------------------------------------------------------------------- sinusoid */

/* Value and derivatives by the four entries. */
static double sinusoid(const pl_unknown *u, const double *p, double t, double slopes[SINUSOID_COUNT])
{
    double angle = TURN * p[PL_SINUSOID_FREQUENCY] * t + p[PL_SINUSOID_PHASE];
    double amplitude = p[PL_SINUSOID_AMPLITUDE], wave = sin(angle), turn = amplitude * cos(angle);
    double value = p[PL_SINUSOID_OFFSET] + amplitude * wave;
    bool inside = value >= u->lower && value <= u->upper;
    const double free[] = {1, wave, turn * TURN * t, turn};
    for (int i = 0; i < SINUSOID_COUNT; i++)
        slopes[i] = inside ? free[i] : 0;
    return pl_clip(value, u->lower, u->upper);
}

/* ------------------------------------------------------------------------------- spline */

/* The knot vector: degree + 1 times 0, evenly up to 1, degree + 1 times 1. */
static double knot(const pl_unknown *u, int i)
{
    return pl_clip((double)(i - u->degree) / (u->knots - u->degree), 0, 1);
}

/* The degree + 1 B-splines that are not 0 at s, the first of which is returned (de Boor, Cox). */
static int splines_at(const pl_unknown *u, double s, double b[DEGREE_MAX + 1])
{
    int d = u->degree, spans = u->knots - d, span = (int)(s * spans);
    int at = d + (span < spans ? span : spans - 1);
    b[0] = 1;
    for (int j = 1; j <= d; j++) {
        double carried = 0;
        for (int r = 0; r < j; r++) {
            double right = knot(u, at + r + 1), left = knot(u, at + 1 + r - j);
            double part = b[r] / (right - left);
            b[r] = carried + (right - s) * part;
            carried = (s - left) * part;
        }
        b[j] = carried;
    }
    return at - d;
}

static double parameter(int step, int steps)
{
    return steps > 1 ? (double)step / (steps - 1) : 0;
}

/* ------------------------------------------------------------------------------- any */

double pl_signal_value(const pl_unknown *u, const double *p, int step, int steps, double h)
{
    double b[DEGREE_MAX + 1], slopes[SINUSOID_COUNT], sum = 0;
    if (u->spread != PL_SPREAD_SIGNAL)
        return p[u->spread == PL_SPREAD_STEP ? step : 0];
    if (u->signal == PL_SIGNAL_SINUSOID)
        return sinusoid(u, p, (step + 1) * h, slopes);
    int first = splines_at(u, parameter(step, steps), b);
    for (int i = 0; i <= u->degree; i++)
        sum += b[i] * p[first + i];
    return sum;
}

double pl_signal_slope(const pl_unknown *u, const double *p, int entry, int step, int steps, double h)
{
    double b[DEGREE_MAX + 1], slopes[SINUSOID_COUNT];
    if (u->spread != PL_SPREAD_SIGNAL)
        return u->spread == PL_SPREAD_STEP ? step == entry : 1;
    if (u->signal == PL_SIGNAL_SINUSOID) {
        sinusoid(u, p, (step + 1) * h, slopes);
        return slopes[entry];
    }
    int first = splines_at(u, parameter(step, steps), b);
    return entry >= first && entry <= first + u->degree ? b[entry - first] : 0;
}
