/*
 * The contact law at converged steps: delta_n lambda_n = eps^2 to 1e-8 at every contact, of the
 * position before it is rounded, and forces inside the cone; at rest, sliding, and through hard
 * impacts.
 */
#include "common_scene.h"

#include "core/vec.h"

/* Steps, each with its contacts checked; returns the largest normal force met, N. */
static double run(test_world *w, int steps, double mu, const char *name)
{
    double largest = 0;
    for (int k = 0; k < steps; k++) {
        pl_step_info info = world_step(w);
        if (!(info.complementarity <= 1e-8))
            fail_msg("%s, step %d: complementarity %g with %d contacts", name, k, info.complementarity,
                     info.contacts);
        for (int c = 0; c < w->state->contact_count; c++) {
            const pl_contact *p = &w->state->contacts[c];
            assert_true(p->force_normal > 0);
            assert_true(pl_norm3(p->force_tangent) <= (1 + 1e-12) * mu * p->force_normal);
            /* Stored positions are below 1 m and rounded, their displacements too, and so are the
             * distance from a ball's middle and what that is less than its radius of 0.5 m. */
            assert_close(p->gap, 0.5e-12 / p->force_normal, 1e-8 * p->gap + 4e-16);
            largest = fmax(largest, p->force_normal);
        }
    }
    return largest;
}

static void test_rest_and_slide(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int nodes = 4; nodes <= 8; nodes += 4) /* systems in contact space by LU, and by GMRES */
        for (int slides = 0; slides < 2; slides++) {
            double slope = 0.3, mu = slides ? 0.2 : 0.5;
            test_world w = world_new(ctx, world_def(0.01, 9.81 * sin(slope), 0, -9.81 * cos(slope)));
            world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6),
                      world_grid(ctx, nodes, nodes, 3, 0.1 / (nodes - 1), 0, 0, 1e-4));
            world_floor(&w, 0, mu);
            world_start(&w);
            assert_true(run(&w, 60, mu, slides ? "slide" : "rest") > 0);
            world_free(&w);
        }
    pl_context_destroy(ctx);
}

/* A stiff cube at 5 m/s, obliquely, on a plane, a ball and the surface of a mesh. */
static void test_impacts(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const char *const names[] = {"plane", "ball", "mesh"};
    double largest = 0;
    for (int k = 0; k < 12; k++) {
        int surface = k % 3;
        double mu = 0.4;
        pl_scene_def def = world_def(k / 3 % 2 ? 0.05 : 0.01, 0, 0, -9.81);
        test_world w = world_new(ctx, def);
        pl_body_def body =
            world_body(PL_NEO_HOOKEAN, k % 2 ? PL_PROJECTIVE : PL_EXACT, k < 6 ? 1e6 : 1e7);
        body.velocity[0] = 2, body.velocity[2] = -5;
        world_add(&w, body, world_grid(ctx, 4, 4, 4, 0.1 / 3, -0.06, -0.04, 0.02));
        pl_collider_def c = pl_collider_def_default();
        pl_mesh *round = NULL;
        c.friction = mu;
        if (surface == 1)
            c.shape = PL_SPHERE, c.size[0] = 0.5, c.pose[2] = -0.5;
        if (surface == 2) {
            assert_ok(ctx, pl_mesh_ellipsoid(ctx, (double[3]){0.5, 0.5, 0.5}, 0.2, &round));
            c.shape = PL_MESH, c.surface = round, c.pose[2] = -0.5;
        }
        assert_ok(ctx, pl_scene_add_collider(w.scene, &c, NULL));
        pl_mesh_free(ctx, round);
        world_start(&w);
        double met = run(&w, def.time_step > 0.02 ? 8 : 25, mu, names[surface]);
        assert_true(met > 0);
        largest = fmax(largest, met);
        world_free(&w);
    }
    assert_true(largest > 100); /* a gap of 5e-15 m */
    pl_context_destroy(ctx);
}

/* Into the corner between the floor and a leaning wall: vertices that both hold. */
static void test_corner(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 2; k++) {
        int twice = 0;
        test_world w = world_new(ctx, world_def(k ? 0.05 : 0.01, 0, 0, -9.81));
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6);
        body.velocity[0] = -4, body.velocity[2] = -3;
        world_add(&w, body, world_grid(ctx, 4, 4, 4, 0.03, 0.02, 0, 0.02));
        world_floor(&w, 0, 0.3);
        pl_collider_def wall = pl_collider_def_default();
        wall.friction = 0.3;
        world_turn(0, 1, 0, 1.3, wall.pose + 3);
        assert_ok(ctx, pl_scene_add_collider(w.scene, &wall, NULL));
        world_start(&w);
        for (int step = 0; step < 15; step++) {
            run(&w, 1, 0.3, "corner");
            const pl_contact *p = w.state->contacts;
            for (int c = 1; c < w.state->contact_count; c++)
                twice += p[c].vertex[0] == p[c - 1].vertex[0] &&
                         fmin(p[c].force_normal, p[c - 1].force_normal) > 1e-3;
        }
        assert_true(twice >= 4);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_and_slide),
        cmocka_unit_test(test_impacts),
        cmocka_unit_test(test_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
