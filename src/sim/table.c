/* Values over time. */
#include "sim/table.h"

pl_status pl_curve_create(pl_context *ctx, const char *what, const pl_table *table, int width,
                          const double *constant, pl_curve *out)
{
    pl_status status = PL_OK;
    const double zero = 0;
    pl_table t = table->count > 0 ? *table : (pl_table){.count = 1, .time = &zero, .value = constant};
    pl_curve c = {.count = t.count, .width = width};
    if (table->count < 0 || !t.time || !t.value)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: a table needs a count >= 0, times and values",
                       what);
    for (int k = 0; k < t.count; k++) {
        if (!isfinite(t.time[k]) || (k > 0 && t.time[k] <= t.time[k - 1]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "%s: time[%d] = %g: times must be finite and increase", what, k, t.time[k]);
        for (int i = 0; i < width; i++)
            if (!isfinite(t.value[k * width + i]))
                return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: value[%d][%d] is not finite", what, k, i);
    }
    PL_NEW(ctx, c.time, t.count, done);
    PL_NEW(ctx, c.value, t.count * width, done);
    memcpy(c.time, t.time, sizeof(double) * (size_t)t.count);
    memcpy(c.value, t.value, sizeof(double) * (size_t)(t.count * width));
    *out = c;
    c = (pl_curve){0};
done:
    pl_curve_free(ctx, &c);
    return status;
}

pl_status pl_curve_check(pl_context *ctx, const char *what, double lower, double upper,
                         const pl_curve *curve)
{
    for (int k = 0; k < curve->count; k++)
        if (!(curve->value[k] >= lower && curve->value[k] < upper))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s%s = %g: expected >= %g and < %g", what,
                           curve->count > 1 ? " in the table" : "", curve->value[k], lower, upper);
    return PL_OK;
}

pl_table pl_curve_rows(const pl_curve *curve)
{
    return curve->count > 1 ? (pl_table){curve->count, curve->time, curve->value} : (pl_table){0};
}

void pl_curve_free(pl_context *ctx, pl_curve *curve)
{
    pl_free(ctx, curve->time);
    pl_free(ctx, curve->value);
    *curve = (pl_curve){0};
}

void pl_curve_at(const pl_curve *c, double time, double *out)
{
    int k = 0; /* the first row after `time` */
    while (k < c->count && c->time[k] <= time)
        k++;
    const double *before = c->value + (size_t)(k > 0 ? k - 1 : 0) * (size_t)c->width;
    const double *after = c->value + (size_t)(k < c->count ? k : c->count - 1) * (size_t)c->width;
    double s = k > 0 && k < c->count ? (time - c->time[k - 1]) / (c->time[k] - c->time[k - 1]) : 0.0;
    for (int i = 0; i < c->width; i++)
        out[i] = before[i] + s * (after[i] - before[i]);
}

void pl_curve_align_poses(pl_curve *curve)
{
    for (int k = 1; k < curve->count; k++) {
        double *q = curve->value + 7 * (size_t)k + 3, *before = q - 7;
        double dot = q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3];
        for (int i = 0; dot < 0 && i < 4; i++)
            q[i] = -q[i];
    }
}

void pl_curve_pose_at(const pl_curve *curve, double time, double out[7])
{
    pl_curve_at(curve, time, out);
    double norm = sqrt(out[3] * out[3] + out[4] * out[4] + out[5] * out[5] + out[6] * out[6]);
    for (int i = 3; i < 7; i++)
        out[i] /= norm;
}
