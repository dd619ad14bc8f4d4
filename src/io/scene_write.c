/*
 * A scene as the text of a scene file, which loads as the same scene bit for bit: meshes as arrays, the
 * start of every vertex, parameters as they are now. What a definition holds is written by the tables
 * of scene_keys.c, where it is not the default; parameters go by the name of their channel.
 */
#include "core/whole.h"
#include "io/report_text.h"
#include "io/scene_spec.h"
#include "sim/scene.h"

#include <pliant/io.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct writer {
    pl_text text;
    int depth;
    const pl_scene *scene;
    pl_owner owner; /* whose keys are written, */
    int index;      /* and which of them; PL_OWNER_COUNT = the scene's own */
} writer;

/* ------------------------------------------------------------------------------- JSON */

/* Where the next item of the open object (with a key) or array (without) goes. */
static void item(writer *w, const char *key)
{
    char last = w->text.length > 0 ? w->text.data[w->text.length - 1] : '{';
    pl_text_add(&w->text, last == '{' || last == '[' ? "" : ",");
    pl_text_format(&w->text, "%s%*s", w->text.length > 0 ? "\n" : "", w->depth, "");
    if (key) {
        pl_text_json(&w->text, key);
        pl_text_add(&w->text, ": ");
    }
}

static void begin(writer *w, const char *key, const char *bracket)
{
    item(w, key);
    pl_text_add(&w->text, bracket);
    w->depth++;
}

static void end(writer *w, const char *bracket)
{
    w->depth--;
    pl_text_format(&w->text, "\n%*s%s", w->depth, "", bracket);
}

/* With as few digits as read back to the same number. */
static void number(writer *w, double value)
{
    char digits[32];
    int count = 15;
    while (count < 17 && (snprintf(digits, sizeof digits, "%.*g", count, value), atof(digits) != value))
        count++;
    pl_text_number(&w->text, value, count, "null");
    if (value == 0 && signbit(value))
        pl_text_add(&w->text, ".0"); /* JSON has no integer -0 */
}

/* [time, a, b, c] on one line; time NULL = none. */
static void numbers(writer *w, const double *time, const double *values, int count)
{
    pl_text_add(&w->text, "[");
    if (time) {
        number(w, *time);
        pl_text_add(&w->text, ", ");
    }
    for (int i = 0; i < count; i++) {
        pl_text_add(&w->text, i ? ", " : "");
        number(w, values[i]);
    }
    pl_text_add(&w->text, "]");
}

static void integers(writer *w, const int *values, int count, int less)
{
    pl_text_add(&w->text, "[");
    for (int i = 0; i < count; i++)
        pl_text_format(&w->text, "%s%d", i ? ", " : "", values[i] - less);
    pl_text_add(&w->text, "]");
}

static void integer(writer *w, const char *key, int value)
{
    item(w, key);
    pl_text_format(&w->text, "%d", value);
}

static void points(writer *w, const char *key, int count, const double *rows)
{
    begin(w, key, "[");
    for (int i = 0; i < count; i++) {
        item(w, NULL);
        numbers(w, NULL, rows + 3 * (size_t)i, 3);
    }
    end(w, "]");
}

static void corners(writer *w, const char *key, int count, int width, const int *rows)
{
    if (count == 0)
        return;
    begin(w, key, "[");
    for (int i = 0; i < count; i++) {
        item(w, NULL);
        integers(w, rows + (size_t)i * (size_t)width, width, 0);
    }
    end(w, "]");
}

static void table(writer *w, const char *key, const pl_table *rows, int width)
{
    begin(w, key, "[");
    for (int i = 0; i < rows->count; i++) {
        item(w, NULL);
        numbers(w, &rows->time[i], rows->value + (size_t)i * (size_t)width, width);
    }
    end(w, "]");
}

static void curve(writer *w, const char *key, const pl_curve *c)
{
    table(w, key, &(pl_table){c->count, c->time, c->value}, c->width);
}

/* ------------------------------------------------------------------------------- by the tables */

/* The owner's values of the parameter a key names; NULL when it names none, or one of pairs. */
static const double *parameter(const writer *w, const pl_key *key, int *count)
{
    pl_channel channel = pl_channel_find(key->name);
    const pl_channel_info *info = pl_channel_get(channel);
    if (!info || info->role != PL_PARAMETER || info->owner != w->owner || info->row == PL_ROW_BODY)
        return NULL;
    pl_span span = pl_channel_span(w->scene, channel, w->index);
    *count = span.count;
    return w->scene->params.values->of[channel] + span.first;
}

