/* Colliders: distance, normal and curvature against closed values and each other's differences. */
#include "common_collider.h"

static void test_derivatives(void **state)
{
    (void)state;
    const pl_collider_def defs[] = {
        shape_def(PL_HALF_SPACE, 0, 0, 0),  shape_def(PL_SPHERE, 0.8, 0, 0),
        shape_def(PL_BOX, 0.9, 0.6, 0.4),   shape_def(PL_CYLINDER, 0.7, 0.6, 0),
        shape_def(PL_CAPSULE, 0.5, 0.6, 0),
    };
    pl_context *ctx = test_context(1);
    for (size_t s = 0; s < sizeof defs / sizeof *defs; s++) {
        pl_collider *collider;
        assert_ok(ctx, pl_collider_create(ctx, &defs[s], &collider));
        int inside = check_derivatives(collider, 1.2, 2000, 11 + s);
        assert_in_range(inside, 200, 1800);
        pl_collider_destroy(ctx, collider);
    }
    pl_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- known values */

typedef struct known_point {
    double x[3], distance, normal[3], curvature[9];
} known_point;

static void check_known(pl_collider_def def, int count, const known_point *known)
{
    pl_context *ctx = test_context(1);
    pl_collider *collider;
    assert_ok(ctx, pl_collider_create(ctx, &def, &collider));
    for (int k = 0; k < count; k++) {
        pl_surface_point p;
        pl_collider_query(collider, identity_pose, known[k].x, &p);
        assert_close(p.distance, known[k].distance, 4e-16);
        for (int i = 0; i < 3; i++)
            assert_close(p.normal[i], known[k].normal[i], 4e-16);
        for (int i = 0; i < 9; i++)
            assert_close(p.curvature[i], known[k].curvature[i], 4e-15);
    }
    pl_collider_destroy(ctx, collider);
    pl_context_destroy(ctx);
}

static void test_known_values(void **state)
{
    (void)state;
    const known_point half_space[] = {{{3, 4, 0.5}, 0.5, {0, 0, 1}, {0}},
                                      {{3, 4, -2}, -2, {0, 0, 1}, {0}}};
    check_known(shape_def(PL_HALF_SPACE, 0, 0, 0), 2, half_space);

    const known_point sphere[] = {{{2, 0, 0}, 1.5, {1, 0, 0}, {[4] = 0.5, [8] = 0.5}},
                                  {{0, -0.25, 0}, -0.25, {0, -1, 0}, {[0] = 4, [8] = 4}}};
    check_known(shape_def(PL_SPHERE, 0.5, 0, 0), 2, sphere);

    const known_point box[] = {
        {{0.5, 0.25, -3.5}, 0.5, {0, 0, -1}, {0}},                                    /* face */
        {{0.75, 0.25, 0.5}, -0.25, {1, 0, 0}, {0}},                                   /* inside */
        {{4, -6, 1}, 5, {0.6, -0.8, 0}, {0.128, 0.096, 0, 0.096, 0.072, 0, 0, 0, 0}}, /* edge */
        {{2, 4, -5},
         3,
         {1. / 3, 2. / 3, -2. / 3}, /* corner */
         {8. / 27, -2. / 27, 2. / 27, -2. / 27, 5. / 27, 4. / 27, 2. / 27, 4. / 27, 5. / 27}},
    };
    check_known(shape_def(PL_BOX, 1, 2, 3), 4, box);

    const known_point cylinder[] = {
        {{0, 2.5, 1}, 1.5, {0, 1, 0}, {[0] = 0.4}},       /* side */
        {{0, 0.75, 1}, -0.25, {0, 1, 0}, {[0] = 4. / 3}}, /* inside, side nearest */
        {{0.5, 0, -1.75}, -0.25, {0, 0, -1}, {0}},        /* inside, cap nearest */
        {{0.5, 0, 2.5}, 0.5, {0, 0, 1}, {0}},             /* cap */
        {{4, 0, 6},
         5,
         {0.6, 0, 0.8}, /* rim: 1/5 across it, 0.6/4 along it */
         {0.128, 0, -0.096, 0, 0.15, 0, -0.096, 0, 0.072}},
    };
    check_known(shape_def(PL_CYLINDER, 1, 2, 0), 5, cylinder);

    const known_point capsule[] = {{{0, 2.5, 1}, 1.5, {0, 1, 0}, {[0] = 0.4}},
                                   {{0, 0, -4.5}, 1.5, {0, 0, -1}, {[0] = 0.4, [4] = 0.4}},
                                   {{0, 0, 2.5}, -0.5, {0, 0, 1}, {[0] = 2, [4] = 2}}};
    check_known(shape_def(PL_CAPSULE, 1, 2, 0), 3, capsule);
}

/* Creases, axes, centres and surfaces: any valid unit normal, the same each time, nothing but numbers.
 */
static void test_singular_points(void **state)
{
    (void)state;
    const double tiny = 1e-310;
    const pl_collider_def defs[] = {
        shape_def(PL_HALF_SPACE, 0, 0, 0), shape_def(PL_SPHERE, 1, 0, 0),
        shape_def(PL_BOX, 1, 1, 1),        shape_def(PL_CYLINDER, 1, 1, 0),
        shape_def(PL_CAPSULE, 1, 1, 0),    shape_def(PL_BOX, tiny, tiny, tiny),
    };
    const double values[] = {0.0,  -0.0, 5e-324, -3e-309, 1e-200, 0.5, 1.0, nextafter(1.0, 2.0),
                             -1.0, 1e150};
    const int count = sizeof values / sizeof *values;
    pl_context *ctx = test_context(1);
    for (size_t s = 0; s < sizeof defs / sizeof *defs; s++) {
        pl_collider *collider;
        assert_ok(ctx, pl_collider_create(ctx, &defs[s], &collider));
        for (int k = 0; k < count * count * count; k++) {
            double x[3] = {values[k % count], values[k / count % count], values[k / count / count]};
            pl_surface_point p, again;
            pl_collider_query(collider, identity_pose, x, &p);
            pl_collider_query(collider, identity_pose, x, &again);
            check_invariants(&p);
            assert_memory_equal(&p, &again, sizeof p);
        }
        pl_collider_destroy(ctx, collider);
    }
    pl_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- poses and bounds */

/* Turning and moving collider and point together changes nothing but the frame of the answer. */
static void test_pose_invariance(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_collider_def def = shape_def(PL_CYLINDER, 0.7, 0.6, 0);
    pl_collider *collider;
    assert_ok(ctx, pl_collider_create(ctx, &def, &collider));
    uint64_t seed = 5;
    for (int k = 0; k < 500; k++) {
        double pose[7], local[3], x[3], r[9], n[3];
        pl_surface_point a, b, longer;
        random_pose(&seed, pose);
        for (int i = 0; i < 3; i++)
            local[i] = 1.5 * test_random(&seed);
        to_world(pose, local, x);
        pl_quat_to_mat3(pose + 3, r);
        pl_collider_query(collider, identity_pose, local, &a);
        pl_collider_query(collider, pose, x, &b);
        assert_close(a.distance, b.distance, 1e-14);
        pl_mat3_vec(r, a.normal, n);
        double scale = 1.0 / fabs(a.distance) + 10.0; /* kappa is at most 1/phi on the rim */
        for (int i = 0; i < 3; i++) {
            assert_close(n[i], b.normal[i], 1e-14 * scale);
            for (int j = 0; j < 3; j++) {
                double turned = 0.0;
                for (int l = 0; l < 9; l++)
                    turned += r[3 * i + l / 3] * a.curvature[l] * r[3 * j + l % 3];
                assert_close(turned, b.curvature[3 * i + j], 1e-14 * scale * scale);
            }
        }
        /* A quaternion is a rotation whatever its length. */
        for (int i = 3; i < 7; i++)
            pose[i] *= 1.0 + 5e-7;
        pl_collider_query(collider, pose, x, &longer);
        assert_close(longer.distance, b.distance, 1e-14);
    }
    pl_collider_destroy(ctx, collider);
    pl_context_destroy(ctx);
}

static void test_near(void **state)
{
    (void)state;
    const pl_collider_def defs[] = {
        shape_def(PL_HALF_SPACE, 0, 0, 0),  shape_def(PL_SPHERE, 0.8, 0, 0),
        shape_def(PL_BOX, 2, 0.1, 0.4),     shape_def(PL_CYLINDER, 0.2, 2, 0),
        shape_def(PL_CAPSULE, 0.5, 0.6, 0),
    };
    pl_context *ctx = test_context(1);
    for (size_t s = 0; s < sizeof defs / sizeof *defs; s++) {
        pl_collider *collider;
        assert_ok(ctx, pl_collider_create(ctx, &defs[s], &collider));
        check_near(collider, 3.0, 77 + s);
        pl_collider_destroy(ctx, collider);
    }
    pl_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- bad definitions */

static void test_default(void **state)
{
    (void)state;
    pl_collider_def def = pl_collider_def_default();
    assert_int_equal(def.shape, PL_HALF_SPACE);
    assert_true(def.friction == 0.5);
    assert_memory_equal(def.pose, identity_pose, sizeof identity_pose);
    assert_int_equal(def.table.count, 0);
}

static void test_bad_fields(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const pl_collider_def good = shape_def(PL_BOX, 1, 2, 3);
    pl_collider_def def = good;
    def.friction = -0.1;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "friction is -0.1");
    def.friction = INFINITY;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "friction is inf");
    def.friction = NAN;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "friction is");
    def = good, def.size[2] = 0;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "size[2] (half extent along z) is 0");
    def = shape_def(PL_SPHERE, NAN, 0, 0);
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "size[0] (radius)");
    def = shape_def(PL_CYLINDER, 1, -2, 0);
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "size[1] (half height) is -2");
    def = shape_def(PL_CAPSULE, 1, INFINITY, 0);
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "size[1] (half height) is inf");
    def = shape_def(PL_CAPSULE, 1, 1e14, 0);
    refuse(ctx, &def, PL_ERROR_ARGUMENT,
           "size[1] (half height) is 1e+14, expected a number in (0, 1e+09] m");
    def = good, def.shape = (pl_shape)17;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "shape is 17");
    def = good, def.pose[1] = NAN;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "pose[1] is");
    def = good, def.pose[3] = 1.00001;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "pose[3..6]");
    def = shape_def(PL_MESH, 0, 0, 0);
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "surface is NULL");
    pl_context_destroy(ctx);
}

static void test_bad_tables(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double time[2] = {0, 1}, value[14] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0};
    pl_collider_def def = pl_collider_def_default();
    pl_collider *collider;
    def.table = (pl_table){2, time, value};
    assert_ok(ctx, pl_collider_create(ctx, &def, &collider));
    pl_collider_destroy(ctx, collider);
    value[12] = 0.9;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "table row 1: value[3..6]");
    value[12] = 1, time[1] = 0;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "table.time[1] is 0");
    time[1] = NAN;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "table.time[1]");
    time[1] = 1, value[2] = INFINITY;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "table row 0: value[2] is inf");
    def.table.count = -1;
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "table.count is -1");
    def.table = (pl_table){2, NULL, value};
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "table.time is NULL");
    def.table = (pl_table){2, time, NULL};
    refuse(ctx, &def, PL_ERROR_ARGUMENT, "table.value is NULL");
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_singular_points),
        cmocka_unit_test(test_pose_invariance),
        cmocka_unit_test(test_near),
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_bad_fields),
        cmocka_unit_test(test_bad_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
