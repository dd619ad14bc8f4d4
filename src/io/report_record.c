/*
 * Recordings: frames of a running simulation, kept evenly spaced and at most FRAMES of them.
 *
 * Frame i is the state handed over as number i * stride. When the frames are full, the odd ones are
 * dropped and the stride doubles, so that a recording of any length costs the same memory.
 */
#include "io/report.h"

#include "io/cable_lines.h"
#include "sim/rollout.h"

enum { FRAMES = 600 };

typedef struct forces {
    int count;
    double *numbers; /* [count, 9]: point, normal force, tangential force */
} forces;

struct pl_recording {
    pl_context *ctx;
    const pl_scene *scene;
    int vertex_count; /* of the surface */
    int *vertices;    /* [vertex_count], of the scene */
    int triangle_count;
    int *triangles; /* [triangle_count, 3] into the surface's vertices */
    char *name;     /* of the only body; NULL when there are several */
    int offered, stride, frame_count;
    double start, step;     /* time of the first state, and from it to the second, s */
    double *frames[FRAMES]; /* each [vertex_count, 3] */
    forces contacts[FRAMES];
    int point_count, segment_count; /* of the cables */
    double *cables[FRAMES];         /* each [segment_count, 7]: from, to, tension */
    int muscle_count;
    double *activation[FRAMES]; /* each [muscle_count] */
};

/* Surface triangles of every body in scene numbering; *triangles grows to [*count, 3]. */
static pl_status gather_triangles(const pl_scene *scene, int **triangles, int *count)
{
    pl_context *ctx = pl_scene_context(scene);
    int body_count = pl_scene_get_info(scene).body_count, capacity = 0;
    for (int b = 0; b < body_count; b++) {
        pl_body_info body;
        int more, *surface;
        PL_TRY(pl_scene_body(scene, b, &body));
        PL_TRY(pl_mesh_surface(ctx, body.mesh, &more, &surface));
        void *grown = *triangles;
        pl_status status = pl_grow(ctx, &grown, &capacity, 3 * (*count + more), sizeof **triangles);
        *triangles = grown;
        for (int i = 0; status == PL_OK && i < 3 * more; i++)
            (*triangles)[3 * *count + i] = surface[i] + body.vertex_offset;
        pl_free(ctx, surface);
        PL_TRY(status);
        *count += more;
    }
    return PL_OK;
}

/* Renumbers the triangles over the vertices they use. */
static pl_status gather_vertices(pl_recording *r, int scene_vertices)
{
    pl_status status = PL_OK;
    int *number = NULL;
    PL_NEW(r->ctx, number, scene_vertices, done);
    PL_NEW(r->ctx, r->vertices, scene_vertices, done);
    for (int i = 0; i < 3 * r->triangle_count; i++)
        number[r->triangles[i]] = 1;
    for (int v = 0; v < scene_vertices; v++) {
        if (!number[v])
            continue;
        r->vertices[r->vertex_count] = v;
        number[v] = r->vertex_count++;
    }
    for (int i = 0; i < 3 * r->triangle_count; i++)
        r->triangles[i] = number[r->triangles[i]];
done:
    pl_free(r->ctx, number);
    return status;
}

pl_status pl_recording_create(const pl_scene *scene, pl_recording **out)
{
    pl_context *ctx = pl_scene_context(scene);
    pl_scene_info info = pl_scene_get_info(scene);
    pl_status status = PL_OK;
    pl_recording *r = NULL;
    *out = NULL;
    if (info.body_count < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "recording: the scene has no bodies");
    PL_NEW(ctx, r, 1, done);
    r->ctx = ctx;
    r->stride = 1;
    r->scene = scene;
    pl_cable_lines_count(scene, &r->point_count, &r->segment_count);
    r->muscle_count = pl_scene_owner_count(scene, PL_OWNER_MUSCLE);
    PL_CHECK(gather_triangles(scene, &r->triangles, &r->triangle_count), done);
    PL_CHECK(gather_vertices(r, info.vertex_count), done);
    if (info.body_count == 1) {
        pl_body_info body;
        PL_CHECK(pl_scene_body(scene, 0, &body), done);
        r->name = pl_strdup(ctx, body.name);
        status = r->name ? PL_OK : PL_ERROR_MEMORY;
    }
done:
    if (status != PL_OK) {
        pl_recording_destroy(r);
        r = NULL;
    }
    *out = r;
    return status;
}

