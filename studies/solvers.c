/*
 * The adjoint system of one step, solved by every method: true relative residual |b - A x| / |b| of the
 * augmented system (adjoint/linear.h) against iterations and against time. Three regimes: a swinging
 * bar, a block sliding without friction, and one sliding with it. Each point of a curve is a solve of
 * its own with that many iterations allowed; times are CPU times and count what a step sets up, not
 * what is made once for many steps (the factor of a matrix that stays, its columns at the contacts).
 * Everything is done twice, with a stiff and a soft body.
 */
#include "study.h"

#include "adjoint/sweep.h"
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

#define TOLERANCE 1e-11 /* down to which curves go */
#define GOAL      1e-8  /* that methods are compared at */
#define LAG       5     /* steps since the lagged factor was made */

static const int budgets[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 500};

enum { BUDGETS = sizeof budgets / sizeof *budgets, REGIMES = 3, BODIES = 2 };
enum { DIRECT, LAGGED, WOODBURY, INVERSE, JACOBI, NONE, SPLITTING, METHODS };

static const char *const regimes[REGIMES] = {"contact-free", "frictionless", "frictional"};
static const char *const bodies[BODIES] = {"stiff", "soft"};
static const double young[BODIES] = {1e6, 1e5}; /* Pa */

static const struct {
    const char *name;
    pl_adjoint_solver solver;
    pl_preconditioner preconditioner;
    bool must; /* reach 1e-8 in every regime */
} methods[METHODS] = {
    [DIRECT] = {"direct", PL_ADJOINT_DIRECT, PL_PRECONDITION_LAGGED, true},
    [LAGGED] = {"Krylov, lagged factor", PL_ADJOINT_KRYLOV, PL_PRECONDITION_LAGGED, true},
    [WOODBURY] = {"Krylov, Woodbury", PL_ADJOINT_KRYLOV, PL_PRECONDITION_WOODBURY, true},
    [INVERSE] = {"Krylov, A^-1", PL_ADJOINT_KRYLOV, PL_PRECONDITION_INVERSE, false},
    [JACOBI] = {"Krylov, Jacobi", PL_ADJOINT_KRYLOV, PL_PRECONDITION_JACOBI, false},
    [NONE] = {"Krylov, none", PL_ADJOINT_KRYLOV, PL_PRECONDITION_NONE, false},
    [SPLITTING] = {"semi-implicit splitting", PL_ADJOINT_SEMI_IMPLICIT, PL_PRECONDITION_INVERSE, false},
};

typedef struct solver_curve {
    int count;
    double iterations[BUDGETS], residual[BUDGETS], milliseconds[BUDGETS];
    double once, setup;  /* ms */
    int goal_iterations; /* 0 = not reached */
    double goal_milliseconds;
} solver_curve;

typedef struct solver_job {
    study *s;
    pl_sweep *sweep;
    int method, contacts;
    double *loss; /* dL/dq */
    solver_curve *curve;
} solver_job;

/* One solve with `budget` iterations allowed, from `loss` = dL/dq; *took in ms. */
static pl_status solve_once(pl_linear *l, double tolerance, int budget, const double *loss,
                            double *took)
{
    size_t n3 = 3 * (size_t)l->n;
    memset(l->rhs, 0, sizeof(double) * (n3 + 3 * (size_t)l->contacts.count));
    memcpy(l->rhs, loss, sizeof(double) * n3);
    l->def.tolerance = tolerance;
    l->def.max_iterations = budget;
    l->residual = 0;
    l->iterations = 0;
    l->ledger.uses = 0; /* a lagged factor is not to be made anew */
    double began = bench_cpu_milliseconds();
    pl_status status = pl_linear_solve(l, true);
    *took = bench_cpu_milliseconds() - began;
    return status == PL_ERROR_CONVERGENCE ? PL_OK : status;
}

/* The same three times; the shortest time. */
static pl_status solve(pl_linear *l, double tolerance, int budget, const double *loss, double *shortest)
{
    double took;
    *shortest = INFINITY;
    for (int k = 0; k < 3; k++) {
        PL_TRY(solve_once(l, tolerance, budget, loss, &took));
        *shortest = fmin(*shortest, took);
    }
    return PL_OK;
}

static pl_status add_point(solver_job *job, int budget)
{
    pl_linear *l = &job->sweep->linear;
    solver_curve *curve = job->curve;
    double took;
    PL_TRY(solve(l, TOLERANCE, budget, job->loss, &took));
    curve->iterations[curve->count] = l->iterations;
    curve->residual[curve->count] = l->residual;
    curve->milliseconds[curve->count] = curve->setup + took;
    curve->count++;
    return PL_OK;
}

static pl_status reach_goal(solver_job *job)
{
    pl_linear *l = &job->sweep->linear;
    double took;
    PL_TRY(solve(l, GOAL, budgets[BUDGETS - 1], job->loss, &took));
    if (l->residual <= GOAL) {
        job->curve->goal_iterations = l->iterations;
        job->curve->goal_milliseconds = job->curve->setup + took;
    }
    return PL_OK;
}

