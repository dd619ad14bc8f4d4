/* Adding what acts on bodies: pins, forces, wind, colliders. */
#include "sim/scene.h"

#include "core/vec.h"

#include <stdio.h>

static pl_status check_body_index(pl_scene *scene, int body)
{
    if (body < 0 || body >= scene->body_count)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "body = %d: the scene has %d bodies", body,
                       scene->body_count);
    return PL_OK;
}

pl_status pl_scene_check_vertices(pl_scene *scene, int body, int count, const int *vertices)
{
    PL_TRY(check_body_index(scene, body));
    int n = scene->bodies[body].mesh->vertex_count;
    if (count < 1 || !vertices)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "vertices: expected at least one");
    for (int k = 0; k < count; k++)
        if (vertices[k] < 0 || vertices[k] >= n)
            return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                           "vertices[%d] = %d: body \"%s\" has %d vertices", k, vertices[k],
                           scene->bodies[body].name, n);
    return PL_OK;
}

/* One more value of a parameter that has `count` of them. */
static pl_status append_value(pl_scene *scene, pl_channel channel, int count, double value)
{
    pl_values *values;
    PL_TRY(pl_params_edit(&scene->params, &values));
    double *bigger = pl_alloc(scene->ctx, (size_t)count + 1, sizeof *bigger);
    if (!bigger)
        return PL_ERROR_MEMORY;
    memcpy(bigger, values->of[channel], sizeof *bigger * (size_t)count);
    bigger[count] = value;
    pl_free(scene->ctx, values->of[channel]);
    values->of[channel] = bigger;
    return PL_OK;
}

pl_status pl_scene_new_name(pl_scene *scene, pl_owner owner, const char *given, char **out)
{
    char usual[32];
    int count = pl_scene_owner_count(scene, owner);
    snprintf(usual, sizeof usual, "%s%d", pl_owner_name(owner), count);
    const char *name = given ? given : usual;
    for (int k = 0; k < count; k++)
        if (pl_part_name(scene, owner, k) && strcmp(pl_part_name(scene, owner, k), name) == 0)
            return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "name: %s %d is named \"%s\" already",
                           pl_owner_name(owner), k, name);
    *out = pl_strdup(scene->ctx, name);
    return *out ? PL_OK : PL_ERROR_MEMORY;
}

pl_status pl_scene_append(pl_scene *scene, pl_owner owner, const char *name, const void *item,
                          size_t size, int value_count, const pl_channel *channels,
                          const double *values, int *index)
{
    pl_context *ctx = scene->ctx;
    pl_part_list *list = &scene->parts[owner];
    PL_TRY(pl_scene_must_be_open(scene));
    if (name && !*name)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "name is empty");
    for (int k = 0; k < value_count; k++)
        PL_TRY(pl_channel_check(ctx, channels[k], 1, &values[k]));
    PL_TRY(pl_grow(ctx, &list->items, &list->capacity, list->count + 1, size));
    PL_TRY(pl_grow(ctx, (void **)&list->names, &list->name_capacity, list->count + 1,
                   sizeof *list->names));
    for (int k = 0; k < value_count; k++)
        PL_TRY(append_value(scene, channels[k], list->count, values[k]));
    PL_TRY(pl_scene_new_name(scene, owner, name, &list->names[list->count]));
    memcpy((char *)list->items + size * (size_t)list->count, item, size);
    if (index)
        *index = list->count;
    list->count++;
    return PL_OK;
}

const char *pl_part_name(const pl_scene *scene, pl_owner owner, int index)
{
    if (owner == PL_OWNER_BODY)
        return scene->bodies[index].name;
    if (owner == PL_OWNER_COLLIDER)
        return scene->colliders[index].name;
    return index < scene->parts[owner].count ? scene->parts[owner].names[index] : NULL;
}

bool pl_part_is_named(const pl_scene *scene, pl_owner owner, int index)
{
    const char *name = pl_part_name(scene, owner, index);
    char usual[32];
    snprintf(usual, sizeof usual, "%s%d", pl_owner_name(owner), index);
    return name && strcmp(name, usual) != 0;
}

