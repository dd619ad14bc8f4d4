/* `pliant suite seal_horizon`: gradients through long crawls. A gait of 500 steps is found by receding
 * windows and repeated to 1,500 to 3,000; one step of Adam for every activation along the gradient
 * through all of it, and how far the seal gets before and after. Its muscles are half as strong as
 * those of seal_crawl and its motion is damped, so that the crawl is stable. */
#include "suite_control.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define NAME  "seal_horizon"
#define RATE  1e-3 /* of Adam */
#define LEAST 0.2
#define MOST  3.0
enum { MUSCLES = 14, HORIZONS = 4, VERTICES = 300 };

/* The paper's table. */
static const struct {
    int steps;
    double norm, before, after;
} paper[HORIZONS] = {{1500, 0.74, 21.38, 21.39},
                     {2000, 1.57, 28.63, 28.67},
                     {2500, 2.86, 35.87, 35.94},
                     {3000, 4.84, 43.11, 43.21}};

typedef struct horizon {
    int steps;
    double norm, before, after; /* 1/activation m, m, m */
    double forward, backward;   /* ms a step, of all threads together */
} horizon;

/* How much each vertex's x has of how far the centre of mass is. */
typedef struct centre {
    int steps, count;
    double *weight; /* [count] */
} centre;

static pl_status weigh(const pl_scene *scene, centre *out)
{
    pl_body_info body;
    pl_status status = pl_scene_body(scene, 0, &body);
    if (status != PL_OK)
        return status;
    out->count = body.mesh->vertex_count;
    out->weight = calloc((size_t)out->count, sizeof(double));
    return out->weight ? suite_vertex_shares(body.mesh, out->weight), PL_OK : PL_ERROR_MEMORY;
}

static double along_x(const centre *c, const double *q)
{
    double sum = 0;
    for (int i = 0; i < c->count; i++)
        sum += c->weight[i] * q[3 * (size_t)i];
    return sum;
}

static bool loss(void *user, int step, const double *q, const double *v, double *value, double *dq,
                 double *dv)
{
    const centre *c = user;
    (void)v, (void)dv;
    if (step < c->steps)
        return !cli_interrupted();
    *value += along_x(c, q);
    for (int i = 0; i < c->count; i++)
        dq[3 * (size_t)i] += c->weight[i];
    return true;
}

/* Of the processor. */
static double milliseconds_since(clock_t began)
{
    return 1e3 * (double)(clock() - began) / CLOCKS_PER_SEC;
}

/* Runs h->steps steps with activations [steps, MUSCLES]; *went = how far. With g the gradient of that.
 */
static pl_status crawl(pl_scene *scene, pl_sim *sim, centre *c, const double *activation, horizon *h,
                       pl_gradient *g, double *went)
{
    pl_rollout_def def = pl_rollout_def_default();
    pl_rollout *rollout = NULL;
    pl_state *state = NULL;
    pl_status status = pl_state_create(scene, &state);
    if (status != PL_OK)
        return status;
    double start = along_x(c, state->q);
    clock_t began = clock();
    def.steps = c->steps = h->steps;
    def.tape = g != NULL;
    def.inputs.of[PL_ACTIVATION] = activation;
    status = pl_rollout_run(sim, state, &def, &rollout);
    if (status == PL_OK) {
        *went = along_x(c, state->q) - start;
        h->forward = milliseconds_since(began) / h->steps;
    }
    began = clock();
    if (status == PL_OK && g)
        status = pl_rollout_backward(rollout, NULL, loss, c, g, NULL);
    if (status == PL_OK && g)
        h->backward = milliseconds_since(began) / h->steps;
    pl_rollout_destroy(rollout);
    pl_state_destroy(scene, state);
    return status;
}

/* The gait [MUSCLES, period] repeated; one step of Adam along its gradient, whose first step is RATE
 * for each. */
