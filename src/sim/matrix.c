/*
 * The matrix that stands for the tangent E in the forward solve: a factor of the true tangent at some
 * recent state, or of the constant matrix A.
 */
#include "sim/sim.h"

/* Seconds on one core for bodies of 300 to 10,000 vertices. Only ratios matter, and they come from
 * counts, not from clocks: results must not depend on the machine's mood. A solve is charged at twice
 * its time, a product at three times: with less, new factors come too late for soft bodies (armadillo
 * of 5,000 vertices: 10 to 30 % slower), because iterations with an old one slow down as they go on. */
static pl_costs measured_costs(const pl_sim *sim, const pl_chol *chol)
{
    pl_chol_cost c = pl_chol_get_cost(chol);
    double n = sim->n, elements = 0, blocks = pl_elastic_pattern(sim->elastic)->nnz;
    for (int b = 0; b < sim->scene->body_count; b++)
        elements += sim->scene->bodies[b].element_count;
    return (pl_costs){
        .factor = 3e-6 * n + 7e-9 * c.factor_entries + c.factor_flops / 40e9,
        .solve = 0.06e-6 * n + 0.5e-9 * c.factor_entries,
        .stress = 0.14e-6 * elements,
        .assembly = 0.28e-6 * elements,
        .product = 5e-9 * blocks,
    };
}

#define USUAL_LAG 0.1 /* of corrections, by a factor of which nothing is known yet */

/* Touched vertices that do not deserve an order made for them: solving for their columns of E^-1, and
 * reading what lies between them and the root twice more in each solve, costs less. */
#define FEW_VERTICES 8

void pl_matrix_diagonal(pl_sim *sim, double h)
{
    for (int i = 0; i < sim->n; i++)
        sim->diagonal[i] = sim->mass[i] + h * sim->damping[i] + h * h * sim->pin_stiffness[i];
}

static pl_status make_factor(pl_sim *sim, int block, int last_count, const int *last, pl_chol **out)
{
    pl_chol_plan *plan;
    PL_TRY(pl_chol_plans_get(sim->plans, sim->ctx, block, last_count, last, &plan));
    pl_status status = pl_chol_create(sim->ctx, plan, out);
    pl_chol_plan_release(plan);
    return status;
}

/* A symbolic factor that suits the contacts: when more than FEW_VERTICES touched vertices are not among
 * those eliminated last, a new order with all touched vertices last, which makes E^-1 between them
 * cheap. `anew`: the order for these contacts, whatever came before, so that a resumed rollout repeats
 * bit for bit. */
static pl_status order_tangent(pl_sim *sim, bool anew)
{
    int count = 0, missing = 0, touched = 0, *list = sim->vertex_work, *seen = list + sim->n;
    const int *last = sim->tangent_factor ? pl_chol_last(sim->tangent_factor, &count) : NULL;
    memset(seen, 0, sizeof(int) * (size_t)sim->n);
    for (int k = 0; k < count; k++)
        seen[last[k]] = 1;
    for (int c = 0; c < sim->contacts.count; c++) {
        int v = sim->contacts.points[c].vertex[0];
        missing += seen[v] == 0;
        if (seen[v] < 2)
            list[touched++] = v;
        seen[v] = 2;
    }
    if (touched <= FEW_VERTICES)
        touched = 0;
    bool same =
        touched == count && (count == 0 || memcmp(list, last, sizeof(int) * (size_t)count) == 0);
    if (sim->tangent_factor && (anew ? same : missing <= FEW_VERTICES))
        return PL_OK;
    pl_chol *made;
    PL_TRY(make_factor(sim, 3, touched, list, &made));
    pl_chol_destroy(sim->tangent_factor);
    sim->tangent_factor = made;
    return PL_OK;
}

static void evaluate_tangent(pl_sim *sim, bool clamp, double h, const double *q)
{
    pl_elastic_evaluate(sim->elastic, q, clamp, h * h, sim->diagonal, NULL, sim->tangent);
    sim->factor_clamped = clamp;
    sim->info.factorizations++;
    pl_stage(sim, PL_STAGE_ASSEMBLE);
    if (clamp)
        pl_log(sim->ctx, PL_LOG_DEBUG, "tangent not positive definite: clamped");
}

/* In single precision, unless that is too poor. Where it finds no factor but of the clamped tangent,
 * the other one is indefinite: what resists the clamped one, masses and springs, resists it as well. */
