/* Files that appear whole or not at all: see whole.h. */
#include "core/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

pl_status pl_whole_place(pl_context *ctx, const char *path, char **place)
{
    struct stat at, own;
    bool there = stat(path, &at) == 0;
    *place = NULL;
    if (there && !S_ISREG(at.st_mode))
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be replaced: it is %s, not a file", path,
                       kind_of(at.st_mode));
    bool linked = lstat(path, &own) == 0 && S_ISLNK(own.st_mode);
    char *target = linked ? realpath(path, NULL) : NULL;
    if (linked && !target)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be replaced: a link that leads nowhere: %s",
                       path, strerror(errno));
    *place = pl_strdup(ctx, linked ? target : path);
    free(target);
    return *place ? PL_OK : PL_ERROR_MEMORY;
}

static bool write_all(int file, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

pl_status pl_write_whole(pl_context *ctx, const char *path, const void *bytes, size_t count)
{
    pl_status status = PL_OK;
    char *place = NULL, *temporary = NULL;
    int file = -1;
    PL_CHECK(pl_whole_place(ctx, path, &place), done);
    size_t length = strlen(place) + 64;
    PL_NEW(ctx, temporary, length, done);
    for (int attempt = 0; file < 0 && attempt < 100; attempt++) {
        snprintf(temporary, length, "%s.%ld-%d.part", place, (long)getpid(), attempt);
        file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            break;
    }
    if (file < 0) {
        status = pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be created: %s", path, strerror(errno));
        goto done;
    }
    bool good = write_all(file, bytes, count);
    good = close(file) == 0 && good;
    if (!good || rename(temporary, place) != 0) {
        status = pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
        unlink(temporary);
    }
done:
    pl_free(ctx, temporary);
    pl_free(ctx, place);
    return status;
}
