/* A backward step by every method, in CPU time: is the automatic choice the fastest? */
#include "bench.h"

#include <math.h>

#define ROUNDS 3 /* of which the shortest counts */

static const struct {
    const char *name;
    pl_adjoint_solver solver;
    pl_preconditioner preconditioner;
} methods[] = {
    {"automatic", PL_ADJOINT_AUTO, PL_PRECONDITION_LAGGED},
    {"direct", PL_ADJOINT_DIRECT, PL_PRECONDITION_LAGGED},
    {"lagged factor", PL_ADJOINT_KRYLOV, PL_PRECONDITION_LAGGED},
    {"Woodbury", PL_ADJOINT_KRYLOV, PL_PRECONDITION_WOODBURY},
    {"A^-1", PL_ADJOINT_KRYLOV, PL_PRECONDITION_INVERSE},
    {"Jacobi", PL_ADJOINT_KRYLOV, PL_PRECONDITION_JACOBI},
};

enum { METHODS = sizeof methods / sizeof *methods };

void bench_methods_head(FILE *file)
{
    fprintf(file, "| scene | vertices | contacts |");
    for (int m = 0; m < METHODS; m++)
        fprintf(file, " %s (ms) |", methods[m].name);
    fprintf(file, " automatic / fastest |\n|---|---:|---:|");
    for (int m = 0; m <= METHODS; m++)
        fprintf(file, "---:|");
    fprintf(file, "\n");
}

/* Shortest times in ms a step; INFINITY for a method that does not reach its tolerance. A method's
 * rounds follow each other: from the second on it finds the order of elimination that it made in the
 * first, where another method's would have to be made anew for some and not for others. */
static pl_status measure(bench_world *w, pl_rollout *rollout, double times[METHODS])
{
    for (int m = 0; m < METHODS; m++)
        times[m] = INFINITY;
    for (int m = 0; m < METHODS; m++)
        for (int k = 0; k < ROUNDS; k++) {
            pl_adjoint_def def = pl_adjoint_def_default();
            pl_adjoint_info info;
            def.solver = methods[m].solver;
            def.preconditioner = methods[m].preconditioner;
            if (k > 0 && times[m] > 4 * times[0])
                continue; /* once will do */
            double began = bench_cpu_milliseconds();
            pl_status status = bench_backward(w, rollout, &def, &info);
            double took = bench_cpu_milliseconds() - began;
            if (status == PL_OK)
                times[m] = fmin(times[m], took / pl_rollout_steps(rollout));
            else if (status != PL_ERROR_CONVERGENCE || m == 0)
                return status;
        }
    return PL_OK;
}

pl_status bench_methods(FILE *file, const bench_case *c, pl_context *ctx, int steps)
{
    bench_world w = {0};
    pl_rollout *rollout = NULL;
    pl_rollout_def def = pl_rollout_def_default();
    double times[METHODS], fastest = INFINITY;
    bench_build(c, ctx, PL_SOLVER_AUTO, &w);
    pl_status status = w.status;
    def.steps = steps > 0 ? steps : c->steps;
    if (status == PL_OK)
        status = pl_rollout_run(w.sim, w.state, &def, &rollout);
    if (status == PL_OK)
        status = measure(&w, rollout, times);
    if (status == PL_OK) {
        fprintf(file, "| %s | %d | %d |", c->name, w.state->vertex_count, w.state->contact_count);
        for (int m = 0; m < METHODS; m++) {
            fastest = fmin(fastest, times[m]);
            if (isfinite(times[m]))
                fprintf(file, " %.2f |", times[m]);
            else
                fprintf(file, " not in 500 |");
        }
        fprintf(file, " %.2f |\n", times[0] / fastest);
        fflush(file);
    }
    pl_rollout_destroy(rollout);
    bench_close(&w);
    return status;
}
