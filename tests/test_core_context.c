/* The context: what it accepts, the last error, the log, names. */
#include "common.h"

#include "core/core.h"

static void test_defaults(void **state)
{
    (void)state;
    pl_context_def def = pl_context_def_default();
    assert_int_equal(def.threads, 0);
    assert_null(def.log);
    assert_null(def.realloc);
    assert_int_equal(def.log_level, PL_LOG_WARNING);
    pl_context *ctx = NULL;
    assert_int_equal(pl_context_create(NULL, &ctx), PL_OK);
    assert_true(pl_context_threads(ctx) >= 1);
    assert_string_equal(pl_context_error(ctx), "");
    pl_context_destroy(ctx);
    pl_context_destroy(NULL);
}

static void test_threads(void **state)
{
    (void)state;
    pl_context_def def = pl_context_def_default();
    const int good[] = {1, 3, 1024}, bad[] = {-1, 1025};
    for (int i = 0; i < 3; i++) {
        pl_context *ctx = test_context(good[i]);
        assert_int_equal(pl_context_threads(ctx), good[i]);
        pl_context_destroy(ctx);
    }
    for (int i = 0; i < 2; i++) {
        pl_context *ctx = (pl_context *)&def;
        def.threads = bad[i];
        assert_int_equal(pl_context_create(&def, &ctx), PL_ERROR_ARGUMENT);
        assert_null(ctx);
    }
    assert_int_equal(pl_context_create(NULL, NULL), PL_ERROR_ARGUMENT);
}

/* Counts blocks in *user and refuses to make any when it is negative. */
static void *counting_realloc(void *user, void *ptr, size_t bytes)
{
    int *blocks = user;
    if (bytes == 0) {
        *blocks -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (*blocks < 0)
        return NULL;
    *blocks += ptr == NULL;
    return realloc(ptr, bytes);
}

static void test_allocator(void **state)
{
    (void)state;
    int blocks = 0;
    pl_context_def def = pl_context_def_default();
    def.realloc = counting_realloc;
    def.realloc_user = &blocks;
    pl_context *ctx;
    assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
    assert_int_equal(blocks, 1);
    pl_context_destroy(ctx);
    assert_int_equal(blocks, 0);
    blocks = -1;
    assert_int_equal(pl_context_create(&def, &ctx), PL_ERROR_MEMORY);
    assert_null(ctx);
}

static void test_errors(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    assert_int_equal(pl_fail(ctx, PL_ERROR_PARSE, "line %d: no number", 7), PL_ERROR_PARSE);
    assert_string_equal(pl_context_error(ctx), "line 7: no number");
    assert_int_equal(pl_fail_within(ctx, PL_ERROR_FILE, "%s", "a.msh"), PL_ERROR_FILE);
    assert_string_equal(pl_context_error(ctx), "a.msh: line 7: no number");
    pl_fail(ctx, PL_ERROR_MESH, "new");
    assert_string_equal(pl_context_error(ctx), "new");
    assert_string_equal(pl_context_error(NULL), "no context");
    pl_context_destroy(ctx);
}

/* Messages longer than the context keeps are cut, with the most telling part first. */
static void test_long_errors(void **state)
{
    (void)state;
    char text[2 * PL_MESSAGE_SIZE];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    pl_context *ctx = test_context(1);
    pl_fail(ctx, PL_ERROR_MESH, "%s", text);
    assert_int_equal(strlen(pl_context_error(ctx)), PL_MESSAGE_SIZE - 1);
    pl_fail_within(ctx, PL_ERROR_MESH, "file");
    assert_int_equal(strlen(pl_context_error(ctx)), PL_MESSAGE_SIZE - 1);
    assert_memory_equal(pl_context_error(ctx), "file: aaa", 9);
    text[0] = 'b';
    pl_fail_within(ctx, PL_ERROR_MESH, "%s", text);
    assert_int_equal(strlen(pl_context_error(ctx)), PL_MESSAGE_SIZE - 1);
    assert_memory_equal(pl_context_error(ctx), "baaa", 4);
    pl_context_destroy(ctx);
}

typedef struct heard {
    int count;
    pl_log_level level;
    char text[64];
} heard;

static void listen(void *user, pl_log_level level, const char *text)
{
    heard *h = user;
    h->count++;
    h->level = level;
    snprintf(h->text, sizeof h->text, "%s", text);
}

static void test_log(void **state)
{
    (void)state;
    heard h = {0};
    pl_context_def def = pl_context_def_default();
    def.log = listen;
    def.log_user = &h;
    for (int limit = PL_LOG_ERROR; limit <= PL_LOG_DEBUG; limit++) {
        pl_context *ctx;
        def.log_level = (pl_log_level)limit;
        assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
        h.count = 0;
        for (int level = PL_LOG_ERROR; level <= PL_LOG_DEBUG; level++)
            pl_log(ctx, (pl_log_level)level, "level %d", level);
        assert_int_equal(h.count, limit + 1);
        assert_int_equal(h.level, limit);
        assert_int_equal(h.text[6] - '0', limit);
        pl_context_destroy(ctx);
    }
    pl_context *silent = test_context(1);
    pl_log(silent, PL_LOG_ERROR, "nobody hears");
    assert_string_equal(pl_context_error(silent), "");
    pl_context_destroy(silent);
}

static void test_names(void **state)
{
    (void)state;
    for (int a = PL_OK; a <= PL_ERROR_INTERRUPTED; a++) {
        assert_true(strlen(pl_status_name((pl_status)a)) > 0);
        for (int b = PL_OK; b < a; b++)
            assert_string_not_equal(pl_status_name((pl_status)a), pl_status_name((pl_status)b));
    }
    assert_string_equal(pl_status_name((pl_status)(PL_ERROR_INTERRUPTED + 1)), "unknown status");
    assert_string_equal(pl_status_name((pl_status)-1), "unknown status");
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", PL_VERSION_MAJOR, PL_VERSION_MINOR, PL_VERSION_PATCH);
    assert_string_equal(pl_version(), version);
}

static void test_clock(void **state)
{
    (void)state;
    double before = pl_milliseconds(), now = before;
    for (int i = 0; i < 1000; i++) {
        double next = pl_milliseconds();
        assert_true(next >= now);
        now = next;
    }
    assert_true(now > before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_allocator),   cmocka_unit_test(test_errors),
        cmocka_unit_test(test_long_errors), cmocka_unit_test(test_log),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
