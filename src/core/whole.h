/*
 * Files that appear whole or not at all: written under another name beside their own, and renamed when
 * complete. A rename takes the place of whatever is there, so that is looked at before.
 */
#ifndef PL_WHOLE_H
#define PL_WHOLE_H

#include "core/core.h"

/* Where the file at `path` is to be renamed to: there, or to where it leads as a link. Refused is what
 * is there and no regular file, a device, a pipe or a directory. Freed with pl_free. */
pl_status pl_whole_place(pl_context *ctx, const char *path, char **place);

/* Writes the bytes to a file of their own. */
pl_status pl_write_whole(pl_context *ctx, const char *path, const void *bytes, size_t count);

#endif
