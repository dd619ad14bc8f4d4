/*
 * What the 3-D view of a report shows: trajectories, colliders, contact forces.
 *
 * A trajectory keeps the vertices its triangles use and K = min(F, max_frames, max_bytes / frame)
 * frames, those nearest to k (F-1)/(K-1). A position is kept as three 16-bit fractions of its frame's
 * bounding box: x = lower + (upper - lower) s / 65535.
 *
 *   times [K] float32, box [K, 6] float32 (lower, upper), positions [K, n, 3] uint16,
 *   triangles [m, 3] uint32, activation [K, n] uint8 (255 = `largest`), where there are muscles
 */
#include "io/report.h"

pl_report_trajectory pl_report_trajectory_default(void)
{
    return (pl_report_trajectory){.opacity = 1, .forces = true, .time_step = 0.01};
}

int pl_report_kept(const pl_report *report, int count, size_t bytes)
{
    size_t affordable = report->def.max_bytes / (bytes ? bytes : 1);
    size_t kept = (size_t)(count < report->def.max_frames ? count : report->def.max_frames);
    kept = kept < affordable ? kept : affordable;
    size_t least = count < 2 ? (size_t)count : 2;
    return (int)(kept > least ? kept : least);
}

int pl_report_frame(int k, int kept, int count)
{
    return kept < 2 ? 0 : (int)(((long long)k * (count - 1) + (kept - 1) / 2) / (kept - 1));
}

void pl_report_times(pl_text *t, float *scratch, int kept, int count, double start, double step)
{
    for (int k = 0; k < kept; k++)
        scratch[k] = (float)(start + step * pl_report_frame(k, kept, count));
    pl_text_add(t, ",\"times\":\"");
    pl_text_base64(t, scratch, (size_t)kept * sizeof *scratch);
    pl_text_add(t, "\"");
}

static pl_status check_trajectory(pl_report *report, const pl_report_trajectory *d)
{
    pl_context *ctx = report->ctx;
    if (d->frame_count < 1 || d->vertex_count < 1 || d->triangle_count < 1)
        return pl_fail(
            ctx, PL_ERROR_ARGUMENT,
            "report trajectory: %d frames of %d vertices and %d triangles, expected >= 1 each",
            d->frame_count, d->vertex_count, d->triangle_count);
    if (!d->frames || !d->triangles)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report trajectory: frames or triangles is NULL");
    if (!(d->opacity > 0 && d->opacity <= 1))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report trajectory: opacity is %g, expected in (0, 1]",
                       d->opacity);
    if (d->colour && !pl_colour_parse(d->colour, NULL))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report trajectory: colour is '%s', expected #rrggbb",
                       d->colour);
    if (!isfinite(d->start) || !(d->time_step > 0))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report trajectory: time_step is %g s, expected > 0",
                       d->time_step);
    for (int i = 0; i < 3 * d->triangle_count; i++)
        if (d->triangles[i] < 0 || d->triangles[i] >= d->vertex_count)
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "report trajectory: triangle %d names vertex %d of %d", i / 3,
                           d->triangles[i], d->vertex_count);
    return PL_OK;
}

/* Numbers the used vertices in order: used[k] is the k-th one, renumbered triangles in `triangles`. */
static int gather_vertices(const pl_report_trajectory *d, int *number, int *used, uint32_t *triangles)
{
    int count = 0;
    for (int i = 0; i < 3 * d->triangle_count; i++)
        number[d->triangles[i]] = 1;
    for (int v = 0; v < d->vertex_count; v++) {
        if (!number[v])
            continue;
        used[count] = v;
        number[v] = count++;
    }
    for (int i = 0; i < 3 * d->triangle_count; i++)
        triangles[i] = (uint32_t)number[d->triangles[i]];
    return count;
}

/* Fractions of the bounding box of the finite positions; those that are not finite go to its corners.
 */
static void quantise(const double *frame, const int *used, int count, float box[6], uint16_t *out)
{
    for (int a = 0; a < 3; a++) {
        double lower = INFINITY, upper = -INFINITY;
        for (int i = 0; i < count; i++) {
            double x = frame[3 * used[i] + a];
            lower = isfinite(x) && x < lower ? x : lower;
            upper = isfinite(x) && x > upper ? x : upper;
        }
        box[a] = lower <= upper ? (float)lower : 0;
        box[3 + a] = lower <= upper ? (float)upper : 0;
        double scale = upper > lower ? 65535 / (upper - lower) : 0;
        for (int i = 0; i < count; i++) {
            double s = (frame[3 * used[i] + a] - lower) * scale;
            out[3 * i + a] = s > 0 ? (uint16_t)(fmin(s, 65535) + 0.5) : 0;
        }
    }
}

