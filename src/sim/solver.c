/* A solver's memory: making room, forgetting. */
#include "sim/solver.h"

#include "rows/rows.h"

#define USUAL_LAG 0.1 /* of corrections, by a factor of which nothing is known yet */

pl_status pl_solver_create(const pl_model *model, pl_matter *matter, pl_solver *s)
{
    pl_status status = PL_OK;
    const pl_scene *scene = model->scene;
    pl_context *ctx = scene->ctx;
    *s = (pl_solver){.ctx = ctx, .scene = scene, .matter = matter, .n = scene->vertex_count};
    PL_CHECK(pl_matrix_create(model, &s->meter, &s->matrix), done);
    double **vectors[] = {&s->external, &s->gradient,   &s->residual, &s->guess, &s->iterate, &s->move,
                          &s->trial,    &s->trial_move, &s->combined, &s->root,  &s->pulled};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        PL_NEW(ctx, *vectors[k], 3 * s->n, done);
    PL_NEW(ctx, s->shapes, scene->collider_count, done);
    PL_NEW(ctx, s->meets, s->n, done);
    for (int c = 0; c < scene->collider_count; c++)
        s->shapes[c] = scene->colliders[c].shape;
    PL_NEW(ctx, s->live, pl_rows_count(scene), done);
    pl_meet_rules rules = {
        .surface = model->surface, .body_count = scene->body_count, .body_of = scene->body_of};
    PL_CHECK(pl_meet_search_create(ctx, &rules, s->n, scene->q0, &s->search), done);
    PL_CHECK(pl_brush_search_create(ctx, model->skin, s->n, &s->brushes), done);
    PL_CHECK(pl_forecast_create(ctx, s->n, &s->memory.forecast), done);
    PL_CHECK(pl_anderson_create(ctx, 3 * s->n, &s->memory.anderson), done);
    PL_CHECK(pl_krylov_reserve(ctx, &s->krylov, 3 * s->n, 1), done);
    PL_CHECK(pl_delassus_create(ctx, s->n, model->part_of, &s->space.delassus), done);
done:
    return status;
}

void pl_solver_free(pl_solver *s)
{
    if (!s->ctx)
        return;
    pl_context *ctx = s->ctx;
    pl_matrix_free(&s->matrix);
    pl_contact_set_free(ctx, &s->space.set);
    pl_delassus_free(ctx, &s->space.delassus);
    pl_meet_search_free(ctx, &s->search);
    pl_brush_search_free(ctx, &s->brushes);
    pl_contact_solver_free(ctx, &s->space.solver);
    pl_forecast_free(ctx, &s->memory.forecast);
    pl_anderson_free(&s->memory.anderson);
    pl_krylov_free(ctx, &s->krylov);
    void *arrays[] = {s->space.laws,    s->space.lambda,  s->space.free_motion,
                      s->space.origin,  s->space.wanted,  s->space.delta,
                      s->space.touched, s->space.springs, s->shapes,
                      s->external,      s->gradient,      s->residual,
                      s->guess,         s->iterate,       s->move,
                      s->trial,         s->trial_move,    s->combined,
                      s->coupled,       s->live,          s->known,
                      s->meets,         s->root,          s->pulled};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
}

/* How the factor did, and what was made with it. */
static void forget_use(pl_solver *s)
{
    s->memory.ledger = (pl_ledger){0};
    s->memory.lag = USUAL_LAG;
    pl_delassus_reset(&s->space.delassus);
    pl_contact_system_forget(&s->space.solver.system);
}

void pl_solver_forget(pl_solver *s)
{
    pl_matrix_forget(&s->matrix);
    forget_use(s);
    pl_contact_solver_forget(&s->space.solver);
    pl_anderson_reset(&s->memory.anderson);
    pl_forecast_reset(&s->memory.forecast);
    s->memory.guess_imbalance = 0;
    s->memory.foretold = false;
    s->memory.first_rate = 0;
}

pl_status pl_solver_touched(pl_solver *s, int *count)
{
    const pl_contact_set *set = &s->space.set;
    PL_TRY(pl_grow(s->ctx, (void **)&s->space.touched, &s->space.touched_capacity, set->entry_count,
                   sizeof *s->space.touched));
    *count = set->entry_count;
    for (int k = 0; k < set->entry_count; k++)
        s->space.touched[k] = set->entries[k].vertex;
    return PL_OK;
}

pl_status pl_solver_refresh(pl_solver *s, const pl_substep *sub, const double *q)
{
    int count;
    pl_factor_kind kind =
        s->matter->method == PL_SOLVER_CONSTANT ? PL_FACTOR_CONSTANT : PL_FACTOR_TANGENT;
    if (kind == PL_FACTOR_CONSTANT && s->matrix.kind == kind && s->matrix.h == sub->h)
        return PL_OK;
    forget_use(s);
    PL_TRY(pl_solver_touched(s, &count));
    return pl_matrix_refresh(&s->matrix, sub, kind, q, count, s->space.touched);
}
