/* The elements of a picture as SVG text. */
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

void pl_svg_stroke(pl_text *t, const double *points, int count, const char *colour, double width,
                   double dash)
{
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

void pl_svg_disc(pl_text *t, const double centre[2], double radius, const char *colour)
{
    attribute(t, "<circle cx=\"", centre[0]);
    attribute(t, " cy=\"", centre[1]);
    attribute(t, " r=\"", radius);
    pl_text_add(t, " fill=\"");
    pl_text_add(t, colour);
    pl_text_add(t, "\"/>\n");
}

void pl_svg_text(pl_text *t, double x, double y, const char *string, double size, pl_anchor anchor,
                 bool upright)
{
    static const char *const anchors[] = {"start", "middle", "end"};
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

static void view_box(pl_text *t, const double r[4])
{
    pl_text_add(t, " viewBox=\"");
    for (int i = 0; i < 4; i++) {
        pl_text_add(t, i ? " " : "");
        number(t, r[i]);
    }
    pl_text_add(t, "\"");
}

void pl_svg_open(pl_text *t, double width, double height)
{
    attribute(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width);
    attribute(t, " height=\"", height);
    view_box(t, (double[]){0, 0, width, height});
    pl_text_add(t, " font-family=\"Helvetica, Arial, Liberation Sans, sans-serif\" fill=\"#333333\">\n"
                   "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

/* An inner svg element clips without needing a name, so pictures can share a page. */
void pl_svg_open_part(pl_text *t, const double r[4])
{
    attribute(t, "<svg x=\"", r[0]);
    attribute(t, " y=\"", r[1]);
    attribute(t, " width=\"", r[2]);
    attribute(t, " height=\"", r[3]);
    view_box(t, r);
    pl_text_add(t, ">\n");
}

void pl_svg_close(pl_text *t)
{
    pl_text_add(t, "</svg>\n");
}
