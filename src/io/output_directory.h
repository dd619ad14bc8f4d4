/* A directory that appears whole or not at all: built beside its place, then moved there. */
#ifndef PL_OUTPUT_DIRECTORY_H
#define PL_OUTPUT_DIRECTORY_H

#include "io/manifest.h"

typedef struct pl_directory {
    pl_context *ctx;
    char *place;        /* where it will be */
    char *partial;      /* where it is built; NULL once moved or removed */
    bool replace;       /* an earlier output may be there */
    bool removed_empty; /* an empty directory was there, which comes back if the output does not */
    int made_parents;   /* how many directories above it were made for it */
    pl_text written;    /* its manifest */
} pl_directory;

/* Makes the partial directory. With `replace` an earlier output (what has a manifest) may be in its
 * place: what the manifest names is replaced, all else stays there. `contents`, NULL-terminated, are
 * the names the new one may have, folders with a slash: none of them may be somebody else's. An empty
 * directory is as good as none. */
pl_status pl_directory_open(pl_context *ctx, const char *place, bool replace,
                            const char *const *contents, pl_directory *out);
/* "<partial>/<name>" of a file that will be written, the caller's to free; NULL when memory is short.
 */
char *pl_directory_path(pl_directory *directory, const char *name);
/* A folder in it; the name ends in a slash. */
pl_status pl_directory_make(pl_directory *directory, const char *name);
/* Moves it to its place; where that fails it stays where it was built, which the message names. What
 * others have put into an earlier one moves over; what cannot stays beside it, with a warning. */
pl_status pl_directory_commit(pl_directory *directory);
/* Removes what was not committed, and frees the strings. */
void pl_directory_close(pl_directory *directory);

#endif