/* ---- pins */

pl_pin_def pl_pin_def_default(void)
{
    return (pl_pin_def){.compliance = 1e-9};
}

pl_status pl_scene_add_pin(pl_scene *scene, const pl_pin_def *def, int *pin)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    int *vertex = NULL;
    PL_TRY(pl_scene_must_be_open(scene));
    PL_TRY(pl_scene_check_vertices(scene, def->body, def->vertex_count, def->vertices));
    PL_TRY(pl_channel_check(ctx, PL_COMPLIANCE, 1, &def->compliance));
    for (int k = 0; k < 3; k++)
        if (!isfinite(def->pivot[k]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "pivot is not finite");
    double length = pl_norm3(def->normal);
    if (!isfinite(length))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "normal is not finite");
    pl_pin p = {.first = scene->pin_vertex_count, .count = def->vertex_count};
    const double none[4] = {0, 0, 1, 0};
    const double nowhere[3] = {0};
    memcpy(p.pivot, def->pivot, sizeof p.pivot);
    if (length > 0)
        pl_axpy3(1 / length, def->normal, p.normal);
    PL_CHECK(pl_curve_create(ctx, "pin.offset", &def->offset, 3, nowhere, &p.offset), done);
    PL_CHECK(pl_curve_create(ctx, "pin.rotation", &def->rotation, 4, none, &p.rotation), done);
    for (int k = 0; k < p.rotation.count; k++) {
        const double *turn = p.rotation.value + 4 * (size_t)k;
        if (pl_norm3(turn) == 0 && turn[3] != 0) {
            status = pl_fail(ctx, PL_ERROR_ARGUMENT,
                             "pin.rotation: value[%d]: an angle of %g rad about an axis of length 0", k,
                             turn[3]);
            goto done;
        }
    }
    PL_CHECK(pl_grow(ctx, (void **)&scene->pins, &scene->pin_capacity, scene->pin_count + 1,
                     sizeof *scene->pins),
             done);
    PL_NEW(ctx, vertex, p.first + p.count, done);
    for (int k = 0; k < p.first; k++)
        vertex[k] = scene->pin_vertex[k];
    for (int k = 0; k < p.count; k++)
        vertex[p.first + k] = scene->bodies[def->body].vertex_offset + def->vertices[k];
    PL_CHECK(append_value(scene, PL_COMPLIANCE, scene->pin_count, def->compliance), done);
    pl_free(ctx, scene->pin_vertex);
    scene->pin_vertex = vertex;
    vertex = NULL;
    scene->pin_vertex_count = p.first + p.count;
    if (pin)
        *pin = scene->pin_count;
    scene->pins[scene->pin_count++] = p;
    p = (pl_pin){0};
done:
    pl_free(ctx, vertex);
    pl_curve_free(ctx, &p.offset);
    pl_curve_free(ctx, &p.rotation);
    return status;
}

/* ---- forces */

pl_force_def pl_force_def_default(void)
{
    return (pl_force_def){.per = PL_PER_VERTEX};
}

pl_status pl_scene_add_force(pl_scene *scene, const pl_force_def *def, int *force)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    PL_TRY(pl_scene_must_be_open(scene));
    PL_TRY(check_body_index(scene, def->body));
    if (def->vertices)
        PL_TRY(pl_scene_check_vertices(scene, def->body, def->vertex_count, def->vertices));
    if ((int)def->per < 0 || def->per > PL_PER_MASS)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "per = %d: no such unit", (int)def->per);
    const pl_body *b = &scene->bodies[def->body];
    pl_force f = {.per = def->per, .count = def->vertices ? def->vertex_count : b->mesh->vertex_count};
    PL_CHECK(pl_curve_create(ctx, "force", &def->table, 3, def->value, &f.value), done);
    PL_NEW(ctx, f.vertex, f.count, done);
    for (int k = 0; k < f.count; k++)
        f.vertex[k] = b->vertex_offset + (def->vertices ? def->vertices[k] : k);
    PL_CHECK(pl_grow(ctx, (void **)&scene->forces, &scene->force_capacity, scene->force_count + 1,
                     sizeof *scene->forces),
             done);
    if (force)
        *force = scene->force_count;
    scene->forces[scene->force_count++] = f;
    f = (pl_force){0};
