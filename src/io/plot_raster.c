/*
 * A plot as pixels. A stroke covers a pixel by how far the pixel's centre is inside it:
 *     coverage = clamp(width/2 - distance + 1/2, 0, 1),
 * the largest over the stroke's segments, blended once; so joints and crossings stay even.
 */
#include "io/plot.h"

enum { GLYPH_POINTS = 256 };

typedef struct raster {
    double scale;
    int width, height;
    unsigned char *pixels; /* [height, width, 3] */
    unsigned char *cover;  /* [height, width] of the stroke being drawn, else zero */
    int clip[4];           /* x0, y0, x1, y1 in pixels, the last two exclusive */
    int touched[4];        /* the same for `cover` */
} raster;

static int clamp(double value, int low, int high)
{
    return value < low ? low : value > high ? high : (int)value;
}

/* Adds a segment's coverage; all in pixels. */
static void cover_segment(raster *r, const double a[2], const double b[2], double half)
{
    double reach = half + 1;
    int x0 = clamp(floor(fmin(a[0], b[0]) - reach), r->clip[0], r->clip[2]);
    int x1 = clamp(ceil(fmax(a[0], b[0]) + reach), r->clip[0], r->clip[2]);
    int y0 = clamp(floor(fmin(a[1], b[1]) - reach), r->clip[1], r->clip[3]);
    int y1 = clamp(ceil(fmax(a[1], b[1]) + reach), r->clip[1], r->clip[3]);
    double dx = b[0] - a[0], dy = b[1] - a[1], length2 = dx * dx + dy * dy;
    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x++) {
            double px = x + 0.5 - a[0], py = y + 0.5 - a[1];
            double s = length2 > 0 ? fmin(fmax((px * dx + py * dy) / length2, 0), 1) : 0;
            double distance = hypot(px - s * dx, py - s * dy);
            double c = fmin(fmax(half - distance + 0.5, 0), 1);
            unsigned char *cell = &r->cover[(size_t)y * (size_t)r->width + (size_t)x];
            unsigned char value = (unsigned char)(255 * c + 0.5);
            *cell = value > *cell ? value : *cell;
        }
    }
    r->touched[0] = x0 < r->touched[0] ? x0 : r->touched[0];
    r->touched[1] = y0 < r->touched[1] ? y0 : r->touched[1];
    r->touched[2] = x1 > r->touched[2] ? x1 : r->touched[2];
    r->touched[3] = y1 > r->touched[3] ? y1 : r->touched[3];
}

/* Blends the colour where it is covered, and clears the coverage. */
static void blend(raster *r, const char *colour)
{
    unsigned char rgb[3] = {0};
    pl_colour_parse(colour, rgb);
    for (int y = r->touched[1]; y < r->touched[3]; y++) {
        for (int x = r->touched[0]; x < r->touched[2]; x++) {
            size_t at = (size_t)y * (size_t)r->width + (size_t)x;
            int c = r->cover[at];
            for (int k = 0; k < 3 && c; k++) {
                unsigned char *p = &r->pixels[3 * at + (size_t)k];
                *p = (unsigned char)((*p * (255 - c) + rgb[k] * c + 127) / 255);
            }
            r->cover[at] = 0;
        }
    }
    r->touched[0] = r->width, r->touched[1] = r->height, r->touched[2] = r->touched[3] = 0;
}

/* The segment from a to b, of which only the dashes show; *phase is the way gone so far, in units. */
static void dashed_segment(raster *r, const double a[2], const double b[2], double half, double dash,
                           double *phase)
{
    double length = hypot(b[0] - a[0], b[1] - a[1]), at = 0;
    while (at < length) {
        double into = fmod(*phase, 2 * dash), left = (into < dash ? dash : 2 * dash) - into;
        double next = fmin(at + fmax(left, 1e-6 * dash), length);
        if (into < dash) {
            double s = at / length, t = next / length;
            cover_segment(r, (double[]){a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])},
                          (double[]){a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])}, half);
        }
        *phase += next - at;
        at = next;
    }
}

static void stroke(void *self, const double *points, int count, const char *colour, double width,
                   double dash)
{
    raster *r = self;
    double phase = 0, half = 0.5 * width * r->scale;
    for (int i = 0; i + 1 < count; i++) {
        const double *p = points + 2 * i;
        double a[2] = {p[0] * r->scale, p[1] * r->scale}, b[2] = {p[2] * r->scale, p[3] * r->scale};
        if (dash > 0)
            dashed_segment(r, a, b, half, dash * r->scale, &phase);
        else
            cover_segment(r, a, b, half);
    }
    blend(r, colour);
}

static void disc(void *self, const double centre[2], double radius, const char *colour)
{
    raster *r = self;
    double c[2] = {centre[0] * r->scale, centre[1] * r->scale};
    cover_segment(r, c, c, radius * r->scale);
    blend(r, colour);
}

