/* `pliant bench`: how long steps and gradients take, beside what others need, as Markdown or JSON. */
#include "bench.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/progress.h"

#include <string.h>

typedef struct bench_options {
    bool quick, json, elastic, contact, adjoint, methods, ratios, batch, device;
    const char *card;
    bench_card on;
    int threads, steps, environments;
    cli_list only;
} bench_options;

static bool selected(const bench_options *o, const bench_case *c)
{
    bool named = bench_case_named(c, o->only.count, o->only.items);
    return named && (o->only.count > 0 || !o->quick || c->quick);
}

/* The model name of the processor, "" where it is not to be known. */
static void processor(char *name, size_t size)
{
    char line[256];
    name[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !name[0] && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':'))
            snprintf(name, size, "%s", strchr(line, ':') + 2);
    name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* A ratio to a peer's time, or nothing. */
static void against(double peer, double ours)
{
    if (peer > 0)
        printf(" %.4g | %.1f |", peer, peer / ours);
    else
        printf(" | |");
}

static void forward_row(const bench_case *c, const bench_result *r)
{
    static const bench_peer none;
    const bench_peer *found = bench_find_peer(c->name), *peer = found ? found : &none;
    printf("| %s | %d | %d | %.2f | %.2f | %.1f | %.1f | %.2f |", c->name, r->vertices, r->elements,
           r->forward, r->first, r->iterations, r->solves, r->factorizations);
    for (int k = 0; k < PL_STAGE_COUNT; k++)
        printf(" %.0f |", 100 * r->share[k]);
    printf(" %.0f | %.0f |", r->contacts, r->memory);
    against(peer->forward, r->forward);
    against(peer->gpu_forward, r->forward);
    printf("\n");
    fflush(stdout);
}

static void backward_row(const bench_case *c, const bench_result *r)
{
    static const bench_peer none;
    const bench_peer *found = bench_find_peer(c->name), *peer = found ? found : &none;
    printf("| %s | %d | %.2f | %.2f | %.2f | %.1f | %.2f | %.0f |", c->name, r->vertices, r->forward,
           r->backward, r->backward / r->forward, r->adjoint_iterations, r->adjoint_factorizations,
           r->memory);
    against(peer->backward, r->backward);
    against(peer->gpu_backward, r->backward);
    printf("\n");
    fflush(stdout);
}

static void forward_head(const char *title)
{
    printf("\n## %s\n\n| scene | vertices | elements | ms a step | first ten | outer | solves | "
           "factors | local %% | "
           "assemble %% | factor %% | solve %% | contact %% | other %% | contacts | MB | CPU peer (ms) "
           "| times | "
           "GPU (ms) | times |\n|---|",
           title);
    for (int k = 0; k < 19; k++)
        printf("---:|");
    printf("\n");
}

static void backward_head(void)
{
    printf("\n## adjoint\n\n| scene | vertices | forward (ms) | backward (ms) | backward / forward | "
           "iterations | "
           "factors | MB | CPU peer (ms) | times | GPU (ms) | times |\n|---|");
    for (int k = 0; k < 11; k++)
        printf("---:|");
    printf("\n");
}

/* Prints a row a case, or adds a record where there are `records`. */
static int run_cases(const bench_options *o, pl_context *ctx, bench_group group, bool backward,
                     json_t *records)
{
    int code = CLI_OK;
    for (int k = 0; k < bench_case_count && !cli_interrupted(); k++) {
        const bench_case *c = &bench_cases[k];
        bench_result result;
        if (!selected(o, c) || c->group != group)
            continue;
        cli_line_show("%s", c->name);
        pl_status status = bench_measure(c, ctx, PL_SOLVER_AUTO, o->steps, backward, &result);
        cli_line_clear();
        if (status != PL_OK)
            code = cli_report(ctx, status);
        else if (records)
            json_array_append_new(records, bench_record(c, &result));
        else if (backward)
            backward_row(c, &result);
        else
            forward_row(c, &result);
    }
    return cli_interrupted() ? CLI_INTERRUPTED : code;
}

