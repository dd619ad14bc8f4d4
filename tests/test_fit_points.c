/* A task's loss and gradient at many points: what an evaluation of each alone gives, whatever the
 * number of workers and the stretch that is asked for. */
#include "fit_small.h"

#include "fit/task.h"

static const char drawn_task[] =
    "{\"version\": 1, \"scene\": \"scene.json\", \"unknowns\": [{\"quantity\": \"force\", "
    "\"direction\": "
    "[1, 0, 0], \"for_each\": \"step\", \"initial\": 4, \"true\": 5, \"lower\": 0, \"upper\": 9, "
    "\"smooth\": 1e-3}, {\"name\": \"E\", \"quantity\": \"young\", \"initial\": 2e5, \"true\": 1e5, "
    "\"lower\": 1e4, \"upper\": 1e6, \"map\": \"log\"}, {\"name\": \"mu\", \"quantity\": \"friction\", "
    "\"initial\": 0.2, \"true\": 0.3, \"lower\": 0.05, \"upper\": 1}], \"loss\": [{\"kind\": "
    "\"positions\"}, {\"kind\": \"effort\", \"quantity\": \"force\", \"weight\": 1e-6}]}";

enum { COUNT = 5, N = 4 };

static pl_task *load(small_fit *f)
{
    char path[128];
    pl_task *task = NULL;
    files_write(f->folder, "drawn.json", drawn_task);
    snprintf(path, sizeof path, "%s/drawn.json", f->folder);
    assert_ok(f->ctx, pl_task_load(f->ctx, path, 0, NULL, &task));
    assert_int_equal(pl_task_value_count(task), N);
    return task;
}

typedef struct told {
    double values[COUNT][N], loss[COUNT], gradient[COUNT][N];
    pl_status status[COUNT];
    char message[COUNT][PL_POINT_MESSAGE];
} told;

static pl_task_points points_of(told *t, int first, int count, int workers)
{
    return (pl_task_points){.first = first,
                            .count = count,
                            .workers = workers,
                            .values = t->values[0],
                            .loss = t->loss,
                            .gradient = t->gradient[0],
                            .status = t->status,
                            .message = t->message[0]};
}

static void as_each_alone(void **state)
{
    small_fit *f = *state;
    pl_task *task = load(f);
    pl_evaluation *evaluation = NULL;
    told all = {0}, some = {0};
    pl_task_points points = points_of(&all, 0, COUNT, 2);
    assert_ok(f->ctx, pl_task_evaluate(task, &points));
    assert_ok(f->ctx, pl_evaluation_create(task, &evaluation));
    for (int e = 0; e < COUNT; e++) {
        double x[N], loss, gradient[N];
        assert_int_equal(all.status[e], PL_OK);
        assert_string_equal(all.message[e], "");
        pl_task_start_x(task, e, x);
        assert_ok(f->ctx, pl_evaluation_loss(evaluation, x, &loss, gradient));
        assert_true(all.loss[e] == loss && loss > 0);
        for (int i = 0; i < N; i++) {
            const pl_unknown *u = &task->unknowns[i < 2 ? 0 : i - 1];
            assert_true(all.values[e][i] == pl_map_to_p(u, x[i]));
            assert_close(all.gradient[e][i] * pl_map_slope(u, x[i]), gradient[i],
                         1e-14 * fabs(gradient[i]));
        }
    }
    pl_evaluation_destroy(evaluation);
    points = points_of(&some, 2, 2, 1);
    assert_ok(f->ctx, pl_task_evaluate(task, &points));
    assert_memory_equal(some.loss, all.loss + 2, 2 * sizeof(double));
    assert_memory_equal(some.values, all.values + 2, 2 * sizeof all.values[0]);
    assert_memory_equal(some.gradient, all.gradient + 2, 2 * sizeof all.gradient[0]);
    pl_task_destroy(task);
}

static void names_values(void **state)
{
    pl_task *task = load(*state);
    static const char *const names[N] = {"force[0]", "force[1]", "E", "mu"};
    for (int i = 0; i < N; i++) {
        char name[32];
        pl_task_value_name(task, i, sizeof name, name);
        assert_string_equal(name, names[i]);
    }
    pl_task_destroy(task);
}

static bool stop_soon(void *user)
{
    return --*(int *)user > 0;
}

/* The target's two steps, two of the first environment: the second is stopped. */
static void keeps_what_was_done(void **state)
{
    small_fit *f = *state;
    pl_task *task = load(f);
    told all = {0}, whole = {0};
    pl_task_points points = points_of(&all, 0, COUNT, 1), undisturbed = points_of(&whole, 0, 1, 1);
    int left = 6;
    points.keep_going = stop_soon;
    points.user = &left;
    assert_int_equal(pl_task_evaluate(task, &points), PL_ERROR_INTERRUPTED);
    assert_ok(f->ctx, pl_task_evaluate(task, &undisturbed));
    assert_int_equal(all.status[0], PL_OK);
    assert_true(all.loss[0] == whole.loss[0]);
    for (int e = 1; e < COUNT; e++) {
        assert_int_equal(all.status[e], PL_ERROR_INTERRUPTED);
        assert_true(isnan(all.loss[e]) && isnan(all.gradient[e][N - 1]));
        assert_true(all.message[e][0] != '\0');
    }
    pl_task_destroy(task);
}

static void needs_bounds(void **state)
{
    small_fit *f = *state;
    told all = {0};
    pl_task_points one = points_of(&all, 0, 1, 1), two = points_of(&all, 0, 2, 1),
                   none = points_of(&all, 0, 0, 1);
    assert_ok(f->ctx, pl_task_evaluate(f->task, &one));
    assert_int_equal(pl_task_evaluate(f->task, &two), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(f->ctx), "unknown \"force\": expected \"lower\" and"));
    assert_int_equal(pl_task_evaluate(f->task, &none), PL_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_each_alone, small_fit_open, small_fit_close),
        cmocka_unit_test_setup_teardown(names_values, small_fit_open, small_fit_close),
        cmocka_unit_test_setup_teardown(keeps_what_was_done, small_fit_open, small_fit_close),
        cmocka_unit_test_setup_teardown(needs_bounds, small_fit_open, small_fit_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
