/*
 * Cables of a report's 3-D view: the segments of all of them, each from, to and tension.
 *
 *   times [K] float32, segments [K, m, 7] float32
 */
#include "io/report.h"

pl_status pl_report_add_cables(pl_report *report, const pl_report_cables *d)
{
    pl_context *ctx = report->ctx;
    pl_text *t = &report->cables;
    pl_status status = PL_OK;
    int length = t->length;
    size_t row = 7 * (size_t)d->segment_count;
    int kept = pl_report_kept(report, d->frame_count, row * sizeof(float));
    float *times = NULL, *segments = NULL;
    PL_NEW(ctx, times, kept, done);
    PL_NEW(ctx, segments, (size_t)kept * row, done);
    for (int k = 0; k < kept; k++)
        for (size_t i = 0; i < row; i++)
            segments[(size_t)k * row + i] =
                (float)d->frames[pl_report_frame(k, kept, d->frame_count)][i];
    pl_report_next(t);
    pl_text_add(t, "{\"name\":");
    pl_text_json(t, d->name);
    pl_report_times(t, times, kept, d->frame_count, d->start, d->time_step);
    pl_text_add(t, ",\"segments\":\"");
    pl_text_base64(t, segments, (size_t)kept * row * sizeof *segments);
    pl_text_add(t, "\"}");
    PL_CHECK(pl_report_end(t, length), done);
done:
    pl_free(ctx, times);
    pl_free(ctx, segments);
    return status;
}
