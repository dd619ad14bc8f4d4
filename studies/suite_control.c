/* Fits of control tasks, and what their bodies do with the signals that were found. */
#include "suite_control.h"

#include <pliant/report.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *suite_file(const suite_place *place, const char *name, const char *file, char out[2048])
{
    snprintf(out, 2048, "%s/%s/%s", place->out, name, file);
    return out;
}

bool suite_write_table(const suite_place *place, const char *name, const char *base,
                       const suite_table *table)
{
    static const char *const endings[] = {"md", "csv", "tex"};
    const suite_table *const list[] = {table};
    bool good = true;
    for (int i = 0; i < CLI_COUNT(endings) && good; i++) {
        char path[2048], file[64];
        snprintf(file, sizeof file, "%s.%s", base, endings[i]);
        good = suite_table_write(suite_file(place, name, file, path), 1, list);
    }
    return good;
}

static bool keep_going(void *user)
{
    (void)user;
    return !cli_interrupted();
}

pl_status suite_fit_run(pl_context *ctx, const suite_place *place, const char *name, const char *stage,
                        const char *file, const char *const *overrides, suite_fit *out)
{
    char path[2048], directory[2048], checkpoint[2100];
    const char *list[CLI_LIST_MAX + 16];
    int count = 0;
    *out = (suite_fit){0};
    snprintf(path, sizeof path, "%s/%s.json", place->tasks, file);
    mkdir(suite_file(place, name, "", directory), 0777);
    suite_file(place, name, stage, directory);
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint.json", directory);
    while (*overrides)
        list[count++] = *overrides++;
    for (int i = 0; i < place->set->count; i++)
        list[count++] = place->set->items[i];
    pl_status status = pl_task_load(ctx, path, count, list, &out->task);
    if (status != PL_OK)
        return status;
    pl_fit_def def = pl_fit_def_default();
    def.directory = directory;
    def.resume = place->resume && access(checkpoint, R_OK) == 0;
    def.report = place->report;
    def.keep_going = keep_going;
    status = pl_task_fit(out->task, &def, &out->result);
    if (status == PL_OK) {
        printf("%-14s %-10s %5d iterations  %7.1f s  %s\n", name, stage, out->result->iterations,
               out->result->seconds, out->result->verdict);
        fflush(stdout);
    }
    return status;
}

void suite_fit_free(suite_fit *fit)
{
    pl_fit_result_free(fit->task, fit->result);
    pl_task_destroy(fit->task);
    *fit = (suite_fit){0};
}

void suite_vertex_shares(const pl_mesh *mesh, double *out)
{
    double whole = 0;
    memset(out, 0, sizeof *out * (size_t)mesh->vertex_count);
    for (int e = 0; e < mesh->tet_count; e++) {
        const int *t = mesh->tets + 4 * (size_t)e;
        double d[9];
        for (int i = 0; i < 9; i++)
            d[i] = mesh->vertices[3 * t[1 + i / 3] + i % 3] - mesh->vertices[3 * t[0] + i % 3];
        double volume = fabs(d[0] * (d[4] * d[8] - d[5] * d[7]) - d[1] * (d[3] * d[8] - d[5] * d[6]) +
                             d[2] * (d[3] * d[7] - d[4] * d[6]));
        for (int i = 0; i < 4; i++)
            out[t[i]] += volume / 4;
        whole += volume;
    }
    for (int v = 0; v < mesh->vertex_count; v++)
        out[v] /= whole;
}

static int nearest_vertex(const pl_mesh *mesh, const double *q, const double at[3])
{
    int nearest = 0;
    double least = INFINITY;
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *x = q + 3 * (size_t)v;
        double distance = hypot(hypot(x[0] - at[0], x[1] - at[1]), x[2] - at[2]);
        if (distance >= least)
            continue;
        least = distance;
        nearest = v;
    }
    return nearest;
}

pl_status suite_follow(const suite_fit *fit, pl_channel channel, const double *at, double **path)
{
    const pl_fit_result *r = fit->result;
    pl_scene *scene = pl_task_scene(fit->task);
    pl_body_info body;
    pl_sim *sim = NULL;
    pl_state *state = NULL;
    const double *values = r->values + (size_t)(r->row_count - 1) * (size_t)r->parameter_count;
    int count = r->signal_count > 0 ? r->signal_count : r->parameter_count;
    double *row = calloc((size_t)count + 1, sizeof *row), *share = NULL;
    *path = calloc(3 * ((size_t)r->steps + 1), sizeof **path);
    pl_status status = row && *path ? PL_OK : PL_ERROR_MEMORY;
    if (status == PL_OK)
        status = pl_scene_body(scene, 0, &body);
    if (status == PL_OK)
        status = pl_sim_create(scene, &sim);
    if (status == PL_OK)
        status = pl_state_create(scene, &state);
    if (status == PL_OK && !(share = calloc((size_t)body.mesh->vertex_count, sizeof *share)))
        status = PL_ERROR_MEMORY;
    if (status == PL_OK && at)
        share[nearest_vertex(body.mesh, state->q, at)] = 1;
    else if (status == PL_OK)
        suite_vertex_shares(body.mesh, share);
    for (int step = 0; status == PL_OK && step <= r->steps; step++) {
        pl_inputs inputs = {0};
        inputs.of[channel] = row;
        for (int k = 0; step > 0 && k < count; k++)
            row[k] = r->signal_count > 0 ? r->signals[(size_t)k * (size_t)r->steps + (size_t)step - 1]
                                         : values[k];
        if (step > 0)
            status = pl_step(sim, state, &inputs, NULL);
        for (int i = 0; i < 3 * body.mesh->vertex_count; i++)
            (*path)[3 * step + i % 3] += share[i / 3] * state->q[i];
    }
    if (state)
        pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    free(row);
    free(share);
    return status;
}

pl_status suite_draw_courses(pl_context *ctx, const suite_place *place, const char *name,
                             const char *file, const char *title, const char *label, int axis, double h,
                             int count, const suite_course *courses)
{
    enum { MOST = 4 };
    char path[2048];
    pl_plot_line lines[MOST] = {0};
    double *x[MOST] = {0}, *t[MOST] = {0};
    pl_plot plot = pl_plot_default();
    pl_status status = PL_OK;
    for (int i = 0; i < count && i < MOST && status == PL_OK; i++) {
        int rows = courses[i].steps + 1;
        x[i] = calloc((size_t)rows, sizeof(double));
        t[i] = calloc((size_t)rows, sizeof(double));
        if (!x[i] || !t[i])
            status = PL_ERROR_MEMORY;
        for (int k = 0; status == PL_OK && k < rows; k++) {
            x[i][k] = courses[i].path[3 * k + axis] - courses[i].path[axis];
            t[i][k] = h * k;
        }
        lines[plot.line_count++] =
            (pl_plot_line){.name = courses[i].name, .count = rows, .x = t[i], .y = x[i]};
    }
    plot.title = title;
    plot.x_label = "time, s";
    plot.y_label = label;
    plot.lines = lines;
    if (status == PL_OK)
        status = pl_plot_write(ctx, &plot, suite_file(place, name, file, path));
    for (int i = 0; i < MOST; i++) {
        free(x[i]);
        free(t[i]);
    }
    return status;
}
