/*
 * Devices: their kernels and whole steps beside the host's, with the bytes and flops of each, and from
 * these what a named card should take. That is an estimate: the larger of what its bandwidth and its
 * rates allow, and so much for each launch.
 */
#include "bench.h"

#include "linalg/chol.h"
#include "linalg/chol_plan.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

#define REPEATS 5
#define LAUNCH  4e-3 /* ms of a card: a kernel's launch */
#define SVD     900  /* flops in double precision of a tet's singular values and stress, */
#define TANGENT 1500 /* and of its tangent */

/* A part of a step on a device, and what it moves and computes. */
typedef struct part {
    const char *name;
    pl_status (*launch)(pl_system *s);
    double host;                   /* ms */
    double bytes, doubles, floats; /* moved; flops in double and single precision */
    int launches;
} part;

static double median(int count, double *x)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && x[j] < x[j - 1]; j--) {
            double swap = x[j];
            x[j] = x[j - 1], x[j - 1] = swap;
        }
    return x[count / 2];
}

/* ---- what is measured */

static pl_status stress(pl_system *s)
{
    return pl_system_elements(s, 0);
}

static pl_status tangent(pl_system *s)
{
    return pl_system_elements(s, PL_DO_TANGENT);
}

static pl_status assemble(pl_system *s)
{
    return pl_system_assemble(s, 0.01);
}

static pl_status begin_solve(pl_system *s)
{
    return pl_system_krylov_begin(s, 1e-30, PL_A_RHS);
}

static pl_status product(pl_system *s)
{
    return pl_system_multiply(s, PL_A_X, PL_A_PART);
}

/* ms of a part on a device, launched and waited for. */
static pl_status time_part(pl_system *s, const part *p, double *ms)
{
    double times[REPEATS];
    PL_TRY(p->launch(s)); /* its kernels are made ready with the first */
    PL_TRY(pl_device_finish(s->device));
    for (int k = 0; k < REPEATS; k++) {
        double began = bench_milliseconds();
        PL_TRY(p->launch(s));
        PL_TRY(pl_device_finish(s->device));
        times[k] = bench_milliseconds() - began;
    }
    *ms = median(REPEATS, times);
    return PL_OK;
}

/* The host's own: stress, tangent with its assembly, factor, solve, product. */
static pl_status time_host(bench_world *w, part parts[5])
{
    pl_sim *sim = w->sim;
    const pl_pattern *pattern = sim->model->pattern;
    size_t n3 = 3 * (size_t)w->state->vertex_count;
    double times[5][REPEATS], *x = calloc(2 * n3, sizeof *x),
                              *blocks = calloc(9 * (size_t)pattern->nnz, sizeof *x);
    pl_chol_plan *plan = NULL;
    pl_chol *chol = NULL;
    pl_status status =
        x && blocks ? pl_chol_plans_get(sim->model->plans, w->ctx, 3, 0, NULL, &plan) : PL_ERROR_MEMORY;
    if (status == PL_OK)
        status = pl_chol_create(w->ctx, plan, &chol);
    for (int k = 0; status == PL_OK && k < REPEATS; k++) {
        double at[6] = {bench_milliseconds()};
        pl_elastic_evaluate(sim->matter.elastic, w->state->q, false, 0, NULL, x, NULL);
        at[1] = bench_milliseconds();
        pl_elastic_evaluate(sim->matter.elastic, w->state->q, false, 1e-4, sim->matter.mass, x, blocks);
        at[2] = bench_milliseconds();
        pl_chol_factor_rough(chol, blocks);
        at[3] = bench_milliseconds();
        status = pl_chol_correct(chol, x, x + n3);
        at[4] = bench_milliseconds();
        pl_bsr_multiply(w->ctx->threads, pattern, blocks, x, x + n3);
        at[5] = bench_milliseconds();
        for (int i = 0; i < 5; i++)
            times[i][k] = at[i + 1] - at[i];
    }
    for (int i = 0; status == PL_OK && i < 5; i++)
        parts[i].host = median(REPEATS, times[i]);
    pl_chol_destroy(chol);
    pl_chol_plan_release(plan);
    free(x);
    free(blocks);
    return status;
}

