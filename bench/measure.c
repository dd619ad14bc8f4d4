/* One case from creation to gradient, with the time of each stage and the memory it took. */
#include "bench.h"

#include <malloc.h>
#include <math.h>
#include <string.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

double bench_milliseconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_cpu_milliseconds(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* A value of /proc/self/status in MB, 0 where there is no such file. */
static double process_memory(const char *key)
{
    char line[256];
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), ": %ld", &kilobytes);
    if (file)
        fclose(file);
    return (double)kilobytes / 1024;
}

/* With freed memory given back first. */
void bench_memory_reset(void)
{
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
}

double bench_memory_peak(void)
{
    return process_memory("VmHWM");
}

typedef struct forward_sum {
    bench_result *result;
    double last, total; /* ms */
} forward_sum;

static bool add_step(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    forward_sum *sum = user;
    bench_result *r = sum->result;
    double now = bench_milliseconds(), took = now - sum->last;
    (void)state;
    sum->last = now;
    sum->total += took;
    if (step <= 10)
        r->first += took;
    r->steps++;
    r->iterations += info->iterations;
    r->solves += info->linear_solves;
    r->factorizations += info->factorizations;
    r->contacts += info->contacts;
    r->residual = fmax(r->residual, info->residual);
    for (int k = 0; k < PL_STAGE_COUNT; k++)
        r->share[k] += info->milliseconds[k];
    return true;
}

static void finish_forward(const forward_sum *sum)
{
    bench_result *r = sum->result;
    double staged = 0;
    for (int k = 0; k < PL_STAGE_COUNT; k++)
        staged += r->share[k];
    for (int k = 0; k < PL_STAGE_COUNT; k++)
        r->share[k] /= staged > 0 ? staged : 1;
    r->forward = sum->total / r->steps;
    r->first /= r->steps < 10 ? r->steps : 10;
    r->iterations /= r->steps;
    r->solves /= r->steps;
    r->factorizations /= r->steps;
    r->contacts /= r->steps;
}

typedef struct distance {
    int last, n;
    const double *start;
} distance;

/* L = 1/(2N) sum |x(T) - x(0)|^2 */
static bool distance_term(void *user, int step, const double *q, const double *v, double *value,
                          double *dq, double *dv)
{
    const distance *d = user;
    (void)v;
    (void)dv;
    for (int i = 0; step == d->last && i < 3 * d->n; i++) {
        double moved = q[i] - d->start[i];
        *value += 0.5 * moved * moved / d->n;
        dq[i] += moved / d->n;
    }
    return true;
}

pl_status bench_backward(bench_world *w, pl_rollout *rollout, const pl_adjoint_def *def,
                         pl_adjoint_info *info)
{
    pl_state *start = NULL;
    pl_gradient *gradient = NULL;
    int steps = pl_rollout_steps(rollout);
    unsigned wanted =
        PL_BIT(PL_POSITION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) | PL_BIT(PL_FRICTION);
    pl_status status = pl_state_create(w->scene, &start);
    if (status == PL_OK)
        status = pl_gradient_create(w->scene, steps, wanted, &gradient);
    if (status == PL_OK) {
        distance d = {steps, start->vertex_count, start->q};
        status = pl_rollout_backward(rollout, def, distance_term, &d, gradient, info);
    }
    pl_gradient_destroy(w->scene, gradient);
    if (start)
        pl_state_destroy(w->scene, start);
    return status;
}

static pl_status measure_backward(bench_world *w, pl_rollout *rollout, bench_result *out)
{
    pl_adjoint_def def = pl_adjoint_def_default();
    pl_adjoint_info info;
    double cpu = bench_cpu_milliseconds();
    pl_status status = bench_backward(w, rollout, &def, &info);
    if (status == PL_OK) {
        out->backward = info.milliseconds / out->steps;
        out->backward_cpu = (bench_cpu_milliseconds() - cpu) / out->steps;
        out->adjoint_iterations = (double)info.iterations / out->steps;
        out->adjoint_factorizations = (double)info.factorizations / out->steps;
    }
    return status;
}

pl_status bench_measure(const bench_case *c, pl_context *ctx, pl_solver_kind solver, int steps,
                        bool backward, bench_result *out)
{
    bench_world w = {0};
    pl_rollout *rollout = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    *out = (bench_result){0};
    bench_memory_reset();
    double began = bench_milliseconds();
    bench_build(c, ctx, solver, &w);
    pl_status status = w.status;
    double cpu = bench_cpu_milliseconds();
    forward_sum sum = {.result = out, .last = bench_milliseconds()};
    out->setup = sum.last - began;
    def.steps = steps > 0 ? steps : c->steps;
    def.tape = backward;
    def.progress = add_step;
    def.progress_user = &sum;
    if (status == PL_OK) {
        pl_scene_info info = pl_scene_get_info(w.scene);
        out->vertices = info.vertex_count;
        out->elements = info.element_count;
        status = pl_rollout_run(w.sim, w.state, &def, &rollout);
    }
    if (status == PL_OK) {
        finish_forward(&sum);
        out->forward_cpu = (bench_cpu_milliseconds() - cpu) / out->steps;
    }
    if (status == PL_OK && backward)
        status = measure_backward(&w, rollout, out);
    out->memory = bench_memory_peak();
    pl_rollout_destroy(rollout);
    bench_close(&w);
    return status;
}
