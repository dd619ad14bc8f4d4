/* Inside plots: checks and colours that the report shares, axes, and the SVG they are drawn in. */
#ifndef PL_PLOT_H
#define PL_PLOT_H

#include <pliant/report.h>

#include "io/report_text.h"

pl_status pl_plot_check(pl_context *ctx, const pl_plot *plot);
/* The colour of a line: its own, or the next of the palette; levels without one are grey. */
const char *pl_plot_colour(const pl_plot *plot, int line);

typedef enum pl_anchor { PL_ANCHOR_START, PL_ANCHOR_MIDDLE, PL_ANCHOR_END } pl_anchor;

/* ------------------------------------------------------------------------------- elements of an SVG */

/* x to the right and y down, in units of the picture's width and height. */
void pl_svg_open(pl_text *svg, double width, double height);
/* What is drawn until the next close shows only inside the rectangle x, y, width, height. */
void pl_svg_open_part(pl_text *svg, const double rectangle[4]);
void pl_svg_close(pl_text *svg);
/* An open line through points [count, 2]; dash 0 = solid. */
void pl_svg_stroke(pl_text *svg, const double *points, int count, const char *colour, double width,
                   double dash);
void pl_svg_disc(pl_text *svg, const double centre[2], double radius, const char *colour);
/* Text of the given height about (x, y) on its baseline; upright reads bottom to top. */
void pl_svg_text(pl_text *svg, double x, double y, const char *string, double size, pl_anchor anchor,
                 bool upright);

/* ------------------------------------------------------------------------------- axes */

enum { PL_TICKS = 24 };

/* One axis: from values to the surface, x = from + (f(v) - low) / (high - low) (to - from), with f the
 * logarithm to base 10 on a log axis. */
typedef struct pl_axis {
    bool log;
    double low, high; /* of f(v) */
    double from, to;
    int tick_count;
    double ticks[PL_TICKS];
    char labels[PL_TICKS][24];
} pl_axis;

/* An axis that holds every valid value in [least, most], with about `wanted` round ticks. least > most:
 * there are no values. `margin` is the part of the range left free at each end. */
void pl_axis_make(pl_axis *axis, bool log, double least, double most, double margin, int wanted);
bool pl_axis_valid(const pl_axis *axis, double value);
double pl_axis_at(const pl_axis *axis, double value);

/* ------------------------------------------------------------------------------- the plot */

/* Draws the whole plot: axes, ticks, grid, lines, legend. */
pl_status pl_plot_svg(pl_context *ctx, const pl_plot *plot, pl_text *svg);

/* A name as comma-separated values have it: in quotes where it needs them, its own doubled. */
void pl_csv_name(pl_text *text, const char *name);

#endif
