/*
 * Sweeps as a whole: limited tapes, threads, split steps, several bodies, solvers and preconditioners,
 * and what is refused or reported instead of returning a wrong gradient.
 */
#include "adjoint_check.h"

#include "sim/rollout.h"
#include "sim/schedule.h"

#include <float.h>

static const double push[3] = {0.3, 0.1, -0.2}, air[3] = {0.4, 0.2, -0.1};

/* A small solid over a rough floor; `extra` adds a sheet over a sphere beside it. */
static test_problem make(pl_context *ctx, pl_scene_def def, int steps, double fall, bool extra)
{
    def.tolerance = 1e-13;
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5);
    body.damping = 0.4;
    body.velocity[0] = 0.3, body.velocity[2] = fall;
    world_add(&w, body, world_grid(ctx, 3, 2, 2, 0.04, -0.03, -0.017, 0.004));
    const int held[] = {1, 5};
    world_pin(&w, 0, 2, held, 0.5);
    world_floor(&w, 0, 0.15);
    pl_force_def force = pl_force_def_default();
    force.per = PL_PER_GROUP;
    assert_ok(ctx, pl_scene_add_force(w.scene, &force, NULL));
    if (extra) {
        pl_body_def sheet = world_body(PL_COROTATED, PL_EXACT, 2e5);
        sheet.bending = 2e-3;
        sheet.thickness = 5e-3;
        sheet.velocity[2] = -0.3;
        pl_collider_def ball = pl_collider_def_default();
        ball.shape = PL_SPHERE;
        ball.size[0] = 0.4;
        ball.pose[0] = 0.8, ball.pose[2] = 0.1;
        ball.friction = 0.3;
        int b = world_add(&w, sheet, world_cloth(ctx, 0.08, 0.08, 0.04, 0.77, -0.03, 0.505)), c = -1;
        assert_ok(ctx, pl_scene_add_collider(w.scene, &ball, &c));
        assert_ok(ctx, pl_scene_set_friction(w.scene, b, c, 0.4));
        world_pin(&w, b, 1, held, 0.2);
        pl_wind_def wind = pl_wind_def_default();
        wind.body = b;
        assert_ok(ctx, pl_scene_add_wind(w.scene, &wind, NULL));
    }
    world_start(&w);
    return test_problem_new(w, steps, push, air);
}

static pl_gradient *backward(test_problem *p, size_t budget, const pl_adjoint_def *def, size_t *bytes)
{
    pl_rollout *rollout = NULL;
    pl_gradient *g = test_gradient(p);
    test_run(p, p->base, p->pose, budget, &rollout);
    assert_ok(p->w.ctx, pl_rollout_backward(rollout, def, test_loss, p, g, NULL));
    if (bytes)
        *bytes = pl_rollout_bytes(rollout);
    pl_rollout_destroy(rollout);
    return g;
}

static void assert_same_bits(const test_problem *p, const pl_gradient *a, const pl_gradient *b)
{
    for (int f = 0; f < TEST_FIELDS; f++)
        for (int k = 0; k < test_count(p, f); k++)
            if (memcmp(test_values(a, f) + k, test_values(b, f) + k, sizeof(double)) != 0)
                fail_msg("%s[%d]: %.17g and %.17g", test_info(f)->name, k, test_values(a, f)[k],
                         test_values(b, f)[k]);
}

/* States kept now and then and steps run again: the same states and gradients, bit for bit. */
static void test_limited_tape(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    enum { STEPS = 150 };
    test_problem p = make(ctx, world_def(0.01, 0.3, 0.1, -9.81), STEPS, -0.5, false);
    for (int first = 0; first < 8; first += 7) { /* also when it goes on from an earlier one */
        size_t whole = 0, little = 0;
        p.first = first;
        pl_gradient *full = backward(&p, 0, NULL, &whole);
        const size_t budgets[] = {1, whole / 3, whole / 2};
        for (int k = 0; k < 3; k++) {
            pl_gradient *g = backward(&p, budgets[k], NULL, &little);
            assert_true(little < whole);
            assert_same_bits(&p, full, g);
            pl_gradient_destroy(p.w.scene, g);
        }
        pl_gradient_destroy(p.w.scene, full);
    }
    pl_rollout *a = NULL, *b = NULL;
    test_run(&p, p.base, p.pose, 0, &a);
    test_run(&p, p.base, p.pose, 1, &b);
    for (int step = 0; step <= STEPS; step += 25) {
        double x[4][36];
        assert_ok(ctx, pl_rollout_state(a, step, x[0], x[1]));
        assert_ok(ctx, pl_rollout_state(b, step, x[2], x[3]));
        assert_memory_equal(x[0], x[2], sizeof x[0]);
        assert_memory_equal(x[1], x[3], sizeof x[1]);
    }
    assert_int_equal(pl_rollout_steps(b), STEPS);
    pl_rollout_destroy(a);
    pl_rollout_destroy(b);
    test_problem_free(&p);
    pl_context_destroy(ctx);
}

