/* What the collider tests share: definitions, poses, and what holds for every shape. */
#ifndef PL_TEST_COMMON_COLLIDER_H
#define PL_TEST_COMMON_COLLIDER_H

#include "common.h"

#include "contact/collider.h"
#include "core/vec.h"

static inline pl_collider_def shape_def(pl_shape shape, double a, double b, double c)
{
    pl_collider_def def = pl_collider_def_default();
    def.shape = shape;
    def.size[0] = a, def.size[1] = b, def.size[2] = c;
    return def;
}

static inline void random_pose(uint64_t *seed, double pose[7])
{
    double norm = 0.0;
    for (int i = 0; i < 7; i++)
        pose[i] = test_random(seed);
    for (int i = 3; i < 7; i++)
        norm += pose[i] * pose[i];
    for (int i = 3; i < 7; i++)
        pose[i] /= sqrt(norm);
}

static inline void to_world(const double pose[7], const double local[3], double x[3])
{
    double r[9];
    pl_quat_to_mat3(pose + 3, r);
    pl_mat3_vec(r, local, x);
    pl_axpy3(1.0, pose, x);
}

static const double identity_pose[7] = {0, 0, 0, 1, 0, 0, 0};

/* Largest error of n against differences of phi and of kappa against differences of n, the latter
 * relative to max(1, |kappa|), at the best of several steps: a large one crosses creases, a small one
 * rounds. */
static inline void difference_errors(const pl_collider *collider, const double pose[7],
                                     const double x[3], double *normal_error, double *curvature_error)
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
static inline void check_invariants(const pl_surface_point *p)
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
static inline int check_derivatives(const pl_collider *collider, double range, int count, uint64_t seed)
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

/* near() may only say no when the distance is above the margin, and does say no far away. */
static inline void check_near(const pl_collider *collider, double range, uint64_t seed)
{
    int far = 0, refused = 0;
    for (int k = 0; k < 4000; k++) {
        double pose[7], local[3], x[3], margin = 0.3 * test_random(&seed);
        random_pose(&seed, pose);
        for (int i = 0; i < 3; i++)
            local[i] = range * test_random(&seed);
        to_world(pose, local, x);
        pl_surface_point p;
        pl_collider_query(collider, pose, x, &p);
        bool near = pl_collider_near(collider, pose, x, margin);
        assert_true(near || p.distance > margin);
        assert_true(pl_collider_near(collider, pose, x, p.distance));
        far += p.distance > 0.5 * range;
        refused += p.distance > 0.5 * range && !near;
    }
    assert_true(far > 100 && refused > 0.9 * far);
}

static inline void refuse(pl_context *ctx, const pl_collider_def *def, pl_status expected,
                          const char *words)
{
    pl_collider *collider = NULL;
    assert_int_equal(pl_collider_create(ctx, def, &collider), expected);
    assert_null(collider);
    if (!strstr(pl_context_error(ctx), words))
        fail_msg("\"%s\" does not say \"%s\"", pl_context_error(ctx), words);
}

#endif
