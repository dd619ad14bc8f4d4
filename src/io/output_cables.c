/* The cables as VTU files: their segments as lines, each with its tension (N) and its cable. */
#include "io/output.h"

#include "io/cable_lines.h"

#include <stdio.h>

enum { VTK_LINE = 3 };

pl_status pl_output_build_cables(pl_output *output)
{
    pl_output_cables *c = &output->cables;
    pl_context *ctx = output->ctx;
    pl_status status = PL_OK;
    int at = 0;
    pl_cable_lines_count(output->scene, &c->point_count, &c->segment_count);
    PL_NEW(ctx, c->points, 3 * (size_t)c->point_count, done);
    PL_NEW(ctx, c->tension, c->segment_count, done);
    PL_NEW(ctx, c->cable, c->segment_count, done);
    PL_NEW(ctx, c->corners, 2 * (size_t)c->segment_count, done);
    PL_NEW(ctx, c->ends, c->segment_count, done);
    PL_NEW(ctx, c->types, c->segment_count, done);
    for (int i = 0, first = 0; i < pl_scene_owner_count(output->scene, PL_OWNER_CABLE); i++) {
        pl_cable_def def;
        PL_CHECK(pl_scene_cable(output->scene, i, &def), done);
        for (int k = 0; k + 1 < def.point_count; k++, at++) {
            c->corners[2 * at] = first + k;
            c->corners[2 * at + 1] = first + k + 1;
            c->ends[at] = 2 * (at + 1);
            c->types[at] = VTK_LINE;
        }
        first += def.point_count;
    }
done:
    return status;
}

void pl_output_free_cables(pl_output *output)
{
    pl_output_cables *c = &output->cables;
    pl_free(output->ctx, c->points);
    pl_free(output->ctx, c->tension);
    pl_free(output->ctx, c->cable);
    pl_free(output->ctx, c->corners);
    pl_free(output->ctx, c->ends);
    pl_free(output->ctx, c->types);
}

pl_status pl_output_write_cables(pl_output *output, const pl_state *state)
{
    pl_output_cables *c = &output->cables;
    char name[64];
    snprintf(name, sizeof name, "cables/%06d.vtu", state->step);
    char *path = pl_directory_path(&output->directory, name);
    if (!path)
        return PL_ERROR_MEMORY;
    pl_cable_lines_at(output->scene, state->q, state->live, c->points, c->tension, c->cable);
    const pl_vtu_field cells[] = {{"tension", 1, c->tension}, {"cable", 1, c->cable}};
    const pl_vtu vtu = {.point_count = c->point_count,
                        .points = c->points,
                        .cell_count = c->segment_count,
                        .corners = c->corners,
                        .ends = c->ends,
                        .types = c->types,
                        .cell_field_count = 2,
                        .cell_fields = cells};
    pl_status status = pl_vtu_write(output->ctx, path, &vtu);
    pl_free(output->ctx, path);
    return status;
}
