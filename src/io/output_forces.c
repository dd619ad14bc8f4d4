/* contact_forces.csv: of every step and pair of bodies, or of a body and an obstacle, what they press
 * and rub each other with. */
#include "io/output.h"

#include "io/plot.h"
#include "sim/scene.h"

#include <errno.h>
#include <string.h>

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

static pl_status fail(const pl_output *output)
{
    return pl_fail(output->ctx, PL_ERROR_FILE, "%s/contact_forces.csv: cannot write: %s",
                   output->directory.partial, strerror(errno));
}

pl_status pl_output_open_forces(pl_output *output)
{
    static const char names[] = "step,time,body,with,contacts,pressing,normal_x,normal_y,normal_z,"
                                "friction_x,friction_y,friction_z\n";
    char *path = pl_directory_path(&output->directory, "contact_forces.csv");
    if (!path)
        return PL_ERROR_MEMORY;
    output->forces = fopen(path, "wb");
    pl_free(output->ctx, path);
    return output->forces && fputs(names, output->forces) != EOF ? PL_OK : fail(output);
}

pl_status pl_output_write_forces(pl_output *output, const pl_state *state)
{
    pl_text rows = {.ctx = output->ctx};
    pl_pair_force *pairs;
    int count;
    PL_TRY(pl_pair_forces(output->scene, state->contact_count, state->contacts, &count, &pairs));
    for (int k = 0; k < count; k++)
        write_row(&rows, output->scene, state, &pairs[k]);
    pl_free(output->ctx, pairs);
    pl_status status = rows.status;
    size_t length = (size_t)rows.length;
    if (status == PL_OK && length > 0 && fwrite(rows.data, 1, length, output->forces) != length)
        status = fail(output);
    pl_text_free(&rows);
    return status;
}

pl_status pl_output_close_forces(pl_output *output)
{
    FILE *file = output->forces;
    output->forces = NULL;
    return file && fclose(file) != 0 ? fail(output) : PL_OK;
}
