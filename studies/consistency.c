/*
 * Must the backward pass smooth contact as the forward pass did? A block is pulled across a rough
 * table; the pulling force of every step is sought that takes it where 20 steps of a known force took
 * it. The same optimiser (L-BFGS, 100 iterations) runs with both passes at 2 eps^2 = 1e-12, both at
 * 1e-6, and with 1e-12 forwards but 1e-6 backwards.
 */
#include "study.h"

#include "bench/world.h"
#include "fit/optimizer.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 30, UNKNOWNS = 3 * STEPS, CONFIGS = 3 };

#define PULL 6.0 /* N, of the target */

static const struct {
    const char *name;
    double forward, backward; /* 2 eps^2, N m */
} configs[CONFIGS] = {
    {"matched, tight", 1e-12, 1e-12}, {"mismatched", 1e-12, 1e-6}, {"matched, loose", 1e-6, 1e-6}};

typedef struct pulled {
    study *s;
    bench_world w;
    double backward; /* eps^2 */
    double *target;  /* [n, 3] */
    int n;
} pulled;

static bool distance_to_target(void *user, int step, const double *q, const double *v, double *value,
                               double *dq, double *dv)
{
    const pulled *p = user;
    (void)v;
    (void)dv;
    if (step != STEPS)
        return true;
    /* mean square, in cm^2 */
    for (int i = 0; i < 3 * p->n; i++) {
        double off = q[i] - p->target[i];
        *value += 0.5e4 * off * off / p->n;
        dq[i] += 1e4 * off / p->n;
    }
    return true;
}

/* gradient NULL = only where it ends, into p->target. */
static pl_status evaluate(void *user, const double *force, double *loss, double *gradient)
{
    pulled *p = user;
    pl_status status = PL_OK;
    pl_state *state = NULL;
    pl_rollout *rollout = NULL;
    pl_gradient *g = NULL;
    pl_adjoint_info info;
    pl_rollout_def def = pl_rollout_def_default();
    pl_adjoint_def adjoint = pl_adjoint_def_default();
    def.steps = STEPS;
    def.inputs.of[PL_FORCE] = force;
    adjoint.contact_epsilon2 = p->backward;
    PL_CHECK(pl_state_create(p->w.scene, &state), done);
    PL_CHECK(pl_rollout_run(p->w.sim, state, &def, &rollout), done);
    if (!gradient) {
        memcpy(p->target, state->q, sizeof(double) * 3 * (size_t)p->n);
        goto done;
    }
    PL_CHECK(pl_gradient_create(p->w.scene, STEPS, PL_BIT(PL_FORCE), &g), done);
    PL_CHECK(pl_rollout_backward(rollout, &adjoint, distance_to_target, p, g, &info), done);
    *loss = info.loss;
    memcpy(gradient, g->of[PL_FORCE], sizeof(double) * UNKNOWNS);
done:
    pl_gradient_destroy(p->w.scene, g);
    pl_rollout_destroy(rollout);
    if (state)
        pl_state_destroy(p->w.scene, state);
    return status;
}

static pl_status build(pulled *p, double epsilon2)
{
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    pl_force_def force = pl_force_def_default();
    def.contact_epsilon2 = epsilon2;
    body.young = 1e5;
    bench_open(&p->w, p->s->ctx, &def);
    pl_mesh *mesh = bench_grid(&p->w, 5, 4, 4, 0.03);
    bench_add(&p->w, mesh, &body);
    bench_floor(&p->w, 0.3);
    if (p->w.status == PL_OK) {
        force.body = p->w.body;
        force.per = PL_PER_GROUP;
        p->w.status = pl_scene_add_force(p->w.scene, &force, NULL);
    }
    PL_TRY(bench_start(&p->w));
    p->n = p->w.state->vertex_count;
    p->target = calloc(3 * (size_t)p->n, sizeof(double));
    return p->target ? PL_OK : PL_ERROR_MEMORY;
}

typedef struct outcome {
    double first, last;
    int iterations, evaluations;
    double gradient[UNKNOWNS]; /* at the start */
    bool refused;              /* the optimiser found no way down, or the sweep failed */
} outcome;

