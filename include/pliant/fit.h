/*
 * Fitting: from a task file to identified parameters.
 *
 *     task file -> unknowns, loss, optimiser -> iterations -> result, uncertainty, report
 *
 * Conventions as in pliant.h.
 */
#ifndef PLIANT_FIT_H
#define PLIANT_FIT_H

#include <pliant/pliant.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------- optimisers */

typedef enum pl_method {
    PL_GRADIENT_DESCENT, /* as pl_fit_stages' paper uses */
    PL_ADAM,
    PL_LBFGSB,              /* limited memory, bounds, strong Wolfe line search */
    PL_LEVENBERG_MARQUARDT, /* Gauss-Newton with damping, through the tangent mode */
} pl_method;

typedef struct pl_optimizer_def {
    pl_method method; /* default L-BFGS-B */
    int iterations;   /* at most; default 100 */
    double rate;      /* of gradient descent and Adam; default 0.1 */
    double growth;    /* of gradient descent: 1 = a fixed rate (default); above, the rate grows by this
                         factor in every iteration, and is halved until the loss decreases */
    double max_step;  /* longest change of an unknown in one iteration, but of Adam; 0 = no limit */
    double beta1, beta2;  /* of Adam; default 0.9, 0.999 */
    int pairs;            /* of L-BFGS-B; default 10 */
    double stop_loss;     /* stop at a loss of at most this; default 0 */
    double stop_gradient; /* or a projected gradient of at most this (largest entry); default 0 */
    double stop_decrease; /* or a relative decrease of at most this (the last two methods), 0 = off;
                             default 1e-14 */
} pl_optimizer_def;

PL_API pl_optimizer_def pl_optimizer_def_default(void);

typedef enum pl_stop {
    PL_STOP_NONE,       /* not yet */
    PL_STOP_ITERATIONS, /* as many as were allowed */
    PL_STOP_LOSS,       /* stop_loss reached */
    PL_STOP_GRADIENT,   /* stop_gradient reached */
    PL_STOP_DECREASE,   /* stop_decrease reached */
    PL_STOP_STALLED,    /* no step decreases the loss any more */
} pl_stop;

PL_API const char *pl_stop_text(pl_stop stop); /* a clause such as "the loss reached its goal" */

/* ------------------------------------------------------------------------------- tasks */

/* What a task file says, with its scene and targets: see docs/fitting.md and docs/task.schema.json. */
typedef struct pl_task pl_task;

/*
 * Reads and checks a task; targets that are to be simulated wait for pl_task_fit. `overrides`
 * [override_count] are "path=value" texts: "optimizer.iterations=5" of the task,
 * "scene.bodies[0].mesh.cell=0.1" of its scene. Messages are as those of pl_scene_load. On failure *out
 * is NULL.
 */
PL_API pl_status pl_task_load(pl_context *ctx, const char *path, int override_count,
                              const char *const *overrides, pl_task **out);
PL_API void pl_task_destroy(pl_task *task); /* NULL is fine */
/* The scene that it is about, the task's: as its file and the overrides say, apart from what a fit has
 * set its unknowns to. */
PL_API pl_scene *pl_task_scene(const pl_task *task);
/* The JSON Schema of task files; as pl_scene_schema. */
PL_API pl_status pl_task_schema(pl_context *ctx, char **text);

/* ------------------------------------------------------------------------------- fits */

/* After the start and after every iteration. */
typedef struct pl_fit_progress {
    int start, starts;         /* which starting point, from 0, of how many */
    int window, windows;       /* which receding window, from 0, of how many; 1 without */
    int iteration, iterations; /* done, and at most */
    int evaluations;           /* simulations for it so far */
    double loss;
    double best_loss;        /* of the starts so far, this one included */
    double contact_epsilon2; /* N m; larger than the scene's own during a continuation */
    int parameter_count;     /* at most 32 are shown */
    const char *const *names;
    const double *values; /* [parameter_count] */
} pl_fit_progress;

typedef struct pl_fit_def {
    const char *directory; /* checkpoint and results go there; NULL = nowhere */
    bool resume;           /* go on from the directory's checkpoint, bit for bit */
    bool report;           /* write report.html and pictures too; default true */
    bool uncertainty;      /* standard errors and correlations at the end; default true */
    void (*progress)(void *user, const pl_fit_progress *progress); /* may be NULL */
    bool (*keep_going)(void *user); /* asked after every step, the target's too; NULL = always */
    void *user;
} pl_fit_def;

PL_API pl_fit_def pl_fit_def_default(void);

/* What speaks against having identified the unknowns; docs/fitting.md says when. */
typedef enum pl_doubt {
    PL_DOUBT_BOUND,       /* an unknown is held by its bound, not by the data */
    PL_DOUBT_RESIDUAL,    /* more is left than noise, or than a model that explains the data leaves */
    PL_DOUBT_DIRECTION,   /* the data leave an unknown, or a combination of some, open */
    PL_DOUBT_CONVERGENCE, /* the fit ended on its way, or on a plateau */
    PL_DOUBT_STEPS,       /* simulations failed where it would have gone on */
    PL_DOUBT_MINIMUM,     /* it is at the bottom, but of the wrong valley */
    PL_DOUBT_GOAL,        /* of a control task: a goal was not reached as nearly as it says */
} pl_doubt;

PL_API const char *pl_doubt_name(pl_doubt doubt); /* a word: "bound" */

typedef struct pl_fit_reason {
    pl_doubt doubt;
    const char *text; /* "mu ended at its bound 1000 (0.05 to 1000)" */
} pl_fit_reason;

