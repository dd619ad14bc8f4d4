/* Contacts with round obstacles: gaps and frames are those of the end of the step, the way there is
 * exactly differentiated, and a frame that would turn too far stays. */
#include "terms_derivatives.h"

#include "contact/geometry.h"

/* A round obstacle that a sheet lies on, of radius R = 0.1 m, or a mesh. */
typedef struct place {
    const char *name;
    pl_shape shape;
    double v, spin; /* of the obstacle along x, m/s, and about the y axis, rad/s */
} place;

static const place places[] = {
    {"sphere", PL_SPHERE, 0, 0},
    {"cylinder", PL_CYLINDER, 0, 0},
    {"capsule", PL_CAPSULE, 0, 0},
    {"mesh", PL_MESH, 0, 0},
    {"sphere that moves and spins", PL_SPHERE, 0.5, 6},
    {"cylinder that spins", PL_CYLINDER, 0, 10},
    {"capsule that moves", PL_CAPSULE, -0.5, 0},
    {"mesh that moves and spins", PL_MESH, 0.3, 3},
};

enum { PLACES = sizeof places / sizeof *places };

#define RADIUS 0.1
#define STEP   0.01

static void add_obstacle(test_world *w, const place *at, double friction)
{
    pl_collider_def def = pl_collider_def_default();
    double time[21], pose[7 * 21] = {0};
    pl_mesh *mesh = NULL;
    def.shape = at->shape;
    def.friction = friction;
    def.size[0] = RADIUS, def.size[1] = at->shape == PL_CAPSULE ? 0.02 : 0.3;
    if (at->shape == PL_MESH) {
        const double round[3] = {RADIUS, RADIUS, RADIUS};
        assert_ok(w->ctx, pl_mesh_ellipsoid(w->ctx, round, 0.06, &mesh));
        def.surface = mesh;
    }
    for (int k = 0; k < 21; k++) {
        double lie[4] = {1, 0, 0, 0}, turn[4];
        if (at->shape == PL_MESH) /* no crease is where a vertex is */
            world_turn(1, 2, 3, 0.4, lie);
        else if (at->shape != PL_SPHERE)
            world_turn(1, 0, 0, 0.5 * acos(-1.0), lie);
        world_turn(0, 1, 0, at->spin * STEP * k, turn);
        time[k] = STEP * k;
        pose[7 * k] = at->v * time[k];
        pose[7 * k + 2] = -RADIUS;
        world_multiply(turn, lie, pose + 7 * k + 3);
    }
    memcpy(def.pose, pose, sizeof def.pose);
    def.table = (pl_table){at->v != 0 || at->spin != 0 ? 21 : 0, time, pose};
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &def, NULL));
    pl_mesh_free(w->ctx, mesh);
}

/* A sheet that comes down on it at 1 m/s along x: v h / R = 0.1. */
static test_world sheet(pl_context *ctx, const place *at, pl_scene_def def)
{
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    test_world w = world_new(ctx, def);
    body.bending = 1e-4;
    body.velocity[0] = 1, body.velocity[1] = 0.1, body.velocity[2] = -0.3;
    world_add(&w, body, world_cloth(ctx, 0.12, 0.08, 0.03, -0.08, -0.033, 4e-3));
    add_obstacle(&w, at, 0.3);
    world_start(&w);
    return w;
}

/* What a state tells of its contacts is what the obstacle says where the vertex is: n to the digits
 * that the last move leaves, the gap to the rounding of positions and the law. */
static void the_end_counts(void **state)
{
    (void)state;
    for (int k = 0; k < PLACES; k++) {
        pl_context *ctx = test_context(1);
        pl_scene_def def = world_def(STEP, 0, 0, -9.81);
        def.tolerance = k == 0 ? 1e-6 : def.tolerance;
        test_world w = sheet(ctx, &places[k], def);
        double turned = 0;
        int pressed = 0;
        for (int step = 0; places[k].shape != PL_MESH && step < 20; step++) {
            double before[3];
            pl_step_info info = world_step(&w);
            assert_true(info.complementarity <= 1e-8);
            for (int c = 0; info.splits == 0 && c < w.state->contact_count; c++) {
                const pl_contact *p = &w.state->contacts[c];
                const double *pose = w.state->input[PL_COLLIDER_POSE];
                const double *x = w.state->q + 3 * p->vertex[0];
                pl_surface_point at;
                if (p->force_normal < 1e-3)
                    continue;
                pl_collider_query(w.sim->solver.shapes[0], pose, x, &at);
                assert_close(at.distance, 0.5e-12 / p->force_normal, 2e-16);
                for (int i = 0; i < 3; i++) {
                    assert_close(p->normal[i], at.normal[i], k == 0 ? 1e-5 : 1e-9);
                    before[i] = x[i] - STEP * w.state->v[3 * p->vertex[0] + i];
                }
                pl_surface_point was;
                pl_collider_query(w.sim->solver.shapes[0], pose, before, &was);
                turned = fmax(turned, 1 - pl_dot3(was.normal, at.normal));
                pressed++;
            }
        }
        if (places[k].shape != PL_MESH && (pressed < 20 || turned < 1e-4))
            fail_msg("%s: %d contacts, turned by %g", places[k].name, pressed, turned);
        world_free(&w);
        pl_context_destroy(ctx);
    }
}

