/*
 * Long rollouts: does the gradient stay finite and right, and does a step of the backward sweep cost
 * the same late as early? A block slides down a slope; a ball-like cube bounces on a floor that shakes
 * at 4 Hz, so that it never comes to rest. The loss is the mean distance along x at the end; dL/dmu is
 * compared with central differences.
 */
#include "study.h"

#include "bench/world.h"

#include <math.h>
#include <stdlib.h>

enum { HORIZONS = 3, MOST = 3000 };

static const int horizons[HORIZONS] = {500, 1500, MOST};
static const char *const motions[] = {"sliding", "bouncing"};

typedef struct horizon_result {
    double forward, backward;         /* ms a step */
    double velocity, young, friction; /* norms; the last signed */
    double difference;                /* dL/dmu by differences */
    double residual, bytes;
    double iterations; /* of the adjoint, a step */
} horizon_result;

/* A floor that shakes by 2 cm at 4 Hz. */
static void shaking_floor(bench_world *w, int steps, double h)
{
    double *time = malloc(sizeof(double) * (size_t)(steps + 1));
    double *pose = calloc(7 * (size_t)(steps + 1), sizeof(double));
    pl_collider_def def = pl_collider_def_default();
    def.friction = 0.3;
    if (w->status == PL_OK && (!time || !pose))
        w->status = PL_ERROR_MEMORY;
    for (int k = 0; w->status == PL_OK && k <= steps; k++) {
        time[k] = k * h;
        pose[7 * k + 2] = 0.02 * sin(8 * acos(-1) * k * h);
        pose[7 * k + 3] = 1;
    }
    def.table = (pl_table){.count = steps + 1, .time = time, .value = pose};
    if (w->status == PL_OK)
        w->status = pl_scene_add_collider(w->scene, &def, NULL);
    free(time);
    free(pose);
}

static void build(study *s, bool bouncing, int steps, bench_world *w)
{
    pl_scene_def def = pl_scene_def_default();
    def.tolerance = 1e-13; /* differences magnify what a step leaves over */
    pl_body_def body = pl_body_def_default();
    const double y[3] = {0, 1, 0};
    if (!bouncing)
        bench_slope(&def, 10);
    bench_open(w, s->ctx, &def);
    pl_mesh *mesh = bench_grid(w, 3, 3, 3, 0.05);
    body.young = bouncing ? 1e5 : 1e6;
    body.velocity[0] = bouncing ? 0.3 : 0;
    bench_place(mesh, y, bouncing ? 0.2 : 0, bouncing ? 0.1 : 0);
    bench_add(w, mesh, &body);
    if (bouncing)
        shaking_floor(w, steps, def.time_step);
    else
        bench_floor(w, 0.15);
    bench_start(w);
}

static pl_status end_of(bench_world *w, double mu, int steps, double *out)
{
    pl_state *state = NULL;
    pl_status status = pl_params_set(pl_scene_params(w->scene), PL_FRICTION, 0, 1, &mu);
    if (status == PL_OK)
        status = pl_state_create(w->scene, &state);
    for (int k = 0; status == PL_OK && k < steps; k++)
        status = pl_step(w->sim, state, NULL, NULL);
    if (status == PL_OK)
        *out = bench_mean(state, 0);
    if (state)
        pl_state_destroy(w->scene, state);
    return status;
}

