/*
 * A fitting task's insides: unknowns, loss terms, and how they meet a scene.
 *
 *     x (what the optimiser moves) -> p (physical values) -> scene, inputs, start -> rollout -> loss
 *
 * x and p have n entries; unknown u owns entries first .. first + count - 1 of both.
 */
#ifndef PL_TASK_H
#define PL_TASK_H

#include "fit/optimizer.h"
#include "io/scene_spec.h"
#include "sim/scene.h"

/* ------------------------------------------------------------------------------- unknowns */

/* Three columns of a channel's derivative at most, by the name that task files call them: channels by
 * their own, but poses in two parts. */
typedef struct pl_quantity {
    const char *name, *unit;
    pl_channel channel;
    int column, width;
} pl_quantity;

/* The index-th quantity; false after the last. */
bool pl_quantity_at(int index, pl_quantity *out);

typedef enum pl_spread {
    PL_SPREAD_ONE,     /* one number for the owner */
    PL_SPREAD_ELEMENT, /* one for each element: materials */
    PL_SPREAD_STEP,    /* one for each step: inputs */
    PL_SPREAD_VERTEX,  /* one for each vertex: initial velocity and position */
    PL_SPREAD_SIGNAL,  /* the coefficients of a signal over the steps: inputs */
} pl_spread;

/* Inputs over time by few numbers; see signal.c. */
typedef enum pl_signal { PL_SIGNAL_NONE, PL_SIGNAL_SINUSOID, PL_SIGNAL_SPLINE } pl_signal;
enum { PL_SINUSOID_OFFSET, PL_SINUSOID_AMPLITUDE, PL_SINUSOID_FREQUENCY, PL_SINUSOID_PHASE };

/* p = x, p = exp(x), or p = lower + (upper - lower) / (1 + exp(-x)) */
typedef enum pl_map { PL_MAP_NONE, PL_MAP_LOG, PL_MAP_LOGIT } pl_map;

typedef struct pl_unknown {
    char name[64];
    int index; /* of its quantity */
    pl_quantity of;
    int owner;           /* index of the body, collider, pin, force or wind */
    int other;           /* of friction: one body that it is with; -1 = all of them */
    double direction[3]; /* of inputs and starts: p times this is added to the scene's own value */
    pl_spread spread;
    const char *start; /* file of initial values, while the task is read; else NULL */
    pl_signal signal;
    int knots, degree;                  /* of a spline */
    double amplitude, frequency, phase; /* initial ones of a sinusoid: as the value, Hz, rad */
    double frequency_range[2];          /* Hz */
    pl_map map;
    double initial, truth; /* physical; truth is NaN when not known; of a sinusoid its offset */
    double lower, upper;   /* physical */
    double prior;          /* weight of (x - x_initial)^2 in the loss */
    double smooth;         /* weight of (x_k+1 - x_k)^2 over the steps */
    int first, count;
} pl_unknown;

/* Entries of a signal, and in which interval the i-th may be, starting where. */
int pl_signal_count(const pl_unknown *u);
void pl_signal_box(const pl_unknown *u, int i, double *initial, double *lower, double *upper);
/* The value that the entries p [count] of an input give in a step, from 0 of `steps`, h s each; and its
 * derivative by one of them. */
double pl_signal_value(const pl_unknown *u, const double *p, int step, int steps, double h);
double pl_signal_slope(const pl_unknown *u, const double *p, int entry, int step, int steps, double h);

double pl_map_to_x(const pl_unknown *u, double p);
double pl_map_to_p(const pl_unknown *u, double x);
double pl_map_slope(const pl_unknown *u, double x); /* dp/dx */

/* ------------------------------------------------------------------------------- loss */

typedef enum pl_loss_kind {
    PL_TERM_POSITIONS, /* of every vertex */
    PL_TERM_VELOCITIES,
    PL_TERM_MARKERS, /* points fixed to the surface */
    PL_TERM_CENTRE,  /* centre of mass */
    PL_TERM_CLOUD,   /* distance of given points to the surface */
    PL_TERM_SHAPE,   /* of every vertex from where the nearest rigid motion takes it */
    PL_TERM_EFFORT,  /* of inputs: from here on a pl_input_term */
    PL_TERM_SMOOTHNESS,
} pl_loss_kind;