/* The scenes' tables: forward by group, then all of them backward. */
static int run_tables(const bench_options *o, pl_context *ctx, json_t *records)
{
    static const char *const titles[] = {[BENCH_ELASTIC] = "elastic", [BENCH_CONTACT] = "contact"};
    const bool wanted[] = {[BENCH_ELASTIC] = o->elastic, [BENCH_CONTACT] = o->contact};
    int code = CLI_OK, next;
    for (int g = BENCH_ELASTIC; g <= BENCH_CONTACT; g++) {
        if (!wanted[g])
            continue;
        if (!records)
            forward_head(titles[g]);
        code = (next = run_cases(o, ctx, (bench_group)g, false, records)) ? next : code;
    }
    if (o->adjoint && !records)
        backward_head();
    for (int g = BENCH_ELASTIC; o->adjoint && g <= BENCH_CONTACT; g++)
        code = (next = run_cases(o, ctx, (bench_group)g, true, records)) ? next : code;
    return code;
}

static int run_json(const bench_options *o, pl_context *ctx)
{
    json_t *records = json_array();
    int code = run_tables(o, ctx, records), printed = cli_json_print(records);
    return code ? code : printed;
}

/* Every method of the adjoint, on the smallest scenes unless told which: some take very long. */
static int run_methods(const bench_options *o, pl_context *ctx)
{
    int code = CLI_OK;
    printf("\n## adjoint methods\n\n");
    bench_methods_head(stdout);
    for (int k = 0; k < bench_case_count && !cli_interrupted(); k++) {
        if (!selected(o, &bench_cases[k]) || (o->only.count == 0 && !bench_cases[k].quick))
            continue;
        pl_status status = bench_methods(stdout, &bench_cases[k], ctx, o->steps);
        if (status != PL_OK)
            code = cli_report(ctx, status);
    }
    return cli_interrupted() ? CLI_INTERRUPTED : code;
}

static void explain(void)
{
    printf("\nSteps are converged to a Newton step of 1e-10 m and adjoint systems to a true relative "
           "residual of "
           "1e-8. CPU peer: DiffPD, two cores, converged to 2e-8 to 3e-3 N. GPU: the paper's figures "
           "on an RTX "
           "5090. \"times\" is their time over ours. MB: peak memory of the process above what it had "
           "before the "
           "scene was built. Scenes:\n\n");
    for (int k = 0; k < bench_case_count; k++)
        printf("- %s: %s\n", bench_cases[k].name, bench_cases[k].setup);
}

static int run(const bench_options *o, pl_context *ctx)
{
    char name[128];
    int code, next;
    processor(name, sizeof name);
    printf("# Benchmark\n\npliant %s, %s, %d threads%s\n", pl_version(), name, pl_context_threads(ctx),
           o->quick ? ", quick" : "");
    code = run_tables(o, ctx, NULL);
    if (o->methods && code != CLI_INTERRUPTED)
        code = (next = run_methods(o, ctx)) ? next : code;
    if (o->ratios && code != CLI_INTERRUPTED) {
        printf("\n## ratios\n\n");
        if (bench_ratios(stdout, o->quick) != PL_OK)
            code = CLI_FAILED;
    }
    if (o->batch && code != CLI_INTERRUPTED) {
        printf("\n## batches\n\n");
        pl_status status = bench_batch(stdout, ctx, o->environments, o->steps > 0 ? o->steps : 50);
        if (status != PL_OK)
            code = cli_interrupted() ? CLI_INTERRUPTED : cli_report(ctx, status);
    }
    if (o->device && code != CLI_INTERRUPTED) {
        pl_status status = bench_device(stdout, ctx, o->quick, o->steps > 0 ? o->steps : 10, &o->on);
        if (status != PL_OK)
            code = cli_report(ctx, status);
    }
    if (o->elastic || o->contact || o->adjoint)
        explain();
    return code;
}

