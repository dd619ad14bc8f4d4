/* The context, exit codes and Ctrl-C, as every command uses them. */
#include "cli.h"

#include <signal.h>
#include <time.h>

static void log_to_stderr(void *user, pl_log_level level, const char *text)
{
    (void)user;
    fprintf(stderr, "pliant: %s%s\n", level == PL_LOG_WARNING ? "warning: " : "", text);
}

pl_context *cli_context(int threads, bool verbose)
{
    pl_context_def def = pl_context_def_default();
    def.threads = threads;
    def.log = log_to_stderr;
    def.log_level = verbose ? PL_LOG_INFO : PL_LOG_WARNING;
    pl_context *ctx = NULL;
    pl_status status = pl_context_create(&def, &ctx);
    if (status != PL_OK)
        fprintf(stderr, "pliant: cannot start: %s%s\n", pl_status_name(status),
                status == PL_ERROR_MEMORY
                    ? "; BLAS needs 128 MB of address space for each thread (ulimit "
                      "-v, --threads)"
                    : "");
    return ctx;
}

int cli_exit_code(pl_status status)
{
    switch (status) {
    case PL_OK:
        return CLI_OK;
    case PL_ERROR_ARGUMENT:
    case PL_ERROR_FILE:
    case PL_ERROR_PARSE:
    case PL_ERROR_MESH:
        return CLI_BAD_INPUT;
    case PL_ERROR_CONVERGENCE:
        return CLI_NO_CONVERGENCE;
    case PL_ERROR_INTERRUPTED:
        return CLI_INTERRUPTED;
    default:
        return CLI_FAILED;
    }
}

int cli_report(const pl_context *ctx, pl_status status)
{
    fprintf(stderr, "pliant: error: %s\n", pl_context_error(ctx));
    return cli_exit_code(status);
}

/* A signal handler has nowhere else to write. */
static volatile sig_atomic_t interrupted;
static pl_output *volatile unfinished;

static void on_signal(int number)
{
    /* A terminal that closes may say so twice, and timeout(1) does: only a key was pressed again. */
    bool again = interrupted && number == SIGINT;
    interrupted = 1;
    if (!again)
        return;
    if (unfinished)
        pl_output_abandon(unfinished);
    signal(number, SIG_DFL);
    raise(number); /* delivered when this returns */
}

void cli_abandon_at_second_interrupt(pl_output *output)
{
    unfinished = output;
}

void cli_ignore_interrupt(bool ignore)
{
    if (!ignore && interrupted)
        return; /* all that is left is to end: repeats of the signal come too late to say more */
    signal(SIGINT, ignore ? SIG_IGN : SIG_DFL);
    signal(SIGTERM, ignore ? SIG_IGN : SIG_DFL);
    unfinished = NULL;
}

void cli_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* Under nohup it is not listened to. */
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    /* Whoever reads what we print may go; the files are still wanted. */
    signal(SIGPIPE, SIG_IGN);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
