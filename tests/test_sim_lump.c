/* Where masses go: all of them, in equal parts, and the transpose of that. */
#include "common_scene.h"

#include "sim/lump.h"

static void test_lump(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    for (int k = 0; k < 4; k++) {
        pl_body_def body = pl_body_def_default();
        body.lumped_equally = k % 3 == 0;
        world_add(&w, body,
                  k % 2 ? world_cloth(ctx, 0.3, 0.5, 0.1, 0, 0, 0)
                        : world_grid(ctx, 4, 3, 5, 0.1, 0, 0, 0));
    }
    enum { ELEMENTS = 2 * 6 * 3 * 2 * 4 + 2 * 2 * 3 * 5, VERTICES = 2 * 60 + 2 * 24 };
    assert_int_equal(w.scene->element_count, ELEMENTS);
    assert_int_equal(w.scene->vertex_count, VERTICES);
    double given[ELEMENTS], got[VERTICES], y[VERTICES], mean[ELEMENTS], there = 0, back = 0;
    uint64_t seed = 5;
    for (int e = 0; e < ELEMENTS; e++)
        given[e] = test_random(&seed);
    for (int i = 0; i < VERTICES; i++)
        y[i] = test_random(&seed);
    pl_lump(w.scene, given, got);
    pl_lump_mean(w.scene, y, mean);
    for (int i = 0; i < VERTICES; i++)
        there += got[i] * y[i];
    for (int e = 0; e < ELEMENTS; e++)
        back += given[e] * mean[e];
    assert_close(there, back, 1e-13); /* a sum of some 450 products of order one */

    for (int b = 0; b < w.scene->body_count; b++) {
        const pl_body *body = &w.scene->bodies[b];
        double amount = 0, total = 0;
        for (int e = 0; e < body->element_count; e++)
            amount += given[body->element_offset + e];
        for (int i = 0; i < body->mesh->vertex_count; i++) {
            total += got[body->vertex_offset + i];
            if (body->lumped_equally)
                assert_close(got[body->vertex_offset + i], amount / body->mesh->vertex_count, 1e-15);
        }
        assert_close(total, amount, 1e-13);
    }
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lump)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
