/* What fits say about themselves: identified, or not and why. */
#include "fit_slope.h"

#define HEAD "{\"version\": 1, \"scene\": \"scene.json\", "
#define MU(more)                                                                                       \
    "\"unknowns\": [{\"name\": \"mu\", \"quantity\": \"friction\", \"of\": \"slope\", " more "}], "
#define TRUE_MU   MU("\"initial\": 0.25, \"true\": 0.1, \"lower\": 0.01, \"upper\": 1")
#define SIMULATED "\"loss\": [{\"kind\": \"positions\"}], "
#define MEASURED  "\"loss\": [{\"kind\": \"positions\", \"target\": \"target.csv\"}], "
#define LM        "\"optimizer\": {\"method\": \"levenberg_marquardt\"}"

/* target.csv: the block's vertices after the last step at mu = 0.1, moved by up to `noise` m. */
static void write_target(slope *f, double noise, double sideways)
{
    pl_task *task = slope_task(f, HEAD TRUE_MU SIMULATED LM "}");
    assert_ok(f->ctx, pl_task_complete(task, NULL, NULL));
    const pl_loss_term *term = &task->terms[0];
    char path[128], *text = calloc(1, 1 << 16);
    size_t used = 0;
    for (int i = 0; i < pl_term_rows(term); i++) {
        const double *x = term->target + 3 * i;
        /* roots of sevenths: without a pattern, and with a standard deviation of `noise` */
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = noise * sqrt(12) * (fmod(sqrt(7.0 * (3 * i + k + 1)), 1) - 0.5);
        used += (size_t)sprintf(text + used, "15, %.17g, %.17g, %.17g\n", x[0] + d[0],
                                x[1] + d[1] + sideways, x[2] + d[2]);
    }
    snprintf(path, sizeof path, "%s/target.csv", f->directory);
    files_write(f->directory, "target.csv", text);
    free(text);
    pl_task_destroy(task);
}

static int set_up(void **state)
{
    slope_open(state);
    write_target(*state, 1e-3, 0);
    return 0;
}

/* Fits and compares: no doubts, or exactly these with these words. */
typedef struct expected {
    const char *task;
    int count;
    struct {
        pl_doubt doubt;
        const char *words;
    } reasons[4];
} expected;

static void check(slope *f, const expected *e, bool uncertainty)
{
    pl_task *task = slope_task(f, e->task);
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    def.uncertainty = uncertainty;
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    if (r->reason_count != e->count)
        fail_msg("%d reasons instead of %d: %s", r->reason_count, e->count, r->verdict);
    assert_true(r->identified == (e->count == 0));
    for (int i = 0; i < e->count; i++) {
        if (r->reasons[i].doubt != e->reasons[i].doubt || !strstr(r->verdict, e->reasons[i].words))
            fail_msg("not \"%s\" (%s): %s", e->reasons[i].words, pl_doubt_name(e->reasons[i].doubt),
                     r->verdict);
        assert_non_null(strstr(r->verdict, r->reasons[i].text));
    }
    const char *start = r->identified ? "Identified " : "Not identified: ";
    assert_memory_equal(r->verdict, start, strlen(start));
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
}

static void check_all(void **state, size_t count, const expected *cases)
{
    for (size_t k = 0; k < count; k++)
        check(*state, &cases[k], true);
}

#define CHECK_ALL(cases) check_all(state, sizeof(cases) / sizeof *(cases), cases)

static void good_fits_are_identified(void **state)
{
    static const expected cases[] = {
        {HEAD TRUE_MU SIMULATED LM "}", 0, {{0}}},
        /* noise as large as stated, or not stated */
        {HEAD MU("\"initial\": 0.25") MEASURED LM ", \"noise\": 1e-3}", 0, {{0}}},
        {HEAD MU("\"initial\": 0.25") MEASURED LM "}", 0, {{0}}},
        /* from the answer itself there is nothing to fall */
        {HEAD MU("\"initial\": 0.1, \"true\": 0.1") SIMULATED LM "}", 0, {{0}}},
        /* a velocity that is zero, told from the way it came; a damping at its bound of zero */
        {HEAD "\"unknowns\": [{\"quantity\": \"velocity\", \"direction\": [0, 1, 0], \"initial\": 1, "
              "\"true\": 0}, {\"quantity\": \"damping\", \"initial\": 2, \"true\": 0}], " SIMULATED LM
              "}",
         0,
         {{0}}},
    };
    CHECK_ALL(cases);
}

