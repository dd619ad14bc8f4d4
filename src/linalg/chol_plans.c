/* A short list of plans, the one asked for last at its front. */
#include "linalg/chol_plans.h"

#include "linalg/chol_plan.h"

#include <pthread.h>

#define KEPT 4 /* a few megabytes each for bodies of 10,000 vertices */

struct pl_chol_plans {
    pl_context memory; /* a copy of the context it was made in: whose allocator frees it */
    const pl_pattern *pattern;
    pthread_mutex_t lock; /* of the list */
    int count;
    pl_chol_plan *recent[KEPT];
};

pl_status pl_chol_plans_create(pl_context *ctx, const pl_pattern *pattern, pl_chol_plans **out)
{
    pl_chol_plans *plans = *out = pl_alloc(ctx, 1, sizeof *plans);
    if (!plans)
        return PL_ERROR_MEMORY;
    plans->memory = *ctx;
    plans->pattern = pattern;
    pthread_mutex_init(&plans->lock, NULL);
    return PL_OK;
}

void pl_chol_plans_destroy(pl_chol_plans *plans)
{
    if (!plans)
        return;
    pl_context memory = plans->memory;
    for (int k = 0; k < plans->count; k++)
        pl_chol_plan_release(plans->recent[k]);
    pthread_mutex_destroy(&plans->lock);
    pl_free(&memory, plans);
}

/* Its place in the list, or the end. */
static int find(const pl_chol_plans *plans, int block, int last_count, const int *last)
{
    int k = 0;
    for (; k < plans->count; k++) {
        const pl_chol_plan *p = plans->recent[k];
        if (p->block == block && p->last_count == last_count &&
            (last_count == 0 || memcmp(p->last, last, sizeof *last * (size_t)last_count) == 0))
            break;
    }
    return k;
}

/* Others wait while one analyses: most often they want the same, and orders are found one at a time
 * anyway. */
pl_status pl_chol_plans_get(pl_chol_plans *plans, pl_context *ctx, int block, int last_count,
                            const int *last, pl_chol_plan **out)
{
    pl_status status = PL_OK;
    pl_chol_plan *plan = NULL, **recent = plans->recent;
    pthread_mutex_lock(&plans->lock);
    int at = find(plans, block, last_count, last);
    if (at < plans->count)
        plan = recent[at];
    else
        PL_CHECK(pl_chol_plan_create(ctx, plans->pattern, block, last_count, last, &plan), done);
    if (at == KEPT)
        pl_chol_plan_release(recent[--at]);
    else if (at == plans->count)
        plans->count++;
    memmove(recent + 1, recent, sizeof *recent * (size_t)at);
    recent[0] = plan;
    pl_chol_plan_share(plan);
done:
    pthread_mutex_unlock(&plans->lock);
    *out = plan;
    return status;
}
