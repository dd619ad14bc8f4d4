/* Fits from several starting points: where they lie, which is kept, resuming, and what cannot start. */
#include "fit_slope.h"

#define TASK(unknown, optimizer, starts)                                                               \
    "{\"version\": 1, \"scene\": \"scene.json\", \"unknowns\": [" unknown "],"                         \
    " \"loss\": [{\"kind\": \"positions\"}], \"optimizer\": {" optimizer "}, " starts "}"
#define STICKING                                                                                       \
    "{\"name\": \"mu\", \"quantity\": \"friction\", \"of\": \"slope\", \"initial\": 0.8, \"true\": "   \
    "0.1,"                                                                                             \
    " \"lower\": 0.01, \"upper\": 1}"
#define DESCENT                                                                                        \
    "\"method\": \"gradient_descent\", \"rate\": 1, \"growth\": 1.3, \"iterations\": 25, "             \
    "\"stop_loss\": 1e-14"

/* ------------------------------------------------------------------------------- draws */

/* Evenly between the bounds: in the value, in its logarithm, and in the value behind a logit. */
static void points_fill_the_bounds(void **state)
{
    slope *f = *state;
    enum { DRAWS = 900 };
    pl_task *task = slope_task(
        f,
        TASK(
            "{\"quantity\": \"damping\", \"initial\": 1, \"true\": 1, \"lower\": 0, \"upper\": 4},"
            "{\"quantity\": \"young\", \"initial\": 1e5, \"true\": 1e5, \"lower\": 1e4, \"upper\": 1e8,"
            " \"map\": \"log\"},"
            "{\"quantity\": \"poisson\", \"initial\": 0.2, \"true\": 0.2, \"lower\": 0.1, "
            "\"upper\": 0.4, \"map\": \"logit\"}",
            DESCENT, "\"starts\": 4"));
    double x[3], again[3], sum[3] = {0}, squares[3] = {0}, products = 0;
    pl_task_start_x(task, 0, x);
    assert_memory_equal(x, task->initial, sizeof x);
    for (int k = 1; k <= DRAWS; k++) {
        pl_task_start_x(task, k, x);
        pl_task_start_x(task, k, again);
        assert_memory_equal(x, again, sizeof x);
        const double share[3] = {x[0] / 4, (x[1] - log(1e4)) / log(1e4),
                                 (pl_map_to_p(&task->unknowns[2], x[2]) - 0.1) / 0.3};
        for (int i = 0; i < 3; i++) {
            assert_true(share[i] > 0 && share[i] < 1);
            sum[i] += share[i] / DRAWS;
            squares[i] += share[i] * share[i] / DRAWS;
        }
        products += share[0] * share[1] / DRAWS;
    }
    /* mean 1/2, variance 1/12, uncorrelated: each to four standard errors, 4 sqrt(1 / 12 / 900) */
    for (int i = 0; i < 3; i++) {
        assert_close(sum[i], 0.5, 0.039);
        assert_close(squares[i] - sum[i] * sum[i], 1.0 / 12, 0.0103);
    }
    assert_close(products - sum[0] * sum[1], 0, 0.0112);
    task->seed = 2;
    pl_task_start_x(task, DRAWS, again);
    for (int i = 0; i < 3; i++)
        assert_true(x[i] != again[i]);
    pl_task_destroy(task);
}

/* ------------------------------------------------------------------------------- results */

/* From the initial value the block sticks and descent gets nowhere; from a smaller one it arrives. */
static void best_start_is_kept(void **state)
{
    slope *f = *state;
    pl_task *task = slope_task(f, TASK(STICKING, DESCENT, "\"starts\": 5"));
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    def.directory = f->out[0];
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    assert_true(r->identified);
    assert_int_equal(r->start_count, 5);
    assert_true(r->best > 0);
    assert_close(r->starts[0].initial[0], 0.8, 1e-15);
    assert_true(fabs(r->starts[0].values[0] - 0.8) < 0.01 && r->starts[0].loss > 1e-4);
    const pl_fit_start *best = &r->starts[r->best];
    for (int k = 0; k < 5; k++)
        assert_true(best->loss <= r->starts[k].loss && !r->starts[k].refused);
    assert_close(r->values[0], best->initial[0], 0);
    assert_close(r->values[r->row_count - 1], best->values[0], 0);
    assert_close(best->values[0], 0.1, 1e-3);
    assert_int_equal(best->iterations, r->iterations);
    assert_true(r->evaluations > 2 * r->iterations);
    char *result = files_read(f->out[0], "result.json"), *report = files_read(f->out[0], "report.html");
    assert_non_null(strstr(result, "\"starts\""));
    assert_non_null(strstr(report, "mu from"));
    assert_non_null(strstr(report, "(best)"));
    free(result);
    free(report);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
}

