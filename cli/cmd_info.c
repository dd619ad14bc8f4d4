/* `pliant info`: what a scene or a mesh holds. */
#include "cli.h"
#include "json.h"

#include "sim/scene.h"

#include <pliant/shape.h>

#include <string.h>
#include <strings.h>

static const char *const shape_names[] = {
    [PL_HALF_SPACE] = "half space", [PL_SPHERE] = "sphere",   [PL_BOX] = "box",
    [PL_CYLINDER] = "cylinder",     [PL_CAPSULE] = "capsule", [PL_MESH] = "mesh"};
static const char *const integrator_names[] = {
    [PL_EULER] = "euler", [PL_BDF2] = "bdf2", [PL_TR_BDF2] = "tr_bdf2"};

static void print_groups(const pl_mesh *mesh)
{
    for (int g = 0; g < mesh->group_count; g++)
        printf("    group %s: %d %s\n", mesh->groups[g].name, mesh->groups[g].count,
               cli_group_unit(mesh->groups[g].kind));
}

/* ------------------------------------------------------------------------------- meshes */

static bool ends_with(const char *path, const char *extension)
{
    size_t length = strlen(path), tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}

static json_t *mesh_json(const char *path, const pl_mesh *mesh, const pl_mesh_report *r)
{
    const double *a = r->lower, *b = r->upper;
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:[fff], s:[fff], s:o}", "file",
                     path, "kind", mesh->tet_count ? "solid" : "cloth", "vertices", mesh->vertex_count,
                     "tets", mesh->tet_count, "triangles", mesh->triangle_count, "components",
                     r->components, mesh->tet_count ? "volume" : "area", r->volume, "smallest_angle",
                     r->min_dihedral, "largest_angle", r->max_dihedral, "lower", a[0], a[1], a[2],
                     "upper", b[0], b[1], b[2], "groups", cli_json_groups(mesh));
}

static void print_mesh(const char *path, const pl_mesh *mesh, const pl_mesh_report *r)
{
    bool solid = mesh->tet_count > 0;
    printf("%s: %s, %d vertices, %d tets, %d triangles, %d component%s\n", path,
           solid ? "solid" : "cloth", mesh->vertex_count, mesh->tet_count, mesh->triangle_count,
           r->components, r->components == 1 ? "" : "s");
    printf("%s %.6g %s, %s %.1f to %.1f degrees\n", solid ? "volume" : "area", r->volume,
           solid ? "m^3" : "m^2", solid ? "dihedral angles" : "angles", r->min_dihedral,
           r->max_dihedral);
    printf("from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g) m\n", r->lower[0], r->lower[1], r->lower[2],
           r->upper[0], r->upper[1], r->upper[2]);
    print_groups(mesh);
}

static int describe_mesh(pl_context *ctx, const char *path, bool json)
{
    pl_mesh *mesh = NULL;
    pl_mesh_report report;
    int code = CLI_OK;
    bool surface = ends_with(path, ".stl") || ends_with(path, ".ply");
    pl_status status = surface ? pl_surface_read(ctx, path, &mesh) : pl_mesh_read(ctx, path, &mesh);
    if (status == PL_OK)
        status = pl_mesh_check(ctx, mesh, &report);
    if (status != PL_OK)
        code = cli_report(ctx, status);
    else if (json)
        code = cli_json_print(mesh_json(path, mesh, &report));
    else
        print_mesh(path, mesh, &report);
    pl_mesh_free(ctx, mesh);
    return code;
}

/* ------------------------------------------------------------------------------- scenes */

/* How bodies a <= b touch; whether that is not as the scene's body_contact and body_friction say. */
typedef struct body_pair {
    const char *name[2];
    bool contact, own;
    double friction;
} body_pair;