static pl_status refine(pl_scene *scene, pl_sim *sim, centre *c, int period, const double *gait,
                        horizon *h)
{
    size_t count = (size_t)h->steps * MUSCLES;
    double *activation = calloc(count, sizeof *activation);
    pl_gradient *g = NULL;
    pl_status status = activation ? PL_OK : PL_ERROR_MEMORY;
    for (size_t i = 0; activation && i < count; i++)
        activation[i] = gait[i % MUSCLES * (size_t)period + i / MUSCLES % (size_t)period];
    if (status == PL_OK)
        status = pl_gradient_create(scene, h->steps, PL_BIT(PL_ACTIVATION), &g);
    if (status == PL_OK)
        status = crawl(scene, sim, c, activation, h, g, &h->before);
    for (size_t i = 0; status == PL_OK && i < count; i++) {
        double slope = g->of[PL_ACTIVATION][i];
        h->norm += slope * slope;
        activation[i] = fmin(fmax(activation[i] + (slope > 0 ? RATE : -RATE), LEAST), MOST);
    }
    h->norm = sqrt(h->norm);
    if (status == PL_OK)
        status = crawl(scene, sim, c, activation, h, NULL, &h->after);
    pl_gradient_destroy(scene, g);
    free(activation);
    return status;
}

static bool write_table(const suite_place *place, const horizon *list)
{
    suite_table *t = calloc(1, sizeof *t);
    if (!t)
        return false;
    t->title = "One step of Adam along the gradient through a long crawl; the paper's beside";
    for (int i = 0; i < HORIZONS; i++, t->rows++) {
        const horizon *h = &list[i];
        t->columns = 0;
        suite_table_put(t, "steps", "%.0f", h->steps);
        suite_table_put(t, "gradient norm", "%.3g", h->norm);
        suite_table_put(t, "before m", "%.3f", h->before);
        suite_table_put(t, "after m", "%.3f", h->after);
        suite_table_put(t, "%", "%+.2f", 100 * (h->after / h->before - 1));
        suite_table_put(t, "forward CPU ms/step", "%.2f", h->forward);
        suite_table_put(t, "backward CPU ms/step", "%.2f", h->backward);
        suite_table_put(t, "norm (paper)", "%.2f", paper[i].norm);
        suite_table_put(t, "before m (paper)", "%.2f", paper[i].before);
        suite_table_put(t, "after m (paper)", "%.2f", paper[i].after);
    }
    bool good = suite_write_table(place, NAME, "horizons", t);
    free(t);
    return good;
}

static pl_status find_gait(pl_context *ctx, const suite_place *place, suite_fit *fit)
{
    char size[96], weak[MUSCLES][64];
    const char *overrides[MUSCLES + 8];
    int count = 0;
    snprintf(size, sizeof size, "scene.bodies[0].mesh.vertices=%d",
             place->vertices > 0 ? place->vertices : VERTICES);
    overrides[count++] = size;
    overrides[count++] = "scene.bodies[0].material.damping=2";
    for (int m = 0; m < MUSCLES; m++) {
        snprintf(weak[m], sizeof weak[m], "scene.muscles[%d].stiffness=2e5", m);
        overrides[count++] = weak[m];
    }
    overrides[count++] = "window={\"steps\": 60, \"advance\": 30}";
    overrides[count++] = "loss[0].first_step=30";
    overrides[count++] = "loss[0].every=30";
    overrides[count++] = "optimizer.iterations=10";
    overrides[count] = NULL;
    return suite_fit_run(ctx, place, NAME, "gait", "seal_crawl", overrides, fit);
}

pl_status suite_seal_horizon(pl_context *ctx, const suite_place *place, bool *reached)
{
    suite_fit fit;
    pl_sim *sim = NULL;
    centre c = {0};
    horizon list[HORIZONS] = {0};
    pl_status status = find_gait(ctx, place, &fit);
    *reached = true;
    if (status == PL_OK)
        status = pl_sim_create(pl_task_scene(fit.task), &sim);
    if (status == PL_OK)
        status = weigh(pl_task_scene(fit.task), &c);
    for (int i = 0; i < HORIZONS && status == PL_OK; i++) {
        horizon *h = &list[i];
        h->steps = paper[i].steps * fit.result->steps / 500;
        status = refine(pl_task_scene(fit.task), sim, &c, fit.result->steps, fit.result->signals, h);
        *reached = *reached && h->after > h->before;
        if (status == PL_OK)
            printf("%-14s %5d steps: gradient norm %.3g, %.4f m before, %.4f m after\n", NAME, h->steps,
                   h->norm, h->before, h->after);
    }
    if (status == PL_OK && !write_table(place, list))
        status = PL_ERROR_FILE;
    *reached = *reached && status == PL_OK;
    free(c.weight);
    pl_sim_destroy(sim);
    suite_fit_free(&fit);
    return status;
}
