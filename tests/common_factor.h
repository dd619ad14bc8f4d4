/* A sparse system and what factors it: the Laplacian of a cube. */
#ifndef PL_TEST_COMMON_FACTOR_H
#define PL_TEST_COMMON_FACTOR_H

#include "common_pattern.h"

#include "linalg/chol.h"

/* A factor with a plan of its own. */
static inline pl_chol *test_chol(pl_context *ctx, const pl_pattern *pattern, int block, int last_count,
                                 const int *last)
{
    pl_chol_plan *plan;
    pl_chol *chol;
    assert_ok(ctx, pl_chol_plan_create(ctx, pattern, block, last_count, last, &plan));
    assert_ok(ctx, pl_chol_create(ctx, plan, &chol));
    pl_chol_plan_release(plan);
    return chol;
}

typedef struct test_system {
    pl_context *ctx;
    pl_pattern pattern;
    double *values;
    pl_chol *chol;
} test_system;

/* Of side^3 vertices plus `shift`, the first `last` vertices eliminated last. Takes over the context.
 */
static inline test_system *test_system_make(pl_context *ctx, int side, double shift, int last)
{
    test_system *s = calloc(1, sizeof *s);
    int *first = calloc((size_t)last + 1, sizeof *first);
    assert_true(s && first);
    s->ctx = ctx;
    for (int i = 0; i < last; i++)
        first[i] = i;
    s->values = test_laplacian(s->ctx, side, shift, &s->pattern);
    s->chol = test_chol(s->ctx, &s->pattern, 3, last, first);
    free(first);
    return s;
}

static inline void test_system_discard(test_system *s)
{
    pl_chol_destroy(s->chol);
    pl_pattern_free(s->ctx, &s->pattern);
    free(s->values);
    pl_context_destroy(s->ctx);
    free(s);
}

#endif