/* The same when many vertices come into contact meanwhile, for which factors may be ordered anew. */
static void test_limited_tape_through_an_impact(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0.5, 0, -9.81));
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 3e4),
              world_grid(ctx, 7, 7, 2, 0.02, 0, 0, 0.02));
    world_floor(&w, 0, 0.3);
    world_start(&w);
    test_problem p = test_problem_new(w, 40, push, air);
    pl_gradient *full = backward(&p, 0, NULL, NULL), *limited = backward(&p, 1, NULL, NULL);
    assert_true(p.contacts >= 49);
    assert_same_bits(&p, full, limited);
    pl_gradient_destroy(p.w.scene, full);
    pl_gradient_destroy(p.w.scene, limited);
    test_problem_free(&p);
    pl_context_destroy(ctx);
}

/* As few steps are run again as any schedule with as many states needs, and the budget is kept to. */
static void test_budgets(void **state)
{
    (void)state;
    enum { BLOCKS = 12, STEPS = PL_FORGET_EVERY * BLOCKS };
    pl_context *ctx = test_context(1);
    /* Flies up: no contacts, so that every kept state has the same size. */
    test_problem p = make(ctx, world_def(0.01, 0.3, 0.1, 9.81), STEPS, 0.5, false);
    size_t whole = 0;
    pl_gradient *full = backward(&p, 0, NULL, &whole);
    bool met[BLOCKS + 1] = {false};
    int partly = 0;
    for (size_t budget = whole / 6; budget < whole; budget += budget < whole / 3 ? 600 : budget / 10) {
        pl_rollout *rollout = NULL;
        pl_adjoint_info info, again;
        test_run(&p, p.base, p.pose, budget, &rollout);
        int kept = rollout->checkpoint_count, taped = BLOCKS - rollout->tape_from;
        bool known = taped > 1 || met[kept];
        if (known && (taped == 1 || ++partly > 3)) { /* one of each will do */
            pl_rollout_destroy(rollout);
            continue;
        }
        met[taped == 1 ? kept : 0] = true;
        pl_gradient *g = test_gradient(&p);
        assert_ok(ctx, pl_rollout_backward(rollout, NULL, test_loss, &p, g, &info));
        assert_same_bits(&p, full, g);
        assert_ok(ctx, pl_rollout_backward(rollout, NULL, test_loss, &p, g, &again));
        assert_true(kept == 1 || pl_rollout_bytes(rollout) <= budget);
        long long runs = taped == 1 ? pl_schedule_runs(kept, BLOCKS) : BLOCKS - taped;
        assert_int_equal(info.recomputed, PL_FORGET_EVERY * runs);
        /* Another sweep begins with the start alone, or with all it needs but the tape. */
        runs = kept < BLOCKS - 1 ? runs + BLOCKS : 2 * BLOCKS - kept;
        assert_int_equal(again.recomputed, PL_FORGET_EVERY * runs);
        pl_gradient_destroy(p.w.scene, g);
        pl_rollout_destroy(rollout);
    }
    assert_true(met[1] && met[2] && met[3] && met[5] && partly > 0);
    pl_gradient_destroy(p.w.scene, full);
    test_problem_free(&p);
    pl_context_destroy(ctx);
}

static void test_threads_do_not_show(void **state)
{
    (void)state;
    pl_gradient *first = NULL;
    test_problem problems[3];
    pl_context *contexts[3];
    for (int t = 0; t < 3; t++) {
        contexts[t] = test_context(t + 1);
        problems[t] = make(contexts[t], world_def(0.01, 0.3, 0.1, -9.81), 12, -0.5, true);
        pl_gradient *g = backward(&problems[t], 0, NULL, NULL);
        if (t == 0) {
            first = g;
            continue;
        }
        assert_same_bits(&problems[t], first, g);
        pl_gradient_destroy(problems[t].w.scene, g);
    }
    pl_gradient_destroy(problems[0].w.scene, first);
    for (int t = 0; t < 3; t++) {
        test_problem_free(&problems[t]);
        pl_context_destroy(contexts[t]);
    }
}

