/* Ratios of two times taken one after the other in this process: what each mechanism is worth. */
#include "bench.h"

#include "backend/backend.h"
#include "sim/sim.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEATS 25

/* CPU time of this thread: what others do to a busy machine shows less. */
static double thread_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* The shortest of a few runs: what the machine can do when nobody disturbs it. */
#define FASTEST(out, call)                                                                             \
    do {                                                                                               \
        (out) = INFINITY;                                                                              \
        for (int rep_ = 0; rep_ < REPEATS; rep_++) {                                                   \
            double began_ = thread_milliseconds();                                                     \
            call;                                                                                      \
            (out) = fmin((out), thread_milliseconds() - began_);                                       \
        }                                                                                              \
    } while (0)

static void row(FILE *file, const char *what, const char *scene, double a, double b)
{
    fprintf(file, "| %s | %s | %.3f | %.3f | %.2f |\n", what, scene, a, b, b / a);
}

/* The processor's best kernels against the scalar ones: energy and gradient of all elements, with the
 * tangent or without. */
static void vector_ratio(FILE *file, pl_sim *sim, const double *q, bool tangent, const char *scene)
{
    const pl_backend *list[PL_BACKEND_MAX];
    int count = pl_backend_list(list);
    double scalar, best, *out = tangent ? sim->solver.matrix.tangent : NULL;
    char what[96];
    pl_elastic_set_backend(sim->matter.elastic, list[count - 1]);
    FASTEST(scalar,
            pl_elastic_evaluate(sim->matter.elastic, q, false, 1, NULL, sim->solver.gradient, out));
    pl_elastic_set_backend(sim->matter.elastic, list[0]);
    FASTEST(best,
            pl_elastic_evaluate(sim->matter.elastic, q, false, 1, NULL, sim->solver.gradient, out));
    snprintf(what, sizeof what, "one thread: stress%s with %s kernels, %s kernels",
             tangent ? " and tangent" : "", list[0]->name, list[count - 1]->name);
    row(file, what, scene, best, scalar);
}

