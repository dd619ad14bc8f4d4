/* Edges and faces of bodies at rods, edges and corners: nothing slips between vertices, gradients. */
#include "terms_derivatives.h"

#include "contact/brush.h"

/* A collider of a shape, at a place, turned about an axis. */
static int add_shape(test_world *w, pl_shape shape, double a, double b, double c, const double at[3],
                     const double axis[3], double angle, double friction)
{
    pl_collider_def def = pl_collider_def_default();
    int collider = -1;
    def.shape = shape;
    def.size[0] = a, def.size[1] = b, def.size[2] = c;
    def.friction = friction;
    memcpy(def.pose, at, 3 * sizeof *at);
    world_turn(axis[0], axis[1], axis[2], angle, def.pose + 3);
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &def, &collider));
    return collider;
}

/* A slab of 5 cm cells. */
static void add_slab(test_world *w, int nx, int ny, double x, double y, double z, double turn,
                     double young, const double velocity[3])
{
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, young);
    pl_mesh *mesh = world_grid(w->ctx, nx, ny, 2, 0.05, -0.025 * (nx - 1), -0.025 * (ny - 1), 0);
    double about[4], to[3] = {x, y, z};
    world_turn(0, 0, 1, turn, about);
    pl_mesh_transform(mesh, 1, about, to);
    memcpy(def.velocity, velocity, sizeof def.velocity);
    world_add(w, def, mesh);
}

/* The least distance of points of the surface's edges and faces from colliders. */
static double deepest(const test_world *w)
{
    const pl_surface *f = w->sim->solver.brushes.surface;
    double least = INFINITY;
    for (int c = 0; c < w->scene->collider_count; c++)
        for (int t = 0; t < f->triangle_count; t++)
            for (int i = 0; i <= 8; i++)
                for (int j = 0; i + j <= 8; j++) {
                    double weight[3] = {i / 8.0, j / 8.0, (8 - i - j) / 8.0}, x[3] = {0};
                    pl_surface_point at;
                    for (int k = 0; k < 9; k++)
                        x[k % 3] += weight[k / 3] * w->state->q[3 * f->triangle[3 * t + k / 3] + k % 3];
                    pl_collider_query(w->sim->solver.shapes[c],
                                      w->state->input[PL_COLLIDER_POSE] + 7 * c, x, &at);
                    least = fmin(least, at.distance);
                }
    return least;
}

static int brushes(const test_world *w)
{
    int count = 0;
    for (int c = 0; c < w->state->contact_count; c++)
        count += w->state->contacts[c].ridge >= 0 && w->state->contacts[c].force_normal > 1e-3;
    return count;
}

/* What edges and faces end inside is what frozen geometry gets wrong of the last step's motion, which
 * the next one mends: 1.5 cm a step over cells of 6 cm in the worst case here. */
static int run_checked(test_world *w, int steps, double depth)
{
    int most = 0;
    for (int k = 0; k < steps; k++) {
        pl_step_info info = world_step(w);
        assert_true(info.converged && info.residual <= 1e-10 && info.complementarity < 1e-8);
        assert_true(deepest(w) > -depth);
        most = brushes(w) > most ? brushes(w) : most;
    }
    return most;
}

static const double along_y[3] = {1, 0, 0};

/* A rod of 1 cm under the middle of cells of 5 cm. */
static void rod(test_world *w, pl_context *ctx, double mu, double vx)
{
    const double at[3] = {0.027, 0, 0}, v[3] = {vx, 0, -0.3};
    *w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    add_slab(w, 6, 4, 0.027, 0, 0.015, 0.1, 2e5, v);
    add_shape(w, PL_CAPSULE, 0.01, 0.3, 0, at, along_y, 1.5707963, mu);
    world_start(w);
}

