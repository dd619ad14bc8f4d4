/*
 * Axes: the range that holds the values, round ticks and their labels.
 *
 * Linear ticks are multiples of 1, 2 or 5 times a power of ten; log ticks are powers of ten, or linear
 * ticks where the range holds fewer than two powers.
 */
#include "io/plot.h"

#include <stdio.h>

bool pl_axis_valid(const pl_axis *axis, double value)
{
    return isfinite(value) && (!axis->log || value > 0);
}

double pl_axis_at(const pl_axis *axis, double value)
{
    double f = axis->log ? log10(value) : value;
    return axis->from + (f - axis->low) / (axis->high - axis->low) * (axis->to - axis->from);
}

static double round_step(double raw)
{
    double power = pow(10, floor(log10(raw)));
    for (int i = 0; i < 3; i++) {
        double step = power * (double[]){1, 2, 5}[i];
        if (step >= 0.999 * raw)
            return step;
    }
    return 10 * power;
}

static void linear_ticks(pl_axis *axis, double low, double high, int wanted)
{
    double step = round_step((high - low) / wanted);
    double first = ceil(low / step - 1e-9), last = floor(high / step + 1e-9);
    int decimals = (int)-floor(log10(step) + 1e-9);
    double largest = fmax(fabs(low), fabs(high));
    bool power = largest >= 1e6 || largest < 1e-3;
    axis->tick_count = 0;
    for (double i = first; i <= last && axis->tick_count < PL_TICKS; i++) {
        double tick = i == 0 ? 0 : i * step;
        if (axis->log && tick <= 0)
            continue;
        char *label = axis->labels[axis->tick_count];
        if (power && tick != 0)
            snprintf(label, sizeof axis->labels[0], "%.3g", tick);
        else
            snprintf(label, sizeof axis->labels[0], "%.*f", decimals > 0 ? decimals : 0, tick);
        char *comma = strchr(label, ',');
        if (comma)
            *comma = '.'; /* some locales' decimal separator */
        axis->ticks[axis->tick_count++] = tick;
    }
}

static void log_ticks(pl_axis *axis, int wanted)
{
    int first = (int)ceil(axis->low - 1e-9), last = (int)floor(axis->high + 1e-9);
    if (last <= first) {
        linear_ticks(axis, pow(10, axis->low), pow(10, axis->high), wanted);
        return;
    }
    int stride = (last - first) / wanted + 1;
    axis->tick_count = 0;
    for (int e = first; e <= last && axis->tick_count < PL_TICKS; e++) {
        if (e % stride)
            continue;
        strcpy(axis->labels[axis->tick_count], "10");
        pl_superscript(axis->labels[axis->tick_count] + 2, e);
        axis->ticks[axis->tick_count++] = pow(10, e);
    }
}

void pl_axis_make(pl_axis *axis, bool log, double least, double most, double margin, int wanted)
{
    bool empty = !(least <= most);
    axis->log = log;
    axis->low = empty ? (log ? -1 : 0) : log ? log10(least) : least;
    axis->high = empty ? (log ? 0 : 1) : log ? log10(most) : most;
    double range = axis->high - axis->low;
    double alone = log ? 0.5 : axis->low != 0 ? 0.05 * fabs(axis->low) : 1;
    double pad = range > 1e-12 * fabs(axis->high) ? margin * range : alone;
    axis->low -= pad;
    axis->high += pad;
    if (log)
        log_ticks(axis, wanted);
    else
        linear_ticks(axis, axis->low, axis->high, wanted);
}
