/* Bodies that touch each other: momentum, rest, sliding, what nothing may pass, gradients. */
#include "common_meet.h"

/* A block of nx by ny by nz nodes, turned about the vertical through its middle. */
static int add_block_kept(test_world *w, double offset, int nx, int ny, int nz, double spacing,
                          double x, double y, double z, double turn, double young, double vx, double vz)
{
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, young);
    def.contact_offset = offset;
    pl_mesh *mesh = world_grid(w->ctx, nx, ny, nz, spacing, -0.5 * spacing * (nx - 1),
                               -0.5 * spacing * (ny - 1), 0);
    double about[4], to[3] = {x, y, z};
    world_turn(0, 0, 1, turn, about);
    pl_mesh_transform(mesh, 1, about, to);
    def.velocity[0] = vx, def.velocity[2] = vz;
    return world_add(w, def, mesh);
}

static int add_block(test_world *w, int nx, int ny, int nz, double spacing, double x, double y,
                     double z, double turn, double young, double vx, double vz)
{
    return add_block_kept(w, OFFSET, nx, ny, nz, spacing, x, y, z, turn, young, vx, vz);
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
    double before[3], after[3], most = 0;
    momentum(&w, before);
    for (int k = 0; k < 12; k++) {
        pl_step_info info;
        assert_ok(ctx, pl_step(w.sim, w.state, NULL, &info));
        assert_true(info.complementarity < 1e-6 && info.residual <= 1e-10);
        for (int c = 0; c < w.state->contact_count; c++) {
            most = fmax(most, w.state->contacts[c].force_normal);
            assert_true(w.state->contacts[c].gap > 0);
        }
    }
    assert_true(most > 0.1);
    momentum(&w, after);
    for (int k = 0; k < 3; k++)
        /* By the ways of large bodies 2e-11: what steps solved to 1e-10 m leave. Else 1e-14. */
        assert_close(after[k], before[k], ctx->limits.gmres_contacts > 1 ? 1e-13 : 5e-11);
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
    pl_check_regimes met = term_check(&w,
                                      PL_BIT(PL_BODY_FRICTION) | PL_BIT(PL_VELOCITY) |
                                          PL_BIT(PL_POSITION) | PL_BIT(PL_YOUNG) | PL_BIT(PL_DENSITY),
                                      10, 1e-6, "sliding");
    assert_true(met.slip > 20);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* How high a world's vertices are after four steps. */
static bool how_high(void *user, int step, const double *q, const double *v, double *value, double *dq,
                     double *dv)
{
    const test_world *w = user;
    (void)v, (void)dv;
    for (int i = 0; step == 4 && i < w->n; i++) {
        *value += q[3 * i + 2] / w->n;
        dq[3 * i + 2] += 1.0 / w->n;
    }
    return true;
}

/* Boxes corner above corner and edge along edge: every vertex is above a border, and once the faces are
 * a little round, in the region of the edge that cuts them. */
static void gradients_of_aligned_boxes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.01, -9.81, 0));
    const int held[] = {0, 1, 2, 3};
    for (int k = 0; k < 2; k++) {
        const double size[3] = {0.1, 0.1, 0.1}, unturned[4] = {1, 0, 0, 0}, to[3] = {0, 0, 0.1024 * k};
        pl_mesh *mesh = NULL;
        assert_ok(ctx, pl_mesh_box(ctx, size, 0.1, &mesh));
        pl_mesh_transform(mesh, 1, unturned, to);
        world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5), mesh);
    }
    world_pin(&w, 0, 4, held, 1e-9);
    world_start(&w);
    pl_check_result *r = NULL;
    pl_check_def def = pl_check_def_default();
    def.steps = 4;
    def.loss = how_high, def.loss_user = &w;
    def.wanted = PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG);
    assert_ok(ctx, pl_check(w.sim, w.state, &def, &r));
    assert_true(r->regimes.slip > 0);
    for (int k = 0; k < r->row_count; k++) /* whatever is known of the differences */
        assert_close(r->rows[k].adjoint, r->rows[k].difference, 1e-5 * fabs(r->rows[k].difference));
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A block of which the upper side is a part of a cylinder of this radius. */
static void add_hill(test_world *w, double radius)
{
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    def.contact_offset = OFFSET;
    pl_mesh *mesh = world_grid(w->ctx, 7, 4, 3, 0.067, -0.2, -0.1, 1e-4);
    for (int i = 0; i < mesh->vertex_count; i++) {
        double *x = mesh->vertices + 3 * i;
        x[2] *= 1 - x[0] * x[0] / (2 * radius * 0.134);
    }
    world_add(w, def, mesh);
}

