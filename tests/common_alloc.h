/*
 * An allocator that counts, and fails one allocation of choice: for tests that every allocation may
 * fail once without a leak.
 */
#ifndef PL_TEST_COMMON_ALLOC_H
#define PL_TEST_COMMON_ALLOC_H

#include "common.h"

typedef struct test_allocator {
    long live;    /* blocks not freed */
    long calls;   /* allocations asked for */
    long fail_at; /* the call that fails, from 1; 0 = none */
    bool failed;  /* it did */
} test_allocator;

static inline void *counting_realloc(void *user, void *ptr, size_t bytes)
{
    test_allocator *allocator = user;
    if (bytes == 0) {
        allocator->live -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (++allocator->calls == allocator->fail_at) {
        allocator->failed = true;
        return NULL;
    }
    allocator->live += ptr == NULL;
    return realloc(ptr, bytes);
}

static inline pl_context *test_context_with(test_allocator *allocator, int threads)
{
    pl_context_def def = pl_context_def_default();
    def.threads = threads;
    def.realloc = counting_realloc;
    def.realloc_user = allocator;
    pl_context *ctx = NULL;
    assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
    return ctx;
}

/*
 * Runs `run` again and again, with its k-th allocation failing for k = 1, 2, ... until it gets through.
 * Each failing run must return PL_ERROR_MEMORY with a message and free all it made, and so must the
 * last, good one: `run` frees its own results. Returns the number of allocations of a good run.
 */
static inline long test_fail_every_allocation(pl_status (*run)(pl_context *ctx, void *user), void *user)
{
    for (long k = 1;; k++) {
        test_allocator allocator = {0};
        pl_context *ctx = test_context_with(&allocator, 1);
        long before = allocator.live, calls = allocator.calls;
        allocator.fail_at = calls + k;
        pl_status status = run(ctx, user);
        if (allocator.live != before)
            fail_msg("allocation %ld failing leaks %ld blocks", k, allocator.live - before);
        if (allocator.failed && status != PL_ERROR_MEMORY)
            fail_msg("allocation %ld failing gives \"%s\": %s", k, pl_status_name(status),
                     pl_context_error(ctx));
        if (allocator.failed && strstr(pl_context_error(ctx), "out of memory") == NULL)
            fail_msg("allocation %ld failing leaves the message \"%s\"", k, pl_context_error(ctx));
        if (!allocator.failed)
            assert_ok(ctx, status);
        pl_context_destroy(ctx);
        assert_int_equal(allocator.live, 0);
        if (!allocator.failed)
            return k - 1;
    }
}

#endif
