/* Scene files, up to the start of their simulation. */
#include "fuzz.h"

#include <pliant/io.h>

void fuzz_scene(const fuzz_kind *kind, const uint8_t *data, size_t size)
{
    (void)kind;
    fuzz_memory memory;
    pl_context *ctx = fuzz_open(&memory, (size_t)16 << 20);
    pl_scene *scene = NULL;
    pl_scene_file_info info;
    pl_status status = pl_scene_load_text(ctx, (const char *)data, size, "scene.json", "/nowhere", 0,
                                          NULL, &scene, &info);
    FUZZ_CHECK((status == PL_OK) == (scene != NULL), "%s", pl_status_name(status));
    const char *name = "scene.json";
    if (scene) {
        pl_state *state = NULL;
        status = pl_state_create(scene, &state);
        pl_state_destroy(scene, state);
        pl_scene_destroy(scene);
        name = ""; /* a scene no longer knows its file */
    }
    fuzz_close(&memory, ctx, status, name);
}
