/* Attachments: what they pull, whom they leave alone, their derivatives, and what is refused. */
#include "common_scene.h"

#include "sim/sim.h"

#include <pliant/check.h>
#include <pliant/io.h>

/* A block of eight vertices whose lowest corner is at (x, 0, z). */
static int block(test_world *w, double x, double z)
{
    return world_add(w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e5),
                     world_grid(w->ctx, 2, 2, 2, 0.05, x, 0, z));
}

static pl_point at_vertex(int body, int vertex)
{
    return (pl_point){.body = body, .count = 1, .vertices = {vertex}, .weights = {1}};
}

static pl_point in_the_middle(int body)
{
    return (pl_point){
        .body = body, .count = 4, .vertices = {0, 3, 5, 6}, .weights = {0.1, 0.2, 0.3, 0.4}};
}

static void attach(test_world *w, pl_point a, pl_point b, int collider, double compliance)
{
    pl_attachment_def def = pl_attachment_def_default();
    def.points[0] = a;
    def.points[1] = b;
    def.collider = collider;
    def.compliance = compliance;
    assert_ok(w->ctx, pl_scene_add_attachment(w->scene, &def, NULL));
}

/* A block that hangs on a collider by its weight: the spring is m g c long, once the motion has died
 * down. */
static void a_weight_stretches_the_spring(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double c = 1e-3;
    test_world w = world_new(ctx, world_def(0.02, 0, 0, -9.81));
    pl_collider_def hook = pl_collider_def_default();
    hook.shape = PL_SPHERE;
    hook.size[0] = 0.01;
    hook.pose[2] = 5;
    assert_ok(ctx, pl_scene_add_collider(w.scene, &hook, NULL));
    block(&w, 0, 0);
    attach(&w, at_vertex(0, 7), (pl_point){0}, 0, c);
    world_start(&w);
    double before = w.state->q[3 * 7 + 2], mass = pl_scene_get_info(w.scene).mass;
    world_steps(&w, 2000);
    assert_close(before - w.state->q[3 * 7 + 2], mass * 9.81 * c, 1e-6);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Two blocks pulled together, nothing else: momentum stays 0, to rounding, and the points meet. */
static void forces_between_bodies_balance(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    block(&w, 0, 0);
    block(&w, 0.1, 0.03);
    attach(&w, in_the_middle(0), at_vertex(1, 2), -1, 1e-3);
    world_start(&w);
    world_steps(&w, 50);
    double momentum[3] = {0}, fastest = 0;
    for (int i = 0; i < 3 * w.n; i++) {
        momentum[i % 3] += w.sim->matter.mass[i / 3] * w.state->v[i];
        fastest = fmax(fastest, w.sim->matter.mass[i / 3] * fabs(w.state->v[i]));
    }
    for (int k = 0; k < 3; k++)
        assert_true(fabs(momentum[k]) <= 1e-9 * fastest * w.n); /* tolerance of a step: 1e-10 m */
    assert_true(fastest > 1e-3);
    world_free(&w);
    pl_context_destroy(ctx);
}

static bool mixed_loss(void *user, int step, const double *q, const double *v, double *value,
                       double *dq, double *dv)
{
    const test_world *w = user;
    for (int i = 0; step > 0 && i < 3 * w->n; i++) {
        double a = 1 + 0.5 * sin(1.7 * i + step);
        *value += 0.5 * a * q[i] * q[i] + 0.01 * v[i] * v[i];
        dq[i] += a * q[i];
        dv[i] += 0.02 * v[i];
    }
    return true;
}

/* A moving, turning sphere drags a block that drags another one over a rough floor. */
static test_world train(pl_context *ctx, pl_solver_kind solver)
{
    static const double time[] = {0, 0.2};
    static double poses[2][7] = {{0, 0, 1, 1}, {0.05, 0.02, 1.02, 1}};
    pl_scene_def def = world_def(0.01, 0, 0, -9.81);
    def.solver = solver;
    test_world w = world_new(ctx, def);
    pl_collider_def hand = pl_collider_def_default();
    hand.shape = PL_SPHERE;
    hand.size[0] = 0.01;
    world_turn(0.1, 0.3, 1, 0.4, poses[1] + 3);
    hand.table = (pl_table){2, time, poses[0]};
    block(&w, 0, 5e-4);
    block(&w, 0.08, 5e-4);
    world_floor(&w, 0, 0.3);
    int collider = -1;
    assert_ok(ctx, pl_scene_add_collider(w.scene, &hand, &collider));
    attach(&w, in_the_middle(0), (pl_point){0}, collider, 2e-3);
    attach(&w, in_the_middle(1), at_vertex(0, 5), -1, 3e-3);
    world_start(&w);
    return w;
}

static void gradients_agree_with_differences(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = train(ctx, PL_SOLVER_AUTO);
    pl_check_result *r = NULL;
    pl_check_def def = pl_check_def_default();
    def.steps = 10;
    def.wanted = PL_BIT(PL_ATTACHMENT_COMPLIANCE) | PL_BIT(PL_COLLIDER_POSE) | PL_BIT(PL_FRICTION) |
                 PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG);
    def.loss = mixed_loss;
    def.loss_user = &w;
    def.tolerance = 1e-6;
    assert_ok(ctx, pl_check(w.sim, w.state, &def, &r));
    assert_int_equal(r->row_count, 5 * 3);
    for (int k = 0; k < r->row_count; k++)
        if (r->rows[k].verdict == PL_CHECK_FAILED)
            fail_msg("%s: adjoint %.12g, tangent %.12g, difference %.12g",
                     pl_channel_get(r->rows[k].channel)->name, r->rows[k].adjoint, r->rows[k].tangent,
                     r->rows[k].difference);
    assert_true(r->regimes.slip > 0);
    pl_check_destroy(ctx, r);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void every_solver_finds_the_same_motion(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world reference = train(ctx, PL_SOLVER_DIRECT);
    world_steps(&reference, 15);
    for (int solver = PL_SOLVER_AUTO; solver <= PL_SOLVER_CONSTANT; solver++) {
        test_world w = train(ctx, (pl_solver_kind)solver);
        world_steps(&w, 15);
        double apart = world_distance(3 * w.n, w.state->q, reference.state->q);
        /* Steps of the constant matrix end by its own measure, which is stiffer than the body. */
        if (!(apart < (solver == PL_SOLVER_CONSTANT ? 2e-8 : 1e-9)))
            fail_msg("solver %d: %.3g m apart", solver, apart);
        world_free(&w);
    }
    world_free(&reference);
    pl_context_destroy(ctx);
}

static void refuse(test_world *w, pl_attachment_def def, const char *what)
{
    int before = pl_scene_owner_count(w->scene, PL_OWNER_ATTACHMENT);
    assert_int_equal(pl_scene_add_attachment(w->scene, &def, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(w->ctx), what));
    assert_int_equal(pl_scene_owner_count(w->scene, PL_OWNER_ATTACHMENT), before);
}

static void impossible_ones_are_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    block(&w, 0, 0);
    block(&w, 0.1, 0);
    pl_attachment_def good = pl_attachment_def_default(), bad;
    good.points[0] = at_vertex(0, 1);
    good.points[1] = in_the_middle(1);
    bad = good, bad.compliance = 0;
    refuse(&w, bad, "attachment_compliance");
    bad = good, bad.compliance = NAN;
    refuse(&w, bad, "attachment_compliance");
    bad = good, bad.points[0].body = 2;
    refuse(&w, bad, "body = 2");
    bad = good, bad.points[1].vertices[1] = 8;
    refuse(&w, bad, "vertices[1] = 8");
    bad = good, bad.points[1].weights[1] = 0.5;
    refuse(&w, bad, "weights");
    bad = good, bad.points[1].count = 5;
    refuse(&w, bad, "count = 5");
    bad = good, bad.points[1] = bad.points[0];
    refuse(&w, bad, "points[1]: the same as points[0]");
    bad = good, bad.collider = 0;
    refuse(&w, bad, "collider = 0");
    assert_ok(ctx, pl_scene_add_attachment(w.scene, &good, NULL));
    world_start(&w);
    refuse(&w, good, "sim");
    world_free(&w);
    pl_context_destroy(ctx);
}

