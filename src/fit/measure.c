/* A fit's course in the paper's measures: see pl_fit_stages. */
#include "fit/fit.h"

/* |g - d| / |d| of a row, or NaN when no difference was made. */
static double row_error(const pl_fit_result *r, int row)
{
    const double *g = r->gradient + (size_t)row * (size_t)r->parameter_count;
    const double *d = r->difference + (size_t)row * (size_t)r->parameter_count;
    double off = 0, length = 0;
    for (int i = 0; i < r->parameter_count; i++) {
        off += (g[i] - d[i]) * (g[i] - d[i]);
        length += d[i] * d[i];
    }
    return sqrt(off) / sqrt(length);
}

static int first_with(int count, const double *loss, int stride, double part)
{
    double first = loss[0], all = first - loss[(size_t)(count - 1) * (size_t)stride];
    for (int i = 0; i < count; i++)
        if (first - loss[(size_t)i * (size_t)stride] >= part * all)
            return i;
    return count - 1;
}

void pl_stage_ends(int count, const double *loss, int stride, int ends[4])
{
    ends[0] = 0;
    ends[1] = first_with(count, loss, stride, 0.5);
    ends[2] = first_with(count, loss, stride, 0.9);
    ends[3] = count;
}

pl_fit_stages pl_fit_measure(const pl_fit_result *result)
{
    int last = result->row_count - 1, ends[4];
    pl_stage_ends(result->row_count, result->loss, 1, ends);
    double final = result->loss[last], all = result->loss[0] - final;
    double iterations = last > 0 ? last : 1;
    pl_fit_stages stages = {.t50 = ends[1] / iterations, .t90 = ends[2] / iterations};
    for (int s = 0; s < 3; s++) {
        double sum = 0, error = 0;
        int checked = 0;
        for (int i = ends[s]; i < ends[s + 1]; i++) {
            double e = row_error(result, i);
            sum += all != 0 ? (result->loss[i] - final) / all : 0;
            error += isfinite(e) ? e : 0;
            checked += isfinite(e) != 0;
        }
        int size = ends[s + 1] - ends[s];
        stages.area[s] = size > 0 ? sum / size : 0;
        stages.share[s] = 100 * sum / iterations;
        stages.error[s] = checked > 0 ? error / checked : NAN;
    }
    return stages;
}
