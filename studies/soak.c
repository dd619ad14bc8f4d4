/*
 * Random scenes of eleven kinds: does every step converge, and where it says so, is it so? Each step's
 * balance is checked by sums of its own, gradients of every tenth scene by differences.
 */
#include "soak.h"

#include "cli/loss.h"

#include <pliant/check.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times the median work of its scene, or that of a plain step in contact if that is more: a step that
 * takes longer should have been split. */
#define SLOW  50
#define PLAIN 20

/* Beyond that a step that claims a residual of at most 1e-9 m is wrong, m. */
#define BALANCED 1e-8

typedef struct soak_counts {
    int scenes, steps, touching, split;
    int failures;                   /* scenes that ended with an error, which said so */
    int silent, not_finite, inside; /* steps that claim to be right and are not */
    int slow;                       /* and that took long without being split */
    int gradients, unresolved, refused, wrong;
    double imbalance; /* worst, m */
} soak_counts;

static void add_counts(soak_counts *sum, const soak_counts *c)
{
    sum->scenes += c->scenes, sum->steps += c->steps, sum->touching += c->touching;
    sum->split += c->split;
    sum->failures += c->failures, sum->silent += c->silent, sum->not_finite += c->not_finite;
    sum->inside += c->inside, sum->slow += c->slow, sum->gradients += c->gradients,
        sum->unresolved += c->unresolved;
    sum->refused += c->refused, sum->wrong += c->wrong;
    sum->imbalance = fmax(sum->imbalance, c->imbalance);
}

static bool is_finite(const pl_state *state)
{
    double sum = 0;
    for (int i = 0; i < 3 * state->vertex_count; i++)
        sum += fabs(state->q[i]) + fabs(state->v[i]);
    return isfinite(sum);
}

typedef struct soak_run {
    study *study;
    int index;
    soak_scene made;
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state, *before;
    double *mass;           /* [n] */
    int work[SOAK_STEPS];   /* of each step: solves and iterations of all kinds, */
    bool split[SOAK_STEPS]; /* and whether it was split */
    soak_counts counts;
} soak_run;

/* A line for what is to be looked at, and with --out the scene. */
static void note(const soak_run *r, const char *what)
{
    printf("scene %d (%s): %s\n", r->index, soak_kinds[r->made.kind], what);
    if (!r->study->out)
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/soak-%d.json", r->study->out, r->index);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(r->made.text, 1, r->made.length, file) != r->made.length)
        fprintf(stderr, "pliant: warning: %s: cannot write: %s\n", path, strerror(errno));
    if (file)
        fclose(file);
}

/* The body that is furthest from balance, m. */
static pl_status worst_imbalance(const soak_run *r, double *off)
{
    pl_scene_def def = pl_scene_get_def(r->scene);
    soak_body body = {0};
    *off = 0;
    for (int b = 0; b < r->made.bodies; b++) {
        pl_body_info info;
        pl_status status = pl_scene_body(r->scene, b, &info);
        if (status != PL_OK)
            return status;
        body = (soak_body){body.last, body.last + info.mesh->vertex_count};
        double here = soak_imbalance(r->before, r->state, r->mass, body, def.gravity, def.time_step);
        *off = here <= *off ? *off : here; /* also when not a number */
    }
    return PL_OK;
}

