/*
 * Output directories. rename() is atomic, so readers see either no directory (or the earlier one) or
 * the complete new one; where the system can, an earlier one is exchanged in one call as well.
 */
#define _GNU_SOURCE
#include "io/output_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join(pl_context *ctx, const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 1;
    char *text = pl_alloc(ctx, size, 1);
    if (text)
        snprintf(text, size, "%s%s", a, b);
    return text;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *level)
{
    (void)info, (void)kind, (void)level;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* An entry of a directory that is not one of the names, in `out`; false when there is none. */
static bool find_other(const char *path, const char *const *names, char *out, size_t size)
{
    DIR *stream = opendir(path);
    const struct dirent *entry;
    bool found = false;
    while (stream && !found && (entry = readdir(stream)))
        if (!is_one_of(entry->d_name, (const char *const[]){".", "..", NULL}) &&
            !is_one_of(entry->d_name, names)) {
            snprintf(out, size, "%s", entry->d_name);
            found = true;
        }
    if (stream)
        closedir(stream);
    else
        snprintf(out, size, "something unreadable");
    return found || !stream;
}

/* Whether something in this place may be replaced; nothing there is fine. An empty directory is removed
 * now: one that cannot be (a mount point) could not be replaced in the end either. */
static pl_status check_place(pl_directory *d, const char *const *contents)
{
    pl_context *ctx = d->ctx;
    const char *place = d->place;
    struct stat info;
    char other[128];
    if (lstat(place, &info) != 0)
        return errno == ENOENT
                   ? PL_OK
                   : pl_fail(ctx, PL_ERROR_FILE, "%s: cannot look: %s", place, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return pl_fail(ctx, PL_ERROR_FILE, "%s: exists and is not a directory", place);
    if (!find_other(place, (const char *const[]){NULL}, other, sizeof other)) {
        if (rmdir(place) != 0)
            return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be replaced: %s", place, strerror(errno));
        d->removed_empty = true;
        return PL_OK;
    }
    if (!d->replace)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: exists already", place);
    if (find_other(place, contents, other, sizeof other))
        return pl_fail(ctx, PL_ERROR_FILE,
                       "%s: not replaced, it holds %s, which is no part of an output", place, other);
    if (find_other(place, contents + 1, other, sizeof other)) /* the first of the names is there */
        return PL_OK;
    return pl_fail(ctx, PL_ERROR_FILE, "%s: not replaced, it holds no %s and so is no earlier output",
                   place, contents[0]);
}

/* mkdir -p of everything above the place; counts what was made. */
static pl_status make_parents(pl_directory *d)
{
    for (char *slash = strchr(d->place + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int failed = mkdir(d->place, 0777), reason = errno;
        d->made_parents += failed == 0;
        if (failed && reason != EEXIST) {
            pl_fail(d->ctx, PL_ERROR_FILE, "%s: cannot make: %s", d->place, strerror(reason));
            *slash = '/';
            return PL_ERROR_FILE;
        }
        *slash = '/';
    }
    return PL_OK;
}

static pl_status make_partial(pl_directory *d)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        char suffix[64];
        snprintf(suffix, sizeof suffix, ".partial-%ld-%d", (long)getpid(), attempt);
        char *name = join(d->ctx, d->place, suffix);
        if (!name)
            return PL_ERROR_MEMORY;
        if (mkdir(name, 0777) == 0) {
            d->partial = name;
            return PL_OK;
        }
        int reason = errno;
        pl_fail(d->ctx, PL_ERROR_FILE, "%s: cannot make: %s", name, strerror(reason));
        pl_free(d->ctx, name);
        if (reason != EEXIST)
            break;
    }
    return PL_ERROR_FILE;
}

pl_status pl_directory_open(pl_context *ctx, const char *place, bool replace,
                            const char *const *contents, pl_directory *out)
{
    pl_status status = PL_OK;
    pl_directory d = {.ctx = ctx, .replace = replace};
    if (!place || !place[0])
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "directory: expected a name");
    if (!(d.place = pl_strdup(ctx, place)))
        return PL_ERROR_MEMORY;
    for (size_t end = strlen(d.place); end > 1 && d.place[end - 1] == '/'; end--)
        d.place[end - 1] = '\0';
    const char *name = strrchr(d.place, '/') ? strrchr(d.place, '/') + 1 : d.place;
    if (is_one_of(name, (const char *const[]){"", ".", "..", NULL})) {
        status = pl_fail(ctx, PL_ERROR_FILE, "%s: expected the name of a directory to make", place);
        goto done;
    }
    PL_CHECK(check_place(&d, contents), done);
    PL_CHECK(make_parents(&d), done);
    PL_CHECK(make_partial(&d), done);
    *out = d;
    return PL_OK;
done:
    pl_directory_close(&d);
    return status;
}

char *pl_directory_path(const pl_directory *directory, const char *name)
{
    size_t size = strlen(directory->partial) + strlen(name) + 2;
    char *path = pl_alloc(directory->ctx, size, 1);
    if (path)
        snprintf(path, size, "%s/%s", directory->partial, name);
    return path;
}

pl_status pl_directory_make(const pl_directory *directory, const char *name)
{
    char *path = pl_directory_path(directory, name);
    if (!path)
        return PL_ERROR_MEMORY;
    pl_status status = PL_OK;
    if (mkdir(path, 0777) != 0)
        status = pl_fail(directory->ctx, PL_ERROR_FILE, "%s: cannot make: %s", path, strerror(errno));
    pl_free(directory->ctx, path);
    return status;
}

/* Puts the new one in the earlier one's place; file systems that cannot exchange take two renames. */
static int exchange(pl_directory *d)
{
    if (renameat2(AT_FDCWD, d->partial, AT_FDCWD, d->place, RENAME_EXCHANGE) == 0) {
        remove_tree(d->partial);
        return 0;
    }
    char *old = join(d->ctx, d->partial, ".old");
    int failed = !old || rename(d->place, old) != 0;
    if (!failed && (failed = rename(d->partial, d->place) != 0)) {
        int reason = errno;
        rename(old, d->place);
        errno = reason;
    } else if (!failed) {
        remove_tree(old);
    }
    pl_free(d->ctx, old);
    return failed;
}

pl_status pl_directory_commit(pl_directory *d)
{
    bool earlier = d->replace && access(d->place, F_OK) == 0;
    pl_status status = PL_OK;
    if (earlier ? exchange(d) : rename(d->partial, d->place) != 0)
        status = pl_fail(d->ctx, PL_ERROR_FILE, "%s: cannot put the output there: %s; it is in %s",
                         d->place, strerror(errno), d->partial);
    pl_free(d->ctx, d->partial);
    d->partial = NULL;
    d->made_parents = 0;
    d->removed_empty = false;
    return status;
}

void pl_directory_close(pl_directory *d)
{
    if (d->partial)
        remove_tree(d->partial);
    if (d->removed_empty)
        mkdir(d->place, 0777);
    while (d->place && d->made_parents-- > 0) {
        *strrchr(d->place, '/') = '\0';
        rmdir(d->place);
    }
    pl_free(d->ctx, d->partial);
    pl_free(d->ctx, d->place);
    *d = (pl_directory){0};
}
