/* Adding muscles to a scene: which elements, which way their fibres run; and asking for them. */
#include "terms/muscle.h"

#include "core/vec.h"

#include <stdio.h>

pl_muscle_def pl_muscle_def_default(void)
{
    return (pl_muscle_def){.law = PL_MUSCLE_TENSION, .stiffness = 1e5};
}

/* ---- what is asked for */

static pl_status check_rows(pl_context *ctx, const char *what, int count, const double *rows)
{
    if (count < 0 || (count > 0 && !rows))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: expected a count >= 0 and as many rows", what);
    for (int i = 0; i < 3 * count; i++)
        if (!isfinite(rows[i]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s[%d][%d] is not finite", what, i / 3, i % 3);
    return PL_OK;
}

static pl_status check_polyline(pl_context *ctx, const char *what, int count, const double *path)
{
    PL_TRY(check_rows(ctx, what, count, path));
    if (count == 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: one point, expected two or more", what);
    for (int p = 1; p < count; p++)
        if (memcmp(path + 3 * p, path + 3 * p - 3, 3 * sizeof(double)) == 0)
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s: points %d and %d are the same", what, p - 1, p);
    return PL_OK;
}

static pl_status check_polylines(pl_context *ctx, const pl_muscle_def *def)
{
    int first = 0;
    if (def->path_count == 0)
        return check_polyline(ctx, "path", def->point_count, def->path);
    if (def->path_count < 0 || !def->path_sizes)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "path_count = %d: expected >= 0, and as many path_sizes",
                       def->path_count);
    for (int i = 0; i < def->path_count; i++) {
        char what[32];
        int size = def->path_sizes[i];
        snprintf(what, sizeof what, "paths[%d]", i);
        if (size < 1 || size > def->point_count - first)
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "%s: %d points, expected two or more, of %d that are left", what, size,
                           def->point_count - first);
        PL_TRY(check_polyline(ctx, what, size, def->path ? def->path + 3 * first : NULL));
        first += size;
    }
    if (first != def->point_count)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "path_sizes: %d points in sum, but point_count = %d",
                       first, def->point_count);
    return PL_OK;
}

static pl_status check_path(pl_context *ctx, const pl_muscle_def *def)
{
    PL_TRY(check_polylines(ctx, def));
    if (!(def->radius >= 0) || !isfinite(def->radius))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "radius = %g: expected >= 0 m", def->radius);
    if (def->radius > 0 && (def->point_count == 0 || def->elements))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "radius = %g: needs a path, and no elements",
                       def->radius);
    if (def->point_count > 0 && !def->elements && def->radius == 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "radius = 0: expected > 0 m, or elements, along the path");
    return PL_OK;
}

static pl_status check_directions(pl_context *ctx, const pl_muscle_def *def)
{
    PL_TRY(check_rows(ctx, "directions", def->direction_count, def->directions));
    for (int i = 0; i < def->direction_count; i++)
        if (!(pl_norm3(def->directions + 3 * i) > 0))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "directions[%d] has length 0", i);
    if (def->direction_count == 0 && def->point_count == 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "directions: expected one, or a path to follow");
    if (def->direction_count > 1 && (!def->elements || def->direction_count != def->element_count))
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "directions: %d of them, expected one, or one for each of %d listed elements",
                       def->direction_count, def->elements ? def->element_count : 0);
    return PL_OK;
}

static pl_status check_def(pl_scene *scene, const pl_muscle_def *def)
{
    pl_context *ctx = scene->ctx;
    if (def->body < 0 || def->body >= scene->body_count)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "body = %d: the scene has %d bodies", def->body,
                       scene->body_count);
    if (scene->bodies[def->body].cloth)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "body \"%s\" is cloth: muscles are in solids",
                       scene->bodies[def->body].name);
    if ((int)def->law < 0 || def->law > PL_MUSCLE_FORCE)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "law = %d: no such law", (int)def->law);
    if (def->elements && def->element_count < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "elements: expected at least one");
    PL_TRY(check_path(ctx, def));
    return check_directions(ctx, def);
}

/* ---- elements and directions */

/* The segment of the path that is nearest to a point, and how far it is, m. */
static int nearest_segment(const pl_muscle_def *def, const double x[3], double *distance)
{
    int nearest = 0, line = 0, end = def->path_count > 0 ? def->path_sizes[0] : def->point_count;
    *distance = INFINITY;
    for (int p = 0; p + 1 < def->point_count; p++) {
        if (p + 1 == end) { /* the last point of a polyline, where the next one begins */
            end += def->path_sizes[++line];
            continue;
        }
        const double *from = def->path + 3 * p;
        double along[3], to[3];
        pl_sub3(from + 3, from, along);
        pl_sub3(x, from, to);
        double s = fmin(fmax(pl_dot3(to, along) / pl_dot3(along, along), 0), 1);
        pl_axpy3(-s, along, to);
        if (pl_norm3(to) < *distance) {
            *distance = pl_norm3(to);
            nearest = p;
        }
    }
    return nearest;
}

static void centre_of(const pl_body *body, int element, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int a = 0; a < 4; a++)
        pl_axpy3(0.25, body->mesh->vertices + 3 * (size_t)body->elements[4 * element + a], out);
}

static pl_status nothing_there(pl_context *ctx, const pl_body *body, double nearest)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 3 * body->mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], body->mesh->vertices[i]);
        high[i % 3] = fmax(high[i % 3], body->mesh->vertices[i]);
    }
    return pl_fail(ctx, PL_ERROR_ARGUMENT,
                   "no element of \"%s\" has its centre within the radius of the path, the nearest is "
                   "%g m from it: the rest shape reaches from [%g, %g, %g] to [%g, %g, %g] m",
                   body->name, nearest, low[0], low[1], low[2], high[0], high[1], high[2]);
}