/* A step halved and halved again is differentiated as the steps it was: colliders and pins move
 * meanwhile. */
static void test_split_steps(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def def = world_def(0.05, 0.3, 0.1, -9.81);
    /* The longer the step the more iterations: too long ones are split for sure. */
    def.solver = PL_SOLVER_DIRECT;
    def.max_iterations = 2;
    def.max_splits = 10;
    test_problem p = make(ctx, def, 3, -2, false);
    test_run(&p, p.base, p.pose, 0, NULL);
    assert_true(p.splits > 0);
    /* Poses between the ends of a step are differentiated by differences, good to 1e-10. */
    test_check_problem(&p, "split steps", ~0u);
    test_problem_free(&p);
    pl_context_destroy(ctx);
}

/* Two bodies, two colliders, two pins: every cell of the friction table by itself. */
static void test_several_bodies(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_problem p = make(ctx, world_def(0.01, 0.3, 0.1, -9.81), 12, -0.5, true);
    test_check_problem(&p, "two bodies", ~0u);
    pl_gradient *g = backward(&p, 0, NULL, NULL);
    double a = g->of[PL_FRICTION][0], b = g->of[PL_FRICTION][1], c = g->of[PL_FRICTION][2],
           d = g->of[PL_FRICTION][3];
    assert_true(a != 0 && d != 0); /* solid on the floor, sheet on the ball */
    assert_true(b == 0 && c == 0); /* never met */
    /* The sum over a body's elements is the derivative by its one value. */
    pl_gradient *all = test_gradient(&p);
    pl_body_info body;
    assert_ok(ctx, pl_scene_body(p.w.scene, 1, &body));
    double sum = 0, found = 0;
    for (int e = body.element_offset; e < body.element_offset + body.element_count; e++) {
        all->of[PL_YOUNG][e] = p.base->of[PL_YOUNG][e];
        sum += g->of[PL_YOUNG][e] * p.base->of[PL_YOUNG][e];
    }
    assert_true(test_differences(&p, all, sum, fabs(sum), 1e-5, &found));
    pl_gradient_destroy(p.w.scene, all);
    pl_gradient_destroy(p.w.scene, g);
    test_problem_free(&p);
    pl_context_destroy(ctx);
}

/* With another eps in the adjoint than in the step, the check of gradients must not pass. */
static void test_mismatched_epsilon(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene_def soft = world_def(0.01, 0.3, 0.1, -9.81);
    soft.contact_epsilon2 = 1e-6; /* soft, so that eps shows at all */
    test_problem p = make(ctx, soft, 12, -0.2, false);
    pl_adjoint_def def = pl_adjoint_def_default();
    pl_gradient *d = test_gradient(&p);
    def.tolerance = 1e-12;
    for (int wrong = 0; wrong < 2; wrong++) {
        def.contact_epsilon2 = wrong ? 1e-5 : 1e-6;
        pl_gradient *g = backward(&p, 0, &def, NULL);
        test_direction(&p, 1, g, 0, d);
        double exact = test_dot(&p, g, d), found = 0;
        assert_int_equal(test_differences(&p, d, exact, fabs(exact), 1e-6, &found), !wrong);
        if (wrong)
            assert_true(fabs(found - exact) > 1e-3 * fabs(exact));
        pl_gradient_destroy(p.w.scene, g);
    }
    pl_gradient_destroy(p.w.scene, d);
    test_problem_free(&p);
    pl_context_destroy(ctx);
}

/* Relative distance of two gradients, the largest over fields. */
static double apart(const test_problem *p, const pl_gradient *a, const pl_gradient *b)
{
    double worst = 0;
    for (int f = 0; f < TEST_FIELDS; f++) {
        double size = 0, difference = 0;
        for (int k = 0; k < test_count(p, f); k++) {
            size = fmax(size, fabs(test_values(a, f)[k]));
            difference = fmax(difference, fabs(test_values(a, f)[k] - test_values(b, f)[k]));
        }
        worst = fmax(worst, size > 0 ? difference / size : 0);
    }
    return worst;
}

