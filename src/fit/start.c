/*
 * Starting points of a fit from several: the task's own, and points drawn between the bounds, evenly in
 * the optimiser's x (so in the logarithm of what is fitted by its logarithm), or evenly in p behind a
 * logit, whose x would crowd them at the bounds. An unknown with many values has them all alike.
 *
 * A draw is a hash of seed, start and unknown: it depends on nothing that came before, so that more
 * starts leave the earlier ones as they are.
 */
#include "fit/task.h"

/* splitmix64's output function */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* In (0, 1). */
static double draw(int seed, int start, int unknown)
{
    const int parts[] = {seed, start, unknown};
    uint64_t hash = 0;
    for (int i = 0; i < 3; i++)
        hash = mix(hash + 0x9e3779b97f4a7c15ull + (uint64_t)parts[i]);
    return ((double)(hash >> 11) + 0.5) * 0x1p-53;
}

void pl_task_start_x(const pl_task *task, int start, double *x)
{
    memcpy(x, task->initial, (size_t)task->n * sizeof *x);
    for (int k = 0; start > 0 && k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        double t = draw(task->seed, start, k);
        for (int i = u->first; i < u->first + u->count; i++)
            x[i] = u->map == PL_MAP_LOGIT
                       ? pl_clip(pl_map_to_x(u, u->lower + t * (u->upper - u->lower)), task->lower[i],
                                 task->upper[i])
                       : task->lower[i] + t * (task->upper[i] - task->lower[i]);
    }
}
