/* `pliant suite trunk_writing`: a trunk with four cables writes SIGGRAPH, by receding windows of five
 * steps; a table by letter, a picture of the word and of the cables' lengths. */
#include "suite_control.h"

#include <pliant/report.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME   "trunk_writing"
#define AIM    5e-3  /* m rms, of every letter */
#define PITCH  0.9   /* m, from letter to letter in the picture */
#define LENGTH 2.617 /* m, of the trunk: where its tip is */
enum { LETTERS = 8 };

/* The paper's table: key points, iterations, mm. */
static const struct {
    const char *letter;
    int points, iterations;
    double error;
} paper[LETTERS] = {{"S", 34, 224, 15.28}, {"I", 21, 144, 15.53}, {"G", 44, 242, 14.75},
                    {"G", 44, 252, 14.94}, {"R", 54, 409, 15.75}, {"A", 57, 315, 15.28},
                    {"P", 40, 251, 15.61}, {"H", 83, 518, 15.59}};

/* ------------------------------------------------------------------------------- table */

/* The last row is of the whole word: the mean of the letters, as in the paper. */
static bool write_table(const suite_place *place, const pl_fit_result *r)
{
    suite_table *table = calloc(1, sizeof *table);
    double mean = 0, most = 0;
    if (!table)
        return false;
    table->title =
        "A trunk that writes SIGGRAPH: distance of its tip from the path; the paper's beside";
    for (int i = 0; i < LETTERS && i < r->goal_count; i++, table->rows++) {
        mean += r->goals[i].rms / LETTERS;
        most = fmax(most, r->goals[i].largest);
        table->columns = 0;
        suite_table_put_text(table, "letter", paper[i].letter);
        suite_table_put(table, "points", "%.0f", paper[i].points);
        suite_table_put(table, "rms mm", "%.4f", 1e3 * r->goals[i].rms);
        suite_table_put(table, "at most mm", "%.4f", 1e3 * r->goals[i].largest);
        suite_table_put(table, "rms mm (paper)", "%.2f", paper[i].error);
        suite_table_put_text(table, "iterations", "");
        suite_table_put(table, "iterations (paper)", "%.0f", paper[i].iterations);
        suite_table_put_text(table, "s", "");
        suite_table_put_text(table, "s (paper)", "");
    }
    table->columns = 0;
    suite_table_put_text(table, "letter", "all");
    suite_table_put(table, "points", "%.0f", 377);
    suite_table_put(table, "rms mm", "%.4f", 1e3 * mean);
    suite_table_put(table, "at most mm", "%.4f", 1e3 * most);
    suite_table_put(table, "rms mm (paper)", "%.2f", 15.36);
    suite_table_put(table, "iterations", "%.0f", r->iterations);
    suite_table_put(table, "iterations (paper)", "%.0f", 2355);
    suite_table_put(table, "s", "%.0f", r->seconds);
    suite_table_put(table, "s (paper)", "%.0f", 18 * 60);
    table->rows++;
    bool good = suite_write_table(place, NAME, "letters", table);
    free(table);
    return good;
}

/* ------------------------------------------------------------------------------- picture */

/* A letter's line in the picture, [count] each, in mm: what it should be, then what it is. */
typedef struct stroke {
    int count;
    double *x, *y;
} stroke;

static bool stroke_make(int count, stroke *out)
{
    *out = (stroke){count, calloc((size_t)count + 1, sizeof(double)),
                    calloc((size_t)count + 1, sizeof(double))};
    return out->x && out->y;
}

static void stroke_set(stroke *s, int i, int letter, double x, double y)
{
    s->x[i] = 1e3 * (x + letter * PITCH);
    s->y[i] = 1e3 * y;
}

