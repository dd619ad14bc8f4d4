/* Lists of written files: see manifest.h. */
#define _GNU_SOURCE
#include "io/manifest.h"

#include "core/whole.h"
#include "mesh/scan.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char heading[] =
    "# Written by Pliant, which replaces and removes what is named here and nothing else.\n";

void pl_manifest_begin(pl_context *ctx, pl_text *manifest)
{
    *manifest = (pl_text){.ctx = ctx};
    pl_text_add(manifest, heading);
    pl_manifest_add(manifest, PL_MANIFEST_NAME);
}

void pl_manifest_add(pl_text *manifest, const char *name)
{
    pl_text_format(manifest, "%s\n", name);
}

bool pl_manifest_has(const pl_text *manifest, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = manifest->data; line && *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, name, length) == 0 && line[length] == '\n')
            return true;
    return false;
}

static char *path_of(pl_context *ctx, const char *directory)
{
    size_t size = strlen(directory) + sizeof "/" PL_MANIFEST_NAME;
    char *path = pl_alloc(ctx, size, 1);
    if (path)
        snprintf(path, size, "%s/" PL_MANIFEST_NAME, directory);
    return path;
}

pl_status pl_manifest_read(pl_context *ctx, const char *directory, pl_text *out)
{
    *out = (pl_text){.ctx = ctx};
    pl_status status = PL_OK;
    pl_scan scan = {0};
    struct stat info;
    char *path = path_of(ctx, directory);
    if (!path)
        return PL_ERROR_MEMORY;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        goto done;
    PL_CHECK(pl_scan_open(ctx, path, &scan), done);
    size_t start = sizeof heading - 1;
    bool ours = scan.size > start && memcmp(scan.text, heading, start) == 0 &&
                scan.text[scan.size - 1] == '\n' && !memchr(scan.text, 0, scan.size);
    if (ours)
        pl_text_bytes(out, scan.text, scan.size);
    status = out->status;
done:
    pl_scan_close(&scan);
    pl_free(ctx, path);
    return status;
}

pl_status pl_manifest_write(const pl_text *manifest, const char *directory)
{
    PL_TRY(manifest->status);
    char *path = path_of(manifest->ctx, directory);
    if (!path)
        return PL_ERROR_MEMORY;
    pl_status status = pl_write_whole(manifest->ctx, path, manifest->data, (size_t)manifest->length);
    pl_free(manifest->ctx, path);
    return status;
}

/* Removes "file", "folder/file" or "folder/" below an open directory; nothing above it can be named,
 * and a link that stands in for one of them stays. */
static void remove_named(int directory, const char *name, size_t length)
{
    char text[PATH_MAX], *rest = text, *slash;
    if (length >= sizeof text)
        return;
    memcpy(text, name, length);
    text[length] = '\0';
    int at = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && (slash = strchr(rest, '/')) && slash[1]) {
        *slash = '\0';
        int next = strcmp(rest, "..") == 0
                       ? -1
                       : openat(at, rest, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
        rest = slash + 1;
    }
    if (at < 0)
        return;
    struct stat info;
    if ((slash = strchr(rest, '/')))
        *slash = '\0';
    if (strcmp(rest, "..") != 0 && fstatat(at, rest, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        (slash ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode)))
        unlinkat(at, rest, slash ? AT_REMOVEDIR : 0);
    close(at);
}

void pl_manifest_remove(const pl_text *manifest, const char *directory)
{
    int at = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0)
        return;
    /* From the last line up: what is in a folder comes after it. */
    for (int end = manifest->length - 1; end > (int)sizeof heading - 1;) {
        int start = end;
        while (manifest->data[start - 1] != '\n')
            start--;
        remove_named(at, manifest->data + start, (size_t)(end - start));
        end = start - 1;
    }
    close(at);
}