/* Bytes and flops of each part, by counting. */
static void count_work(const pl_system *s, part parts[6])
{
    const pl_fronts *f = &s->fronts;
    double elements = s->slots, n = s->n, nnz = s->nnz, flops = 0;
    int chunks = 0, levels = f->level_count;
    for (int k = 0; k < f->count; k++) {
        double c = f->front[PL_FRONT_SIZE * k + PL_FRONT_COLUMNS],
               b = f->front[PL_FRONT_SIZE * k + PL_FRONT_BELOW];
        flops += c * c * c / 3 + c * c * b + c * b * b;
    }
    for (int l = 0; l < levels; l++)
        chunks += (f->level_most[l] + PL_COLUMNS - 1) / PL_COLUMNS;
    parts[0].bytes = elements * 8 * (10 + 2 + 12 + 12 + 1);
    parts[0].doubles = elements * SVD;
    parts[0].launches = s->group_count;
    parts[1].bytes = parts[0].bytes + elements * 8 * 9 * PL_SIDES;
    parts[1].doubles = elements * (SVD + TANGENT);
    parts[1].launches = s->group_count;
    parts[2].bytes = elements * 8 * 9 * PL_SIDES * 2 + nnz * 8 * 9;
    parts[2].doubles = elements * 9 * PL_SIDES * 2 + nnz * 18;
    parts[2].launches = 1;
    parts[3].bytes = nnz * 9 * 12 + 4.0 * (double)f->values * 3 + 4.0 * (double)f->rests * 3;
    parts[3].doubles = nnz * 9 * 12;
    parts[3].floats = flops;
    parts[3].launches = 2 + 2 * levels + 3 * chunks;
    parts[4].bytes = 8.0 * (double)f->values + n * 3 * 40;
    parts[4].floats = 4.0 * (double)f->values;
    parts[4].launches = 4 * levels + 5;
    parts[5].bytes = nnz * 76 + n * 8 * 40;
    parts[5].doubles = nnz * 18 + n * 60;
    parts[5].launches = 2;
}

static double estimate(const bench_card *card, const part *p)
{
    double memory = p->bytes / (card->bandwidth * 1e6);
    double compute = p->doubles / (card->doubles * 1e6) + p->floats / (card->floats * 1e6);
    return (memory > compute ? memory : compute) + LAUNCH * p->launches;
}

/* ---- scenes */

/* A body that is held at an end, or a cloth over a ball. */
static void open_world(bench_world *w, pl_context *ctx, const char *device, bool cloth, int nodes)
{
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    def.device = device;
    bench_open(w, ctx, &def);
    if (!cloth) {
        bench_add(w, bench_grid(w, 2 * nodes, nodes, nodes, 0.2 / nodes), &body);
        bench_pin(w, 0, false);
    } else if (w->status == PL_OK) {
        pl_mesh *mesh = NULL;
        pl_collider_def ball = pl_collider_def_default();
        const double unturned[4] = {1, 0, 0, 0}, corner[3] = {-0.193, -0.207, 0.002};
        body.model = PL_ARAP;
        body.bending = 1e-4;
        ball.shape = PL_SPHERE;
        ball.size[0] = 0.1;
        ball.pose[2] = -0.1;
        w->status = pl_mesh_rectangle(ctx, 0.4, 0.4, 0.4 / nodes, &mesh);
        if (w->status == PL_OK)
            pl_mesh_transform(mesh, 1, unturned, corner);
        bench_add(w, mesh, &body);
        if (w->status == PL_OK)
            w->status = pl_scene_add_collider(w->scene, &ball, NULL);
    }
    bench_start(w);
}

/* ms a step of so many, after one that is not counted. */
static pl_status time_steps(bench_world *w, int steps, double *ms)
{
    pl_step_info info;
    PL_TRY(pl_step(w->sim, w->state, NULL, &info));
    double began = bench_milliseconds();
    for (int k = 0; k < steps; k++)
        PL_TRY(pl_step(w->sim, w->state, NULL, &info));
    *ms = (bench_milliseconds() - began) / steps;
    return PL_OK;
}

