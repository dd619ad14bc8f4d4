/* Whole fits: files in, files out, resuming, interruption, uncertainty, and files that are wrong. */
#include "fit_slope.h"

#define TASK(optimizer, more)                                                                          \
    "{\"version\": 1, \"name\": \"Slope\", \"scene\": \"scene.json\","                                 \
    " \"unknowns\": [{\"name\": \"mu\", \"quantity\": \"friction\", \"of\": \"slope\", \"initial\": "  \
    "0.25,"                                                                                            \
    "   \"true\": 0.1, \"lower\": 0.01, \"upper\": 1},"                                                \
    "  {\"quantity\": \"force\", \"direction\": [0, 10, 0], \"initial\": 0, \"true\": 0.3}],"          \
    " \"loss\": [{\"kind\": \"positions\", \"steps\": [7, 15]}], \"optimizer\": {" optimizer "}" more  \
    "}"

static double last(const pl_fit_result *r, int parameter)
{
    return r->values[(r->row_count - 1) * r->parameter_count + parameter];
}

/* ------------------------------------------------------------------------------- results */

static void every_method_reaches_the_truth(void **state)
{
    slope *f = *state;
    const struct {
        const char *task;
        int most;
    } cases[] = {
        {TASK("\"method\": \"gradient_descent\", \"rate\": 1, \"growth\": 1.3, \"iterations\": 400, "
              "\"stop_loss\": 1e-14",
              ""),
         400},
        {TASK("\"method\": \"adam\", \"rate\": 0.1, \"iterations\": 400, \"stop_loss\": 1e-9", ""),
         400},
        {TASK("\"method\": \"lbfgsb\", \"stop_loss\": 1e-14", ""), 25},
        {TASK("\"method\": \"levenberg_marquardt\", \"stop_loss\": 1e-14", ""), 8},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pl_task *task = slope_task(f, cases[k].task);
        pl_fit_def def = pl_fit_def_default();
        pl_fit_result *r;
        assert_ok(f->ctx, pl_task_fit(task, &def, &r));
        assert_int_equal(r->stop, PL_STOP_LOSS);
        assert_true(r->iterations <= cases[k].most);
        assert_close(last(r, 0), 0.1, 1e-3);
        assert_close(last(r, 1), 0.3, 3e-3);
        assert_true(r->rollouts >= r->iterations && r->tape_bytes > 0);
        pl_fit_result_free(task, r);
        pl_task_destroy(task);
    }
}

