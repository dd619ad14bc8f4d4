/* Steps of free bodies against what implicit Euler gives exactly: fall, momentum, damping, forces,
 * wind, pins. */
#include "common_scene.h"

#include "core/vec.h"
#include "sim/sim.h"

static const struct {
    const char *name;
    pl_material model;
    pl_reading reading;
} materials[] = {
    {"ARAP", PL_ARAP, PL_EXACT},
    {"co-rotated", PL_COROTATED, PL_EXACT},
    {"Neo-Hookean", PL_NEO_HOOKEAN, PL_EXACT},
    {"projective ARAP", PL_ARAP, PL_PROJECTIVE},
    {"projective co-rotated", PL_COROTATED, PL_PROJECTIVE},
    {"projective Neo-Hookean", PL_NEO_HOOKEAN, PL_PROJECTIVE},
};

enum { MATERIALS = sizeof materials / sizeof *materials };

/* A box of 3 x 2 x 2 cells of 5 cm, or a cloth of 15 x 10 cm. */
static test_world small_world(pl_context *ctx, pl_scene_def def, pl_body_def body, bool cloth)
{
    test_world w = world_new(ctx, def);
    world_add(&w, body,
              cloth ? world_cloth(ctx, 0.15, 0.1, 0.05, 0.2, -0.1, 0.3)
                    : world_grid(ctx, 4, 3, 3, 0.05, 0.2, -0.1, 0.3));
    return w;
}

/* Linear and angular momentum about the origin. */
static void momenta(const test_world *w, double linear[3], double angular[3])
{
    for (int k = 0; k < 3; k++)
        linear[k] = angular[k] = 0;
    for (int i = 0; i < w->n; i++) {
        double moment[3];
        pl_axpy3(w->sim->matter.mass[i], w->state->v + 3 * i, linear);
        pl_cross3(w->state->q + 3 * i, w->state->v + 3 * i, moment);
        pl_axpy3(w->sim->matter.mass[i], moment, angular);
    }
}

/* v_k = k h g, q_k = q_0 + h^2 g k (k + 1)/2, with no strain. */
static void test_free_fall(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int m = 0; m < MATERIALS; m++)
        for (int cloth = 0; cloth < 2; cloth++) {
            pl_body_def body = world_body(materials[m].model, materials[m].reading, 1e5);
            test_world w = small_world(ctx, world_def(0.01, 0.5, 0, -9.81), body, cloth);
            world_start(&w);
            pl_step_info info = world_steps(&w, 40);
            for (int i = 0; i < 3 * w.n; i++) {
                double g = i % 3 == 0 ? 0.5 : i % 3 == 2 ? -9.81 : 0;
                assert_close(w.state->v[i], 0.4 * g, 1e-11);
                assert_close(w.state->q[i], w.sim->scene->q0[i] + 1e-4 * g * 40 * 41 / 2, 1e-12);
            }
            assert_close(w.state->time, 0.4, 1e-15);
            assert_int_equal(w.state->step, 40);
            /* taken where the last correction, of up to 1e-10 m, was found */
            assert_close(info.energy_elastic, 0, 1e-14);
            world_free(&w);
        }
    pl_context_destroy(ctx);
}

/* A body turned and shifted as a whole is at rest: it stays to the last digits. */
static void test_rigid_motion_makes_no_force(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int m = 0; m < MATERIALS; m++)
        for (int cloth = 0; cloth < 2; cloth++) {
            pl_body_def body = world_body(materials[m].model, materials[m].reading, 1e6);
            body.bending = 1e-3;
            test_world w = small_world(ctx, world_def(0.01, 0, 0, 0), body, cloth);
            world_start(&w);
            double turn[4], r[9], before[3 * 36], shift[3] = {1, -2, 0.5};
            world_turn(1, 2, -0.5, 2.5, turn);
            pl_quat_to_mat3(turn, r);
            for (int i = 0; i < w.n; i++) {
                pl_mat3_vec(r, w.state->q + 3 * i, w.state->q + 3 * i);
                pl_axpy3(1, shift, w.state->q + 3 * i);
            }
            memcpy(before, w.state->q, sizeof(double) * 3 * (size_t)w.n);
            world_step(&w);
            assert_close(world_distance(3 * w.n, before, w.state->q), 0, 1e-14);
            world_free(&w);
        }
    pl_context_destroy(ctx);
}

