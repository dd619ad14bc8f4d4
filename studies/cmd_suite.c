/* `pliant suite`: the paper's identification tasks, each by gradient descent, L-BFGS-B and
 * Levenberg-Marquardt, and its control tasks, in tables beside the paper's numbers. */
#include "cli/cli.h"
#include "suite.h"
#include "suite_control.h"
#include "suite_table.h"

#include <pliant/fit.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const methods[] = {"gradient_descent", "lbfgsb", "levenberg_marquardt"};
enum { METHODS = 3 };

/* The control tasks and the batch, which run when they are named. */
static const struct {
    const char *name;
    pl_status (*run)(pl_context *ctx, const suite_place *place, bool *reached);
} controls[] = {{"trunk_writing", suite_trunk_writing},
                {"seal_crawl", suite_seal_crawl},
                {"seal_horizon", suite_seal_horizon},
                {"gripper", suite_gripper},
                {"cloth_batch", suite_cloth_batch}};
enum { CONTROLS = CLI_COUNT(controls) };

typedef struct suite_options {
    const char *out, *scale, *tasks;
    int vertices, environments, threads;
    cli_list set, method;
    bool run[METHODS];      /* which of the methods, */
    bool control[CONTROLS]; /* and of the control tasks */
    bool resume, report, verbose;
} suite_options;

/* What the tables need of one task. */
typedef struct suite_outcome {
    const suite_task *task;
    char parameters[TABLE_CELL]; /* found by the first method */
    int fits, identified;        /* of the methods */
    double error;                /* largest relative error of a parameter, over the methods */
    double drop;                 /* smallest loss ratio of first and last, over the methods */
    double iterations[METHODS];  /* NaN where a method did not run, as below */
    double simulations[METHODS]; /* for the iterations, without those for finite differences */
    double seconds[METHODS];     /* of the whole fit, with finite differences */
    pl_fit_stages stages;        /* of gradient descent */
    double forward, backward;    /* s per simulation and per sweep of the first method */
    int steps, vertices;
    double megabytes; /* peak of the process, first method */
} suite_outcome;

/* ------------------------------------------------------------------------------- memory */

/* Peak memory since the last reset, MB; without the reset (not Linux) since the start. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

static double peak_megabytes(void)
{
    char line[256];
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && kilobytes == 0 && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %ld", &kilobytes);
    if (file)
        fclose(file);
    if (kilobytes == 0) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        kilobytes = usage.ru_maxrss;
    }
    return (double)kilobytes / 1e3;
}

/* ------------------------------------------------------------------------------- running */

static bool keep_going(void *user)
{
    (void)user;
    return !cli_interrupted();
}

static void take_result(suite_outcome *o, const pl_fit_result *r, int method, bool first)
{
    const double *last = r->values + (size_t)(r->row_count - 1) * (size_t)r->parameter_count;
    size_t used = 0;
    for (int i = 0; i < r->parameter_count; i++) {
        o->error = fmax(o->error, fabs(last[i] - r->truth[i]) / fabs(r->truth[i]));
        if (first && used < sizeof o->parameters)
            used += (size_t)snprintf(o->parameters + used, sizeof o->parameters - used, "%s%.6g",
                                     i ? ", " : "", last[i]);
    }
    o->fits++;
    o->identified += r->identified;
    double drop = r->loss[0] / fmax(r->loss[r->row_count - 1], 1e-300);
    o->drop = first ? drop : fmin(o->drop, drop);
    o->iterations[method] = r->iterations;
    o->simulations[method] = r->evaluations;
    o->seconds[method] = r->seconds;
    if (method == 0)
        o->stages = pl_fit_measure(r);
    if (!first)
        return;
    o->forward = r->forward_seconds / r->rollouts;
    o->backward = r->backward_seconds / r->sweeps;
    o->steps = r->steps;
    o->megabytes = peak_megabytes();
}

