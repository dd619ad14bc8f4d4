/* F = U diag(sigma) V^T with rotations U and V: random, nearly degenerate, inverted, singular, zero. */
#include "common.h"

#include "core/vec.h"
#include "linalg/svd.h"

static double worst_reconstruction, worst_orthogonality;

static void check_rotation(const double *R, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double dot = 0.0;
            for (int k = 0; k < n; k++)
                dot += R[n * k + i] * R[n * k + j];
            worst_orthogonality = fmax(worst_orthogonality, fabs(dot - (i == j)));
        }
    assert_close(n == 3 ? pl_det3(R) : R[0] * R[3] - R[1] * R[2], 1.0, 4e-15);
}

static void check3(const double F[9])
{
    double U[9], V[9], s[3], size = 0.0;
    pl_svd3(F, U, s, V);
    check_rotation(U, 3);
    check_rotation(V, 3);
    for (int i = 0; i < 9; i++)
        size = fmax(size, fabs(F[i]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++)
                sum += U[3 * i + k] * s[k] * V[3 * j + k];
            double error = fabs(sum - F[3 * i + j]);
            assert_true(isfinite(error));
            worst_reconstruction = fmax(worst_reconstruction, size > 0.0 ? error / size : error);
        }
    assert_true(s[0] >= 0.0 && s[1] >= 0.0);
    assert_true(s[0] >= s[1] * (1 - 1e-14) && s[1] >= fabs(s[2]) * (1 - 1e-14));
    if (fabs(pl_det3(F)) > 1e-12 * size * size * size)
        assert_true(pl_det3(F) * s[2] > 0.0);
}

static void check32(const double F[6])
{
    double U[9], V[4], s[2], size = 0.0;
    pl_svd32(F, U, s, V);
    check_rotation(U, 3);
    check_rotation(V, 2);
    for (int i = 0; i < 6; i++)
        size = fmax(size, fabs(F[i]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            double sum = U[3 * i] * s[0] * V[2 * j] + U[3 * i + 1] * s[1] * V[2 * j + 1];
            double error = fabs(sum - F[2 * i + j]);
            assert_true(isfinite(error));
            worst_reconstruction = fmax(worst_reconstruction, size > 0.0 ? error / size : error);
        }
    assert_true(s[0] >= s[1] * (1 - 1e-14) && s[1] >= 0.0);
}

static void check_worst(void)
{
    print_message("reconstruction %.2g, orthogonality %.2g\n", worst_reconstruction,
                  worst_orthogonality);
    assert_true(worst_reconstruction < 3e-15);
    assert_true(worst_orthogonality < 2e-15);
    worst_reconstruction = worst_orthogonality = 0.0;
}

static void random_rotation(uint64_t *seed, double R[9])
{
    double q[4], norm = 0.0;
    for (int i = 0; i < 4; i++) {
        q[i] = test_random(seed);
        norm += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(norm);
    pl_quat_to_mat3(q, R);
}

/* F = U diag(s) V^T, and its first two columns as a 3x2 matrix. */
static void check_values(const double s[3], uint64_t *seed)
{
    double U[9], V[9], F[9], G[6];
    random_rotation(seed, U);
    random_rotation(seed, V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            F[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++)
                F[3 * i + j] += U[3 * i + k] * s[k] * V[3 * j + k];
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            G[2 * i + j] = F[3 * i + j];
    check3(F);
    check32(G);
}

static void test_random_matrices(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int t = 0; t < 20000; t++) {
        double F[9];
        for (int i = 0; i < 9; i++)
            F[i] = test_random(&seed);
        check3(F);
        check32(F);
    }
    check_worst();
}

static void test_special_values(void **state)
{
    (void)state;
    static const double values[][3] = {
        {1, 1, 1},
        {1, 1, -1},
        {1 + 1e-8, 1, 1 - 1e-8},
        {1, 1 - 1e-15, 1 - 2e-15},
        {2, 2, 0.5},
        {2, 0.5, 0.5},
        {2, 0.5, -0.5},
        {1, 1e-8, -1e-8},
        {1, 1e-8, 1e-16},
        {1, 1e-16, 1e-17},
        {1, 1, 0},
        {1, 0, 0},
        {1e-100, 1e-101, 0},
        {1e100, 1, -1e-100},
        {1e6, 1e-6, 1e-9},
        {3, 1e-9, 1e-9},
    };
    uint64_t seed = 2;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int t = 0; t < 500; t++)
            check_values(values[i], &seed);
    check_worst();
}

static void test_exact_matrices(void **state)
{
    (void)state;
    static const double matrices[][9] = {
        {0},
        {1, 0, 0, 0, 1, 0, 0, 0, 1},
        {-1, 0, 0, 0, 1, 0, 0, 0, 1},
        {0, 1, 0, 0, 0, 1, 1, 0, 0},
        {1, 1, 1, 1, 1, 1, 1, 1, 1},
        {1, 2, 3, 2, 4, 6, 0, 0, 0},
        {0, 0, 0, 0, 0, 0, 0, 0, 5},
        {0, 0, 0, 0, 0, 0, 0, 0, -5},
        {0, 0, -2, 0, 0, 0, 0, 0, 0},
        {1, 0, 0, 0, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        check3(matrices[i]);
        check32(matrices[i]);
    }
    check_worst();
}

/* One-sided Jacobi finds small singular values to high relative accuracy when only columns are scaled:
 * G diag(1, 1e-6, 1e-12) with orthogonal G is exactly known. */
static void test_small_values(void **state)
{
    (void)state;
    uint64_t seed = 3;
    const double scale[3] = {1.0, 0x1p-20, 0x1p-40};
    for (int t = 0; t < 200; t++) {
        double G[9], F[9], U[9], V[9], s[3];
        random_rotation(&seed, G);
        for (int i = 0; i < 9; i++)
            F[i] = G[i] * scale[i % 3];
        pl_svd3(F, U, s, V);
        for (int i = 0; i < 3; i++)
            assert_close(s[i] / scale[i], 1.0, 4e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_matrices),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_exact_matrices),
        cmocka_unit_test(test_small_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
