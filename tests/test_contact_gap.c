/* Gaps smaller than the rounding of positions: pl_contact_delta_exact where the answer is known. */
#include "common.h"

#include "contact/contact.h"
#include "core/vec.h"

/* A contact in a frame that is not aligned with anything, after a step of some centimetres. */
static void contact_at(const double *q0, const double *q, uint64_t *seed, pl_contact_set *set)
{
    static const double weights[2] = {0.75, 0.25};
    pl_contact_point *p = set->points;
    *p = (pl_contact_point){.count = 2};
    set->count = set->single = set->touching = 1;
    set->entry_count = 2;
    double turn[4], length = 0;
    for (int k = 0; k < 4; k++) {
        turn[k] = test_random(seed);
        length += turn[k] * turn[k];
    }
    for (int k = 0; k < 4; k++)
        turn[k] /= sqrt(length);
    pl_quat_to_mat3(turn, p->frame);
    for (int i = 0; i < 18; i++) {
        set->entries[i / 9].vertex = 2 * (i / 9);
        set->entries[i / 9].block[i % 9] = weights[i / 9] * p->frame[i % 9];
    }
    for (int k = 0; k < 3; k++)
        p->drift[k] = 0.01 * test_random(seed);
    /* so that little is left of the gap */
    double u[9], delta[3];
    for (int i = 0; i < 9; i++)
        u[i] = q[i] - q0[i];
    pl_contact_delta(set, 0, u, delta);
    p->gap = -delta[0];
}

/* What a move adds to delta is H move, to the last digits of a delta of 1e-18 m. */
static void test_small_moves(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int trial = 0; trial < 200; trial++) {
        double q0[9], q[9], move[9], none[9] = {0}, at[3], after[3], added[3];
        for (int i = 0; i < 9; i++) {
            q0[i] = test_random(&seed);
            q[i] = q0[i] + 0.05 * test_random(&seed);
            move[i] = 1e-17 * test_random(&seed);
        }
        pl_contact_point point;
        pl_stencil_entry entries[2];
        pl_contact_set set = {.points = &point, .entries = entries};
        contact_at(q0, q, &seed, &set);
        pl_contact_delta_exact(&set, 0, q0, q, none, at);
        pl_contact_delta_exact(&set, 0, q0, q, move, after);
        pl_contact_gather(&set, 0, move, added);
        assert_close(at[0], 0, 1e-16); /* roundings of 0.05 m, that is all */
        assert_close(after[0] - at[0], added[0], 1e-15 * (fabs(at[0]) + pl_norm3(added)));
        assert_true(at[0] != 0);
    }
}

/* The same point told as another sum of q and move. */
static void test_same_point(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (int trial = 0; trial < 200; trial++) {
        double q0[9], q[9], move[9], other[9], rest[9], u[9], a[3], b[3], rough[3];
        for (int i = 0; i < 9; i++) {
            q0[i] = test_random(&seed);
            q[i] = q0[i] + 0.05 * test_random(&seed);
            move[i] = ldexp(floor(ldexp(test_random(&seed), 20)), -60);
            /* multiples of 2^-54 and of 2^-60: both differences are exact */
            double shift = ldexp(floor(ldexp(test_random(&seed), 10)), -52);
            q[i] = ldexp(floor(ldexp(q[i], 51)), -51);
            other[i] = q[i] + shift;
            rest[i] = move[i] - shift;
            u[i] = (q[i] - q0[i]) + move[i];
            assert_true(other[i] - q[i] == shift && rest[i] + shift == move[i]);
        }
        pl_contact_point point;
        pl_stencil_entry entries[2];
        pl_contact_set set = {.points = &point, .entries = entries};
        contact_at(q0, q, &seed, &set);
        pl_contact_delta_exact(&set, 0, q0, q, move, a);
        pl_contact_delta_exact(&set, 0, q0, other, rest, b);
        pl_contact_delta(&set, 0, u, rough);
        for (int k = 0; k < 3; k++) {
            assert_close(a[k], b[k], 1e-15 * fabs(a[k]) + 1e-28);
            assert_close(a[k], rough[k], 1e-16);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_moves),
        cmocka_unit_test(test_same_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