/* ---- tables */

static pl_status measure_device(pl_context *ctx, const char *device, bool cloth, int nodes, int steps,
                                part parts[6], double ms[7])
{
    bench_world w;
    open_world(&w, ctx, device, cloth, nodes);
    pl_status status = w.status;
    if (status == PL_OK)
        status = time_steps(&w, steps, &ms[6]);
    for (int k = 0; status == PL_OK && k < 6; k++)
        status = time_part(w.sim->device->system, &parts[k], &ms[k]);
    if (status == PL_OK)
        count_work(w.sim->device->system, parts);
    bench_close(&w);
    return status;
}

static pl_status scene_table(FILE *file, pl_context *ctx, bool cloth, int nodes, int steps,
                             const bench_card *card)
{
    static const char *const devices[] = {"reference", "opencl"};
    part parts[6] = {
        {.name = "stress", .launch = stress},     {.name = "stress and tangent", .launch = tangent},
        {.name = "matrix", .launch = assemble},   {.name = "factor", .launch = pl_system_factor},
        {.name = "solve", .launch = begin_solve}, {.name = "product", .launch = product}};
    double ms[2][7] = {{0}}, host = 0;
    bool there[2];
    bench_world w;
    open_world(&w, ctx, NULL, cloth, nodes);
    pl_status status = w.status;
    int vertices = status == PL_OK ? w.state->vertex_count : 0;
    if (status == PL_OK)
        status = time_steps(&w, steps, &host);
    part own[5] = {{0}};
    if (status == PL_OK)
        status = time_host(&w, own);
    bench_close(&w);
    PL_TRY(status);
    for (int d = 0; d < 2; d++) {
        status = measure_device(ctx, devices[d], cloth, nodes, steps, parts, ms[d]);
        there[d] = status == PL_OK;
        if (!there[d])
            fprintf(file, "\n%s: %s\n", devices[d], pl_context_error(ctx));
    }
    PL_TRY(there[0] ? PL_OK : status);
    const double hosts[6] = {own[0].host, 0, own[1].host, own[2].host, own[3].host, own[4].host};
    fprintf(file,
            "\n## %s, %d vertices\n\n| part | host (ms) | reference (ms) | opencl (ms) | MB | Mflop, "
            "double | "
            "Mflop, single | launches | %s, estimate (ms) "
            "|\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
            cloth ? "A cloth on a ball" : "A bar", vertices, card->name);
    for (int k = 0; k < 6; k++) {
        fprintf(file, "| %s |", parts[k].name);
        fprintf(file, k == 1 ? " |" : " %.3f |", hosts[k]);
        fprintf(file, " %.3f |", ms[0][k]);
        fprintf(file, there[1] ? " %.3f |" : " |", ms[1][k]);
        fprintf(file, " %.2f | %.2f | %.2f | %d | %.3f |\n", parts[k].bytes * 1e-6,
                parts[k].doubles * 1e-6, parts[k].floats * 1e-6, parts[k].launches,
                estimate(card, &parts[k]));
    }
    fprintf(file, "| a step | %.2f | %.2f |", host, ms[0][6]);
    fprintf(file, there[1] ? " %.2f | | | | | |\n" : " | | | | | |\n", ms[1][6]);
    return PL_OK;
}

pl_status bench_device(FILE *file, pl_context *ctx, bool quick, int steps, const bench_card *card)
{
    int solid = quick ? 6 : 12, cloth = quick ? 12 : 32;
    fprintf(file,
            "\n# Devices\n\nThe host's \"matrix\" is its tangent with assembly. Of %s: %.0f GB/s, %.0f "
            "Gflop/s in single and %.0f in double precision, %.0f us a launch; an estimate, not "
            "measured.\n",
            card->name, card->bandwidth, card->floats, card->doubles, 1e3 * LAUNCH);
    PL_TRY(scene_table(file, ctx, false, solid, steps, card));
    return scene_table(file, ctx, true, cloth, steps, card);
}
