/* One process; or, where mpirun started several, the program that knows MPI in its place. */
#include "ranks.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What Open MPI and MPICH (and Slurm with PMI) tell of the job's size. */
static int launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (int i = 0; i < CLI_COUNT(names); i++) {
        const char *text = getenv(names[i]);
        if (text && atoi(text) > 1)
            return atoi(text);
    }
    return 1;
}

int cli_ranks_begin(char **argv, cli_ranks *out)
{
    char path[4096];
    *out = (cli_ranks){0, 1};
    if (launched() == 1)
        return -1;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "pliant-mpi");
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "pliant-mpi");
    execv(path, argv);
    fprintf(
        stderr,
        "pliant: %d processes were started by mpirun, but %s is not there: build Pliant with an MPI "
        "(Debian: apt install libopenmpi-dev openmpi-bin, then configure again), or start one "
        "process for each part: pliant batch --part 1/%d\n",
        launched(), path, launched());
    return CLI_FAILED;
}

int cli_ranks_least(int own)
{
    return own;
}

/* There is no other. */
void cli_ranks_send(size_t bytes, const void *own)
{
    (void)bytes, (void)own;
}

void cli_ranks_receive(int rank, size_t bytes, void *out)
{
    (void)rank, (void)bytes, (void)out;
}

void cli_ranks_end(void)
{
}
