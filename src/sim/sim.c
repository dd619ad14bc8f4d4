/* Creating a simulation. */
#include "sim/sim.h"

#include "terms/mean_volume.h"
#include "terms/yeoh.h"

void pl_sim_use(pl_sim *sim, pl_values *values)
{
    if (pl_matter_use(&sim->matter, values))
        pl_sim_forget(sim);
}

void pl_sim_forget(pl_sim *sim)
{
    pl_solver_forget(&sim->solver);
    pl_on_device_forget(sim->device);
}

pl_status pl_sim_create(pl_scene *scene, pl_sim **out)
{
    pl_status status = PL_OK;
    *out = NULL;
    PL_TRY(pl_scene_must_have_bodies(scene));
    pl_sim *sim = pl_alloc(scene->ctx, 1, sizeof *sim);
    if (!sim)
        return PL_ERROR_MEMORY;
    sim->ctx = scene->ctx;
    sim->scene = scene;
    scene->user_count++;
    PL_CHECK(pl_model_take(scene, &sim->model), done);
    PL_CHECK(pl_scene_check_start(sim->model), done);
    PL_CHECK(pl_matter_create(scene, sim->model->elements, &sim->matter), done);
    PL_CHECK(pl_solver_create(sim->model, &sim->matter, &sim->solver), done);
    PL_CHECK(pl_on_device_create(sim->model, &sim->device), done);
    PL_NEW(sim->ctx, sim->pose_start, 7 * scene->collider_count, done);
    PL_NEW(sim->ctx, sim->p, 3 * scene->vertex_count, done);
    PL_NEW(sim->ctx, sim->w, 3 * scene->vertex_count, done);
    PL_CHECK(pl_drive_create(scene, &sim->drive), done);
    PL_CHECK(pl_drive_create(scene, &sim->part), done);
    PL_CHECK(pl_state_create(scene, &sim->backup), done);
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
    pl_on_device_destroy(ctx, sim->device);
    pl_solver_free(&sim->solver);
    pl_matrix_free(&sim->sweep_matrix);
    pl_matter_free(&sim->matter);
    pl_drive_free(ctx, &sim->drive);
    pl_drive_free(ctx, &sim->part);
    pl_state_destroy(sim->scene, sim->backup);
    pl_free(ctx, sim->pose_start);
    pl_free(ctx, sim->p);
    pl_free(ctx, sim->w);
    pl_model_drop(sim->model);
    pl_free(ctx, sim);
}

pl_scene *pl_sim_scene(const pl_sim *sim)
{
    return sim->scene;
}

void pl_element_fields_by(pl_sim *sim, pl_values *values, const pl_state *state, double *energy,
                          double *stress, double *von_mises)
{
    pl_sim_use(sim, values);
    const double *more = pl_yeoh_stress(sim->scene, &sim->matter, state->q);
    pl_elastic_fields(sim->matter.elastic, state->q, more, energy, stress, von_mises);
    pl_yeoh_energy(sim->scene, &sim->matter, state->q, energy);
    pl_mean_volume_fields(sim->scene, &sim->matter, state->q, energy, stress);
}

pl_status pl_element_fields(pl_sim *sim, const pl_state *state, double *energy, double *stress,
                            double *von_mises)
{
    pl_element_fields_by(sim, sim->scene->params.values, state, energy, stress, von_mises);
    return PL_OK;
}
