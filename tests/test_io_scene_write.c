/* Scenes as text: what is written loads as the same scene, bit for bit. */
#include "common_alloc.h"

#include "sim/scene.h"
#include "terms/chamber.h"
#include "terms/muscle.h"

#include <pliant/io.h>

#include <unistd.h>

static const char everything[] =
    "{\"version\": 1, \"name\": \"all <\\\"µ\\\">\", \"time_step\": 0.02, \"steps\": 7, \"gravity\": "
    "[0, 0.1, -1],\n"
    " \"tolerance\": 1e-9, \"max_iterations\": 30, \"max_splits\": 2, \"contact_epsilon2\": 1e-11,\n"
    " \"contact_margin\": 0.01, \"solver\": \"direct\", \"outputs\": {\"every\": 3, \"volume\": "
    "false},\n"
    " \"bodies\": [\n"
    "  {\"name\": \"bar\", \"mesh\": {\"bar\": {\"length\": 0.4, \"width\": 0.1, \"height\": 0.1, "
    "\"cell\": 0.1}},\n"
    "   \"transform\": {\"scale\": 2, \"rotate\": {\"axis\": [1, 0.3, 3], \"degrees\": 77}, "
    "\"translate\": [1, 0, 0]},\n"
    "   \"material\": {\"model\": \"corotated\", \"reading\": \"projective\", \"young\": 2e5,\n"
    "                \"poisson\": 0.4, \"density\": 500, \"damping\": 0.5},\n"
    "   \"velocity\": [1, 2, 3], \"angular_velocity\": [0, 0, 1], \"lumped_equally\": true},\n"
    "  {\"mesh\": {\"arrays\": {\"vertices\": [[0, 0, 3], [1, 0, 3.1], [0, 1, 3], [1, 1, 3], [0.5, 2, "
    "3]],\n"
    "             \"triangles\": [[0, 1, 2], [1, 3, 2], [2, 3, 4]],\n"
    "             \"vertex_groups\": {\"top\": [4, 2], \"low\": [0]}, \"triangle_groups\": {\"top\": "
    "[2]}}},\n"
    "   \"positions\": [[0, 0, 3], [1, 0, 3], [0, 1.1, 3], [1, 1, 3], [0.5, 2, 3]], \"velocity\": [0, "
    "0, -0.1],\n"
    "   \"material\": {\"bending\": 1e-4, \"thickness\": 0.002, \"young\": {\"top\": 3e4, \"default\": "
    "1e4}}},\n"
    "  {\"name\": \"cup\", \"mesh\": {\"hollow_box\": {\"size\": [3, 3, 3], \"wall\": 1, \"cell\": "
    "1}},\n"
    "   \"transform\": {\"translate\": [90, 0, 0]}}],\n"
    " \"pins\": [{\"body\": \"bar\", \"vertices\": {\"group\": \"left\"}, \"compliance\": 1e-6,\n"
    "            \"offset\": [[0, 0, 0, 0], [1, 0, 0, 0.5]], \"rotation\": [[0, 0, 0, 1, 0.25]],\n"
    "            \"pivot\": [1, 0, 0]},\n"
    "           {\"body\": 1, \"vertices\": [2, 0]},\n"
    "           {\"body\": 1, \"vertices\": {\"group\": \"top\"}, \"offset\": [[0, 0, 0, 0.1]]}],\n"
    " \"forces\": [{\"body\": \"bar\", \"per\": \"mass\", \"value\": [1, 0, 0]},\n"
    "             {\"body\": 1, \"vertices\": [3], \"per\": \"group\",\n"
    "              \"table\": [[0, 0, 0, 0], [2, 4, 0, 0]]}],\n"
    " \"wind\": [{\"body\": 1, \"drag\": 2, \"velocity\": [0, 0, 5]},\n"
    "           {\"body\": 0, \"table\": [[0, 0, 0, 0], [1, 1, 0, 0]]}],\n"
    " \"colliders\": [{\"name\": \"floor\", \"shape\": {\"half_space\": {}}, \"position\": [0, 0, "
    "-5]},\n"
    "                {\"shape\": {\"sphere\": {\"radius\": 0.5}}, \"friction\": 0.1, \"position\": [9, "
    "9, 9],\n"
    "                 \"rotate\": {\"axis\": [1, 2, 3], \"degrees\": 20}},\n"
    "                {\"shape\": {\"box\": {\"half_extents\": [1, 2, 3]}}, \"position\": [19, 9, 9]},\n"
    "                {\"shape\": {\"cylinder\": {\"radius\": 1, \"half_height\": 2}}, \"position\": "
    "[29, 9, 9]},\n"
    "                {\"shape\": {\"capsule\": {\"radius\": 1, \"half_height\": 2}}, \"position\": "
    "[39, 9, 9]},\n"
    "                {\"shape\": {\"mesh\": {\"ellipsoid\": {\"radii\": [1, 1, 2], \"cell\": 0.5}}},\n"
    "                 \"table\": [[0, 49, 9, 9, 1, 0, 0, 0], [1, 50, 9, 9, -0.6, 0, 0, 0.8]]}],\n"
    " \"attachments\": [{\"body\": 0, \"vertices\": [3, 5, 6, 1], \"weights\": [0.1, 0.2, 0.3, 0.4],\n"
    "                   \"to_body\": 1, \"to_vertices\": [0, 1, 2], \"compliance\": 3e-5},\n"
    "                  {\"body\": 1, \"vertices\": [3], \"to_collider\": \"collider1\"}],\n"
    " \"muscles\": [{\"body\": 0, \"path\": [[0, 0, 0], [1, 0, 0], [1, 1, 1]], \"radius\": 3, "
    "\"law\": \"force\",\n"
    "               \"table\": [[0, 0.2], [1, 3]]},\n"
    "              {\"body\": \"bar\", \"elements\": [7, 3, 5], \"direction\": [0.1, 0.2, 0.3],\n"
    "               \"stiffness\": 123.4, \"activation\": 0.7}],\n"
    " \"cables\": [{\"points\": [{\"fixed\": [0.1, 0.2, 7]}, {\"body\": \"bar\", \"vertex\": 3},\n"
    "                         {\"body\": 0, \"vertices\": [0, 4], \"weights\": [0.3, 0.7]},\n"
    "                         {\"body\": 1, \"at\": [0.3, 0.3, 3]}],\n"
    "              \"length\": 8.1, \"compliance\": 0, \"two_way\": true},\n"
    "             {\"points\": [{\"body\": 0, \"vertices\": [1, 2, 5]}, {\"body\": 1, \"vertex\": "
    "2}],\n"
    "              \"segments\": true, \"table\": [[0, 1], [0.1, 1.5], [0.3, 1.4]]},\n"
    "             {\"points\": [{\"body\": 0, \"vertex\": 0}, {\"body\": 1, \"vertex\": 1}]}],\n"
    " \"chambers\": [{\"body\": \"cup\", \"table\": [[0, 10], [0.5, -20.5]]}, {\"body\": 2, "
    "\"pressure\": 1.1}],\n"
    " \"friction\": [{\"body\": \"bar\", \"collider\": \"floor\", \"value\": 0.25}]}\n";

