/* `pliant suite seal_crawl`: a seal with fourteen groups of muscles learns to crawl. Sinusoids that do
 * not know of the floor take it backward; receding windows of 60 steps, each found by L-BFGS-B and half
 * of it made, take it forward. */
#include "suite_control.h"

#include <math.h>
#include <stdlib.h>

#define NAME "seal_crawl"
#define AIM  4.4 /* body lengths, as in the paper */

typedef struct stage {
    suite_course course; /* of the centre of mass */
    int iterations, simulations;
    double seconds, displacement, length; /* s, m, m */
} stage;

static double body_length(const suite_fit *fit)
{
    pl_body_info body;
    double low = INFINITY, high = -INFINITY;
    if (pl_scene_body(pl_task_scene(fit->task), 0, &body) != PL_OK)
        return NAN;
    for (int v = 0; v < body.mesh->vertex_count; v++) {
        low = fmin(low, body.mesh->vertices[3 * v]);
        high = fmax(high, body.mesh->vertices[3 * v]);
    }
    return high - low;
}

static pl_status run_stage(pl_context *ctx, const suite_place *place, const char *file,
                           const char *const *overrides, stage *out)
{
    suite_fit fit;
    pl_status status = suite_fit_run(ctx, place, NAME, out->course.name, file, overrides, &fit);
    if (status == PL_OK)
        status = suite_follow(&fit, PL_ACTIVATION, NULL, &out->course.path);
    if (status == PL_OK) {
        const pl_fit_result *r = fit.result;
        out->iterations = r->iterations;
        out->simulations = r->evaluations;
        out->course.steps = r->steps;
        out->seconds = r->seconds;
        out->displacement = out->course.path[3 * r->steps] - out->course.path[0];
        out->length = body_length(&fit);
        printf("%-14s %-10s %.3f m in %d steps, %.2f body lengths\n", NAME, out->course.name,
               out->displacement, r->steps, out->displacement / out->length);
    }
    suite_fit_free(&fit);
    return status;
}

/* ------------------------------------------------------------------------------- tables, pictures */

static void add_row(suite_table *t, const char *name, const stage *s, const double numbers[5])
{
    t->columns = 0;
    snprintf(t->cells[t->rows][0], TABLE_CELL, "%s", name);
    t->names[t->columns++] = "gait";
    suite_table_put(t, "steps", "%.0f", s ? s->course.steps : 500);
    suite_table_put(t, "iterations", "%.0f", numbers[0]);
    suite_table_put(t, "simulations", "%.0f", numbers[1]);
    suite_table_put(t, "displacement m", "%.3f", numbers[2]);
    suite_table_put(t, "body lengths", "%.2f", numbers[3]);
    suite_table_put(t, "s", "%.0f", numbers[4]);
    t->rows++;
}

static bool write_table(const suite_place *place, int count, const stage *stages)
{
    const double sinusoid[] = {NAN, NAN, -0.21, NAN, NAN}, crawl[] = {69, NAN, 6.13, 4.4, 48 * 60};
    suite_table *table = calloc(1, sizeof *table);
    if (!table)
        return false;
    table->title = "A seal that learns to crawl; the paper's on an RTX 5090";
    for (int i = 0; i < count; i++) {
        const stage *s = &stages[i];
        const double numbers[] = {s->iterations, s->simulations, s->displacement,
                                  s->displacement / s->length, s->seconds};
        add_row(table, s->course.name, s, numbers);
    }
    add_row(table, "sinusoids (paper)", NULL, sinusoid);
    add_row(table, "found (paper)", NULL, crawl);
    bool good = suite_write_table(place, NAME, "crawl", table);
    free(table);
    return good;
}

pl_status suite_seal_crawl(pl_context *ctx, const suite_place *place, bool *reached)
{
    char size[96];
    stage stages[] = {{.course.name = "sinusoids"}, {.course.name = "windows"}};
    snprintf(size, sizeof size, "scene.bodies[0].mesh.vertices=%d", place->vertices);
    const char *given = place->vertices > 0 ? size : "version=1";
    const char *const none[] = {given, NULL};
    const char *const windows[] = {given,
                                   "window={\"steps\": 60, \"advance\": 30}",
                                   "loss[0].first_step=30",
                                   "loss[0].every=30",
                                   "optimizer.iterations=12",
                                   NULL};
    pl_status status = run_stage(ctx, place, "seal_sinusoid", none, &stages[0]);
    if (status == PL_OK)
        status = run_stage(ctx, place, "seal_crawl", windows, &stages[1]);
    const suite_course courses[] = {stages[0].course, stages[1].course};
    if (status == PL_OK)
        status = suite_draw_courses(ctx, place, NAME, "displacement.svg", "A seal that learns to crawl",
                                    "displacement, m", 0, 0.01, 2, courses);
    if (status == PL_OK && !write_table(place, 2, stages))
        status = PL_ERROR_FILE;
    *reached = status == PL_OK && stages[1].displacement >= AIM * stages[1].length;
    for (int i = 0; i < CLI_COUNT(stages); i++)
        free(stages[i].course.path);
    return status;
}
