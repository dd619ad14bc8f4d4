/*
 * Bending of cloth against plate theory, on meshes of every kind: quadratic surfaces have exactly the
 * plate's energy and no forces inside, cylinders come near it with the square of the cell, and only
 * affine shapes are free. Rigid motions, gradient and tangent.
 */
#include "elastic_fixture.h"

#include "core/vec.h"

#include <lapacke.h>

static const double RIGIDITY = 0.7;

/* Only bending: E = 0. Takes what body.rest and body.elements point at. */
static fixture sheet(pl_elastic_body body)
{
    fixture f = {.body_count = 1, .bodies = {body}};
    f.bodies[0].model = PL_COROTATED;
    f.bodies[0].cloth = true;
    f.bodies[0].thickness = 0.01;
    fixture_finish(&f, 1);
    for (int e = 0; e < f.m; e++)
        f.young[e] = 0.0, f.poisson[e] = 0.0, f.bending[e] = RIGIDITY;
    pl_elastic_set_material(f.el, f.young, f.poisson, f.bending);
    return f;
}

static fixture sheet_of(int vertex_count, const double *x, int triangle_count, const int *triangles)
{
    pl_elastic_body body = {.vertex_count = vertex_count, .element_count = triangle_count};
    double *rest = fixture_array(3 * (size_t)vertex_count, sizeof *rest);
    int *elements = fixture_array(3 * (size_t)triangle_count, sizeof *elements);
    memcpy(rest, x, 3 * (size_t)vertex_count * sizeof *rest);
    memcpy(elements, triangles, 3 * (size_t)triangle_count * sizeof *elements);
    body.rest = rest;
    body.elements = elements;
    return sheet(body);
}

/* How squares are split, or what else the sheet is. */
typedef enum sheet_kind {
    ALTERNATING,
    ONE_WAY,
    IN_ROWS,
    EQUILATERAL,
    IRREGULAR,
    STRETCHED,
    DISC,
    KINDS
} sheet_kind;

/* nx by ny squares; irregular: split at random, vertices shaken by up to 0.2 cells each way. */
static fixture grid(sheet_kind kind, int nx, int ny, double cell)
{
    pl_elastic_body body = {0};
    uint64_t seed = 5;
    const double a[3] = {cell, 0, 0}, b[3] = {kind == EQUILATERAL ? -0.5 * cell : 0,
                                              kind == EQUILATERAL ? sqrt(0.75) * cell
                                              : kind == STRETCHED ? 3 * cell
                                                                  : cell,
                                              0};
    fixture_sheet(&body, nx + 1, ny + 1, a, b);
    double *x = (double *)body.rest;
    int *t = (int *)body.elements;
    for (int j = 0, square = 0; j < ny; j++)
        for (int i = 0; i < nx; i++, square++) {
            int v = j * (nx + 1) + i, w = v + nx + 1;
            bool turned = kind == ALTERNATING || kind == STRETCHED ? (i + j) % 2
                          : kind == IN_ROWS                        ? j % 2
                          : kind == IRREGULAR                      ? test_random(&seed) > 0
                                                                   : false;
            if (turned)
                memcpy(t + 6 * square, (int[]){v, v + 1, w, v + 1, w + 1, w}, 6 * sizeof *t);
        }
    for (int i = 0; i < body.vertex_count && kind == IRREGULAR; i++)
        for (int c = 0; c < 2; c++)
            x[3 * i + c] += 0.2 * cell * test_random(&seed);
    return sheet(body);
}

static fixture disc(double radius, double cell)
{
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_disc(ctx, radius, cell, &mesh));
    fixture f = sheet_of(mesh->vertex_count, mesh->vertices, mesh->triangle_count, mesh->triangles);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
    return f;
}

static fixture some_sheet(sheet_kind kind, int cells)
{
    return kind == DISC ? disc(0.5, 1.0 / cells) : grid(kind, cells, cells, 1.0 / cells);
}

