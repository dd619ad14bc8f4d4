/* `pliant check`: are the gradients of a scene right? Adjoint, tangent and differences side by side. */
#include "cli.h"
#include "json.h"
#include "loss.h"
#include "progress.h"

#include <pliant/check.h>

#include <math.h>
#include <string.h>

typedef struct check_options {
    const char *loss, *wrt;
    int threads;
    bool json, sweep, verbose;
    cli_list set;
    const char *device;
    pl_check_def def;
} check_options;

static const char *const verdicts[] = {"ok", "unresolved", "WRONG"};

static void print_text(const check_options *options, const pl_check_result *r)
{
    const pl_check_regimes *g = &r->regimes;
    printf("loss \"%s\" after %d steps: %.10g\n", options->loss, g->steps, r->loss);
    printf("regimes: %d steps free, %d with sticking, %d with slipping, %d with new contacts (%d "
           "impacts); "
           "largest normal force %.3g N",
           g->free_steps, g->stick_steps, g->slip_steps, g->impact_steps, g->impact, g->largest_force);
    if (g->splits)
        printf("; %d splits, across which differences are not smooth", g->splits);
    printf("\n\n%-14s %-9s %7s %16s %16s %9s %9s %8s %9s  %s\n", "of", "along", "values", "adjoint",
           "difference", "error", "+-", "step", "tangent", "");
    for (int k = 0; k < r->row_count; k++) {
        const pl_check_row *row = &r->rows[k];
        double size = fmax(fabs(row->adjoint), fabs(row->difference));
        printf("%-14s %-9s %7d %16.9g %16.9g %9.1e %9.1e %8.0e %9.1e  %s%s\n",
               pl_channel_get(row->channel)->name, row->along_gradient ? "gradient" : "random",
               row->values, row->adjoint, row->difference, row->error,
               size > 0 ? row->uncertainty / size : 0, row->step, row->sweep_error,
               verdicts[row->verdict], row->one_sided ? " (one-sided)" : "");
        for (int s = 0; options->sweep && s < row->step_count; s++)
            printf("%-24s %7.0e %16s %16.9g\n", "", row->steps[s], "", row->differences[s]);
    }
    printf(
        "\n%d of %d comparisons wrong, %d unresolved (error within three times the differences' own "
        "uncertainty)\nworst error %.1e against differences (tolerance %.0e), %.1e between adjoint and "
        "tangent (%.0e); %.1f s\n",
        r->failed, r->row_count, r->unresolved, r->worst_error, options->def.tolerance,
        r->worst_sweep_error, options->def.sweep_tolerance, 1e-3 * r->milliseconds);
}

static json_t *row_json(const pl_check_row *row)
{
    json_t *sweep = json_array();
    for (int s = 0; s < row->step_count; s++)
        json_array_append_new(sweep, json_pack("[f, f]", row->steps[s], row->differences[s]));
    return json_pack("{s:s, s:s, s:i, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:o}", "of",
                     pl_channel_get(row->channel)->name, "along",
                     row->along_gradient ? "gradient" : "random", "values", row->values, "one_sided",
                     row->one_sided, "adjoint", row->adjoint, "tangent", row->tangent, "difference",
                     row->difference, "uncertainty", row->uncertainty, "error", row->error,
                     "sweep_error", row->sweep_error, "step", row->step, "verdict",
                     verdicts[row->verdict], "sweep", sweep);
}

static int print_json(const char *scene, const check_options *options, const pl_check_result *r)
{
    const pl_check_regimes *g = &r->regimes;
    json_t *rows = json_array();
    for (int k = 0; k < r->row_count; k++)
        json_array_append_new(rows, row_json(&r->rows[k]));
    return cli_json_print(json_pack(
        "{s:s, s:s, s:f, s:i, s:i, s:f, s:f, s:f, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:f}, s:o}", "scene",
        scene, "loss_name", options->loss, "loss", r->loss, "failed", r->failed, "unresolved",
        r->unresolved, "worst_error", r->worst_error, "worst_sweep_error", r->worst_sweep_error,
        "milliseconds", r->milliseconds, "regimes", "steps", g->steps, "free_steps", g->free_steps,
        "stick_steps", g->stick_steps, "slip_steps", g->slip_steps, "impact_steps", g->impact_steps,
        "splits", g->splits, "largest_force", g->largest_force, "rows", rows));
}

static bool show_progress(void *user, int done, int total)
{
    (void)user;
    cli_line_show("%d of %d rollouts", done, total);
    return !cli_interrupted();
}

/* A check of nothing would pass: kinds asked for by name must be in the scene. */
static int require_kinds(const check_options *options, const pl_check_result *r)
{
    pl_channels missing = options->wrt ? options->def.wanted : 0;
    for (int k = 0; k < r->row_count; k++)
        missing &= ~PL_BIT(r->rows[k].channel);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (missing & PL_BIT(c))
            fprintf(stderr, "pliant: error: the scene has no %s to check\n",
                    pl_channel_get((pl_channel)c)->name);
    return missing ? CLI_BAD_INPUT : CLI_OK;
}

