/* Goals, terms of inputs and signals: gradients and Jacobians against differences; what files may say.
 */
#include "fit_files.h"

#include "fit/task.h"

/* A bar held at one end between two muscles, above and below, beside a force on all of it. */
static const char *const scene_text =
    "{\"version\": 1, \"time_step\": 0.02, \"steps\": 10, \"tolerance\": 1e-12, \"gravity\": [0, 0, 0],"
    " \"bodies\": [{\"name\": \"bar\","
    "   \"mesh\": {\"bar\": {\"length\": 0.4, \"width\": 0.1, \"height\": 0.1, \"cell\": 0.1}},"
    "   \"material\": {\"young\": 5e4, \"damping\": 2}}],"
    " \"pins\": [{\"body\": \"bar\", \"vertices\": {\"group\": \"left\"}}],"
    " \"forces\": [{\"body\": \"bar\", \"per\": \"mass\", \"value\": [0, 0, 0]}],"
    " \"muscles\": ["
    "  {\"body\": \"bar\", \"path\": [[0, 0, 0.05], [0.4, 0, 0.05]], \"radius\": 0.06,"
    "   \"stiffness\": 5e4},"
    "  {\"body\": \"bar\", \"path\": [[0, 0, -0.05], [0.4, 0, -0.05]], \"radius\": 0.06,"
    "   \"stiffness\": 5e4, \"activation\": 0.05}]}";

#define TASK(unknown, loss)                                                                            \
    "{\"version\": 1, \"scene\": \"scene.json\", \"unknowns\": [" unknown "], \"loss\": [" loss "]}"
#define PER_STEP                                                                                       \
    "{\"quantity\": \"activation\", \"of\": \"all\", \"for_each\": \"step\", \"initial\": 0.1,"        \
    " \"lower\": 0, \"upper\": 0.6}"
#define PUSH                                                                                           \
    "{\"quantity\": \"force\", \"direction\": [1, 0, 2], \"for_each\": \"step\", \"initial\": 0.3}"
#define TIP "\"kind\": \"markers\", \"points\": [[0.4, 0, 0]]"
#define REACH                                                                                          \
    "{" TIP ", \"path\": [[0.1, 0, 0, 0], [0.2, 0, 0, 0.03]], \"relative\": true, \"every\": 2}"

/* One of each; the first of a loss is checked alone. */
static const char *const examples[] = {
    TASK(PER_STEP, "{" TIP ", \"path\": [[0.2, 0.38, 0, 0.05]]}"),
    TASK(PER_STEP, REACH),
    TASK(PER_STEP, "{\"kind\": \"centre_of_mass\", \"path\": [[0.1, 0.2, 0, 0], [0.2, 0.2, 0, 0.02]]}"),
    TASK(PER_STEP, "{" TIP ", \"along\": [0, 0, 2], \"keep\": true, \"steps\": [3, 8]}"),
    TASK(PER_STEP, "{\"kind\": \"positions\", \"keep\": true, \"every\": 3}"),
    TASK(PUSH, "{\"kind\": \"centre_of_mass\", \"along\": [1, 0, 1], \"distance\": 0.2}"),
    TASK(PUSH, "{\"kind\": \"shape\", \"first_step\": 4}"),
    TASK(PER_STEP, REACH ", {\"kind\": \"effort\", \"quantity\": \"activation\", \"weight\": 0.01}"),
    TASK(PER_STEP, REACH ", {\"kind\": \"effort\", \"quantity\": \"activation\", \"of\": 1,"
                         "   \"rest\": 0.2, \"weight\": 0.01, \"first_step\": 3, \"last_step\": 7}"),
    TASK(PUSH, REACH ", {\"kind\": \"effort\", \"quantity\": \"force\", \"weight\": 1e-3}"),
    TASK(PUSH, REACH ", {\"kind\": \"smoothness\", \"quantity\": \"force\", \"weight\": 1e-3,"
                     "   \"first_step\": 2}"),
    TASK("{\"quantity\": \"activation\", \"of\": \"all\", \"signal\": \"sinusoid\", \"initial\": 0.2,"
         " \"amplitude\": 0.1, \"frequency\": 3, \"phase\": 0.5, \"lower\": 0, \"upper\": 0.6}",
         REACH ", {\"kind\": \"smoothness\", \"quantity\": \"activation\", \"weight\": 0.02}"),
    TASK("{\"quantity\": \"activation\", \"signal\": \"sinusoid\", \"initial\": 0.2,"
         " \"amplitude\": 0.15, \"frequency\": 3, \"phase\": 0.5, \"lower\": 0.1, \"upper\": 0.6}",
         REACH), /* cut off */
    TASK("{\"quantity\": \"activation\", \"of\": 1, \"signal\": \"spline\", \"knots\": 5,"
         " \"initial\": 0.2}",
         REACH ", {\"kind\": \"effort\", \"quantity\": \"activation\", \"weight\": 0.01}"),
    TASK("{\"quantity\": \"force\", \"direction\": [0, 0, 1], \"signal\": \"spline\", \"knots\": 4,"
         " \"degree\": 1, \"initial\": 0.2}",
         REACH ", {\"kind\": \"smoothness\", \"quantity\": \"force\", \"weight\": 1e-3}"),
};

