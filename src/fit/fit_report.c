/* report.html of a fit: the trajectories of the initial guess, the answer and the truth, and the
 * curves. */
#include "fit/fit.h"

#include <pliant/report.h>

#include <stdio.h>

enum { FRAMES = 120 };

/* Surface triangles of all bodies over a compact set of vertices. */
typedef struct surface {
    int triangle_count, vertex_count;
    int *triangles; /* [triangle_count, 3] into the compact set */
    int *vertex;    /* [vertex_count] of the scene */
} surface;

static void surface_free(pl_context *ctx, surface *s)
{
    pl_free(ctx, s->triangles);
    pl_free(ctx, s->vertex);
}

static pl_status append_body(pl_task *task, const pl_body *body, surface *s, int *capacity)
{
    int count, *triangles = NULL;
    PL_TRY(pl_mesh_surface(task->ctx, body->mesh, &count, &triangles));
    pl_status status = pl_grow(task->ctx, (void **)&s->triangles, capacity,
                               3 * (s->triangle_count + count), sizeof(int));
    for (int i = 0; status == PL_OK && i < 3 * count; i++)
        s->triangles[3 * s->triangle_count + i] = triangles[i] + body->vertex_offset;
    if (status == PL_OK)
        s->triangle_count += count;
    pl_free(task->ctx, triangles);
    return status;
}

static pl_status make_surface(pl_task *task, surface *s)
{
    pl_status status = PL_OK;
    int capacity = 0, *place = NULL;
    for (int b = 0; b < task->scene->body_count; b++)
        PL_CHECK(append_body(task, &task->scene->bodies[b], s, &capacity), done);
    PL_NEW(task->ctx, place, task->scene->vertex_count, done);
    PL_NEW(task->ctx, s->vertex, task->scene->vertex_count, done);
    for (int i = 0; i < 3 * s->triangle_count; i++)
        place[s->triangles[i]] = 1;
    for (int i = 0; i < task->scene->vertex_count; i++)
        if (place[i]) {
            s->vertex[s->vertex_count] = i;
            place[i] = s->vertex_count++;
        }
    for (int i = 0; i < 3 * s->triangle_count; i++)
        s->triangles[i] = place[s->triangles[i]];
done:
    pl_free(task->ctx, place);
    return status;
}

/* The motion at x, every few steps. */
static pl_status add_motion(pl_fit *fit, pl_report *report, const surface *s, const double *x,
                            const char *name, double opacity)
{
    pl_status status = PL_OK;
    pl_task *task = fit->task;
    int every = (task->steps + FRAMES - 1) / FRAMES, count = task->steps / every + 1;
    double *frames = NULL;
    pl_report_trajectory t = pl_report_trajectory_default();
    PL_NEW(fit->ctx, frames, (size_t)count * (size_t)s->vertex_count * 3, done);
    PL_CHECK(pl_evaluation_run(fit->evaluation, x), done);
    for (int k = 0; k < count; k++) {
        PL_CHECK(pl_rollout_state(fit->evaluation->rollout, k * every, fit->evaluation->q, NULL), done);
        double *frame = frames + 3 * (size_t)k * (size_t)s->vertex_count;
        for (int i = 0; i < s->vertex_count; i++)
            memcpy(frame + 3 * i, fit->evaluation->q + 3 * (size_t)s->vertex[i], 3 * sizeof *frame);
    }
    t.name = name;
    t.opacity = opacity;
    t.vertex_count = s->vertex_count;
    t.triangle_count = s->triangle_count;
    t.triangles = s->triangles;
    t.frame_count = count;
    t.frames = frames;
    t.time_step = every * task->scene->def.time_step;
    status = pl_report_add_trajectory(report, &t);
done:
    pl_free(fit->ctx, frames);
    return status;
}

static pl_status add_motions(pl_fit *fit, pl_report *report)
{
    pl_status status = PL_OK;
    surface s = {0};
    double *truth = NULL;
    bool known = true;
    for (int k = 0; k < fit->task->unknown_count; k++)
        known = known && isfinite(fit->task->unknowns[k].truth);
    PL_CHECK(make_surface(fit->task, &s), done);
    PL_CHECK(
        add_motion(fit, report, &s, pl_optimizer_x(fit->optimizer, fit->optimizer->state), "fitted", 1),
        done);
    PL_CHECK(add_motion(fit, report, &s, fit->task->initial, "initial guess", 0.35), done);
    if (known) {
        PL_NEW(fit->ctx, truth, fit->task->n, done);
        pl_task_true_x(fit->task, truth);
        PL_CHECK(add_motion(fit, report, &s, truth, "target", 0.35), done);
    }
done:
    pl_free(fit->ctx, truth);
    surface_free(fit->ctx, &s);
    return status;
}

