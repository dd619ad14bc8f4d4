/* Memory that runs out inside the JSON library is called that, not bad JSON. */
#include "common.h"

#include <pliant/io.h>

#include <errno.h>
#include <jansson.h>

static const char scene_text[] = "{\"version\": 1, \"name\": \"a\\u00e4\", \"bodies\": [{\"mesh\": "
                                 "{\"box\": {\"size\": [0.1, 0.1, 0.1], "
                                 "\"cell\": 1e-1}}, \"material\": {\"young\": 100000}}], "
                                 "\"colliders\": [{\"shape\": {\"half_space\": "
                                 "{}}}]}";

static long calls, fail_at; /* jansson's allocator has no place for them */

static void *fail_once(size_t bytes)
{
    if (++calls == fail_at) {
        errno = ENOMEM;
        return NULL;
    }
    return malloc(bytes);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *const overrides[] = {"bodies[0].material.density=500", "colliders[0].name=floor",
                                     "bodies[0].transform.translate=[0, 0, 1]"};
    pl_context *ctx = test_context(1);
    json_set_alloc_funcs(fail_once, free);
    for (fail_at = 1;; fail_at++) {
        pl_scene *scene;
        calls = 0;
        pl_status status = pl_scene_load_text(ctx, scene_text, sizeof scene_text - 1, "scene", NULL, 3,
                                              overrides, &scene, NULL);
        pl_scene_destroy(scene);
        if (status == PL_OK && calls < fail_at)
            break;
        if (status != PL_ERROR_MEMORY || !strstr(pl_context_error(ctx), "out of memory"))
            fail_msg("allocation %ld failing gives \"%s\": %s", fail_at, pl_status_name(status),
                     pl_context_error(ctx));
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(fail_at > 50);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