static body_pair pair_of(const pl_scene *scene, int a, int b)
{
    pl_scene_def def = pl_scene_get_def(scene);
    int at = a * scene->body_count + b;
    body_pair p = {.name = {scene->bodies[a].name, scene->bodies[b].name},
                   .contact = scene->touches[at],
                   .friction = scene->params.values->of[PL_BODY_FRICTION][at]};
    p.own = (a != b && p.contact != def.body_contact) || p.friction != def.body_friction;
    return p;
}

static json_t *pairs_json(const pl_scene *scene)
{
    json_t *pairs = json_array();
    for (int a = 0; a < scene->body_count; a++)
        for (int b = a; b < scene->body_count; b++) {
            body_pair p = pair_of(scene, a, b);
            if (p.own)
                json_array_append_new(pairs, json_pack("{s:s, s:s, s:b, s:f}", "body", p.name[0],
                                                       "to_body", p.name[1], "contact", p.contact,
                                                       "friction", p.friction));
        }
    return pairs;
}

/* Of bodies that touch or could: all of them, and pairs that differ. */
static void print_pairs(const pl_scene *scene)
{
    pl_scene_def def = pl_scene_get_def(scene);
    if (scene->body_count > 1 && def.body_contact)
        printf("bodies touch each other, friction %g\n", def.body_friction);
    else if (scene->body_count > 1)
        printf("bodies pass through each other\n");
    for (int a = 0; a < scene->body_count; a++)
        for (int b = a; b < scene->body_count; b++) {
            body_pair p = pair_of(scene, a, b);
            if (p.own && p.contact)
                printf("bodies %s and %s: touch, friction %g\n", p.name[0], p.name[1], p.friction);
            else if (p.own)
                printf("bodies %s and %s: pass through each other\n", p.name[0], p.name[1]);
        }
}

static json_t *scene_json(const char *path, const pl_scene *scene, const pl_scene_file_info *file)
{
    pl_scene_info info = pl_scene_get_info(scene);
    json_t *bodies = json_array();
    pl_body_info body;
    for (int b = 0; b < info.body_count && pl_scene_body(scene, b, &body) == PL_OK; b++)
        json_array_append_new(
            bodies, json_pack("{s:s, s:s, s:i, s:i, s:f, s:b, s:f, s:o}", "name", body.name, "kind",
                              body.cloth ? "cloth" : "solid", "vertices", body.vertex_count, "elements",
                              body.element_count, "mass", body.mass, "self_contact",
                              pair_of(scene, b, b).contact, "contact_offset",
                              scene->bodies[b].contact_offset, "groups", cli_json_groups(body.mesh)));
    pl_scene_def def = pl_scene_get_def(scene);
    json_t *out = json_pack(
        "{s:s, s:s, s:f, s:s, s:s, s:b, s:f, s:o, s:i, s:i, s:i, s:f, s:i, s:i, s:i, s:i, s:o}", "file",
        path, "name", file->name, "time_step", def.time_step, "integrator",
        integrator_names[def.integrator], "device", def.device ? def.device : "cpu", "body_contact",
        def.body_contact, "body_friction", def.body_friction, "body_pairs", pairs_json(scene), "steps",
        file->steps, "vertices", info.vertex_count, "elements", info.element_count, "mass", info.mass,
        "pins", info.pin_count, "forces", info.force_count, "wind", info.wind_count, "colliders",
        info.collider_count, "bodies", bodies);
    for (int o = PL_OWNER_ATTACHMENT; o < PL_OWNER_COUNT; o++) {
        char key[32];
        snprintf(key, sizeof key, "%ss", pl_owner_name((pl_owner)o));
        json_object_set_new(out, key, json_integer(pl_scene_owner_count(scene, (pl_owner)o)));
    }
    return out;
}