/* Sets the step up once and solves it, as a sweep has done with the step before when it comes to this
 * one: how many iterations that took decides whether factors are turned, and how they are read. Then
 * three times with what the first has left, which for the lagged factor is that of LAG steps ago. */
static pl_status set_up(solver_job *job, const pl_tape *tape, const pl_state *start)
{
    bool lagged = methods[job->method].preconditioner == PL_PRECONDITION_LAGGED &&
                  methods[job->method].solver == PL_ADJOINT_KRYLOV;
    int last = tape->count - 1;
    double began = bench_cpu_milliseconds(), shortest = INFINITY, took;
    PL_TRY(pl_sweep_substep(job->sweep, tape, lagged ? last - LAG : last, start));
    double first = bench_cpu_milliseconds() - began;
    if (lagged)
        PL_TRY(pl_sweep_substep(job->sweep, tape, last, start));
    PL_TRY(solve_once(&job->sweep->linear, GOAL, budgets[BUDGETS - 1], job->loss, &took));
    for (int k = 0; k < 3; k++) {
        began = bench_cpu_milliseconds();
        PL_TRY(pl_sweep_substep(job->sweep, tape, last, start));
        shortest = fmin(shortest, bench_cpu_milliseconds() - began);
    }
    job->curve->setup = shortest;
    job->curve->once = methods[job->method].solver == PL_ADJOINT_DIRECT ? 0 : fmax(0, first - shortest);
    return PL_OK;
}

static pl_status solve_block(void *user, const pl_tape *tape, const pl_state *start)
{
    solver_job *job = user;
    const pl_tape_entry *e = &tape->entries[tape->count - 1];
    int n3 = 3 * job->sweep->linear.n;
    job->contacts = e->contact_count;
    for (int i = 0; i < n3; i++) /* of the mean squared distance to the start */
        job->loss[i] = (e->q[i] - start->q[i]) / (n3 / 3);
    PL_TRY(set_up(job, tape, start));
    PL_TRY(reach_goal(job));
    for (int b = 0; b < BUDGETS; b++) {
        PL_TRY(add_point(job, budgets[b]));
        double reached = job->curve->residual[job->curve->count - 1];
        if (reached <= TOLERANCE || !(reached < 1e20))
            break;
    }
    return PL_OK;
}

static pl_status measure(study *s, pl_rollout *rollout, int method, solver_curve *curve, int *contacts)
{
    pl_status status = PL_OK;
    pl_sweep sweep;
    pl_adjoint_def def = pl_adjoint_def_default();
    def.solver = methods[method].solver;
    def.preconditioner = methods[method].preconditioner;
    def.tolerance = TOLERANCE;
    PL_TRY(pl_sweep_create(rollout, &def, 1, &sweep));
    solver_job job = {.s = s, .sweep = &sweep, .method = method, .curve = curve};
    PL_NEW(s->ctx, job.loss, 3 * rollout->sim->scene->vertex_count, done);
    PL_CHECK(pl_rollout_forward(rollout, solve_block, &job), done);
    *contacts = job.contacts;
done:
    pl_free(s->ctx, job.loss);
    pl_sweep_free(&sweep);
    return status;
}

static void build(study *s, int which, int regime, bench_world *w)
{
    int wanted = s->scale > 0 ? s->scale : s->quick ? 200 : 1200;
    int side = (int)lround(cbrt(wanted / 2.0)); /* a bar or slab of 2:1:1 */
    side = side < 3 ? 3 : side;
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    body.young = young[which];
    if (regime > 0)
        bench_slope(&def, 20);
    bench_open(w, s->ctx, &def);
    pl_mesh *mesh = bench_grid(w, 2 * side, side, side, 0.2 / side);
    bench_add(w, mesh, &body);
    if (regime == 0)
        bench_pin(w, 0, false);
    else
        bench_floor(w, regime == 1 ? 0 : 0.2);
    bench_start(w);
}

static pl_status plot(study *s, int which, int regime, solver_curve *curves, bool time)
{
    pl_plot_line lines[METHODS];
    char name[64], title[96];
    for (int m = 0; m < METHODS; m++)
        lines[m] = (pl_plot_line){.name = methods[m].name,
                                  .count = curves[m].count,
                                  .x = time ? curves[m].milliseconds : curves[m].iterations,
                                  .y = curves[m].residual,
                                  .markers = true};
    snprintf(title, sizeof title, "Adjoint of one step, %s, %s body", regimes[regime], bodies[which]);
    snprintf(name, sizeof name, "solvers-%s-%s-%s", bodies[which], regimes[regime],
             time ? "time" : "iterations");
    pl_plot p = pl_plot_default();
    p.title = title;
    p.x_label = time ? "CPU milliseconds, a step's set-up included" : "iterations";
    p.y_label = "true relative residual";
    p.log_x = p.log_y = true;
    p.line_count = METHODS;
    p.lines = lines;
    return study_plot(s, &p, name);
}