/* One task by one method, in DIR/task/method. */
static pl_status run_method(pl_context *ctx, const suite_options *options, const suite_task *t,
                            int scale, int method, bool first, suite_outcome *o)
{
    char path[2048], directory[2048], checkpoint[2100], size[96], how[64];
    const char *overrides[CLI_LIST_MAX + 4];
    int count = 0, vertices = options->vertices > 0 ? options->vertices : t->vertices[scale];
    pl_task *task = NULL;
    pl_fit_result *result = NULL;
    snprintf(path, sizeof path, "%s/%s.json", options->tasks, t->name);
    snprintf(directory, sizeof directory, "%s/%s", options->out, t->name);
    mkdir(directory, 0777);
    snprintf(directory, sizeof directory, "%s/%s/%s", options->out, t->name, methods[method]);
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint.json", directory);
    if (t->rectangle)
        snprintf(size, sizeof size, "scene.bodies[0].mesh.rectangle.cell=%.6g",
                 1 / (sqrt(vertices) - 1));
    else
        snprintf(size, sizeof size, "scene.bodies[0].mesh.vertices=%d", vertices);
    snprintf(how, sizeof how, "optimizer.method=%s", methods[method]);
    overrides[count++] = size;
    overrides[count++] = how;
    if (method > 0) { /* what plain descent needs on a plateau only makes the others slower */
        overrides[count++] = "continuation.start=0";
        overrides[count++] = "gradient_check.per_stage=0";
    }
    for (int i = 0; i < options->set.count; i++)
        overrides[count++] = options->set.items[i];
    pl_status status = pl_task_load(ctx, path, count, overrides, &task);
    if (status == PL_OK) {
        pl_fit_def def = pl_fit_def_default();
        def.directory = directory;
        def.resume = options->resume && access(checkpoint, R_OK) == 0;
        def.report = options->report;
        def.keep_going = keep_going;
        status = pl_task_fit(task, &def, &result);
    }
    if (status == PL_OK) {
        take_result(o, result, method, first);
        o->vertices = vertices;
        printf("%-24s %-20s %4d iterations  %7.1f s  loss %.2e -> %.2e  %s\n", t->name, methods[method],
               result->iterations, result->seconds, result->loss[0],
               result->loss[result->row_count - 1],
               result->identified ? pl_stop_text(result->stop) : result->verdict);
        fflush(stdout);
        pl_fit_result_free(task, result);
    }
    pl_task_destroy(task);
    return status;
}

static pl_status run_task(pl_context *ctx, const suite_options *options, const suite_task *t, int scale,
                          suite_outcome *o)
{
    bool first = true;
    *o = (suite_outcome){.task = t, .stages = {NAN, NAN, {0}, {NAN, NAN, NAN}, {NAN, NAN, NAN}}};
    reset_peak();
    for (int m = 0; m < METHODS; m++) {
        o->iterations[m] = o->simulations[m] = o->seconds[m] = NAN;
        if (!options->run[m])
            continue;
        pl_status status = run_method(ctx, options, t, scale, m, first, o);
        if (status != PL_OK)
            return status;
        first = false;
    }
    return PL_OK;
}

/* ------------------------------------------------------------------------------- tables */

static void add_result_row(suite_table *t, const suite_outcome *o)
{
    static const char *const names[METHODS][3] = {
        {"descent iterations", "descent simulations", "descent s"},
        {"L-BFGS-B iterations", "L-BFGS-B simulations", "L-BFGS-B s"},
        {"L-M iterations", "L-M simulations", "L-M s"}};
    t->columns = 0;
    suite_table_put_text(t, "task", o->task->name);
    suite_table_put_text(t, "found", o->parameters);
    char share[TABLE_CELL];
    snprintf(share, sizeof share, "%d of %d", o->identified, o->fits);
    suite_table_put_text(t, "identified", share);
    suite_table_put(t, "largest error", "%.1e", o->error);
    suite_table_put(t, "loss drop", "%.1e", o->drop);
    for (int m = 0; m < METHODS; m++) {
        suite_table_put(t, names[m][0], "%.0f", o->iterations[m]);
        suite_table_put(t, names[m][1], "%.0f", o->simulations[m]);
        suite_table_put(t, names[m][2], "%.1f", o->seconds[m]);
    }
    t->rows++;
}

