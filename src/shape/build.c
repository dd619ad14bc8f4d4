/* From a figure's table to a mesh with named groups. */
#include <pliant/shape.h>

#include "core/vec.h"
#include "mesh/mesh.h"
#include "shape/clean.h"
#include "shape/field.h"
#include "shape/figure.h"
#include "shape/search.h"

#include <assert.h>
#include <stdio.h>

static const pl_figure *const cast[] = {
    &pl_figure_armadillo,
    &pl_figure_bunny,
    &pl_figure_cow,
    &pl_figure_tux,
    &pl_figure_duck,
    &pl_figure_gingerbread,
    &pl_figure_gingerbread_cloth,
    &pl_figure_seal,
    &pl_figure_trunk,
    &pl_figure_cube,
    &pl_figure_bar,
    &pl_figure_sphere,
    &pl_figure_curtain,
    &pl_figure_towel,
};

const pl_shape_info *pl_shape_list(int index)
{
    return index >= 0 && index < PL_COUNT(cast) ? &cast[index]->info : NULL;
}

/* A ball of 0.56 cells holds a lattice point wherever it lies; thinner parts would come and go with the
 * lattice, so a coarse figure has them this thick instead of losing them. */
#define LEAST_RADIUS 0.75 /* cells */
#define MAX_PARTS    48

typedef struct solid {
    double top; /* of a slab, m; INFINITY for round solids */
    int part_count;
    pl_part parts[MAX_PARTS];
} solid;

static void thicken(const pl_figure *figure, double least, solid *out)
{
    out->top = figure->kind == PL_FIGURE_SLAB ? fmax(figure->info.upper[2], least) : INFINITY;
    out->part_count = figure->part_count;
    for (int k = 0; k < figure->part_count; k++) {
        pl_part *part = &out->parts[k];
        *part = figure->parts[k];
        if (part->blend < 0) /* a hole need not be seen */
            continue;
        double *radii = part->kind == PL_LIMB ? part->turn : part->b;
        for (int i = 0; i < (part->kind == PL_LIMB ? 2 : 3); i++)
            radii[i] = fmax(radii[i], least);
    }
}

/* The parts, their mirror image, and nothing below z = 0. A slab has their section at every height. */
static double solid_distance(const void *user, const double x[3])
{
    const solid *s = user;
    bool slab = s->top < INFINITY;
    double mirrored[3] = {x[0], fabs(x[1]), slab ? 0 : x[2]};
    double d = fmax(pl_parts_distance(s->parts, s->part_count, mirrored), -x[2]);
    return slab ? fmax(d, x[2] - s->top) : d;
}

static pl_status build_solid(pl_context *ctx, const pl_figure *figure, double cell, pl_mesh **out,
                             double *lost)
{
    solid s;
    assert(figure->part_count <= MAX_PARTS);
    thicken(figure, LEAST_RADIUS * cell, &s);
    pl_field field = {.distance = solid_distance, .user = &s, .mirror = true};
    for (int i = 0; i < 3; i++) {
        field.lower[i] = figure->info.lower[i] - cell;
        field.upper[i] = figure->info.upper[i] + cell;
    }
    pl_mesh *mesh = NULL;
    pl_clean_report report;
    PL_TRY(pl_stuff(ctx, &field, cell, &mesh));
    pl_status status = pl_clean(ctx, mesh, &(pl_pieces){.count = 1}, &report);
    if (status != PL_OK)
        pl_mesh_free(ctx, mesh);
    else
        *out = mesh, *lost = report.lost;
    return status;
}

typedef struct figure_builder {
    pl_context *ctx;
    const pl_figure *figure;
} figure_builder;

static pl_status build_at_cell(void *user, double cell, pl_mesh **out, double *lost)
{
    const figure_builder *b = user;
    const pl_figure *figure = b->figure;
    if (figure->kind == PL_FIGURE_SHEET)
        return pl_sheet_build(b->ctx, figure->parts, figure->part_count, &figure->info, cell, out);
    return build_solid(b->ctx, figure, cell, out, lost);
}

