/* Surfaces for the shape tests, and what a good solid must satisfy. */
#ifndef PL_TEST_SHAPE_COMMON_H
#define PL_TEST_SHAPE_COMMON_H

#include "common.h"

#include <pliant/shape.h>

typedef struct soup {
    int vertex_count, triangle_count;
    double vertices[3 * 20000];
    int triangles[3 * 40000];
} soup;

static inline soup *soup_new(void)
{
    soup *s = calloc(1, sizeof *s);
    assert_non_null(s);
    return s;
}

static inline void soup_triangle(soup *s, int a, int b, int c)
{
    if (a == b || b == c || a == c)
        return;
    int *t = s->triangles + 3 * s->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

static inline int soup_vertex(soup *s, double x, double y, double z)
{
    double *v = s->vertices + 3 * s->vertex_count;
    v[0] = x, v[1] = y, v[2] = z;
    return s->vertex_count++;
}

/* An ellipsoid of 2 rings x rings quadrilaterals, outward. */
static inline void soup_ball(soup *s, const double centre[3], const double radii[3], int rings)
{
    int around = 2 * rings, base = s->vertex_count;
    for (int r = 0; r <= rings; r++) {
        for (int k = 0; k < around; k++) {
            double theta = M_PI * r / rings, phi = 2 * M_PI * k / around;
            if ((r == 0 || r == rings) && k > 0)
                continue;
            soup_vertex(s, centre[0] + radii[0] * sin(theta) * cos(phi),
                        centre[1] + radii[1] * sin(theta) * sin(phi),
                        centre[2] + radii[2] * cos(theta));
        }
    }
#define AT(r, k)                                                                                       \
    (base + ((r) == 0       ? 0                                                                        \
             : (r) == rings ? 1 + (rings - 1) * around                                                 \
                            : 1 + ((r)-1) * around + (k) % around))
    for (int r = 0; r < rings; r++) {
        for (int k = 0; k < around; k++) {
            soup_triangle(s, AT(r, k), AT(r + 1, k), AT(r + 1, k + 1));
            soup_triangle(s, AT(r, k), AT(r + 1, k + 1), AT(r, k + 1));
        }
    }
#undef AT
}

static inline void soup_torus(soup *s, double major, double minor, int n, int m)
{
    int base = s->vertex_count;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            double u = 2 * M_PI * i / n, v = 2 * M_PI * j / m, r = major + minor * cos(v);
            soup_vertex(s, r * cos(u), r * sin(u), minor * sin(v));
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            int a = base + i * m + j, b = base + (i + 1) % n * m + j;
            int c = base + (i + 1) % n * m + (j + 1) % m, d = base + i * m + (j + 1) % m;
            soup_triangle(s, a, b, c);
            soup_triangle(s, a, c, d);
        }
    }
}

static inline void soup_box(soup *s, const double low[3], const double high[3])
{
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int base = s->vertex_count;
    for (int k = 0; k < 8; k++)
        soup_vertex(s, k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]);
    for (int f = 0; f < 6; f++) {
        soup_triangle(s, base + faces[f][0], base + faces[f][1], base + faces[f][2]);
        soup_triangle(s, base + faces[f][0], base + faces[f][2], base + faces[f][3]);
    }
}

static inline void soup_flip(soup *s, int first, int count)
{
    for (int t = first; t < first + count; t++) {
        int swap = s->triangles[3 * t];
        s->triangles[3 * t] = s->triangles[3 * t + 1];
        s->triangles[3 * t + 1] = swap;
    }
}

static inline pl_mesh *soup_mesh(pl_context *ctx, const soup *s)
{
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_create(ctx, s->vertex_count, s->vertices, 0, NULL, s->triangle_count,
                                  s->triangles, &mesh));
    return mesh;
}

static inline int compare_pairs(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Each directed edge once, each with its opposite (cloth: or without): closed, oriented, manifold
 * edges. Around each vertex the triangles form one fan: as many edges leave it as one walk around it
 * takes. */
static inline void check_manifold(int vertex_count, int count, const int *triangles, bool cloth)
{
    int n = 3 * count;
    int(*edges)[2] = malloc(sizeof(int[2]) * (size_t)n), *next = malloc(sizeof(int) * (size_t)n);
    int *degree = calloc((size_t)vertex_count, sizeof(int)),
        *seen = calloc((size_t)vertex_count, sizeof(int));
    for (int k = 0; k < n; k++) {
        edges[k][0] = triangles[k], edges[k][1] = triangles[k - k % 3 + (k + 1) % 3];
        degree[triangles[k]]++;
    }
    qsort(edges, (size_t)n, sizeof *edges, compare_pairs);
    for (int k = 1; k < n; k++)
        assert_true(compare_pairs(edges[k - 1], edges[k]) != 0);
    for (int k = 0; k < n && !cloth; k++) {
        int opposite[2] = {edges[k][1], edges[k][0]};
        assert_non_null(bsearch(opposite, edges, (size_t)n, sizeof *edges, compare_pairs));
    }
    /* From corner k of its triangle turn to the neighbour across the edge that enters the vertex. */
    int *by_edge = malloc(sizeof(int) * (size_t)n);
    for (int k = 0; k < n; k++) {
        int edge[2] = {triangles[k], triangles[k - k % 3 + (k + 1) % 3]};
        int(*at)[2] = bsearch(edge, edges, (size_t)n, sizeof *edges, compare_pairs);
        by_edge[at - edges] = k;
    }
    for (int k = 0; k < n && !cloth; k++) {
        int into[2] = {triangles[k], triangles[k - k % 3 + (k + 2) % 3]};
        int(*at)[2] = bsearch(into, edges, (size_t)n, sizeof *edges, compare_pairs);
        next[k] = by_edge[at - edges];
    }
    for (int k = 0; k < n && !cloth; k++) {
        int steps = 0, v = triangles[k];
        if (seen[v]++)
            continue;
        for (int c = k; steps == 0 || c != k; c = next[c])
            assert_true(++steps <= degree[v]);
        assert_int_equal(steps, degree[v]);
    }
    free(edges), free(next), free(degree), free(seen), free(by_edge);
}

static inline void check_solid(pl_context *ctx, const pl_mesh *mesh, int components)
{
    pl_mesh_report report;
    assert_ok(ctx, pl_mesh_check(ctx, mesh, &report));
    assert_int_equal(report.components, components);
    assert_int_equal(report.unreferenced + report.inverted + report.degenerate + report.duplicate, 0);
    if (report.min_dihedral < 8 || report.max_dihedral > 166)
        fail_msg("dihedral angles %g to %g", report.min_dihedral, report.max_dihedral);
    int count, *triangles;
    assert_ok(ctx, pl_mesh_surface(ctx, mesh, &count, &triangles));
    check_manifold(mesh->vertex_count, count, triangles, false);
    pl_free(ctx, triangles);
}

/* A context that keeps the warnings it is given, one per line. */
typedef struct journal {
    char text[4096];
} journal;

static inline void journal_log(void *user, pl_log_level level, const char *text)
{
    (void)level;
    journal *j = user;
    size_t used = strlen(j->text);
    snprintf(j->text + used, sizeof j->text - used, "%s\n", text);
}

static inline pl_context *journal_context(journal *j)
{
    pl_context_def def = pl_context_def_default();
    def.threads = 1, def.log = journal_log, def.log_user = j;
    pl_context *ctx = NULL;
    j->text[0] = 0;
    assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
    return ctx;
}

#endif