/* Where a term's targets come from; all but the first two are goals. */
typedef enum pl_target_source {
    PL_TARGET_SIMULATED, /* at the true values */
    PL_TARGET_FILE,
    PL_TARGET_PATH,  /* keyframes of the task */
    PL_TARGET_START, /* where the points are at the start */
    PL_TARGET_AHEAD, /* a distance from there: only what is missing of it counts */
} pl_target_source;

/*
 * loss += weight * mean over the target's rows of |point - target|^2. A point is a fixed combination
 * sum_k coefficient[k] x[vertex[k]] of vertices, or for a cloud the surface's point nearest to the
 * target. As residuals: sqrt(weight / rows) times the difference (3 each), or times the distance or the
 * component along a direction (1 each).
 */
typedef struct pl_loss_term {
    pl_loss_kind kind;
    int body; /* -1 = all, of positions and velocities */
    double weight;
    pl_target_source source;
    double along[3]; /* unit: only this component of a difference counts; 0 = all of it */
    double distance; /* m along it, of PL_TARGET_AHEAD */
    double within;   /* m rms: a goal this near is reached; 0 = not stated */
    int point_count, width;
    int *vertex;         /* [point_count, width], of the scene */
    double *coefficient; /* [point_count, width] */
    int triangle_count;
    int *triangles; /* [triangle_count, 3], of the scene: the body's surface, of markers and clouds */
    int step_count;
    int *steps;     /* [step_count], ascending */
    int *first;     /* [step_count + 1]: step i's rows are first[i] .. first[i + 1] - 1 */
    double *target; /* [first[step_count], 3] */
    int first_residual;
} pl_loss_term;

static inline int pl_term_rows(const pl_loss_term *term)
{
    return term->first[term->step_count];
}

static inline bool pl_term_is_goal(const pl_loss_term *term)
{
    return term->source > PL_TARGET_FILE;
}

/* Residuals of a row. */
static inline int pl_term_width(const pl_loss_term *term)
{
    bool along = term->along[0] != 0 || term->along[1] != 0 || term->along[2] != 0;
    return term->kind == PL_TERM_CLOUD || along ? 1 : 3;
}

static inline int pl_term_residuals(const pl_loss_term *term)
{
    return pl_term_width(term) * pl_term_rows(term);
}

/* A residual for a difference of 1 m. */
static inline double pl_term_scale(const pl_loss_term *term)
{
    return sqrt(term->weight / pl_term_rows(term));
}

/*
 * A term of inputs u instead of states, over the rows and columns of a channel that its owner has:
 *     effort      weight * mean over steps and entries of (u_t - rest)^2
 *     smoothness  weight * mean of (u_t - u_t-1)^2, from the second step on
 * rest is that of the file, or the scene's own value.
 */
typedef struct pl_input_term {
    pl_loss_kind kind;
    double weight, rest; /* rest NaN = the scene's own */
    pl_quantity of;
    pl_span rows;              /* of a step */
    int first_step, last_step; /* from 1 */
    int first_residual;
} pl_input_term;

/* What the keys of a term are read into. */
typedef struct pl_term_source {
    pl_loss_kind kind;
    double weight, along[3], distance, within, rest;
    bool keep, relative;
    int quantity; /* index; -1 = none */
    int first_step, last_step, every;
} pl_term_source;

/* ------------------------------------------------------------------------------- task */

typedef struct pl_continuation {
    double start;   /* eps^2 of the first stage, N m; 0 = off */
    int stages;     /* larger values before the scene's own */
    int iterations; /* at most, in each of them */
} pl_continuation;

/* Comparison with finite differences; see task_keys.c. */
typedef struct pl_gradient_check {
    double step; /* 0 = off */
    int every, per_stage;
} pl_gradient_check;

/* Receding windows: `steps` steps are solved at a time, then the first `advance` of them are made. */
typedef struct pl_window {
    int steps; /* 0 = off: all steps at once */
    int advance;
} pl_window;

/* What the keys of a task file are read into, beside its lists. */
typedef struct pl_task_source {
    const char *schema, *name, *description, *scene;
    int version, steps;
    pl_optimizer_def optimizer;
    pl_continuation continuation;
    pl_gradient_check check;
    pl_window window;
    int starts, seed;
    double noise;
    double tape_megabytes;
} pl_task_source;

