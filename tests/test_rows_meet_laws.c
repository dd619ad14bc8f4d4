/* What contact between bodies has to get right by theory: symmetry, momentum, friction's threshold,
 * even pressure through meshes that do not match. */
#include "common_meet.h"

/* A ball beside the origin, turned so that no vertex faces another, or the same after half a turn. */
static pl_mesh *ball_at(test_world *w, bool opposite)
{
    const double radii[3] = {0.05, 0.05, 0.05}, to[3] = {-0.055, 0.004, 0.003}, here[3] = {0};
    double about[4], half[4];
    pl_mesh *mesh = NULL;
    world_turn(0.3, 1, 0.5, 0.37, about);
    world_turn(0, 0, 1, acos(-1.0), half);
    assert_ok(w->ctx, pl_mesh_ellipsoid(w->ctx, radii, 0.025, &mesh));
    pl_mesh_transform(mesh, 1, about, to);
    if (opposite)
        pl_mesh_transform(mesh, 1, half, here);
    return mesh;
}

/* Two balls, each the other turned by half a turn about the vertical, fly into each other: so they
 * stay, and what they have together is nothing. */
static void balls_that_collide(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def scene = touching(0.005, 0, 0.3);
    scene.tolerance = 1e-12;
    test_world w = world_new(ctx, scene);
    for (int k = 0; k < 2; k++) {
        pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
        def.contact_offset = OFFSET;
        def.velocity[0] = k ? -1 : 1;
        world_add(&w, def, ball_at(&w, k == 1));
    }
    world_start(&w);
    double force = 0;
    int half = w.n / 2;
    for (int k = 0; k < 16; k++) {
        double together[3] = {0}, apart = 0;
        pl_step_info info = world_step(&w);
        assert_true(info.converged && info.complementarity < 1e-8);
        for (int i = 0; i < 3 * w.n; i++)
            together[i % 3] += w.sim->matter.mass[i / 3] * w.state->v[i];
        for (int i = 0; i < half; i++) {
            const double *a = w.state->q + 3 * i, *b = w.state->q + 3 * (half + i);
            apart = fmax(apart, fmax(fabs(a[0] + b[0]), fmax(fabs(a[1] + b[1]), fabs(a[2] - b[2]))));
        }
        for (int c = 0; c < w.state->contact_count; c++)
            force = fmax(force, w.state->contacts[c].force_normal);
        assert_true(pl_norm3(together) < 1e-12);
        assert_true(apart < 1e-9);
    }
    assert_true(force > 0.1);
    double mean[3];
    world_mean(half, w.state->v, mean);
    assert_true(mean[0] < -0.3); /* they came apart again */
    world_free(&w);
    pl_context_destroy(ctx);
}

/* How fast a block goes on another one that is held, after 0.4 s on a slope. */
static double slide_on_slope(double mu, double slope)
{
    pl_context *ctx = test_context(1);
    pl_scene_def scene = touching(0.01, 0, mu);
    scene.gravity[0] = 9.81 * sin(slope), scene.gravity[2] = -9.81 * cos(slope);
    test_world w = world_new(ctx, scene);
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6);
    def.contact_offset = OFFSET;
    pl_mesh *lower = world_grid(ctx, 7, 5, 2, 0.05, -0.15, -0.1, -0.05);
    int list[35], count = world_select(lower, 2, -0.05, list);
    int held = world_add(&w, def, lower);
    world_pin(&w, held, count, list, 1e-8);
    pl_mesh *upper = world_grid(ctx, 3, 3, 2, 0.03, -0.1, -0.03, 0.00101);
    world_add(&w, def, upper);
    world_start(&w);
    for (int k = 0; k < 40; k++) {
        pl_step_info info = world_step(&w);
        assert_true(info.converged && info.residual <= 1e-10 && info.complementarity < 1e-8);
    }
    double mean[3];
    world_mean(18, w.state->v + 3 * 70, mean);
    world_free(&w);
    pl_context_destroy(ctx);
    return mean[0];
}

