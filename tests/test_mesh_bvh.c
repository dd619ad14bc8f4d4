/* The tree against brute force, the winding number against analytic shapes. */
#include "common.h"

#include "core/core.h"
#include "core/vec.h"
#include "mesh/bvh.h"

/* What far clusters cost: up to (1/2)^2 of their share of the sphere at the opening ratio of 2. */
#define DIPOLE_ERROR 0.05

typedef struct surface {
    int vertex_count, triangle_count;
    double *vertices;
    int *triangles;
} surface;

/* A unit sphere of latitude rings; `turn` < 0 turns it inside out. */
static surface make_sphere(int rings, int turn)
{
    surface s = {.vertex_count = (rings - 1) * 2 * rings + 2};
    s.vertices = malloc(sizeof(double) * 3 * (size_t)s.vertex_count);
    s.triangles = malloc(sizeof(int) * 12 * (size_t)rings * (size_t)rings);
    int around = 2 * rings, south = s.vertex_count - 1;
    for (int v = 0; v < s.vertex_count; v++) {
        double theta = v == 0 ? 0 : v == south ? M_PI : M_PI * ((v - 1) / around + 1) / rings;
        double phi = v == 0 || v == south ? 0 : 2 * M_PI * ((v - 1) % around) / around;
        s.vertices[3 * v] = sin(theta) * cos(phi);
        s.vertices[3 * v + 1] = sin(theta) * sin(phi);
        s.vertices[3 * v + 2] = cos(theta);
    }
    for (int r = 0; r < rings; r++) {
        for (int k = 0; k < around; k++) {
            int next = (k + 1) % around;
            int a = r == 0 ? 0 : 1 + (r - 1) * around + k, b = r == 0 ? 0 : 1 + (r - 1) * around + next;
            int c = r == rings - 1 ? south : 1 + r * around + k;
            int d = r == rings - 1 ? south : 1 + r * around + next;
            int corners[2][3] = {{a, c, d}, {a, d, b}};
            for (int t = 0; t < 2; t++) {
                int *f = corners[t];
                if (f[0] == f[1] || f[1] == f[2] || f[0] == f[2])
                    continue;
                int *out = s.triangles + 3 * s.triangle_count++;
                out[0] = f[0], out[1] = f[turn < 0 ? 2 : 1], out[2] = f[turn < 0 ? 1 : 2];
            }
        }
    }
    return s;
}

static void free_surface(surface s)
{
    free(s.vertices);
    free(s.triangles);
}

static pl_bvh *make_tree(pl_context *ctx, surface s)
{
    pl_bvh *bvh = NULL;
    assert_ok(ctx, pl_bvh_create(ctx, s.vertex_count, s.vertices, s.triangle_count, s.triangles, &bvh));
    return bvh;
}

static void triangle_features(void **state)
{
    (void)state;
    const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const struct {
        double x[3], point[3];
        pl_feature feature;
        int corner;
    } cases[] = {
        {{0.2, 0.3, 2}, {0.2, 0.3, 0}, PL_FEATURE_FACE, 0},
        {{0.4, -1, 1}, {0.4, 0, 0}, PL_FEATURE_EDGE, 0},
        {{1, 1, 1}, {0.5, 0.5, 0}, PL_FEATURE_EDGE, 1},
        {{-1, 0.25, -1}, {0, 0.25, 0}, PL_FEATURE_EDGE, 2},
        {{-1, -2, 0}, {0, 0, 0}, PL_FEATURE_VERTEX, 0},
        {{3, -0.5, 1}, {1, 0, 0}, PL_FEATURE_VERTEX, 1},
        {{-0.5, 3, 1}, {0, 1, 0}, PL_FEATURE_VERTEX, 2},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        pl_bvh_hit hit;
        pl_triangle_closest(corners, cases[c].x, &hit);
        assert_int_equal(hit.feature, cases[c].feature);
        assert_int_equal(hit.corner, cases[c].corner);
        double d[3];
        pl_sub3(cases[c].x, cases[c].point, d);
        assert_close(hit.distance, pl_norm3(d), 1e-15);
        for (int i = 0; i < 3; i++)
            assert_close(hit.point[i], cases[c].point[i], 1e-15);
        assert_close(hit.weight[0] + hit.weight[1] + hit.weight[2], 1, 1e-15);
    }
}

