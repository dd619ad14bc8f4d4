/* What the tests share: cmocka with its includes in order, a context, relative comparison. */
#ifndef PL_TEST_COMMON_H
#define PL_TEST_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pliant/pliant.h>

static inline pl_context *test_context(int threads)
{
    pl_context_def def = pl_context_def_default();
    def.threads = threads;
    pl_context *ctx = NULL;
    assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
    return ctx;
}

#define assert_ok(ctx, call)                                                                           \
    do {                                                                                               \
        pl_status assert_status_ = (call);                                                             \
        if (assert_status_ != PL_OK)                                                                   \
            fail_msg("%s: %s: %s", #call, pl_status_name(assert_status_), pl_context_error(ctx));      \
    } while (0)

/* |a - b| <= tolerance */
#define assert_close(a, b, tolerance)                                                                  \
    do {                                                                                               \
        double close_a_ = (a), close_b_ = (b), close_t_ = (tolerance);                                 \
        if (!(fabs(close_a_ - close_b_) <= close_t_))                                                  \
            fail_msg("%s = %.17g, %s = %.17g differ by %.3g > %.3g", #a, close_a_, #b, close_b_,       \
                     fabs(close_a_ - close_b_), close_t_);                                             \
    } while (0)

/* A small repeatable generator: uniform in [-1, 1). */
static inline double test_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(int64_t)(*seed >> 11) / (double)(1ll << 52) - 1.0;
}

#endif
