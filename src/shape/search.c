/*
 * The vertex count falls with the cell h about as N = c h^-p, p between 2 (thin) and 3 (thick). Each
 * try corrects h by (N / wanted)^(1/p); p comes from the last two tries. The count jumps where the
 * lattice passes a feature, so when that does not settle, cells around the best try are scanned.
 */
#include "shape/search.h"

#define CLOSE_ENOUGH 0.04
#define ACCEPTABLE   0.10
#define COMPLETE     0.09 /* score of a mesh that lost a fragment, whatever its count */
#define FRAGMENT     0.01 /* share of the volume that counts as a lost limb */
#define NEWTON_TRIES 8
#define SCAN_TRIES   16

typedef struct search {
    pl_context *ctx;
    pl_build_fn build;
    void *user;
    int wanted;
    pl_mesh *best;
    double best_cell, best_score;
} search;

/* One try: *count is 0 when nothing was left. The best mesh is kept, others freed. */
static pl_status attempt(search *s, double cell, int *count)
{
    pl_mesh *mesh = NULL;
    double lost = 0;
    *count = 0;
    pl_status status = s->build(s->user, cell, &mesh, &lost);
    if (status == PL_ERROR_MESH)
        return PL_OK;
    if (status != PL_OK)
        return status;
    *count = mesh->vertex_count;
    double score = fmax(fabs(log((double)*count / s->wanted)), COMPLETE * fmin(1, lost / FRAGMENT));
    if (!s->best || score < s->best_score) {
        pl_mesh_free(s->ctx, s->best);
        s->best = mesh, s->best_cell = cell, s->best_score = score;
    } else {
        pl_mesh_free(s->ctx, mesh);
    }
    return PL_OK;
}

static pl_status run(search *s, double cell)
{
    double power = 2.7, last_cell = 0;
    int last_count = 0, count;
    for (int k = 0; k < NEWTON_TRIES; k++) {
        PL_TRY(attempt(s, cell, &count));
        if (s->best && s->best_score < CLOSE_ENOUGH)
            return PL_OK;
        if (count == 0) {
            cell *= 0.5;
            continue;
        }
        if (last_count > 0 && last_count != count && last_cell != cell)
            power = fmax(1.5, fmin(4, -log((double)count / last_count) / log(cell / last_cell)));
        last_cell = cell, last_count = count;
        cell *= fmax(0.2, fmin(5, pow((double)count / s->wanted, 1 / power)));
    }
    double centre = s->best_cell;
    for (int k = 1; k <= SCAN_TRIES && s->best && s->best_score > 0.5 * ACCEPTABLE; k++)
        PL_TRY(attempt(s, centre * (1 + (k % 2 ? 0.012 : -0.012) * (double)((k + 1) / 2)), &count));
    return PL_OK;
}

pl_status pl_search_cell(pl_context *ctx, pl_build_fn build, void *user, int wanted, double *cell,
                         pl_mesh **out)
{
    search s = {.ctx = ctx, .build = build, .user = user, .wanted = wanted};
    pl_status status = run(&s, *cell);
    if (status == PL_OK && !s.best)
        status = PL_ERROR_MESH;
    if (status != PL_OK) {
        pl_mesh_free(ctx, s.best);
        return status;
    }
    if (fabs(s.best->vertex_count - (double)wanted) > ACCEPTABLE * wanted)
        pl_log(ctx, PL_LOG_WARNING, "%d vertices were asked for, %d is the nearest count found", wanted,
               s.best->vertex_count);
    *out = s.best, *cell = s.best_cell;
    return PL_OK;
}
