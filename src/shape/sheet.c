/*
 * Isosurface stuffing in the plane: a lattice of equilateral triangles over a signed distance, points
 * near a cut move onto it, triangles are cut to their inside part. Rows lie at y = j sqrt(3)/2 h, every
 * odd one shifted by h/2, so the lattice is its own mirror image in y = 0.
 */
#include "mesh/mesh.h"
#include "shape/figure.h"

#define NEAR 0.3 /* of an edge: a cut nearer than this to a point draws it there */

typedef struct sheet {
    pl_context *ctx;
    const pl_part *parts;
    int part_count;
    double cell;
    int first[2], n[2]; /* lowest column and row, number of each */
    double *value;      /* [n1, n0] the distance */
    double *x;          /* [n1, n0, 2] positions, moved by warping */
    signed char *sign;  /* [n1, n0] +1 inside, -1 outside, 0 on the outline */
    int *point_vertex;  /* [n1, n0] */
    int *cut_vertex;    /* [n1, n0, 3] on the edges a point owns: right, up left, up right */
    int vertex_count, vertex_capacity, triangle_count, triangle_capacity;
    double (*vertices)[3];
    int (*triangles)[3];
} sheet;

static double distance(const sheet *s, const double x[2])
{
    return pl_parts_distance(s->parts, s->part_count, (double[3]){x[0], fabs(x[1]), 0});
}

static void home(const sheet *s, int p, double x[2])
{
    int i = s->first[0] + p % s->n[0], j = s->first[1] + p / s->n[0];
    x[0] = (i + (j % 2 ? 0.5 : 0)) * s->cell;
    x[1] = j * (0.5 * sqrt(3) * s->cell);
}

/* The six neighbours in turn: right, up right, up left, left, down left, down right; -1 past the
 * border. */
static int neighbour(const sheet *s, int p, int k)
{
    static const int step[6][2] = {{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}};
    int i = p % s->n[0], j = p / s->n[0], odd = (s->first[1] + j) % 2 != 0;
    i += step[k][0] + (step[k][1] != 0 ? odd : 0), j += step[k][1];
    return i < 0 || j < 0 || i >= s->n[0] || j >= s->n[1] ? -1 : j * s->n[0] + i;
}

static pl_status sample(sheet *s, const pl_shape_info *info)
{
    pl_status status = PL_OK;
    double height = 0.5 * sqrt(3) * s->cell, points = 1;
    for (int i = 0; i < 2; i++) {
        double step = i == 0 ? s->cell : height;
        double low = floor(info->lower[i] / step) - 2, high = ceil(info->upper[i] / step) + 2;
        points *= high - low + 1;
        if (!(points < PL_ELEMENTS_MAX))
            return pl_fail(s->ctx, PL_ERROR_ARGUMENT, "cell of %g m is too small: %g lattice points",
                           s->cell, points);
        s->first[i] = (int)low, s->n[i] = (int)(high - low) + 1;
    }
    int count = s->n[0] * s->n[1];
    PL_NEW(s->ctx, s->value, count, done);
    PL_NEW(s->ctx, s->x, 2 * (size_t)count, done);
    PL_NEW(s->ctx, s->sign, count, done);
    PL_NEW(s->ctx, s->point_vertex, count, done);
    PL_NEW(s->ctx, s->cut_vertex, 3 * (size_t)count, done);
    for (int p = 0; p < count; p++) {
        home(s, p, s->x + 2 * p);
        s->value[p] = distance(s, s->x + 2 * p);
        s->sign[p] = s->value[p] < 0 ? 1 : s->value[p] > 0 ? -1 : 0;
        s->point_vertex[p] = -1;
        for (int k = 0; k < 3; k++)
            s->cut_vertex[3 * p + k] = -1;
    }
done:
    return status;
}

/* Fraction of the edge from its inside end to the outline, by bisection. */
static double find_cut(const sheet *s, int inside, int outside, double x[2])
{
    double a[2], b[2], low = 0, high = 1;
    home(s, inside, a), home(s, outside, b);
    for (int step = 0; step < 50; step++) {
        double t = 0.5 * (low + high);
        x[0] = a[0] + t * (b[0] - a[0]), x[1] = a[1] + t * (b[1] - a[1]);
        if (distance(s, x) < 0)
            low = t;
        else
            high = t;
    }
    return high;
}

/* Moves x along the line y = 0 to the outline; back home when that is further than `reach`. */
static void slide(const sheet *s, double reach, double x[2])
{
    double start = x[0], step = 1e-6 * s->cell;
    for (int k = 0; k < 20; k++) {
        double f = distance(s, x), slope;
        slope = (distance(s, (double[2]){x[0] + step, 0}) - distance(s, (double[2]){x[0] - step, 0})) /
                (2 * step);
        x[0] -= f / slope;
        if (!(fabs(x[0] - start) < reach)) {
            x[0] = start;
            return;
        }
    }
}

/* The nearest cut too near to p draws it; ties by x, then |y|, so that mirrored points agree. */
static bool warp_point(const sheet *s, int p, double target[2])
{
    double best = NEAR, from[2];
    bool moves = false, aside = false;
    home(s, p, from);
    for (int k = 0; k < 6; k++) {
        int q = neighbour(s, p, k);
        double x[2];
        if (q < 0 || s->sign[p] * s->sign[q] >= 0)
            continue;
        double t = s->sign[p] > 0 ? find_cut(s, p, q, x) : 1 - find_cut(s, q, p, x);
        if (t >= NEAR)
            continue;
        if (from[1] == 0 && x[1] != 0) {
            aside = true; /* comes in pairs on the mirror line */
        } else if (t < best ||
                   (t == best && moves &&
                    (x[0] < target[0] || (x[0] == target[0] && fabs(x[1]) < fabs(target[1]))))) {
            best = t, moves = true;
            target[0] = x[0], target[1] = x[1];
        }
    }
    if (!moves && aside) {
        target[0] = from[0], target[1] = 0;
        slide(s, NEAR * s->cell, target);
        moves = true;
    }
    return moves;
}

