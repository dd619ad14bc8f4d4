/* Outputs: opening, a call per step, finishing. */
#include "io/output.h"

pl_output_def pl_output_def_default(void)
{
    return (pl_output_def){.every = 1, .volume = true, .surface = true, .colliders = true};
}

static pl_status copy_rest(pl_output *output)
{
    int bodies = pl_scene_get_info(output->scene).body_count;
    for (int b = 0; b < bodies; b++) {
        pl_body_info info;
        PL_TRY(pl_scene_body(output->scene, b, &info));
        memcpy(output->rest + 3 * (size_t)info.vertex_offset, info.mesh->vertices,
               sizeof(double) * 3 * (size_t)info.vertex_count);
    }
    return PL_OK;
}

static pl_status prepare(pl_output *output)
{
    pl_status status = PL_OK;
    pl_context *ctx = output->ctx;
    PL_NEW(ctx, output->rest, 3 * (size_t)output->vertex_count, done);
    PL_NEW(ctx, output->point_data, 18 * (size_t)output->vertex_count, done);
    PL_NEW(ctx, output->element_data, 12 * (size_t)output->element_count, done);
    PL_CHECK(copy_rest(output), done);
    PL_CHECK(pl_output_build_grids(output), done);
    PL_CHECK(pl_output_open_forces(output), done);
    if (output->volume)
        PL_CHECK(pl_directory_make(&output->directory, "volume/"), done);
    if (output->surface)
        PL_CHECK(pl_directory_make(&output->directory, "surface/"), done);
    if (output->obstacles) {
        PL_CHECK(pl_output_build_colliders(output), done);
        PL_CHECK(pl_directory_make(&output->directory, "colliders/"), done);
    }
    if (output->lines) {
        PL_CHECK(pl_output_build_cables(output), done);
        PL_CHECK(pl_directory_make(&output->directory, "cables/"), done);
    }
done:
    return status;
}

pl_status pl_output_create(pl_sim *sim, const pl_output_def *def, pl_output **out)
{
    *out = NULL;
    pl_scene *scene = pl_sim_scene(sim);
    pl_context *ctx = pl_scene_context(scene);
    pl_scene_info info = pl_scene_get_info(scene);
    pl_status status = PL_OK;
    pl_output *output = NULL;
    if (def->every < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "every = %d: expected >= 1", def->every);
    PL_NEW(ctx, output, 1, done);
    *output = (pl_output){.sim = sim,
                          .scene = scene,
                          .ctx = ctx,
                          .every = def->every,
                          .volume = def->volume,
                          .surface = def->surface,
                          .obstacles = def->colliders && info.collider_count > 0,
                          .lines = (def->volume || def->surface) &&
                                   pl_scene_owner_count(scene, PL_OWNER_CABLE) > 0,
                          .vertex_count = info.vertex_count,
                          .element_count = info.element_count,
                          .started = pl_milliseconds()};
    static const char *const contents[] = {
        "summary.json",  "volume/", "volume.pvd", "surface/",           "surface.pvd", "colliders/",
        "colliders.pvd", "cables/", "cables.pvd", "contact_forces.csv", NULL};
    PL_CHECK(pl_directory_open(ctx, def->directory, def->replace, contents, &output->directory), done);
    if (def->scene && !(output->scene_name = pl_strdup(ctx, def->scene))) {
        status = PL_ERROR_MEMORY;
        goto done;
    }
    PL_CHECK(prepare(output), done);
    *out = output;
    return PL_OK;
done:
    pl_output_destroy(output);
    return status;
}

pl_status pl_output_step(pl_output *output, const pl_state *state, const pl_step_info *info)
{
    pl_context *ctx = output->ctx;
    if (info) {
        PL_TRY(pl_grow(ctx, (void **)&output->records, &output->record_capacity,
                       output->record_count + 1, sizeof *output->records));
        output->records[output->record_count++] = (pl_step_record){state->step, state->time, *info};
    }
    PL_TRY(pl_output_write_forces(output, state));
    if (state->step % output->every != 0 || (!output->volume && !output->surface && !output->obstacles))
        return PL_OK;
    PL_TRY(pl_grow(ctx, (void **)&output->frames, &output->frame_capacity, output->frame_count + 1,
                   sizeof *output->frames));
    PL_TRY(pl_output_write_frame(output, state));
    output->frames[output->frame_count++] = (pl_pvd_entry){state->time, state->step};
    return PL_OK;
}

static pl_status write_collection(pl_output *output, const char *name, const char *folder, int count,
                                  const pl_pvd_entry *frames)
{
    char *path = pl_directory_path(&output->directory, name);
    if (!path)
        return PL_ERROR_MEMORY;
    pl_status status = pl_pvd_write(output->ctx, path, folder, count, frames);
    pl_free(output->ctx, path);
    return status;
}

pl_status pl_output_finish(pl_output *output, pl_status outcome)
{
    if (output->finished)
        return pl_fail(output->ctx, PL_ERROR_ARGUMENT, "this output is finished already");
    const pl_output_colliders *c = &output->colliders;
    if (output->volume)
        PL_TRY(write_collection(output, "volume.pvd", "volume", output->frame_count, output->frames));
    if (output->surface)
        PL_TRY(write_collection(output, "surface.pvd", "surface", output->frame_count, output->frames));
    if (output->obstacles)
        PL_TRY(write_collection(output, "colliders.pvd", "colliders", c->frame_count, c->frames));
    if (output->lines)
        PL_TRY(write_collection(output, "cables.pvd", "cables", output->frame_count, output->frames));
    PL_TRY(pl_output_close_forces(output));
    PL_TRY(pl_output_write_summary(output, outcome));
    output->finished = true;
    return pl_directory_commit(&output->directory);
}

void pl_output_destroy(pl_output *output)
{
    if (!output)
        return;
    pl_context *ctx = output->ctx;
    pl_output_close_forces(output);
    if (output->directory.ctx)
        pl_directory_close(&output->directory);
    pl_output_free_grids(output);
    pl_output_free_colliders(output);
    pl_output_free_cables(output);
    pl_free(ctx, output->scene_name);
    pl_free(ctx, output->rest);
    pl_free(ctx, output->point_data);
    pl_free(ctx, output->element_data);
    pl_free(ctx, output->frames);
    pl_free(ctx, output->records);
    pl_free(ctx, output);
}
