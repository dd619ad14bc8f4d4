/* A plot as SVG text. */
#include "io/plot.h"

static void number(pl_text *t, double value)
{
    pl_text_number(t, round(value * 100) / 100, 7, "0");
}

static void attribute(pl_text *t, const char *name, double value)
{
    pl_text_add(t, name);
    number(t, value);
    pl_text_add(t, "\"");
}

static void stroke(void *self, const double *points, int count, const char *colour, double width,
                   double dash)
{
    pl_text *t = self;
    pl_text_add(t, "<polyline fill=\"none\" stroke-linejoin=\"round\" stroke=\"");
    pl_text_add(t, colour);
    attribute(t, "\" stroke-width=\"", width);
    if (dash > 0)
        attribute(t, " stroke-dasharray=\"", dash);
    pl_text_add(t, " points=\"");
    for (int i = 0; i < 2 * count; i++) {
        pl_text_add(t, i ? " " : "");
        number(t, points[i]);
    }
    pl_text_add(t, "\"/>\n");
}

static void disc(void *self, const double centre[2], double radius, const char *colour)
{
    pl_text *t = self;
    attribute(t, "<circle cx=\"", centre[0]);
    attribute(t, " cy=\"", centre[1]);
    attribute(t, " r=\"", radius);
    pl_text_add(t, " fill=\"");
    pl_text_add(t, colour);
    pl_text_add(t, "\"/>\n");
}

static void text(void *self, double x, double y, const char *string, double size, pl_anchor anchor,
                 bool upright)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    pl_text *t = self;
    attribute(t, "<text x=\"", upright ? 0 : x);
    attribute(t, " y=\"", upright ? 0 : y);
    attribute(t, " font-size=\"", size);
    pl_text_format(t, " text-anchor=\"%s\"", anchors[anchor]);
    if (upright) {
        pl_text_add(t, " transform=\"translate(");
        number(t, x);
        pl_text_add(t, " ");
        number(t, y);
        pl_text_add(t, ") rotate(-90)\"");
    }
    pl_text_add(t, ">");
    pl_text_xml(t, string);
    pl_text_add(t, "</text>\n");
}

/* An inner svg element clips without needing a name, so pictures can share a page. */
static void clip(void *self, const double r[4])
{
    pl_text *t = self;
    if (!r) {
        pl_text_add(t, "</svg>\n");
        return;
    }
    attribute(t, "<svg x=\"", r[0]);
    attribute(t, " y=\"", r[1]);
    attribute(t, " width=\"", r[2]);
    attribute(t, " height=\"", r[3]);
    pl_text_add(t, " viewBox=\"");
    for (int i = 0; i < 4; i++) {
        pl_text_add(t, i ? " " : "");
        number(t, r[i]);
    }
    pl_text_add(t, "\">\n");
}

pl_status pl_plot_svg(pl_context *ctx, const pl_plot *plot, pl_text *t)
{
    attribute(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", plot->width);
    attribute(t, " height=\"", plot->height);
    pl_text_add(t, " viewBox=\"0 0 ");
    number(t, plot->width);
    pl_text_add(t, " ");
    number(t, plot->height);
    pl_text_add(t,
                "\" font-family=\"Helvetica, Arial, Liberation Sans, sans-serif\" fill=\"#333333\">\n"
                "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    pl_canvas canvas = {.self = t, .stroke = stroke, .disc = disc, .text = text, .clip = clip};
    PL_TRY(pl_plot_draw(ctx, plot, &canvas));
    pl_text_add(t, "</svg>\n");
    return t->status;
}