static void add_course_row(suite_table *t, const suite_outcome *o)
{
    static const char *const area[] = {"AUC E", "AUC M", "AUC L"};
    static const char *const area_paper[] = {"AUC E (paper)", "AUC M (paper)", "AUC L (paper)"};
    static const char *const error[] = {"MRE E", "MRE M", "MRE L"};
    static const char *const error_paper[] = {"MRE E (paper)", "MRE M (paper)", "MRE L (paper)"};
    t->columns = 0;
    suite_table_put_text(t, "task", o->task->name);
    suite_table_put(t, "t0.5 %", "%.0f", 100 * o->stages.t50);
    suite_table_put(t, "t0.5 % (paper)", "%.0f", o->task->t50);
    suite_table_put(t, "t0.9 %", "%.0f", 100 * o->stages.t90);
    suite_table_put(t, "t0.9 % (paper)", "%.0f", o->task->t90);
    for (int s = 0; s < 3; s++) {
        suite_table_put(t, area[s], "%.2f", o->stages.share[s]);
        suite_table_put(t, area_paper[s], "%.2f", o->task->area[s]);
    }
    for (int s = 0; s < 3; s++) {
        suite_table_put(t, error[s], "%.1e", o->stages.error[s]);
        suite_table_put(t, error_paper[s], "%.1e", o->task->error[s]);
    }
    t->rows++;
}

/* Paper columns are empty when the size is not the paper's. */
static void add_cost_row(suite_table *t, const suite_outcome *o, int scale)
{
    bool same = o->vertices == o->task->vertices[scale];
    double forward = same ? o->task->forward[scale] : NAN,
           backward = same ? o->task->backward[scale] : NAN;
    t->columns = 0;
    suite_table_put_text(t, "task", o->task->name);
    suite_table_put(t, "vertices", "%.0f", o->vertices);
    suite_table_put(t, "steps", "%.0f", o->steps);
    suite_table_put(t, "forward s/iteration", "%.3f", o->forward);
    suite_table_put(t, "forward s/iteration (paper)", "%.3f", forward);
    suite_table_put(t, "backward s/iteration", "%.3f", o->backward);
    suite_table_put(t, "backward s/iteration (paper)", "%.3f", backward);
    suite_table_put(t, "forward ms/step", "%.2f", 1e3 * o->forward / o->steps);
    suite_table_put(t, "forward ms/step (paper)", "%.2f", 1e3 * forward / o->steps);
    suite_table_put(t, "backward ms/step", "%.2f", 1e3 * o->backward / o->steps);
    suite_table_put(t, "backward ms/step (paper)", "%.2f", 1e3 * backward / o->steps);
    suite_table_put(t, "memory MB", "%.0f", o->megabytes);
    suite_table_put(t, "memory MB (paper)", "%.0f", same ? o->task->megabytes[scale] : NAN);
    t->rows++;
}

static bool write_tables(const suite_options *options, int scale, int count,
                         const suite_outcome *outcomes)
{
    static const char *const files[] = {"suite.md", "suite.tex", "found.csv", "course.csv",
                                        "cost.csv"}; /* all tables, all, one each */
    suite_table *tables = calloc(3, sizeof *tables);
    if (!tables)
        return false;
    tables[0].title =
        "Identified values; iterations and simulations of each method, seconds with finite differences";
    tables[1].title =
        "Course of gradient descent: iterations to 50 and 90 % of the decrease, normalised loss summed "
        "over early, mid and late iterations in percent of all, mean relative error of the gradient";
    tables[2].title = "Cost; the paper's on an RTX 5090";
    for (int i = 0; i < count; i++) {
        add_result_row(&tables[0], &outcomes[i]);
        add_course_row(&tables[1], &outcomes[i]);
        add_cost_row(&tables[2], &outcomes[i], scale);
    }
    const suite_table *const list[] = {&tables[0], &tables[1], &tables[2]};
    bool good = true;
    for (int i = 0; i < CLI_COUNT(files) && good; i++) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", options->out, files[i]);
        good = i < 2 ? suite_table_write(path, 3, list) : suite_table_write(path, 1, list + i - 2);
        if (!good)
            fprintf(stderr, "pliant: error: %s: cannot write: %s\n", path, strerror(errno));
    }
    free(tables);
    return good;
}