static void drop_frame(pl_recording *r, int i)
{
    pl_free(r->ctx, r->frames[i]);
    pl_free(r->ctx, r->contacts[i].numbers);
    pl_free(r->ctx, r->cables[i]);
    pl_free(r->ctx, r->activation[i]);
    r->cables[i] = r->activation[i] = NULL;
    r->frames[i] = NULL;
    r->contacts[i] = (forces){0};
}

void pl_recording_destroy(pl_recording *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->frame_count; i++)
        drop_frame(r, i);
    pl_free(r->ctx, r->triangles);
    pl_free(r->ctx, r->vertices);
    pl_free(r->ctx, r->name);
    pl_free(r->ctx, r);
}

static void halve(pl_recording *r)
{
    for (int i = 1; i < FRAMES; i++) {
        if (i % 2) {
            drop_frame(r, i);
            continue;
        }
        r->frames[i / 2] = r->frames[i];
        r->contacts[i / 2] = r->contacts[i];
        r->cables[i / 2] = r->cables[i];
        r->activation[i / 2] = r->activation[i];
        r->cables[i] = r->activation[i] = NULL;
        r->frames[i] = NULL;
        r->contacts[i] = (forces){0};
    }
    r->frame_count = FRAMES / 2;
    r->stride *= 2;
}

static pl_status copy_contacts(pl_context *ctx, const double *q, const pl_contact *contacts, int count,
                               forces *out)
{
    pl_status status = PL_OK;
    PL_NEW(ctx, out->numbers, 9 * (size_t)count, done);
    out->count = count;
    for (int c = 0; c < count; c++) {
        const pl_contact *contact = &contacts[c];
        for (int a = 0; a < 3; a++) {
            double *numbers = out->numbers + 9 * c + a;
            for (int k = 0; k < contact->count; k++) /* the point of the body the force is on */
                numbers[0] +=
                    fmax(contact->weight[k], 0) * q[3 * (size_t)contact->vertex[k] + (size_t)a];
            numbers[3] = contact->force_normal * contact->normal[a];
            numbers[6] = contact->force_tangent[a];
        }
    }
done:
    return status;
}

/* Their segments, *out [segment_count, 7]. */
static pl_status copy_cables(const pl_recording *r, const double *q, const double *live, double **out)
{
    pl_status status = PL_OK;
    size_t segments = (size_t)r->segment_count;
    double *points = NULL, *tension = NULL, *cable = NULL;
    PL_NEW(r->ctx, *out, 7 * segments, done);
    PL_NEW(r->ctx, points, 3 * (size_t)r->point_count, done);
    PL_NEW(r->ctx, tension, segments, done);
    PL_NEW(r->ctx, cable, segments, done);
    pl_cable_lines_at(r->scene, q, live, points, tension, cable);
    for (size_t s = 0; s < segments; s++) { /* each cable has one point more than segments */
        memcpy(*out + 7 * s, points + 3 * (s + (size_t)cable[s]), 6 * sizeof *points);
        (*out)[7 * s + 6] = tension[s];
    }
done:
    pl_free(r->ctx, points);
    pl_free(r->ctx, tension);
    pl_free(r->ctx, cable);
    return status;
}