struct pl_task {
    pl_context *ctx;
    char *name, *path;
    uint64_t fingerprint; /* of everything the result depends on: a checkpoint must match it */
    pl_scene *scene;
    double contact_epsilon2; /* the scene's own */
    int steps;
    pl_window window;
    int first, span; /* steps that are simulated now, from 0: all, or a window */
    bool settled;    /* all windows are done: inputs stay as found, whatever x */
    int n, unknown_count;
    pl_unknown *unknowns;
    double *initial, *lower, *upper; /* x [n] */
    double *p;                       /* [n] of the last pl_task_apply */
    /* inputs that unknowns change, [steps, rows, width], NULL when none does, and the scene's own */
    double *input[PL_CHANNEL_COUNT], *base[PL_CHANNEL_COUNT];
    pl_channels wanted; /* of the unknowns */
    int term_count;
    pl_loss_term *terms;
    int input_term_count;
    pl_input_term *input_terms;
    bool control;            /* there are goals: the unknowns are chosen, not identified */
    bool simulated_targets;  /* of any term */
    bool complete;           /* targets are there */
    int data_residual_count; /* of the terms */
    int residual_count;      /* with the unknowns' regularisers, and last the input terms */
    pl_optimizer_def optimizer;
    pl_continuation continuation;
    pl_gradient_check check;
    int starts, seed; /* starting points, and of which draw */
    double noise;
    size_t tape_bytes;
    double adjoint_tolerance; /* of adjoint and tangent sweeps */
};

extern const pl_spec pl_spec_task, pl_spec_unknown, pl_spec_term;

/* Fills the task's unknowns from a checked document: owners, counts, bounds in x. */
pl_status pl_task_read_unknowns(pl_task *task, const pl_document *document);
/* The box in x that an unknown's bounds become. */
void pl_unknown_set_box(pl_task *task, const pl_unknown *u);
/* Refuses bounds that lead inputs out of what they can be, and sets those that the file leaves open;
 * after pl_task_prepare_inputs. */
pl_status pl_task_limit_inputs(pl_task *task, const pl_document *document);
/* Initial values of the unknowns that have a file of them; after pl_task_prepare_inputs. */
pl_status pl_task_read_starts(pl_task *task, const pl_document *document);
/* Base values of the inputs that unknowns change. */
pl_status pl_task_prepare_inputs(pl_task *task);
/* The steps from `first` on are simulated from now on, as many as a window has; all without windows.
 * The inputs before them stay. */
void pl_task_open_window(pl_task *task, int first);
/* How many there are, 1 without. */
int pl_task_window_count(const pl_task *task);
/* How soft the scene's contacts are from now on, N m. */
pl_status pl_task_set_epsilon2(pl_task *task, double epsilon2);
/* Sets the scene's parameters and the task's inputs to x; state (may be NULL) starts accordingly. */
pl_status pl_task_apply(pl_task *task, const double *x, pl_state *state);
/* The value of entry i of x, which is unknown u's. */
double pl_task_value(const pl_task *task, const pl_unknown *u, int i, double x);
/* x [n] of the true values. */
void pl_task_true_x(const pl_task *task, double *x);
/* x [n] of a starting point: the initial values, and from 1 on drawn between the bounds. */
void pl_task_start_x(const pl_task *task, int start, double *x);
/* dL/dx from dL/d(everything): adds to out [n]. */
void pl_task_chain(const pl_task *task, const double *x, const pl_gradient *gradient, double *out);
/* Adds scale * dp/dp_entry to the direction of a tangent sweep. */
void pl_task_direction(const pl_task *task, int entry, double scale, pl_gradient *direction);

/* Terms with their stencils; targets come from files, or stay empty for pl_task_record_targets. */
pl_status pl_task_read_terms(pl_task *task, const pl_document *document);
void pl_loss_term_free(pl_context *ctx, pl_loss_term *term);
/* step, x, y, z rows of a target file. */
pl_status pl_target_read(pl_context *ctx, const char *path, pl_loss_term *term);
/* The targets of a goal: its steps, and a path, the start, or a distance from it. */
pl_status pl_task_set_goal(pl_task *task, const pl_document *document, const json_t *object,
                           const pl_place *place, const pl_term_source *source, pl_loss_term *term);
/* A term of inputs, of a document whose unknowns have been read. */
pl_status pl_task_read_input_term(const pl_task *task, const pl_document *document,
                                  const json_t *object, const pl_place *place,
                                  const pl_term_source *source, pl_input_term *out);
