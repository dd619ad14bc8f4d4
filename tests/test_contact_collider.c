/* Colliders: distance, normal and curvature against closed values and each other's differences. */
#include "common.h"

#include "contact/collider.h"
#include "core/vec.h"

static pl_collider_def shape_def(pl_shape shape, double a, double b, double c)
{
    pl_collider_def def = pl_collider_def_default();
    def.shape = shape;
    def.size[0] = a, def.size[1] = b, def.size[2] = c;
    return def;
}

static void random_pose(uint64_t *seed, double pose[7])
{
    double norm = 0.0;
    for (int i = 0; i < 7; i++)
        pose[i] = test_random(seed);
    for (int i = 3; i < 7; i++)
        norm += pose[i] * pose[i];
    for (int i = 3; i < 7; i++)
        pose[i] /= sqrt(norm);
}

static void to_world(const double pose[7], const double local[3], double x[3])
{
    double r[9];
    pl_quat_to_mat3(pose + 3, r);
    pl_mat3_vec(r, local, x);
    pl_axpy3(1.0, pose, x);
}

static const double identity_pose[7] = {0, 0, 0, 1, 0, 0, 0};

/* ---------------------------------------------------------------------- derivatives */

/* Largest error of n against differences of phi and of kappa against differences of n, the latter
 * relative to max(1, |kappa|), at the best of several steps: a large one crosses creases, a small one
 * rounds. */
static void difference_errors(const pl_collider *collider, const double pose[7], const double x[3],
                              double *normal_error, double *curvature_error)
{
    pl_surface_point at, plus, minus;
    pl_collider_query(collider, pose, x, &at);
    double scale = 1.0;
    for (int i = 0; i < 9; i++)
        scale = fmax(scale, fabs(at.curvature[i]));
    *normal_error = *curvature_error = INFINITY;
    for (double step = 1e-3; step > 0.5e-7; step *= 0.1) {
        double h = step / scale, en = 0.0, ek = 0.0;
        for (int j = 0; j < 3; j++) {
            double y[3] = {x[0], x[1], x[2]};
            y[j] = x[j] + h;
            pl_collider_query(collider, pose, y, &plus);
            y[j] = x[j] - h;
            pl_collider_query(collider, pose, y, &minus);
            en = fmax(en, fabs((plus.distance - minus.distance) / (2 * h) - at.normal[j]));
            for (int i = 0; i < 3; i++)
                ek = fmax(ek,
                          fabs((plus.normal[i] - minus.normal[i]) / (2 * h) - at.curvature[3 * i + j]) /
                              scale);
        }
        *normal_error = fmin(*normal_error, en);
        *curvature_error = fmin(*curvature_error, ek);
    }
}

/* What holds at any point by definition: |n| = 1, kappa = kappa^T, kappa n = 0, all finite. */
static void check_invariants(const pl_surface_point *p)
{
    double kn[3], scale = 1.0;
    for (int i = 0; i < 9; i++) {
        assert_true(isfinite(p->curvature[i]));
        scale = fmax(scale, fabs(p->curvature[i]));
    }
    assert_true(isfinite(p->distance));
    assert_close(pl_norm3(p->normal), 1.0, 4e-15);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            assert_true(p->curvature[3 * i + j] == p->curvature[3 * j + i]);
    pl_mat3_vec(p->curvature, p->normal, kn);
    for (int i = 0; i < 3; i++)
        assert_close(kn[i] / scale, 0.0, 1e-14);
}

/* Random poses and points within `range` of the origin, inside and outside; returns how many were
 * inside. */
static int check_derivatives(const pl_collider *collider, double range, int count, uint64_t seed)
{
    int inside = 0;
    for (int k = 0; k < count; k++) {
        double pose[7], local[3], x[3], en, ek;
        random_pose(&seed, pose);
        for (int i = 0; i < 3; i++)
            local[i] = range * test_random(&seed);
        to_world(pose, local, x);
        pl_surface_point p;
        pl_collider_query(collider, pose, x, &p);
        inside += p.distance < 0.0;
        check_invariants(&p);
        difference_errors(collider, pose, x, &en, &ek);
        /* Rounding of phi and n over the step, 1e-15/h scale at h near 1e-5. */
        if (en > 1e-9 || ek > 1e-8)
            fail_msg("point %d at (%g, %g, %g): normal off by %.3g, curvature by %.3g", k, local[0],
                     local[1], local[2], en, ek);
    }
    return inside;
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_singular_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
