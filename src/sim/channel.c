/* The table of channels: everything a rollout depends on, and where each owner's rows are. */
#include "sim/scene.h"

#define ANY .lower = -INFINITY, .upper = INFINITY

/* One line a channel: scene keys, inputs, gradients, `grad`, `check`, fits, Python all follow it. */
static const pl_channel_info table[] = {
    [PL_POSITION] = {"position", "m", PL_START, PL_OWNER_BODY, PL_ROW_VERTEX, 3, 3, ANY},
    [PL_VELOCITY] = {"velocity", "m/s", PL_START, PL_OWNER_BODY, PL_ROW_VERTEX, 3, 3, ANY},
    [PL_VERTEX_FORCE] = {"vertex_force", "N", PL_INPUT, PL_OWNER_BODY, PL_ROW_VERTEX, 3, 3, ANY},
    [PL_FORCE] = {"force", "its unit", PL_INPUT, PL_OWNER_FORCE, PL_ROW_OWNER, 3, 3, ANY},
    [PL_WIND] = {"wind", "m/s", PL_INPUT, PL_OWNER_WIND, PL_ROW_OWNER, 3, 3, ANY},
    [PL_PIN_TARGET] = {"pin_target", "m", PL_INPUT, PL_OWNER_PIN, PL_ROW_VERTEX, 3, 3, ANY,
                       .blend = PL_BLEND_LINEAR},
    [PL_COLLIDER_POSE] = {"collider_pose", "m, rad", PL_INPUT, PL_OWNER_COLLIDER, PL_ROW_OWNER, 7, 6,
                          ANY, .blend = PL_BLEND_POSE},
    [PL_ACTIVATION] = {"activation", "", PL_INPUT, PL_OWNER_MUSCLE, PL_ROW_OWNER, 1, 1, ANY,
                       .blend = PL_BLEND_LINEAR},
    [PL_CABLE_LENGTH] = {"cable_length", "m", PL_INPUT, PL_OWNER_CABLE, PL_ROW_OWNER, 1, 1, 0, INFINITY,
                         .blend = PL_BLEND_LINEAR},
    [PL_PRESSURE] = {"pressure", "Pa", PL_INPUT, PL_OWNER_CHAMBER, PL_ROW_OWNER, 1, 1, ANY,
                     .usual = 1e3, .blend = PL_BLEND_LINEAR},
    [PL_YOUNG] = {"young", "Pa", PL_PARAMETER, PL_OWNER_BODY, PL_ROW_ELEMENT, 1, 1, 0, 1e15,
                  .above = true},
    [PL_POISSON] = {"poisson", "", PL_PARAMETER, PL_OWNER_BODY, PL_ROW_ELEMENT, 1, 1, 0, 0.499,
                    .usual = 0.1},
    [PL_DENSITY] = {"density", "kg/m^3", PL_PARAMETER, PL_OWNER_BODY, PL_ROW_ELEMENT, 1, 1, 0, 1e9,
                    .above = true},
    [PL_BENDING] = {"bending", "N m", PL_PARAMETER, PL_OWNER_BODY, PL_ROW_ELEMENT, 1, 1, 0, 1e12,
                    .usual = 1e-4},
    [PL_DAMPING] = {"damping", "1/s", PL_PARAMETER, PL_OWNER_BODY, PL_ROW_ELEMENT, 1, 1, 0, 1e9,
                    .usual = 1},
    [PL_VISCOSITY] = {"viscosity", "Pa s", PL_PARAMETER, PL_OWNER_BODY, PL_ROW_ELEMENT, 1, 1, 0, 1e12,
                      .usual = 10},
    [PL_YEOH2] = {"yeoh2", "Pa", PL_PARAMETER, PL_OWNER_BODY, PL_ROW_ELEMENT, 1, 1, -1e15, 1e15,
                  .usual = 1e4},
    [PL_YEOH3] = {"yeoh3", "Pa", PL_PARAMETER, PL_OWNER_BODY, PL_ROW_ELEMENT, 1, 1, -1e15, 1e15,
                  .usual = 1e5},
    [PL_FRICTION] = {"friction", "", PL_PARAMETER, PL_OWNER_COLLIDER, PL_ROW_BODY, 1, 1, 0,
                     .upper = 1e3},
    [PL_BODY_FRICTION] = {"body_friction", "", PL_PARAMETER, PL_OWNER_BODY, PL_ROW_BODY, 1, 1, 0,
                          .upper = 1e3},
    [PL_COMPLIANCE] = {"compliance", "m/N", PL_PARAMETER, PL_OWNER_PIN, PL_ROW_OWNER, 1, 1, 1e-15,
                       .upper = 1e15},
    [PL_ATTACHMENT_COMPLIANCE] = {"attachment_compliance", "m/N", PL_PARAMETER, PL_OWNER_ATTACHMENT,
                                  PL_ROW_OWNER, 1, 1, 1e-15, .upper = 1e15},
    [PL_MUSCLE_STIFFNESS] = {"muscle_stiffness", "Pa", PL_PARAMETER, PL_OWNER_MUSCLE, PL_ROW_OWNER, 1,
                             1, 0, 1e15, .above = true},
    [PL_CABLE_COMPLIANCE] = {"cable_compliance", "m/N", PL_PARAMETER, PL_OWNER_CABLE, PL_ROW_OWNER, 1,
                             1, 0, .upper = 1e15},
};
_Static_assert(sizeof table / sizeof *table == PL_CHANNEL_COUNT, "a line for every channel");

