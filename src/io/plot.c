/*
 * Plots of lines: layout and drawing, as SVG.
 *
 *     title
 *     legend, in as many rows as it needs
 *     +-----------------+
 *     |      lines      |   y ticks and label to the left, x ticks and label below
 *     +-----------------+
 */
#include "io/plot.h"

#include "core/whole.h"

static const char ink[] = "#333333", faint[] = "#dcdcdc";

#define X_MARGIN 0.015 /* of the range, at each end */

enum { TEXT = 12, TITLE = 14, ROW = 18 };

typedef struct layout {
    const pl_plot *plot;
    pl_text *svg;
    pl_axis x, y;
} layout;

pl_plot pl_plot_default(void)
{
    return (pl_plot){.width = 640, .height = 400};
}

pl_status pl_plot_check(pl_context *ctx, const pl_plot *plot)
{
    if (plot->line_count < 0 || (plot->line_count > 0 && !plot->lines))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "plot: %d lines but no array of them", plot->line_count);
    if (!(plot->width >= 100 && plot->width <= 10000 && plot->height >= 100 && plot->height <= 10000))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "plot: size %g x %g, expected 100 to 10000 each",
                       plot->width, plot->height);
    for (int i = 0; i < plot->line_count; i++) {
        const pl_plot_line *line = &plot->lines[i];
        if (line->count < (line->level ? 1 : 0) || (line->count > 0 && !line->y))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "plot: line %d has no values", i);
        if (line->colour && !pl_colour_parse(line->colour, NULL))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "plot: line %d has colour '%s', expected #rrggbb", i,
                           line->colour);
    }
    return PL_OK;
}

const char *pl_plot_colour(const pl_plot *plot, int line)
{
    if (plot->lines[line].colour)
        return plot->lines[line].colour;
    if (plot->lines[line].level)
        return "#7a828c";
    int before = 0;
    for (int i = 0; i < line; i++)
        before += !plot->lines[i].colour && !plot->lines[i].level;
    return pl_colour_of(before);
}

static double x_of(const pl_plot_line *line, int i)
{
    return line->x ? line->x[i] : i;
}

static double text_width(const char *string, double size)
{
    double width = 0;
    while (pl_utf8_next(&string))
        width += 0.56 * size;
    return width;
}

/* ------------------------------------------------------------------------------- ranges */

static void widen(double value, bool log, double *least, double *most)
{
    if (!isfinite(value) || (log && value <= 0))
        return;
    *least = value < *least ? value : *least;
    *most = value > *most ? value : *most;
}

static void find_ranges(layout *l, double x[2], double y[2])
{
    x[0] = y[0] = INFINITY;
    x[1] = y[1] = -INFINITY;
    for (int k = 0; k < l->plot->line_count; k++) {
        const pl_plot_line *line = &l->plot->lines[k];
        for (int i = 0; i < (line->level ? 1 : line->count); i++) {
            double error = line->error && !line->level && isfinite(line->error[i]) ? line->error[i] : 0;
            widen(line->y[i] - error, l->plot->log_y, &y[0], &y[1]);
            widen(line->y[i] + error, l->plot->log_y, &y[0], &y[1]);
            if (!line->level)
                widen(x_of(line, i), l->plot->log_x, &x[0], &x[1]);
        }
    }
}

/* How many ticks x gets: no more than let them fall on whole numbers where all of x are. */
static int x_ticks(const layout *l, const double x[2])
{
    int wanted = (int)(l->plot->width / 90) + 1;
    double whole = ceil((1 + 2 * X_MARGIN) * (x[1] - x[0]));
    for (int k = 0; k < l->plot->line_count; k++)
        for (int i = 0; i < l->plot->lines[k].count; i++)
            if (x_of(&l->plot->lines[k], i) != floor(x_of(&l->plot->lines[k], i)))
                return wanted;
    return l->plot->log_x || !(whole < wanted) ? wanted : whole > 1 ? (int)whole : 1;
}

