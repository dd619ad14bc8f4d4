/*
 * Observed points of a report's 3-D view, each frame with its time, its own number of points and where
 * a model has them.
 *
 *   times [K] float32, counts [K] uint32, positions [sum, 3] float32, model the same or null
 */
#include "io/report.h"

enum { POINTS_MAX = 20000, AFTER_MOTIONS = 3 };

static pl_status check_points(pl_report *report, const pl_report_points *d)
{
    pl_context *ctx = report->ctx;
    if (d->frame_count < 1 || !d->first || !d->times)
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "report points: %d frames, expected >= 1 with first and times", d->frame_count);
    if (d->colour && !pl_colour_parse(d->colour, NULL))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report points: colour is '%s', expected #rrggbb",
                       d->colour);
    for (int i = 0; i < d->frame_count; i++) {
        if (d->first[i] < 0 || d->first[i] > d->first[i + 1])
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "report points: first[%d] = %d is out of order", i,
                           d->first[i]);
        if (!isfinite(d->times[i]) || (i > 0 && !(d->times[i] > d->times[i - 1])))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "report points: times[%d] = %g s does not ascend", i,
                           d->times[i]);
    }
    if (d->first[d->frame_count] > 0 && !d->point)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report points: point is NULL");
    return PL_OK;
}

typedef struct kept_points {
    int frames;
    float *times;             /* [frames] */
    uint32_t *counts;         /* [frames] */
    float *positions, *model; /* [sum of counts, 3] */
    size_t used;
} kept_points;

static void keep_frame(const pl_report_points *d, int frame, kept_points *out, uint32_t *count)
{
    int all = d->first[frame + 1] - d->first[frame], kept = all < POINTS_MAX ? all : POINTS_MAX;
    for (int k = 0; k < kept; k++) {
        size_t from = 3 * (size_t)(d->first[frame] + pl_report_frame(k, kept, all));
        for (size_t a = 0; a < 3; a++, out->used++) {
            out->positions[out->used] = (float)d->point[from + a];
            if (d->model)
                out->model[out->used] = (float)d->model[from + a];
        }
    }
    *count = (uint32_t)kept;
}

static void add_points(pl_report *report, const pl_report_points *d, const kept_points *kept)
{
    pl_text *t = &report->points;
    pl_report_next(t);
    pl_text_add(t, "{\"name\":");
    pl_text_json(t, d->name ? d->name : "observed");
    pl_text_add(t, ",\"colour\":");
    pl_text_json(t, d->colour ? d->colour : pl_colour_of(AFTER_MOTIONS + report->point_set_count));
    pl_text_format(t, ",\"hidden\":%s,\"times\":\"", d->hidden ? "true" : "false");
    pl_text_base64(t, kept->times, (size_t)kept->frames * sizeof *kept->times);
    pl_text_add(t, "\",\"counts\":\"");
    pl_text_base64(t, kept->counts, (size_t)kept->frames * sizeof *kept->counts);
    pl_text_add(t, "\",\"positions\":\"");
    pl_text_base64(t, kept->positions, kept->used * sizeof *kept->positions);
    pl_text_add(t, d->model ? "\",\"model\":\"" : "\",\"model\":null}");
    if (!d->model)
        return;
    pl_text_base64(t, kept->model, kept->used * sizeof *kept->model);
    pl_text_add(t, "\"}");
}

pl_status pl_report_add_points(pl_report *report, const pl_report_points *d)
{
    PL_TRY(check_points(report, d));
    pl_context *ctx = report->ctx;
    pl_status status = PL_OK;
    int length = report->points.length;
    size_t total = 3 * (size_t)d->first[d->frame_count];
    size_t bytes = (d->model ? 2 : 1) * sizeof(float) * (total / (size_t)d->frame_count + 1);
    kept_points kept = {.frames = pl_report_kept(report, d->frame_count, bytes)};
    PL_NEW(ctx, kept.times, kept.frames, done);
    PL_NEW(ctx, kept.counts, kept.frames, done);
    PL_NEW(ctx, kept.positions, total, done);
    PL_NEW(ctx, kept.model, d->model ? total : 0, done);
    for (int k = 0; k < kept.frames; k++) {
        int frame = pl_report_frame(k, kept.frames, d->frame_count);
        kept.times[k] = (float)d->times[frame];
        keep_frame(d, frame, &kept, &kept.counts[k]);
    }
    add_points(report, d, &kept);
    PL_CHECK(pl_report_end(&report->points, length), done);
    report->point_set_count++;
done:
    pl_free(ctx, kept.times);
    pl_free(ctx, kept.counts);
    pl_free(ctx, kept.positions);
    pl_free(ctx, kept.model);
    return status;
}