static pl_scene *load(pl_context *ctx, const char *text, pl_scene_file_info *info)
{
    pl_scene *scene = NULL;
    assert_ok(ctx, pl_scene_load_text(ctx, text, strlen(text), "text", NULL, 0, NULL, &scene, info));
    return scene;
}

static void assert_bits(const double *a, const double *b, size_t count)
{
    assert_memory_equal(a, b, sizeof(double) * count);
}

static void assert_same_mesh(const pl_mesh *a, const pl_mesh *b)
{
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->tet_count, b->tet_count);
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_int_equal(a->group_count, b->group_count);
    assert_bits(a->vertices, b->vertices, 3 * (size_t)a->vertex_count);
    assert_memory_equal(a->tets, b->tets, sizeof(int) * 4 * (size_t)a->tet_count);
    assert_memory_equal(a->triangles, b->triangles, sizeof(int) * 3 * (size_t)a->triangle_count);
    for (int g = 0; g < a->group_count; g++) {
        const pl_group *group = &a->groups[g];
        const pl_group *other = pl_mesh_find_group(b, group->name, group->kind);
        assert_non_null(other);
        assert_int_equal(group->count, other->count);
        assert_memory_equal(group->index, other->index, sizeof(int) * (size_t)group->count);
    }
}

static void assert_same_curve(const pl_curve *a, const pl_curve *b)
{
    assert_int_equal(a->count, b->count);
    assert_bits(a->value, b->value, (size_t)(a->count * a->width));
    assert_bits(a->time, b->time, (size_t)a->count);
}

