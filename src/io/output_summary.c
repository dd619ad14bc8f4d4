/* summary.json: what was simulated, every step's numbers, and their totals. */
#include "io/output.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const stage_names[PL_STAGE_COUNT] = {
    [PL_STAGE_LOCAL] = "local", [PL_STAGE_ASSEMBLE] = "assemble", [PL_STAGE_FACTOR] = "factor",
    [PL_STAGE_SOLVE] = "solve", [PL_STAGE_CONTACT] = "contact",   [PL_STAGE_OTHER] = "other"};

/* JSON has no NaN or infinity: null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *stages(const double milliseconds[PL_STAGE_COUNT])
{
    json_t *object = json_object();
    double total = 0;
    for (int s = 0; s < PL_STAGE_COUNT; s++) {
        json_object_set_new(object, stage_names[s], number(milliseconds[s]));
        total += milliseconds[s];
    }
    json_object_set_new(object, "total", number(total));
    return object;
}

static json_t *step_entry(const pl_step_record *record)
{
    const pl_step_info *i = &record->info;
    return json_pack("{s:i, s:o, s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:{s:o, "
                     "s:o, s:o}, s:o}",
                     "step", record->step, "time", number(record->time), "converged", (int)i->converged,
                     "iterations", i->iterations, "inner_iterations", i->inner_iterations,
                     "linear_solves", i->linear_solves, "factorizations", i->factorizations, "splits",
                     i->splits, "choices", i->choices, "contacts", i->contacts, "residual",
                     number(i->residual), "complementarity", number(i->complementarity),
                     "cone_violation", number(i->cone_violation), "penetration", number(i->penetration),
                     "energy", "kinetic", number(i->energy_kinetic), "elastic",
                     number(i->energy_elastic), "gravity", number(i->energy_gravity), "milliseconds",
                     stages(i->milliseconds));
}

static json_t *totals(const pl_output *output)
{
    pl_step_info sum = {.cone_violation = -HUGE_VAL};
    for (int r = 0; r < output->record_count; r++) {
        const pl_step_info *i = &output->records[r].info;
        sum.iterations += i->iterations;
        sum.inner_iterations += i->inner_iterations;
        sum.linear_solves += i->linear_solves;
        sum.factorizations += i->factorizations;
        sum.splits += i->splits;
        sum.choices += i->choices;
        sum.contacts = i->contacts > sum.contacts ? i->contacts : sum.contacts;
        sum.residual = fmax(sum.residual, i->residual);
        sum.complementarity = fmax(sum.complementarity, i->complementarity);
        if (i->contacts > 0)
            sum.cone_violation = fmax(sum.cone_violation, i->cone_violation);
        sum.penetration = fmax(sum.penetration, i->penetration);
        for (int s = 0; s < PL_STAGE_COUNT; s++)
            sum.milliseconds[s] += i->milliseconds[s];
    }
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "iterations",
                     sum.iterations, "inner_iterations", sum.inner_iterations, "linear_solves",
                     sum.linear_solves, "factorizations", sum.factorizations, "splits", sum.splits,
                     "choices", sum.choices, "most_contacts", sum.contacts, "largest_residual",
                     number(sum.residual), "largest_complementarity", number(sum.complementarity),
                     "largest_cone_violation", number(sum.contacts > 0 ? sum.cone_violation : 0),
                     "deepest_penetration", number(sum.penetration), "milliseconds",
                     stages(sum.milliseconds), "wall_milliseconds",
                     number(pl_milliseconds() - output->started));
}

static json_t *bodies(const pl_output *output)
{
    json_t *list = json_array();
    int count = pl_scene_get_info(output->scene).body_count;
    for (int b = 0; b < count; b++) {
        pl_body_info info;
        if (pl_scene_body(output->scene, b, &info) == PL_OK)
            json_array_append_new(list,
                                  json_pack("{s:s, s:b, s:i, s:i, s:o}", "name", info.name, "cloth",
                                            (int)info.cloth, "vertices", info.vertex_count, "elements",
                                            info.element_count, "mass", number(info.mass)));
    }
    return list;
}

static json_t *summary(const pl_output *output, pl_status outcome)
{
    json_t *steps = json_array(), *frames = json_array();
    for (int r = 0; r < output->record_count; r++)
        json_array_append_new(steps, step_entry(&output->records[r]));
    for (int f = 0; f < output->frame_count; f++)
        json_array_append_new(frames, json_integer(output->frames[f].step));
    return json_pack("{s:s, s:s?, s:s, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "pliant", pl_version(),
                     "scene", output->scene_name, "outcome",
                     outcome == PL_OK ? "completed" : pl_status_name(outcome), "time_step",
                     number(pl_scene_get_def(output->scene).time_step), "threads",
                     pl_context_threads(output->ctx), "vertices", output->vertex_count, "elements",
                     output->element_count, "bodies", bodies(output), "totals", totals(output),
                     "frames", frames, "steps", steps);
}

static pl_status write_text(pl_context *ctx, const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot create: %s", path, strerror(errno));
    bool failed = fputs(text, file) == EOF || fputc('\n', file) == EOF;
    int reason = errno;
    if (fclose(file) != 0 && !failed) {
        failed = true;
        reason = errno;
    }
    return failed ? pl_fail(ctx, PL_ERROR_FILE, "%s: cannot write: %s", path, strerror(reason)) : PL_OK;
}

pl_status pl_output_write_summary(pl_output *output, pl_status outcome)
{
    json_t *object = summary(output, outcome);
    char *text = object ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    char *path = pl_directory_path(&output->directory, "summary.json");
    pl_status status = PL_ERROR_MEMORY;
    if (!text)
        pl_fail(output->ctx, PL_ERROR_MEMORY, "summary.json: out of memory");
    else if (path)
        status = write_text(output->ctx, path, text);
    pl_free(output->ctx, path);
    free(text);
    json_decref(object);
    return status;
}
