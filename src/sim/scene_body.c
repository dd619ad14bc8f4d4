/* Adding a body: its rest shape, material per element, and start. */
#include "sim/scene.h"

#include "core/vec.h"
#include "terms/mean_volume.h"

#include <stdio.h>

pl_body_def pl_body_def_default(void)
{
    return (pl_body_def){
        .model = PL_NEO_HOOKEAN,
        .reading = PL_EXACT,
        .young = 1e5,
        .poisson = 0.3,
        .density = 1000,
        .thickness = 1e-3,
    };
}

/* Grows an array [from, width] to [to, width] in place. */
static pl_status extend(pl_context *ctx, void **array, int from, int to, size_t row)
{
    void *bigger = pl_alloc(ctx, (size_t)to, row);
    if (!bigger)
        return PL_ERROR_MEMORY;
    if (*array)
        memcpy(bigger, *array, (size_t)from * row);
    pl_free(ctx, *array);
    *array = bigger;
    return PL_OK;
}

static double rest_volume(const pl_body *b, int element)
{
    const double *x = b->mesh->vertices;
    const int *v = b->elements + (size_t)element * (b->cloth ? 3 : 4);
    double e[9], normal[3];
    for (int k = 1; k < (b->cloth ? 3 : 4); k++)
        pl_sub3(x + 3 * v[k], x + 3 * v[0], e + 3 * (k - 1));
    pl_cross3(e, e + 3, normal);
    return b->cloth ? 0.5 * pl_norm3(normal) * b->thickness : pl_dot3(normal, e + 6) / 6.0;
}

static pl_status check_mesh(pl_context *ctx, const pl_mesh *mesh)
{
    pl_mesh_report r;
    if (mesh->vertex_count < 3 || mesh->tet_count + mesh->triangle_count < 1)
        return pl_fail(ctx, PL_ERROR_MESH, "mesh: it has no elements");
    PL_TRY(pl_mesh_check(ctx, mesh, &r));
    const struct {
        int count, first;
        const char *what;
    } faults[] = {
        {r.non_finite, r.first_non_finite, "vertices that are not finite"},
        {r.bad_index, r.first_bad_index, "elements with impossible vertex numbers"},
        {r.inverted, r.first_inverted, "inverted tets"},
        {r.degenerate, r.first_degenerate, "degenerate elements"},
        {r.duplicate, r.first_duplicate, "duplicate elements"},
        {r.unreferenced, r.first_unreferenced, "vertices in no element"},
    };
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
        if (faults[k].count > 0)
            return pl_fail(ctx, PL_ERROR_MESH, "mesh: %d %s (the first is number %d)", faults[k].count,
                           faults[k].what, faults[k].first);
    return PL_OK;
}

/* Initial velocities: given, or v + w x (x - c) about the centre of mass. */
static void set_start(pl_scene *scene, const pl_body *b, const pl_body_def *def)
{
    int n = b->mesh->vertex_count;
    double *q = scene->q0 + 3 * (size_t)b->vertex_offset, *v = scene->v0 + 3 * (size_t)b->vertex_offset;
    memcpy(q, def->positions ? def->positions : b->mesh->vertices, sizeof(double) * 3 * (size_t)n);
    if (def->velocities) {
        memcpy(v, def->velocities, sizeof(double) * 3 * (size_t)n);
        return;
    }
    double centre[3] = {0}, mass = 0;
    int width = b->cloth ? 3 : 4;
    for (int e = 0; e < b->element_count; e++) {
        int element = b->element_offset + e;
        double m = scene->params.values->of[PL_DENSITY][element] * scene->volume[element];
        mass += m;
        for (int k = 0; k < width; k++)
            pl_axpy3(m / width, q + 3 * b->elements[e * width + k], centre);
    }
    for (int i = 0; i < n; i++) {
        double arm[3];
        for (int k = 0; k < 3; k++)
            arm[k] = q[3 * i + k] - centre[k] / mass;
        pl_cross3(def->angular_velocity, arm, v + 3 * i);
        pl_axpy3(1, def->velocity, v + 3 * i);
    }
}

static pl_status check_start(pl_context *ctx, const pl_body_def *def)
{
    for (int k = 0; k < 3; k++)
        if (!isfinite(def->velocity[k]) || !isfinite(def->angular_velocity[k]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "velocity or angular_velocity is not finite");
    if (def->velocities && pl_norm3(def->velocity) + pl_norm3(def->angular_velocity) > 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "velocities: given beside velocity or angular_velocity, which they would replace");
    for (int k = 0; k < 3 * def->mesh->vertex_count; k++)
        if ((def->positions && !isfinite(def->positions[k])) ||
            (def->velocities && !isfinite(def->velocities[k])))
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "positions or velocities of vertex %d are not finite", k / 3);
    return PL_OK;
}

/* What a body's definition says of a parameter: one value, or one for every element. */
typedef struct material {
    const double *value, *of;
} material;

static material material_of(const pl_body_def *def, pl_channel channel)
{
    const material told[PL_CHANNEL_COUNT] = {
        [PL_YOUNG] = {&def->young, def->young_of},
        [PL_POISSON] = {&def->poisson, def->poisson_of},
        [PL_DENSITY] = {&def->density, def->density_of},
        [PL_BENDING] = {&def->bending, def->bending_of},
        [PL_DAMPING] = {&def->damping, def->damping_of},
        [PL_VISCOSITY] = {&def->viscosity, def->viscosity_of},
        [PL_YEOH2] = {&def->yeoh2, def->yeoh2_of},
        [PL_YEOH3] = {&def->yeoh3, def->yeoh3_of},
    };
    return told[channel];
}

