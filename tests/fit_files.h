/* Scene and task files in a directory of their own, for the tests of fitting. */
#ifndef PL_TEST_FIT_FILES_H
#define PL_TEST_FIT_FILES_H

#include "common.h"

#include <dirent.h>
#include <unistd.h>

/* directory [64] */
static inline void files_make(char *directory)
{
    strcpy(directory, "/tmp/pliant-fit-XXXXXX");
    assert_non_null(mkdtemp(directory));
}

static inline void files_write(const char *directory, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A file's text, freed by the caller. */
static inline char *files_read(const char *directory, const char *name)
{
    char path[256], *text = calloc(1, 1 << 24);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 24) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The directory and its files; not deeper. */
static inline void files_remove(const char *directory)
{
    DIR *open = opendir(directory);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (open)
        closedir(open);
    rmdir(directory);
}

#endif
