/*
 * When to keep a state, so that a sequence can be gone through backwards with few of them: the binomial
 * schedule of Griewank and Walther. With s states at a time, one of them the first, and no piece run
 * more than r times before it is gone through, the longest sequence has
 *
 *     beta(s, r) = (s + r)! / (s! r!)
 *
 * pieces. A sequence of l pieces, beta(s, r - 1) < l <= beta(s, r), takes at least
 *
 *     t(s, l) = r l - beta(s + 1, r - 1)
 *
 * runs of a piece besides the one in which each is gone through; the first pass over all but the last
 * piece is among them.
 */
#ifndef PL_SCHEDULE_H
#define PL_SCHEDULE_H

/* beta(s, r), 0 for a negative argument; at most LLONG_MAX / 2. */
long long pl_schedule_reach(int states, int runs);

/* t(s, l) for states >= 1, pieces >= 1. */
long long pl_schedule_runs(int states, int pieces);

/* How many of the next `pieces` (>= 2) to run before keeping the next state, of `states` that may be
 * kept, the present one counted; with 1 there is no next state, and the answer is all but the last. */
int pl_schedule_next(int states, int pieces);

#endif