/* Its elements, in `element` with room for all of the body. */
static pl_status choose(pl_context *ctx, const pl_body *body, const pl_muscle_def *def, bool *chosen,
                        pl_muscle *m)
{
    double nearest = INFINITY, centre[3], distance;
    for (int k = 0; def->elements && k < def->element_count; k++) {
        int e = def->elements[k];
        if (e < 0 || e >= body->element_count)
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "elements[%d] = %d: body \"%s\" has %d elements", k,
                           e, body->name, body->element_count);
        if (chosen[e])
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "elements[%d] = %d comes twice", k, e);
        chosen[e] = true;
        m->element[m->count++] = e;
    }
    for (int e = 0; !def->elements && e < body->element_count; e++) {
        centre_of(body, e, centre);
        nearest_segment(def, centre, &distance);
        nearest = fmin(nearest, distance);
        if (def->point_count == 0 || distance <= def->radius)
            m->element[m->count++] = e;
    }
    return m->count > 0 ? PL_OK : nothing_there(ctx, body, nearest);
}

static void direct(const pl_body *body, const pl_muscle_def *def, pl_muscle *m)
{
    for (int k = 0; k < m->count; k++) {
        double centre[3], distance, *out = m->direction + 3 * (size_t)k;
        if (def->direction_count > 0) {
            memcpy(out, def->directions + (def->direction_count > 1 ? 3 * k : 0), sizeof centre);
            continue;
        }
        centre_of(body, m->element[k], centre);
        const double *from = def->path + 3 * nearest_segment(def, centre, &distance);
        pl_sub3(from + 3, from, out);
    }
}

/* c of x = F m = (q1 - q0, q2 - q0, q3 - q0) D^-1 m, D the same of the rest shape. */
static void measure(const pl_scene *scene, const pl_body *body, pl_muscle *m)
{
    for (int k = 0; k < m->count; k++) {
        const int *corner = body->elements + 4 * (size_t)m->element[k];
        const double *rest = body->mesh->vertices, *way = m->direction + 3 * (size_t)k;
        double d[9], inverse[9], *c = m->along + 4 * (size_t)k;
        for (int i = 0; i < 9; i++)
            d[i] = rest[3 * (size_t)corner[1 + i % 3] + (size_t)(i / 3)] -
                   rest[3 * (size_t)corner[0] + (size_t)(i / 3)];
        pl_inverse3(d, inverse);
        pl_mat3_vec(inverse, way, c + 1);
        for (int a = 1; a < 4; a++)
            c[a] /= pl_norm3(way);
        c[0] = -c[1] - c[2] - c[3];
        for (int a = 0; a < 4; a++)
            m->vertex[4 * k + a] = body->vertex_offset + corner[a];
        m->volume[k] = scene->volume[body->element_offset + m->element[k]];
    }
}

pl_status pl_scene_add_muscle(pl_scene *scene, const pl_muscle_def *def, int *muscle)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    bool *chosen = NULL;
    double lower, upper;
    const pl_channel channel = PL_MUSCLE_STIFFNESS;
    PL_TRY(check_def(scene, def));
    const pl_body *body = &scene->bodies[def->body];
    pl_muscle m = {.body = def->body, .law = def->law};
    PL_CHECK(pl_curve_create(ctx, "activation", &def->table, 1, &def->activation, &m.activation), done);
    pl_muscle_range(def->law, &lower, &upper);
    PL_CHECK(pl_curve_check(ctx, "activation", lower, upper, &m.activation), done);
    PL_NEW(ctx, chosen, body->element_count, done);
    PL_NEW(ctx, m.element, body->element_count, done);
    PL_CHECK(choose(ctx, body, def, chosen, &m), done);
    PL_NEW(ctx, m.direction, 3 * (size_t)m.count, done);
    PL_NEW(ctx, m.vertex, 4 * (size_t)m.count, done);
    PL_NEW(ctx, m.along, 4 * (size_t)m.count, done);
    PL_NEW(ctx, m.volume, m.count, done);
    direct(body, def, &m);
    measure(scene, body, &m);
    PL_CHECK(pl_scene_append(scene, PL_OWNER_MUSCLE, def->name, &m, sizeof m, 1, &channel,
                             &def->stiffness, muscle),
             done);
    m = (pl_muscle){0};
done:
    pl_free(ctx, chosen);
    pl_muscle_free(ctx, &m);
    return status;
}

/* ---- asking */

pl_status pl_scene_muscle(const pl_scene *scene, int muscle, pl_muscle_def *def)
{
    if (muscle < 0 || muscle >= pl_muscle_count(scene))
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "muscle = %d: the scene has %d muscles", muscle,
                       pl_muscle_count(scene));
    const pl_muscle *m = pl_muscle_get(scene, muscle);
    *def = (pl_muscle_def){
        .name = pl_part_name(scene, PL_OWNER_MUSCLE, muscle),
        .body = m->body,
        .element_count = m->count,
        .elements = m->element,
        .direction_count = m->count,
        .directions = m->direction,
        .law = m->law,
        .stiffness = scene->params.values->of[PL_MUSCLE_STIFFNESS][muscle],
        .activation = m->activation.value[0],
    };
    def->table = pl_curve_rows(&m->activation);
    return PL_OK;
}