/* "activation": and "largest":, of the kept frames; scratch [kept, count]. */
static void add_activation(pl_text *t, const pl_report_trajectory *d, const int *used, int count,
                           int kept, uint8_t *scratch)
{
    double largest = 0;
    size_t all = (size_t)d->frame_count * (size_t)d->vertex_count, at = 0;
    for (size_t i = 0; i < all; i++)
        largest = isfinite(d->activation[i]) ? fmax(largest, d->activation[i]) : largest;
    for (int k = 0; k < kept; k++) {
        size_t frame = (size_t)pl_report_frame(k, kept, d->frame_count);
        const double *of = d->activation + frame * (size_t)d->vertex_count;
        for (int i = 0; i < count; i++) {
            double s = largest > 0 ? 255 * of[used[i]] / largest : 0;
            scratch[at++] = s > 0 ? (uint8_t)(fmin(s, 255) + 0.5) : 0;
        }
    }
    pl_text_add(t, "\",\"largest\":");
    pl_text_number(t, largest, 9, "0");
    pl_text_add(t, ",\"activation\":\"");
    pl_text_base64(t, scratch, at);
}

static void add_header(pl_report *report, const pl_report_trajectory *d, int vertices, int frames)
{
    pl_text *t = &report->trajectories;
    pl_report_next(t);
    pl_text_add(t, "{\"name\":");
    pl_text_json(t, d->name ? d->name : "body");
    pl_text_add(t, ",\"colour\":");
    pl_text_json(t, d->colour ? d->colour : pl_colour_of(report->trajectory_count));
    pl_text_add(t, ",\"opacity\":");
    pl_text_number(t, d->opacity, 4, "1");
    pl_text_format(t, ",\"edges\":%s,\"hidden\":%s,\"vertices\":%d,\"frames\":%d",
                   d->edges ? "true" : "false", d->hidden ? "true" : "false", vertices, frames);
}

pl_status pl_report_add_trajectory(pl_report *report, const pl_report_trajectory *d)
{
    PL_TRY(check_trajectory(report, d));
    pl_context *ctx = report->ctx;
    pl_text *t = &report->trajectories;
    pl_status status = PL_OK;
    int length = t->length;
    int *number = NULL, *used = NULL;
    uint32_t *triangles = NULL;
    uint16_t *positions = NULL;
    uint8_t *activation = NULL;
    float *box = NULL;
    PL_NEW(ctx, number, d->vertex_count, done);
    PL_NEW(ctx, used, d->vertex_count, done);
    PL_NEW(ctx, triangles, 3 * (size_t)d->triangle_count, done);
    int count = gather_vertices(d, number, used, triangles);
    size_t row = 3 * (size_t)count;
    int kept = pl_report_kept(report, d->frame_count, row * sizeof *positions);
    PL_NEW(ctx, positions, (size_t)kept * row, done);
    PL_NEW(ctx, box, 6 * (size_t)kept, done);
    PL_NEW(ctx, activation, d->activation ? (size_t)kept * (size_t)count : 0, done);

    add_header(report, d, count, kept);
    pl_report_times(t, box, kept, d->frame_count, d->start, d->time_step);
    for (int k = 0; k < kept; k++) {
        size_t frame = (size_t)pl_report_frame(k, kept, d->frame_count);
        quantise(d->frames + frame * 3 * (size_t)d->vertex_count, used, count, box + 6 * k,
                 positions + (size_t)k * row);
    }
    pl_text_add(t, ",\"triangles\":\"");
    pl_text_base64(t, triangles, 3 * (size_t)d->triangle_count * sizeof *triangles);
    pl_text_add(t, "\",\"box\":\"");
    pl_text_base64(t, box, 6 * (size_t)kept * sizeof *box);
    pl_text_add(t, "\",\"positions\":\"");
    pl_text_base64(t, positions, (size_t)kept * row * sizeof *positions);
    if (d->activation)
        add_activation(t, d, used, count, kept, activation);
    pl_text_add(t, "\"}");
    PL_CHECK(pl_report_end(t, length), done);
    report->trajectory_count++;
done:
    pl_free(ctx, number);
    pl_free(ctx, used);
    pl_free(ctx, triangles);
    pl_free(ctx, positions);
    pl_free(ctx, activation);
    pl_free(ctx, box);
    return status;
}

/* The surface of a mesh collider, in its own frame. */
static pl_status add_surface(pl_text *t, const pl_mesh *mesh)
{
    pl_context *ctx = t->ctx;
    int count = 0, *triangles = NULL;
    float *vertices = NULL;
    pl_status status;
    PL_CHECK(pl_mesh_surface(ctx, mesh, &count, &triangles), done);
    size_t numbers = 3 * (size_t)mesh->vertex_count;
    PL_NEW(ctx, vertices, numbers, done);
    for (size_t i = 0; i < numbers; i++)
        vertices[i] = (float)mesh->vertices[i];
    pl_text_add(t, ",\"vertices\":\"");
    pl_text_base64(t, vertices, numbers * sizeof *vertices);
    pl_text_add(t, "\",\"triangles\":\"");
    pl_text_base64(t, triangles, 3 * (size_t)count * sizeof *triangles);
    pl_text_add(t, "\"");
done:
    pl_free(ctx, triangles);
    pl_free(ctx, vertices);
    return status;
}

