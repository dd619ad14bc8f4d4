/* contact_forces.csv: of every step and pair of bodies, or of a body and an obstacle, what they press
 * and rub each other with. */
#include "io/output.h"

#include "io/plot.h"
#include "sim/scene.h"

static void write_row(pl_text *t, const pl_scene *scene, const pl_state *state, const pl_pair_force *p)
{
    pl_text_format(t, "%d,", state->step);
    pl_text_number(t, state->time, 17, "");
    pl_text_add(t, ",");
    pl_csv_name(t, scene->bodies[p->body].name);
    pl_text_add(t, ",");
    pl_csv_name(t, p->other >= 0 ? scene->bodies[p->other].name : scene->colliders[p->collider].name);
    pl_text_format(t, ",%d", p->contacts);
    const double numbers[] = {p->pressing,    p->normal[0],   p->normal[1],  p->normal[2],
                              p->friction[0], p->friction[1], p->friction[2]};
    for (int k = 0; k < 7; k++) {
        pl_text_add(t, ",");
        pl_text_number(t, numbers[k], 9, "");
    }
    pl_text_add(t, "\n");
}

pl_status pl_output_note_forces(pl_output *output, const pl_state *state)
{
    pl_text *t = &output->forces;
    pl_pair_force *pairs;
    int count;
    PL_TRY(pl_pair_forces(output->scene, state->contact_count, state->contacts, &count, &pairs));
    for (int k = 0; k < count; k++)
        write_row(t, output->scene, state, &pairs[k]);
    pl_free(output->ctx, pairs);
    return t->status;
}

pl_status pl_output_write_forces(pl_output *output)
{
    static const char names[] = "step,time,body,with,contacts,pressing,normal_x,normal_y,normal_z,"
                                "friction_x,friction_y,friction_z\n";
    pl_text all = {.ctx = output->ctx};
    char *path = pl_directory_path(&output->directory, "contact_forces.csv");
    pl_text_add(&all, names);
    pl_text_bytes(&all, output->forces.data ? output->forces.data : "", (size_t)output->forces.length);
    pl_status status = !path ? PL_ERROR_MEMORY : all.status;
    if (status == PL_OK)
        status = pl_write_whole(output->ctx, path, all.data, (size_t)all.length);
    pl_text_free(&all);
    pl_free(output->ctx, path);
    return status;
}