int pl_input_term_residuals(const pl_input_term *term);
/* Sum of the input terms at the inputs of the last pl_task_apply; adds its derivatives to gradient,
 * which may be NULL. */
double pl_task_input_loss(const pl_task *task, pl_gradient *gradient);
/* Their residuals into r, or with a direction of the inputs the derivatives along it. */
void pl_task_input_residual(const pl_task *task, const pl_gradient *along, double *r);
/* Whose: the index of an owner, by name or by number. */
pl_status pl_task_find_owner(const pl_document *document, const pl_scene *scene, pl_owner owner,
                             const json_t *of, const pl_place *place, int *index);
/* Targets that no file gave, from the trajectory of the true values. */
pl_status pl_task_record_targets(pl_task *task, pl_rollout *rollout);

/* What loading leaves for later, because it takes a simulation: targets at the true values, and with
 * them the fingerprint. Needed before any loss; keep_going (may be NULL) is asked after every step. */
pl_status pl_task_complete(pl_task *task, bool (*keep_going)(void *user), void *user);

/* Adds the loss terms of one step and their derivatives: dq, dv [n, 3], each may be NULL. */
pl_status pl_task_loss_at(const pl_task *task, int step, const double *q, const double *v,
                          double *value, double *dq, double *dv);
/* Where the model has a term's points after one step: rows of points [rows, 3]. */
pl_status pl_term_points_at(const pl_task *task, const pl_loss_term *term, int step, const double *q,
                            const double *v, double *points);
/* Writes the residuals of one step into r [residual_count]. */
pl_status pl_task_residual_at(const pl_task *task, int step, const double *q, const double *v,
                              double *r);
/* Their derivatives along a motion dq, dv. */
pl_status pl_task_residual_along(const pl_task *task, int step, const double *q, const double *v,
                                 const double *dq, const double *dv, double *dr);
/* |r|^2 of the regularisers; adds 2 J^T r to gradient, which may be NULL. */
double pl_task_regulariser(const pl_task *task, const double *x, double *gradient);
/* Regularisers: residuals and, when jacobian is not NULL, their rows of [n, residual_count]. */
void pl_task_regularise(const pl_task *task, const double *x, double *r, double *jacobian);
bool pl_task_needs_step(const pl_task *task, int step);

/* ------------------------------------------------------------------------------- evaluation */

typedef struct pl_evaluation_times {
    double forward, backward; /* s in all */
    int rollouts, sweeps;     /* forward; adjoint or tangent */
    size_t tape_bytes;        /* largest */
} pl_evaluation_times;

/* Rollouts at chosen x. The last one is kept: a residual and its Jacobian share it. */
typedef struct pl_evaluation {
    pl_task *task;
    bool (*keep_going)(void *user); /* NULL = always */
    void *user;
    double *x; /* [n] of the rollout kept */
    pl_sim *sim;
    pl_state *from; /* where rollouts start; NULL = at the scene's start */
    pl_state *state;
    pl_rollout *rollout; /* NULL = none */
    double *q, *v;       /* [n, 3] scratch */
    pl_gradient *gradient;
    pl_evaluation_times times;
} pl_evaluation;

pl_status pl_evaluation_create(pl_task *task, pl_evaluation **out);
void pl_evaluation_destroy(pl_evaluation *e);
/* The trajectory at x. */
pl_status pl_evaluation_run(pl_evaluation *e, const double *x);
/* Drops the rollout kept: needed when the scene has changed otherwise than through x. */
void pl_evaluation_forget(pl_evaluation *e);
/* Rollouts start `steps` steps later from now on, of the inputs that the task's window begins with. */
pl_status pl_evaluation_advance(pl_evaluation *e, int steps);
/* Rollouts start at the scene's start again. */
void pl_evaluation_rewind(pl_evaluation *e);
/* The two callbacks of a pl_problem, with the evaluation as user. */
pl_status pl_evaluation_loss(void *user, const double *x, double *loss, double *gradient);
pl_status pl_evaluation_residual(void *user, const double *x, double *r, double *jacobian);
/* dL/dx by central differences extrapolated to step 0 (Ridders), and its own error estimate; [n] each.
 */
pl_status pl_evaluation_difference(pl_evaluation *e, const double *x, double step, double *gradient,
                                   double *error);

#endif