pl_status pl_report_add_collider(pl_report *report, const pl_collider_def *d)
{
    static const char *const shapes[] = {
        [PL_HALF_SPACE] = "plane",  [PL_SPHERE] = "sphere",   [PL_BOX] = "box",
        [PL_CYLINDER] = "cylinder", [PL_CAPSULE] = "capsule", [PL_MESH] = "mesh"};
    pl_context *ctx = report->ctx;
    if ((unsigned)d->shape > PL_MESH)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report collider: unknown shape %d", (int)d->shape);
    if (d->shape == PL_MESH && !d->surface)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report collider: a mesh collider without a surface");
    pl_text *t = &report->colliders;
    int length = t->length;
    pl_report_next(t);
    pl_text_add(t, "{\"name\":");
    pl_text_json(t, d->name ? d->name : shapes[d->shape]);
    pl_text_format(t, ",\"shape\":\"%s\",\"size\":", shapes[d->shape]);
    pl_text_json_numbers(t, d->size, 3, 9);
    pl_text_add(t, ",\"times\":");
    static const double zero;
    bool moving = d->table.count > 0;
    size_t rows = moving ? (size_t)d->table.count : 1;
    pl_text_json_numbers(t, moving ? d->table.time : &zero, rows, 9);
    pl_text_add(t, ",\"poses\":");
    pl_text_json_numbers(t, moving ? d->table.value : d->pose, 7 * rows, 9);
    pl_status status = d->shape == PL_MESH ? add_surface(t, d->surface) : PL_OK;
    pl_text_add(t, "}");
    if (status != PL_OK) {
        pl_text_cut(t, length);
        return status;
    }
    return pl_report_end(t, length);
}

static pl_status check_contacts(pl_report *report, const pl_report_contacts *d)
{
    pl_context *ctx = report->ctx;
    if (d->frame_count < 1 || !d->first || !(d->time_step > 0))
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "report contacts: %d frames of %g s, expected >= 1 and > 0", d->frame_count,
                       d->time_step);
    for (int i = 0; i < d->frame_count; i++)
        if (d->first[i] < 0 || d->first[i] > d->first[i + 1])
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "report contacts: first[%d] = %d is out of order", i,
                           d->first[i]);
    if (d->first[d->frame_count] > 0 && (!d->point || !d->normal || !d->tangent))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report contacts: point, normal or tangent is NULL");
    return PL_OK;
}

/* Contacts with a force worth an arrow; the smoothed law gives every candidate a little. */
static bool visible(const pl_report_contacts *d, int c, double least)
{
    double n2 = 0, t2 = 0;
    for (int a = 0; a < 3; a++) {
        n2 += d->normal[3 * c + a] * d->normal[3 * c + a];
        t2 += d->tangent[3 * c + a] * d->tangent[3 * c + a];
    }
    return n2 + t2 > least * least && isfinite(n2 + t2);
}

/* counts [K] uint32 and arrows [sum, 9] float32: point, normal, tangent. */
pl_status pl_report_add_contacts(pl_report *report, const pl_report_contacts *d)
{
    PL_TRY(check_contacts(report, d));
    pl_context *ctx = report->ctx;
    pl_text *t = &report->contacts;
    pl_status status = PL_OK;
    int length = t->length;
    uint32_t *counts = NULL;
    float *times = NULL, *arrows = NULL;
    int total = d->first[d->frame_count];
    size_t bytes = 9 * sizeof *arrows * ((size_t)total / (size_t)d->frame_count + 1);
    int kept = pl_report_kept(report, d->frame_count, bytes);
    PL_NEW(ctx, counts, kept, done);
    PL_NEW(ctx, times, kept, done);
    PL_NEW(ctx, arrows, 9 * (size_t)total, done);
    size_t used = 0;
    for (int k = 0; k < kept; k++) {
        int frame = pl_report_frame(k, kept, d->frame_count);
        for (int c = d->first[frame]; c < d->first[frame + 1]; c++) {
            if (!visible(d, c, 1e-6))
                continue;
            for (int a = 0; a < 3; a++) {
                arrows[9 * used + a] = (float)d->point[3 * c + a];
                arrows[9 * used + 3 + a] = (float)d->normal[3 * c + a];
                arrows[9 * used + 6 + a] = (float)d->tangent[3 * c + a];
            }
            used++;
            counts[k]++;
        }
    }
    pl_report_next(t);
    pl_text_add(t, "{\"name\":");
    pl_text_json(t, d->name);
    pl_report_times(t, times, kept, d->frame_count, d->start, d->time_step);
    pl_text_add(t, ",\"counts\":\"");
    pl_text_base64(t, counts, (size_t)kept * sizeof *counts);
    pl_text_add(t, "\",\"arrows\":\"");
    pl_text_base64(t, arrows, 9 * used * sizeof *arrows);
    pl_text_add(t, "\"}");
    PL_CHECK(pl_report_end(t, length), done);
done:
    pl_free(ctx, counts);
    pl_free(ctx, times);
    pl_free(ctx, arrows);
    return status;
}
