/*
 * The fuzzer: for each kind of file a function that takes any bytes. They give a result or a message
 * that names the file, nothing leaks, and what is accepted is what it claims to be; FUZZ_CHECK aborts
 * otherwise.
 */
#ifndef PL_FUZZ_H
#define PL_FUZZ_H

#include <pliant/pliant.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fuzz_kind {
    const char *name; /* of mesh files their extension */
    void (*feed)(const struct fuzz_kind *kind, const uint8_t *data, size_t size);
} fuzz_kind;

/* The last has no name. */
extern const fuzz_kind fuzz_kinds[];

void fuzz_scene(const fuzz_kind *kind, const uint8_t *data, size_t size);
void fuzz_task(const fuzz_kind *kind, const uint8_t *data, size_t size);
void fuzz_checkpoint(const fuzz_kind *kind, const uint8_t *data, size_t size);
void fuzz_mesh(const fuzz_kind *kind, const uint8_t *data, size_t size);
void fuzz_surface(const fuzz_kind *kind, const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition, ...)                                                                     \
    do {                                                                                               \
        if (!(condition)) {                                                                            \
            fprintf(stderr, "not so: %s: ", #condition);                                               \
            fprintf(stderr, __VA_ARGS__);                                                              \
            fprintf(stderr, "\n");                                                                     \
            abort();                                                                                   \
        }                                                                                              \
    } while (0)

/* Memory of one input: so much, then none, as on a small machine. */
typedef struct fuzz_memory {
    long blocks;
    size_t left;
} fuzz_memory;

pl_context *fuzz_open(fuzz_memory *memory, size_t bytes);
/* The end of one input, with what came of it; `name` is in messages about it. */
void fuzz_close(fuzz_memory *memory, pl_context *ctx, pl_status status, const char *name);

/* A file of a folder that this process alone uses; good until the next call. */
const char *fuzz_path(const char *name);
void fuzz_write(const char *name, const void *data, size_t size);
void fuzz_remove_folder(void);

#endif
