/* The binomial schedule against the best of all schedules, found by dynamic programming. */
#include "common.h"

#include "sim/schedule.h"

enum { STATES = 9, PIECES = 150 };

/* t(s, l) = min over k of k + t(s - 1, l - k) + t(s, k): run k pieces, keep a state, go through the
 * right part with one state fewer, then through the left part with all of them. */
static void best_runs(long long best[STATES + 1][PIECES + 1])
{
    for (int s = 1; s <= STATES; s++) {
        best[s][1] = 0;
        for (int l = 2; l <= PIECES; l++) {
            best[s][l] = (long long)l * (l - 1) / 2; /* always again from the first state */
            for (int k = 1; s > 1 && k < l; k++) {
                long long runs = k + best[s - 1][l - k] + best[s][k];
                best[s][l] = runs < best[s][l] ? runs : best[s][l];
            }
        }
    }
}

/* Goes through `pieces` backwards as the schedule says; returns the runs, and how many states it held.
 */
static long long follow(int states, int pieces, int *held)
{
    int kept[STATES + 1] = {0}, count = 1;
    long long runs = 0;
    *held = 1;
    for (int end = pieces; end > 0; end--) {
        while (end - kept[count - 1] > 1 && count < states) {
            int k = pl_schedule_next(states - count + 1, end - kept[count - 1]);
            assert_in_range(k, 1, end - kept[count - 1] - 1);
            kept[count] = kept[count - 1] + k;
            runs += k;
            *held = ++count > *held ? count : *held;
        }
        runs += end - 1 - kept[count - 1];
        if (count > 1 && kept[count - 1] == end - 1)
            count--;
    }
    return runs;
}

static void test_fewest_runs(void **state)
{
    (void)state;
    static long long best[STATES + 1][PIECES + 1];
    best_runs(best);
    for (int s = 1; s <= STATES; s++)
        for (int l = 1; l <= PIECES; l++) {
            int held;
            assert_int_equal(pl_schedule_runs(s, l), best[s][l]);
            assert_int_equal(follow(s, l, &held), best[s][l]);
            assert_true(held <= s);
        }
}

static void test_reach(void **state)
{
    (void)state;
    for (int s = 0; s < 12; s++) {
        assert_int_equal(pl_schedule_reach(s, 0), 1);
        assert_int_equal(pl_schedule_reach(0, s), 1);
        assert_int_equal(pl_schedule_reach(-1, s), 0);
        assert_int_equal(pl_schedule_reach(s, -1), 0);
        for (int r = 1; s > 0 && r < 12; r++) /* Pascal's triangle */
            assert_int_equal(pl_schedule_reach(s, r),
                             pl_schedule_reach(s - 1, r) + pl_schedule_reach(s, r - 1));
    }
    /* Griewank: 20 states and 20 repetitions reach over 1e11 pieces. */
    assert_int_equal(pl_schedule_reach(20, 20), 137846528820);
    /* Too many to count still compares. */
    assert_true(pl_schedule_reach(1000, 1000) > pl_schedule_reach(20, 20));
    assert_int_equal(pl_schedule_runs(1000000, 1000000), 999999);
    assert_int_equal(pl_schedule_next(1000000, 1000000), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fewest_runs),
        cmocka_unit_test(test_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
