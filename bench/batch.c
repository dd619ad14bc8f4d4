/* Batches: forward and backward of N draping cloths, beside the paper's figures. */
#include "bench.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "drape.h"

#include <stdlib.h>

/* The paper's table of environments on an RTX 5090. */
typedef struct paper_row {
    int environments;
    double forward, backward, iteration, memory; /* ms a step, ms a step, s, GB */
} paper_row;

static const paper_row paper[] = {
    {4, 3.4, 11.9, 0.82, 3.1},       {8, 6.1, 29.9, 1.91, 3.8},        {16, 12.3, 33.3, 2.55, 3.7},
    {32, 29.2, 34.3, 3.78, 5.0},     {64, 64.5, 61.0, 7.51, 6.1},      {128, 159.3, 94.1, 15.1, 9.8},
    {256, 436.0, 158.6, 34.6, 15.8}, {512, 1317.7, 294.3, 90.3, 29.2},
};

typedef struct measured {
    int vertices;
    double forward, backward; /* CPU s */
    double seconds;           /* of both */
    double memory;            /* GB, the process at its peak */
} measured;

/* Mean squared distance of the last state from the start. */
typedef struct sag {
    const double *start; /* [n, 3] */
    int n, steps;
} sag;

static bool add_sag(void *user, int environment, int step, const double *q, const double *v,
                    double *value, double *dq, double *dv)
{
    const sag *s = user;
    (void)environment, (void)v, (void)dv;
    for (int i = 0; step == s->steps && i < 3 * s->n; i++) {
        double d = q[i] - s->start[i];
        *value += d * d / s->n;
        dq[i] += 2 * d / s->n;
    }
    return !cli_interrupted();
}

static bool going_on(void *user, int environment, int step, const pl_state *state,
                     const pl_step_info *info)
{
    (void)user, (void)environment, (void)step, (void)state, (void)info;
    return !cli_interrupted();
}

static pl_status set_stiffness(pl_batch *batch, int elements)
{
    int count = pl_batch_environments(batch);
    double *young = malloc(sizeof *young * (size_t)count * (size_t)elements);
    if (!young)
        return PL_ERROR_MEMORY;
    for (int k = 0; k < count * elements; k++)
        young[k] = drape_young(k / elements);
    pl_status status = pl_batch_set(batch, PL_YOUNG, count, young);
    free(young);
    return status;
}

static pl_status run_both(pl_batch *batch, pl_scene *scene, int steps, measured *out)
{
    pl_rollouts *rollouts = NULL;
    pl_gradient *gradient = NULL;
    pl_state *start = NULL;
    pl_batch_run_def run = pl_batch_run_def_default();
    run.steps = steps;
    run.progress = going_on;
    pl_status status = pl_state_create(scene, &start);
    if (status == PL_OK)
        status = pl_batch_gradient_create(batch, steps, PL_BIT(PL_YOUNG), &gradient);
    double began = bench_milliseconds(), cpu = bench_cpu_milliseconds();
    if (status == PL_OK)
        status = pl_batch_run(batch, &run, &rollouts);
    double between = bench_cpu_milliseconds();
    if (status == PL_OK) {
        sag loss = {start->q, start->vertex_count, steps};
        status = pl_rollouts_backward(rollouts, NULL, add_sag, &loss, gradient, NULL);
        out->vertices = start->vertex_count;
    }
    out->forward = (between - cpu) / 1e3;
    out->backward = (bench_cpu_milliseconds() - between) / 1e3;
    out->seconds = (bench_milliseconds() - began) / 1e3;
    pl_gradient_destroy(scene, gradient);
    pl_rollouts_destroy(rollouts);
    pl_state_destroy(scene, start);
    return status;
}

static pl_status measure(pl_context *ctx, int environments, int workers, int steps, measured *out)
{
    pl_scene *scene = NULL;
    pl_batch *batch = NULL;
    pl_batch_def def = {.environments = environments, .workers = workers};
    bench_memory_reset();
    pl_status status = drape_scene(ctx, 22, &scene);
    if (status == PL_OK)
        status = pl_batch_create(scene, &def, &batch);
    if (status == PL_OK)
        status = set_stiffness(batch, pl_scene_row_count(scene, PL_YOUNG));
    if (status == PL_OK)
        status = run_both(batch, scene, steps, out);
    out->memory = bench_memory_peak() / 1024;
    pl_batch_destroy(batch);
    pl_scene_destroy(scene);
    return status;
}

static void row(FILE *file, int environments, int steps, const measured *m)
{
    fprintf(file, "| %d | %d | %d | %.1f | %.1f | %.2f | %.3f |", environments,
            environments * m->vertices, 3 * environments * m->vertices, 1e3 * m->forward / steps,
            1e3 * m->backward / steps, m->seconds, m->memory);
    const paper_row *p = NULL;
    for (int k = 0; k < CLI_COUNT(paper); k++)
        if (paper[k].environments == environments)
            p = &paper[k];
    if (p)
        fprintf(file, " %.1f | %.1f | %.2f | %.1f |\n", p->forward, p->backward, p->iteration,
                p->memory);
    else
        fprintf(file, " | | | |\n");
    fflush(file);
}

pl_status bench_batch(FILE *file, pl_context *ctx, int most, int steps)
{
    int threads = pl_context_threads(ctx);
    measured m = {0}, one = {0};
    pl_status status = PL_OK;
    fprintf(
        file,
        "| environments | vertices | unknowns | forward (CPU ms a step) | backward (CPU ms a step) | "
        "iteration (s) | GB | GPU forward (ms) | GPU backward (ms) | GPU iteration (s) | GPU GB "
        "|\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int n = 4; n <= most && status == PL_OK; n *= 2) {
        cli_line_show("batch of %d", n);
        status = measure(ctx, n, 0, steps, &m);
        cli_line_clear();
        if (status == PL_OK)
            row(file, n, steps, &m);
    }
    if (status == PL_OK && threads > 1) {
        cli_line_show("one worker");
        int n = most < 8 ? most : 8;
        status = measure(ctx, n, threads, steps, &m);
        if (status == PL_OK)
            status = measure(ctx, n, 1, steps, &one);
        cli_line_clear();
        if (status == PL_OK)
            fprintf(file,
                    "\n%d workers take %d environments %.2f times as fast as one, with %.2f times its "
                    "CPU time.\n",
                    threads, n, one.seconds / m.seconds,
                    (m.forward + m.backward) / (one.forward + one.backward));
    }
    fprintf(file,
            "\nOne iteration is a rollout of %d steps and its gradient by Young's modulus of every "
            "element. Cloths of 1,013 vertices over a frictionless sphere of 0.15 m, 10 kPa to 1 "
            "MPa; GPU: the paper's figures on an RTX 5090.\n",
            steps);
    return status;
}
