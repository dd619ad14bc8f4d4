/*
 * The net: states and every kind of gradient of small scenes (net_scenes.h) are the same bit for bit
 * whatever the number of threads, the memory for the tape and what was solved before; adjoint methods
 * agree; and all are what net_digits.h says. `test_net digits` prints that table anew.
 */
#include "net_scenes.h"

#include "core/core.h"

#include <ctype.h>

typedef struct net_digits {
    const char *name;
    int contacts;
    double loss;
    double states[4][2]; /* a sum with random weights and the norm: q, v half-way, at the end */
    double force[2];     /* of the contacts at the end */
    double fields[TEST_FIELDS][2]; /* of the gradient */
} net_digits;

#include "net_digits.h"

typedef struct net_method {
    const char *name;
    pl_adjoint_solver solver;
    pl_preconditioner preconditioner;
    bool knows_contacts; /* it converges with them too; these come first */
} net_method;

static const net_method methods[] = {
    {"auto", PL_ADJOINT_AUTO, PL_PRECONDITION_LAGGED, true},
    {"direct", PL_ADJOINT_DIRECT, PL_PRECONDITION_LAGGED, true},
    {"lagged", PL_ADJOINT_KRYLOV, PL_PRECONDITION_LAGGED, true},
    {"woodbury", PL_ADJOINT_KRYLOV, PL_PRECONDITION_WOODBURY, true},
    {"inverse", PL_ADJOINT_KRYLOV, PL_PRECONDITION_INVERSE, false},
    {"jacobi", PL_ADJOINT_KRYLOV, PL_PRECONDITION_JACOBI, false},
};

enum { KNOWING = 4, METHODS = sizeof methods / sizeof *methods };

/* A scene with its rollout, every step's state and the contacts at the end. */
typedef struct net_run {
    const net_scene *scene;
    pl_context *ctx;
    test_problem p;
    pl_rollout *rollout;
    double *states; /* [steps + 1, 2, n, 3] */
    int contacts, splits;
    double *forces; /* [n, 3] of the contacts at the end */
} net_run;

static size_t states_count(const net_run *r)
{
    return (size_t)(r->p.steps + 1) * 6 * (size_t)r->p.w.n;
}

/* Solved to `tolerance` m, 0 = the default; `large`: by the ways of large bodies. */
static net_run net_begin(const net_scene *s, int threads, double tolerance, bool large)
{
    static const double push[3] = {0.3, 0.1, -0.2}, air[3] = {0.4, 0.2, -0.1};
    net_run r = {.scene = s, .ctx = test_context(threads)};
    uint64_t seed = 11;
    if (large)
        r.ctx->limits = pl_limits_least();
    r.p = test_problem_new(net_world(r.ctx, s, tolerance), s->steps, push, air);
    for (int k = 0; k < 3 * r.p.w.n * s->steps; k++)
        r.p.base->of[PL_VERTEX_FORCE][k] = 2e-3 * test_random(&seed);
    r.states = calloc(states_count(&r), sizeof *r.states);
    r.forces = calloc(3 * (size_t)r.p.w.n, sizeof *r.forces);
    return r;
}

static void net_end(net_run *r)
{
    pl_rollout_destroy(r->rollout);
    free(r->states);
    free(r->forces);
    test_problem_free(&r->p);
    pl_context_destroy(r->ctx);
}

static void keep_state(net_run *r, int step, const pl_state *state)
{
    size_t n3 = 3 * (size_t)r->p.w.n;
    memcpy(r->states + 2 * n3 * (size_t)step, state->q, n3 * sizeof(double));
    memcpy(r->states + 2 * n3 * (size_t)step + n3, state->v, n3 * sizeof(double));
}

static bool net_progress(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    net_run *r = user;
    keep_state(r, step, state);
    r->splits += info->splits;
    return true;
}

/* The rollout anew, with this many bytes for its tape (0 = no limit). */
static void net_roll(net_run *r, size_t budget)
{
    const pl_gradient *in = r->p.base;
    pl_state *state = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    pl_rollout_destroy(r->rollout);
    r->rollout = NULL;
    r->splits = 0;
    def.steps = r->p.steps;
    def.memory_budget = budget;
    def.progress = net_progress;
    def.progress_user = r;
    def.inputs.of[PL_VERTEX_FORCE] = in->of[PL_VERTEX_FORCE];
    if (r->scene->parts & NET_INPUTS)
        for (int c = 0; c < PL_CHANNEL_COUNT; c++)
            def.inputs.of[c] = test_info(c)->role != PL_INPUT ? NULL
                               : c == PL_COLLIDER_POSE        ? r->p.pose
                                                              : in->of[c];
    assert_ok(r->ctx, pl_state_create(r->p.w.scene, &state));
    state->step = r->scene->first;
    keep_state(r, 0, state);
    assert_ok(r->ctx, pl_rollout_run(r->p.w.sim, state, &def, &r->rollout));
    r->contacts = state->contact_count;
    memset(r->forces, 0, 3 * (size_t)r->p.w.n * sizeof *r->forces);
    for (int c = 0; c < state->contact_count; c++)
        for (int k = 0; k < 3; k++)
            r->forces[3 * state->contacts[c].vertex[0] + k] +=
                state->contacts[c].force_normal * state->contacts[c].normal[k] +
                state->contacts[c].force_tangent[k];
    pl_state_destroy(r->p.w.scene, state);
}

