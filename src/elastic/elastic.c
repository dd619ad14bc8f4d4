/* Creating a worker's numbers and scratch over constant elements. */
#include "elastic/internal.h"

pl_status pl_elastic_create(pl_context *ctx, const pl_elements *elements, pl_elastic **out)
{
    pl_status status = PL_OK;
    const pl_bending *bending = &elements->bending;
    size_t slots = (size_t)elements->slot_count;
    size_t forces = PL_FORCE_STRIDE * slots + 3 * (size_t)bending->force_count;
    pl_elastic *el = NULL;
    PL_NEW(ctx, el, 1, done);
    const pl_backend *backends[PL_BACKEND_MAX];
    pl_backend_list(backends);
    el->ctx = ctx;
    el->elements = elements;
    el->backend = backends[0];
    PL_NEW(ctx, el->young, elements->element_count, done);
    PL_NEW(ctx, el->poisson, elements->element_count, done);
    PL_NEW(ctx, el->moduli, slots / PL_LANES, done);
    PL_CHECK(pl_bending_numbers_create(ctx, bending, &elements->pattern, &el->bending), done);
    PL_NEW(ctx, el->energy, slots + (size_t)bending->count, done);
    PL_NEW(ctx, el->force, forces + 1, done);
    PL_NEW(ctx, el->share, 9 * (size_t)elements->share_count, done);
    PL_NEW(ctx, el->scratch, 2 * slots, done);
    *out = el;
    el = NULL;
done:
    pl_elastic_destroy(el);
    return status;
}

void pl_elastic_destroy(pl_elastic *el)
{
    if (!el)
        return;
    pl_context *ctx = el->ctx;
    pl_free(ctx, el->young);
    pl_free(ctx, el->poisson);
    pl_free(ctx, el->moduli);
    pl_bending_numbers_free(ctx, &el->bending);
    pl_free(ctx, el->energy);
    pl_free(ctx, el->force);
    pl_free(ctx, el->share);
    pl_free(ctx, el->scratch);
    pl_free(ctx, el);
}

const pl_pattern *pl_elastic_pattern(const pl_elastic *el)
{
    return &el->elements->pattern;
}

int pl_elastic_shape(const pl_elastic *el, int element, int vertex[4], double g[12])
{
    int slot = el->elements->slot[element], lane = slot % PL_LANES;
    const pl_element_block *block = &el->elements->blocks[slot / PL_LANES];
    int n = block->vertex[3][lane] < 0 ? 2 : 3;
    memset(g, 0, 12 * sizeof *g);
    for (int k = 0; k <= n; k++)
        vertex[k] = block->vertex[k][lane];
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) {
            g[3 * (k + 1) + j] = block->gradient[n * k + j][lane];
            g[j] -= g[3 * (k + 1) + j];
        }
    return n + 1;
}

void pl_elastic_set_backend(pl_elastic *el, const pl_backend *backend)
{
    el->backend = backend;
}