typedef struct slide {
    int first, n; /* vertices of the upper body */
    int steps;
} slide;

/* Where the upper body is at the end, along x. */
static bool how_far(void *user, int step, const double *q, const double *v, double *value, double *dq,
                    double *dv)
{
    const slide *s = user;
    (void)v, (void)dv;
    for (int i = s->first; step == s->steps && i < s->n; i++) {
        *value += q[3 * i] / (s->n - s->first);
        dq[3 * i] += 1.0 / (s->n - s->first);
    }
    return true;
}

/* How far the body goes that begins at this speed, and the derivative. */
static void slide_at(test_world *w, slide *s, double speed, double *far, double *slope)
{
    pl_rollout *rollout = NULL;
    pl_gradient *gradient = NULL;
    pl_adjoint_info info;
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = s->steps;
    pl_state *state = NULL;
    assert_ok(w->ctx, pl_state_create(w->scene, &state));
    for (int i = s->first; i < s->n; i++)
        state->v[3 * i] = speed;
    assert_ok(w->ctx, pl_rollout_run(w->sim, state, &def, &rollout));
    assert_ok(w->ctx, pl_gradient_create(w->scene, s->steps, PL_BIT(PL_VELOCITY), &gradient));
    assert_ok(w->ctx, pl_rollout_backward(rollout, NULL, how_far, s, gradient, &info));
    *far = info.loss, *slope = 0;
    for (int i = s->first; i < s->n; i++)
        *slope += gradient->of[PL_VELOCITY][3 * i];
    pl_gradient_destroy(w->scene, gradient);
    pl_rollout_destroy(rollout);
    pl_state_destroy(w->scene, state);
}

typedef struct slide_point {
    double speed, far, slope;
} slide_point;

static slide_point slide_from(test_world *w, slide *s, double speed)
{
    slide_point p = {.speed = speed};
    slide_at(w, s, speed, &p.far, &p.slope);
    return p;
}

/* The integral of the slope, by trapezoids that are halved, some times, where they are not what the way
 * changes by. */
static double rise(test_world *w, slide *s, const slide_point *a, const slide_point *b, int halvings)
{
    double by = 0.5 * (a->slope + b->slope) * (b->speed - a->speed);
    if (halvings == 0 || fabs(by - (b->far - a->far)) < 5e-6)
        return by;
    slide_point middle = slide_from(w, s, 0.5 * (a->speed + b->speed));
    return rise(w, s, a, &middle, halvings - 1) + rise(w, s, &middle, b, halvings - 1);
}

/* On its way over a hill's edges the slope is rough, ten times its mean within some mm/s, but nothing
 * hides in jumps: over an interval of speeds its integral is what the way changes by. */
static void gradients_add_up(void **state)
{
    (void)state;
    enum { PARTS = 32 };
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.01, -9.81, 0.3));
    add_hill(&w, 0.4);
    slide s = {.first = w.scene->vertex_count, .steps = 12};
    add_block(&w, 3, 3, 2, 0.05, -0.11, 0.01, 0.1335, 0.2, 2e5, 1, 0);
    world_floor(&w, 0, 0.5);
    world_start(&w);
    s.n = w.n;
    slide_point first = slide_from(&w, &s, 1), last = first;
    double sum = 0;
    for (int k = 1; k <= PARTS; k++) {
        slide_point next = slide_from(&w, &s, 1 + 0.2 * k / PARTS);
        sum += rise(&w, &s, &last, &next, 7);
        last = next;
    }
    assert_true(last.far - first.far > 0.02);
    assert_close(sum / (last.far - first.far), 1, 0.01);
    world_free(&w);
    pl_context_destroy(ctx);
}

static int add_ball(test_world *w, double radius, double cell, double x, double y, double z,
                    double young, double vx)
{
    pl_body_def def = world_body(PL_NEO_HOOKEAN, PL_EXACT, young);
    const double radii[3] = {radius, radius, radius}, unturned[4] = {1, 0, 0, 0}, to[3] = {x, y, z};
    pl_mesh *mesh = NULL;
    def.contact_offset = OFFSET;
    assert_ok(w->ctx, pl_mesh_ellipsoid(w->ctx, radii, cell, &mesh));
    pl_mesh_transform(mesh, 1, unturned, to);
    def.velocity[0] = vx;
    return world_add(w, def, mesh);
}