typedef struct fixture {
    char directory[64], path[128];
    pl_context *ctx;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    files_make(f->directory);
    files_write(f->directory, "scene.json", scene_text);
    snprintf(f->path, sizeof f->path, "%s/task.json", f->directory);
    f->ctx = test_context(1);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    pl_context_destroy(f->ctx);
    files_remove(f->directory);
    free(f);
    return 0;
}

static pl_task *load(fixture *f, const char *text)
{
    pl_task *task;
    files_write(f->directory, "task.json", text);
    assert_ok(f->ctx, pl_task_load(f->ctx, f->path, 0, NULL, &task));
    assert_ok(f->ctx, pl_task_complete(task, NULL, NULL));
    task->adjoint_tolerance = 1e-12;
    return task;
}

static double norm(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (a[i] - (b ? b[i] : 0)) * (a[i] - (b ? b[i] : 0));
    return sqrt(sum);
}

/* With `first` > 0 those of the window that begins there. */
static void check_derivatives(fixture *f, const char *text, int first)
{
    pl_task *task = load(f, text);
    pl_evaluation *e;
    assert_ok(f->ctx, pl_evaluation_create(task, &e));
    for (int at = 0; at < first; at += task->window.advance) {
        pl_task_open_window(task, at);
        assert_ok(f->ctx, pl_task_apply(task, task->initial, NULL));
        assert_ok(f->ctx, pl_evaluation_advance(e, task->window.advance));
    }
    pl_task_open_window(task, first);
    int n = task->n, m = task->residual_count;
    double *g = calloc((size_t)(4 * n), sizeof *g), *difference = g + n, *error = difference + n,
           *x = error + n, loss, sum = 0;
    double *r = calloc((size_t)m, sizeof *r), *j = calloc((size_t)n * (size_t)m, sizeof *j);
    uint64_t seed = 9;
    for (int i = 0; i < n; i++) /* so that nothing is alike from step to step */
        x[i] = task->initial[i] * (1 + 0.3 * test_random(&seed));
    assert_ok(f->ctx, pl_evaluation_loss(e, x, &loss, g));
    assert_ok(f->ctx, pl_evaluation_difference(e, x, 1e-3, difference, error));
    double length = norm(n, difference, NULL);
    assert_true(length > 1e-8);
    if (!(norm(n, g, difference) <= 1e-6 * length))
        fail_msg("%s: gradient off by %.2g of %.3g", text, norm(n, g, difference) / length, length);
    assert_ok(f->ctx, pl_evaluation_residual(e, x, r, j));
    for (int i = 0; i < m; i++)
        sum += r[i] * r[i];
    assert_close(sum / loss, 1, 1e-12);
    for (int i = 0; i < n; i++) {
        difference[i] = 0;
        for (int l = 0; l < m; l++)
            difference[i] += 2 * j[(size_t)i * (size_t)m + (size_t)l] * r[l];
    }
    if (!(norm(n, g, difference) <= 1e-8 * length))
        fail_msg("%s: tangent off by %.2g", text, norm(n, g, difference) / length);
    free(g);
    free(r);
    free(j);
    pl_evaluation_destroy(e);
    pl_task_destroy(task);
}

