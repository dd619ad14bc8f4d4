/* `pliant batch`: a task's loss and gradient at many points, each an environment of its own. */
#include "cli.h"
#include "ranks.h"

#include "core/whole.h"

#include <pliant/fit.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct batch_options {
    const char *out, *part;
    int environments, workers;
    cli_list set;
    const char *device;
    bool verbose;
} batch_options;

/* A stretch of the environments. */
typedef struct stretch {
    int first, count;
} stretch;

/* Part `index` of `parts` nearly equal ones. */
static stretch part_of(stretch all, int index, int parts)
{
    int begin = (int)((long long)all.count * index / parts);
    int end = (int)((long long)all.count * (index + 1) / parts);
    return (stretch){all.first + begin, end - begin};
}

/* Results of a stretch. */
typedef struct results {
    int count, n;
    double *values, *loss, *gradient; /* [count, n], [count], [count, n] */
    pl_status *status;                /* [count] */
    char *message;                    /* [count, PL_POINT_MESSAGE] */
} results;

/* Whether there was memory for them; to be freed in any case. */
static bool make_results(int count, int n, results *r)
{
    size_t rows = (size_t)count + 1, width = (size_t)n + 1;
    *r = (results){.count = count,
                   .n = n,
                   .values = calloc(rows * width, sizeof(double)),
                   .loss = calloc(rows, sizeof(double)),
                   .gradient = calloc(rows * width, sizeof(double)),
                   .status = calloc(rows, sizeof(pl_status)),
                   .message = calloc(rows, PL_POINT_MESSAGE)};
    return r->values && r->loss && r->gradient && r->status && r->message;
}

static void free_results(results *r)
{
    free(r->values);
    free(r->loss);
    free(r->gradient);
    free(r->status);
    free(r->message);
}

/* ------------------------------------------------------------------------------- one stretch */

static bool keep_going(void *user)
{
    (void)user;
    return !cli_interrupted();
}

/* What a rank that could not do anything says of all its environments. */
static void fill(results *r, const cli_ranks *ranks, pl_status status, const char *message)
{
    char rank[48] = "";
    if (ranks->count > 1)
        snprintf(rank, sizeof rank, "rank %d: ", ranks->rank);
    for (int k = 0; k < r->count; k++) {
        r->status[k] = status;
        r->loss[k] = NAN;
        for (int i = 0; i < r->n; i++)
            r->values[k * r->n + i] = r->gradient[k * r->n + i] = NAN;
        snprintf(r->message + (size_t)k * PL_POINT_MESSAGE, PL_POINT_MESSAGE, "%s%s", rank, message);
    }
}

/* The status of a task that is bad as a whole; what fails otherwise is told of each environment. */
static pl_status evaluate(pl_context *ctx, pl_task *task, const batch_options *o,
                          const cli_ranks *ranks, stretch own, results *r)
{
    const pl_task_points points = {.first = own.first,
                                   .count = own.count,
                                   .workers = o->workers > 0 || ranks->count == 1 ? o->workers : 1,
                                   .keep_going = keep_going,
                                   .values = r->values,
                                   .loss = r->loss,
                                   .gradient = r->gradient,
                                   .status = r->status,
                                   .message = r->message};
    if (own.count == 0)
        return PL_OK;
    fill(r, ranks, PL_ERROR_INTERRUPTED, "interrupted");
    pl_status status = pl_task_evaluate(task, &points);
    if (status != PL_OK && status != PL_ERROR_INTERRUPTED)
        fill(r, ranks, status, pl_context_error(ctx));
    return cli_exit_code(status) == CLI_BAD_INPUT ? status : PL_OK;
}

/* ------------------------------------------------------------------------------- writing */

/* Text as a field of a CSV file. */
static void put_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text == '\n' ? ' ' : *text, file);
    }
    fputc('"', file);
}

static void put_csv(FILE *file, const pl_task *task, int first, const results *r)
{
    char name[128];
    fprintf(file, "environment,status,loss");
    for (int i = 0; i < 2 * r->n; i++) {
        pl_task_value_name(task, i % r->n, sizeof name, name);
        fprintf(file, ",%s%s", i < r->n ? "" : "dloss/d", name);
    }
    fprintf(file, ",message\n");
    for (int k = 0; k < r->count; k++) {
        fprintf(file, "%d,%s,%.17g", first + k, pl_status_name(r->status[k]), r->loss[k]);
        for (int i = 0; i < r->n; i++)
            fprintf(file, ",%.17g", r->values[k * r->n + i]);
        for (int i = 0; i < r->n; i++)
            fprintf(file, ",%.17g", r->gradient[k * r->n + i]);
        fputc(',', file);
        put_text(file, r->message + (size_t)k * PL_POINT_MESSAGE);
        fputc('\n', file);
    }
}