static void assert_same_bodies(const pl_scene *a, const pl_scene *b)
{
    assert_int_equal(a->body_count, b->body_count);
    assert_bits(a->q0, b->q0, 3 * (size_t)a->vertex_count);
    assert_bits(a->v0, b->v0, 3 * (size_t)a->vertex_count);
    for (int i = 0; i < a->body_count; i++) {
        const pl_body *x = &a->bodies[i], *y = &b->bodies[i];
        assert_string_equal(x->name, y->name);
        assert_same_mesh(x->mesh, y->mesh);
        assert_true(x->model == y->model && x->reading == y->reading && x->thickness == y->thickness);
        assert_int_equal(x->lumped_equally, y->lumped_equally);
    }
}

static void assert_same_parts(const pl_scene *a, const pl_scene *b)
{
    assert_int_equal(a->pin_count, b->pin_count);
    assert_int_equal(a->pin_vertex_count, b->pin_vertex_count);
    assert_memory_equal(a->pin_vertex, b->pin_vertex, sizeof(int) * (size_t)a->pin_vertex_count);
    for (int i = 0; i < a->pin_count; i++) {
        assert_int_equal(a->pins[i].first, b->pins[i].first);
        assert_bits(a->pins[i].pivot, b->pins[i].pivot, 3);
        assert_same_curve(&a->pins[i].offset, &b->pins[i].offset);
        assert_same_curve(&a->pins[i].rotation, &b->pins[i].rotation);
    }
    assert_int_equal(a->force_count, b->force_count);
    for (int i = 0; i < a->force_count; i++) {
        const pl_force *f = &a->forces[i], *g = &b->forces[i];
        assert_int_equal(f->count, g->count);
        assert_int_equal(f->per, g->per);
        assert_memory_equal(f->vertex, g->vertex, sizeof(int) * (size_t)f->count);
        assert_same_curve(&f->value, &g->value);
    }
    assert_int_equal(a->wind_count, b->wind_count);
    for (int i = 0; i < a->wind_count; i++) {
        assert_true(a->winds[i].drag == b->winds[i].drag);
        assert_int_equal(a->winds[i].triangle[0], b->winds[i].triangle[0]);
        assert_same_curve(&a->winds[i].velocity, &b->winds[i].velocity);
    }
}

static void assert_same_colliders(const pl_scene *a, const pl_scene *b)
{
    assert_int_equal(a->collider_count, b->collider_count);
    for (int i = 0; i < a->collider_count; i++) {
        const pl_obstacle *x = &a->colliders[i], *y = &b->colliders[i];
        double size[3] = {0}, other[3] = {0};
        assert_string_equal(x->name, y->name);
        assert_int_equal(pl_collider_shape(x->shape, size), pl_collider_shape(y->shape, other));
        assert_bits(size, other, 3);
        assert_true(x->friction == y->friction);
        assert_same_curve(&x->pose, &y->pose);
        if (pl_collider_surface(x->shape))
            assert_same_mesh(pl_collider_surface(x->shape), pl_collider_surface(y->shape));
    }
}

static void assert_same_attachments(const pl_scene *a, const pl_scene *b)
{
    int count = pl_scene_owner_count(a, PL_OWNER_ATTACHMENT);
    assert_int_equal(count, pl_scene_owner_count(b, PL_OWNER_ATTACHMENT));
    for (int i = 0; i < count; i++) {
        pl_attachment_def d, e;
        assert_int_equal(pl_scene_attachment(a, i, &d), PL_OK);
        assert_int_equal(pl_scene_attachment(b, i, &e), PL_OK);
        assert_true(d.collider == e.collider && d.compliance == e.compliance);
        for (int p = 0; p < 2; p++) {
            assert_int_equal(d.points[p].body, e.points[p].body);
            assert_int_equal(d.points[p].count, e.points[p].count);
            assert_memory_equal(d.points[p].vertices, e.points[p].vertices, sizeof(int[4]));
            assert_bits(d.points[p].weights, e.points[p].weights, 4);
        }
    }
}

static void assert_same_muscles(const pl_scene *a, const pl_scene *b)
{
    assert_int_equal(pl_muscle_count(a), pl_muscle_count(b));
    for (int i = 0; i < pl_muscle_count(a); i++) {
        const pl_muscle *m = pl_muscle_get(a, i), *n = pl_muscle_get(b, i);
        assert_true(m->body == n->body && m->law == n->law && m->count == n->count);
        assert_memory_equal(m->element, n->element, sizeof(int) * (size_t)m->count);
        assert_bits(m->direction, n->direction, 3 * (size_t)m->count);
        assert_bits(m->along, n->along, 4 * (size_t)m->count);
        assert_same_curve(&m->activation, &n->activation);
    }
}