static void bounds_are_told(void **state)
{
    static const expected cases[] = {
        {HEAD MU("\"initial\": 0.3, \"lower\": 0.2, \"upper\": 1") MEASURED LM ", \"noise\": 1e-3}",
         2,
         {{PL_DOUBT_BOUND, "mu ended at its bound 0.2 (0.2 to 1); residual "},
          {PL_DOUBT_RESIDUAL, " times the stated noise of 0.001 m"}}},
        {HEAD MU("\"initial\": 0.3, \"lower\": 0.2, \"map\": \"log\"") MEASURED LM "}",
         1,
         {{PL_DOUBT_BOUND, "mu ended at its bound 0.2"}}},
        {HEAD MU("\"initial\": 0.3, \"lower\": 0.2, \"upper\": 1, \"map\": \"logit\"") MEASURED LM "}",
         1,
         {{PL_DOUBT_BOUND, "mu ended at its bound 0.2 (0.2 to 1)"}}},
        /* the block sticks, and moves by 1e-12 m the less the more friction it has */
        {HEAD MU("\"initial\": 30, \"lower\": 20, \"upper\": 30") MEASURED LM "}",
         3,
         {{PL_DOUBT_BOUND, "mu ended at its bound 20 (20 to 30)"},
          {PL_DOUBT_RESIDUAL, " of the motion in the data"},
          {PL_DOUBT_DIRECTION, "the data do not determine mu"}}},
        {HEAD
         "\"unknowns\": [{\"quantity\": \"force\", \"for_each\": \"step\", \"direction\": [1, 0, 0], "
         "\"initial\": -8, \"lower\": -10, \"upper\": -7}], " MEASURED
         "\"optimizer\": {\"iterations\": 20}}",
         3,
         {{PL_DOUBT_BOUND, "15 of the 15 values of force ended at a bound"},
          {PL_DOUBT_RESIDUAL, "residual"},
          {PL_DOUBT_DIRECTION, "more apart"}}},
    };
    CHECK_ALL(cases);
}

static void residuals_are_told(void **state)
{
    static const expected noisy = {HEAD MU("\"initial\": 0.25") MEASURED LM ", \"noise\": 1e-5}",
                                   1,
                                   {{PL_DOUBT_RESIDUAL, " times the stated noise of 1e-05 m"}}};
    static const expected far = {HEAD MU("\"initial\": 0.25") MEASURED LM "}",
                                 2,
                                 {{PL_DOUBT_RESIDUAL, "residual 1 m, 100 % of the motion"},
                                  {PL_DOUBT_DIRECTION, "determine mu"}}};
    check(*state, &noisy, true);
    write_target(*state, 0, 1); /* a metre aside, where nothing pushes */
    check(*state, &far, true);
}

#define PUSH(name, direction)                                                                          \
    "{\"name\": \"" name "\", \"quantity\": \"force\", \"direction\": " direction ", \"initial\": "    \
    "0.1}"

static void open_directions_are_told(void **state)
{
    static const expected cases[] = {
        {HEAD "\"unknowns\": [" PUSH("a", "[0, 10, 0]") ", " PUSH("b", "[1, 0, 0]") ", " PUSH(
             "c", "[0, 5, 0]") "], " MEASURED LM "}",
         1,
         {{PL_DOUBT_DIRECTION, "the data do not tell a and c apart"}}},
        /* nearly the same: told apart by exact data, not by these */
        {HEAD "\"unknowns\": [" PUSH("a", "[10, 0, 0]") ", " PUSH(
             "b", "[10, 0.001, 0]") "], " MEASURED LM ", \"noise\": 0.02}",
         1,
         {{PL_DOUBT_DIRECTION, "the data do not tell a and b apart"}}},
        {HEAD MU("\"initial\": 0.25") MEASURED LM ", \"noise\": 10}",
         1,
         {{PL_DOUBT_DIRECTION, "the data do not determine mu: 0.1"}}},
        {HEAD MU("\"initial\": 0.25, \"true\": 0.1") SIMULATED LM
         ", \"scene_changes\": [{\"set\": \"colliders[0].position=[0, 0, -9]\"}]}",
         1,
         {{PL_DOUBT_DIRECTION, "the data do not depend on mu"}}},
    };
    CHECK_ALL(cases);
}

