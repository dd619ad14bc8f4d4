/* `pliant fit`: runs a task file and writes what was identified. */
#include "cli.h"
#include "progress.h"

#include <pliant/fit.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fit_options {
    const char *out;
    int threads;
    cli_list set;
    const char *device;
    bool resume, no_report, json, schema, verbose;
} fit_options;

/* ------------------------------------------------------------------------------- progress */

/* One line on a terminal, redrawn; otherwise nothing unless `verbose`. */
static void show_progress(void *user, const pl_fit_progress *p)
{
    enum { WIDTH = 20, SHOWN = 4 };
    const fit_options *options = user;
    bool terminal = isatty(STDERR_FILENO) != 0;
    if (!terminal && !options->verbose)
        return;
    char bar[WIDTH + 1], start[64] = "", best[32] = "", line[512];
    double done = p->iterations > 0 ? (double)p->iteration / p->iterations : 1;
    int filled = (int)(WIDTH * (p->start + (p->window + done) / p->windows) / p->starts);
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[WIDTH] = '\0';
    if (p->starts > 1) {
        snprintf(start, sizeof start, "start %d/%d  ", p->start + 1, p->starts);
        snprintf(best, sizeof best, " (best %.4e)", p->best_loss);
    }
    if (p->windows > 1)
        snprintf(start, sizeof start, "window %d/%d  ", p->window + 1, p->windows);
    size_t length = (size_t)snprintf(line, sizeof line, "[%s] %s%d/%d  loss %.4e%s", bar, start,
                                     p->iteration, p->iterations, p->loss, best);
    for (int i = 0; i < p->parameter_count && i < SHOWN && length < sizeof line; i++)
        length += (size_t)snprintf(line + length, sizeof line - length, "  %s %.6g", p->names[i],
                                   p->values[i]);
    const char *more = p->parameter_count > SHOWN ? "  ..." : "";
    if (terminal)
        cli_line_show("%s%s", line, more);
    else
        fprintf(stderr, "%s%s\n", line, more);
}

static bool keep_going(void *user)
{
    (void)user;
    return !cli_interrupted();
}

/* ------------------------------------------------------------------------------- result */

/* Where every start led. */
static void print_starts(const pl_fit_result *r)
{
    enum { SHOWN = 4 };
    for (int k = 0; k < r->start_count; k++) {
        const pl_fit_start *s = &r->starts[k];
        printf("%s start %d:", k == r->best ? "*" : " ", k + 1);
        for (int i = 0; i < r->parameter_count && i < SHOWN; i++)
            printf(" %s %.4g -> %.4g,", r->names[i], s->initial[i], s->values[i]);
        if (isfinite(s->loss))
            printf(" loss %.3e after %d iterations%s\n", s->loss, s->iterations,
                   s->refused ? ", where a simulation failed" : "");
        else
            printf(" could not be simulated\n");
    }
}