/* ------------------------------------------------------------------------------- legend */

/* Lays the legend out from (left, top) in rows up to `right`; draws it unless measuring. Returns its
 * height. */
static double legend(const layout *l, double left, double right, double top, bool draw)
{
    double x = left, y = top;
    int shown = 0;
    for (int i = 0; i < l->plot->line_count; i++) {
        const pl_plot_line *line = &l->plot->lines[i];
        if (!line->name)
            continue;
        double width = 30 + text_width(line->name, TEXT) + 16;
        if (shown++ && x + width > right) {
            x = left;
            y += ROW;
        }
        if (draw) {
            const char *colour = pl_plot_colour(l->plot, i);
            double middle = y + 0.5 * ROW;
            pl_svg_stroke(l->svg, (double[]){x, middle, x + 24, middle}, 2, colour, 2,
                          line->dashed ? 5 : 0);
            if (line->markers)
                pl_svg_disc(l->svg, (double[]){x + 12, middle}, 2.6, colour);
            pl_svg_text(l->svg, x + 30, middle + 0.36 * TEXT, line->name, TEXT, PL_ANCHOR_START, false);
        }
        x += width;
    }
    return shown ? y + ROW - top + 4 : 0;
}

/* ------------------------------------------------------------------------------- frame */

static void draw_frame(const layout *l)
{
    const pl_axis *x = &l->x, *y = &l->y;
    for (int i = 0; i < y->tick_count; i++) {
        double at = pl_axis_at(y, y->ticks[i]);
        pl_svg_stroke(l->svg, (double[]){x->from, at, x->to, at}, 2, faint, 1, 0);
        pl_svg_text(l->svg, x->from - 7, at + 0.36 * TEXT, y->labels[i], TEXT, PL_ANCHOR_END, false);
    }
    for (int i = 0; i < x->tick_count; i++) {
        double at = pl_axis_at(x, x->ticks[i]);
        pl_svg_stroke(l->svg, (double[]){at, y->from, at, y->to}, 2, faint, 1, 0);
        pl_svg_text(l->svg, at, y->from + 8 + TEXT, x->labels[i], TEXT, PL_ANCHOR_MIDDLE, false);
    }
    pl_svg_stroke(l->svg, (double[]){x->from, y->to, x->from, y->from, x->to, y->from}, 3, ink, 1, 0);
    if (l->plot->x_label)
        pl_svg_text(l->svg, 0.5 * (x->from + x->to), l->plot->height - 8, l->plot->x_label, TEXT,
                    PL_ANCHOR_MIDDLE, false);
    if (l->plot->y_label)
        pl_svg_text(l->svg, 6 + TEXT, 0.5 * (y->from + y->to), l->plot->y_label, TEXT, PL_ANCHOR_MIDDLE,
                    true);
}

/* ------------------------------------------------------------------------------- lines */

static void draw_error(const layout *l, const pl_plot_line *line, int i, const char *colour)
{
    if (!line->error || !isfinite(line->error[i]) || line->error[i] <= 0)
        return;
    double x = pl_axis_at(&l->x, x_of(line, i)), top = pl_axis_at(&l->y, line->y[i] + line->error[i]);
    double low = line->y[i] - line->error[i];
    double bottom = pl_axis_valid(&l->y, low) ? pl_axis_at(&l->y, low) : l->y.from;
    pl_svg_stroke(l->svg, (double[]){x - 4, top, x + 4, top}, 2, colour, 1.2, 0);
    pl_svg_stroke(l->svg, (double[]){x, top, x, bottom}, 2, colour, 1.2, 0);
    pl_svg_stroke(l->svg, (double[]){x - 4, bottom, x + 4, bottom}, 2, colour, 1.2, 0);
}

