/*
 * The directory of a fit: its files are written one by one over its whole course, so each name is
 * claimed in the manifest before it is first written, and never taken from somebody else.
 */
#include "fit/fit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

/* All names a fit may write; those of the report last. */
static const char *const names[] = {
    PL_CHECKPOINT_NAME, PL_CHECKPOINT_NAME ".new", "history.csv", "result.json",
    "loss.svg",         "parameters.svg",          "report.html"};
enum { NAMES = sizeof names / sizeof *names, NAMES_WITHOUT_REPORT = 4 };

static pl_status join(const pl_fit *fit, const char *file, char *out, size_t size)
{
    if (snprintf(out, size, "%s/%s", fit->def.directory, file) >= (int)size)
        return pl_fail(fit->ctx, PL_ERROR_FILE, "%s: the path is too long", fit->def.directory);
    return PL_OK;
}

/* A file of this name is ours, or there is none. */
static pl_status check_name(const pl_fit *fit, const char *file, char *path, size_t size)
{
    struct stat info;
    PL_TRY(join(fit, file, path, size));
    if (lstat(path, &info) != 0)
        return PL_OK;
    if (pl_manifest_has(&fit->written, file) && S_ISREG(info.st_mode))
        return PL_OK;
    return pl_fail(fit->ctx, PL_ERROR_FILE,
                   "%s: %s, and no fit wrote it; move it away or choose another directory", path,
                   S_ISLNK(info.st_mode) ? "is a symbolic link" : "exists already");
}

pl_status pl_fit_path(pl_fit *fit, const char *file, char *out, size_t size)
{
    PL_TRY(check_name(fit, file, out, size));
    if (pl_manifest_has(&fit->written, file))
        return PL_OK;
    pl_manifest_add(&fit->written, file);
    return pl_manifest_write(&fit->written, fit->def.directory);
}

pl_status pl_fit_open_directory(pl_fit *fit)
{
    const char *directory = fit->def.directory;
    char path[4096];
    struct stat info;
    if (!fit->def.resume && mkdir(directory, 0777) != 0 && errno != EEXIST)
        return pl_fail(fit->ctx, PL_ERROR_FILE, "%s: cannot make the directory: %s", directory,
                       strerror(errno));
    if (lstat(directory, &info) == 0 && S_ISLNK(info.st_mode))
        return pl_fail(fit->ctx, PL_ERROR_FILE,
                       "%s: is a symbolic link; name the directory it leads to", directory);
    PL_TRY(pl_manifest_read(fit->ctx, directory, &fit->written));
    if (fit->written.length == 0) {
        PL_TRY(check_name(fit, PL_MANIFEST_NAME, path, sizeof path));
        pl_manifest_begin(fit->ctx, &fit->written);
    }
    /* A checkpoint that is whole names us by itself, as where only it was copied. */
    if (fit->def.resume && !pl_manifest_has(&fit->written, PL_CHECKPOINT_NAME))
        pl_manifest_add(&fit->written, PL_CHECKPOINT_NAME);
    for (int i = 0; i < (fit->def.report ? NAMES : NAMES_WITHOUT_REPORT); i++)
        PL_TRY(check_name(fit, names[i], path, sizeof path));
    PL_TRY(join(fit, PL_CHECKPOINT_NAME, path, sizeof path));
    if (!fit->def.resume && lstat(path, &info) == 0)
        return pl_fail(fit->ctx, PL_ERROR_ARGUMENT,
                       "%s: there is a fit already; resume it or choose another directory", path);
    return PL_OK;
}