static void print_text(const char *path, const fit_options *options, const pl_fit_result *r)
{
    const double *last = r->values + (size_t)(r->row_count - 1) * (size_t)r->parameter_count;
    if (r->window_count > 1)
        printf("%s: %d windows, %d iterations (%d simulations, %.1f s)\n", path, r->window_count,
               r->iterations, r->rollouts, r->seconds);
    else
        printf("%s: %s after %d iterations (%d simulations, %.1f s); loss %.3e, from %.3e\n", path,
               pl_stop_text(r->stop), r->iterations, r->rollouts, r->seconds, r->loss[r->row_count - 1],
               r->loss[0]);
    printf("%s\n", r->verdict);
    bool listed =
        r->window_count < 2 && (r->goal_count == 0 || r->signal_count == 0 || r->parameter_count <= 16);
    for (int i = 0; listed && i < r->parameter_count; i++) {
        printf("  %-12s %.8g", r->names[i], last[i]);
        if (isfinite(r->standard_error[i]))
            printf(" +- %.2g", r->standard_error[i]);
        if (r->units[i])
            printf(" %s", r->units[i]);
        if (isfinite(r->truth[i]))
            printf("  (true %.8g, started from %.8g)", r->truth[i], r->values[i]);
        printf("\n");
    }
    if (r->start_count > 1)
        print_starts(r);
    if (options->out)
        printf("written to %s\n", options->out);
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void print_json(const char *path, const pl_fit_result *r)
{
    const double *last = r->values + (size_t)(r->row_count - 1) * (size_t)r->parameter_count;
    json_t *parameters = json_array(), *reasons = json_array(), *goals = json_array();
    for (int i = 0; i < r->goal_count; i++)
        json_array_append_new(goals, json_pack("{s:s, s:f, s:f}", "text", r->goals[i].text, "rms",
                                               r->goals[i].rms, "largest", r->goals[i].largest));
    for (int i = 0; i < r->reason_count; i++)
        json_array_append_new(reasons,
                              json_pack("{s:s, s:s}", "doubt", pl_doubt_name(r->reasons[i].doubt),
                                        "text", r->reasons[i].text));
    for (int i = 0; i < r->parameter_count; i++)
        json_array_append_new(parameters,
                              json_pack("{s:s, s:o, s:o, s:o}", "name", r->names[i], "value",
                                        number(last[i]), "true", number(r->truth[i]), "standard_error",
                                        number(r->standard_error[i])));
    json_t *root =
        json_pack("{s:s, s:b, s:o, s:o, s:s, s:i, s:i, s:o, s:o, s:f}", "task", path, "identified",
                  r->identified, "reasons", reasons, "goals", goals, "stop", pl_stop_text(r->stop),
                  "iterations", r->iterations, "simulations", r->rollouts, "loss",
                  number(r->loss[r->row_count - 1]), "parameters", parameters, "seconds", r->seconds);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    printf("%s\n", text ? text : "{}");
    free(text);
    json_decref(root);
}

/* ------------------------------------------------------------------------------- command */

/* There is nothing to resume before the first iteration. */
static bool can_resume(const char *directory)
{
    char path[4096];
    return directory &&
           snprintf(path, sizeof path, "%s/checkpoint.json", directory) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

static int fit(const char *path, fit_options *options, pl_context *ctx)
{
    int code;
    pl_task *task = NULL;
    pl_fit_result *result = NULL;
    cli_catch_interrupt();
    pl_status status = pl_task_load(ctx, path, options->set.count, options->set.items, &task);
    if (status == PL_OK) {
        pl_fit_def def = pl_fit_def_default();
        def.directory = options->out;
        def.resume = options->resume;
        def.report = !options->no_report;
        def.progress = show_progress;
        def.keep_going = keep_going;
        def.user = options;
        status = pl_task_fit(task, &def, &result);
        cli_line_clear();
    }
    /* Once the task is read, files that fail are outputs. */
    bool output_failed = task && status == PL_ERROR_FILE && !options->resume;
    code = output_failed ? CLI_FAILED : cli_exit_code(status);
    if (status == PL_ERROR_INTERRUPTED)
        fprintf(stderr, "pliant: interrupted%s\n",
                can_resume(options->out) ? "; --resume goes on from the last iteration" : "");
    else if (status != PL_OK)
        cli_report(ctx, status);
    else if (options->json)
        print_json(path, result);
    else
        print_text(path, options, result);
    if (status == PL_OK && !result->identified)
        code = CLI_NOT_IDENTIFIED;
    if (task)
        pl_fit_result_free(task, result);
    pl_task_destroy(task);
    return code;
}

static int print_schema(pl_context *ctx)
{
    char *text = NULL;
    pl_status status = pl_task_schema(ctx, &text);
    if (status == PL_OK)
        fputs(text, stdout);
    pl_free(ctx, text);
    return status == PL_OK ? CLI_OK : cli_report(ctx, status);
}

int cmd_fit(int argc, char **argv)
{
    fit_options options = {0};
    const cli_option table[] = {
        {"out", CLI_TEXT, &options.out, "DIR",
         "checkpoint, history.csv, result.json, report.html go here"},
        {"resume", CLI_FLAG, &options.resume, NULL, "go on from DIR's checkpoint, bit for bit"},
        {"no-report", CLI_FLAG, &options.no_report, NULL, "no report.html and no pictures"},
        {"device", CLI_TEXT, &options.device, "NAME", "cpu, or an OpenCL device (info --devices)"},
        {"set", CLI_LIST, &options.set, "PATH=VALUE",
         "change the task: optimizer.iterations=5, or its scene: scene.bodies[0].material.young=2e5"},
        {"threads", CLI_INT, &options.threads, "N", "worker threads; 0 = one per core"},
        {"json", CLI_FLAG, &options.json, NULL, "print the result as JSON"},
        {"schema", CLI_FLAG, &options.schema, NULL,
         "print the JSON Schema of task files, and nothing else"},
        {"verbose", CLI_FLAG, &options.verbose, NULL, "say more on stderr, also when it is a file"},
    };
    const cli_command command = {
        .name = "fit",
        .arguments = "TASK",
        .summary =
            "Identifies the unknowns of a task file (docs/fitting.md). Ctrl-C stops cleanly; every\n"
            "iteration is checkpointed in DIR.",
        .details =
            "Exit codes: 0 identified, 1 failure, 2 usage, 3 bad task or file, 4 a simulation did "
            "not\n"
            "converge, 5 the fit ended without identifying the unknowns or reaching its goals, 130 "
            "interrupted.",
        .min_arguments = 0,
        .max_arguments = 1,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    if (count != (options.schema ? 0 : 1))
        return cli_usage(&command, options.schema ? "--schema takes no task" : "expected a task file");
    if (options.threads < 0)
        return cli_usage(&command, "--threads cannot be negative");
    if (options.resume && !options.out)
        return cli_usage(&command, "--resume needs --out");
    char device[CLI_SHORTHAND];
    code = cli_shorthand(&command, &options.set, "scene.device", options.device, device);
    if (code >= 0)
        return code;
    pl_context *ctx = cli_context(options.threads, options.verbose);
    if (!ctx)
        return CLI_FAILED;
    code = options.schema ? print_schema(ctx) : fit(argv[1], &options, ctx);
    pl_context_destroy(ctx);
    return code;
}