/*
 * Without outer forces M(v1 - v0) = h f(q1) with f of no sum and no moment about any point at q1, so
 *     P1 = P0 and L1 = sum m q1 x v1 = sum m q1 x v0 = L0 + h sum m v1 x v0.
 */
static void test_momentum(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int m = 0; m < MATERIALS; m++)
        for (int cloth = 0; cloth < 2; cloth++) {
            pl_body_def body = world_body(materials[m].model, materials[m].reading, 1e5);
            body.bending = 1e-4;
            test_world w = small_world(ctx, world_def(0.01, 0, 0, 0), body, cloth);
            world_start(&w);
            uint64_t seed = 4;
            for (int i = 0; i < 3 * w.n; i++)
                w.state->v[i] = test_random(&seed);
            double p0[3], l0[3], scale = 0;
            momenta(&w, p0, l0);
            for (int i = 0; i < w.n; i++)
                scale += w.sim->matter.mass[i];
            for (int k = 0; k < 10; k++) {
                double v0[3 * 36], p[3], l[3];
                memcpy(v0, w.state->v, sizeof(double) * 3 * (size_t)w.n);
                world_step(&w);
                momenta(&w, p, l);
                for (int i = 0; i < w.n; i++) {
                    double cross[3];
                    pl_cross3(w.state->v + 3 * i, v0 + 3 * i, cross);
                    pl_axpy3(0.01 * w.sim->matter.mass[i], cross, l0);
                }
                for (int i = 0; i < 3; i++) {
                    /* Translations are linear: any full Newton step gets them, but for what a rounded
                     * factor leaves of the last moves, 1e-12 m/s of ten steps. Moments are as good as
                     * the last Newton move (1e-10 m, and quadratically less) over h. */
                    assert_close(p[i], p0[i], 3e-12 * scale);
                    assert_close(l[i], l0[i], 1e-9 * scale);
                }
                memcpy(l0, l, sizeof l0);
            }
            world_free(&w);
        }
    pl_context_destroy(ctx);
}

