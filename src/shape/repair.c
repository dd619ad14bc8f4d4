/*
 * From triangles as people have them to a surface with a side: weld, drop, turn. Triangles are joined
 * across edges that exactly two of them share; within a connected piece the fewest are turned so that
 * neighbours run along a shared edge in opposite directions. A piece of negative volume that lies
 * outside all others is inside out; within another it is a cavity.
 */
#include "core/vec.h"
#include "shape/surface.h"

#include <stdlib.h>

#define WELD 1e-7  /* of the bounding box's diagonal */
#define FLAT 1e-14 /* of its square: rounding of a triangle's area, and no honest triangle's */

typedef struct keyed {
    int64_t key[3];
    int index;
} keyed;

static int compare_keyed(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool same_key(const keyed *a, const keyed *b)
{
    return a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->key[2] == b->key[2];
}

static pl_status measure_box(pl_context *ctx, const pl_repaired *s, pl_surface_report *report)
{
    if (s->triangle_count < 1)
        return pl_fail(ctx, PL_ERROR_MESH, "the surface has no triangles");
    for (int i = 0; i < 3; i++)
        report->lower[i] = INFINITY, report->upper[i] = -INFINITY;
    for (int k = 0; k < 3 * s->triangle_count; k++) {
        int v = s->triangles[k];
        if (v < 0 || v >= s->vertex_count)
            return pl_fail(ctx, PL_ERROR_MESH, "triangle %d names vertex %d of %d", k / 3, v,
                           s->vertex_count);
        for (int i = 0; i < 3; i++) {
            double x = s->vertices[3 * v + i];
            if (!isfinite(x))
                return pl_fail(ctx, PL_ERROR_MESH, "vertex %d of the surface is not finite", v);
            report->lower[i] = fmin(report->lower[i], x), report->upper[i] = fmax(report->upper[i], x);
        }
    }
    return PL_OK;
}

static double diagonal(const pl_surface_report *report)
{
    double d[3];
    pl_sub3(report->upper, report->lower, d);
    return pl_norm3(d);
}

/* Replaces each vertex of the triangles by the first one at its place. */
static pl_status weld(pl_context *ctx, pl_repaired *s, pl_surface_report *report)
{
    pl_status status = PL_OK;
    keyed *keys = NULL;
    int *first = NULL;
    double step = WELD * diagonal(report);
    PL_NEW(ctx, keys, s->vertex_count, done);
    PL_NEW(ctx, first, s->vertex_count, done);
    int used = 0;
    for (int k = 0; k < 3 * s->triangle_count; k++)
        first[s->triangles[k]] = 1;
    for (int v = 0; v < s->vertex_count; v++) {
        if (!first[v])
            continue;
        for (int i = 0; i < 3; i++)
            keys[used].key[i] =
                step > 0 ? llround((s->vertices[3 * v + i] - report->lower[i]) / step) : 0;
        keys[used++].index = v;
    }
    qsort(keys, (size_t)used, sizeof *keys, compare_keyed);
    for (int k = 0; k < used; k++) {
        bool again = k > 0 && same_key(&keys[k], &keys[k - 1]);
        first[keys[k].index] = again ? first[keys[k - 1].index] : keys[k].index;
        report->merged += again;
    }
    for (int k = 0; k < 3 * s->triangle_count; k++)
        s->triangles[k] = first[s->triangles[k]];
done:
    pl_free(ctx, keys);
    pl_free(ctx, first);
    return status;
}

static double area(const pl_repaired *s, int t, double normal[3])
{
    const double *x = s->vertices + 3 * s->triangles[3 * t];
    double e[3], f[3];
    pl_sub3(s->vertices + 3 * s->triangles[3 * t + 1], x, e);
    pl_sub3(s->vertices + 3 * s->triangles[3 * t + 2], x, f);
    pl_cross3(e, f, normal);
    return 0.5 * pl_norm3(normal);
}

/* Drops triangles without area and all but the first of those with the same three vertices. */
static pl_status drop_bad(pl_context *ctx, pl_repaired *s, pl_surface_report *report)
{
    pl_status status = PL_OK;
    int *rows = NULL, *order = NULL, kept = 0;
    bool *bad = NULL;
    double least = FLAT * diagonal(report) * diagonal(report);
    PL_NEW(ctx, rows, 3 * (size_t)s->triangle_count, done);
    PL_NEW(ctx, order, s->triangle_count, done);
    PL_NEW(ctx, bad, s->triangle_count, done);
    memcpy(rows, s->triangles, 3 * sizeof *rows * (size_t)s->triangle_count);
    for (int t = 0; t < s->triangle_count; t++) {
        double normal[3];
        pl_sort_few(3, rows + 3 * t);
        bad[t] = !(area(s, t, normal) > least);
        report->degenerate += bad[t];
    }
    PL_CHECK(pl_sort_rows(ctx, s->triangle_count, 3, rows, s->vertex_count, order), done);
    for (int k = 1; k < s->triangle_count; k++) {
        int t = order[k], u = order[k - 1];
        if (!bad[t] && memcmp(rows + 3 * t, rows + 3 * u, 3 * sizeof *rows) == 0)
            bad[t] = true, report->duplicate++;
    }
    for (int t = 0; t < s->triangle_count; t++)
        if (!bad[t])
            memmove(s->triangles + 3 * kept++, s->triangles + 3 * t, 3 * sizeof *s->triangles);
    s->triangle_count = kept;
    if (kept == 0)
        status = pl_fail(ctx, PL_ERROR_MESH, "the surface has no triangle with area");
done:
    pl_free(ctx, rows);
    pl_free(ctx, order);
    pl_free(ctx, bad);
    return status;
}

/* neighbour[3 t + k]: the other half of edge (k, k + 1) of triangle t as 3 u + l, or -1. */
static pl_status find_edges(pl_context *ctx, const pl_repaired *s, int *neighbour,
                            pl_surface_report *report)
{
    pl_status status = PL_OK;
    int count = 3 * s->triangle_count, *rows = NULL, *order = NULL;
    PL_NEW(ctx, rows, 2 * (size_t)count, done);
    PL_NEW(ctx, order, count, done);
    for (int k = 0; k < count; k++) {
        int a = s->triangles[k], b = s->triangles[k - k % 3 + (k + 1) % 3];
        rows[2 * k] = a < b ? a : b, rows[2 * k + 1] = a < b ? b : a;
        neighbour[k] = -1;
    }
    PL_CHECK(pl_sort_rows(ctx, count, 2, rows, s->vertex_count, order), done);
    for (int k = 0, n; k < count; k += n) {
        for (n = 1; k + n < count; n++)
            if (memcmp(rows + 2 * order[k], rows + 2 * order[k + n], 2 * sizeof *rows) != 0)
                break;
        report->open_edges += n == 1, report->branching_edges += n > 2;
        if (n == 2)
            neighbour[order[k]] = order[k + 1], neighbour[order[k + 1]] = order[k];
    }
done:
    pl_free(ctx, rows);
    pl_free(ctx, order);
    return status;
}

static void turn(pl_repaired *s, int t)
{
    int swap = s->triangles[3 * t + 1];
    s->triangles[3 * t + 1] = s->triangles[3 * t + 2];
    s->triangles[3 * t + 2] = swap;
}

/* Labels shells and finds which triangles of each to turn: flip[t] relative to its shell's first. */
static int spread(const pl_repaired *s, const int *neighbour, bool *flip, int *stack,
                  pl_surface_report *report)
{
    int shells = 0, conflicts = 0;
    for (int t = 0; t < s->triangle_count; t++)
        s->shell[t] = -1;
    for (int seed = 0; seed < s->triangle_count; seed++) {
        if (s->shell[seed] >= 0)
            continue;
        int top = 0;
        s->shell[seed] = shells, flip[seed] = false;
        stack[top++] = seed;
        while (top > 0) {
            int t = stack[--top];
            for (int k = 3 * t; k < 3 * t + 3; k++) {
                if (neighbour[k] < 0)
                    continue;
                /* Halves that start at the same vertex run the same way: one must be turned. */
                int u = neighbour[k] / 3;
                bool wanted = flip[t] ^ (s->triangles[neighbour[k]] == s->triangles[k]);
                if (s->shell[u] < 0)
                    s->shell[u] = shells, flip[u] = wanted, stack[top++] = u;
                else
                    conflicts += flip[u] != wanted;
            }
        }
        shells++;
    }
    report->one_sided_edges = conflicts / 2;
    return shells;
}

static double signed_volume(const pl_repaired *s, int t, const double centre[3])
{
    double a[3], b[3], c[3], n[3];
    pl_sub3(s->vertices + 3 * s->triangles[3 * t], centre, a);
    pl_sub3(s->vertices + 3 * s->triangles[3 * t + 1], centre, b);
    pl_sub3(s->vertices + 3 * s->triangles[3 * t + 2], centre, c);
    pl_cross3(a, b, n);
    return pl_dot3(n, c) / 6;
}

/* A shell's volume about its own centre, how many of its triangles count as turned, and its largest. */
typedef struct shell {
    double volume, centre[3], largest_area;
    int size, turned, largest;
    bool negative;
} shell;

static void measure_shells(const pl_repaired *s, const bool *flip, int count, shell *shells)
{
    for (int t = 0; t < s->triangle_count; t++) {
        shell *h = &shells[s->shell[t]];
        double normal[3], a = area(s, t, normal);
        h->size++, h->turned += flip[t];
        if (a > h->largest_area)
            h->largest_area = a, h->largest = t;
        for (int k = 0; k < 3; k++)
            pl_axpy3(1, s->vertices + 3 * s->triangles[3 * t + k], h->centre);
    }
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 3; i++)
            shells[k].centre[i] /= 3 * shells[k].size;
    for (int t = 0; t < s->triangle_count; t++) {
        shell *h = &shells[s->shell[t]];
        h->volume += (flip[t] ? -1 : 1) * signed_volume(s, t, h->centre);
    }
}