done:
    pl_free(ctx, f.vertex);
    pl_curve_free(ctx, &f.value);
    return status;
}

/* ---- wind */

pl_wind_def pl_wind_def_default(void)
{
    return (pl_wind_def){.drag = 1};
}

pl_status pl_scene_add_wind(pl_scene *scene, const pl_wind_def *def, int *wind)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    PL_TRY(pl_scene_must_be_open(scene));
    PL_TRY(check_body_index(scene, def->body));
    if (!(def->drag >= 0) || !isfinite(def->drag))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "drag = %g: expected >= 0 N s/m^3", def->drag);
    const pl_body *b = &scene->bodies[def->body];
    pl_wind w = {.drag = def->drag};
    PL_CHECK(pl_curve_create(ctx, "wind", &def->table, 3, def->velocity, &w.velocity), done);
    PL_CHECK(pl_mesh_surface(ctx, b->mesh, &w.triangle_count, &w.triangle), done);
    for (int k = 0; k < 3 * w.triangle_count; k++)
        w.triangle[k] += b->vertex_offset;
    PL_CHECK(pl_grow(ctx, (void **)&scene->winds, &scene->wind_capacity, scene->wind_count + 1,
                     sizeof *scene->winds),
             done);
    if (wind)
        *wind = scene->wind_count;
    scene->winds[scene->wind_count++] = w;
    w = (pl_wind){0};
done:
    pl_free(ctx, w.triangle);
    pl_curve_free(ctx, &w.velocity);
    return status;
}

/* ---- colliders */

pl_status pl_scene_resize_pairs(pl_scene *scene, int body_count, bool self_contact)
{
    pl_values *values;
    pl_status status = PL_OK;
    int had = scene->body_count;
    double *mu = NULL;
    bool *touches = NULL;
    PL_TRY(pl_params_edit(&scene->params, &values));
    PL_NEW(scene->ctx, mu, body_count * body_count, done);
    PL_NEW(scene->ctx, touches, body_count * body_count, done);
    for (int a = 0; a < body_count; a++)
        for (int b = 0; b < body_count; b++) {
            bool known = a < had && b < had;
            int at = a * body_count + b, was = a * had + b;
            mu[at] = known ? values->of[PL_BODY_FRICTION][was] : values->def.body_friction;
            touches[at] = known    ? scene->touches[was]
                          : a == b ? self_contact
                                   : values->def.body_contact;
        }
    pl_free(scene->ctx, values->of[PL_BODY_FRICTION]);
    pl_free(scene->ctx, scene->touches);
    values->of[PL_BODY_FRICTION] = mu;
    scene->touches = touches;
    return PL_OK;
done:
    pl_free(scene->ctx, mu);
    pl_free(scene->ctx, touches);
    return status;
}

pl_status pl_scene_set_body_contact(pl_scene *scene, int body, int other, bool contact)
{
    PL_TRY(pl_scene_must_be_open(scene));
    PL_TRY(check_body_index(scene, body));
    PL_TRY(check_body_index(scene, other));
    scene->touches[body * scene->body_count + other] = contact;
    scene->touches[other * scene->body_count + body] = contact;
    return PL_OK;
}

bool pl_scene_get_body_contact(const pl_scene *scene, int body, int other)
{
    int count = scene->body_count;
    return body >= 0 && body < count && other >= 0 && other < count &&
           scene->touches[body * count + other];
}

