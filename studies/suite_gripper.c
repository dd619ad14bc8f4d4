/* `pliant suite gripper`: three hollow fingers lift a soft ball by friction. At the pressures that the
 * task starts from they slide off it; those that lift it are found by gradients through the slip. */
#include "suite_control.h"

#include <math.h>
#include <stdlib.h>

#define NAME "gripper"
enum { FINGERS = 3, STAGES = 2 };

typedef struct stage {
    suite_course course; /* of the ball's centre */
    int iterations, simulations;
    double seconds, forward, backward; /* s, ms a step each */
    double pressure[FINGERS];          /* Pa */
    double rms;                        /* m, from its path */
    bool reached;
} stage;

static pl_status run_stage(pl_context *ctx, const suite_place *place, const char *iterations,
                           stage *out)
{
    suite_fit fit;
    const char *const overrides[] = {iterations, NULL};
    pl_status status = suite_fit_run(ctx, place, NAME, out->course.name, NAME, overrides, &fit);
    if (status == PL_OK)
        status = suite_follow(&fit, PL_PRESSURE, NULL, &out->course.path);
    if (status == PL_OK) {
        const pl_fit_result *r = fit.result;
        const double *last = r->values + (size_t)(r->row_count - 1) * (size_t)r->parameter_count;
        out->course.steps = r->steps;
        out->iterations = r->iterations;
        out->simulations = r->evaluations;
        out->seconds = r->seconds;
        out->forward = 1e3 * r->forward_seconds / (r->rollouts * (double)r->steps);
        out->backward = 1e3 * r->backward_seconds / (r->sweeps * (double)r->steps);
        out->rms = r->goals[0].rms;
        out->reached = r->goals[0].rms <= r->goals[0].within;
        for (int k = 0; k < FINGERS && k < r->parameter_count; k++)
            out->pressure[k] = last[k];
    }
    suite_fit_free(&fit);
    return status;
}

static void add_row(suite_table *t, const stage *s)
{
    static const char *const fingers[FINGERS] = {"kPa, first", "second", "third"};
    const double *path = s->course.path;
    t->columns = 0;
    suite_table_put_text(t, "pressures", s->course.name);
    for (int k = 0; k < FINGERS; k++)
        suite_table_put(t, fingers[k], "%.1f", 1e-3 * s->pressure[k]);
    suite_table_put(t, "lifted mm", "%.2f", 1e3 * (path[3 * s->course.steps + 2] - path[2]));
    suite_table_put(t, "mm rms from the path", "%.2f", 1e3 * s->rms);
    suite_table_put(t, "iterations", "%.0f", s->iterations);
    suite_table_put(t, "simulations", "%.0f", s->simulations);
    suite_table_put(t, "forward ms/step", "%.2f", s->forward);
    suite_table_put(t, "backward ms/step", "%.2f", s->backward);
    suite_table_put(t, "s", "%.0f", s->seconds);
    t->rows++;
}

static bool write_table(const suite_place *place, const stage stages[STAGES])
{
    suite_table *table = calloc(1, sizeof *table);
    if (!table)
        return false;
    table->title = "A gripper that lifts a ball by 50 mm";
    for (int i = 0; i < STAGES; i++)
        add_row(table, &stages[i]);
    bool good = suite_write_table(place, NAME, "lift", table);
    free(table);
    return good;
}

pl_status suite_gripper(pl_context *ctx, const suite_place *place, bool *reached)
{
    stage stages[STAGES] = {{.course.name = "start"}, {.course.name = "found"}};
    pl_status status = run_stage(ctx, place, "optimizer.iterations=0", &stages[0]);
    if (status == PL_OK)
        status = run_stage(ctx, place, "version=1", &stages[1]);
    const suite_course courses[STAGES] = {stages[0].course, stages[1].course};
    if (status == PL_OK)
        status = suite_draw_courses(ctx, place, NAME, "height.svg", "A gripper lifts a ball",
                                    "height of the ball, m", 2, 0.01, STAGES, courses);
    if (status == PL_OK && !write_table(place, stages))
        status = PL_ERROR_FILE;
    *reached = status == PL_OK && !stages[0].reached && stages[1].reached;
    for (int i = 0; i < STAGES; i++)
        free(stages[i].course.path);
    return status;
}