/* Rows [s, x, y, z] of a path; the first leads to the letter, from the last one. */
static bool read_strokes(const json_t *rows, int letter, double h, const double *tip, stroke out[2])
{
    int count = (int)json_array_size(rows) - 1;
    double time[2] = {0};
    for (int k = 0; k < 2 && count > 0; k++)
        time[k] =
            json_number_value(json_array_get(json_array_get(rows, k == 0 ? 1 : (size_t)count), 0));
    int first = (int)lround(time[0] / h), last = (int)lround(time[1] / h);
    if (count < 1 || !stroke_make(count, &out[0]) || !stroke_make(last - first + 1, &out[1]))
        return false;
    for (int i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, (size_t)i + 1);
        stroke_set(&out[0], i, letter, json_number_value(json_array_get(row, 1)),
                   json_number_value(json_array_get(row, 2)));
    }
    for (int step = first; step <= last; step++)
        stroke_set(&out[1], step - first, letter, tip[3 * step] - tip[0], tip[3 * step + 1] - tip[1]);
    return true;
}

static pl_status draw_word(pl_context *ctx, const suite_place *place, const suite_fit *fit,
                           const double *tip)
{
    char path[2048];
    stroke strokes[2 * LETTERS] = {0};
    pl_plot_line lines[2 * LETTERS] = {0};
    pl_plot plot = pl_plot_default();
    snprintf(path, sizeof path, "%s/%s.json", place->tasks, NAME);
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *loss = json_object_get(root, "loss");
    double h = pl_scene_get_def(pl_task_scene(fit->task)).time_step;
    pl_status status = PL_OK;
    for (int i = 0; i < LETTERS && status == PL_OK; i++) {
        const json_t *rows = json_object_get(json_array_get(loss, (size_t)i), "path");
        const json_t *end = json_array_get(rows, json_array_size(rows) - 1);
        if (json_number_value(json_array_get(end, 0)) > (fit->result->steps + 0.5) * h)
            break;
        if (!read_strokes(rows, i, h, tip, strokes + 2 * i))
            status = PL_ERROR_MEMORY;
        for (int k = 0; k < 2; k++)
            lines[plot.line_count++] = (pl_plot_line){.colour = k == 0 ? "#c0c0c0" : "#0060a0",
                                                      .markers = k == 0,
                                                      .count = strokes[2 * i + k].count,
                                                      .x = strokes[2 * i + k].x,
                                                      .y = strokes[2 * i + k].y};
    }
    lines[0].name = "path";
    lines[1].name = "tip";
    plot.title = "A trunk writes";
    plot.x_label = "mm, a letter beside the last";
    plot.y_label = "mm";
    plot.lines = lines;
    plot.width = 1200;
    plot.height = 260;
    if (status == PL_OK && plot.line_count > 0)
        status = pl_plot_write(ctx, &plot, suite_file(place, NAME, "word.svg", path));
    for (int i = 0; i < 2 * LETTERS; i++) {
        free(strokes[i].x);
        free(strokes[i].y);
    }
    json_decref(root);
    return status;
}

pl_status suite_trunk_writing(pl_context *ctx, const suite_place *place, bool *reached)
{
    char size[96];
    const double end[3] = {0, 0, LENGTH};
    const char *const overrides[] = {place->vertices > 0 ? size : NULL, NULL};
    suite_fit fit;
    double *tip = NULL;
    snprintf(size, sizeof size, "scene.bodies[0].mesh.vertices=%d", place->vertices);
    *reached = false;
    pl_status status = suite_fit_run(ctx, place, NAME, "windows", NAME, overrides, &fit);
    if (status == PL_OK)
        status = suite_follow(&fit, PL_CABLE_LENGTH, end, &tip);
    if (status == PL_OK)
        status = draw_word(ctx, place, &fit, tip);
    if (status == PL_OK && !write_table(place, fit.result))
        status = PL_ERROR_FILE;
    *reached = status == PL_OK && fit.result->goal_count >= LETTERS;
    for (int i = 0; *reached && i < LETTERS; i++)
        *reached = fit.result->goals[i].rms < AIM;
    free(tip);
    suite_fit_free(&fit);
    return status;
}
