/* A directory of a test's own, files in it, and what a context logs. */
#ifndef PL_TEST_COMMON_FILES_H
#define PL_TEST_COMMON_FILES_H

#include "common.h"

#include <dirent.h>
#include <unistd.h>

typedef struct test_folder {
    char path[256];
} test_folder;

static inline test_folder test_folder_make(void)
{
    const char *base = getenv("TMPDIR");
    test_folder folder;
    snprintf(folder.path, sizeof folder.path, "%s/pliant-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

/* The path of a file in the folder, valid until the next call. */
static inline const char *test_file(const test_folder *folder, const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    return path;
}

static inline int test_folder_count(const test_folder *folder)
{
    int count = 0;
    DIR *dir = opendir(folder->path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* Removes the files of the folder, and the folder. */
static inline void test_folder_remove(const test_folder *folder)
{
    DIR *dir = opendir(folder->path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(test_file(folder, entry->d_name));
    }
    closedir(dir);
    assert_int_equal(rmdir(folder->path), 0);
}

static inline void test_file_write(const char *path, const void *bytes, size_t count)
{
    remove(path); /* truncating an old file makes some file systems wait for the disk */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* The bytes of a file, freed by the caller. */
static inline char *test_file_read(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *count = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*count + 1);
    assert_int_equal(fread(bytes, 1, *count, file), *count);
    fclose(file);
    bytes[*count] = 0;
    return bytes;
}

/* All lines logged so far. */
typedef struct test_log {
    char text[4096];
} test_log;

static inline void test_log_line(void *user, pl_log_level level, const char *text)
{
    (void)level;
    test_log *log = user;
    size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof log->text - used, "%s\n", text);
}

static inline pl_context *test_context_logging(test_log *log)
{
    pl_context_def def = pl_context_def_default();
    def.threads = 1;
    def.log = test_log_line;
    def.log_user = log;
    def.log_level = PL_LOG_INFO;
    pl_context *ctx = NULL;
    assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
    return ctx;
}

#define assert_contains(text, part)                                                                    \
    do {                                                                                               \
        if (strstr((text), (part)) == NULL)                                                            \
            fail_msg("\"%s\" does not contain \"%s\"", (text), (part));                                \
    } while (0)

#endif
