/*
 * Checkpoints of a small fit by L-BFGS-B, which has the most in them: what follows the checksum, the
 * version and the task's fingerprint, which no fuzzer would get past and which are made right here.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <pliant/fit.h>

#include <zlib.h>

static const char scene[] =
    "{\"version\": 1, \"steps\": 1, \"bodies\": [{\"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], "
    "\"cell\": 0.1}}}], \"forces\": [{\"body\": 0, \"value\": [0, 0, 0]}]}";
static const char text[] =
    "{\"version\": 1, \"scene\": \"fit_scene.json\", \"unknowns\": [{\"quantity\": \"force\", "
    "\"direction\": "
    "[1, 0, 0], \"initial\": 1, \"true\": 2}], \"loss\": [{\"kind\": \"positions\"}], \"optimizer\": "
    "{\"method\": \"lbfgsb\", \"iterations\": 3, \"pairs\": 2}}";

#define CHECKPOINT "out/checkpoint.json"
#define CRC        "{\"crc32\":\"%08lx\","

typedef struct fixture {
    fuzz_memory memory;
    pl_context *ctx;
    pl_task *task;
    char start[256]; /* of a checkpoint, after the checksum */
} fixture;

static bool stop_at_once(void *unused)
{
    (void)unused;
    return false;
}

static pl_status fit(fixture *f, bool resume)
{
    pl_fit_result *result = NULL;
    pl_fit_def def = pl_fit_def_default();
    char directory[512];
    snprintf(directory, sizeof directory, "%s", fuzz_path("out"));
    def.directory = directory;
    def.report = false;
    def.resume = resume;
    def.keep_going = resume ? stop_at_once : NULL;
    pl_status status = pl_task_fit(f->task, &def, &result);
    FUZZ_CHECK((status == PL_OK) == (result != NULL), "%s", pl_status_name(status));
    pl_fit_result_free(f->task, result);
    return status;
}

/* A whole fit, whose checkpoint begins as the others must. Those share the task and its target. */
static void open_fixture(fixture *f)
{
    f->ctx = fuzz_open(&f->memory, SIZE_MAX);
    fuzz_write("fit_scene.json", scene, sizeof scene - 1);
    fuzz_write("fit.json", text, sizeof text - 1);
    FUZZ_CHECK(pl_task_load(f->ctx, fuzz_path("fit.json"), 0, NULL, &f->task) == PL_OK &&
                   fit(f, false) == PL_OK,
               "%s", pl_context_error(f->ctx));
    char bytes[512] = {0};
    FILE *file = fopen(fuzz_path(CHECKPOINT), "rb");
    FUZZ_CHECK(file && fread(bytes, 1, sizeof bytes - 1, file) > 0 && fclose(file) == 0, "no file");
    char *start = strchr(bytes, ',') + 1, *end = strstr(bytes, "\"seconds\"");
    FUZZ_CHECK(end, "another checkpoint than expected: %s", bytes);
    snprintf(f->start, sizeof f->start, "%.*s", (int)(end - start), start);
}

static void write_checkpoint(const fixture *f, const uint8_t *data, size_t size)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&bytes, &length);
    uLong crc = crc32_z(0, (const Bytef *)f->start, strlen(f->start));
    fprintf(file, CRC "%s", size ? crc32_z(crc, data, size) : crc, f->start);
    fwrite(data, 1, size, file);
    fclose(file);
    fuzz_write(CHECKPOINT, bytes, length);
    free(bytes);
}

void fuzz_checkpoint(const fuzz_kind *kind, const uint8_t *data, size_t size)
{
    (void)kind;
    static fixture f;
    if (!f.task)
        open_fixture(&f);
    long before = f.memory.blocks;
    write_checkpoint(&f, data, size);
    fit(&f, true);
    FUZZ_CHECK(f.memory.blocks == before, "%ld blocks left", f.memory.blocks - before);
}
