/* LU by groups against the dense matrix. */
#include "common_alloc.h"
#include "common_pattern.h"

#include "linalg/block_lu.h"

#include <lapacke.h>

enum { GROUPS = 70, MOST = 5, SIZE = GROUPS * MOST };

/* Groups in a row, each tied to the next and some to farther ones; the last three to none. */
typedef struct problem {
    int size[GROUPS], total;
    double dense[SIZE * SIZE]; /* column-major */
} problem;

static bool tied(int i, int j)
{
    int low = pl_smaller(i, j), high = i + j - low;
    return high < GROUPS - 3 && (high - low == 1 || (low % 7 == 0 && high - low == 9));
}

static void make(problem *p, uint64_t seed)
{
    int start[GROUPS + 1] = {0};
    memset(p->dense, 0, sizeof p->dense);
    for (int g = 0; g < GROUPS; g++) {
        p->size[g] = 1 + g * 3 % MOST;
        start[g + 1] = start[g] + p->size[g];
    }
    p->total = start[GROUPS];
    for (int i = 0; i < GROUPS; i++)
        for (int j = 0; j < GROUPS; j++)
            for (int k = 0; (i == j || tied(i, j)) && k < p->size[i] * p->size[j]; k++) {
                int row = start[i] + k % p->size[i], column = start[j] + k / p->size[i];
                p->dense[column * p->total + row] = /* large beside the diagonal: rows are exchanged */
                    test_random(&seed) +
                    (i == j && k % p->size[i] == (k / p->size[i] + 1) % p->size[i] ? 6 : 0);
            }
}

static void fill(const problem *p, pl_block_lu *b)
{
    pl_block_lu_clear(b);
    for (int i = 0; i < GROUPS; i++)
        for (int j = 0; j < GROUPS; j++) {
            if (i != j && !tied(i, j))
                continue;
            int ld;
            double *to = pl_block_lu_block(b, i, j, &ld);
            for (int k = 0; k < p->size[i] * p->size[j]; k++)
                to[k / p->size[i] * ld + k % p->size[i]] =
                    p->dense[(b->start[j] + k / p->size[i]) * p->total + b->start[i] + k % p->size[i]];
        }
}

static pl_status plan(pl_context *ctx, void *user)
{
    const problem *p = user;
    pl_block_lu b = {0};
    pl_status status = pl_block_lu_begin(ctx, &b, GROUPS, p->size);
    for (int i = 0; status == PL_OK && i < GROUPS * GROUPS; i++)
        if (tied(i / GROUPS, i % GROUPS))
            pl_block_lu_tie(&b, i / GROUPS, i % GROUPS);
    status = status == PL_OK ? pl_block_lu_plan(ctx, &b) : status;
    pl_block_lu_free(ctx, &b);
    return status;
}

static void prepare(pl_context *ctx, const problem *p, pl_block_lu *b)
{
    assert_ok(ctx, pl_block_lu_begin(ctx, b, GROUPS, p->size));
    for (int i = 0; i < GROUPS * GROUPS; i++)
        if (tied(i / GROUPS, i % GROUPS))
            pl_block_lu_tie(b, i / GROUPS, i % GROUPS);
    assert_ok(ctx, pl_block_lu_plan(ctx, b));
    fill(p, b);
}

static void test_solves(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    static double dense[SIZE * SIZE], x[SIZE], exact[SIZE];
    static int pivot[SIZE];
    pl_block_lu b = {0};
    bool signs[2] = {0};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        make(&p, seed);
        for (int i = 0; seed % 2 == 0 && i < p.total; i++)
            p.dense[i] *= -1; /* the first column: either sign of the determinant */
        prepare(ctx, &p, &b);
        memcpy(dense, p.dense, sizeof dense);
        assert_true(b.operations < 0.01 * p.total * p.total * p.total);
        assert_true(pl_block_lu_factor(ctx, &b));
        assert_int_equal(LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, p.total, p.total, dense, p.total, pivot),
                         0);
        bool negative = false;
        for (int i = 0; i < p.total; i++)
            negative ^= (dense[i * (p.total + 1)] < 0) ^ (pivot[i] != i + 1);
        assert_int_equal(pl_block_lu_mirrors(&b), negative);
        signs[negative] = true;
        for (int transposed = 0; transposed < 2; transposed++) {
            for (int i = 0; i < p.total; i++)
                x[i] = exact[i] = cos(i);
            pl_block_lu_solve(&b, transposed, x);
            LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, transposed ? 'T' : 'N', p.total, 1, dense, p.total,
                                pivot, exact, p.total);
            assert_true(test_relative_difference(p.total, x, exact) < 1e-12);
        }
    }
    assert_true(signs[0] && signs[1]);
    pl_block_lu_free(ctx, &b);
    pl_context_destroy(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    static problem p;
    pl_block_lu b[2] = {0};
    make(&p, 4);
    for (int k = 0; k < 2; k++) {
        pl_context *ctx = test_context(1 + 2 * k);
        ctx->limits.thread_lu = 0, ctx->limits.block_lu = 5;
        prepare(ctx, &p, &b[k]);
        assert_true(pl_block_lu_factor(ctx, &b[k]));
        if (k == 1) {
            assert_int_equal(b[0].used, b[1].used);
            assert_memory_equal(b[0].value, b[1].value, sizeof(double) * b[0].used);
            for (int j = 0; j < 2; j++)
                pl_block_lu_free(ctx, &b[j]);
        }
        pl_context_destroy(ctx);
    }
}

static void test_singular(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    pl_block_lu b = {0};
    make(&p, 3);
    prepare(ctx, &p, &b);
    int ld;
    pl_block_lu_block(&b, GROUPS - 1, GROUPS - 1, &ld);
    for (int i = 0; i < p.size[GROUPS - 1]; i++)
        pl_block_lu_block(&b, GROUPS - 1, GROUPS - 1, &ld)[i] =
            0; /* a column of a group tied to none */
    assert_false(pl_block_lu_factor(ctx, &b));
    pl_block_lu_free(ctx, &b);
    pl_context_destroy(ctx);
}

static void test_no_memory(void **state)
{
    (void)state;
    static problem p;
    make(&p, 1);
    assert_true(test_fail_every_allocation(plan, &p) >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solves),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
