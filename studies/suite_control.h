/* Tasks of the suite that are run when named: a trunk that writes, a seal that crawls, a gripper that
 * lifts, a batch of cloths. */
#ifndef PL_SUITE_CONTROL_H
#define PL_SUITE_CONTROL_H

#include "cli/cli.h"
#include "suite_table.h"

#include <pliant/fit.h>

/* Where files are and go, and what the command line changes. */
typedef struct suite_place {
    const char *tasks, *out;
    int vertices;     /* 0 = the task's own */
    int environments; /* of batches; 0 = the task's own */
    const cli_list *set;
    bool resume, report;
} suite_place;

typedef struct suite_fit {
    pl_task *task;
    pl_fit_result *result;
} suite_fit;

/* Fits the task of that file in DIR/name/stage; overrides are NULL-terminated. To be freed in any
 * case. */
pl_status suite_fit_run(pl_context *ctx, const suite_place *place, const char *name, const char *stage,
                        const char *file, const char *const *overrides, suite_fit *out);
void suite_fit_free(suite_fit *fit);

/* What each vertex has of the centre of mass, [vertex_count], by the volumes of its tets at rest. */
void suite_vertex_shares(const pl_mesh *mesh, double *out);

/* The scene of a fit once more, driven by the signals that it found, of all owners of the channel, or
 * where it found none by its values as constants: path
 * [steps + 1, 3] m of the point of body 0 nearest to `at` in the start, or of its centre of mass if at
 * is NULL; *path is the caller's, to be freed by free. */
pl_status suite_follow(const suite_fit *fit, pl_channel channel, const double *at, double **path);

/* DIR/name/file */
const char *suite_file(const suite_place *place, const char *name, const char *file, char out[2048]);

/* The table as DIR/name/base.md, .csv and .tex. */
bool suite_write_table(const suite_place *place, const char *name, const char *base,
                       const suite_table *table);

/* How a body went: its path as of suite_follow. */
typedef struct suite_course {
    const char *name;
    int steps;
    double *path;
} suite_course;

/* A picture DIR/name/file of how far each went along an axis over time, with steps of h s. */
pl_status suite_draw_courses(pl_context *ctx, const suite_place *place, const char *name,
                             const char *file, const char *title, const char *label, int axis, double h,
                             int count, const suite_course *courses);

/* Each writes its tables and pictures to DIR/name, and says whether it met its aim. */
pl_status suite_trunk_writing(pl_context *ctx, const suite_place *place, bool *reached);
pl_status suite_seal_crawl(pl_context *ctx, const suite_place *place, bool *reached);
pl_status suite_seal_horizon(pl_context *ctx, const suite_place *place, bool *reached);
pl_status suite_gripper(pl_context *ctx, const suite_place *place, bool *reached);
pl_status suite_cloth_batch(pl_context *ctx, const suite_place *place, bool *reached);

#endif