/* Middles above each other, blocks turned about them: two faces and a vertex at the same place, with
 * friction. At steps 46 and 47 the law's central path turns back. */
static void a_tower_stands(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.02, -9.81, 0.4));
    for (int k = 0; k < 5; k++)
        add_block(&w, 3, 3, 3, 0.05, 0, 0, 5e-4 + 0.102 * k, 0.12 * k, 1e5, 0, 0);
    world_floor(&w, 0, 0.5);
    world_start(&w);
    run_checked(&w, 48);
    double middle[3];
    world_mean(27, w.state->q + 3 * 27 * 4, middle);
    assert_true(hypot(middle[0], middle[1]) < 0.01 && middle[2] > 0.4);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Two soft plates close on a ball: contacts are redundant, and rough. */
static void squeezed(test_world *w, pl_context *ctx, double mu)
{
    *w = world_new(ctx, touching(0.01, 0, mu));
    int lower = add_block(w, 6, 6, 2, 0.05, 0, 0, 0, 0, 1e5, 0, 0), bottom[36], top[36], count = 0;
    add_ball(w, 0.08, 0.04, 0.003, 0.002, 0.1325, 1e5, 0);
    int upper = add_block(w, 6, 6, 2, 0.05, 0.01, 0, 0.215, 0.1, 1e5, 0, 0);
    for (int i = 0; i < 72; i++) { /* nodes go by z first, then y, then x, or the other way round */
        double z = w->scene->q0[3 * i + 2];
        if (z < 1e-9)
            bottom[count++] = i;
    }
    assert_int_equal(count, 36);
    world_pin(w, lower, 36, bottom, 1e-9);
    const pl_body *above = &w->scene->bodies[upper];
    for (int i = count = 0; i < 72; i++)
        if (w->scene->q0[3 * (above->vertex_offset + i) + 2] > 0.26)
            top[count++] = i;
    pl_pin_def pin = pl_pin_def_default();
    const double times[2] = {0, 0.3}, offsets[6] = {0, 0, 0, 0.02, 0, -0.05};
    pin.body = upper, pin.vertex_count = 36, pin.vertices = top, pin.compliance = 1e-9;
    pin.offset = (pl_table){2, times, offsets};
    assert_int_equal(count, 36);
    assert_ok(ctx, pl_scene_add_pin(w->scene, &pin, NULL));
    world_start(w);
}

static void a_ball_between_plates(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 3; k++) {
        test_world w;
        squeezed(&w, ctx, k == 0 ? 0 : k == 1 ? 0.3 : 0.8);
        run_checked(&w, 22);
        assert_true(w.state->contact_count > 8);
        world_free(&w);
    }
    test_world w;
    squeezed(&w, ctx, 0.3);
    world_steps(&w, 8);
    term_check(
        &w, PL_BIT(PL_BODY_FRICTION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) | PL_BIT(PL_PIN_TARGET),
        6, 1e-6, "plates");
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Cloth falls on a soft ball and hangs down. */
static void cloth_on_a_ball(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.01, -9.81, 0.3));
    pl_body_def cloth = world_body(PL_COROTATED, PL_EXACT, 1e5);
    cloth.density = 300, cloth.bending = 1e-4, cloth.contact_offset = OFFSET;
    add_ball(&w, 0.1, 0.05, 0, 0, 0.101, 1e5, 0);
    world_add(&w, cloth, world_cloth(ctx, 0.3, 0.3, 0.05, -0.151, -0.147, 0.205));
    world_floor(&w, 0, 0.5);
    world_start(&w);
    run_checked(&w, 20);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A block at 20 m/s, four times its way to the sheet in a step, does not pass it. */