static void check(const place *at, pl_integrator integrator)
{
    pl_context *ctx = test_context(1);
    pl_scene_def def = world_def(STEP, 0, 0, -9.81);
    def.integrator = integrator;
    test_world w = sheet(ctx, at, def);
    pl_check_regimes met = term_check(&w,
                                      PL_BIT(PL_FRICTION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_POSITION) |
                                          PL_BIT(PL_DENSITY) | PL_BIT(PL_COLLIDER_POSE),
                                      6, 1e-6, at->name);
    if (met.slip + met.stick <= 5)
        fail_msg("%s: %d slip, %d stick", at->name, met.slip, met.stick);
    if (at->v == 0 && at->spin == 0 && at->shape != PL_MESH)
        term_check(&w, PL_BIT(PL_YOUNG) | PL_BIT(PL_BENDING), 6, 1e-5, at->name);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void gradients(void **state)
{
    (void)state;
    for (int k = 0; k < PLACES; k++)
        check(&places[k], PL_EULER);
}

static void gradients_of_second_order(void **state)
{
    (void)state;
    check(&places[4], PL_BDF2);
    check(&places[5], PL_TR_BDF2);
}

/* Steps of 0.05 s that are halved because they may take few iterations. */
static void gradients_of_split_steps(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def def = world_def(5 * STEP, 0, 0, -9.81);
    def.solver = PL_SOLVER_DIRECT;
    def.max_iterations = 10;
    test_world w = sheet(ctx, &places[4], def);
    pl_check_regimes met = term_check(&w,
                                      PL_BIT(PL_FRICTION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_POSITION) |
                                          PL_BIT(PL_DENSITY) | PL_BIT(PL_COLLIDER_POSE),
                                      3, 1e-6, "split steps");
    int splits = 0;
    for (int k = 0; k < 3; k++)
        splits += world_step(&w).splits;
    if (met.slip + met.stick < 4 || splits == 0)
        fail_msg("%d slip, %d stick, %d splits", met.slip, met.stick, splits);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A contact of a vertex from x0 at x, on a collider from one pose to another. */
typedef struct setting {
    double x0[3], x[3], from[7], to[7];
} setting;

enum { MOTIONS = 6 + 6 + 6 }; /* of x0, x, and a translation and a turn of each pose */

/* The setting moved by t d [MOTIONS]. */
static setting moved(const setting *s, double t, const double *d)
{
    setting out = *s;
    for (int i = 0; i < 3; i++) {
        out.x0[i] += t * d[i];
        out.x[i] += t * d[3 + i];
        out.from[i] += t * d[6 + i];
        out.to[i] += t * d[12 + i];
    }
    double angle = pl_norm3(d + 9), turn[4];
    world_turn(d[9], d[10], d[11], t * angle, turn);
    world_multiply(turn, s->from + 3, out.from + 3);
    angle = pl_norm3(d + 15);
    world_turn(d[15], d[16], d[17], t * angle, turn);
    world_multiply(turn, s->to + 3, out.to + 3);
    return out;
}

/* delta in the frame (its friction turned into the world, where no choice of tangents shows), and the
 * force. */
static pl_contact_point place_at(pl_collider *shape, const setting *s, const double lambda[3],
                                 double delta[3])
{
    const double friction = 0.3;
    const int body_of = 0;
    pl_obstacles o = {1, &shape, s->from, s->to, 1, &friction, &body_of};
    pl_contact_point p;
    pl_stencil_entry entry;
    double u[3], m[3];
    pl_contact_place(&o, 0, 0, s->x0, &p);
    pl_contact_follow(&o, s->x0, s->x, &p, &entry);
    memcpy(p.lambda, lambda, sizeof p.lambda);
    assert_memory_equal(entry.block, p.frame, sizeof p.frame);
    pl_sub3(s->x, s->x0, u);
    pl_sub3(u, p.drift, m);
    pl_mat3_vec(p.frame, m, delta);
    delta[0] = p.gap + pl_dot3(p.frame, u);
    return p;
}

static setting random_setting(uint64_t *seed)
{
    setting s = {.from = {0.01, -0.02, 0.01}, .to = {0.02, -0.01, 0}};
    double out[3];
    for (int i = 0; i < 3; i++)
        out[i] = test_random(seed);
    out[0] += 2; /* beside the ends of what lies along z */
    out[2] *= 0.2;
    for (int i = 0; i < 3; i++) {
        s.x0[i] = 0.11 * out[i] / pl_norm3(out);
        s.x[i] = s.x0[i] + 0.02 * test_random(seed);
    }
    world_turn(test_random(seed), 1, test_random(seed), 0.1, s.from + 3);
    world_turn(test_random(seed), 1, test_random(seed), 0.2, s.to + 3);
    return s;
}

/* The derivative as a sweep makes it: the change of delta along d, and of the force; tangents turn by
 * as little as may be. */
static void derive(const pl_contact_point *p, const setting *s, const double *d, double d_delta[3],
                   double d_force[3])
{
    pl_geometry_grad along = {0};
    double u[3], turned[3], force[3], shift[3];
    pl_sub3(s->x, s->x0, u);
    memcpy(along.x0, d, sizeof along.x0);
    memcpy(along.pose_start, d + 6, sizeof along.pose_start);
    memcpy(along.pose_end, d + 12, sizeof along.pose_end);
    pl_geometry_jvp(p, s->from, s->to, s->x0, u, &along, d_delta, d_force);
    pl_geometry_push_turn(p, p->lambda, u, d + 3, turned, force);
    pl_mat3_vec(p->frame, d + 3, shift);
    for (int k = 0; k < 3; k++) {
        d_delta[k] += turned[k] + shift[k];
        d_force[k] += force[k];
    }
}

/* What does not depend on how the tangents are chosen: delta_n, and the slip as a vector. */
static void invariants(const pl_contact_point *p, const double delta[3], double out[4])
{
    double slip[3] = {0, delta[1], delta[2]};
    out[0] = delta[0];
    pl_mat3_tvec(p->frame, slip, out + 1);
}

static void frames_follow(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    uint64_t seed = 3;
    const pl_shape shapes[] = {PL_SPHERE, PL_CYLINDER, PL_CAPSULE};
    for (int k = 0; k < 30; k++) {
        pl_collider_def def = pl_collider_def_default();
        pl_collider *shape;
        def.shape = shapes[k % 3];
        def.size[0] = RADIUS, def.size[1] = k % 2 ? 0.001 : 0.2;
        if (def.shape == PL_CYLINDER)
            def.size[1] = 0.2;
        assert_ok(ctx, pl_collider_create(ctx, &def, &shape));
        setting s = random_setting(&seed);
        double d[MOTIONS], delta[3], lambda[3] = {2, 0.3, -0.5}, d_delta[3], d_force[3], best[2];
        for (int i = 0; i < MOTIONS; i++)
            d[i] = test_random(&seed) * (i < 6 || i % 6 < 3 ? 1 : 3);
        pl_contact_point p = place_at(shape, &s, lambda, delta);
        assert_true(p.round && p.follows);
        for (int i = 0; i < 9; i++)
            assert_close(pl_dot3(p.frame + i / 3 * 3, p.frame + i % 3 * 3), i % 4 == 0, 1e-15);
        derive(&p, &s, d, d_delta, d_force);
        /* In the world: T delta_f changes by T d(delta_f) - n (T delta_f . dn); dn by the force of
         * lambda = (1, 0, 0) */
        pl_contact_point unit = p;
        const double normal[3] = {1, 0, 0};
        double d_n[3], ignored[3], in_world[4], slip[3] = {0, delta[1], delta[2]}, world[3];
        memcpy(unit.lambda, normal, sizeof normal);
        derive(&unit, &s, d, ignored, d_n);
        pl_mat3_tvec(p.frame, slip, world);
        double change[3] = {0, d_delta[1], d_delta[2]};
        in_world[0] = d_delta[0];
        pl_mat3_tvec(p.frame, change, in_world + 1);
        pl_axpy3(-pl_dot3(world, d_n), p.frame, in_world + 1);
        best[0] = best[1] = INFINITY;
        for (double t = 1e-4; t > 0.5e-7; t /= 10) {
            double at[2][4], n[2][3], off[2] = {0};
            for (int side = 0; side < 2; side++) {
                double there[3];
                setting near = moved(&s, side ? t : -t, d);
                pl_contact_point q = place_at(shape, &near, lambda, there);
                invariants(&q, there, at[side]);
                memcpy(n[side], q.frame, sizeof n[side]);
            }
            for (int i = 0; i < 4; i++)
                off[0] = fmax(off[0], fabs((at[1][i] - at[0][i]) / (2 * t) - in_world[i]));
            for (int i = 0; i < 3; i++)
                off[1] = fmax(off[1], fabs((n[1][i] - n[0][i]) / (2 * t) - d_n[i]));
            best[0] = fmin(best[0], off[0]);
            best[1] = fmin(best[1], off[1]);
        }
        assert_true(best[0] < 1e-8 && best[1] < 1e-7);
        pl_collider_destroy(ctx, shape);
    }
    pl_context_destroy(ctx);
}

/* <a, d_delta> + <f, d_force> = <pulled back, d> to the last digits. */
static void pulls_are_pushes_transposed(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    uint64_t seed = 5;
    pl_collider_def def = pl_collider_def_default();
    pl_collider *shape;
    def.shape = PL_SPHERE;
    def.size[0] = RADIUS;
    assert_ok(ctx, pl_collider_create(ctx, &def, &shape));
    for (int k = 0; k < 20; k++) {
        setting s = random_setting(&seed);
        double d[MOTIONS], delta[3], lambda[3] = {2, 0.3, -0.5}, a[3], f[3], u[3];
        double d_delta[3], d_force[3], pulled[MOTIONS] = {0}, back[3];
        pl_geometry_grad g;
        for (int i = 0; i < MOTIONS; i++)
            d[i] = test_random(&seed);
        for (int i = 0; i < 3; i++)
            a[i] = test_random(&seed), f[i] = test_random(&seed);
        pl_contact_point p = place_at(shape, &s, lambda, delta);
        derive(&p, &s, d, d_delta, d_force);
        pl_sub3(s.x, s.x0, u);
        pl_geometry_vjp(&p, s.from, s.to, s.x0, u, a, f, &g);
        memcpy(pulled, g.x0, sizeof g.x0);
        memcpy(pulled + 6, g.pose_start, sizeof g.pose_start);
        memcpy(pulled + 12, g.pose_end, sizeof g.pose_end);
        pl_mat3_tvec(p.frame, a, back);
        pl_axpy3(1, back, pulled + 3);
        pl_geometry_pull_turn(&p, p.lambda, u, a, f, pulled + 3);
        double pushed = pl_dot3(a, d_delta) + pl_dot3(f, d_force), sum = 0, size = 0;
        for (int i = 0; i < MOTIONS; i++) {
            sum += pulled[i] * d[i];
            size += fabs(pulled[i] * d[i]);
        }
        assert_close(sum, pushed, 1e-14 * size);
    }
    pl_collider_destroy(ctx, shape);
    pl_context_destroy(ctx);
}

/* A vertex that would get to the other side of a ball keeps the plane that is in its way. */
static void far_turns_stay(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_collider_def def = pl_collider_def_default();
    pl_collider *shape;
    def.shape = PL_SPHERE;
    def.size[0] = 0.01;
    assert_ok(ctx, pl_collider_create(ctx, &def, &shape));
    setting s = {.x0 = {0.001, 0, 0.02}, .x = {0.001, 0, -0.02}, .from = {[3] = 1}, .to = {[3] = 1}};
    double lambda[3] = {1, 0, 0}, delta[3], length = hypot(0.001, 0.02);
    pl_contact_point p = place_at(shape, &s, lambda, delta);
    assert_true(p.round && !p.follows);
    assert_close(p.gap, length - 0.01, 1e-17);
    assert_close(p.frame[2], 0.02 / length, 1e-15);
    pl_collider_destroy(ctx, shape);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_counts),
        cmocka_unit_test(gradients),
        cmocka_unit_test(gradients_of_second_order),
        cmocka_unit_test(gradients_of_split_steps),
        cmocka_unit_test(frames_follow),
        cmocka_unit_test(pulls_are_pushes_transposed),
        cmocka_unit_test(far_turns_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
