/* `pliant info`: what a scene or a mesh holds. */
#include "cli.h"

#include <pliant/io.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *vector(const double v[3])
{
    return json_pack("[f, f, f]", v[0], v[1], v[2]);
}

/* Prints the object, as JSON or as "name: value" lines, and frees it. */
static void print_object(json_t *object, bool json)
{
    if (json) {
        char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        printf("%s\n", text ? text : "{}");
        free(text);
    } else {
        const char *key;
        json_t *value;
        json_object_foreach(object, key, value)
        {
            char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
            printf("%-18s %s\n", key,
                   json_is_string(value) ? json_string_value(value)
                   : text                ? text
                                         : "");
            free(text);
        }
    }
    json_decref(object);
}

static json_t *groups(const pl_mesh *mesh)
{
    static const char *const kinds[] = {"vertices", "tets", "triangles"};
    json_t *object = json_object();
    for (int g = 0; g < mesh->group_count; g++)
        json_object_set_new(object, mesh->groups[g].name,
                            json_pack("{s:i}", kinds[mesh->groups[g].kind], mesh->groups[g].count));
    return object;
}

static int describe_mesh(pl_context *ctx, const char *path, bool json)
{
    pl_mesh *mesh = NULL;
    pl_mesh_report r;
    pl_status status = pl_mesh_read(ctx, path, &mesh);
    if (status == PL_OK)
        status = pl_mesh_check(ctx, mesh, &r);
    if (status == PL_OK)
        print_object(
            json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:o, s:o, s:i, s:i, s:i, s:o}",
                      "file", path, "kind", mesh->tet_count ? "solid" : "cloth", "vertices",
                      mesh->vertex_count, "tets", mesh->tet_count, "triangles", mesh->triangle_count,
                      "components", r.components, mesh->tet_count ? "volume" : "area", r.volume,
                      "smallest_angle", r.min_dihedral, "largest_angle", r.max_dihedral, "lower",
                      vector(r.lower), "upper", vector(r.upper), "inverted", r.inverted, "degenerate",
                      r.degenerate, "duplicate", r.duplicate, "groups", groups(mesh)),
            json);
    int code = status == PL_OK ? CLI_OK : cli_report(ctx, status);
    pl_mesh_free(ctx, mesh);
    return code;
}

static json_t *bodies(const pl_scene *scene, int count)
{
    json_t *list = json_array();
    for (int b = 0; b < count; b++) {
        pl_body_info info;
        if (pl_scene_body(scene, b, &info) == PL_OK)
            json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:i, s:f, s:o}", "name", info.name,
                                                  "kind", info.cloth ? "cloth" : "solid", "vertices",
                                                  info.vertex_count, "elements", info.element_count,
                                                  "mass", info.mass, "groups", groups(info.mesh)));
    }
    return list;
}

static int describe_scene(pl_context *ctx, const char *path, const cli_list *set, bool json)
{
    pl_scene *scene = NULL;
    pl_scene_file_info file;
    pl_status status = pl_scene_load(ctx, path, set->count, set->items, &scene, &file);
    if (status != PL_OK)
        return cli_report(ctx, status);
    pl_scene_info info = pl_scene_get_info(scene);
    print_object(json_pack("{s:s, s:s, s:f, s:i, s:i, s:i, s:f, s:i, s:i, s:i, s:i, s:o}", "file", path,
                           "name", file.name, "time_step", pl_scene_get_def(scene).time_step, "steps",
                           file.steps, "vertices", info.vertex_count, "elements", info.element_count,
                           "mass", info.mass, "pins", info.pin_count, "forces", info.force_count,
                           "wind", info.wind_count, "colliders", info.collider_count, "bodies",
                           bodies(scene, info.body_count)),
                 json);
    pl_scene_destroy(scene);
    return CLI_OK;
}

int cmd_info(int argc, char **argv)
{
    bool json = false;
    cli_list set = {0};
    const cli_option table[] = {
        {"json", CLI_FLAG, &json, NULL, "print JSON"},
        {"set", CLI_LIST, &set, "PATH=VALUE", "change the scene, as for run"},
    };
    const cli_command command = {
        .name = "info",
        .arguments = "FILE",
        .summary = "Says what a scene (.json) or a mesh (any other extension) holds.",
        .min_arguments = 1,
        .max_arguments = 1,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    pl_context *ctx = cli_context(0, false);
    if (!ctx)
        return CLI_FAILED;
    const char *dot = strrchr(argv[1], '.');
    code = dot && strcmp(dot, ".json") == 0 ? describe_scene(ctx, argv[1], &set, json)
                                            : describe_mesh(ctx, argv[1], json);
    pl_context_destroy(ctx);
    return code;
}