/* With every shell turned outward, whether shell h lies within others: seen from just outside it. */
static bool is_within(const pl_bvh *bvh, const pl_repaired *s, const shell *h)
{
    double normal[3], x[3] = {0}, a = area(s, h->largest, normal);
    for (int k = 0; k < 3; k++)
        pl_axpy3(1.0 / 3, s->vertices + 3 * s->triangles[3 * h->largest + k], x);
    pl_axpy3(1e-3 * sqrt(a) / (2 * a), normal, x);
    return pl_bvh_winding(bvh, x) > 0.5;
}

/* Turns triangles to agree, then shells outward, then cavities back inward. */
static pl_status turn_outward(pl_context *ctx, pl_repaired *s, const bool *flip, int count,
                              pl_surface_report *report)
{
    pl_status status = PL_OK;
    shell *shells = NULL;
    pl_bvh *bvh = NULL;
    PL_NEW(ctx, shells, count, done);
    measure_shells(s, flip, count, shells);
    for (int k = 0; k < count; k++) {
        /* The side the majority has decides what counts as turned and as inside out. */
        bool minority = 2 * shells[k].turned <= shells[k].size;
        report->turned += minority ? shells[k].turned : shells[k].size - shells[k].turned;
        shells[k].negative = minority ? shells[k].volume < 0 : shells[k].volume > 0;
    }
    for (int t = 0; t < s->triangle_count; t++)
        if (flip[t] != (shells[s->shell[t]].volume < 0))
            turn(s, t);
    if (count > 1)
        PL_CHECK(
            pl_bvh_create(ctx, s->vertex_count, s->vertices, s->triangle_count, s->triangles, &bvh),
            done);
    for (int k = 0; k < count; k++) {
        if (!shells[k].negative)
            continue;
        if (bvh && is_within(bvh, s, &shells[k])) {
            for (int t = 0; t < s->triangle_count; t++)
                if (s->shell[t] == k)
                    turn(s, t);
        } else {
            report->inverted_shells++;
        }
    }
done:
    pl_bvh_destroy(ctx, bvh);
    pl_free(ctx, shells);
    return status;
}

