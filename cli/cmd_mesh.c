/* `pliant mesh`: a tetrahedral mesh from a closed surface or a built-in shape, with its quality. */
#include "cli.h"
#include "json.h"

#include <pliant/shape.h>

#include <math.h>
#include <string.h>

typedef struct mesh_options {
    pl_tetrahedralize_def def;
    const char *out;
    int threads;
    bool list, json, verbose;
} mesh_options;

static const pl_shape_info *find_shape(const char *name)
{
    for (int k = 0; pl_shape_list(k); k++)
        if (strcmp(pl_shape_list(k)->name, name) == 0)
            return pl_shape_list(k);
    return NULL;
}

static void list_shapes(void)
{
    for (int k = 0; pl_shape_list(k); k++) {
        const pl_shape_info *info = pl_shape_list(k);
        printf("%-18s %s, %d vertices unless asked for more or fewer\n%-18s %s\n", info->name,
               info->cloth ? "cloth" : "solid", info->vertices, "", info->description);
    }
}

static int say_mesh(const pl_mesh *mesh, const pl_mesh_report *r, bool json)
{
    bool cloth = mesh->tet_count == 0;
    if (json)
        return cli_json_print(
            json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:o}", "vertices", mesh->vertex_count,
                      "tets", mesh->tet_count, "triangles", mesh->triangle_count, "components",
                      r->components, cloth ? "area" : "volume", r->volume, "min_angle", r->min_dihedral,
                      "max_angle", r->max_dihedral, "groups", cli_json_groups(mesh)));
    printf("%d vertices, %d %s, %d component%s\n", mesh->vertex_count,
           cloth ? mesh->triangle_count : mesh->tet_count, cloth ? "triangles" : "tetrahedra",
           r->components, r->components == 1 ? "" : "s");
    printf("%s %.6g m^%d, %s angles %.2f to %.2f degrees\n", cloth ? "area" : "volume", r->volume,
           cloth ? 2 : 3, cloth ? "plane" : "dihedral", r->min_dihedral, r->max_dihedral);
    for (int g = 0; g < mesh->group_count; g++)
        printf("group %-20s %d %s\n", mesh->groups[g].name, mesh->groups[g].count,
               cli_group_unit(mesh->groups[g].kind));
    return CLI_OK;
}

static json_t *report_json(const pl_tetrahedralize_report *r)
{
    const pl_surface_report *s = &r->surface;
    json_t *worst = json_array();
    for (int k = 0; k < PL_WORST_COUNT && r->worst[k] >= 0; k++)
        json_array_append_new(worst,
                              json_pack("{s:i, s:f}", "tet", r->worst[k], "angle", r->worst_angle[k]));
    json_t *surface =
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o}", "vertices",
                  s->vertices, "triangles", s->triangles, "shells", s->shells, "merged", s->merged,
                  "degenerate", s->degenerate, "duplicate", s->duplicate, "turned", s->turned,
                  "inverted_shells", s->inverted_shells, "open_edges", s->open_edges, "branching_edges",
                  s->branching_edges, "one_sided_edges", s->one_sided_edges, "crossing", s->crossing,
                  "volume", cli_json_number(s->volume));
    return json_pack("{s:o, s:f, s:i, s:i, s:i, s:f, s:o, s:f, s:f, s:o, s:i, s:f, s:f}", "surface",
                     surface, "cell", r->cell, "vertices", r->vertices, "tets", r->tets, "components",
                     r->components, "volume", r->volume, "volume_error",
                     cli_json_number(r->volume_error), "min_dihedral", r->min_dihedral, "max_dihedral",
                     r->max_dihedral, "worst", worst, "dropped", r->dropped, "dropped_volume",
                     r->dropped_volume, "seconds", 1e-3 * r->milliseconds);
}

static int say_report(const pl_tetrahedralize_report *r, bool json)
{
    if (json)
        return cli_json_print(report_json(r));
    printf("surface: %d vertices, %d triangles, %d shell%s\n", r->surface.vertices,
           r->surface.triangles, r->surface.shells, r->surface.shells == 1 ? "" : "s");
    printf("mesh: %d vertices, %d tetrahedra, %d component%s, cell %.4g m\n", r->vertices, r->tets,
           r->components, r->components == 1 ? "" : "s", r->cell);
    if (isfinite(r->volume_error))
        printf("volume %.6g m^3, %+.2f %% of the surface's\n", r->volume, 100 * r->volume_error);
    else
        printf("volume %.6g m^3 (the surface is open or crosses itself and has none to compare)\n",
               r->volume);
    printf("dihedral angles %.2f to %.2f degrees; worst tetrahedra", r->min_dihedral, r->max_dihedral);
    for (int k = 0; k < PL_WORST_COUNT && r->worst[k] >= 0; k++)
        printf("%s %d (%.2f)", k ? "," : "", r->worst[k], r->worst_angle[k]);
    printf("\n%.2f s\n", 1e-3 * r->milliseconds);
    return CLI_OK;
}

