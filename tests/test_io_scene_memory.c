/* Memory that runs out while a scene is read: said as such, also inside the JSON library, and no leak.
 */
#include "common_alloc.h"

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

static void every_allocation_of_json_may_fail(void **state)
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

/* With all that moves a body. */
static const char actuated_text[] =
    "{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"box\": {\"size\": [0.2, 0.1, 0.1], "
    "\"cell\": 0.1}}}], \"pins\": [{\"body\": \"a\", \"vertices\": [0, 1], \"offset\": [[0, 0, 0, 0], "
    "[1, 0, 0, 1]]}], \"muscles\": [{\"body\": \"a\", \"elements\": {\"box\": [[-1, -1, -1], [1, 1, "
    "1]]}, \"direction\": [1, 0, 0], \"table\": [[0, 0], [1, 0.2]]}], \"cables\": [{\"points\": "
    "[{\"fixed\": [0, 0, 1]}, {\"body\": \"a\", \"vertex\": 3}], \"table\": [[0, 1], [1, 0.9]]}], "
    "\"forces\": [{\"body\": \"a\", \"value\": [0, 0, 1]}], \"colliders\": [{\"name\": \"floor\", "
    "\"shape\": {\"half_space\": {}}, \"position\": [0, 0, -1]}], \"friction\": [{\"body\": \"a\", "
    "\"collider\": \"floor\", \"value\": 0.2}]}";

static pl_status load(pl_context *ctx, void *unused)
{
    (void)unused;
    pl_scene *scene = NULL;
    pl_status status = pl_scene_load_text(ctx, actuated_text, sizeof actuated_text - 1, "scene", NULL,
                                          0, NULL, &scene, NULL);
    pl_scene_destroy(scene);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(load, NULL) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_of_json_may_fail),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