static bool same(const double *values, int count, double value)
{
    for (int i = 0; i < count; i++)
        if (values[i] != value)
            return false;
    return true;
}

static void write_parameter(writer *w, const pl_key *key, const double *values, int count, double usual)
{
    bool uniform = count > 0 && same(values, count, values[0]);
    if (uniform && values[0] == usual && !key->required)
        return;
    item(w, key->name);
    if (uniform)
        number(w, values[0]);
    else
        numbers(w, NULL, values, count);
}

static bool is_default(const pl_key *key, const char *at, const char *usual)
{
    switch (key->kind) {
    case PL_KEY_NUMBER:
        return *(const double *)at == *(const double *)usual;
    case PL_KEY_INTEGER:
    case PL_KEY_CHOICE:
        return *(const int *)at == *(const int *)usual;
    case PL_KEY_BOOLEAN:
        return *(const bool *)at == *(const bool *)usual;
    case PL_KEY_TEXT:
        return !*(const char *const *)at;
    case PL_KEY_VECTOR:
        return memcmp(at, usual, sizeof(double) * (size_t)key->length) == 0;
    default:
        return true;
    }
}

static void write_value(writer *w, const pl_key *key, const char *at)
{
    item(w, key->name);
    switch (key->kind) {
    case PL_KEY_NUMBER:
        number(w, *(const double *)at);
        break;
    case PL_KEY_INTEGER:
        pl_text_format(&w->text, "%d", *(const int *)at);
        break;
    case PL_KEY_CHOICE:
        pl_text_json(&w->text, pl_key_choice(key, *(const int *)at));
        break;
    case PL_KEY_BOOLEAN:
        pl_text_add(&w->text, *(const bool *)at ? "true" : "false");
        break;
    case PL_KEY_TEXT:
        pl_text_json(&w->text, *(const char *const *)at);
        break;
    default:
        numbers(w, NULL, (const double *)at, key->length);
        break;
    }
}

static void write_keys(writer *w, const pl_spec *spec, const void *from, const void *usual);

/* Whether an object's keys, those it needs among them, all have the values they have without it. */
static bool untouched(writer *w, const pl_spec *spec, const char *at, const char *usual)
{
    bool same = true;
    for (int i = 0, count; same && i < spec->key_count; i++) {
        const pl_key *key = &spec->keys[i];
        same = key->kind != PL_KEY_OBJECT && key->offset != PL_KEY_UNREAD &&
               !parameter(w, key, &count) && is_default(key, at + key->offset, usual + key->offset);
    }
    return same;
}

/* An object within the same struct, unless all of it is as it would be without. */
static void write_object(writer *w, const pl_key *key, const char *at, const char *usual)
{
    if (!key->required && untouched(w, key->spec, at, usual))
        return;
    int before = w->text.length;
    begin(w, key->name, "{");
    int inside = w->text.length;
    write_keys(w, key->spec, at, usual);
    bool empty = w->text.length == inside;
    end(w, "}");
    if (empty && w->text.status == PL_OK)
        pl_text_cut(&w->text, before);
}

/* The keys of an object that are read into the struct `from`; `usual` holds its defaults. Which of
 * several it is, its part writes. */
static void write_keys(writer *w, const pl_spec *spec, const void *from, const void *usual)
{
    for (int i = 0; i < spec->key_count; i++) {
        const pl_key *key = &spec->keys[i];
        if (key->offset == PL_KEY_UNREAD || (key->spec && key->spec->one_of))
            continue;
        const char *at = (const char *)from + key->offset, *ours = (const char *)usual + key->offset;
        int count;
        const double *values = parameter(w, key, &count);
        if (values)
            write_parameter(w, key, values, count, *(const double *)ours);
        else if (key->kind == PL_KEY_OBJECT)
            write_object(w, key, at, ours);
        else if (key->required || !is_default(key, at, ours))
            write_value(w, key, at);
    }
}

/* ------------------------------------------------------------------------------- parts */

/* A name that is not the one it gets without. */
static const char *own_name(const writer *w)
{
    bool named = pl_part_is_named(w->scene, w->owner, w->index);
    return named ? pl_part_name(w->scene, w->owner, w->index) : NULL;
}