static void slopes_hold_and_let_go(void **state)
{
    (void)state;
    const double mu[] = {0.2, 0.5};
    for (int k = 0; k < 2; k++) {
        double steep = atan(1.05 * mu[k]), flat = atan(0.95 * mu[k]);
        assert_true(fabs(slide_on_slope(mu[k], flat)) < 1e-3);
        double expected = 0.4 * 9.81 * (sin(steep) - mu[k] * cos(steep));
        assert_true(fabs(slide_on_slope(mu[k], steep) / expected - 1) < 0.15); /* it settles first */
    }
}

/* What a tet is stretched by along z. */
static double stretch(const double *rest, const double *q, const int *tet)
{
    double d[9], inverse[9], deformed[3];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            d[3 * i + k] = rest[3 * tet[k + 1] + i] - rest[3 * tet[0] + i];
    pl_inverse3(d, inverse);
    for (int k = 0; k < 3; k++)
        deformed[k] = q[3 * tet[k + 1] + 2] - q[3 * tet[0] + 2];
    return deformed[0] * inverse[2] + deformed[1] * inverse[5] + deformed[2] * inverse[8];
}

/* Two blocks of the same outline whose meshes do not match, pressed together evenly. */
static void pressure_is_even(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double young = 1e5, pressure = 0.01 * young, side = 0.12;
    pl_scene_def scene = touching(0.05, 0, 0);
    test_world w = world_new(ctx, scene);
    pl_mesh *meshes[2];
    for (int k = 0; k < 2; k++) {
        pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, young);
        int cells = k ? 3 : 4;
        def.poisson = 0;
        def.contact_offset = OFFSET;
        def.damping = 50;
        pl_mesh *mesh = world_grid(ctx, cells + 1, cells + 1, 3, side / cells, -side / 2, -side / 2,
                                   k ? 2 * side / 4 + 2 * OFFSET + 1e-5 : 0);
        meshes[k] = world_grid(ctx, cells + 1, cells + 1, 3, side / cells, -side / 2, -side / 2, 0);
        world_add(&w, def, mesh);
    }
    world_floor(&w, -1e-6, 0);
    world_start(&w);
    /* A third of each triangle's load on each of its corners. */
    double *push = calloc(3 * (size_t)w.n, sizeof *push), top = 2 * side / 3;
    int count = 0, *surface = NULL, first = meshes[0]->vertex_count;
    assert_ok(ctx, pl_mesh_surface(ctx, meshes[1], &count, &surface));
    for (int t = 0; t < count; t++) {
        const double *x = meshes[1]->vertices;
        const int *v = surface + 3 * t;
        double e[6], area[3];
        if (x[3 * v[0] + 2] < top - 1e-9 || x[3 * v[1] + 2] < top - 1e-9 ||
            x[3 * v[2] + 2] < top - 1e-9)
            continue;
        pl_sub3(x + 3 * v[1], x + 3 * v[0], e);
        pl_sub3(x + 3 * v[2], x + 3 * v[0], e + 3);
        pl_cross3(e, e + 3, area);
        for (int k = 0; k < 3; k++)
            push[3 * (first + v[k]) + 2] -= pressure * 0.5 * pl_norm3(area) / 3;
    }
    pl_inputs inputs = {{0}};
    inputs.of[PL_VERTEX_FORCE] = push;
    for (int k = 0; k < 60; k++) {
        pl_step_info info;
        assert_ok(ctx, pl_step(w.sim, w.state, &inputs, &info));
        assert_true(info.converged && info.complementarity < 1e-8);
    }
    double sum = 0, mean = 0;
    int tets = 0;
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < meshes[k]->tet_count; t++, tets++) {
            double f =
                stretch(meshes[k]->vertices, w.state->q + 3 * (k ? first : 0), meshes[k]->tets + 4 * t);
            double part = 0.5 * young * (1 / f - f) / pressure; /* Neo-Hooke along one axis */
            sum += (part - 1) * (part - 1), mean += part;
        }
    double rms = sqrt(sum / tets);
    if (!(rms < 0.03))
        fail_msg("pressure is off by %.3g rms, %.4g in the mean", rms, mean / tets);
    free(push);
    pl_free(ctx, surface);
    for (int k = 0; k < 2; k++)
        pl_mesh_free(ctx, meshes[k]);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_that_collide),
        cmocka_unit_test(slopes_hold_and_let_go),
        cmocka_unit_test(pressure_is_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
