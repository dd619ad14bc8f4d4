/* Inside plots: checks and colours that the report shares, and the surfaces a plot is drawn on. */
#ifndef PL_PLOT_H
#define PL_PLOT_H

#include <pliant/report.h>

#include "io/report_text.h"

pl_status pl_plot_check(pl_context *ctx, const pl_plot *plot);
/* The colour of a line: its own, or the next of the palette; levels without one are grey. */
const char *pl_plot_colour(const pl_plot *plot, int line);

typedef enum pl_anchor { PL_ANCHOR_START, PL_ANCHOR_MIDDLE, PL_ANCHOR_END } pl_anchor;

/*
 * What a plot is drawn with; x to the right and y down in units of the plot's width and height.
 * `self` is the surface's own state; failures are kept there and asked for at the end.
 */
typedef struct pl_canvas {
    void *self;
    /* An open line through points [count, 2]; dash 0 = solid. */
    void (*stroke)(void *self, const double *points, int count, const char *colour, double width,
                   double dash);
    void (*disc)(void *self, const double centre[2], double radius, const char *colour);
    /* Text of the given height about (x, y) on its baseline; upright reads bottom to top. */
    void (*text)(void *self, double x, double y, const char *string, double size, pl_anchor anchor,
                 bool upright);
    /* What is drawn next shows only inside the rectangle; NULL ends that. */
    void (*clip)(void *self, const double rectangle[4]);
} pl_canvas;

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

/* Draws the whole plot: axes, ticks, grid, lines, legend. */
pl_status pl_plot_draw(pl_context *ctx, const pl_plot *plot, const pl_canvas *canvas);

pl_status pl_plot_svg(pl_context *ctx, const pl_plot *plot, pl_text *out);
pl_status pl_plot_png(pl_context *ctx, const pl_plot *plot, pl_text *out);

/* A stroke font for the PNG: lines of a character on a grid, see plot_font.c. */
typedef struct pl_glyph {
    const char *strokes; /* pairs x y of digits, strokes apart by spaces */
    double advance;      /* in grid units */
    double size, raise;  /* 1 and 0; smaller and above 0 for superscripts */
} pl_glyph;

#define PL_GLYPH_EM 9.0 /* grid units of a text's size */
pl_glyph pl_glyph_of(unsigned character);

/* 8-bit RGB pixels [height, width, 3] as a PNG file; row [1 + 3 width] is scratch. */
void pl_png_encode(pl_text *out, const unsigned char *pixels, unsigned char *row, int width,
                   int height);

#endif
