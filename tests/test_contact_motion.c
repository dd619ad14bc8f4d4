/* Bodies in contact and friction against mechanics: slopes, pushes, weights, plates that move, every
 * shape. */
#include "common_scene.h"

#include "core/vec.h"
#include "sim/sim.h"

static const double G = 9.81;

/* A small stiff block of 6 x 6 x 3 cm on (or over) the floor z = 0. */
static pl_body_def block_def(double young)
{
    pl_body_def body = world_body(PL_COROTATED, PL_EXACT, young);
    return body;
}

static pl_mesh *block_mesh(pl_context *ctx, double z)
{
    return world_grid(ctx, 3, 3, 2, 0.03, -0.03, -0.03, z);
}

static double mass_of(const test_world *w)
{
    return pl_scene_get_info(w->scene).mass;
}

/* Velocity of the centre of mass, and the sum of all contact forces. */
static void mean_velocity(const test_world *w, double v[3])
{
    v[0] = v[1] = v[2] = 0;
    for (int i = 0; i < w->n; i++)
        pl_axpy3(w->sim->matter.mass[i] / mass_of(w), w->state->v + 3 * i, v);
}

static void contact_force(const test_world *w, int collider, double f[3])
{
    f[0] = f[1] = f[2] = 0;
    for (int c = 0; c < w->state->contact_count; c++) {
        const pl_contact *p = &w->state->contacts[c];
        if (p->collider != collider)
            continue;
        pl_axpy3(p->force_normal, p->normal, f);
        pl_axpy3(1, p->force_tangent, f);
    }
}

/* a = g (sin t - mu cos t) down a tilted half-space, once the start's bounce is gone. */
static void test_slope(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double angles[] = {0.2, 0.5}, frictions[] = {0, 0.1, 0.15};
    for (int a = 0; a < 2; a++)
        for (int f = 0; f < 3; f++) {
            double t = angles[a], turn[4], nothing[3] = {0}, v0[3], v[3];
            test_world w = world_new(ctx, world_def(0.01, 0, 0, -G));
            pl_mesh *mesh = block_mesh(ctx, 1e-4);
            world_turn(0, 1, 0, t, turn); /* downhill is +x */
            pl_mesh_transform(mesh, 1, turn, nothing);
            world_add(&w, block_def(1e5), mesh);
            pl_collider_def slope = pl_collider_def_default();
            slope.friction = frictions[f];
            memcpy(slope.pose + 3, turn, sizeof turn);
            assert_ok(ctx, pl_scene_add_collider(w.scene, &slope, NULL));
            world_start(&w);
            world_steps(&w, 150);
            mean_velocity(&w, v0);
            pl_step_info info = world_step(&w);
            mean_velocity(&w, v);
            double got = ((v[0] - v0[0]) * cos(t) - (v[2] - v0[2]) * sin(t)) / 0.01;
            double want = G * (sin(t) - frictions[f] * cos(t));
            assert_close(got, want, 1e-6 * want);
            assert_close(v[0] * sin(t) + v[2] * cos(t), 0, 1e-8); /* none away from the slope */
            assert_true(info.cone_violation <= 0);
            assert_int_equal(info.iterations, 1); /* evenly: as foretold */
            world_free(&w);
        }
    pl_context_destroy(ctx);
}