static void derivatives_match_differences(void **state)
{
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
        check_derivatives(*state, examples[k], 0);
}

#define WINDOWED(unknown, loss, window)                                                                \
    "{\"version\": 1, \"scene\": \"scene.json\", \"unknowns\": [" unknown "], \"loss\": [" loss "],"   \
    " \"window\": {" window "}}"
#define SMOOTH                                                                                         \
    REACH ", {\"kind\": \"smoothness\", \"quantity\": \"activation\", \"weight\": 0.1},"               \
          " {\"kind\": \"effort\", \"quantity\": \"activation\", \"weight\": 0.01}"

/* From the state that earlier windows lead to; the last one is shorter. */
static void windows_have_derivatives(void **state)
{
    const char *text = WINDOWED(PER_STEP, SMOOTH, "\"steps\": 5, \"advance\": 3");
    for (int first = 0; first < 9; first += 3)
        check_derivatives(*state, text, first);
}

/* Keyframes become targets after the steps they last, straight in between. */
static void paths_are_sampled(void **state)
{
    pl_task *task = load(*state, TASK(PER_STEP, REACH));
    const pl_loss_term *term = &task->terms[0];
    const int steps[] = {6, 8, 10};
    assert_true(task->control);
    assert_int_equal(term->step_count, 3);
    assert_memory_equal(term->steps, steps, sizeof steps);
    for (int i = 0; i < 3; i++) {
        assert_close(term->target[3 * i], 0.4, 1e-15);
        assert_close(term->target[3 * i + 2], 0.03 * (steps[i] * 0.02 - 0.1) / 0.1, 1e-15);
    }
    pl_task_destroy(task);
}

/* A distance that has been made costs nothing; one that has not, its square. */
static void distance_is_one_sided(void **state)
{
    pl_task *task =
        load(*state, TASK(PUSH, "{\"kind\": \"positions\", \"along\": [0, 0, 3], \"distance\": 0.2}"));
    int n = task->scene->vertex_count;
    double *q = calloc((size_t)(3 * n), sizeof *q), far = 0, near = 0;
    for (int i = 0; i < 3 * n; i++)
        q[i] = task->scene->q0[i] + (i % 3 == 2 ? 0.25 : -0.1);
    assert_ok(task->ctx, pl_task_loss_at(task, 10, q, NULL, &far, NULL, NULL));
    for (int i = 2; i < 3 * n; i += 3)
        q[i] -= 0.1;
    assert_ok(task->ctx, pl_task_loss_at(task, 10, q, NULL, &near, NULL, NULL));
    assert_close(far, 0, 0);
    assert_close(near, 0.05 * 0.05, 1e-15);
    free(q);
    pl_task_destroy(task);
}

/* It counts after the last step, or every so many if that is said. */
static void distance_counts_every_so_often(void **state)
{
    const char *const texts[] = {
        TASK(PUSH, "{\"kind\": \"positions\", \"along\": [0, 0, 1], \"distance\": 0.2}"),
        TASK(PUSH, "{\"kind\": \"positions\", \"along\": [0, 0, 1], \"distance\": 0.2, \"every\": 4}"),
        TASK(PUSH,
             "{\"kind\": \"positions\", \"along\": [0, 0, 1], \"distance\": 0.2, \"every\": 40}")};
    const int counts[] = {1, 2, 1}, first[] = {10, 6, 10};
    for (int k = 0; k < 3; k++) {
        pl_task *task = load(*state, texts[k]);
        assert_int_equal(task->terms[0].step_count, counts[k]);
        assert_int_equal(task->terms[0].steps[0], first[k]);
        assert_int_equal(task->terms[0].steps[counts[k] - 1], 10);
        pl_task_destroy(task);
    }
}