static pl_status optimise(pulled *p, int limit, outcome *out)
{
    double x[UNKNOWNS] = {0}, lower[UNKNOWNS], upper[UNKNOWNS], goal[UNKNOWNS] = {0};
    pl_status status = PL_OK;
    pl_optimizer *opt = NULL;
    pl_optimizer_def def = pl_optimizer_def_default();
    for (int i = 0; i < UNKNOWNS; i++) {
        lower[i] = -INFINITY, upper[i] = INFINITY;
        goal[i] = i % 3 == 0 ? PULL : 0;
        x[i] = i % 3 == 0 ? 0.5 : 0;
    }
    PL_CHECK(evaluate(p, goal, NULL, NULL), done);
    pl_problem problem = {
        .n = UNKNOWNS, .lower = lower, .upper = upper, .evaluate = evaluate, .user = p};
    def.method = PL_LBFGSB;
    PL_CHECK(pl_optimizer_create(p->s->ctx, &def, &problem, x, &opt), done);
    PL_CHECK(pl_optimizer_start(opt), done);
    out->first = opt->state[PL_HEAD_LOSS];
    memcpy(out->gradient, pl_optimizer_gradient(opt, opt->state), sizeof out->gradient);
    while (opt->state[PL_HEAD_STOP] == 0 && opt->state[PL_HEAD_ITERATION] < limit) {
        PL_CHECK(pl_optimizer_step(opt), done);
        if (cli_interrupted()) {
            status = study_stopped(p->s);
            goto done;
        }
    }
    out->last = opt->state[PL_HEAD_LOSS];
    out->iterations = (int)opt->state[PL_HEAD_ITERATION];
    out->evaluations = (int)opt->state[PL_HEAD_EVALUATIONS];
done:
    pl_optimizer_destroy(opt);
    return status;
}

static double cosine(const double *a, const double *b, double *ratio)
{
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < UNKNOWNS; i++)
        ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
    *ratio = sqrt(bb / aa);
    return ab / sqrt(aa * bb);
}

pl_status study_consistency(study *s)
{
    study_table table = study_table_new(
        "consistency", "configuration|2 eps^2 forward|backward|loss before (cm^2)|after|"
                       "reduction (%)|iterations|evaluations|cosine|length");
    outcome *out = calloc(CONFIGS, sizeof *out);
    pl_status status = out ? PL_OK : PL_ERROR_MEMORY;
    for (int k = 0; status == PL_OK && k < CONFIGS; k++) {
        pulled p = {.s = s, .backward = 0.5 * configs[k].backward};
        status = build(&p, 0.5 * configs[k].forward);
        if (status == PL_OK)
            status = optimise(&p, s->quick ? 5 : 100, &out[k]);
        free(p.target);
        bench_close(&p.w);
        study_progress(s, k + 1, CONFIGS);
    }
    for (int k = 0; status == PL_OK && k < CONFIGS; k++) {
        double ratio, aligned = cosine(out[k == 2 ? 2 : 0].gradient, out[k].gradient, &ratio);
        study_cell(&table, "%s", configs[k].name);
        study_cell(&table, "%.0e", configs[k].forward);
        study_cell(&table, "%.0e", configs[k].backward);
        study_cell(&table, "%.4g", out[k].first);
        study_cell(&table, "%.3g", out[k].last);
        study_cell(&table, "%.4f", 100 * (1 - out[k].last / out[k].first));
        study_cell(&table, "%d", out[k].iterations);
        study_cell(&table, "%d", out[k].evaluations);
        study_cell(&table, "%.4f", aligned);
        study_cell(&table, "%.3g", ratio);
    }
    if (status == PL_OK) {
        study_table_print(&table, stdout, false);
        printf("cosine and length: of the first gradient, against the matched one's\n\n");
        for (int k = 0; k < CONFIGS; k += 2)
            study_aim(s, out[k].last < 1e-3 * out[k].first, "%s: the loss falls by 99.9 %% (%.4f %%)",
                      configs[k].name, 100 * (1 - out[k].last / out[k].first));
        status = study_table_write(s, &table);
    }
    free(out);
    study_table_free(&table);
    return status;
}