static void writes_its_files(void **state)
{
    slope *f = *state;
    pl_task *task =
        slope_task(f, TASK("\"method\": \"levenberg_marquardt\", \"stop_loss\": 1e-14",
                           ", \"gradient_check\": {\"step\": 1e-3, \"every\": 2, \"per_stage\": 1}"));
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    def.directory = f->out[0];
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    static const char *const names[] = {"checkpoint.json", "history.csv", "result.json",
                                        "report.html",     "loss.svg",    "parameters.svg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        free(files_read(f->out[0], names[i]));
    char *result = files_read(f->out[0], "result.json");
    assert_non_null(strstr(result, "\"standard_error\""));
    free(result);
    pl_fit_stages stages = pl_fit_measure(r);
    assert_true(stages.t50 <= stages.t90 && stages.t90 <= 1);
    for (int s = 0; s < 3; s++)
        assert_true(isnan(stages.error[s]) || stages.error[s] < 1e-6);
    assert_true(stages.error[0] < 1e-6);

    /* A second fit does not overwrite the first. */
    pl_fit_result *none;
    assert_int_equal(pl_task_fit(task, &def, &none), PL_ERROR_ARGUMENT);
    assert_null(none);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
}

/* Free flight: q = q_0 + v t, so sigma_v = noise / (t sqrt(n) |direction|) for n vertices. */
static void uncertainty_of_a_linear_problem(void **state)
{
    slope *f = *state;
    const char *const text =
        "{\"version\": 1, \"scene\": \"scene.json\", \"noise\": 0.002,"
        " \"unknowns\": [{\"name\": \"a\", \"quantity\": \"velocity\", \"direction\": [2, 0, 0], "
        "\"initial\": 0.1,"
        "   \"true\": 0.3}, {\"name\": \"b\", \"quantity\": \"velocity\", \"direction\": [1, 1, 0], "
        "\"initial\": 0,"
        "   \"true\": 0.2}],"
        " \"loss\": [{\"kind\": \"positions\", \"weight\": 5}],"
        " \"scene_changes\": [{\"set\": \"colliders=[]\"}],"
        " \"optimizer\": {\"method\": \"levenberg_marquardt\", \"stop_loss\": 1e-20}}";
    pl_task *task = slope_task(f, text);
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    /* Directions (2,0,0) and (1,1,0): (J^T J)^-1 = [[2,-2],[-2,4]] / 4 / (t^2 n). */
    double unit = 0.002 / (0.15 * sqrt(task->scene->vertex_count));
    assert_close(r->standard_error[0] / (unit * sqrt(0.5)), 1, 1e-6);
    assert_close(r->standard_error[1] / unit, 1, 1e-6);
    assert_close(r->correlation[1], -sqrt(0.5), 1e-6);
    assert_close(last(r, 0), 0.3, 1e-9);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
}

/* ------------------------------------------------------------------------------- stopping and going on
 */

typedef struct patience {
    int left;
} patience;

static bool lose_patience(void *user)
{
    return --((patience *)user)->left > 0;
}

static const char *const long_tasks[] = {
    TASK("\"method\": \"gradient_descent\", \"rate\": 1, \"growth\": 1.3, \"iterations\": 8", ""),
    TASK("\"method\": \"adam\", \"rate\": 0.05, \"iterations\": 6", ""),
    TASK("\"method\": \"lbfgsb\", \"iterations\": 6, \"pairs\": 3", ""),
    TASK("\"method\": \"levenberg_marquardt\", \"iterations\": 5", ""),
    TASK("\"method\": \"gradient_descent\", \"rate\": 1, \"growth\": 1.3, \"iterations\": 9",
         ", \"continuation\": {\"start\": 1e-6, \"stages\": 2, \"iterations\": 3}"),
};

/* Interrupted after any number of steps, and resumed: the same history to the last bit. */
static void resumed_equals_uninterrupted(void **state)
{
    slope *f = *state;
    for (size_t k = 0; k < sizeof long_tasks / sizeof *long_tasks; k++) {
        pl_task *task = slope_task(f, long_tasks[k]);
        pl_fit_def def = pl_fit_def_default();
        pl_fit_result *r;
        patience p;
        def.report = false;
        def.directory = f->out[0];
        assert_ok(f->ctx, pl_task_fit(task, &def, &r));
        pl_fit_result_free(task, r);
        def.directory = f->out[1];
        def.keep_going = lose_patience;
        def.user = &p;
        int interruptions = 0;
        for (;;) {
            p.left = 97 + 20 * interruptions; /* always enough for an iteration in the end */
            pl_status status = pl_task_fit(task, &def, &r);
            if (status == PL_OK)
                break;
            assert_int_equal(status, PL_ERROR_INTERRUPTED);
            assert_true(interruptions++ < 100);
            def.resume = true;
            pl_task_destroy(task); /* as a new process would */
            task = slope_task(f, long_tasks[k]);
        }
        assert_true(interruptions > 0);
        pl_fit_result_free(task, r);
        char *whole = files_read(f->out[0], "history.csv"),
             *pieces = files_read(f->out[1], "history.csv");
        assert_string_equal(whole, pieces);
        free(whole);
        free(pieces);
        pl_task_destroy(task);
        files_remove(f->out[0]);
        files_remove(f->out[1]);
    }
}

/* Stopped while its target is simulated: at once, and nothing is spoilt for the next try. */
static void stops_while_the_target_is_simulated(void **state)
{
    slope *f = *state;
    pl_task *task = slope_task(f, long_tasks[2]);
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r, *again;
    def.report = false;
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    pl_task *other = slope_task(f, long_tasks[2]);
    patience p = {4}; /* of the target's 15 steps */
    def.keep_going = lose_patience;
    def.user = &p;
    assert_int_equal(pl_task_fit(other, &def, &again), PL_ERROR_INTERRUPTED);
    assert_null(again);
    assert_int_equal(p.left, 0);
    assert_non_null(strstr(pl_context_error(f->ctx), "simulating the target"));
    p.left = 1 << 30;
    assert_ok(f->ctx, pl_task_fit(other, &def, &again));
    assert_int_equal(again->row_count, r->row_count);
    assert_int_equal(again->rollouts, r->rollouts);
    assert_memory_equal(again->loss, r->loss, (size_t)r->row_count * sizeof *r->loss);
    pl_fit_result_free(task, r);
    pl_fit_result_free(other, again);
    pl_task_destroy(task);
    pl_task_destroy(other);
}

/* A fit that used up its iterations goes on with more of them, as if it had had them from the start. */
static void more_iterations_continue(void **state)
{
    slope *f = *state;
    static const char *const fewer[] = {"optimizer.iterations=3"};
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    pl_task *task = slope_task(f, long_tasks[0]), *less;
    assert_ok(f->ctx, pl_task_load(f->ctx, f->task, 1, fewer, &less));
    def.report = false;
    def.directory = f->out[0];
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    pl_fit_result_free(task, r);
    def.directory = f->out[1];
    assert_ok(f->ctx, pl_task_fit(less, &def, &r));
    assert_int_equal(r->stop, PL_STOP_ITERATIONS);
    assert_int_equal(r->iterations, 3);
    pl_fit_result_free(less, r);
    def.resume = true;
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    assert_int_equal(r->iterations, 8);
    pl_fit_result_free(task, r);
    char *whole = files_read(f->out[0], "history.csv"), *pieces = files_read(f->out[1], "history.csv");
    assert_string_equal(whole, pieces);
    free(whole);
    free(pieces);
    pl_task_destroy(less);
    pl_task_destroy(task);
}

/* A write cut off in the middle leaves its half beside the checkpoint, which is still whole. */
static void half_written_checkpoints_do_no_harm(void **state)
{
    slope *f = *state;
    pl_task *task = slope_task(f, long_tasks[0]);
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    patience p = {100};
    def.report = false;
    def.directory = f->out[0];
    def.keep_going = lose_patience;
    def.user = &p;
    assert_int_equal(pl_task_fit(task, &def, &r), PL_ERROR_INTERRUPTED);
    files_write(f->out[0], "checkpoint.json.new", "{\"checkpoint\": 1, \"task\": \"");
    def.resume = true;
    p.left = 1 << 30;
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    pl_fit_result_free(task, r);

    /* Damage to the checkpoint itself, or another task's, is said. */
    char *good = files_read(f->out[0], "checkpoint.json");
    good[strlen(good) / 2] = '\0';
    files_write(f->out[0], "checkpoint.json", good);
    assert_int_equal(pl_task_fit(task, &def, &r), PL_ERROR_PARSE);
    files_write(f->out[0], "checkpoint.json", "{}");
    assert_int_equal(pl_task_fit(task, &def, &r), PL_ERROR_PARSE);
    free(good);
    pl_task_destroy(task);
}

static void other_checkpoints_are_refused(void **state)
{
    slope *f = *state;
    pl_task *task = slope_task(f, long_tasks[3]);
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    def.report = false;
    def.directory = f->out[0];
    def.resume = true;
    assert_int_equal(pl_task_fit(task, &def, &r), PL_ERROR_FILE);
    def.resume = false;
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
    task = slope_task(f, long_tasks[2]);
    def.resume = true;
    assert_int_equal(pl_task_fit(task, &def, &r), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(f->ctx), "another task"));
    pl_task_destroy(task);
}

