/* Obstacles in the output: closed outward surfaces of every shape, where the poses say, written when
 * they move. */
#include "common_files.h"
#include "common_vtu.h"

#include "contact/collider.h"
#include "core/vec.h"
#include "io/collider_surface.h"

#include <pliant/io.h>

#include <sys/stat.h>

static const double pi = 3.14159265358979323846;

static pl_mesh *cube(pl_context *ctx)
{
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_grid(ctx, (const int[3]){2, 2, 2}, 0.5, PL_CUT_DIAGONAL, &mesh));
    return mesh;
}

/* By the divergence theorem: positive only if all triangles look outward. */
static double volume(const pl_triangles *t)
{
    double sum = 0;
    for (int i = 0; i < t->triangle_count; i++) {
        const int *c = t->corners + 3 * i;
        double cross[3];
        pl_cross3(t->points + 3 * c[0], t->points + 3 * c[1], cross);
        sum += pl_dot3(cross, t->points + 3 * c[2]) / 6;
    }
    return sum;
}

/* Every edge once each way. */
static bool closed(const pl_triangles *t)
{
    int edges = 3 * t->triangle_count;
    for (int e = 0; e < edges; e++) {
        int a = t->corners[e], b = t->corners[e % 3 == 2 ? e - 2 : e + 1], back = 0, same = 0;
        for (int f = 0; f < edges; f++) {
            int c = t->corners[f], d = t->corners[f % 3 == 2 ? f - 2 : f + 1];
            back += c == b && d == a;
            same += c == a && d == b;
        }
        if (back != 1 || same != 1)
            return false;
    }
    return true;
}

static void shapes_are_closed_and_on_the_surface(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *solid = cube(ctx);
    /* A regular polygon of n corners has sin(2 pi/n) / (2 pi/n) of the circle's area. */
    double angle = 2 * pi / PL_SURFACE_SEGMENTS, part = sin(angle) / angle;
    const struct {
        pl_shape shape;
        double size[3], volume, tolerance;
    } cases[] = {
        {PL_SPHERE, {0.7}, 4.0 / 3 * pi * 0.7 * 0.7 * 0.7, 0.01},
        {PL_BOX, {0.3, 0.4, 0.5}, 8 * 0.3 * 0.4 * 0.5, 1e-14},
        {PL_CYLINDER, {0.3, 0.6}, part * pi * 0.09 * 1.2, 1e-14},
        {PL_CAPSULE, {0.3, 0.6}, pi * 0.09 * 1.2 + 4.0 / 3 * pi * 0.027, 0.01},
        {PL_MESH, {0}, 0.125, 1e-14},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pl_collider_def def = pl_collider_def_default(), own;
        pl_collider *collider = NULL;
        pl_triangles t;
        def.shape = cases[k].shape;
        memcpy(def.size, cases[k].size, sizeof def.size);
        def.surface = def.shape == PL_MESH ? solid : NULL;
        assert_ok(ctx, pl_collider_create(ctx, &def, &collider));
        own = def;
        own.surface = pl_collider_surface(collider);
        assert_ok(ctx, pl_collider_surface_make(ctx, &own, &t));
        assert_true(closed(&t));
        assert_close(volume(&t), cases[k].volume, cases[k].tolerance * cases[k].volume);
        assert_true(volume(&t) <= cases[k].volume * (1 + 1e-14)); /* corners are on the surface */
        for (int i = 0; i < t.point_count; i++) {
            pl_surface_point point;
            pl_collider_query(collider, def.pose, t.points + 3 * i, &point);
            assert_close(point.distance, 0, 1e-12);
        }
        pl_triangles_free(ctx, &t);
        pl_collider_destroy(ctx, collider);
    }
    pl_mesh_free(ctx, solid);
    pl_context_destroy(ctx);
}

/* A box falls past a sphere that moves along x by 1 m/s, far above a floor tilted about y. */
static const char scene_text[] =
    "{\"version\": 1, \"bodies\": [{\"mesh\": {\"grid\": {\"nodes\": [2, 2, 2], \"spacing\": 0.1}}, "
    "\"velocity\": [30, 0, 0]}],\n"
    "\"colliders\": [{\"shape\": {\"half_space\": {}}, \"position\": [0, 0, -9], "
    "\"rotate\": {\"axis\": [0, 1, 0], \"degrees\": 30}},\n"
    "{\"shape\": {\"sphere\": {\"radius\": 0.5}}, "
    "\"table\": [[0, 5, 5, 5, 1, 0, 0, 0], [1, 6, 5, 5, 1, 0, 0, 0]]}]}";

typedef struct simulation {
    pl_context *ctx;
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state;
    test_folder folder;
    char out[300];
} simulation;

