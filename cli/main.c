/* The `pliant` command: finds the subcommand and calls it. */
#include "environment.h"
#include "cli.h"

#include <signal.h>
#include <string.h>

typedef struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
    {"run", "simulate a scene and write VTU files and a summary", cmd_run},
    {"info", "say what a scene or a mesh holds", cmd_info},
    {"grad", "gradient of a loss with respect to what a scene holds", cmd_grad},
    {"check", "compare gradients with differences of simulations", cmd_check},
    {"study", "experiments on convergence, friction, solvers and gradients", cmd_study},
    {"mesh", "tetrahedra from a closed surface, or a built-in body", cmd_mesh},
    {"fit", "find the parameters of a scene that match a target", cmd_fit},
    {"batch", "loss and gradient of a task at many points, on one machine or many", cmd_batch},
    {"suite", "run the identification tasks of a paper", cmd_suite},
    {"bench", "measure speed and accuracy", cmd_bench},
    {"schema", "print the JSON Schema of scene files", cmd_schema},
};

static void print_help(FILE *out)
{
    fprintf(out, "usage: pliant COMMAND [options]\n\n"
                 "A differentiable simulator for soft bodies in frictional contact.\n\ncommands:\n");
    for (int i = 0; i < CLI_COUNT(commands); i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fprintf(
        out,
        "\n`pliant help COMMAND` says more; `pliant --version` prints the version.\n"
        "Exit codes: 0 ok, 1 failure, 2 usage, 3 bad input, 4 no convergence, 5 not identified or not\n"
        "reached, 130 interrupted.\n");
}

static int run_command(int argc, char **argv)
{
    for (int i = 0; i < CLI_COUNT(commands); i++)
        if (strcmp(argv[0], commands[i].name) == 0)
            return commands[i].run(argc, argv);
    fprintf(stderr, "pliant: unknown command '%s' (pliant --help)\n", argv[0]);
    return CLI_USAGE;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    bool help = strcmp(name, "help") == 0;
    if (help && argc > 2)
        return run_command(2, (char *[]){argv[2], "--help", NULL});
    if (help || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help(stdout);
        return CLI_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("pliant %s\n", pl_version());
        return CLI_OK;
    }
    return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    cli_choose_environment(argv);
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is then an error like a full disk */
    int code = dispatch(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_OK) {
        fprintf(stderr, "pliant: error: cannot write to stdout\n");
        return CLI_FAILED;
    }
    return code;
}