static void assert_same_chambers(const pl_scene *a, const pl_scene *b)
{
    assert_int_equal(pl_chamber_count(a), pl_chamber_count(b));
    for (int i = 0; i < pl_chamber_count(a); i++) {
        const pl_chamber *c = pl_chamber_get(a, i), *d = pl_chamber_get(b, i);
        assert_true(c->body == d->body && c->count == d->count);
        assert_memory_equal(c->triangle, d->triangle, sizeof(int) * 3 * (size_t)c->count);
        assert_same_curve(&c->pressure, &d->pressure);
    }
}

static void assert_same_cables(const pl_scene *a, const pl_scene *b)
{
    int count = pl_scene_owner_count(a, PL_OWNER_CABLE);
    assert_int_equal(count, pl_scene_owner_count(b, PL_OWNER_CABLE));
    for (int i = 0; i < count; i++) {
        pl_cable_def c, d;
        assert_ok(a->ctx, pl_scene_cable(a, i, &c));
        assert_ok(b->ctx, pl_scene_cable(b, i, &d));
        assert_true(c.segments == d.segments && c.two_way == d.two_way && c.length == d.length);
        assert_true(c.compliance == d.compliance && c.table.count == d.table.count);
        assert_bits(c.table.time, d.table.time, (size_t)c.table.count);
        assert_bits(c.table.value, d.table.value, (size_t)c.table.count);
        assert_int_equal(c.point_count, d.point_count);
        for (int k = 0; k < c.point_count; k++) {
            const pl_point *p = &c.points[k], *r = &d.points[k];
            assert_true(p->body == r->body && p->count == r->count);
            assert_memory_equal(p->vertices, r->vertices, sizeof(int) * (size_t)p->count);
            assert_bits(p->weights, r->weights, (size_t)p->count);
            assert_bits(p->position, r->position, 3);
        }
    }
}

static void assert_same_scene(const pl_scene *a, const pl_scene *b)
{
    const pl_scene_def d = pl_scene_get_def(a), e = pl_scene_get_def(b);
    assert_true(d.time_step == e.time_step && d.tolerance == e.tolerance && d.solver == e.solver);
    assert_true(d.max_iterations == e.max_iterations && d.max_splits == e.max_splits);
    assert_true(d.contact_epsilon2 == e.contact_epsilon2 && d.contact_margin == e.contact_margin);
    assert_bits(d.gravity, e.gravity, 3);
    assert_same_bodies(a, b);
    assert_same_parts(a, b);
    assert_same_colliders(a, b);
    assert_same_attachments(a, b);
    assert_same_muscles(a, b);
    assert_same_cables(a, b);
    assert_same_chambers(a, b);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (pl_channel_get((pl_channel)c)->role == PL_PARAMETER)
            assert_bits(a->params.values->of[c], b->params.values->of[c],
                        pl_channel_size(a, (pl_channel)c, 1));
}

static void scenes_come_back(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    pl_scene_file_info info, again;
    pl_scene *scene = load(ctx, everything, &info);
    double young[3] = {1e4 / 3, 0.1 + 0.2, 3e4}, compliance = 2.5e-7;
    assert_ok(ctx, pl_params_set(pl_scene_params(scene), PL_YOUNG, 1, 3, young));
    assert_ok(ctx, pl_params_set(pl_scene_params(scene), PL_COMPLIANCE, 1, 1, &compliance));
    char *text = NULL, *twice = NULL;
    assert_ok(ctx, pl_scene_text(scene, &info, &text));
    pl_scene *twin = load(ctx, text, &again);
    assert_same_scene(scene, twin);
    assert_string_equal(info.name, again.name);
    assert_int_equal(again.steps, 7);
    assert_int_equal(again.output_every, 3);
    assert_false(again.output_volume);
    assert_true(again.output_surface && again.output_colliders);
    assert_ok(ctx, pl_scene_text(twin, &again, &twice));
    assert_string_equal(text, twice);
    pl_free(ctx, text);
    pl_free(ctx, twice);
    pl_scene_destroy(scene);
    pl_scene_destroy(twin);
    pl_context_destroy(ctx);
}

