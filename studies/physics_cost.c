/*
 * What accuracy costs: a rod that swings along itself, a clamped beam let go and Turek and Hron's CSM3,
 * by every integrator with steps of several lengths. The error is that of one coordinate of a tip,
 * r.m.s. over samples 0.04 s apart, over that of its motion, against TR-BDF2 with the shortest step.
 * Time is the processor's.
 */
#include "physics.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define PI      3.14159265358979323846
#define SAMPLE  0.04
#define SAMPLES 25
#define LENGTHS 5    /* of steps, each half the one before, */
#define MOST    10   /* or more, until an integrator is as good as */
#define LEVEL   0.02 /* of the motion, which they are compared at */

static const char *const names[] = {"euler", "bdf2", "tr_bdf2"};

/* ---- motions: each opens its world and says which coordinate is looked at */

static pl_status open_rod(study *s, bench_world *w, double h, pl_integrator integrator, int *at)
{
    const double length = sqrt(0.1);
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    def.time_step = h;
    def.integrator = integrator;
    def.gravity[2] = 0;
    body.young = 1e5;
    body.poisson = 0;
    bench_open(w, s->ctx, &def);
    bench_add(w, bench_grid(w, 21, 2, 2, length / 20), &body);
    bench_pin(w, 0, false);
    pl_status status = bench_start(w);
    int tip = 0;
    for (int i = 0; status == PL_OK && i < w->state->vertex_count; i++) {
        w->state->v[3 * i] = 0.1 * sin(0.5 * PI * w->state->q[3 * i] / length);
        tip = w->state->q[3 * i] > w->state->q[3 * tip] ? i : tip;
    }
    *at = 3 * tip;
    return status;
}

static pl_status open_bar(study *s, bench_world *w, double h, pl_integrator integrator, int *at)
{
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    pl_mesh *mesh = NULL;
    def.time_step = h;
    def.integrator = integrator;
    body.young = 263824;
    body.poisson = 0.45;
    body.density = 1070;
    bench_open(w, s->ctx, &def);
    if (w->status == PL_OK)
        w->status = pl_mesh_bar(s->ctx, 0.1, 0.03, 0.03, 0.01, &mesh);
    bench_add(w, mesh, &body);
    bench_pin(w, 0, false);
    pl_status status = bench_start(w);
    int tip = 0;
    for (int i = 0; status == PL_OK && i < w->state->vertex_count; i++)
        tip = w->state->q[3 * i] > w->state->q[3 * tip] ? i : tip;
    *at = 3 * tip + 2;
    return status;
}

static pl_status open_csm3(study *s, bench_world *w, double h, pl_integrator integrator, int *at)
{
    int tip;
    pl_status status = physics_open_beam(s, w, 4, 1.4e6, h, integrator, &tip);
    *at = 3 * tip + 1;
    return status;
}

typedef struct motion {
    const char *name;
    pl_status (*open)(study *s, bench_world *w, double h, pl_integrator integrator, int *at);
    int samples;
} motion;

static const motion motions[] = {
    {"rod", open_rod, 10}, {"beam", open_bar, 10}, {"CSM3", open_csm3, 25}};

/* ---- runs */

typedef struct run {
    double h, error, milliseconds, path[SAMPLES];
} run;

static pl_status go(study *s, const motion *m, pl_integrator integrator, double h, run *out)
{
    bench_world w;
    int at, each = (int)lround(SAMPLE / h);
    pl_status status = m->open(s, &w, h, integrator, &at);
    double start = status == PL_OK ? w.state->q[at] : 0;
    clock_t began = clock();
    *out = (run){.h = h};
    for (int k = 1; status == PL_OK && k <= m->samples * each; k++) {
        status = pl_step(w.sim, w.state, NULL, NULL);
        if (k % each == 0)
            out->path[k / each - 1] = w.state->q[at] - start;
        if (!study_progress(s, k, m->samples * each))
            status = study_stopped(s);
    }
    out->milliseconds = 1e3 * (double)(clock() - began) / CLOCKS_PER_SEC;
    bench_close(&w);
    return status;
}

static double distance(const motion *m, const run *a, const run *b)
{
    double apart = 0, size = 0;
    for (int k = 0; k < m->samples; k++) {
        apart += (a->path[k] - b->path[k]) * (a->path[k] - b->path[k]);
        size += b->path[k] * b->path[k];
    }
    return sqrt(apart / size);
}

/* What a run with an error of LEVEL would take: between two runs the logarithms are on a line. */
static double time_for(const run *r, int count)
{
    int k = 0;
    while (k < count && r[k].error > LEVEL)
        k++;
    if (k == 0 || k == count)
        return k == 0 ? r[0].milliseconds : INFINITY;
    double t = log(LEVEL / r[k - 1].error) / log(r[k].error / r[k - 1].error);
    return r[k - 1].milliseconds * pow(r[k].milliseconds / r[k - 1].milliseconds, t);
}

static pl_status plot(study *s, const motion *m, run (*runs)[MOST], const int count[3])
{
    pl_plot_line lines[3];
    double x[3][MOST], y[3][MOST];
    char file[64], title[64];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < count[i]; k++) {
            x[i][k] = runs[i][k].milliseconds;
            y[i][k] = runs[i][k].error;
        }
        lines[i] =
            (pl_plot_line){.name = names[i], .count = count[i], .x = x[i], .y = y[i], .markers = true};
    }
    pl_plot p = pl_plot_default();
    snprintf(title, sizeof title, "%s: error against time", m->name);
    snprintf(file, sizeof file, "physics-cost-%s", m->name);
    p.title = title;
    p.x_label = "processor time (ms)";
    p.y_label = "error of the motion";
    p.log_x = p.log_y = true;
    p.line_count = 3;
    p.lines = lines;
    return study_plot(s, &p, file);
}

static pl_status compare(study *s, const motion *m, study_table *t)
{
    run exact, runs[3][MOST];
    int count[3] = {0};
    pl_status status = go(s, m, PL_TR_BDF2, 0.02 / (s->quick ? 32 : 64), &exact);
    for (int i = 0; i < 3; i++)
        for (int k = 0; status == PL_OK && k < MOST && (k < LENGTHS || runs[i][k - 1].error > LEVEL);
             k++) {
            run *r = &runs[i][count[i]++];
            status = go(s, m, (pl_integrator)i, 0.02 / (1 << k), r);
            r->error = distance(m, r, &exact);
            study_cell(t, "%s", m->name);
            study_cell(t, "%s", names[i]);
            study_cell(t, "%g", r->h);
            study_cell(t, "%.2e", r->error);
            study_cell(t, "%.0f", r->milliseconds);
        }
    if (status != PL_OK)
        return status;
    double by[3];
    for (int i = 0; i < 3; i++)
        by[i] = time_for(runs[i], count[i]);
    study_aim(s, by[0] >= 2 * fmin(by[1], by[2]),
              "%s: an error of %g takes %.0f ms by Euler, %.0f by BDF2, %.0f by TR-BDF2", m->name,
              LEVEL, by[0], by[1], by[2]);
    return plot(s, m, runs, count);
}

pl_status physics_cost(study *s)
{
    study_table t = study_table_new("physics-cost", "motion|integrator|h, s|error|ms");
    pl_status status = PL_OK;
    for (size_t k = 0; status == PL_OK && k < sizeof motions / sizeof *motions; k++)
        status = compare(s, &motions[k], &t);
    if (status == PL_OK) {
        study_table_print(&t, stdout, false);
        printf("\n");
        status = study_table_write(s, &t);
    }
    study_table_free(&t);
    return status;
}