static pl_adjoint_def net_def(const net_method *m, double tolerance)
{
    pl_adjoint_def def = pl_adjoint_def_default();
    def.solver = m->solver;
    def.preconditioner = m->preconditioner;
    def.tolerance = tolerance;
    def.max_iterations = 80;
    return def;
}

/* The gradient, or NULL where the method is known not to converge. */
static pl_gradient *net_backward(net_run *r, const net_method *m, double tolerance,
                                 pl_adjoint_info *info)
{
    pl_adjoint_def def = net_def(m, tolerance);
    pl_gradient *g = test_gradient(&r->p);
    pl_status status = pl_rollout_backward(r->rollout, &def, test_loss, &r->p, g, info);
    if (status == PL_OK)
        return g;
    if (status != PL_ERROR_CONVERGENCE || m->knows_contacts || !(r->scene->parts & NET_COLLIDER))
        fail_msg("%s: %s", m->name, pl_context_error(r->ctx));
    pl_gradient_destroy(r->p.w.scene, g);
    return NULL;
}

static bool keep_tangent(void *user, int step, const double *q, const double *v, const double *dq,
                         const double *dv)
{
    net_run *r = user;
    size_t n3 = 3 * (size_t)r->p.w.n;
    (void)q, (void)v;
    memcpy(r->states + 2 * n3 * (size_t)step, dq, n3 * sizeof(double));
    memcpy(r->states + 2 * n3 * (size_t)step + n3, dv, n3 * sizeof(double));
    return true;
}

/* The trajectory's derivative along one direction in everything, over r->states. */
static void net_tangent(net_run *r)
{
    pl_gradient *d = test_gradient(&r->p);
    test_direction(&r->p, -1, NULL, 5, d);
    memset(r->states, 0, states_count(r) * sizeof *r->states);
    assert_ok(r->ctx, pl_rollout_tangent(r->rollout, NULL, d, keep_tangent, r, NULL));
    pl_gradient_destroy(r->p.w.scene, d);
}

static void assert_same_states(const char *what, const net_run *a, const net_run *b)
{
    assert_int_equal(a->contacts, b->contacts);
    for (size_t k = 0; k < states_count(a); k++)
        if (memcmp(a->states + k, b->states + k, sizeof(double)) != 0)
            fail_msg("%s: step %d: %.17g and %.17g", what, (int)k / (6 * a->p.w.n), a->states[k],
                     b->states[k]);
    assert_memory_equal(a->forces, b->forces, 3 * (size_t)a->p.w.n * sizeof(double));
}

static void assert_same_gradient(const char *what, const test_problem *p, const pl_gradient *a,
                                 const pl_gradient *b)
{
    if (!a != !b)
        fail_msg("%s: converges in one of two", what);
    for (int f = 0; a && f < TEST_FIELDS; f++)
        for (int k = 0; k < test_count(p, f); k++)
            if (memcmp(test_values(a, f) + k, test_values(b, f) + k, sizeof(double)) != 0)
                fail_msg("%s: %s[%d]: %.17g and %.17g", what, test_info(f)->name, k,
                         test_values(a, f)[k], test_values(b, f)[k]);
}

static void compare_sweeps(net_run *a, net_run *b, int count, pl_adjoint_info *info)
{
    assert_same_states("states", a, b);
    for (int m = 0; m < count; m++) {
        pl_gradient *of_a = net_backward(a, &methods[m], 1e-8, NULL),
                    *of_b = net_backward(b, &methods[m], 1e-8, info);
        assert_same_gradient(methods[m].name, &a->p, of_a, of_b);
        pl_gradient_destroy(a->p.w.scene, of_a);
        pl_gradient_destroy(b->p.w.scene, of_b);
    }
    net_tangent(a);
    net_tangent(b);
    assert_same_states("tangent", a, b);
}

