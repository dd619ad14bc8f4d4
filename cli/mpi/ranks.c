/* The ranks of an MPI job. */
#include "cli/ranks.h"

#include <mpi.h>

enum { ROWS = 17 };            /* tag of results */
#define MOST ((size_t)1 << 30) /* bytes of one message */

int cli_ranks_begin(char **argv, cli_ranks *out)
{
    (void)argv;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &out->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &out->count);
    return -1;
}

int cli_ranks_least(int own)
{
    int least;
    MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return least;
}

static int piece(size_t left)
{
    return (int)(left < MOST ? left : MOST);
}

void cli_ranks_send(size_t bytes, const void *own)
{
    for (size_t at = 0; at < bytes; at += MOST)
        MPI_Send((const char *)own + at, piece(bytes - at), MPI_BYTE, 0, ROWS, MPI_COMM_WORLD);
}

void cli_ranks_receive(int rank, size_t bytes, void *out)
{
    for (size_t at = 0; at < bytes; at += MOST)
        MPI_Recv((char *)out + at, piece(bytes - at), MPI_BYTE, rank, ROWS, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

void cli_ranks_end(void)
{
    MPI_Finalize();
}