static void open_simulation(simulation *s, int override_count, const char *const *overrides)
{
    s->ctx = test_context(1);
    assert_ok(s->ctx, pl_scene_load_text(s->ctx, scene_text, sizeof scene_text - 1, "t", NULL,
                                         override_count, overrides, &s->scene, NULL));
    assert_ok(s->ctx, pl_sim_create(s->scene, &s->sim));
    assert_ok(s->ctx, pl_state_create(s->scene, &s->state));
    s->folder = test_folder_make();
    snprintf(s->out, sizeof s->out, "%s/out", s->folder.path);
}

static void run(simulation *s, int steps, bool colliders)
{
    pl_output *output = NULL;
    pl_output_def def = pl_output_def_default();
    def.directory = s->out;
    def.colliders = colliders;
    assert_ok(s->ctx, pl_output_create(s->sim, &def, &output));
    assert_ok(s->ctx, pl_output_step(output, s->state, NULL));
    for (int k = 0; k < steps; k++) {
        pl_step_info info;
        assert_ok(s->ctx, pl_step(s->sim, s->state, NULL, &info));
        assert_ok(s->ctx, pl_output_step(output, s->state, &info));
    }
    assert_ok(s->ctx, pl_output_finish(output, PL_OK));
    pl_output_destroy(output);
}

static void close_simulation(simulation *s)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", s->folder.path);
    assert_int_equal(system(command), 0);
    pl_state_destroy(s->scene, s->state);
    pl_sim_destroy(s->sim);
    pl_scene_destroy(s->scene);
    pl_context_destroy(s->ctx);
}

static bool written(const simulation *s, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", s->out, name);
    return access(path, F_OK) == 0;
}

static void obstacles_are_where_their_poses_say(void **state)
{
    (void)state;
    simulation s;
    open_simulation(&s, 0, NULL);
    run(&s, 4, true);
    vtu_check v = open_vtu(s.out, "colliders/000004.vtu");
    size_t n = (size_t)v.points, m = (size_t)v.cells;
    double *points = malloc(24 * n), *collider = malloc(8 * m), width = 0;
    memcpy(points, vtu_array(&v, "Points", 24 * n), 24 * n);
    memcpy(collider, vtu_array(&v, "collider", 8 * m), 8 * m);
    assert_true(collider[0] == 0 && collider[1] == 0 && collider[2] == 1 && collider[m - 1] == 1);
    const double up[3] = {0.5, 0, sqrt(0.75)}, centre[3] = {5.04, 5, 5}, low[3] = {0, 0, -9};
    for (size_t i = 0; i < n; i++) {
        double d[3];
        pl_sub3(points + 3 * i, i < 4 ? low : centre, d);
        if (i < 4)
            assert_close(pl_dot3(d, up), 0, 1e-12);
        else
            assert_close(pl_norm3(d), 0.5, 1e-12);
    }
    for (size_t i = 0; i < 3; i++)
        width += pow(points[i] - points[3 + i], 2);
    /* Twice the body's diagonal to each side of its start, doubled until the body, 1.2 m on, is above
     * it. */
    assert_close(sqrt(width), 2 * 2 * sqrt(0.03) * 4, 1e-12);
    free(points);
    free(collider);
    free(v.text);
    close_simulation(&s);
}

static void still_obstacles_are_written_once(void **state)
{
    (void)state;
    simulation s;
    const char *const still[] = {"bodies[0].velocity=[0, 0, 0]",
                                 "colliders[1].table=[[0, 5, 5, 5, 1, 0, 0, 0]]"};
    size_t length;
    open_simulation(&s, 2, still);
    run(&s, 3, true);
    assert_true(written(&s, "colliders/000000.vtu"));
    assert_false(written(&s, "colliders/000001.vtu"));
    char *pvd = slurp(s.out, "colliders.pvd", &length);
    assert_non_null(strstr(pvd, "<DataSet timestep=\"0\" file=\"colliders/000000.vtu\"/>"));
    assert_non_null(strstr(pvd, "<DataSet timestep=\"0.03\" file=\"colliders/000000.vtu\"/>"));
    free(pvd);
    close_simulation(&s);
}

static void nothing_is_written_unasked(void **state)
{
    (void)state;
    simulation s;
    open_simulation(&s, 0, NULL);
    run(&s, 1, false);
    assert_false(written(&s, "colliders"));
    assert_false(written(&s, "colliders.pvd"));
    assert_true(written(&s, "volume.pvd"));
    close_simulation(&s);
    const char *const none[] = {"colliders=[]"};
    open_simulation(&s, 1, none);
    run(&s, 1, true);
    assert_false(written(&s, "colliders"));
    close_simulation(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_closed_and_on_the_surface),
        cmocka_unit_test(obstacles_are_where_their_poses_say),
        cmocka_unit_test(still_obstacles_are_written_once),
        cmocka_unit_test(nothing_is_written_unasked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