static void check_threads(const net_scene *s, int threads, bool large, int count)
{
    net_run one = net_begin(s, 1, 0, large), many = net_begin(s, threads, 0, large);
    net_roll(&one, 0);
    net_roll(&many, 0);
    compare_sweeps(&one, &many, count, NULL);
    net_end(&one);
    net_end(&many);
}

static void test_threads(void **state)
{
    check_threads(*state, 2, false, KNOWING);
}

/* Bodies this small take no threads, nor the ways of large ones, unless they are told to. */
static void test_large_bodies(void **state)
{
    check_threads(*state, 3, true, 1);
}

/* A tape that holds 64 steps at a time, and what is run again in between, do not show. */
static void test_budgets(void **state)
{
    net_run full = net_begin(*state, 1, 0, false), limited = net_begin(*state, 1, 0, false);
    pl_adjoint_info info = {0};
    net_roll(&full, 0);
    net_roll(&limited, 1);
    compare_sweeps(&full, &limited, METHODS, &info);
    assert_true(info.recomputed > 0);
    net_end(&full);
    net_end(&limited);
}

/* What was solved before, and by which method, does not show in a rollout and its gradient. */
static void test_repeats(void **state)
{
    net_run first = net_begin(*state, 1, 0, false), again = net_begin(*state, 1, 0, false);
    net_roll(&first, 0);
    net_roll(&again, 0);
    for (int m = 0; m < METHODS; m++) {
        pl_gradient_destroy(again.p.w.scene, net_backward(&again, &methods[m], 1e-8, NULL));
        net_roll(&again, 0);
        assert_same_states(methods[m].name, &first, &again);
    }
    compare_sweeps(&first, &again, 1, NULL);
    net_end(&first);
    net_end(&again);
}

/* How far b is from a, relative to a or to what moves the loss by 1e-9 of itself: a spring that pulls
 * at a stuck vertex changes next to nothing. */
static double apart(const test_problem *p, int field, double loss, const pl_gradient *a,
                    const pl_gradient *b)
{
    const double *x = test_values(a, field), *y = test_values(b, field);
    double difference = 0, size = 0, base = 0;
    for (int k = 0; k < test_count(p, field); k++) {
        difference += (x[k] - y[k]) * (x[k] - y[k]);
        size += x[k] * x[k];
        base = fmax(base, fabs(test_values(p->base, field)[k]));
    }
    double unit = test_units[field] > 0 ? test_units[field] : base;
    double scale = fmax(sqrt(size), unit > 0 ? 1e-9 * fabs(loss) / unit : 0);
    return difference > 0 ? sqrt(difference) / scale : 0;
}

static void test_methods(void **state)
{
    net_run r = net_begin(*state, 1, 0, false);
    pl_adjoint_info info;
    net_roll(&r, 0);
    pl_gradient *direct = net_backward(&r, &methods[1], 1e-12, &info);
    for (int m = 0; m < METHODS; m++) {
        pl_gradient *g = net_backward(&r, &methods[m], 1e-12, NULL);
        for (int f = 0; g && f < TEST_FIELDS; f++) {
            double off = apart(&r.p, f, info.loss, direct, g);
            if (!(off <= (methods[m].knows_contacts ? 5e-9 : 5e-8)))
                fail_msg("%s: %s: %.2e off", methods[m].name, test_info(f)->name, off);
        }
        pl_gradient_destroy(r.p.w.scene, g);
    }
    pl_gradient_destroy(r.p.w.scene, direct);
    net_end(&r);
}

/* ------------------------------------------------------------------------------- digits */

#define TIGHT 1e-13 /* m */
#define RATES 10    /* of strain have fewer digits than strains */

static void digest(size_t count, const double *x, const double *from, double out[2])
{
    uint64_t seed = 77;
    double sum = 0, square = 0;
    for (size_t k = 0; k < count; k++) {
        double value = from ? x[k] - from[k] : x[k];
        sum += value * test_random(&seed);
        square += value * value;
    }
    out[0] = sum;
    out[1] = sqrt(square);
}

static net_digits measure(const net_scene *s, double tolerance, bool large)
{
    net_run r = net_begin(s, 1, tolerance, large);
    pl_adjoint_info info;
    size_t n3 = 3 * (size_t)r.p.w.n;
    net_roll(&r, 0);
    pl_gradient *g = net_backward(&r, &methods[0], 1e-12, &info);
    net_digits d = {.name = s->name, .contacts = r.contacts, .loss = info.loss};
    for (int k = 0; k < 4; k++) {
        size_t step = (size_t)(k < 2 ? s->steps / 2 : s->steps);
        digest(n3, r.states + 2 * n3 * step + n3 * (size_t)(k % 2), r.states + n3 * (size_t)(k % 2),
               d.states[k]);
    }
    digest(n3, r.forces, NULL, d.force);
    for (int f = 0; f < TEST_FIELDS; f++)
        digest((size_t)test_count(&r.p, f), test_values(g, f), NULL, d.fields[f]);
    assert_int_equal(r.splits > 0, strstr(s->name, "split") != NULL);
    pl_gradient_destroy(r.p.w.scene, g);
    net_end(&r);
    return d;
}