static const char scene_text[] =
    "{\"version\": 1, \"bodies\": ["
    "{\"name\": \"a\", \"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cell\": 0.1}}},"
    "{\"name\": \"b\", \"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cell\": 0.1}},"
    " \"transform\": {\"translate\": [0.3, 0, 0]}}],"
    "\"colliders\": [{\"name\": \"floor\", \"shape\": {\"half_space\": {}}, \"position\": [0, 0, -1]}],"
    "\"attachments\": [%s]}";

static void scene_files_have_them(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const struct {
        const char *attachment, *error;
    } cases[] = {
        {"{\"body\": \"a\", \"vertices\": [1], \"to_body\": \"b\", \"to_vertices\": [0, 2], "
         "\"compliance\": 1e-4}",
         NULL},
        {"{\"body\": \"a\", \"vertices\": [1, 2], \"weights\": [0.25, 0.75], \"to_collider\": "
         "\"floor\"}",
         NULL},
        {"{\"body\": \"a\", \"vertices\": [1]}", "to_body"},
        {"{\"body\": \"a\", \"vertices\": [], \"to_collider\": 0}", "1 to 4"},
        {"{\"body\": \"a\", \"vertices\": [1], \"weights\": [0.5, 0.5], \"to_collider\": 0}", "1 to 4"},
        {"{\"body\": \"c\", \"vertices\": [1], \"to_collider\": 0}", "no body named \"c\""},
        {"{\"body\": \"a\", \"vertices\": [99], \"to_collider\": 0}", "attachments[0]"},
        {"{\"body\": \"a\", \"vertices\": [1], \"to_collider\": 0, \"complaisance\": 1}",
         "complaisance"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[1024];
        pl_scene *scene = NULL;
        snprintf(text, sizeof text, scene_text, cases[k].attachment);
        pl_status status =
            pl_scene_load_text(ctx, text, strlen(text), "s.json", NULL, 0, NULL, &scene, NULL);
        if (cases[k].error) {
            assert_int_not_equal(status, PL_OK);
            if (!strstr(pl_context_error(ctx), cases[k].error))
                fail_msg("\"%s\" does not say \"%s\"", pl_context_error(ctx), cases[k].error);
            continue;
        }
        assert_ok(ctx, status);
        assert_int_equal(pl_scene_owner_count(scene, PL_OWNER_ATTACHMENT), 1);
        pl_scene_destroy(scene);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weight_stretches_the_spring),
        cmocka_unit_test(forces_between_bodies_balance),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(every_solver_finds_the_same_motion),
        cmocka_unit_test(impossible_ones_are_refused),
        cmocka_unit_test(scene_files_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