/* An obtuse triangle, where the foot is beyond one edge but another is nearer, against sampling. */
static void triangle_obtuse(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int trial = 0; trial < 300; trial++) {
        double corners[9], x[3], best = INFINITY;
        for (int i = 0; i < 9; i++)
            corners[i] = test_random(&seed) * (i % 3 == 1 ? 0.1 : 1);
        for (int i = 0; i < 3; i++)
            x[i] = 2 * test_random(&seed);
        pl_bvh_hit hit;
        pl_triangle_closest(corners, x, &hit);
        const int steps = 60;
        for (int a = 0; a <= steps; a++) {
            for (int b = 0; a + b <= steps; b++) {
                double d2 = 0;
                for (int i = 0; i < 3; i++) {
                    double p =
                        (a * corners[i] + b * corners[3 + i] + (steps - a - b) * corners[6 + i]) /
                        steps;
                    d2 += (p - x[i]) * (p - x[i]);
                }
                best = fmin(best, sqrt(d2));
            }
        }
        assert_true(hit.distance <= best + 1e-14);
        assert_true(hit.distance >= best - 0.06); /* samples are this far apart */
    }
}

static void closest_matches_brute_force(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    surface s = make_sphere(12, 1);
    uint64_t seed = 1;
    for (int v = 0; v < 3 * s.vertex_count; v++)
        s.vertices[v] += 0.05 * test_random(&seed);
    pl_bvh *bvh = make_tree(ctx, s);
    for (int trial = 0; trial < 500; trial++) {
        double x[3], best = INFINITY;
        for (int i = 0; i < 3; i++)
            x[i] = 1.5 * test_random(&seed);
        for (int t = 0; t < s.triangle_count; t++) {
            double corners[9];
            pl_bvh_hit one;
            for (int k = 0; k < 9; k++)
                corners[k] = s.vertices[3 * s.triangles[3 * t + k / 3] + k % 3];
            pl_triangle_closest(corners, x, &one);
            best = fmin(best, one.distance);
        }
        pl_bvh_hit hit;
        assert_true(pl_bvh_closest(bvh, x, INFINITY, &hit));
        assert_true(hit.distance == best);
        for (int i = 0; i < 3; i++) {
            double p = 0;
            for (int k = 0; k < 3; k++)
                p += hit.weight[k] * s.vertices[3 * s.triangles[3 * hit.triangle + k] + i];
            assert_close(p, hit.point[i], 1e-15);
        }
        assert_false(pl_bvh_closest(bvh, x, best, &hit)); /* nearer than the limit, not at it */
        assert_int_equal(hit.triangle, -1);
        assert_true(pl_bvh_closest(bvh, x, best * (1 + 1e-12), &hit));
    }
    pl_bvh_destroy(ctx, bvh);
    free_surface(s);
    pl_context_destroy(ctx);
}

static void winding_of_spheres(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int turn = -1; turn <= 1; turn += 2) {
        surface s = make_sphere(24, turn);
        pl_bvh *bvh = make_tree(ctx, s);
        uint64_t seed = 3;
        for (int trial = 0; trial < 2000; trial++) {
            double x[3];
            for (int i = 0; i < 3; i++)
                x[i] = 2 * test_random(&seed);
            double r = pl_norm3(x);
            if (r > 0.98 && r < 1.01)
                continue; /* between the sphere and its facets */
            assert_close(pl_bvh_winding(bvh, x), r < 1 ? turn : 0, DIPOLE_ERROR);
            if (turn > 0)
                assert_close(pl_bvh_signed_distance(bvh, x), r - 1, 0.01);
        }
        pl_bvh_destroy(ctx, bvh);
        free_surface(s);
    }
    pl_context_destroy(ctx);
}