/* Whatever converges agrees with the direct solver; what does not says so, naming the step. */
static void test_solvers_agree(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int contact = 0; contact < 2; contact++) {
        test_problem p = make(ctx, world_def(0.01, 0.3, 0.1, contact ? -9.81 : 9.81), 12,
                              contact ? -0.5 : 0.5, false);
        pl_adjoint_def def = pl_adjoint_def_default();
        pl_adjoint_info info;
        def.solver = PL_ADJOINT_DIRECT;
        def.tolerance = 1e-11;
        def.max_iterations = 2000;
        pl_gradient *direct = backward(&p, 0, &def, NULL);
        pl_rollout *rollout = NULL;
        test_run(&p, p.base, p.pose, 0, &rollout);
        for (int kind = PL_PRECONDITION_NONE; kind <= PL_PRECONDITION_LAGGED + 2; kind++) {
            pl_gradient *g = test_gradient(&p);
            def.solver = kind <= PL_PRECONDITION_LAGGED       ? PL_ADJOINT_KRYLOV
                         : kind == PL_PRECONDITION_LAGGED + 1 ? PL_ADJOINT_AUTO
                                                              : PL_ADJOINT_SEMI_IMPLICIT;
            def.preconditioner =
                kind <= PL_PRECONDITION_LAGGED ? (pl_preconditioner)kind : PL_PRECONDITION_NONE;
            pl_status status = pl_rollout_backward(rollout, &def, test_loss, &p, g, &info);
            if (status == PL_OK) {
                assert_true(info.residual <= 2e-11 && info.iterations >= 12);
                double off = apart(&p, direct, g);
                if (!(off < 1e-8))
                    fail_msg("solver %d, %s contact: %g off", kind, contact ? "with" : "without", off);
            } else {
                assert_int_equal(status, PL_ERROR_CONVERGENCE);
                assert_non_null(strstr(pl_context_error(ctx), "step "));
                /* Without contact all get there; with it those that know of the contact block. */
                assert_true(contact && kind != PL_PRECONDITION_WOODBURY &&
                            kind != PL_PRECONDITION_LAGGED && kind != PL_PRECONDITION_LAGGED + 1);
            }
            pl_gradient_destroy(p.w.scene, g);
        }
        /* One iteration is not enough, and that is an error, not a gradient. */
        pl_gradient *g = test_gradient(&p);
        def = pl_adjoint_def_default();
        def.solver = PL_ADJOINT_KRYLOV;
        def.preconditioner = PL_PRECONDITION_JACOBI;
        def.max_iterations = 1;
        assert_int_equal(pl_rollout_backward(rollout, &def, test_loss, &p, g, NULL),
                         PL_ERROR_CONVERGENCE);
        assert_non_null(strstr(pl_context_error(ctx), "step 12"));
        pl_gradient_destroy(p.w.scene, g);
        pl_gradient_destroy(p.w.scene, direct);
        pl_rollout_destroy(rollout);
        test_problem_free(&p);
    }
    pl_context_destroy(ctx);
}

static bool last_height(void *user, int step, const double *q, const double *v, double *value,
                        double *dq, double *dv)
{
    (void)v, (void)dv;
    if (step == *(int *)user) {
        *value += q[2];
        dq[2] += 1;
    }
    return true;
}

/* The Woodbury preconditioner turns with the body: a stiff block half around takes it no more
 * iterations than an unturned one. */
static void test_woodbury_turns(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    int steps = 32, most[2];
    for (int spinning = 0; spinning < 2; spinning++) {
        test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
        world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e7),
                  world_grid(ctx, 4, 4, 3, 0.05, -0.075, -0.075, 1));
        world_start(&w);
        for (int i = 0; spinning && i < w.n; i++) { /* 0.1 rad a step about z */
            w.state->v[3 * i] = -10 * w.state->q[3 * i + 1];
            w.state->v[3 * i + 1] = 10 * w.state->q[3 * i];
        }
        pl_rollout_def roll = pl_rollout_def_default();
        pl_adjoint_def def = pl_adjoint_def_default();
        pl_adjoint_info info;
        pl_rollout *rollout = NULL;
        pl_gradient *g = NULL;
        roll.steps = steps;
        def.solver = PL_ADJOINT_KRYLOV;
        def.preconditioner = PL_PRECONDITION_WOODBURY;
        double start = w.state->q[0];
        assert_ok(ctx, pl_rollout_run(w.sim, w.state, &roll, &rollout));
        assert_true(!spinning || w.state->q[0] > -0.5 * start); /* on the other side */
        assert_ok(ctx, pl_gradient_create(w.scene, steps, PL_BIT(PL_VELOCITY), &g));
        assert_ok(ctx, pl_rollout_backward(rollout, &def, last_height, &steps, g, &info));
        assert_int_equal(info.factorizations, 1);
        most[spinning] = info.max_iterations;
        pl_gradient_destroy(w.scene, g);
        pl_rollout_destroy(rollout);
        world_free(&w);
    }
    assert_in_range(most[1], 1, most[0] + 4); /* the spin also stretches it */
    pl_context_destroy(ctx);
}