/* Steps from vertex to vertex to the nearest one on the border: [n], caller frees. */
static int *border_distance(const fixture *f)
{
    const int *t = f->bodies[0].elements;
    int *distance = fixture_array((size_t)f->n, sizeof *distance);
    for (int i = 0; i < f->n; i++)
        distance[i] = f->n;
    for (int s = 0; s < 3 * f->m; s++) {
        int a = t[s], b = t[s % 3 == 2 ? s - 2 : s + 1], met = 0;
        for (int r = 0; r < 3 * f->m; r++) {
            int c = t[r], d = t[r % 3 == 2 ? r - 2 : r + 1];
            met += (a == c && b == d) || (a == d && b == c);
        }
        if (met == 1)
            distance[a] = distance[b] = 0;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int s = 0; s < 9 * f->m; s++) {
            int a = t[3 * (s / 9) + s % 3], b = t[3 * (s / 9) + s / 3 % 3];
            changed = changed || distance[a] > distance[b] + 1;
            distance[a] = distance[a] > distance[b] + 1 ? distance[b] + 1 : distance[a];
        }
    }
    return distance;
}

static int nearest_border(const fixture *f, const int *distance, int e)
{
    const int *v = f->bodies[0].elements + 3 * e;
    int least = distance[v[0]] < distance[v[1]] ? distance[v[0]] : distance[v[1]];
    return distance[v[2]] < least ? distance[v[2]] : least;
}

static double area_of(const fixture *f, int e)
{
    return pl_elements_volume(f->elements)[e] / f->bodies[0].thickness;
}

/* Triangles without border vertices have k_b/2 |kappa|^2 per area, at vertices further in no force is
 * left: then no shape that the mesh could relax to has less energy than the plate. */
static void check_quadratic_surface(const fixture *f, const int *distance, const double H[3],
                                    sheet_kind kind)
{
    double *q = fixture_array(3 * (size_t)f->n, 8), *g = fixture_array(3 * (size_t)f->n, 8),
           *energy = fixture_array((size_t)f->m, 8);
    memcpy(q, f->rest, 3 * (size_t)f->n * sizeof *q);
    for (int i = 0; i < f->n; i++) {
        double x = q[3 * i], y = q[3 * i + 1];
        q[3 * i + 2] = 0.5 * (H[0] * x * x + 2 * H[1] * x * y + H[2] * y * y);
    }
    double density = 0.5 * RIGIDITY * (H[0] * H[0] + 2 * H[1] * H[1] + H[2] * H[2]);
    pl_elastic_fields(f->el, q, NULL, energy, NULL, NULL);
    pl_elastic_evaluate(f->el, q, false, 1.0, NULL, g, NULL);
    int inner = 0, still = 0;
    for (int e = 0; e < f->m; e++)
        if (nearest_border(f, distance, e) > 0) {
            double ratio = energy[e] / (area_of(f, e) * density);
            if (!(fabs(ratio - 1) < 1e-9))
                fail_msg("kind %d, curvature %g %g %g: triangle %d has %.12g of its energy", kind, H[0],
                         H[1], H[2], e, ratio);
            inner++;
        }
    double largest = fixture_max(3 * f->n, g);
    for (int i = 0; i < f->n; i++)
        if (distance[i] > 3) {
            assert_close(pl_norm3(g + 3 * i), 0.0, 1e-9 * largest);
            still++;
        }
    assert_true(inner > f->m / 2 && still > 10);
    free(q), free(g), free(energy);
}

static void test_quadratic_surfaces(void **state)
{
    (void)state;
    for (sheet_kind kind = 0; kind < KINDS; kind++) {
        fixture f = some_sheet(kind, 16);
        int *distance = border_distance(&f);
        for (int k = 0; k < 8; k++) {
            double c = cos(k * M_PI / 8), s = sin(k * M_PI / 8);
            check_quadratic_surface(&f, distance, (double[]){c * c, c * s, s * s}, kind);
        }
        check_quadratic_surface(&f, distance, (double[]){0, 1, 0}, kind);
        check_quadratic_surface(&f, distance, (double[]){1, 0.3, -1}, kind);
        check_quadratic_surface(&f, distance, (double[]){1, 0, 1}, kind);
        free(distance);
        fixture_free(&f);
    }
}