/* What is as it would be without is not written; an empty scene is a scene. */
static void defaults_are_left_out(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    pl_scene *scene = NULL;
    char *text = NULL;
    assert_ok(ctx, pl_scene_create(ctx, NULL, &scene));
    assert_ok(ctx, pl_scene_text(scene, NULL, &text));
    assert_string_equal(text, "{\n \"version\": 1,\n \"bodies\": [\n ]\n}\n");
    pl_scene_destroy(load(ctx, text, NULL));
    pl_free(ctx, text);
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

static void files_appear_whole(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    pl_scene *scene = load(ctx, everything, NULL), *twin = NULL;
    char folder[] = "/tmp/pliant-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/scene.json", folder);
    assert_ok(ctx, pl_scene_save(scene, NULL, path));
    assert_ok(ctx, pl_scene_load(ctx, path, 0, NULL, &twin, NULL));
    assert_same_scene(scene, twin);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(pl_scene_save(scene, NULL, path), PL_ERROR_FILE);
    assert_non_null(strstr(pl_context_error(ctx), path));
    pl_scene_destroy(scene);
    pl_scene_destroy(twin);
    pl_context_destroy(ctx);
}

static pl_status load_and_write(pl_context *ctx, void *unused)
{
    (void)unused;
    pl_scene *scene = NULL;
    char *text = NULL;
    pl_status status =
        pl_scene_load_text(ctx, everything, strlen(everything), "text", NULL, 0, NULL, &scene, NULL);
    if (status == PL_OK)
        status = pl_scene_text(scene, NULL, &text);
    pl_free(ctx, text);
    pl_scene_destroy(scene);
    return status;
}

static void any_allocation_may_fail(void **unused)
{
    (void)unused;
    assert_true(test_fail_every_allocation(load_and_write, NULL) > 100);
}

static void attachments_are_told(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    pl_scene *scene = load(ctx, everything, NULL);
    pl_attachment_def def;
    double softer = 2e-4;
    assert_ok(ctx, pl_params_set(pl_scene_params(scene), PL_ATTACHMENT_COMPLIANCE, 0, 1, &softer));
    assert_ok(ctx, pl_scene_attachment(scene, 0, &def));
    assert_true(def.compliance == softer && def.collider == -1);
    assert_int_equal(def.points[1].body, 1);
    assert_int_equal(def.points[1].count, 3);
    assert_int_equal(def.points[1].vertices[2], 2);
    assert_true(def.points[0].weights[3] == 0.4 && def.points[1].weights[0] == 1.0 / 3);
    assert_int_equal(pl_scene_attachment(scene, 2, &def), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "index = 2: the scene has 2 attachments"));
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

static void arrays_are_checked(void **unused)
{
    (void)unused;
    pl_context *ctx = test_context(1);
    const struct {
        const char *arrays, *message;
    } wrong[] = {
        {"\"vertices\": [[0, 0]]", "bodies[0].mesh.arrays.vertices[0]: expected an array of 3 numbers"},
        {"\"tets\": []", "\"vertices\" is missing in this mesh's arrays"},
        {"\"vertices\": [], \"tets\": [[0, 1, 2]]", "tets[0]: expected an array of 4 whole numbers"},
        {"\"vertices\": [], \"tets\": [[0, 1, 2, -1]]", "tets[0][3]: expected a whole number >= 0"},
        {"\"vertices\": [[0, 0, 0]], \"triangles\": [[0, 1, 2]]",
         "triangles[0]: vertex 1 is named, there are 1"},
        {"\"vertices\": [], \"triangles\": 3", "triangles: expected an array of rows of 3 indices"},
        {"\"vertices\": [], \"vertex_groups\": []", "vertex_groups: expected {\"name\": [index, ...]}"},
        {"\"vertices\": [], \"vertex_groups\": {\"a\": [0.5]}", "vertex_groups.a[0]: expected a whole"},
        {"\"vertices\": [[0, 0, 0]], \"vertex_groups\": {\"a\": [1]}",
         "vertex_groups.a: group \"a\": index 1 is not in [0, 1)"},
        {"\"vertices\": []", "mesh: it has no elements"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[512];
        pl_scene *scene = NULL;
        snprintf(text, sizeof text, "{\"version\": 1, \"bodies\": [{\"mesh\": {\"arrays\": {%s}}}]}",
                 wrong[i].arrays);
        assert_true(pl_scene_load_text(ctx, text, strlen(text), "text", NULL, 0, NULL, &scene, NULL) !=
                    PL_OK);
        if (!strstr(pl_context_error(ctx), wrong[i].message))
            fail_msg("%s: %s", wrong[i].message, pl_context_error(ctx));
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_come_back),     cmocka_unit_test(defaults_are_left_out),
        cmocka_unit_test(files_appear_whole),   cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(attachments_are_told), cmocka_unit_test(arrays_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