/* One stroke between gaps; a value alone between two gaps is a dot, or it would not show. */
static void draw_line(const layout *l, int index, double *points)
{
    const pl_plot_line *line = &l->plot->lines[index];
    const char *colour = pl_plot_colour(l->plot, index);
    double dash = line->dashed ? 7 : 0;
    if (line->level) {
        double at = pl_axis_valid(&l->y, line->y[0]) ? pl_axis_at(&l->y, line->y[0]) : NAN;
        if (isfinite(at))
            pl_svg_stroke(l->svg, (double[]){l->x.from, at, l->x.to, at}, 2, colour, 2, dash);
        return;
    }
    int run = 0;
    for (int i = 0; i <= line->count; i++) {
        bool good =
            i < line->count && pl_axis_valid(&l->x, x_of(line, i)) && pl_axis_valid(&l->y, line->y[i]);
        if (good) {
            points[2 * run] = pl_axis_at(&l->x, x_of(line, i));
            points[2 * run + 1] = pl_axis_at(&l->y, line->y[i]);
            run++;
            draw_error(l, line, i, colour);
            if (line->markers)
                pl_svg_disc(l->svg, points + 2 * run - 2, 2.8, colour);
            continue;
        }
        if (run == 1 && !line->markers)
            pl_svg_disc(l->svg, points, 2.2, colour);
        else if (run > 1)
            pl_svg_stroke(l->svg, points, run, colour, 2, dash);
        run = 0;
    }
}

pl_status pl_plot_svg(pl_context *ctx, const pl_plot *plot, pl_text *svg)
{
    layout l = {.plot = plot, .svg = svg};
    int longest = 1;
    for (int i = 0; i < plot->line_count; i++)
        longest = plot->lines[i].count > longest ? plot->lines[i].count : longest;
    double *points = pl_alloc(ctx, 2 * (size_t)longest, sizeof *points);
    if (!points)
        return PL_ERROR_MEMORY;

    double x[2], y[2];
    find_ranges(&l, x, y);
    pl_axis_make(&l.y, plot->log_y, y[0], y[1], 0.05, (int)(plot->height / 70) + 1);
    pl_axis_make(&l.x, plot->log_x, x[0], x[1], X_MARGIN, x_ticks(&l, x));
    double label_width = 0;
    for (int i = 0; i < l.y.tick_count; i++)
        label_width = fmax(label_width, text_width(l.y.labels[i], TEXT));
    l.x.from = 14 + label_width + (plot->y_label ? TEXT + 10 : 0);
    l.x.to = plot->width - 16;
    double top = plot->title ? 32 : 12;
    top += legend(&l, l.x.from, l.x.to, top, false);
    l.y.from = plot->height - (plot->x_label ? 46 : 28);
    l.y.to = top;

    pl_svg_open(svg, plot->width, plot->height);
    if (plot->title)
        pl_svg_text(svg, l.x.from, 22, plot->title, TITLE, PL_ANCHOR_START, false);
    legend(&l, l.x.from, l.x.to, plot->title ? 32 : 12, true);
    draw_frame(&l);
    pl_svg_open_part(svg, (double[]){l.x.from, l.y.to - 3, l.x.to - l.x.from, l.y.from - l.y.to + 6});
    for (int i = 0; i < plot->line_count; i++)
        draw_line(&l, i, points);
    pl_svg_close(svg);
    pl_svg_close(svg);
    pl_free(ctx, points);
    return svg->status;
}

pl_status pl_plot_write(pl_context *ctx, const pl_plot *plot, const char *path)
{
    PL_TRY(pl_plot_check(ctx, plot));
    const char *dot = strrchr(path, '.');
    if (!dot || strcmp(dot, ".svg") != 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: a plot is written as .svg", path);
    pl_text svg = {.ctx = ctx};
    pl_status status = pl_plot_svg(ctx, plot, &svg);
    if (status == PL_OK)
        status = pl_write_whole(ctx, path, svg.data, (size_t)svg.length);
    pl_text_free(&svg);
    return status;
}