static pl_status orient(pl_context *ctx, pl_repaired *s, pl_surface_report *report)
{
    pl_status status = PL_OK;
    int *neighbour = NULL, *stack = NULL;
    bool *flip = NULL;
    PL_NEW(ctx, neighbour, 3 * (size_t)s->triangle_count, done);
    PL_NEW(ctx, stack, s->triangle_count, done);
    PL_NEW(ctx, flip, s->triangle_count, done);
    PL_CHECK(find_edges(ctx, s, neighbour, report), done);
    report->shells = spread(s, neighbour, flip, stack, report);
    PL_CHECK(turn_outward(ctx, s, flip, report->shells, report), done);
    double centre[3];
    for (int i = 0; i < 3; i++)
        centre[i] = 0.5 * (report->lower[i] + report->upper[i]);
    for (int t = 0; t < s->triangle_count; t++)
        report->volume += signed_volume(s, t, centre);
done:
    pl_free(ctx, neighbour);
    pl_free(ctx, stack);
    pl_free(ctx, flip);
    return status;
}

pl_status pl_repair(pl_context *ctx, const pl_mesh *surface, pl_repaired *out,
                    pl_surface_report *report)
{
    pl_status status = PL_OK;
    pl_repaired s = {.vertex_count = surface->vertex_count};
    *report = (pl_surface_report){.vertices = surface->vertex_count};
    PL_CHECK(pl_mesh_surface(ctx, surface, &s.triangle_count, &s.triangles), done);
    report->triangles = s.triangle_count;
    PL_NEW(ctx, s.vertices, 3 * (size_t)s.vertex_count, done);
    memcpy(s.vertices, surface->vertices, 3 * sizeof *s.vertices * (size_t)s.vertex_count);
    PL_CHECK(measure_box(ctx, &s, report), done);
    PL_CHECK(weld(ctx, &s, report), done);
    PL_CHECK(drop_bad(ctx, &s, report), done);
    PL_NEW(ctx, s.shell, s.triangle_count, done);
    status = orient(ctx, &s, report);
done:
    if (status == PL_OK)
        *out = s;
    else
        pl_repaired_free(ctx, &s);
    return status;
}

void pl_repaired_free(pl_context *ctx, pl_repaired *surface)
{
    pl_free(ctx, surface->vertices);
    pl_free(ctx, surface->triangles);
    pl_free(ctx, surface->shell);
    *surface = (pl_repaired){0};
}
