/* The benchmark: cases, what is measured of each, the peers' figures, ratios, two builds compared. */
#ifndef PL_BENCH_H
#define PL_BENCH_H

#include "world.h"

#include <jansson.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------- cases */

typedef enum bench_group { BENCH_ELASTIC, BENCH_CONTACT } bench_group;

typedef struct bench_case {
    const char *name;
    const char *setup; /* in words */
    bench_group group;
    int steps;
    bool quick; /* part of the short run */
    void (*build)(const struct bench_case *c, pl_solver_kind solver, bench_world *w);
    int variant; /* what the builder makes of it */
} bench_case;

extern const bench_case bench_cases[];
extern const int bench_case_count;

/* NULL when there is none of exactly that name. */
const bench_case *bench_find_case(const char *name);
/* Whether one of texts [count] is the case's name, or is no case's name and part of this one's. True
 * when there are none. */
bool bench_case_named(const bench_case *c, int count, const char *const *texts);

/* Builds and starts; w->status says how that went. */
void bench_build(const bench_case *c, pl_context *ctx, pl_solver_kind solver, bench_world *w);

/* ------------------------------------------------------------------------------- peers */

/* Milliseconds a step of other programs on comparable scenes; 0 = not known. */
typedef struct bench_peer {
    const char *name;                 /* of the case */
    double forward, backward;         /* DiffPD, two CPU cores, its fastest method */
    double first;                     /* its mean over the first ten steps */
    double memory;                    /* MB */
    double residual;                  /* N, to which it converged */
    double gpu_forward, gpu_backward; /* the paper's, RTX 5090; the forward solve partly converged */
} bench_peer;

/* NULL when none has that case. */
const bench_peer *bench_find_peer(const char *name);

/* ------------------------------------------------------------------------------- measuring */

typedef struct bench_result {
    int vertices, elements, steps;
    double setup;                              /* ms, creating the simulation */
    double forward, first;                     /* ms a step: all, the first ten */
    double forward_cpu;                        /* ms a step, of all threads */
    double iterations, solves, factorizations; /* a step */
    double share[PL_STAGE_COUNT];              /* of the forward time */
    double contacts;                           /* mean */
    double residual;                           /* largest, m */
    double backward, backward_cpu;             /* ms a step, 0 = not measured */
    double adjoint_iterations, adjoint_factorizations;
    double memory; /* MB: the whole process at its peak; 0 = not known */
} bench_result;

/* steps 0 = the case's own. */
pl_status bench_measure(const bench_case *c, pl_context *ctx, pl_solver_kind solver, int steps,
                        bool backward, bench_result *out);

/* A result as `bench --json` prints it, and back; what a record lacks, having been written by another
 * version, is NAN. */
json_t *bench_record(const bench_case *c, const bench_result *result);
bench_result bench_record_read(const json_t *record);

/* The gradient of the mean squared distance from the start. */
pl_status bench_backward(bench_world *w, pl_rollout *rollout, const pl_adjoint_def *def,
                         pl_adjoint_info *info);

/* ------------------------------------------------------------------------------- adjoint methods */

/* Head, and the row of one case: ms of a backward step by every method, and what the automatic choice
 * takes over the fastest of them. steps 0 = the case's own. */
void bench_methods_head(FILE *file);
pl_status bench_methods(FILE *file, const bench_case *c, pl_context *ctx, int steps);

/* ------------------------------------------------------------------------------- ratios */

/* Prints a table of ratios, each of two times of this run. Returns the first failure. */
pl_status bench_ratios(FILE *file, bool quick);

/* ------------------------------------------------------------------------------- batches */

/* Prints the table of batches of 4, 8, ... up to `most` environments. Returns the first failure. */
pl_status bench_batch(FILE *file, pl_context *ctx, int most, int steps);

/* ------------------------------------------------------------------------------- devices */

/* A graphics card as its data sheet has it: GB/s, Gflop/s in single and double precision. */
typedef struct bench_card {
    char name[64];
    double bandwidth, floats, doubles;
} bench_card;

/* Prints the tables of devices, with what the card should take. Returns the first failure; where there
 * is no OpenCL, the table says so. */
pl_status bench_device(FILE *file, pl_context *ctx, bool quick, int steps, const bench_card *card);

/* ------------------------------------------------------------------------------- two builds */

/* `pliant bench compare OTHER`: argv[0] is "compare"; returns an exit code. */
int bench_compare(int argc, char **argv);

/* ------------------------------------------------------------------------------- clocks, memory */

double bench_milliseconds(void);
/* CPU time of the process, on all its threads: what others do on the machine does not count. */
double bench_cpu_milliseconds(void);
/* The most memory that the process had since the last reset, MB; 0 = not known. */
void bench_memory_reset(void);
double bench_memory_peak(void);

#endif