/* A disc-shaped hole seen under solid angle Omega takes Omega / 4 pi away. */
static void winding_near_a_hole(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    surface s = make_sphere(40, 1);
    int kept = 0;
    double cut = cos(M_PI * 4 / 40); /* the polar cap of four rings */
    for (int t = 0; t < s.triangle_count; t++) {
        double top = 0;
        for (int k = 0; k < 3; k++)
            top += s.vertices[3 * s.triangles[3 * t + k] + 2] / 3;
        if (top < cut)
            memmove(s.triangles + 3 * kept++, s.triangles + 3 * t, 3 * sizeof(int));
    }
    s.triangle_count = kept;
    pl_bvh *bvh = make_tree(ctx, s);
    for (double z = -0.8; z < 0.9; z += 0.1) {
        double x[3] = {0, 0, z}, up = cut - z, rim = sqrt(1 - cut * cut);
        double gone = 0.5 * (1 - up / sqrt(up * up + rim * rim));
        assert_close(pl_bvh_winding(bvh, x), 1 - gone, DIPOLE_ERROR);
    }
    pl_bvh_destroy(ctx, bvh);
    free_surface(s);
    pl_context_destroy(ctx);
}

static bool mark(void *user, int triangle)
{
    ((char *)user)[triangle]++;
    return true;
}

static void overlap_matches_brute_force(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    surface s = make_sphere(10, 1);
    pl_bvh *bvh = make_tree(ctx, s);
    char *seen = malloc((size_t)s.triangle_count);
    uint64_t seed = 8;
    for (int trial = 0; trial < 100; trial++) {
        double lower[3], upper[3];
        for (int i = 0; i < 3; i++)
            lower[i] = test_random(&seed), upper[i] = lower[i] + fabs(test_random(&seed));
        memset(seen, 0, (size_t)s.triangle_count);
        pl_bvh_overlap(bvh, lower, upper, mark, seen);
        for (int t = 0; t < s.triangle_count; t++) {
            int meets = 1;
            for (int i = 0; i < 3; i++) {
                double low = INFINITY, high = -INFINITY;
                for (int k = 0; k < 3; k++) {
                    double p = s.vertices[3 * s.triangles[3 * t + k] + i];
                    low = fmin(low, p), high = fmax(high, p);
                }
                meets &= low <= upper[i] && high >= lower[i];
            }
            assert_int_equal(seen[t], meets);
        }
    }
    free(seen);
    pl_bvh_destroy(ctx, bvh);
    free_surface(s);
    pl_context_destroy(ctx);
}

static void many_equal_triangles(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    int *triangles = malloc(sizeof(int) * 3 * 1000);
    for (int k = 0; k < 3000; k++)
        triangles[k] = k % 3;
    pl_bvh *bvh = NULL;
    assert_ok(ctx, pl_bvh_create(ctx, 3, vertices, 1000, triangles, &bvh));
    pl_bvh_hit hit;
    assert_true(pl_bvh_closest(bvh, (double[3]){0.1, 0.1, 1}, INFINITY, &hit));
    assert_close(hit.distance, 1, 1e-15);
    pl_bvh_destroy(ctx, bvh);
    free(triangles);
    pl_context_destroy(ctx);
}

static int crossings(pl_context *ctx, const surface *s, int pair[2])
{
    pl_bvh *bvh = make_tree(ctx, *s);
    int count = pl_count_crossings(bvh, s->vertices, s->triangle_count, s->triangles, pair);
    pl_bvh_destroy(ctx, bvh);
    return count;
}

/* Triangles cross by their edges, also such as share a vertex; neighbours and flat sheets, however they
 * are turned and rounded, do not. */
