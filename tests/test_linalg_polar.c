/* The rotation in a matrix: against singular values, whatever its size and condition. */
#include "common.h"

#include "core/vec.h"
#include "linalg/polar.h"
#include "linalg/svd.h"

static void check_rotation(const double r[9])
{
    double across[3];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            assert_close(pl_dot3(r + 3 * a, r + 3 * b), a == b, 1e-9);
    pl_cross3(r, r + 3, across);
    assert_close(pl_dot3(across, r + 6), 1, 1e-9);
}

static void by_singular_values(const double f[9], double r[9])
{
    double u[9], sigma[3], v[9];
    pl_svd3(f, u, sigma, v);
    for (int i = 0; i < 9; i++)
        r[i] = pl_dot3(u + i / 3 * 3, v + i % 3 * 3);
}

/* F = Q diag(1, 1/spread, 1/spread^2 or 0) Q'^T in any unit: a sheet's is flat. */
static void test_regular(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (double spread = 1; spread <= 100; spread *= 10)
        for (double unit = 1e-60; unit <= 1e60; unit *= 1e30)
            for (int k = 0; k < 100; k++) {
                double a[9], b[9], p[9], q[9], f[9], r[9], expected[9];
                for (int i = 0; i < 9; i++) {
                    a[i] = test_random(&seed);
                    b[i] = test_random(&seed);
                }
                by_singular_values(a, p);
                by_singular_values(b, q);
                for (int i = 0; i < 9; i++) {
                    const double *left = p + i / 3 * 3, *right = q + i % 3 * 3;
                    f[i] = unit * (left[0] * right[0] + left[1] * right[1] / spread +
                                   left[2] * right[2] * (k % 2 ? 0 : 1 / (spread * spread)));
                    expected[i] = pl_dot3(left, right);
                }
                pl_polar3(f, r);
                check_rotation(r);
                for (int i = 0; i < 9; i++)
                    assert_close(r[i], expected[i], 1e-9);
            }
}

/* Flat, a line, a point, mirrored: a rotation all the same. */
static void test_singular(void **state)
{
    (void)state;
    const double cases[][9] = {
        {1, 0, 0, 0, 2, 0, 0, 0, 0},  {0, 3, 0, 0, 0, 0, 0, 0, 0},    {0},
        {1, 0, 0, 0, 1, 0, 0, 0, -1}, {1, 0, 0, 0, 1, 0, 0, 0, 1e-9},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double r[9];
        pl_polar3(cases[k], r);
        check_rotation(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_regular), cmocka_unit_test(test_singular)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