/* A shape that is only moved and turned costs nothing; one that is stretched does. */
static void shape_is_rigid(void **state)
{
    pl_task *task = load(*state, TASK(PUSH, "{\"kind\": \"shape\"}"));
    int n = task->scene->vertex_count;
    double *q = calloc((size_t)(3 * n), sizeof *q), moved = 0, stretched = 0, mean = 0, expected = 0;
    for (int i = 0; i < n; i++) {
        const double *at = task->scene->q0 + 3 * i;
        q[3 * i] = 1 - at[1];
        q[3 * i + 1] = at[0];
        q[3 * i + 2] = at[2] - 2;
        mean += at[0] / n;
    }
    assert_ok(task->ctx, pl_task_loss_at(task, 10, q, NULL, &moved, NULL, NULL));
    for (int i = 0; i < n; i++) {
        q[3 * i + 1] *= 1.1;
        /* over ten steps and n vertices */
        expected += pow(0.1 * (task->scene->q0[3 * i] - mean), 2) / (10 * n);
    }
    assert_ok(task->ctx, pl_task_loss_at(task, 10, q, NULL, &stretched, NULL, NULL));
    assert_close(moved, 0, 1e-18);
    assert_close(stretched / expected, 1, 1e-9);
    free(q);
    pl_task_destroy(task);
}

/* Partition of unity, ends that are met, a line that stays one, and no more than the knots' range. */
static void splines_interpolate(void **unused)
{
    (void)unused;
    for (int degree = 1; degree <= 3; degree++)
        for (int knots = degree + 1; knots < 9; knots++) {
            pl_unknown u = {.spread = PL_SPREAD_SIGNAL,
                            .signal = PL_SIGNAL_SPLINE,
                            .knots = knots,
                            .degree = degree};
            double even[9], line[9], wild[9];
            for (int i = 0; i < knots; i++) {
                double at = 0; /* Greville's: where a line has its control values */
                for (int k = 1; k <= degree; k++)
                    at += fmin(fmax(i + k - degree, 0), knots - degree) / (knots - degree) / degree;
                even[i] = 0.7;
                line[i] = 2 - at;
                wild[i] = i % 2;
            }
            for (int step = 0; step < 21; step++) {
                double value = pl_signal_value(&u, wild, step, 21, 0.1), sum = 0;
                assert_close(pl_signal_value(&u, even, step, 21, 0.1), 0.7, 1e-15);
                assert_close(pl_signal_value(&u, line, step, 21, 0.1), 2 - step / 20.0, 1e-14);
                assert_true(value >= 0 && value <= 1);
                for (int i = 0; i < knots; i++)
                    sum += wild[i] * pl_signal_slope(&u, wild, i, step, 21, 0.1);
                assert_close(sum, value, 1e-15);
            }
            assert_close(pl_signal_value(&u, wild, 0, 21, 0.1), wild[0], 1e-15);
            assert_close(pl_signal_value(&u, wild, 20, 21, 0.1), wild[knots - 1], 1e-15);
        }
}

