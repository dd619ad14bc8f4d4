/* The cells an output shows: every body's elements, and its boundary triangles on the vertices they
 * use. */
#include "io/output.h"

enum { VTK_TRIANGLE = 5, VTK_TETRA = 10 };

pl_status pl_output_alloc_grid(pl_context *ctx, int points, int cells, int corners,
                               pl_output_grid *grid)
{
    pl_status status = PL_OK;
    PL_NEW(ctx, grid->vertex, points, done);
    PL_NEW(ctx, grid->corners, corners, done);
    PL_NEW(ctx, grid->ends, cells, done);
    PL_NEW(ctx, grid->types, cells, done);
    PL_NEW(ctx, grid->body, cells, done);
done:
    return status;
}

void pl_output_add_cells(pl_output_grid *grid, int body, int count, int width, const int *corners,
                         int offset)
{
    int end = grid->cell_count ? grid->ends[grid->cell_count - 1] : 0;
    for (int i = 0; i < count * width; i++)
        grid->corners[end + i] = corners[i] + offset;
    for (int i = 0; i < count; i++, grid->cell_count++) {
        grid->ends[grid->cell_count] = end + (i + 1) * width;
        grid->types[grid->cell_count] = width == 4 ? VTK_TETRA : VTK_TRIANGLE;
        grid->body[grid->cell_count] = body;
    }
}

static pl_status build_volume(pl_output *output)
{
    pl_output_grid *grid = &output->volume_grid;
    PL_TRY(pl_output_alloc_grid(output->ctx, output->vertex_count, output->element_count,
                                4 * output->element_count, grid));
    grid->point_count = output->vertex_count;
    for (int v = 0; v < output->vertex_count; v++)
        grid->vertex[v] = v;
    int bodies = pl_scene_get_info(output->scene).body_count;
    for (int b = 0; b < bodies; b++) {
        pl_body_info info;
        PL_TRY(pl_scene_body(output->scene, b, &info));
        pl_output_add_cells(grid, b, info.element_count, info.cloth ? 3 : 4,
                            info.cloth ? info.mesh->triangles : info.mesh->tets, info.vertex_offset);
    }
    return PL_OK;
}

/* Renumbers the corners to the vertices in use, in ascending order. */
static pl_status compact(pl_output *output, pl_output_grid *grid)
{
    int corners = grid->cell_count ? grid->ends[grid->cell_count - 1] : 0;
    int *number = pl_alloc(output->ctx, (size_t)output->vertex_count, sizeof *number);
    if (!number)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < corners; i++)
        number[grid->corners[i]] = 1;
    for (int v = 0; v < output->vertex_count; v++)
        if (number[v]) {
            grid->vertex[grid->point_count] = v;
            number[v] = grid->point_count++;
        }
    for (int i = 0; i < corners; i++)
        grid->corners[i] = number[grid->corners[i]];
    pl_free(output->ctx, number);
    return PL_OK;
}

static pl_status build_surface(pl_output *output)
{
    pl_status status = PL_OK;
    pl_output_grid *grid = &output->surface_grid;
    int bodies = pl_scene_get_info(output->scene).body_count, total = 0;
    struct {
        int count, *triangles;
    } *surfaces = NULL;
    pl_body_info info;
    PL_NEW(output->ctx, surfaces, bodies, done);
    for (int b = 0; b < bodies; b++) {
        PL_CHECK(pl_scene_body(output->scene, b, &info), done);
        PL_CHECK(pl_mesh_surface(output->ctx, info.mesh, &surfaces[b].count, &surfaces[b].triangles),
                 done);
        total += surfaces[b].count;
    }
    PL_CHECK(pl_output_alloc_grid(output->ctx, output->vertex_count, total, 3 * total, grid), done);
    for (int b = 0; b < bodies; b++) {
        PL_CHECK(pl_scene_body(output->scene, b, &info), done);
        pl_output_add_cells(grid, b, surfaces[b].count, 3, surfaces[b].triangles, info.vertex_offset);
    }
    status = compact(output, grid);
done:
    for (int b = 0; surfaces && b < bodies; b++)
        pl_free(output->ctx, surfaces[b].triangles);
    pl_free(output->ctx, surfaces);
    return status;
}

pl_status pl_output_build_grids(pl_output *output)
{
    if (output->volume)
        PL_TRY(build_volume(output));
    return output->surface ? build_surface(output) : PL_OK;
}

void pl_output_free_grids(pl_output *output)
{
    pl_output_grid *grids[] = {&output->volume_grid, &output->surface_grid, &output->colliders.grid};
    for (int g = 0; g < 3; g++) {
        pl_free(output->ctx, grids[g]->vertex);
        pl_free(output->ctx, grids[g]->corners);
        pl_free(output->ctx, grids[g]->ends);
        pl_free(output->ctx, grids[g]->types);
        pl_free(output->ctx, grids[g]->body);
    }
}