/* Adds up `count` numbers in several chains, so that memory and not the adder is the limit. */
static double sweep_over(const double *x, size_t count)
{
    double sum[8] = {0};
    for (size_t i = 0; i + 8 <= count; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += x[i + (size_t)k];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

/* What an iteration of CG does with the lagged factor: a product, a solve, two dots, three updates. */
static void krylov_iteration(pl_solver *s, double *dots)
{
    int size = 3 * s->n;
    pl_bsr_multiply(1, s->matrix.model->pattern, s->matrix.tangent, s->external, s->gradient);
    dots[0] = cblas_ddot(size, s->external, 1, s->gradient, 1);
    cblas_daxpy(size, 1e-9, s->external, 1, s->trial, 1);
    cblas_daxpy(size, 1e-9, s->gradient, 1, s->residual, 1);
    pl_matrix_correct(&s->matrix, s->residual, s->move);
    dots[1] = cblas_ddot(size, s->residual, 1, s->move, 1);
    cblas_daxpy(size, 1e-9, s->move, 1, s->guess, 1);
}

/* One Krylov iteration against reading as many bytes in the same order: blocks of the tangent, vectors,
 * the factor as it is kept, there and back. */
/* The substep that a sim would make from a state, as far as its matrix asks. */
static pl_substep next_substep(pl_sim *sim)
{
    return (pl_substep){.scene = sim->scene,
                        .pattern = sim->model->pattern,
                        .matter = &sim->matter,
                        .h = sim->matter.values->def.time_step,
                        .drive = &sim->drive};
}

static pl_status krylov_ratio(FILE *file, pl_sim *sim, const char *scene)
{
    const pl_pattern *p = sim->model->pattern;
    pl_substep sub = next_substep(sim);
    PL_TRY(pl_solver_refresh(&sim->solver, &sub, sim->solver.iterate));
    size_t factor =
        (size_t)pl_chol_get_cost(pl_matrix_factor(&sim->solver.matrix)).correct_bytes / sizeof(double);
    size_t others =
        ((size_t)p->nnz * (9 * sizeof(double) + sizeof(int)) + (size_t)p->n * 16 * 3 * sizeof(double)) /
        sizeof(double);
    double *block = malloc((others + factor) * sizeof *block), iteration, reading, kept = 0, dots[2];
    if (!block)
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < others + factor; i++)
        block[i] = 1;
    FASTEST(reading, kept += sweep_over(block, others + factor) + sweep_over(block + others, factor));
    FASTEST(iteration, krylov_iteration(&sim->solver, dots));
    free(block);
    char what[96];
    snprintf(what, sizeof what, "one thread: reading %.1f MB%s, a Krylov iteration",
             8e-6 * (double)(others + 2 * factor), kept > 0 ? "" : " (none)");
    row(file, what, scene, reading, iteration);
    return PL_OK;
}

/* W with its columns kept against W asked anew of the factor. */
static pl_status delassus_ratio(FILE *file, pl_sim *sim, const char *scene)
{
    pl_contact_space *space = &sim->solver.space;
    double h = sim->matter.values->def.time_step, kept, anew = INFINITY;
    pl_substep sub = next_substep(sim);
    pl_status status = pl_solver_refresh(&sim->solver, &sub, sim->solver.iterate);
    for (int k = 0; status == PL_OK && k < REPEATS / 5; k++) {
        pl_delassus_reset(&space->delassus);
        double began = thread_milliseconds();
        status = pl_delassus_build(sim->ctx, &space->delassus, pl_matrix_factor(&sim->solver.matrix), h,
                                   &space->set);
        anew = fmin(anew, thread_milliseconds() - began);
    }
    if (status != PL_OK)
        return status;
    FASTEST(kept, {
        space->delassus.built = 0; /* the columns are kept, W is put together again */
        pl_delassus_build(sim->ctx, &space->delassus, pl_matrix_factor(&sim->solver.matrix), h,
                          &space->set);
    });
    char what[96];
    snprintf(what, sizeof what, "one thread: Delassus matrix of %d contacts kept, recomputed",
             space->set.count);
    row(file, what, scene, kept, anew);
    return PL_OK;
}

/* One run of so many steps, with or without the last step's contact forces to start from. */
static pl_status time_start(const bench_case *c, pl_context *ctx, int steps, bool cold, double *took,
                            int *outer, int *inner)
{
    bench_world w = {0};
    bench_build(c, ctx, PL_SOLVER_AUTO, &w);
    pl_status status = w.status;
    *took = 0;
    *outer = *inner = 0;
    for (int k = 0; status == PL_OK && k < steps; k++) {
        pl_step_info info;
        if (cold)
            w.state->contact_count = 0;
        double began = bench_milliseconds();
        status = pl_step(w.sim, w.state, NULL, &info);
        *took += (bench_milliseconds() - began) / steps;
        *outer += info.iterations;
        *inner += info.inner_iterations;
    }
    bench_close(&w);
    return status;
}

/* The fastest of three runs of each, which take turns. */
static pl_status warm_ratio(FILE *file, const bench_case *c, pl_context *ctx, int steps)
{
    double fastest[2] = {INFINITY, INFINITY};
    int outer[2], inner[2];
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < 6; k++) {
        double took;
        status = time_start(c, ctx, steps, k % 2, &took, &outer[k % 2], &inner[k % 2]);
        fastest[k % 2] = fmin(fastest[k % 2], took);
    }
    if (status != PL_OK)
        return status;
    char what[128];
    snprintf(what, sizeof what,
             "step: warm (%.1f outer, %.1f inner iterations), cold start (%.1f, %.1f)",
             (double)outer[0] / steps, (double)inner[0] / steps, (double)outer[1] / steps,
             (double)inner[1] / steps);
    row(file, what, c->name, fastest[0], fastest[1]);
    return PL_OK;
}

/* The faster of two runs of every path, the paths taking turns. */
static pl_status path_ratios(FILE *file, const bench_case *c, pl_context *ctx, int steps)
{
    static const char *const names[] = {"automatic", "direct", "lagged", "constant"};
    double fastest[] = {INFINITY, INFINITY, INFINITY, INFINITY};
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < 8; k++) {
        bench_result result;
        status = bench_measure(c, ctx, (pl_solver_kind)(k % 4), steps, false, &result);
        if (status == PL_OK)
            fastest[k % 4] = fmin(fastest[k % 4], result.forward);
        else if (status == PL_ERROR_CONVERGENCE && k % 4 != PL_SOLVER_AUTO)
            status = PL_OK;
    }
    for (int k = 1; status == PL_OK && k < 4; k++) {
        if (isfinite(fastest[k])) {
            char what[64];
            snprintf(what, sizeof what, "step: automatic path, %s", names[k]);
            row(file, what, c->name, fastest[0], fastest[k]);
        } else {
            fprintf(file, "| step: automatic path, %s | %s | %.3f | does not converge | - |\n",
                    names[k], c->name, fastest[0]);
        }
    }
    return status;
}