static void wrong_tasks_are_explained(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {TASK(PER_STEP, "{\"kind\": \"effort\", \"quantity\": \"activation\"}"),
         "loss: expected a term of the motion"},
        {TASK(PER_STEP, REACH ", {\"kind\": \"effort\"}"), "loss[1]: \"quantity\" is missing"},
        {TASK(PER_STEP, REACH ", {\"kind\": \"effort\", \"quantity\": \"force\"}"),
         "loss[1].quantity: expected an input that an unknown drives"},
        {TASK(PER_STEP, REACH ", {\"kind\": \"effort\", \"quantity\": \"young\"}"),
         "loss[1].quantity: expected an input of every step"},
        {TASK(PUSH, REACH ", {\"kind\": \"effort\", \"quantity\": \"force\", \"rest\": 1}"),
         "loss[1].rest: goes with inputs of one number"},
        {TASK(PER_STEP, "{" TIP ", \"path\": [[0.3, 0, 0, 0]]}"),
         "loss[0]: expected steps up to 10, the task's last, got 15 to 15"},
        {TASK(PER_STEP, "{" TIP ", \"path\": [[0, 0, 0, 0]]}"),
         "loss[0].path: ends at 0 s, before step 1, the first that counts, at 0.02 s"},
        {TASK(PER_STEP, "{" TIP ", \"every\": 2, \"target\": \"a.csv\"}"),
         "the rows of a \"target\" say their steps, and of a simulated one \"steps\" does"},
        {TASK(PER_STEP, "{\"kind\": \"positions\", \"path\": [[0.1, 0, 0, 0]]}"),
         "loss[0]: expected one point to follow the \"path\", got"},
        {TASK(PER_STEP, "{" TIP ", \"path\": [[0.1, 0, 0, 0]], \"keep\": true}"),
         "loss[0]: expected one of \"target\", \"path\", \"keep\" and \"distance\""},
        {TASK(PER_STEP, "{" TIP ", \"distance\": 1}"), "loss[0]: \"along\" is missing"},
        {TASK(PER_STEP, "{\"kind\": \"velocities\", \"keep\": true}"),
         "loss[0]: velocities and point clouds are compared with a target"},
        {TASK(PER_STEP, "{\"kind\": \"shape\", \"along\": [1, 0, 0]}"), "loss[0]: \"along\" goes with"},
        {TASK("{\"quantity\": \"young\", \"signal\": \"spline\", \"initial\": 1e5}", REACH),
         "unknowns[0].signal: does not go with this quantity"},
        {TASK("{\"quantity\": \"activation\", \"signal\": \"spline\", \"knots\": 3, \"initial\": 0}",
              REACH),
         "unknowns[0].knots: expected more than the degree, 3, got 3"},
        {TASK("{\"quantity\": \"activation\", \"signal\": \"sinusoid\", \"for_each\": \"step\","
              " \"initial\": 0}",
              REACH),
         "do not go with a signal"},
        {TASK("{\"quantity\": \"activation\", \"signal\": \"sinusoid\", \"initial\": 0,"
              " \"frequency_range\": [2, 3]}",
              REACH),
         "unknowns[0].frequency_range: expected \"frequency\", 1 Hz, to be within"},
        {TASK("{\"quantity\": \"activation\", \"initial\": 0, \"start\": \"a.csv\"}", REACH),
         "unknowns[0].start: goes with inputs for_each step only"},
        {WINDOWED(PER_STEP, REACH, "\"steps\": 11"), "window.steps: expected at most 10"},
        {WINDOWED(PER_STEP, REACH, "\"steps\": 3, \"advance\": 4"),
         "window.advance: expected at most 3"},
        {WINDOWED("{\"quantity\": \"activation\", \"initial\": 0}", REACH, "\"steps\": 3"),
         "unknowns[0]: expected \"for_each\": \"step\""},
        {WINDOWED(PER_STEP, REACH, "\"steps\": 3}, \"continuation\": {\"start\": 0.1"),
         "window: does not go with"},
        {WINDOWED("{\"quantity\": \"activation\", \"for_each\": \"step\", \"initial\": 0,"
                  " \"true\": 0.1}",
                  "{\"kind\": \"positions\"}", "\"steps\": 3"),
         "\"window\" goes with goals and target files"},
        {WINDOWED(PER_STEP, "{" TIP ", \"distance\": 1, \"along\": [1, 0, 0], \"every\": 5}",
                  "\"steps\": 4"),
         "loss[0]: \"distance\" does not count for 5 steps, which windows of 4 do not see past"},
        {WINDOWED(PER_STEP, "{" TIP ", \"distance\": 1, \"along\": [1, 0, 0], \"steps\": [4]}",
                  "\"steps\": 4"),
         "loss[0]: \"distance\" does not count for 6 steps, which windows of 4 do not see past"},
        {TASK("{\"name\": \"m\", \"quantity\": \"activation\", \"for_each\": \"step\", \"initial\": 0,"
              " \"upper\": 1}",
              REACH),
         "unknowns: upper of \"m\": expected a value in ["},
        {TASK("{\"name\": \"m\", \"quantity\": \"activation\", \"initial\": 0, \"true\": 1.5}",
              "{\"kind\": \"positions\"}"),
         "unknowns: true of \"m\": expected a value in ["},
        {TASK("{\"name\": \"m\", \"quantity\": \"activation\", \"initial\": 2}", REACH),
         "unknowns: initial of \"m\": expected a value in ["},
    };
    fixture *f = *state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pl_task *task;
        files_write(f->directory, "task.json", cases[k].text);
        assert_int_equal(pl_task_load(f->ctx, f->path, 0, NULL, &task), PL_ERROR_ARGUMENT);
        if (!strstr(pl_context_error(f->ctx), cases[k].message))
            fail_msg("expected \"%s\" in \"%s\"", cases[k].message, pl_context_error(f->ctx));
    }
}