/* Rolls the plane z = 0 into a cylinder of curvature kappa about the direction at `angle`. */
static void roll(const fixture *f, double kappa, double angle, double *q)
{
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < f->n; i++) {
        const double *x = f->rest + 3 * i;
        double along = c * x[0] + s * x[1], across = -s * x[0] + c * x[1];
        double u = sin(kappa * along) / kappa, w = (1.0 - cos(kappa * along)) / kappa;
        q[3 * i] = c * u - s * across;
        q[3 * i + 1] = s * u + c * across;
        q[3 * i + 2] = w;
    }
}

/* Energy of the triangles away from the border over that of the smooth cylinder of curvature 3/m. */
static double cylinder_ratio(sheet_kind kind, int cells, double angle)
{
    const double kappa = 3.0;
    fixture f = some_sheet(kind, cells);
    int *distance = border_distance(&f);
    double *q = fixture_array(3 * (size_t)f.n, 8), *energy = fixture_array((size_t)f.m, 8);
    double sum = 0.0, area = 0.0;
    roll(&f, kappa, angle, q);
    pl_elastic_fields(f.el, q, NULL, energy, NULL, NULL);
    for (int e = 0; e < f.m; e++)
        if (nearest_border(&f, distance, e) > 0)
            sum += energy[e], area += area_of(&f, e);
    free(q), free(energy), free(distance);
    fixture_free(&f);
    return sum / (0.5 * RIGIDITY * kappa * kappa * area);
}

/* Along a grid the turn of a cell's chords is that of its arc, and of the chord's length sin(a)/a,
 * a = kappa cell/2, remains: an energy less by (kappa cell)^2/6. Other directions and meshes have no
 * more error than that of their longest cell. */
static void test_cylinder(void **state)
{
    (void)state;
    for (sheet_kind kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 5; k++)
            for (int cells = 10; cells <= 20; cells *= 2) {
                double turn = 3.0 * (kind == STRETCHED ? 3.0 : 1.0) / cells;
                assert_close(cylinder_ratio(kind, cells, 0.1 + k * M_PI / 5), 1.0, turn * turn / 6);
            }
}

/* Of a strip that is rolled up, the curvature across the free ends is left out: half of the triangles
 * in the first and the last square. */
static void test_strip(void **state)
{
    (void)state;
    enum { CELLS = 40 };
    for (sheet_kind kind = ALTERNATING; kind <= IN_ROWS; kind++)
        for (int rows = 1; rows <= 2; rows++) {
            const double cell = 0.01, kappa = 1.0;
            fixture f = grid(kind, CELLS, rows, cell);
            double *q = fixture_array(3 * (size_t)f.n, 8);
            roll(&f, kappa, 0, q);
            double energy = pl_elastic_evaluate(f.el, q, false, 1.0, NULL, NULL, NULL).energy;
            double area = (CELLS - 1) * rows * cell * cell;
            assert_close(energy / (0.5 * RIGIDITY * kappa * kappa * area), 1.0, cell * cell / 6);
            free(q);
            fixture_free(&f);
        }
}

/* Eigenvalues of the form's matrix, ascending; caller frees. */
static double *eigenvalues(const fixture *f)
{
    const pl_pattern *p = pl_elastic_pattern(f->el);
    double *A = fixture_array((size_t)p->nnz, 8), *w = fixture_array((size_t)f->n, 8),
           *dense = fixture_array((size_t)f->n * (size_t)f->n, 8);
    pl_elastic_constant(f->el, 1.0, NULL, A);
    for (int i = 0; i < p->n; i++)
        for (int k = p->row[i]; k < p->row[i + 1]; k++)
            dense[i * p->n + p->col[k]] = A[k];
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', p->n, dense, p->n, w), 0);
    free(A), free(dense);
    return w;
}

/* Just the three affine functions are free, and the softest of the others is no softer than half the
 * softest quadratic one (a plate's softest vibration is near it). */