/* Mass-proportional damping: v_k = v_0 (1 + alpha h)^-k in rigid translation. */
static void test_damping(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int equally = 0; equally < 2; equally++) {
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
        body.damping = 3;
        body.velocity[0] = 2, body.velocity[1] = -1;
        body.lumped_equally = equally;
        test_world w = small_world(ctx, world_def(0.02, 0, 0, 0), body, false);
        world_start(&w);
        world_steps(&w, 25);
        double left = pow(1 + 3 * 0.02, -25);
        for (int i = 0; i < w.n; i++) {
            assert_close(w.state->v[3 * i], 2 * left, 1e-12);
            assert_close(w.state->v[3 * i + 1], -left, 1e-12);
            assert_close(w.state->v[3 * i + 2], 0, 1e-12);
            if (equally)
                assert_close(w.sim->matter.mass[i], 0.15 * 0.1 * 0.1 * 1000 / w.n, 1e-14);
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* The start: velocity + angular velocity about the centre of mass, or velocities given one by one. */
static void test_initial_motion(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_body_def body = world_body(PL_COROTATED, PL_EXACT, 1e7);
    const double spin[3] = {0.3, -0.2, 4}, move[3] = {1, 2, 3}, centre[3] = {0.275, -0.05, 0.35};
    memcpy(body.velocity, move, sizeof move);
    memcpy(body.angular_velocity, spin, sizeof spin);
    test_world w = small_world(ctx, world_def(1e-3, 0, 0, 0), body, false);
    world_start(&w);
    for (int i = 0; i < w.n; i++) {
        double arm[3], v[3];
        pl_sub3(w.state->q + 3 * i, centre, arm);
        pl_cross3(spin, arm, v);
        for (int k = 0; k < 3; k++)
            assert_close(w.state->v[3 * i + k], v[k] + move[k], 1e-14);
    }
    double p0[3], l0[3], p[3], l[3];
    momenta(&w, p0, l0);
    world_steps(&w, 20);
    momenta(&w, p, l);
    double mean[3];
    world_mean(w.n, w.state->q, mean);
    double mass = 1.5;
    for (int k = 0; k < 3; k++)
        assert_close(p[k], mass * move[k], 1e-11);
    /* The spin about the vertical goes on, less what implicit Euler takes: h omega of it a step. */
    double about = l[2] - mass * (mean[0] * p[1] - mean[1] * p[0]) / mass;
    double about0 = l0[2] - (centre[0] * p0[1] - centre[1] * p0[0]);
    assert_true(about < about0 && about > 0.9 * about0);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Each unit of force, constant and by table, gives h F(t + h) of momentum a step. */
static void test_forces(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    ctx->limits.half_factor = INFINITY; /* or momentum is known to what steps leave of the tolerance */
    const pl_force_per units[] = {PL_PER_VERTEX, PL_PER_GROUP, PL_PER_MASS};
    const int vertices[] = {3, 8, 20};
    const double times[] = {0, 0.02, 0.04}, values[] = {0, 0, 0, 2, 4, 6, 2, 0, 0};
    for (int u = 0; u < 3; u++)
        for (int by_table = 0; by_table < 2; by_table++) {
            test_world w =
                small_world(ctx, world_def(0.01, 0, 0, 0), world_body(PL_ARAP, PL_EXACT, 1e5), false);
            pl_force_def force = pl_force_def_default();
            force.per = units[u];
            force.vertices = vertices;
            force.vertex_count = 3;
            force.value[0] = 1, force.value[1] = 2, force.value[2] = 3;
            if (by_table)
                force.table = (pl_table){3, times, values};
            int index = -1;
            assert_ok(ctx, pl_scene_add_force(w.scene, &force, &index));
            assert_int_equal(index, 0);
            world_start(&w);
            double share = 0;
            for (int k = 0; k < 3; k++)
                share += u == 0 ? 1 : u == 1 ? 1.0 / 3 : w.sim->matter.mass[vertices[k]];
            double p0[3] = {0}, p[3], l[3];
            /* at t = 0.01, 0.02, ... 0.06: linear between rows, held after the last */
            const double row[6][3] = {{1, 2, 3}, {2, 4, 6}, {2, 2, 3}, {2, 0, 0}, {2, 0, 0}, {2, 0, 0}};
            for (int k = 0; k < 6; k++) {
                world_step(&w);
                momenta(&w, p, l);
                for (int i = 0; i < 3; i++)
                    assert_close(p[i] - p0[i], 0.01 * share * (by_table ? row[k][i] : 1 + i), 1e-13);
                memcpy(p0, p, sizeof p0);
            }
            /* The caller's own values come before the scene's; vertex forces are added. */
            double mine[3] = {-5, 0, 1}, each[3 * 36] = {0};
            each[3 * 7] = 2.5;
            pl_inputs inputs = {.of[PL_FORCE] = mine, .of[PL_VERTEX_FORCE] = each};
            assert_ok(ctx, pl_step(w.sim, w.state, &inputs, NULL));
            momenta(&w, p, l);
            for (int i = 0; i < 3; i++)
                assert_close(p[i] - p0[i], 0.01 * (share * mine[i] + (i == 0 ? 2.5 : 0)), 1e-13);
            world_free(&w);
        }
    pl_context_destroy(ctx);
}

/* drag a (n.(w - v)) n over a closed box: both faces across the wind feel it, so 2 drag A (w - v). */
static void test_wind(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_body_def body = world_body(PL_ARAP, PL_EXACT, 1e6);
    body.velocity[0] = 0.5;
    test_world w = small_world(ctx, world_def(0.01, 0, 0, 0), body, false);
    pl_wind_def wind = pl_wind_def_default();
    wind.drag = 4;
    wind.velocity[0] = 3, wind.velocity[1] = 1;
    assert_ok(ctx, pl_scene_add_wind(w.scene, &wind, NULL));
    world_start(&w);
    double p0[3], p[3], l[3];
    momenta(&w, p0, l);
    world_step(&w);
    momenta(&w, p, l);
    assert_close(p[0] - p0[0], 0.01 * 2 * 4 * (0.1 * 0.1) * 2.5, 1e-13);
    assert_close(p[1] - p0[1], 0.01 * 2 * 4 * (0.15 * 0.1) * 1.0, 1e-13);
    assert_close(p[2] - p0[2], 0, 1e-13);
    /* An input replaces it; still air slows the body down. */
    double still[3] = {0};
    pl_inputs inputs = {.of[PL_WIND] = still};
    memcpy(p0, p, sizeof p0);
    assert_ok(ctx, pl_step(w.sim, w.state, &inputs, NULL));
    momenta(&w, p, l);
    assert_true(p[0] < p0[0] && p[1] < p0[1]);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Stiff pins are where their table says: offset, and a turn about a pivot. */
static void test_pins_follow_tables(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = small_world(ctx, world_def(0.01, 0, 0, -9.81),
                               world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5), false);
    int held[36];
    pl_body_info info;
    assert_ok(ctx, pl_scene_body(w.scene, 0, &info));
    const double times[] = {0, 0.1}, offsets[] = {0, 0, 0, 0.02, 0.01, -0.01};
    const double turns[] = {0, 0, 1, 0, 0, 0, 1, 0.5};
    pl_pin_def pin = pl_pin_def_default();
    pin.vertex_count = world_select(info.mesh, 0, 0.2, held);
    pin.vertices = held;
    pin.compliance = 1e-11;
    pin.offset = (pl_table){2, times, offsets};
    pin.rotation = (pl_table){2, times, turns};
    pin.pivot[0] = 0.2, pin.pivot[1] = -0.05;
    assert_ok(ctx, pl_scene_add_pin(w.scene, &pin, NULL));
    assert_int_equal(pin.vertex_count, 9);
    world_start(&w);
    for (int k = 1; k <= 12; k++) {
        world_step(&w);
        double part = fmin(k * 0.1, 1), c = cos(0.5 * part), s = sin(0.5 * part);
        for (int i = 0; i < pin.vertex_count; i++) {
            const double *x = info.mesh->vertices + 3 * held[i], *q = w.state->q + 3 * held[i];
            double arm[2] = {x[0] - 0.2, x[1] + 0.05};
            /* the stretch of a pin is compliance times its force, here some 10 N: 1e-10 m, as much
             * again for the Newton tolerance */
            assert_close(q[0], 0.2 + c * arm[0] - s * arm[1] + 0.02 * part, 1e-9);
            assert_close(q[1], -0.05 + s * arm[0] + c * arm[1] + 0.01 * part, 1e-9);
            assert_close(q[2], x[2] - 0.01 * part, 1e-9);
            assert_close(w.state->input[PL_PIN_TARGET][3 * i], q[0], 1e-9);
        }
    }
    /* Targets of the caller come first. */
    double mine[27];
    for (int i = 0; i < 27; i++)
        mine[i] = w.state->input[PL_PIN_TARGET][i] + 1e-3;
    pl_inputs inputs = {.of[PL_PIN_TARGET] = mine};
    assert_ok(ctx, pl_step(w.sim, w.state, &inputs, NULL));
    for (int i = 0; i < 27; i++)
        assert_close(w.state->q[3 * held[i / 3] + i % 3], mine[i], 1e-8);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Bodies that do not touch do not know of each other. Not bit for bit: the factor's order of unknowns
 * and the number of Newton steps, which the slower body decides, differ; so the tolerance is set below
 * what is asked. */
static void test_bodies_are_independent(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double alone[2][3 * 36];
    for (int which = 0; which < 3; which++) {
        pl_scene_def def = world_def(0.01, 0, 0, -9.81);
        def.tolerance = 1e-13;
        test_world w = world_new(ctx, def);
        pl_body_def solid = world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e4),
                    cloth = world_body(PL_ARAP, PL_EXACT, 1e6);
        solid.velocity[2] = -1;
        cloth.bending = 1e-4;
        cloth.angular_velocity[0] = 3;
        if (which != 1)
            world_add(&w, solid, world_grid(ctx, 3, 3, 3, 0.05, 0, 0, 0.005));
        if (which != 0)
            world_add(&w, cloth, world_cloth(ctx, 0.2, 0.2, 0.05, 1, 0, 0.05));
        world_floor(&w, 0, 0.3);
        world_start(&w);
        world_steps(&w, 20);
        int first = 3 * 27;
        if (which < 2)
            memcpy(alone[which], w.state->q, sizeof(double) * 3 * (size_t)w.n);
        else {
            assert_close(world_distance(first, alone[0], w.state->q), 0, 1e-12);
            assert_close(world_distance(3 * w.n - first, alone[1], w.state->q + first), 0, 1e-12);
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_rigid_motion_makes_no_force),
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_damping),
        cmocka_unit_test(test_initial_motion),
        cmocka_unit_test(test_forces),
        cmocka_unit_test(test_wind),
        cmocka_unit_test(test_pins_follow_tables),
        cmocka_unit_test(test_bodies_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