/* ------------------------------------------------------------------------------- command */

/* Where the task files are: the current directory's, those installed or those of the source tree. */
static const char *find_tasks(char *out, size_t size)
{
    static const char *const places[] = {"/../share/pliant/scenes/tasks", "/../../../scenes/tasks",
                                         "/../scenes/tasks"};
    char program[1024];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (access("scenes/tasks", R_OK) == 0)
        return "scenes/tasks";
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    for (int i = 0; i < CLI_COUNT(places); i++) {
        snprintf(out, size, "%s%s", program, places[i]);
        if (access(out, R_OK) == 0)
            return out;
    }
    return NULL;
}

static const suite_task *find_task(const char *name)
{
    for (int i = 0; i < suite_task_count; i++)
        if (strcmp(suite_tasks[i].name, name) == 0)
            return &suite_tasks[i];
    return NULL;
}

/* Marks the control task of that name, if there is one. */
static bool choose_control(suite_options *options, const char *name)
{
    for (int i = 0; i < CONTROLS; i++)
        if (strcmp(controls[i].name, name) == 0)
            return options->control[i] = true;
    return false;
}

/* Which methods to run: those named, or all; false when there is no such method. */
static bool choose_methods(suite_options *options)
{
    for (int m = 0; m < METHODS; m++)
        options->run[m] = options->method.count == 0;
    for (int i = 0; i < options->method.count; i++) {
        int m = 0;
        while (m < METHODS && strcmp(methods[m], options->method.items[i]) != 0)
            m++;
        if (m == METHODS)
            return false;
        options->run[m] = true;
    }
    return true;
}

/* The exit code of a task that failed, after saying why. */
static int explain(const pl_context *ctx, const char *name, pl_status status)
{
    if (status == PL_ERROR_INTERRUPTED) {
        fprintf(stderr, "pliant: interrupted; --resume goes on from the last iteration\n");
        return CLI_INTERRUPTED;
    }
    fprintf(stderr, "pliant: %s\n", name);
    return cli_report(ctx, status);
}

static int run_controls(pl_context *ctx, const suite_options *options)
{
    const suite_place place = {.tasks = options->tasks,
                               .out = options->out,
                               .vertices = options->vertices,
                               .environments = options->environments,
                               .set = &options->set,
                               .resume = options->resume,
                               .report = options->report};
    int code = CLI_OK;
    for (int i = 0; i < CONTROLS && !cli_interrupted(); i++) {
        bool reached = true;
        pl_status status = options->control[i] ? controls[i].run(ctx, &place, &reached) : PL_OK;
        if (status != PL_OK)
            code = explain(ctx, controls[i].name, status);
        else if (!reached && code == CLI_OK)
            code = CLI_NOT_IDENTIFIED;
        if (status == PL_OK && options->control[i])
            printf("tables and pictures written to %s/%s\n", options->out, controls[i].name);
    }
    return code;
}

static int run_suite(pl_context *ctx, const suite_options *options, int scale, int count,
                     const suite_task *const *tasks)
{
    int code = CLI_OK, done = 0;
    suite_outcome outcomes[TABLE_ROWS];
    if (mkdir(options->out, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "pliant: error: %s: cannot make the directory: %s\n", options->out,
                strerror(errno));
        return CLI_BAD_INPUT;
    }
    cli_catch_interrupt();
    for (int i = 0; i < count && !cli_interrupted(); i++) {
        pl_status status = run_task(ctx, options, tasks[i], scale, &outcomes[done]);
        if (status == PL_OK) {
            if (outcomes[done].identified < outcomes[done].fits && code == CLI_OK)
                code = CLI_NOT_IDENTIFIED;
            done++;
        } else {
            code = explain(ctx, tasks[i]->name, status);
        }
    }
    int steered = run_controls(ctx, options);
    if (steered != CLI_OK)
        code = steered;
    if (done > 0 && !write_tables(options, scale, done, outcomes))
        return CLI_FAILED;
    if (done > 0)
        printf("tables written to %s/suite.md, suite.tex, found.csv, course.csv, cost.csv\n",
               options->out);
    return code;
}

