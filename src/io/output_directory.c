/*
 * Output directories. rename() is atomic, so readers see either no directory (or the earlier one) or
 * the complete new one; where the system can, an earlier one is exchanged in one call as well.
 */
#define _GNU_SOURCE
#include "io/output_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join(pl_context *ctx, const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = pl_alloc(ctx, size, 1);
    if (text)
        snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

/* Whether something that is not of the earlier output has a name the new one may need; folders are
 * shared. */
static bool is_in_the_way(const char *place, const pl_text *earlier, const char *name)
{
    char path[PATH_MAX];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/%s", place, name);
    if (length >= (int)sizeof path || pl_manifest_has(earlier, name))
        return false;
    bool folder = path[length - 1] == '/';
    path[length - folder] = '\0'; /* a link is looked at, not followed */
    return lstat(path, &info) == 0 && !(folder && S_ISDIR(info.st_mode));
}

static pl_status check_contents(const pl_directory *d, const char *const *contents)
{
    pl_text earlier;
    pl_status status = pl_manifest_read(d->ctx, d->place, &earlier);
    if (status == PL_OK && earlier.length == 0)
        status = pl_fail(d->ctx, PL_ERROR_FILE,
                         "%s: not replaced, it has no " PL_MANIFEST_NAME
                         " of ours and so is no earlier output",
                         d->place);
    for (; status == PL_OK && *contents; contents++)
        if (is_in_the_way(d->place, &earlier, *contents))
            status = pl_fail(d->ctx, PL_ERROR_FILE, "%s/%s: in the way, and not ours to replace",
                             d->place, *contents);
    pl_text_free(&earlier);
    return status;
}

/* Whether something in this place may be replaced; nothing there is fine. An empty directory is removed
 * now: one that cannot be (a mount point) could not be replaced in the end either. */
static pl_status check_place(pl_directory *d, const char *const *contents)
{
    pl_context *ctx = d->ctx;
    const char *place = d->place;
    struct stat info;
    if (lstat(place, &info) != 0)
        return errno == ENOENT
                   ? PL_OK
                   : pl_fail(ctx, PL_ERROR_FILE, "%s: cannot look: %s", place, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return pl_fail(ctx, PL_ERROR_FILE, "%s: exists and is not a directory", place);
    if (rmdir(place) == 0) {
        d->removed_empty = true;
        return PL_OK;
    }
    if (errno != ENOTEMPTY && errno != EEXIST)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be replaced: %s", place, strerror(errno));
    if (!d->replace)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: exists already", place);
    return check_contents(d, contents);
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
        char *name = join(d->ctx, d->place, suffix, "");
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
    if (!name[0] || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        status = pl_fail(ctx, PL_ERROR_FILE, "%s: expected the name of a directory to make", place);
        goto done;
    }
    PL_CHECK(check_place(&d, contents), done);
    PL_CHECK(make_parents(&d), done);
    PL_CHECK(make_partial(&d), done);
    pl_manifest_begin(ctx, &d.written);
    *out = d;
    return PL_OK;
done:
    pl_directory_close(&d);
    return status;
}

char *pl_directory_path(pl_directory *directory, const char *name)
{
    pl_manifest_add(&directory->written, name);
    return directory->written.status == PL_OK ? join(directory->ctx, directory->partial, "/", name)
                                              : NULL;
}

pl_status pl_directory_make(pl_directory *directory, const char *name)
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

/* rename() that replaces nothing. */
static int move(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    struct stat info;
    bool unknown = errno == EINVAL || errno == ENOSYS; /* to this file system */
    return unknown && lstat(to, &info) != 0 && errno == ENOENT ? rename(from, to) : -1;
}

/* Moves all entries of a directory that the other has not, into folders both have; removes it if that
 * leaves it empty. */
static void move_contents(pl_context *ctx, const char *from, const char *to)
{
    DIR *stream = opendir(from);
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        char *old = join(ctx, from, "/", name), *new = join(ctx, to, "/", name);
        struct stat a, b;
        if (old && new &&move(old, new) != 0 && lstat(old, &a) == 0 && lstat(new, &b) == 0 &&
            S_ISDIR(a.st_mode) && S_ISDIR(b.st_mode))
            move_contents(ctx, old, new);
        pl_free(ctx, old);
        pl_free(ctx, new);
    }
    if (stream)
        closedir(stream);
    rmdir(from);
}

/* Once the new one is in the place: of the earlier one, now at `old`, ours goes and the rest moves back
 * to where it was. */
static void clear_earlier(pl_directory *d, const char *old)
{
    pl_text earlier;
    if (pl_manifest_read(d->ctx, old, &earlier) == PL_OK)
        pl_manifest_remove(&earlier, old);
    pl_text_free(&earlier);
    move_contents(d->ctx, old, d->place);
    if (access(old, F_OK) == 0)
        pl_log(d->ctx, PL_LOG_WARNING, "%s: what is not ours and would be in the way is now in %s",
               d->place, old);
}

/* Puts the new one in the earlier one's place; file systems that cannot exchange take two renames. */
static int exchange(pl_directory *d)
{
    if (renameat2(AT_FDCWD, d->partial, AT_FDCWD, d->place, RENAME_EXCHANGE) == 0) {
        clear_earlier(d, d->partial);
        return 0;
    }
    char *old = join(d->ctx, d->partial, ".old", "");
    int failed = !old || rename(d->place, old) != 0;
    if (!failed && (failed = rename(d->partial, d->place) != 0)) {
        int reason = errno;
        rename(old, d->place);
        errno = reason;
    } else if (!failed) {
        clear_earlier(d, old);
    }
    pl_free(d->ctx, old);
    return failed;
}

pl_status pl_directory_commit(pl_directory *d)
{
    struct stat info;
    PL_TRY(pl_manifest_write(&d->written, d->partial));
    bool earlier = d->replace && lstat(d->place, &info) == 0 && S_ISDIR(info.st_mode);
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
    if (d->partial) {
        pl_manifest_remove(&d->written, d->partial);
        rmdir(d->partial);
    }
    if (d->removed_empty)
        mkdir(d->place, 0777);
    while (d->place && d->made_parents-- > 0) {
        *strrchr(d->place, '/') = '\0';
        rmdir(d->place);
    }
    pl_free(d->ctx, d->partial);
    pl_free(d->ctx, d->place);
    pl_text_free(&d->written);
    *d = (pl_directory){0};
}