static pl_status add_frame(pl_recording *r, double time, const double *q, const pl_contact *contacts,
                           int count, const double *live, const double *activation)
{
    pl_status status = PL_OK;
    double *frame = NULL, *cables = NULL, *active = NULL;
    forces f = {0};
    bool kept = r->offered % r->stride == 0;
    if (kept) {
        PL_NEW(r->ctx, frame, 3 * (size_t)r->vertex_count, done);
        PL_CHECK(copy_contacts(r->ctx, q, contacts, count, &f), done);
        PL_CHECK(copy_cables(r, q, live, &cables), done);
        PL_NEW(r->ctx, active, r->muscle_count, done);
        for (int m = 0; m < r->muscle_count; m++)
            active[m] = activation[m];
        for (int i = 0; i < r->vertex_count; i++)
            memcpy(frame + 3 * i, q + 3 * (size_t)r->vertices[i], 3 * sizeof *frame);
        if (r->frame_count == FRAMES)
            halve(r);
        r->frames[r->frame_count] = frame;
        r->cables[r->frame_count] = cables;
        r->activation[r->frame_count] = active;
        r->contacts[r->frame_count++] = f;
    }
    if (r->offered == 0)
        r->start = time;
    if (r->offered == 1)
        r->step = time - r->start;
    r->offered++;
done:
    if (status != PL_OK) {
        pl_free(r->ctx, frame);
        pl_free(r->ctx, cables);
        pl_free(r->ctx, active);
        pl_free(r->ctx, f.numbers);
    }
    return status;
}

pl_status pl_recording_add(pl_recording *r, const pl_state *state)
{
    return add_frame(r, state->time, state->q, state->contacts, state->contact_count, state->live,
                     state->input[PL_ACTIVATION]);
}

/* ------------------------------------------------------------------------------- into a report */

/* Of each vertex in each frame the largest of the muscles it is a corner of, [frame_count,
 * vertex_count]; *out is the caller's. */
static pl_status paint(const pl_recording *r, double **out)
{
    pl_status status = PL_OK;
    int n = pl_scene_get_info(r->scene).vertex_count, *number = NULL;
    PL_NEW(r->ctx, *out, (size_t)r->frame_count * (size_t)r->vertex_count, done);
    PL_NEW(r->ctx, number, n, done); /* of a surface vertex, from 1 */
    for (int i = 0; i < r->vertex_count; i++)
        number[r->vertices[i]] = i + 1;
    for (int m = 0; m < r->muscle_count; m++) {
        pl_muscle_def muscle;
        pl_body_info body;
        PL_CHECK(pl_scene_muscle(r->scene, m, &muscle), done);
        PL_CHECK(pl_scene_body(r->scene, muscle.body, &body), done);
        for (int k = 0; k < 4 * muscle.element_count; k++) {
            int corner = body.mesh->tets[4 * muscle.elements[k / 4] + k % 4];
            int i = number[body.vertex_offset + corner] - 1;
            for (int f = 0; i >= 0 && f < r->frame_count; f++) {
                double *at = *out + (size_t)f * (size_t)r->vertex_count + i;
                *at = fmax(*at, r->activation[f][m]);
            }
        }
    }
done:
    pl_free(r->ctx, number);
    return status;
}

static pl_status add_motion(pl_report *report, const pl_recording *r, const pl_report_trajectory *style,
                            double step)
{
    pl_context *ctx = report->ctx;
    pl_status status = PL_OK;
    size_t row = 3 * (size_t)r->vertex_count;
    double *frames = NULL, *activation = NULL;
    PL_NEW(ctx, frames, (size_t)r->frame_count * row, done);
    if (r->muscle_count > 0)
        PL_CHECK(paint(r, &activation), done);
    for (int i = 0; i < r->frame_count; i++)
        memcpy(frames + (size_t)i * row, r->frames[i], row * sizeof *frames);
    pl_report_trajectory t = *style;
    t.vertex_count = r->vertex_count;
    t.triangle_count = r->triangle_count;
    t.triangles = r->triangles;
    t.frame_count = r->frame_count;
    t.frames = frames;
    t.activation = activation;
    t.start = r->start;
    t.time_step = step;
    status = pl_report_add_trajectory(report, &t);
done:
    pl_free(ctx, frames);
    pl_free(ctx, activation);
    return status;
}