static void check_kernel(fixture f, int quadratics, const char *name)
{
    double *w = eigenvalues(&f), softest = INFINITY, *q = fixture_array(3 * (size_t)f.n, 8);
    double middle[2] = {0};
    for (int i = 0; i < f.n; i++)
        middle[0] += f.rest[3 * i] / f.n, middle[1] += f.rest[3 * i + 1] / f.n;
    for (int k = 0; k < quadratics; k++) {
        double mean = 0.0, square = 0.0;
        for (int i = 0; i < f.n; i++) {
            double x = f.rest[3 * i] - middle[0], y = f.rest[3 * i + 1] - middle[1];
            q[3 * i] = k == 0 ? x * x : k == 1 ? x * y : y * y;
            mean += q[3 * i] / f.n;
        }
        for (int i = 0; i < f.n; i++)
            square += (q[3 * i] - mean) * (q[3 * i] - mean);
        double energy = pl_elastic_evaluate(f.el, q, false, 1.0, NULL, NULL, NULL).energy;
        softest = fmin(softest, 2 * energy / square);
    }
    if (!(fabs(w[2]) < 1e-12 * w[f.n - 1]) ||
        !(w[3] > (quadratics ? 0.5 * softest : 1e-3 * w[f.n - 1])))
        fail_msg("%s: eigenvalues %g %g %g %g .. %g, softest quadratic %g", name, w[0], w[1], w[2],
                 w[3], w[f.n - 1], softest);
    free(w), free(q);
    fixture_free(&f);
}

static void test_kernel(void **state)
{
    (void)state;
    for (sheet_kind kind = 0; kind < KINDS; kind++) {
        check_kernel(some_sheet(kind, 9), 3, "sheet");
        if (kind < IRREGULAR) {
            check_kernel(grid(kind, 12, 1, 0.1), 2, "strip one square wide");
            check_kernel(grid(kind, 1, 1, 0.1), 0, "square");
            check_kernel(grid(kind, 2, 1, 0.1), 0, "two squares");
            check_kernel(grid(kind, 2, 2, 0.1), 0, "four squares");
        }
    }
    const double x[] = {0, 0, 0, 1, 0, 0, 0.6, 0.9, 0, -0.4, 0.8, 0, -1, -0.1, 0, 0.1, -0.9, 0};
    const int fan[] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0, 5, 1};
    for (int count = 2; count <= 5; count++)
        check_kernel(sheet_of(count < 5 ? count + 2 : 6, x, count, fan), 0, "fan");
    /* Three triangles at one side: each bends against another. */
    const double page[] = {0, 0, 0, 1, 0, 0, 0.5, 0.9, 0, 0.4, -0.8, 0, 0.5, 0, 0.7};
    check_kernel(sheet_of(5, page, 3, (int[]){0, 1, 2, 1, 0, 3, 0, 1, 4}), 0, "three at a side");
}

/* A lone triangle cannot bend, and a closed surface is evaluated as if it were cut open and flat: its
 * energy is positive, and the same wherever it is. */
static void test_odd_surfaces(void **state)
{
    (void)state;
    const double x[] = {0, 0, 0, 1, 0, 0, 0.3, 0.9, 0, 0.4, 0.3, 0.8}, shift[3] = {3, -2, 1};
    const double turn[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6};
    double bent[12], turned[12];
    fixture lone = sheet_of(3, x, 1, (int[]){0, 1, 2});
    fixture closed = sheet_of(4, x, 4, (int[]){0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3});
    for (int i = 0; i < 4; i++) {
        pl_mat3_vec(turn, x + 3 * i, turned + 3 * i);
        pl_axpy3(1.0, shift, turned + 3 * i);
    }
    memcpy(bent, x, sizeof bent);
    bent[2] = 0.4;
    assert_close(pl_elastic_evaluate(lone.el, bent, false, 1.0, NULL, NULL, NULL).energy, 0.0, 0.0);
    double energy = pl_elastic_evaluate(closed.el, x, false, 1.0, NULL, NULL, NULL).energy;
    assert_true(energy > 1.0 && isfinite(energy));
    assert_close(pl_elastic_evaluate(closed.el, turned, false, 1.0, NULL, NULL, NULL).energy / energy,
                 1.0, 1e-13);
    fixture_free(&lone);
    fixture_free(&closed);
}