static void nothing_passes_through(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.01, 0, 0.3));
    int held[36], count = 0;
    int sheet = add_block(&w, 9, 9, 2, 0.05, 0, 0, 0, 0, 1e5, 0, 0);
    add_block(&w, 3, 3, 3, 0.05, 0, 0, 0.1, 0.1, 1e5, 0, -20);
    for (int i = 0; i < 162; i++)
        if (fabs(w.scene->q0[3 * i]) > 0.199)
            held[count++] = i;
    world_pin(&w, sheet, count, held, 1e-9);
    world_start(&w);
    run_checked(&w, 4);
    double hit[3], lowest = INFINITY;
    for (int i = 0; i < 162; i++)
        lowest = fmin(lowest, w.state->q[3 * i + 2]);
    world_mean(27, w.state->q + 3 * 162, hit);
    assert_true(hit[2] > lowest + 0.05);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Another number of threads, the same digits. */
static void threads_make_no_difference(void **state)
{
    (void)state;
    double first[3 * 200];
    for (int threads = 1; threads <= 3; threads++) {
        pl_context *ctx = test_context(threads);
        test_world w = world_new(ctx, touching(0.01, -9.81, 0.3));
        add_block(&w, 4, 4, 3, 0.05, 0, 0, 1e-3, 0, 1e5, 0, 0);
        add_block(&w, 3, 3, 3, 0.05, -0.03, 0.01, 0.105, 0.2, 2e5, 0.5, -0.5);
        world_floor(&w, 0, 0.5);
        world_start(&w);
        world_steps(&w, 12);
        if (threads == 1)
            memcpy(first, w.state->q, sizeof(double) * 3 * (size_t)w.n);
        assert_memory_equal(first, w.state->q, sizeof(double) * 3 * (size_t)w.n);
        world_free(&w);
        pl_context_destroy(ctx);
    }
}

static void refuse(double z, double offset, const char *what)
{
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.01, 0, 0));
    add_block_kept(&w, offset, 3, 3, 3, 0.05, 0, 0, 0, 0, 1e5, 0, 0);
    add_block_kept(&w, offset, 3, 3, 3, 0.05, 0.01, 0.01, z, 0.2, 1e5, 0, 0);
    assert_int_equal(pl_sim_create(w.scene, &w.sim), PL_ERROR_ARGUMENT);
    if (!strstr(pl_context_error(ctx), what))
        fail_msg("\"%s\" does not say \"%s\"", pl_context_error(ctx), what);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void impossible_starts_are_refused(void **state)
{
    (void)state;
    refuse(0.08, 5e-4, "inside body");
    refuse(0.1005, 5e-4, "kept 0.001 m apart");
    refuse(0.1005, 0, "lower contact_offset");
    refuse(2, 0.3, "contact_offset = 0.3 m of body \"body0\": expected at most 0.0285");
}

/* Coefficients below 0, and a surface that tets overlap at: each by the body that has it. */
static void bad_input_is_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.01, 0, 0));
    add_block_kept(&w, OFFSET, 3, 3, 3, 0.05, 0, 0, 0, 0, 1e5, 0, 0);
    add_block_kept(&w, OFFSET, 3, 3, 3, 0.05, 0, 0, 1, 0, 1e5, 0, 0);
    assert_int_equal(pl_scene_set_body_friction(w.scene, 1, 0, -0.1), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "bodies \"body1\" and \"body0\""));
    assert_non_null(strstr(pl_context_error(ctx), "body_friction = -0.1: expected >= 0"));
    const double x[] = {0, 0, 5, 1, 0, 5, 0, 1, 5, 0, 0, 6, 0.2, 0.2, 7, 0.3, 0.3, 4};
    const int tets[] = {0, 1, 2, 3, 0, 1, 2, 4, 0, 2, 1, 5};
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_create(ctx, 6, x, 3, tets, 0, NULL, &mesh));
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5), mesh);
    assert_int_equal(pl_sim_create(w.scene, &w.sim), PL_ERROR_MESH);
    assert_non_null(strstr(pl_context_error(ctx), "body \"body2\""));
    assert_non_null(strstr(pl_context_error(ctx), "vertices 0, 1 and 2 is in 3 tets"));
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(a_stack_rests),
        cmocka_unit_test(gradients_of_sliding),
        cmocka_unit_test(gradients_of_aligned_boxes),
        cmocka_unit_test(gradients_add_up),
        cmocka_unit_test(a_tower_stands),
        cmocka_unit_test(a_ball_between_plates),
        cmocka_unit_test(cloth_on_a_ball),
        cmocka_unit_test(nothing_passes_through),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(impossible_starts_are_refused),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
