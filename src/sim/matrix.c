/* Making and using the factor that stands for the tangent. */
#include "sim/matrix.h"

#include "terms/term.h"

#include <cblas.h>

/* Seconds on one core for bodies of 300 to 10,000 vertices. Only ratios matter, and they come from
 * counts, not from clocks: results must not depend on the machine's mood. A solve is charged at twice
 * its time, a product at three times: with less, new factors come too late for soft bodies (armadillo
 * of 5,000 vertices: 10 to 30 % slower), because iterations with an old one slow down as they go on. */
static pl_costs measured_costs(const pl_matrix *m, const pl_chol *chol)
{
    pl_chol_cost c = pl_chol_get_cost(chol);
    double n = m->n, elements = m->model->scene->element_count, blocks = m->model->pattern->nnz;
    return (pl_costs){
        .factor = 0.6e-6 * n + 2.5e-9 * c.factor_entries + c.factor_flops / 70e9,
        .solve = 0.06e-6 * n + 0.5e-9 * c.factor_entries,
        .stress = 0.14e-6 * elements,
        .assembly = 0.28e-6 * elements,
        .product = 5e-9 * blocks,
    };
}

pl_status pl_matrix_create(const pl_model *model, pl_meter *meter, pl_matrix *m)
{
    pl_status status = PL_OK;
    pl_context *ctx = model->scene->ctx;
    *m = (pl_matrix){.ctx = ctx, .model = model, .meter = meter, .n = model->scene->vertex_count};
    PL_NEW(ctx, m->diagonal, m->n, done);
    PL_NEW(ctx, m->own, m->n, done);
    PL_NEW(ctx, m->list, 2 * m->n, done);
    PL_NEW(ctx, m->begun, 3 * m->n, done);
    PL_NEW(ctx, m->tangent, 9 * (size_t)model->pattern->nnz, done);
done:
    if (status != PL_OK) {
        pl_matrix_free(m);
        *m = (pl_matrix){0};
    }
    return status;
}

void pl_matrix_free(pl_matrix *m)
{
    if (!m->ctx)
        return;
    pl_chol_destroy(m->tangent_factor);
    pl_chol_destroy(m->constant_factor);
    pl_fold_free(m->ctx, &m->fold);
    pl_free(m->ctx, m->diagonal);
    pl_free(m->ctx, m->own);
    pl_free(m->ctx, m->list);
    pl_free(m->ctx, m->begun);
    pl_free(m->ctx, m->tangent);
    pl_free(m->ctx, m->constant);
}

void pl_matrix_diagonal(pl_matrix *m, const pl_matter *matter, double h)
{
    for (int i = 0; i < m->n; i++)
        m->diagonal[i] = matter->mass[i] + h * matter->damping[i];
}

static pl_status make_factor(pl_matrix *m, int block, int last_count, const int *last, pl_chol **out)
{
    pl_chol_plan *plan;
    PL_TRY(pl_chol_plans_get(m->model->plans, m->ctx, block, last_count, last, &plan));
    pl_status status = pl_chol_create(m->ctx, plan, out);
    pl_chol_plan_release(plan);
    return status;
}

/* A symbolic factor that suits the contacts: when more than a few touched vertices are not among
 * those eliminated last, a new order with all touched vertices last, which makes E^-1 between them
 * cheap. `anew`: the order for these contacts, whatever came before, so that a resumed rollout repeats
 * bit for bit. */
static pl_status order_tangent(pl_matrix *m, bool anew, int asked, const int *touch)
{
    int few = m->ctx->limits.unordered_vertices;
    int count = 0, missing = 0, touched = 0, *list = m->list, *seen = list + m->n;
    const int *last = m->tangent_factor ? pl_chol_last(m->tangent_factor, &count) : NULL;
    memset(seen, 0, sizeof(int) * (size_t)m->n);
    for (int k = 0; k < count; k++)
        seen[last[k]] = 1;
    for (int k = 0; k < asked; k++) {
        int v = touch[k];
        missing += seen[v] == 0;
        if (seen[v] < 2)
            list[touched++] = v;
        seen[v] = 2;
    }
    if (touched <= few)
        touched = 0;
    bool same =
        touched == count && (count == 0 || memcmp(list, last, sizeof(int) * (size_t)count) == 0);
    if (m->tangent_factor && (anew ? same : missing <= few))
        return PL_OK;
    pl_chol *made;
    PL_TRY(make_factor(m, 3, touched, list, &made));
    pl_chol_destroy(m->tangent_factor);
    m->tangent_factor = made;
    return PL_OK;
}

static void evaluate_tangent(pl_matrix *m, const pl_substep *sub, bool clamp, const double *q)
{
    pl_terms_tangent(sub, q, clamp, sub->h * sub->h, m->diagonal, m->tangent);
    m->clamped = clamp;
    for (int i = 0; i < m->n; i++) {
        const double *b = m->tangent + 9 * (size_t)m->model->pattern->diag[i];
        m->own[i] = (b[0] + b[4] + b[8]) / 3;
    }
    m->meter->info.factorizations++;
    pl_stage(m->meter, PL_STAGE_ASSEMBLE);
    if (clamp)
        pl_log(m->ctx, PL_LOG_DEBUG, "tangent not positive definite: clamped");
}

/* What is factored. */
static const double *with_springs(pl_matrix *m)
{
    if (m->fold.count == 0)
        return m->tangent;
    pl_fold_take(&m->fold, m->model->pattern, m->tangent);
    return m->fold.tangent;
}

/* In single precision, unless that is too poor. Where it finds no factor but of the clamped tangent,
 * the other one is indefinite: what resists the clamped one, masses and springs, resists it as well. */
