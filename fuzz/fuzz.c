/* The kinds, and what they share: memory that runs out and a folder. FUZZ_KIND names libFuzzer's. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <ftw.h>
#include <unistd.h>

const fuzz_kind fuzz_kinds[] = {
    {"scene", fuzz_scene}, {"task", fuzz_task},   {"checkpoint", fuzz_checkpoint},
    {"msh", fuzz_mesh},    {"mesh", fuzz_mesh},   {"vtk", fuzz_mesh},
    {"vtu", fuzz_mesh},    {"node", fuzz_mesh},   {"obj", fuzz_mesh},
    {"stl", fuzz_surface}, {"ply", fuzz_surface}, {NULL, NULL},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_kind *kind;
    if (!kind) {
        const char *name = getenv("FUZZ_KIND");
        kind = fuzz_kinds;
        while (kind->name && strcmp(kind->name, name ? name : "") != 0)
            kind++;
        FUZZ_CHECK(kind->name, "FUZZ_KIND is none of the kinds");
    }
    kind->feed(kind, data, size);
    return 0;
}

static void *limited_realloc(void *user, void *block, size_t bytes)
{
    fuzz_memory *memory = user;
    if (bytes == 0) {
        memory->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (bytes > memory->left)
        return NULL;
    memory->left -= bytes; /* all that was ever asked for: a bound on time too */
    memory->blocks += block == NULL;
    return realloc(block, bytes);
}

pl_context *fuzz_open(fuzz_memory *memory, size_t bytes)
{
    *memory = (fuzz_memory){.left = bytes};
    pl_context_def def = pl_context_def_default();
    def.threads = 1;
    def.realloc = limited_realloc;
    def.realloc_user = memory;
    pl_context *ctx = NULL;
    FUZZ_CHECK(pl_context_create(&def, &ctx) == PL_OK, "no context");
    return ctx;
}

void fuzz_close(fuzz_memory *memory, pl_context *ctx, pl_status status, const char *name)
{
    const char *message = pl_context_error(ctx);
    FUZZ_CHECK(status == PL_OK || status == PL_ERROR_MEMORY || strstr(message, name), "%s: %s",
               pl_status_name(status), message);
    pl_context_destroy(ctx);
    FUZZ_CHECK(memory->blocks == 0, "%ld blocks left", memory->blocks);
}

static char folder[256];

const char *fuzz_path(const char *name)
{
    static char path[512];
    if (!folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/fuzz-XXXXXX", base ? base : "/tmp");
        FUZZ_CHECK(mkdtemp(folder), "%s", folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void fuzz_write(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(fuzz_path(name), "wb");
    FUZZ_CHECK(file && (size == 0 || fwrite(data, 1, size, file) == size) && fclose(file) == 0, "%s",
               name);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

void fuzz_remove_folder(void)
{
    if (folder[0])
        nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    folder[0] = '\0';
}