/* Steeper friction than the slope: it stays, for good. */
static void test_stick(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double t = 0.3, early[3], late[3];
    test_world w = world_new(ctx, world_def(0.01, G * sin(t), 0, -G * cos(t)));
    world_add(&w, block_def(1e5), block_mesh(ctx, 0));
    world_floor(&w, 0, tan(t) + 0.05);
    world_start(&w);
    world_steps(&w, 100);
    world_mean(w.n, w.state->q, early);
    world_steps(&w, 100);
    world_mean(w.n, w.state->q, late);
    /* What creeps is the smoothing: x_hat = eps^2/s a step, where s = mu lambda_n - |lambda_f| is some
     * 1e-3 N. */
    assert_close(world_distance(3, early, late), 0, 100 * 0.5e-12 / 1e-3);
    double f[3];
    contact_force(&w, 0, f);
    assert_close(f[0], -mass_of(&w) * G * sin(t), 1e-7);
    assert_close(f[2], mass_of(&w) * G * cos(t), 1e-7);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A push that grows: nothing, until it passes mu N; then the block goes. */
static void test_break_away(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -G));
    double mu = 0.3;
    world_add(&w, block_def(1e6), block_mesh(ctx, 0));
    world_floor(&w, 0, mu);
    double weight = mass_of(&w) * G, most = 1.5 * mu * weight;
    const double times[] = {0.5, 2.5}, values[] = {0, 0, 0, most, 0, 0};
    pl_force_def push = pl_force_def_default();
    push.per = PL_PER_GROUP;
    push.table = (pl_table){2, times, values};
    assert_ok(ctx, pl_scene_add_force(w.scene, &push, NULL));
    world_start(&w);
    double v[3] = {0}, force = 0, step = most / 200;
    for (int k = 0; k < 250 && v[0] < 2 * step / mass_of(&w) * 0.01; k++) {
        world_step(&w);
        mean_velocity(&w, v);
        force = most * fmax(0, w.state->time - 0.5) / 2;
    }
    /* The first step past mu N gives it less than one step's growth of force, the next two three of
     * them. */
    assert_true(force > mu * weight && force < mu * weight + 4 * step);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Friction that goes to zero and friction that is zero. */
static void test_no_friction(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double end[2][3 * 18];
    for (int k = 0; k < 2; k++) {
        test_world w = world_new(ctx, world_def(0.01, 1, 0.5, -G));
        pl_body_def body = block_def(5e4);
        body.velocity[2] = -0.5;
        world_add(&w, body, block_mesh(ctx, 0.01));
        world_floor(&w, 0, k ? 1e-10 : 0);
        world_start(&w);
        world_steps(&w, 60);
        memcpy(end[k], w.state->q, sizeof end[k]);
        for (int c = 0; k == 0 && c < w.state->contact_count; c++)
            assert_true(pl_norm3(w.state->contacts[c].force_tangent) == 0);
        world_free(&w);
    }
    /* mu N t^2/(2 m) of it is 2e-10 m; steps are solved to 1e-10 m. */
    assert_close(world_distance(3 * 18, end[0], end[1]), 0, 2e-8);
    pl_context_destroy(ctx);
}

