/* The binomial schedule. */
#include "sim/schedule.h"

#include <limits.h>

long long pl_schedule_reach(int states, int runs)
{
    long long reach = 1;
    if (states < 0 || runs < 0)
        return 0;
    int few = states < runs ? states : runs, many = states < runs ? runs : states;
    for (int k = 1; k <= few; k++) { /* C(many + k, k): each division is exact */
        if (reach > LLONG_MAX / 2 / (many + k))
            return LLONG_MAX / 2;
        reach = reach * (many + k) / k;
    }
    return reach;
}

/* The r of beta(s, r - 1) < l <= beta(s, r). */
static int repetitions(int states, int pieces)
{
    int runs = 0;
    while (pl_schedule_reach(states, runs) < pieces)
        runs++;
    return runs;
}

long long pl_schedule_runs(int states, int pieces)
{
    int runs = repetitions(states, pieces);
    return (long long)runs * pieces - pl_schedule_reach(states + 1, runs - 1);
}

/*
 * k pieces to the left keep all s states for at most r - 1 runs, the others have s - 1 for r:
 *
 *     k <= beta(s, r - 1),   l - k >= beta(s - 1, r - 1)
 *
 * and the largest such k is one of the best.
 */
int pl_schedule_next(int states, int pieces)
{
    int runs = repetitions(states, pieces);
    if (states == 1)
        return pieces - 1;
    long long left = pl_schedule_reach(states, runs - 1);
    long long rest = pieces - pl_schedule_reach(states - 1, runs - 1);
    return (int)(left < rest ? left : rest);
}