static bool any_selected(const bench_options *o)
{
    for (int k = 0; k < bench_case_count; k++)
        if (selected(o, &bench_cases[k]))
            return true;
    return false;
}

/* Takes the words that say which tables, all without any: -1, or the exit code. */
static int choose_tables(bench_options *o, const cli_command *command, int count, char **words)
{
    static const char *const names[] = {"elastic", "contact", "adjoint", "methods",
                                        "ratios",  "batch",   "device"};
    bool *const flags[] = {&o->elastic, &o->contact, &o->adjoint, &o->methods,
                           &o->ratios,  &o->batch,   &o->device};
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < CLI_COUNT(names) && strcmp(words[i], names[k]) != 0)
            k++;
        if (k == CLI_COUNT(names))
            return cli_usage(
                command,
                "expected elastic, contact, adjoint, methods, ratios, batch or device, got '%s'",
                words[i]);
        *flags[k] = true;
    }
    if (o->json && (o->methods || o->ratios || o->batch || o->device))
        return cli_usage(command, "methods, ratios, batch and device have no JSON");
    if (count == 0)
        o->elastic = o->contact = o->adjoint = o->methods = o->ratios = true;
    return -1;
}

int cmd_bench(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "compare") == 0)
        return bench_compare(argc - 1, argv + 1);
    bench_options o = {0};
    const cli_option table[] = {
        {"quick", CLI_FLAG, &o.quick, NULL, "the smallest scenes, a few steps"},
        {"only", CLI_LIST, &o.only, "TEXT", "this scene, or those whose names contain this"},
        {"steps", CLI_INT, &o.steps, "N", "instead of each scene's"},
        {"threads", CLI_INT, &o.threads, "N", "worker threads; 0 = one per core"},
        {"environments", CLI_INT, &o.environments, "N", "largest batch; 64, or 4 if quick"},
        {"card", CLI_TEXT, &o.card, "NAME,GB/S,F32,F64", "for estimates: bandwidth, Gflop/s; RTX 5090"},
        {"json", CLI_FLAG, &o.json, NULL, "the scenes' figures as JSON"},
    };
    const cli_command command = {
        .name = "bench",
        .arguments = "[elastic|contact|adjoint|methods|ratios|batch|device]...",
        .summary =
            "Times of steps and gradients, as Markdown; all but batches and devices unless told what.",
        .details = "`pliant bench compare OTHER` measures this build against another.",
        .min_arguments = 0,
        .max_arguments = 7,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0 || (code = choose_tables(&o, &command, count, argv + 1)) >= 0)
        return code;
    if (o.threads < 0 || o.steps < 0 || o.environments < 0)
        return cli_usage(&command, "--threads, --steps and --environments cannot be negative");
    o.on = (bench_card){"RTX 5090", 1792, 104800, 1637};
    if (o.card && sscanf(o.card, "%63[^,],%lf,%lf,%lf", o.on.name, &o.on.bandwidth, &o.on.floats,
                         &o.on.doubles) != 4)
        return cli_usage(&command, "--card: expected NAME,GB/S,GFLOPS32,GFLOPS64, got '%s'", o.card);
    if (!(o.on.bandwidth > 0 && o.on.floats > 0 && o.on.doubles > 0))
        return cli_usage(&command, "--card: rates are above 0");
    if (o.environments == 0)
        o.environments = o.quick ? 4 : 64;
    if (!any_selected(&o))
        return cli_usage(&command, "--only: no scene's name contains '%s'", o.only.items[0]);
    if (o.quick && o.steps == 0)
        o.steps = 3;
    pl_context *ctx = cli_context(o.threads, false);
    if (!ctx)
        return CLI_FAILED;
    cli_catch_interrupt();
    code = o.json ? run_json(&o, ctx) : run(&o, ctx);
    pl_context_destroy(ctx);
    return code;
}