/* What came of a starting point. */
typedef struct pl_fit_start {
    const double *initial; /* [p] */
    const double *values;  /* [p] where it ended */
    double loss;           /* there; NaN when its first point could not be evaluated */
    int iterations;
    pl_stop stop;
    bool refused; /* it ended because a point could not be evaluated */
} pl_fit_start;

/* How near a goal of a control task was reached. */
typedef struct pl_fit_goal {
    const char *text;    /* "markers 1.2 mm rms from the path (2.9 mm at most)" */
    double rms, largest; /* distance left, m */
    double within;       /* rms that counts as reached, m; 0 = none was stated */
} pl_fit_goal;

/* Arrays are the result's. k rows: the start and every iteration; p parameters (at most 32 are kept).
 * Of a task with several starts all is of the best, but evaluations, refused and times of all. Of
 * receding windows the rows are those of all, one after the other, and the losses each window's own. */
typedef struct pl_fit_result {
    bool identified;     /* there is no reason to doubt; of a control task: its goals were reached */
    const char *verdict; /* "Identified E and mu", or "Not identified: " and the reasons; of a control
                            task "Reached: " (or "Steered: " where it says no `within`) and its goals */
    int reason_count;
    const pl_fit_reason *reasons; /* [reason_count], the gravest first */
    pl_stop stop;
    int iterations, evaluations;
    int refused;     /* points tried that could not be simulated or differentiated */
    double residual; /* root mean square of what is left, m (of velocities m/s) */
    int start_count;
    const pl_fit_start *starts;   /* [start_count] */
    int best;                     /* of the starts */
    int row_count;                /* k */
    int parameter_count;          /* p */
    const char *const *names;     /* [p] */
    const char *const *units;     /* [p], entries may be NULL */
    const double *truth;          /* [p], NaN where not known */
    const double *loss;           /* [k] */
    const double *epsilon2;       /* [k] N m */
    const double *values;         /* [k, p]; the last row is the answer */
    const double *gradient;       /* [k, p] of the loss, in the optimiser's x */
    const double *difference;     /* [k, p] the same by finite differences; NaN where not made */
    const double *standard_error; /* [p], NaN where it could not be told */
    const double *correlation;    /* [p, p] */
    double seconds;               /* of the whole fit, without simulating its target */
    double forward_seconds, backward_seconds; /* rollouts; adjoint or tangent sweeps */
    int rollouts, sweeps;
    int steps;                       /* of a rollout */
    size_t tape_bytes;               /* largest */
    int window_count;                /* 1 without receding windows */
    int goal_count;                  /* 0 when unknowns were identified from data */
    const pl_fit_goal *goals;        /* [goal_count] */
    int signal_count;                /* inputs found over time */
    const char *const *signal_names; /* [signal_count] */
    const double *signals;           /* [signal_count, steps], in the input's unit */
} pl_fit_result;

/*
 * Runs a task; whether it identified anything is for the result to say, not for the status. With a
 * directory, checkpoint.json is replaced after every iteration, whole or not at all, and at the end
 * history.csv, result.json and the report are written; manifest.txt names what was written, and a file
 * there that was not is never replaced (PL_ERROR_FILE). PL_ERROR_INTERRUPTED when keep_going said so:
 * the checkpoint is then that of the last whole iteration.
 */
PL_API pl_status pl_task_fit(pl_task *task, const pl_fit_def *def, pl_fit_result **out);
PL_API void pl_fit_result_free(const pl_task *task, pl_fit_result *result); /* NULL is fine */

/* ------------------------------------------------------------------------------- many points */

#define PL_POINT_MESSAGE 256

/* A task's loss at many points: environment e is the starting point e of a fit from several, 0 the
 * task's initial values, the others drawn between the bounds. What they are depends on the task and e
 * alone. */
typedef struct pl_task_points {
    int first, count;               /* the environments first .. first + count - 1 */
    int workers;                    /* as pl_batch_def's */
    bool (*keep_going)(void *user); /* asked after every step, by all workers at once; may be NULL */
    void *user;
    /* Results, the caller's arrays; n = pl_task_value_count. */
    double *values;    /* [count, n] in physical units */
    double *loss;      /* [count], NaN where it could not be had */
    double *gradient;  /* [count, n] by the values, NaN likewise */
    pl_status *status; /* [count] */
    char *message;     /* [count, PL_POINT_MESSAGE], empty where all is well */
} pl_task_points;

PL_API int pl_task_value_count(const pl_task *task);
/* What value i is called: "E", "push[3]"; cut to size. */
PL_API void pl_task_value_name(const pl_task *task, int i, size_t size, char *name);
/* Loss and gradient by a batch (pl_batch_evaluate). Points that fail are no failure of the whole;
 * after PL_ERROR_INTERRUPTED those that were done are told. */
PL_API pl_status pl_task_evaluate(pl_task *task, const pl_task_points *points);

/* ------------------------------------------------------------------------------- measures */

/*
 * A fit's course as Table 2 of "Fast and Reliable Gradients for Deformables Across Frictional Contact
 * Regimes" (Zeng, Yang, Huang, Zhou, Li, Pho, Luo and Shi) measures it. With T iterations, loss l_i and
 * share a_i = (l_i - l_T) / (l_0 - l_T), the stages are early [0, t50), mid [t50, t90), late [t90, T].
 */
typedef struct pl_fit_stages {
    double t50, t90; /* first i / T with 1 - a_i >= 0.5, 0.9 */
    double area[3];  /* mean of a_i over a stage, 0 for an empty one: the paper's formula */
    double share[3]; /* sum of a_i over a stage / T, in percent: what the paper's numbers look like */
    double error[3]; /* mean relative difference of gradient and finite differences; NaN = none made */
} pl_fit_stages;

PL_API pl_fit_stages pl_fit_measure(const pl_fit_result *result);

#ifdef __cplusplus
}
#endif
#endif
