/* Memory: aligned, zeroed, counted; failures keep what was there. */
#include "common.h"

#include "core/core.h"

#include <limits.h>

/* Blocks held, and how many more may be made. */
typedef struct ration {
    int held, left;
} ration;

/* Hands out blocks that start at odd multiples of 8 and are full of rubbish. */
static void *rationed_realloc(void *user, void *ptr, size_t bytes)
{
    ration *r = user;
    if (ptr) {
        assert_int_equal(bytes, 0);
        r->held--;
        free((char *)ptr - 8);
        return NULL;
    }
    if (r->left <= 0)
        return NULL;
    char *block = malloc(bytes + 8);
    assert_non_null(block);
    memset(block, 0xa5, bytes + 8);
    r->left--, r->held++;
    return block + 8;
}

static pl_context *rationed_context(ration *r)
{
    pl_context_def def = pl_context_def_default();
    def.realloc = rationed_realloc;
    def.realloc_user = r;
    pl_context *ctx;
    *r = (ration){.left = 1};
    assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
    return ctx;
}

static void release(pl_context *ctx, const ration *r)
{
    pl_context_destroy(ctx);
    assert_int_equal(r->held, 0);
}

static void test_alloc(void **state)
{
    (void)state;
    ration r;
    pl_context *ctx = rationed_context(&r);
    r.left = INT_MAX;
    for (size_t count = 0; count < 300; count++) {
        unsigned char *p = pl_alloc(ctx, count, 1);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, count); /* all of it is ours */
        pl_free(ctx, p);
    }
    pl_free(ctx, NULL);
    assert_int_equal(r.held, 1);
    release(ctx, &r);
}

static void test_alloc_fails(void **state)
{
    (void)state;
    ration r;
    pl_context *ctx = rationed_context(&r);
    assert_null(pl_alloc(ctx, 10, 8));
    assert_string_equal(pl_context_error(ctx), "out of memory: 80 bytes");
    assert_null(pl_strdup(ctx, "text"));
    r.left = INT_MAX; /* sizes that do not fit a size_t never reach the allocator */
    assert_null(pl_alloc(ctx, SIZE_MAX / 4, 8));
    assert_non_null(strstr(pl_context_error(ctx), "items of 8 bytes"));
    assert_null(pl_alloc(ctx, SIZE_MAX - 1, 1));
    assert_int_equal(r.held, 1);
    release(ctx, &r);
}

static void test_new_macro(void **state)
{
    (void)state;
    ration r;
    pl_context *ctx = rationed_context(&r);
    pl_status status = PL_OK;
    double *array = (double *)&r;
    PL_NEW(ctx, array, 5, failed);
    fail_msg("an allocation without memory succeeded");
failed:
    assert_null(array);
    assert_int_equal(status, PL_ERROR_MEMORY);
    release(ctx, &r);
}

static void test_grow(void **state)
{
    (void)state;
    ration r;
    pl_context *ctx = rationed_context(&r);
    r.left = INT_MAX;
    int *items = NULL, capacity = 0, moves = 0;
    for (int i = 0; i < 5000; i++) {
        int before = capacity;
        assert_ok(ctx, pl_grow(ctx, (void **)&items, &capacity, i + 1, sizeof *items));
        assert_true(capacity >= i + 1);
        assert_int_equal(items[i], 0); /* new room is zeroed */
        items[i] = i + 1;
        moves += capacity != before;
    }
    for (int i = 0; i < 5000; i++)
        assert_int_equal(items[i], i + 1);
    assert_in_range(moves, 10, 17); /* 16 * 1.5^15 > 5000 */
    assert_int_equal(r.held, 2);

    int *same = items, before = capacity;
    assert_ok(ctx, pl_grow(ctx, (void **)&items, &capacity, before, sizeof *items));
    assert_ptr_equal(items, same);
    r.left = 0;
    assert_int_equal(pl_grow(ctx, (void **)&items, &capacity, before + 1, sizeof *items),
                     PL_ERROR_MEMORY);
    assert_ptr_equal(items, same);
    assert_int_equal(capacity, before);
    pl_free(ctx, items);
    release(ctx, &r);
}

static void test_strdup(void **state)
{
    (void)state;
    ration r;
    pl_context *ctx = rationed_context(&r);
    r.left = 2;
    char text[] = "grip", *copy = pl_strdup(ctx, text), *empty = pl_strdup(ctx, "");
    text[0] = 'd';
    assert_string_equal(copy, "grip");
    assert_string_equal(empty, "");
    pl_free(ctx, copy);
    pl_free(ctx, empty);
    release(ctx, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc),     cmocka_unit_test(test_alloc_fails),
        cmocka_unit_test(test_new_macro), cmocka_unit_test(test_grow),
        cmocka_unit_test(test_strdup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
