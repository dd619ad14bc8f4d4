/* What the commands share: option parsing, exit codes, the context, Ctrl-C, reporting failures. */
#ifndef PL_CLI_H
#define PL_CLI_H

#include <pliant/io.h>

#include <stdbool.h>
#include <stdio.h>

/* Exit codes, documented in docs/cli.md. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,    /* anything that is not below: memory, numbers, a file that cannot be written */
    CLI_USAGE = 2,     /* the command line is wrong */
    CLI_BAD_INPUT = 3, /* a scene or mesh is missing, broken or impossible */
    CLI_NO_CONVERGENCE = 4, /* a step or an adjoint solve did not reach its tolerance */
    CLI_NOT_IDENTIFIED = 5, /* a fit ran, but did not identify its unknowns */
    CLI_INTERRUPTED = 130,  /* Ctrl-C */
};

typedef enum cli_kind {
    CLI_FLAG,   /* bool *, no argument */
    CLI_INT,    /* int * */
    CLI_NUMBER, /* double * */
    CLI_TEXT,   /* const char ** */
    CLI_LIST,   /* cli_list *, may be given several times */
} cli_kind;

#define CLI_LIST_MAX  256
#define CLI_SHORTHAND 300 /* characters of an override */

typedef struct cli_list {
    int count;
    const char *items[CLI_LIST_MAX];
} cli_list;

typedef struct cli_option {
    const char *name; /* without the dashes */
    cli_kind kind;
    void *target;
    const char *argument; /* its name in the help; NULL for a flag */
    const char *help;
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "SCENE": after the options in the usage line */
    const char *summary;   /* one line */
    const char *details;   /* after the options, NULL = nothing */
    int min_arguments, max_arguments;
    int option_count;
    const cli_option *options;
} cli_command;

#define CLI_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/*
 * Parses argv[1..]: options as --name value or --name=value, and arguments, which are moved to
 * argv[1..*count]. "--" ends the options; --help prints the help. Returns -1 to go on, or the exit
 * code.
 */
int cli_parse(const cli_command *command, int argc, char **argv, int *count);

/* Prints "pliant COMMAND: text" to stderr and returns CLI_USAGE. */
int cli_usage(const cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A context that logs to stderr, or NULL after saying why. threads 0 = one per core. */
pl_context *cli_context(int threads, bool verbose);

/* The exit code of a status: bad arguments and files are CLI_BAD_INPUT. */
int cli_exit_code(pl_status status);
/* Prints the context's message to stderr and returns the exit code. */
int cli_report(const pl_context *ctx, pl_status status);

/* "--name text" as a short way of "--set name=text", in `room`; NULL: nothing. Returns -1 to go on, or
 * the exit code. */
int cli_shorthand(const cli_command *command, cli_list *set, const char *name, const char *text,
                  char room[CLI_SHORTHAND]);

/* A scene file made ready to run. */
typedef struct cli_simulation {
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state; /* at the scene's start */
    pl_scene_file_info file;
} cli_simulation;

/* Loads a scene with its overrides. Returns CLI_OK, or says why not and returns the exit code; to be
 * closed in any case. */
int cli_simulation_open(pl_context *ctx, const char *path, const cli_list *set, cli_simulation *out);
void cli_simulation_close(cli_simulation *simulation);

/* From now on Ctrl-C (also SIGTERM, and SIGHUP of a terminal that closes) only sets what
 * cli_interrupted() says; a second Ctrl-C kills. Nobody reading our output is no reason to end. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);
/* A second Ctrl-C takes this output away before it kills; NULL = none. */
void cli_abandon_at_second_interrupt(pl_output *output);
/* Around what is short and has to be done as a whole; afterwards one kills, with nothing to take away,
 * unless there was one before. */
void cli_ignore_interrupt(bool ignore);

double cli_seconds(void); /* monotonic */

/* Each command gets argv[0] = its own name and returns an exit code. */
int cmd_run(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_schema(int argc, char **argv);
int cmd_grad(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_study(int argc, char **argv);
int cmd_mesh(int argc, char **argv);
int cmd_fit(int argc, char **argv);
int cmd_batch(int argc, char **argv);
int cmd_suite(int argc, char **argv);
int cmd_bench(int argc, char **argv);

#endif
