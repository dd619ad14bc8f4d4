/*
 * `pliant suite cloth_batch`: the stiffness of every cloth of a batch, each from where it hangs after
 * 50 steps. All start from 1e5 Pa. Each has one unknown, x = log E, and looks for the zero of its own
 * derivative: secants, kept between the last points where the loss fell and rose.
 *
 * Stiff cloths buckle on their way, and then the loss has several valleys. After 15 steps it has one: E
 * is first found from there.
 */
#include "bench/drape.h"
#include "suite_control.h"

#include <pliant/report.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME       "cloth_batch"
#define ITERATIONS 12  /* of a stage, at most */
#define LARGEST    1.5 /* step in log E */
#define AROUND     0.1 /* how far from where the first stage ends the second one looks */

enum { STAGES = 2 };

static const struct {
    int steps;    /* after which cloths are compared */
    double first; /* step in log E, */
    double close; /* and which one is the last */
} stages[STAGES] = {{15, 0.5, 1e-4}, {DRAPE_STEPS, 1e-3, 1e-5}};

typedef struct cloth {
    double truth, x;           /* E Pa, log E */
    double last_x, last_slope; /* of the iteration before */
    double low, high;          /* the slope is negative at low, positive at high */
    double best, best_loss;    /* x of the least loss of the stage: what is found */
    bool done, lost;           /* the search is over; or its simulation failed */
    int rows, begun;           /* iterations made; when the stage began */
    double loss[STAGES * ITERATIONS];
} cloth;

typedef struct study {
    pl_context *ctx;
    pl_scene *scene;
    int count, n, elements, stage;
    cloth *cloths;          /* [count] */
    double *target[STAGES]; /* [count, n, 3] */
    int *chosen;            /* [environments] which cloth each is, in the present batch */
} study;

static bool going_on(void *user, int environment, int step, const pl_state *state,
                     const pl_step_info *info)
{
    (void)user, (void)environment, (void)step, (void)state, (void)info;
    return !cli_interrupted();
}

/* A batch of the chosen cloths with E = exp(x), or their true one. */
static pl_status make_batch(const study *s, int environments, bool truth, pl_batch **out)
{
    pl_batch_def def = {.environments = environments};
    double *young = malloc(sizeof *young * (size_t)environments * (size_t)s->elements);
    pl_status status = young ? pl_batch_create(s->scene, &def, out) : PL_ERROR_MEMORY;
    for (int k = 0; status == PL_OK && k < environments * s->elements; k++) {
        const cloth *c = &s->cloths[s->chosen[k / s->elements]];
        young[k] = truth ? c->truth : exp(c->x);
    }
    if (status == PL_OK)
        status = pl_batch_set(*out, PL_YOUNG, environments, young);
    free(young);
    return status;
}

static pl_batch_run_def run_def(int steps)
{
    pl_batch_run_def run = pl_batch_run_def_default();
    run.steps = steps;
    run.progress = going_on;
    return run;
}

static bool keep_target(void *user, int environment, int step, const pl_state *state,
                        const pl_step_info *info)
{
    study *s = user;
    size_t size = 3 * (size_t)s->n;
    (void)info;
    for (int k = 0; k < STAGES; k++)
        if (step == stages[k].steps)
            memcpy(s->target[k] + size * (size_t)environment, state->q, sizeof(double) * size);
    return !cli_interrupted();
}

/* Where the cloths are with their true stiffness. */
static pl_status find_targets(study *s)
{
    pl_batch *batch = NULL;
    pl_batch_run_def run = run_def(DRAPE_STEPS);
    run.progress = keep_target;
    run.progress_user = s;
    for (int e = 0; e < s->count; e++)
        s->chosen[e] = e;
    pl_status status = make_batch(s, s->count, true, &batch);
    if (status == PL_OK)
        status = pl_batch_run(batch, &run, NULL);
    pl_batch_destroy(batch);
    return status;
}

/* Mean squared distance of the last state from the target, m^2. */
static bool add_loss(void *user, int environment, int step, const double *q, const double *v,
                     double *value, double *dq, double *dv)
{
    const study *s = user;
    const double *target = s->target[s->stage] + 3 * (size_t)s->n * (size_t)s->chosen[environment];
    (void)v, (void)dv;
    for (int i = 0; step == stages[s->stage].steps && i < 3 * s->n; i++) {
        double d = q[i] - target[i];
        *value += d * d / s->n;
        dq[i] += 2 * d / s->n;
    }
    return true;
}

