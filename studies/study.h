/* What the studies share: a table, aims that are met or not, progress, files. */
#ifndef PL_STUDY_H
#define PL_STUDY_H

#include <pliant/report.h>

#include "cli/cli.h"

typedef struct study {
    pl_context *ctx;
    const char *name;
    const char *out;    /* directory, NULL = no files */
    bool quick;         /* a smaller study, for trying it out, with aims that hold for it */
    int scale;          /* vertices of each body, 0 = the study's own */
    int scenes;         /* how many random ones, 0 = the study's own */
    int seed;           /* of them, */
    const char *solver; /* and the one they all use, NULL = any */
    int aims, missed;
    double started, shown;
} study;

#define STUDY_COLUMNS 16
#define STUDY_CELL    40

/* Cells are text; the first row is the head. */
typedef struct study_table {
    const char *name; /* of its files */
    int columns, rows, capacity;
    char (*cells)[STUDY_CELL]; /* [rows, columns] */
    int filled;                /* cells of the row being filled */
    bool failed;               /* out of memory */
} study_table;

/* Heads separated by '|': "h|model|iterations". */
study_table study_table_new(const char *name, const char *heads);
/* Fills the next cell. */
void study_cell(study_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void study_table_free(study_table *table);
/* Aligned, for a terminal; Markdown when told. */
void study_table_print(const study_table *table, FILE *file, bool markdown);
/* DIR/NAME.csv and DIR/NAME.md, when there is a DIR. */
pl_status study_table_write(study *s, const study_table *table);
/* DIR/NAME.svg, when there is a DIR. */
pl_status study_plot(study *s, const pl_plot *plot, const char *name);

/* Says whether an aim is met, and remembers when it is not. */
void study_aim(study *s, bool met, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The loss of long sweeps: the mean x of all vertices after the last step. */
typedef struct study_end {
    int last, n; /* step, vertices */
} study_end;
bool study_mean_x(void *end, int step, const double *q, const double *v, double *value, double *dq,
                  double *dv);

/* "done of total" on a terminal, with the time left. Returns false after Ctrl-C. */
bool study_progress(study *s, int done, int total);
/* The status of a study that Ctrl-C ended. */
pl_status study_stopped(const study *s);

pl_status study_impacts(study *s);
pl_status study_mu_precision(study *s);
pl_status study_solvers(study *s);
pl_status study_consistency(study *s);
pl_status study_horizon(study *s);
pl_status study_memory(study *s);
pl_status study_soak(study *s);
pl_status study_physics(study *s);
pl_status study_crowd(study *s);

#endif
