/*
 * A file that appears whole or not at all: written under a temporary name beside its own and renamed
 * when complete. Text does not depend on the locale.
 */
#ifndef PL_MESH_OUTPUT_H
#define PL_MESH_OUTPUT_H

#include "core/core.h"

#include <locale.h>

typedef struct pl_output {
    pl_context *ctx;
    const char *path;
    char *place;     /* where it goes: there, or to what is there as a link leads to */
    char *temporary; /* its name until then */
    int file;
    char *buffer;
    size_t used;
    locale_t plain, before; /* the C locale, in use while the file is open, and the thread's own */
    pl_status status;       /* of the first failure; what follows it is not written */
} pl_output;

pl_status pl_output_open(pl_context *ctx, const char *path, pl_output *output);
/* Text of at most 1000 characters. */
void pl_output_print(pl_output *output, const char *format, ...) PL_PRINTF(2, 3);
void pl_output_bytes(pl_output *output, const void *bytes, size_t count);
/* Puts the file in its place if `status` and all writing so far are fine, removes it otherwise. */
pl_status pl_output_close(pl_output *output, pl_status status);

#endif
