/* Patterns and block products against dense ones. */
#include "common_alloc.h"

#include "linalg/sparse.h"

#define N 150 /* more rows than one thread multiplies at a time */

/* Random stencils of a width, some entries -1, some vertices twice; `meets` [N, N] is what they imply.
 */
static pl_stencils random_stencils(uint64_t *seed, int count, int width, int *index, bool meets[N][N])
{
    for (int k = 0; k < count * width; k++) {
        /* The last few vertices stay alone. */
        int v = (int)((0.5 + 0.5 * test_random(seed)) * (N - 5));
        index[k] = test_random(seed) < -0.8 ? -1 : v;
    }
    for (int s = 0; s < count; s++)
        for (int a = 0; a < width * width; a++) {
            int i = index[s * width + a / width], j = index[s * width + a % width];
            if (i >= 0 && j >= 0)
                meets[i][j] = true;
        }
    return (pl_stencils){count, width, index};
}

/* Two lists, of tets and of triangles, and what their pattern should be. */
static void example(pl_context *ctx, uint64_t seed, pl_pattern *p, bool meets[N][N])
{
    int tets[90 * 4], triangles[40 * 3];
    memset(meets, 0, sizeof(bool) * N * N);
    for (int i = 0; i < N; i++)
        meets[i][i] = true;
    const pl_stencils lists[] = {random_stencils(&seed, 90, 4, tets, meets),
                                 random_stencils(&seed, 40, 3, triangles, meets)};
    assert_ok(ctx, pl_pattern_create(ctx, N, 2, lists, p));
}

static void test_pattern(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (uint64_t seed = 1; seed < 20; seed++) {
        bool meets[N][N];
        pl_pattern p;
        int nnz = 0;
        example(ctx, seed, &p, meets);
        assert_int_equal(p.n, N);
        for (int i = 0; i < N; i++) {
            assert_int_equal(p.row[i], nnz);
            for (int j = 0; j < N; j++) {
                assert_int_equal(pl_pattern_find(&p, i, j), meets[i][j] ? nnz : -1);
                if (i == j)
                    assert_int_equal(p.diag[i], nnz);
                if (meets[i][j])
                    assert_int_equal(p.col[nnz++], j); /* ascending, each once */
            }
        }
        assert_int_equal(p.row[N], nnz);
        assert_int_equal(p.nnz, nnz);
        pl_pattern_free(ctx, &p);
        assert_null(p.row);
        pl_pattern_free(ctx, &p);
    }
    pl_context_destroy(ctx);
}

static void test_empty(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_pattern p;
    assert_ok(ctx, pl_pattern_create(ctx, 0, 0, NULL, &p));
    assert_int_equal(p.nnz, 0);
    pl_pattern_free(ctx, &p);
    assert_ok(ctx, pl_pattern_create(ctx, 3, 0, NULL, &p));
    assert_int_equal(p.nnz, 3);
    assert_int_equal(pl_pattern_find(&p, 1, 1), 1);
    assert_int_equal(pl_pattern_find(&p, 1, 2), -1);
    pl_pattern_free(ctx, &p);
    pl_context_destroy(ctx);
}

static void test_multiply(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    bool meets[N][N];
    pl_pattern p;
    uint64_t seed = 4;
    example(ctx, 99, &p, meets);
    double *blocks = test_calloc((size_t)p.nnz * 9, sizeof *blocks), x[3 * N], y[3 * N], again[3 * N];
    for (int k = 0; k < 9 * p.nnz; k++)
        blocks[k] = test_random(&seed);
    for (int k = 0; k < 3 * N; k++)
        x[k] = test_random(&seed);
    pl_bsr_multiply(1, &p, blocks, x, y);
    for (int r = 0; r < 3 * N; r++) {
        double sum = 0.0;
        for (int c = 0; c < 3 * N; c++) {
            int k = pl_pattern_find(&p, r / 3, c / 3);
            sum += k < 0 ? 0.0 : blocks[9 * k + 3 * (r % 3) + c % 3] * x[c];
        }
        assert_close(y[r], sum, 1e-14); /* tens of terms below 1, in another order */
    }
    for (int threads = 2; threads <= 7; threads++) {
        pl_bsr_multiply(threads, &p, blocks, x, again);
        assert_memory_equal(y, again, sizeof y);
    }
    test_free(blocks);
    pl_pattern_free(ctx, &p);
    pl_context_destroy(ctx);
}

/* Vertices hang together by any number of stencils, whatever their order. */
static void test_parts(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const int pairs[8] = {6, 5, 0, 3, 2, 6, 3, 7}, parts[9] = {0, 1, 2, 0, 4, 2, 2, 0, 8};
    pl_stencils list = {4, 2, pairs};
    pl_pattern p;
    int found[9];
    assert_ok(ctx, pl_pattern_create(ctx, 9, 1, &list, &p));
    pl_pattern_parts(&p, found);
    assert_memory_equal(found, parts, sizeof parts);
    pl_pattern_free(ctx, &p);
    pl_context_destroy(ctx);
}

static pl_status create_and_free(pl_context *ctx, void *user)
{
    pl_pattern p = {0};
    pl_status status = pl_pattern_create(ctx, N, 1, user, &p);
    assert_true((p.row != NULL) == (status == PL_OK));
    pl_pattern_free(ctx, &p);
    return status;
}

static void test_no_memory(void **state)
{
    (void)state;
    const int tets[8] = {0, 1, 2, 3, 3, 2, 1, 4};
    pl_stencils list = {2, 4, tets};
    assert_true(test_fail_every_allocation(create_and_free, &list) >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pattern),   cmocka_unit_test(test_empty),
        cmocka_unit_test(test_multiply),  cmocka_unit_test(test_parts),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
