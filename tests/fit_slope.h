/* A block that slides down a slope of 20 degrees for 0.15 s, in a directory of its own with a task
 * about it. It would stick above mu = 0.364. */
#ifndef PL_TEST_FIT_SLOPE_H
#define PL_TEST_FIT_SLOPE_H

#include "fit_files.h"

#include "fit/fit.h"

static const char slope_scene[] =
    "{\"version\": 1, \"time_step\": 0.01, \"steps\": 15,"
    " \"bodies\": [{\"name\": \"block\", \"mesh\": {\"box\": {\"size\": [0.2, 0.1, 0.1], \"cell\": "
    "0.1}},"
    "   \"transform\": {\"rotate\": {\"axis\": [0, 1, 0], \"degrees\": 20}, \"translate\": [0, 0, "
    "0.0001]},"
    "   \"material\": {\"young\": 1e6}}],"
    " \"forces\": [{\"body\": \"block\", \"per\": \"mass\", \"value\": [0, 0, 0]}],"
    " \"colliders\": [{\"name\": \"slope\", \"shape\": {\"half_space\": {}}, \"friction\": 0.1,"
    "   \"rotate\": {\"axis\": [0, 1, 0], \"degrees\": 20}}]}";

typedef struct slope {
    char directory[64], task[128], out[2][128];
    pl_context *ctx;
} slope;

static inline int slope_open(void **state)
{
    slope *f = calloc(1, sizeof *f);
    char directory[64];
    files_make(directory);
    files_write(directory, "scene.json", slope_scene);
    memcpy(f->directory, directory, sizeof directory);
    snprintf(f->task, sizeof f->task, "%s/task.json", directory);
    for (int i = 0; i < 2; i++)
        snprintf(f->out[i], sizeof f->out[i], "%s/out%d", directory, i);
    f->ctx = test_context(1);
    *state = f;
    return 0;
}

static inline int slope_close(void **state)
{
    slope *f = *state;
    pl_context_destroy(f->ctx);
    files_remove(f->out[0]);
    files_remove(f->out[1]);
    files_remove(f->directory);
    free(f);
    return 0;
}

static inline pl_task *slope_task(slope *f, const char *text)
{
    pl_task *task;
    files_write(f->directory, "task.json", text);
    assert_ok(f->ctx, pl_task_load(f->ctx, f->task, 0, NULL, &task));
    return task;
}

#endif