static void assert_digits(const char *what, const double found[2], const double expected[2],
                          double tolerance)
{
    for (int k = 0; k < 2; k++)
        if (!(fabs(found[k] - expected[k]) <= tolerance * expected[1]))
            fail_msg("%s: %.13e, not %.13e: %.2e off", what, found[k], expected[k],
                     fabs(found[k] - expected[k]) / expected[1]);
}

/* Of the motion and of gradients. The tight ones do not depend on the way to the solution, and hold
 * with every kernel of BLAS; the others leave what the solver's tolerance does. */
static const struct {
    double tolerance;
    bool large;
    double position, velocity, force, gradient;
} digits[] = {{TIGHT, false, 1e-10, 1e-9, 1e-8, 1e-8},
              {0, false, 1e-8, 3e-8, 1e-7, 5e-7},
              {0, true, 1e-8, 3e-8, 1e-7, 5e-7}};

static void test_digits(void **state)
{
    static const char *const names[4] = {"q half-way", "v half-way", "q", "v"};
    const net_scene *s = *state;
    const net_digits *expected = &net_digits_table[s - net_scenes];
    assert_string_equal(expected->name, s->name);
    double slack = s->slack > 0 ? s->slack : 1;
    /* How a step is split depends on the way there. */
    for (int i = 0; i < (s->max_iterations > 0 ? 1 : 3); i++) {
        net_digits d = measure(s, digits[i].tolerance, digits[i].large);
        assert_int_equal(d.contacts, expected->contacts);
        assert_close(d.loss, expected->loss, slack * digits[i].position * fabs(expected->loss));
        for (int k = 0; k < 4; k++)
            assert_digits(names[k], d.states[k], expected->states[k],
                          slack * (k % 2 ? digits[i].velocity : digits[i].position));
        assert_digits("contact forces", d.force, expected->force, slack * digits[i].force);
        for (int f = 0; f < TEST_FIELDS; f++)
            assert_digits(test_info(f)->name, d.fields[f], expected->fields[f],
                          slack * digits[i].gradient * (f == PL_VISCOSITY ? RATES : 1));
    }
}

static void print_pair(const double x[2], const char *end)
{
    printf("{%.13e, %.13e}%s", x[0], x[1], end);
}

/* [PL_NAME] = */
static void print_channel(const char *name)
{
    printf("[PL_");
    for (; *name; name++)
        putchar(toupper(*name));
    printf("] = ");
}

static void print_digits(void)
{
    printf("/* Printed by `test_net digits`. */\nstatic const net_digits net_digits_table[NET_SCENES] "
           "= {\n");
    for (int k = 0; k < NET_SCENES; k++) {
        net_digits d = measure(&net_scenes[k], TIGHT, false);
        printf("    {\"%s\", %d, %.15e,\n     {", d.name, d.contacts, d.loss);
        for (int i = 0; i < 4; i++)
            print_pair(d.states[i], i < 3 ? ",\n      " : "},\n     ");
        print_pair(d.force, ",\n     {");
        for (int f = 0; f < TEST_FIELDS; f++)
            if (d.fields[f][1] != 0) {
                print_channel(test_info(f)->name);
                print_pair(d.fields[f], ",\n      ");
            }
        printf("}},\n");
    }
    printf("};\n");
}

static const struct {
    const char *name;
    CMUnitTestFunction test;
} checks[] = {{"threads", test_threads}, {"large bodies", test_large_bodies}, {"budgets", test_budgets},
              {"repeats", test_repeats}, {"methods", test_methods},           {"digits", test_digits}};

enum { CHECKS = sizeof checks / sizeof *checks };

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[NET_SCENES * CHECKS];
    static char names[NET_SCENES * CHECKS][64];
    if (argc > 1 && strcmp(argv[1], "digits") == 0) {
        print_digits();
        return 0;
    }
    if (argc > 1)
        cmocka_set_test_filter(argv[1]); /* as "stacked: *" */
    for (int k = 0; k < NET_SCENES * CHECKS; k++) {
        const net_scene *s = &net_scenes[k / CHECKS];
        snprintf(names[k], sizeof names[k], "%s: %s", s->name, checks[k % CHECKS].name);
        tests[k] = (struct CMUnitTest){
            .name = names[k], .test_func = checks[k % CHECKS].test, .initial_state = (void *)s};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