int cmd_suite(int argc, char **argv)
{
    suite_options options = {.out = "out/suite", .scale = "low"};
    static const char *const scales[] = {"low", "mid", "high"};
    const cli_option table[] = {
        {"scale", CLI_TEXT, &options.scale, "NAME", "the paper's mesh sizes: low, mid or high"},
        {"vertices", CLI_INT, &options.vertices, "N", "vertices of every body, instead of the paper's"},
        {"environments", CLI_INT, &options.environments, "N", "of cloth_batch; 64 by default"},
        {"out", CLI_TEXT, &options.out, "DIR", "tables and every fit go here; out/suite by default"},
        {"resume", CLI_FLAG, &options.resume, NULL, "go on with the fits in DIR"},
        {"report", CLI_FLAG, &options.report, NULL, "write report.html and pictures of every fit"},
        {"method", CLI_LIST, &options.method, "NAME",
         "only this method: gradient_descent, lbfgsb or levenberg_marquardt"},
        {"tasks", CLI_TEXT, &options.tasks, "DIR", "where the task files are"},
        {"set", CLI_LIST, &options.set, "PATH=VALUE", "change every task: optimizer.iterations=5"},
        {"threads", CLI_INT, &options.threads, "N", "worker threads; 0 = one per core"},
        {"verbose", CLI_FLAG, &options.verbose, NULL, "say more on stderr"},
    };
    const cli_command command = {
        .name = "suite",
        .arguments = "[NAME...]",
        .summary =
            "Runs the identification tasks of \"Fast and Reliable Gradients for Deformables Across\n"
            "Frictional Contact Regimes\" (Zeng et al.) by gradient descent, L-BFGS-B and\n"
            "Levenberg-Marquardt, or its control tasks, and writes tables beside the paper's numbers.",
        .details =
            "Names: armadillo_arap, armadillo_corotated, armadillo_neo_hookean, armadillo_wind,\n"
            "cloth_bending, gingerbread_poisson, curtain_joint, bunny_friction, cow_lifting,\n"
            "tux_pulling, duck_velocity, duck_velocity_friction; all of these by default.\n"
            "Control, when named: trunk_writing, seal_crawl, seal_horizon, gripper; cloth_batch.\n"
            "Exit codes as of fit: 5 when a fit ended without identifying its unknowns.",
        .min_arguments = 0,
        .max_arguments = TABLE_ROWS,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, scale = 0, code = cli_parse(&command, argc, argv, &count);
    char place[1200];
    const suite_task *tasks[TABLE_ROWS];
    if (code >= 0)
        return code;
    while (scale < SUITE_SCALES && strcmp(scales[scale], options.scale) != 0)
        scale++;
    if (scale == SUITE_SCALES)
        return cli_usage(&command, "--scale is low, mid or high");
    if (!choose_methods(&options))
        return cli_usage(&command, "--method is gradient_descent, lbfgsb or levenberg_marquardt");
    if (options.vertices < 0 || options.threads < 0 || options.environments < 0)
        return cli_usage(&command, "--vertices, --environments and --threads cannot be negative");
    if (!options.tasks && !(options.tasks = find_tasks(place, sizeof place)))
        return cli_usage(&command, "the task files were not found; --tasks says where they are");
    int named = count;
    count = 0;
    for (int i = 1; i <= named; i++) {
        const suite_task *task = find_task(argv[i]);
        if (task)
            tasks[count++] = task;
        else if (!choose_control(&options, argv[i]))
            return cli_usage(&command, "there is no task '%s'", argv[i]);
    }
    for (int i = 0; named == 0 && i < suite_task_count; i++)
        tasks[count++] = &suite_tasks[i];
    pl_context *ctx = cli_context(options.threads, options.verbose);
    if (!ctx)
        return CLI_FAILED;
    code = run_suite(ctx, &options, scale, count, tasks);
    pl_context_destroy(ctx);
    return code;
}
