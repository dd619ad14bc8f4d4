/* Checkpoints that are damaged in any way are refused. */
#include "fit_small.h"

#include <sys/stat.h>
#include <zlib.h>

enum { PREFIX = 20 }; /* of {"crc32":"89abcdef", */

/* Goes on from a checkpoint of these bytes. */
static pl_status resume_from(small_fit *f, const char *bytes, size_t count)
{
    char path[256];
    snprintf(path, sizeof path, "%s/checkpoint.json", f->out);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    return small_fit_run(f);
}

static void damage_is_noticed(void **state)
{
    small_fit *f = *state;
    assert_ok(f->ctx, small_fit_run(f));
    char *good = files_read(f->out, "checkpoint.json"), *bad = malloc(2 << 20);
    size_t count = strlen(good);
    f->def.resume = true;
    assert_ok(f->ctx, resume_from(f, good, count));
    for (size_t i = 0; i < count; i++) { /* a bit, a digit, all that follows */
        memcpy(bad, good, count);
        bad[i] ^= (char)(1 << i % 8);
        assert_int_equal(resume_from(f, bad, count), PL_ERROR_PARSE);
        bad[i] = good[i] == '7' ? '8' : '7';
        assert_int_equal(resume_from(f, bad, count), PL_ERROR_PARSE);
        assert_int_equal(resume_from(f, good, i), PL_ERROR_PARSE);
    }
    memcpy(bad, good, count);
    bad[count] = '\n';
    assert_int_equal(resume_from(f, bad, count + 1), PL_ERROR_PARSE);
    assert_non_null(strstr(pl_context_error(f->ctx), "checksum"));
    assert_int_equal(resume_from(f, good + PREFIX, count - PREFIX), PL_ERROR_PARSE);
    assert_ok(f->ctx, resume_from(f, good, count));
    free(good);
    free(bad);
}

/* What nobody has written, with a right checksum. */
static void impossible_states_are_refused(void **state)
{
    small_fit *f = *state;
    assert_ok(f->ctx, small_fit_run(f));
    char *good = files_read(f->out, "checkpoint.json");
    static const char *const changes[][2] = {{"\"checkpoint\":4", "\"checkpoint\":1"},
                                             {"\"stage\":0", "\"stage\":-1"},
                                             {"\"stage_start\":0", "\"stage_start\":-5"},
                                             {"\"first\":0", "\"first\":1"},
                                             {"\"first\":0", "\"first\":-1"},
                                             {"\"inputs\":[", "\"inputs\":[1.0"},
                                             {"\"rows\":3", "\"rows\":2"},
                                             {"\"rows\":3", "\"rows\":2000000000"},
                                             {"\"rows\":3", "\"rows\":0"},
                                             {"\"state\":[2.0", "\"state\":[-2.0"},
                                             {"\"state\":[2.0", "\"state\":[2.5"},
                                             {"\"state\":[2.0", "\"state\":[1e300"},
                                             {"\"state\":[2.0", "\"state\":[null"},
                                             {"\"state\":[2.0", "\"state\":[2.0,1.0"},
                                             {"\"history\":[", "\"history\":[[1.0],"},
                                             {"\"history\":", "\"memory\":"}};
    f->def.resume = true;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *at = strstr(good, changes[i][0]);
        if (!at)
            fail_msg("no %s in %s", changes[i][0], good);
        char *text = malloc(strlen(good) + 64);
        int length = sprintf(text, "%.*s%s%s", (int)(at - good), good, changes[i][1],
                             at + strlen(changes[i][0]));
        char crc[9];
        snprintf(crc, sizeof crc, "%08lx",
                 crc32(0, (const unsigned char *)text + PREFIX, (unsigned)(length - PREFIX)));
        memcpy(strchr(text, ':') + 2, crc, 8);
        pl_status status = resume_from(f, text, (size_t)length);
        if (status != PL_ERROR_PARSE && status != PL_ERROR_ARGUMENT)
            fail_msg("%s: %s", changes[i][1], pl_status_name(status));
        assert_null(strstr(pl_context_error(f->ctx), "checksum"));
        free(text);
    }
    free(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damage_is_noticed, small_fit_open, small_fit_close),
        cmocka_unit_test_setup_teardown(impossible_states_are_refused, small_fit_open, small_fit_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