/* Points of a plane, seen of a block that flies towards it: its front or its back lies there. */
static void equal_minima_are_told(void **state)
{
    slope *f = *state;
    const char *const text =
        "{\"version\": 1, \"scene\": \"scene.json\", \"noise\": 1e-4,"
        " \"scene_changes\": [{\"set\": \"colliders=[]\"}, {\"set\": \"gravity=[0, 0, 0]\"}],"
        " \"unknowns\": [{\"name\": \"v\", \"quantity\": \"velocity\", \"direction\": [0, 1, 0],"
        "   \"initial\": 1, \"lower\": 0.5, \"upper\": 3}],"
        " \"loss\": [{\"kind\": \"point_cloud\", \"target\": \"cloud.csv\"}],"
        " \"optimizer\": {\"method\": \"levenberg_marquardt\"}";
    char points[512], several[1024];
    files_write(f->directory, "cloud.csv", "15, 0, 0, 0\n");
    snprintf(several, sizeof several, "%s}", text);
    pl_task *task = slope_task(f, several);
    const pl_scene *scene = task->scene;
    double low = INFINITY, high = -INFINITY, centre[3] = {0};
    for (int i = 0; i < scene->vertex_count; i++) {
        low = fmin(low, scene->q0[3 * i + 1]);
        high = fmax(high, scene->q0[3 * i + 1]);
        for (int k = 0; k < 3; k++)
            centre[k] += scene->q0[3 * i + k] / scene->vertex_count;
    }
    pl_task_destroy(task);
    double plane = high + 0.15; /* reached by the front with 1 m/s */
    snprintf(points, sizeof points, "15, %g, %.17g, %g\n15, %g, %.17g, %g\n15, %g, %.17g, %g\n",
             centre[0], plane, centre[2], centre[0] + 0.02, plane, centre[2], centre[0], plane,
             centre[2] + 0.02);
    files_write(f->directory, "cloud.csv", points);
    for (int starts = 1; starts <= 6; starts += 5) {
        pl_fit_def def = pl_fit_def_default();
        pl_fit_result *r;
        snprintf(several, sizeof several, "%s, \"starts\": %d}", text, starts);
        task = slope_task(f, several);
        assert_ok(f->ctx, pl_task_fit(task, &def, &r));
        assert_true(r->identified == (starts == 1));
        if (starts > 1) {
            char back[64];
            assert_int_equal(r->reasons[0].doubt, PL_DOUBT_MINIMUM);
            assert_non_null(strstr(r->verdict, "explains the data as well with v"));
            snprintf(back, sizeof back, "%.4g", 1 + (high - low) / 0.15);
            assert_non_null(strstr(r->verdict, back));
        }
        pl_fit_result_free(task, r);
        pl_task_destroy(task);
    }
}

/* Points that cannot be simulated are passed over; when there are no others, that is said. */
static void impossible_starts_are_passed_over(void **state)
{
    slope *f = *state;
#define FAST(initial)                                                                                  \
    TASK("{\"quantity\": \"velocity\", \"direction\": [0, 1, 0], \"initial\": " initial                \
         ", \"true\": 1, \"lower\": 0, \"upper\": 1e300}",                                             \
         "\"method\": \"levenberg_marquardt\"", "\"starts\": 3")
    pl_task *task = slope_task(f, FAST("1"));
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    assert_true(r->best == 0 && r->starts[1].refused && r->starts[2].refused && !r->starts[0].refused);
    assert_true(isnan(r->starts[1].loss) && r->starts[1].initial[0] > 1e297);
    assert_int_equal(r->refused, 2);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
    task = slope_task(f, FAST("1e300"));
    assert_true(pl_point_refused(pl_task_fit(task, &def, &r)));
    assert_null(r);
    assert_non_null(strstr(pl_context_error(f->ctx), "none of the 3 starting points"));
    pl_task_destroy(task);
}