static void write_mesh(writer *w, const pl_mesh *mesh)
{
    begin(w, "mesh", "{");
    begin(w, "arrays", "{");
    points(w, "vertices", mesh->vertex_count, mesh->vertices);
    corners(w, "tets", mesh->tet_count, 4, mesh->tets);
    corners(w, "triangles", mesh->triangle_count, 3, mesh->triangles);
    for (int kind = PL_GROUP_VERTEX; kind <= PL_GROUP_TRIANGLE; kind++) {
        bool any = false;
        for (int g = 0; g < mesh->group_count; g++) {
            if ((int)mesh->groups[g].kind != kind)
                continue;
            if (!any)
                begin(w, pl_group_keys[kind], "{");
            any = true;
            item(w, mesh->groups[g].name);
            integers(w, mesh->groups[g].index, mesh->groups[g].count, 0);
        }
        if (any)
            end(w, "}");
    }
    end(w, "}");
    end(w, "}");
}

static void write_body(writer *w)
{
    const pl_body *b = &w->scene->bodies[w->index];
    size_t first = 3 * (size_t)b->vertex_offset;
    int n = b->mesh->vertex_count;
    const double *q = w->scene->q0 + first, *v = w->scene->v0 + first;
    pl_body_def usual = pl_body_def_default(), def = usual;
    def.name = own_name(w);
    def.model = b->model;
    def.reading = b->reading;
    def.thickness = b->thickness;
    def.lumped_equally = b->lumped_equally;
    def.mean_volume = b->mean_volume;
    def.self_contact = w->scene->touches[w->index * w->scene->body_count + w->index];
    def.contact_offset = b->contact_offset;
    bool together = true;
    for (int i = 1; i < n; i++)
        together &= memcmp(v + 3 * (size_t)i, v, 3 * sizeof *v) == 0;
    if (together)
        memcpy(def.velocity, v, sizeof def.velocity);
    write_keys(w, &pl_spec_body, &def, &usual);
    write_mesh(w, b->mesh);
    if (memcmp(q, b->mesh->vertices, sizeof(double) * 3 * (size_t)n) != 0)
        points(w, "positions", n, q);
    if (!together)
        points(w, "velocities", n, v);
}

static void write_pin(writer *w)
{
    const pl_pin *p = &w->scene->pins[w->index];
    const int *vertex = w->scene->pin_vertex + p->first;
    int body = w->scene->body_of[vertex[0]];
    const double unmoved[3] = {0}, unturned[4] = {0, 0, 1, 0};
    pl_pin_def usual = pl_pin_def_default(), def = usual;
    memcpy(def.pivot, p->pivot, sizeof def.pivot);
    memcpy(def.normal, p->normal, sizeof def.normal);
    integer(w, "body", body);
    item(w, "vertices");
    integers(w, vertex, p->count, w->scene->bodies[body].vertex_offset);
    write_keys(w, &pl_spec_pin, &def, &usual);
    if (p->offset.count > 1 || memcmp(p->offset.value, unmoved, sizeof unmoved) != 0)
        curve(w, "offset", &p->offset);
    if (p->rotation.count > 1 || memcmp(p->rotation.value, unturned, sizeof unturned) != 0)
        curve(w, "rotation", &p->rotation);
}

static void write_force(writer *w)
{
    const pl_force *f = &w->scene->forces[w->index];
    int body = w->scene->body_of[f->vertex[0]], first = w->scene->bodies[body].vertex_offset;
    bool whole = f->count == w->scene->bodies[body].mesh->vertex_count;
    for (int i = 0; i < f->count; i++)
        whole &= f->vertex[i] == first + i;
    pl_force_def usual = pl_force_def_default(), def = usual;
    def.per = f->per;
    if (f->value.count == 1)
        memcpy(def.value, f->value.value, sizeof def.value);
    integer(w, "body", body);
    if (!whole) {
        item(w, "vertices");
        integers(w, f->vertex, f->count, first);
    }
    write_keys(w, &pl_spec_force, &def, &usual);
    if (f->value.count > 1)
        curve(w, "table", &f->value);
}

static void write_wind(writer *w)
{
    const pl_wind *wind = &w->scene->winds[w->index];
    pl_wind_def usual = pl_wind_def_default(), def = usual;
    def.drag = wind->drag;
    if (wind->velocity.count == 1)
        memcpy(def.velocity, wind->velocity.value, sizeof def.velocity);
    integer(w, "body", w->scene->body_of[wind->triangle[0]]);
    write_keys(w, &pl_spec_wind, &def, &usual);
    if (wind->velocity.count > 1)
        curve(w, "table", &wind->velocity);
}