/* ------------------------------------------------------------------------------- searching */

static double limited(double step)
{
    return fmax(-LARGEST, fmin(LARGEST, step));
}

/* The next x from the slope dL/dx at the present one. */
static void move(cloth *c, double slope, int stage)
{
    double first = stages[stage].first, change = slope - c->last_slope;
    double step = slope < 0 ? first : -first;
    if (slope < 0)
        c->low = c->x;
    else
        c->high = c->x;
    if (c->rows > c->begun + 1 && change * (c->x - c->last_x) > 0)
        step = limited(-slope * (c->x - c->last_x) / change);
    double next = c->x + step;
    if (next <= c->low || next >= c->high)
        next = 0.5 * (c->low + c->high);
    c->last_x = c->x;
    c->last_slope = slope;
    c->done = fabs(next - c->x) <= stages[stage].close;
    c->x = next;
}

/* One iteration of all that are not done: how many there were. */
static pl_status iterate(study *s, int *searching)
{
    pl_batch *batch = NULL;
    pl_gradient *gradient = NULL;
    int steps = stages[s->stage].steps;
    pl_batch_run_def run = run_def(steps);
    pl_adjoint_info *infos = calloc((size_t)s->count, sizeof *infos);
    int count = 0;
    for (int e = 0; e < s->count; e++)
        if (!s->cloths[e].done && !s->cloths[e].lost)
            s->chosen[count++] = e;
    *searching = count;
    pl_status status = !infos      ? PL_ERROR_MEMORY
                       : count > 0 ? make_batch(s, count, false, &batch)
                                   : PL_OK;
    if (status == PL_OK && count > 0)
        status = pl_batch_gradient_create(batch, steps, PL_BIT(PL_YOUNG), &gradient);
    if (gradient) {
        status = pl_batch_evaluate(batch, &run, NULL, add_loss, s, gradient, infos);
        status = status == PL_ERROR_INTERRUPTED ? status : PL_OK;
    }
    for (int k = 0; status == PL_OK && k < count; k++) {
        cloth *c = &s->cloths[s->chosen[k]];
        double slope = 0;
        c->lost = pl_batch_status(batch, k, NULL) != PL_OK;
        for (int i = 0; i < s->elements; i++)
            slope += gradient->of[PL_YOUNG][k * s->elements + i];
        if (c->lost)
            continue;
        c->loss[c->rows++] = infos[k].loss;
        if (infos[k].loss < c->best_loss) {
            c->best = c->x;
            c->best_loss = infos[k].loss;
        }
        move(c, slope * exp(c->x), s->stage);
    }
    pl_gradient_destroy(s->scene, gradient);
    pl_batch_destroy(batch);
    free(infos);
    return status;
}

/* ------------------------------------------------------------------------------- telling */

static double error_of(const cloth *c)
{
    return fabs(exp(c->best) / c->truth - 1);
}

static pl_status write_files(const study *s, const suite_place *place)
{
    char path[2048];
    mkdir(suite_file(place, NAME, "", path), 0777);
    FILE *file = fopen(suite_file(place, NAME, "environments.csv", path), "w");
    if (!file)
        return PL_ERROR_FILE;
    fprintf(file, "environment,true E,found E,relative error,iterations,first loss,least loss\n");
    for (int e = 0; e < s->count; e++) {
        const cloth *c = &s->cloths[e];
        fprintf(file, "%d,%.9g,%.9g,%.3e,%d,%.6e,%.6e\n", e, c->truth, exp(c->best), error_of(c),
                c->rows, c->rows > 0 ? c->loss[0] : NAN, c->best_loss);
    }
    return fclose(file) == 0 ? PL_OK : PL_ERROR_FILE;
}