/* The scene turned about the floor's normal moves the same, turned: friction has no preferred axes. */
static void test_isotropy(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double first[3 * 18];
    for (int k = 0; k < 4; k++) {
        double angle = 0.7 * k, c = cos(angle), s = sin(angle), turn[4], nothing[3] = {0}, worst = 0;
        pl_scene_def def = world_def(0.01, c * 1.5 - s * 0.4, s * 1.5 + c * 0.4, -G);
        def.tolerance = 1e-13;
        test_world w = world_new(ctx, def);
        pl_body_def body = block_def(1e5);
        body.velocity[0] = c * 0.5, body.velocity[1] = s * 0.5, body.velocity[2] = -0.6;
        pl_mesh *mesh = block_mesh(ctx, 0.004);
        world_turn(0, 0, 1, angle, turn);
        pl_mesh_transform(mesh, 1, turn, nothing);
        world_add(&w, body, mesh);
        world_floor(&w, 0, 0.25);
        world_start(&w);
        world_steps(&w, 40);
        for (int i = 0; i < w.n; i++) {
            const double *q = w.state->q + 3 * i;
            double back[3] = {c * q[0] + s * q[1], -s * q[0] + c * q[1], q[2]};
            if (k == 0)
                memcpy(first + 3 * i, back, sizeof back);
            worst = fmax(worst, world_distance(3, first + 3 * i, back));
        }
        assert_close(worst, 0, 1e-10);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* Contact forces are what the momentum needs in every step, and the weight in the end. */
static void test_forces_carry_the_weight(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -G));
    pl_body_def body = block_def(1e5);
    body.velocity[2] = -1, body.velocity[0] = 0.5;
    world_add(&w, body, block_mesh(ctx, 0.013));
    world_floor(&w, 0, 0.4);
    world_start(&w);
    double m = mass_of(&w), v0[3], v[3], f[3];
    for (int k = 0; k < 200; k++) {
        mean_velocity(&w, v0);
        world_step(&w);
        mean_velocity(&w, v);
        contact_force(&w, 0, f);
        for (int i = 0; i < 3; i++)
            assert_close(f[i], m * ((v[i] - v0[i]) / 0.01 + (i == 2 ? G : 0)), 1e-9 * m * G);
    }
    assert_close(f[2], m * G, 1e-7 * m * G);
    assert_close(hypot(f[0], f[1]), 0, 1e-7 * m * G);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Grids of tets are mirror images of themselves in x = y; so stays what falls straight onto a ball. */
static void test_symmetry(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def def = world_def(0.01, 0, 0, -G);
    def.tolerance = 1e-13;
    test_world w = world_new(ctx, def);
    pl_body_def body = block_def(3e4);
    body.velocity[0] = body.velocity[1] = 0.3;
    world_add(&w, body, world_grid(ctx, 3, 3, 3, 0.03, -0.03, -0.03, 0.101));
    pl_collider_def ball = pl_collider_def_default();
    ball.shape = PL_SPHERE;
    ball.size[0] = 0.1;
    ball.friction = 0.3;
    assert_ok(ctx, pl_scene_add_collider(w.scene, &ball, NULL));
    world_start(&w);
    int touched = 0;
    for (int k = 0; k < 30; k++)
        touched += world_step(&w).contacts;
    assert_true(touched > 20);
    const double *rest = w.sim->scene->q0, *q = w.state->q;
    for (int i = 0; i < w.n; i++)
        for (int j = 0; j < w.n; j++)
            if (fabs(rest[3 * i] - rest[3 * j + 1]) + fabs(rest[3 * i + 1] - rest[3 * j]) +
                    fabs(rest[3 * i + 2] - rest[3 * j + 2]) <
                1e-9) {
                assert_close(q[3 * i], q[3 * j + 1], 1e-10);
                assert_close(q[3 * i + 1], q[3 * j], 1e-10);
                assert_close(q[3 * i + 2], q[3 * j + 2], 1e-10);
            }
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A plate comes down and squeezes the block: both plates push, their difference is the weight. */
static void test_between_plates(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -G));
    pl_body_def body = block_def(1e5);
    body.poisson = 0;
    world_add(&w, body, block_mesh(ctx, 0));
    world_floor(&w, 0, 0.5);
    pl_collider_def top = pl_collider_def_default();
    const double times[] = {0, 0.2}, poses[] = {0, 0, 0.031, 0, 1, 0, 0, 0, 0, 0.027, 0, 1, 0, 0};
    top.table = (pl_table){2, times, poses};
    assert_ok(ctx, pl_scene_add_collider(w.scene, &top, NULL));
    world_start(&w);
    pl_step_info info = {0};
    for (int k = 0; k < 100; k++) { /* also when the plate meets it and when it stops */
        info = world_step(&w);
        assert_true(info.iterations <= 5); /* 4; one more by the ways that many contacts take */
    }
    double below[3], above[3];
    contact_force(&w, 0, below);
    contact_force(&w, 1, above);
    assert_close(below[2] + above[2], mass_of(&w) * G, 1e-6);
    /* E A times a strain of a tenth, less the part of its own weight (nu = 0, co-rotated: linear) */
    assert_close(-above[2] + 0.5 * mass_of(&w) * G, 1e5 * 0.06 * 0.06 * 0.1, 0.01);
    assert_true(info.penetration < 1e-10);
    assert_int_equal(info.contacts, 18);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A floor that moves takes the block along; one that turns takes it round. */
static void test_moving_floor(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int turning = 0; turning < 2; turning++) {
        test_world w = world_new(ctx, world_def(0.01, 0, 0, -G));
        world_add(&w, block_def(1e6), world_grid(ctx, 3, 3, 2, 0.03, 0.1, 0, 0));
        pl_collider_def floor = pl_collider_def_default();
        enum { ROWS = 201 };
        static double times[ROWS], poses[7 * ROWS];
        for (int k = 0; k < ROWS; k++) {
            times[k] = 0.01 * k;
            memset(poses + 7 * k, 0, 7 * sizeof(double));
            if (turning)
                world_turn(0, 0, 1, 0.01 * k, poses + 7 * k + 3); /* 1 rad/s */
            else
                poses[7 * k] = 0.2 * times[k], poses[7 * k + 1] = -0.1 * times[k], poses[7 * k + 3] = 1;
        }
        floor.table = (pl_table){ROWS, times, poses};
        floor.friction = 0.6;
        assert_ok(ctx, pl_scene_add_collider(w.scene, &floor, NULL));
        world_start(&w);
        world_steps(&w, 199);
        for (int i = 0; i < w.n; i++) {
            const double *q = w.state->q + 3 * i, *v = w.state->v + 3 * i;
            /* a chord of the circle: h/2 before the end of the step */
            double back[2] = {q[0] - 0.005 * v[0], q[1] - 0.005 * v[1]};
            assert_close(v[0], turning ? -back[1] : 0.2, 1e-5);
            assert_close(v[1], turning ? back[0] : -0.1, 1e-5);
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* q and -q are one rotation: a table that goes from one to the other stands still. */
static void test_quaternion_signs(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -G));
    world_add(&w, block_def(1e6), block_mesh(ctx, 0));
    pl_collider_def floor = pl_collider_def_default();
    const double times[] = {0, 0.2}, poses[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0};
    floor.table = (pl_table){2, times, poses};
    assert_ok(ctx, pl_scene_add_collider(w.scene, &floor, NULL));
    world_start(&w);
    for (int k = 0; k < 20; k++) {
        world_step(&w);
        assert_true(w.state->input[PL_COLLIDER_POSE][3] == 1 &&
                    w.state->input[PL_COLLIDER_POSE][2] == 0);
    }
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Every shape carries a sheet that drapes over it and a block that rests or slides; nothing gets
 * inside. */
static void test_shapes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int shape = PL_HALF_SPACE; shape <= PL_MESH; shape++)
        for (int sliding = 0; sliding < 2; sliding++)
            for (int cloth = 0; cloth < 2; cloth++) {
                test_world w = world_new(ctx, world_def(0.01, sliding ? 3 : 0, 0, -G));
                pl_body_def body = cloth ? world_body(PL_ARAP, PL_EXACT, 1e5) : block_def(5e4);
                body.bending = 1e-3;
                world_add(&w, body,
                          cloth ? world_cloth(ctx, 0.12, 0.12, 0.04, -0.055, -0.06, 2e-3)
                                : block_mesh(ctx, 2e-3));
                pl_collider_def c = pl_collider_def_default();
                pl_mesh *cube = NULL;
                c.shape = (pl_shape)shape;
                c.friction = sliding ? 0.1 : 0.8;
                c.size[0] = 0.15, c.size[1] = shape == PL_BOX ? 0.15 : 0.1, c.size[2] = 0.15;
                if (shape == PL_CYLINDER || shape == PL_CAPSULE)
                    world_turn(1, 0, 0, 1.5707963267948966, c.pose + 3);
                c.pose[2] = shape == PL_HALF_SPACE ? 0 : -0.15;
                if (shape == PL_MESH)
                    c.surface = cube = world_grid(ctx, 3, 3, 3, 0.15, -0.15, -0.15, -0.15);
                assert_ok(ctx, pl_scene_add_collider(w.scene, &c, NULL));
                pl_mesh_free(ctx, cube);
                world_start(&w);
                double m = mass_of(&w), v0[3], v[3], f[3];
                int touched = 0;
                for (int k = 0; k < 30; k++) {
                    mean_velocity(&w, v0);
                    pl_step_info info = world_step(&w);
                    mean_velocity(&w, v);
                    contact_force(&w, 0, f);
                    touched += info.contacts;
                    for (int i = 0; info.splits == 0 && i < 3; i++)
                        assert_close(f[i],
                                     m * ((v[i] - v0[i]) / 0.01 - w.sim->matter.values->def.gravity[i]),
                                     1e-8 * m * G);
                    /* Convex shapes lie below their tangent planes: the real gap is no less than the
                     * law's. */
                    for (int i = 0; i < w.n; i++) {
                        pl_surface_point s;
                        pl_collider_query(w.sim->scene->colliders[0].shape,
                                          w.state->input[PL_COLLIDER_POSE], w.state->q + 3 * i, &s);
                        assert_true(s.distance > -1e-9);
                    }
                }
                assert_true(touched > 20);
                assert_true(sliding || w.state->contact_count > 0);
                assert_true(sliding ? v[0] > 0.1 : fabs(v[0]) < 0.05);
                world_free(&w);
            }
    pl_context_destroy(ctx);
}