/* Where the file sets none. */
static void bounds_keep_inputs_possible(void **state)
{
    fixture *f = *state;
    const char *text = TASK(
        "{\"quantity\": \"activation\", \"of\": 1, \"for_each\": \"step\", \"initial\": 0}", REACH);
    files_write(f->directory, "task.json", text);
    pl_task *task = load(f, text);
    for (int i = 0; i < task->n; i++) {
        assert_true(task->upper[i] < 0.95); /* 0.05 is the scene's own, 1 no length at all */
        assert_close(task->upper[i], 0.95, 1e-11);
    }
    pl_task_destroy(task);
}

/* The example: two muscles lead a bar's end along a path. */
static void bar_follows_its_path(void **state)
{
    fixture *f = *state;
    const char *source = getenv("PLIANT_SOURCE");
    char path[512];
    pl_task *task;
    pl_fit_result *r;
    pl_fit_def def = pl_fit_def_default();
    snprintf(path, sizeof path, "%s/scenes/tasks/bar_follow.json", source ? source : ".");
    assert_ok(f->ctx, pl_task_load(f->ctx, path, 0, NULL, &task));
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    assert_true(r->identified);
    assert_int_equal(r->goal_count, 1);
    assert_true(r->goals[0].rms < 0.004 && r->goals[0].largest < 0.008);
    assert_int_equal(strncmp(r->verdict, "Reached: markers ", 17), 0);
    assert_int_equal(r->signal_count, 2);
    assert_string_equal(r->signal_names[1], "muscle 1");
    double most = 0;
    for (int i = 0; i < 2 * r->steps; i++) {
        assert_true(r->signals[i] >= 0 && r->signals[i] <= 0.7);
        most = fmax(most, r->signals[i]);
    }
    assert_true(most > 0.1);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
}

/* A goal that is out of reach is not reached, and says by how much. */
static void missed_goals_are_told(void **state)
{
    fixture *f = *state;
    pl_fit_result *r;
    pl_fit_def def = pl_fit_def_default();
    pl_task *task =
        load(f, "{\"version\": 1, \"scene\": \"scene.json\", \"unknowns\": [" PUSH "],"
                " \"loss\": [{\"kind\": \"centre_of_mass\", \"along\": [0, 0, 1],"
                " \"distance\": 1, \"within\": 0.01}], \"optimizer\": {\"iterations\": 1}}");
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    assert_false(r->identified);
    assert_int_equal(r->reason_count, 1);
    assert_int_equal(r->reasons[0].doubt, PL_DOUBT_GOAL);
    assert_true(r->goals[0].rms > 0.01);
    assert_int_equal(strncmp(r->verdict, "Not reached: centre of mass went ", 33), 0);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
}

/* How far something went is how far it is after the last of the steps that count, whichever they are.
 */
static void distances_are_those_of_the_end(void **state)
{
    fixture *f = *state;
    char verdict[2][200];
    for (int k = 0; k < 2; k++) {
        char text[1024];
        pl_fit_result *r;
        pl_fit_def def = pl_fit_def_default();
        snprintf(text, sizeof text,
                 "{\"version\": 1, \"scene\": \"scene.json\", \"unknowns\": [" PUSH "],"
                 " \"loss\": [{\"kind\": \"centre_of_mass\", \"along\": [0, 0, 1],"
                 " \"distance\": 1, \"within\": 0.01%s}], \"optimizer\": {\"iterations\": 0}}",
                 k ? ", \"first_step\": 2, \"every\": 2" : "");
        pl_task *task = load(f, text);
        assert_ok(f->ctx, pl_task_fit(task, &def, &r));
        snprintf(verdict[k], sizeof verdict[k], "%s", r->goals[0].text);
        pl_fit_result_free(task, r);
        pl_task_destroy(task);
    }
    assert_string_equal(verdict[0], verdict[1]);
}