/* The loss of every environment, over the iterations. */
static pl_status draw(const study *s, const suite_place *place)
{
    char path[2048];
    pl_plot plot = pl_plot_default();
    pl_plot_line *lines = calloc((size_t)s->count, sizeof *lines);
    char(*names)[16] = calloc((size_t)s->count, sizeof *names);
    pl_status status = lines && names ? PL_OK : PL_ERROR_MEMORY;
    for (int e = 0; status == PL_OK && e < s->count; e++) {
        snprintf(names[e], sizeof names[e], "%.3g Pa", s->cloths[e].truth);
        lines[e] = (pl_plot_line){.name = names[e], .count = s->cloths[e].rows, .y = s->cloths[e].loss};
    }
    plot.title = "Stiffness of all cloths of a batch, identified at once";
    plot.x_label = "iteration";
    plot.y_label = "loss, m^2";
    plot.log_y = true;
    plot.lines = lines;
    plot.line_count = s->count;
    if (status == PL_OK)
        status = pl_plot_write(s->ctx, &plot, suite_file(place, NAME, "loss.svg", path));
    free(lines);
    free(names);
    return status;
}

static pl_status search_stage(study *s, double began)
{
    int left = s->count;
    pl_status status = PL_OK;
    for (int e = 0; e < s->count; e++) {
        cloth *c = &s->cloths[e];
        c->done = false;
        c->begun = c->rows;
        c->x = c->best;
        c->best_loss = INFINITY;
        c->low = s->stage == 0 ? log(1e3) : c->x - AROUND;
        c->high = s->stage == 0 ? log(1e7) : c->x + AROUND;
    }
    for (int k = 0; status == PL_OK && k < ITERATIONS && left > 0; k++) {
        double worst = 0;
        status = iterate(s, &left);
        for (int e = 0; e < s->count; e++)
            worst = fmax(worst, error_of(&s->cloths[e]));
        if (status == PL_OK && left > 0)
            printf("%-14s %d steps, iteration %2d: %3d of %d searched, E within %.1e, %.0f s\n", NAME,
                   stages[s->stage].steps, k + 1, left, s->count, worst, cli_seconds() - began);
        fflush(stdout);
    }
    return status;
}

static pl_status search(study *s)
{
    double began = cli_seconds();
    pl_status status = find_targets(s);
    for (s->stage = 0; s->stage < STAGES && status == PL_OK; s->stage++)
        status = search_stage(s, began);
    return status;
}

static pl_status open_study(pl_context *ctx, int count, int cells, study *s)
{
    *s = (study){.ctx = ctx, .count = count};
    pl_status status = drape_scene(ctx, cells, &s->scene);
    if (status != PL_OK)
        return status;
    s->n = pl_scene_get_info(s->scene).vertex_count;
    s->elements = pl_scene_row_count(s->scene, PL_YOUNG);
    s->cloths = calloc((size_t)count, sizeof *s->cloths);
    for (int k = 0; k < STAGES; k++)
        s->target[k] = calloc(3 * (size_t)s->n * (size_t)count, sizeof(double));
    s->chosen = calloc((size_t)count, sizeof *s->chosen);
    if (!s->cloths || !s->target[0] || !s->target[1] || !s->chosen)
        return PL_ERROR_MEMORY;
    for (int e = 0; e < count; e++)
        s->cloths[e] = (cloth){.truth = drape_young(e), .best = log(1e5)};
    return PL_OK;
}

pl_status suite_cloth_batch(pl_context *ctx, const suite_place *place, bool *reached)
{
    study s;
    int count = place->environments > 0 ? place->environments : 64, found = 0;
    int cells = place->vertices > 0 ? (int)lround(sqrt(0.5 * place->vertices)) : 22;
    pl_status status = open_study(ctx, count, cells > 0 ? cells : 1, &s);
    if (status == PL_OK)
        status = search(&s);
    for (int e = 0; status == PL_OK && e < count; e++)
        found += error_of(&s.cloths[e]) < 1e-3;
    if (status == PL_OK)
        status = write_files(&s, place);
    if (status == PL_OK)
        status = draw(&s, place);
    if (status == PL_OK)
        printf("%-14s %d of %d stiffnesses found to 1e-3\n", NAME, found, count);
    *reached = status == PL_OK && found == count;
    free(s.cloths);
    for (int k = 0; k < STAGES; k++)
        free(s.target[k]);
    free(s.chosen);
    pl_scene_destroy(s.scene);
    return status;
}