/* Six vertices on a circle do not see r^2. Next to one they do, with large weights, which the choice of
 * weights has to refuse. */
static void test_vertices_on_a_conic(void **state)
{
    (void)state;
    double x[18];
    const int triangles[] = {0, 2, 4, 0, 1, 2, 2, 3, 4, 4, 5, 0};
    for (int i = 0; i < 6; i++)
        x[3 * i] = cos(i * M_PI / 3), x[3 * i + 1] = sin(i * M_PI / 3), x[3 * i + 2] = 0;
    fixture f = sheet_of(6, x, 4, triangles);
    double *w = eigenvalues(&f);
    assert_true(w[3] > 0.1 * w[5] && w[5] < 50 * RIGIDITY);
    free(w);
    fixture_free(&f);
    /* Moved off the circle by little. */
    uint64_t seed = 3;
    for (int i = 0; i < 6; i++)
        for (int c = 0; c < 2; c++)
            x[3 * i + c] += 1e-4 * test_random(&seed);
    f = sheet_of(6, x, 4, triangles);
    w = eigenvalues(&f);
    assert_true(w[3] > 0.1 * w[5] && w[5] < 50 * RIGIDITY);
    free(w);
    fixture_free(&f);
}

static fixture tilted_sheet(void)
{
    pl_elastic_body body = {0};
    fixture_sheet(&body, 6, 5, (double[]){0.1, 0, 0.03}, (double[]){0.02, 0.1, 0});
    return sheet(body);
}

static void test_rigid_motion(void **state)
{
    (void)state;
    fixture f = tilted_sheet();
    const double turn[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6};
    double *q = fixture_array(3 * (size_t)f.n, 8), *g = fixture_array(3 * (size_t)f.n, 8);
    for (int i = 0; i < f.n; i++) {
        pl_mat3_vec(turn, f.rest + 3 * i, q + 3 * i);
        q[3 * i + 2] += 5.0;
    }
    /* Positions near 5 m round at 1e-15 m, and stiffnesses are near 3 / 0.01 N/m. */
    assert_close(pl_elastic_evaluate(f.el, q, false, 1.0, NULL, g, NULL).energy, 0.0, 1e-24);
    assert_close(fixture_max(3 * f.n, g), 0.0, 1e-11);
    free(q), free(g);
    fixture_free(&f);
}

/* A quadratic form: gradient = K q, energy = q K q / 2, and the constant matrix holds the same K. */
static void test_quadratic(void **state)
{
    (void)state;
    fixture f = tilted_sheet();
    const pl_pattern *p = pl_elastic_pattern(f.el);
    int n = 3 * f.n;
    double *q = fixture_array((size_t)n, 8), *g = fixture_array((size_t)n, 8),
           *Kq = fixture_array((size_t)n, 8);
    double *K = fixture_array(9 * (size_t)p->nnz, 8), *A = fixture_array((size_t)p->nnz, 8);
    fixture_deform(&f, 0.5, 3, q);
    double energy = pl_elastic_evaluate(f.el, q, true, 1.0, NULL, g, K).energy;
    pl_elastic_constant(f.el, 1.0, NULL, A);
    pl_bsr_multiply(1, p, K, q, Kq);
    for (int i = 0; i < n; i++)
        assert_close(Kq[i], g[i], 1e-12 * fixture_max(n, g));
    assert_close(0.5 * fixture_dot(n, q, Kq) / energy, 1.0, 1e-12);
    for (int k = 0; k < p->nnz; k++)
        for (int c = 0; c < 9; c++)
            assert_close(K[9 * k + c], c % 4 == 0 ? A[k] : 0.0, 1e-13 * fixture_max(p->nnz, A));
    free(q), free(g), free(Kq), free(K), free(A);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quadratic_surfaces),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_strip),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_odd_surfaces),
        cmocka_unit_test(test_vertices_on_a_conic),
        cmocka_unit_test(test_rigid_motion),
        cmocka_unit_test(test_quadratic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