/* Checks everything before anything is changed. */
static pl_status check_body(pl_scene *scene, const pl_body_def *def)
{
    pl_context *ctx = scene->ctx;
    if (!def->mesh)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "mesh: a body needs one");
    PL_TRY(check_mesh(ctx, def->mesh));
    PL_TRY(check_start(ctx, def));
    if ((int)def->model < 0 || def->model > PL_NEO_HOOKEAN)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "model = %d: no such model", (int)def->model);
    if ((int)def->reading < 0 || def->reading > PL_PROJECTIVE)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "reading = %d: no such reading", (int)def->reading);
    if (def->mean_volume &&
        (def->mesh->tet_count == 0 || def->model != PL_NEO_HOOKEAN || def->reading != PL_EXACT))
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "mean_volume: only solids of the exact Neo-Hookean material have it");
    if (!(def->thickness > 0) || !(def->thickness <= 1e3))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "thickness = %g: expected > 0 and <= 1000 m",
                       def->thickness);
    if (!(def->contact_offset >= 0) || !(def->contact_offset <= 1e3))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "contact_offset = %g: expected 0 to 1000 m",
                       def->contact_offset);
    int count = def->mesh->tet_count > 0 ? def->mesh->tet_count : def->mesh->triangle_count;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        material m = material_of(def, (pl_channel)c);
        if (m.value)
            PL_TRY(pl_channel_check(ctx, (pl_channel)c, m.of ? count : 1, m.of ? m.of : m.value));
    }
    return PL_OK;
}

/* Makes room for n more vertices and m more elements in every array that has a row for each. */
static pl_status extend_arrays(pl_scene *scene, int n, int m)
{
    pl_context *ctx = scene->ctx;
    int v = scene->vertex_count, e = scene->element_count;
    PL_TRY(extend(ctx, (void **)&scene->q0, v, v + n, 3 * sizeof(double)));
    PL_TRY(extend(ctx, (void **)&scene->v0, v, v + n, 3 * sizeof(double)));
    PL_TRY(extend(ctx, (void **)&scene->body_of, v, v + n, sizeof(int)));
    return extend(ctx, (void **)&scene->volume, e, e + m, sizeof(double));
}

/* The same for the parameters of its elements, with what the definition says of them. */
static pl_status extend_materials(pl_scene *scene, const pl_body_def *def, int m)
{
    pl_values *values;
    int e = scene->element_count;
    PL_TRY(pl_params_edit(&scene->params, &values));
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        material told = material_of(def, (pl_channel)c);
        if (!told.value)
            continue;
        PL_TRY(extend(scene->ctx, (void **)&values->of[c], e, e + m, sizeof(double)));
        for (int k = 0; k < m; k++)
            values->of[c][e + k] = told.of ? told.of[k] : *told.value;
    }
    return PL_OK;
}

pl_status pl_scene_add_body(pl_scene *scene, const pl_body_def *def, int *body)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    PL_TRY(pl_scene_must_be_open(scene));
    PL_TRY(check_body(scene, def));
    pl_body b = {
        .cloth = def->mesh->tet_count == 0,
        .model = def->model,
        .reading = def->reading,
        .thickness = def->thickness,
        .lumped_equally = def->lumped_equally,
        .mean_volume = def->mean_volume,
        .contact_offset = def->contact_offset,
        .vertex_offset = scene->vertex_count,
        .element_offset = scene->element_count,
    };
    PL_CHECK(pl_mesh_copy(ctx, def->mesh, &b.mesh), done);
    PL_CHECK(pl_scene_new_name(scene, PL_OWNER_BODY, def->name, &b.name), done);
    b.elements = b.cloth ? b.mesh->triangles : b.mesh->tets;
    b.element_count = b.cloth ? b.mesh->triangle_count : b.mesh->tet_count;
    if (b.mean_volume)
        PL_CHECK(pl_mean_volume_create(ctx, &b), done);
    PL_CHECK(pl_grow(ctx, (void **)&scene->bodies, &scene->body_capacity, scene->body_count + 1,
                     sizeof *scene->bodies),
             done);
    PL_CHECK(extend_arrays(scene, b.mesh->vertex_count, b.element_count), done);
    PL_CHECK(extend_materials(scene, def, b.element_count), done);
    PL_CHECK(pl_scene_resize_friction(scene, scene->collider_count, scene->body_count + 1), done);
    PL_CHECK(pl_scene_resize_pairs(scene, scene->body_count + 1, def->self_contact), done);

    int e0 = b.element_offset, m = b.element_count;
    for (int e = 0; e < m; e++)
        scene->volume[e0 + e] = rest_volume(&b, e);
    set_start(scene, &b, def);
    for (int i = 0; i < b.mesh->vertex_count; i++)
        scene->body_of[b.vertex_offset + i] = scene->body_count;
    scene->vertex_count += b.mesh->vertex_count;
    scene->element_count += m;
    if (body)
        *body = scene->body_count;
    scene->bodies[scene->body_count++] = b;
    b = (pl_body){0};
done:
    pl_mean_volume_free(ctx, &b);
    pl_free(ctx, b.name);
    pl_mesh_free(ctx, b.mesh);
    return status;
}
