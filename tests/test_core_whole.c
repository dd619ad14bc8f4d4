/* Files that appear whole: what they may take the place of, and what a link leads to. */
#include "common_files.h"

#include "core/whole.h"

#include <sys/stat.h>

static pl_status write_text(pl_context *ctx, const char *path, const char *text)
{
    return pl_write_whole(ctx, path, text, strlen(text));
}

static void expect_text(const char *path, const char *expected)
{
    size_t count;
    char *text = test_file_read(path, &count);
    assert_int_equal(count, strlen(expected));
    assert_memory_equal(text, expected, count);
    free(text);
}

/* A file of that name in the folder, valid as long as `room` is. */
static const char *named(const test_folder *folder, const char *name, char room[600])
{
    snprintf(room, 600, "%s", test_file(folder, name));
    return room;
}

static void test_files_are_replaced(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    char file[600];
    assert_ok(ctx, write_text(ctx, named(&folder, "a.txt", file), "first"));
    assert_ok(ctx, write_text(ctx, file, "second"));
    expect_text(file, "second");
    assert_int_equal(test_folder_count(&folder), 1);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

static void test_links_are_followed(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    struct stat info;
    char file[600], link[600], loose[600];
    assert_ok(ctx, write_text(ctx, named(&folder, "a.txt", file), "first"));
    assert_int_equal(symlink("a.txt", named(&folder, "link", link)), 0);
    assert_int_equal(symlink("none", named(&folder, "loose", loose)), 0);
    assert_ok(ctx, write_text(ctx, link, "second"));
    expect_text(file, "second");
    assert_true(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    assert_int_equal(write_text(ctx, loose, "third"), PL_ERROR_FILE);
    assert_contains(pl_context_error(ctx), "loose: cannot be replaced: a link that leads nowhere");
    assert_int_equal(test_folder_count(&folder), 3);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

static void test_all_else_is_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    struct stat info;
    char pipe[600], link[600];
    assert_int_equal(mkfifo(named(&folder, "pipe", pipe), 0600), 0);
    assert_int_equal(symlink("pipe", named(&folder, "link", link)), 0);
    assert_int_equal(write_text(ctx, pipe, "text"), PL_ERROR_FILE);
    assert_contains(pl_context_error(ctx), "pipe: cannot be replaced: it is a pipe, not a file");
    assert_int_equal(write_text(ctx, link, "text"), PL_ERROR_FILE);
    assert_contains(pl_context_error(ctx), "link: cannot be replaced: it is a pipe, not a file");
    assert_int_equal(write_text(ctx, folder.path, "text"), PL_ERROR_FILE);
    assert_contains(pl_context_error(ctx), "it is a directory, not a file");
    assert_true(lstat(pipe, &info) == 0 && S_ISFIFO(info.st_mode));
    assert_int_equal(test_folder_count(&folder), 2);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_replaced),
        cmocka_unit_test(test_links_are_followed),
        cmocka_unit_test(test_all_else_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