static double norm(const double *x, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static pl_status sweep(bench_world *w, int steps, horizon_result *r)
{
    pl_status status;
    pl_rollout *rollout = NULL;
    pl_gradient *g = NULL;
    pl_adjoint_info info;
    pl_rollout_def def = pl_rollout_def_default();
    pl_adjoint_def adjoint = pl_adjoint_def_default();
    study_end loss = {steps, w->state->vertex_count};
    pl_scene_info scene = pl_scene_get_info(w->scene);
    def.steps = steps;
    double began = cli_seconds();
    status = pl_rollout_run(w->sim, w->state, &def, &rollout);
    r->forward = 1e3 * (cli_seconds() - began) / steps;
    if (status == PL_OK)
        status = pl_gradient_create(w->scene, steps,
                                    PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) | PL_BIT(PL_FRICTION), &g);
    if (status == PL_OK)
        status = pl_rollout_backward(rollout, &adjoint, study_mean_x, &loss, g, &info);
    if (status == PL_OK) {
        r->backward = info.milliseconds / steps;
        r->velocity = norm(g->of[PL_VELOCITY], 3 * scene.vertex_count);
        r->young = norm(g->of[PL_YOUNG], scene.element_count);
        r->friction = g->of[PL_FRICTION][0];
        r->residual = info.residual;
        r->bytes = (double)pl_rollout_bytes(rollout);
        r->iterations = (double)info.iterations / steps;
    }
    pl_gradient_destroy(w->scene, g);
    pl_rollout_destroy(rollout);
    return status;
}

static pl_status run(study *s, bool bouncing, int steps, horizon_result *r)
{
    bench_world w;
    double mu = bouncing ? 0.3 : 0.15, e = bouncing ? 1e-7 : 1e-5, ends[2] = {0};
    build(s, bouncing, steps, &w);
    pl_status status = w.status;
    if (status == PL_OK)
        status = sweep(&w, steps, r);
    for (int k = 0; status == PL_OK && k < 2; k++)
        status = end_of(&w, mu + (k ? e : -e), steps, &ends[k]);
    r->difference = (ends[1] - ends[0]) / (2 * e);
    bench_close(&w);
    return status;
}

static void judge(study *s, const char *motion, const horizon_result *r, int count)
{
    bool finite = true, solved = true;
    double worst = 0;
    for (int k = 0; k < count; k++) {
        finite &= isfinite(r[k].velocity) && isfinite(r[k].young) && isfinite(r[k].friction);
        solved &= r[k].residual <= 1e-8;
        worst = fmax(worst, fabs(r[k].friction / r[k].difference - 1));
    }
    study_aim(s, finite && solved, "%s: gradients finite, every adjoint system solved to 1e-8", motion);
    study_aim(s, worst < 1e-5, "%s: dL/dmu agrees with differences to 1e-5 (%.1e)", motion, worst);
    study_aim(
        s, r[count - 1].iterations <= 1.2 * r[0].iterations,
        "%s: a backward step takes no more iterations in the longest rollout (%.2f, shortest %.2f)",
        motion, r[count - 1].iterations, r[0].iterations);
}

pl_status study_horizon(study *s)
{
    study_table table = study_table_new(
        "horizon", "motion|steps|forward (ms)|backward (ms)|iterations|tape (MB)|residual|"
                   "norm dL/dv0|norm dL/dE|dL/dmu|by differences");
    horizon_result r[2][HORIZONS] = {{{0}}};
    int count = s->quick ? 1 : HORIZONS, done = 0;
    pl_status status = PL_OK;
    for (int m = 0; m < 2; m++)
        for (int k = 0; status == PL_OK && k < count; k++) {
            int steps = s->quick ? 40 : horizons[k];
            horizon_result *here = &r[m][k];
            status = run(s, m == 1, steps, here);
            study_cell(&table, "%s", motions[m]);
            study_cell(&table, "%d", steps);
            study_cell(&table, "%.2f", here->forward);
            study_cell(&table, "%.2f", here->backward);
            study_cell(&table, "%.2f", here->iterations);
            study_cell(&table, "%.1f", 1e-6 * here->bytes);
            study_cell(&table, "%.1e", here->residual);
            study_cell(&table, "%.4g", here->velocity);
            study_cell(&table, "%.4g", here->young);
            study_cell(&table, "%.8g", here->friction);
            study_cell(&table, "%.8g", here->difference);
            if (status == PL_OK && !study_progress(s, ++done, 2 * count))
                status = study_stopped(s);
        }
    if (status == PL_OK) {
        study_table_print(&table, stdout, false);
        printf("\n");
        for (int m = 0; m < 2; m++)
            judge(s, motions[m], r[m], count);
        status = study_table_write(s, &table);
    }
    study_table_free(&table);
    return status;
}