static pl_status add_forces(pl_report *report, const pl_recording *r, const char *name, double step)
{
    pl_context *ctx = report->ctx;
    pl_status status = PL_OK;
    int *first = NULL;
    double *numbers = NULL;
    PL_NEW(ctx, first, r->frame_count + 1, done);
    for (int i = 0; i < r->frame_count; i++)
        first[i + 1] = first[i] + r->contacts[i].count;
    size_t total = (size_t)first[r->frame_count];
    if (!total)
        goto done;
    PL_NEW(ctx, numbers, 9 * total, done);
    double *point = numbers, *normal = numbers + 3 * total, *tangent = numbers + 6 * total;
    for (int i = 0; i < r->frame_count; i++) {
        for (int c = 0; c < r->contacts[i].count; c++) {
            size_t at = 3 * (size_t)(first[i] + c);
            const double *from = r->contacts[i].numbers + 9 * c;
            memcpy(point + at, from, 3 * sizeof *from);
            memcpy(normal + at, from + 3, 3 * sizeof *from);
            memcpy(tangent + at, from + 6, 3 * sizeof *from);
        }
    }
    pl_report_contacts contacts = {.name = name,
                                   .frame_count = r->frame_count,
                                   .first = first,
                                   .point = point,
                                   .normal = normal,
                                   .tangent = tangent,
                                   .start = r->start,
                                   .time_step = step};
    status = pl_report_add_contacts(report, &contacts);
done:
    pl_free(ctx, first);
    pl_free(ctx, numbers);
    return status;
}

static pl_status add_cables(pl_report *report, const pl_recording *r, const char *name, double step)
{
    return pl_report_add_cables(report, &(pl_report_cables){.name = name,
                                                            .frame_count = r->frame_count,
                                                            .segment_count = r->segment_count,
                                                            .frames = r->cables,
                                                            .start = r->start,
                                                            .time_step = step});
}

pl_status pl_report_add_recording(pl_report *report, const pl_recording *r,
                                  const pl_report_trajectory *style)
{
    if (r->frame_count < 1)
        return pl_fail(report->ctx, PL_ERROR_ARGUMENT, "report: the recording holds no frames");
    double step = r->offered > 1 ? r->step * r->stride : 1;
    int length = report->trajectories.length, count = report->trajectory_count;
    int cables = report->cables.length;
    pl_report_trajectory s = style ? *style : pl_report_trajectory_default();
    if (!s.name)
        s.name = r->name ? r->name : "bodies";
    PL_TRY(add_motion(report, r, &s, step));
    pl_status status = r->segment_count > 0 ? add_cables(report, r, s.name, step) : PL_OK;
    if (status == PL_OK && s.forces)
        status = add_forces(report, r, s.name, step);
    if (status != PL_OK) { /* all or none */
        pl_text_cut(&report->trajectories, length);
        pl_text_cut(&report->cables, cables);
        report->trajectory_count = count;
    }
    return status;
}

static pl_status record(void *user, int step, const pl_state *state)
{
    (void)step;
    return pl_recording_add(user, state);
}

pl_status pl_report_add_rollout(pl_report *report, const pl_scene *scene, pl_rollout *rollout,
                                const pl_report_trajectory *style)
{
    pl_status status = PL_OK;
    int most = report->def.max_frames < FRAMES ? report->def.max_frames : FRAMES;
    int every = (rollout->steps + most - 1) / most;
    pl_recording *recording = NULL;
    if (!rollout->def.tape)
        return pl_fail(report->ctx, PL_ERROR_ARGUMENT, "report: the rollout was run without a tape");
    PL_CHECK(pl_recording_create(scene, &recording), done);
    PL_CHECK(pl_rollout_replay(rollout, every, record, recording), done);
    status = pl_report_add_recording(report, recording, style);
done:
    pl_recording_destroy(recording);
    return status;
}