static void print_scene(const char *path, const pl_scene *scene, const pl_scene_file_info *file)
{
    pl_scene_info info = pl_scene_get_info(scene);
    printf("%s%s%s\n", path, *file->name ? ": " : "", file->name);
    printf("%d steps of %g s; %d vertices, %d elements, %.6g kg; pins: %d, forces: %d, wind: %d",
           file->steps, pl_scene_get_def(scene).time_step, info.vertex_count, info.element_count,
           info.mass, info.pin_count, info.force_count, info.wind_count);
    for (int o = PL_OWNER_ATTACHMENT; o < PL_OWNER_COUNT; o++)
        if (pl_scene_owner_count(scene, (pl_owner)o) > 0)
            printf(", %ss: %d", pl_owner_name((pl_owner)o), pl_scene_owner_count(scene, (pl_owner)o));
    pl_scene_def def = pl_scene_get_def(scene);
    printf("\nintegrator %s, device %s\n", integrator_names[def.integrator],
           def.device ? def.device : "cpu");
    pl_body_info body;
    for (int b = 0; b < info.body_count && pl_scene_body(scene, b, &body) == PL_OK; b++) {
        printf("body %s: %s, %d vertices, %d elements, %.6g kg%s", body.name,
               body.cloth ? "cloth" : "solid", body.vertex_count, body.element_count, body.mass,
               pair_of(scene, b, b).contact ? ", touches itself" : "");
        if (scene->bodies[b].contact_offset > 0)
            printf(", contact offset %g m", scene->bodies[b].contact_offset);
        printf("\n");
        print_groups(body.mesh);
    }
    print_pairs(scene);
    pl_collider_def collider;
    for (int c = 0; c < info.collider_count && pl_scene_collider(scene, c, &collider) == PL_OK; c++)
        printf("collider %s: %s%s, friction %g\n", collider.name, collider.table.count ? "moving " : "",
               shape_names[collider.shape], collider.friction);
}

static int describe_scene(pl_context *ctx, const char *path, const cli_list *set, bool json)
{
    pl_scene *scene = NULL;
    pl_scene_file_info file;
    pl_status status = pl_scene_load(ctx, path, set->count, set->items, &scene, &file);
    if (status != PL_OK)
        return cli_report(ctx, status);
    int code = CLI_OK;
    if (json)
        code = cli_json_print(scene_json(path, scene, &file));
    else
        print_scene(path, scene, &file);
    pl_scene_destroy(scene);
    return code;
}

/* ------------------------------------------------------------------------------- devices */

static void print_device(void *user, const char *name, const char *fault)
{
    json_t *list = user;
    if (list)
        json_array_append_new(
            list, json_pack("{s:s, s:b, s:s?}", "name", name, "usable", !fault, "fault", fault));
    else
        printf("%s%s%s%s\n", name, fault ? " (" : "", fault ? fault : "", fault ? ")" : "");
}

static int describe_devices(pl_context *ctx, bool json)
{
    json_t *list = json ? json_array() : NULL;
    pl_devices(ctx, print_device, list);
    return json ? cli_json_print(list) : CLI_OK;
}

int cmd_info(int argc, char **argv)
{
    bool json = false, devices = false;
    cli_list set = {0};
    const cli_option table[] = {
        {"json", CLI_FLAG, &json, NULL, "print JSON"},
        {"devices", CLI_FLAG, &devices, NULL, "list the devices that there are, without FILE"},
        {"set", CLI_LIST, &set, "PATH=VALUE", "change the scene, as for run"},
    };
    const cli_command command = {
        .name = "info",
        .arguments = "FILE",
        .summary = "Says what a scene (.json), a mesh or a surface (any other extension) holds.",
        .min_arguments = 0,
        .max_arguments = 1,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    if (count != (devices ? 0 : 1))
        return cli_usage(&command, devices ? "--devices takes no FILE" : "expected FILE");
    pl_context *ctx = cli_context(0, false);
    if (!ctx)
        return CLI_FAILED;
    if (devices)
        code = describe_devices(ctx, json);
    else
        code = ends_with(argv[1], ".json") ? describe_scene(ctx, argv[1], &set, json)
                                           : describe_mesh(ctx, argv[1], json);
    pl_context_destroy(ctx);
    return code;
}
