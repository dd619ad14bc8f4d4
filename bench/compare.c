/*
 * `pliant bench compare OTHER`: this build against another, scene by scene. The two run in turn, each
 * time in a process of its own and in another order than the time before, so that what else happens on
 * the machine meets both; of the times of each the least counts.
 */
#include "bench.h"
#include "cli/cli.h"
#include "cli/progress.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { THIS, OTHER };
enum { AGAIN = 4 }; /* times as many rounds for a scene that seems slower */

typedef struct compare_options {
    cli_list only;
    int rounds, steps, threads;
    double limit; /* a ratio above it is marked */
    bool cpu;
    const char *programs[2];
} compare_options;

/* Least times and, of the first run, the counts of both builds. */
typedef struct comparison {
    bool failed[2];
    bench_result best[2];
} comparison;

/* Starts a program whose stdout can be read from *out. Returns its id, or -1 with errno set. */
static pid_t start(const char *const *arguments, FILE **out)
{
    int ends[2];
    pid_t child = -1;
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int error = posix_spawnp(&child, arguments[0], &actions, NULL,
                             (char *const *)(const void *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *out = error == 0 ? fdopen(ends[0], "r") : NULL;
    if (!*out)
        close(ends[0]);
    errno = error;
    return error == 0 ? child : -1;
}

/* One run of one build: its `bench adjoint --json` of one scene, forward and backward. */
static bool run_once(const compare_options *o, int which, const bench_case *c, bench_result *result)
{
    char steps[16], threads[16];
    FILE *out;
    int code = -1;
    json_t *records = NULL;
    snprintf(steps, sizeof steps, "%d", o->steps > 0 ? o->steps : c->steps);
    snprintf(threads, sizeof threads, "%d", o->threads);
    const char *const arguments[] = {o->programs[which], "bench", "adjoint", "--json",
                                     "--only",           c->name, "--steps", steps,
                                     "--threads",        threads, NULL};
    pid_t child = start(arguments, &out);
    if (child < 0) {
        fprintf(stderr, "pliant: error: %s: cannot be run: %s\n", o->programs[which], strerror(errno));
        return false;
    }
    if (out) {
        records = json_loadf(out, 0, NULL);
        fclose(out);
    }
    while (waitpid(child, &code, 0) < 0 && errno == EINTR)
        ;
    bool good = code == 0 && json_array_size(records) == 1;
    if (good)
        *result = bench_record_read(json_array_get(records, 0));
    json_decref(records);
    return good;
}

static void keep_least(bench_result *best, const bench_result *next)
{
    best->forward = fmin(best->forward, next->forward);
    best->forward_cpu = fmin(best->forward_cpu, next->forward_cpu);
    best->backward = fmin(best->backward, next->backward);
    best->backward_cpu = fmin(best->backward_cpu, next->backward_cpu);
}

static double forward_time(const compare_options *o, const bench_result *result)
{
    return o->cpu ? result->forward_cpu : result->forward;
}

static double backward_time(const compare_options *o, const bench_result *result)
{
    return o->cpu ? result->backward_cpu : result->backward;
}

static bool is_slower(const compare_options *o, const comparison *both)
{
    const bench_result *this = &both->best[THIS], *other = &both->best[OTHER];
    return forward_time(o, this) > o->limit * forward_time(o, other) ||
           backward_time(o, this) > o->limit * backward_time(o, other);
}

/* This and the other build, or the other and this. */
static void run_round(const compare_options *o, const bench_case *c, int round, comparison *both)
{
    for (int k = 0; k < 2 && !cli_interrupted(); k++) {
        int which = (round + k) % 2;
        bench_result result;
        cli_line_show("%s: round %d, %s build", c->name, round + 1, which == THIS ? "this" : "other");
        both->failed[which] = !run_once(o, which, c, &result);
        if (both->failed[which])
            return;
        if (round == 0)
            both->best[which] = result;
        else
            keep_least(&both->best[which], &result);
    }
}

/* More rounds where this build seems slower: chance makes a time longer, never shorter than it is. */
static comparison compare_case(const compare_options *o, const bench_case *c)
{
    comparison both = {0};
    for (int round = 0; round < o->rounds || (round < AGAIN * o->rounds && is_slower(o, &both));
         round++) {
        run_round(o, c, round, &both);
        if (both.failed[THIS] || both.failed[OTHER] || cli_interrupted())
            break;
    }
    cli_line_clear();
    return both;
}

/* ------------------------------------------------------------------------------- table */

static void print_head(const compare_options *o)
{
    const char *clock = o->cpu ? "CPU ms" : "ms";
    printf("This build against %s: the least of %d runs or more, in turn; %s a step. **Bold**: more "
           "than %g "
           "times as long.\nCounts are a step's, this build's / the other's where they differ.\n\n",
           o->programs[OTHER], o->rounds, clock, o->limit);
    printf(
        "| scene | steps | forward, %s | other | ratio | backward, %s | other | ratio | iterations | "
        "solves | factors | adjoint iterations | adjoint factors |\n|---|",
        clock, clock);
    for (int k = 0; k < 12; k++)
        printf("---:|");
    printf("\n");
}

static void print_times(const compare_options *o, double this, double other)
{
    const char *format =
        this > o->limit * other ? " %.2f | %.2f | **%.2f** |" : " %.2f | %.2f | %.2f |";
    printf(format, this, other, this / other);
}

static void print_counts(double this, double other)
{
    char texts[2][32];
    snprintf(texts[THIS], sizeof texts[THIS], "%.2f", this);
    snprintf(texts[OTHER], sizeof texts[OTHER], "%.2f", other);
    if (strcmp(texts[THIS], texts[OTHER]) == 0)
        printf(" %s |", texts[THIS]);
    else
        printf(" %s / %s |", texts[THIS], texts[OTHER]);
}

static void print_row(const compare_options *o, const bench_case *c, const comparison *both)
{
    const bench_result *this = &both->best[THIS], *other = &both->best[OTHER];
    if (both->failed[THIS] || both->failed[OTHER]) {
        printf("| %s | %s failed | | | | | | | | | | | |\n", c->name,
               both->failed[THIS] ? "this build" : "the other");
        return;
    }
    printf("| %s | %d |", c->name, this->steps);
    print_times(o, forward_time(o, this), forward_time(o, other));
    print_times(o, backward_time(o, this), backward_time(o, other));
    print_counts(this->iterations, other->iterations);
    print_counts(this->solves, other->solves);
    print_counts(this->factorizations, other->factorizations);
    print_counts(this->adjoint_iterations, other->adjoint_iterations);
    print_counts(this->adjoint_factorizations, other->adjoint_factorizations);
    printf("\n");
    fflush(stdout);
}

/* ------------------------------------------------------------------------------- command */

static int compare_all(const compare_options *o)
{
    int compared = 0, slower = 0, failed = 0;
    print_head(o);
    for (int k = 0; k < bench_case_count && !cli_interrupted(); k++) {
        if (!bench_case_named(&bench_cases[k], o->only.count, o->only.items))
            continue;
        comparison both = compare_case(o, &bench_cases[k]);
        if (cli_interrupted())
            break;
        bool incomplete = both.failed[THIS] || both.failed[OTHER];
        compared++;
        failed += incomplete;
        slower += !incomplete && is_slower(o, &both);
        print_row(o, &bench_cases[k], &both);
    }
    if (cli_interrupted())
        return CLI_INTERRUPTED;
    printf("\n%d scenes, %d of them more than %g times as slow", compared, slower, o->limit);
    printf(failed ? ", %d not compared\n" : "\n", failed);
    return slower + failed > 0 ? CLI_FAILED : CLI_OK;
}

/* Threads that spin while they wait take CPU time without doing anything; the more so, the busier the
 * machine is. */
static void wait_asleep(void)
{
    unsetenv("GOMP_SPINCOUNT");
    unsetenv("KMP_BLOCKTIME");
    setenv("OMP_WAIT_POLICY", "passive", 1);
}

int bench_compare(int argc, char **argv)
{
    compare_options o = {.rounds = 2, .limit = 1.15};
    char self[4096];
    const cli_option table[] = {
        {"only", CLI_LIST, &o.only, "TEXT", "this scene, or those whose names contain this"},
        {"rounds", CLI_INT, &o.rounds, "N", "runs of each build at least, 2 by default"},
        {"limit", CLI_NUMBER, &o.limit, "RATIO", "mark what takes longer than this, 1.15 by default"},
        {"cpu", CLI_FLAG, &o.cpu, NULL, "compare CPU time of all threads, for a busy machine"},
        {"steps", CLI_INT, &o.steps, "N", "instead of each scene's"},
        {"threads", CLI_INT, &o.threads, "N", "worker threads; 0 = one per core"},
    };
    const cli_command command = {
        .name = "bench compare",
        .arguments = "OTHER",
        .summary = "Runs every scene with this build and with the program OTHER in turn, and prints a\n"
                   "table of both as Markdown. Exit code 1 when a scene takes longer than allowed.",
        .min_arguments = 1,
        .max_arguments = 1,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    if (o.rounds < 1 || o.steps < 0 || o.threads < 0 || !(o.limit > 0))
        return cli_usage(&command, "--rounds and --limit are above 0, --steps and --threads not below");
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) {
        fprintf(stderr, "pliant: error: cannot tell where this program is: %s\n", strerror(errno));
        return CLI_FAILED;
    }
    self[length] = '\0';
    o.programs[THIS] = self;
    o.programs[OTHER] = argv[1];
    if (access(argv[1], X_OK) != 0) {
        fprintf(stderr, "pliant: error: %s: cannot be run: %s\n", argv[1], strerror(errno));
        return CLI_BAD_INPUT;
    }
    if (o.cpu)
        wait_asleep();
    cli_catch_interrupt();
    return compare_all(&o);
}
