#include "common.h"
#include "linalg/ledger.h"

#include <math.h>

/* Uses until a factor whose k-th use costs `rent(k)` more than a new one's is worn. */
static int life(double (*rent)(int), double price, double *mean)
{
    pl_ledger l = {0};
    int k = 0;
    while (k < 1000 && !pl_ledger_worn(&l, price))
        pl_ledger_count(&l, (int)rent(++k) + 2, 2, 1);
    *mean = (price + l.rent) / k;
    return k;
}

static double linear(int k)
{
    return k - 1;
}

static double even(int k)
{
    return k > 1 ? 3 : 0;
}

/* Of rents 0, 1, 2, ... and a price of 50 the mean (50 + k (k - 1)/2)/k is least at k = 10. */
static void a_factor_goes_when_its_mean_cost_begins_to_grow(void **state)
{
    (void)state;
    double mean, least = INFINITY;
    for (int k = 1; k < 30; k++)
        least = fmin(least, (50 + 0.5 * k * (k - 1)) / k);
    int k = life(linear, 50, &mean);
    assert_int_equal(k, 11); /* the first whose rent is above the mean */
    assert_true(mean <= 1.01 * least);
}

static void one_that_does_not_wear_stays(void **state)
{
    (void)state;
    double mean;
    assert_int_equal(life(even, 50, &mean), 1000);
}

/* The first solve is what later ones are held against. */
static void digits_of_the_first_solve_tell_what_is_fresh(void **state)
{
    (void)state;
    pl_ledger l = {0};
    assert_true(fabs(pl_ledger_fresh(&l, 4, 1e-8) - 4) < 1e-12); /* two digits an iteration */
    assert_true(fabs(pl_ledger_fresh(&l, 9, 1e-6) - 3) < 1e-12);
    assert_true(pl_ledger_fresh(&l, 7, 2.0) == 7); /* nothing was won: nothing is told */
    assert_true(pl_ledger_fresh(&l, 7, NAN) == 7);
    assert_true(pl_ledger_fresh(&l, 0, 0) == 0);
    pl_ledger_count(&l, 9, 3, 0.5);
    assert_true(l.rent == 3 && l.last == 3 && l.uses == 1);
    pl_ledger_count(&l, 2, 3, 0.5); /* better than new is no gain to spend */
    assert_true(l.rent == 3 && l.last == 0 && l.uses == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_goes_when_its_mean_cost_begins_to_grow),
        cmocka_unit_test(one_that_does_not_wear_stays),
        cmocka_unit_test(digits_of_the_first_solve_tell_what_is_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
