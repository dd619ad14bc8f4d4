/*
 * A batch: environments, which hold numbers, and workers, which hold a sim each. A worker sees the
 * scene through a copy of its struct with a context of its own, for one thread and one message; the
 * arrays, the model and its analyses are the scene's.
 */
#ifndef PL_BATCH_H
#define PL_BATCH_H

#include "sim/rollout.h"

#include <stdatomic.h>

typedef struct pl_environment {
    pl_params *params;
    pl_state *state;
    pl_status status; /* of the last run or sweep */
    char message[PL_MESSAGE_SIZE];
} pl_environment;

typedef struct pl_worker {
    pl_context ctx;
    pl_scene scene;
    pl_model model;
    pl_sim *sim;
} pl_worker;

struct pl_batch {
    pl_context *ctx; /* the scene's */
    pl_scene *scene;
    pl_model *model;
    int environment_count, worker_count;
    pl_environment *environments;
    pl_worker *workers;
    atomic_bool interrupted; /* a callback asked all to stop */
};

struct pl_rollouts {
    pl_batch *batch;
    int steps;
    pl_rollout **of; /* [environment_count]; NULL of one that failed. Its sim is that of any worker */
};

/* ---- pool.c */
/* Makes the workers, as many as memory has to have room for. */
pl_status pl_pool_create(pl_batch *batch);
void pl_pool_free(pl_batch *batch);

/* One worker's work on one environment; its message goes to the worker's context. */
typedef pl_status (*pl_work_fn)(void *user, pl_worker *worker, int environment);
/* Does it for all environments, and keeps what became of each. The status is that of the first that is
 * not well, with a message in the batch's context. */
pl_status pl_pool_work(pl_batch *batch, pl_work_fn work, void *user);

#endif