/* ------------------------------------------------------------------------------- files that are wrong
 */

#define UNKNOWN "\"unknowns\": [{\"quantity\": \"friction\", \"initial\": 0.3, \"true\": 0.1}]"
#define LOSS    "\"loss\": [{\"kind\": \"positions\"}]"
#define HEAD    "{\"version\": 1, \"scene\": \"scene.json\","

static const char *const wrong[][2] = {
    {"{", "not valid JSON"},
    {"[]", "expected an object"},
    {HEAD UNKNOWN "}", "\"loss\" is missing"},
    {"{\"version\": 1, \"scene\": \"none.json\"," UNKNOWN "," LOSS "}", "none.json"},
    {HEAD "\"unknowns\": []," LOSS "}", "at least one unknown"},
    {HEAD UNKNOWN ", \"loss\": []}", "at least one term"},
    {HEAD "\"unknowns\": [{\"quantity\": \"colour\", \"initial\": 1}]," LOSS "}",
     "unknowns[0].quantity"},
    {HEAD "\"unknowns\": [{\"quantity\": \"friction\"}]," LOSS "}", "\"initial\" is missing"},
    {HEAD "\"unknowns\": [{\"quantity\": \"friction\", \"initial\": 1, \"of\": \"roof\"}]," LOSS "}",
     "roof"},
    {HEAD "\"unknowns\": [{\"quantity\": \"friction\", \"initial\": 1, \"of\": 7}]," LOSS "}",
     "unknowns[0].of"},
    {HEAD "\"unknowns\": [{\"quantity\": \"wind\", \"direction\": [1, 0, 0], \"initial\": 1}]," LOSS
          "}",
     "wind"},
    {HEAD "\"unknowns\": [{\"quantity\": \"force\", \"initial\": 1}]," LOSS "}", "direction"},
    {HEAD "\"unknowns\": [{\"quantity\": \"young\", \"initial\": 1, \"lower\": 2}]," LOSS "}",
     "initial"},
    {HEAD "\"unknowns\": [{\"quantity\": \"young\", \"initial\": 1, \"lower\": 2, \"upper\": 1}]," LOSS
          "}",
     "lower"},
    {HEAD "\"unknowns\": [{\"quantity\": \"young\", \"initial\": 1, \"map\": \"logit\"}]," LOSS "}",
     "logit"},
    {HEAD "\"unknowns\": [{\"quantity\": \"velocity\", \"direction\": [1, 0, 0], \"initial\": -1, "
          "\"map\": \"log\"}]," LOSS "}",
     "log needs"},
    {HEAD "\"unknowns\": [{\"quantity\": \"friction\", \"initial\": 1, \"for_each\": \"step\"}]," LOSS
          "}",
     "for_each"},
    {HEAD "\"unknowns\": [{\"quantity\": \"friction\", \"initial\": 1}]," LOSS "}", "\"target\""},
    {HEAD UNKNOWN ", \"loss\": [{\"kind\": \"markers\"}]}", "points"},
    {HEAD UNKNOWN ", \"loss\": [{\"kind\": \"markers\", \"points\": [[9, 9, 9]]}]}",
     "m off the surface"},
    {HEAD UNKNOWN ", \"loss\": [{\"kind\": \"positions\", \"points\": [[0, 0, 0]]}]}", "points"},
    {HEAD UNKNOWN ", \"loss\": [{\"kind\": \"positions\", \"steps\": [99]}]}", "loss[0].steps[0]"},
    {HEAD UNKNOWN ", \"loss\": [{\"kind\": \"positions\", \"steps\": [5, 5]}]}", "loss[0].steps[1]"},
    {HEAD UNKNOWN ", \"loss\": [{\"kind\": \"positions\", \"body\": \"cow\"}]}", "loss[0].body"},
    {HEAD UNKNOWN ", \"loss\": [{\"kind\": \"positions\", \"target\": \"none.csv\"}]}", "none.csv"},
    {HEAD UNKNOWN "," LOSS ", \"optimizer\": {\"method\": \"newton\"}}", "optimizer.method"},
    {HEAD UNKNOWN "," LOSS ", \"optimizer\": {\"iteration\": 3}}", "did you mean \"iterations\""},
    {HEAD UNKNOWN "," LOSS ", \"optimizer\": {\"rate\": -1}}", "optimizer.rate"},
    {HEAD UNKNOWN "," LOSS ", \"steps\": 0}", "steps"},
    {HEAD UNKNOWN "," LOSS ", \"starts\": 0}", "starts"},
    {HEAD UNKNOWN "," LOSS ", \"starts\": 2}", "unknowns[0]: expected \"lower\" and \"upper\""},
    {HEAD "\"unknowns\": [{\"quantity\": \"damping\", \"initial\": 1, \"lower\": 0, \"upper\": 2, "
          "\"map\": \"log\"}]," LOSS ", \"starts\": 2}",
     "expected \"lower\" > 0"},
    {HEAD UNKNOWN "," LOSS ", \"continuation\": {\"start\": 1e-13}}", "continuation.start"},
    {HEAD UNKNOWN "," LOSS ", \"scene_changes\": [{\"set\": \"bodies[3].velocity=1\"}]}",
     "task.json:1: scene_changes[0]: override 'bodies[3].velocity=1': no item 3"},
};

