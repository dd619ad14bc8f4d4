/* A running fit: the optimiser, its history, and what is saved after every iteration. */
#ifndef PL_FIT_H
#define PL_FIT_H

#include "fit/task.h"
#include "io/manifest.h"

#include <pliant/report.h>

enum { PL_SHOWN_MAX = 32 };

/* A row of the history: these, then values [p], gradient [p], difference [p]. */
enum { PL_ROW_LOSS, PL_ROW_EPSILON2, PL_ROW_HEAD };

/* The way from one starting point: as it is after its last whole iteration. */
typedef struct pl_course {
    int stage;       /* of the continuation; == stages when it is over */
    int stage_start; /* iteration */
    bool refused;    /* it came to a point that cannot be evaluated, mostly its first */
    double *state;   /* [state_count] the optimiser's; not set before there are rows */
    int row_count, row_capacity;
    double *rows; /* [row_count, width]: the start and every iteration */
} pl_course;

typedef struct pl_fit {
    pl_context *ctx;
    pl_task *task;
    pl_fit_def def;
    pl_evaluation *evaluation;
    pl_optimizer *optimizer;
    int shown; /* p */
    const char *names[PL_SHOWN_MAX], *units[PL_SHOWN_MAX];
    char labels[PL_SHOWN_MAX][96];
    double truth[PL_SHOWN_MAX];
    int width;                      /* of a row */
    int course_count;               /* starts of the task */
    pl_course *courses;             /* [course_count] */
    pl_course *course;              /* the one that the optimiser is on; in the end the best */
    double seconds_before, started; /* of earlier runs, s; of this one, ms */
    double saved, saving;           /* when the last checkpoint was written, and how long it took, ms */
    pl_text written;                /* manifest of the directory */
} pl_fit;

#define PL_CHECKPOINT_NAME "checkpoint.json"

/* Makes the directory, or checks that nothing in it is in the way; with `resume` it holds a fit. */
pl_status pl_fit_open_directory(pl_fit *fit);
/* DIRECTORY/file of a file that will be written, which its manifest names from now on. Fails when there
 * is one that we did not write. */
pl_status pl_fit_path(pl_fit *fit, const char *file, char *out, size_t size);

/* Replaces DIRECTORY/checkpoint.json. */
pl_status pl_checkpoint_save(pl_fit *fit);
pl_status pl_checkpoint_load(pl_fit *fit);

/*
 * What the data say about x at a point, as far as the problem linearised there tells: residuals r,
 * Jacobian J, n unknowns, m residuals. Covariance of x, with C = (J^T J)^-1:
 *
 *     s^2 C, s^2 = |r|^2 / (m - n)         or         C (sum_i noise_i^2 J_i J_i^T) C  with known noise
 *
 * s is never less than the tolerance to which the positions are simulated.
 */
typedef struct pl_evidence {
    double *residual;   /* [m] */
    bool linearised;    /* the rest is there */
    bool refused;       /* it would be, but the point has no Jacobian */
    double *normal;     /* J^T J [n, n] */
    double *pull;       /* J^T r [n] */
    bool singular;      /* J^T J is: no covariance */
    double *covariance; /* [n, n]; NaN when m <= n and no noise is stated */
} pl_evidence;

/* The Jacobian is for at most PL_SHOWN_MAX unknowns. To be freed in any case. */
pl_status pl_evidence_gather(pl_evaluation *e, const double *x, bool with_jacobian, pl_evidence *out);
void pl_evidence_free(pl_context *ctx, pl_evidence *evidence);
/* Standard errors [n] and correlations [n, n] of the physical values; NaN when not known. */
void pl_uncertainty(const pl_task *task, const double *x, const pl_evidence *evidence,
                    double *standard_error, double *correlation);

enum { PL_REASONS_MAX = 12, PL_REASON_SIZE = 240, PL_GOALS_MAX = 16 };

/* Whether a fit identified its unknowns, and what speaks against it: see verdict.c. Of a control task
 * whether it reached its goals: see verdict_goals.c. */
typedef struct pl_verdict {
    int count;
    pl_doubt doubts[PL_REASONS_MAX];
    char texts[PL_REASONS_MAX][PL_REASON_SIZE];
    double residual; /* root mean square over the rows of all terms, m */
    int goal_count;
    pl_fit_goal goals[PL_GOALS_MAX];
    char goal_texts[PL_GOALS_MAX][PL_REASON_SIZE];
    char sentence[PL_REASONS_MAX * PL_REASON_SIZE];
} pl_verdict;

/* standard_error [shown], NaN where not known. */
pl_status pl_verdict_reach(const pl_fit *fit, const pl_evidence *evidence, const double *standard_error,
                           pl_verdict *out);

/* Of a control task, from the residuals of its terms. */
void pl_verdict_goals(const pl_fit *fit, const double *residual, pl_verdict *out);
/* A clause that a verdict may add to its reasons. */
void pl_verdict_doubt(pl_verdict *verdict, pl_doubt kind, const char *format, ...) PL_PRINTF(3, 4);

/* Whether a receding window is left after the present one; the next one, begun from what was found; all
 * steps as found, from the start; and where a checkpoint has been, from the inputs until `first`. */
bool pl_window_left(const pl_fit *fit);
pl_status pl_window_next(pl_fit *fit);
pl_status pl_window_settle(pl_fit *fit);
pl_status pl_window_restore(pl_fit *fit, int first);

/* Inputs that the unknowns give over time, at the x last applied. */
typedef struct pl_signals {
    int count, steps;
    const char **names; /* [count] of the unknowns */
    double *values;     /* [count, steps] */
} pl_signals;

pl_status pl_signals_gather(const pl_task *task, pl_signals *out);
void pl_signals_free(pl_context *ctx, pl_signals *signals);
/* Whether a control task's unknowns are all numbers of single steps, which curves over time show. */
bool pl_signals_are_all(const pl_task *task);
/* signals.csv and signals.svg. */
pl_status pl_signals_write(pl_fit *fit, const pl_fit_result *result);
/* The section of the report with their curves. */
pl_status pl_signals_report(pl_fit *fit, pl_report *report, const pl_fit_result *result);

static inline double *pl_course_row(const pl_fit *fit, const pl_course *course, int row)
{
    return course->rows + (size_t)row * (size_t)fit->width;
}

/* The loss it ended with; infinite when it was refused. */
static inline double pl_course_loss(const pl_fit *fit, const pl_course *course)
{
    bool ended = course->row_count > 0 && !course->refused;
    return ended ? pl_course_row(fit, course, course->row_count - 1)[PL_ROW_LOSS] : INFINITY;
}

/* Physical values of x, [shown]. */
void pl_fit_shown_values(const pl_fit *fit, const double *x, double *out);

/* The result of the fit's course, checked. */
pl_status pl_fit_make_result(pl_fit *fit, pl_fit_result **out);

/* Where the stages of pl_fit_stages begin among count losses, `stride` doubles apart; ends[3] = count.
 */
void pl_stage_ends(int count, const double *loss, int stride, int ends[4]);

/* history.csv, result.json, pictures and report.html in the fit's directory. */
pl_status pl_fit_write(pl_fit *fit, const pl_fit_result *result);
pl_status pl_fit_report(pl_fit *fit, const pl_fit_result *result);
#endif
