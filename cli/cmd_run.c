/* `pliant run`: simulates a scene file and writes what happened. */
#include "cli.h"
#include "json.h"
#include "progress.h"

#include <limits.h>
#include <string.h>

enum { UNSET = INT_MIN };

typedef struct run_options {
    const char *out, *solver, *device;
    int steps, threads, every;
    cli_list set;
    bool json, force, verbose;
} run_options;

/* What the loop did, for the last line. */
typedef struct run_result {
    pl_status status;
    bool output_failed; /* the failure is a file's, not the simulation's */
    int steps, iterations, splits, choices, most_contacts;
    double seconds;
    pl_step_info last;
} run_result;

static run_result simulate(pl_sim *sim, pl_state *state, int steps, pl_output *output)
{
    run_result result = {0};
    double started = cli_seconds();
    cli_progress progress = cli_progress_start(steps);
    if (output && (result.status = pl_output_step(output, state, NULL)) != PL_OK)
        result.output_failed = true;
    while (result.status == PL_OK && result.steps < steps) {
        if (cli_interrupted()) {
            result.status = PL_ERROR_INTERRUPTED;
            break;
        }
        pl_step_info info;
        if ((result.status = pl_step(sim, state, NULL, &info)) != PL_OK)
            break;
        result.steps++;
        result.iterations += info.iterations;
        result.splits += info.splits;
        result.choices += info.choices;
        result.most_contacts =
            info.contacts > result.most_contacts ? info.contacts : result.most_contacts;
        result.last = info;
        if (output && (result.status = pl_output_step(output, state, &info)) != PL_OK)
            result.output_failed = true;
        cli_progress_update(&progress, result.steps, &info);
    }
    cli_line_clear();
    result.seconds = cli_seconds() - started;
    return result;
}

static int print_json(const char *scene, const run_options *options, const pl_state *state,
                      const run_result *r)
{
    return cli_json_print(json_pack(
        "{s:s, s:s, s:i, s:f, s:f, s:f, s:i, s:i, s:i, s:i, s:{s:o, s:o, s:o}, s:s?}", "scene", scene,
        "outcome", r->status == PL_OK ? "completed" : pl_status_name(r->status), "steps", r->steps,
        "time", state->time, "seconds", r->seconds, "milliseconds_per_step",
        r->steps ? 1e3 * r->seconds / r->steps : 0.0, "iterations", r->iterations, "splits", r->splits,
        "choices", r->choices, "most_contacts", r->most_contacts, "energy", "kinetic",
        cli_json_number(r->last.energy_kinetic), "elastic", cli_json_number(r->last.energy_elastic),
        "gravity", cli_json_number(r->last.energy_gravity), "output", options->out));
}

static void print_text(const char *scene, const run_options *options, const run_result *r)
{
    printf("%s: %d step%s in %.2f s", scene, r->steps, r->steps == 1 ? "" : "s", r->seconds);
    if (r->steps > 0)
        printf(" (%.2f ms and %.1f iterations each), at most %d contacts", 1e3 * r->seconds / r->steps,
               (double)r->iterations / r->steps, r->most_contacts);
    if (r->splits)
        printf(", %d splits", r->splits);
    if (r->choices)
        printf(", %d choices between two solutions", r->choices);
    printf("\n");
    if (options->out)
        printf("written to %s\n", options->out);
}

/* A run that stopped early still has a consistent output, which says so; a file error leaves nothing.
 */
static int conclude(pl_context *ctx, const char *scene, const run_options *options,
                    const pl_state *state, run_result *r, pl_output *output)
{
    int code = r->status == PL_OK ? CLI_OK : r->output_failed ? CLI_FAILED : cli_exit_code(r->status);
    if (r->status == PL_ERROR_INTERRUPTED)
        fprintf(stderr, "pliant: interrupted after %d steps\n", r->steps);
    else if (r->status != PL_OK)
        cli_report(ctx, r->status);
    cli_ignore_interrupt(true);
    if (r->output_failed)
        return code;
    if (output) {
        pl_status status = pl_output_finish(output, r->status);
        if (status != PL_OK) {
            cli_report(ctx, status);
            return CLI_FAILED;
        }
    }
    cli_ignore_interrupt(false);
    if (!options->json)
        print_text(scene, options, r);
    else if (print_json(scene, options, state, r) != CLI_OK)
        return CLI_FAILED;
    return code;
}