static void add_row(study_table *table, int which, int regime, int method, int vertices, int contacts,
                    const solver_curve *c)
{
    int last = c->count - 1;
    study_cell(table, "%.0e", young[which]);
    study_cell(table, "%s", regimes[regime]);
    study_cell(table, "%d", vertices);
    study_cell(table, "%d", contacts);
    study_cell(table, "%s", methods[method].name);
    study_cell(table, "%.2f", c->once);
    study_cell(table, "%.2f", c->setup);
    if (c->goal_iterations > 0) {
        study_cell(table, "%d", c->goal_iterations);
        study_cell(table, "%.2f", c->goal_milliseconds);
    } else {
        study_cell(table, "not in %d", budgets[BUDGETS - 1]);
        study_cell(table, "-");
    }
    study_cell(table, "%.1e", c->residual[last]);
}

static pl_status run_regime(study *s, int which, int regime, study_table *table, solver_curve *curves,
                            int *done)
{
    pl_status status = PL_OK;
    bench_world w;
    pl_rollout *rollout = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = 20;
    build(s, which, regime, &w);
    PL_CHECK(w.status, done);
    PL_CHECK(pl_rollout_run(w.sim, w.state, &def, &rollout), done);
    for (int m = 0; m < METHODS; m++) {
        int contacts = 0;
        PL_CHECK(measure(s, rollout, m, &curves[m], &contacts), done);
        add_row(table, which, regime, m, w.state->vertex_count, contacts, &curves[m]);
        if (!study_progress(s, ++*done, BODIES * REGIMES * METHODS)) {
            status = study_stopped(s);
            goto done;
        }
    }
    PL_CHECK(plot(s, which, regime, curves, false), done);
    PL_CHECK(plot(s, which, regime, curves, true), done);
done:
    pl_rollout_destroy(rollout);
    bench_close(&w);
    return status;
}

/* To the goal, or what all the iterations allowed took. */
static double time_taken(const solver_curve *c)
{
    return c->goal_iterations > 0 ? c->goal_milliseconds : c->milliseconds[c->count - 1];
}

/* The paper's factors between Woodbury and Jacobi with friction; an unfinished Jacobi counts as the
 * iterations allowed. */
static void judge_friction(study *s, int which, const solver_curve *w, const solver_curve *j)
{
    int jacobi = j->goal_iterations > 0 ? j->goal_iterations : budgets[BUDGETS - 1];
    study_aim(s, w->goal_iterations > 0 && jacobi >= 9 * w->goal_iterations,
              "Woodbury, frictional, %s: 9 times fewer iterations than Jacobi (%.1f)", bodies[which],
              (double)jacobi / w->goal_iterations);
    study_aim(
        s, w->goal_iterations > 0 && (!j->goal_iterations || time_taken(j) >= 6 * w->goal_milliseconds),
        "Woodbury, frictional, %s: 6 times less time than Jacobi (%.1f%s)", bodies[which],
        time_taken(j) / w->goal_milliseconds, j->goal_iterations ? "" : ", and not there yet");
}

static void judge_body(study *s, int which, solver_curve curves[REGIMES][METHODS])
{
    const solver_curve *w = &curves[REGIMES - 1][WOODBURY];
    for (int m = 0; m < METHODS; m++) {
        bool ok = true;
        for (int r = 0; r < REGIMES; r++)
            ok &= curves[r][m].goal_iterations > 0;
        if (methods[m].must)
            study_aim(s, ok, "%s, %s: true residual below 1e-8 in all three regimes", methods[m].name,
                      bodies[which]);
    }
    study_aim(s, w->goal_iterations > 0 && w->goal_iterations <= 30,
              "Woodbury, frictional, %s: at most 30 iterations (%d)", bodies[which],
              w->goal_iterations);
    if (s->quick) /* the rest is of bodies of some size */
        return;
    judge_friction(s, which, w, &curves[REGIMES - 1][JACOBI]);
    for (int r = 0; r < REGIMES; r++)
        for (int m = INVERSE; m <= JACOBI; m++) {
            const solver_curve *mine = &curves[r][WOODBURY], *other = &curves[r][m];
            study_aim(s, mine->goal_iterations > 0 && time_taken(mine) <= time_taken(other),
                      "Woodbury, %s, %s: not slower than %s (%.2f, %.2f ms)", regimes[r], bodies[which],
                      methods[m].name, time_taken(mine), time_taken(other));
        }
}

pl_status study_solvers(study *s)
{
    study_table table =
        study_table_new("solvers", "E (Pa)|regime|vertices|contacts|method|once (ms)|set-up (ms)|"
                                   "iterations to 1e-8|ms|residual reached");
    solver_curve(*curves)[REGIMES][METHODS] = calloc(BODIES, sizeof *curves);
    int done = 0;
    pl_status status = curves ? PL_OK : PL_ERROR_MEMORY;
    for (int k = 0; status == PL_OK && k < BODIES * REGIMES; k++)
        status =
            run_regime(s, k / REGIMES, k % REGIMES, &table, curves[k / REGIMES][k % REGIMES], &done);
    if (status == PL_OK) {
        study_table_print(&table, stdout, false);
        printf("\n");
        for (int b = 0; b < BODIES; b++)
            judge_body(s, b, curves[b]);
        status = study_table_write(s, &table);
    }
    study_table_free(&table);
    free(curves);
    return status;
}
