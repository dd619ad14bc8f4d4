/* The order of elimination, and all that follows from it. */
#include "linalg/chol_plan.h"

#include <pthread.h>
#include <signal.h>

/* METIS takes its random numbers from rand(), which all threads share: the order it finds is always the
 * same only if no other thread is at it. It also traps two signals and leaves the process' handlers of
 * them with other flags, as if for one signal only: they are put back. */
static pthread_mutex_t ordering = PTHREAD_MUTEX_INITIALIZER;

void pl_cholmod_start(cholmod_common *common)
{
    cholmod_start(common);
    common->print = 0;
    common->error_handler = NULL;
    common->supernodal = CHOLMOD_SUPERNODAL;
}

pl_status pl_cholmod_failed(pl_context *ctx, const cholmod_common *common, const char *what)
{
    if (common->status == CHOLMOD_OUT_OF_MEMORY)
        return pl_fail(ctx, PL_ERROR_MEMORY, "out of memory in a sparse factorisation (%s)", what);
    return pl_fail(ctx, PL_ERROR_NUMERIC, "sparse factorisation failed (%s, CHOLMOD status %d)", what,
                   common->status);
}

/* The lower triangle's structure, plan->block rows and columns per vertex. */
static cholmod_sparse *lower_structure(const pl_chol_plan *plan, cholmod_common *common)
{
    const pl_pattern *p = plan->pattern;
    int block = plan->block;
    size_t entries = 0;
    for (int j = 0; j < p->n; j++)
        entries += (size_t)(p->row[j + 1] - p->diag[j]);
    size_t scalars = (entries - (size_t)p->n) * (size_t)(block * block) +
                     (size_t)p->n * (size_t)(block * (block + 1) / 2);
    size_t size = (size_t)p->n * (size_t)block;
    cholmod_sparse *m = cholmod_allocate_sparse(size, size, scalars, 1, 1, -1, CHOLMOD_PATTERN, common);
    if (!m)
        return NULL;
    int *start = m->p, *index = m->i, at = 0;
    for (int j = 0; j < p->n; j++)
        for (int col = 0; col < block; col++) {
            start[block * j + col] = at;
            for (int k = p->diag[j]; k < p->row[j + 1]; k++)
                for (int row = k == p->diag[j] ? col : 0; row < block; row++)
                    index[at++] = block * p->col[k] + row;
        }
    start[block * p->n] = at;
    return m;
}

/* The graph of the vertices that plan->last does not name, numbered in their order; kept[k] is the
 * k-th.
 */
static cholmod_sparse *graph_without_last(const pl_chol_plan *plan, cholmod_common *common, int *kept,
                                          int *number)
{
    const pl_pattern *p = plan->pattern;
    int count = 0, at = 0;
    memset(number, 0, sizeof(int) * (size_t)p->n);
    for (int k = 0; k < plan->last_count; k++)
        number[plan->last[k]] = -1;
    for (int v = 0; v < p->n; v++)
        if (number[v] == 0) {
            number[v] = count;
            kept[count++] = v;
        }
    cholmod_sparse *m = cholmod_allocate_sparse((size_t)count, (size_t)count, (size_t)p->nnz, 1, 1, -1,
                                                CHOLMOD_PATTERN, common);
    if (!m)
        return NULL;
    int *start = m->p, *index = m->i;
    for (int j = 0; j < count; j++) {
        start[j] = at;
        for (int k = p->diag[kept[j]]; k < p->row[kept[j] + 1]; k++)
            if (number[p->col[k]] >= 0)
                index[at++] = number[p->col[k]];
    }
    start[count] = at;
    return m;
}

/* Minimum degree or nested dissection, whichever fills less: CHOLMOD by itself tries the second only
 * for graphs larger than most scenes have, though bodies of 10,000 vertices already take 2.3 times less
 * work by it. */
static cholmod_factor *order_graph(cholmod_sparse *graph, cholmod_common *common)
{
    common->nmethods = 2;
    common->method[0].ordering = CHOLMOD_AMD;
    common->method[1].ordering = CHOLMOD_METIS;
    struct sigaction on_term, on_abort;
    pthread_mutex_lock(&ordering);
    sigaction(SIGTERM, NULL, &on_term);
    sigaction(SIGABRT, NULL, &on_abort);
    cholmod_factor *f = cholmod_analyze(graph, common);
    sigaction(SIGTERM, &on_term, NULL);
    sigaction(SIGABRT, &on_abort, NULL);
    pthread_mutex_unlock(&ordering);
    return f;
}

/* The order of elimination in order[n]: the one that fills little, then plan->last. */
static pl_status order_vertices(pl_context *ctx, const pl_chol_plan *plan, cholmod_common *common,
                                int *order)
{
    int n = plan->pattern->n, count = n - plan->last_count;
    pl_status status = PL_OK;
    cholmod_factor *f = NULL;
    cholmod_sparse *graph = NULL;
    int *work = pl_alloc(ctx, 2 * (size_t)n, sizeof *work);
    if (!work)
        return PL_ERROR_MEMORY;
    if (count > 0) {
        graph = graph_without_last(plan, common, work, work + n);
        f = graph ? order_graph(graph, common) : NULL;
        if (!f) {
            status = pl_cholmod_failed(ctx, common, "ordering");
            goto done;
        }
        for (int k = 0; k < count; k++)
            order[k] = work[((int *)f->Perm)[k]];
    }
    if (plan->last_count > 0)
        memcpy(order + count, plan->last, sizeof(int) * (size_t)plan->last_count);
done:
    cholmod_free_factor(&f, common);
    cholmod_free_sparse(&graph, common);
    pl_free(ctx, work);
    return status;
}