static bool factor_roughly(pl_sim *sim, double h, const double *q)
{
    pl_rough rough = PL_ROUGH_INDEFINITE;
    for (int clamp = 0; clamp < 2 && rough == PL_ROUGH_INDEFINITE; clamp++) {
        evaluate_tangent(sim, clamp, h, q);
        rough = pl_chol_factor_rough(sim->tangent_factor, sim->tangent);
        pl_stage(sim, PL_STAGE_FACTOR);
    }
    return rough == PL_ROUGH_GOOD;
}

static pl_status refresh_tangent(pl_sim *sim, bool anew, double h, const double *q)
{
    PL_TRY(order_tangent(sim, anew));
    if (sim->solver != PL_SOLVER_DIRECT && factor_roughly(sim, h, q))
        return PL_OK;
    pl_status status = PL_ERROR_NUMERIC;
    for (int clamp = 0; clamp < 2 && status == PL_ERROR_NUMERIC; clamp++) {
        evaluate_tangent(sim, clamp, h, q);
        status = pl_chol_factor(sim->tangent_factor, sim->tangent);
        pl_stage(sim, PL_STAGE_FACTOR);
    }
    return status;
}

static pl_status refresh_constant(pl_sim *sim, double h)
{
    const pl_pattern *pattern = pl_elastic_pattern(sim->elastic);
    if (!sim->constant && !(sim->constant = pl_alloc(sim->ctx, (size_t)pattern->nnz, sizeof(double))))
        return PL_ERROR_MEMORY;
    if (!sim->constant_factor)
        PL_TRY(make_factor(sim, 1, 0, NULL, &sim->constant_factor));
    pl_elastic_constant(sim->elastic, h * h, sim->diagonal, sim->constant);
    pl_stage(sim, PL_STAGE_ASSEMBLE);
    PL_TRY(pl_chol_factor(sim->constant_factor, sim->constant));
    pl_stage(sim, PL_STAGE_FACTOR);
    sim->info.factorizations++;
    return PL_OK;
}

void pl_matrix_forget(pl_sim *sim)
{
    sim->factor = PL_FACTOR_NONE;
    sim->digits = sim->wear = 0;
    sim->lag = USUAL_LAG;
    pl_delassus_reset(&sim->delassus);
    pl_contact_system_forget(&sim->contact_solver.system);
}

pl_status pl_matrix_refresh(pl_sim *sim, pl_factor_kind kind, double h, const double *q)
{
    if (kind == PL_FACTOR_CONSTANT && sim->factor == kind && sim->factor_h == h)
        return PL_OK;
    bool anew = sim->factor == PL_FACTOR_NONE;
    pl_matrix_forget(sim);
    pl_matrix_diagonal(sim, h);
    PL_TRY(kind == PL_FACTOR_CONSTANT ? refresh_constant(sim, h) : refresh_tangent(sim, anew, h, q));
    sim->factor = kind;
    sim->factor_h = h;
    sim->costs = measured_costs(sim, pl_matrix_factor(sim));
    return PL_OK;
}

pl_chol *pl_matrix_factor(const pl_sim *sim)
{
    return sim->factor == PL_FACTOR_CONSTANT ? sim->constant_factor : sim->tangent_factor;
}

pl_status pl_matrix_correct(pl_sim *sim, const double *b, double *x)
{
    sim->info.linear_solves++;
    return pl_chol_correct(pl_matrix_factor(sim), b, x);
}

pl_status pl_matrix_solve(pl_sim *sim, const double *b, double *x)
{
    sim->info.linear_solves++;
    return pl_chol_solve(pl_matrix_factor(sim), b, x);
}

void pl_matrix_focus(pl_sim *sim)
{
    int count = 0, *list = sim->vertex_work, *seen = list + sim->n;
    memset(seen, 0, sizeof(int) * (size_t)sim->n);
    for (int c = 0; c < sim->contacts.count; c++)
        for (int k = 0; k < sim->contacts.points[c].count; k++) {
            int v = sim->contacts.points[c].vertex[k];
            if (!seen[v]++)
                list[count++] = v;
        }
    pl_chol_focus(pl_matrix_factor(sim), count, list);
}

pl_status pl_matrix_begin(pl_sim *sim, const double *b, double *x)
{
    sim->info.linear_solves++;
    return pl_chol_begin(pl_matrix_factor(sim), b, x);
}

pl_status pl_matrix_end(pl_sim *sim, const double *change, const double *known, double *x)
{
    return pl_chol_end(pl_matrix_factor(sim), change, known, x);
}