static bool no_loss(void *user, int step, const double *q, const double *v, double *value, double *dq,
                    double *dv)
{
    (void)q, (void)v, (void)value, (void)dv;
    if (step == 2)
        dq[5] = *(double *)user;
    return step != 1;
}

static bool stop_at_3(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    (void)user, (void)state, (void)info;
    return step < 3;
}

static bool stop_tangent(void *user, int step, const double *q, const double *v, const double *dq,
                         const double *dv)
{
    (void)user, (void)q, (void)v, (void)dq, (void)dv;
    return step < 2;
}

static void test_refusals(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_problem p = make(ctx, world_def(0.01, 0, 0, -9.81), 4, -0.5, false);
    pl_rollout *rollout = NULL, *bare = NULL;
    pl_gradient *g = test_gradient(&p), *few = NULL;
    test_run(&p, p.base, p.pose, 0, &rollout);
    struct {
        pl_adjoint_def def;
        const char *word;
    } bad[] = {
        {pl_adjoint_def_default(), "solver"},         {pl_adjoint_def_default(), "preconditioner"},
        {pl_adjoint_def_default(), "tolerance"},      {pl_adjoint_def_default(), "tolerance"},
        {pl_adjoint_def_default(), "max_iterations"}, {pl_adjoint_def_default(), "contact_epsilon2"},
    };
    bad[0].def.solver = (pl_adjoint_solver)9;
    bad[1].def.preconditioner = (pl_preconditioner)-1;
    bad[2].def.tolerance = 0;
    bad[3].def.tolerance = NAN;
    bad[4].def.max_iterations = 0;
    bad[5].def.contact_epsilon2 = -1;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(pl_rollout_backward(rollout, &bad[k].def, test_loss, &p, g, NULL),
                         PL_ERROR_ARGUMENT);
        assert_non_null(strstr(pl_context_error(ctx), bad[k].word));
    }
    double number = 0;
    assert_int_equal(pl_rollout_backward(rollout, NULL, no_loss, &number, g, NULL),
                     PL_ERROR_INTERRUPTED);
    number = NAN;
    assert_int_equal(pl_rollout_backward(rollout, NULL, no_loss, &number, g, NULL), PL_ERROR_NUMERIC);
    assert_non_null(strstr(pl_context_error(ctx), "step 2"));
    assert_int_equal(pl_rollout_tangent(rollout, NULL, g, stop_tangent, NULL, NULL),
                     PL_ERROR_INTERRUPTED);
    assert_ok(ctx, pl_gradient_create(p.w.scene, 3, ~0u, &few));
    assert_int_equal(pl_rollout_backward(rollout, NULL, test_loss, &p, few, NULL), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_rollout_tangent(rollout, NULL, few, test_visit, &p, NULL), PL_ERROR_ARGUMENT);
    pl_gradient_destroy(p.w.scene, few);
    assert_int_equal(pl_gradient_create(p.w.scene, -1, ~0u, &few), PL_ERROR_ARGUMENT);
    assert_null(few);
    double q[36], v[36];
    assert_int_equal(pl_rollout_state(rollout, 5, q, v), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_rollout_state(rollout, -1, q, v), PL_ERROR_ARGUMENT);
    /* Rollouts: no steps, stopped by the caller, without a tape. */
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = 0;
    assert_int_equal(pl_rollout_run(p.w.sim, p.w.state, &def, &bare), PL_ERROR_ARGUMENT);
    def.steps = 5;
    def.progress = stop_at_3;
    assert_int_equal(pl_rollout_run(p.w.sim, p.w.state, &def, &bare), PL_ERROR_INTERRUPTED);
    assert_null(bare);
    assert_int_equal(p.w.state->step, 3);
    def.progress = NULL;
    def.steps = 4;
    def.tape = false;
    assert_ok(ctx, pl_rollout_run(p.w.sim, p.w.state, &def, &bare));
    assert_int_equal(pl_rollout_backward(bare, NULL, test_loss, &p, g, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "tape"));
    pl_rollout_destroy(bare);
    pl_rollout_destroy(rollout);
    pl_gradient_destroy(p.w.scene, g);
    test_problem_free(&p);
    pl_context_destroy(ctx);
}