static void crossings_are_found(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    int pair[2], flat[6 * 40 * 40], count = 0;
    double apart[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, -1, 0.3, 0.2, 1, 0.3, 0.3, 1};
    double sheet[3 * 41 * 41];
    int two[] = {0, 1, 2, 3, 4, 5}, fan[] = {0, 1, 2, 0, 3, 4}, near[] = {0, 1, 2, 1, 2, 3};
    assert_int_equal(crossings(ctx, &(surface){6, 2, apart, two}, pair), 2);
    assert_true(pair[0] == 0 && pair[1] == 1);
    assert_int_equal(crossings(ctx, &(surface){6, 2, apart, fan}, NULL), 2);
    assert_int_equal(crossings(ctx, &(surface){6, 2, apart, near}, pair), 0);
    assert_int_equal(pair[0], -1);
    apart[3 * 3] = 0.8, apart[3 * 4] = apart[3 * 5] = 0.9; /* past the long side */
    assert_int_equal(crossings(ctx, &(surface){6, 2, apart, two}, NULL), 0);
    apart[3 * 3] = 0.3, apart[3 * 4] = 0.3, apart[3 * 4 + 2] = -0.1; /* both below */
    assert_int_equal(crossings(ctx, &(surface){6, 2, apart, fan}, NULL), 0);
    apart[3 * 4 + 2] = 0; /* and touching from there */
    assert_int_equal(crossings(ctx, &(surface){6, 2, apart, fan}, NULL), 0);
    surface ball = make_sphere(12, 1);
    assert_int_equal(crossings(ctx, &ball, NULL), 0);
    for (int k = 0; k < 3; k++)
        ball.vertices[k] = k == 2 ? -1.5 : 0; /* the north pole out through the south */
    assert_true(crossings(ctx, &ball, pair) > 12);
    free_surface(ball);
    for (int c = 0; c < 40 * 40; c++) {
        int v = c / 40 * 41 + c % 40, corners[] = {v, v + 1, v + 42, v, v + 42, v + 41};
        memcpy(flat + count, corners, sizeof corners);
        count += 6;
    }
    for (int turn = 0; turn < 20; turn++) {
        double a = 0.3 + turn, b = 0.7 * turn;
        for (int v = 0; v < 41 * 41; v++) {
            double x = 0.01 * (v % 41), y = 0.013 * (v / 41), *at = sheet + 3 * v;
            at[0] = cos(a) * x - sin(a) * cos(b) * y;
            at[1] = sin(a) * x + cos(a) * cos(b) * y;
            at[2] = sin(b) * y + 3;
        }
        assert_int_equal(crossings(ctx, &(surface){41 * 41, 2 * 40 * 40, sheet, flat}, NULL), 0);
    }
    pl_context_destroy(ctx);
}

static void refuses_bad_input(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double vertices[9] = {0, 0, 0, 1, 0, 0, 0, NAN, 0};
    int triangles[3] = {0, 1, 2}, outside[3] = {0, 1, 3};
    pl_bvh *bvh = NULL;
    assert_int_equal(pl_bvh_create(ctx, 3, vertices, 0, triangles, &bvh), PL_ERROR_MESH);
    assert_int_equal(pl_bvh_create(ctx, 3, vertices, 1, triangles, &bvh), PL_ERROR_MESH);
    assert_string_equal(pl_context_error(ctx), "vertex 2 is not finite");
    assert_int_equal(pl_bvh_create(ctx, 3, vertices, 1, outside, &bvh), PL_ERROR_MESH);
    assert_string_equal(pl_context_error(ctx), "triangle 0 names vertex 3 of 3");
    assert_null(bvh);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangle_features),           cmocka_unit_test(triangle_obtuse),
        cmocka_unit_test(closest_matches_brute_force), cmocka_unit_test(winding_of_spheres),
        cmocka_unit_test(winding_near_a_hole),         cmocka_unit_test(overlap_matches_brute_force),
        cmocka_unit_test(many_equal_triangles),        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(crossings_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
