/* The processes of a job that share a command's work: one, or the ranks of an MPI job. ranks.c is the
 * one process of `pliant`, mpi/ranks.c those of `pliant-mpi`. */
#ifndef PL_CLI_RANKS_H
#define PL_CLI_RANKS_H

#include <stddef.h>

typedef struct cli_ranks {
    int rank, count;
} cli_ranks;

/* Which of how many this is: -1 to go on, or an exit code. Started by mpirun as one of several,
 * `pliant` becomes `pliant-mpi`; argv is the command's, [0] its name. */
int cli_ranks_begin(char **argv, cli_ranks *out);
/* The smallest of all ranks' numbers, on all of them. */
int cli_ranks_least(int own);
/* Bytes from another rank to rank 0, which receives them as they were sent. */
void cli_ranks_send(size_t bytes, const void *own);
void cli_ranks_receive(int rank, size_t bytes, void *out);
void cli_ranks_end(void);

#endif