/* ------------------------------------------------------------------------------- text */

/* Chaikin's corner cutting: every inner corner becomes two points a quarter along its sides. */
static int round_corners(double *points, int count)
{
    double out[2 * GLYPH_POINTS];
    int made = 0;
    for (int i = 0; i + 1 < count && made + 2 < GLYPH_POINTS; i++) {
        const double *p = points + 2 * i;
        for (int k = 0; k < 2; k++) {
            bool end = (i == 0 && k == 0) || (i + 2 == count && k == 1);
            double s = end ? k : k ? 0.75 : 0.25;
            out[2 * made] = p[0] + s * (p[2] - p[0]);
            out[2 * made + 1] = p[1] + s * (p[3] - p[1]);
            made++;
        }
    }
    memcpy(points, out, 2 * (size_t)made * sizeof *out);
    return made;
}

/* The next line of a glyph in grid units; NULL when there is none left, else where it ends. */
static const char *next_line(const char *s, double *points, int *count)
{
    while (*s == ' ')
        s++;
    if (!*s)
        return NULL;
    bool rounded = *s == '~';
    int n = 0;
    for (s += rounded; *s && *s != ' '; s += 2, n++) {
        points[2 * n] = s[0] - '0';
        points[2 * n + 1] = s[1] - '0';
    }
    *count = rounded && n > 2 ? round_corners(points, round_corners(points, n)) : n;
    return s;
}

static double text_length(const char *string)
{
    double length = 0;
    for (unsigned c; (c = pl_utf8_next(&string)) != 0;)
        length += pl_glyph_of(c).advance;
    return length - 1.7;
}

static void draw_glyph(raster *r, const pl_glyph *glyph, const double origin[2], double pen,
                       double unit, bool upright, double half)
{
    double points[2 * GLYPH_POINTS];
    int count;
    for (const char *s = glyph->strokes; (s = next_line(s, points, &count)) != NULL;) {
        for (int i = 0; i < count; i++) {
            double *p = points + 2 * i;
            double along = (pen + glyph->size * p[0]) * unit;
            double above = (glyph->raise + glyph->size * (p[1] - 2)) * unit;
            p[0] = (origin[0] + (upright ? -above : along)) * r->scale;
            p[1] = (origin[1] - (upright ? along : above)) * r->scale;
        }
        for (int i = 0; i < (count > 1 ? count - 1 : 1); i++)
            cover_segment(r, points + 2 * i, points + 2 * (count > 1 ? i + 1 : i), half);
    }
}

static void text(void *self, double x, double y, const char *string, double size, pl_anchor anchor,
                 bool upright)
{
    raster *r = self;
    double unit = size / PL_GLYPH_EM;
    double pen = -0.5 * anchor * text_length(string); /* start, middle, end are 0, 1, 2 */
    double half = fmax(0.5, 0.045 * size * r->scale);
    for (unsigned c; (c = pl_utf8_next(&string)) != 0;) {
        pl_glyph glyph = pl_glyph_of(c);
        draw_glyph(r, &glyph, (double[]){x, y}, pen, unit, upright, half);
        pen += glyph.advance;
    }
    blend(r, "#333333");
}

static void clip(void *self, const double rectangle[4])
{
    raster *r = self;
    double all[4] = {0, 0, r->width / r->scale, r->height / r->scale};
    const double *c = rectangle ? rectangle : all;
    r->clip[0] = clamp(c[0] * r->scale, 0, r->width);
    r->clip[1] = clamp(c[1] * r->scale, 0, r->height);
    r->clip[2] = clamp(ceil((c[0] + c[2]) * r->scale), 0, r->width);
    r->clip[3] = clamp(ceil((c[1] + c[3]) * r->scale), 0, r->height);
}

pl_status pl_plot_png(pl_context *ctx, const pl_plot *plot, pl_text *out)
{
    pl_status status = PL_OK;
    raster r = {.scale = plot->scale};
    r.width = (int)lround(plot->width * plot->scale);
    r.height = (int)lround(plot->height * plot->scale);
    size_t area = (size_t)r.width * (size_t)r.height;
    unsigned char *row = NULL;
    PL_NEW(ctx, r.pixels, 3 * area, done);
    PL_NEW(ctx, r.cover, area, done);
    PL_NEW(ctx, row, 3 * (size_t)r.width + 1, done);
    memset(r.pixels, 255, 3 * area);
    r.touched[0] = r.width, r.touched[1] = r.height;
    clip(&r, NULL);
    pl_canvas canvas = {.self = &r, .stroke = stroke, .disc = disc, .text = text, .clip = clip};
    PL_CHECK(pl_plot_draw(ctx, plot, &canvas), done);
    pl_png_encode(out, r.pixels, row, r.width, r.height);
    status = out->status;
done:
    pl_free(ctx, r.pixels);
    pl_free(ctx, r.cover);
    pl_free(ctx, row);
    return status;
}