static int conclude(const char *path, const check_options *options, const pl_check_result *r)
{
    int code = require_kinds(options, r);
    if (code != CLI_OK)
        return code;
    if (!options->json)
        print_text(options, r);
    else if (print_json(path, options, r) != CLI_OK)
        return CLI_FAILED;
    return r->failed > 0 ? CLI_FAILED : r->unresolved > 0 ? CLI_NO_CONVERGENCE : CLI_OK;
}

/* What devices refuse where it is not zero: moving it from there is not asked for unless by name. */
static void leave_out_uncovered(const pl_scene *scene, check_options *options)
{
    const char *device = pl_scene_get_def(scene).device;
    if (options->wrt || !device || strcmp(device, "cpu") == 0)
        return;
    options->def.wanted &= ~(PL_BIT(PL_VISCOSITY) | PL_BIT(PL_YEOH2) | PL_BIT(PL_YEOH3));
    fprintf(stderr, "pliant: left out: viscosity, yeoh2 and yeoh3, which devices do not cover\n");
}

static int check(const char *path, check_options *options, pl_context *ctx)
{
    cli_simulation s;
    cli_loss loss;
    pl_check_result *result = NULL;
    int code = cli_simulation_open(ctx, path, &options->set, &s);
    if (code == CLI_OK) {
        cli_loss_find(options->loss, options->def.steps, s.state, &loss);
        leave_out_uncovered(s.scene, options);
        options->def.loss = cli_loss_term;
        options->def.loss_user = &loss;
        options->def.progress = show_progress;
        cli_catch_interrupt();
        pl_status status = pl_check(s.sim, s.state, &options->def, &result);
        cli_line_clear();
        code = status == PL_OK ? conclude(path, options, result) : cli_report(ctx, status);
    }
    pl_check_destroy(ctx, result);
    cli_simulation_close(&s);
    return code;
}

int cmd_check(int argc, char **argv)
{
    check_options options = {.loss = "distance", .def = pl_check_def_default()};
    int seed = 1;
    const cli_option table[] = {
        {"loss", CLI_TEXT, &options.loss, "NAME", "distance (default), x, y, z or speed, at the end"},
        {"wrt", CLI_TEXT, &options.wrt, "LIST", "young,friction,... (pliant grad --help); default all"},
        {"steps", CLI_INT, &options.def.steps, "N", "time steps of each rollout (20)"},
        {"directions", CLI_INT, &options.def.directions, "N",
         "random ones of each kind, beside the gradient (2)"},
        {"step", CLI_NUMBER, &options.def.step, "E", "largest difference step, relative (1e-3)"},
        {"sweep", CLI_INT, &options.def.step_count, "N",
         "difference steps, each a tenth of the last (5)"},
        {"tolerance", CLI_NUMBER, &options.def.tolerance, "E", "relative error that passes (1e-5)"},
        {"newton", CLI_NUMBER, &options.def.newton_tolerance, "M",
         "tolerance of every step (1e-13); 0 = scene's"},
        {"seed", CLI_INT, &seed, "N", "of the random directions (1)"},
        {"all", CLI_FLAG, &options.sweep, NULL, "print the whole sweep of differences"},
        {"device", CLI_TEXT, &options.device, "NAME", "cpu, or an OpenCL device (info --devices)"},
        {"set", CLI_LIST, &options.set, "PATH=VALUE", "change the scene, as for run"},
        {"threads", CLI_INT, &options.threads, "N", "worker threads; 0 = one per core"},
        {"json", CLI_FLAG, &options.json, NULL, "print the result as JSON"},
        {"verbose", CLI_FLAG, &options.verbose, NULL, "say more on stderr"},
    };
    const cli_command command = {
        .name = "check",
        .arguments = "SCENE",
        .summary = "Compares a scene's gradients with differences of whole simulations.",
        .details = "Each kind of parameter is moved along random directions and along its gradient. An "
                   "error is\n"
                   "relative to the derivative or its typical size over directions. The difference "
                   "that counts\n"
                   "is the one closest to its neighbour in the sweep; \"+-\" is the distance between "
                   "the two.\n"
                   "Exit code 1 when a comparison is wrong, 4 when none is but the differences of some "
                   "do not settle.",
        .min_arguments = 1,
        .max_arguments = 1,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    char device[CLI_SHORTHAND];
    code = cli_shorthand(&command, &options.set, "device", options.device, device);
    if (code >= 0)
        return code;
    cli_loss known;
    const pl_state nothing = {0};
    if (options.threads < 0)
        return cli_usage(&command, "--threads cannot be negative");
    if (!cli_loss_find(options.loss, 0, &nothing, &known))
        return cli_usage(&command, "--loss: expected %s, got '%s'", cli_loss_names(), options.loss);
    if (!(options.def.wanted = cli_gradient_kinds(options.wrt)))
        return cli_usage(&command, CLI_BAD_KINDS, cli_name_kinds("", "").text, options.wrt);
    options.def.seed = (unsigned)seed;
    pl_context *ctx = cli_context(options.threads, options.verbose);
    if (!ctx)
        return CLI_FAILED;
    code = check(argv[1], &options, ctx);
    pl_context_destroy(ctx);
    return code;
}