static void a_rod_holds(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w;
    rod(&w, ctx, 0.5, 0);
    assert_true(run_checked(&w, 40, 2e-5) >= 4);
    double middle[3];
    world_mean(w.n, w.state->q, middle);
    assert_true(middle[2] > 0.03);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void gradients_at_a_rod(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w;
    rod(&w, ctx, 0.3, 0.5);
    pl_check_regimes met =
        term_check(&w,
                   PL_BIT(PL_FRICTION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_POSITION) | PL_BIT(PL_YOUNG) |
                       PL_BIT(PL_DENSITY) | PL_BIT(PL_COLLIDER_POSE),
                   8, 1e-6, "rod");
    assert_true(met.slip > 10);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* What all gradients are asked of. */
static void check_gradients(test_world *w, int steps, const char *what)
{
    pl_check_regimes met =
        term_check(w,
                   PL_BIT(PL_FRICTION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_POSITION) | PL_BIT(PL_YOUNG) |
                       PL_BIT(PL_DENSITY) | PL_BIT(PL_COLLIDER_POSE),
                   steps, 1e-6, what);
    assert_true(met.slip + met.stick > 4);
}

/* A slab that comes down across the upper edge of a box, which is turned onto that edge, or across that
 * of the same box as a mesh. */
static void edge(test_world *w, pl_context *ctx, bool as_mesh)
{
    const double at[3] = {0.027, 0, -0.1 * sqrt(2)}, axis[3] = {0, 1, 0}, v[3] = {0.2, 0, -0.4};
    *w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    add_slab(w, 6, 4, 0.03, 0, 0.003, 0.1, 2e5, v);
    if (!as_mesh) {
        add_shape(w, PL_BOX, 0.1, 0.2, 0.1, at, axis, acos(-1.0) / 4, 0.4);
    } else {
        pl_collider_def def = pl_collider_def_default();
        const double unturned[4] = {1, 0, 0, 0}, low[3] = {-0.1, -0.2, -0.1};
        const double wide[3] = {0.2, 0.4, 0.2};
        pl_mesh *mesh = NULL;
        assert_ok(ctx, pl_mesh_box(ctx, wide, 0.1, &mesh));
        pl_mesh_transform(mesh, 1, unturned, low);
        def.shape = PL_MESH;
        def.surface = mesh;
        def.friction = 0.4;
        memcpy(def.pose, at, sizeof at);
        world_turn(0, 1, 0, acos(-1.0) / 4, def.pose + 3);
        assert_ok(ctx, pl_scene_add_collider(w->scene, &def, NULL));
        pl_mesh_free(ctx, mesh);
    }
    world_start(w);
}

static void an_edge_holds(void **state)
{
    (void)state;
    for (int as_mesh = 0; as_mesh < 2; as_mesh++) {
        pl_context *ctx = test_context(1);
        test_world w;
        edge(&w, ctx, as_mesh);
        check_gradients(&w, 6, as_mesh ? "edge of a mesh" : "edge of a box");
        assert_true(run_checked(&w, 30, 2e-4) >= 4);
        world_free(&w);
        pl_context_destroy(ctx);
    }
}

/* A cloth of coarse cells that falls on the corner of a box, or on a ball smaller than a cell. */
static void tip(test_world *w, pl_context *ctx, bool ball)
{
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    const double at[3] = {0.012, 0.021, ball ? -0.01 : -0.1 * sqrt(3)}, axis[3] = {1, -1, 0};
    *w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    def.thickness = 1e-3;
    def.bending = 1e-4;
    def.velocity[0] = 0.3, def.velocity[2] = -0.3;
    world_add(w, def, world_cloth(ctx, 0.3, 0.3, 0.06, -0.15, -0.15, 0.004));
    if (ball)
        add_shape(w, PL_SPHERE, 0.01, 0, 0, at, axis, 0, 0.4);
    else
        add_shape(w, PL_BOX, 0.1, 0.1, 0.1, at, axis, -atan(sqrt(2)), 0.4);
    world_start(w);
}

static void a_tip_holds(void **state)
{
    (void)state;
    for (int ball = 0; ball < 2; ball++) {
        pl_context *ctx = test_context(1);
        test_world w;
        tip(&w, ctx, ball);
        check_gradients(&w, 6, ball ? "ball" : "corner");
        assert_true(run_checked(&w, 20, 1.5e-3) >= 1);
        world_free(&w);
        pl_context_destroy(ctx);
    }
}

/* A blade, a box thinner than a cell, or a rod, that flies at a block between its vertices and takes it
 * along. */
static void fly_at(double speed, pl_shape shape)
{
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e6);
    pl_collider_def blade = pl_collider_def_default();
    const double times[2] = {0, 0.1};
    double turn[4], poses[14] = {-0.05, 0.003, 0, 1, 0, 0, 0, -0.05 + 0.1 * speed, 0.003, 0, 1};
    world_turn(1, 0, 0, 0.3, turn);
    memcpy(poses + 3, turn, sizeof turn);
    memcpy(poses + 10, turn, sizeof turn);
    world_add(&w, body, world_grid(ctx, 3, 4, 4, 0.04, 0, -0.06, -0.06));
    blade.shape = shape;
    blade.size[0] = 0.01, blade.size[1] = shape == PL_BOX ? 0.003 : 0.3, blade.size[2] = 0.3;
    blade.table = (pl_table){2, times, poses};
    blade.friction = 0.2;
    assert_ok(ctx, pl_scene_add_collider(w.scene, &blade, NULL));
    world_start(&w);
    for (int k = 1; k <= 10; k++) {
        pl_step_info info = world_step(&w);
        assert_true(info.converged && info.residual <= 1e-10 && info.complementarity < 1e-8);
        double middle[3], front = -0.05 + 0.01 * speed * k;
        world_mean(w.n, w.state->q, middle);
        assert_true(middle[0] > front && deepest(&w) > -2e-3);
    }
    world_free(&w);
    pl_context_destroy(ctx);
}

static void blades_that_hit(void **state)
{
    (void)state;
    const pl_shape shapes[] = {PL_BOX, PL_CAPSULE};
    for (int k = 0; k < 2; k++) {
        fly_at(2, shapes[k]);
        fly_at(5, shapes[k]);
        fly_at(20, shapes[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rod_holds),     cmocka_unit_test(gradients_at_a_rod),
        cmocka_unit_test(an_edge_holds),   cmocka_unit_test(a_tip_holds),
        cmocka_unit_test(blades_that_hit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