static bool factor_roughly(pl_matrix *m, const pl_substep *sub, const double *q)
{
    pl_rough rough = PL_ROUGH_INDEFINITE;
    for (int clamp = 0; clamp < 2 && rough == PL_ROUGH_INDEFINITE; clamp++) {
        evaluate_tangent(m, sub, clamp, q);
        rough = pl_chol_factor_rough(m->tangent_factor, with_springs(m));
        pl_stage(m->meter, PL_STAGE_FACTOR);
    }
    return rough == PL_ROUGH_GOOD;
}

static pl_status refresh_tangent(pl_matrix *m, const pl_substep *sub, const double *q)
{
    if (sub->matter->method != PL_SOLVER_DIRECT && factor_roughly(m, sub, q))
        return PL_OK;
    pl_status status = PL_ERROR_NUMERIC;
    for (int clamp = 0; clamp < 2 && status == PL_ERROR_NUMERIC; clamp++) {
        evaluate_tangent(m, sub, clamp, q);
        status = pl_chol_factor(m->tangent_factor, with_springs(m));
        pl_stage(m->meter, PL_STAGE_FACTOR);
    }
    return status;
}

static pl_status refresh_constant(pl_matrix *m, const pl_substep *sub)
{
    const pl_pattern *pattern = m->model->pattern;
    if (!m->constant && !(m->constant = pl_alloc(m->ctx, (size_t)pattern->nnz, sizeof(double))))
        return PL_ERROR_MEMORY;
    if (!m->constant_factor)
        PL_TRY(make_factor(m, 1, 0, NULL, &m->constant_factor));
    pl_terms_constant(sub, sub->h * sub->h, m->diagonal, m->constant);
    pl_stage(m->meter, PL_STAGE_ASSEMBLE);
    PL_TRY(pl_chol_factor(m->constant_factor, m->constant));
    pl_stage(m->meter, PL_STAGE_FACTOR);
    m->meter->info.factorizations++;
    return PL_OK;
}

void pl_matrix_forget(pl_matrix *m)
{
    pl_fold_clear(&m->fold);
    m->kind = PL_FACTOR_NONE;
    m->costs = (pl_costs){0};
}

double pl_matrix_own(const pl_matrix *m, const pl_matter *matter, int vertex)
{
    return m->kind == PL_FACTOR_TANGENT ? m->own[vertex] : matter->mass[vertex];
}

pl_status pl_matrix_fold(pl_matrix *m, int count, const pl_spring *springs)
{
    PL_TRY(pl_fold_reserve(m->ctx, &m->fold, m->model->pattern, count));
    for (int k = 0; k < count; k++)
        pl_fold_add(&m->fold, &springs[k]);
    return PL_OK;
}

pl_status pl_matrix_refresh(pl_matrix *m, const pl_substep *sub, pl_factor_kind kind, const double *q,
                            int count, const int *touched)
{
    if (kind == PL_FACTOR_CONSTANT && m->kind == kind && m->h == sub->h)
        return PL_OK;
    bool anew = m->kind == PL_FACTOR_NONE;
    m->kind = PL_FACTOR_NONE;
    pl_matrix_diagonal(m, sub->matter, sub->h);
    if (kind == PL_FACTOR_TANGENT) {
        PL_TRY(order_tangent(m, anew, m->fold.count > 0 ? 0 : count, touched));
        PL_TRY(refresh_tangent(m, sub, q));
    } else {
        PL_TRY(refresh_constant(m, sub));
    }
    m->kind = kind;
    m->h = sub->h;
    m->costs = measured_costs(m, pl_matrix_factor(m));
    return PL_OK;
}

pl_chol *pl_matrix_factor(const pl_matrix *m)
{
    return m->kind == PL_FACTOR_CONSTANT ? m->constant_factor : m->tangent_factor;
}

pl_status pl_matrix_correct(pl_matrix *m, const double *b, double *x)
{
    m->meter->info.linear_solves++;
    if (m->fold.count == 0)
        return pl_chol_correct(pl_matrix_factor(m), b, x);
    memmove(x, b, sizeof(double) * 3 * (size_t)m->n);
    pl_fold_into(&m->fold, x);
    PL_TRY(pl_chol_correct(pl_matrix_factor(m), x, x));
    pl_fold_back(&m->fold, x);
    return PL_OK;
}

pl_status pl_matrix_solve(pl_matrix *m, const double *b, double *x)
{
    m->meter->info.linear_solves++;
    return pl_chol_solve(pl_matrix_factor(m), b, x);
}

void pl_matrix_focus(pl_matrix *m, int count, const int *touched, bool known)
{
    m->known = known;
    int found = 0, *list = m->list, *seen = list + m->n;
    memset(seen, 0, sizeof(int) * (size_t)m->n);
    for (int k = 0; k < count; k++)
        if (!seen[touched[k]]++)
            list[found++] = touched[k];
    pl_chol_focus(pl_matrix_factor(m), found, list);
}

pl_status pl_matrix_begin(pl_matrix *m, const double *b, double *x)
{
    if (m->known) {
        m->meter->info.linear_solves++;
        return pl_chol_begin(pl_matrix_factor(m), b, x);
    }
    memcpy(m->begun, b, sizeof(double) * 3 * (size_t)m->n);
    return pl_matrix_correct(m, b, x);
}

pl_status pl_matrix_end(pl_matrix *m, const double *change, const double *known, double *x)
{
    if (m->known)
        return pl_chol_end(pl_matrix_factor(m), change, known, x);
    cblas_daxpy(3 * m->n, 1, change, 1, m->begun, 1);
    return pl_matrix_correct(m, m->begun, x);
}
