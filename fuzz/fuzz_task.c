/* Task files, of a scene with all there may be an unknown of. */
#include "fuzz.h"

#include <pliant/fit.h>

#include <unistd.h>

static const char scene[] =
    "{\"version\": 1, \"steps\": 2, \"bodies\": [{\"name\": \"block\", \"mesh\": {\"box\": {\"size\": "
    "[0.1, 0.1, 0.1], \"cell\": 0.1}}}, {\"name\": \"sheet\", \"mesh\": {\"rectangle\": {\"width\": "
    "0.2, "
    "\"height\": 0.2, \"cell\": 0.1}}, \"transform\": {\"translate\": [1, 0, 0]}}], \"forces\": "
    "[{\"body\": \"block\", \"value\": [0, 0, 0]}], \"pins\": [{\"body\": \"sheet\", \"vertices\": "
    "[0]}], "
    "\"wind\": [{\"body\": \"sheet\", \"velocity\": [1, 0, 0]}], \"colliders\": [{\"name\": \"floor\", "
    "\"shape\": {\"half_space\": {}}}], \"muscles\": [{\"body\": \"block\", \"direction\": [1, 0, "
    "0]}]}";

void fuzz_task(const fuzz_kind *kind, const uint8_t *data, size_t size)
{
    (void)kind;
    fuzz_memory memory;
    pl_context *ctx = fuzz_open(&memory, (size_t)16 << 20);
    pl_task *task = NULL;
    if (access(fuzz_path("scene.json"), F_OK) != 0)
        fuzz_write("scene.json", scene, sizeof scene - 1);
    fuzz_write("task.json", data, size);
    pl_status status = pl_task_load(ctx, fuzz_path("task.json"), 0, NULL, &task);
    FUZZ_CHECK((status == PL_OK) == (task != NULL), "%s", pl_status_name(status));
    pl_task_destroy(task);
    fuzz_close(&memory, ctx, status, ".json");
}