/* A beam that swings knows stiffness over density alone. Its columns differ by the errors of 40 sweeps.
 */
static void one_number_of_two_is_told(void **state)
{
    slope *f = *state;
    files_write(f->directory, "beam.json",
                "{\"version\": 1, \"steps\": 40, \"integrator\": \"tr_bdf2\", \"bodies\": [{\"mesh\": "
                "{\"bar\": "
                "{\"length\": 0.2, \"width\": 0.03, \"height\": 0.03, \"cell\": 0.03}}, \"material\": "
                "{\"young\": 1e5, \"damping\": 1}}], \"pins\": [{\"body\": 0, \"vertices\": "
                "{\"group\": \"left\"}}]}");
    static const expected beam = {
        "{\"version\": 1, \"scene\": \"beam.json\", \"unknowns\": ["
        "{\"quantity\": \"young\", \"initial\": 5e4, \"true\": 1e5, \"map\": \"log\"}, "
        "{\"quantity\": \"density\", \"initial\": 700, \"true\": 1000, \"lower\": 100}], "
        "\"loss\": [{\"kind\": \"centre_of_mass\", \"steps\": [10, 20, 30, 40]}], "
        "\"optimizer\": {\"method\": \"levenberg_marquardt\", \"iterations\": 8}}",
        1,
        {{PL_DOUBT_CONVERGENCE, ", which the data hardly tell from density"}}};
    check(f, &beam, true);
}

#define DESCENT(rate, iterations)                                                                      \
    "\"optimizer\": {\"method\": \"gradient_descent\", \"rate\": " rate                                \
    ", \"iterations\": " iterations "}"

static void fits_on_their_way_are_told(void **state)
{
    static const expected cases[] = {
        {HEAD TRUE_MU SIMULATED DESCENT("1", "3") "}",
         2,
         {{PL_DOUBT_RESIDUAL, "of the motion"},
          {PL_DOUBT_CONVERGENCE,
           "not converged (all iterations done): the next step would take mu from "
           "0.2"}}},
        /* as the block sticks, friction has next to no slope: the loss falls, or rises, by rounding */
        {HEAD MU("\"initial\": 0.8") MEASURED DESCENT("1", "5") "}",
         3,
         {{PL_DOUBT_RESIDUAL, "of the motion"},
          {PL_DOUBT_DIRECTION, "the data do not determine mu: 0.8"},
          {PL_DOUBT_CONVERGENCE, ", and the loss "}}},
        {HEAD TRUE_MU SIMULATED DESCENT("100", "400") ", \"continuation\": {\"start\": 1e-6, "
                                                      "\"iterations\": 400}}",
         2,
         {{PL_DOUBT_CONVERGENCE, "ended while contacts were softer than the scene's"},
          {PL_DOUBT_CONVERGENCE, "not converged"}}},
        {HEAD MU("\"initial\": 0.15, \"true\": 0.1") SIMULATED "\"optimizer\": {\"stop_loss\": 1}}",
         1,
         {{PL_DOUBT_MINIMUM, "mu ended at 0.15, the target was simulated with 0.1"}}},
    };
    CHECK_ALL(cases);
    static const expected blind[] = {
        {HEAD TRUE_MU SIMULATED LM "}", 0, {{0}}},
        {HEAD TRUE_MU SIMULATED DESCENT("1", "3") "}",
         2,
         {{PL_DOUBT_RESIDUAL, "of the motion"}, {PL_DOUBT_CONVERGENCE, "the loss was still falling"}}},
        {HEAD MU("\"initial\": 0.8") MEASURED DESCENT("1", "5") "}",
         2,
         {{PL_DOUBT_RESIDUAL, "of the motion"}, {PL_DOUBT_CONVERGENCE, ", and the loss "}}},
    };
    for (size_t k = 0; k < sizeof blind / sizeof *blind; k++)
        check(*state, &blind[k], false);
}