pl_status pl_scene_set_body_friction(pl_scene *scene, int body, int other, double friction)
{
    PL_TRY(check_body_index(scene, body));
    PL_TRY(check_body_index(scene, other));
    pl_values *values;
    if (pl_channel_check(scene->ctx, PL_BODY_FRICTION, 1, &friction) != PL_OK)
        return pl_fail_within(scene->ctx, PL_ERROR_ARGUMENT, "bodies \"%s\" and \"%s\"",
                              scene->bodies[body].name, scene->bodies[other].name);
    PL_TRY(pl_params_edit(&scene->params, &values));
    int first = pl_smaller(body, other), second = body + other - first;
    values->of[PL_BODY_FRICTION][first * scene->body_count + second] = friction;
    return PL_OK;
}

pl_status pl_scene_resize_friction(pl_scene *scene, int collider_count, int body_count)
{
    pl_values *values;
    PL_TRY(pl_params_edit(&scene->params, &values));
    double *mu = pl_alloc(scene->ctx, (size_t)(collider_count * body_count), sizeof *mu);
    if (!mu)
        return PL_ERROR_MEMORY;
    const double *before = values->of[PL_FRICTION];
    for (int c = 0; c < collider_count; c++)
        for (int b = 0; b < body_count; b++) {
            bool old = c < scene->collider_count && b < scene->body_count;
            mu[c * body_count + b] = old                         ? before[c * scene->body_count + b]
                                     : c < scene->collider_count ? scene->colliders[c].friction
                                                                 : 0.0;
        }
    pl_free(scene->ctx, values->of[PL_FRICTION]);
    values->of[PL_FRICTION] = mu;
    return PL_OK;
}

pl_status pl_scene_add_collider(pl_scene *scene, const pl_collider_def *def, int *collider)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    PL_TRY(pl_scene_must_be_open(scene));
    int count = scene->collider_count;
    pl_obstacle o = {.friction = def->friction};
    PL_CHECK(pl_collider_create(ctx, def, &o.shape), done);
    PL_CHECK(pl_curve_create(ctx, "collider.pose", &def->table, 7, def->pose, &o.pose), done);
    pl_curve_align_poses(&o.pose);
    PL_CHECK(pl_scene_new_name(scene, PL_OWNER_COLLIDER, def->name, &o.name), done);
    PL_CHECK(pl_grow(ctx, (void **)&scene->colliders, &scene->collider_capacity, count + 1,
                     sizeof *scene->colliders),
             done);
    PL_CHECK(pl_scene_resize_friction(scene, count + 1, scene->body_count), done);
    for (int b = 0; b < scene->body_count; b++)
        scene->params.values->of[PL_FRICTION][count * scene->body_count + b] = def->friction;
    if (collider)
        *collider = count;
    scene->colliders[scene->collider_count++] = o;
    o = (pl_obstacle){0};
done:
    pl_free(ctx, o.name);
    pl_collider_destroy(ctx, o.shape);
    pl_curve_free(ctx, &o.pose);
    return status;
}

static pl_status check_collider_index(const pl_scene *scene, int collider)
{
    if (collider < 0 || collider >= scene->collider_count)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "collider = %d: the scene has %d colliders",
                       collider, scene->collider_count);
    return PL_OK;
}

pl_status pl_scene_collider(const pl_scene *scene, int collider, pl_collider_def *def)
{
    PL_TRY(check_collider_index(scene, collider));
    const pl_obstacle *o = &scene->colliders[collider];
    *def = (pl_collider_def){
        .name = o->name,
        .surface = pl_collider_surface(o->shape),
        .friction = o->friction,
    };
    def->shape = pl_collider_shape(o->shape, def->size);
    memcpy(def->pose, o->pose.value, sizeof def->pose);
    if (o->pose.count > 1)
        def->table = (pl_table){o->pose.count, o->pose.time, o->pose.value};
    return PL_OK;
}

pl_status pl_scene_set_friction(pl_scene *scene, int body, int collider, double friction)
{
    PL_TRY(check_body_index(scene, body));
    PL_TRY(check_collider_index(scene, collider));
    PL_TRY(pl_channel_check(scene->ctx, PL_FRICTION, 1, &friction));
    pl_values *values;
    PL_TRY(pl_params_edit(&scene->params, &values));
    values->of[PL_FRICTION][collider * scene->body_count + body] = friction;
    return PL_OK;
}
