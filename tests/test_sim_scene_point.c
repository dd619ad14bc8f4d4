/* The point of a body that is at a place at the start. */
#include "common_scene.h"

#include "sim/scene.h"

#include <pliant/io.h>

static void where(const pl_scene *scene, const pl_point *p, double x[3])
{
    pl_body_info body;
    assert_ok(scene->ctx, pl_scene_body(scene, p->body, &body));
    memset(x, 0, 3 * sizeof *x);
    for (int k = 0; k < p->count; k++)
        for (int a = 0; a < 3; a++)
            x[a] += p->weights[k] * scene->q0[3 * (body.vertex_offset + p->vertices[k]) + a];
}

static void assert_at(const pl_scene *scene, int body, double x, double y, double z)
{
    const double wanted[3] = {x, y, z};
    double found[3], sum = 0;
    pl_point p;
    assert_ok(scene->ctx, pl_scene_point_at(scene, body, wanted, &p));
    assert_int_equal(p.body, body);
    assert_in_range(p.count, 1, 4);
    for (int k = 0; k < p.count; k++) {
        assert_true(p.weights[k] >= 0);
        sum += p.weights[k];
    }
    assert_float_equal(sum, 1, 1e-14);
    where(scene, &p, found);
    for (int a = 0; a < 3; a++)
        assert_float_equal(found[a], wanted[a], 3e-6);
}

static void refuse(const pl_scene *scene, int body, double x, double y, double z, const char *message)
{
    const double at[3] = {x, y, z};
    pl_point p;
    assert_int_equal(pl_scene_point_at(scene, body, at, &p), PL_ERROR_ARGUMENT);
    assert_string_equal(pl_context_error(scene->ctx), message);
}

/* A box of 2 x 1 x 1 m that starts 10 m from its rest shape, and a square of cloth. */
static void inside_on_and_off(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const char text[] = "{\"version\": 1, \"bodies\": ["
                        "{\"name\": \"box\", \"mesh\": {\"box\": {\"size\": [2, 1, 1], \"cell\": 0.5}},"
                        " \"transform\": {\"translate\": [10, 0, 0]}},"
                        "{\"name\": \"sheet\", \"mesh\": {\"rectangle\": {\"width\": 1, \"height\": 1, "
                        "\"cell\": 0.3}}}]}";
    pl_scene *scene = NULL;
    assert_ok(ctx, pl_scene_load_text(ctx, text, strlen(text), "text", NULL, 0, NULL, &scene, NULL));
    assert_at(scene, 0, 10.3, 0.41, 0.77);
    assert_at(scene, 0, 10, 0, 0);
    assert_at(scene, 0, 12, 1, 1);
    assert_at(scene, 0, 11, 0.2, 1);
    assert_at(scene, 0, 11, 0.2, 1 + 2e-6);
    assert_at(scene, 1, 0.123, 0.456, 0);
    assert_at(scene, 1, 1, 1, 0);
    refuse(scene, 0, 9.75, 0.5, 0.5, "at: [9.75, 0.5, 0.5] is 0.25 m off \"box\" at the start");
    refuse(scene, 0, 11, 0.5, 1.00001, "at: [11, 0.5, 1.00001] is 1e-05 m off \"box\" at the start");
    refuse(scene, 1, 0.5, 0.5, 0.1, "at: [0.5, 0.5, 0.1] is 0.1 m off \"sheet\" at the start");
    refuse(scene, 0, NAN, 0, 0, "at: the point is not finite");
    refuse(scene, 2, 0, 0, 0, "body = 2: the scene has 2 bodies");
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inside_on_and_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