/* The vertices' order, repeated for each of a vertex's unknowns, keeps blocks together. */
static pl_status analyse(pl_context *ctx, pl_chol_plan *plan, cholmod_common *common)
{
    int n = plan->pattern->n, block = plan->block;
    pl_status status = PL_OK;
    int *order = pl_alloc(ctx, (size_t)n * (size_t)(1 + block), sizeof *order), *scalar = order + n;
    if (!order)
        return PL_ERROR_MEMORY;
    PL_CHECK(order_vertices(ctx, plan, common, order), done);
    for (int k = 0; k < block * n; k++)
        scalar[k] = block * order[k / block] + k % block;
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_GIVEN;
    common->postorder = 1;
    plan->lower = lower_structure(plan, common);
    plan->symbolic = plan->lower ? cholmod_analyze_p(plan->lower, scalar, NULL, 0, common) : NULL;
    if (!plan->symbolic)
        status = pl_cholmod_failed(ctx, common, "analysis");
    plan->factor_flops = common->fl;
    plan->factor_entries = common->lnz;
done:
    pl_free(ctx, order);
    return status;
}

static pl_status find_supernodes(pl_context *ctx, pl_chol_plan *plan)
{
    const cholmod_factor *f = plan->symbolic;
    bool *is_last = pl_alloc(ctx, f->n, sizeof *is_last);
    if (!is_last)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < 3 * plan->last_count; i++)
        is_last[3 * plan->last[i / 3] + i % 3] = true;
    pl_status status = pl_supernodes_create(ctx, (int)f->n, (int)f->nsuper, f->super, f->pi, f->px,
                                            f->s, f->Perm, is_last, &plan->supernodes);
    pl_free(ctx, is_last);
    return status;
}

static bool last_is_supernode(const pl_chol_plan *plan)
{
    const pl_supernodes *l = &plan->supernodes;
    return plan->last_count > 0 && l->n - l->first[l->count - 1] == 3 * plan->last_count;
}

static pl_status plan_blocks(pl_context *ctx, pl_chol_plan *plan)
{
    PL_TRY(find_supernodes(ctx, plan));
    PL_TRY(pl_triangular_plan_create(ctx, plan->pattern, &plan->supernodes, plan->symbolic->xsize,
                                     &plan->triangular));
    PL_TRY(pl_multifrontal_plan_create(ctx, plan->pattern, &plan->triangular, last_is_supernode(plan),
                                       &plan->multifrontal));
    return pl_inverse_plan_create(ctx, &plan->supernodes, plan->last_count, plan->last, &plan->inverse);
}

pl_status pl_chol_plan_create(pl_context *ctx, const pl_pattern *pattern, int block, int last_count,
                              const int *last, pl_chol_plan **out)
{
    pl_status status = PL_OK;
    cholmod_common common;
    *out = NULL;
    pl_chol_plan *plan = pl_alloc(ctx, 1, sizeof *plan);
    if (!plan)
        return PL_ERROR_MEMORY;
    atomic_init(&plan->references, 1);
    plan->memory = *ctx;
    plan->pattern = pattern;
    plan->block = block;
    pl_cholmod_start(&common);
    PL_NEW(ctx, plan->last, last_count, done);
    if (last_count > 0)
        memcpy(plan->last, last, sizeof(int) * (size_t)last_count);
    plan->last_count = last_count;
    PL_CHECK(analyse(ctx, plan, &common), done);
    if (block == 3)
        PL_CHECK(plan_blocks(ctx, plan), done);
    *out = plan;
    plan = NULL;
done:
    cholmod_finish(&common);
    pl_chol_plan_release(plan);
    return status;
}

pl_chol_plan *pl_chol_plan_share(pl_chol_plan *plan)
{
    atomic_fetch_add_explicit(&plan->references, 1, memory_order_relaxed);
    return plan;
}

void pl_chol_plan_release(pl_chol_plan *plan)
{
    if (!plan || atomic_fetch_sub_explicit(&plan->references, 1, memory_order_acq_rel) > 1)
        return;
    pl_context memory = plan->memory;
    cholmod_common common;
    cholmod_start(&common);
    cholmod_free_sparse(&plan->lower, &common);
    cholmod_free_factor(&plan->symbolic, &common);
    cholmod_finish(&common);
    pl_inverse_plan_free(&memory, &plan->inverse);
    pl_multifrontal_plan_free(&memory, &plan->multifrontal);
    pl_triangular_plan_free(&memory, &plan->triangular);
    pl_supernodes_free(&memory, &plan->supernodes);
    pl_free(&memory, plan->last);
    pl_free(&memory, plan);
}
