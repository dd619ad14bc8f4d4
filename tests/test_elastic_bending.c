/* Bending of cloth: plate theory's energy of a cylinder, rigid motions, gradient and tangent. */
#include "elastic_fixture.h"

#include "core/vec.h"

/* Only bending: E = 0. */
static fixture sheet(int nx, int ny, const double a[3], const double b[3], double rigidity)
{
    fixture f = {.body_count = 1};
    fixture_sheet(&f.bodies[0], nx, ny, a, b);
    f.bodies[0].model = PL_COROTATED;
    fixture_finish(&f, 1);
    for (int e = 0; e < f.m; e++)
        f.young[e] = 0.0, f.poisson[e] = 0.0, f.bending[e] = rigidity;
    pl_elastic_set_material(f.el, f.young, f.poisson, f.bending);
    return f;
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

/* Energy over that of the smooth cylinder, for the part of the sheet that interior edges stand for: an
 * edge carries a third of its triangles, so a sheet without ends is compared by the ratio of two sizes.
 */
static double cylinder_ratio(int nodes, const double a[3], const double b[3], double angle)
{
    const double rigidity = 0.7, kappa = 0.5;
    double energy[2], area[2];
    for (int size = 0; size < 2; size++) {
        int n = nodes * (size + 1);
        fixture f = sheet(n, n, a, b, rigidity);
        double *q = fixture_array(3 * (size_t)f.n, 8);
        roll(&f, kappa, angle, q);
        energy[size] = pl_elastic_evaluate(f.el, q, false, 1.0, NULL, NULL, NULL).energy;
        area[size] = 0.0;
        for (int e = 0; e < f.m; e++)
            area[size] += pl_elastic_volume(f.el)[e] / f.bodies[0].thickness;
        free(q);
        fixture_free(&f);
    }
    /* Boundary strips cost in proportion to the side: E = c1 side^2 + c2 side, two sizes give c1. */
    double side[2] = {sqrt(area[0]), sqrt(area[1])};
    double per_area = (energy[1] / side[1] - energy[0] / side[0]) / (side[1] - side[0]);
    return per_area / (0.5 * rigidity * kappa * kappa);
}

static void test_cylinder(void **state)
{
    (void)state;
    const double d = 0.02;
    /* Right-angled grid: rolled along its sides. */
    for (int k = 0; k < 2; k++)
        assert_close(cylinder_ratio(11, (double[]){d, 0, 0}, (double[]){0, d, 0}, k * M_PI / 2), 1.0,
                     1e-4);
    /* Equilateral triangles (split along a + b, the short diagonal): any direction. */
    const double a[3] = {d, 0, 0}, b[3] = {-0.5 * d, sqrt(0.75) * d, 0};
    for (int k = 0; k < 7; k++)
        assert_close(cylinder_ratio(11, a, b, 0.3 + k * M_PI / 7), 1.0, 1e-4);
}

static void test_rigid_motion(void **state)
{
    (void)state;
    fixture f = sheet(6, 5, (double[]){0.1, 0, 0.03}, (double[]){0.02, 0.1, 0}, 3.0);
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
    fixture f = sheet(6, 5, (double[]){0.1, 0, 0.03}, (double[]){0.02, 0.1, 0}, 3.0);
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
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_rigid_motion),
        cmocka_unit_test(test_quadratic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
