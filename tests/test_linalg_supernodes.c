/* Supernodes cut where the unknowns eliminated last begin. */
#include "common_alloc.h"

#include "linalg/supernodes.h"

/* Two supernodes of 12 unknowns: columns 0-2 with rows 3-5 and 9-11 below, and columns 3-11. */
enum { N = 12 };
static const int super[] = {0, 3, 12}, pi[] = {0, 9, 18}, px[] = {0, 27, 108};
static const int rows[] = {0, 1, 2, 3, 4, 5, 9, 10, 11, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const int perm[] = {6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5};

static pl_supernodes make(pl_context *ctx, int last_from)
{
    bool is_last[N] = {0};
    pl_supernodes l;
    for (int j = last_from; j < N; j++)
        is_last[perm[j]] = true;
    assert_ok(ctx, pl_supernodes_create(ctx, N, 2, super, pi, px, rows, perm, is_last, &l));
    assert_int_equal(l.n, N);
    assert_int_equal(l.first[l.count], N);
    /* Every one: its own columns first, and CHOLMOD's values where it says they are. */
    for (int k = 0; k < l.count; k++)
        for (int j = l.first[k]; j < l.first[k + 1]; j++) {
            int of = j < 3 ? 0 : 1;
            assert_int_equal(l.row[l.begin[k] + j - l.first[k]], j);
            assert_int_equal(l.at[k] + (j - l.first[k]) * (l.stride[k] + 1),
                             px[of] + (j - super[of]) * (pi[of + 1] - pi[of] + 1));
        }
    return l;
}

static void test_cut(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    /* Nothing to cut: none is last, all are, or they begin with a supernode. */
    for (int from = 0; from <= N; from += from == 0 ? 3 : 9) {
        pl_supernodes l = make(ctx, from);
        assert_int_equal(l.count, 2);
        assert_memory_equal(l.first, super, sizeof super);
        assert_memory_equal(l.begin, pi, sizeof pi);
        assert_memory_equal(l.row, rows, sizeof rows);
        pl_supernodes_free(ctx, &l);
    }
    /* In the middle of one: the rows of its first part go on, those of the second begin there. */
    pl_supernodes l = make(ctx, 6);
    const int first[] = {0, 3, 6, 12}, begin[] = {0, 9, 18, 24};
    assert_int_equal(l.count, 3);
    assert_memory_equal(l.first, first, sizeof first);
    assert_memory_equal(l.begin, begin, sizeof begin);
    for (int i = 0; i < 6; i++)
        assert_int_equal(l.row[18 + i], 6 + i);
    pl_supernodes_free(ctx, &l);
    pl_context_destroy(ctx);
}

static pl_status run(pl_context *ctx, void *user)
{
    pl_supernodes l;
    bool is_last[N] = {0};
    (void)user;
    pl_status status = pl_supernodes_create(ctx, N, 2, super, pi, px, rows, perm, is_last, &l);
    pl_supernodes_free(ctx, &l);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(run, NULL) >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