/* The same task whole and by one window that has all steps. */
static void one_window_is_the_whole(void **state)
{
    fixture *f = *state;
    const char *const texts[] = {TASK(PER_STEP, SMOOTH),
                                 WINDOWED(PER_STEP, SMOOTH, "\"steps\": 10, \"advance\": 10")};
    pl_task *task[2];
    pl_fit_result *r[2];
    for (int k = 0; k < 2; k++) {
        pl_fit_def def = pl_fit_def_default();
        task[k] = load(f, texts[k]);
        task[k]->optimizer.iterations = 5;
        assert_ok(f->ctx, pl_task_fit(task[k], &def, &r[k]));
    }
    assert_int_equal(r[1]->row_count, 6);
    assert_memory_equal(r[0]->loss, r[1]->loss, 6 * sizeof(double));
    assert_memory_equal(r[0]->signals, r[1]->signals, 20 * sizeof(double));
    for (int k = 0; k < 2; k++) {
        pl_fit_result_free(task[k], r[k]);
        pl_task_destroy(task[k]);
    }
}

/* The example by windows of a fifth of a second, ten decisions a second. */
static void windows_follow_the_path(void **state)
{
    fixture *f = *state;
    const char *source = getenv("PLIANT_SOURCE");
    char path[512];
    pl_task *task;
    pl_fit_result *r;
    pl_fit_def def = pl_fit_def_default();
    const char *const overrides[] = {"window.steps=10", "window.advance=5", "optimizer.iterations=8"};
    snprintf(path, sizeof path, "%s/scenes/tasks/bar_follow.json", source ? source : ".");
    assert_ok(f->ctx, pl_task_load(f->ctx, path, 3, overrides, &task));
    assert_int_equal(pl_task_window_count(task), 11);
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    assert_true(r->goals[0].rms < 0.004);
    assert_true(r->identified);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
}