/* A sheet falls flat: every contact is pressed straight down, the case in which the law without its
 * smoothing has no solution. Friction forces vanish to the last digit. */
static void test_no_tangential_load(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    ctx->limits.gmres_contacts = 48;    /* or forces are found in single precision, */
    ctx->limits.half_factor = INFINITY; /* and motions in half */
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -G));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6);
    body.lumped_equally = true;
    body.velocity[2] = -0.3;
    world_add(&w, body, world_cloth(ctx, 0.12, 0.08, 0.04, 0, 0, 0.01));
    world_floor(&w, 0, 0.5);
    world_start(&w);
    for (int k = 0; k < 20; k++) {
        pl_step_info info = world_step(&w);
        assert_int_equal(info.contacts, k < 3 ? w.state->contact_count : w.n);
        for (int c = 0; c < w.state->contact_count; c++)
            /* E t = 1e3 N/m times roundings of positions, 1.4e-17 m, of six neighbours and its own */
            assert_close(pl_norm3(w.state->contacts[c].force_tangent), 0, 3e-13);
    }
    for (int c = 0; c < w.n; c++)
        assert_close(w.state->contacts[c].force_normal, mass_of(&w) * G / w.n, 1e-9);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* lambda = eps^2/gap all the way out to the margin, beyond which what is dropped is below 1e-9 N. */
