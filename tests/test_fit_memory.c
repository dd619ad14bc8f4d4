/* Every allocation of loading and running a task may fail: nothing leaks, and the fit says so. */
#include "common_alloc.h"
#include "fit_files.h"

#include <pliant/fit.h>

static const char *const scene_text =
    "{\"version\": 1, \"time_step\": 0.01, \"steps\": 2,"
    " \"bodies\": [{\"name\": \"block\", \"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cell\": "
    "0.1}},"
    "   \"transform\": {\"translate\": [0, 0, 0.0001]}, \"material\": {\"young\": 1e5}}],"
    " \"forces\": [{\"body\": \"block\", \"per\": \"mass\", \"value\": [0, 0, 0]}],"
    " \"colliders\": [{\"shape\": {\"half_space\": {}}, \"friction\": 0.3}]}";

static const char *const task_text =
    "{\"version\": 1, \"scene\": \"scene.json\","
    " \"unknowns\": [{\"quantity\": \"force\", \"direction\": [1, 0, 0], \"initial\": 4, \"true\": 5}],"
    " \"loss\": [{\"kind\": \"positions\", \"steps\": [1, 2]},"
    "  {\"kind\": \"markers\", \"points\": [[0.1, 0.05, 0.05]]}, {\"kind\": \"centre_of_mass\"},"
    "  {\"kind\": \"point_cloud\"}],"
    " \"optimizer\": {\"method\": \"levenberg_marquardt\", \"iterations\": 1}}";

/* Goals of every kind, terms of inputs, two windows, a start from a file. */
static const char *const control_text =
    "{\"version\": 1, \"scene\": \"scene.json\", \"window\": {\"steps\": 1, \"advance\": 1},"
    " \"unknowns\": [{\"name\": \"push\", \"quantity\": \"force\", \"direction\": [1, 0, 0],"
    "   \"for_each\": \"step\", \"initial\": 4, \"start\": \"start.csv\"}],"
    " \"loss\": [{\"kind\": \"centre_of_mass\", \"path\": [[0.01, 0.05, 0.05, 0.05], [0.02, 1, 0, 0]]},"
    "  {\"kind\": \"centre_of_mass\", \"along\": [1, 0, 0], \"distance\": 1, \"steps\": [1, 2]},"
    "  {\"kind\": \"shape\"}, {\"kind\": \"effort\", \"quantity\": \"force\"},"
    "  {\"kind\": \"smoothness\", \"quantity\": \"force\"}],"
    " \"optimizer\": {\"iterations\": 1}}";

typedef struct place {
    char directory[64], task[128], out[128];
} place;

static pl_status load_and_fit(pl_context *ctx, void *user)
{
    const place *at = user;
    pl_task *task = NULL;
    pl_fit_result *result = NULL;
    pl_fit_def def = pl_fit_def_default();
    def.directory = at->out;
    def.report = false; /* the report has such a test of its own */
    pl_status status = pl_task_load(ctx, at->task, 0, NULL, &task);
    if (status == PL_OK)
        status = pl_task_fit(task, &def, &result);
    if (task)
        pl_fit_result_free(task, result);
    pl_task_destroy(task);
    files_remove(at->out);
    return status;
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    place at;
    char directory[64];
    files_make(directory);
    memcpy(at.directory, directory, sizeof directory);
    snprintf(at.task, sizeof at.task, "%s/task.json", directory);
    snprintf(at.out, sizeof at.out, "%s/out", directory);
    files_write(directory, "scene.json", scene_text);
    files_write(directory, "start.csv", "push\n1\n");
    files_write(directory, "task.json", task_text);
    assert_true(test_fail_every_allocation(load_and_fit, &at) > 100);
    files_write(directory, "task.json", control_text);
    assert_true(test_fail_every_allocation(load_and_fit, &at) > 100);
    files_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
