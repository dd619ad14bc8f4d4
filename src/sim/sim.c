/* Creating a simulation, and what it derives from the scene's parameters. */
#include "sim/sim.h"

#include "sim/lump.h"

/* M, C */
static void lump_masses(pl_sim *sim)
{
    const pl_scene *scene = sim->scene;
    const double *density = sim->values->of[PL_DENSITY], *damping = sim->values->of[PL_DAMPING];
    for (int e = 0; e < scene->element_count; e++)
        sim->element_work[e] = density[e] * scene->volume[e];
    pl_lump(scene, sim->element_work, sim->mass);
    for (int e = 0; e < scene->element_count; e++)
        sim->element_work[e] *= damping[e];
    pl_lump(scene, sim->element_work, sim->damping);
}

/* Beyond the margin a smoothed force is below 1e-9 N, so that entry and exit do not show; the cap keeps
 * very smooth laws from making every vertex a contact. */
static double contact_margin(const pl_scene_def *def)
{
    if (def->contact_margin > 0)
        return def->contact_margin;
    return fmin(fmax(def->contact_epsilon2 / 1e-9, 1e-3), 0.05);
}

void pl_sim_use(pl_sim *sim, pl_values *values)
{
    const pl_scene *scene = sim->scene;
    if (sim->values == values)
        return;
    pl_values_release(sim->ctx, sim->values);
    sim->values = pl_values_hold(values);
    sim->margin = contact_margin(&values->def);
    sim->solver = values->def.solver == PL_SOLVER_AUTO ? PL_SOLVER_LAGGED : values->def.solver;
    pl_elastic_set_material(sim->elastic, values->of[PL_YOUNG], values->of[PL_POISSON],
                            values->of[PL_BENDING]);
    lump_masses(sim);
    memset(sim->pin_stiffness, 0, sizeof(double) * (size_t)sim->n);
    for (int p = 0; p < scene->pin_count; p++)
        for (int k = 0; k < scene->pins[p].count; k++)
            sim->pin_stiffness[scene->pin_vertex[scene->pins[p].first + k]] +=
                1 / values->of[PL_COMPLIANCE][p];
    pl_sim_forget(sim);
}

void pl_sim_forget(pl_sim *sim)
{
    pl_matrix_forget(sim);
    pl_contact_solver_forget(&sim->contact_solver);
    pl_anderson_reset(&sim->anderson);
    pl_forecast_reset(&sim->forecast);
    sim->guess_imbalance = 0;
    sim->foretold = false;
    sim->first_rate = 0;
}

static pl_status create_elastic(pl_sim *sim)
{
    const pl_scene *scene = sim->scene;
    pl_status status = PL_OK;
    pl_elastic_body *bodies = NULL;
    PL_NEW(sim->ctx, bodies, scene->body_count, done);
    for (int b = 0; b < scene->body_count; b++) {
        const pl_body *body = &scene->bodies[b];
        bodies[b] = (pl_elastic_body){
            .vertex_offset = body->vertex_offset,
            .vertex_count = body->mesh->vertex_count,
            .rest = body->mesh->vertices,
            .cloth = body->cloth,
            .element_count = body->element_count,
            .elements = body->elements,
            .model = body->model,
            .reading = body->reading,
            .thickness = body->thickness,
        };
    }
    PL_CHECK(pl_elements_create(sim->ctx, sim->n, scene->body_count, bodies, 0, NULL, &sim->elements),
             done);
    PL_CHECK(pl_elastic_create(sim->ctx, sim->elements, &sim->elastic), done);
done:
    pl_free(sim->ctx, bodies);
    return status;
}