/* The faster of two runs with either number of threads, taking turns. */
static pl_status thread_ratio(FILE *file, const bench_case *c, int steps)
{
    double forward[2] = {INFINITY, INFINITY}, backward[2] = {INFINITY, INFINITY};
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < 4; k++) {
        pl_context *ctx = NULL;
        pl_context_def def = pl_context_def_default();
        bench_result result;
        def.threads = 2 - k % 2;
        if ((status = pl_context_create(&def, &ctx)) == PL_OK)
            status = bench_measure(c, ctx, PL_SOLVER_AUTO, steps, true, &result);
        if (status == PL_OK) {
            forward[k % 2] = fmin(forward[k % 2], result.forward);
            backward[k % 2] = fmin(backward[k % 2], result.backward);
        }
        pl_context_destroy(ctx);
    }
    if (status == PL_OK) {
        row(file, "step: two threads, one", c->name, forward[0], forward[1]);
        row(file, "backward step: two threads, one", c->name, backward[0], backward[1]);
    }
    return status;
}

/* Ratios inside one simulation on one thread, after a few steps. */
static pl_status kernel_ratios(FILE *file, const bench_case *c)
{
    bench_world w = {0};
    pl_context *ctx = NULL;
    pl_context_def def = pl_context_def_default();
    def.threads = 1;
    PL_TRY(pl_context_create(&def, &ctx));
    bench_build(c, ctx, PL_SOLVER_AUTO, &w);
    pl_status status = w.status;
    for (int k = 0; status == PL_OK && k < 3; k++)
        status = pl_step(w.sim, w.state, NULL, NULL);
    if (status == PL_OK) {
        vector_ratio(file, w.sim, w.state->q, false, c->name);
        vector_ratio(file, w.sim, w.state->q, true, c->name);
        status = krylov_ratio(file, w.sim, c->name);
    }
    if (status == PL_OK && w.sim->solver.space.set.count > 0)
        status = delassus_ratio(file, w.sim, c->name);
    bench_close(&w);
    pl_context_destroy(ctx);
    return status;
}

/* What the ratios are measured on; the quick run leaves out the second half of each list. */
static const char *const path_cases[] = {"bar-small",
                                         "cloth-2k",
                                         "bunny-1.5k",
                                         "bar",
                                         "armadillo-arap-1.2k",
                                         "armadillo-corotated-1.2k",
                                         "armadillo-neo-hookean-1.2k"};
static const char *const kernel_cases[] = {
    "bar-small",           "bar",      "armadillo-neo-hookean-1.2k", "bunny-1.5k",
    "armadillo-arap-1.2k", "cloth-2k", "armadillo-neo-hookean-10k",  "bunny-10k"};
static const char *const thread_cases[] = {"bar-small", "bunny-1.5k", "bar",
                                           "armadillo-neo-hookean-1.2k", "cloth-2k"};
#define CASES(list, quick) ((int)(sizeof(list) / sizeof *(list)) / ((quick) ? 2 : 1))

pl_status bench_ratios(FILE *file, bool quick)
{
    pl_context *ctx = NULL;
    pl_context_def def = pl_context_def_default();
    int steps = quick ? 3 : 30;
    pl_status status = pl_context_create(&def, &ctx);
    fprintf(file, "| what: a, b | scene | a (ms) | b (ms) | b / a |\n|---|---|---:|---:|---:|\n");
    for (int k = 0; status == PL_OK && k < CASES(kernel_cases, quick); k++)
        status = kernel_ratios(file, bench_find_case(kernel_cases[k]));
    for (int k = 0; status == PL_OK && k < CASES(path_cases, quick); k++)
        status = path_ratios(file, bench_find_case(path_cases[k]), ctx, steps);
    if (status == PL_OK)
        status = warm_ratio(file, bench_find_case("bunny-1.5k"), ctx, steps);
    for (int k = 0; status == PL_OK && k < CASES(thread_cases, quick); k++)
        status = thread_ratio(file, bench_find_case(thread_cases[k]), steps);
    if (status != PL_OK)
        fprintf(stderr, "pliant: error: %s\n", ctx ? pl_context_error(ctx) : pl_status_name(status));
    pl_context_destroy(ctx);
    return status;
}
