/* Small vectors: the largest of numbers of which some are not numbers. */
#include "common.h"

#include "core/vec.h"

static double largest_of(int count, const double *x)
{
    double most = 0;
    for (int k = 0; k < count; k++)
        most = pl_is_more(x[k], most) ? x[k] : most;
    return most;
}

/* Wherever it is: no number that comes later hides it. */
static void nan_is_the_largest(void **state)
{
    (void)state;
    for (int at = 0; at < 4; at++) {
        double x[4] = {1, 3, 2, 1e300};
        assert_true(largest_of(4, x) == 1e300);
        x[at] = NAN;
        assert_true(isnan(largest_of(4, x)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nan_is_the_largest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