/* ------------------------------------------------------------------------------- going on */

static bool lose_patience(void *user)
{
    return --*(int *)user > 0;
}

/* All of result.json that does not depend on the clock, or on how often it was interrupted. */
static void assert_same_result(const slope *f)
{
    static const char *const files[] = {"history.csv", "result.json"};
    for (int i = 0; i < 2; i++) {
        char *a = files_read(f->out[0], files[i]), *b = files_read(f->out[1], files[i]);
        char *end_a = strstr(a, "\"seconds\""), *end_b = strstr(b, "\"seconds\"");
        if (end_a && end_b)
            *end_a = *end_b = '\0';
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
}

static void fit_into(slope *f, pl_task *task, int out, bool resume)
{
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    def.report = false;
    def.directory = f->out[out];
    def.resume = resume;
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    pl_fit_result_free(task, r);
}

static const char *const several = TASK(STICKING, "\"iterations\": 4",
                                        "\"starts\": 4, \"continuation\": {\"start\": 1e-6, "
                                        "\"stages\": 1, \"iterations\": 2}");

static void resumed_equals_uninterrupted(void **state)
{
    slope *f = *state;
    pl_task *task = slope_task(f, several);
    fit_into(f, task, 0, false);
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    int left, interruptions = 0;
    def.report = false;
    def.directory = f->out[1];
    def.keep_going = lose_patience;
    def.user = &left;
    for (;;) {
        left = 150 + 20 * interruptions; /* always enough for an iteration in the end */
        pl_status status = pl_task_fit(task, &def, &r);
        if (status == PL_OK)
            break;
        assert_int_equal(status, PL_ERROR_INTERRUPTED);
        assert_true(interruptions++ < 100);
        def.resume = true;
        pl_task_destroy(task);
        task = slope_task(f, several);
    }
    assert_true(interruptions > 4);
    pl_fit_result_free(task, r);
    assert_same_result(f);
    pl_task_destroy(task);
}

/* More starts and more iterations are as if they had been asked for at once; fewer starts are not. */
static void more_starts_continue(void **state)
{
    slope *f = *state;
    static const char *const fewer[] = {"starts=2", "optimizer.iterations=3"};
    pl_task *task = slope_task(f, several), *less;
    assert_ok(f->ctx, pl_task_load(f->ctx, f->task, 2, fewer, &less));
    fit_into(f, task, 0, false);
    fit_into(f, less, 1, false);
    fit_into(f, task, 1, true);
    assert_same_result(f);
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    def.directory = f->out[1];
    def.resume = true;
    assert_int_equal(pl_task_fit(less, &def, &r), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(f->ctx), "has 4 starts, the task only 2"));
    pl_task_destroy(less);
    pl_task_destroy(task);
}

/* Progress tells the start, and the best loss of all so far. */
typedef struct seen {
    int start, count;
    double best;
} seen;

static void watch(void *user, const pl_fit_progress *p)
{
    seen *s = user;
    assert_int_equal(p->starts, 4);
    assert_true(p->start >= s->start && p->start < 4);
    if (p->loss < s->best)
        s->best = p->loss;
    assert_true(p->best_loss <= p->loss);
    s->count += p->start != s->start;
    s->start = p->start;
}

static void progress_tells_the_start(void **state)
{
    slope *f = *state;
    pl_task *task = slope_task(
        f, TASK(STICKING, "\"method\": \"levenberg_marquardt\", \"iterations\": 3", "\"starts\": 4"));
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    seen s = {.best = INFINITY};
    def.progress = watch;
    def.user = &s;
    assert_ok(f->ctx, pl_task_fit(task, &def, &r));
    assert_int_equal(s.count, 3);
    assert_close(s.best, r->starts[r->best].loss, 0);
    pl_fit_result_free(task, r);
    pl_task_destroy(task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(points_fill_the_bounds, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(best_start_is_kept, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(equal_minima_are_told, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(impossible_starts_are_passed_over, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(resumed_equals_uninterrupted, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(more_starts_continue, slope_open, slope_close),
        cmocka_unit_test_setup_teardown(progress_tells_the_start, slope_open, slope_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