static void wrong_files_are_explained(void **state)
{
    slope *f = *state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        pl_task *task = (pl_task *)f;
        files_write(f->directory, "task.json", wrong[k][0]);
        pl_status status = pl_task_load(f->ctx, f->task, 0, NULL, &task);
        if (status == PL_OK || task != NULL)
            fail_msg("accepted: %s", wrong[k][0]);
        if (!strstr(pl_context_error(f->ctx), wrong[k][1]))
            fail_msg("\"%s\" does not mention \"%s\"", pl_context_error(f->ctx), wrong[k][1]);
    }
}

/* Overrides reach the task and its scene, and are blamed when they are wrong. */
static void overrides_reach_task_and_scene(void **state)
{
    slope *f = *state;
    files_write(f->directory, "task.json", HEAD UNKNOWN "," LOSS "}");
    const char *const good[] = {"optimizer.iterations=7", "scene.time_step=0.02", "steps=3"};
    pl_task *task;
    assert_ok(f->ctx, pl_task_load(f->ctx, f->task, 3, good, &task));
    assert_int_equal(task->optimizer.iterations, 7);
    assert_int_equal(task->steps, 3);
    assert_close(task->scene->params.values->def.time_step, 0.02, 0);
    pl_task_destroy(task);
    const char *const bad[] = {"optimizer.iterations=-7"};
    assert_int_equal(pl_task_load(f->ctx, f->task, 1, bad, &task), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(f->ctx), "override"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_method_reaches_the_truth, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(writes_its_files, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(uncertainty_of_a_linear_problem, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(resumed_equals_uninterrupted, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(stops_while_the_target_is_simulated, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(more_iterations_continue, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(half_written_checkpoints_do_no_harm, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(other_checkpoints_are_refused, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(wrong_files_are_explained, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(overrides_reach_task_and_scene, slope_open, slope_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