static const struct {
    const char *name, *plural;
} owners[PL_OWNER_COUNT] = {
    [PL_OWNER_BODY] = {"body", "bodies"},
    [PL_OWNER_FORCE] = {"force", "forces"},
    [PL_OWNER_WIND] = {"wind", "winds"},
    [PL_OWNER_PIN] = {"pin", "pins"},
    [PL_OWNER_COLLIDER] = {"collider", "colliders"},
    [PL_OWNER_ATTACHMENT] = {"attachment", "attachments"},
    [PL_OWNER_MUSCLE] = {"muscle", "muscles"},
    [PL_OWNER_CABLE] = {"cable", "cables"},
    [PL_OWNER_CHAMBER] = {"chamber", "chambers"},
};

const pl_channel_info *pl_channel_get(pl_channel channel)
{
    return (int)channel >= 0 && channel < PL_CHANNEL_COUNT ? &table[channel] : NULL;
}

pl_channel pl_channel_find(const char *name)
{
    int c = 0;
    while (c < PL_CHANNEL_COUNT && strcmp(table[c].name, name) != 0)
        c++;
    return (pl_channel)c;
}

const char *pl_owner_name(pl_owner owner)
{
    return (int)owner >= 0 && owner < PL_OWNER_COUNT ? owners[owner].name : NULL;
}

int pl_scene_owner_count(const pl_scene *scene, pl_owner owner)
{
    switch (owner) {
    case PL_OWNER_BODY:
        return scene->body_count;
    case PL_OWNER_FORCE:
        return scene->force_count;
    case PL_OWNER_WIND:
        return scene->wind_count;
    case PL_OWNER_PIN:
        return scene->pin_count;
    case PL_OWNER_COLLIDER:
        return scene->collider_count;
    default:
        return (int)owner >= 0 && owner < PL_OWNER_COUNT ? scene->parts[owner].count : 0;
    }
}

pl_span pl_channel_span(const pl_scene *scene, pl_channel channel, int owner)
{
    switch (table[channel].row) {
    case PL_ROW_VERTEX:
        if (table[channel].owner == PL_OWNER_PIN)
            return (pl_span){scene->pins[owner].first, scene->pins[owner].count};
        return (pl_span){scene->bodies[owner].vertex_offset, scene->bodies[owner].mesh->vertex_count};
    case PL_ROW_ELEMENT:
        return (pl_span){scene->bodies[owner].element_offset, scene->bodies[owner].element_count};
    case PL_ROW_BODY:
        return (pl_span){owner * scene->body_count, scene->body_count};
    default:
        return (pl_span){owner, 1};
    }
}

int pl_scene_row_count(const pl_scene *scene, pl_channel channel)
{
    int last = pl_scene_owner_count(scene, table[channel].owner) - 1;
    pl_span span = last < 0 ? (pl_span){0} : pl_channel_span(scene, channel, last);
    return span.first + span.count;
}

pl_status pl_scene_rows(const pl_scene *scene, pl_channel channel, int owner, int *first, int *count)
{
    if (!pl_channel_get(channel))
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "channel = %d: no such channel", (int)channel);
    pl_owner kind = table[channel].owner;
    int have = pl_scene_owner_count(scene, kind);
    if (owner < 0 || owner >= have)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "owner = %d: the scene has %d %s", owner, have,
                       owners[kind].plural);
    pl_span span = pl_channel_span(scene, channel, owner);
    *first = span.first;
    *count = span.count;
    return PL_OK;
}

size_t pl_channel_size(const pl_scene *scene, pl_channel channel, int steps)
{
    size_t rows = (size_t)pl_scene_row_count(scene, channel);
    return rows * (table[channel].role == PL_INPUT ? (size_t)steps : 1);
}