/* A fit that stopped because simulations failed, made by hand. */
static void failed_steps_are_told(void **state)
{
    slope *f = *state;
    pl_task *task = slope_task(f, HEAD TRUE_MU SIMULATED LM "}");
    pl_fit fit = {.ctx = f->ctx, .task = task, .shown = 1, .names = {"mu"}, .width = PL_ROW_HEAD + 3};
    const pl_problem problem = {
        .n = 1, .lower = task->lower, .upper = task->upper, .residual_count = 1};
    double row[PL_ROW_HEAD + 3] = {0}, truth, error, correlation;
    pl_evidence evidence;
    pl_verdict verdict;
    pl_course course = {.rows = row, .row_count = 1};
    fit.course = fit.courses = &course;
    fit.course_count = 1;
    pl_task_true_x(task, &truth);
    assert_ok(f->ctx, pl_task_complete(task, NULL, NULL));
    assert_ok(f->ctx, pl_evaluation_create(task, &fit.evaluation));
    assert_ok(f->ctx, pl_optimizer_create(f->ctx, &task->optimizer, &problem, &truth, &fit.optimizer));
    assert_ok(f->ctx, pl_evidence_gather(fit.evaluation, &truth, true, &evidence));
    pl_uncertainty(task, &truth, &evidence, &error, &correlation);
    fit.optimizer->state[PL_HEAD_STOP] = PL_STOP_STALLED;
    assert_ok(f->ctx, pl_verdict_reach(&fit, &evidence, &error, &verdict));
    assert_int_equal(verdict.count, 0);
    fit.optimizer->state[PL_HEAD_REFUSED_LAST] = 7;
    assert_ok(f->ctx, pl_verdict_reach(&fit, &evidence, &error, &verdict));
    assert_int_equal(verdict.count, 1);
    assert_int_equal(verdict.doubts[0], PL_DOUBT_STEPS);
    assert_string_equal(verdict.sentence,
                        "Not identified: no step was found, because 7 of the points tried "
                        "could not be simulated");
    pl_evidence_free(f->ctx, &evidence);
    pl_optimizer_destroy(fit.optimizer);
    pl_evaluation_destroy(fit.evaluation);
    pl_task_destroy(task);
}

/* result.json and the report say the same. */
static void files_tell_it(void **state)
{
    slope *f = *state;
    pl_task *task = slope_task(f, HEAD MU("\"initial\": 0.3, \"lower\": 0.2, \"upper\": 1") MEASURED LM
                               ", \"noise\": 1e-3}");
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    def.directory = f->out[0];
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    char *result = files_read(f->out[0], "result.json"), *report = files_read(f->out[0], "report.html");
    assert_non_null(strstr(result, "\"identified\": false"));
    assert_non_null(strstr(result, "\"doubt\": \"bound\""));
    assert_non_null(strstr(result, r->verdict));
    assert_non_null(strstr(report, r->verdict));
    assert_non_null(strstr(report, "\"failed\":true"));
    free(result);
    free(report);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(good_fits_are_identified, set_up, slope_close),
        cmocka_unit_test_setup_teardown(bounds_are_told, set_up, slope_close),
        cmocka_unit_test_setup_teardown(residuals_are_told, set_up, slope_close),
        cmocka_unit_test_setup_teardown(open_directions_are_told, set_up, slope_close),
        cmocka_unit_test_setup_teardown(one_number_of_two_is_told, set_up, slope_close),
        cmocka_unit_test_setup_teardown(fits_on_their_way_are_told, set_up, slope_close),
        cmocka_unit_test_setup_teardown(failed_steps_are_told, set_up, slope_close),
        cmocka_unit_test_setup_teardown(files_tell_it, set_up, slope_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