/* The mesh without groups; `cell` becomes its spacing. */
static pl_status build_figure(pl_context *ctx, const pl_figure *figure, int wanted, double *cell,
                              pl_mesh **out)
{
    if (figure->kind == PL_FIGURE_BOX)
        return pl_box_build(ctx, &figure->info, wanted, cell, out);
    if (figure->kind == PL_FIGURE_RECTANGLE)
        return pl_rectangle_build(ctx, &figure->info, wanted, cell, out);
    figure_builder builder = {ctx, figure};
    double size[3];
    for (int i = 0; i < 3; i++)
        size[i] = figure->info.upper[i] - figure->info.lower[i];
    /* Solids: two lattice points a cell, about half of the box filled. */
    *cell = figure->info.cloth ? sqrt(size[0] * size[1] / wanted)
                               : cbrt(size[0] * size[1] * size[2] / wanted);
    return pl_search_cell(ctx, build_at_cell, &builder, wanted, cell, out);
}

/* Centre of vertex or element k. */
static void group_point(const pl_mesh *mesh, bool vertices, int k, double x[3])
{
    int width = vertices ? 1 : mesh->tet_count > 0 ? 4 : 3;
    const int *element = mesh->tet_count > 0 ? mesh->tets : mesh->triangles;
    x[0] = x[1] = x[2] = 0;
    for (int i = 0; i < width; i++)
        pl_axpy3(1.0 / width, mesh->vertices + 3 * (vertices ? k : element[width * k + i]), x);
}

static pl_status add_group(pl_context *ctx, pl_mesh *mesh, const pl_figure_group *group, double cell)
{
    pl_status status = PL_OK;
    int elements = mesh->tet_count > 0 ? mesh->tet_count : mesh->triangle_count;
    int total = group->vertices ? mesh->vertex_count : elements, count = 0, nearest = 0, *index = NULL;
    double least = INFINITY;
    PL_NEW(ctx, index, total, done);
    for (int k = 0; k < total; k++) {
        double x[3];
        group_point(mesh, group->vertices, k, x);
        double d = pl_part_distance(&group->region, x);
        if (d < least)
            least = d, nearest = k;
        if (d <= group->slack * cell)
            index[count++] = k;
    }
    if (count == 0)
        index[count++] = nearest;
    pl_group_kind kind = group->vertices       ? PL_GROUP_VERTEX
                         : mesh->tet_count > 0 ? PL_GROUP_TET
                                               : PL_GROUP_TRIANGLE;
    status = pl_mesh_add_group(ctx, mesh, group->name, kind, count, index);
done:
    pl_free(ctx, index);
    return status;
}

static const pl_figure *find_figure(const char *name)
{
    for (int k = 0; k < PL_COUNT(cast); k++)
        if (strcmp(cast[k]->info.name, name) == 0)
            return cast[k];
    return NULL;
}

static pl_status no_such_figure(pl_context *ctx, const char *name)
{
    char known[512];
    size_t used = 0;
    for (int k = 0; k < PL_COUNT(cast) && used < sizeof known; k++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "",
                                 cast[k]->info.name);
    return pl_fail(ctx, PL_ERROR_ARGUMENT, "there is no built-in shape \"%s\": expected one of %s",
                   name, known);
}

pl_status pl_shape_build(pl_context *ctx, const char *name, int vertices, pl_mesh **out)
{
    const pl_figure *figure = name ? find_figure(name) : NULL;
    if (!figure)
        return no_such_figure(ctx, name ? name : "");
    if (vertices < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "vertices is %d, 0 or more is needed", vertices);
    int wanted = vertices > 0 ? vertices : figure->info.vertices;
    PL_TRY(pl_mesh_fits(ctx, wanted, (figure->info.cloth ? 2.0 : 6.0) * wanted));
    double cell;
    pl_mesh *mesh = NULL;
    pl_status status = PL_OK;
    PL_CHECK(build_figure(ctx, figure, wanted, &cell, &mesh), done);
    for (int k = 0; k < figure->group_count; k++)
        PL_CHECK(add_group(ctx, mesh, &figure->groups[k], cell), done);
    *out = mesh;
    mesh = NULL;
done:
    pl_mesh_free(ctx, mesh);
    return status;
}
