/* `pliant study`: experiments that say how far the simulator can be trusted, each with aims it must
 * meet. */
#include "study.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

typedef struct study_entry {
    const char *name;
    pl_status (*run)(study *s);
} study_entry;

static const study_entry entries[] = {
    {"impacts", study_impacts}, {"mu-precision", study_mu_precision},
    {"solvers", study_solvers}, {"consistency", study_consistency},
    {"horizon", study_horizon}, {"memory", study_memory},
    {"soak", study_soak},       {"physics", study_physics},
    {"crowd", study_crowd},
};

static int run_study(study *s, const study_entry *entry)
{
    s->name = entry->name;
    s->aims = s->missed = 0;
    s->started = cli_seconds();
    pl_status status = entry->run(s);
    if (status == PL_ERROR_INTERRUPTED)
        return CLI_INTERRUPTED;
    if (status != PL_OK) {
        int code = cli_report(s->ctx, status);
        return code == CLI_BAD_INPUT ? CLI_FAILED
                                     : code; /* a study reads nothing: its files are results */
    }
    printf("%s: %d of %d aims met, %.0f s\n\n", s->name, s->aims - s->missed, s->aims,
           cli_seconds() - s->started);
    return s->missed > 0 ? CLI_FAILED : CLI_OK;
}

int cmd_study(int argc, char **argv)
{
    study s = {.seed = 1};
    int threads = 0;
    bool verbose = false;
    const cli_option table[] = {
        {"out", CLI_TEXT, &s.out, "DIR", "write tables (CSV, Markdown) and plots (SVG) here"},
        {"quick", CLI_FLAG, &s.quick, NULL, "a small version, to see that it works"},
        {"scale", CLI_INT, &s.scale, "N", "vertices of a body (solvers: 1200 to 10000)"},
        {"scenes", CLI_INT, &s.scenes, "N", "random scenes (soak: 100), or sizes (crowd: 3 of 4)"},
        {"seed", CLI_INT, &s.seed, "S", "of the random scenes (1)"},
        {"solver", CLI_TEXT, &s.solver, "NAME", "of the random scenes (soak: any)"},
        {"threads", CLI_INT, &threads, "N", "worker threads; 0 = one per core"},
        {"verbose", CLI_FLAG, &verbose, NULL, "say more on stderr"},
    };
    const cli_command command = {
        .name = "study",
        .arguments = "NAME...",
        .summary = "Experiments with aims; exit code 1 when one is missed.",
        .details =
            "  impacts       materials x stiffness x tilt x speed x time step x friction: does it "
            "converge?\n"
            "  mu-precision  a cube on a slope, 4e-4 either side of the slip threshold, for 30 s\n"
            "  solvers       true residual of the adjoint system against iterations and time\n"
            "  consistency   what a backward pass with another smoothing than the forward's does\n"
            "  horizon       gradients and cost over 500, 1500 and 3000 steps\n"
            "  memory        10,000 steps with the full tape, within 100 MB and within 10 MB\n"
            "  soak          random scenes: are steps that say they converged in balance?\n"
            "  physics       beams, a rod, a spin, balls: against answers known from elsewhere\n"
            "  crowd         1, 8 and 27 soft blocks fall into a box: cost, and do they stay apart?\n"
            "  all           one after another",
        .min_arguments = 1,
        .max_arguments = CLI_COUNT(entries),
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    if (threads < 0 || s.scale < 0 || s.scenes < 0 || s.seed < 0)
        return cli_usage(&command, "--threads, --scale, --scenes and --seed cannot be negative");
    bool chosen[CLI_COUNT(entries)] = {false};
    for (int i = 1; i <= count; i++) {
        bool known = false;
        for (int k = 0; k < CLI_COUNT(entries); k++)
            if (strcmp(argv[i], entries[k].name) == 0 || strcmp(argv[i], "all") == 0)
                chosen[k] = known = true;
        if (!known)
            return cli_usage(&command, "there is no study '%s'", argv[i]);
    }
    if (s.out && mkdir(s.out, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "pliant: error: %s: cannot make: %s\n", s.out, strerror(errno));
        return CLI_FAILED;
    }
    s.ctx = cli_context(threads, verbose);
    if (!s.ctx)
        return CLI_FAILED;
    cli_catch_interrupt();
    code = CLI_OK;
    for (int k = 0; k < CLI_COUNT(entries) && code != CLI_INTERRUPTED; k++)
        if (chosen[k]) {
            int this = run_study(&s, &entries[k]);
            code = this != CLI_OK ? this : code;
        }
    pl_context_destroy(s.ctx);
    return code;
}
