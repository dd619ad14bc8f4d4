/* A directory that appears whole or not at all: built beside its place, then moved there. */
#ifndef PL_OUTPUT_DIRECTORY_H
#define PL_OUTPUT_DIRECTORY_H

#include "core/core.h"

typedef struct pl_directory {
    pl_context *ctx;
    char *place;        /* where it will be */
    char *partial;      /* where it is built; NULL once moved or removed */
    bool replace;       /* an earlier output may be there */
    bool removed_empty; /* an empty directory was there, which comes back if the output does not */
    int made_parents;   /* how many directories above it were made for it */
} pl_directory;

/* Makes the partial directory. `contents`, NULL-terminated, are the names an output may have, of which
 * it always has the first: with `replace` such a directory is replaced, one that holds anything else
 * never is. An empty one always is. */
pl_status pl_directory_open(pl_context *ctx, const char *place, bool replace,
                            const char *const *contents, pl_directory *out);
/* "<partial>/<name>", the caller's to free; NULL when memory is short. */
char *pl_directory_path(const pl_directory *directory, const char *name);
pl_status pl_directory_make(const pl_directory *directory, const char *name);
/* Moves it to its place; where that fails it stays where it was built, which the message names. */
pl_status pl_directory_commit(pl_directory *directory);
/* Removes what was not committed, and frees the strings. */
void pl_directory_close(pl_directory *directory);

#endif