/* The file appears whole or not at all. */
static int write_file(pl_context *ctx, const char *path, const pl_task *task, int first,
                      const results *r)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (file)
        put_csv(file, task, first, r);
    bool good = file && !ferror(file);
    good = file && fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, "pliant: error: %s: cannot be written: %s\n", path, strerror(errno));
    else if (pl_write_whole(ctx, path, text, length) != PL_OK)
        good = false, cli_report(ctx, PL_ERROR_FILE);
    free(text);
    return good ? CLI_OK : CLI_FAILED;
}

/* Everybody's results, by rank 0. */
static int conclude(pl_context *ctx, const batch_options *o, const pl_task *task, int first,
                    const results *r)
{
    int failed = 0, code = CLI_OK;
    for (int k = 0; k < r->count; k++) {
        if (r->status[k] == PL_OK)
            continue;
        if (failed++ == 0)
            code = r->status[k] == PL_ERROR_INTERRUPTED ? CLI_INTERRUPTED : cli_exit_code(r->status[k]);
        const char *message = r->message + (size_t)k * PL_POINT_MESSAGE;
        int last = k;
        while (last + 1 < r->count && r->status[last + 1] == r->status[k] &&
               strcmp(message, r->message + (size_t)(last + 1) * PL_POINT_MESSAGE) == 0)
            last++;
        failed += last - k;
        if (last == k)
            fprintf(stderr, "pliant: environment %d: %s\n", first + k, message);
        else
            fprintf(stderr, "pliant: environments %d to %d: %s\n", first + k, first + last, message);
        k = last;
    }
    if (!o->out) {
        put_csv(stdout, task, first, r);
        return code;
    }
    int written = write_file(ctx, o->out, task, first, r);
    if (written != CLI_OK)
        return written;
    printf("%d of %d environments evaluated, written to %s\n", r->count - failed, r->count, o->out);
    return code;
}

/* ------------------------------------------------------------------------------- command */

/* Of each environment `bytes` bytes, from all ranks to rank 0. */
static void gather(const cli_ranks *ranks, stretch all, size_t bytes, const void *own, char *out)
{
    if (ranks->rank > 0) {
        cli_ranks_send((size_t)part_of(all, ranks->rank, ranks->count).count * bytes, own);
        return;
    }
    for (int k = 0; k < ranks->count; k++) {
        size_t size = (size_t)part_of(all, k, ranks->count).count * bytes;
        if (k == 0)
            memcpy(out, own, size);
        else
            cli_ranks_receive(k, size, out);
        out += size;
    }
}

/* "rank 1 of 8:" before what a rank says, where there are several. */
static void say_rank(const cli_ranks *ranks)
{
    if (ranks->count > 1)
        fprintf(stderr, "pliant: rank %d of %d:\n", ranks->rank, ranks->count);
}

/* Evaluates this rank's environments; rank 0 gathers and writes them all, unless the task is bad. */
static int share_into(pl_context *ctx, pl_task *task, const batch_options *o, const cli_ranks *ranks,
                      stretch all, results *r, results *gathered)
{
    size_t number = sizeof(double), row = (size_t)r->n * number;
    pl_status bad = evaluate(ctx, task, o, ranks, part_of(all, ranks->rank, ranks->count), r);
    if (bad != PL_OK) {
        say_rank(ranks);
        cli_report(ctx, bad);
    }
    if (cli_ranks_least(bad == PL_OK) == 0)
        return CLI_BAD_INPUT;
    gather(ranks, all, row, r->values, (char *)gathered->values);
    gather(ranks, all, number, r->loss, (char *)gathered->loss);
    gather(ranks, all, row, r->gradient, (char *)gathered->gradient);
    gather(ranks, all, sizeof(pl_status), r->status, (char *)gathered->status);
    gather(ranks, all, PL_POINT_MESSAGE, r->message, gathered->message);
    return ranks->rank == 0 ? conclude(ctx, o, task, all.first, gathered) : CLI_OK;
}

static int share(pl_context *ctx, pl_task *task, const batch_options *o, const cli_ranks *ranks,
                 stretch all)
{
    int code = CLI_FAILED, n = pl_task_value_count(task);
    results r, gathered;
    bool made = make_results(part_of(all, ranks->rank, ranks->count).count, n, &r);
    made = make_results(ranks->rank == 0 ? all.count : 0, n, &gathered) && made;
    if (!made)
        fprintf(stderr, "pliant: rank %d of %d: out of memory\n", ranks->rank, ranks->count);
    if (cli_ranks_least(made) == 1)
        code = share_into(ctx, task, o, ranks, all, &r, &gathered);
    free_results(&r);
    free_results(&gathered);
    return code;
}

