/* Multifrontal Cholesky in single precision. */
#include "linalg/multifrontal.h"

#include <omp.h>

pl_status pl_multifrontal_create(pl_context *ctx, const pl_multifrontal_plan *plan,
                                 pl_multifrontal *out)
{
    pl_status status = PL_OK;
    pl_multifrontal *m = out;
    size_t of_threads = (size_t)ctx->threads * plan->room, schur = (size_t)plan->schur_size;
    *m = (pl_multifrontal){.ctx = ctx, .plan = plan};
    PL_NEW(ctx, m->fronts, (size_t)ctx->threads * plan->front, done);
    PL_NEW(ctx, m->rest, plan->left + (plan->top_room > of_threads ? plan->top_room : of_threads),
           done);
    if (schur > 0)
        PL_NEW(ctx, m->schur, schur * schur, done);
done:
    if (status != PL_OK)
        pl_multifrontal_free(m);
    return status;
}

void pl_multifrontal_free(pl_multifrontal *m)
{
    pl_free(m->ctx, m->fronts);
    pl_free(m->ctx, m->rest);
    pl_free(m->ctx, m->schur);
    *m = (pl_multifrontal){0};
}

/* What supernode k leaves, worked on by a thread. */
static float *rest_of(const pl_multifrontal *m, int k, int thread)
{
    const pl_multifrontal_plan *plan = m->plan;
    size_t from = plan->rest_from[k];
    return m->rest + from + (from < plan->left ? 0 : (size_t)thread * plan->room);
}

/* By a thread, or by several of which it is the first. */
static pl_front front_of(const pl_multifrontal *m, const pl_triangular *t, int k, int thread,
                         int threads)
{
    pl_panel p = pl_panel_of(t->plan->supernodes, k);
    double flops = (double)p.columns * p.height * p.height;
    return (pl_front){
        .backend = t->plan->backend,
        .panel = p,
        .threads = flops < m->ctx->limits.thread_front ? 1 : threads,
        .room = m->fronts + (size_t)thread * m->plan->front,
        .rest = rest_of(m, k, thread),
        .store = t->single + t->plan->single_at[k],
    };
}

/* F11 and F21 of A. */
static void take_entries(const pl_multifrontal_plan *plan, const pl_triangular *t, const double *blocks,
                         int k, const pl_front *f)
{
    size_t height = (size_t)f->panel.height;
    memset(f->room, 0, sizeof(float) * height * (size_t)f->panel.columns);
    for (int e = plan->entry_from[k]; e < plan->entry_from[k + 1]; e++) {
        const pl_front_entry *entry = &plan->entry[e];
        const double *from = blocks + 9 * (size_t)entry->block;
        float *to = f->room + entry->at,
              scale = t->scale[entry->vertex[0]] * t->scale[entry->vertex[1]];
        for (int c = 0; c < 3; c++, to += height)
            for (int r = 0; r < 3; r++)
                to[r] = scale * (float)from[3 * c + r];
    }
}

/* What a child leaves of F11 and F21, or of F22. */
static void add_child(const pl_multifrontal *m, int child, int thread, const pl_front *f, bool rest)
{
    const pl_multifrontal_plan *plan = m->plan;
    const pl_supernodes *l = plan->triangular->supernodes;
    int from = l->triple_from[child], count = l->triple_from[child + 1] - from, own = 0;
    pl_front_sum sum = {
        .count = count,
        .position = plan->position + from,
        .run_end = plan->run_end + from,
        .from = rest_of(m, child, thread),
        .from_stride = 3 * (size_t)count,
        .to = rest ? f->rest : f->room,
        .above = rest ? f->panel.columns : 0,
        .to_stride = (size_t)(rest ? f->panel.below : f->panel.height),
    };
    while (own < count && sum.position[own] < f->panel.columns)
        own++;
    int first = rest ? own : 0, last = rest ? count : own;
    if (f->threads == 1) {
        f->backend->front_add(&sum, first, last);
        return;
    }
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 8)
    for (int j = first; j < last; j++)
        f->backend->front_add(&sum, j, j + 1);
}

static void add_children(const pl_multifrontal *m, int k, int thread, const pl_front *f, bool rest)
{
    const pl_multifrontal_plan *plan = m->plan;
    for (int i = plan->child_from[k]; i < plan->child_from[k + 1]; i++)
        add_child(m, plan->child[i], thread, f, rest);
}

static bool factor_front(const pl_multifrontal *m, pl_triangular *t, const double *blocks, int k,
                         int thread, int threads)
{
    pl_front f = front_of(m, t, k, thread, threads);
    take_entries(m->plan, t, blocks, k, &f);
    add_children(m, k, thread, &f, false);
    if (m->schur && k == t->plan->supernodes->count - 1)
        memcpy(m->schur, f.room, sizeof(float) * (size_t)f.panel.columns * (size_t)f.panel.columns);
    if (!pl_front_factor(&f))
        return false;
    add_children(m, k, thread, &f, true);
    pl_triangular_halve(t, k, f.threads);
    return true;
}

bool pl_multifrontal_factor(pl_multifrontal *m, pl_triangular *t, const double *blocks)
{
    const pl_triangular_plan *plan = t->plan;
    int threads = m->ctx->threads;
    bool made = true;
    pl_triangular_take(t, m->plan->pattern, blocks);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(&& : made)
    for (int p = 0; p < plan->part_count; p++)
        for (int k = plan->parts[p].begin; made && k < plan->parts[p].end; k++)
            made = factor_front(m, t, blocks, k, omp_get_thread_num(), 1);
    for (int k = 0; made && k < plan->supernodes->count; k++)
        if (!plan->in_part[k])
            made = factor_front(m, t, blocks, k, 0, threads);
    return made;
}
