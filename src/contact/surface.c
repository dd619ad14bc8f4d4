/* Edges, wings and neighbours of the surface. */
#include "contact/surface.h"

#include "core/vec.h"
#include "mesh/mesh.h"

#define SHARP 0.985 /* cosine of the angle between the triangles of an edge that is just sharp */

void pl_surface_destroy(pl_context *ctx, pl_surface *s)
{
    if (!s)
        return;
    void *arrays[] = {s->vertex, s->triangle,   s->triangle_edge, s->edge, s->wing,
                      s->convex, s->ring_first, s->ring,          s->of};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    pl_free(ctx, s);
}

/* Where triangle t's corner k leads, the smaller vertex first; returns the one across. */
static int side_of(const pl_surface *s, int t, int k, int ends[2])
{
    const int *v = s->triangle + 3 * t;
    int a = v[k], b = v[(k + 1) % 3];
    ends[0] = a < b ? a : b;
    ends[1] = a < b ? b : a;
    return v[(k + 2) % 3];
}

/* Edges by sorting the sides of all triangles. */
static pl_status find_edges(pl_context *ctx, int n, pl_surface *s)
{
    pl_status status = PL_OK;
    int sides = 3 * s->triangle_count, *rows = NULL, *order = NULL;
    PL_NEW(ctx, rows, 2 * sides, done);
    PL_NEW(ctx, order, sides, done);
    PL_NEW(ctx, s->edge, 2 * sides, done);
    PL_NEW(ctx, s->wing, 2 * sides, done);
    PL_NEW(ctx, s->triangle_edge, sides, done);
    for (int i = 0; i < sides; i++)
        side_of(s, i / 3, i % 3, rows + 2 * i);
    PL_CHECK(pl_sort_rows(ctx, sides, 2, rows, n, order), done);
    for (int i = 0; i < sides; i++) {
        int *ends = rows + 2 * order[i], last = s->edge_count - 1, across[2];
        bool same = i > 0 && s->edge[2 * last] == ends[0] && s->edge[2 * last + 1] == ends[1];
        int wing = side_of(s, order[i] / 3, order[i] % 3, across);
        if (!same) {
            last = s->edge_count++;
            memcpy(s->edge + 2 * last, ends, 2 * sizeof *ends);
            s->wing[2 * last] = wing;
            s->wing[2 * last + 1] = -1;
        } else if (s->wing[2 * last + 1] < 0) {
            s->wing[2 * last + 1] = wing;
        }
        s->triangle_edge[order[i]] = last;
    }
done:
    pl_free(ctx, rows);
    pl_free(ctx, order);
    return status;
}

static void normal_of(const double *x, int a, int b, int c, double out[3])
{
    double e[6];
    pl_sub3(x + 3 * b, x + 3 * a, e);
    pl_sub3(x + 3 * c, x + 3 * a, e + 3);
    pl_cross3(e, e + 3, out);
}

/* Of an edge that the triangle to its first wing goes through from `from` to `to`, seen from outside.
 */
static double convexity(const double *rest, int from, int to, const int wing[2], int offset)
{
    double n[6], arm[3];
    if (wing[1] < 0)
        return 1;
    normal_of(rest, from - offset, to - offset, wing[0] - offset, n);
    normal_of(rest, to - offset, from - offset, wing[1] - offset, n + 3);
    pl_sub3(rest + 3 * (wing[1] - offset), rest + 3 * (from - offset), arm);
    if (!(pl_dot3(arm, n) < 0))
        return 0;
    double cosine = pl_dot3(n, n + 3) / (pl_norm3(n) * pl_norm3(n + 3));
    return fmin(fmax(1 - cosine, 0) / (1 - SHARP), 1);
}