static pl_status allocate(pl_sim *sim)
{
    pl_context *ctx = sim->ctx;
    pl_status status = PL_OK;
    const pl_scene *scene = sim->scene;
    size_t n = (size_t)sim->n;
    double **scalars[] = {&sim->mass, &sim->damping, &sim->pin_stiffness, &sim->diagonal};
    for (size_t k = 0; k < sizeof scalars / sizeof *scalars; k++)
        PL_NEW(ctx, *scalars[k], n, done);
    double **vectors[] = {&sim->external, &sim->gradient, &sim->residual, &sim->guess,
                          &sim->iterate,  &sim->move,     &sim->trial,    &sim->trial_move,
                          &sim->combined, &sim->spring};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        PL_NEW(ctx, *vectors[k], 3 * n, done);
    PL_NEW(ctx, sim->vertex_work, 2 * n, done);
    PL_NEW(ctx, sim->element_work, scene->element_count, done);
    PL_NEW(ctx, sim->pose_start, 7 * scene->collider_count, done);
    PL_NEW(ctx, sim->shapes, scene->collider_count, done);
    for (int c = 0; c < scene->collider_count; c++)
        sim->shapes[c] = scene->colliders[c].shape;
    PL_CHECK(pl_drive_create(scene, &sim->drive), done);
    PL_CHECK(pl_drive_create(scene, &sim->substep_drive), done);
    PL_CHECK(pl_state_create(scene, &sim->backup), done);
    PL_CHECK(pl_forecast_create(ctx, sim->n, &sim->forecast), done);
    PL_CHECK(pl_anderson_create(ctx, 3 * sim->n, &sim->anderson), done);
    PL_CHECK(pl_krylov_reserve(ctx, &sim->krylov, 3 * sim->n, 1), done);
    PL_CHECK(pl_delassus_create(ctx, sim->n, &sim->delassus), done);
done:
    return status;
}

pl_status pl_sim_create(pl_scene *scene, pl_sim **out)
{
    pl_status status = PL_OK;
    *out = NULL;
    if (scene->body_count == 0)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "bodies: the scene has none");
    PL_TRY(pl_scene_check_start(scene));
    pl_sim *sim = pl_alloc(scene->ctx, 1, sizeof *sim);
    if (!sim)
        return PL_ERROR_MEMORY;
    sim->ctx = scene->ctx;
    sim->scene = scene;
    scene->user_count++;
    sim->n = scene->vertex_count;
    PL_CHECK(allocate(sim), done);
    PL_CHECK(create_elastic(sim), done);
    PL_CHECK(pl_chol_plans_create(sim->ctx, pl_elements_pattern(sim->elements), &sim->plans), done);
    PL_NEW(sim->ctx, sim->tangent, 9 * (size_t)pl_elastic_pattern(sim->elastic)->nnz, done);
    pl_sim_use(sim, scene->params.values);
    *out = sim;
    sim = NULL;
done:
    pl_sim_destroy(sim);
    return status;
}

void pl_sim_destroy(pl_sim *sim)
{
    if (!sim)
        return;
    pl_context *ctx = sim->ctx;
    sim->scene->user_count--;
    pl_values_release(ctx, sim->values);
    pl_chol_destroy(sim->tangent_factor);
    pl_chol_destroy(sim->constant_factor);
    pl_chol_plans_destroy(sim->plans);
    pl_elastic_destroy(sim->elastic);
    pl_elements_destroy(sim->elements);
    pl_contact_set_free(ctx, &sim->contacts);
    pl_forecast_free(ctx, &sim->forecast);
    pl_anderson_free(&sim->anderson);
    pl_krylov_free(ctx, &sim->krylov);
    pl_delassus_free(ctx, &sim->delassus);
    pl_contact_solver_free(ctx, &sim->contact_solver);
    pl_drive_free(ctx, &sim->drive);
    pl_drive_free(ctx, &sim->substep_drive);
    pl_state_destroy(sim->scene, sim->backup);
    void *arrays[] = {sim->mass,       sim->damping,     sim->pin_stiffness, sim->diagonal,
                      sim->tangent,    sim->constant,    sim->shapes,        sim->laws,
                      sim->lambda,     sim->free_motion, sim->external,      sim->gradient,
                      sim->residual,   sim->guess,       sim->iterate,       sim->move,
                      sim->trial,      sim->trial_move,  sim->combined,      sim->spring,
                      sim->pose_start, sim->vertex_work, sim->element_work,  sim->origin,
                      sim->wanted,     sim->delta,       sim->coupled,       sim};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
}

pl_scene *pl_sim_scene(const pl_sim *sim)
{
    return sim->scene;
}

pl_status pl_element_fields(pl_sim *sim, const pl_state *state, double *energy, double *stress,
                            double *von_mises)
{
    pl_sim_use(sim, sim->scene->params.values);
    pl_elastic_fields(sim->elastic, state->q, energy, stress, von_mises);
    return PL_OK;
}