static int run(const char *path, run_options *options, pl_context *ctx)
{
    cli_simulation s;
    pl_output *output = NULL;
    int code = cli_simulation_open(ctx, path, &options->set, &s);
    if (code != CLI_OK)
        goto done;
    cli_catch_interrupt(); /* before there is anything to leave behind */
    if (options->out) {
        pl_output_def def = pl_output_def_default();
        def.directory = options->out;
        def.replace = options->force;
        def.every = options->every > 0 ? options->every : s.file.output_every;
        def.volume = s.file.output_volume;
        def.surface = s.file.output_surface;
        def.colliders = s.file.output_colliders;
        def.scene = path;
        pl_status status = pl_output_create(s.sim, &def, &output);
        if (status != PL_OK) {
            cli_report(ctx, status);
            if (strstr(pl_context_error(ctx), "exists already"))
                fprintf(stderr, "pliant: --force replaces an earlier output, nothing else\n");
            code = CLI_FAILED;
            goto done;
        }
    }
    cli_abandon_at_second_interrupt(output);
    run_result result =
        simulate(s.sim, s.state, options->steps >= 0 ? options->steps : s.file.steps, output);
    code = conclude(ctx, path, options, s.state, &result, output);
done:
    pl_output_destroy(output);
    cli_simulation_close(&s);
    return code;
}

int cmd_run(int argc, char **argv)
{
    run_options options = {.steps = UNSET, .every = UNSET};
    const cli_option table[] = {
        {"out", CLI_TEXT, &options.out, "DIR", "write VTU/PVD files and summary.json here"},
        {"force", CLI_FLAG, &options.force, NULL, "replace an earlier output in DIR"},
        {"steps", CLI_INT, &options.steps, "N", "instead of the scene's"},
        {"every", CLI_INT, &options.every, "N", "write every N steps, instead of the scene's"},
        {"solver", CLI_TEXT, &options.solver, "NAME", "auto, direct, lagged or constant"},
        {"device", CLI_TEXT, &options.device, "NAME", "cpu, or an OpenCL device (info --devices)"},
        {"set", CLI_LIST, &options.set, "PATH=VALUE", "change the scene: bodies[0].material.young=2e5"},
        {"threads", CLI_INT, &options.threads, "N", "worker threads; 0 = one per core"},
        {"json", CLI_FLAG, &options.json, NULL, "print the result as JSON"},
        {"verbose", CLI_FLAG, &options.verbose, NULL, "say more on stderr"},
    };
    const cli_command command = {
        .name = "run",
        .arguments = "SCENE",
        .summary = "Simulates a scene. Ctrl-C stops after the current step and keeps what was done.",
        .details =
            "Exit codes: 0 ok, 1 failure (also of writing), 2 usage, 3 bad scene, 4 a step did not\n"
            "converge (what came before is kept), 130 interrupted.",
        .min_arguments = 1,
        .max_arguments = 1,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    if ((options.steps < 0 && options.steps != UNSET) || options.threads < 0)
        return cli_usage(&command, "--steps and --threads cannot be negative");
    if (options.every < 1 && options.every != UNSET)
        return cli_usage(&command, "--every: expected at least 1, got %d", options.every);
    char solver[CLI_SHORTHAND], device[CLI_SHORTHAND];
    code = cli_shorthand(&command, &options.set, "solver", options.solver, solver);
    if (code < 0)
        code = cli_shorthand(&command, &options.set, "device", options.device, device);
    if (code >= 0)
        return code;
    pl_context *ctx = cli_context(options.threads, options.verbose);
    if (!ctx)
        return CLI_FAILED;
    code = run(argv[1], &options, ctx);
    pl_context_destroy(ctx);
    return code;
}
