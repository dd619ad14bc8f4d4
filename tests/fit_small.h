/* The smallest fit there is, in a directory of its own: a force that pushes a block for two steps. */
#ifndef PL_TEST_FIT_SMALL_H
#define PL_TEST_FIT_SMALL_H

#include "fit_files.h"

#include <pliant/fit.h>

static const char small_scene[] =
    "{\"version\": 1, \"time_step\": 0.01, \"steps\": 2,"
    " \"bodies\": [{\"name\": \"block\", \"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cell\": "
    "0.1}},"
    "   \"transform\": {\"translate\": [0, 0, 0.0001]}, \"material\": {\"young\": 1e5}}],"
    " \"forces\": [{\"body\": \"block\", \"per\": \"mass\", \"value\": [0, 0, 0]}],"
    " \"colliders\": [{\"shape\": {\"half_space\": {}}, \"friction\": 0.3}]}";

static const char small_task[] =
    "{\"version\": 1, \"scene\": \"scene.json\","
    " \"unknowns\": [{\"quantity\": \"force\", \"direction\": [1, 0, 0], \"initial\": 4, \"true\": 5}],"
    " \"loss\": [{\"kind\": \"positions\"}],"
    " \"optimizer\": {\"method\": \"levenberg_marquardt\", \"iterations\": 2}}";

typedef struct small_fit {
    char folder[64], out[128];
    pl_context *ctx;
    pl_task *task;
    pl_fit_def def; /* into `out`, without a report */
} small_fit;

static inline int small_fit_open(void **state)
{
    small_fit *f = calloc(1, sizeof *f);
    char path[128];
    files_make(f->folder);
    files_write(f->folder, "scene.json", small_scene);
    files_write(f->folder, "task.json", small_task);
    snprintf(path, sizeof path, "%s/task.json", f->folder);
    snprintf(f->out, sizeof f->out, "%s/out", f->folder);
    f->ctx = test_context(1);
    assert_ok(f->ctx, pl_task_load(f->ctx, path, 0, NULL, &f->task));
    f->def = pl_fit_def_default();
    f->def.directory = f->out;
    f->def.report = false;
    *state = f;
    return 0;
}

static inline int small_fit_close(void **state)
{
    small_fit *f = *state;
    pl_task_destroy(f->task);
    pl_context_destroy(f->ctx);
    files_remove(f->out);
    files_remove(f->folder);
    free(f);
    return 0;
}

static inline pl_status small_fit_run(small_fit *f)
{
    pl_fit_result *result;
    pl_status status = pl_task_fit(f->task, &f->def, &result);
    pl_fit_result_free(f->task, result);
    return status;
}

#endif