static pl_status judge(soak_run *r, const pl_step_info *info)
{
    soak_counts *c = &r->counts;
    char text[128];
    c->steps++;
    c->touching += r->state->contact_count > 0;
    c->split += info->splits > 0;
    if (!is_finite(r->state)) {
        c->not_finite++;
        note(r, "not finite");
    }
    double off;
    int inside;
    pl_status status = soak_inside(r->study->ctx, r->scene, r->state, &inside);
    if (status != PL_OK)
        return status;
    if (info->penetration > 0 || inside > 0) {
        c->inside++;
        snprintf(text, sizeof text, "step %d: %.1e m inside an obstacle, %d vertices inside a body",
                 r->state->step, info->penetration, inside);
        note(r, text);
    }
    if (info->splits > 0)
        return PL_OK; /* contact forces are those of its last part */
    if ((status = worst_imbalance(r, &off)) != PL_OK)
        return status;
    c->imbalance = fmax(c->imbalance, off);
    if (!(off <= BALANCED) || !info->converged) {
        c->silent++;
        snprintf(text, sizeof text, "step %d: claims %.1e m, is off by %.1e m", r->state->step,
                 info->residual, off);
        note(r, text);
    }
    return PL_OK;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* By counts, which unlike times are the same on every machine. */
static void judge_work(soak_run *r, int steps)
{
    int sorted[SOAK_STEPS];
    memcpy(sorted, r->work, sizeof sorted);
    qsort(sorted, (size_t)steps, sizeof *sorted, compare);
    int median = sorted[steps / 2] > PLAIN ? sorted[steps / 2] : PLAIN;
    for (int k = 0; k < steps; k++) {
        char text[128];
        if (r->split[k] || r->work[k] <= SLOW * median)
            continue;
        r->counts.slow++;
        snprintf(text, sizeof text, "step %d: took %d solves and iterations, others %d", k + 1,
                 r->work[k], median);
        note(r, text);
    }
}

static pl_status simulate(soak_run *r)
{
    for (int k = 0; k < r->made.steps; k++) {
        pl_step_info info;
        pl_status status = pl_state_copy(r->scene, r->state, r->before);
        if (status == PL_OK)
            status = pl_step(r->sim, r->state, NULL, &info);
        if (status == PL_ERROR_CONVERGENCE || status == PL_ERROR_NUMERIC) {
            r->counts.failures++;
            note(r, pl_context_error(r->study->ctx));
            return PL_OK;
        }
        if (status != PL_OK)
            return status;
        if ((status = judge(r, &info)) != PL_OK)
            return status;
        r->work[k] = info.iterations + info.inner_iterations + info.linear_solves;
        r->split[k] = info.splits > 0;
    }
    judge_work(r, r->made.steps);
    return PL_OK;
}

/* Of all steps, by all there is. */
static pl_status check_gradients(soak_run *r)
{
    pl_check_def def = pl_check_def_default();
    pl_check_result *result = NULL;
    cli_loss loss;
    def.steps = r->made.steps;
    def.directions = 1;
    def.step_count = 9; /* the slopes of what buckles hold over little */
    cli_loss_find("distance", def.steps, r->state, &loss);
    def.loss = cli_loss_term;
    def.loss_user = &loss;
    r->counts.gradients++;
    pl_status status = pl_check(r->sim, r->state, &def, &result);
    if (status == PL_ERROR_CONVERGENCE || status == PL_ERROR_NUMERIC) {
        r->counts.refused++;
        note(r, pl_context_error(r->study->ctx));
        return PL_OK;
    }
    int wrong = status == PL_OK ? result->failed : 0;
    if (wrong > 0 && result->regimes.splits == 0) {
        char text[128];
        r->counts.wrong++;
        snprintf(text, sizeof text, "gradients: %d of %d differ, by %.1e", wrong, result->row_count,
                 result->worst_error);
        note(r, text);
    } else if (status == PL_OK) {
        r->counts.unresolved += result->unresolved + wrong > 0;
    }
    pl_check_destroy(r->study->ctx, result);
    return status;
}

static pl_status run_scene(soak_run *r)
{
    pl_context *ctx = r->study->ctx;
    pl_status status =
        pl_scene_load_text(ctx, r->made.text, r->made.length, "soak", NULL, 0, NULL, &r->scene, NULL);
    if (status == PL_OK)
        status = pl_sim_create(r->scene, &r->sim);
    if (status == PL_OK)
        status = pl_state_create(r->scene, &r->state);
    if (status == PL_OK)
        status = pl_state_create(r->scene, &r->before);
    if (status == PL_OK && !(r->mass = malloc(sizeof(double) * (size_t)r->state->vertex_count)))
        status = PL_ERROR_MEMORY;
    if (status == PL_OK)
        status = soak_weigh(r->scene, &r->made, r->mass);
    r->counts.scenes = 1;
    if (status == PL_OK && r->index % 10 == 0)
        status = check_gradients(r);
    if (status == PL_OK)
        status = simulate(r);
    free(r->mass);
    if (r->scene) {
        pl_state_destroy(r->scene, r->before);
        pl_state_destroy(r->scene, r->state);
    }
    pl_sim_destroy(r->sim);
    pl_scene_destroy(r->scene);
    return status;
}

static void row(study_table *table, const char *kind, const soak_counts *c)
{
    study_cell(table, "%s", kind);
    study_cell(table, "%d", c->scenes);
    study_cell(table, "%d", c->steps);
    study_cell(table, "%d", c->touching);
    study_cell(table, "%d", c->split);
    study_cell(table, "%d", c->failures);
    study_cell(table, "%d", c->silent);
    study_cell(table, "%d", c->not_finite);
    study_cell(table, "%d", c->inside);
    study_cell(table, "%d", c->slow);
    study_cell(table, "%.1e", c->imbalance);
    study_cell(table, "%d", c->gradients);
    study_cell(table, "%d", c->unresolved);
    study_cell(table, "%d", c->refused);
    study_cell(table, "%d", c->wrong);
}

static void aims(study *s, const soak_counts *c)
{
    study_aim(s, c->not_finite == 0, "all steps are finite (%d are not)", c->not_finite);
    study_aim(s, c->inside == 0, "nothing is inside an obstacle or another body (%d steps)", c->inside);
    study_aim(s, c->silent == 0, "steps that say they converged are in balance, to %g m (%d are not)",
              BALANCED, c->silent);
    study_aim(s, c->slow == 0,
              "steps that are not split take at most %d times the median work (%d do not)", SLOW,
              c->slow);
    study_aim(s, c->wrong == 0, "gradients agree with differences (%d of %d do not)", c->wrong,
              c->gradients);
    study_aim(s, 50 * (c->failures + c->refused) <= c->scenes,
              "at most 2 %% of the scenes end with an error (%d of %d, and %d gradients)", c->failures,
              c->scenes, c->refused);
}

pl_status study_soak(study *s)
{
    study_table table = study_table_new(
        "soak", "kind|scenes|steps|touching|split|failed|silent|not finite|inside|slow|worst off (m)|"
                "gradients|unresolved|refused|wrong");
    soak_counts kinds[SOAK_KINDS] = {{0}}, all = {0};
    int total = s->scenes > 0 ? s->scenes : s->quick ? 22 : 100;
    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < total; i++) {
        soak_run r = {.study = s, .index = i, .made = soak_make((unsigned)s->seed, i, s->solver)};
        status = r.made.text ? run_scene(&r) : PL_ERROR_MEMORY;
        add_counts(&kinds[r.made.kind], &r.counts);
        add_counts(&all, &r.counts);
        free(r.made.text);
        if (status == PL_OK && !study_progress(s, i + 1, total))
            status = study_stopped(s);
    }
    if (status == PL_OK) {
        for (int k = 0; k < SOAK_KINDS; k++)
            row(&table, soak_kinds[k], &kinds[k]);
        row(&table, "all", &all);
        study_table_print(&table, stdout, false);
        printf("\n");
        aims(s, &all);
        status = study_table_write(s, &table);
    }
    study_table_free(&table);
    return status;
}