/* Only what is asked for is filled, and sweeps add to what is there. */
static void test_wanted_and_adding(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_problem p = make(ctx, world_def(0.01, 0, 0, -9.81), 6, -0.5, false);
    pl_rollout *rollout = NULL;
    pl_gradient *all = test_gradient(&p), *some = NULL;
    test_run(&p, p.base, p.pose, 0, &rollout);
    assert_ok(ctx,
              pl_gradient_create(p.w.scene, p.steps, PL_BIT(PL_YOUNG) | PL_BIT(PL_FRICTION), &some));
    assert_true(some->of[PL_YOUNG] && some->of[PL_FRICTION] && !some->of[PL_POSITION] &&
                !some->of[PL_VERTEX_FORCE] && !some->of[PL_COMPLIANCE]);
    assert_ok(ctx, pl_rollout_backward(rollout, NULL, test_loss, &p, all, NULL));
    assert_ok(ctx, pl_rollout_backward(rollout, NULL, test_loss, &p, some, NULL));
    assert_ok(ctx, pl_rollout_backward(rollout, NULL, test_loss, &p, some, NULL));
    assert_close(some->of[PL_FRICTION][0], 2 * all->of[PL_FRICTION][0],
                 1e-14 * fabs(all->of[PL_FRICTION][0]));
    for (int e = 0; e < p.info.element_count; e++)
        assert_close(some->of[PL_YOUNG][e], 2 * all->of[PL_YOUNG][e],
                     1e-14 * fabs(all->of[PL_YOUNG][e]));
    pl_gradient_destroy(p.w.scene, all);
    pl_gradient_destroy(p.w.scene, some);
    pl_rollout_destroy(rollout);
    test_problem_free(&p);
    pl_context_destroy(ctx);
}

static bool last_x(void *user, int step, const double *q, const double *v, double *value, double *dq,
                   double *dv)
{
    (void)v, (void)dv;
    if (step != ((int *)user)[0])
        return true;
    *value += q[0];
    dq[0] += 1;
    return true;
}

/* A stiff bar held at one end in thick oil: the adjoint shrinks with every step, to below 1e-38, where
 * single precision ends, and below 1e-308, where double precision does, and is found all the same. */
static void test_decay(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_oiled_bar(ctx, world_def(0.05, 0, 0, -9.81));
    for (int k = 0; k < 2; k++) {
        int steps = k == 0 ? 60 : 400;
        pl_rollout_def def = pl_rollout_def_default();
        def.steps = steps;
        pl_rollout *rollout;
        pl_gradient *g;
        pl_adjoint_info info;
        assert_ok(ctx, pl_rollout_run(w.sim, w.state, &def, &rollout));
        assert_ok(ctx, pl_gradient_create(w.scene, steps, PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG), &g));
        assert_ok(ctx, pl_rollout_backward(rollout, NULL, last_x, &steps, g, &info));
        assert_true(info.residual <= 1e-8);
        double largest = 0;
        for (int i = 0; i < 3 * w.n; i++) {
            assert_true(isfinite(g->of[PL_VELOCITY][i]));
            largest = fmax(largest, fabs(g->of[PL_VELOCITY][i]));
        }
        assert_true(k == 0 ? largest > 0 && largest < 1e-38 : largest < DBL_MIN);
        pl_gradient_destroy(w.scene, g);
        pl_rollout_destroy(rollout);
    }
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limited_tape),
        cmocka_unit_test(test_limited_tape_through_an_impact),
        cmocka_unit_test(test_budgets),
        cmocka_unit_test(test_threads_do_not_show),
        cmocka_unit_test(test_split_steps),
        cmocka_unit_test(test_several_bodies),
        cmocka_unit_test(test_mismatched_epsilon),
        cmocka_unit_test(test_solvers_agree),
        cmocka_unit_test(test_woodbury_turns),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_wanted_and_adding),
        cmocka_unit_test(test_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