/* A file of two rows: repeated over the steps, from what the scene has, within the bounds. */
static void starts_are_read_and_repeated(void **state)
{
    fixture *f = *state;
    const char *text = TASK("{\"name\": \"m\", \"quantity\": \"activation\", \"of\": \"all\","
                            " \"for_each\": \"step\", \"initial\": 0, \"start\": \"start.csv\","
                            " \"lower\": 0, \"upper\": 0.3}",
                            REACH);
    files_write(f->directory, "start.csv", "time,m 0,m 1\n0.1,0.2,0.25\r\n0.2,0.4,0.15\n");
    pl_task *task = load(f, text);
    for (int k = 0; k < 10; k++) {
        assert_close(task->initial[k], k % 2 ? 0.3 : 0.2, 1e-15);
        assert_close(task->initial[10 + k], k % 2 ? 0.1 : 0.2, 1e-15); /* on top of 0.05 */
    }
    pl_task_destroy(task);
    static const char *const wrong[][2] = {{"time,m 0\n0.1,0.2\n", "start.csv:1: no column is named"},
                                           {"m 0,m 1\n0.1\n", "start.csv:2: expected a number"},
                                           {"m 0,m 1\n0.1,\n0.2,0.3\n", "start.csv:2: expected"},
                                           {"m 0,m 1\n0.1,nan\n", "start.csv:2: expected a number"},
                                           {"m 0,m 1\n", "start.csv: expected rows"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        files_write(f->directory, "start.csv", wrong[k][0]);
        assert_int_equal(pl_task_load(f->ctx, f->path, 0, NULL, &task), PL_ERROR_PARSE);
        if (!strstr(pl_context_error(f->ctx), wrong[k][1]))
            fail_msg("expected \"%s\" in \"%s\"", wrong[k][1], pl_context_error(f->ctx));
    }
}

/* What one fit leaves, the next starts from: its first loss is the last one's last. */
static void fits_go_on_from_signals(void **state)
{
    fixture *f = *state;
    static const char *const tasks[] = {
        TASK("{\"name\": \"m\", \"quantity\": \"activation\", \"of\": \"all\", \"initial\": 0.2,"
             " \"signal\": \"spline\", \"knots\": 4, \"lower\": 0, \"upper\": 0.6}",
             SMOOTH),
        TASK("{\"name\": \"m\", \"quantity\": \"activation\", \"of\": \"all\", \"initial\": 0,"
             " \"for_each\": \"step\", \"start\": \"out/signals.csv\", \"lower\": 0, \"upper\": 0.6}",
             SMOOTH)};
    char out[128];
    double last = 0;
    snprintf(out, sizeof out, "%s/out", f->directory);
    for (int k = 0; k < 2; k++) {
        pl_fit_def def = pl_fit_def_default();
        pl_fit_result *r;
        pl_task *task = load(f, tasks[k]);
        def.directory = k == 0 ? out : NULL;
        def.report = false;
        task->optimizer.iterations = 4;
        assert_ok(f->ctx, pl_task_fit(task, &def, &r));
        if (k == 1) {
            assert_close(r->loss[0], last, 1e-9 * last);
            assert_true(r->loss[r->row_count - 1] < 0.99 * last);
        }
        last = r->loss[r->row_count - 1];
        pl_fit_result_free(task, r);
        pl_task_destroy(task);
    }
    files_remove(out);
}

/* ---- resuming ---- */

typedef struct stopper {
    int windows, stop_at; /* window to stop in, -1 = none */
} stopper;

static void see(void *user, const pl_fit_progress *p)
{
    stopper *s = user;
    s->windows = p->window;
    assert_int_equal(p->windows, 4);
}

static bool go_on(void *user)
{
    const stopper *s = user;
    return s->stop_at < 0 || s->windows < s->stop_at;
}

static pl_status run_in(fixture *f, const char *directory, int stop_at, bool resume, double *signals)
{
    pl_task *task = load(f, WINDOWED(PER_STEP, SMOOTH, "\"steps\": 4, \"advance\": 2"));
    pl_fit_result *r;
    pl_fit_def def = pl_fit_def_default();
    stopper s = {0, stop_at};
    def.directory = directory;
    def.report = false;
    def.resume = resume;
    def.progress = see;
    def.keep_going = go_on;
    def.user = &s;
    task->optimizer.iterations = 3;
    pl_status status = pl_task_fit(task, &def, &r);
    if (status == PL_OK)
        memcpy(signals, r->signals, 20 * sizeof *signals);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
    return status;
}

static void windows_resume_bit_for_bit(void **state)
{
    fixture *f = *state;
    char whole[128], parts[128];
    double once[20] = {0}, resumed[20] = {0};
    snprintf(whole, sizeof whole, "%s/whole", f->directory);
    snprintf(parts, sizeof parts, "%s/parts", f->directory);
    assert_ok(f->ctx, run_in(f, whole, -1, false, once));
    assert_int_equal(run_in(f, parts, 2, false, resumed), PL_ERROR_INTERRUPTED);
    assert_ok(f->ctx, run_in(f, parts, -1, true, resumed));
    assert_true(once[0] != once[9] && once[9] > 0);
    assert_memory_equal(once, resumed, sizeof once);
    files_remove(whole);
    files_remove(parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(derivatives_match_differences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_are_sampled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(distance_is_one_sided, set_up, tear_down),
        cmocka_unit_test_setup_teardown(distance_counts_every_so_often, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shape_is_rigid, set_up, tear_down),
        cmocka_unit_test(splines_interpolate),
        cmocka_unit_test_setup_teardown(wrong_tasks_are_explained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounds_keep_inputs_possible, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bar_follows_its_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missed_goals_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(distances_are_those_of_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(windows_have_derivatives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_window_is_the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(windows_follow_the_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(starts_are_read_and_repeated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fits_go_on_from_signals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(windows_resume_bit_for_bit, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
