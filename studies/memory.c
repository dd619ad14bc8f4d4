/*
 * A long rollout within a memory budget: a block of 1,000 vertices slides down a slope for 10,000
 * steps. The gradient with a limited tape must be that of the full tape bit for bit; how much memory it
 * takes, and how many steps are run again for it, is what the table says.
 */
#include "study.h"

#include "bench/world.h"

#include <string.h>

enum { BUDGETS = 3 };

static const double budgets[BUDGETS] = {0, 100e6, 10e6}; /* bytes, 0 = no limit */
static const double quick_budgets[BUDGETS] = {0, 0.7e6, 0.3e6};

typedef struct memory_result {
    double bytes, forward, backward; /* ms a step, recomputation not counted */
    int recomputed;
    pl_gradient *gradient;
} memory_result;

static void build(study *s, bench_world *w)
{
    int side = s->quick ? 5 : 10;
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    bench_slope(&def, 10);
    bench_open(w, s->ctx, &def);
    body.young = 1e6;
    bench_add(w, bench_grid(w, side, side, side, 0.02), &body);
    bench_floor(w, 0.15);
    bench_start(w);
}

static pl_status run(bench_world *w, int steps, double budget, memory_result *r)
{
    pl_state *state = NULL;
    pl_rollout *rollout = NULL;
    pl_adjoint_info info;
    pl_rollout_def def = pl_rollout_def_default();
    pl_adjoint_def adjoint = pl_adjoint_def_default();
    study_end loss = {steps, w->state->vertex_count};
    def.steps = steps;
    def.memory_budget = (size_t)budget;
    pl_status status = pl_state_create(w->scene, &state);
    double began = cli_seconds();
    if (status == PL_OK)
        status = pl_rollout_run(w->sim, state, &def, &rollout);
    r->forward = 1e3 * (cli_seconds() - began) / steps;
    if (status == PL_OK)
        status = pl_gradient_create(w->scene, steps,
                                    PL_BIT(PL_POSITION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) |
                                        PL_BIT(PL_FRICTION),
                                    &r->gradient);
    if (status == PL_OK)
        status = pl_rollout_backward(rollout, &adjoint, study_mean_x, &loss, r->gradient, &info);
    if (status == PL_OK) {
        r->backward = info.milliseconds / steps;
        r->recomputed = info.recomputed;
        r->bytes = (double)pl_rollout_bytes(rollout);
    }
    pl_rollout_destroy(rollout);
    if (state)
        pl_state_destroy(w->scene, state);
    return status;
}

static bool same(const pl_scene_info *info, const pl_gradient *a, const pl_gradient *b)
{
    size_t n3 = sizeof(double) * 3 * (size_t)info->vertex_count;
    return memcmp(a->of[PL_POSITION], b->of[PL_POSITION], n3) == 0 &&
           memcmp(a->of[PL_VELOCITY], b->of[PL_VELOCITY], n3) == 0 &&
           memcmp(a->of[PL_YOUNG], b->of[PL_YOUNG], sizeof(double) * (size_t)info->element_count) ==
               0 &&
           memcmp(a->of[PL_FRICTION], b->of[PL_FRICTION], sizeof(double)) == 0;
}

pl_status study_memory(study *s)
{
    study_table table = study_table_new(
        "memory",
        "budget (MB)|taken (MB)|steps|steps run again|of all|forward (ms)|backward (ms)|dL/dmu");
    memory_result r[BUDGETS] = {{0}};
    bench_world w;
    int steps = s->quick ? 300 : 10000;
    const double *budget = s->quick ? quick_budgets : budgets;
    build(s, &w);
    pl_status status = w.status;
    for (int k = 0; status == PL_OK && k < BUDGETS; k++) {
        status = run(&w, steps, budget[k], &r[k]);
        study_cell(&table, budget[k] > 0 ? "%.4g" : "none", 1e-6 * budget[k]);
        study_cell(&table, "%.1f", 1e-6 * r[k].bytes);
        study_cell(&table, "%d", steps);
        study_cell(&table, "%d", r[k].recomputed);
        study_cell(&table, "%.2f", (double)r[k].recomputed / steps);
        study_cell(&table, "%.2f", r[k].forward);
        study_cell(&table, "%.2f", r[k].backward);
        study_cell(&table, "%.17g", status == PL_OK ? r[k].gradient->of[PL_FRICTION][0] : 0);
        if (status == PL_OK && !study_progress(s, k + 1, BUDGETS))
            status = study_stopped(s);
    }
    if (status == PL_OK) {
        pl_scene_info info = pl_scene_get_info(w.scene);
        study_table_print(&table, stdout, false);
        printf("\n");
        for (int k = 1; k < BUDGETS; k++) {
            study_aim(s, r[k].bytes <= budget[k], "%.4g MB: kept to (%.1f MB taken)", 1e-6 * budget[k],
                      1e-6 * r[k].bytes);
            study_aim(s, same(&info, r[0].gradient, r[k].gradient),
                      "%.4g MB: the gradient of the full tape, bit for bit", 1e-6 * budget[k]);
        }
        status = study_table_write(s, &table);
    }
    for (int k = 0; k < BUDGETS; k++)
        pl_gradient_destroy(w.scene, r[k].gradient);
    bench_close(&w);
    study_table_free(&table);
    return status;
}