static void test_forces_vanish_with_distance(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double before = INFINITY;
    for (double gap = 1e-7; gap < 3e-3; gap *= 2) {
        test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
        world_add(&w, block_def(1e6), block_mesh(ctx, gap));
        world_floor(&w, 0, 0.5);
        world_start(&w);
        world_step(&w);
        double f[3];
        contact_force(&w, 0, f);
        for (int c = 0; c < w.state->contact_count; c++)
            assert_close(w.state->contacts[c].force_normal * w.state->contacts[c].gap, 0.5e-12, 1e-15);
        assert_int_equal(w.state->contact_count, gap < 1e-3 ? 9 : 0);
        assert_true(f[2] < before && (gap < 1e-3 ? f[2] > 0 : f[2] == 0));
        if (gap > 5e-4)
            assert_true(f[2] < 9e-9);
        before = f[2];
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slope),
        cmocka_unit_test(test_stick),
        cmocka_unit_test(test_break_away),
        cmocka_unit_test(test_no_friction),
        cmocka_unit_test(test_isotropy),
        cmocka_unit_test(test_forces_carry_the_weight),
        cmocka_unit_test(test_symmetry),
        cmocka_unit_test(test_between_plates),
        cmocka_unit_test(test_moving_floor),
        cmocka_unit_test(test_quaternion_signs),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_no_tangential_load),
        cmocka_unit_test(test_forces_vanish_with_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
