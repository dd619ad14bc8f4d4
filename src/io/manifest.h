/*
 * What we wrote into a directory: manifest.txt in it names its files, one a line, and its folders, with
 * a slash at the end. What it does not name is somebody else's and is never replaced or removed.
 */
#ifndef PL_MANIFEST_H
#define PL_MANIFEST_H

#include "io/report_text.h"

#define PL_MANIFEST_NAME "manifest.txt"

/* Begins a list, which names itself; freed with pl_text_free. */
void pl_manifest_begin(pl_context *ctx, pl_text *manifest);
/* Of at most 250 characters; folders before what they hold. */
void pl_manifest_add(pl_text *manifest, const char *name);
bool pl_manifest_has(const pl_text *manifest, const char *name);
/* Of length 0 when the directory has none that we wrote. */
pl_status pl_manifest_read(pl_context *ctx, const char *directory, pl_text *out);
pl_status pl_manifest_write(const pl_text *manifest, const char *directory);
/* Removes the files it names, and its folders where nothing else is in them. Follows no links. */
void pl_manifest_remove(const pl_text *manifest, const char *directory);

#endif