/* Whether the results can go where they are wanted, before they are computed. */
static bool has_place(pl_context *ctx, const batch_options *o)
{
    char *place = NULL;
    bool good = !o->out || pl_whole_place(ctx, o->out, &place) == PL_OK;
    pl_free(ctx, place);
    if (!good)
        cli_report(ctx, PL_ERROR_FILE);
    return good;
}

static int batch(const char *path, const batch_options *o, const cli_ranks *ranks, stretch all)
{
    pl_task *task = NULL;
    pl_context *ctx = cli_context(ranks->count > 1 ? (o->workers > 0 ? o->workers : 1) : 0, o->verbose);
    pl_status status = ctx ? pl_task_load(ctx, path, o->set.count, o->set.items, &task) : PL_OK;
    int code = !ctx ? CLI_FAILED : status != PL_OK ? cli_exit_code(status) : CLI_OK;
    cli_catch_interrupt();
    if (status != PL_OK) {
        say_rank(ranks);
        cli_report(ctx, status);
    }
    bool ready = task && (ranks->rank > 0 || has_place(ctx, o));
    if (cli_ranks_least(ready) == 1)
        code = share(ctx, task, o, ranks, all);
    else if (code == CLI_OK)
        code = CLI_FAILED; /* somebody said why */
    pl_task_destroy(task);
    pl_context_destroy(ctx);
    return code;
}

/* A whole number from 1 on, and *end what follows it; 0 if it is none that an int holds. */
static int take_count(const char *text, char **end)
{
    errno = 0;
    long value = strtol(text, end, 10);
    return errno == 0 && value >= 1 && value <= INT_MAX ? (int)value : 0;
}

/* "K/N" as the K-th of N parts: false if it is not that. */
static bool take_part(const char *text, stretch *all)
{
    char *slash, *end;
    int index = take_count(text, &slash), parts = *slash == '/' ? take_count(slash + 1, &end) : 0;
    if (index < 1 || index > parts || *end)
        return false;
    *all = part_of(*all, index - 1, parts);
    return true;
}

int cmd_batch(int argc, char **argv)
{
    batch_options o = {0};
    const cli_option table[] = {
        {"environments", CLI_INT, &o.environments, "N",
         "how many points: the task's initial values, and N - 1 drawn between the bounds"},
        {"part", CLI_TEXT, &o.part, "K/N", "only the K-th of N parts, from 1: for job arrays"},
        {"workers", CLI_INT, &o.workers, "N",
         "environments at the same time; 0 = one per core, or under mpirun one per rank"},
        {"out", CLI_TEXT, &o.out, "FILE",
         "the results, CSV, in the place of such a file; stdout by default"},
        {"device", CLI_TEXT, &o.device, "NAME", "cpu, or an OpenCL device (info --devices)"},
        {"set", CLI_LIST, &o.set, "PATH=VALUE",
         "change the task: steps=50, or its scene: scene.time_step=0.005"},
        {"verbose", CLI_FLAG, &o.verbose, NULL, "say more on stderr"},
    };
    const cli_command command = {
        .name = "batch",
        .arguments = "TASK",
        .summary =
            "Loss and gradient of a task (docs/fitting.md) at many points: a row for each, in their "
            "order\n(docs/batches.md). `mpirun -n R pliant batch ...` shares them among R processes. "
            "Digits\ndepend on neither workers nor processes.",
        .details =
            "Exit codes: 0 all were evaluated; otherwise that of the first which was not: 1 failure, "
            "3 bad task\nor file, 4 a simulation did not converge, 130 interrupted. The others' "
            "results are written.\n2 usage.",
        .min_arguments = 1,
        .max_arguments = 1,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    cli_ranks ranks;
    int count, code = cli_ranks_begin(argv, &ranks);
    if (code >= 0)
        return code;
    char device[CLI_SHORTHAND];
    code = cli_parse(&command, argc, argv, &count);
    if (code < 0)
        code = cli_shorthand(&command, &o.set, "scene.device", o.device, device);
    if (code < 0) {
        stretch all = {0, o.environments};
        if (o.environments < 1)
            code = cli_usage(&command, "--environments: expected how many, at least 1");
        else if (o.workers < 0)
            code = cli_usage(&command, "--workers cannot be negative");
        else if (o.part && !take_part(o.part, &all))
            code = cli_usage(&command, "--part: expected K/N with 1 <= K <= N, got '%s'", o.part);
        else
            code = batch(argv[1], &o, &ranks, all);
    }
    cli_ranks_end();
    return code;
}