static void write_collider(writer *w)
{
    const pl_obstacle *o = &w->scene->colliders[w->index];
    const double unturned[4] = {1, 0, 0, 0};
    pl_collider_source usual, source;
    pl_spec_collider.defaults(&usual);
    source = usual;
    source.def.name = own_name(w);
    source.def.friction = o->friction;
    /* A turn in degrees would not be the quaternion to the last bit: a table of one row is. */
    bool posed = o->pose.count > 1 || memcmp(o->pose.value + 3, unturned, sizeof unturned) != 0;
    if (!posed)
        memcpy(source.position, o->pose.value, sizeof source.position);
    pl_shape shape = pl_collider_shape(o->shape, source.def.size);
    write_keys(w, &pl_spec_collider, &source, &usual);
    begin(w, "shape", "{");
    if (shape == PL_MESH) {
        write_mesh(w, pl_collider_surface(o->shape));
    } else {
        begin(w, pl_spec_shape.keys[shape].name, "{");
        write_keys(w, pl_spec_shape.keys[shape].spec, &source, &usual);
        end(w, "}");
    }
    end(w, "}");
    if (posed)
        curve(w, "table", &o->pose);
}

static void write_point(writer *w, const pl_point *point, const char *vertices, const char *weights)
{
    item(w, vertices);
    integers(w, point->vertices, point->count, 0);
    if (!same(point->weights, point->count, 1.0 / point->count)) {
        item(w, weights);
        numbers(w, NULL, point->weights, point->count);
    }
}

static void write_attachment(writer *w)
{
    pl_attachment_def usual = pl_attachment_def_default(), def = usual;
    pl_scene_attachment(w->scene, w->index, &def);
    integer(w, "body", def.points[0].body);
    write_point(w, &def.points[0], "vertices", "weights");
    if (def.collider >= 0) {
        integer(w, "to_collider", def.collider);
    } else {
        integer(w, "to_body", def.points[1].body);
        write_point(w, &def.points[1], "to_vertices", "to_weights");
    }
    write_keys(w, &pl_spec_attachment, &def, &usual);
}

static void write_muscle(writer *w)
{
    pl_muscle_def usual = pl_muscle_def_default(), def = usual;
    pl_scene_muscle(w->scene, w->index, &def);
    def.name = own_name(w);
    bool straight = true;
    for (int i = 3; i < 3 * def.direction_count; i++)
        straight &= def.directions[i] == def.directions[i - 3];
    integer(w, "body", def.body);
    item(w, "elements");
    integers(w, def.elements, def.element_count, 0);
    if (straight) {
        item(w, "direction");
        numbers(w, NULL, def.directions, 3);
    } else {
        points(w, "directions", def.direction_count, def.directions);
    }
    if (def.table.count > 0)
        def.activation = usual.activation;
    write_keys(w, &pl_spec_muscle, &def, &usual);
    if (def.table.count > 0)
        table(w, "table", &def.table, 1);
}

static void write_cable(writer *w)
{
    pl_cable_def usual = pl_cable_def_default(), def = usual;
    pl_scene_cable(w->scene, w->index, &def);
    def.name = own_name(w);
    begin(w, "points", "[");
    for (int i = 0; i < def.point_count; i++) {
        const pl_point *point = &def.points[i];
        begin(w, NULL, "{");
        if (point->body < 0) {
            item(w, "fixed");
            numbers(w, NULL, point->position, 3);
        } else {
            integer(w, "body", point->body);
            write_point(w, point, "vertices", "weights");
        }
        end(w, "}");
    }
    end(w, "]");
    if (def.table.count > 0)
        def.length = usual.length;
    write_keys(w, &pl_spec_cable, &def, &usual);
    if (def.table.count > 0)
        table(w, "table", &def.table, 1);
}

static void write_chamber(writer *w)
{
    pl_chamber_def usual = pl_chamber_def_default(), def = usual;
    pl_scene_chamber(w->scene, w->index, &def);
    def.ambient = def.gas ? def.ambient : usual.ambient;
    def.name = own_name(w);
    integer(w, "body", def.body);
    corners(w, "triangles", def.triangle_count, 3, def.triangles);
    if (def.table.count > 0)
        def.pressure = usual.pressure;
    write_keys(w, &pl_spec_chamber, &def, &usual);
    if (def.table.count > 0)
        table(w, "table", &def.table, 1);
}