static pl_status warp(sheet *s)
{
    int count = s->n[0] * s->n[1];
    bool *moved = pl_alloc(s->ctx, (size_t)count, sizeof *moved);
    if (!moved)
        return PL_ERROR_MEMORY;
    for (int p = 0; p < count; p++) {
        double target[2] = {0};
        moved[p] = s->sign[p] != 0 && warp_point(s, p, target);
        if (moved[p])
            s->x[2 * p] = target[0], s->x[2 * p + 1] = target[1];
    }
    for (int p = 0; p < count; p++)
        if (moved[p])
            s->sign[p] = 0;
    pl_free(s->ctx, moved);
    return PL_OK;
}

static pl_status add_vertex(sheet *s, const double x[2], int *slot)
{
    if (*slot >= 0)
        return PL_OK;
    PL_TRY(pl_grow(s->ctx, (void **)&s->vertices, &s->vertex_capacity, s->vertex_count + 1,
                   sizeof *s->vertices));
    *slot = s->vertex_count++;
    s->vertices[*slot][0] = x[0], s->vertices[*slot][1] = x[1], s->vertices[*slot][2] = 0;
    return PL_OK;
}

/* The vertex on the edge between p (inside) and q (outside). */
static pl_status cut_vertex(sheet *s, int p, int q, int *out)
{
    int owner = p < q ? p : q, other = p < q ? q : p, k = 0;
    double x[2];
    while (neighbour(s, owner, k) != other)
        k++;
    if (s->cut_vertex[3 * owner + k] < 0)
        find_cut(s, p, q, x);
    PL_TRY(add_vertex(s, x, &s->cut_vertex[3 * owner + k]));
    *out = s->cut_vertex[3 * owner + k];
    return PL_OK;
}

static pl_status add_triangle(sheet *s, int a, int b, int c)
{
    PL_TRY(pl_grow(s->ctx, (void **)&s->triangles, &s->triangle_capacity, s->triangle_count + 1,
                   sizeof *s->triangles));
    int *t = s->triangles[s->triangle_count++];
    t[0] = a, t[1] = b, t[2] = c;
    return PL_OK;
}

static double squared(const sheet *s, int a, int b)
{
    double x = s->vertices[a][0] - s->vertices[b][0], y = s->vertices[a][1] - s->vertices[b][1];
    return x * x + y * y;
}

/* One lattice triangle, counter-clockwise: its inside part is a polygon of 3 or 4 corners. */
static pl_status clip(sheet *s, const int p[3])
{
    int polygon[6], count = 0, inside = 0;
    for (int k = 0; k < 3; k++)
        inside += s->sign[p[k]] > 0;
    if (inside == 0)
        return PL_OK;
    for (int k = 0; k < 3; k++) {
        int a = p[k], b = p[(k + 1) % 3];
        if (s->sign[a] >= 0) {
            PL_TRY(add_vertex(s, s->x + 2 * a, &s->point_vertex[a]));
            polygon[count++] = s->point_vertex[a];
        }
        if (s->sign[a] * s->sign[b] < 0) {
            bool out = s->sign[a] > 0;
            PL_TRY(cut_vertex(s, out ? a : b, out ? b : a, &polygon[count++]));
        }
    }
    if (count == 3)
        return add_triangle(s, polygon[0], polygon[1], polygon[2]);
    bool first = squared(s, polygon[0], polygon[2]) < squared(s, polygon[1], polygon[3]);
    const int *q = polygon;
    PL_TRY(first ? add_triangle(s, q[0], q[1], q[2]) : add_triangle(s, q[0], q[1], q[3]));
    return first ? add_triangle(s, q[0], q[2], q[3]) : add_triangle(s, q[1], q[2], q[3]);
}

static pl_status fill(sheet *s)
{
    for (int p = 0; p < s->n[0] * s->n[1]; p++) {
        for (int k = 0; k < 2; k++) { /* the triangles between right, up right and up left */
            int t[3] = {p, neighbour(s, p, k), neighbour(s, p, k + 1)};
            if (t[1] >= 0 && t[2] >= 0)
                PL_TRY(clip(s, t));
        }
    }
    if (s->triangle_count == 0)
        return pl_fail(s->ctx, PL_ERROR_MESH, "nothing of the cloth is left at a cell of %g m",
                       s->cell);
    return PL_OK;
}

pl_status pl_sheet_build(pl_context *ctx, const pl_part *parts, int part_count,
                         const pl_shape_info *info, double cell, pl_mesh **out)
{
    pl_status status = PL_OK;
    sheet s = {.ctx = ctx, .parts = parts, .part_count = part_count, .cell = cell};
    PL_CHECK(sample(&s, info), done);
    PL_CHECK(warp(&s), done);
    PL_CHECK(fill(&s), done);
    status = pl_mesh_create(ctx, s.vertex_count, &s.vertices[0][0], 0, NULL, s.triangle_count,
                            &s.triangles[0][0], out);
done:
    pl_free(ctx, s.value);
    pl_free(ctx, s.x);
    pl_free(ctx, s.sign);
    pl_free(ctx, s.point_vertex);
    pl_free(ctx, s.cut_vertex);
    pl_free(ctx, s.vertices);
    pl_free(ctx, s.triangles);
    return status;
}