static pl_status find_convex(pl_context *ctx, const pl_surface_part *parts, int part_count,
                             pl_surface *s)
{
    pl_status status = PL_OK;
    PL_NEW(ctx, s->convex, s->edge_count, done);
    for (int b = 0; b < part_count; b++)
        for (int i = 3 * s->of[b].triangles.first;
             i < 3 * (s->of[b].triangles.first + s->of[b].triangles.count); i++) {
            const int *v = s->triangle + 3 * (i / 3), e = s->triangle_edge[i];
            if (v[(i + 2) % 3] == s->wing[2 * e])
                s->convex[e] = parts[b].sheet ? 1
                                              : convexity(parts[b].rest, v[i % 3], v[(i + 1) % 3],
                                                          s->wing + 2 * e, parts[b].vertex_offset);
        }
done:
    return status;
}

/* Neighbours along edges, by counting. */
static pl_status find_rings(pl_context *ctx, int n, pl_surface *s)
{
    pl_status status = PL_OK;
    int *at = NULL;
    s->ring_count = 2 * s->edge_count;
    PL_NEW(ctx, s->ring_first, n + 1, done);
    PL_NEW(ctx, s->ring, s->ring_count, done);
    PL_NEW(ctx, at, n, done);
    for (int i = 0; i < 2 * s->edge_count; i++)
        s->ring_first[s->edge[i] + 1]++;
    for (int v = 0; v < n; v++) {
        at[v] = s->ring_first[v];
        s->ring_first[v + 1] += s->ring_first[v];
    }
    for (int i = 0; i < 2 * s->edge_count; i++)
        s->ring[at[s->edge[i]]++] = s->edge[i ^ 1];
done:
    pl_free(ctx, at);
    return status;
}

/* Edges and vertices of each body are in a row, as their vertices' numbers are. */
static pl_status find_runs(pl_context *ctx, int n, const pl_surface_part *parts, int part_count,
                           pl_surface *s)
{
    pl_status status = PL_OK;
    int e = 0, v = 0;
    PL_NEW(ctx, s->vertex, n, done);
    for (int b = 0; b < part_count; b++) {
        pl_surface_body *body = &s->of[b];
        int end = b + 1 < part_count ? parts[b + 1].vertex_offset : n;
        double sum = 0;
        body->sheet = parts[b].sheet;
        body->edges.first = e;
        for (; e < s->edge_count && s->edge[2 * e] < end; e++) {
            double d[3];
            pl_sub3(parts[b].rest + 3 * (s->edge[2 * e] - parts[b].vertex_offset),
                    parts[b].rest + 3 * (s->edge[2 * e + 1] - parts[b].vertex_offset), d);
            sum += pl_norm3(d);
        }
        body->edges.count = e - body->edges.first;
        body->edge_length = body->edges.count > 0 ? sum / body->edges.count : 0;
        body->vertices.first = s->vertex_count;
        for (; v < end; v++)
            if (s->ring_first[v + 1] > s->ring_first[v])
                s->vertex[s->vertex_count++] = v;
        body->vertices.count = s->vertex_count - body->vertices.first;
    }
done:
    return status;
}

pl_status pl_surface_create(pl_context *ctx, int n, int part_count, const pl_surface_part *parts,
                            pl_surface **out)
{
    pl_status status = PL_OK;
    pl_surface *s = NULL;
    *out = NULL;
    PL_NEW(ctx, s, 1, done);
    for (int b = 0; b < part_count; b++)
        s->triangle_count += parts[b].triangle_count;
    PL_NEW(ctx, s->triangle, 3 * s->triangle_count, done);
    PL_NEW(ctx, s->of, part_count, done);
    for (int b = 0, t = 0; b < part_count; b++) {
        s->of[b].triangles = (pl_run){t, parts[b].triangle_count};
        for (int i = 0; i < 3 * parts[b].triangle_count; i++)
            s->triangle[3 * t + i] = parts[b].vertex_offset + parts[b].triangles[i];
        t += parts[b].triangle_count;
    }
    PL_CHECK(find_edges(ctx, n, s), done);
    PL_CHECK(find_convex(ctx, parts, part_count, s), done);
    PL_CHECK(find_rings(ctx, n, s), done);
    PL_CHECK(find_runs(ctx, n, parts, part_count, s), done);
    *out = s;
    s = NULL;
done:
    pl_surface_destroy(ctx, s);
    return status;
}