/* Obstacles where the scene has them; a mesh's surface is not kept, so that one is not shown. */
static pl_status add_colliders(const pl_scene *scene, pl_report *report)
{
    for (int c = 0; c < scene->collider_count; c++) {
        const pl_obstacle *obstacle = &scene->colliders[c];
        pl_collider_def def = pl_collider_def_default();
        def.name = obstacle->name;
        def.shape = pl_collider_shape(obstacle->shape, def.size);
        def.table = (pl_table){obstacle->pose.count, obstacle->pose.time, obstacle->pose.value};
        if (def.shape != PL_MESH)
            PL_TRY(pl_report_add_collider(report, &def));
    }
    return PL_OK;
}

static pl_status add_fit(pl_fit *fit, pl_report *report, const pl_fit_result *r)
{
    static const char *const methods[] = {"gradient descent", "Adam", "L-BFGS-B",
                                          "Levenberg-Marquardt"};
    static const char *const stages[] = {"simulation", "gradients", "other"};
    const double seconds[] = {r->forward_seconds, r->backward_seconds,
                              fmax(0, r->seconds - r->forward_seconds - r->backward_seconds)};
    char steps[32], vertices[32], step[32], rollouts[32], sweeps[32], evaluations[32], tape[32];
    snprintf(steps, sizeof steps, "%d", r->steps);
    snprintf(vertices, sizeof vertices, "%d", fit->task->scene->vertex_count);
    snprintf(step, sizeof step, "%g s", fit->task->scene->def.time_step);
    snprintf(rollouts, sizeof rollouts, "%d", r->rollouts);
    snprintf(sweeps, sizeof sweeps, "%d", r->sweeps);
    snprintf(evaluations, sizeof evaluations, "%d", r->evaluations);
    snprintf(tape, sizeof tape, "%.1f MB", (double)r->tape_bytes / 1e6);
    const char *const settings[] = {
        "method", methods[fit->task->optimizer.method], "time step", step, "steps", steps, "vertices",
        vertices};
    const char *const statistics[] = {"stopped because",
                                      pl_stop_text(r->stop),
                                      "evaluations",
                                      evaluations,
                                      "simulations",
                                      rollouts,
                                      "sweeps",
                                      sweeps,
                                      "tape",
                                      tape};
    bool checked = fit->task->check.step > 0, sure = isfinite(r->standard_error[0]);
    const pl_report_fit f = {.parameter_count = r->parameter_count,
                             .names = r->names,
                             .units = r->units,
                             .iteration_count = r->row_count,
                             .loss = r->loss,
                             .values = r->values,
                             .gradient = r->gradient,
                             .difference_gradient = checked ? r->difference : NULL,
                             .truth = r->truth,
                             .standard_error = sure ? r->standard_error : NULL,
                             .correlation = sure ? r->correlation : NULL,
                             .seconds = r->seconds,
                             .stage_count = 3,
                             .stages = stages,
                             .stage_seconds = seconds,
                             .setting_count = 4,
                             .settings = settings,
                             .statistic_count = 5,
                             .statistics = statistics};
    return pl_report_add_fit(report, &f);
}

pl_status pl_fit_report(pl_fit *fit, const pl_fit_result *result)
{
    pl_status status = PL_OK;
    pl_report *report = NULL;
    pl_report_def def = pl_report_def_default();
    char path[4096];
    if (fit->task->name[0])
        def.title = fit->task->name;
    PL_CHECK(pl_report_create(fit->ctx, &def, &report), done);
    PL_CHECK(add_motions(fit, report), done);
    PL_CHECK(add_colliders(fit->task->scene, report), done);
    PL_CHECK(add_fit(fit, report, result), done);
    pl_fit_path(fit, "report.html", path, sizeof path);
    status = pl_report_write(report, path);
done:
    pl_report_destroy(report);
    return status;
}