/* Writes the mesh where it is wanted, then says what it is. */
static int finish(pl_context *ctx, const mesh_options *options, const pl_mesh *mesh,
                  const pl_tetrahedralize_report *made)
{
    pl_mesh_report report;
    pl_status status = options->out ? pl_mesh_write(ctx, mesh, options->out) : PL_OK;
    if (status != PL_OK) {
        int code = cli_report(ctx, status);
        return status == PL_ERROR_FILE ? CLI_FAILED : code; /* the file is no input */
    }
    if (made)
        return say_report(made, options->json);
    status = pl_mesh_check(ctx, mesh, &report);
    return status == PL_OK ? say_mesh(mesh, &report, options->json) : cli_report(ctx, status);
}

static int mesh_shape(pl_context *ctx, const char *name, const mesh_options *options)
{
    pl_mesh *mesh = NULL;
    pl_status status = pl_shape_build(ctx, name, options->def.vertices, &mesh);
    int code = status == PL_OK ? finish(ctx, options, mesh, NULL) : cli_report(ctx, status);
    pl_mesh_free(ctx, mesh);
    return code;
}

static int mesh_surface(pl_context *ctx, const char *path, const mesh_options *options)
{
    pl_mesh *surface = NULL, *mesh = NULL;
    pl_tetrahedralize_report report;
    pl_status status = pl_surface_read(ctx, path, &surface);
    if (status == PL_OK)
        status = pl_tetrahedralize(ctx, surface, &options->def, &mesh, &report);
    int code = status == PL_OK ? finish(ctx, options, mesh, &report) : cli_report(ctx, status);
    if (status != PL_OK && !strpbrk(path, "./"))
        fprintf(stderr, "pliant: there is no built-in shape \"%s\" either: pliant mesh --list\n", path);
    pl_mesh_free(ctx, mesh);
    pl_mesh_free(ctx, surface);
    return code;
}

int cmd_mesh(int argc, char **argv)
{
    mesh_options options = {.def = pl_tetrahedralize_def_default()};
    const cli_option table[] = {
        {"out", CLI_TEXT, &options.out, "FILE", "write the mesh: .msh or .vtu (also -o)"},
        {"vertices", CLI_INT, &options.def.vertices, "N", "wanted number of vertices, met within 10 %"},
        {"cell", CLI_NUMBER, &options.def.cell, "SIZE", "lattice spacing in m instead (surfaces only)"},
        {"list", CLI_FLAG, &options.list, NULL, "list the built-in shapes"},
        {"json", CLI_FLAG, &options.json, NULL, "report as JSON"},
        {"threads", CLI_INT, &options.threads, "N", "worker threads, 0 = one per core"},
        {"verbose", CLI_FLAG, &options.verbose, NULL, "say more"},
    };
    const cli_command command = {
        .name = "mesh",
        .arguments = "INPUT",
        .summary = "Fills a closed surface with tetrahedra, or builds a shape by name.",
        .details =
            "INPUT is a triangle surface (.obj, .stl, .ply, or the boundary of any mesh) or the name\n"
            "of a built-in shape. Faults of the surface are said and survived.",
        .max_arguments = 1,
        .options = table,
        .option_count = CLI_COUNT(table),
    };
    char long_out[] = "--out";
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-o") == 0)
            argv[i] = long_out;
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    if (options.list) {
        list_shapes();
        return CLI_OK;
    }
    if (count < 1)
        return cli_usage(&command, "expected INPUT or --list");
    const pl_tetrahedralize_def *def = &options.def;
    if (options.threads < 0)
        return cli_usage(&command, "--threads cannot be negative");
    if (def->vertices < 0 || def->cell < 0 || (def->vertices > 0 && def->cell > 0))
        return cli_usage(&command, "give a positive --vertices or a positive --cell, not both");
    bool shape = find_shape(argv[1]) != NULL;
    if (shape && def->cell > 0)
        return cli_usage(&command, "--cell is for surfaces: give --vertices for a built-in shape");
    pl_context *ctx = cli_context(options.threads, options.verbose);
    if (!ctx)
        return CLI_FAILED;
    code = shape ? mesh_shape(ctx, argv[1], &options) : mesh_surface(ctx, argv[1], &options);
    pl_context_destroy(ctx);
    return code;
}
