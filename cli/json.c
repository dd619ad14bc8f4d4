#include "json.h"
#include "cli.h"

#include <math.h>

int cli_json_print(json_t *object)
{
    bool good = object && json_dumpf(object, stdout, JSON_INDENT(2)) == 0;
    if (good)
        printf("\n");
    else
        fprintf(stderr, "pliant: error: cannot print the result\n");
    json_decref(object);
    return good ? CLI_OK : CLI_FAILED;
}

json_t *cli_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

const char *cli_group_unit(pl_group_kind kind)
{
    static const char *const units[] = {
        [PL_GROUP_VERTEX] = "vertices", [PL_GROUP_TET] = "tets", [PL_GROUP_TRIANGLE] = "triangles"};
    return units[kind];
}

/* Groups of different kinds may have the same name. */
json_t *cli_json_groups(const pl_mesh *mesh)
{
    json_t *groups = json_object();
    for (int g = 0; g < mesh->group_count; g++) {
        const pl_group *group = &mesh->groups[g];
        if (!json_object_get(groups, group->name))
            json_object_set_new(groups, group->name, json_object());
        json_object_set_new(json_object_get(groups, group->name), cli_group_unit(group->kind),
                            json_integer(group->count));
    }
    return groups;
}