/* Coefficients that are not the collider's own. */
static void write_friction(writer *w)
{
    const pl_scene *s = w->scene;
    bool any = false;
    for (int i = 0; i < s->collider_count * s->body_count; i++) {
        int collider = i / s->body_count, body = i % s->body_count;
        double mu = s->params.values->of[PL_FRICTION][i];
        if (mu == s->colliders[collider].friction)
            continue;
        if (!any)
            begin(w, "friction", "[");
        any = true;
        begin(w, NULL, "{");
        integer(w, "body", body);
        integer(w, "collider", collider);
        item(w, "value");
        number(w, mu);
        end(w, "}");
    }
    if (any)
        end(w, "]");
}

/* What is not as body_contact, body_friction and self_contact say. */
static void write_body_pairs(writer *w)
{
    const pl_scene *s = w->scene;
    const pl_values *values = s->params.values;
    bool any = false;
    for (int i = 0; i < s->body_count * s->body_count; i++) {
        int body = i / s->body_count, other = i % s->body_count;
        pl_body_pair_source pair = {s->touches[i], values->of[PL_BODY_FRICTION][i]},
                            usual = {body == other ? pair.contact : values->def.body_contact,
                                     values->def.body_friction};
        if (other < body || (pair.contact == usual.contact && pair.friction == usual.friction))
            continue;
        if (!any)
            begin(w, "body_pairs", "[");
        any = true;
        begin(w, NULL, "{");
        integer(w, "body", body);
        integer(w, "to_body", other);
        write_keys(w, &pl_spec_body_pair, &pair, &usual);
        end(w, "}");
    }
    if (any)
        end(w, "]");
}

static void write_parts(writer *w)
{
    const struct {
        const char *key;
        pl_owner owner;
        void (*write)(writer *);
    } parts[] = {{"bodies", PL_OWNER_BODY, write_body},
                 {"pins", PL_OWNER_PIN, write_pin},
                 {"forces", PL_OWNER_FORCE, write_force},
                 {"wind", PL_OWNER_WIND, write_wind},
                 {"colliders", PL_OWNER_COLLIDER, write_collider},
                 {"attachments", PL_OWNER_ATTACHMENT, write_attachment},
                 {"muscles", PL_OWNER_MUSCLE, write_muscle},
                 {"cables", PL_OWNER_CABLE, write_cable},
                 {"chambers", PL_OWNER_CHAMBER, write_chamber}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        int count = pl_scene_owner_count(w->scene, parts[p].owner);
        if (count == 0 && parts[p].owner != PL_OWNER_BODY)
            continue;
        begin(w, parts[p].key, "[");
        w->owner = parts[p].owner;
        for (w->index = 0; w->index < count; w->index++) {
            begin(w, NULL, "{");
            parts[p].write(w);
            end(w, "}");
        }
        end(w, "]");
    }
    w->owner = PL_OWNER_COUNT;
}

/* ------------------------------------------------------------------------------- the scene */

static pl_status write_scene(const pl_scene *scene, const pl_scene_file_info *info, pl_text *out)
{
    writer w = {.text.ctx = scene->ctx, .scene = scene, .owner = PL_OWNER_COUNT};
    pl_scene_source usual, source;
    pl_spec_scene.defaults(&usual);
    source = usual;
    source.def = scene->params.values->def;
    source.version = 1;
    if (info) {
        source.name = info->name[0] ? info->name : NULL;
        source.steps = info->steps;
        source.every = info->output_every;
        source.volume = info->output_volume;
        source.surface = info->output_surface;
        source.obstacles = info->output_colliders;
    }
    begin(&w, NULL, "{");
    write_keys(&w, &pl_spec_scene, &source, &usual);
    write_parts(&w);
    write_friction(&w);
    write_body_pairs(&w);
    end(&w, "}");
    pl_text_add(&w.text, "\n");
    pl_status status = w.text.status;
    if (status != PL_OK)
        pl_text_free(&w.text);
    *out = w.text;
    return status;
}

pl_status pl_scene_text(const pl_scene *scene, const pl_scene_file_info *info, char **text)
{
    pl_text written;
    *text = NULL;
    PL_TRY(write_scene(scene, info, &written));
    *text = written.data;
    return PL_OK;
}

pl_status pl_scene_save(const pl_scene *scene, const pl_scene_file_info *info, const char *path)
{
    pl_text written;
    PL_TRY(write_scene(scene, info, &written));
    pl_status status = pl_write_whole(scene->ctx, path, written.data, (size_t)written.length);
    pl_text_free(&written);
    return status;
}
