/* Bodies that touch each other: momentum, rest, sliding, what nothing may pass, gradients. */
#include "terms_derivatives.h"

#include "contact/meet.h"

static pl_scene_def touching(double h, double gz, double mu)
{
    pl_scene_def def = world_def(h, 0, 0, gz);
    def.body_contact = true;
    def.body_friction = mu;
    def.body_offset = 5e-4;
    return def;
}

/* A block of nx by ny by nz nodes, turned about the vertical through its middle. */
static int add_block(test_world *w, int nx, int ny, int nz, double spacing, double x, double y,
                     double z, double turn, double young, double vx, double vz)
{
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, young);
    pl_mesh *mesh = world_grid(w->ctx, nx, ny, nz, spacing, -0.5 * spacing * (nx - 1),
                               -0.5 * spacing * (ny - 1), 0);
    double about[4], to[3] = {x, y, z};
    world_turn(0, 0, 1, turn, about);
    pl_mesh_transform(mesh, 1, about, to);
    def.velocity[0] = vx, def.velocity[2] = vz;
    return world_add(w, def, mesh);
}

static void momentum(const test_world *w, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < 3 * w->n; i++)
        out[i % 3] += w->sim->matter.mass[i / 3] * w->state->v[i];
}

/* Two blocks fly into each other: what they have together they keep. */
static void momentum_is_kept(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.01, 0, 0.3));
    add_block(&w, 4, 4, 4, 0.05, 0, 0, 0, 0, 1e5, 0, 1);
    add_block(&w, 4, 4, 4, 0.05, 0.03, 0.02, 0.17, 0.3, 2e5, 0.2, -1);
    world_start(&w);
    double before[3], after[3], most = 0, force = 0;
    momentum(&w, before);
    for (int k = 0; k < 12; k++) {
        pl_step_info info;
        assert_ok(ctx, pl_step(w.sim, w.state, NULL, &info));
        assert_true(info.complementarity < 1e-6 && info.residual <= 1e-10);
        for (int c = 0; c < w.state->contact_count; c++) {
            most = fmax(most, w.state->contacts[c].force_normal);
            assert_true(w.state->contacts[c].gap > 0);
        }
        force += most;
    }
    assert_true(most > 0.1);
    momentum(&w, after);
    for (int k = 0; k < 3; k++)
        assert_close(after[k], before[k], 1e-12);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A block on a block on a floor, after a while: each carries what is above it. */
static void a_stack_rests(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.02, -9.81, 0.5));
    add_block(&w, 5, 5, 3, 0.05, 0, 0, 1e-4, 0, 1e5, 0, 0);
    add_block(&w, 3, 3, 3, 0.05, 0.01, 0.02, 0.1015, 0.3, 1e5, 0, 0);
    world_floor(&w, 0, 0.5);
    world_start(&w);
    world_steps(&w, 60);
    double weight = 0, carried = 0;
    for (int i = 75; i < w.n; i++)
        weight += 9.81 * w.sim->matter.mass[i];
    for (int c = 0; c < w.state->contact_count; c++)
        if (w.state->contacts[c].kind != PL_CONTACT_COLLIDER) {
            const pl_contact *p = &w.state->contacts[c];
            double up = p->force_normal * p->normal[2] + p->force_tangent[2];
            carried += (p->vertex[0] >= 75 ? 1 : -1) * up;
        }
    assert_close(carried / weight, 1, 1e-3);
    for (int i = 0; i < 3 * w.n; i++)
        assert_true(fabs(w.state->v[i]) < 1e-3);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A block that falls on another one, turned against it, and slides over its edges. */
static void gradients_of_sliding(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.01, -9.81, 0.3));
    add_block(&w, 6, 4, 3, 0.067, 0, 0, 1e-4, 0, 1e5, 0, 0);
    add_block(&w, 3, 3, 3, 0.05, -0.05, 0.01, 0.137, 0.2, 2e5, 1, -0.3);
    world_floor(&w, 0, 0.5);
    world_start(&w);
    pl_check_regimes met =
        term_check(&w,
                   PL_BIT(PL_BODY_FRICTION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_POSITION) |
                       PL_BIT(PL_YOUNG) | PL_BIT(PL_DENSITY),
                   10, 1e-6, "sliding");
    assert_true(met.slip > 20);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(a_stack_rests),
        cmocka_unit_test(gradients_of_sliding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
