/* The workers of a batch: one thread and one sim each, which environment after environment uses. */
#include "batch/batch.h"

#include "core/blas.h"

#include <omp.h>

static pl_status create_worker(pl_batch *batch, pl_worker *w)
{
    w->ctx = *batch->ctx;
    w->ctx.threads = 1;
    w->scene = *batch->scene;
    w->scene.ctx = &w->ctx;
    w->scene.params = (pl_params){&w->scene, pl_values_hold(batch->scene->params.values)};
    w->model = *batch->model;
    w->model.scene = &w->scene;
    w->model.users = 1; /* the worker: its sim does not destroy what is the scene's */
    w->scene.model = &w->model;
    return pl_sim_create(&w->scene, &w->sim);
}

pl_status pl_pool_create(pl_batch *batch)
{
    pl_status status = PL_OK;
    int count = batch->worker_count;
    if (!pl_blas_prepare(count))
        return pl_fail(batch->ctx, PL_ERROR_MEMORY,
                       "workers = %d: no address space for as many; ask for fewer", count);
    PL_NEW(batch->ctx, batch->workers, count, done);
    for (int k = 0; k < count && status == PL_OK; k++) {
        pl_worker *w = &batch->workers[k];
        status = create_worker(batch, w);
        if (status == PL_ERROR_MEMORY)
            pl_fail(batch->ctx, status, "workers = %d: memory for %d; ask for fewer: %s", count, k,
                    w->ctx.error);
        else if (status != PL_OK)
            pl_fail(batch->ctx, status, "%s", w->ctx.error);
    }
done:
    return status;
}

void pl_pool_free(pl_batch *batch)
{
    for (int k = 0; batch->workers && k < batch->worker_count; k++) {
        pl_worker *w = &batch->workers[k];
        pl_sim_destroy(w->sim);
        pl_values_release(batch->ctx, w->scene.params.values);
    }
    pl_free(batch->ctx, batch->workers);
}

static void work_on(pl_batch *batch, pl_worker *w, int e, pl_work_fn work, void *user)
{
    pl_environment *env = &batch->environments[e];
    if (atomic_load(&batch->interrupted))
        env->status = pl_fail(&w->ctx, PL_ERROR_INTERRUPTED, "stopped before it was begun");
    else
        env->status = work(user, w, e);
    if (env->status == PL_ERROR_INTERRUPTED)
        atomic_store(&batch->interrupted, true);
    if (env->status == PL_OK)
        env->message[0] = '\0';
    else
        memcpy(env->message, w->ctx.error, sizeof env->message);
}

/* What all of them come to. */
static pl_status judge(pl_batch *batch)
{
    int first = -1, failed = 0;
    for (int e = batch->environment_count - 1; e >= 0; e--)
        if (batch->environments[e].status != PL_OK) {
            first = e;
            failed++;
        }
    if (failed == 0)
        return PL_OK;
    const pl_environment *env = &batch->environments[first];
    if (failed == 1)
        return pl_fail(batch->ctx, env->status, "environment %d: %s", first, env->message);
    return pl_fail(batch->ctx, env->status, "environment %d: %s (%d of %d environments failed)", first,
                   env->message, failed, batch->environment_count);
}

pl_status pl_pool_work(pl_batch *batch, pl_work_fn work, void *user)
{
    atomic_store(&batch->interrupted, false);
#pragma omp parallel for num_threads(batch->worker_count) schedule(dynamic, 1)
    for (int e = 0; e < batch->environment_count; e++)
        work_on(batch, &batch->workers[omp_get_thread_num()], e, work, user);
    return judge(batch);
}
